#include "upper_bound.h"

#include <algorithm>
#include <deque>
#include <map>

#include "lpn/base/error.h"
#include "lpn/expr/eval.h"

namespace lpn::smt {
namespace {

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();

}  // namespace

UpperBound::UpperBound(PathUnits& path, InstantId target)
    : p_(path), target_(target), differences_(path.timing(), path.space()) {
  LPN_ASSERT(!p_.empty() && p_.magnitude());
  read_sets();
  if (!compile(false)) LPN_ASSERT(compile(true));
}

// Which units are read behind and in front of each instant.
void UpperBound::read_sets() {
  const std::size_t nodes = at(target_) + 1;
  words_ = (p_.units().size() + 63) / 64;
  after_.assign(nodes * words_, 0);
  before_.assign(nodes * words_, 0);
  const auto join = [&](std::vector<std::uint64_t>& sets, std::size_t to, std::size_t from,
                        const Sum& delay) {
    for (std::size_t w = 0; w < words_; ++w) sets[to * words_ + w] |= sets[from * words_ + w];
    for (const std::uint32_t f : delay.functions) {
      const std::uint32_t u = p_.function(f).unit;
      sets[to * words_ + u / 64] |= std::uint64_t{1} << (u % 64);
    }
  };
  used_.assign(nodes, false);
  used_[nodes - 1] = true;
  for (std::size_t v = nodes; v-- > 1;) {
    if (!used_[v]) continue;
    for (const TimedArc& arc : p_.arcs(v)) {
      used_[arc.from] = true;
      join(after_, arc.from, v, arc.delay);
    }
  }
  for (std::size_t v = 1; v < nodes; ++v) {
    if (!used_[v]) continue;
    for (const TimedArc& arc : p_.arcs(v)) join(before_, v, arc.from, arc.delay);
  }
}

bool UpperBound::compile(bool split) {
  split_ = split;
  tables_.assign(1, Table{});
  closed_.clear();
  gates_.clear();
  steps_ = 0;
  const std::size_t most = most_arrivals(p_);
  const std::size_t nodes = at(target_) + 1;
  states_.assign(nodes, {});
  states_[0].push_back({});
  for (std::size_t v = 1; v < nodes; ++v) {
    if (!used_[v]) continue;
    const Timing::Node& node = p_.timing()[static_cast<InstantId>(v)];
    const std::vector<TimedArc>& arcs = p_.arcs(v);
    std::vector<Candidate> candidates;
    switch (node.kind) {
      case Timing::Kind::kMax:
        for (const TimedArc& arc : arcs) arrive(arc.from, v, {&arc.delay}, 0, 0, candidates);
        if (arcs.empty()) candidates.push_back({});
        break;
      case Timing::Kind::kGate: gate(v, candidates); break;
      case Timing::Kind::kEdge: edge(v, candidates); break;
    }
    if (steps_ > most && !split_) return false;
    settle(v, candidates);
  }
  const std::vector<State>& last = states_[nodes - 1];
  LPN_ASSERT(last.size() == 1 && last[0].open.empty());
  result_ = last[0].table;
  result_offset_ = last[0].offset;
  states_.clear();
  return true;
}

std::uint32_t UpperBound::close(std::uint32_t table, std::uint32_t function, Kind kind) {
  const std::uint64_t key = (std::uint64_t{table} << 32) | (function * 2 + (kind == Kind::kFree));
  const auto [it, fresh] = closed_.try_emplace(key, static_cast<std::uint32_t>(tables_.size()));
  if (fresh) {
    tables_.push_back({.kind = kind, .parts = {{.table = table}}, .function = function});
  }
  return it->second;
}

void UpperBound::arrive(std::size_t from, std::size_t v, const std::vector<const Sum*>& delays,
                        std::int64_t extra, std::uint8_t group, std::vector<Candidate>& out) {
  Open added;  // one function per unit
  for (const Sum* delay : delays) {
    extra += delay->constant + delay->slack;
    for (const std::uint32_t f : delay->functions) {
      const auto same = std::find_if(added.begin(), added.end(), [&](std::uint32_t g) {
        return p_.function(g).unit == p_.function(f).unit;
      });
      if (same == added.end()) {
        added.push_back(f);
      } else {
        *same = p_.plus(*same, f);
      }
    }
  }
  for (const State& state : states_[from]) {
    ++steps_;
    std::map<std::uint32_t, std::uint32_t> open;  // unit to function
    for (const std::uint32_t f : state.open) open.emplace(p_.function(f).unit, f);
    Candidate candidate;
    std::uint32_t table = state.table;
    for (const std::uint32_t f : added) {
      const std::uint32_t u = p_.function(f).unit;
      if (split_) {
        table = close(table, f, reads_before(from, u) ? Kind::kFree : Kind::kClose);
        continue;
      }
      const auto [it, fresh] = open.emplace(u, f);
      if (!fresh) it->second = p_.plus(it->second, f);
    }
    for (const auto& [u, f] : open) {
      if (reads_after(v, u)) {
        candidate.open.push_back(f);
      } else {
        table = close(table, f, Kind::kClose);
      }
    }
    candidate.part = {.table = table, .offset = state.offset + extra, .group = group, .gate = 0};
    out.push_back(std::move(candidate));
  }
}

void UpperBound::settle(std::size_t v, std::vector<Candidate>& candidates) {
  std::map<Open, std::vector<Part>> by_open;
  for (Candidate& candidate : candidates) {
    std::vector<Part>& parts = by_open[candidate.open];
    const auto same = std::find_if(parts.begin(), parts.end(), [&](const Part& part) {
      return part.table == candidate.part.table && part.group == candidate.part.group;
    });
    if (same == parts.end()) {
      parts.push_back(candidate.part);
    } else {
      same->offset = std::max(same->offset, candidate.part.offset);
    }
  }
  for (auto& [open, parts] : by_open) {
    if (parts.size() == 1 && parts[0].group == 0) {
      states_[v].push_back({open, parts[0].table, parts[0].offset});
    } else {
      states_[v].push_back({open, static_cast<std::uint32_t>(tables_.size()), 0});
      tables_.push_back({.kind = Kind::kMax, .parts = std::move(parts)});
    }
  }
}

// s < closes ? s : max(s, opens): no later than opens, and no later than s and the longest that the
// gate stays closed. Predecessors of s that are surely before it closes then do not count.
void UpperBound::gate(std::size_t v, std::vector<Candidate>& candidates) {
  const TimedArc& start = p_.arcs(v)[0];
  const TimedArc& closes = p_.arcs(v)[1];
  const TimedArc& opens = p_.arcs(v)[2];
  // Greatest (a + delay) - (closes + its delay).
  const auto past_closing = [&](std::uint32_t a, Time delay) {
    const Time d =
        differences_.upper(static_cast<InstantId>(a), static_cast<InstantId>(closes.from));
    return d == kForever ? kForever : d + delay - p_.least(closes.delay);
  };
  arrive(start.from, v, {&start.delay}, 0, 0, candidates);
  if (past_closing(start.from, p_.most(start.delay)) < 0) return;
  std::vector<Candidate> by_opening, late;
  arrive(opens.from, v, {&opens.delay}, 0, 0, by_opening);
  const Time closed = past_closing(opens.from, p_.most(opens.delay));
  if (closed == kForever || closed > *p_.magnitude()) {
    candidates.insert(candidates.end(), by_opening.begin(), by_opening.end());
    return;
  }
  const Timing::Node& before = p_.timing()[static_cast<InstantId>(start.from)];
  if (before.kind == Timing::Kind::kMax && start.from != 0) {
    for (const TimedArc& arc : p_.arcs(start.from)) {
      if (past_closing(arc.from, p_.most(arc.delay) + p_.most(start.delay)) < 0) continue;
      arrive(arc.from, v, {&arc.delay, &start.delay}, closed, 0, late);
    }
    if (late.empty()) return;
  } else {
    arrive(start.from, v, {&start.delay}, closed, 0, late);
  }
  const Open& open = late[0].open;
  const auto same = [&](const Candidate& candidate) { return candidate.open == open; };
  if (std::all_of(late.begin(), late.end(), same) &&
      std::all_of(by_opening.begin(), by_opening.end(), same)) {
    Table table{.kind = Kind::kLeast, .parts = {}};
    for (const std::vector<Candidate>* way : {&by_opening, &late}) {
      table.parts.push_back({.table = static_cast<std::uint32_t>(tables_.size())});
      Table largest{.kind = Kind::kMax, .parts = {}};
      for (const Candidate& candidate : *way) largest.parts.push_back(candidate.part);
      tables_.push_back(std::move(largest));
    }
    Candidate both;
    both.open = open;
    both.part.table = static_cast<std::uint32_t>(tables_.size());
    tables_.push_back(std::move(table));
    candidates.push_back(std::move(both));
    return;
  }
  // One of the two for all states; which one depends on the box.
  const auto number = static_cast<std::uint32_t>(gates_.size());
  Gate made;
  for (Candidate& candidate : by_opening) {
    candidate.part.group = 1, candidate.part.gate = number;
    made.opens.emplace_back(candidate.part, candidate.open);
    candidates.push_back(candidate);
  }
  for (Candidate& candidate : late) {
    candidate.part.group = 2, candidate.part.gate = number;
    made.late.emplace_back(candidate.part, candidate.open);
    candidates.push_back(candidate);
  }
  gates_.push_back(std::move(made));
}

void UpperBound::edge(std::size_t v, std::vector<Candidate>& candidates) {
  const Timing::Node& node = p_.timing()[static_cast<InstantId>(v)];
  const TimedArc& arc = p_.arcs(v)[0];
  arrive(arc.from, v, {&arc.delay}, 0, 0, candidates);
  for (Candidate& candidate : candidates) {
    // Whole periods in open functions change nothing; others are rounded up each.
    bool regular = true;
    std::int64_t rest = 0;
    for (const std::uint32_t f : candidate.open) {
      const std::vector<std::int64_t>& values = p_.function(f).values;
      const std::int64_t r = floor_mod(values[0], node.period);
      rest += r;
      regular = regular && std::all_of(values.begin(), values.end(), [&](std::int64_t x) {
                  return floor_mod(x, node.period) == r;
                });
    }
    if (!regular) {
      candidate.part.offset += node.period - 1;
      continue;
    }
    Part part = candidate.part;
    part.offset += rest;
    candidate.part = {.table = static_cast<std::uint32_t>(tables_.size()), .offset = -rest};
    tables_.push_back({.kind = Kind::kEdge,
                       .parts = {part},
                       .function = 0,
                       .period = node.period,
                       .phase = node.phase});
  }
}

// What the unit of a function can cost and bring; none that costs more and brings less.
const std::vector<UpperBound::Point>& UpperBound::points(std::uint32_t function) {
  std::optional<std::vector<Point>>& known = points_[function];
  if (known) return *known;
  known.emplace();
  const Function& f = p_.function(function);
  const auto [first, end] = (*box_)[f.unit];
  std::vector<Point> all;
  for (std::uint32_t row = first; row < end; ++row) {
    const std::int64_t cost = cost_[f.unit].empty() ? 0 : cost_[f.unit][row - first];
    if (cost > budget_) continue;
    const std::int64_t penalty = penalty_[f.unit].empty() ? 0 : penalty_[f.unit][row - first];
    all.push_back({cost, f.values[row] * scale_ - penalty, row});
  }
  std::sort(all.begin(), all.end(), [](const Point& a, const Point& b) {
    return a.cost != b.cost ? a.cost < b.cost : a.value > b.value;
  });
  for (const Point& point : all) {
    if (known->empty() || point.value > known->back().value) known->push_back(point);
  }
  LPN_ASSERT(!known->empty() && known->front().cost == 0);
  return *known;
}

void UpperBound::fill(std::uint32_t number) {
  const Table& table = tables_[number];
  std::vector<std::int64_t>& out = values_[number];
  out.clear();
  switch (table.kind) {
    case Kind::kZero: out.assign(1, 0); return;
    case Kind::kMax:
    case Kind::kLeast: join(table, out); return;
    case Kind::kFree: add_largest(table, out); return;
    case Kind::kEdge: round_up(table, out); return;
    case Kind::kClose: add_unit(table, out); return;
  }
}

// The most that ways into a gate allow, whatever open units add.
std::int64_t UpperBound::most(const std::vector<std::pair<Part, Open>>& ways) const {
  std::int64_t most = kNone;
  for (const auto& [way, open] : ways) {
    if (values_[way.table].empty()) continue;
    std::int64_t t = value(way.table, budget_) + way.offset * scale_;
    for (const std::uint32_t f : open) t += largest(p_.function(f)) * scale_;
    most = std::max(most, t);
  }
  return most;
}

// Of a function, in the box.
std::int64_t UpperBound::largest(const Function& function) const {
  const auto [begin, end] = (*box_)[function.unit];
  const auto values = function.values.begin();
  return *std::max_element(values + begin, values + end);
}

// The largest, or the least, of the parts.
void UpperBound::join(const Table& table, std::vector<std::int64_t>& out) {
  std::size_t size = 0;
  for (const Part& part : table.parts) {
    if (part.group != 0 && chosen_[part.gate] == 0) {
      const Gate& gate = gates_[part.gate];
      chosen_[part.gate] = most(gate.opens) <= most(gate.late) ? 1 : 2;
    }
    size = std::max(size, values_[part.table].size());
  }
  bool first = true;
  for (const Part& part : table.parts) {
    if (part.group != 0 && chosen_[part.gate] != part.group) continue;
    const std::vector<std::int64_t>& from = values_[part.table];
    if (from.empty()) continue;
    const std::int64_t offset = part.offset * scale_;
    if (first) {
      out.resize(size);
      for (std::size_t b = 0; b < size; ++b) out[b] = from[std::min(b, from.size() - 1)] + offset;
    } else if (table.kind == Kind::kMax) {
      const std::size_t common = std::min(size, from.size());
      for (std::size_t b = 0; b < common; ++b) out[b] = std::max(out[b], from[b] + offset);
      for (std::size_t b = common; b < size; ++b) out[b] = std::max(out[b], from.back() + offset);
    } else {
      for (std::size_t b = 0; b < size; ++b) {
        out[b] = std::min(out[b], from[std::min(b, from.size() - 1)] + offset);
      }
    }
    first = false;
  }
}

// A function whose unit was charged already.
void UpperBound::add_largest(const Table& table, std::vector<std::int64_t>& out) {
  const std::int64_t most = largest(p_.function(table.function)) * scale_;
  out = values_[table.parts[0].table];
  for (std::int64_t& t : out) t += most;
}

// To the next edge of a clock.
void UpperBound::round_up(const Table& table, std::vector<std::int64_t>& out) {
  const Part& part = table.parts[0];
  out = values_[part.table];
  for (std::int64_t& t : out) {
    t += part.offset * scale_;
    if (multiplied_) {
      t += (table.period - 1) * scale_;
    } else if (const Time past = floor_mod(t - table.phase, table.period); past != 0) {
      t += table.period - past;
    }
  }
}

// A function whose unit takes, for each budget, the tuple that is best.
void UpperBound::add_unit(const Table& table, std::vector<std::int64_t>& out) {
  const std::vector<std::int64_t>& from = values_[table.parts[0].table];
  if (from.empty()) return;
  const std::vector<Point>& all = points(table.function);
  const std::int64_t size =
      std::min(budget_ + 1, static_cast<std::int64_t>(from.size()) + all.back().cost);
  out.assign(static_cast<std::size_t>(size), kNone);
  const std::int64_t gain = all.size() > 1 ? all[1].value - all[0].value : 0;
  bool linear = all.size() > 4;
  for (std::size_t k = 1; k < all.size() && linear; ++k) {
    linear = all[k].cost == all[k - 1].cost + 1 && all[k].value == all[k - 1].value + gain;
  }
  if (linear) {
    add_linear(from, static_cast<std::int64_t>(all.size()), all[0].value, gain, out);
    return;
  }
  for (const Point& point : all) {
    const auto cost = static_cast<std::size_t>(point.cost);
    const std::size_t common = std::min(out.size(), cost + from.size());
    for (std::size_t b = cost; b < common; ++b) {
      out[b] = std::max(out[b], from[b - cost] + point.value);
    }
    for (std::size_t b = common; b < out.size(); ++b) {
      out[b] = std::max(out[b], from.back() + point.value);
    }
  }
}

// The same of n points whose costs are 0, 1, ... and whose values rise evenly: the largest over j
// in (b - n, b] of from(j) + (b - j) * gain, by a window that slides.
void UpperBound::add_linear(const std::vector<std::int64_t>& from, std::int64_t n,
                            std::int64_t first, std::int64_t gain, std::vector<std::int64_t>& out) {
  std::deque<std::int64_t> best;  // positions, from(j) - j * gain falling
  const auto height = [&](std::int64_t j) { return from[static_cast<std::size_t>(j)] - j * gain; };
  const auto size = static_cast<std::int64_t>(out.size());
  for (std::int64_t b = 0; b < size; ++b) {
    if (b < static_cast<std::int64_t>(from.size())) {
      while (!best.empty() && height(best.back()) <= height(b)) best.pop_back();
      best.push_back(b);
    }
    while (best.front() <= b - n) best.pop_front();
    out[static_cast<std::size_t>(b)] = height(best.front()) + b * gain + first;
  }
}

UpperBound::Result UpperBound::solve(const Box& box, const Charge& charge) {
  begin(box, charge);
  Result result;
  result.total = charge_limits(charge);
  for (const auto& [f, weight] : charge.tolls) charge_function(p_.function(f), weight, 0);
  result.whole = lightest(result.total);
  for (std::uint32_t t = 0; t < tables_.size(); ++t) fill(t);
  result.total += value(result_, budget_) + Wide{result_offset_} * scale_;
  trace(result.choice);
  for (std::size_t u = 0; u < result.choice.size(); ++u) {
    if (result.choice[u] != kUnset) result.whole[u] = result.choice[u];
  }
  for (const Limit& limit : p_.limits()) {
    Wide slack = limit.cap;
    for (const std::uint32_t f : limit.functions) {
      slack -= p_.function(f).values[result.whole[p_.function(f).unit]];
    }
    result.slack.push_back(slack);
  }
  return result;
}

void UpperBound::begin(const Box& box, const Charge& charge) {
  box_ = &box;
  scale_ = charge.scale;
  multiplied_ = scale_ != 1 || !charge.tolls.empty();
  const std::size_t units = p_.units().size();
  cost_.assign(units, {});
  penalty_.assign(units, {});
  values_.resize(tables_.size());
  std::size_t functions = 0;
  for (const Table& table : tables_)
    functions = std::max<std::size_t>(functions, table.function + 1);
  points_.assign(functions, std::nullopt);
  chosen_.assign(gates_.size(), 0);
  budget_ = 0;
}

// Every tuple of a function's unit is charged so much for what it is above `lo`.
void UpperBound::charge_function(const Function& function, std::int64_t weight, std::int64_t lo) {
  const auto [first, end] = (*box_)[function.unit];
  auto& penalties = penalty_[function.unit];
  penalties.resize(end - first);
  for (std::uint32_t row = first; row < end; ++row) {
    penalties[row - first] += weight * (function.values[row] - lo);
  }
}

// Multipliers become penalties, the main limit costs and a budget. What the multipliers give back
// for the limits' caps.
Wide UpperBound::charge_limits(const Charge& charge) {
  const std::vector<std::int64_t> least = least_use(p_, *box_);
  Wide total = 0;
  for (std::size_t l = 0; l < p_.limits().size(); ++l) {
    const Limit& limit = p_.limits()[l];
    const std::int64_t multiplier = charge.multipliers.empty() ? 0 : charge.multipliers[l];
    const bool main = charge.budget == l;
    if (multiplier == 0 && !main) continue;
    multiplied_ = multiplied_ || multiplier != 0;
    total += Wide{multiplier} * (limit.cap - least[l]);
    if (main) budget_ = (limit.cap - least[l]) / charge.quantum;
    for (const std::uint32_t f : limit.functions) {
      const Function& function = p_.function(f);
      const auto [first, end] = (*box_)[function.unit];
      const auto values = function.values.begin();
      const std::int64_t lo = *std::min_element(values + first, values + end);
      if (multiplier != 0) charge_function(function, multiplier, lo);
      if (!main) continue;
      auto& costs = cost_[function.unit];
      costs.resize(end - first);
      for (std::uint32_t row = first; row < end; ++row) {
        costs[row - first] = (function.values[row] - lo) / charge.quantum;
      }
    }
  }
  return total;
}

// What a unit is charged at least it is charged in any case: that goes off the total. The tuples
// that are charged no more.
Choice UpperBound::lightest(Wide& total) {
  Choice choice;
  for (std::size_t u = 0; u < penalty_.size(); ++u) {
    choice.push_back((*box_)[u].first);
    auto& penalties = penalty_[u];
    if (penalties.empty()) continue;
    const auto lightest = std::min_element(penalties.begin(), penalties.end());
    const std::int64_t base = *lightest;
    choice.back() += static_cast<std::uint32_t>(lightest - penalties.begin());
    total -= base;
    for (std::int64_t& penalty : penalties) penalty -= base;
  }
  return choice;
}

// The longest path: at each table the part, or the tuple, that its value came from.
void UpperBound::trace(Choice& choice) {
  choice.assign(p_.units().size(), kUnset);
  std::int64_t budget = budget_;
  for (std::uint32_t t = result_; tables_[t].kind != Kind::kZero;) {
    const Table& table = tables_[t];
    const Part* next = nullptr;
    std::int64_t best = kNone;
    if (table.kind == Kind::kMax) {
      for (const Part& part : table.parts) {
        if (part.group != 0 && chosen_[part.gate] != part.group) continue;
        if (values_[part.table].empty()) continue;
        const std::int64_t x = value(part.table, budget) + part.offset * scale_;
        if (next == nullptr || x > best) next = &part, best = x;
      }
    } else {
      next = &table.parts[0];
    }
    if (table.kind == Kind::kClose) {
      const Point* taken = nullptr;
      for (const Point& point : points(table.function)) {
        if (point.cost > budget) break;
        const std::int64_t x = value(next->table, budget - point.cost) + point.value;
        if (taken == nullptr || x > best) taken = &point, best = x;
      }
      choice[p_.function(table.function).unit] = taken->row;
      budget -= taken->cost;
    }
    t = next->table;
  }
}

}  // namespace lpn::smt
