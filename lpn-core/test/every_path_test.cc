// Nets in which one thing may come before another: of each input the paths say what the interpreter
// says. Each is here for a mistake that random nets did not show.

#include "every_path.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "lpn/base/error.h"
#include "lpn/classes/partition.h"
#include "lpn/net/marking.h"
#include "lpn/run/interp.h"
#include "lpn/text/text.h"

using namespace lpn;

TEST_CASE("a rival that can start once another took the head in front of what it needs") {
  // `last` is ready from v0 on; `second` needs the head 2 of q, which stands behind 1 until `first`
  // takes that, at v1: then it takes the room before `last` does.
  const Net net = parse_net(R"(lpn 1
net rivals
type time (n: 0..3)
type job (k: 1..2)
type unit ()
place a : time start
place b : time start
place la : unit
place lb : unit
place q : job initial (1 + index) times 2
place room : unit initial 1
place out : unit done
transition last {
  take l from la
  take r from room
  delay 5
  put out
}
transition first {
  take l from lb
  take j from q
  delay 1
  put out
}
transition second {
  take j from q when j.k == 2
  take r from room
  delay 9
  put out
}
transition waits_a {
  take j from a
  delay j.n
  put la
}
transition waits_b {
  take j from b
  delay j.n
  put lb
}
end
)");
  const std::vector<Time> latencies = agreed(net, one_token_each(2, {0, 3}));
  CHECK(latencies.size() == 16);
  CHECK(latencies[0 * 4 + 1] == 0 + 5);  // v0 = 0, v1 = 1: `last` has the room
  CHECK(latencies[3 * 4 + 1] == 1 + 9);  // v0 = 3
}

TEST_CASE("a rival whose token another contender may still bring") {
  // `second` takes the room once `first` has brought it `mid`; `first` shares q with `never`, so
  // that it is no local matter when it does.
  const Net net = parse_net(R"(lpn 1
net brought
type time (n: 0..3)
type unit ()
place a : time start
place b : time start
place la : unit
place lb : unit
place q : time initial (0)
place mid : unit
place room : unit initial 1
place out : unit done
transition last {
  take l from la
  take r from room
  delay 5
  put out
}
transition second {
  take m from mid
  take r from room
  delay 9
  put out
}
transition first {
  take l from lb
  take j from q
  delay 1
  put mid
}
transition never {
  take j from q when j.n == 3
  delay 1
}
transition waits_a {
  take j from a
  delay j.n
  put la
}
transition waits_b {
  take j from b
  delay j.n
  put lb
}
end
)");
  const std::vector<Time> latencies = agreed(net, one_token_each(2, {0, 3}));
  CHECK(latencies[1 * 4 + 3] == 1 + 5);  // v0 = 1, v1 = 3
  CHECK(latencies[3 * 4 + 0] == 1 + 9);  // v0 = 3, v1 = 0: `mid` comes at 1
}

TEST_CASE("of two that become ready at once the first one starts, if its delay was no 0") {
  // What a delay of 0 brings comes a group later than what has taken time.
  const Net net = parse_net(R"(lpn 1
net tie
type time (n: 0..3)
type unit ()
place a : time start
place b : time start
place la : unit
place lb : unit
place room : unit initial 1
place out : unit done
transition one {
  take l from la
  take r from room
  delay 5
  put out
}
transition two {
  take l from lb
  take r from room
  delay 9
  put out
}
transition waits_a {
  take j from a
  delay j.n
  put la
}
transition waits_b {
  take j from b
  delay j.n
  put lb
}
end
)");
  InputSpace space = one_token_each(2, {0, 3});
  CHECK(agreed(net, space).size() == 16);
  space.variables.params[1].range = Range{1, 3};
  const std::vector<Time> latencies = agreed(net, space);
  CHECK(latencies[2 * 3 + 1] == 2 + 5);  // both at 2
}

TEST_CASE("initial tokens stand in front of what comes at time 0") {
  const Net net = parse_net(R"(lpn 1
net front
type time (n: 0..3)
type job (k: 0..9)
type unit ()
place a : time start
place b : time start
place q : job initial (5)
place out : unit done
transition puts_a {
  take j from a
  delay j.n
  put q (1)
}
transition puts_b {
  take j from b
  delay j.n
  put q (2)
}
transition takes {
  take j from q
  delay 1 + j.k
  servers 1
  interval 20
  put out
}
end
)");
  const std::vector<Time> latencies = agreed(net, one_token_each(2, {0, 3}));
  CHECK(latencies[0] == 40 + 1 + 2);  // 5, then 1, then 2
  CHECK(latencies[1 * 4 + 0] == 40 + 1 + 1);
}

TEST_CASE("an inhibitor whose place fills in an earlier or a later group of the same instant") {
  const auto text = [](int before_start, int before_full) {
    // So many transitions without delay, each a group later.
    const auto chain = [](const std::string& from, int count) {
      std::string lines;
      for (int k = 0; k < count; ++k) {
        const std::string n = std::to_string(k);
        const std::string in = k == 0 ? from : from + std::to_string(k - 1);
        lines += "place " + from + n + " : unit\ntransition " + from + "_" + n +
                 " {\n  take t from " + in + "\n  delay 0\n  put " + from + n + "\n}\n";
      }
      return lines;
    };
    const auto last = [](const std::string& from, int count) {
      return count == 0 ? from : from + std::to_string(count - 1);
    };
    return "lpn 1\nnet gate\ntype time (n: 0..3)\ntype unit ()\nplace a : time start\n"
           "place b : time start\nplace s : unit\nplace f : unit\nplace full : unit\n"
           "place out : unit done\n" +
           chain("s", before_start) + chain("f", before_full) + "transition t {\n  take x from " +
           last("s", before_start) +
           "\n  empty e in full\n  delay 7\n  put out\n}\ntransition fills {\n  take x from " +
           last("f", before_full) +
           "\n  delay 0\n  put full\n}\ntransition empties {\n  take x from full\n  delay 2\n"
           "  servers 1\n}\n"
           "transition waits_a {\n  take j from a\n  delay j.n\n  put s\n}\n"
           "transition waits_b {\n  take j from b\n  delay j.n\n  put f\n}\nend\n";
  };
  for (int before_start = 0; before_start < 4; ++before_start) {
    for (int before_full = 0; before_full < 4; ++before_full) {
      CAPTURE(before_start);
      CAPTURE(before_full);
      const Net net = parse_net(text(before_start, before_full));
      CHECK(agreed(net, one_token_each(2, {0, 3})).size() == 16);
      CHECK(agreed(net, one_token_each(2, {1, 3})).size() == 9);  // groups are known
    }
  }
}

TEST_CASE("a weight that reads how full a place is: refused, and what to write instead") {
  const Net net = parse_net(R"(lpn 1
net weighs
type unit ()
place p : unit initial 2
place out : unit done
transition t {
  take j from p weight occupancy(j)
  delay 1
  put out
}
end
)");
  CHECK_THROWS_WITH_AS(
      partition(net, InputSpace{}),
      "weighs: transition t: its weight reads how full a place is; write the limit "
      "as a capacity, or as credits that are taken and given back",
      Error);
}

TEST_CASE("an inhibitor whose place fills together with what would start") {
  // Both come from one commit: which is seen first depends on the groups alone.
  for (int before_start = 0; before_start < 3; ++before_start) {
    for (int before_full = 0; before_full < 3; ++before_full) {
      CAPTURE(before_start);
      CAPTURE(before_full);
      std::string text =
          "lpn 1\nnet together\ntype time (n: 0..3)\ntype unit ()\nplace a : time start\n"
          "place out : unit done\n";
      for (int k = 0; k <= before_start; ++k) text += "place s" + std::to_string(k) + " : unit\n";
      for (int k = 0; k <= before_full; ++k) text += "place f" + std::to_string(k) + " : unit\n";
      const std::string s = "s" + std::to_string(before_start);
      const std::string f = "f" + std::to_string(before_full);
      text += "transition t {\n  take x from " + s + "\n  empty e in " + f +
              "\n  delay 7\n  put out\n}\ntransition empties {\n  take x from " + f +
              "\n  delay 2\n  servers 1\n}\ntransition begins {\n  take j from a\n  delay 1 + j.n\n"
              "  put s0\n  put f0\n}\n";
      const auto relays = [&](const std::string& name, int count) {
        for (int k = 0; k < count; ++k) {
          text += "transition " + name + "_" + std::to_string(k) + " {\n  take x from " + name +
                  std::to_string(k) + "\n  delay 0\n  put " + name + std::to_string(k + 1) +
                  "\n}\n";
        }
      };
      relays("s", before_start);
      relays("f", before_full);
      const Net net = parse_net(text + "end\n");
      const std::vector<Time> latencies = agreed(net, one_token_each(1, {0, 3}));
      const Time waits = before_full <= before_start ? 2 : 0;
      CHECK(latencies == std::vector<Time>{8 + waits, 9 + waits, 10 + waits, 11 + waits});
    }
  }
}

TEST_CASE("how much room is left: read by who takes, refused to others") {
  const auto text = [](const std::string& reader) {
    return "lpn 1\nnet room\ntype unit ()\nplace src : unit start initial 4\n"
           "place mid : unit capacity 4\nplace look : unit initial 1\nplace out : unit done\n"
           "transition fills {\n  take x from src\n  delay 2\n  servers 1\n  put mid\n}\n"
           "transition takes {\n  take m from mid weight 2\n  delay " +
           reader + "\n  put out\n}\n";
  };
  const Net own = parse_net(text("1 + free(m)") + "end\n");
  CHECK(agreed(own, InputSpace{}).size() == 1);
  const Net other = parse_net(text("1") +
                              "transition looks {\n  take l from look\n  take m from mid weight 0\n"
                              "  delay 1 + free(m)\n  put out\n}\nend\n");
  CHECK_THROWS_WITH_AS(
      partition(other, InputSpace{}),
      "room: transition looks: its delay reads free() of a place from which others take; write the "
      "limit as a capacity, or as credits that are taken and given back",
      Error);
}

TEST_CASE("a partition stops when enough branches wait, to share them out") {
  const Net net = parse_net(R"(lpn 1
net shared
type time (n: 0..9)
type unit ()
place a : time start
place b : time start
place out : unit done
transition short {
  take j from a when j.n < 5
  delay 1
  put out
}
transition brief {
  take j from b when j.n < 5
  delay 2
  put out
}
end
)");
  const InputSpace space = one_token_each(2, {0, 9});
  PartitionOptions options;
  options.max_open = 2;
  const Partition first = partition(net, space, options);
  CHECK_FALSE(first.complete);
  CHECK(first.why == "enough branches to share out");
  CHECK(first.open.size() == 2);
  const Partition whole = partition(net, space);
  CHECK(whole.complete);
  CHECK(whole.classes.size() == 4);
}

TEST_CASE("what comes in a later group of the instant does not hold back what starts there") {
  // `gate` holds a token from the first time, or from the group behind it, until two ticks later.
  const auto net = [](const std::string& filling, const std::string& asking) {
    return parse_net(
        "lpn 1\nnet gate\ntype time (n: 1..4)\ntype unit ()\nplace a : time start\n"
        "place b : time start\nplace pre : unit\nplace gate : unit\nplace src : time\n"
        "place asks : time\nplace out : unit done\n"
        "transition opens {\n  take j from a\n  delay j.n\n  put " +
        std::string(filling == "at once" ? "gate" : "pre") +
        "\n}\ntransition fill {\n  take x from pre\n  delay 0\n  put gate\n}\n"
        "transition clear {\n  take x from gate\n  delay 2\n  servers 1\n}\n"
        "transition feeds {\n  take j from b\n  delay j.n\n  put " +
        std::string(asking == "at once" ? "asks" : "src") +
        " (j.n)\n}\ntransition relay {\n  take x from src\n  delay 0\n  put asks (x.n)\n}\n"
        "transition go {\n  take x from asks\n  empty g in gate\n  delay 10\n  put out\n}\nend\n");
  };
  // b = 1..4 for each a = 1..4.
  const auto latencies = [&](const std::string& filling, const std::string& asking) {
    return agreed(net(filling, asking), one_token_each(2, {1, 4}));
  };
  // From a on, where it is seen: until a + 2.
  const std::vector<Time> seen{13, 13, 13, 14, 11, 14, 14, 14, 11, 12, 15, 15, 11, 12, 13, 16};
  // At a itself `go` comes first.
  const std::vector<Time> unseen{11, 13, 13, 14, 11, 12, 14, 14, 11, 12, 13, 15, 11, 12, 13, 14};
  CHECK(latencies("at once", "at once") == seen);
  CHECK(latencies("at once", "relayed") == seen);
  CHECK(latencies("relayed", "at once") == unseen);
  CHECK(latencies("relayed", "relayed") == seen);
}
