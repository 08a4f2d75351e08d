#include "symbolic.h"

#include <algorithm>

#include "lpn/base/error.h"

namespace lpn::nfp {
namespace {

constexpr std::uint8_t kPointerDelay = 3;  // cycles until a written ActLMAddr is used

void mix(std::size_t& h, std::uint64_t v) { h = (h ^ v) * 0x9e3779b97f4a7c15ull ^ h >> 29; }

// The least time an instruction takes, for the delay of ActLMAddr.
std::uint8_t least_cycles(const Instruction& i) {
  return i.opcode == Opcode::kMem && i.swaps ? 3 : 1;
}

template <class V>
const V* lookup(const std::vector<std::pair<std::uint32_t, V>>& words, std::uint32_t key) {
  const auto at = std::lower_bound(words.begin(), words.end(), key,
                                   [](const auto& w, auto k) { return w.first < k; });
  return at != words.end() && at->first == key ? &at->second : nullptr;
}

template <class V>
void assign(std::vector<std::pair<std::uint32_t, V>>& words, std::uint32_t key, const V& value) {
  const auto at = std::lower_bound(words.begin(), words.end(), key,
                                   [](const auto& w, auto k) { return w.first < k; });
  if (at != words.end() && at->first == key)
    at->second = value;
  else
    words.insert(at, {key, value});
}

}  // namespace

std::size_t State::hash() const {
  std::size_t h = 1;
  for (const Value& v : values)
    mix(h, std::uint64_t{v.term} << 16 | static_cast<std::uint64_t>(v.type) << 8 |
               static_cast<std::uint64_t>(v.segment));
  for (const auto w : wait) mix(h, w);
  mix(h, std::uint64_t{prev_a} << 16 | std::uint64_t{prev_alu} << 8 | mul);
  mix(h, static_cast<std::uint64_t>(flags.type));
  for (const TermId t : {flags.a, flags.b, flags.r, flags.carry, packet.array, map.array})
    mix(h, t);
  for (const Bytes* bytes : {&packet, &map})
    for (const auto& [address, byte] : bytes->over) mix(h, std::uint64_t{address} << 32 | byte);
  for (const auto* words : {&stack, &context})
    for (const auto& [word, v] : *words)
      mix(h, std::uint64_t{word} << 40 ^ std::uint64_t{v.term} << 8 ^
                 static_cast<std::uint64_t>(v.type));
  return h;
}

State Symbolic::initial() {
  State s;
  s.values.fill(undefined());
  s.packet.array = terms_.array(Memory::kPacket);
  s.map.array = terms_.array(Memory::kMap);
  const auto pointer = [&](Region region, std::uint32_t offset) {
    return Value{Value::Type::kPointer, region, terms_.constant(32, offset)};
  };
  s.values[kAtA + 22] = pointer(Region::kStack, 0);
  s.values[kAtB + 23] = {Value::Type::kHigh, Region::kMap, terms_.constant(32, 0)};
  s.values[kAtPointer] = pointer(Region::kStack, 0);
  s.values[kAtPointer + 1] = pointer(Region::kContext, 0);
  s.context.push_back({0, scalar(terms_.zext(terms_.size(), 32))});
  s.context.push_back({2, pointer(Region::kPacket, kPacketBase)});
  s.flags.a = s.flags.b = s.flags.r = s.flags.carry = terms_.undefined(1);
  return s;
}

Value Symbolic::read(const Operand& o, const State& s, Touch* touch, int which) {
  switch (o.place) {
    case Place::kNone: return undefined();
    case Place::kConstant: return scalar(terms_.constant(32, o.value));
    case Place::kGprA: return s.values[kAtA + o.value];
    case Place::kGprB: return s.values[kAtB + o.value];
    case Place::kXfer: return s.values[kAtIn + o.value];
    case Place::kLocal: {
      const Value& base = s.values[kAtPointer + o.lm];
      const bool local = base.type == Value::Type::kPointer &&
                         (base.segment == Region::kStack || base.segment == Region::kContext);
      if (!local || !terms_.constant(base.term) || terms_[base.term].value % 4) return undefined();
      const auto word = static_cast<std::uint32_t>(terms_[base.term].value / 4 + o.value);
      if (touch) {
        touch->local_known[which] = true;
        touch->local_segment[which] = base.segment;
        touch->local[which] = word;
      }
      const Value* found = lookup(base.segment == Region::kStack ? s.stack : s.context, word);
      return found ? *found : undefined();
    }
  }
  return undefined();
}

void Symbolic::write(const Instruction& i, const Operand& o, Value value, State& s, Touch* touch) {
  switch (o.place) {
    case Place::kNone:
    case Place::kConstant: return;
    case Place::kGprA:
    case Place::kGprB:
      if (i.write_both || o.place == Place::kGprA) s.values[kAtA + o.value] = value;
      if (i.write_both || o.place == Place::kGprB) s.values[kAtB + o.value] = value;
      return;
    case Place::kXfer: s.values[kAtOut + o.value] = value; return;
    case Place::kLocal: {
      const Value& base = s.values[kAtPointer + o.lm];
      const bool local = base.type == Value::Type::kPointer &&
                         (base.segment == Region::kStack || base.segment == Region::kContext);
      if (!local || !terms_.constant(base.term) ||
          terms_[base.term].value % 4) {  // it could be any word
        s.stack.clear();
        s.context.clear();
        return;
      }
      const auto word = static_cast<std::uint32_t>(terms_[base.term].value / 4 + o.value);
      if (touch) {
        touch->local_known[0] = true;
        touch->local_segment[0] = base.segment;
        touch->local[0] = word;
      }
      assign(base.segment == Region::kStack ? s.stack : s.context, word, value);
      return;
    }
  }
}

TermId Symbolic::shifted(TermId t, const Shift& shift, const State& s) {
  const int n = shift.amount;
  switch (shift.kind) {
    case ShiftKind::kNone: return t;
    case ShiftKind::kLeft: return terms_.shl(t, n);
    case ShiftKind::kRight: return terms_.shr(t, n);
    case ShiftKind::kRotLeft: return terms_.rotl(t, n);
    case ShiftKind::kRotRight: return terms_.rotl(t, (32 - n) % 32);
    case ShiftKind::kLeftIndirect:
    case ShiftKind::kRightIndirect: {
      if (s.prev_a == 0) return terms_.undefined(32);
      const TermId amount = terms_.land(term(s.values[kAtPrevA]), terms_.constant(32, 31));
      return shift.kind == ShiftKind::kLeftIndirect ? terms_.shl(t, amount) : terms_.shr(t, amount);
    }
  }
  return t;
}

// C: after a subtraction whether nothing was borrowed, after an addition what is carried, else 0.
TermId Symbolic::carry_of(const Flags& f) {
  const auto overflow = [&](TermId a, TermId b, TermId in) {
    const int width = terms_.width(a);
    const TermId sum = terms_.add(terms_.add(terms_.zext(a, width + 1), terms_.zext(b, width + 1)),
                                  terms_.zext(in, width + 1));
    return terms_.extract(sum, width, 1);
  };
  switch (f.type) {
    case Flags::Type::kUndefined:
    case Flags::Type::kField:
    case Flags::Type::kNonNull: return terms_.undefined(1);
    case Flags::Type::kLogic: return terms_.constant(1, 0);
    case Flags::Type::kSub: return terms_.negated(terms_.ult(f.a, f.b));
    case Flags::Type::kAdd: {
      const int width = terms_.width(f.a);
      if (width < 64) return overflow(f.a, f.b, terms_.constant(1, 0));
      if (terms_.range(f.a).hi <= ~terms_.range(f.b).hi) return terms_.constant(1, 0);
      return terms_.ult(terms_.add(f.a, f.b), f.a);
    }
    case Flags::Type::kSubIn: {  // a - b - borrow does not borrow
      const TermId less = terms_.ult(f.a, f.b), same = terms_.eq(f.a, f.b);
      return terms_.negated(terms_.lor(less, terms_.land(same, f.carry)));
    }
    case Flags::Type::kAddIn: return overflow(f.a, f.b, f.carry);
  }
  return terms_.undefined(1);
}

Value Symbolic::arithmetic(AluOp op, const Value& a, const Value& b, State& s) {
  if (logic(op)) return logical(op, a, b, s);
  const Sum sum = sum_of(op, a, b);
  return op == AluOp::kAddCarry || op == AluOp::kSubCarry ? add_carried(sum, s) : add(sum, s);
}

Value Symbolic::logical(AluOp op, const Value& a, const Value& b, State& s) {
  const bool pa = a.type != Value::Type::kTerm, pb = b.type != Value::Type::kTerm;
  const TermId none = terms_.undefined(1);
  const auto zero = [&](const Value& v) {
    return v.type == Value::Type::kTerm && terms_.is(v.term, 0);
  };
  if (pa || pb) {
    // Copies keep a pointer; it is never null; bits of it are nobody's business.
    const bool copied = (op == AluOp::kB && pb) ||
                        (pb && zero(a) && (op == AluOp::kOr || op == AluOp::kXor)) ||
                        (pa && zero(b) && (op == AluOp::kOr || op == AluOp::kXor));
    if (op == AluOp::kB && !pb) {
      s.flags = {Flags::Type::kLogic, none, none, b.term, none};
      return b;
    }
    const bool nonnull = copied || op == AluOp::kOr;
    s.flags = {nonnull ? Flags::Type::kNonNull : Flags::Type::kUndefined, none, none, none, none};
    return copied ? (pb ? b : a) : undefined();
  }
  TermId r = 0;
  switch (op) {
    case AluOp::kAnd: r = terms_.land(a.term, b.term); break;
    case AluOp::kOr: r = terms_.lor(a.term, b.term); break;
    case AluOp::kXor: r = terms_.lxor(a.term, b.term); break;
    case AluOp::kB: r = b.term; break;
    case AluOp::kNotB: r = terms_.negated(b.term); break;
    case AluOp::kNotAAnd: r = terms_.land(terms_.negated(a.term), b.term); break;
    case AluOp::kAndNotB: r = terms_.land(a.term, terms_.negated(b.term)); break;
    case AluOp::kAdd:
    case AluOp::kSub:
    case AluOp::kAddCarry:
    case AluOp::kSubCarry:
    case AluOp::kBSubA:
    case AluOp::kAdd8:
    case AluOp::kAdd16: break;  // no logic
  }
  s.flags = {Flags::Type::kLogic, none, none, r, none};
  return scalar(r);
}

Symbolic::Sum Symbolic::sum_of(AluOp op, const Value& a, const Value& b) {
  using Type = Value::Type;
  Sum out;
  out.x = a;
  out.y = b;
  if (op == AluOp::kBSubA) std::swap(out.x, out.y);
  out.subtracts = op == AluOp::kSub || op == AluOp::kBSubA || op == AluOp::kSubCarry;
  if (op == AluOp::kAdd8) out.y = scalar(terms_.zext(terms_.extract(term(b), 0, 8), 32));
  if (op == AluOp::kAdd16) out.y = scalar(terms_.zext(terms_.extract(term(b), 0, 16), 32));
  const bool px = out.x.type != Type::kTerm, py = out.y.type != Type::kTerm;
  out.pointer = px || py;
  out.pointers = px && py;

  // The number to calculate with; a pointer's is its offset, and 256 of them per step of a shifted
  // one.
  const auto number = [&](const Value& v, const Value& other) {
    return other.type == Type::kHigh && v.type == Type::kTerm ? terms_.shl(v.term, 8) : v.term;
  };
  out.m = number(out.x, out.y);
  out.n = number(out.y, out.x);
  if (out.subtracts && px && py) {
    if (out.x.type != out.y.type || out.x.segment != out.y.segment) out.m = terms_.undefined(32);
    out.like = scalar(terms_.undefined(32));
  } else if (out.subtracts ? py : px && py) {
    out.m = terms_.undefined(32);
    out.like = undefined();
  } else {
    out.like = px ? out.x : py ? out.y : scalar(0);
  }
  return out;
}

Value Symbolic::value_of(const Sum& sum, TermId r) {
  if (sum.pointers) return terms_.vague(sum.m) ? undefined() : scalar(r);
  if (!sum.pointer || sum.like.type == Value::Type::kTerm)
    return scalar(terms_.vague(sum.m) && sum.pointer ? terms_.undefined(32) : r);
  Value out = sum.like;
  out.term = r;
  return out;
}

Value Symbolic::add(const Sum& sum, State& s) {
  const TermId none = terms_.undefined(1);
  const TermId r = sum.subtracts ? terms_.sub(sum.m, sum.n) : terms_.add(sum.m, sum.n);
  const Value v = value_of(sum, r);
  if (sum.subtracts && sum.pointer && sum.y.type == Value::Type::kTerm && terms_.is(sum.n, 0))
    s.flags = {Flags::Type::kNonNull, sum.m, sum.n, none, none};
  else
    s.flags = {sum.subtracts ? Flags::Type::kSub : Flags::Type::kAdd, sum.m, sum.n,
               sum.pointer && !sum.pointers ? terms_.undefined(32) : r, none};
  return v;
}

Value Symbolic::add_carried(const Sum& sum, State& s) {
  const bool subtracts = sum.subtracts, pointer = sum.pointer;
  const TermId m = sum.m, n = sum.n;
  const TermId none = terms_.undefined(1);
  const Flags& before = s.flags;
  const bool chain =
      !pointer &&
      (subtracts ? before.type == Flags::Type::kSub : before.type == Flags::Type::kAdd) &&
      terms_.width(before.a) == 32;
  if (chain) {
    const TermId wide_x = terms_.concat(m, before.a), wide_y = terms_.concat(n, before.b);
    const TermId wide = subtracts ? terms_.sub(wide_x, wide_y) : terms_.add(wide_x, wide_y);
    // Without a carry the words are apart, which keeps terms small.
    const TermId carry = carry_of(before);
    const TermId in = subtracts ? terms_.negated(carry) : carry;
    const TermId r = terms_.is(in, 0) ? (subtracts ? terms_.sub(m, n) : terms_.add(m, n))
                                      : terms_.extract(wide, 32, 32);
    s.flags = {subtracts ? Flags::Type::kSub : Flags::Type::kAdd, wide_x, wide_y, r, none};
    return scalar(r);
  }
  const bool nonnull = before.type == Flags::Type::kNonNull && subtracts;
  const TermId carry = nonnull ? terms_.constant(1, 1) : carry_of(before);
  const TermId in = subtracts ? terms_.negated(carry) : carry;
  TermId wide_in = terms_.zext(in, 32);
  if (sum.x.type == Value::Type::kHigh || sum.y.type == Value::Type::kHigh)
    wide_in = terms_.shl(wide_in, 8);
  const TermId r =
      subtracts ? terms_.sub(terms_.sub(m, n), wide_in) : terms_.add(terms_.add(m, n), wide_in);
  const Value v = value_of(sum, r);
  if (nonnull && !pointer) {  // the upper word of a pointer against null: the lower one has decided
    s.flags = {Flags::Type::kNonNull, none, none, none, none};
    return v;
  }
  s.flags = {subtracts ? Flags::Type::kSubIn : Flags::Type::kAddIn, m, n,
             pointer && !sum.pointers ? terms_.undefined(32) : r, in};
  return v;
}

TermId Symbolic::condition(const Instruction& branch, const State& s) {
  const Flags& f = s.flags;
  const auto zero = [&]() -> TermId {
    if (f.type == Flags::Type::kUndefined) return terms_.undefined(1);
    if (f.type == Flags::Type::kNonNull) return terms_.constant(1, 0);
    return terms_.eq(f.r, terms_.constant(terms_.width(f.r), 0));
  };
  const auto top = [&](TermId t) { return terms_.extract(t, terms_.width(t) - 1, 1); };
  const auto negative = [&]() -> TermId {
    if (f.type == Flags::Type::kUndefined || f.type == Flags::Type::kNonNull)
      return terms_.undefined(1);
    return top(f.r);
  };
  const auto overflow = [&]() -> TermId {
    switch (f.type) {
      case Flags::Type::kUndefined:
      case Flags::Type::kField:
      case Flags::Type::kNonNull: return terms_.undefined(1);
      case Flags::Type::kLogic: return terms_.constant(1, 0);
      case Flags::Type::kSub:
      case Flags::Type::kSubIn:  // operands of unlike signs, and the result has that of b
        return terms_.land(terms_.lxor(top(f.a), top(f.b)),
                           terms_.negated(terms_.lxor(top(f.b), top(f.r))));
      case Flags::Type::kAdd:
      case Flags::Type::kAddIn:
        return terms_.land(terms_.negated(terms_.lxor(top(f.a), top(f.b))),
                           terms_.lxor(top(f.a), top(f.r)));
    }
    return terms_.undefined(1);
  };
  const auto less = [&]() -> TermId {
    if (f.type == Flags::Type::kSub && !terms_.vague(f.r)) return terms_.slt(f.a, f.b);
    return terms_.lxor(negative(), overflow());
  };
  switch (branch.condition) {
    case Condition::kAlways: return terms_.constant(1, 1);
    case Condition::kEq: return zero();
    case Condition::kNe: return terms_.negated(zero());
    case Condition::kCarryClear: return terms_.negated(carry_of(f));
    case Condition::kCarrySet: return carry_of(f);
    case Condition::kLt: return less();
    case Condition::kGe: return terms_.negated(less());
    case Condition::kGt: return terms_.land(terms_.negated(zero()), terms_.negated(less()));
    case Condition::kLe: return terms_.lor(zero(), less());
    case Condition::kMinus: return negative();
    case Condition::kPlus: return terms_.negated(negative());
    case Condition::kOverflowClear: return terms_.negated(overflow());
    case Condition::kOverflowSet: return overflow();
  }
  return terms_.undefined(1);
}

void Symbolic::leave(const Instruction& last, bool taken, State& s) {
  if (last.opcode == Opcode::kBranch && taken) pass(2, s);  // 3 cycles, 1 of which was counted
}

void Symbolic::pass(std::uint8_t cycles, State& s) {
  for (std::uint32_t k = 0; k < kLocalPointers; ++k) {
    if (s.wait[k] == 0) continue;
    s.wait[k] = s.wait[k] > cycles ? static_cast<std::uint8_t>(s.wait[k] - cycles) : 0;
    if (s.wait[k] == 0) {
      s.values[kAtPointer + k] = s.values[kAtPending + k];
      s.values[kAtPending + k] = undefined();
    }
  }
}

void Symbolic::run(const std::vector<Instruction>& instructions,
                   const std::vector<std::uint32_t>& code, State& s, std::vector<Touch>* touches) {
  if (touches) touches->assign(code.size(), {});
  for (std::size_t k = 0; k < code.size(); ++k)
    step(instructions[code[k]], s, touches ? &(*touches)[k] : nullptr);
}

void Symbolic::step(const Instruction& i, State& s, Touch* touch) {
  const std::uint8_t prev_a = s.prev_a, prev_alu = s.prev_alu;
  Left left;
  switch (i.opcode) {
    case Opcode::kNop:
    case Opcode::kFin:
    case Opcode::kBranch: break;
    case Opcode::kAlu:
    case Opcode::kAluShf: left = alu(i, s, touch); break;
    case Opcode::kAsr: left = shift_with_sign(i, s, touch); break;
    case Opcode::kDblShf: shift_double(i, s, touch); break;
    case Opcode::kImmed: left = constant(i, s, touch); break;
    case Opcode::kImmedW1: constant_above(i, s, touch); break;
    case Opcode::kLdField:
    case Opcode::kLdFieldClr: left = load_field(i, s, touch); break;
    case Opcode::kLocalCsrWr: set_pointer(i, s, touch); break;
    case Opcode::kMulStep: multiply(i, s, touch); break;
    case Opcode::kMem: memory(i, s, touch); break;
  }
  if (!left.a && prev_a == 1) s.prev_a = 0;
  if (!left.alu && prev_alu == 1) s.prev_alu = 0;
  if (s.prev_a == 0) s.values[kAtPrevA] = undefined();
  if (s.prev_alu == 0) s.values[kAtPrevAlu] = undefined();
  if (i.opcode != Opcode::kLocalCsrWr) pass(least_cycles(i), s);  // that has counted already
}

void Symbolic::remember(const Value& v, std::uint8_t how, State& s) {
  s.values[kAtPrevAlu] = v;
  s.prev_alu = how;
}

Symbolic::Left Symbolic::alu(const Instruction& i, State& s, Touch* touch) {
  const Value a = read(i.a, s, touch, 1);
  Value b = read(i.b, s, touch, 2);
  if (i.opcode == Opcode::kAluShf) {
    const bool whole =
        b.type == Value::Type::kHigh && i.shift.kind == ShiftKind::kLeft && i.shift.amount == 8;
    if (whole)
      b.type = Value::Type::kPointer;
    else
      b = scalar(shifted(term(b), i.shift, s));
  }
  const Value r = arithmetic(i.alu, a, b, s);
  if (logic(i.alu)) {
    s.values[kAtPrevA] = a;
    s.prev_a = 1;
    remember(r, 1, s);
  } else {
    s.prev_a = s.prev_alu = 0;
  }
  write(i, i.destination, r, s, touch);
  return {logic(i.alu), logic(i.alu)};
}

Symbolic::Left Symbolic::shift_with_sign(const Instruction& i, State& s, Touch* touch) {
  const TermId b = term(read(i.b, s, touch, 2));
  const TermId sign =
      s.prev_alu == 0 ? terms_.undefined(1) : terms_.extract(term(s.values[kAtPrevAlu]), 31, 1);
  TermId r = 0;
  if (i.shift.kind == ShiftKind::kRight) {
    const int n = i.shift.amount;
    r = n == 0 ? b
               : terms_.extract(terms_.sext(terms_.concat(sign, terms_.extract(b, n, 32 - n)), 64),
                                0, 32);
  } else {
    const TermId amount = s.prev_a == 0
                              ? terms_.undefined(32)
                              : terms_.land(term(s.values[kAtPrevA]), terms_.constant(32, 31));
    const TermId wide = terms_.concat(terms_.sext(sign, 32), b);
    r = terms_.extract(terms_.shr(wide, terms_.zext(amount, 64)), 0, 32);
  }
  const TermId none = terms_.undefined(1);
  s.flags = {Flags::Type::kLogic, none, none, r, none};
  remember(scalar(r), 1, s);
  write(i, i.destination, scalar(r), s, touch);
  return {false, true};
}

void Symbolic::shift_double(const Instruction& i, State& s, Touch* touch) {
  const TermId a = term(read(i.a, s, touch, 1)), b = term(read(i.b, s, touch, 2));
  const TermId wide = terms_.concat(a, b);
  const int n = i.shift.amount;
  TermId r = 0;
  if (i.shift.kind == ShiftKind::kRight) {
    r = terms_.extract(wide, n, 32);
  } else if (i.shift.kind == ShiftKind::kLeft) {
    r = terms_.shl(b, n);
  } else if (s.prev_a == 0) {
    r = terms_.undefined(32);
  } else {
    const TermId amount =
        terms_.zext(terms_.land(term(s.values[kAtPrevA]), terms_.constant(32, 31)), 64);
    r = terms_.extract(i.shift.kind == ShiftKind::kRightIndirect ? terms_.shr(wide, amount)
                                                                 : terms_.shl(wide, amount),
                       0, 32);
  }
  const TermId none = terms_.undefined(1);
  s.flags = {Flags::Type::kLogic, none, none, r, none};
  write(i, i.destination, scalar(r), s, touch);
}

Symbolic::Left Symbolic::constant(const Instruction& i, State& s, Touch* touch) {
  // The upper half of the constant twice: to the left it rotates.
  TermId r = terms_.constant(32, i.b.value);
  const int n = i.shift.amount;
  if (i.shift.kind == ShiftKind::kLeft || i.shift.kind == ShiftKind::kRotLeft)
    r = terms_.rotl(r, n);
  if (i.shift.kind == ShiftKind::kRight) r = terms_.shr(r, n);
  if (i.shift.kind == ShiftKind::kRotRight) r = terms_.rotl(r, (32 - n) % 32);
  remember(scalar(r), 2, s);
  write(i, i.destination, scalar(r), s, touch);
  return {false, true};
}

void Symbolic::constant_above(const Instruction& i, State& s, Touch* touch) {
  const TermId old = term(read(i.destination, s, touch, 0));
  const Value r = scalar(terms_.concat(terms_.constant(16, i.b.value), terms_.extract(old, 0, 16)));
  write(i, i.destination, r, s, touch);
}

Symbolic::Left Symbolic::load_field(const Instruction& i, State& s, Touch* touch) {
  // A transfer register as destination is the outgoing one.
  const bool out = i.destination.place == Place::kXfer;
  const TermId old =
      i.opcode == Opcode::kLdFieldClr ? terms_.constant(32, 0)
      : i.destination.place == Place::kNone
          ? terms_.undefined(32)
          : term(out ? s.values[kAtOut + i.destination.value] : read(i.destination, s, touch, 0));
  const Value source = read(i.b, s, touch, 2);
  const TermId from = shifted(term(source), i.shift, s);
  TermId r = kNoTerm;
  for (int byte = 3; byte >= 0; --byte) {
    const TermId piece = terms_.extract(i.mask >> byte & 1 ? from : old, byte * 8, 8);
    r = r == kNoTerm ? piece : terms_.concat(r, piece);
  }
  Value value = scalar(r);
  if (i.mask == 15 && i.shift.kind == ShiftKind::kNone) value = source;
  const TermId none = terms_.undefined(1);
  s.flags = {Flags::Type::kField, none, none, term(value), none};
  remember(value, 2, s);
  write(i, i.destination, value, s, touch);
  return {false, true};
}

void Symbolic::set_pointer(const Instruction& i, State& s, Touch* touch) {
  const Value v = read(i.b, s, touch, 2);
  pass(1, s);
  const std::uint32_t k = i.destination.lm;
  if (s.wait[k] != 0)
    s.values[kAtPointer + k] = undefined();  // one on its way overtaken by the next
  s.values[kAtPending + k] = v;
  s.wait[k] = kPointerDelay;
}

void Symbolic::multiply(const Instruction& i, State& s, Touch* touch) {
  const auto last = [&](TermId product, bool ready) {
    const TermId r = ready ? product : terms_.undefined(32), none = terms_.undefined(1);
    s.flags = {Flags::Type::kField, none, none, r, none};
    write(i, i.destination, scalar(r), s, touch);
  };
  const auto wide = [&](int bits) {
    const TermId a = terms_.extract(term(s.values[kAtMulA]), 0, bits),
                 b = terms_.extract(term(s.values[kAtMulB]), 0, bits);
    return terms_.mul(terms_.zext(a, 64), terms_.zext(b, 64));
  };
  if (i.step == MulStep::kStart) {
    s.values[kAtMulA] = read(i.a, s, touch, 1);
    s.values[kAtMulB] = read(i.b, s, touch, 2);
    s.mul = 1;
  } else if (i.step == MulStep::kLast || i.step == MulStep::kLast2) {
    last(terms_.extract(wide(32), i.step == MulStep::kLast ? 0 : 32, 32), s.mul == 5);
  } else if (i.step == MulStep::kLast16) {
    last(terms_.extract(wide(16), 0, 32), s.mul == 18);
  } else {
    const std::uint8_t expected = i.step == MulStep::kStep16Second ? 17
                                  : i.step == MulStep::kStep16First
                                      ? 1
                                      : static_cast<std::uint8_t>(i.step);
    const bool same = s.mul == expected && read(i.a, s, touch, 1) == s.values[kAtMulA] &&
                      read(i.b, s, touch, 2) == s.values[kAtMulB];
    const std::uint8_t next = i.step == MulStep::kStep16First ? 17
                              : i.step == MulStep::kStep16Second
                                  ? 18
                                  : static_cast<std::uint8_t>(expected + 1);
    s.mul = same ? next : 0;
  }
}

void Symbolic::flush(Bytes& bytes) {
  for (const auto& [address, byte] : bytes.over)
    bytes.array = terms_.store(bytes.array, terms_.constant(32, address), byte);
  bytes.over.clear();
}

TermId Symbolic::load(Bytes& bytes, TermId address) {
  if (terms_.constant(address)) {
    if (const TermId* found = lookup(bytes.over, static_cast<std::uint32_t>(terms_[address].value)))
      return *found;
    return terms_.byte(bytes.array, address);
  }
  // Bytes written at constant addresses concern it where they may be meant.
  TermId array = bytes.array;
  const Terms::Range range = terms_.range(address);
  for (const auto& [at, byte] : bytes.over)
    if (at >= range.lo && at <= range.hi)
      array = terms_.store(array, terms_.constant(32, at), byte);
  return terms_.byte(array, address);
}

void Symbolic::store(Bytes& bytes, TermId address, TermId byte) {
  if (terms_.constant(address)) {
    assign(bytes.over, static_cast<std::uint32_t>(terms_[address].value), byte);
    return;
  }
  flush(bytes);
  bytes.array = terms_.store(bytes.array, address, byte);
}

void Symbolic::forget(State& s) {
  for (Bytes* bytes : {&s.packet, &s.map}) {
    bytes->array = terms_.undefined(0);
    bytes->over.clear();
  }
  s.stack.clear();
  s.context.clear();
}

void Symbolic::memory(const Instruction& i, State& s, Touch* touch) {
  Value a = read(i.a, s, touch, 1), b = read(i.b, s, touch, 2);
  const auto raised = [&](Value& v) {
    if (v.type == Value::Type::kHigh)
      v.type = Value::Type::kPointer;
    else
      v = undefined();
  };
  if (i.shifted_a) raised(a);
  if (i.shifted_b) raised(b);
  const bool pa = a.type == Value::Type::kPointer, pb = b.type == Value::Type::kPointer;
  const Value& pointer = pa ? a : b;
  const Value& offset = pa ? b : a;
  const bool known = pa != pb && offset.type == Value::Type::kTerm &&
                     pointer.segment == (i.dram() ? Region::kMap : Region::kPacket);
  TermId address = known ? terms_.add(pointer.term, offset.term) : terms_.undefined(32);
  Bytes& bytes = i.dram() ? s.map : s.packet;
  const bool fits = known && !terms_.vague(address);
  std::uint32_t count = i.count;
  const auto at = [&](std::uint32_t k) { return terms_.add(address, terms_.constant(32, k)); };
  const auto touched = [&](std::uint32_t n) {
    if (!touch || !fits || i.dram() || !terms_.constant(address)) return;
    touch->known = true;
    touch->address = static_cast<std::uint32_t>(terms_[address].value);
    touch->bytes = n;
  };
  switch (i.command) {
    case MemCommand::kRead32: {
      bool counted = true;
      if (i.indirect_ref) {
        const TermId prev = s.prev_alu ? term(s.values[kAtPrevAlu]) : terms_.undefined(32);
        counted = terms_.constant(prev);
        count = counted ? static_cast<std::uint32_t>(terms_[prev].value >> 8 & 31) + 1 : kXfers;
      }
      touched(count * 4);
      for (std::uint32_t w = 0; w < count && i.destination.value + w < kXfers; ++w) {
        TermId word = kNoTerm;
        for (std::uint32_t k = 4; k-- > 0 && fits && counted;) {
          const TermId byte = load(bytes, at(4 * w + k));
          word = word == kNoTerm ? byte : terms_.concat(word, byte);
        }
        s.values[kAtIn + i.destination.value + w] =
            scalar(word == kNoTerm ? terms_.undefined(32) : word);
      }
      return;
    }
    case MemCommand::kWrite8:
    case MemCommand::kWrite32: {
      if (!fits) return forget(s);
      if (i.command == MemCommand::kWrite32) count *= 4;
      touched(count);
      for (std::uint32_t k = 0; k < count; ++k) {
        const TermId word = term(s.values[kAtOut + i.destination.value + k / 4]);
        store(bytes, at(k), terms_.extract(word, static_cast<int>(k % 4 * 8), 8));
      }
      return;
    }
    case MemCommand::kAddImm: {
      if (!fits) return forget(s);
      const TermId prev = s.prev_alu ? term(s.values[kAtPrevAlu]) : terms_.undefined(32);
      const TermId more = terms_.shr(prev, 16);
      TermId word = kNoTerm;
      for (std::uint32_t k = 4; k-- > 0;) {
        const TermId byte = load(bytes, at(k));
        word = word == kNoTerm ? byte : terms_.concat(word, byte);
      }
      const TermId sum = terms_.add(word, more);
      for (std::uint32_t k = 0; k < 4; ++k)
        store(bytes, at(k), terms_.extract(sum, static_cast<int>(k) * 8, 8));
      return;
    }
  }
}

State Symbolic::merged(const State& a, const State& b) {
  State out = a;
  const auto both = [&](const Value& x, const Value& y) {
    if (x == y) return x;
    if (x.type == y.type && x.segment == y.segment) {
      const Value v{x.type, x.segment, terms_.merged(x.term, y.term)};
      if (x.type == Value::Type::kTerm) return v;
    }
    return undefined();
  };
  for (std::uint32_t k = 0; k < kValues; ++k) out.values[k] = both(a.values[k], b.values[k]);
  for (std::uint32_t k = 0; k < kLocalPointers; ++k) {
    if (a.wait[k] == b.wait[k]) continue;
    out.wait[k] = 0;
    out.values[kAtPointer + k] = out.values[kAtPending + k] = undefined();
  }
  out.prev_a = std::min(a.prev_a, b.prev_a);
  out.prev_alu = std::min(a.prev_alu, b.prev_alu);
  if (a.mul != b.mul) out.mul = 0;
  if (!(a.flags == b.flags)) {
    const TermId none = terms_.undefined(1);
    out.flags = {Flags::Type::kUndefined, none, none, none, none};
  }
  const auto memory = [&](const Bytes& x, const Bytes& y) {
    Bytes z;
    z.array = x.array == y.array ? x.array : terms_.undefined(0);
    const bool same = x.array == y.array;
    std::size_t p = 0, q = 0;
    while (p < x.over.size() || q < y.over.size()) {
      const std::uint32_t at = std::min(p < x.over.size() ? x.over[p].first : ~0u,
                                        q < y.over.size() ? y.over[q].first : ~0u);
      const bool in_x = p < x.over.size() && x.over[p].first == at,
                 in_y = q < y.over.size() && y.over[q].first == at;
      const TermId address = terms_.constant(32, at);
      const TermId u = in_x   ? x.over[p].second
                       : same ? terms_.byte(x.array, address)
                              : terms_.undefined(8);
      const TermId v = in_y   ? y.over[q].second
                       : same ? terms_.byte(y.array, address)
                              : terms_.undefined(8);
      z.over.emplace_back(at, terms_.merged(u, v));
      p += in_x;
      q += in_y;
    }
    return z;
  };
  out.packet = memory(a.packet, b.packet);
  out.map = memory(a.map, b.map);
  const auto words = [&](const auto& x, const auto& y) {
    std::vector<std::pair<std::uint32_t, Value>> z;
    for (const auto& [word, v] : x)
      if (const Value* other = lookup(y, word)) z.emplace_back(word, both(v, *other));
    return z;
  };
  out.stack = words(a.stack, b.stack);
  out.context = words(a.context, b.context);
  return out;
}

}  // namespace lpn::nfp
