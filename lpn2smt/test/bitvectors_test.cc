#include "lpn/smt/bitvectors.h"

#include <doctest/doctest.h>

#include <array>

namespace {

using lpn::Answer;
using lpn::smt::BitVectors;
using lpn::smt::BvOp;

struct Words : BitVectors {
  Id op(BvOp o, std::initializer_list<Id> operands) {
    return apply(o, std::span(operands.begin(), operands.size()));
  }
  Id equal(Id a, Id b) { return op(BvOp::kEq, {a, b}); }
};

}  // namespace

TEST_CASE("bit-vectors: a value is found, and its arithmetic wraps") {
  Words bv;
  const auto x = bv.variable("x", 8), c = bv.constant(8, 200);
  bv.require(bv.equal(bv.op(BvOp::kAdd, {x, c}), bv.constant(8, 4)));
  REQUIRE(bv.check({}) == Answer::kSat);
  CHECK(bv.value(x) == 60);
  const std::array signed_less{bv.op(BvOp::kSlt, {c, x})};
  CHECK(bv.check(signed_less) == Answer::kSat);  // 200 is -56
  const std::array less{bv.op(BvOp::kUlt, {c, x})};
  CHECK(bv.check(less) == Answer::kUnsat);
}

TEST_CASE("bit-vectors: every operator as on machine words") {
  Words bv;
  const std::uint64_t p = 0xb6, q = 0x05;
  const auto x = bv.variable("x", 8), y = bv.variable("y", 8);
  bv.require(bv.equal(x, bv.constant(8, p)));
  bv.require(bv.equal(y, bv.constant(8, q)));
  const auto one = bv.constant(1, 1);
  const std::pair<BitVectors::Id, std::uint64_t> cases[] = {
      {bv.op(BvOp::kNot, {x}), ~p & 0xff},
      {bv.op(BvOp::kAnd, {x, y}), p & q},
      {bv.op(BvOp::kOr, {x, y}), p | q},
      {bv.op(BvOp::kXor, {x, y}), p ^ q},
      {bv.op(BvOp::kSub, {y, x}), (q - p) & 0xff},
      {bv.op(BvOp::kMul, {x, y}), p * q & 0xff},
      {bv.op(BvOp::kShl, {x, y}), p << q & 0xff},
      {bv.op(BvOp::kShr, {x, y}), p >> q},
      {bv.op(BvOp::kConcat, {x, y}), p << 8 | q},
      {bv.op(BvOp::kIte, {one, x, y}), p},
      {bv.extract(x, 2, 3), p >> 2 & 7},
      {bv.sign_extended(x, 16), 0xffb6},
      {bv.op(BvOp::kEq, {x, y}), 0},
      {bv.op(BvOp::kUlt, {y, x}), 1},
      {bv.op(BvOp::kSlt, {x, y}), 1}};
  REQUIRE(bv.check({}) == Answer::kSat);
  for (const auto& [term, value] : cases) CHECK(bv.value(term) == value);
}

TEST_CASE("bit-vectors: memories as arrays") {
  Words bv;
  const auto memory = bv.array("memory", 32, 8), i = bv.variable("i", 32), j = bv.variable("j", 32);
  const auto written = bv.op(BvOp::kStore, {memory, i, bv.constant(8, 7)});
  const auto read = bv.op(BvOp::kSelect, {written, j});
  const std::array differs{bv.op(BvOp::kNot, {bv.equal(read, bv.constant(8, 7))}), bv.equal(i, j)};
  CHECK(bv.check(differs) == Answer::kUnsat);
  CHECK(bv.core() == std::vector<std::size_t>{0, 1});
  CHECK(bv.check(std::span(differs).first(1)) == Answer::kSat);
}

TEST_CASE("bit-vectors: requirements come and go, cores name assumptions") {
  Words bv;
  const auto x = bv.variable("x", 4);
  const auto at_most = [&](std::uint64_t v) {
    return bv.op(BvOp::kNot, {bv.op(BvOp::kUlt, {bv.constant(4, v), x})});
  };
  bv.push();
  bv.require(bv.equal(x, bv.constant(4, 9)));
  const std::array assumed{at_most(12), at_most(3), at_most(10)};
  REQUIRE(bv.check(assumed) == Answer::kUnsat);
  CHECK(bv.core() == std::vector<std::size_t>{1});
  bv.pop();
  CHECK(bv.check(assumed) == Answer::kSat);
}

TEST_CASE("bit-vectors: a limit is kept") {
  Words bv;
  const auto x = bv.variable("x", 64), y = bv.variable("y", 64);
  bv.require(bv.equal(bv.op(BvOp::kMul, {x, y}), bv.constant(64, 0xd6e8feb86659fd93u)));
  for (const auto v : {x, y}) bv.require(bv.op(BvOp::kUlt, {bv.constant(64, 3), v}));
  bv.require(bv.op(BvOp::kUlt, {x, bv.constant(64, std::uint64_t{1} << 32)}));
  lpn::FeasibilityLimits limits;
  limits.work = 1000;
  CHECK(bv.check({}, limits) == Answer::kUnknown);
}
