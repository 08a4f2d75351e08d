#include "lpn/viz/perfetto.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "queue_net.h"

using namespace lpn;
using namespace lpn::viz;
using Json = nlohmann::json;

namespace {

Json timeline(Window window, bool waits) {
  const QueueNet queue;
  std::string text;
  Timeline file(
      queue.net, {}, queue.marking, [&text](std::string_view part) { text += part; }, window);
  const Time end = queue.run(waits ? &file : nullptr, &file);
  file.finish("done", end);
  return Json::parse(text);
}

// Of a kind ("X": firings and waits, "C": counters), as "name ts value".
std::vector<std::string> events(const Json& file, const std::string& kind, int process) {
  std::vector<std::string> found;
  for (const Json& e : file["traceEvents"]) {
    if (e["ph"] != kind || e["pid"] != process) continue;
    const Json& value = kind == "C" ? e["args"]["tokens"] : e["dur"];
    found.push_back(e["name"].get<std::string>() + " " + e["ts"].dump() + " " + value.dump());
  }
  return found;
}

}  // namespace

TEST_CASE("timeline: firings as slices, places as counters") {
  const Json file = timeline({}, false);
  CHECK(file["ending"] == "done");
  CHECK(file["otherData"]["net"] == "queue");
  CHECK(events(file, "X", 1) ==
        std::vector<std::string>{"work 0 3", "step 3 0", "work 3 2", "step 5 0"});
  CHECK(events(file, "C", 2) == std::vector<std::string>{"in 0 2", "mid 0 0", "out 0 0", "in 3 1",
                                                         "out 3 1", "in 5 0", "out 5 2"});
  CHECK(events(file, "X", 3).empty());
}

TEST_CASE("timeline: why transitions wait, of an interpreter that keeps statistics") {
  CHECK(events(timeline({}, true), "X", 3) ==
        std::vector<std::string>{"no server 0 3", "no token: in 3 2", "no token: mid 0 5"});
}

TEST_CASE("timeline: a window shows what is in flight in it") {
  const Json file = timeline({4, 4}, false);
  CHECK(events(file, "X", 1) == std::vector<std::string>{"work 3 2"});
  CHECK(events(file, "C", 2) == std::vector<std::string>{"in 4 1", "mid 4 0", "out 4 1"});
}
