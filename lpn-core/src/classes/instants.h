// The instants of a path as they are made: which of two comes first, in time and within it.
//
// At one instant, what happens in an earlier group comes before (docs/semantics.md). Groups are
// known as long as they do not depend on times; only where it matters the oracle is asked.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "classes/oracle.h"
#include "lpn/classes/differences.h"
#include "lpn/classes/timing.h"
#include "lpn/expr/total.h"

namespace lpn {

// What is true on the path, and how much: by ranges, else as the oracle says.
class Values {
 public:
  Values(const ExprPool& pool, Totality& total, Oracle& oracle)
      : pool_(pool), total_(total), oracle_(oracle) {}
  bool decide(ExprId condition);
  std::int64_t concrete(ExprId term);

 private:
  const ExprPool& pool_;
  Totality& total_;
  Oracle& oracle_;
};

class Instants {
 public:
  // Borrows all; `name` is that of the net.
  Instants(const std::string& name, Timing& timing, Differences& differences, Oracle& oracle,
           ExprPool& pool, Totality& total)
      : name_(name),
        timing_(timing),
        differences_(differences),
        oracle_(oracle),
        pool_(pool),
        total_(total),
        values_(pool, total, oracle),
        zero_(pool.constant(0)) {}

  InstantId add(Timing::Node node) { return noted(timing_.add(std::move(node))); }

  InstantId latest(std::vector<Timing::Arc> after);

  // What is due so long after an instant, whether something waits for it or not. Throws Error
  // "E-partition" when that may be behind the last instant.
  void require_due(InstantId from, ExprId delay);

  bool surely_before(InstantId a, InstantId b) { return differences_.upper(a, b) <= -1; }
  bool surely_not_after(InstantId a, InstantId b) { return differences_.upper(a, b) <= 0; }

  bool holds(InstantId before, InstantId after, bool strict);

  // The group in which an instant's event happens, when that does not depend on times: 0 after a
  // delay, one more than the start's without.
  std::optional<std::int64_t> known_group(InstantId v);

  // (t_a, group, rank) before (t_b, group, rank); `first`: a has the smaller rank.
  bool precedes(InstantId a, InstantId b, bool first);

  // What happens at `seen` is visible to a start at `from`.
  bool visible(InstantId seen, InstantId from) { return precedes(seen, from, true); }

  // Given t_event <= t_start: known without asking to be visible to the start.
  bool sees(InstantId event, InstantId start);

  // It is a commit; the others are starts.
  void note_commit(InstantId v) { commits_.insert(v); }
  bool is_commit(InstantId v) const { return commits_.count(v) != 0; }
  // It is a start whose group depends on which of several tokens came first.
  void note_fuzzy(InstantId v) { fuzzy_.insert(v); }

 private:
  InstantId noted(InstantId id);
  [[noreturn]] void too_late() const;

  std::optional<std::int64_t> contribution(InstantId v, std::size_t k, bool commit);

  // Likewise, asking for what is not known.
  std::int64_t group(InstantId v);

  const std::string& name_;
  Timing& timing_;
  Differences& differences_;
  Oracle& oracle_;
  ExprPool& pool_;
  Totality& total_;
  Values values_;
  ExprId zero_;
  std::map<std::tuple<InstantId, InstantId, bool>, bool> decided_;
  std::map<InstantId, std::optional<std::int64_t>> groups_;
  std::map<InstantId, std::int64_t> asked_groups_;
  std::set<InstantId> commits_, fuzzy_;
};

}  // namespace lpn
