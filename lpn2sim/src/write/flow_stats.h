// Statistics of order-free runs: code for LPNRT_STATS woven into its actors.
//
// Nothing asks at an instant why a transition waits: between two starts it is all there in the
// maximum that a start is. Up to the arrival of the first arc's tokens it waited for those, from
// there to the second arc's for these, then for its server, then for its interval or clock. The
// mean of a place needs sums of commit times only. For the peak, whoever takes a token that might
// have found more in its place than ever before counts who had left by then (lpnrt/observe.h).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lpn/net/net.h"
#include "plan/plan.h"
#include "write/link.h"

namespace lpn::sim {

class FlowStats {
 public:
  // `declared`: how many places are not credits.
  // `apart`: actors may share their code, so what they call is called by number.
  FlowStats(const Net& net, std::size_t declared, const Plan& plan, bool apart = false);

  // False: statistics need the event-driven engine, and all that follows is empty.
  bool possible() const { return possible_; }

  std::string members(Members& members) const;
  std::string begin() const;

  // While `start` grows to the start of a firing: before all arcs, after an arc, after the server,
  // after the interval.
  std::string before_arcs(std::uint32_t k) const;
  std::string after_arc(std::uint32_t k, std::uint32_t arc) const;
  std::string after_server(std::uint32_t k) const;
  std::string after_interval(std::uint32_t k) const;

  // A firing with `start` and `commit`, before its tokens leave their places.
  using Weight = std::function<std::string(std::uint32_t arc)>;
  using Count = std::function<std::string(std::size_t output, std::size_t emission)>;
  std::string fired(std::uint32_t k, const Weight& weight, const Count& count) const;

  // At the end. `chain` writes the arcs of a transition in order: `failed(reason)` where one is not
  // satisfied, `passed(arc, instant)` after one that is ("": its tokens were there from the start).
  using Failed = std::function<std::string(const char* reason)>;
  using Passed = std::function<std::string(std::uint32_t arc, const std::string& instant)>;
  using Chain =
      std::function<std::string(std::uint32_t k, const Failed& failed, const Passed& passed)>;
  std::string settle(const Chain& chain) const;

  // What static parts (part_stats.h) have in common with this.
  const char* reason(std::uint32_t k, std::uint32_t arc) const;
  bool one_at_a_time(std::uint32_t k) const;
  bool metered(std::size_t p) const;  // whose peak has to be found out
  // Of a commit that releases tokens of `p` and one that appends to it at the same instant, whether
  // the release comes first.
  bool leaves_first(std::size_t p) const;

 private:
  struct Arc {
    std::size_t place = 0;
    std::int64_t weight = -1;  // constant, else -1
    std::int64_t need = -1;    // constant, else -1
  };
  Arc arc(std::uint32_t k, std::uint32_t i) const;
  bool is_credit(std::uint32_t k, std::uint32_t i) const;
  bool several(std::uint32_t k) const;
  std::uint32_t route_arc(std::uint32_t k) const;
  std::vector<std::uint32_t> takers(std::size_t p) const;
  std::vector<std::uint32_t> producers(std::size_t p) const;
  std::int64_t weight_from(std::uint32_t k, std::size_t p) const;  // 0: takes nothing; -1: varies
  std::vector<std::size_t> released_by(std::uint32_t k) const;
  std::string ring(std::uint32_t k, std::size_t p) const;
  // Not `known` when it depends on which transitions they are of.
  bool leaves_first(std::size_t p, bool& known) const;
  bool find_possible() const;
  // A function of a place or transition by its name, called with that, up to the other arguments.
  std::string called(const char* function, char kind, std::size_t number) const;
  std::string by_number(const char* function, const char* argument,
                        const std::vector<std::size_t>& numbers) const;

  const Net& net_;
  std::size_t declared_;
  const Plan& plan_;
  bool apart_, possible_;
};

}  // namespace lpn::sim
