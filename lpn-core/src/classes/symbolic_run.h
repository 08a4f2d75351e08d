// One path of symbolic execution: what happens for the inputs on which an oracle's answers agree.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "classes/instants.h"
#include "classes/oracle.h"
#include "classes/symbolic_state.h"
#include "lpn/classes/differences.h"
#include "lpn/classes/timing.h"
#include "lpn/expr/build.h"
#include "lpn/expr/total.h"
#include "lpn/net/net.h"

namespace lpn {

class SymbolicRun {
 public:
  // `net` is `declared` after lower(); the terms of `space` grow. `exact`: keep tokens without
  // properties in their order too, and split at inhibited starts, so that groups are known.
  SymbolicRun(const Net& declared, const Net& net, InputSpace& space, Oracle& oracle,
              Totality& total, bool exact, std::uint64_t max_firings, Path& path,
              Differences& differences)
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
        values_(pool_, total, oracle),
        instants_(net.name, path.timing, differences, oracle, pool_, total),
        differences_(differences),
        zero_(pool_.constant(0)),
        places_(net.places.size()),
        transitions_(net.transitions.size()) {}

  // Fills the path. Throws NeedsGroups when `exact` would have been necessary; Error "E-partition"
  // for what cannot be executed, or when there are more than `max_firings`.
  void operator()();

 private:
  // ---- terms ---------------------------------------------------------------------------------

  [[noreturn]] void refuse(const Transition& t, Source source, const std::string& what,
                           const std::string& instead) const;

  [[noreturn]] void fail(const std::string& what, Source source);

  // A term that can fail is an error for the inputs for which it does.
  ExprId checked(ExprId term, const std::string& what, Source source);

  ExprId of_params(const Formula& formula, const std::string& what,
                   std::optional<std::int64_t> index = {});

  std::int64_t setting(const Formula& formula, const std::string& what, std::int64_t least);
  std::int64_t tokens_of(const Formula& formula, const Place& place, const char* what);

  // A formula of transition `k`, on the tokens that the arcs looked at so far need.
  // `at_instant`: when it is evaluated, for what changes meanwhile.
  ExprId term(std::uint32_t k, const Formula& formula, const char* what,
              std::optional<InstantId> at_instant = {}, std::optional<std::int64_t> index = {});

  // Of a counted place: the tokens in it, locked ones included, and those ever put into it.
  std::int64_t tokens_at(const SymbolicPlace& place, InstantId instant);
  std::int64_t arrived_at(const SymbolicPlace& place, InstantId instant);

  // ---- setting up ----------------------------------------------------------------------------

  void set_up();

  void find_users();

  // Input arcs whose place's tokens some formula counts.
  std::set<std::uint32_t> counted_arcs(const Transition& t) const;

  void fill();
  std::size_t count_of(const InputSpace::Tokens& tokens);

  ExprId in_range(ExprId value, const Field& field, const std::string& owner, Source source);

  SymbolicPlace& at(PlaceId p) { return places_[static_cast<std::size_t>(p)]; }

  void put(std::size_t p, SymbolicToken token);

  void touch(const SymbolicPlace& place);

  // Inserts what is new where it belongs by the instants of commit.
  void put_in_order(SymbolicPlace& place);

  bool earlier(const SymbolicToken& a, const SymbolicToken& b);

  // ---- readiness -----------------------------------------------------------------------------

  // The arcs in declared order, up to the first that fails.
  bool look(std::uint32_t k, const Transition& t, Candidate& c);

  bool counts(const Formula& formula) const;

  // The first instant from c.start on at which the guards that count tokens hold; false: none, as
  // far as is known.
  bool wait_for_counts(std::uint32_t k, const Transition& t, const SymbolicTransition& state,
                       Candidate& c);

  void consider(std::uint32_t k);

  void wait_for_server(const SymbolicTransition& state, Candidate& c);

  // Of tokens that only count, those that are there anyway, then the earliest others.
  void choose(const Transition& t, Candidate& c);

  InstantId edge(const SymbolicTransition& state, InstantId start);

  // Waits until no inhibiting place has a token. False: one stays for ever, as far as is known.
  bool pass_gates(const Transition& t, SymbolicTransition& state, Candidate& c);

  // ---- what may start ------------------------------------------------------------------------

  bool step();

  InstantId start(std::uint32_t k) const { return transitions_[k].candidate.start; }

  // Per transition, how long before `instant` it may start, at most, if `without` does not; kNever:
  // surely not until then. A transition starts after all it lacks has come.
  std::vector<Time> lead(InstantId instant, std::uint32_t without,
                         const std::vector<std::uint32_t>& contenders);

  // Nothing that follows from the other contenders can change this start, or should have come
  // first.
  bool settled(std::uint32_t k, const std::vector<std::uint32_t>& contenders);

  // Its guard refuses the heads, and only `t` could change them before it.
  bool harmless(std::uint32_t rival, const Transition& t);

  // ---- firing --------------------------------------------------------------------------------

  void fire(std::uint32_t k);

  // Evaluates the interval, from which the next start follows; false: there is none, or 0.
  bool space_starts(std::uint32_t k, ExprId scale);

  // The tokens that it puts, per output arc.
  std::vector<std::vector<SymbolicToken>> emit(std::uint32_t k);

  static void take(SymbolicPlace& place, std::vector<std::size_t> chosen, std::uint64_t count,
                   InstantId commit);

  // ---- the end -------------------------------------------------------------------------------

  void finish();

  std::string blockers();

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
  Values values_;
  Instants instants_;
  Differences& differences_;
  ExprId zero_;
  std::vector<SymbolicPlace> places_;
  std::vector<SymbolicTransition> transitions_;
  std::set<std::uint32_t> dirty_;
  std::set<std::size_t> counted_;
};

}  // namespace lpn
