// When a transition can start: its tokens, what its formulas say of them, and what else it waits
// for.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "classes/symbolic_run.h"
#include "lpn/base/error.h"
#include "lpn/net/bounds.h"
#include "lpn/net/facts.h"

namespace lpn {

bool SymbolicRun::look(std::uint32_t k, const Transition& t, Candidate& c) {
  for (std::uint32_t a = 0; a < t.inputs.size(); ++a) {
    const InputArc& arc = t.inputs[a];
    SymbolicPlace& place = at(arc.place);
    if (!place.fresh.empty()) put_in_order(place);
    if (arc.inhibit) continue;
    const std::uint64_t available = place.tokens.size();
    if (transitions_[k].reads_head[a]) {
      if (available == 0) {
        c.lacking.push_back(static_cast<std::uint32_t>(arc.place));
        return false;
      }
      c.need[a] = 1;
    }
    const ExprId weighs = term(k, arc.weight, "weight");
    c.firm = c.firm && net_.exprs.reads(arc.weight.id).tokens.empty() &&
             (!arc.threshold || net_.exprs.reads(arc.threshold->id).tokens.empty());
    const std::int64_t weight = values_.concrete(weighs);
    std::int64_t threshold = weight;
    if (arc.threshold) threshold = values_.concrete(term(k, *arc.threshold, "threshold"));
    if (weight < 0 || threshold < 0) {
      fail(fmt::format("{}: a weight or threshold is negative", t.name), arc.weight.source);
    }
    const auto needed = static_cast<std::uint64_t>(std::max(weight, threshold));
    if (available < needed) {
      c.lacking.push_back(static_cast<std::uint32_t>(arc.place));
      return false;
    }
    c.take[a] = static_cast<std::uint64_t>(weight);
    c.need[a] = std::max(needed, c.need[a]);
    if (arc.guard && counts(*arc.guard)) {
      // It is looked at only when all else is there.
      NetBounds bounds(net_, &t);
      if (!Totality(bounds)(arc.guard->id)) {
        refuse(t, arc.guard->source, "its guard counts tokens and may fail",
               "keep to counts and properties with declared ranges");
      }
      c.counting.push_back(a);
    } else if (arc.guard && !values_.decide(term(k, *arc.guard, "guard"))) {
      c.refused = a;
      return false;
    }
  }
  return true;
}

bool SymbolicRun::counts(const Formula& formula) const {
  const Reads reads = net_.exprs.reads(formula.id);
  return !reads.occupancy.empty() || !reads.free.empty();
}

bool SymbolicRun::wait_for_counts(std::uint32_t k, const Transition& t,
                                  const SymbolicTransition& state, Candidate& c) {
  if (state.inhibits || state.period > 1) {
    refuse(t, t.source, "its guard counts tokens, and it is inhibited or has a clock",
           "write the limit as a capacity, or as credits that are taken and given back");
  }
  for (;;) {
    bool open = true;
    for (const std::uint32_t a : c.counting) {
      open = open && values_.decide(term(k, *t.inputs[a].guard, "guard", c.start));
    }
    if (open) return true;
    std::optional<InstantId> next;
    for (const std::uint32_t p : state.counts) {
      for (const Change& change : places_[p].changes) {
        if (instants_.visible(change.at, c.start)) continue;
        if (!next || instants_.precedes(change.at, *next, false)) next = change.at;
      }
    }
    if (!next) return false;
    c.start = *next;
  }
}

void SymbolicRun::consider(std::uint32_t k) {
  const Transition& t = net_.transitions[k];
  SymbolicTransition& state = transitions_[k];
  Candidate& c = state.candidate;
  c = {};
  c.known = true;
  c.need.assign(t.inputs.size(), 0);
  c.take.assign(t.inputs.size(), 0);
  c.ready_at.assign(t.inputs.size(), kTimeZero);
  c.chosen.resize(t.inputs.size());
  try {
    if (!look(k, t, c)) return;
  } catch (const Failed& failed) {
    // Of heads that a rival may take first: only if it comes to that.
    if (state.local) throw;
    if (state.inhibits) {
      refuse(t, t.source, "it is inhibited, and its formulas may fail (" + failed.what + ")",
             "narrow the ranges of what they read");
    }
    c.doomed = failed.what;
  }
  std::vector<Timing::Arc> after;
  bool needs_multiset = false;
  for (std::uint32_t a = 0; a < t.inputs.size(); ++a) {
    if (t.inputs[a].inhibit) continue;
    const SymbolicPlace& place = at(t.inputs[a].place);
    if (c.need[a] == 0) continue;
    c.other.push_back({place.last_taken, zero_});
    if (place.multiset) {
      needs_multiset = true;
    } else {
      c.ready_at[a] = place.tokens[c.need[a] - 1].at;
      after.push_back({c.ready_at[a], zero_});
    }
  }
  c.other.push_back({state.last_start, zero_});
  // Formulas are evaluated while the interval or the clock still holds the transition back.
  const bool doomed = !c.doomed.empty();
  if (state.has_interval && !doomed) c.other.push_back({state.last_start, state.last_interval});
  wait_for_server(state, c);
  after.insert(after.end(), c.other.begin(), c.other.end());
  c.start = instants_.latest(std::move(after));
  if (needs_multiset) choose(t, c);
  if (state.inhibits && !pass_gates(t, state, c)) return;
  // Also what fails, fails only once the guards before it hold.
  if (!c.counting.empty() && !wait_for_counts(k, t, state, c)) return;
  if (state.period > 1 && !doomed) c.start = edge(state, c.start);
  c.ready = true;
}

void SymbolicRun::wait_for_server(const SymbolicTransition& state, Candidate& c) {
  const std::vector<InstantId>& commits = state.commits;
  const auto servers = static_cast<std::size_t>(state.servers);
  if (servers == 0 || commits.size() < servers) return;
  if (state.in_order) {
    c.other.push_back({commits[commits.size() - servers], zero_});
    return;
  }
  // All but servers - 1 of the firings must have committed.
  std::vector<InstantId> order;
  for (const InstantId commit : commits) {
    std::size_t k = order.size();
    while (k > 0 && instants_.precedes(commit, order[k - 1], false)) --k;
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(k), commit);
  }
  c.other.push_back({order[order.size() - servers], zero_});
}

void SymbolicRun::choose(const Transition& t, Candidate& c) {
  const InstantId base = c.start;
  std::vector<Timing::Arc> after{{base, zero_}};
  bool fuzzy = false;
  for (std::uint32_t a = 0; a < t.inputs.size(); ++a) {
    if (t.inputs[a].inhibit || c.need[a] == 0) continue;
    const SymbolicPlace& place = at(t.inputs[a].place);
    if (!place.multiset) continue;
    std::vector<std::size_t> rest;
    auto& chosen = c.chosen[a];
    for (std::size_t k = 0; k < place.tokens.size() && chosen.size() < c.need[a]; ++k) {
      if (instants_.surely_not_after(place.tokens[k].at, base)) {
        chosen.push_back(k);
        fuzzy = fuzzy || (place.tokens[k].at != kTimeZero &&
                          !instants_.surely_before(place.tokens[k].at, base));
      } else {
        rest.push_back(k);
      }
    }
    const std::size_t more = c.need[a] - chosen.size();
    if (more == 0) continue;
    const auto time = [&](std::size_t k) { return place.tokens[k].at; };
    if (rest.size() > more) {
      for (std::size_t i = 1; i < rest.size(); ++i) {
        for (std::size_t j = i; j > 0 && instants_.holds(time(rest[j]), time(rest[j - 1]), true);
             --j) {
          std::swap(rest[j], rest[j - 1]);
        }
      }
      rest.resize(more);
      after.push_back({time(rest.back()), zero_});
      c.ready_at[a] = time(rest.back());
    } else {
      std::vector<Timing::Arc> all;
      for (const std::size_t k : rest) all.push_back({time(k), zero_});
      c.ready_at[a] = instants_.latest(std::move(all));
      after.push_back({c.ready_at[a], zero_});
    }
    fuzzy = true;
    c.supplies.emplace_back(static_cast<std::uint32_t>(t.inputs[a].place), c.ready_at[a]);
    chosen.insert(chosen.end(), rest.begin(), rest.end());
  }
  c.start = instants_.latest(std::move(after));
  // Which of several tokens at one instant it waited for decides its group. A start that is the
  // instant of something else keeps what is known of that.
  if (fuzzy) {
    if (c.start == base || instants_.is_commit(c.start)) {
      c.start = instants_.add({.kind = Timing::Kind::kMax, .after = {{c.start, zero_}}});
    }
    instants_.note_fuzzy(c.start);
  }
}

InstantId SymbolicRun::edge(const SymbolicTransition& state, InstantId start) {
  return instants_.add({.kind = Timing::Kind::kEdge,
                        .after = {{start, zero_}},
                        .period = state.period,
                        .phase = state.phase});
}

bool SymbolicRun::pass_gates(const Transition& t, SymbolicTransition& state, Candidate& c) {
  std::vector<std::uint32_t> gates;
  for (std::uint32_t a = 0; a < t.inputs.size(); ++a) {
    if (t.inputs[a].inhibit) gates.push_back(static_cast<std::uint32_t>(t.inputs[a].place));
  }
  if (state.period > 1) {
    refuse(t, t.source, "it is inhibited and has a clock",
           "give the clock to a transition behind it");
  }
  // Several places: an opening of one may fall into a closing of another.
  std::set<InstantId> passed;
  for (bool again = true; again;) {
    again = false;
    for (const std::uint32_t p : gates) {
      // What its last start has seen end is over for good.
      const std::vector<Stay>& stays = places_[p].stays;
      std::size_t& over = state.over[p];
      while (over < stays.size() && stays[over].until &&
             instants_.surely_not_after(*stays[over].until, state.last_start) &&
             instants_.sees(*stays[over].until, state.last_start)) {
        ++over;
      }
      for (std::size_t n = over; n < stays.size(); ++n) {
        const Stay& stay = stays[n];
        const InstantId s = c.start;
        if (stay.until && passed.count(*stay.until)) continue;
        if (stay.until && instants_.surely_not_after(*stay.until, s) &&
            instants_.sees(*stay.until, s))
          continue;
        if (instants_.surely_before(s, stay.from)) break;  // later ones close later still
        const bool closed =
            instants_.surely_not_after(stay.from, s) && instants_.sees(stay.from, s);
        if (!stay.until) {
          if (closed || instants_.visible(stay.from, s)) {
            c.inhibited = true;
            return false;
          }
          break;
        }
        const auto gs = instants_.known_group(s), gc = instants_.known_group(stay.from);
        if (!closed && !exact_ && gates.size() == 1 && gs && gc) {
          const ExprId margin = *gc <= *gs ? zero_ : pool_.constant(1);
          c.start =
              instants_.add({.kind = Timing::Kind::kGate,
                             .after = {{s, zero_}, {stay.from, margin}, {*stay.until, zero_}}});
          continue;
        }
        if (!closed && !instants_.visible(stay.from, s)) break;
        passed.insert(*stay.until);
        c.start = instants_.latest({{s, zero_}, {*stay.until, zero_}});
        again = gates.size() > 1;
      }
    }
  }
  return true;
}

}  // namespace lpn
