// Code that is compiled once for all transitions that it fits.

#include "write/equal.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "lpn/sim/generate.h"
#include "lpn/text/text.h"
#include "write/link.h"

namespace lpn::sim {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

// Functions KIND_k; those of the table of all of them have no number.
std::size_t functions(const std::string& text, const std::string& kind) {
  std::size_t n = 0;
  for (char digit = '0'; digit <= '9'; ++digit) n += count(text, "void " + kind + "_" + digit);
  return n;
}

// f of places 0..3, busy of transitions 0..3.
Members four(bool arrays) {
  Members members(arrays);
  for (std::size_t k = 0; k < 4; ++k) {
    members.declare("", "u64", "f", k, "0");
    members.declare("", "bool", "busy", k, "false");
  }
  return members;
}

TEST_CASE("marks become members by name, or elements of arrays") {
  const std::string text =
      "if (@f2 >= 3ull) { @busy1 = true; dirty.insert(@T70); @Wdirty_1,64,2; }";
  CHECK(linked(text, four(false)) ==
        "if (f2 >= 3ull) { busy1 = true; dirty.insert(70); "
        "dirty.insert_word(0, 0x6ull);dirty.insert_word(1, 0x1ull);; }");
  Members arrays = four(true);
  CHECK(linked("@f2 @busy1", arrays) == "f_0[2] busy_1[1]");
  CHECK(arrays.arrays_text("Net") == "u64 f_0[4] = {};\nbool busy_1[4] = {};\n");
  arrays.declare("LPNRT_IF_TRACE", "i64", "wake", 7, "-1");
  CHECK(arrays.arrays_text("Run") ==
        "LPNRT_IF_TRACE(i64 wake_2[1] = {};)\n"
        "Run() {\nLPNRT_IF_TRACE(for (auto& x : wake_2) x = -1;)\n}\n");
}

TEST_CASE("members of copies lie in their copy, what is small first") {
  Members members(true);
  for (std::uint32_t k = 0; k < 2; ++k) {
    members.go_to({0, k});
    members.declare("", "Held<2>", "p", k);
    members.declare_within("p", "free", "f", k);
    members.declare("", "i64", "wake", k, "-1");
    members.declare("", "bool", "busy", k, "false");
  }
  members.go_to({});
  members.declare("", "bool", "busy", 2, "false");
  CHECK(linked("@f1 @wake0 @busy2", members) ==
        "part0_[1].p_0[0].free part0_[0].wake_1[0] busy_3[0]");
  CHECK(
      members.arrays_text("Net") ==
      "struct Part0 {\nbool busy_2[1] = {};\ni64 wake_1[1] = {};\nHeld<2> p_0[1];\n"
      "Part0() {\nfor (auto& x : wake_1) x = -1;\n}\n};\nPart0 part0_[2];\nbool busy_3[1] = {};\n");
  EqualCode acts(members, true);
  acts.add("act", 0, "void act_@N0(@A0) { net.@wake0 = 1; }\n");
  acts.add("act", 1, "void act_@N1(@A1) { net.@wake1 = 1; }\n");
  const std::string act = acts.text();
  CHECK(count(act, "auto& net_copy0_0_0 = net.part0_[0ll + row_[0]];") == 1);
  CHECK(count(act, " net_copy0_0_0.wake_1[0] = 1; }") == 1);
  // A function for all copies looks for its own once.
  EqualCode code(members, true);
  for (const char* k : {"0", "1"}) {
    code.add("try", 0u + static_cast<std::size_t>(*k - '0'),
             std::string("void try_@N") + k + "(@A" + k + ") { if (@f" + k + " != 0) @busy" + k +
                 " = true; }\n");
  }
  CHECK(code.text() ==
        "static constexpr Near kRows_try_0[] = {0,1,0};\n"
        "void try_0s([[maybe_unused]] const Near* const row_) {\n"
        "[[maybe_unused]] auto& copy0_0_0 = part0_[0ll + row_[0]];\n"
        " if (copy0_0_0.p_0[0].free != 0) copy0_0_0.busy_2[0] = true; }\n");
}

TEST_CASE("equal functions are written once, with a row of distances for each") {
  const Members members = four(true);
  EqualCode code(members, true);
  const auto function = [](int k, int place, int limit) {
    return "void try_@N" + std::to_string(k) + "(@A" + std::to_string(k) + ") { if (@f" +
           std::to_string(place) + " < " + std::to_string(limit) + "ull) return; @busy" +
           std::to_string(k) + " = true; @f3 = 0ll; }\n";
  };
  code.add("try", 0, function(0, 0, 5));
  code.add("try", 1, function(1, 2, 5));
  code.add("try", 2, function(2, 1, 9));
  CHECK(code.text() ==
        "static constexpr Near kRows_try_0[] = {0,0,0,2,0,1,1,4,2,0};\n"
        "void try_0s([[maybe_unused]] const Near* const row_) { if (f_0[0ll + row_[0]] < "
        "static_cast<u64>(5ll + row_[1])) return; busy_1[0ll + row_[2]] = true; f_0[3] = 0ll; }\n");
  CHECK(code.call("try", 1).text() == "try_0s(kRows_try_0 + 3)");
  // Rows that are short stand in the table of functions.
  const std::string table = code.table("Net", {{"start", "try", ""}}, 3);
  CHECK(count(table, "{with_row<Near, &Net::try_0s>, {.Nears = {1,4,2}}, },") == 1);
}

TEST_CASE("functions that others call are called by their row") {
  Members members = four(true);
  EqualCode called(members, true);
  for (const char* p : {"0", "1", "2"}) {
    called.add("call", static_cast<std::size_t>(*p - '0'),
               std::string("void call_@N") + p + "(@A" + p + ") { @f" + p + " = 1; }\n");
  }
  called.text();
  members.calls_of('C', called.calls("call"));
  CHECK(linked("@C2;", members) == "call_0s(kRows_call_0 + 2);");
  EqualCode code(members, true);
  code.add("try", 0, "void try_@N0(@A0) { @C0; }\n");
  code.add("try", 1, "void try_@N1(@A1) { @C2; }\n");
  CHECK(count(code.text(), "{ call_0s(kRows_call_0 + 0 + row_[0]); }") == 1);
}

TEST_CASE("equal statements become a loop, where members are in arrays") {
  std::vector<std::string> blocks;
  for (const int place : {0, 1, 3, 2, 0}) {
    blocks.push_back("if (@f" + std::to_string(place) + " != 0) return;\n");
  }
  blocks.push_back("@busy3 = true;\n");
  std::string apart;
  for (const std::string& block : blocks) apart += block;
  CHECK(repeated(blocks, four(false)) == apart);
  CHECK(repeated(blocks, four(true)) ==
        "{ static constexpr i64 kRows_[] = {0,1,3,2,0,};\n"
        "for (u32 i_ = 0; i_ < 5; ++i_) {\nconst i64* const row_ = kRows_ + i_ * 1;\n"
        "if (f_0[0ll + row_[0]] != 0) return;\n} }\n@busy3 = true;\n");
}

TEST_CASE("the numbers of rows are as narrow as their distances let them be") {
  const Members members = four(true);
  EqualCode code(members, true);
  for (const auto& [kind, far] :
       {std::pair{"near", "32768ll"}, {"far", "32769ll"}, {"farthest", "8589934593ll"}}) {
    const std::string text = std::string("(@A0) { return @f0 == 1ll; }\n");
    const std::string head = std::string("u32 ") + kind + "_@N0";
    code.add(kind, 0, head + text);
    std::string other = head + text;
    other.replace(other.find("1ll"), 3, far);
    code.add(kind, 1, other);
  }
  const std::string text = code.text();
  CHECK(count(text, "constexpr Near kRows_near_0[] = {0,32767,0}") == 1);
  CHECK(count(text, "constexpr Far kRows_far_0[] = {0,32768,0}") == 1);
  CHECK(count(text, "constexpr i64 kRows_farthest_0[] = {0,8589934592,0}") == 1);
  CHECK(count(text, "farthest_0s([[maybe_unused]] const i64* const row_)") == 1);
  CHECK(count(text, "return f_0[0] == (1ll + row_[0])") == 3);
}

TEST_CASE("other operations, or members of another type, are other code") {
  Members members = four(true);
  members.declare("", "u32", "f", 4, "0");
  EqualCode code(members, true);
  code.add("why", 0, "u32 why_@N0(@A0) { return @f0; }\n");
  code.add("why", 1, "u32 why_@N1(@A1) { return @f4; }\n");
  code.add("why", 2, "u32 why_@N2(@A2) { return @f1 + 1ll; }\n");
  const std::string text = code.text();
  CHECK(count(text, "u32 why_") == 3);
  CHECK(code.call("why", 2).text() == "why_2()");
}

// Rows of equal stages, one of which has another delay; all in one place for what is done.
Net stages(int rows, const std::string& odd) {
  std::string text = "lpn 1\nnet rows\ntype item (v: 0..9)\ntype unit ()\nplace out : item done\n";
  text += "place bus : unit initial 2\n";
  for (int k = 0; k < rows; ++k) {
    const auto n = std::to_string(k);
    text += "place a" + n + " : item start initial (index) times 3\n";
    text += "place b" + n + " : item capacity 2\n";
    text +=
        "transition go" + n + " {\n  take x from a" + n + " when (x.v != 1)\n  take u from bus\n";
    text += "  delay " + (k == 1 ? odd : "x.v + 2") + "\n  put b" + n + " (x.v)\n  put bus\n}\n";
    text += "transition end" + n + " {\n  take x from b" + n + "\n  delay 5\n  servers 1\n";
    text += "  put out ((x.v * 3) % 10)\n}\n";
  }
  return parse_net(text + "end\n");
}

TEST_CASE("a large net has one function for its equal transitions, a small one has none") {
  CHECK(count(generate(stages(3, "x.v + 2")), "kRows_") == 0);
  const std::string equal = generate(stages(40, "x.v + 2"));
  CHECK(functions(equal, "try") == 2);
  CHECK(functions(equal, "commit") == 2);
  const std::string odd = generate(stages(40, "x.v * 2"));
  CHECK(functions(odd, "try") == 3);
  CHECK(functions(odd, "commit") == 2);
  // A constant that differs comes with the row.
  CHECK(functions(generate(stages(40, "x.v + 3")), "try") == 2);
}

TEST_CASE("names make nothing unequal, and do not reach the source") {
  Net net = stages(40, "x.v + 2");
  net.transitions[7].name = "another";
  CHECK(functions(generate(net), "try") == 2);
  CHECK(count(generate(net), "another") == 0);
}

}  // namespace
}  // namespace lpn::sim
