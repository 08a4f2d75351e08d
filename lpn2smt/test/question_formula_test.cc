#include "question_formula.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "by_hand.h"
#include "lpn/smt/z3_feasibility.h"

using namespace lpn;
using namespace lpn::smt;

namespace {

Answer beyond(const ByHand& s, const Box& box, bool maximum, Time threshold) {
  const PathUnits p(s.space, s.path, measure_of(s.target(), false));
  Z3Feasibility solver;
  require_beyond(solver, p, box, maximum, threshold);
  const Answer answer = solver.check();
  if (answer == Answer::kSat) {
    // The space's variables come first, so an example is an input.
    const auto& model = solver.model();
    const auto width = static_cast<std::ptrdiff_t>(s.space.variables.params.size());
    const std::optional<Time> value = p.value({model.begin(), model.begin() + width});
    REQUIRE(value);
    CHECK((maximum ? *value > threshold : *value < threshold));
  }
  return answer;
}

}  // namespace

TEST_CASE("question: has an input of the box its instant beyond a number?") {
  // x * y of two that add up to 7: 0 .. 12.
  ByHand s;
  const ExprId x = s.variable("x", 0, 7), y = s.variable("y", 0, 7);
  s.space.constraints = {s.build().eq(s.build().add(x, y), s.number(7))};
  s.chain({s.build().mul(x, y)});
  const PathUnits p(s.space, s.path, measure_of(s.target(), false));
  REQUIRE(p.units().size() == 1);
  const Box all = whole(p);
  CHECK(beyond(s, all, true, 11) == Answer::kSat);
  CHECK(beyond(s, all, true, 12) == Answer::kUnsat);
  CHECK(beyond(s, all, false, 1) == Answer::kSat);
  CHECK(beyond(s, all, false, 0) == Answer::kUnsat);
  // The tuples (0, 7), (1, 6), (2, 5).
  const Box some{{0, 3}};
  CHECK(beyond(s, some, true, 9) == Answer::kSat);
  CHECK(beyond(s, some, true, 10) == Answer::kUnsat);
}

TEST_CASE("question: the same text each time, for whoever checks") {
  ByHand s;
  s.chain({s.variable("x", 0, 7)});
  const PathUnits p(s.space, s.path, measure_of(s.target(), false));
  const auto text = [&](Time threshold) {
    Z3Feasibility solver;
    require_beyond(solver, p, whole(p), true, threshold);
    return solver.smtlib();
  };
  CHECK(text(3) == text(3));
  CHECK(text(3) != text(4));
  CHECK(text(3).find("(check-sat)") != std::string::npos);
}
