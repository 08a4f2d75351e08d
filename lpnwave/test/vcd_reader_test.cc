#include "lpn/wave/vcd_reader.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "lpn/base/error.h"

namespace lpn::wave {
namespace {

const std::string kHeader =
    "$date today $end\n$timescale\n\t10 ns\n$end\n$scope module tb $end\n"
    "$var wire 1 ! clk $end\n$scope begin sp[0] $end\n$var wire 8 \" data [7:0] $end\n$upscope "
    "$end\n"
    "$var wire 1 longest bit [3] $end\n$upscope $end\n$enddefinitions $end\n";

struct Heard : Listener {
  std::string text;
  void on_time(std::int64_t time) override { text += "#" + std::to_string(time) + " "; }
  void on_change(std::uint32_t watched, std::string_view bits) override {
    text += std::to_string(watched) + "=" + std::string(bits) + " ";
  }
};

// What is heard of a dump that comes in pieces of `size` bytes, and whether it is complete.
std::string heard(const std::string& dump, std::size_t size, bool& complete) {
  VcdReader reader;
  Heard listener;
  bool body = false;
  for (std::size_t at = 0; at < dump.size(); at += size) {
    const std::string piece = dump.substr(at, size);
    if (body) {
      reader.read(piece, listener);
    } else if ((body = reader.read_header(piece))) {
      for (std::uint32_t k = 0; k < reader.header().signals; ++k) reader.watch(k, k);
      reader.read({}, listener);
    }
  }
  complete = reader.complete();
  return listener.text;
}

std::string refused(const std::string& dump) {
  bool complete = false;
  try {
    heard(dump, 1 << 20, complete);
  } catch (const Error& error) {
    CHECK(error.code() == "E-wave");
    return error.what();
  }
  return "";
}

TEST_CASE("declarations: scopes, ranges, the time scale") {
  VcdReader reader;
  REQUIRE(reader.read_header(kHeader));
  const Header& h = reader.header();
  CHECK(h.tick == 10'000'000);
  REQUIRE(h.variables.size() == 3);
  CHECK(h.variables[0].name == "tb.clk");
  CHECK(h.variables[1].name == "tb.sp[0].data");
  CHECK(h.variables[1].msb == 7);
  CHECK(h.variables[1].lsb == 0);
  CHECK(h.variables[2].name == "tb.bit");
  CHECK(h.variables[2].lsb == 3);
  CHECK(h.variables[2].ranged);
  CHECK(h.signals == 3);
}

TEST_CASE("the pieces do not matter") {
  const std::string dump =
      kHeader +
      "#0\n$dumpvars\n0!\nbx \"\nzlongest\n$end\n$comment #7 1! $end\n#10 1! b101 \"\n"
      "#10\nB11 \" r1.5 !\n#20\n0!\n";
  const std::string expected = "#0 0=0 1=x 2=z #10 0=1 1=101 1=11 #20 0=0 ";
  for (const std::size_t size : {1, 2, 3, 7, 1000}) {
    bool complete = false;
    CHECK(heard(dump, size, complete) == expected);
    CHECK(complete);
  }
}

TEST_CASE("a dump that ends in the midst") {
  bool complete = true;
  CHECK(heard(kHeader + "#0\n0!\n#12", 5, complete) == "#0 0=0 ");
  CHECK_FALSE(complete);
  CHECK(heard(kHeader + "#0\nb101 ", 5, complete) == "#0 ");
  CHECK_FALSE(complete);
  CHECK(heard(kHeader + "#0\n$comment no end", 5, complete) == "#0 ");
  CHECK_FALSE(complete);
  CHECK(heard("$var wire 1 ! clk", 5, complete).empty());
  CHECK_FALSE(complete);
}

TEST_CASE("a byte order mark is passed over, and counts as bytes") {
  const std::string dump = kHeader + "#0\n0!\n#12\n1!\n";
  for (const std::size_t piece : {1, 2, 3, 5, 1000}) {
    bool complete = false;
    CHECK(heard("\xEF\xBB\xBF" + dump, piece, complete) == "#0 0=0 #12 0=1 ");
    CHECK(complete);
  }
  const std::string at = std::to_string(kHeader.size() + 6);
  CHECK(refused("\xEF\xBB\xBF" + kHeader + "#5\n#4 \n") ==
        "line 14, byte " + at + ": time goes back from 5 to 4");
  CHECK(refused("\xEF\xBB\xBFhello\n") ==
        "line 1, byte 3: 'hello?': a VCD begins with $ keywords up to $enddefinitions");
  CHECK(refused(std::string("\xFF\xFE$\0", 4)) ==
        "line 1, byte 0: text of two bytes a character (UTF-16); a VCD is ASCII or UTF-8");
}

TEST_CASE("what is no dump, and where") {
  CHECK(refused("\nhello\n") ==
        "line 2, byte 1: 'hello?': a VCD begins with $ keywords up to $enddefinitions");
  CHECK(refused("$timescale 3 ns $end ") ==
        "line 1, byte 0: the time scale '3ns' is none; it is 1, 10 or 100 of s, ms, us, ns, ps or "
        "fs");
  const std::string at = std::to_string(kHeader.size() + 3);
  CHECK(refused(kHeader + "#5\n1# \n") ==
        "line 14, byte " + at + ": '#' is no identifier that was declared");
  CHECK(refused(kHeader + "#5\n#4 \n") == "line 14, byte " + at + ": time goes back from 5 to 4");
  CHECK(refused(kHeader + "#5\nb12 \" \n") ==
        "line 14, byte " + at + ": 'b12' is no value of bits 0, 1, x and z");
  CHECK(refused(kHeader + "#5\npqr ! \n") ==
        "line 14, byte " + at + ": 'pqr' is no value change and no time");
  CHECK(refused(kHeader + "#99999999999999999999 ") ==
        "line 13, byte " + std::to_string(kHeader.size()) + ": '#99999999999999999999' is no time");
  CHECK(refused("$upscope $end ") == "line 1, byte 0: an $upscope too many");
  CHECK(refused("$var wire 99999999 ! a $end ") ==
        "line 1, byte 0: a signal of 99999999 bits; at most 1048576");
}

}  // namespace
}  // namespace lpn::wave
