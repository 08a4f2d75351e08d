// A start: what it takes and puts, and when it commits.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "classes/symbolic_run.h"
#include "lpn/base/error.h"
#include "lpn/net/facts.h"
#include "lpn/structure/endless.h"

namespace lpn {
namespace {

// Each token is kept by itself here.
constexpr std::int64_t kMaxEmitted = 1 << 16;

}  // namespace

void SymbolicRun::fire(std::uint32_t k) {
  const Transition& t = net_.transitions[k];
  SymbolicTransition& state = transitions_[k];
  Candidate& c = state.candidate;
  if (!c.doomed.empty()) throw Failed{c.doomed};
  if (path_.firings.size() >= max_firings_) {
    std::string why =
        fmt::format("{}: more than {} firings for one input", net_.name, max_firings_);
    if (const auto names = endless_names(declared_); !names.empty()) {
      why += fmt::format(
          "; '{}' goes on for ever by itself: leave it out of the net, or ask lpn smt, which ends "
          "runs by a number of done tokens",
          names.front());
    }
    throw Error("E-partition", why);
  }
  const ExprId scale = pool_.constant(std::max<std::int64_t>(1, state.period));
  const ExprId delay = term(k, t.delay, "delay", c.start);
  if (total_.range(delay).lo < 0 && !values_.decide(build_.le(zero_, delay))) {
    fail(t.name + ": its delay is negative", t.delay.source);
  }
  const bool spaced = space_starts(k, scale);
  std::uint64_t taken = 0;
  for (const std::uint64_t n : c.take) taken += n;
  if (taken == 0 && state.servers == 0 && !spaced) {
    fail(t.name + ": a firing takes no token and has neither servers nor interval", t.source);
  }
  std::vector<std::vector<SymbolicToken>> tokens = emit(k);
  const ExprId ticks = checked(build_.mul(delay, scale), t.name + ": delay", t.delay.source);
  // The start may be somebody's commit; both must be told apart by their groups.
  Timing::Node node{.kind = Timing::Kind::kMax, .after = {{c.start, ticks}}};
  if (t.ordered && !state.commits.empty()) node.after.push_back({state.commits.back(), zero_});
  const InstantId commit = instants_.add(std::move(node));
  instants_.note_commit(commit);

  TimedFiring firing;
  firing.transition = static_cast<TransitionId>(k);
  firing.number = state.started++;
  firing.start = c.start;
  firing.commit = commit;
  firing.ready = c.ready_at;
  firing.other = c.other;
  firing.need = c.need;
  firing.taken = c.take;
  for (const auto& some : tokens) firing.produced.push_back(some.size());
  state.last_start = c.start;
  state.commits.push_back(commit);

  for (std::uint32_t a = 0; a < t.inputs.size(); ++a) {
    if (c.take[a] == 0) continue;
    SymbolicPlace& place = at(t.inputs[a].place);
    take(place, c.chosen[a], c.take[a], commit);
    if (place.counted) {
      place.changes.push_back({commit, -static_cast<std::int64_t>(c.take[a])});
      place.taken += static_cast<std::int64_t>(c.take[a]);
    }
    place.last_taken = c.start;
    touch(place);
  }
  for (std::uint32_t o = 0; o < t.outputs.size(); ++o) {
    for (SymbolicToken& token : tokens[o]) {
      token.at = commit;
      put(static_cast<std::size_t>(t.outputs[o].place), std::move(token));
    }
  }
  path_.firings.push_back(std::move(firing));
  c = {};
  dirty_.insert(k);
}

bool SymbolicRun::space_starts(std::uint32_t k, ExprId scale) {
  const Transition& t = net_.transitions[k];
  SymbolicTransition& state = transitions_[k];
  const Candidate& c = state.candidate;
  if (!t.interval) return false;
  const ExprId interval = term(k, *t.interval, "interval", c.start);
  if (!values_.decide(build_.le(zero_, interval))) {
    fail(t.name + ": its interval is negative", t.interval->source);
  }
  const bool spaced = values_.decide(build_.lt(zero_, interval));
  // An interval of 0 leaves the one before as it was, which has passed.
  state.has_interval = spaced;
  if (spaced) {
    state.last_interval =
        checked(build_.mul(interval, scale), t.name + ": interval", t.interval->source);
    instants_.require_due(c.start, state.last_interval);
  }
  return spaced;
}

std::vector<std::vector<SymbolicToken>> SymbolicRun::emit(std::uint32_t k) {
  const Transition& t = net_.transitions[k];
  const SymbolicTransition& state = transitions_[k];
  const Candidate& c = state.candidate;
  std::vector<std::vector<SymbolicToken>> tokens(t.outputs.size());
  for (std::uint32_t o = 0; o < t.outputs.size(); ++o) {
    const OutputArc& arc = t.outputs[o];
    const auto& fields = net_.type_of(arc.place).fields;
    for (const Emission& emission : arc.emissions) {
      const std::int64_t count = values_.concrete(term(k, emission.count, "count", c.start));
      if (count < 0) fail(t.name + ": a count is negative", emission.count.source);
      if (count > kMaxTokens) fail(t.name + ": too many tokens", emission.count.source);
      if (count > kMaxEmitted) {
        refuse(t, emission.count.source, fmt::format("it puts {} tokens at once", count),
               "count them in a property of one token");
      }
      for (std::int64_t i = 0; i < count; ++i) {
        SymbolicToken token;
        token.initial = false;
        token.transition = k;
        token.firing = state.started;
        for (std::uint32_t f = 0; f < fields.size(); ++f) {
          token.values.push_back(in_range(term(k, emission.fields[f], "property", c.start, i),
                                          fields[f], t.name, emission.fields[f].source));
        }
        tokens[o].push_back(std::move(token));
      }
    }
  }
  return tokens;
}

void SymbolicRun::take(SymbolicPlace& place, std::vector<std::size_t> chosen, std::uint64_t count,
                       InstantId commit) {
  if (place.multiset) {
    // Of those chosen any may go; the others are there for whoever starts later.
    chosen.resize(count);
    std::sort(chosen.rbegin(), chosen.rend());
    for (const std::size_t k : chosen) {
      place.tokens.erase(place.tokens.begin() + static_cast<std::ptrdiff_t>(k));
    }
    return;
  }
  place.tokens.erase(place.tokens.begin(),
                     place.tokens.begin() + static_cast<std::ptrdiff_t>(count));
  for (std::uint64_t n = 0; place.watched && n < count; ++n) {
    place.stays[place.gone++].until = commit;
  }
}

}  // namespace lpn
