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
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "lpn/base/error.h"
#include "lpn/expr/build.h"
#include "lpn/expr/feasibility.h"
#include "lpn/net/facts.h"
#include "lpn/net/initial.h"

namespace lpn {

// ---- one path --------------------------------------------------------------------------------

namespace {

constexpr Time kNever = -kForever;
// Each token is kept by itself here.
constexpr std::int64_t kMaxEmitted = 1 << 16;

// Ends the path: a firing fails for its inputs.
struct Failed {
  std::string what;
};

struct SymbolicToken {
  InstantId at{};
  std::uint32_t transition = 0;
  std::uint64_t firing = 0;
  bool initial = true;
  std::vector<ExprId> values;
};

// From its commit until that of the firing that takes it.
struct Stay {
  InstantId from{};
  std::optional<InstantId> until;
};

// Tokens that come or go at a commit, for who looks how many there are.
struct Change {
  InstantId at{};
  std::int64_t tokens = 0;
};

struct PlaceState {
  bool watched = false;                  // inhibits somebody
  bool counted = false;                  // somebody reads how full it is
  bool merged = false;                   // several producers, or one whose commits may overtake
  bool multiset = false;                 // tokens without properties whose order does not matter
  std::vector<SymbolicToken> tokens;     // free ones, in order unless a multiset
  std::vector<SymbolicToken> fresh;      // merged: not yet put in order
  InstantId last_taken{};                // the last start that took from it
  std::vector<Stay> stays;               // watched: all tokens so far, in order
  std::size_t gone = 0;                  // watched: how many have been taken
  std::vector<Change> changes;           // counted: since time 0
  std::int64_t at_first = 0, taken = 0;  // counted: initial tokens, tokens taken by starts
  std::vector<std::uint32_t> producers, takers, readers, watchers, counters;
};

struct Candidate {
  bool known = false;  // up to date
  bool ready = false;
  std::vector<std::uint32_t> lacking;    // places without the tokens it needs
  bool firm = true;                      // whatever tokens go first, it lacks these
  std::optional<std::uint32_t> refused;  // the arc whose guard is false
  bool inhibited = false;                // by a token that nobody takes yet
  std::vector<std::uint32_t> counting;   // arcs whose guards read how full a place is
  std::string doomed;                    // what fails when it is looked at, at `start`
  InstantId start{};
  std::vector<std::uint64_t> need, take;
  std::vector<InstantId> ready_at;
  std::vector<Timing::Arc> other;
  // Multisets of which a token that is not known yet may be earlier than those chosen.
  std::vector<std::pair<std::uint32_t, InstantId>> supplies;
  std::vector<std::vector<std::size_t>> chosen;  // per arc: which tokens of a multiset
};

struct TransitionState {
  std::int64_t servers = 0;  // 0: unbounded
  std::int64_t period = 0, phase = 0;
  Time least_delay = 0;
  bool in_order = false;
  bool local = false;
  bool inhibits = false;
  std::vector<bool> reads_head;       // per input arc: its weight or threshold reads the head
  std::vector<std::uint32_t> counts;  // places of which it reads how full they are
  std::uint64_t started = 0;
  InstantId last_start{};
  ExprId last_interval{};
  bool has_interval = false;
  std::vector<InstantId> commits;
  std::map<std::uint32_t, std::size_t> over;  // inhibiting place -> stays that lie behind
  Candidate candidate;
};

class Run {
 public:
  Run(const Net& declared, const Net& net, InputSpace& space, Oracle& oracle, Totality& total,
      bool exact, std::uint64_t max_firings, Path& path, Differences& differences)
      : declared_(declared),
        net_(net),
        pool_(space.variables.exprs),
        build_(pool_),
        space_(space),
        oracle_(oracle),
        total_(total),
        exact_(exact),
        max_firings_(max_firings),
        path_(path),
        timing_(path.timing),
        differences_(differences),
        zero_(pool_.constant(0)),
        places_(net.places.size()),
        transitions_(net.transitions.size()) {}

  void operator()() {
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

 private:
  // ---- terms ---------------------------------------------------------------------------------

  [[noreturn]] void refuse(const Transition& t, Source source, const std::string& what,
                           const std::string& instead) const {
    const std::string line = where(net_, source);
    throw Error("E-partition", fmt::format("{}: transition {}{}: {}; {}", net_.name, t.name,
                                           line.empty() ? "" : " (" + line + ")", what, instead));
  }

  [[noreturn]] void fail(const std::string& what, Source source) {
    const std::string line = where(net_, source);
    throw Failed{line.empty() ? what : fmt::format("{} ({})", what, line)};
  }

  // A term that can fail is an error for the inputs for which it does.
  ExprId checked(ExprId term, const std::string& what, Source source) {
    if (!total_(term) && oracle_.fails(term)) fail(what + " cannot be computed", source);
    return term;
  }

  std::int64_t concrete(ExprId term) {
    std::int64_t value = 0;
    if (pool_.is_const(term, value)) return value;
    const Range range = total_.range(term);
    return range.lo == range.hi ? range.lo : oracle_.value(term);
  }

  bool decide(ExprId condition) {
    const Range range = total_.range(condition);
    return range.lo == range.hi ? range.lo != 0 : oracle_.holds(condition);
  }

  ExprId of_params(const Formula& formula, const std::string& what,
                   std::optional<std::int64_t> index = {}) {
    Leaves leaves;
    leaves.params = space_.params;
    if (index) leaves.index = pool_.constant(*index);
    const auto term = instantiate(net_.exprs, formula.id, pool_, leaves);
    LPN_ASSERT(term);
    return checked(*term, what, formula.source);
  }

  std::int64_t setting(const Formula& formula, const std::string& what, std::int64_t least) {
    const std::int64_t value = concrete(of_params(formula, what));
    if (value < least)
      fail(fmt::format("{} is {}, less than {}", what, value, least), formula.source);
    return value;
  }

  // A formula of transition `k`, on the tokens that the arcs looked at so far need.
  // `at_instant`: when it is evaluated, for what changes meanwhile.
  ExprId term(std::uint32_t k, const Formula& formula, const char* what,
              std::optional<InstantId> at_instant = {}, std::optional<std::int64_t> index = {}) {
    const Transition& t = net_.transitions[k];
    const Candidate& c = transitions_[k].candidate;
    Leaves leaves;
    leaves.params = space_.params;
    leaves.token = [&](std::uint32_t arc, std::uint32_t field,
                       std::int64_t which) -> std::optional<ExprId> {
      const PlaceState& place = places_[static_cast<std::size_t>(t.inputs[arc].place)];
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
        return std::optional<ExprId>(
            pool_.constant(tokens_at(at(t.inputs[arc].place), *at_instant)));
      };
      leaves.free = [&](std::uint32_t arc) -> std::optional<ExprId> {
        const PlaceState& place = at(t.inputs[arc].place);
        // Others may lock tokens between two groups.
        if (place.takers.size() > 1 || (place.takers.size() == 1 && place.takers[0] != k))
          return {};
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

  // Of a counted place: the tokens in it, locked ones included, and those ever put into it.
  std::int64_t tokens_at(const PlaceState& place, InstantId instant) {
    std::int64_t tokens = place.at_first;
    for (const Change& change : place.changes) {
      if (visible(change.at, instant)) tokens += change.tokens;
    }
    return tokens;
  }
  std::int64_t arrived_at(const PlaceState& place, InstantId instant) {
    std::int64_t tokens = place.at_first;
    for (const Change& change : place.changes) {
      if (change.tokens > 0 && visible(change.at, instant)) tokens += change.tokens;
    }
    return tokens;
  }

  // ---- instants ------------------------------------------------------------------------------

  InstantId add(Timing::Node node) { return noted(timing_.add(std::move(node))); }

  InstantId noted(InstantId id) {
    if (differences_.latest(id) == kForever) {
      throw Error("E-partition", net_.name +
                                     ": a time may not fit in 64 bits; narrow the ranges of "
                                     "what delays are made of");
    }
    oracle_.added(id);
    return id;
  }

  InstantId latest(std::vector<Timing::Arc> after) {
    const std::size_t before = timing_.size();
    const InstantId id = timing_.latest(std::move(after), zero_);
    return timing_.size() == before ? id : noted(id);
  }

  bool surely_before(InstantId a, InstantId b) { return differences_.upper(a, b) <= -1; }
  bool surely_not_after(InstantId a, InstantId b) { return differences_.upper(a, b) <= 0; }

  bool holds(InstantId before, InstantId after, bool strict) {
    if (differences_.upper(before, after) <= (strict ? -1 : 0)) return true;
    if (differences_.upper(after, before) <= (strict ? 0 : -1)) return false;
    const auto key = std::make_tuple(before, after, strict);
    if (const auto it = decided_.find(key); it != decided_.end()) return it->second;
    const bool result = oracle_.holds(Order{before, after, strict});
    decided_[key] = result;
    if (result)
      differences_.learn(before, after, strict ? 1 : 0);
    else
      differences_.learn(after, before, strict ? 0 : 1);
    return result;
  }

  // The group in which an instant's event happens, when that does not depend on times: 0 after a
  // delay, one more than the start's without.
  std::optional<std::int64_t> known_group(InstantId v) {
    const auto [it, fresh] = groups_.try_emplace(v);
    if (!fresh) return it->second;
    std::optional<std::int64_t> result;
    if (v == kTimeZero) {
      result = 0;
    } else if (!fuzzy_.count(v)) {
      const Timing::Node& node = timing_[v];
      const bool commit = commits_.count(v) != 0;
      bool first = true;
      for (std::size_t k = 0; k < node.after.size(); ++k) {
        if (node.kind == Timing::Kind::kGate && k == 1) continue;
        const std::optional<std::int64_t> g = contribution(v, k, commit);
        if (!g || (!first && g != result)) {
          result.reset();
          break;
        }
        if (node.kind == Timing::Kind::kEdge && *g != 0) break;  // moved or not
        result = g;
        first = false;
      }
    }
    groups_[v] = result;
    return result;
  }

  std::optional<std::int64_t> contribution(InstantId v, std::size_t k, bool commit) {
    const Timing::Arc& arc = timing_[v].after[k];
    const Range delay = total_.range(arc.delay);
    if (delay.lo > 0) return 0;
    if (commit && k > 0) return 0;  // `ordered`: held back to an earlier firing's commit
    const std::optional<std::int64_t> from = known_group(arc.from);
    if (!from) return std::nullopt;
    const std::int64_t here = *from + (commit ? 1 : 0);
    return delay.hi > 0 && here != 0 ? std::nullopt : std::optional(here);
  }

  // Likewise, asking for what is not known.
  std::int64_t group(InstantId v) {
    if (const auto known = known_group(v)) return *known;
    if (const auto it = asked_groups_.find(v); it != asked_groups_.end()) return it->second;
    if (fuzzy_.count(v) || timing_[v].kind == Timing::Kind::kGate) throw NeedsGroups{};
    std::int64_t result = 0;
    const bool commit = commits_.count(v) != 0;
    for (std::size_t k = 0; k < timing_[v].after.size(); ++k) {
      const Timing::Arc arc = timing_[v].after[k];
      if (commit && k > 0) continue;
      if (!holds(v, arc.from, false)) continue;  // later than this one: not what it waited for
      if (!decide(build_.eq(arc.delay, zero_))) continue;
      result = std::max(result, group(arc.from) + (commit ? 1 : 0));
    }
    asked_groups_[v] = result;
    return result;
  }

  // (t_a, group, rank) before (t_b, group, rank); `first`: a has the smaller rank.
  bool precedes(InstantId a, InstantId b, bool first) {
    if (a == b) return first;
    const auto ga = known_group(a), gb = known_group(b);
    if (ga && gb) return holds(a, b, !(*ga < *gb || (*ga == *gb && first)));
    if (holds(a, b, true)) return true;
    if (holds(b, a, true)) return false;
    const std::int64_t x = group(a), y = group(b);
    return x < y || (x == y && first);
  }

  // What happens at `seen` is visible to a start at `from`.
  bool visible(InstantId seen, InstantId from) { return precedes(seen, from, true); }

  // ---- setting up ----------------------------------------------------------------------------

  void set_up() {
    if (net_.done_count) {
      throw Error(
          "E-partition",
          fmt::format("{}: runs that end after a number of done tokens are not covered; leave "
                      "`done_count` out and give the net a workload that ends",
                      net_.name));
    }
    for (std::uint32_t k = 0; k < net_.transitions.size(); ++k) {
      const Transition& t = net_.transitions[k];
      TransitionState& state = transitions_[k];
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
        if (!t.inputs[a].inhibit) continue;
        PlaceState& place = at(t.inputs[a].place);
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
    for (PlaceState& place : places_) {
      const auto overtakes = [&](std::uint32_t k) { return !transitions_[k].in_order; };
      place.merged = place.producers.size() > 1 ||
                     std::any_of(place.producers.begin(), place.producers.end(), overtakes);
    }
    for (std::size_t p = 0; p < places_.size(); ++p) {
      PlaceState& place = places_[p];
      place.multiset =
          place.merged && !exact_ && !place.watched && net_[net_.places[p].type].fields.empty();
    }
    for (std::uint32_t k = 0; k < net_.transitions.size(); ++k) {
      TransitionState& state = transitions_[k];
      const Transition& t = net_.transitions[k];
      state.local = !state.inhibits && state.counts.empty() &&
                    (state.servers <= 1 || state.in_order) &&
                    std::all_of(t.inputs.begin(), t.inputs.end(), [&](const InputArc& arc) {
                      const PlaceState& place = at(arc.place);
                      return !place.merged && place.takers.size() + place.readers.size() <= 1;
                    });
    }
    fill();
    for (std::uint32_t k = 0; k < transitions_.size(); ++k) dirty_.insert(k);
  }

  void find_users() {
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

  // Input arcs whose place's tokens some formula counts.
  std::set<std::uint32_t> counted_arcs(const Transition& t) const {
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

  void fill() {
    for (std::size_t p = 0; p < net_.places.size(); ++p) {
      const Place& declared = net_.places[p];
      const auto& fields = net_[declared.type].fields;
      for (const Initial& initial : declared.initial) {
        const std::int64_t count =
            setting(initial.count, declared.name + ": number of initial tokens", 0);
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
      const std::size_t count =
          tokens.count ? static_cast<std::size_t>(concrete(*tokens.count)) : tokens.rows.size();
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
      const std::int64_t capacity = setting(*full.capacity, full.name + ": capacity", 0);
      const auto used = static_cast<std::int64_t>(at(*net_.places[p].credit_of).tokens.size());
      if (used > capacity) {
        fail(fmt::format("{} starts with {} tokens and has room for {}", full.name, used, capacity),
             full.source);
      }
      for (std::int64_t i = used; i < capacity; ++i) put(p, {});
    }
  }

  ExprId in_range(ExprId value, const Field& field, const std::string& owner, Source source) {
    if (!field.range) return value;
    const Range range = total_.range(value);
    if (range.lo >= field.range->lo && range.hi <= field.range->hi) return value;
    const ExprId inside = build_.logical_and(build_.le(pool_.constant(field.range->lo), value),
                                             build_.le(value, pool_.constant(field.range->hi)));
    if (!decide(inside)) {
      fail(fmt::format("{}: property {} is outside {}..{}", owner, field.name, field.range->lo,
                       field.range->hi),
           source);
    }
    return value;
  }

  PlaceState& at(PlaceId p) { return places_[static_cast<std::size_t>(p)]; }

  void put(std::size_t p, SymbolicToken token) {
    PlaceState& place = places_[p];
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

  void touch(const PlaceState& place) {
    for (const auto* users : {&place.takers, &place.readers, &place.watchers, &place.counters}) {
      for (const std::uint32_t k : *users) dirty_.insert(k);
    }
  }

  // Inserts what is new where it belongs by the instants of commit.
  void put_in_order(PlaceState& place) {
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

  bool earlier(const SymbolicToken& a, const SymbolicToken& b) {
    if (a.initial || b.initial) return a.initial && !b.initial;
    if (a.transition == b.transition && a.firing == b.firing) return false;  // stays behind
    const bool first = std::tie(a.transition, a.firing) < std::tie(b.transition, b.firing);
    if (a.transition == b.transition && transitions_[a.transition].in_order) return first;
    return precedes(a.at, b.at, first);
  }

  // ---- readiness -----------------------------------------------------------------------------

  // The arcs in declared order, up to the first that fails.
  bool look(std::uint32_t k, const Transition& t, Candidate& c) {
    for (std::uint32_t a = 0; a < t.inputs.size(); ++a) {
      const InputArc& arc = t.inputs[a];
      PlaceState& place = at(arc.place);
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
      const std::int64_t weight = concrete(weighs);
      std::int64_t threshold = weight;
      if (arc.threshold) threshold = concrete(term(k, *arc.threshold, "threshold"));
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
        if (!Totality(net_, &t)(arc.guard->id)) {
          refuse(t, arc.guard->source, "its guard counts tokens and may fail",
                 "keep to counts and properties with declared ranges");
        }
        c.counting.push_back(a);
      } else if (arc.guard && !decide(term(k, *arc.guard, "guard"))) {
        c.refused = a;
        return false;
      }
    }
    return true;
  }

  bool counts(const Formula& formula) const {
    const Reads reads = net_.exprs.reads(formula.id);
    return !reads.occupancy.empty() || !reads.free.empty();
  }

  // The first instant from c.start on at which the guards that count tokens hold; false: none, as
  // far as is known.
  bool wait_for_counts(std::uint32_t k, const Transition& t, const TransitionState& state,
                       Candidate& c) {
    if (state.inhibits || state.period > 1) {
      refuse(t, t.source, "its guard counts tokens, and it is inhibited or has a clock",
             "write the limit as a capacity, or as credits that are taken and given back");
    }
    for (;;) {
      bool open = true;
      for (const std::uint32_t a : c.counting) {
        open = open && decide(term(k, *t.inputs[a].guard, "guard", c.start));
      }
      if (open) return true;
      std::optional<InstantId> next;
      for (const std::uint32_t p : state.counts) {
        for (const Change& change : places_[p].changes) {
          if (visible(change.at, c.start)) continue;
          if (!next || precedes(change.at, *next, false)) next = change.at;
        }
      }
      if (!next) return false;
      c.start = *next;
    }
  }

  void consider(std::uint32_t k) {
    const Transition& t = net_.transitions[k];
    TransitionState& state = transitions_[k];
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
      const PlaceState& place = at(t.inputs[a].place);
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
    c.start = latest(std::move(after));
    if (needs_multiset) choose(t, c);
    if (state.inhibits && !pass_gates(t, state, c)) return;
    if (!c.counting.empty() && !doomed && !wait_for_counts(k, t, state, c)) return;
    if (state.period > 1 && !doomed) c.start = edge(state, c.start);
    c.ready = true;
  }

  void wait_for_server(const TransitionState& state, Candidate& c) {
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
      while (k > 0 && precedes(commit, order[k - 1], false)) --k;
      order.insert(order.begin() + static_cast<std::ptrdiff_t>(k), commit);
    }
    c.other.push_back({order[order.size() - servers], zero_});
  }

  // Of tokens that only count, those that are there anyway, then the earliest others.
  void choose(const Transition& t, Candidate& c) {
    const InstantId base = c.start;
    std::vector<Timing::Arc> after{{base, zero_}};
    bool fuzzy = false;
    for (std::uint32_t a = 0; a < t.inputs.size(); ++a) {
      if (t.inputs[a].inhibit || c.need[a] == 0) continue;
      const PlaceState& place = at(t.inputs[a].place);
      if (!place.multiset) continue;
      std::vector<std::size_t> rest;
      auto& chosen = c.chosen[a];
      for (std::size_t k = 0; k < place.tokens.size() && chosen.size() < c.need[a]; ++k) {
        if (surely_not_after(place.tokens[k].at, base)) {
          chosen.push_back(k);
          fuzzy = fuzzy ||
                  (place.tokens[k].at != kTimeZero && !surely_before(place.tokens[k].at, base));
        } else {
          rest.push_back(k);
        }
      }
      const std::size_t more = c.need[a] - chosen.size();
      if (more == 0) continue;
      const auto time = [&](std::size_t k) { return place.tokens[k].at; };
      if (rest.size() > more) {
        for (std::size_t i = 1; i < rest.size(); ++i) {
          for (std::size_t j = i; j > 0 && holds(time(rest[j]), time(rest[j - 1]), true); --j) {
            std::swap(rest[j], rest[j - 1]);
          }
        }
        rest.resize(more);
        after.push_back({time(rest.back()), zero_});
        c.ready_at[a] = time(rest.back());
      } else {
        std::vector<Timing::Arc> all;
        for (const std::size_t k : rest) all.push_back({time(k), zero_});
        c.ready_at[a] = latest(std::move(all));
        after.push_back({c.ready_at[a], zero_});
      }
      fuzzy = true;
      c.supplies.emplace_back(static_cast<std::uint32_t>(t.inputs[a].place), c.ready_at[a]);
      chosen.insert(chosen.end(), rest.begin(), rest.end());
    }
    c.start = latest(std::move(after));
    // Which of several tokens at one instant it waited for decides its group. A start that is the
    // instant of something else keeps what is known of that.
    if (fuzzy) {
      if (c.start == base || commits_.count(c.start)) {
        c.start = add({.kind = Timing::Kind::kMax, .after = {{c.start, zero_}}});
      }
      fuzzy_.insert(c.start);
    }
  }

  InstantId edge(const TransitionState& state, InstantId start) {
    return add({.kind = Timing::Kind::kEdge,
                .after = {{start, zero_}},
                .period = state.period,
                .phase = state.phase});
  }

  // Waits until no inhibiting place has a token. False: one stays for ever, as far as is known.
  bool pass_gates(const Transition& t, TransitionState& state, Candidate& c) {
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
               surely_not_after(*stays[over].until, state.last_start) &&
               sees(*stays[over].until, state.last_start)) {
          ++over;
        }
        for (std::size_t n = over; n < stays.size(); ++n) {
          const Stay& stay = stays[n];
          const InstantId s = c.start;
          if (stay.until && passed.count(*stay.until)) continue;
          if (stay.until && surely_not_after(*stay.until, s) && sees(*stay.until, s)) continue;
          if (surely_before(s, stay.from)) break;  // later ones close later still
          const bool closed = surely_not_after(stay.from, s) && sees(stay.from, s);
          if (!stay.until) {
            if (closed || visible(stay.from, s)) {
              c.inhibited = true;
              return false;
            }
            break;
          }
          const auto gs = known_group(s), gc = known_group(stay.from);
          if (!closed && !exact_ && gates.size() == 1 && gs && gc) {
            const ExprId margin = *gc <= *gs ? zero_ : pool_.constant(1);
            c.start = add({.kind = Timing::Kind::kGate,
                           .after = {{s, zero_}, {stay.from, margin}, {*stay.until, zero_}}});
            continue;
          }
          if (!closed && !visible(stay.from, s)) break;
          passed.insert(*stay.until);
          c.start = latest({{s, zero_}, {*stay.until, zero_}});
          again = gates.size() > 1;
        }
      }
    }
    return true;
  }

  // Given t_event <= t_start: known without asking to be visible to the start.
  bool sees(InstantId event, InstantId start) {
    if (surely_before(event, start)) return true;
    const auto ge = known_group(event), gs = known_group(start);
    return ge && gs && *ge <= *gs;
  }

  // ---- what may start ------------------------------------------------------------------------

  bool step() {
    std::vector<std::uint32_t> contenders;
    while (!dirty_.empty()) {
      const std::uint32_t k = *dirty_.begin();
      dirty_.erase(dirty_.begin());
      transitions_[k].candidate.known = false;
      if (!transitions_[k].local) continue;
      consider(k);
      if (transitions_[k].candidate.ready) {
        fire(k);
        return true;
      }
    }
    for (std::uint32_t k = 0; k < transitions_.size(); ++k) {
      TransitionState& state = transitions_[k];
      if (state.local) continue;
      if (!state.candidate.known) consider(k);
      if (state.candidate.ready) contenders.push_back(k);
    }
    if (contenders.empty()) return false;
    for (const std::uint32_t k : contenders) {
      if (contenders.size() == 1 || settled(k, contenders)) {
        fire(k);
        return true;
      }
    }
    // The first of all: nothing can come before it.
    std::vector<InstantId> starts;
    for (const std::uint32_t k : contenders) starts.push_back(start(k));
    std::uint32_t first = contenders.at(oracle_.probably_first(starts));
    for (bool again = true; again;) {
      again = false;
      for (const std::uint32_t k : contenders) {
        if (k == first || precedes(start(first), start(k), first < k)) continue;
        first = k;
        again = true;
        break;
      }
    }
    fire(first);
    return true;
  }

  InstantId start(std::uint32_t k) const { return transitions_[k].candidate.start; }

  // Per transition, how long before `instant` it may start, at most, if `without` does not; kNever:
  // surely not until then. A transition starts after all it lacks has come.
  std::vector<Time> lead(InstantId instant, std::uint32_t without,
                         const std::vector<std::uint32_t>& contenders) {
    std::vector<Time> lead(transitions_.size(), kNever);
    for (const std::uint32_t k : contenders) {
      if (k != without) lead[k] = differences_.upper(instant, start(k));
    }
    const auto less = [](Time x, Time delay) {
      if (x == kForever || x == kNever) return x;
      Time before = 0;
      return __builtin_sub_overflow(x, delay, &before) ? kNever : before;
    };
    const auto arrival = [&](std::uint32_t p) {
      Time best = kNever;
      for (const std::uint32_t y : places_[p].producers) {
        best = std::max(best, less(lead[y], transitions_[y].least_delay));
      }
      return best;
    };
    // Grows to the least fixpoint; what lies before everything that follows stays kNever.
    for (bool again = true; again;) {
      again = false;
      for (std::uint32_t k = 0; k < transitions_.size(); ++k) {
        if (k == without) continue;
        const Candidate& c = transitions_[k].candidate;
        Time reach = kForever;
        if (c.ready) {
          // Earlier than it seems, by tokens that go in front of those known, or other counts.
          reach = kNever;
          for (const InputArc& arc : net_.transitions[k].inputs) {
            const auto p = static_cast<std::uint32_t>(arc.place);
            if (places_[p].merged) reach = std::max(reach, arrival(p));
          }
          for (const std::uint32_t p : transitions_[k].counts) {
            reach = std::max(reach, arrival(p));
            for (const std::uint32_t y : places_[p].takers) {
              if (y != k) reach = std::max(reach, less(lead[y], transitions_[y].least_delay));
            }
          }
        } else if (!c.lacking.empty() && (c.firm || transitions_[k].local)) {
          for (const std::uint32_t p : c.lacking) reach = std::min(reach, arrival(p));
        } else {
          // A guard, an inhibitor, a weight: whatever changes one of its places.
          reach = kNever;
          for (const InputArc& arc : net_.transitions[k].inputs) {
            const auto p = static_cast<std::uint32_t>(arc.place);
            reach = std::max(reach, arrival(p));
            for (const std::uint32_t y : places_[p].takers) {
              if (y != k) reach = std::max(reach, lead[y]);
            }
          }
        }
        if (reach > lead[k] && reach >= 0) {
          lead[k] = reach;
          again = true;
        }
      }
    }
    return lead;
  }

  // Nothing that follows from the other contenders can change this start, or should have come
  // first.
  bool settled(std::uint32_t k, const std::vector<std::uint32_t>& contenders) {
    const Candidate& c = transitions_[k].candidate;
    for (const auto& [p, instant] : c.supplies) {
      const std::vector<Time> earlier = lead(instant, k, contenders);
      for (const std::uint32_t y : places_[p].producers) {
        if (y != k && earlier[y] != kNever && earlier[y] > transitions_[y].least_delay)
          return false;
      }
    }
    const std::vector<Time> earlier = lead(c.start, k, contenders);
    const Transition& t = net_.transitions[k];
    for (const std::uint32_t p : transitions_[k].counts) {
      for (const auto* users : {&places_[p].producers, &places_[p].takers}) {
        for (const std::uint32_t y : *users) {
          if (y != k && earlier[y] != kNever && earlier[y] >= transitions_[y].least_delay)
            return false;
        }
      }
    }
    for (std::uint32_t a = 0; a < t.inputs.size(); ++a) {
      const auto p = static_cast<std::uint32_t>(t.inputs[a].place);
      const PlaceState& place = places_[p];
      if (t.inputs[a].inhibit || (place.merged && !place.multiset)) {
        for (const std::uint32_t y : place.producers) {
          if (y != k && earlier[y] != kNever && earlier[y] >= transitions_[y].least_delay) {
            return false;
          }
        }
      }
      if (t.inputs[a].inhibit) {
        for (const std::uint32_t y : place.takers) {
          if (y != k && earlier[y] >= 0) return false;
        }
        continue;
      }
      for (const auto* users : {&place.takers, &place.readers}) {
        for (const std::uint32_t y : *users) {
          if (y == k || earlier[y] < 0 || harmless(y, t)) continue;
          return false;
        }
      }
    }
    return true;
  }

  // Its guard refuses the heads, and only `t` could change them before it.
  bool harmless(std::uint32_t rival, const Transition& t) {
    const Candidate& c = transitions_[rival].candidate;
    if (!c.known || !c.refused) return false;
    const Transition& r = net_.transitions[rival];
    for (std::uint32_t a = 0; a <= *c.refused; ++a) {
      const PlaceId p = r.inputs[a].place;
      const PlaceState& place = at(p);
      const bool shared = std::any_of(t.inputs.begin(), t.inputs.end(), [&](const InputArc& arc) {
        return !arc.inhibit && arc.place == p;
      });
      if (!shared || place.merged || r.inputs[a].inhibit) return false;
    }
    return true;
  }

  // ---- firing --------------------------------------------------------------------------------

  void fire(std::uint32_t k) {
    const Transition& t = net_.transitions[k];
    TransitionState& state = transitions_[k];
    Candidate& c = state.candidate;
    if (!c.doomed.empty()) throw Failed{c.doomed};
    if (path_.firings.size() >= max_firings_) {
      throw Error("E-partition",
                  fmt::format("{}: more than {} firings for one input", net_.name, max_firings_));
    }
    const ExprId scale = pool_.constant(std::max<std::int64_t>(1, state.period));
    const ExprId delay = term(k, t.delay, "delay", c.start);
    if (total_.range(delay).lo < 0 && !decide(build_.le(zero_, delay))) {
      fail(t.name + ": its delay is negative", t.delay.source);
    }
    bool spaced = false;
    if (t.interval) {
      const ExprId interval = term(k, *t.interval, "interval", c.start);
      if (!decide(build_.le(zero_, interval))) {
        fail(t.name + ": its interval is negative", t.interval->source);
      }
      spaced = decide(build_.lt(zero_, interval));
      // An interval of 0 leaves the one before as it was, which has passed.
      state.has_interval = spaced;
      if (spaced) {
        state.last_interval =
            checked(build_.mul(interval, scale), t.name + ": interval", t.interval->source);
      }
    }
    std::uint64_t taken = 0;
    for (const std::uint64_t n : c.take) taken += n;
    if (taken == 0 && state.servers == 0 && !spaced) {
      fail(t.name + ": a firing takes no token and has neither servers nor interval", t.source);
    }
    std::vector<std::vector<SymbolicToken>> tokens(t.outputs.size());
    for (std::uint32_t o = 0; o < t.outputs.size(); ++o) {
      const OutputArc& arc = t.outputs[o];
      const auto& fields = net_.type_of(arc.place).fields;
      for (const Emission& emission : arc.emissions) {
        const std::int64_t count = concrete(term(k, emission.count, "count", c.start));
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
    const ExprId ticks = checked(build_.mul(delay, scale), t.name + ": delay", t.delay.source);
    // The start may be somebody's commit; both must be told apart by their groups.
    Timing::Node node{.kind = Timing::Kind::kMax, .after = {{c.start, ticks}}};
    if (t.ordered && !state.commits.empty()) node.after.push_back({state.commits.back(), zero_});
    const InstantId commit = add(std::move(node));
    commits_.insert(commit);

    TimedFiring firing;
    firing.transition = static_cast<TransitionId>(k);
    firing.number = state.started++;
    firing.start = c.start;
    firing.commit = commit;
    firing.ready = c.ready_at;
    firing.other = c.other;
    firing.taken = c.take;
    for (const auto& some : tokens) firing.produced.push_back(some.size());
    state.last_start = c.start;
    state.commits.push_back(commit);

    for (std::uint32_t a = 0; a < t.inputs.size(); ++a) {
      if (c.take[a] == 0) continue;
      PlaceState& place = at(t.inputs[a].place);
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

  static void take(PlaceState& place, std::vector<std::size_t> chosen, std::uint64_t count,
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

  // ---- the end -------------------------------------------------------------------------------

  void finish() {
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
    if (!any_done || !last.empty()) path_.latency = latest(std::move(last));
  }

  std::string blockers() {
    std::string text;
    for (std::uint32_t k = 0; k < transitions_.size(); ++k) {
      const Candidate& c = transitions_[k].candidate;
      const Transition& t = net_.transitions[k];
      const bool has_token =
          std::any_of(t.inputs.begin(), t.inputs.end(), [&](const InputArc& arc) {
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

  const Net& declared_;
  const Net& net_;
  ExprPool& pool_;
  ExprBuilder build_;
  InputSpace& space_;
  Oracle& oracle_;
  Totality& total_;
  bool exact_;
  std::uint64_t max_firings_;
  Path& path_;
  Timing& timing_;
  Differences& differences_;
  ExprId zero_;
  std::vector<PlaceState> places_;
  std::vector<TransitionState> transitions_;
  std::set<std::uint32_t> dirty_;
  std::map<std::tuple<InstantId, InstantId, bool>, bool> decided_;
  std::map<InstantId, std::optional<std::int64_t>> groups_;
  std::map<InstantId, std::int64_t> asked_groups_;
  std::set<InstantId> commits_;  // instants that are commits; the others are starts
  std::set<InstantId> fuzzy_;    // starts whose group depends on which of several tokens came first
  std::set<std::size_t> counted_;
};

}  // namespace

void execute(const Net& declared, const Net& lowered, InputSpace& space, Oracle& oracle,
             Totality& total, bool exact, std::uint64_t max_firings, Path& path,
             Differences& differences) {
  Run(declared, lowered, space, oracle, total, exact, max_firings, path, differences)();
}

}  // namespace lpn
