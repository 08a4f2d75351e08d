// Runs blocks of instructions on terms: what each leaves behind, and under which condition its
// branch is taken.
//
// Packet, map (DRAM), stack and context are separate memories, and a pointer never changes from one
// to another: arithmetic on it only changes its offset. What a real core would compute from such
// mixtures is undefined here, and a branch must not depend on it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "listing.h"
#include "term.h"

namespace lpn::nfp {

enum class Region : std::uint8_t { kPacket, kMap, kStack, kContext };

struct Value {
  enum class Type : std::uint8_t {
    kTerm,
    kPointer,
    kHigh
  } type = Type::kTerm;  // kHigh: a map pointer >> 8
  Region segment = Region::kPacket;
  TermId term = 0;  // 32 bits; of a pointer its offset
  bool operator==(const Value&) const = default;
};

// Registers and whatever else is a single value.
enum : std::uint32_t {
  kAtA = 0,
  kAtB = kAtA + kGprs,
  kAtIn = kAtB + kGprs,
  kAtOut = kAtIn + kXfers,
  kAtPointer = kAtOut + kXfers,              // ActLMAddr0..3
  kAtPending = kAtPointer + kLocalPointers,  // what was written to them and is not yet seen
  kAtPrevA = kAtPending + kLocalPointers,
  kAtPrevAlu,
  kAtMulA,
  kAtMulB,
  kValues
};

struct Flags {
  // How N, Z, V, C follow: from r alone with V = C = 0 (kLogic) or unknown (kField); of a - b or a
  // + b with r the upper word (32 or 64 bits); a pointer that is not null.
  enum class Type : std::uint8_t {
    kUndefined,
    kLogic,
    kField,
    kSub,
    kAdd,
    kSubIn,
    kAddIn,
    kNonNull
  } type = Type::kUndefined;
  TermId a = 0, b = 0, r = 0;
  TermId carry = 0;  // kSubIn, kAddIn: what came in, a borrow or a carry, 1 bit
  bool operator==(const Flags&) const = default;
};

// Bytes at constant addresses beside an array with all that came before.
struct Bytes {
  TermId array = 0;
  std::vector<std::pair<std::uint32_t, TermId>> over;  // sorted by address
  bool operator==(const Bytes&) const = default;
};

struct State {
  std::array<Value, kValues> values;
  std::array<std::uint8_t, kLocalPointers>
      wait{};  // cycles until a pending pointer is seen; 0: none is pending
  std::uint8_t prev_a = 0,
               prev_alu = 0;  // 0 undefined, 1 for the next instruction only, 2 until overwritten
  std::uint8_t mul = 0;       // steps done; 0 none
  Flags flags;
  Bytes packet, map;
  std::vector<std::pair<std::uint32_t, Value>> stack, context;  // words by index, sorted
  bool operator==(const State&) const = default;
  std::size_t hash() const;
};

// What an instruction did with memory, for liveness: constant addresses, if they are.
struct Touch {
  bool local_known[3] = {false, false, false};  // of destination, a, b
  Region local_segment[3] = {};
  std::uint32_t local[3] = {};
  bool known = false;  // mem: the address is a constant of the packet
  std::uint32_t address = 0, bytes = 0;
  bool operator==(const Touch&) const = default;
};

class Symbolic {
 public:
  explicit Symbolic(Terms& terms) : terms_(terms) {}

  State initial();
  // All of the block; `touches`, if given, gets one entry per instruction.
  void run(const std::vector<Instruction>& instructions, const std::vector<std::uint32_t>& code,
           State& state, std::vector<Touch>* touches = nullptr);
  // When the block's last instruction, a branch, is taken: 1 bit, perhaps undefined.
  TermId condition(const Instruction& branch, const State& state);
  // Leaving a block by an edge: a taken branch takes longer.
  void leave(const Instruction& last, bool taken, State& state);
  // What both agree on.
  State merged(const State& a, const State& b);

  Value undefined() { return {Value::Type::kTerm, Region::kPacket, terms_.undefined(32)}; }
  Value scalar(TermId term) { return {Value::Type::kTerm, Region::kPacket, term}; }

 private:
  // What an instruction leaves for the one after it: its operand a, its result.
  struct Left {
    bool a = false, alu = false;
  };

  void step(const Instruction& i, State& s, Touch* touch);
  Left alu(const Instruction& i, State& s, Touch* touch);
  Left shift_with_sign(const Instruction& i, State& s, Touch* touch);
  void shift_double(const Instruction& i, State& s, Touch* touch);
  Left constant(const Instruction& i, State& s, Touch* touch);
  void constant_above(const Instruction& i, State& s, Touch* touch);
  Left load_field(const Instruction& i, State& s, Touch* touch);
  void set_pointer(const Instruction& i, State& s, Touch* touch);
  void multiply(const Instruction& i, State& s, Touch* touch);
  static void remember(const Value& v, std::uint8_t how, State& s);
  // So many cycles go by for pointers that are not yet seen.
  void pass(std::uint8_t cycles, State& s);
  Value read(const Operand& operand, const State& s, Touch* touch, int which);
  void write(const Instruction& i, const Operand& operand, Value value, State& s, Touch* touch);
  TermId term(const Value& v) {
    return v.type == Value::Type::kTerm ? v.term : terms_.undefined(32);
  }
  TermId shifted(TermId t, const Shift& shift, const State& s);

  // An addition or subtraction of x and y.
  struct Sum {
    bool subtracts = false;
    bool pointer = false, pointers = false;  // one of x and y is a pointer, both are
    Value x, y;
    TermId m = 0, n = 0;  // the numbers to calculate with
    Value like;           // what the result is: a number, or a pointer into this segment
  };
  Value arithmetic(AluOp op, const Value& a, const Value& b, State& s);
  Value logical(AluOp op, const Value& a, const Value& b, State& s);
  Sum sum_of(AluOp op, const Value& a, const Value& b);
  Value value_of(const Sum& sum, TermId r);
  Value add(const Sum& sum, State& s);
  Value add_carried(const Sum& sum, State& s);

  void memory(const Instruction& i, State& s, Touch* touch);
  TermId load(Bytes& bytes, TermId address);
  void store(Bytes& bytes, TermId address, TermId byte);
  void flush(Bytes& bytes);
  TermId carry_of(const Flags& flags);
  void forget(State& s);

  Terms& terms_;
};

}  // namespace lpn::nfp
