// The instants of a static part's firings, which its code writes down a block at a time: statistics
// (part_stats.h) and the critical path (part_path.h) are made of them (lpnrt/stream_tables.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "plan/schedule.h"
#include "write/flow_stats.h"
#include "write/writer.h"

namespace lpn::sim {

// Whether commits of a transition may have to wait for those before them.
bool held_in_order(const Net& net, std::uint32_t k);

class PartStreams : private Writer {
 public:
  // All must outlive this.
  PartStreams(const Net& net, const StaticPart& part, const FlowStats& stats, std::size_t index);

  struct Wait {
    std::size_t stream = 0;
    std::string reason;
    std::int64_t emitted = 1, taken = 1, needed = 1, initial = 0;
    std::size_t queue = kNone;  // of the part; kNone: an interval
    bool fixed = true;          // else `m<queue>` is the number of its tokens
  };
  static constexpr std::size_t kNone = ~std::size_t{0};

  std::size_t number(std::uint32_t k) const;
  // In the order in which reasons are judged. A source keeps nobody waiting.
  std::vector<Wait> waits_of(std::uint32_t k) const;
  // Tells `watch` how many tokens stand where a wait's table does not say it: `m<queue>`.
  std::string initial() const;
  bool metered(const StaticQueue& q) const;
  // Whether statistics need no more than the low words of instants, an iteration adding at most so
  // many ticks.
  bool low(Wide growth) const;
  // The same for the critical path, which takes lpnrt/low_path.h then.
  bool low_path(Wide growth) const;
  // Whether each transition waits for each other, over fixed queues, so that instants are near to
  // each other. Then a long iteration reads those of the one before it from the streams.
  bool reads_back(Wide growth) const;
  // In which variants it does so, as a condition of the preprocessor.
  std::string read_back_if(Wide growth) const;
  // In which variants the instants are written down.
  const char* condition() const;

  // For namespace scope: `kStreams<index>`.
  std::string tables();
  // Around the iterations of a chunk of `chunk`; `watch` takes the blocks.
  std::string open_chunk();
  std::string close_chunk(bool low, bool low_path);
  // Within: a firing's commit `c<k>_<n>`, `next<k>` before it, and where it commits in order its
  // commit as it would be without; the end of an iteration.
  std::string committed(std::uint32_t k, std::uint32_t firing) const;
  std::string waited_for_interval(std::uint32_t k, std::uint32_t firing) const;
  std::string due(std::uint32_t k, std::uint32_t firing, const std::string& commit) const;
  std::string next_iteration() const;
  // The commit of `k` so many firings before the iteration: `variable`, unless it is read back.
  std::string earlier(std::uint32_t k, std::int64_t firings, const std::string& variable) const;
  static std::string unless_read_back(const std::string& text);

 private:
  std::int64_t longest_block() const { return std::max(figures_.block, causes_.block); }
  struct Stream {
    std::int64_t firings = 0;
    std::int64_t for_figures = 0, for_causes = 0;  // where its numbers stand
  };
  // Of the streams for statistics, and for the critical path.
  struct Layout {
    std::int64_t block = 0, words = 0;  // iterations; numbers
  };
  std::size_t add_stream(std::int64_t firings);
  std::int64_t place(Layout& layout, std::int64_t firings) const;
  std::string at(const Stream& stream, std::int64_t firing) const;
  std::string store(const Stream& to, std::uint32_t firing, const std::string& what) const;
  std::string if_written(const std::string& text) const;

  const Net& net_;
  const StaticPart& part_;
  const FlowStats& stats_;
  std::size_t index_;
  Layout figures_, causes_;
  std::vector<Stream> streams_;  // of the transitions, their intervals, their due commits
  std::vector<std::size_t> interval_, due_;  // per transition of the part: its stream, or kNone
  std::size_t for_causes_ = 0;
};

}  // namespace lpn::sim
