#include "lpn/run/run.h"

#include <fmt/format.h>

#include <algorithm>

#include "lpn/net/lower.h"
#include "lpn/text/text.h"

namespace lpn {

const char* wait_name(Wait wait) {
  switch (wait) {
    case Wait::kNone: return "ready";
    case Wait::kToken: return "no token";
    case Wait::kCredit: return "no credit";
    case Wait::kGuard: return "guard";
    case Wait::kInhibited: return "inhibited";
    case Wait::kServer: return "no server";
    case Wait::kInterval: return "interval";
    case Wait::kClock: return "clock";
  }
  return "";
}

namespace {

// "limit of 1 token"
std::string limit_of(std::uint64_t number, const char* what) {
  return fmt::format("limit of {} {}{}", number, what, number == 1 ? "" : "s");
}

}  // namespace

std::string stop_text(Stop stop, const Budget& budget) {
  switch (stop) {
    case Stop::kNone: return "";
    case Stop::kAsked: return "interrupted";
    case Stop::kMemory:
      return budget.memory == 0 ? std::string("out of memory")
                                : "memory " + limit_of(budget.memory, "byte") + " reached";
    case Stop::kSeconds:
      return fmt::format("time limit of {} s reached",
                         budget.asked_seconds > 0 ? budget.asked_seconds : budget.seconds);
    case Stop::kGroups: return limit_of(budget.groups, "group") + " at one instant reached";
    case Stop::kFirings: return limit_of(budget.firings, "firing") + " at one instant reached";
    case Stop::kTokens: return limit_of(budget.tokens, "token") + " at the start reached";
  }
  return "";
}

namespace {

// The transitions on a zero-delay loop through `from`: reachable from it and reaching it over
// transitions whose delay is not a positive constant.
std::vector<TransitionId> zero_delay_loop(const Net& net, TransitionId from) {
  const std::size_t n = net.transitions.size();
  std::vector<std::vector<std::size_t>> next(n), previous(n);
  std::vector<std::vector<std::size_t>> producers(net.places.size());
  const auto can_be_zero = [&net](const Transition& t) {
    std::int64_t delay = 0;
    return !net.exprs.is_const(t.delay.id, delay) || delay == 0;
  };
  for (std::size_t k = 0; k < n; ++k) {
    if (!can_be_zero(net.transitions[k])) continue;
    for (const OutputArc& arc : net.transitions[k].outputs) {
      producers[static_cast<std::size_t>(arc.place)].push_back(k);
    }
  }
  for (std::size_t k = 0; k < n; ++k) {
    if (!can_be_zero(net.transitions[k])) continue;
    for (const InputArc& arc : net.transitions[k].inputs) {
      for (std::size_t p : producers[static_cast<std::size_t>(arc.place)]) {
        next[p].push_back(k);
        previous[k].push_back(p);
      }
    }
  }
  const auto reach = [n, from](const std::vector<std::vector<std::size_t>>& edges) {
    std::vector<bool> seen(n);
    std::vector<std::size_t> todo{static_cast<std::size_t>(from)};
    while (!todo.empty()) {
      const std::size_t k = todo.back();
      todo.pop_back();
      if (seen[k]) continue;
      seen[k] = true;
      todo.insert(todo.end(), edges[k].begin(), edges[k].end());
    }
    return seen;
  };
  const auto forward = reach(next), backward = reach(previous);
  std::vector<TransitionId> loop;
  for (std::size_t k = 0; k < n; ++k) {
    if (forward[k] && backward[k]) loop.push_back(static_cast<TransitionId>(k));
  }
  return loop;
}

std::string site_name(const Net& net, const Transition& t, const Site& site) {
  const auto output = [&] { return net[t.outputs[site.arc].place].name; };
  switch (site.kind) {
    case SiteKind::kWeight: return "." + t.inputs[site.arc].name + ".weight";
    case SiteKind::kThreshold: return "." + t.inputs[site.arc].name + ".threshold";
    case SiteKind::kGuard: return "." + t.inputs[site.arc].name + ".guard";
    case SiteKind::kDelay: return ".delay";
    case SiteKind::kInterval: return ".interval";
    case SiteKind::kCount: return fmt::format(".{}.count", output());
    case SiteKind::kField: {
      const auto& fields = net.type_of(t.outputs[site.arc].place).fields;
      return fmt::format(".{}.{}", output(), fields[site.field].name);
    }
    case SiteKind::kNone: return "";
  }
  return "";
}

// What the table of faults cannot say, since it takes the net.
std::string explain(const Net& net, const RunFault& f, const Transition& t) {
  if (f.fault == Fault::kRange) {
    const Field& field = net.type_of(t.outputs[f.site.arc].place).fields[f.site.field];
    return fmt::format("the value {} is outside the range {}..{} that type '{}' declares for '{}'",
                       f.value, field.range->lo, field.range->hi,
                       net.type_of(t.outputs[f.site.arc].place).name, field.name);
  }
  if (f.fault == Fault::kAssume) {
    return fmt::format("the assumption '{}' of the model's author does not hold",
                       net.exprs.text(static_cast<std::uint32_t>(f.value)));
  }
  if (f.fault == Fault::kZeroDelay) {
    std::string names;
    bool known = true;  // with a delay by parameters or tokens it may well have been more than 0
    for (TransitionId id : zero_delay_loop(net, f.transition)) {
      names += (names.empty() ? "" : ", ") + net[id].name;
      std::int64_t delay = 0;
      known = known && net.exprs.is_const(net[id].delay.id, delay);
    }
    return fmt::format(
        "more than {} groups of zero-delay firings at one instant; {}these fire without delay in a "
        "loop: {}; give one of them a delay >= 1",
        f.value, known ? "" : "some of ", names.empty() ? t.name : names);
  }
  if (f.fault == Fault::kOverflow && f.site.kind == SiteKind::kNone) {
    return fmt::format("the next edge of its clock lies after the last instant, {}", kLastInstant);
  }
  return fmt::format(fmt::runtime(fault_text(f.fault)), f.value, kMaxTokens);
}

// What is assumed with that text somewhere in a formula; none where that is not in it.
std::optional<ExprId> assumed(const Net& net, ExprId formula, const std::string& text) {
  const Node& node = net.exprs[formula];
  if (node.op == Op::kAssume && net.exprs.text(node.a) == text) return node.kids[0];
  for (int k = 0; k < op_info(node.op).arity; ++k) {
    if (const auto found = assumed(net, node.kids[static_cast<std::size_t>(k)], text)) return found;
  }
  return std::nullopt;
}

std::string fault_message(const Net& declared, const RunFault& f, const std::string& heads) {
  const Net net = lower(declared);  // the site may be a credit arc
  const Transition& t = net[f.transition];
  const Formula* formula = formula_at(t, f.site);
  std::string message;
  if (f.fault == Fault::kAssume && is_assertion(net, t)) {
    const std::string& text = net.exprs.text(static_cast<std::uint32_t>(f.value));
    message = fmt::format("net '{}' at time {}: the assertion '{}' does not hold{}", net.name,
                          f.time, t.name, text == t.name ? "" : ": " + text);
    message += fmt::format(
        "\n  in {}", print_expr(net, &t, assumed(net, formula->id, text).value_or(formula->id)));
  } else {
    message = fmt::format("net '{}', transition '{}{}' at time {}: {}", net.name, t.name,
                          site_name(net, t, f.site), f.time, explain(net, f, t));
    if (formula != nullptr) message += fmt::format("\n  in {}", print_expr(net, &t, formula->id));
  }
  if (!heads.empty()) message += "\n  tokens: " + heads;
  const Source source =
      formula != nullptr && formula->source.line != 0 ? formula->source : t.source;
  if (const std::string place = where(net, source); !place.empty()) message += "\n  at " + place;
  return message;
}

}  // namespace

std::string describe_heads(const Net& net, TransitionId transition,
                           const std::function<std::vector<std::int64_t>(PlaceId)>& tokens,
                           const std::function<std::uint64_t(PlaceId)>& occupancy) {
  constexpr std::size_t kShown = 2;
  std::string text;
  // An engine need not know how many there are where no formula asks.
  std::vector<bool> counted(net[transition].inputs.size());
  for_each_formula(net[transition], [&](const Formula& f, const Site&) {
    for (const std::uint32_t a : net.exprs.reads(f.id).occupancy) counted[a] = true;
  });
  for (std::uint32_t a = 0; a < net[transition].inputs.size(); ++a) {
    const InputArc& arc = net[transition].inputs[a];
    const auto& fields = net.type_of(arc.place).fields;
    if (!arc.inhibit && arc_facts(net, net[transition], a).only_watches()) {
      if (counted[a])
        text +=
            fmt::format("{}{}.count={}", text.empty() ? "" : ", ", arc.name, occupancy(arc.place));
      continue;
    }
    if (fields.empty() || arc.inhibit) continue;
    const std::vector<std::int64_t> values = tokens(arc.place);
    std::size_t count = std::min(values.size() / fields.size(), kShown);
    std::int64_t weight = 0, threshold = 0;  // of those that it looks at, where that is known
    if (net.exprs.is_const(arc.weight.id, weight) &&
        net.exprs.is_const((arc.threshold ? *arc.threshold : arc.weight).id, threshold)) {
      const std::int64_t needed = std::max({weight, threshold, std::int64_t{0}});
      count = std::min(count, static_cast<std::size_t>(needed));
    }
    for (std::size_t k = 0; k < count; ++k) {
      text += fmt::format("{}{}{}(", text.empty() ? "" : ", ", arc.name,
                          k == 0 ? std::string() : fmt::format("[{}]", k));
      for (std::size_t j = 0; j < fields.size(); ++j) {
        text += fmt::format("{}{}={}", j == 0 ? "" : ", ", fields[j].name,
                            values[k * fields.size() + j]);
      }
      text += ")";
    }
  }
  return text;
}

RunError::RunError(const Net& net, RunFault fault, const std::string& heads)
    : Error(fault_code(fault.fault), fault_message(net, fault, heads)), fault_(fault) {}

}  // namespace lpn
