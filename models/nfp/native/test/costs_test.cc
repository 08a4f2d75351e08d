// Costs and graphs by hand.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "analysis.h"
#include "graph.h"
#include "lpn/base/error.h"
#include "programs.h"

using namespace lpn::nfp;
using nfp_test::parse;

namespace {

PathCost cost_of(const std::vector<std::string>& lines, const std::string& path,
                 std::optional<std::uint32_t> rounds = {}) {
  Unroll unroll;
  unroll.all = rounds;
  const Costs costs = nfp_test::table();
  const Graph graph = make_graph(parse(lines), unroll, costs);
  return path_cost(graph, costs, parse_path(graph, path));
}

std::string code_of(const std::vector<std::string>& lines, const Costs& costs = nfp_test::table()) {
  try {
    make_graph(parse(lines), {}, costs);
  } catch (const lpn::Error& error) {
    return error.code();
  }
  return "";
}

}  // namespace

TEST_CASE("costs: a taken branch waits for condition codes written just before") {
  // 2 + 4 right after the alu; 3 + 3 with a nop between.
  CHECK(cost_of({"nop", "alu[--, --, B, 0]", "beq[.15000]"}, "->0->15000").cycles == 224 + 2 + 4);
  CHECK(cost_of({"alu[--, --, B, 0]", "nop", "beq[.15000]"}, "->0->15000").cycles == 224 + 2 + 3);
  CHECK(cost_of({"alu[--, --, B, 0]", "beq[.15000]"}, "->0--15000").cycles == 224 + 2);
  // At the beginning of the program they are as good as just written.
  CHECK(cost_of({"beq[.15000]"}, "->0->15000").cycles == 224 + 4);
  CHECK(cost_of({"br[.15000], defer[2]", "nop"}, "->0->15000").cycles == 224 + 4);
}

TEST_CASE("costs: answers of a memory keep their distance") {
  const std::string sram = "mem[read32_swap, $xfer_0, gprA_1, 0, 1], ctx_swap[sig1]";
  const std::string dram = "mem[read32_swap, $xfer_0, gprA_1, <<8, 0, 1], ctx_swap[sig1]";
  CHECK(cost_of({sram}, "->0--15000").cycles == 224 + 16);
  CHECK(cost_of({"nop", "nop", sram}, "->0--15000").cycles == 224 + 2 + 14);
  CHECK(cost_of({sram, sram}, "->0--15000").cycles == 224 + 16 + 16);
  const PathCost both = cost_of({sram, "nop", dram}, "->0--15000");
  CHECK(both.cycles == 224 + 16 + 1 + 24);
  CHECK(both.dram_cycles == 4);
  // A posted access costs one cycle, and the distance counts from it too.
  const PathCost add =
      cost_of({dram, "mem[add_imm, $xfer_0, gprA_1, <<8, 0, 1], indirect_ref", dram}, "->0--15000");
  CHECK(add.cycles == 224 + 25 + 1 + 25);
  CHECK(add.dram_cycles == 11);
  // Never less than 3.
  std::vector<std::string> far(30, "nop");
  far.push_back(sram);
  CHECK(cost_of(far, "->0--15000").cycles == 224 + 30 + 3);
}

TEST_CASE("costs: edges carry the least distance over all ways to arrive") {
  // By the taken branch the read of .5 comes 4 + 1 cycles after the one of .0, else 1 + 2 + 1; both
  // ways it is charged as if it came after the shorter.
  const std::vector<std::string> lines = {
      "mem[read32_swap, $xfer_0, gprA_1, 0, 1], ctx_swap[sig1]",
      "alu[--, --, B, 0]",
      "beq[@join]",
      "nop",
      "nop",
      "join:",
      "mem[read32_swap, $xfer_0, gprA_1, 0, 1], ctx_swap[sig1]"};
  const PathCost taken = cost_of(lines, "->0->5--15000"),
                 fallen = cost_of(lines, "->0--3--5--15000");
  CHECK(taken.cycles == 224 + 16 + 1 + 4 + 11);
  CHECK(taken.max_cycles ==
        224 + 16 + 1 + 4 + 14);  // the branch counts as not taken: 2 cycles since .0
  CHECK(fallen.cycles == 224 + 16 + 1 + 1 + 2 + 12);
  CHECK(fallen.max_cycles == fallen.cycles);
}

TEST_CASE("costs: a write to DRAM has none, and is refused") {
  const std::vector<std::string> lines = {
      "mem[write8_swap, $xfer_0, gprA_1, <<8, 0, 4], ctx_swap[sig1]"};
  CHECK(code_of(lines) == "E-nfp-cost");
  Costs own = nfp_test::table();
  own.dram_write = 5;
  CHECK(code_of(lines, own).empty());
}

TEST_CASE("graph: blocks end at branches and where ways join") {
  const Graph graph = make_graph(parse({"nop", "alu[--, --, B, 0]", "beq[@end]", "nop", "br[@more]",
                                        "more:", "nop", "end:", "nop", "br[.15000]", "nop"}),
                                 {}, nfp_test::table());
  std::vector<std::uint32_t> ids;
  for (const Block& block : graph.blocks) ids.push_back(block.id);
  CHECK(ids == std::vector<std::uint32_t>{
                   0, 3, 5, 6, 15000});  // br always ends a block; the last nop is never met
  CHECK(notation(graph, parse_path(graph, "->0--3->5--6->15000")) == "->0--3->5--6->15000");
  for (const char* wrong :
       {"->0", "->0->3->15000", "0--3", "->0--3->5--6->15000->1", "->0~~6", "--0->6->15000"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(parse_path(graph, wrong), lpn::Error);
  }
}

TEST_CASE("graph: a loop needs a limit, and is unrolled to it") {
  const std::vector<std::string> lines = {
      "immed[gprA_1, 0]",      "loop:",      "alu[gprA_1, gprA_1, +, 1]",
      "alu[--, gprA_1, -, 3]", "bne[@loop]", "br[.15000]"};
  CHECK(code_of(lines) == "E-nfp-loop");
  CHECK(cyclic(parse(lines)));
  CHECK(cost_of(lines, "->0--1->1->1--4->15000", 3).cycles == 224 + 1 + 2 * (2 + 4) + 3 + 4);
  CHECK_THROWS_AS(cost_of(lines, "->0--1->1->1->1--4->15000", 3), lpn::Error);
  Unroll unroll;
  unroll.blocks[1] = 2;
  CHECK(make_graph(parse(lines), unroll, nfp_test::table()).blocks.size() == 5);
  std::uint32_t limit = 0;
  make_bounded_graph(parse(lines), nfp_test::table(), limit);
  CHECK(limit == 3);  // the counter says so
  std::vector<std::string> endless = lines;
  endless[3] = "alu[--, gprA_1, XOR, gprB_3]";
  endless[0] =
      "alu[gprB_3, --, B, *l$index1]";  // the packet's size: up to 1500 rounds, but no constant
  CHECK_THROWS_AS(make_bounded_graph(parse(endless), nfp_test::table(), limit), lpn::Error);
}

TEST_CASE("graph: a second loop starts afresh, and an inner one shares its rounds") {
  const std::vector<std::string> two = {"first:",  "alu[--, --, B, gprB_1]", "bne[@first]",
                                        "second:", "alu[--, --, B, gprB_1]", "bne[@second]"};
  CHECK(cost_of(two, "->0->0--2->2--15000", 2).cycles > 0);
}

TEST_CASE("segments: what a thread does between accesses") {
  const Costs costs = nfp_test::table();
  const Graph graph =
      make_graph(parse({"nop", "mem[read32_swap, $xfer_0, gprA_1, 0, 7], ctx_swap[sig1]", "nop",
                        "nop", "mem[add_imm, $xfer_0, gprA_1, <<8, 0, 1], indirect_ref",
                        "mem[read32_swap, $xfer_0, gprA_1, <<8, 0, 1], ctx_swap[sig1]"}),
                 {}, costs);
  const auto parts = segments(graph, costs, parse_path(graph, "->0--15000"));
  REQUIRE(parts.size() == 4);
  CHECK(parts[0].cycles == 4);
  CHECK(parts[0].access == Access::kSram);
  CHECK(parts[0].waits);
  CHECK(parts[0].words == 7);
  CHECK(parts[1].cycles == 3);
  CHECK(parts[1].access == Access::kDramAdd);
  CHECK_FALSE(parts[1].waits);
  CHECK(parts[2].cycles == 3);
  CHECK(parts[2].access == Access::kDramRead);
  CHECK(parts[3].cycles == 0);
  CHECK(parts[3].access == Access::kNone);
}

TEST_CASE("costs: the demo's path, counted by hand") {
  std::ifstream file(LPN_NFP_DEMO "/portcount.asm");
  std::stringstream text;
  text << file.rdbuf();
  const Costs costs = nfp_test::table();
  const Graph graph = make_graph(parse_listing(text.str(), "portcount.asm"), {}, costs);
  // .0-.12 13; .13 reads 13 cycles after the beginning: 3; .14-.16 3; .17-.19 3; .20-.23 4; .24-.26
  // 3; .27, br 5; .30-.34 5; .35-.40 6, bcc taken at once 4; .45, br 5.
  const PathCost cost =
      path_cost(graph, costs, parse_path(graph, "->0--13--17--20--24--27->30->45->15000"));
  CHECK(cost.cycles == 224 + 13 + 3 + 3 + 3 + 4 + 3 + 5 + 5 + 6 + 4 + 5);
  CHECK(cost.dram_cycles == 3);
}
