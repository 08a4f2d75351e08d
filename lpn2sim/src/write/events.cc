// One struct per net: counters and rings for places, the cheapest sufficient record for firings.
//
// What is decided here, per transition:
//  - how its firings in flight are kept (Keep): a count, one record, a FIFO, or a pool when commits
//    may overtake one another;
//  - what of a firing is known only at its start and must be remembered until the commit: counts
//    and properties that are not constants;
//  - whom a start or a commit can make ready: only those are looked at again. A start takes
//    tokens, so it concerns those who read the head or the free count of the same place; a commit
//    concerns consumers of what it emits, readers of occupancies it lowers, and itself when its
//    servers are finite.
// A place that many transitions compete for keeps a set of those that lack only its tokens; new
// tokens have only the least of them looked at, and the next one when tokens are left after that.
// Overflow checks that the declared ranges make needless (expr/range.h) are left out.
//
// In nets whose transitions have functions of their own, equal ones share one (equal.h).
//
// The writer stands in layers: facts, names, then members, wakes and causes, starts, commits,
// access.

#include "write/events.h"

#include <algorithm>

#include "write/equal.h"
#include "write/event_access.h"
#include "write/event_causes.h"
#include "write/event_commits.h"
#include "write/event_members.h"
#include "write/event_names.h"
#include "write/event_starts.h"
#include "write/event_wakes.h"
#include "write/link.h"
#include "write/writer.h"

namespace lpn::sim {

std::string generate_events(const EventFacts& facts, Members& where) {
  const std::size_t places = facts.net.places.size(), transitions = facts.net.transitions.size();
  const EventNames names(facts);
  Writer out;
  EventMembers members(names, where, out);
  EventWakes wakes(names, out);
  EventCauses causes(names, out);
  EventStarts starts(names, wakes, causes, out);
  EventCommits commits(names, wakes, out);
  EqualCode equal(where, where.arrays());
  EventAccess access(names, wakes, equal, out);
  out.line("struct Net final : Engine<Net, {}> {{", std::max<std::size_t>(transitions, 1));
  members.constants();
  members.members();
  members.configure();
  std::string text = linked(out.take(), where);
  EqualCode called(where, where.arrays());
  for (std::size_t p = 0; p < places; ++p) {
    wakes.call_function(p);
    called.add("call", p, out.take());
    wakes.route_function(p);
    called.add("route", p, out.take());
  }
  text += called.text();
  where.calls_of('C', called.calls("call"));
  where.calls_of('S', called.calls("route"));
  const auto add = [&](const char* kind, std::size_t k) { equal.add(kind, k, out.take()); };
  for (std::size_t k = 0; k < transitions; ++k) {
    starts.try_function(k);
    add("try", k);
    commits.commit_function(k);
    add("commit", k);
    starts.waiting_function(k);
    add("waiting", k);
    starts.why_function(k);
    add("why", k);
    starts.left_function(k);
    add("left", k);
  }
  for (std::size_t p = 0; p < places; ++p) {
    access.arrive_function(p);
    add("arrive", p);
    if (p >= facts.declared.places.size()) continue;
    access.load_function(p);
    add("load", p);
  }
  text += equal.text();
  access.dispatch();
  causes.collect_function();
  access.access();
  out.line("}};");
  return text + linked(out.take(), where);
}

}  // namespace lpn::sim
