#include "write/expr.h"

#include <doctest/doctest.h>

#include <limits>

#include "lpn/expr/build.h"
#include "nets.h"

namespace lpn::sim {
namespace {

// Tokens as a<arc>[property], two of each needed.
class Plain final : public Operands {
  std::string head(std::size_t, std::uint32_t arc) const override {
    return "a" + std::to_string(arc);
  }
  std::string row(std::size_t, std::uint32_t arc, const std::string& index) const override {
    return "p" + std::to_string(arc) + ".row(" + index + ")";
  }
  std::string needed(std::size_t, std::uint32_t) const override { return "2ull"; }
  std::int64_t least_need(std::size_t, std::uint32_t) const override { return 2; }
  std::string taken(std::size_t, std::uint32_t) const override { return "2ll"; }
  std::string occupancy(std::size_t, std::uint32_t) const override { return "o"; }
  std::string free(std::size_t, std::uint32_t) const override { return "f"; }
};

TEST_CASE("values and sites") {
  CHECK(literal(7) == "7ll");
  CHECK(literal(-7) == "(-7ll)");
  CHECK(literal(std::numeric_limits<std::int64_t>::min()) == "(-9223372036854775807ll - 1)");
  CHECK(site(4, SiteKind::kGuard, 1) == "site(@T4, 2, 1, 0, 0)");
}

TEST_CASE("checks are left out where declared ranges show that nothing can fail") {
  Net net = line();
  ExprBuilder build(net.exprs);
  const Plain plain;
  const ExprPrinter printer(net, plain);
  const ExprId v = net.exprs.token(0, 0, net.exprs.constant(0));  // 0..9
  const Formula small{build.add(v, v), {}};
  CHECK(printer.of(0, small, "S") == "(a0[0] + a0[0])");
  CHECK_FALSE(printer.may_fail(0, small));
  CHECK(printer.range(0, small).hi == 18);

  net.types[0].fields[0].range.reset();
  const Formula any{build.mul(v, build.add(v, net.exprs.constant(1))), {}};
  const ExprPrinter unbounded(net, plain);  // a printer remembers the ranges of its net
  CHECK(unbounded.of(0, any, "S") == "mul(a0[0], add(a0[0], 1ll, S), S)");
  CHECK(unbounded.may_fail(0, any));
}

TEST_CASE("of two operands that may fail the left one fails first") {
  Net net = line();
  net.types[0].fields[0].range.reset();
  ExprBuilder build(net.exprs);
  const Plain plain;
  const ExprPrinter printer(net, plain);
  const ExprId v = net.exprs.token(0, 0, net.exprs.constant(0));
  const ExprId w = net.exprs.token(0, 0, net.exprs.constant(1));
  const ExprId one = net.exprs.constant(1);
  const Formula both{build.lt(build.add(v, one), build.add(w, one)), {}};
  CHECK(printer.of(0, both, "S") ==
        "[&] { const i64 x_ = add(a0[0], 1ll, S); const i64 y_ = add(p0.row(1)[0], 1ll, S); "
        "return (x_ < y_); }()");
}

}  // namespace
}  // namespace lpn::sim
