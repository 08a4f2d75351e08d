// The search against all packets of small programs, run one by one.
#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "analysis.h"
#include "guarantee.h"
#include "interpret.h"
#include "lpn/base/error.h"
#include "programs.h"

using namespace lpn::nfp;

namespace {

constexpr std::uint32_t kLeast = 60, kMost = 70;  // packet sizes that make a difference

// A random program over 7 + 3 bits of the packet, sizes that matter from 60 to 70, and a few
// registers.
std::vector<std::string> random_program(std::mt19937& random, bool loops) {
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::vector<std::string> out = {"immed[gprB_22, 0x3fff]",
                                  "alu[gprB_22, gprB_22, AND, *l$index1]",
                                  "alu[gprA_20, gprB_22, +, *l$index1[2]], gpr_wrboth",
                                  "alu[gprA_2, --, B, *l$index1[2]], gpr_wrboth",
                                  "mem[read32_swap, $xfer_0, gprA_2, 0, 1], ctx_swap[sig1]",
                                  "alu[gprA_4, 0x7f, AND, $xfer_0], gpr_wrboth",
                                  "ld_field_w_clr[gprA_5, 0001, $xfer_0, >>8], gpr_wrboth",
                                  "alu[gprA_5, gprA_5, AND, 0x7], gpr_wrboth",
                                  "immed[gprA_6, 0x3], gpr_wrboth",
                                  "immed[gprA_7, 0x0], gpr_wrboth",
                                  "alu[gprA_1, --, B, gprB_23]"};
  const int blocks = 4 + pick(8);
  const auto reg = [&](char bank) {
    return std::string("gpr") + bank + "_" + std::to_string(4 + pick(4));
  };
  for (int b = 0; b < blocks; ++b) {
    out.push_back("b" + std::string(1, static_cast<char>('a' + b)) + ":");
    for (int k = pick(4); k >= 0; --k) {
      const std::string to = "gprA_" + std::to_string(6 + pick(2));
      switch (pick(9)) {
        case 0:
          out.push_back("alu[" + to + ", " + reg('A') + ", +, " + reg('B') + "], gpr_wrboth");
          break;
        case 1:
          out.push_back("alu[" + to + ", " + reg('A') + ", XOR, " + reg('B') + "], gpr_wrboth");
          break;
        case 2: out.push_back("alu[" + to + ", " + reg('A') + ", AND, 0xf], gpr_wrboth"); break;
        case 3:
          out.push_back("alu_shf[" + to + ", --, B, " + reg('B') + ", >>2], gpr_wrboth");
          break;
        case 4:
          out.push_back("immed[" + to + ", 0x" + std::to_string(pick(9)) + "], gpr_wrboth");
          break;
        case 5: out.push_back("mem[add_imm, $xfer_0, gprA_1, <<8, 0x8, 1], indirect_ref"); break;
        case 6:
          out.push_back("alu[$xfer_0, --, B, " + reg('A') + "]");
          out.push_back("mem[write8_swap, $xfer_0, gprA_2, 0x" + std::to_string(pick(4)) +
                        ", 1], ctx_swap[sig1]");
          break;
        case 7:
          out.push_back("mem[read32_swap, $xfer_0, gprA_2, 0x" + std::to_string(pick(2)) +
                        ", 1], ctx_swap[sig1]");
          out.push_back("ld_field_w_clr[" + to + ", 0001, $xfer_0], gpr_wrboth");
          break;
        default: out.push_back("nop");
      }
    }
    const int ahead = b + 1 + pick(std::min(4, blocks - b));
    const std::string target =
        ahead >= blocks ? ".15000" : "@b" + std::string(1, static_cast<char>('a' + ahead));
    switch (pick(6)) {
      case 0:
        // Against a constant, or against a number from the packet.
        out.push_back("alu[gprA_10, gprA_2, +, 0x" +
                      std::string(pick(2)   ? "40"
                                  : pick(2) ? "46"
                                            : "3c") +
                      "], gpr_wrboth");
        if (pick(2)) {
          if (pick(2))
            out.push_back("alu[gprA_11, " + reg('A') + ", AND, 0x6], gpr_wrboth");
          else
            out.push_back("alu[gprA_11, --, B, gprB_5], gpr_wrboth");
          out.push_back("alu[gprA_10, gprA_10, +, gprB_11], gpr_wrboth");
        }
        out.push_back("alu[--, gprA_20, -, gprB_10]");
        out.push_back("bcc[" + target + "]");
        break;
      case 1:
        out.push_back("alu[--, " + reg('A') + ", -, " + reg('B') + "]");
        out.push_back(std::string(pick(2) ? "blt" : "bcc") + "[" + target + "]");
        break;
      case 2:
        if (pick(3) == 0) out.push_back("br[" + target + "]");
        break;
      case 3:
        if (loops) {
          out.push_back("immed[gprA_9, 0x0], gpr_wrboth");
          const std::string label = "l" + std::string(1, static_cast<char>('a' + b));
          out.push_back(label + ":");
          out.push_back("alu[gprA_7, gprA_7, +, " + reg('B') + "], gpr_wrboth");
          out.push_back("alu[--, gprA_7, AND, 0x4]");
          out.push_back("bne[" + target + "]");
          out.push_back("alu[gprA_9, gprA_9, +, 0x1], gpr_wrboth");
          out.push_back("alu[--, gprA_9, XOR, 0x3]");
          out.push_back("bne[@" + label + "]");
          break;
        }
        [[fallthrough]];
      default:
        out.push_back("alu[--, " + reg('A') + ", " + (pick(2) ? "AND" : "XOR") + ", 0x" +
                      std::to_string(pick(9)) + "]");
        out.push_back(std::string(pick(2) ? "beq" : "bne") + "[" + target + "]");
    }
  }
  return out;
}

// The bytes that a program reads beyond the first two are 0 here and there.
struct Reached {
  std::uint32_t size = ~0u;
  PathCost cost;
};

}  // namespace

TEST_CASE("search: as all packets say") {
  const char* other = std::getenv("LPN_NFP_SEED");  // to look further
  std::mt19937 random(other ? static_cast<unsigned>(std::atoi(other)) : 11u);
  const Costs costs = nfp_test::table();
  int programs = 0, paths = 0, refuted = 0;
  for (int round = 0; round < 120; ++round) {
    const bool loops = round % 3 == 0;
    const auto lines = random_program(random, loops);
    const auto code = nfp_test::parse(lines);
    INFO(nfp_test::listing(lines));
    Graph graph;
    std::uint32_t limit = 0;
    graph = cyclic(code) ? make_bounded_graph(code, costs, limit) : make_graph(code, {}, costs);

    // What each packet does. Bytes 2 and 3 are part of the words read at 0 and 1; only byte 2 can
    // be asked about.
    std::map<Path, Reached> reached;
    for (std::uint32_t size = kLeast; size <= kMost; ++size)
      for (std::uint32_t bits = 0; bits < 1u << 11; ++bits) {
        Input input;
        input.size = size;
        input.packet = {{0, static_cast<std::uint8_t>(bits)},
                        {1, static_cast<std::uint8_t>(bits >> 8)}};
        const Execution run = interpret(code, costs, input, bits + 1);
        if (!run.ended) FAIL("the program does not end");
        // Block by block along the graph.
        std::uint32_t edge = 0;
        Path path{0};
        for (std::size_t at = 0; graph.edges[edge].to != graph.fin;) {
          const Block& block = graph.blocks[graph.edges[edge].to];
          at += block.code.size();
          if (run.trace[at - 1].instruction != block.code.back())
            FAIL("the interpreter left the graph");
          edge = run.trace[at - 1].taken ? block.taken : block.next;
          if (edge == kNone) FAIL("the interpreter takes no edge");
          path.push_back(edge);
        }
        const auto [at, fresh] = reached.try_emplace(path);
        Reached& r = at->second;
        if (fresh) r.cost = path_cost(graph, costs, path);
        r.size = std::min(r.size, size);
        if (r.cost.cycles != run.cycles) FAIL_CHECK("costs differ on " << notation(graph, path));
      }

    for (const bool per_byte : {true, false}) {
      Options options;
      options.per_byte = per_byte;
      options.cores = 1 + static_cast<double>(round % 3) * 30;
      options.paths = 100'000;
      const auto value = [&](const PathCost& c, std::uint32_t size) {
        return std::max(static_cast<double>(c.max_cycles), options.cores * c.dram_cycles) /
               (per_byte ? size : 1);
      };
      const Findings all =
          find_slowest(graph, costs, options, [](const Progress&) { return true; });
      std::set<Path> found;
      double before = 1e300;
      for (const SlowPath& slow : all.slowest) {
        const std::string text = notation(graph, slow.path);
        INFO(text);
        CHECK(found.insert(slow.path).second);
        CHECK(slow.value <= before * (1 + 1e-9));  // slowest first
        before = slow.value;
        // The example is real, and no smaller packet was seen there.
        Input input;
        input.size = slow.example.size;
        for (const auto& [address, byte] : slow.example.packet)
          input.packet[address - kPacketBase] = byte;
        input.map = slow.example.map;
        const Execution run = interpret(code, costs, input, 99);
        CHECK(run.cycles == slow.cost.cycles);
        const auto seen = reached.find(slow.path);
        if (seen != reached.end()) {
          CHECK(slow.example.size <= seen->second.size);
        }
        CHECK(slow.value == doctest::Approx(value(slow.cost, slow.example.size)));
      }
      for (const auto& [path, r] : reached) {
        INFO(notation(graph, path));
        CHECK(found.count(path) == 1);  // nothing possible was left out
      }
      // Only the slowest: the same value, found another way.
      options.paths = 1;
      const Findings one =
          find_slowest(graph, costs, options, [](const Progress&) { return true; });
      REQUIRE(one.slowest.size() == 1);
      CHECK(one.slowest[0].value == doctest::Approx(all.slowest[0].value));
      CHECK(one.bound <= one.slowest[0].value * (1 + 1e-9));
      // The control flow alone promises no more than the truth.
      CHECK(static_cast<double>(all.naive.cycles) / (per_byte ? all.naive.cycles_size : 1) *
                (1 + 1e-9) >=
            static_cast<double>(all.slowest[0].cost.max_cycles) /
                (per_byte ? all.slowest[0].example.size : 1));
      refuted += static_cast<int>(all.refuted);
    }
    ++programs;
    paths += static_cast<int>(reached.size());
  }
  CHECK(programs == 120);
  CHECK(paths > 500);
  CHECK(refuted > 100);  // the programs do have contradictions between branches
}

TEST_CASE("search: a bound at every moment") {
  std::mt19937 random(5);
  const Costs costs = nfp_test::table();
  const auto code = nfp_test::parse(random_program(random, false));
  const Graph graph = make_graph(code, {}, costs);
  Options options;
  options.paths = 1'000;
  const Findings all = find_slowest(graph, costs, options, [](const Progress&) { return true; });
  const Findings none = find_slowest(graph, costs, options, [](const Progress&) { return false; });
  CHECK(none.bound >= (none.slowest.empty() ? all.slowest[0].value : 0));
}

TEST_CASE("search: stopped at once, it still has a bound and a packet") {
  // 40 rounds with a test of a byte each: more than 512 labels, after which it is asked whether to
  // go on.
  std::vector<std::string> lines = {"alu[gprA_2, --, B, *l$index1[2]], gpr_wrboth",
                                    "immed[gprA_9, 0x0], gpr_wrboth",
                                    "loop:",
                                    "mem[read32_swap, $xfer_0, gprA_2, gprA_9, 1], ctx_swap[sig1]",
                                    "ld_field_w_clr[gprA_5, 0001, $xfer_0]",
                                    "alu[--, gprA_5, XOR, 0x7]",
                                    "bne[@skip]",
                                    "nop",
                                    "nop",
                                    "skip:",
                                    "alu[gprA_9, gprA_9, +, 0x1], gpr_wrboth",
                                    "alu[--, gprA_9, XOR, 0x28]",
                                    "bne[@loop]"};
  const Costs costs = nfp_test::table();
  std::uint32_t limit = 0;
  const Graph graph = make_bounded_graph(nfp_test::parse(lines), costs, limit);
  CHECK(limit == 40);
  Options options;
  options.paths = 1'000'000;
  const Findings exact = find_slowest(graph, costs, {}, [](const Progress&) { return true; });
  const Findings stopped =
      find_slowest(graph, costs, options, [](const Progress&) { return false; });
  CHECK_FALSE(stopped.complete);
  REQUIRE_FALSE(stopped.slowest.empty());
  CHECK(stopped.bound * (1 + 1e-9) >= stopped.slowest.back().value);
  CHECK(exact.slowest[0].value * (1 + 1e-9) >= stopped.slowest[0].value);
}

TEST_CASE("search: what depends on something undefined is refused") {
  const Costs costs = nfp_test::table();
  const Graph graph =
      make_graph(nfp_test::parse({"alu[--, --, B, gprA_9]", "beq[.15000]"}), {}, costs);
  try {
    find_slowest(graph, costs, {}, [](const Progress&) { return true; });
    FAIL("accepted");
  } catch (const lpn::Error& error) {
    CHECK(error.code() == "E-nfp-undefined");
    CHECK(std::string(error.what()).find("line 2") != std::string::npos);
  }
}
