// Which places and transitions are found to be copies of one part.

#include "write/copies.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "lpn/text/text.h"
#include "write/event_facts.h"

namespace lpn::sim {
namespace {

// Channels of four banks, joined by what none of them has for itself: a bus and a place of results.
Net channels(int number, int odd = -1) {
  std::string text = "lpn 1\nnet channels\ntype item (v: 0..9)\ntype unit ()\n";
  text += "place out : item done\nplace bus : unit initial 1\n";
  for (int c = 0; c < number; ++c) {
    const auto n = std::to_string(c);
    text += "place queue" + n + " : item start initial (index) times 3\n";
    for (int b = 0; b < 4; ++b) {
      const auto m = n + "_" + std::to_string(b);
      text += "place bank" + m + " : item\ntransition enter" + m + " {\n  take x from queue" + n +
              " when (x.v % 4 == " + std::to_string(b) + ")\n  delay 1\n  put bank" + m +
              " (x.v)\n}\n";
      text += "transition leave" + m + " {\n  take x from bank" + m + "\n  take u from bus\n";
      text +=
          std::string("  delay ") + (c == odd ? "x.v" : "0") + "\n  put out (x.v)\n  put bus\n}\n";
    }
  }
  return parse_net(text + "end\n");
}

Copies copies_of(const Net& net) {
  GenerateOptions options;
  options.inlined = 0;
  return EventFacts(net, options).copies;
}

TEST_CASE("channels are copies, what joins them is in none") {
  const Net net = channels(3);
  const Copies copies = copies_of(net);
  CHECK(copies.places[0].part == Copy::kNone);  // out
  CHECK(copies.places[1].part == Copy::kNone);  // bus
  for (std::uint32_t c = 0; c < 3; ++c) {
    for (std::size_t at = 0; at < 5; ++at) {
      CAPTURE(at);
      CHECK(copies.places[2 + 5 * c + at].part == 0);
      CHECK(copies.places[2 + 5 * c + at].number == c);
    }
    for (std::size_t at = 0; at < 8; ++at) {
      CHECK(copies.transitions[8 * c + at].part == 0);
      CHECK(copies.transitions[8 * c + at].number == c);
    }
  }
}

TEST_CASE("a channel that is like no other is no copy, though its banks are like each other") {
  const Copies copies = copies_of(channels(3, 1));
  std::set<std::uint32_t> parts, odd;
  for (const std::size_t k : {0u, 7u, 16u, 23u}) parts.insert(copies.transitions[k].part);
  for (std::size_t k = 8; k < 16; ++k) odd.insert(copies.transitions[k].part);
  CHECK(parts.size() == 1);
  CHECK(parts.count(Copy::kNone) == 0);
  CHECK(odd.count(*parts.begin()) == 0);
}

TEST_CASE("a small net, whose code is in one piece, has no copies") {
  for (const Copy& copy : EventFacts(channels(3), {}).copies.transitions) {
    CHECK(copy.part == Copy::kNone);
  }
}

}  // namespace
}  // namespace lpn::sim
