#include "lpn/net/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <type_traits>

#include "lpn/base/error.h"
#include "lpn/net/facts.h"

namespace lpn {
namespace {

constexpr std::uint32_t kAllArcs = ~std::uint32_t{0};

// What an expression at some place of the net may read.
struct Scope {
  const Transition* transition = nullptr;  // null: parameters only
  std::uint32_t token_arcs = 0;            // tokens and taken() of arcs below this
  bool head_of_next = false;               // and the head of arc `token_arcs` itself
  bool index = false;
};

class Verifier {
 public:
  explicit Verifier(const Net& net) : net_(net) {}

  std::vector<Violation> run() {
    check_header();
    for (const TokenType& type : net_.types) check_type(type);
    for (const Place& place : net_.places) {
      about(place);
      check_place(place);
    }
    for (const Transition& t : net_.transitions) {
      about(t);
      check_transition(t);
    }
    about(net_);
    check_done();
    return std::move(violations_);
  }

 private:
  template <typename... Args>
  void fail(const char* code, std::string where_, Source source, fmt::format_string<Args...> format,
            Args&&... args) {
    std::string message =
        fmt::format("{}: {}", where_, fmt::format(format, std::forward<Args>(args)...));
    if (const std::string at = where(net_, source); !at.empty()) message += "\n  at " + at;
    violations_.push_back(
        {code, std::move(where_), source, std::move(message), place_, transition_});
  }

  // What is wrong from now on is wrong with this part; of others no id is told.
  template <typename Part>
  void about(const Part& part) {
    place_.reset();
    transition_.reset();
    if constexpr (std::is_same_v<Part, Place>)
      place_ = static_cast<PlaceId>(&part - net_.places.data());
    if constexpr (std::is_same_v<Part, Transition>)
      transition_ = static_cast<TransitionId>(&part - net_.transitions.data());
  }

  template <typename Items>
  void check_names(const Items& items, const char* what) {
    std::set<std::string_view> seen;
    for (const auto& item : items) {
      if constexpr (!std::is_same_v<Items, std::vector<InputArc>>) about(item);
      if (!is_name(item.name)) {
        fail("E-name", fmt::format("{} '{}'", what, item.name), source_of(item),
             "not a name; use letters, digits and _, starting with a letter or _");
      } else if (!seen.insert(item.name).second) {
        fail("E-duplicate", fmt::format("{} '{}'", what, item.name), source_of(item),
             "the net has this name twice; names of {}s are unique", what);
      }
    }
  }
  template <typename Item>
  static Source source_of(const Item& item) {
    if constexpr (requires { item.source; }) return item.source;
    return {};
  }

  void check_header() {
    if (!is_name(net_.name)) {
      fail("E-name", fmt::format("net '{}'", net_.name), {},
           "not a name; use letters, digits and _, starting with a letter or _");
    }
    if (net_.places.size() > kMaxPlaces || net_.transitions.size() > kMaxTransitions) {
      fail("E-limit", fmt::format("net '{}'", net_.name), {},
           "{} places and {} transitions; at most {} and {}", net_.places.size(),
           net_.transitions.size(), kMaxPlaces, kMaxTransitions);
    }
    if (net_.frequency && (*net_.frequency < 1 || *net_.frequency > kMaxFrequency)) {
      fail("E-frequency", fmt::format("net '{}'", net_.name), {},
           "has a frequency of {} ticks a second; it must be 1..{}", *net_.frequency,
           kMaxFrequency);
    }
    check_names(net_.params, "parameter");
    check_names(net_.types, "type");
    check_names(net_.places, "place");
    check_names(net_.transitions, "transition");
    for (const Param& p : net_.params) {
      if (!p.range) continue;
      if (p.range->lo > p.range->hi || p.value < p.range->lo || p.value > p.range->hi) {
        fail("E-param", fmt::format("parameter '{}'", p.name), p.source,
             "default {} is not in its range {}..{}", p.value, p.range->lo, p.range->hi);
      }
    }
  }

  void check_type(const TokenType& type) {
    const std::string at = fmt::format("type '{}'", type.name);
    if (type.fields.size() > kMaxFields) {
      fail("E-limit", at, type.source, "{} fields; at most {}", type.fields.size(), kMaxFields);
    }
    check_names(type.fields, "field");
    for (const Field& field : type.fields) {
      if (field.range && field.range->lo > field.range->hi) {
        fail("E-type", fmt::format("{}.{}", at, field.name), type.source, "empty range {}..{}",
             field.range->lo, field.range->hi);
      }
    }
  }

  void check_place(const Place& place) {
    const std::string at = fmt::format("place '{}'", place.name);
    if (static_cast<std::size_t>(place.type) >= net_.types.size()) {
      fail("E-type", at, place.source, "has no token type");
      return;
    }
    const auto& fields = net_[place.type].fields;
    if (place.capacity) {
      check(*place.capacity, Type::kInt, {}, at + ".capacity", place.source);
      at_least(*place.capacity, 0, "E-capacity", at, "capacity", place.source);
    }
    for (const Initial& initial : place.initial) {
      check(initial.count, Type::kInt, {}, at + ".initial", place.source);
      at_least(initial.count, 0, "E-initial", at, "initial count", place.source);
      if (initial.fields.size() != fields.size()) {
        fail("E-initial", at, place.source,
             "an initial token has {} properties, but type '{}' has {}", initial.fields.size(),
             net_[place.type].name, fields.size());
        continue;
      }
      for (std::size_t k = 0; k < fields.size(); ++k) {
        check(initial.fields[k], Type::kInt, {.index = true}, at + ".initial", place.source);
        in_range(initial.fields[k], fields[k], at, place.source);
      }
    }
    if (place.done && place.start) {
      fail("E-place", at, place.source, "is declared both start and done; use two places");
    }
  }

  void check_transition(const Transition& t) {
    const std::string at = fmt::format("transition '{}'", t.name);
    if (t.inputs.size() > kMaxArcs || t.outputs.size() > kMaxArcs) {
      fail("E-limit", at, t.source, "{} input and {} output arcs; at most {}", t.inputs.size(),
           t.outputs.size(), kMaxArcs);
      return;
    }
    check_names(t.inputs, "arc");
    std::set<PlaceId> places;
    bool arcs_fine = true;
    for (const InputArc& arc : t.inputs) {
      const std::string name = fmt::format("{}.{}", at, arc.name);
      if (static_cast<std::size_t>(arc.place) >= net_.places.size()) {
        fail("E-arc", name, arc.source, "leads from a place that does not exist");
        arcs_fine = false;
      } else if (!places.insert(arc.place).second) {
        fail("E-arc", name, arc.source,
             "is a second input arc from place '{}'; use one arc and raise its weight",
             net_[arc.place].name);
      }
    }
    for (const OutputArc& arc : t.outputs) {
      if (static_cast<std::size_t>(arc.place) >= net_.places.size()) {
        fail("E-arc", at, arc.source, "has an output arc to a place that does not exist");
        arcs_fine = false;
      }
    }
    if (!arcs_fine) return;
    arcs_.clear();  // once per arc: expressions ask it for every token they read
    for (std::uint32_t k = 0; k < t.inputs.size(); ++k) arcs_.push_back(arc_facts(net_, t, k));
    for (std::uint32_t k = 0; k < t.inputs.size(); ++k) check_input(t, k, at);
    const Scope all{.transition = &t, .token_arcs = kAllArcs};
    check(t.delay, Type::kInt, all, at + ".delay", t.source);
    at_least(t.delay, 0, "E-negative-delay", at, "delay", t.source);
    if (t.interval) {
      check(*t.interval, Type::kInt, all, at + ".interval", t.source);
      at_least(*t.interval, 0, "E-negative-interval", at, "interval", t.source);
    }
    if (t.servers) {
      check(*t.servers, Type::kInt, {}, at + ".servers", t.source);
      at_least(*t.servers, 1, "E-servers", at, "servers", t.source);
    }
    if (t.clock) {
      check(t.clock->period, Type::kInt, {}, at + ".clock", t.source);
      check(t.clock->phase, Type::kInt, {}, at + ".clock", t.source);
      at_least(t.clock->period, 1, "E-clock", at, "clock period", t.source);
      at_least(t.clock->phase, 0, "E-clock", at, "clock phase", t.source);
    }
    for (const OutputArc& arc : t.outputs) check_output(t, arc, at);
    check_progress(t, at);
  }

  void check_input(const Transition& t, std::uint32_t k, const std::string& at) {
    const InputArc& arc = t.inputs[k];
    const std::string name = fmt::format("{}.{}", at, arc.name);
    if (arc.inhibit) {
      std::int64_t weight = 0;
      if (arc.threshold || arc.guard || !net_.exprs.is_const(arc.weight.id, weight) ||
          weight != 0) {
        fail("E-arc", name, arc.source,
             "an inhibitor arc only asks for emptiness; it has no weight, threshold or guard");
      }
      return;
    }
    const Scope own{.transition = &t, .token_arcs = k, .head_of_next = true};
    check(arc.weight, Type::kInt, own, name + ".weight", arc.source);
    at_least(arc.weight, 0, "E-negative-weight", name, "weight", arc.source);
    if (arc.threshold) {
      check(*arc.threshold, Type::kInt, own, name + ".threshold", arc.source);
      at_least(*arc.threshold, 0, "E-negative-weight", name, "threshold", arc.source);
    }
    if (arc.guard) {
      check(*arc.guard, Type::kBool, {.transition = &t, .token_arcs = k + 1}, name + ".guard",
            arc.source);
    }
  }

  void check_output(const Transition& t, const OutputArc& arc, const std::string& at) {
    const Place& place = net_[arc.place];
    if (static_cast<std::size_t>(place.type) >= net_.types.size()) return;
    const TokenType& type = net_[place.type];
    const std::string name = fmt::format("{}.{}", at, place.name);
    Scope scope{.transition = &t, .token_arcs = kAllArcs};
    for (const Emission& emission : arc.emissions) {
      scope.index = false;
      check(emission.count, Type::kInt, scope, name + ".count", arc.source);
      at_least(emission.count, 0, "E-negative-count", name, "count", arc.source);
      if (emission.fields.size() != type.fields.size()) {
        fail("E-emission", name, arc.source, "emits {} properties, but type '{}' has {}",
             emission.fields.size(), type.name, type.fields.size());
        continue;
      }
      scope.index = true;
      for (std::size_t k = 0; k < type.fields.size(); ++k) {
        check(emission.fields[k], Type::kInt, scope,
              fmt::format("{}.{}", name, type.fields[k].name), arc.source);
        in_range(emission.fields[k], type.fields[k], name, arc.source);
      }
    }
  }

  // A transition that provably takes nothing and is bounded by nothing would start for ever.
  void check_progress(const Transition& t, const std::string& at) {
    if (t.servers) return;
    std::int64_t value = 0;
    if (t.interval && (!net_.exprs.is_const(t.interval->id, value) || value >= 1)) return;
    for (const ArcFacts& arc : arcs_) {
      if (!arc.weight || *arc.weight > 0) return;
    }
    for (const OutputArc& arc : t.outputs) {
      if (net_[arc.place].capacity) return;
    }
    fail("E-takes-nothing", at, t.source,
         "takes no token and has neither servers nor an interval >= 1, so it would start for ever; "
         "write servers=1 or interval=...");
  }

  void check_done() {
    if (!net_.done_count) return;
    check(*net_.done_count, Type::kInt, {}, fmt::format("net '{}'.done", net_.name),
          net_.done_count->source);
    at_least(*net_.done_count, 0, "E-done", fmt::format("net '{}'", net_.name), "done count",
             net_.done_count->source);
    for (const Place& place : net_.places) {
      if (place.done) return;
    }
    fail("E-done", fmt::format("net '{}'", net_.name), net_.done_count->source,
         "counts done tokens but declares no place done");
  }

  void at_least(const Formula& f, std::int64_t least, const char* code, const std::string& at,
                const char* what, Source fallback) {
    std::int64_t value = 0;
    if (static_cast<std::size_t>(f.id) < net_.exprs.size() && net_.exprs.is_const(f.id, value) &&
        value < least) {
      fail(code, at, pick(f, fallback), "{} is {}; it must be >= {}", what, value, least);
    }
  }

  void in_range(const Formula& f, const Field& field, const std::string& at, Source fallback) {
    std::int64_t value = 0;
    if (field.range && static_cast<std::size_t>(f.id) < net_.exprs.size() &&
        net_.exprs.is_const(f.id, value) && (value < field.range->lo || value > field.range->hi)) {
      fail("E-range", at, pick(f, fallback), "{} for '{}' is outside its range {}..{}", value,
           field.name, field.range->lo, field.range->hi);
    }
  }

  static Source pick(const Formula& f, Source fallback) {
    return f.source.line != 0 ? f.source : fallback;
  }

  void check(const Formula& f, Type type, const Scope& scope, const std::string& at,
             Source fallback) {
    const Source source = pick(f, fallback);
    if (static_cast<std::size_t>(f.id) >= net_.exprs.size()) {
      fail("E-expr", at, source, "has no expression");
      return;
    }
    if (net_.exprs[f.id].type != type) {
      fail("E-expr", at, source, "must be {}", type == Type::kInt ? "an integer" : "a condition");
      return;
    }
    walk(f.id, scope, 0, at, source);
  }

  // Reports the first problem below `id`; true when there was none.
  bool walk(ExprId id, const Scope& scope, std::uint32_t nesting, const std::string& at,
            Source source) {
    const ExprPool& pool = net_.exprs;
    const Node& n = pool[id];
    const auto bad = [&](const std::string& what) {
      fail("E-expr", at, source, "{}", what);
      return false;
    };
    switch (kind_of(n.op)) {
      case Kind::kVariable:
        if (n.a >= net_.params.size()) return bad("reads a parameter that does not exist");
        break;
      case Kind::kRun:
        if (const std::string what = misread(n, scope, nesting); !what.empty()) return bad(what);
        break;
      case Kind::kAggregate: {
        if (const std::string what = unreadable(n.a, scope); !what.empty()) return bad(what);
        if (scope.head_of_next && n.a == scope.token_arcs) {
          return bad("aggregates over the tokens of the arc whose weight it is");
        }
        if (n.b != nesting || nesting >= kMaxNesting) {
          return bad(fmt::format("aggregates nest wrongly or deeper than {}", kMaxNesting));
        }
        return walk(n.kids[0], scope, nesting + 1, at, source);
      }
      case Kind::kArithmetic: {
        const DomainInfo& domain = domain_of(n.op);
        std::int64_t right = 0;
        if (op_info(n.op).arity == 2 && pool.is_const(n.kids[1], right) &&
            (right < domain.range.lo || right > domain.range.hi)) {
          return bad(fmt::format(fmt::runtime(domain.text), right));
        }
        break;
      }
      case Kind::kConstant:
      case Kind::kComparison:
      case Kind::kLogic:
      case Kind::kChoice:
      case Kind::kTable:
      case Kind::kAssumption: break;
    }
    for (int k = 0; k < op_info(n.op).arity; ++k) {
      if (!walk(n.kids[static_cast<std::size_t>(k)], scope, nesting, at, source)) return false;
    }
    return true;
  }

  static bool arc_exists(std::uint32_t arc, const Scope& scope) {
    return scope.transition != nullptr && arc < scope.transition->inputs.size();
  }

  // Why tokens of an arc may not be read; "" when they may.
  static std::string unreadable(std::uint32_t arc, const Scope& scope) {
    if (!arc_exists(arc, scope)) return "reads tokens where only parameters may be read";
    const InputArc& input = scope.transition->inputs[arc];
    if (input.inhibit) {
      return fmt::format("reads tokens of '{}', an inhibitor arc, which has none", input.name);
    }
    if (arc >= scope.token_arcs && !(scope.head_of_next && arc == scope.token_arcs)) {
      return fmt::format("reads '{}', which is declared after it; move that arc to the front",
                         input.name);
    }
    return "";
  }

  // What is wrong with reading the state of a run; "" when nothing is.
  std::string misread(const Node& n, const Scope& scope, std::uint32_t nesting) const {
    if (n.op == Op::kToken) return misread_token(n, scope);
    if (n.op == Op::kTaken && (!arc_exists(n.a, scope) || n.a >= scope.token_arcs)) {
      return "reads how many tokens an arc takes before that is known";
    }
    if ((n.op == Op::kOccupancy || n.op == Op::kFree) && !arc_exists(n.a, scope)) {
      return "reads an occupancy where only parameters may be read";
    }
    if (n.op == Op::kIndex && !scope.index) {
      return "reads the index, which only the properties of an emission have";
    }
    if (n.op == Op::kBound && n.a >= nesting) {
      return "reads the position of an aggregate outside of it";
    }
    return "";
  }

  std::string misread_token(const Node& n, const Scope& scope) const {
    if (std::string what = unreadable(n.a, scope); !what.empty()) return what;
    const InputArc& input = scope.transition->inputs[n.a];
    const TokenType& type = net_.type_of(input.place);
    if (n.b >= type.fields.size()) {
      return fmt::format("reads a property that type '{}' of '{}' does not have", type.name,
                         input.name);
    }
    std::int64_t which = 0;
    const bool constant = net_.exprs.is_const(n.kids[0], which);
    if (constant && which < 0) return fmt::format("reads token {} of '{}'", which, input.name);
    if (scope.head_of_next && n.a == scope.token_arcs && !(constant && which == 0)) {
      return fmt::format("of '{}' itself, only the head (token 0) may be read here", input.name);
    }
    const ArcFacts& facts = arcs_[n.a];
    if (constant && !facts.reads_head && facts.need && which >= *facts.need) {
      return fmt::format(
          "reads token {} of '{}', which needs only {}; raise its weight or threshold", which,
          input.name, *facts.need);
    }
    return "";
  }

  const Net& net_;
  std::vector<Violation> violations_;
  std::optional<PlaceId> place_;  // that is being checked
  std::optional<TransitionId> transition_;
  std::vector<ArcFacts> arcs_;  // inputs of the transition being checked
};

}  // namespace

std::vector<Violation> verify(const Net& net) { return Verifier(net).run(); }

void require_valid(const Net& net) {
  const std::vector<Violation> violations = verify(net);
  if (violations.empty()) return;
  std::string text;
  for (const Violation& v : violations) text += (text.empty() ? "" : "\n") + v.message;
  throw Error(violations.front().code, text);
}

}  // namespace lpn
