#include "write/part_stats.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace lpn::sim {

using std::int64_t;
using std::size_t;
using std::string;
using std::uint32_t;

namespace {

// Firings in a block: enough for long loops over each stream, few enough to stay near.
constexpr int64_t kBlockFirings = 8192;
constexpr int64_t kLeastBlock = 16, kMostBlock = 512;  // iterations
constexpr int64_t kApart = 8;  // between streams, so that not all stand at the same place of a page

string if_stats(const string& text) { return "LPNRT_IF_STATS(" + text + ")\n"; }

}  // namespace

PartStats::PartStats(const Net& net, const StaticPart& part, const Plan& plan,
                     const FlowStats& stats, size_t index)
    : net_(net), part_(part), plan_(plan), stats_(stats), index_(index) {
  int64_t firings = 0;
  for (int64_t r : part.repetitions) firings += r;
  block_ = std::clamp(kBlockFirings / firings, kLeastBlock, kMostBlock);
  for (int64_t r : part.repetitions) add_stream(r);
  for (size_t i = 0; i < part.transitions.size(); ++i) {
    const bool paced = net.transitions[part.transitions[i]].interval.has_value();
    interval_.push_back(paced ? streams_.size() : kNone);
    if (paced) add_stream(part.repetitions[i]);
  }
}

void PartStats::add_stream(int64_t firings) {
  streams_.push_back({firings, words_});
  words_ += firings * block_ + kApart;
}

size_t PartStats::number(uint32_t k) const {
  return static_cast<size_t>(
      std::lower_bound(part_.transitions.begin(), part_.transitions.end(), k) -
      part_.transitions.begin());
}

bool PartStats::metered(const StaticQueue& q) const {
  return q.place != StaticQueue::kNone && stats_.metered(q.place);
}

// In the order in which reasons are judged. A source keeps nobody waiting.
std::vector<PartStats::Wait> PartStats::waits_of(uint32_t k) const {
  std::vector<Wait> all;
  const auto add = [&](size_t q, const string& reason) {
    const StaticQueue& queue = part_.queues[q];
    all.push_back({number(queue.producer), reason, queue.emitted, queue.taken, queue.needed,
                   queue.initial, queue.fixed ? kNone : q});
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

string PartStats::tables() {
  if (!stats_.possible()) return "";
  line("#if LPNRT_STATS");
  line("constexpr Stream kStreamsOf{}[] = {{", index_);
  for (const Stream& s : streams_) line("{{{}, {}}},", s.firings, s.offset);
  line("}};");
  string waits, transitions;
  size_t wait_count = 0, place_count = 0;
  for (uint32_t k : part_.transitions) {
    const std::vector<Wait> of = waits_of(k);
    for (const Wait& w : of) {
      waits += fmt::format("{{{}, {}, {}, {}, {}, {}}},\n", w.stream, w.reason, w.emitted, w.taken,
                           w.needed, w.initial);
    }
    wait_count += of.size();
    transitions += fmt::format("{{{}, {}}},\n", of.size(), stats_.one_at_a_time(k));
  }
  line("constexpr StreamWait kWaitsOf{}[] = {{", index_);
  add(waits + "{}};\n");
  line("constexpr StreamTransition kTransitionsOf{}[] = {{", index_);
  add(transitions + "};\n");
  line("constexpr StreamPlace kPlacesOf{}[] = {{", index_);
  for (const StaticQueue& q : part_.queues) {
    if (!metered(q)) continue;
    line("{{{}, {}, {}, {}, {}}},", number(q.producer), number(q.consumer), q.emitted, q.taken,
         stats_.leaves_first(q.place));
    ++place_count;
  }
  line("{{}}}};");
  line(
      "constexpr StreamPart kStreams{0} = {{kStreamsOf{0}, kTransitionsOf{0}, kWaitsOf{0}, "
      "kPlacesOf{0}, {1}, {2}, {3}, {4}, {5}, {6}}};",
      index_, streams_.size(), part_.transitions.size(), wait_count, place_count, block_, words_);
  line("#endif");
  return take();
}

string PartStats::begin() {
  if (!stats_.possible()) return "";
  line("#if LPNRT_STATS");
  line("auto& watch = run.watch{};", index_);
  line("if (!watch.begun()) {{ watch.begin(kStreams{});", index_);
  size_t number = 0;
  for (uint32_t k : part_.transitions) {
    for (const Wait& w : waits_of(k)) {
      if (w.queue != kNone) line("watch.initial({}, m{});", number, w.queue);
      ++number;
    }
  }
  number = 0;
  for (const StaticQueue& q : part_.queues) {
    if (metered(q)) line("watch.holds({}, run.@run_q{}.size());", number++, q.place);
  }
  line("}}");
  line("#endif");
  return take();
}

string PartStats::open_chunk() {
  if (!stats_.possible()) return "for (u64 left = chunk; left != 0; --left) {\n";
  std::set<int64_t> steps(part_.repetitions.begin(), part_.repetitions.end());
  line("#if LPNRT_STATS");
  line("for (u64 block, rest = chunk; rest != 0; rest -= block) {{");
  line("block = fewer(rest, watch.most());");
  for (int64_t step : steps) line("u64* o{} = watch.block();", step);
  line("for (u64 left = block; left != 0; --left) {{");
  line("#else");
  line("for (u64 left = chunk; left != 0; --left) {{");
  line("#endif");
  return take();
}

string PartStats::close_chunk() {
  return stats_.possible() ? "}\n" + if_stats("watch.observe(block); }") : "}\n";
}

// Streams of the same pace share a pointer; that they are so far apart is known when compiling.
string PartStats::store(const Stream& to, uint32_t firing, const string& what) const {
  if (!stats_.possible()) return "";
  return if_stats(fmt::format("o{}[{}] = {};", to.firings, to.offset + firing, what));
}

string PartStats::committed(uint32_t k, uint32_t firing) const {
  return store(streams_[number(k)], firing, fmt::format("c{}_{}", k, firing));
}

string PartStats::waited_for_interval(uint32_t k, uint32_t firing) const {
  return store(streams_[interval_[number(k)]], firing, fmt::format("next{}", k));
}

string PartStats::next_iteration() const {
  if (!stats_.possible()) return "";
  std::set<int64_t> steps(part_.repetitions.begin(), part_.repetitions.end());
  string text;
  for (int64_t step : steps) text += fmt::format("o{0} += {0}; ", step);
  return if_stats(text);
}

string PartStats::leave() {
  if (!stats_.possible()) return "";
  line("#if LPNRT_STATS");
  for (uint32_t k : part_.transitions) {
    line("watch.settle({}, run.@run_seen{}, run.@run_last{});", number(k), k, plan_.actor_of[k]);
  }
  for (uint32_t k : part_.transitions) {
    string each;
    size_t place = 0;
    for (const StaticQueue& q : part_.queues) {
      if (!metered(q)) continue;
      if (q.consumer == k) {
        each += fmt::format(
            "first = fewer(first, run.left{0}_{1} = watch.settle({2}, run.@run_level{0}));\n",
            q.place, k, place);
      }
      ++place;
    }
    if (each.empty()) continue;
    line("{{ u64 first = ~u64{{0}};");
    add(each);
    line("watch.settle({}, first, run.@run_rel{}); }}", number(k), k);
  }
  line("#endif");
  return take();
}

}  // namespace lpn::sim
