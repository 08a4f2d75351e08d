#include "lpn/wave/sampler.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace lpn::wave {
namespace {

// Signals 0 clk, 1 rst, 2 valid, 3 ready, 4 an 80-bit bus.
struct Bench {
  explicit Bench(Origin origin = {}) {
    const ClockSpec clock{{0, 0, false}, {{1, 0, false}}};
    ChannelSpec channel;
    channel.first = {{2, 0, false}};
    channel.second = {{3, 0, false}};
    channel.fields = {{{4, 60, 10, 0}}};
    sampler.emplace(std::vector<std::uint32_t>{1, 1, 1, 1, 80}, std::vector<ClockSpec>{clock},
                    std::vector<ChannelSpec>{channel}, Sampler::Options{origin, 16, true});
  }
  // A cycle: values set at its beginning, the falling edge; 5 later the rising edge.
  void cycle(const char* rst, const char* valid, const char* ready, const std::string& data = "0") {
    sampler->on_time(time);
    sampler->on_change(0, "0");
    sampler->on_change(1, rst);
    sampler->on_change(2, valid);
    sampler->on_change(3, ready);
    sampler->on_change(4, data);
    sampler->on_time(time += 5);
    sampler->on_change(0, "1");
    time += 5;
  }
  std::uint64_t cycles(Phase phase) const {
    return sampler->totals(0).cycles[static_cast<std::size_t>(phase)];
  }
  std::optional<Sampler> sampler;
  std::int64_t time = 0;
};

TEST_CASE("phases of a channel, cycle by cycle") {
  Bench b;
  b.cycle("x", "1", "1");
  b.cycle("1", "1", "1");
  b.cycle("0", "0", "0");
  b.cycle("0", "0", "1");
  b.cycle("0", "1", "0");
  b.cycle("0", "1", "0");
  b.cycle("0", "1", "1", "1" + std::string(60, '0'));
  b.cycle("0", "1", "1", "x" + std::string(60, '0'));
  b.cycle("0", "x", "1");
  b.cycle("0", "0", "x");
  b.sampler->finish(true);
  CHECK(b.cycles(Phase::kReset) == 2);
  CHECK(b.cycles(Phase::kIdle) == 1);
  CHECK(b.cycles(Phase::kStarved) == 1);
  CHECK(b.cycles(Phase::kStalled) == 2);
  CHECK(b.cycles(Phase::kTransfer) == 2);
  CHECK(b.cycles(Phase::kUnknown) == 2);
  const Totals& t = b.sampler->totals(0);
  CHECK(t.transfers == 2);
  CHECK(t.first == 6);
  CHECK(t.last == 7);
  CHECK(t.runs[static_cast<std::size_t>(Phase::kTransfer)] == 1);
  CHECK(t.longest[static_cast<std::size_t>(Phase::kStalled)] == 2);
  const Transfers list = b.sampler->take(0);
  CHECK(list.edge == std::vector<std::int64_t>{6, 7});
  CHECK(list.stalled == std::vector<std::int64_t>{2, 0});
  CHECK(list.values == std::vector<std::uint64_t>{1, 0});
  CHECK(list.unknowns == std::vector<std::uint64_t>{0, 0x3ff});
  CHECK(b.sampler->clocks()[0].edges == 10);
  CHECK(b.sampler->clocks()[0].origin == 2);  // out of reset
}

TEST_CASE("what changes with the edge counts from the next one on") {
  Bench b;
  b.cycle("0", "0", "0");
  b.sampler->on_change(2, "1");  // at the instant of the edge, behind it
  b.sampler->on_change(3, "1");
  b.sampler->on_time(b.time);
  b.sampler->on_change(2, "0");  // and before it
  b.sampler->on_change(0, "0");
  b.sampler->on_time(b.time += 5);
  b.sampler->on_change(2, "1");
  b.sampler->on_change(0, "1");
  b.sampler->finish(true);
  CHECK(b.cycles(Phase::kIdle) == 1);
  CHECK(b.cycles(Phase::kStarved) == 1);
  CHECK(b.sampler->totals(0).transfers == 0);
}

TEST_CASE("cycle 0 is where the origin says") {
  Bench channel({Origin::Kind::kChannel, 0, 0});
  Bench time({Origin::Kind::kTime, 0, 16});
  for (Bench* b : {&channel, &time}) {
    for (const char* valid : {"0", "0", "0", "1", "1"}) b->cycle("0", valid, "0");
    b->sampler->finish(true);
  }
  CHECK(channel.sampler->clocks()[0].origin == 3);
  CHECK(time.sampler->clocks()[0].origin == 2);  // edges at 5, 15, 25
}

TEST_CASE("an instant that is not complete does not count") {
  Bench b;
  b.cycle("0", "1", "1");
  b.sampler->finish(false);
  CHECK(b.sampler->totals(0).transfers == 0);
  CHECK(b.sampler->time() == 0);
}

// Signals 0 clk, 1 start or busy, 2 done.
std::vector<std::int64_t> durations(ChannelSpec::Kind kind, const std::string& start,
                                    const std::string& done) {
  ChannelSpec spec;
  spec.kind = kind;
  spec.first = {{1, 0, false}};
  if (kind == ChannelSpec::Kind::kOperation) spec.second = {{2, 0, false}};
  Sampler sampler({1, 1, 1}, {{{0, 0, false}, {}}}, {spec}, {{}, 16, true});
  std::int64_t time = 0;
  for (std::size_t k = 0; k < start.size(); ++k) {
    sampler.on_time(time++);
    sampler.on_change(0, "0");
    sampler.on_change(1, std::string_view(start).substr(k, 1));
    sampler.on_change(2, std::string_view(done).substr(k, 1));
    sampler.on_time(time++);
    sampler.on_change(0, "1");
  }
  sampler.finish(true);
  return sampler.take(0).stalled;
}

TEST_CASE("operations: from start to done, or as long as busy") {
  using Kind = ChannelSpec::Kind;
  using List = std::vector<std::int64_t>;
  CHECK(durations(Kind::kOperation, "0100010", "0000100") == List{3});
  CHECK(durations(Kind::kOperation, "111111", "001001") == List{2, 3});
  CHECK(durations(Kind::kOperation, "1111", "1111") == List{1, 1, 1});
  CHECK(durations(Kind::kBusy, "0111010", "0000000") == List{3, 1});
  CHECK(durations(Kind::kBusy, "011x010", "0000000") == List{1});
}

// Signals 0 clk, 1 the channel's valid, 2 that of the one that ends it.
TEST_CASE("what comes after the last transfer of another channel does not count") {
  ChannelSpec bits, symbols;
  bits.first = {{1, 0, false}};
  bits.until = 1;
  symbols.first = {{2, 0, false}};
  Sampler sampler({1, 1, 1}, {{{0, 0, false}, {}}}, {bits, symbols}, {{}, 16, true});
  const std::string valid = "110111110", ends = "000111000";
  std::int64_t time = 0;
  std::vector<std::int64_t> edges;
  for (std::size_t k = 0; k < valid.size(); ++k) {
    sampler.on_time(time++);
    sampler.on_change(0, "0");
    sampler.on_change(1, std::string_view(valid).substr(k, 1));
    sampler.on_change(2, std::string_view(ends).substr(k, 1));
    sampler.on_time(time++);
    sampler.on_change(0, "1");
    sampler.settle();
    for (const std::int64_t edge : sampler.take(0).edge) edges.push_back(edge);
  }
  sampler.finish(true);
  for (const std::int64_t edge : sampler.take(0).edge) edges.push_back(edge);
  CHECK(edges == std::vector<std::int64_t>{0, 1, 3, 4, 5});
  CHECK(sampler.totals(0).transfers == 5);
  CHECK(sampler.totals(0).last == 5);
  CHECK(sampler.totals(1).transfers == 3);
}

// Signal 0 a counter of 8 bits; an edge every 10 times.
TEST_CASE("a count of transfers, by a period in place of a clock") {
  for (const bool from_zero : {true, false}) {
    CAPTURE(from_zero);
    ChannelSpec spec;
    spec.kind = ChannelSpec::Kind::kCounter;
    spec.counter = {{0, 0, 8, 0}};
    ClockSpec clock;
    clock.period = 10;
    Sampler sampler({8}, {clock}, {spec}, {{}, 16, true});
    const std::int64_t begin = from_zero ? 0 : 40;
    sampler.on_time(begin);
    sampler.on_change(0, "10");  // 2 at once
    sampler.on_time(begin + 10);
    sampler.on_change(0, "1111010");  // 122
    sampler.on_time(begin + 20);
    sampler.on_change(0, "11110010");  // 242
    sampler.on_time(begin + 1000000);
    sampler.on_change(0, "1");  // over its end
    sampler.finish(true);
    const std::int64_t first = begin / 10;  // its edge shows what is so up to the next one
    std::vector<std::int64_t> edges(from_zero ? 2 : 0, 0);
    edges.insert(edges.end(), 120, first + 1);
    edges.insert(edges.end(), 120, first + 2);
    edges.insert(edges.end(), 15, first + 100000);
    CHECK(sampler.take(0).edge == edges);
    CHECK(sampler.totals(0).transfers == edges.size());
    CHECK(sampler.totals(0).last == first + 100000);
    CHECK(sampler.totals(0).runs[static_cast<std::size_t>(Phase::kTransfer)] == 2);
    CHECK(sampler.clocks()[0].edges == first + 100001);
    CHECK(sampler.clocks()[0].last == begin + 1000010);
    CHECK(sampler.clocks()[0].origin == 0);
  }
}

// Two channels of valid alone and ready: victim (1, 2) and culprit (3, 4).
TEST_CASE("whose back-pressure came first") {
  ChannelSpec victim, culprit;
  victim.first = {{1, 0, false}};
  victim.second = {{2, 0, false}};
  culprit.first = {{3, 0, false}};
  culprit.second = {{4, 0, false}};
  Sampler sampler({1, 1, 1, 1, 1}, {{{0, 0, false}, {}}}, {victim, culprit}, {{}, 4, false});
  const std::string victim_ready = "111011101111111110", culprit_ready = "100101111111111111";
  std::int64_t time = 0;
  for (std::size_t k = 0; k < victim_ready.size(); ++k) {
    sampler.on_time(time++);
    sampler.on_change(0, "0");
    sampler.on_change(1, "1");
    sampler.on_change(2, std::string_view(victim_ready).substr(k, 1));
    sampler.on_change(3, "1");
    sampler.on_change(4, std::string_view(culprit_ready).substr(k, 1));
    sampler.on_time(time++);
    sampler.on_change(0, "1");
  }
  sampler.finish(true);
  CHECK(sampler.episodes(0) == 2);
  REQUIRE(sampler.preceding(0).size() == 1);
  CHECK(sampler.preceding(0)[0].channel == 1);
  CHECK(sampler.preceding(0)[0].episodes == 1);
  CHECK(sampler.preceding(0)[0].cycles == 2);
  CHECK(sampler.preceding(0)[0].lead == 4);  // two cycles of two instants
  CHECK(sampler.releases(0) == 2);
  CHECK(sampler.releases(1) == 2);
  REQUIRE(sampler.following(0).size() == 1);
  CHECK(sampler.following(0)[0].channel == 1);
  CHECK(sampler.following(0)[0].lag == 1);
  CHECK(sampler.following(0)[0].releases == 1);
  CHECK(sampler.episodes(1) == 1);
  CHECK(sampler.preceding(1).empty());
}

}  // namespace
}  // namespace lpn::wave
