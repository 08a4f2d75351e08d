#include "lpn/viz/picture.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "queue_net.h"

using namespace lpn;
using namespace lpn::viz;
using Json = nlohmann::json;

TEST_CASE("a picture's description of a net") {
  const QueueNet queue;
  const std::string text = describe(queue.net, {}, queue.marking);
  CHECK(text.substr(0, 29) == R"({"format":1,"name":"queue","f)");
  const Json net = Json::parse(text);
  CHECK(net["types"][1]["fields"][0]["range"] == Json({"0", "9"}));  // as text: 64 bits
  CHECK(net["places"][0]["tokens"] == 2);
  CHECK(net["places"][0]["start"] == true);
  CHECK(net["places"][0]["capacity"].is_null());
  CHECK(net["places"][1]["capacity"] == Json({{"text", "2"}, {"value", 2}}));
  const Json& work = net["transitions"][0];
  CHECK(work["delay"] == "j.size");
  CHECK(work["servers"]["value"] == 1);
  CHECK(work["inputs"][0]["kind"] == "take");
  CHECK(work["inputs"][0]["place"] == 0);
  CHECK(work["outputs"][0]["constant"] == 1);
  CHECK(work["at"].is_null());
  // The place with a capacity is a loop that holds 2.
  REQUIRE(net["loops"].size() == 1);
  CHECK(net["loops"][0]["capacity"] == true);
  CHECK(net["loops"][0]["tokens"] == 2);
}

TEST_CASE("kinds of arcs, and a loop of credits") {
  const Net net = parse_net(R"(lpn 1
net kinds
type unit ()
place in : unit start
place credits : unit initial 2
place busy : unit
place out : unit done
transition begin {
  take i from in
  take c from credits
  empty o in out
  delay 1
  put busy
}
transition end {
  take b from busy
  delay 1
  put credits
  put out
}
end
)");
  const Json picture = Json::parse(describe(net, {}, Marking(net)));
  const Json& begin = picture["transitions"][0];
  CHECK(begin["inputs"][1]["kind"] == "take");
  CHECK(begin["inputs"][2]["kind"] == "empty");
  REQUIRE(picture["loops"].size() == 1);
  CHECK(picture["loops"][0]["credit"] == 1);
  CHECK(picture["loops"][0]["tokens"] == 2);
}
