#include "lpn/structure/lint.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lpn/text/text.h"

using namespace lpn;

namespace {

std::vector<std::string> warnings(const std::string& body) {
  const Net net = parse_net("lpn 1\nnet n\ntype unit ()\ntype job (size: 0..8)\n" + body + "end\n");
  std::vector<std::string> found;
  for (const Warning& w : lint(net)) found.push_back(w.code + " " + w.where);
  return found;
}

using Found = std::vector<std::string>;

}  // namespace

TEST_CASE("nothing to warn of") {
  CHECK(warnings("place p : job start\nplace q : unit done\n"
                 "transition t {\n  take x from p\n  delay x.size\n  servers 1\n  put q\n}\n")
            .empty());
}

TEST_CASE("one warning of each kind") {
  const std::string in = "place p : job start\n", out = "place q : unit done\n";
  const auto t = [](const std::string& lines) { return "transition t {\n" + lines + "}\n"; };
  CHECK(warnings(in + out + t("  take x from p\n  delay 3\n  put q\n")) ==
        Found{"W-unbounded transition 't'"});
  CHECK(warnings(in + out + t("  take x from p\n  delay x.size\n  interval 1\n  put q\n")) ==
        Found{"W-overtake transition 't'"});
  CHECK(warnings(in + out + "place r : unit start sink\n" +
                 t("  take x from p\n  take y from r weight 0 when occupancy(y) < 3\n  delay 2\n"
                   "  interval 1\n  put q\n")) == Found{"W-occupancy transition 't'"});
  CHECK(warnings(in + out + t("  take x from p\n  delay 8 // x.size\n  servers 1\n  put q\n")) ==
        Found{"W-divisor transition 't'"});
  CHECK(warnings(in + out +
                 t("  take x from p when x.size > 8\n  delay 1\n  servers 1\n  put q\n")) ==
        Found{"W-dead transition 't'"});
  CHECK(
      warnings("place p : job\n" + out + t("  take x from p\n  delay 1\n  servers 1\n  put q\n")) ==
      Found{"W-dead transition 't'", "W-never-filled place 'p'"});
  CHECK(
      warnings(in + "place q : unit\n" + t("  take x from p\n  delay 1\n  servers 1\n  put q\n")) ==
      Found{"W-never-drained place 'q'"});
  CHECK(warnings(in + out + "place r : unit\nparam k = 1\n" +
                 t("  take x from p\n  delay 1\n  servers 1\n  put q\n")) ==
        Found{"W-unused place 'r'", "W-unused parameter 'k'"});
  CHECK(warnings(in + out + "place r : unit capacity 1\n" +
                 t("  take x from p\n  delay 1\n  servers 1\n  put r\n") +
                 "transition u {\n  take x from r\n  delay 2\n  servers 1\n  put q\n}\n") ==
        Found{"W-half-rate place 'r'"});
}

TEST_CASE("a divisor that a condition makes positive") {
  const std::string head =
      "place p : job start\nplace q : unit done\ntransition t {\n"
      "  take x from p\n  servers 1\n  put q\n  delay ";
  CHECK(warnings(head + "select(x.size > 0, 8 // x.size, 1)\n}\n").empty());
  CHECK(warnings(head + "select(x.size < 5, 8 // x.size, 1)\n}\n").size() == 1);
  CHECK(warnings(head + "8 // max(1, x.size)\n}\n").empty());
}

TEST_CASE("a place may hold many tokens although their numbers add up beyond 64 bits") {
  const auto t = [](const std::string& name, const std::string& kind) {
    return "transition " + name + " {\n  take x from p when x.size == " + kind +
           "\n  delay 1\n  servers 1\n  put q (x.size)\n}\n";
  };
  const Found found = warnings(
      "param m = 1\nparam n = 1\n"
      "place p : job initial (0) times m, (1) times n, (2) times 3\nplace q : job done sink\n" +
      t("a", "0") + t("b", "1"));
  CHECK(std::count(found.begin(), found.end(), "W-order place 'p'") == 1);
}
