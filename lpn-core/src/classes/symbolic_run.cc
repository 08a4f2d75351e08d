// What happens in time order and what need not.
//
// A transition that alone takes from its places, each filled in order by one producer, is local:
// its k-th firing depends on its k-th tokens only, so it fires as soon as they are known
// (docs/semantics.md, "Order-free evaluation"). The others are contenders. With all local firings
// done, whatever is still to come follows from the start of some contender that is ready; so one
// may start when nothing that follows from the others can reach it in time. What that takes is
// estimated from least delays and bounds of differences; only when these leave it open the order
// of two starts is asked for, and may split the path.

#include "classes/symbolic_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "lpn/base/error.h"
#include "lpn/expr/feasibility.h"
#include "lpn/net/bounds.h"
#include "lpn/net/facts.h"
#include "lpn/net/initial.h"

namespace lpn {
namespace {

constexpr std::int64_t kMostTokens = 1 << 18;  // of a place at first, slots included

}  // namespace

void SymbolicRun::operator()() {
  try {
    set_up();
    while (step()) {
    }
    finish();
  } catch (const Failed& failed) {
    path_.outcome = Outcome::kError;
    path_.trouble = failed.what;
  }
}

void SymbolicRun::refuse(const Transition& t, Source source, const std::string& what,
                         const std::string& instead) const {
  const std::string line = where(net_, source);
  throw Error("E-partition", fmt::format("{}: transition {}{}: {}; {}", net_.name, t.name,
                                         line.empty() ? "" : " (" + line + ")", what, instead));
}

void SymbolicRun::fail(const std::string& what, Source source) {
  const std::string line = where(net_, source);
  throw Failed{line.empty() ? what : fmt::format("{} ({})", what, line)};
}

ExprId SymbolicRun::checked(ExprId term, const std::string& what, Source source) {
  if (!total_(term) && oracle_.fails(term)) fail(what + " cannot be computed", source);
  return term;
}

ExprId SymbolicRun::of_params(const Formula& formula, const std::string& what,
                              std::optional<std::int64_t> index) {
  Leaves leaves;
  leaves.params = space_.params;
  if (index) leaves.index = pool_.constant(*index);
  const auto term = instantiate(net_.exprs, formula.id, pool_, leaves);
  LPN_ASSERT(term);
  return checked(*term, what, formula.source);
}

std::int64_t SymbolicRun::setting(const Formula& formula, const std::string& what,
                                  std::int64_t least) {
  const std::int64_t value = values_.concrete(of_params(formula, what));
  if (value < least)
    fail(fmt::format("{} is {}, less than {}", what, value, least), formula.source);
  return value;
}

// Of initial tokens or slots, each of which is kept by itself.
std::int64_t SymbolicRun::tokens_of(const Formula& formula, const Place& place, const char* what) {
  const std::int64_t count = setting(formula, fmt::format("{}: {}", place.name, what), 0);
  if (count <= kMostTokens) return count;
  const std::string line = where(net_, formula.source);
  throw Error("E-partition",
              fmt::format("{}: place {}{}: its {} is {}, and classes keep each by itself, at most "
                          "{}; write a smaller one, or no capacity where it is never reached",
                          net_.name, place.name, line.empty() ? "" : " (" + line + ")", what, count,
                          kMostTokens));
}

ExprId SymbolicRun::term(std::uint32_t k, const Formula& formula, const char* what,
                         std::optional<InstantId> at_instant, std::optional<std::int64_t> index) {
  const Transition& t = net_.transitions[k];
  const Candidate& c = transitions_[k].candidate;
  Leaves leaves;
  leaves.params = space_.params;
  leaves.token = [&](std::uint32_t arc, std::uint32_t field,
                     std::int64_t which) -> std::optional<ExprId> {
    const SymbolicPlace& place = places_[static_cast<std::size_t>(t.inputs[arc].place)];
    return place.tokens.at(static_cast<std::size_t>(which)).values.at(field);
  };
  leaves.needed = [&](std::uint32_t arc) {
    return std::optional<std::int64_t>(static_cast<std::int64_t>(c.need[arc]));
  };
  leaves.taken = [&](std::uint32_t arc) {
    return std::optional<ExprId>(pool_.constant(static_cast<std::int64_t>(c.take[arc])));
  };
  if (at_instant) {
    leaves.occupancy = [&](std::uint32_t arc) {
      return std::optional<ExprId>(pool_.constant(tokens_at(at(t.inputs[arc].place), *at_instant)));
    };
    leaves.free = [&](std::uint32_t arc) -> std::optional<ExprId> {
      const SymbolicPlace& place = at(t.inputs[arc].place);
      // Others may lock tokens between two groups.
      if (place.takers.size() > 1 || (place.takers.size() == 1 && place.takers[0] != k)) return {};
      return pool_.constant(arrived_at(place, *at_instant) - place.taken);
    };
  }
  if (index) leaves.index = pool_.constant(*index);
  const auto made = instantiate(net_.exprs, formula.id, pool_, leaves);
  if (!made) {
    const Reads reads = net_.exprs.reads(formula.id);
    if (!reads.occupancy.empty() || !reads.free.empty()) {
      refuse(t, formula.source,
             fmt::format(
                 "its {} reads {}", what,
                 at_instant ? "free() of a place from which others take" : "how full a place is"),
             "write the limit as a capacity, or as credits that are taken and given back");
    }
    refuse(t, formula.source, fmt::format("its {} is too large to write out", what),
           "read fewer tokens at once");
  }
  return checked(*made, fmt::format("{}: {}", t.name, what), formula.source);
}

std::int64_t SymbolicRun::tokens_at(const SymbolicPlace& place, InstantId instant) {
  std::int64_t tokens = place.at_first;
  for (const Change& change : place.changes) {
    if (instants_.visible(change.at, instant)) tokens += change.tokens;
  }
  return tokens;
}

std::int64_t SymbolicRun::arrived_at(const SymbolicPlace& place, InstantId instant) {
  std::int64_t tokens = place.at_first;
  for (const Change& change : place.changes) {
    if (change.tokens > 0 && instants_.visible(change.at, instant)) tokens += change.tokens;
  }
  return tokens;
}

void SymbolicRun::set_up() {
  if (net_.done_count || space_.done_count) {
    throw Error(
        "E-partition",
        fmt::format("{}: runs that end after a number of done tokens are not covered; leave "
                    "`done_count` out and give the net a workload that ends",
                    net_.name));
  }
  for (std::uint32_t k = 0; k < net_.transitions.size(); ++k) {
    const Transition& t = net_.transitions[k];
    SymbolicTransition& state = transitions_[k];
    if (t.servers) state.servers = setting(*t.servers, t.name + ": servers", 1);
    if (t.clock) {
      state.period = setting(t.clock->period, t.name + ": period", 1);
      state.phase = setting(t.clock->phase, t.name + ": phase", 0);
    }
    state.in_order = t.ordered || state.servers == 1 || constant_delay(net_, t);
    state.least_delay = std::max<Time>(0, bounds(net_, &t, t.delay.id).lo);
    if (state.period > 1 &&
        __builtin_mul_overflow(state.least_delay, state.period, &state.least_delay)) {
      state.least_delay = kForever;
    }
    for (std::uint32_t a = 0; a < t.inputs.size(); ++a) {
      state.reads_head.push_back(arc_facts(net_, t, a).reads_head);
      const auto by_token = [&](const std::optional<Formula>& f) {
        return f && !net_.exprs.reads(f->id).tokens.empty();
      };
      state.needs_by_token =
          state.needs_by_token || by_token(t.inputs[a].weight) || by_token(t.inputs[a].threshold);
      if (!t.inputs[a].inhibit) continue;
      SymbolicPlace& place = at(t.inputs[a].place);
      place.watched = true;
      state.inhibits = true;
      place.watchers.push_back(k);
    }
    for (const std::uint32_t arc : counted_arcs(t)) {
      at(t.inputs[arc].place).counted = true;
      at(t.inputs[arc].place).counters.push_back(k);
      state.counts.push_back(static_cast<std::uint32_t>(t.inputs[arc].place));
    }
  }
  find_users();
  for (SymbolicPlace& place : places_) {
    const auto overtakes = [&](std::uint32_t k) { return !transitions_[k].in_order; };
    place.merged = place.producers.size() > 1 ||
                   std::any_of(place.producers.begin(), place.producers.end(), overtakes);
  }
  for (std::size_t p = 0; p < places_.size(); ++p) {
    SymbolicPlace& place = places_[p];
    place.multiset =
        place.merged && !exact_ && !place.watched && net_[net_.places[p].type].fields.empty();
  }
  for (std::uint32_t k = 0; k < net_.transitions.size(); ++k) {
    SymbolicTransition& state = transitions_[k];
    const Transition& t = net_.transitions[k];
    state.local = !state.inhibits && state.counts.empty() &&
                  (state.servers <= 1 || state.in_order) &&
                  std::all_of(t.inputs.begin(), t.inputs.end(), [&](const InputArc& arc) {
                    const SymbolicPlace& place = at(arc.place);
                    return !place.merged && place.takers.size() + place.readers.size() <= 1;
                  });
  }
  fill();
  for (std::uint32_t k = 0; k < transitions_.size(); ++k) dirty_.insert(k);
}

void SymbolicRun::find_users() {
  const auto numbers = [](const std::vector<TransitionId>& ids) {
    std::vector<std::uint32_t> all;
    for (const TransitionId id : ids) all.push_back(static_cast<std::uint32_t>(id));
    return all;
  };
  const std::vector<PlaceUse> uses = place_uses(net_);
  for (std::size_t p = 0; p < places_.size(); ++p) {
    places_[p].producers = numbers(uses[p].producers);
    places_[p].takers = numbers(uses[p].takers);
    places_[p].readers = numbers(uses[p].readers);
  }
}

std::set<std::uint32_t> SymbolicRun::counted_arcs(const Transition& t) const {
  std::set<std::uint32_t> arcs;
  for_each_formula(t, [&](const Formula& formula, const Site& site) {
    // A weight or threshold that counts tokens is refused when it is looked at.
    if (site.kind == SiteKind::kWeight || site.kind == SiteKind::kThreshold) return;
    const Reads reads = net_.exprs.reads(formula.id);
    arcs.insert(reads.occupancy.begin(), reads.occupancy.end());
    arcs.insert(reads.free.begin(), reads.free.end());
  });
  return arcs;
}

void SymbolicRun::fill() {
  for (std::size_t p = 0; p < net_.places.size(); ++p) {
    const Place& declared = net_.places[p];
    const auto& fields = net_[declared.type].fields;
    for (const Initial& initial : declared.initial) {
      const std::int64_t count = tokens_of(initial.count, declared, "number of initial tokens");
      for (std::int64_t i = 0; i < count; ++i) {
        SymbolicToken token;
        for (std::size_t f = 0; f < fields.size(); ++f) {
          token.values.push_back(
              in_range(of_params(initial.fields[f], declared.name + "." + fields[f].name, i),
                       fields[f], declared.name, initial.fields[f].source));
        }
        put(p, std::move(token));
      }
    }
  }
  for (const InputSpace::Tokens& tokens : space_.tokens) {
    const auto p = static_cast<std::size_t>(tokens.place);
    const auto& fields = net_.type_of(tokens.place).fields;
    const std::size_t count = tokens.count ? count_of(tokens) : tokens.rows.size();
    for (std::size_t i = 0; i < count; ++i) {
      SymbolicToken token;
      for (std::size_t f = 0; f < fields.size(); ++f) {
        token.values.push_back(
            in_range(tokens.rows[i][f], fields[f], net_.places[p].name, net_.places[p].source));
      }
      put(p, std::move(token));
    }
  }
  for (std::size_t p = 0; p < net_.places.size(); ++p) {
    if (!net_.places[p].credit_of) continue;
    const Place& full = net_[*net_.places[p].credit_of];
    const std::int64_t capacity = tokens_of(*full.capacity, full, "capacity");
    const auto used = static_cast<std::int64_t>(at(*net_.places[p].credit_of).tokens.size());
    if (used > capacity) {
      fail(fmt::format("{} starts with {} tokens and has room for {}", full.name, used, capacity),
           full.source);
    }
    for (std::int64_t i = used; i < capacity; ++i) put(p, {});
  }
  for (const SymbolicPlace& place : places_) {
    path_.given.push_back(place.tokens.size());
    path_.unordered.push_back(place.multiset);
  }
}

std::size_t SymbolicRun::count_of(const InputSpace::Tokens& tokens) {
  const std::int64_t count = values_.concrete(*tokens.count);
  if (count < 0 || static_cast<std::uint64_t>(count) > tokens.rows.size()) {
    throw Error("E-space",
                fmt::format("place '{}': the number of tokens may be {}, but it has 0..{} rows; "
                            "constrain it",
                            net_[tokens.place].name, count, tokens.rows.size()));
  }
  return static_cast<std::size_t>(count);
}

ExprId SymbolicRun::in_range(ExprId value, const Field& field, const std::string& owner,
                             Source source) {
  if (!field.range) return value;
  const Range range = total_.range(value);
  if (range.lo >= field.range->lo && range.hi <= field.range->hi) return value;
  const ExprId inside = build_.logical_and(build_.le(pool_.constant(field.range->lo), value),
                                           build_.le(value, pool_.constant(field.range->hi)));
  if (!values_.decide(inside)) {
    fail(fmt::format("{}: property {} is outside {}..{}", owner, field.name, field.range->lo,
                     field.range->hi),
         source);
  }
  return value;
}

void SymbolicRun::put(std::size_t p, SymbolicToken token) {
  SymbolicPlace& place = places_[p];
  if (place.counted && token.initial) ++place.at_first;
  if (place.counted && !token.initial) place.changes.push_back({token.at, 1});
  if (place.merged && !place.multiset && !token.initial) {
    place.fresh.push_back(std::move(token));
  } else {
    if (place.watched) place.stays.push_back({token.at, {}});
    place.tokens.push_back(std::move(token));
  }
  touch(place);
}

void SymbolicRun::touch(const SymbolicPlace& place) {
  for (const auto* users : {&place.takers, &place.readers, &place.watchers, &place.counters}) {
    for (const std::uint32_t k : *users) dirty_.insert(k);
  }
}

void SymbolicRun::put_in_order(SymbolicPlace& place) {
  for (SymbolicToken& token : place.fresh) {
    std::size_t k = place.tokens.size();
    while (k > 0 && earlier(token, place.tokens[k - 1])) --k;
    if (place.watched) {
      place.stays.insert(place.stays.begin() + static_cast<std::ptrdiff_t>(place.gone + k),
                         {token.at, {}});
    }
    place.tokens.insert(place.tokens.begin() + static_cast<std::ptrdiff_t>(k), std::move(token));
  }
  place.fresh.clear();
}

bool SymbolicRun::earlier(const SymbolicToken& a, const SymbolicToken& b) {
  if (a.initial || b.initial) return a.initial && !b.initial;
  if (a.transition == b.transition && a.firing == b.firing) return false;  // stays behind
  const bool first = std::tie(a.transition, a.firing) < std::tie(b.transition, b.firing);
  if (a.transition == b.transition && transitions_[a.transition].in_order) return first;
  return instants_.precedes(a.at, b.at, first);
}

void SymbolicRun::finish() {
  bool any_done = false;
  std::vector<Timing::Arc> last;
  for (const Place& place : net_.places) any_done = any_done || place.done;
  for (std::size_t n = path_.firings.size(); n-- > 0;) {
    const TimedFiring& firing = path_.firings[n];
    const Transition& t = net_[firing.transition];
    bool counts = !any_done;
    for (std::size_t o = 0; o < t.outputs.size(); ++o) {
      counts = counts || (firing.produced[o] > 0 && net_[t.outputs[o].place].done);
    }
    const auto k = static_cast<std::size_t>(firing.transition);
    if (!counts || (transitions_[k].in_order && !counted_.insert(k).second)) continue;
    last.push_back({firing.commit, zero_});
  }
  const auto undrained = [&](std::size_t p) {
    return must_drain(declared_.places[p]) &&
           places_[p].tokens.size() + places_[p].fresh.size() > 0;
  };
  for (std::size_t p = 0; p < declared_.places.size(); ++p) {
    if (!undrained(p)) continue;
    path_.outcome = Outcome::kStalled;
    path_.trouble +=
        fmt::format("{}{} left in {}", path_.trouble.empty() ? "" : ", ",
                    places_[p].tokens.size() + places_[p].fresh.size(), declared_.places[p].name);
  }
  if (path_.outcome == Outcome::kStalled) {
    path_.trouble += blockers();
  } else if (any_done && last.empty()) {
    path_.outcome = Outcome::kNone;
  }
  if (!any_done || !last.empty()) path_.latency = instants_.latest(std::move(last));
}

std::string SymbolicRun::blockers() {
  std::string text;
  for (std::uint32_t k = 0; k < transitions_.size(); ++k) {
    const Candidate& c = transitions_[k].candidate;
    const Transition& t = net_.transitions[k];
    const bool has_token = std::any_of(t.inputs.begin(), t.inputs.end(), [&](const InputArc& arc) {
      return !net_[arc.place].credit_of && !at(arc.place).tokens.empty();
    });
    if (!has_token) continue;
    std::string why;
    if (!c.lacking.empty()) {
      const Place& place = net_.places[c.lacking.front()];
      why = place.credit_of ? "no room in " + net_[*place.credit_of].name
                            : "no token in " + place.name;
    } else if (c.refused) {
      why = "the guard on " + t.inputs[*c.refused].name + " is false";
    } else if (c.inhibited) {
      why = "inhibited";
    } else {
      continue;
    }
    text += fmt::format("; {}: {}", t.name, why);
  }
  return text;
}

}  // namespace lpn
