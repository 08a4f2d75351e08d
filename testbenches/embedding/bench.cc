// What embedding costs: a net in a host's loop, and two coupled nets beside the one net they are.
//
//     embedding_bench [JOBS]        one core; each figure the median of five
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>

#include "lpn/net/verify.h"
#include "lpn/sim/library.h"
#include "lpn/text/text.h"
#include "lpnrt/embed.h"

namespace {

namespace embed = lpn::embed;

constexpr const char* kFront = R"(lpn 1
net front
param slots = 4
type Job (n: 0..9)
place jobs : Job capacity slots
place out : Job sink capacity 4
transition work {
  take j from jobs
  delay 1 + j.n
  servers 1
  put out (j.n)
}
end
)";
constexpr const char* kBack = R"(lpn 1
net back
type unit ()
type Job (n: 0..9)
place jobs : Job capacity 4
place gone : unit done
transition eat {
  take j from jobs
  delay 6
  servers 1
  put gone
}
end
)";
constexpr const char* kBoth = R"(lpn 1
net both
param slots = 4
type unit ()
type Job (n: 0..9)
place jobs : Job capacity slots
place between : Job capacity 4
place gone : unit done
transition work {
  take j from jobs
  delay 1 + j.n
  servers 1
  put between (j.n)
}
transition eat {
  take j from between
  delay 6
  servers 1
  put gone
}
end
)";

embed::Library library(const char* text) {
  const lpn::Net net = lpn::parse_net(text);
  lpn::require_valid(net);
  const lpn::sim::Library code = lpn::sim::Library::build(net);
  return embed::Library(code.api(), std::make_shared<lpn::sim::Library>(code));
}

embed::Values jobs(std::int64_t count) {
  embed::Values values;
  for (std::int64_t k = 0; k < count; ++k) values.push_back(k * 7 % 10);
  return values;
}

double median(const std::function<double()>& run) {
  std::vector<double> all;
  for (int k = 0; k < 5; ++k) all.push_back(run());
  std::sort(all.begin(), all.end());
  return all[2];
}

double seconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t count = argc > 1 ? std::atoll(argv[1]) : 1'000'000;
  const embed::Library front = library(kFront), back = library(kBack), both = library(kBoth);
  const embed::Values values = jobs(count);
  const auto loaded = [&](const embed::Library& code) {
    embed::Instance sim(code, {{"slots", count}});
    sim.load(sim.place("jobs"), static_cast<std::uint64_t>(count), values);
    return sim;
  };
  embed::Time latency[3] = {};
  const double joined = median([&] {
    embed::Instance sim = loaded(both);
    sim.api().set_mode(sim.handle(), LPN_EVENTS);
    return seconds([&] { latency[0] = sim.run().latency; });
  });
  const double coupled = median([&] {
    embed::Coupled chip;
    chip.add(loaded(front));
    chip.add(embed::Instance(back));
    chip.join(0, "out", 1, "jobs");
    return seconds([&] { latency[1] = chip.run().latency; });
  });
  std::uint64_t steps = 0;
  const double looped = median([&] {
    embed::Instance sim(back);
    const embed::Place in = sim.place("jobs");
    steps = 0;
    return seconds([&] {
      std::int64_t k = 0;
      for (embed::Time now = 0; now != embed::kForever; now = sim.next()) {
        ++steps;
        latency[2] = sim.run(now).latency;
        while (k < count && sim.try_push(in, {values[static_cast<std::size_t>(k)]}, now + 1)) ++k;
      }
    });
  });
  const double firings = 2.0 * static_cast<double>(count);
  fmt::print("one net, event-driven:   {:5.1f} M firings/s, latency {}\n", firings / joined / 1e6,
             latency[0]);
  fmt::print("two coupled nets:        {:5.1f} M firings/s, latency {}; {:.1f}x the time\n",
             firings / coupled / 1e6, latency[1], coupled / joined);
  fmt::print("a host's loop, one net:  {:5.1f} M steps/s (run, push, next), latency {}\n",
             static_cast<double>(steps) / looped / 1e6, latency[2]);
  return latency[0] == latency[1] ? 0 : 1;
}
