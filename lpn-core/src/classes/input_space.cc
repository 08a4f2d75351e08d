#include "lpn/classes/input_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "lpn/base/error.h"
#include "lpn/expr/build.h"
#include "lpn/expr/eval.h"
#include "lpn/net/bounds.h"

namespace lpn {
namespace {

// Tools keep every token of an input in memory, some of them with a term per property.
constexpr std::int64_t kMaxSpaceTokens = std::int64_t{1} << 20;

[[noreturn]] void fail(const std::string& message) { throw Error("E-space", message); }

constexpr std::int64_t kLatestArrival = std::int64_t{1} << 40;

constexpr std::size_t kMaxVariableName = 1000;

// The names that authoring makes: "x", "x[3]", "place[3].property", "place.count".
bool is_variable(std::string_view name) {
  return !name.empty() && name.size() <= kMaxVariableName &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '.' || c == '[' || c == ']';
         });
}

// For messages: printable, and not long.
std::string quoted(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 40)) {
    if (c >= ' ' && c <= '~') {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return "'" + out + (text.size() > 40 ? "...'" : "'");
}

std::string place_name(const Net& net, PlaceId place) {
  return fmt::format("place '{}'", net[place].name);
}

std::int64_t value_of(const InputSpace& space, ExprId term, const Assignment& values,
                      const std::string& what) {
  try {
    return eval_params(space.variables.exprs, term, values);
  } catch (const EvalFault& fault) {
    fail(
        fmt::format("{} cannot be computed for this input ({}); constrain the variables that it "
                    "is made of",
                    what, fault_code(fault.fault)));
  }
}

void need_width(const InputSpace& space, const Assignment& values) {
  if (values.size() == space.variables.params.size()) return;
  fail(fmt::format("{} values for the {} variables of the space; give one per variable, in order",
                   values.size(), space.variables.params.size()));
}

// The space is one of this net, and not of another, as far as its numbers are used.
void need_params(const Net& net, const InputSpace& space) {
  if (space.params.size() == net.params.size()) return;
  fail(fmt::format("the space gives {} parameters, net '{}' has {}; give each one a term",
                   space.params.size(), net.name, net.params.size()));
}

void need_place(const Net& net, const InputSpace::Tokens& tokens) {
  const auto index = static_cast<std::size_t>(tokens.place);
  if (index < net.places.size()) return;
  fail(fmt::format("the space has tokens for place number {}; net '{}' has {} places", index,
                   net.name, net.places.size()));
}

void need_terms(const Net& net, const InputSpace::Tokens& tokens, std::size_t token) {
  const std::size_t fields = net.type_of(tokens.place).fields.size();
  if (tokens.rows[token].size() == fields) return;
  fail(fmt::format("{}, token {}: {} terms for {} properties; give one per property",
                   place_name(net, tokens.place), token, tokens.rows[token].size(), fields));
}

void need_times(const Net& net, const InputSpace::Tokens& tokens) {
  if (tokens.at.empty() || tokens.at.size() == tokens.rows.size()) return;
  fail(fmt::format("{}: {} times of arrival for {} tokens; give one per token",
                   place_name(net, tokens.place), tokens.at.size(), tokens.rows.size()));
}

// How many of the rows are tokens of this input.
std::size_t count_of(const Net& net, const InputSpace& space, const InputSpace::Tokens& tokens,
                     const Assignment& values) {
  if (!tokens.count) return tokens.rows.size();
  const std::string what = place_name(net, tokens.place) + ": the number of tokens";
  const std::int64_t count = value_of(space, *tokens.count, values, what);
  if (count < 0 || static_cast<std::uint64_t>(count) > tokens.rows.size()) {
    fail(fmt::format("{} is {} for this input, but it has 0..{} rows; constrain it", what, count,
                     tokens.rows.size()));
  }
  return static_cast<std::size_t>(count);
}

class Checker {
 public:
  Checker(const Net& net, const InputSpace& space)
      : net_(net),
        space_(space),
        bounds_(space.variables, nullptr),
        fine_(space.variables.exprs.size(), false) {}

  void run() {
    check_variables();
    check_params();
    check_tokens();
    for (std::size_t k = 0; k < space_.constraints.size(); ++k) {
      check(space_.constraints[k], Type::kBool, fmt::format("constraint {}", k));
    }
    // The parameters are fine: what the net makes of them.
    terms_ = space_.variables;
    for (std::size_t p = 0; p < net_.places.size(); ++p) check_place(static_cast<PlaceId>(p));
    for (const Transition& t : net_.transitions) check_transition(t);
    if (net_.done_count) at_least(*net_.done_count, 0, "the done count");
  }

 private:
  void check_variables() const {
    std::set<std::string_view> names;
    for (const Param& v : space_.variables.params) {
      if (!is_variable(v.name)) {
        fail(
            fmt::format("{} names no variable of a space; use letters, digits, '_', '.', '[' and "
                        "']', at most {} of them",
                        quoted(v.name), kMaxVariableName));
      }
      if (!names.insert(v.name).second) {
        fail(fmt::format("two variables of the space have the name '{}'; rename one", v.name));
      }
      if (!v.range) {
        fail(
            fmt::format("variable '{}' of the space has no range; give it a least and a largest "
                        "value",
                        v.name));
      }
      if (v.range->lo > v.range->hi) {
        fail(fmt::format("variable '{}' has the empty range {}..{}; write the least value first",
                         v.name, v.range->lo, v.range->hi));
      }
    }
  }

  void check_params() {
    need_params(net_, space_);
    for (std::size_t k = 0; k < net_.params.size(); ++k) {
      const Param& param = net_.params[k];
      const std::string what = fmt::format("parameter '{}'", param.name);
      check(space_.params[k], Type::kInt, what);
      if (!param.range) continue;
      const Range may = bounds_.of(space_.params[k]);
      if (may.hi < param.range->lo || may.lo > param.range->hi) {
        fail(
            fmt::format("{} is {}..{} in this space, outside its range {}..{}; choose a value in "
                        "the range",
                        what, may.lo, may.hi, param.range->lo, param.range->hi));
      }
    }
  }

  void check_tokens() {
    std::vector<bool> seen(net_.places.size(), false);
    for (const InputSpace::Tokens& tokens : space_.tokens) {
      need_place(net_, tokens);
      const auto index = static_cast<std::size_t>(tokens.place);
      const std::string what = place_name(net_, tokens.place);
      if (seen[index]) fail(what + " has tokens twice in the space; put them into one list");
      seen[index] = true;
      check_rows(tokens, what);
      if (tokens.count) check(*tokens.count, Type::kInt, what + ": the number of tokens");
    }
  }

  void check_rows(const InputSpace::Tokens& tokens, const std::string& what) {
    const auto& fields = net_.type_of(tokens.place).fields;
    if (tokens.rows.size() > static_cast<std::size_t>(kMaxSpaceTokens)) {
      fail(fmt::format("{}: {} tokens in an input space; at most {}", what, tokens.rows.size(),
                       kMaxSpaceTokens));
    }
    for (std::size_t k = 0; k < tokens.rows.size(); ++k) {
      need_terms(net_, tokens, k);
      for (std::size_t f = 0; f < fields.size(); ++f) {
        check(tokens.rows[k][f], Type::kInt,
              fmt::format("{}, token {}: {}", what, k, fields[f].name));
      }
    }
    check_times(tokens, what);
  }

  void check_times(const InputSpace::Tokens& tokens, const std::string& what) {
    if (tokens.at.empty()) return;
    need_times(net_, tokens);
    if (net_[tokens.place].capacity) {
      fail(what +
           " has a capacity, and tokens arrive later than 0; let them arrive in a place "
           "without one, from which a transition moves them on");
    }
    for (std::size_t k = 0; k < tokens.at.size(); ++k) {
      const std::string time = fmt::format("{}, token {}: the time of arrival", what, k);
      check(tokens.at[k], Type::kInt, time);
      const Range may = bounds_.of(tokens.at[k]);
      if (may.lo < 0 || may.hi > kLatestArrival) {
        fail(fmt::format("{} may be {}..{}; a time lies within 0..2^40", time, may.lo, may.hi));
      }
    }
  }

  // A term reads variables and nothing else, and has the type.
  void check(ExprId id, Type type, const std::string& what) {
    const ExprPool& pool = space_.variables.exprs;
    if (static_cast<std::size_t>(id) >= pool.size()) fail(what + " has no term");
    if (pool[id].type != type) {
      fail(fmt::format("{} is {}; write {}", what,
                       type == Type::kInt ? "a condition" : "an integer",
                       type == Type::kInt ? "an integer, select(condition, 1, 0) for instance"
                                          : "a comparison, x <= 5 for instance"));
    }
    walk(id, what);
  }

  void walk(ExprId id, const std::string& what) {
    if (fine_[static_cast<std::size_t>(id)]) return;
    const ExprPool& pool = space_.variables.exprs;
    const Node& n = pool[id];
    if (reads_a_net(n.op)) {
      fail(what + " reads tokens or places; a term of a space is made of its variables only");
    }
    if (n.op == Op::kParam && n.a >= space_.variables.params.size()) {
      fail(what + " reads a variable that the space does not have");
    }
    for (int k = 0; k < op_info(n.op).arity; ++k) walk(n.kids[static_cast<std::size_t>(k)], what);
    fine_[static_cast<std::size_t>(id)] = true;
  }

  static bool reads_a_net(Op op) {
    return kind_of(op) == Kind::kRun || kind_of(op) == Kind::kAggregate;
  }

  // A formula over the net's parameters as a term over the variables.
  ExprId term(const Formula& formula, const std::string& what) {
    try {
      return substitute(net_.exprs, formula.id, terms_.exprs, space_.params);
    } catch (const Error& error) {
      fail(
          fmt::format("{} is too large with the parameters of this space: {}; use fewer free "
                      "parameters in it",
                      what, error.what()));
    }
  }

  Range at_least(const Formula& formula, std::int64_t least, const std::string& what) {
    const Range may = NetBounds(terms_, nullptr).of(term(formula, what));
    if (may.lo < least) {
      fail(
          fmt::format("{} may be {} in this space, but must be >= {}; narrow the parameters that "
                      "it is made of",
                      what, may.lo, least));
    }
    return may;
  }

  void check_place(PlaceId id) {
    const Place& place = net_[id];
    const std::string what = place_name(net_, id);
    std::int64_t most = 0;
    for (const Initial& initial : place.initial) {
      const Range count = at_least(initial.count, 0, what + ": the number of initial tokens");
      most += std::min(count.hi, kMaxSpaceTokens + 1);
      if (most > kMaxSpaceTokens) {
        fail(
            fmt::format("{} may start with more than {} tokens in this space; narrow the "
                        "parameters that their number is made of",
                        what, kMaxSpaceTokens));
      }
      for (const Formula& field : initial.fields) term(field, what + ": an initial property");
    }
    if (place.capacity) check_capacity(place, id, most, what);
  }

  void check_capacity(const Place& place, PlaceId id, std::int64_t most, const std::string& what) {
    const std::string capacity = what + ": the capacity";
    const Range slots = at_least(*place.capacity, 0, capacity);
    std::int64_t given = 0;
    for (const InputSpace::Tokens& tokens : space_.tokens) {
      if (tokens.place == id) given = static_cast<std::int64_t>(tokens.rows.size());
    }
    if (slots.lo >= most + given) return;
    // Full from the start, whatever the parameters are.
    if (given == 0 && place.initial.size() == 1 &&
        term(place.initial[0].count, what) == term(*place.capacity, capacity)) {
      return;
    }
    fail(
        fmt::format("{} may be {} in this space, with up to {} tokens at time 0; narrow the "
                    "parameters so that they always fit",
                    capacity, slots.lo, most + given));
  }

  void check_transition(const Transition& t) {
    const std::string what = fmt::format("transition '{}': ", t.name);
    if (t.servers) at_least(*t.servers, 1, what + "servers");
    if (t.clock) {
      at_least(t.clock->period, 1, what + "clock period");
      at_least(t.clock->phase, 0, what + "clock phase");
    }
  }

  const Net& net_;
  const InputSpace& space_;
  NetBounds bounds_;
  std::vector<bool> fine_;  // per term: already walked
  Net terms_;               // the variables, with the net's formulas over them
};

}  // namespace

bool contains(const InputSpace& space, const Assignment& values) {
  need_width(space, values);
  for (std::size_t k = 0; k < values.size(); ++k) {
    const std::optional<Range>& range = space.variables.params[k].range;
    if (range && (values[k] < range->lo || values[k] > range->hi)) return false;
  }
  for (const ExprId constraint : space.constraints) {
    try {
      if (eval_params(space.variables.exprs, constraint, values) == 0) return false;
    } catch (const EvalFault&) {
      return false;  // a constraint holds only where it can be evaluated
    }
  }
  return true;
}

ParamValues params_of(const Net& net, const InputSpace& space, const Assignment& values) {
  need_params(net, space);
  need_width(space, values);
  ParamValues params;
  params.reserve(space.params.size());
  for (std::size_t k = 0; k < space.params.size(); ++k) {
    const Param& param = net.params[k];
    const std::string what = fmt::format("parameter '{}'", param.name);
    const std::int64_t value = value_of(space, space.params[k], values, what);
    if (param.range && (value < param.range->lo || value > param.range->hi)) {
      fail(fmt::format("{} is {} for this input, outside its range {}..{}; constrain it", what,
                       value, param.range->lo, param.range->hi));
    }
    params.push_back(value);
  }
  return params;
}

Marking marking_of(const Net& net, const InputSpace& space, const Assignment& values) {
  need_width(space, values);
  Marking marking(net);
  marking.done_count = space.done_count;
  for (const InputSpace::Tokens& tokens : space.tokens) {
    need_place(net, tokens);
    need_times(net, tokens);
    const std::size_t count = count_of(net, space, tokens, values);
    const auto& fields = net.type_of(tokens.place).fields;
    std::vector<std::int64_t> row(fields.size());
    for (std::size_t k = 0; k < count; ++k) {
      need_terms(net, tokens, k);
      for (std::size_t f = 0; f < fields.size(); ++f) {
        row[f] = value_of(
            space, tokens.rows[k][f], values,
            fmt::format("{}, token {}: {}", place_name(net, tokens.place), k, fields[f].name));
      }
      const Time at = tokens.at.empty() ? 0
                                        : value_of(space, tokens.at[k], values,
                                                   fmt::format("{}, token {}: the time of arrival",
                                                               place_name(net, tokens.place), k));
      marking.add(tokens.place, row, 1, at);
    }
  }
  return marking;
}

void check_space(const Net& net, const InputSpace& space) { Checker(net, space).run(); }

std::optional<std::uint64_t> assignments(const InputSpace& space, std::uint64_t limit) {
  std::uint64_t total = 1;
  bool large = limit == 0;
  for (const Param& v : space.variables.params) {
    if (!v.range) {
      large = true;
      continue;
    }
    if (v.range->lo > v.range->hi) return 0;  // whatever the others are
    const std::uint64_t more =
        static_cast<std::uint64_t>(v.range->hi) - static_cast<std::uint64_t>(v.range->lo);
    if (large || more >= limit || total > limit / (more + 1)) {
      large = true;
      continue;
    }
    total *= more + 1;
  }
  if (large) return std::nullopt;
  return total;
}

void each_input(const InputSpace& space, const std::function<bool(const Assignment&)>& visit) {
  const auto& variables = space.variables.params;
  Assignment values;
  for (const Param& v : variables) {
    LPN_ASSERT(v.range.has_value());
    if (v.range->lo > v.range->hi) return;
    values.push_back(v.range->lo);
  }
  for (;;) {
    if (contains(space, values) && !visit(values)) return;
    std::size_t k = values.size();
    while (k > 0 && values[k - 1] == variables[k - 1].range->hi) {
      values[k - 1] = variables[k - 1].range->lo;
      --k;
    }
    if (k == 0) return;
    ++values[k - 1];
  }
}

}  // namespace lpn
