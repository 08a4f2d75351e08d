#include "remaining.h"

#include <algorithm>
#include <map>

#include "lpn/base/wide.h"
#include "lpn/net/facts.h"
#include "structure/exact_lp.h"

namespace lpn::reach {
namespace {

constexpr int kRounds = 12;  // in which ranges may grow before they are given up
constexpr std::int64_t kLargest = std::int64_t{1} << 40;
constexpr Wide kLargestScale = Wide{1} << 40;

}  // namespace

// Bounds of a transition's formulas from the ranges of the tokens that its places may ever have.
struct Remaining::Fields final : Bounds {
  Fields(const Net& net, const ParamValues& values, const std::vector<std::vector<Range>>& at,
         const Transition& of)
      : Bounds(net.exprs), params(values), ranges(at), t(of) {}

  Range variable(std::uint32_t k) override { return {params[k], params[k]}; }
  Range read(const Node& leaf) override {
    if (leaf.op == Op::kToken) {
      return ranges[static_cast<std::size_t>(t.inputs[leaf.a].place)][leaf.b];
    }
    return {0, kMaxTokens};
  }
  Range needed(std::uint32_t) override { return {0, kMaxTokens}; }

  const ParamValues& params;
  const std::vector<std::vector<Range>>& ranges;
  const Transition& t;
};

void Remaining::find_ranges(const Net& net, const ParamValues& params, TermSets& sets,
                            const State& state) {
  reached_.resize(net.places.size(), false);
  std::vector<std::vector<bool>> known;
  const auto see = [&](std::size_t p, std::size_t f, Range more) {
    if (const auto& declared = net.type_of(static_cast<PlaceId>(p)).fields[f].range) {
      more = {std::max(more.lo, declared->lo), std::min(more.hi, declared->hi)};
      if (more.lo > more.hi) return false;
    }
    Range& range = ranges_[p][f];
    const Range before = range;
    range = known[p][f] ? Range{std::min(range.lo, more.lo), std::max(range.hi, more.hi)} : more;
    const bool grew = !known[p][f] || range != before;
    known[p][f] = true;
    return grew;
  };
  for (std::size_t p = 0; p < net.places.size(); ++p) {
    const std::size_t width = net.type_of(static_cast<PlaceId>(p)).fields.size();
    ranges_.emplace_back(width);
    known.emplace_back(width, false);
    const Queue& queue = state.queues[p];
    reached_[p] = queue.free + queue.locked > 0;
    const auto look = [&](std::size_t f, const Value& value) {
      see(p, f,
          value.decided() ? Range{value.number, value.number}
                          : sets.span(value.id(), state.domains).range);
    };
    for (std::size_t k = queue.head; queue.rows && k < queue.rows->size(); ++k) {
      look((k - queue.head) % width, (*queue.rows)[k]);
    }
    for (const State::Arrival& arrival : state.arrivals) {
      if (arrival.place != p) continue;
      reached_[p] = true;
      for (std::size_t f = 0; f < width; ++f) look(f, (*arrival.row)[f]);
    }
  }
  for (int round = 0;; ++round) {
    bool grew = false;
    for (const Transition& t : net.transitions) {
      const bool fires = std::all_of(t.inputs.begin(), t.inputs.end(), [&](const InputArc& arc) {
        std::int64_t weight = 0;
        return arc.inhibit || !net.exprs.is_const(arc.weight.id, weight) || weight == 0 ||
               reached_[static_cast<std::size_t>(arc.place)];
      });
      if (!fires) continue;
      Fields fields(net, params, ranges_, t);
      for (const OutputArc& arc : t.outputs) {
        const auto p = static_cast<std::size_t>(arc.place);
        for (const Emission& emission : arc.emissions) {
          if (fields.of(emission.count.id).hi <= 0) continue;
          grew = grew || !reached_[p];
          reached_[p] = true;
          for (std::size_t f = 0; f < emission.fields.size(); ++f) {
            const Range more = round < kRounds ? fields.of(emission.fields[f].id) : Range{};
            grew = see(p, f, more) || grew;
          }
        }
      }
    }
    if (!grew) return;
  }
}

Remaining::Remaining(const Net& net, const ParamValues& params, TermSets& sets, const State& state,
                     What what, TransitionId counted)
    : net_(net), what_(what), counted_(static_cast<std::uint32_t>(counted)) {
  find_ranges(net, params, sets, state);
  const auto one = static_cast<std::uint32_t>(net.places.size());  // the column that is 1
  Programme programme;
  programme.columns.resize(one + 1);
  std::vector<std::map<std::uint32_t, std::int64_t>> rows;
  for (std::size_t k = 0; k < net.transitions.size(); ++k) {
    const Transition& t = net.transitions[k];
    Fields fields(net, params, ranges_, t);
    std::map<std::uint32_t, std::int64_t> row;
    bool fires = true;
    for (const InputArc& arc : t.inputs) {
      if (arc.inhibit) continue;
      const std::int64_t takes = std::max<std::int64_t>(fields.of(arc.weight.id).lo, 0);
      if (takes > 0 && !reached_[static_cast<std::size_t>(arc.place)]) fires = false;
      row[static_cast<std::uint32_t>(arc.place)] += std::min(takes, kLargest);
    }
    if (!fires) continue;
    std::int64_t done = 0;
    for (const OutputArc& arc : t.outputs) {
      for (const Emission& emission : arc.emissions) {
        const std::int64_t puts = fields.of(emission.count.id).hi;
        if (puts > kLargest) return;
        row[static_cast<std::uint32_t>(arc.place)] -= std::max<std::int64_t>(puts, 0);
        if (net[arc.place].done) done += std::max<std::int64_t>(puts, 0);
      }
    }
    std::int64_t cost = what == What::kDone                       ? done
                        : what == What::kCommits && counted_ == k ? 1
                                                                  : 0;
    if (what == What::kTime || (what == What::kBusy && counted_ == k)) {
      std::int64_t period = 1;
      if (t.clock) period = fields.of(t.clock->period.id).hi;
      cost = std::max<std::int64_t>(fields.of(t.delay.id).hi, 0);  // less is an error
      if (what == What::kTime && t.interval) cost = std::max(cost, fields.of(t.interval->id).hi);
      if (cost > kLargest || period > kLargest / (cost + 1)) return;
      cost = cost * period + (what == What::kTime && t.clock ? period - 1 : 0);
    }
    if (cost != 0) row[one] = -cost;
    std::erase_if(row, [](const auto& each) { return each.second == 0; });
    if (!row.empty()) {
      programme.add_row(row);
      rows.push_back(row);
    }
  }
  std::vector<std::int64_t> costs;
  for (const Queue& queue : state.queues) {
    costs.push_back(static_cast<std::int64_t>(std::min<std::uint64_t>(queue.free, kLargest)));
  }
  for (const State::Arrival& arrival : state.arrivals) ++costs[arrival.place];
  costs.push_back(0);
  std::int64_t budget = 20'000'000;
  std::optional<Weights> found;
  try {
    found = Simplex(programme, costs, budget, budget).solve({{one, 1}});
  } catch (const GiveUp&) {
    return;
  }
  if (!found) return;
  // As multiples of one fraction; the column that is 1 is the largest that they must make up for.
  Wide scale = 1;
  for (const auto& [column, weight] : *found) {
    const Wide more = weight.den / gcd(scale, weight.den);
    if (more > kLargestScale / scale) return;
    scale *= more;
  }
  std::vector<std::int64_t> weights(one + 1, 0);
  for (const auto& [column, weight] : *found) {
    if (weight.num < 0) return;
    if (weight.num > (Wide{1} << 60) / scale) return;
    weights[column] = static_cast<std::int64_t>(weight.num * (scale / weight.den));
  }
  if (weights[one] < scale) return;
  for (const auto& row : rows) {
    Wide sum = 0;
    for (const auto& [column, factor] : row) sum += Wide{weights[column]} * factor;
    if (sum < 0) return;
  }
  scale_ = weights[one];
  weights.pop_back();
  weights_ = std::move(weights);
}

std::optional<std::int64_t> Remaining::of(const State& state) const {
  if (scale_ == 0) return std::nullopt;
  Wide sum = 0;
  for (std::size_t p = 0; p < weights_.size(); ++p) sum += Wide{weights_[p]} * state.queues[p].free;
  Wide ends = 0;
  for (const State::Flight& flight : state.flights) {
    const Transition& t = net_.transitions[flight.transition];
    for (std::size_t o = 0; o < t.outputs.size(); ++o) {
      sum +=
          Wide{weights_[static_cast<std::size_t>(t.outputs[o].place)]} * flight.firing->produced[o];
    }
    for (std::size_t o = 0; what_ == What::kDone && o < t.outputs.size(); ++o) {
      if (net_[t.outputs[o].place].done) ends += flight.firing->produced[o];
    }
    if (what_ == What::kCommits) ends += flight.transition == counted_;
  }
  for (const State::Arrival& arrival : state.arrivals) sum += weights_[arrival.place];
  // What is under way runs at the same time.
  for (std::size_t k = Zone::kNow + 1; what_ == What::kTime && k < state.events(); ++k) {
    ends = std::max(ends, Wide{state.zone.most(k, Zone::kNow)});
  }
  const Wide left = sum / scale_ + (sum % scale_ != 0) + ends;
  if (left > kNoBound >> 2) return std::nullopt;
  return static_cast<std::int64_t>(left);
}

}  // namespace lpn::reach
