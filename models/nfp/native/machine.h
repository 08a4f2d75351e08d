// The instruction set on words: what a thread of a core does with a packet. Inside the interpreter
// only: interpret.h and traffic.h are how it is used.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <vector>

#include "costs.h"
#include "listing.h"
#include "lpn/base/error.h"
#include "memory.h"

namespace lpn::nfp {

// Where things lie. Programs only see differences and whether a pointer is null.
inline constexpr std::uint32_t kPacketAt = 0x80000000u, kStackAt = 0x100, kContextAt = 0x1800,
                               kLocalWords = 0x800;
inline constexpr std::uint32_t kMapHigh =
    0x01000000u;  // the map's 40-bit address, without its lowest 8 bits
inline constexpr std::uint64_t kMapAt = std::uint64_t{kMapHigh} << 8;

inline std::uint32_t logical(AluOp op, std::uint32_t x, std::uint32_t y) {
  switch (op) {
    case AluOp::kAnd: return x & y;
    case AluOp::kOr: return x | y;
    case AluOp::kXor: return x ^ y;
    case AluOp::kB: return y;
    case AluOp::kNotB: return ~y;
    case AluOp::kNotAAnd: return ~x & y;
    case AluOp::kAndNotB: return x & ~y;
    case AluOp::kAdd:
    case AluOp::kSub:
    case AluOp::kAddCarry:
    case AluOp::kSubCarry:
    case AluOp::kBSubA:
    case AluOp::kAdd8:
    case AluOp::kAdd16: break;
  }
  LPN_ASSERT(!"a sum is no logical operation");
  return 0;
}

// A core's thread: the registers and memories of the program that it runs.
class Machine {
 public:
  // `packet` and `dram` by offset from their first bytes.
  Machine(const std::vector<Instruction>& listing, const Costs& costs, std::uint64_t seed,
          Memory& packet, Memory& dram)
      : listing_(listing),
        costs_(costs),
        packet_(packet),
        dram_(dram),
        random_(seed * 2 + 1),
        at_(kFinId, kNowhere) {
    for (std::uint32_t k = 0; k < listing.size(); ++k) at_[listing[k].id] = k;
    for (auto& word : undefined_) word = garbage();
  }

  // Registers and local memory as a packet of `size` bytes finds them.
  void start(std::uint32_t size) {
    for (auto* bank : {a_, b_, in_, out_})
      for (std::uint32_t k = 0; k < 32; ++k) bank[k] = garbage();
    std::copy(std::begin(undefined_), std::end(undefined_), std::begin(local_));
    a_[22] = kStackAt;
    b_[23] = kMapHigh;
    local_[kContextAt / 4] = size;
    local_[kContextAt / 4 + 2] = kPacketAt;
    pointer_[0] = kStackAt;
    pointer_[1] = kContextAt;
    pointer_[2] = pointer_[3] = 0;
    for (auto& wait : wait_) wait = 0;
    prev_lasts_ = false;
    n_ = garbage() & 1;
    z_ = garbage() & 1;
    v_ = garbage() & 1;
    c_ = garbage() & 1;
  }

  // `seen(instruction, cycles, taken)` of each one run; false ends the run. Whether the program
  // came to its end within `most_steps`.
  template <class Seen>
  bool run(std::size_t most_steps, const Seen& seen) {
    std::uint32_t k = at_[0];
    Since since;
    for (std::size_t n = 0; k != kNowhere; ++n) {
      if (n == most_steps) return false;
      const Instruction& i = listing_[k];
      const bool taken = i.opcode == Opcode::kBranch && holds(i.condition);
      const Cycles cycles = cost(costs_, i, since, taken);
      since = after(i, since, cycles);
      prev_fresh_ = false;
      step(i);
      if (!prev_fresh_) {
        prev_a_ = garbage();
        if (!prev_lasts_) prev_alu_ = garbage();
      }
      if (i.opcode != Opcode::kLocalCsrWr)
        elapse(cycles);
      else
        elapse_others(i.destination.lm, cycles);
      if (!seen(k, cycles, taken)) return false;
      const std::uint32_t next = taken ? i.target : i.id + 1;
      k = next < at_.size() ? at_[next] : kNowhere;
    }
    return true;
  }

  const std::uint32_t* gpr_a() const { return a_; }
  const std::uint32_t* gpr_b() const { return b_; }
  const std::uint32_t* xfer_in() const { return in_; }

  // What the program answers, of XDP's actions, in the register of eBPF's R0.
  std::uint32_t verdict() const { return a_[0]; }

 private:
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

  std::uint32_t garbage() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return static_cast<std::uint32_t>(random_ >> 16);
  }

  bool holds(Condition condition) const {
    switch (condition) {
      case Condition::kAlways: return true;
      case Condition::kEq: return z_;
      case Condition::kNe: return !z_;
      case Condition::kCarryClear: return !c_;
      case Condition::kCarrySet: return c_;
      case Condition::kLt: return n_ != v_;
      case Condition::kGe: return n_ == v_;
      case Condition::kGt: return !z_ && n_ == v_;
      case Condition::kLe: return z_ || n_ != v_;
      case Condition::kMinus: return n_;
      case Condition::kPlus: return !n_;
      case Condition::kOverflowClear: return !v_;
      case Condition::kOverflowSet: return v_;
    }
    return false;
  }

  void elapse(Cycles cycles) {
    for (int k = 0; k < 4; ++k) elapse_one(k, cycles);
  }
  void elapse_others(int written, Cycles cycles) {
    for (int k = 0; k < 4; ++k)
      if (k != written) elapse_one(k, cycles);
  }
  void elapse_one(int k, Cycles cycles) {
    if (wait_[k] == 0) return;
    wait_[k] = wait_[k] > cycles ? wait_[k] - cycles : 0;
    if (wait_[k] == 0) pointer_[k] = pending_[k];
  }

  std::uint32_t& local(const Operand& o) {
    return local_[(pointer_[o.lm] / 4 + o.value) % kLocalWords];
  }

  std::uint32_t read(const Operand& o) {
    switch (o.place) {
      case Place::kNone: return garbage();
      case Place::kConstant: return o.value;
      case Place::kGprA: return a_[o.value];
      case Place::kGprB: return b_[o.value];
      case Place::kXfer: return in_[o.value];
      case Place::kLocal: return local(o);
    }
    return 0;
  }

  void write(const Instruction& i, std::uint32_t value) {
    const Operand& o = i.destination;
    if (i.write_both) {
      a_[o.value] = b_[o.value] = value;
      return;
    }
    switch (o.place) {
      case Place::kNone:
      case Place::kConstant: return;
      case Place::kGprA: a_[o.value] = value; return;
      case Place::kGprB: b_[o.value] = value; return;
      case Place::kXfer: out_[o.value] = value; return;
      case Place::kLocal: local(o) = value; return;
    }
  }

  // The register as it is, where a part of it stays.
  std::uint32_t kept(const Operand& o) {
    if (o.place == Place::kXfer) return out_[o.value];
    return read(o);
  }

  std::uint32_t shifted(std::uint32_t v, const Shift& s) const {
    const std::uint32_t n = s.amount;
    switch (s.kind) {
      case ShiftKind::kNone: return v;
      case ShiftKind::kLeft: return v << n;
      case ShiftKind::kRight: return v >> n;
      case ShiftKind::kRotLeft: return n ? v << n | v >> (32 - n) : v;
      case ShiftKind::kRotRight: return n ? v >> n | v << (32 - n) : v;
      case ShiftKind::kLeftIndirect: return v << (prev_a_ & 31);
      case ShiftKind::kRightIndirect: return v >> (prev_a_ & 31);
    }
    return v;
  }

  void set_nz(std::uint32_t r) {
    n_ = r >> 31;
    z_ = r == 0;
  }
  void unknown_vc() {
    v_ = garbage() & 1;
    c_ = garbage() & 1;
  }

  std::uint32_t add(std::uint32_t x, std::uint32_t y, bool carry) {
    const std::uint64_t sum = std::uint64_t{x} + y + carry;
    const auto r = static_cast<std::uint32_t>(sum);
    set_nz(r);
    c_ = sum >> 32;
    v_ = (x >> 31 == y >> 31) && (r >> 31 != x >> 31);
    return r;
  }
  std::uint32_t subtract(std::uint32_t x, std::uint32_t y, bool borrow) {
    const std::uint64_t difference = std::uint64_t{x} - y - borrow;
    const auto r = static_cast<std::uint32_t>(difference);
    set_nz(r);
    c_ = difference >> 32 == 0;  // nothing was borrowed
    v_ = (x >> 31 != y >> 31) && (r >> 31 == y >> 31);
    return r;
  }

  std::uint32_t sum(AluOp op, std::uint32_t x, std::uint32_t y) {
    switch (op) {
      case AluOp::kAdd: return add(x, y, false);
      case AluOp::kAdd8: return add(x, y & 0xff, false);
      case AluOp::kAdd16: return add(x, y & 0xffff, false);
      case AluOp::kAddCarry: return add(x, y, c_);
      case AluOp::kSub: return subtract(x, y, false);
      case AluOp::kBSubA: return subtract(y, x, false);
      case AluOp::kSubCarry: return subtract(x, y, !c_);
      case AluOp::kAnd:
      case AluOp::kOr:
      case AluOp::kXor:
      case AluOp::kB:
      case AluOp::kNotB:
      case AluOp::kNotAAnd:
      case AluOp::kAndNotB: break;
    }
    LPN_ASSERT(!"a logical operation is no sum");
    return 0;
  }

  void alu(const Instruction& i) {
    const std::uint32_t x = read(i.a);
    std::uint32_t y = read(i.b);
    if (i.opcode == Opcode::kAluShf) y = shifted(y, i.shift);
    if (logic(i.alu)) {
      const std::uint32_t r = logical(i.alu, x, y);
      set_nz(r);
      v_ = c_ = false;
      prev_a_ = x;
      prev_alu_ = r;
      prev_fresh_ = true;
      prev_lasts_ = false;
      return write(i, r);
    }
    prev_lasts_ = false;
    write(i, sum(i.alu, x, y));
  }

  // An address within a memory: where that begins is the same for all packets.
  static std::uint32_t offset(bool dram, std::uint64_t address) {
    return static_cast<std::uint32_t>(dram ? address - kMapAt : address - kPacketAt);
  }
  std::uint8_t load(bool from_dram, std::uint64_t address) {
    return (from_dram ? dram_ : packet_).get(offset(from_dram, address));
  }
  void store(bool to_dram, std::uint64_t address, std::uint8_t byte) {
    (to_dram ? dram_ : packet_).set(offset(to_dram, address), byte);
  }

  void memory(const Instruction& i) {
    const std::uint64_t x = read(i.a), y = read(i.b);
    std::uint64_t address = (i.shifted_a ? x << 8 : x) + (i.shifted_b ? y << 8 : y);
    address &= i.dram() ? (std::uint64_t{1} << 40) - 1 : 0xffffffffu;
    const std::uint32_t first = i.destination.value;
    switch (i.command) {
      case MemCommand::kRead32: {
        const std::uint32_t count = i.indirect_ref ? (prev_alu_ >> 8 & 31) + 1 : i.count;
        for (std::uint32_t w = 0; w < count && first + w < kXfers; ++w) {
          std::uint32_t word = 0;
          for (std::uint32_t k = 0; k < 4; ++k)
            word |= std::uint32_t{load(i.dram(), address + 4 * w + k)} << 8 * k;
          in_[first + w] = word;
        }
        return;
      }
      case MemCommand::kWrite8:
      case MemCommand::kWrite32: {
        const std::uint32_t count = i.command == MemCommand::kWrite32 ? i.count * 4 : i.count;
        for (std::uint32_t k = 0; k < count; ++k)
          store(i.dram(), address + k,
                static_cast<std::uint8_t>(out_[first + k / 4] >> 8 * (k % 4)));
        return;
      }
      case MemCommand::kAddImm: {
        std::uint32_t word = 0;
        for (std::uint32_t k = 0; k < 4; ++k)
          word |= std::uint32_t{load(true, address + k)} << 8 * k;
        word += prev_alu_ >> 16;
        for (std::uint32_t k = 0; k < 4; ++k)
          store(true, address + k, static_cast<std::uint8_t>(word >> 8 * k));
        return;
      }
    }
  }

  void shift_with_sign(const Instruction& i) {
    const auto n = i.shift.kind == ShiftKind::kRight ? i.shift.amount : prev_a_ & 31;
    std::uint64_t wide = read(i.b);
    if (prev_alu_ >> 31) wide |= 0xffffffff00000000u;
    const auto r = static_cast<std::uint32_t>(wide >> n);
    set_nz(r);
    v_ = c_ = false;
    const std::uint32_t a = prev_a_;
    prev_alu_ = r;
    prev_fresh_ = true;
    prev_lasts_ = false;
    prev_a_ = a ^ garbage();
    write(i, r);
  }

  void shift_double(const Instruction& i) {
    const std::uint64_t wide = std::uint64_t{read(i.a)} << 32 | read(i.b);
    const bool right =
        i.shift.kind == ShiftKind::kRight || i.shift.kind == ShiftKind::kRightIndirect;
    const bool indirect =
        i.shift.kind == ShiftKind::kRightIndirect || i.shift.kind == ShiftKind::kLeftIndirect;
    const std::uint32_t n = indirect ? prev_a_ & 31 : i.shift.amount;
    const auto r = static_cast<std::uint32_t>(right ? wide >> n : wide << n);
    set_nz(r);
    v_ = c_ = false;
    write(i, r);
  }

  void constant(const Instruction& i) {
    const std::uint64_t twice = std::uint64_t{i.b.value} << 32 | i.b.value;
    const std::uint32_t n = i.shift.amount;
    std::uint64_t moved = twice;
    if (i.shift.kind == ShiftKind::kLeft || i.shift.kind == ShiftKind::kRotLeft) moved = twice << n;
    if (i.shift.kind == ShiftKind::kRight) moved = twice >> n;
    if (i.shift.kind == ShiftKind::kRotRight && n) moved = twice >> n | twice << (64 - n);
    lasting(static_cast<std::uint32_t>(moved >> 32));
    write(i, static_cast<std::uint32_t>(moved >> 32));
  }

  void load_field(const Instruction& i) {
    std::uint32_t bytes = 0;
    for (int k = 0; k < 4; ++k)
      if (i.mask >> k & 1) bytes |= 0xffu << 8 * k;
    const std::uint32_t old =
        i.opcode == Opcode::kLdField && bytes != ~0u ? kept(i.destination) : 0;
    const std::uint32_t r = (old & ~bytes) | (shifted(read(i.b), i.shift) & bytes);
    set_nz(r);
    unknown_vc();
    lasting(r);
    write(i, r);
  }

  void multiply(const Instruction& i) {
    if (i.step == MulStep::kStart) {
      multiplied_[0] = read(i.a);
      multiplied_[1] = read(i.b);
    }
    const bool last =
        i.step == MulStep::kLast || i.step == MulStep::kLast2 || i.step == MulStep::kLast16;
    if (!last) return;
    const std::uint64_t product =
        i.step == MulStep::kLast16
            ? std::uint64_t{multiplied_[0] & 0xffff} * (multiplied_[1] & 0xffff)
            : std::uint64_t{multiplied_[0]} * multiplied_[1];
    const auto r = static_cast<std::uint32_t>(i.step == MulStep::kLast2 ? product >> 32 : product);
    set_nz(r);
    unknown_vc();
    write(i, r);
  }

  void step(const Instruction& i) {
    switch (i.opcode) {
      case Opcode::kNop:
      case Opcode::kFin:
      case Opcode::kBranch: return;
      case Opcode::kAlu:
      case Opcode::kAluShf: return alu(i);
      case Opcode::kAsr: return shift_with_sign(i);
      case Opcode::kDblShf: return shift_double(i);
      case Opcode::kImmed: return constant(i);
      case Opcode::kImmedW1: return write(i, (kept(i.destination) & 0xffff) | i.b.value << 16);
      case Opcode::kLdField:
      case Opcode::kLdFieldClr: return load_field(i);
      case Opcode::kLocalCsrWr: {
        const int k = i.destination.lm;
        if (wait_[k] > 1) pointer_[k] = garbage() & ~3u;
        pending_[k] = read(i.b);
        wait_[k] = 3;
        return;
      }
      case Opcode::kMulStep: return multiply(i);
      case Opcode::kMem: return memory(i);
    }
  }

  void lasting(std::uint32_t r) {
    prev_alu_ = r;
    prev_lasts_ = true;
  }

  const std::vector<Instruction>& listing_;
  const Costs& costs_;
  Memory &packet_, &dram_;
  std::uint64_t random_;
  std::vector<std::uint32_t> at_;  // by id: its index
  std::uint32_t undefined_[kLocalWords];
  std::uint32_t a_[32] = {}, b_[32] = {}, in_[32] = {}, out_[32] = {}, local_[kLocalWords] = {};
  std::uint32_t pointer_[4] = {}, pending_[4] = {};
  Cycles wait_[4] = {};
  std::uint32_t prev_a_ = 0, prev_alu_ = 0, multiplied_[2] = {};
  bool prev_fresh_ = false, prev_lasts_ = false;
  bool n_ = false, z_ = false, v_ = false, c_ = false;
};

}  // namespace lpn::nfp
