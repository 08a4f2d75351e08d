#include "lpn/viz/vcd.h"

#include <doctest/doctest.h>

#include <string>

#include "lpn/base/error.h"
#include "lpn/run/interp.h"
#include "lpn/text/text.h"

using namespace lpn;
using namespace lpn::viz;

namespace {

// Two jobs of 3 and 2 cycles through one server, then a step without delay; an instance "a" beside
// a transition "a", whose signals must not fall into its scope.
constexpr const char* kNet = R"(lpn 1
net n
type unit ()
type job (size: 0..9)
place in : job start
place a.mid : unit
place out : unit done
transition a {
  take j from in
  delay j.size
  servers 1
  put a.mid
}
transition a.step {
  take m from a.mid
  delay 0
  put out
}
end
)";

std::string dump(Window window, std::size_t most = 1000) {
  const Net net = parse_net(kNet);
  Marking marking(net);
  marking.add(PlaceId{0}, std::vector<std::int64_t>{3, 2}, 2);
  VcdWriter vcd(net, {}, marking, window, most);
  InterpOptions options;
  options.trace = true;
  const RunResult run = Interp(net, {}, marking, options).run(kForever, &vcd);
  std::string text;
  vcd.finish(run.last_commit, [&text](std::string_view part) { text += part; });
  return text;
}

}  // namespace

TEST_CASE("a dump, by hand") {
  CHECK(dump({}) ==
        "$comment net n: one tick of the net (a cycle) is written as 1 ns; values are those after "
        "the last group of an instant $end\n$version lpn $end\n$timescale 1 ns $end\n"
        "$scope module n $end\n"
        "$var integer 32 ! in $end\n$var integer 32 # out $end\n"
        "$scope module a $end\n$var integer 32 \" mid $end\n"
        "$scope task step $end\n$var integer 32 ' step_in_flight $end\n$var integer 32 % "
        "step_commits $end\n"
        "$upscope $end\n$upscope $end\n"
        "$scope task a_ $end\n$var integer 32 & a__in_flight $end\n$var integer 32 $ a__commits "
        "$end\n"
        "$upscope $end\n$upscope $end\n$enddefinitions $end\n"
        "#0\n$dumpvars\nb10 !\nb0 \"\nb0 #\nb0 $\nb0 %\nb1 &\nb0 '\n$end\n"
        "#3\nb1 !\nb1 $\nb1 #\nb1 %\n"
        "#5\nb0 !\nb10 $\nb10 #\nb10 %\nb0 &\n");
}

TEST_CASE("a window begins with what is so and ends where it ends") {
  const std::string text = dump({1, 4});
  CHECK(text.substr(text.find("#1\n")) ==
        "#1\n$dumpvars\nb10 !\nb0 \"\nb0 #\nb0 $\nb0 %\nb1 &\nb0 '\n$end\n"
        "#3\nb1 !\nb1 $\nb1 #\nb1 %\n#4\n");
  const std::string after = dump({7, 9});
  CHECK(after.substr(after.find("#7\n")) ==
        "#7\n$dumpvars\nb0 !\nb0 \"\nb10 #\nb10 $\nb10 %\nb0 &\nb0 '\n$end\n");
}

TEST_CASE("a signal beyond 31 bits is wide, the others are not") {
  const Net net = parse_net(kNet);
  Marking marking(net);
  marking.add(PlaceId{0}, std::vector<std::int64_t>{3}, 1);
  VcdWriter vcd(net, {}, marking);
  Commit commit;
  commit.start = 2;
  commit.time = 5;
  commit.taken = {{TokenId{}}};
  commit.produced = {5'000'000'000};
  vcd.on_commit(commit);
  std::string text;
  vcd.finish(5, [&text](std::string_view part) { text += part; });
  CHECK(text.find("$var integer 64 \" mid $end") != std::string::npos);
  CHECK(text.find("$var integer 32 ! in $end") != std::string::npos);
  CHECK(text.substr(text.find("#2\n")) ==
        "#2\nb1 &\n#5\nb0 !\nb100101010000001011111001000000000 \"\nb1 $\nb0 &\n");
}

TEST_CASE("what does not fit is refused") {
  CHECK_THROWS_WITH_AS(dump({}, 3), doctest::Contains("--window 0:"), Error);
}
