// Bit-vectors and arrays of them, for conditions on machine words and memories: what models of
// programs ask.
//
// A thin, in-process and incremental view of a solver (Z3), beside Feasibility, whose terms are
// integers. Terms are numbered as they are made and live as long as the object. A condition is a
// bit-vector of one bit that is 1.
//
// Not for several threads at once, except interrupt().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lpn/expr/feasibility.h"

namespace lpn::smt {

enum class BvOp : std::uint8_t {
  kNot,
  kAnd,
  kOr,
  kXor,
  kAdd,
  kSub,
  kMul,
  kShl,
  kShr,     // by the second operand, 0 beyond the width
  kConcat,  // the first operand above the second
  kIte,     // a condition, then, otherwise
  kEq,
  kUlt,
  kSlt,  // one bit
  kSelect,
  kStore,  // array, index (, element)
};

class BitVectors {
 public:
  using Id = std::uint32_t;

  BitVectors();
  ~BitVectors();
  BitVectors(const BitVectors&) = delete;
  BitVectors& operator=(const BitVectors&) = delete;

  // REQUIRES 1 <= width <= 64 and value < 2^width.
  Id constant(int width, std::uint64_t value);
  Id variable(const std::string& name, int width);
  Id array(const std::string& name, int index_width, int element_width);
  // REQUIRES as many operands as `op` takes, of equal widths where it compares or combines.
  Id apply(BvOp op, std::span<const Id> operands);
  Id extract(Id term, int low, int width);
  Id sign_extended(Id term, int width);

  void push();
  void pop();
  void require(Id condition);

  // Whether the requirements and, for this question, the assumptions can hold together. kUnknown
  // when a limit was reached or after interrupt().
  Answer check(std::span<const Id> assumptions, const FeasibilityLimits& limits = {});
  // Positions of assumptions that cannot hold together with the requirements, as the solver found
  // them: a small set, not the least one. REQUIRES that the last check() said kUnsat.
  const std::vector<std::size_t>& core() const;
  // REQUIRES that the last check() said kSat. What does not matter is 0.
  std::uint64_t value(Id term) const;

  void interrupt();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lpn::smt
