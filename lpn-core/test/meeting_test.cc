// Tokens of several feeders meet in a place without values, where they stand in no order: of each
// input the paths say what the interpreter says, whatever takes them and however the feeders are
// delayed.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "every_path.h"
#include "lpn/text/text.h"

using namespace lpn;

namespace {

struct Feeder {
  std::string delay, to;
};

// Three tokens, of times 0 to 2 each, that reach p or q by a feeder of their own; then `consumers`.
Net meeting(const std::vector<Feeder>& feeders, const std::string& consumers) {
  std::string text = "lpn 1\nnet meeting\ntype time (n: 0..2)\ntype unit ()\n";
  const std::string names = "abc";
  for (std::size_t k = 0; k < feeders.size(); ++k) {
    text += "place " + names.substr(k, 1) + " : time start\n";
  }
  text +=
      "place p : unit initial 0\nplace q : unit initial 0\nplace room : unit initial 1\n"
      "place out : unit done\n";
  for (std::size_t k = 0; k < feeders.size(); ++k) {
    const std::string name = names.substr(k, 1);
    text += "transition feeds_" + name + " {\n  take j from " + name + "\n  delay " +
            feeders[k].delay + "\n  put " + feeders[k].to + "\n}\n";
  }
  return parse_net(text + consumers + "end\n");
}

std::string transition(const std::string& name, const std::vector<std::string>& lines) {
  std::string text = "transition " + name + " {\n";
  for (const std::string& line : lines) text += "  " + line + "\n";
  return text + "}\n";
}

// Each feeder early or late, and which one is the last is up to the input.
const std::vector<std::vector<std::string>> kDelays = {
    {"j.n", "j.n", "j.n"},          {"j.n", "2 - j.n", "1"}, {"3 - j.n", "1", "j.n"},
    {"2", "1 + j.n", "2 * j.n"},    {"1", "1", "1"},         {"0", "j.n", "2"},
    {"2 * j.n", "3", "4 - 2 * j.n"}};

void all_agree(const std::vector<std::string>& to, const std::string& consumers) {
  for (const std::vector<std::string>& delays : kDelays) {
    std::vector<Feeder> feeders;
    for (std::size_t k = 0; k < to.size(); ++k) feeders.push_back({delays[k], to[k]});
    CAPTURE(delays);
    CAPTURE(consumers);
    const Net net = meeting(feeders, consumers);
    agreed(net, one_token_each(to.size(), {0, 2}));
  }
}

}  // namespace

TEST_CASE("a transition that takes some of three tokens, and waits for as many or more") {
  for (const std::string need :
       {"", " weight 2", " weight 3", " weight 1 need 2", " weight 2 need 3"}) {
    for (const std::string rest : {"servers 1", "servers 1\n  interval 2", "servers 2"}) {
      all_agree({"p", "p", "p"},
                transition("takes", {"take x from p" + need, "delay 3", rest, "put out"}));
    }
  }
}

TEST_CASE("a transition that takes of two places in which tokens meet") {
  for (const std::string need : {"", " weight 2"}) {
    for (const std::string servers : {"servers 1", "servers 2"}) {
      all_agree({"p", "q", "p"}, transition("takes", {"take x from p" + need, "take y from q",
                                                      "delay 3", servers, "put out"}));
      all_agree({"p", "p\n  put q", "q"},
                transition("takes", {"take x from p" + need, "take y from q", "delay 3", servers,
                                     "put out"}));
    }
  }
}

TEST_CASE("two that take from a place in which tokens meet, and want the same room") {
  const std::string gives_back = "put out\n  put room";
  for (const std::string need : {"", " weight 2"}) {
    for (const std::string first : {"1", "4"}) {
      all_agree(
          {"p", "q", "p"},
          transition("one",
                     {"take x from p" + need, "take r from room", "delay " + first, gives_back}) +
              transition("two", {"take y from q", "take r from room", "delay 2", gives_back}));
    }
  }
}

TEST_CASE("a place in which tokens meet: counted, watched, in time with a clock") {
  all_agree({"p", "p", "q"}, transition("takes", {"take x from p when occupancy(x) >= 2",
                                                  "take y from q", "delay 3", "put out"}));
  all_agree({"p", "p", "q"},
            transition("takes", {"take y from q", "empty e in p", "delay 3", "put out"}) +
                transition("drains", {"take x from p", "delay 2", "servers 1"}));
  all_agree({"p", "p", "q"}, transition("takes", {"take x from p weight 2", "delay 1", "servers 1",
                                                  "clock 3 phase 1", "put out"}));
}

TEST_CASE(
    "what would start at the instant at which its inhibitor fills waits until that is empty") {
  // Neither is known to come first, and no delay is 0: both are of the first group of their
  // instant.
  for (const std::string servers : {"", "servers 1"}) {
    for (const std::string stays : {"1", "3"}) {
      const Net net =
          meeting({{"1 + j.n", "q"}, {"1 + j.n", "p"}},
                  transition("takes", {"take y from q", "empty e in p", "delay 4", "put out"}) +
                      transition("drains", {"take x from p", "delay " + stays, servers}));
      const std::vector<Time> latencies = agreed(net, one_token_each(2, {0, 2}));
      CHECK(latencies[0] == 1 + (stays == "1" ? 1 : 3) + 4);
      CHECK(latencies[0 * 3 + 1] == 1 + 4);  // it fills later
    }
  }
}
