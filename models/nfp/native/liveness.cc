#include "liveness.h"

#include <utility>

namespace lpn::nfp {
namespace {

constexpr std::uint32_t kStackWords = 1024, kContextWords = 64, kPacketBytes = 4096;
constexpr std::size_t kAtFlags = kValues, kAtMul = kAtFlags + 1, kAtStack = kAtMul + 1,
                      kAtContext = kAtStack + kStackWords, kAtPacket = kAtContext + kContextWords,
                      kAtRest =
                          kAtPacket + kPacketBytes,  // the packet at addresses that are not known
    kAtMap = kAtRest + 1, kLiveBits = kAtMap + 1;

}  // namespace

void Liveness::local(Region region, std::uint32_t word, bool read, Set& live) const {
  const bool stack = region == Region::kStack;
  if (word >= (stack ? kStackWords : kContextWords)) return;  // beyond: always taken to be live
  const std::size_t k = (stack ? kAtStack : kAtContext) + word;
  read ? add(live, k) : remove(live, k);
}

void Liveness::use(const Operand& o, const Touch& touch, int which, Set& live) const {
  switch (o.place) {
    case Place::kNone:
    case Place::kConstant: return;
    case Place::kGprA: return add(live, kAtA + o.value);
    case Place::kGprB: return add(live, kAtB + o.value);
    case Place::kXfer: return add(live, kAtIn + o.value);
    case Place::kLocal:
      add(live, kAtPointer + o.lm);
      add(live, kAtPending + o.lm);
      if (touch.local_known[which])
        return local(touch.local_segment[which], touch.local[which], true, live);
      for (std::size_t k = kAtStack; k < kAtPacket; ++k) add(live, k);
  }
}

// The destination of an instruction on registers.
void Liveness::written(const Instruction& i, const Touch& touch, Set& live) const {
  const std::uint32_t v = i.destination.value;
  const Place place = i.destination.place;
  if (place == Place::kGprA || i.write_both) remove(live, kAtA + v);
  if (place == Place::kGprB || i.write_both) remove(live, kAtB + v);
  if (place == Place::kXfer) remove(live, kAtOut + v);
  if (place == Place::kLocal) {
    if (touch.local_known[0]) local(touch.local_segment[0], touch.local[0], false, live);
    add(live, kAtPointer + i.destination.lm);
    add(live, kAtPending + i.destination.lm);
  }
}

void Liveness::before_mem(const Instruction& i, const Touch& touch, Set& live) const {
  const bool packet = !i.dram();
  const auto bytes = [&](bool read) {
    const std::uint32_t from = touch.address - kPacketBase;
    for (std::uint32_t k = from; k < from + touch.bytes; ++k) {
      if (k >= kPacketBytes) {
        if (read) add(live, kAtRest);
      } else {
        read ? add(live, kAtPacket + k) : remove(live, kAtPacket + k);
      }
    }
  };
  switch (i.command) {
    case MemCommand::kRead32:
      if (!i.indirect_ref || touch.known) {
        const std::uint32_t words = touch.known ? touch.bytes / 4 : i.count;
        for (std::uint32_t k = 0; k < words && i.destination.value + k < kXfers; ++k)
          remove(live, kAtIn + i.destination.value + k);
      }
      if (i.indirect_ref) add(live, kAtPrevAlu);
      if (!packet) {
        add(live, kAtMap);
      } else if (touch.known) {
        bytes(true);
      } else {
        for (std::size_t k = kAtPacket; k <= kAtRest; ++k) add(live, k);
      }
      break;
    case MemCommand::kWrite8:
    case MemCommand::kWrite32: {
      if (touch.known) bytes(false);
      const std::uint32_t words = i.command == MemCommand::kWrite8 ? (i.count + 3) / 4 : i.count;
      for (std::uint32_t k = 0; k < words; ++k) add(live, kAtOut + i.destination.value + k);
      break;
    }
    case MemCommand::kAddImm:
      if (has(live, kAtMap)) add(live, kAtPrevAlu);
      break;
  }
  use(i.a, touch, 1, live);
  use(i.b, touch, 2, live);
}

// From what is live after an instruction to what is live before it.
void Liveness::before(const Instruction& i, const Touch& touch, Set& live) const {
  if (i.opcode != Opcode::kMem && i.opcode != Opcode::kLocalCsrWr) written(i, touch, live);
  if (i.writes_flags()) remove(live, kAtFlags);
  const auto own = [&] {  // a destination of which a part is kept
    if (i.destination.place == Place::kXfer)
      add(live, kAtOut + i.destination.value);
    else
      use(i.destination, touch, 0, live);
  };
  const auto indirect = [&] {
    if (i.shift.kind == ShiftKind::kLeftIndirect || i.shift.kind == ShiftKind::kRightIndirect)
      add(live, kAtPrevA);
  };
  switch (i.opcode) {
    case Opcode::kNop:
    case Opcode::kFin: return;
    case Opcode::kBranch:
      if (i.condition != Condition::kAlways) add(live, kAtFlags);
      return;
    case Opcode::kAlu:
    case Opcode::kAluShf:
      remove(live, kAtPrevA);
      remove(live, kAtPrevAlu);
      indirect();
      if (i.alu == AluOp::kAddCarry || i.alu == AluOp::kSubCarry) add(live, kAtFlags);
      // A copy's A matters only to an indirect shift that may follow, and then as PREV_A.
      use(i.a, touch, 1, live);
      use(i.b, touch, 2, live);
      return;
    case Opcode::kAsr:
      remove(live, kAtPrevAlu);
      add(live, kAtPrevAlu);
      indirect();
      use(i.b, touch, 2, live);
      return;
    case Opcode::kDblShf:
      indirect();
      use(i.a, touch, 1, live);
      use(i.b, touch, 2, live);
      return;
    case Opcode::kImmed: remove(live, kAtPrevAlu); return;
    case Opcode::kImmedW1: own(); return;
    case Opcode::kLdField:
      remove(live, kAtPrevAlu);
      indirect();
      if (i.mask != 15) own();
      use(i.b, touch, 2, live);
      return;
    case Opcode::kLdFieldClr:
      remove(live, kAtPrevAlu);
      indirect();
      use(i.b, touch, 2, live);
      return;
    case Opcode::kLocalCsrWr:
      remove(live, kAtPending + i.destination.lm);
      use(i.b, touch, 2, live);
      return;
    case Opcode::kMulStep:
      if (i.step == MulStep::kStart) {
        for (const std::size_t k : {std::size_t{kAtMulA}, std::size_t{kAtMulB}, kAtMul})
          remove(live, k);
      } else {
        for (const std::size_t k : {std::size_t{kAtMulA}, std::size_t{kAtMulB}, kAtMul})
          add(live, k);
      }
      use(i.a, touch, 1, live);
      use(i.b, touch, 2, live);
      return;
    case Opcode::kMem: return before_mem(i, touch, live);
  }
}

Liveness::Liveness(const Graph& graph, const Analysis& analysis) {
  at_.assign(graph.blocks.size(), Set());
  for (std::uint32_t b = static_cast<std::uint32_t>(graph.blocks.size()); b-- > 0;) {
    Set live((kLiveBits + 63) / 64, 0);
    const Block& block = graph.blocks[b];
    for (const std::uint32_t e : {block.next, block.taken}) {
      if (e == kNone || !analysis.alive[e]) continue;
      const Set& after = at_[graph.edges[e].to];
      for (std::size_t w = 0; w < live.size(); ++w) live[w] |= after[w];
    }
    if (analysis.touches[b].size() == block.code.size())
      for (std::size_t k = block.code.size(); k-- > 0;)
        before(graph.instructions[block.code[k]], analysis.touches[b][k], live);
    at_[b] = std::move(live);
  }
}

void Liveness::project(std::uint32_t block, State& s, Symbolic& symbolic, Terms& terms) const {
  const Set& live = at_[block];
  const Value none = symbolic.undefined();
  for (std::uint32_t k = 0; k < kValues; ++k)
    if (!has(live, k)) s.values[k] = none;
  for (std::uint32_t k = 0; k < kLocalPointers; ++k)
    if (!has(live, kAtPending + k) && !has(live, kAtPointer + k)) s.wait[k] = 0;
  if (!has(live, kAtPrevA)) s.prev_a = 0;
  if (!has(live, kAtPrevAlu)) s.prev_alu = 0;
  if (!has(live, kAtFlags)) {
    const TermId bit = terms.undefined(1);
    s.flags = {Flags::Type::kUndefined, bit, bit, bit, bit};
  }
  if (!has(live, kAtMul)) s.mul = 0;
  const auto keep = [&](std::vector<std::pair<std::uint32_t, Value>>& words, std::size_t from,
                        std::uint32_t most) {
    std::erase_if(words,
                  [&](const auto& w) { return w.first < most && !has(live, from + w.first); });
  };
  keep(s.stack, kAtStack, kStackWords);
  keep(s.context, kAtContext, kContextWords);
  bool any = has(live, kAtRest);
  std::erase_if(s.packet.over, [&](const auto& b) {
    const std::uint32_t k = b.first - kPacketBase;
    return k < kPacketBytes ? !has(live, kAtPacket + k) : !has(live, kAtRest);
  });
  for (std::size_t k = kAtPacket; k < kAtRest && !any; ++k) any = has(live, k);
  if (!any) s.packet.array = terms.array(Memory::kPacket);
  if (!has(live, kAtMap)) {
    s.map.array = terms.array(Memory::kMap);
    s.map.over.clear();
  }
}

}  // namespace lpn::nfp
