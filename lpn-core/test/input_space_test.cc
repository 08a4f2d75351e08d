#include "lpn/classes/input_space.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lpn/base/error.h"
#include "lpn/text/text.h"

using namespace lpn;

namespace {

Net sample_net(const std::string& slots = "slots") {
  return parse_net(
      "lpn 1\nnet sample\nparam slots = 2 in 0..8\ntype block (size: 0..9, kind)\n"
      "type unit ()\nplace coded : block start\nplace ready : block capacity 4\n"
      "place pool : unit initial " +
      slots + "\nend\n");
}

// Two blocks with sizes x and y, of which n count; x <= y; slots is a variable too.
struct Sample {
  Net net = sample_net();
  InputSpace space;
  ExprId x{}, y{}, n{}, slots{};

  Sample() {
    x = variable("x", {0, 3});
    y = variable("y", {1, 2});
    n = variable("n", {0, 2});
    slots = variable("slots", {1, 2});
    ExprPool& pool = space.variables.exprs;
    space.params = {slots};
    space.tokens.push_back(
        {.place = *net.find_place("coded"),
         .rows = {{x, pool.constant(7)}, {y, pool.binary(Op::kAdd, x, pool.constant(1))}},
         .count = n});
    space.constraints = {pool.binary(Op::kLe, x, y)};
  }
  ExprId variable(std::string name, Range range) {
    Net& variables = space.variables;
    variables.params.push_back(
        {.name = std::move(name), .value = range.lo, .range = range, .source = {}});
    return variables.exprs.param(static_cast<std::uint32_t>(variables.params.size() - 1));
  }
  ExprPool& pool() { return space.variables.exprs; }
};

std::string error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.code() + " " + error.what();
  }
  return "no error";
}
std::string refusal(const Sample& s) {
  return error_of([&] { check_space(s.net, s.space); });
}
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("input space: an input is a marking and parameters") {
  Sample s;
  check_space(s.net, s.space);
  const Assignment values{1, 2, 2, 2};
  CHECK(contains(s.space, values));
  CHECK(params_of(s.net, s.space, values) == ParamValues{2});
  const PlaceId coded = *s.net.find_place("coded");
  const Marking both = marking_of(s.net, s.space, values);
  CHECK(both[coded].count == 2);
  CHECK(both[coded].values == std::vector<std::int64_t>{1, 7, 2, 2});
  CHECK(marking_of(s.net, s.space, {1, 2, 1, 2})[coded].values == std::vector<std::int64_t>{1, 7});
  CHECK(marking_of(s.net, s.space, {1, 2, 0, 2})[coded].count == 0);
}

TEST_CASE("input space: another net has no marking and no parameters of it") {
  const Sample s;
  const Assignment values{1, 2, 2, 2};
  Net empty;
  empty.name = "empty";
  CHECK(error_of([&] { params_of(empty, s.space, values); }) ==
        "E-space the space gives 1 parameters, net 'empty' has 0; give each one a term");
  CHECK(has(error_of([&] { marking_of(empty, s.space, values); }), "net 'empty' has 0 places"));
  Sample fewer;
  fewer.space.tokens[0].rows[0].pop_back();
  CHECK(
      has(error_of([&] { marking_of(fewer.net, fewer.space, values); }), "give one per property"));
}

TEST_CASE("input space: constraints and ranges decide what is an input") {
  Sample s;
  CHECK_FALSE(contains(s.space, {3, 2, 2, 1}));   // x <= y
  CHECK_FALSE(contains(s.space, {-1, 2, 2, 1}));  // range
  CHECK_FALSE(contains(s.space, {1, 2, 2, 3}));
  const ExprId ratio = s.pool().binary(Op::kFloorDiv, s.y, s.x);
  s.space.constraints.push_back(s.pool().binary(Op::kLe, ratio, s.pool().constant(9)));
  CHECK(contains(s.space, {1, 2, 2, 1}));
  CHECK_FALSE(contains(s.space, {0, 2, 2, 1}));  // divides by 0
  CHECK(has(error_of([&] { contains(s.space, {1, 2}); }), "E-space 2 values for the 4 variables"));
}

TEST_CASE("input space: inputs are visited in lexicographic order, each once") {
  Sample s;
  std::vector<Assignment> seen;
  each_input(s.space, [&](const Assignment& values) {
    seen.push_back(values);
    return true;
  });
  // x <= y: (0,1) (0,2) (1,1) (1,2) (2,2), each with 3 counts and 2 numbers of slots.
  CHECK(seen.size() == 5 * 3 * 2);
  CHECK(std::is_sorted(seen.begin(), seen.end()));
  CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
  std::size_t calls = 0;
  each_input(s.space, [&](const Assignment&) { return ++calls < 4; });
  CHECK(calls == 4);
  s.variable("always", {5, 5});
  calls = 0;
  each_input(s.space, [&](const Assignment& values) {
    CHECK(values.back() == 5);
    return ++calls < 100;
  });
  CHECK(calls == 5 * 3 * 2);
}

TEST_CASE("input space: the number of assignments") {
  Sample s;
  CHECK(assignments(s.space, 1000) == 4 * 2 * 3 * 2);
  CHECK(assignments(s.space, 48) == 48);
  CHECK_FALSE(assignments(s.space, 47).has_value());
  s.variable("wide", {INT64_MIN, INT64_MAX});
  CHECK_FALSE(assignments(s.space, ~std::uint64_t{0}).has_value());
  s.variable("never", {3, 2});  // whatever the others are
  CHECK(assignments(s.space, 1000) == 0);
  InputSpace none;
  CHECK(assignments(none, 10) == 1);
  CHECK(assignments(none, 1) == 1);
  CHECK_FALSE(assignments(none, 0).has_value());
  std::size_t calls = 0;
  each_input(none, [&](const Assignment& values) {
    CHECK(values.empty());
    return ++calls < 10;
  });
  CHECK(calls == 1);
}

TEST_CASE("input space: terms that have no value, or leave what is declared, are named") {
  Sample s;
  s.space.tokens[0].rows[0][1] = s.pool().binary(Op::kMod, s.y, s.x);
  CHECK(has(error_of([&] {
              marking_of(s.net, s.space, {0, 1, 2, 1});
            }),
            "E-space place 'coded', token 0: kind cannot be computed for this input (E-divisor)"));
  s.space.tokens[0].rows[0][1] = s.x;
  s.space.tokens[0].count = s.pool().constant(3);
  CHECK(has(error_of([&] { marking_of(s.net, s.space, {0, 1, 2, 1}); }), "is 3 for this input"));
  s.space.tokens[0].count.reset();
  s.space.tokens[0].rows[0][0] = s.pool().constant(10);
  CHECK(has(error_of([&] { marking_of(s.net, s.space, {0, 1, 2, 1}); }), "E-range"));
  s.space.params[0] = s.pool().constant(9);
  CHECK(has(error_of([&] { params_of(s.net, s.space, {0, 1, 2, 1}); }), "outside its range 0..8"));
}

TEST_CASE("input space: a space that does not fit the net is refused") {
  CHECK(refusal(Sample()) == "no error");
  {
    Sample s;
    s.space.variables.params[0].range.reset();
    CHECK(has(refusal(s), "E-space variable 'x' of the space has no range"));
  }
  {
    Sample s;
    s.space.variables.params[0].range = Range{3, 2};
    CHECK(has(refusal(s), "empty range 3..2"));
  }
  {
    Sample s;
    s.space.variables.params[0].name = "a ~\x1b!";
    CHECK(has(refusal(s), "'a ~\\x1b!'"));
  }
  {
    Sample s;
    s.space.params.clear();
    CHECK(has(refusal(s), "gives 0 parameters"));
  }
  {
    Sample s;
    s.space.params[0] = s.pool().constant(9);
    CHECK(has(refusal(s), "outside its range 0..8"));
  }
  {
    Sample s;
    s.space.tokens.push_back(s.space.tokens[0]);
    CHECK(has(refusal(s), "place 'coded' has tokens twice"));
  }
  {
    Sample s;
    s.space.tokens[0].rows[1].pop_back();
    CHECK(has(refusal(s), "place 'coded', token 1: 1 terms for 2 properties"));
  }
  {
    Sample s;
    s.space.tokens[0].place = PlaceId{9};
    CHECK(has(refusal(s), "place number 9"));
  }
  {
    Sample s;
    s.space.tokens[0].rows[0][0] = s.space.constraints[0];
    CHECK(has(refusal(s), "token 0: size is a condition"));
  }
  {
    Sample s;
    s.space.constraints.push_back(s.x);
    CHECK(has(refusal(s), "constraint 1 is an integer"));
  }
  {
    Sample s;
    s.space.constraints.push_back(s.pool().binary(Op::kLe, s.pool().occupancy(0), s.x));
    CHECK(has(refusal(s), "reads tokens or places"));
  }
  {
    Sample s;
    s.space.constraints.push_back(s.pool().binary(Op::kLe, s.pool().param(4), s.x));
    CHECK(has(refusal(s), "a variable that the space does not have"));
  }
}

TEST_CASE("input space: what the net makes of free parameters is checked") {
  Sample s;
  s.net = sample_net("slots - 2");
  CHECK(has(refusal(s), "place 'pool': the number of initial tokens may be -1 in this space"));
  s.net = sample_net("slots * 1000000");
  CHECK(has(refusal(s), "may start with more than 1048576 tokens"));
  s.net = parse_net(
      "lpn 1\nnet sample\nparam slots = 2 in 0..8\ntype block (size: 0..9, kind)\n"
      "place coded : block start capacity slots\nend\n");
  CHECK(has(refusal(s), "the capacity may be 1 in this space, with up to 2 tokens"));
  s.net = parse_net(
      "lpn 1\nnet sample\nparam slots = 2 in 0..8\ntype unit ()\ntype block (size: 0..9, kind)\n"
      "place coded : block start\nplace pool : unit capacity slots initial slots\nend\n");
  CHECK(refusal(s) == "no error");
  s.net.places[0].done = true;
  s.net.places[0].start = false;
  s.net.done_count = Formula{s.net.exprs.constant(0), {}};
  CHECK(refusal(s) == "no error");
  s.net.done_count = Formula{s.net.exprs.constant(-1), {}};
  CHECK(has(refusal(s), "the done count"));
}
