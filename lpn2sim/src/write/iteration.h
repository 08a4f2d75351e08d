// One iteration of a static part, firing by firing, as straight-line code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "lpn/base/wide.h"
#include "lpn/net/bounds.h"
#include "lpn/net/net.h"
#include "lpn/run/run.h"
#include "plan/schedule.h"
#include "write/writer.h"

namespace lpn::sim {

// What the code needs to know of Run.
struct StaticOptions {
  bool packed = false;                  // instants hold groups
  std::vector<std::vector<bool>> live;  // per place and property: kept in its Chan
  // Whether evaluating property f of an emission (transition, output arc, emission, f) may be an
  // error: then what it reads is kept too.
  std::function<bool(std::size_t, std::size_t, std::size_t, std::size_t)> can_fail;
};

// Longer delays are looked for at run time.
inline constexpr std::int64_t kLongDelay = std::int64_t{1} << 31;

// Thrown when a part cannot be written for vectors.
struct NoLanes {
  std::string why;
};

class PartStreams;

// Which properties of a queue's tokens are kept; of servers none.
std::vector<std::uint32_t> kept_fields(const StaticQueue& q, const StaticOptions& options);
// How many servers the producer of the queue has, where constant.
std::optional<std::int64_t> const_servers(const Net& net, const StaticQueue& q);

// For one input or with vectors of many. Names: c<k>_<n> the commit of firing n of
// transition k, h<k>_<n> the commit n firings before the iteration, y<p>_<i>_<f> property f of
// token i of a source, g<q>_<i>_<f> of a queue of fixed length, r<q> the ring of another one.
class Iteration : private Writer {
 public:
  // All must outlive this. body() comes before the rest. Without `streams`: for vectors of many.
  Iteration(const Net& net, const StaticPart& part, const StaticOptions& options,
            const PartStreams* streams);

  std::string body();
  const std::set<std::uint32_t>& params() const;
  // Names of the sources' columns that the body reads, in their order.
  const std::set<std::pair<std::uint32_t, std::uint32_t>>& columns() const;
  bool seen() const;
  // The source whose rows the sink `p` gets, one by one and unchanged.
  std::optional<std::uint32_t> copied_from(std::uint32_t p) const;
  // Most ticks that an iteration may add to the latest instant, and its firings of delay 0.
  Wide growth();
  std::int64_t zero_delays();
  std::int64_t longest(std::uint32_t k, const Formula& f);
  std::int64_t history(std::uint32_t k) const;
  // How many firings of its producer ago the token at `position` was appended.
  static std::int64_t firings_ago(const StaticQueue& q, std::int64_t position);
  std::size_t width(std::uint32_t p) const;

 private:
  struct Produced {
    std::uint32_t transition, firing;
    std::int64_t slot;
  };

  struct Context {
    std::uint32_t transition, firing;
    std::int64_t index;                 // of the token being emitted
    std::vector<std::int64_t> running;  // of the aggregates around
    std::string site;
  };

  Range range(std::uint32_t k, ExprId id);
  bool kept(std::uint32_t p, std::size_t f) const;
  const char* value_type() const;
  const char* instant_type() const;
  static Produced producer_of(const StaticQueue& q, std::int64_t position);
  // The instant of the token that stands at `position` when the iteration begins. Instants of
  // before belong to the firings: all tokens of a firing have the same.
  std::string instant(std::size_t q, std::int64_t position);
  // The commit of `k` so many firings before the iteration.
  std::string earlier(std::uint32_t k, std::int64_t firings) const;
  std::string field(std::uint32_t k, std::uint32_t firing, std::uint32_t arc, std::int64_t which,
                    std::uint32_t f);
  std::string token(std::size_t q, std::int64_t position, std::uint32_t f);
  // Which emission of `arc` makes the token number `slot` of a firing, and its index there.
  struct Emitted {
    std::size_t emission;
    std::int64_t index;
  };
  Emitted emitted(const OutputArc& arc, std::int64_t slot) const;
  // Whether property `f` of that emission's tokens might leave its declared range.
  bool may_leave(std::uint32_t k, const OutputArc& arc, std::size_t emission, std::uint32_t f);
  // Property `f` of the token number `slot` that a firing appends over `output`.
  std::string produced(std::uint32_t k, std::uint32_t firing, std::uint32_t output,
                       std::int64_t slot, std::uint32_t f);
  void fire(std::uint32_t k, std::uint32_t firing);
  std::string latest(const std::string& x, const std::string& y);
  // A variable with that value.
  std::string named(const std::string& text);
  std::string zero() const;
  // start + delay; for an interval, the start's group is dropped and "" means none.
  std::string add_ticks(std::uint32_t k, std::uint32_t firing, const std::string& start,
                        const Formula& f, SiteKind kind, bool delay);
  void outputs(std::uint32_t k, std::uint32_t firing);
  bool may_fail(std::uint32_t k, std::uint32_t output, std::int64_t slot, std::uint32_t f);
  // The end of the iteration: what was new is now old.
  void rotate();
  std::optional<std::int64_t> constant(ExprId id, const Context& c) const;
  std::int64_t needed(std::uint32_t k, std::uint32_t arc) const;
  std::string expr(ExprId id, const Context& c);
  std::string read(const Node& n, const Context& c);
  std::string token_read(const Node& n, const Context& c);
  std::string assumption(const Node& n, const Context& c);
  std::string number(std::int64_t value) const;
  std::string aggregate(const Node& n, const Context& c);
  // Which of several failures comes first does not matter here: the run is made again.
  std::string scalar_operator(const Node& n, const Context& c);
  std::string scalar_lookup(const Node& n, const Context& c);
  // Values are 32-bit two's complement in unsigned elements.
  static void within_lane(Range r);
  std::string extreme(char better, const std::string& x, const std::string& y);
  std::string lane_operator(const Node& n, const Context& c);
  std::string lane_lookup(const Node& n, const Context& c);

  const Net& net_;
  const StaticPart& part_;
  const StaticOptions& options_;
  const PartStreams* streams_;
  bool lanes_;
  std::size_t names_ = 0;
  // Per transition: commits of earlier iterations in use.
  std::map<std::uint32_t, std::int64_t> history_;
  std::map<std::uint32_t, std::size_t> servers_of_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> queue_of_, fed_by_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, const StaticEnd*> source_of_;
  std::map<std::uint32_t, NetBounds> bounds_;
  std::set<std::string> known_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, ExprId, std::int64_t, int, std::uint32_t>,
           std::string>
      values_;
  std::map<std::string, std::size_t> number_;  // of a commit in the order of the sequence
  std::set<std::pair<std::uint32_t, std::uint32_t>> columns_;
  std::set<std::uint32_t> params_;
  std::map<std::uint32_t, std::vector<std::string>> sink_values_;  // of an iteration, row by row
  bool seen_ = false;
};

}  // namespace lpn::sim
