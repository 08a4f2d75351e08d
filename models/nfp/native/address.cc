#include "address.h"

#include <array>
#include <bit>

namespace lpn::nfp {
namespace {

constexpr LowBits kUnknown{};
constexpr std::uint32_t kAll = ~std::uint32_t{0};

LowBits exactly(std::uint32_t value) { return {kAll, value}; }

// Addition and subtraction know as many low bits as both operands.
LowBits sum(LowBits a, LowBits b, bool subtract) {
  const int low = std::countr_one(a.known & b.known);
  const std::uint32_t mask = low == 32 ? kAll : (std::uint32_t{1} << low) - 1;
  return {mask, (subtract ? a.value - b.value : a.value + b.value) & mask};
}

LowBits combine(LowBits a, AluOp op, LowBits b) {
  switch (op) {
    case AluOp::kAdd: return sum(a, b, false);
    case AluOp::kSub: return sum(a, b, true);
    case AluOp::kBSubA: return sum(b, a, true);
    case AluOp::kAdd8: return sum(a, {b.known | ~0xffu, b.value & 0xff}, false);
    case AluOp::kAdd16: return sum(a, {b.known | ~0xffffu, b.value & 0xffff}, false);
    case AluOp::kAddCarry:
    case AluOp::kSubCarry: return kUnknown;  // the carry is not followed
    case AluOp::kB: return b;
    case AluOp::kNotB: return {b.known, ~b.value & b.known};
    case AluOp::kXor: return {a.known & b.known, (a.value ^ b.value) & a.known & b.known};
    case AluOp::kOr: {
      const std::uint32_t known = (a.known & b.known) | (a.known & a.value) | (b.known & b.value);
      return {known, (a.value | b.value) & known};
    }
    case AluOp::kNotAAnd: a.value = ~a.value & a.known; break;
    case AluOp::kAndNotB: b.value = ~b.value & b.known; break;
    case AluOp::kAnd: break;
  }
  const std::uint32_t zero = (a.known & ~a.value) | (b.known & ~b.value);
  const std::uint32_t known = (a.known & b.known) | zero;
  return {known, a.value & b.value & known};
}

LowBits shifted(LowBits x, Shift shift) {
  const int n = shift.amount;
  switch (shift.kind) {
    case ShiftKind::kNone: return x;
    case ShiftKind::kLeft: return {(x.known << n) | ((std::uint32_t{1} << n) - 1), x.value << n};
    case ShiftKind::kRight: return {(x.known >> n) | ~(kAll >> n), x.value >> n};
    case ShiftKind::kRotLeft: return {std::rotl(x.known, n), std::rotl(x.value, n)};
    case ShiftKind::kRotRight: return {std::rotr(x.known, n), std::rotr(x.value, n)};
    case ShiftKind::kLeftIndirect:
    case ShiftKind::kRightIndirect: return kUnknown;
  }
  return kUnknown;
}

// The bits of `x` that `mask` selects, else those of `y`.
LowBits select(std::uint32_t mask, LowBits x, LowBits y) {
  return {(x.known & mask) | (y.known & ~mask), (x.value & mask) | (y.value & ~mask)};
}

std::uint32_t byte_mask(std::uint32_t bytes) {
  std::uint32_t out = 0;
  for (int k = 0; k < 4; ++k)
    if (bytes >> k & 1) out |= std::uint32_t{0xff} << (8 * k);
  return out;
}

class Registers {
 public:
  LowBits read(const Operand& o) const {
    switch (o.place) {
      case Place::kConstant: return exactly(o.value);
      case Place::kGprA: return a_[o.value];
      case Place::kGprB: return b_[o.value];
      case Place::kNone:
      case Place::kXfer:
      case Place::kLocal: break;
    }
    return kUnknown;
  }

  // Everything that computes into a register; the rest leaves registers alone.
  void execute(const Instruction& i) {
    switch (i.opcode) {
      case Opcode::kAlu: write(i, combine(read(i.a), i.alu, read(i.b))); break;
      case Opcode::kAluShf: write(i, combine(read(i.a), i.alu, shifted(read(i.b), i.shift))); break;
      case Opcode::kImmed: {
        // The constant twice, side by side, is shifted: to the left that rotates.
        Shift shift = i.shift;
        if (shift.kind == ShiftKind::kLeft) shift.kind = ShiftKind::kRotLeft;
        write(i, shift.kind == ShiftKind::kRight ? kUnknown : shifted(read(i.b), shift));
        break;
      }
      case Opcode::kImmedW1:
        write(i, select(0xffff0000u, exactly(i.b.value << 16), read(i.destination)));
        break;
      case Opcode::kLdField:
        write(i, select(byte_mask(i.mask), shifted(read(i.b), i.shift), read(i.destination)));
        break;
      case Opcode::kLdFieldClr:
        write(i, select(byte_mask(i.mask), shifted(read(i.b), i.shift), exactly(0)));
        break;
      case Opcode::kAsr:
      case Opcode::kDblShf:
      case Opcode::kMulStep: write(i, kUnknown); break;
      case Opcode::kLocalCsrWr:
      case Opcode::kNop:
      case Opcode::kBranch:
      case Opcode::kMem:
      case Opcode::kFin: break;
    }
  }

 private:
  void write(const Instruction& i, LowBits value) {
    if (i.destination.place == Place::kGprA ||
        (i.write_both && i.destination.place == Place::kGprB))
      a_[i.destination.value] = value;
    if (i.destination.place == Place::kGprB ||
        (i.write_both && i.destination.place == Place::kGprA))
      b_[i.destination.value] = value;
  }

  std::array<LowBits, kGprs> a_{}, b_{};
};

}  // namespace

std::vector<LowBits> dram_addresses(const Graph& graph, const Path& path) {
  Registers registers;
  std::vector<LowBits> out;
  for (const std::uint32_t e : path) {
    for (const std::uint32_t k : graph.blocks[graph.edges[e].to].code) {
      const Instruction& i = graph.instructions[k];
      if (i.dram()) {
        const LowBits low = sum(i.shifted_a ? exactly(0) : registers.read(i.a),
                                i.shifted_b ? exactly(0) : registers.read(i.b), false);
        out.push_back({low.known & 0xff, low.value & low.known & 0xff});
      }
      registers.execute(i);
    }
  }
  return out;
}

}  // namespace lpn::nfp
