#include "write/part_streams.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "lpn/net/facts.h"

namespace lpn::sim {

using std::int64_t;
using std::size_t;
using std::string;
using std::uint32_t;

namespace {

// Firings in a block: enough for long loops over each stream, few enough to stay near. For causes
// more is kept of each.
constexpr int64_t kBlockFirings = 131072, kBlockForCauses = 65536;
constexpr int64_t kLeastBlock = 32, kMostBlock = 2048;  // iterations
constexpr size_t kFarAway = 256;  // in a cycle of more transitions than that none is looked for
constexpr int64_t kLowSpan = int64_t{1} << 28;  // half of what low words of instants may span
constexpr int64_t kHistory = 64;                // kStreamHistory of lpnrt/stream_tables.h
// No two streams have numbers in one page; the first is nobody's. Streams of the same length are an
// odd number of pages apart, and after kTurn of them a line more, so that not all stand at the same
// place of a cache.
constexpr int64_t kPage = 64, kLine = 16;
constexpr size_t kTurn = 16;

// What the tokens of places sum up to that follow one another in a cycle: each firing that takes
// one token of one of them and puts one into the next changes nothing. A place holds no more.
std::map<uint32_t, int64_t> tokens_of_cycles(const StaticPart& part) {
  struct Way {
    uint32_t to;
    int64_t tokens;
  };
  std::map<uint32_t, std::vector<Way>> ways;
  const auto counts = [](const StaticQueue& q) {
    return q.place != StaticQueue::kNone && q.fixed && q.emitted == 1 && q.taken == 1;
  };
  for (const StaticQueue& q : part.queues) {
    if (counts(q)) ways[q.producer].push_back({q.consumer, q.initial});
  }
  std::map<uint32_t, int64_t> most;
  for (const StaticQueue& q : part.queues) {
    if (!counts(q)) continue;
    // The least from the consumer back to the producer.
    std::map<uint32_t, int64_t> least{{q.consumer, 0}};
    std::set<std::pair<int64_t, uint32_t>> next{{0, q.consumer}};
    while (!next.empty() && least.size() < kFarAway) {
      const auto [tokens, at] = *next.begin();
      if (at == q.producer) {
        most[q.place] = q.initial + tokens;
        break;
      }
      next.erase(next.begin());
      for (const Way& way : ways[at]) {
        const int64_t there = tokens + way.tokens;
        const auto known = least.find(way.to);
        if (known != least.end() && known->second <= there) continue;
        if (known != least.end()) next.erase({known->second, way.to});
        least[way.to] = there;
        next.insert({there, way.to});
      }
    }
  }
  return most;
}

// How many are reached from the first.
size_t reached(const std::vector<std::vector<size_t>>& next) {
  std::vector<bool> seen(next.size());
  std::vector<size_t> found{0};
  seen[0] = true;
  for (size_t i = 0; i < found.size(); ++i) {
    for (const size_t to : next[found[i]]) {
      if (seen[to]) continue;
      seen[to] = true;
      found.push_back(to);
    }
  }
  return found.size();
}

}  // namespace

bool held_in_order(const Net& net, uint32_t k) {
  const Transition& t = net.transitions[k];
  return t.ordered && !one_server(net, t) && !net.exprs.reads(t.delay.id).tokens.empty();
}

PartStreams::PartStreams(const Net& net, const StaticPart& part, const FlowStats& stats,
                         size_t index)
    : net_(net), part_(part), stats_(stats), index_(index) {
  int64_t firings = 0;
  for (int64_t r : part.repetitions) firings += r;
  figures_.block = std::clamp(kBlockFirings / firings, kLeastBlock, kMostBlock);
  causes_.block = std::clamp(kBlockForCauses / firings, kLeastBlock, kMostBlock);
  for (int64_t r : part.repetitions) add_stream(r);
  const size_t n = part.transitions.size();
  for (size_t i = 0; i < n; ++i) {
    const bool paced = net.transitions[part.transitions[i]].interval.has_value();
    interval_.push_back(paced ? add_stream(part.repetitions[i]) : kNone);
  }
  const size_t for_all = streams_.size();
  for (size_t i = 0; i < n; ++i) {
    const bool held = held_in_order(net, part.transitions[i]);
    due_.push_back(held ? add_stream(part.repetitions[i]) : kNone);
  }
  for_causes_ = streams_.size() - for_all;
}

size_t PartStreams::add_stream(int64_t firings) {
  streams_.push_back({firings, place(figures_, firings), place(causes_, firings)});
  return streams_.size() - 1;
}

// Where the next stream's block begins, behind its history.
int64_t PartStreams::place(Layout& layout, int64_t firings) const {
  const auto turn = static_cast<int64_t>(streams_.size() / kTurn);
  const int64_t offset = layout.words + turn * kLine % kPage + firings * kHistory;
  const int64_t most = kHistory + layout.block;
  const int64_t pages = (kPage - kLine + firings * most + kPage - 1) / kPage;
  layout.words += (pages | 1) * kPage;
  return offset;
}

size_t PartStreams::number(uint32_t k) const {
  return static_cast<size_t>(
      std::lower_bound(part_.transitions.begin(), part_.transitions.end(), k) -
      part_.transitions.begin());
}

bool PartStreams::metered(const StaticQueue& q) const {
  return q.place != StaticQueue::kNone && stats_.metered(q.place);
}

const char* PartStreams::condition() const {
  return stats_.possible() ? "LPNRT_STATS || LPNRT_PATH" : "LPNRT_PATH";
}

bool PartStreams::low(Wide growth) const {
  const bool paced = std::any_of(interval_.begin(), interval_.end(),
                                 [](size_t stream) { return stream != kNone; });
  return !paced && growth * longest_block() < kLowSpan;
}

bool PartStreams::low_path(Wide growth) const {
  if (!low(growth) || for_causes_ != 0) return false;
  for (uint32_t k : part_.transitions) {
    if (net_.transitions[k].servers && !stats_.one_at_a_time(k)) return false;
    for (const Wait& w : waits_of(k)) {
      const int64_t back = (w.initial - w.needed + w.emitted) / w.emitted;
      if (!w.fixed || w.emitted != w.taken || back > kHistory * streams_[w.stream].firings) {
        return false;
      }
    }
  }
  return true;
}

bool PartStreams::reads_back(Wide growth) const {
  if (!low(growth)) return false;
  const size_t n = part_.transitions.size();
  std::vector<std::vector<size_t>> next(n), previous(n);
  Wide behind = kHistory + 1;  // iterations that lie between instants that stand
  for (const StaticQueue& q : part_.queues) {
    if (!q.fixed) return false;
    next[number(q.producer)].push_back(number(q.consumer));
    previous[number(q.consumer)].push_back(number(q.producer));
    behind += (q.initial + q.rate - 1) / q.rate;
  }
  const bool waits = std::none_of(previous.begin(), previous.end(),
                                  [](const auto& producers) { return producers.empty(); });
  return waits && reached(next) == n && reached(previous) == n && growth * behind < kLowSpan;
}

string PartStreams::read_back_if(Wide growth) const {
  if (!reads_back(growth)) return "0";
  int64_t firings = 0;
  for (int64_t r : part_.repetitions) firings += r;
  return fmt::format("({} || {}) && {} >= LPNRT_READ_BACK", stats_.possible() ? "LPNRT_STATS" : "0",
                     low_path(growth) ? "LPNRT_PATH" : "0", firings);
}

string PartStreams::unless_read_back(const string& text) {
  return text.empty() ? "" : "#if !LPNRT_READS_BACK\n" + text + "#endif\n";
}

string PartStreams::if_written(const string& text) const {
  return fmt::format("{}({})\n", stats_.possible() ? "LPNRT_IF_STREAMS" : "LPNRT_IF_PATH", text);
}

std::vector<PartStreams::Wait> PartStreams::waits_of(uint32_t k) const {
  std::vector<Wait> all;
  const auto add = [&](size_t q, const string& reason) {
    const StaticQueue& queue = part_.queues[q];
    all.push_back({number(queue.producer), reason, queue.emitted, queue.taken, queue.needed,
                   queue.initial, q, queue.fixed});
  };
  for (uint32_t a = 0; a < net_.transitions[k].inputs.size(); ++a) {
    for (size_t q = 0; q < part_.queues.size(); ++q) {
      const StaticQueue& queue = part_.queues[q];
      if (queue.place == StaticQueue::kNone || queue.consumer != k || queue.input != a) continue;
      add(q, stats_.reason(k, a));
    }
  }
  for (size_t q = 0; q < part_.queues.size(); ++q) {
    const StaticQueue& queue = part_.queues[q];
    if (queue.place == StaticQueue::kNone && queue.consumer == k) add(q, "kServer");
  }
  if (const size_t own = interval_[number(k)]; own != kNone) all.push_back({own, "kInterval"});
  return all;
}

string PartStreams::initial() const {
  string text;
  size_t wait = 0;
  for (uint32_t k : part_.transitions) {
    for (const Wait& w : waits_of(k)) {
      if (!w.fixed) text += fmt::format("watch.initial({}, m{});\n", wait, w.queue);
      ++wait;
    }
  }
  return text;
}

string PartStreams::tables() {
  const std::map<uint32_t, int64_t> most = tokens_of_cycles(part_);
  line("#if {}", condition());
  line("static_assert(kStreamHistory == {});", kHistory);
  line("constexpr Stream kStreamsOf{}[] = {{", index_);
  for (const Stream& s : streams_) line("{{{}, {}}},", s.firings, at(s, 0));
  line("}};");
  string waits, transitions, causes;
  size_t wait_count = 0, place_count = 0;
  for (uint32_t k : part_.transitions) {
    const std::vector<Wait> of = waits_of(k);
    for (const Wait& w : of) {
      waits += fmt::format("{{{}, {}, {}, {}, {}, {}}},\n", w.stream, w.reason, w.emitted, w.taken,
                           w.needed, w.initial);
    }
    wait_count += of.size();
    transitions += fmt::format("{{{}, {}}},\n", of.size(), stats_.one_at_a_time(k));
    const size_t due = due_[number(k)];
    causes += fmt::format("{{{}, {}}},\n", k, due == kNone ? 0 : due);
  }
  line("constexpr StreamWait kWaitsOf{}[] = {{", index_);
  add(waits + "{}};\n");
  line("constexpr StreamTransition kTransitionsOf{}[] = {{", index_);
  add(transitions + "};\n");
  line("constexpr StreamCauses kCausesOf{}[] = {{", index_);
  add(causes + "};\n");
  line("constexpr StreamPlace kPlacesOf{}[] = {{", index_);
  for (const StaticQueue& q : part_.queues) {
    if (!stats_.possible() || !metered(q)) continue;
    line("{{{}, {}, {}, {}, {}, {}}},", number(q.producer), number(q.consumer), q.emitted, q.taken,
         stats_.leaves_first(q.place), most.count(q.place) != 0 ? most.at(q.place) : -1);
    ++place_count;
  }
  line("{{}}}};");
  line(
      "constexpr StreamPart kStreams{0} = {{kStreamsOf{0}, kTransitionsOf{0}, kWaitsOf{0}, "
      "kPlacesOf{0}, kCausesOf{0}, {1}, {2}, {3}, {4}, {5}, "
      "LPNRT_LAYOUT({6}, {7}), LPNRT_LAYOUT({8}, {9})}};",
      index_, streams_.size() - for_causes_, part_.transitions.size(), wait_count, place_count,
      for_causes_, figures_.block, causes_.block, figures_.words, causes_.words);
  line("#endif");
  return take();
}

string PartStreams::open_chunk() {
  std::set<int64_t> steps(part_.repetitions.begin(), part_.repetitions.end());
  line("#if {}", condition());
  line("for (u64 block, rest = chunk; rest != 0; rest -= block) {{");
  line("block = fewer(rest, watch.most());");
  for (int64_t step : steps) line("auto* o{} = watch.block();", step);
  line("#if LPNRT_READS_BACK");
  line("watch.ready();");
  for (int64_t step : steps) line("const auto* was{0} = other_name(o{0});", step);
  line("#endif");
  line("for (u64 left = block; left != 0; --left) {{");
  line("#else");
  line("for (u64 left = chunk; left != 0; --left) {{");
  line("#endif");
  return take();
}

string PartStreams::close_chunk(bool low, bool low_path) {
  line("}}");
  string ended;
  for (uint32_t k : part_.transitions) {
    ended += fmt::format("watch.ended({}, h{}_1);\n", number(k), k);
  }
  ended = unless_read_back(ended);
  if (stats_.possible()) {
    add("#if LPNRT_STATS\n" + (low ? ended : "") + "watch.observe(block); }\n#endif\n");
  }
  if (low_path) add("#if LPNRT_PATH\n" + ended + "#endif\n");
  line("LPNRT_IF_PATH(watch.observe(run, block, rest == block && done + chunk == n); }})");
  return take();
}

// Streams of the same pace share a pointer; that they are so far apart is known when compiling.
string PartStreams::store(const Stream& to, uint32_t firing, const string& what) const {
  return fmt::format("o{}[{}] = {};", to.firings, at(to, firing), what);
}

string PartStreams::at(const Stream& stream, int64_t firing) const {
  return fmt::format("LPNRT_LAYOUT({}, {})", stream.for_figures + firing,
                     stream.for_causes + firing);
}

string PartStreams::committed(uint32_t k, uint32_t firing) const {
  return if_written(store(streams_[number(k)], firing, fmt::format("c{}_{}", k, firing)));
}

string PartStreams::earlier(uint32_t k, int64_t firings, const string& variable) const {
  const Stream& from = streams_[number(k)];
  return fmt::format("LPNRT_EARLIER({}, was{}[{}])", variable, from.firings, at(from, -firings));
}

string PartStreams::waited_for_interval(uint32_t k, uint32_t firing) const {
  return if_written(store(streams_[interval_[number(k)]], firing, fmt::format("next{}", k)));
}

string PartStreams::due(uint32_t k, uint32_t firing, const string& commit) const {
  return fmt::format("LPNRT_IF_PATH({})\n", store(streams_[due_[number(k)]], firing, commit));
}

string PartStreams::next_iteration() const {
  std::set<int64_t> steps(part_.repetitions.begin(), part_.repetitions.end());
  string text;
  for (int64_t step : steps) text += fmt::format("o{0} += {0}; ", step);
  text = if_written(text) + "#if LPNRT_READS_BACK\n";
  for (int64_t step : steps) text += fmt::format("was{0} += {0};\n", step);
  return text + "#endif\n";
}

}  // namespace lpn::sim
