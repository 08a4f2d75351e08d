#include "lpn/classes/timing.h"

#include <algorithm>
#include <utility>

#include "lpn/base/error.h"
#include "lpn/expr/build.h"
#include "lpn/expr/eval.h"

namespace lpn {

InstantId Timing::add(Node node) {
  for (const Arc& arc : node.after) LPN_ASSERT(static_cast<std::size_t>(arc.from) < nodes_.size());
  LPN_ASSERT(node.kind != Kind::kGate || node.after.size() == 3);
  LPN_ASSERT(node.kind != Kind::kEdge || (node.after.size() == 1 && node.period >= 1));
  nodes_.push_back(std::move(node));
  return static_cast<InstantId>(nodes_.size() - 1);
}

InstantId Timing::latest(std::vector<Arc> after, ExprId zero) {
  std::vector<Arc> kept;
  for (const Arc& arc : after) {
    if (arc.from == kTimeZero && arc.delay == zero) continue;
    if (std::find(kept.begin(), kept.end(), arc) == kept.end()) kept.push_back(arc);
  }
  if (kept.empty()) return kTimeZero;
  if (kept.size() == 1 && kept[0].delay == zero) return kept[0].from;
  return add({.kind = Kind::kMax, .after = std::move(kept)});
}

namespace {

[[noreturn]] void overflow() {
  throw Error("E-overflow", "an instant of this input does not fit in 64 bits");
}

Time plus(Time a, Time b) {
  Time sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) overflow();
  return sum;
}

}  // namespace

Time instant(const Timing& timing, InstantId id, const std::vector<Time>& times,
             const std::function<Time(ExprId)>& delay) {
  const Timing::Node& node = timing[id];
  const auto of = [&](const Timing::Arc& arc) {
    return plus(times[static_cast<std::size_t>(arc.from)], delay(arc.delay));
  };
  switch (node.kind) {
    case Timing::Kind::kMax: {
      Time latest = 0;
      for (const Timing::Arc& arc : node.after) latest = std::max(latest, of(arc));
      return latest;
    }
    case Timing::Kind::kGate: {
      const Time start = of(node.after[0]);
      return start < of(node.after[1]) ? start : std::max(start, of(node.after[2]));
    }
    case Timing::Kind::kEdge: {
      const Time at = of(node.after[0]);
      const Time past = floor_mod(at - node.phase, node.period);
      return past == 0 ? at : plus(at, node.period - past);
    }
  }
  LPN_ASSERT(!"known kind of instant");
  return 0;
}

ExprId instant_term(const Timing::Node& node, ExprPool& pool,
                    const std::function<ExprId(const Timing::Arc&)>& of) {
  ExprBuilder build(pool);
  if (node.after.empty()) return pool.constant(0);
  const ExprId first = of(node.after[0]);
  switch (node.kind) {
    case Timing::Kind::kMax: {
      ExprId largest = first;
      for (std::size_t k = 1; k < node.after.size(); ++k) {
        largest = build.max(largest, of(node.after[k]));
      }
      return largest;
    }
    case Timing::Kind::kGate:
      return build.select(build.lt(first, of(node.after[1])), first,
                          build.max(first, of(node.after[2])));
    case Timing::Kind::kEdge: {
      const ExprId period = pool.constant(node.period), phase = pool.constant(node.phase);
      return build.add(build.mul(build.ceil_div(build.sub(first, phase), period), period), phase);
    }
  }
  LPN_ASSERT(!"known kind of instant");
  return {};
}

std::vector<Time> evaluate(const Timing& timing, const InputSpace& space, const Assignment& input) {
  std::vector<Time> times(timing.size());
  for (std::size_t k = 1; k < timing.size(); ++k) {
    times[k] = instant(timing, static_cast<InstantId>(k), times, [&](ExprId term) {
      return eval_params(space.variables.exprs, term, input);
    });
  }
  return times;
}

bool follows(const Path& path, const InputSpace& space, const Assignment& input) {
  try {
    for (const ExprId condition : path.conditions) {
      if (eval_params(space.variables.exprs, condition, input) == 0) return false;
    }
    if (path.fault) {
      bool failed = false;
      try {
        eval_params(space.variables.exprs, *path.fault, input);
      } catch (const EvalFault&) {
        failed = true;
      }
      if (!failed) return false;
    }
    if (path.orders.empty()) return true;
    const std::vector<Time> times = evaluate(path.timing, space, input);
    return std::all_of(path.orders.begin(), path.orders.end(), [&](const Order& order) {
      const Time before = times[static_cast<std::size_t>(order.before)];
      const Time after = times[static_cast<std::size_t>(order.after)];
      return order.strict ? before < after : before <= after;
    });
  } catch (const EvalFault&) {
    return false;
  }
}

}  // namespace lpn
