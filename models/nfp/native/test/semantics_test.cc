// The symbolic execution against the interpreter, on random instruction sequences and packets.
#include <doctest/doctest.h>

#include <random>

#include "conditions.h"
#include "interpret.h"
#include "programs.h"
#include "symbolic.h"

using namespace lpn::nfp;

namespace {

struct Bytes_ : Valuation {
  const Input& input;
  explicit Bytes_(const Input& in) : input(in) { size = in.size; }
  std::uint8_t byte(Memory memory, std::uint32_t address) override {
    const auto& bytes = memory == Memory::kMap ? input.map : input.packet;
    const auto found = bytes.find(memory == Memory::kMap ? address : address - kPacketBase);
    return found == bytes.end() ? 0 : found->second;
  }
};

class Writer {
 public:
  explicit Writer(std::uint32_t seed) : random_(seed) {}

  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  std::string gpr(char bank) {
    return std::string("gpr") + bank + "_" + std::to_string(4 + pick(6));
  }
  std::string local() {
    const int k = pick(4);
    return k == 0 ? "*l$index0" : "*l$index0[" + std::to_string(k) + "]";
  }
  std::string number() {
    static const char* some[] = {"0x0", "0x1", "0xff", "0x7f", "0x80", "0xffff", "0x10", "0x3"};
    return some[pick(8)];
  }
  std::string source(char bank) {
    switch (pick(8)) {
      case 0: return number();
      case 1: return local();
      case 2: return "$xfer_" + std::to_string(pick(4));
      default: return gpr(bank);
    }
  }
  // Destination with the option that goes with it.
  std::pair<std::string, std::string> destination() {
    switch (pick(6)) {
      case 0: return {"--", ""};
      case 1: return {local(), ""};
      case 2: return {gpr('A'), ""};
      case 3: return {gpr('B'), ""};
      default: return {gpr('A'), ", gpr_wrboth"};
    }
  }
  std::string shift(bool indirect, bool rotates) {
    const int n = pick(32);
    switch (pick(rotates ? 6 : 4)) {
      case 0: return "<<" + std::to_string(n);
      case 1: return ">>" + std::to_string(n);
      case 2: return indirect ? ">>indirect" : ">>8";
      case 3: return indirect ? "<<indirect" : "<<8";
      case 4: return ">>rot" + std::to_string(n);
      default: return "<<rot" + std::to_string(n);
    }
  }

  std::string offset(bool wild) {
    return wild && pick(3) == 0 ? gpr('A') : "0x" + std::to_string(pick(9));
  }

  void instruction(std::vector<std::string>& out) {
    static const char* ops[] = {"+", "-",   "+carry", "-carry", "AND",  "OR", "XOR",
                                "B", "B-A", "~B",     "~AND",   "AND~", "+8", "+16"};
    const auto [to, option] = destination();
    switch (pick(15)) {
      case 0:
      case 1:
      case 2:
      case 3:
        out.push_back("alu[" + to + ", " + source('A') + ", " + ops[pick(14)] + ", " + source('B') +
                      "]" + option);
        break;
      case 4:
      case 5: {
        // The amount of an indirect shift is the A of the instruction before.
        out.push_back("alu[--, " + gpr('A') + ", AND, " + gpr('B') + "]");
        out.push_back("alu_shf[" + to + ", " + source('A') + ", " + ops[4 + pick(4)] + ", " +
                      source('B') + ", " + shift(true, true) + "]" + option);
        break;
      }
      case 6:
        out.push_back("alu[--, " + gpr('A') + ", OR, " + gpr('B') + "]");
        out.push_back("asr[" + to + ", " + source('B') + ", " +
                      (pick(2) ? ">>" + std::to_string(pick(32)) : ">>indirect") + "]" + option);
        break;
      case 7:
        out.push_back("alu[--, " + gpr('A') + ", XOR, " + gpr('B') + "]");
        out.push_back("dbl_shf[" + to + ", " + source('A') + ", " + source('B') + ", " +
                      shift(true, false) + "]" + option);
        break;
      case 8:
        out.push_back("immed[" + to + ", " + number() + ", " + shift(false, true) + "]" + option);
        break;
      case 9:
        out.push_back("immed_w1[" + (to == "--" ? gpr('A') : to) + ", 0x" +
                      std::to_string(1000 + pick(9000)) + "]");
        break;
      case 10:
      case 11: {
        std::string mask;
        for (int k = 0; k < 4; ++k) mask += pick(2) ? '1' : '0';
        out.push_back(std::string(pick(2) ? "ld_field" : "ld_field_w_clr") + "[" + to + ", " +
                      mask + ", " + source('B') + (pick(2) ? ", " + shift(false, true) : "") + "]" +
                      (to == "--" ? "" : option));
        break;
      }
      case 12: {
        const std::string a = gpr('A'), b = gpr('B');
        if (pick(3) == 0) {
          out.push_back("mul_step[" + a + ", " + b + "], start");
          out.push_back("mul_step[" + a + ", " + b + "], 16x16_step1");
          out.push_back("mul_step[" + a + ", " + b + "], 16x16_step2");
          out.push_back("mul_step[" + gpr('A') + ", --], 16x16_last");
          break;
        }
        out.push_back("mul_step[" + a + ", " + b + "], start");
        for (int k = 1; k <= 4; ++k)
          out.push_back("mul_step[" + a + ", " + b + "], 32x32_step" + std::to_string(k));
        out.push_back("mul_step[" + gpr('A') + ", --], 32x32_last, gpr_wrboth");
        out.push_back("mul_step[" + gpr('B') + ", --], 32x32_last2");
        break;
      }
      case 13:
        switch (pick(4)) {
          case 0:
            out.push_back("alu[$xfer_" + std::to_string(pick(2)) + ", --, B, " + gpr('A') + "]");
            out.push_back("mem[write8_swap, $xfer_0, gprA_2, " + offset(true) + ", " +
                          std::to_string(1 + pick(6)) + "], ctx_swap[sig1]");
            break;
          case 1:
            out.push_back("immed[--, 0x" + std::to_string(1 + pick(3)) + "80]");
            out.push_back("mem[read32_swap, $xfer_0, gprA_2, " + offset(true) +
                          ", 1], indirect_ref, ctx_swap[sig1]");
            break;
          case 2:
            out.push_back("mem[write32_swap, $xfer_0, gprA_2, " + offset(false) +
                          ", 2], ctx_swap[sig1]");
            break;
          default:
            out.push_back("mem[read32_swap, $xfer_" + std::to_string(pick(3)) + ", gprA_2, " +
                          offset(true) + ", " + std::to_string(1 + pick(2)) + "], ctx_swap[sig1]");
        }
        break;
      case 14:
        switch (pick(4)) {
          case 0:
            out.push_back("immed[gprA_21, 0x890]");
            out.push_back("ld_field[gprA_21, 1100, gprB_4, <<16]");
            out.push_back("mem[add_imm, $xfer_0, gprB_23, <<8, 0x" + std::to_string(pick(8)) +
                          ", 1], indirect_ref");
            break;
          case 1:
            out.push_back("mem[read32_swap, $xfer_1, gprB_23, <<8, 0x" + std::to_string(pick(8)) +
                          ", 1], ctx_swap[sig1]");
            break;
          case 2:
            out.push_back("alu[gprB_3, gprA_22, +, 0x" + std::to_string(4 * pick(3)) + "]");
            out.push_back("local_csr_wr[ActLMAddr0, gprB_3]");
            for (int k = pick(5); k > 0; --k) out.push_back("nop");
            break;
          default: out.push_back("nop");
        }
    }
  }

  std::vector<std::string> program(int length) {
    std::vector<std::string> out = {"alu[gprA_2, --, B, *l$index1[2]], gpr_wrboth",
                                    "mem[read32_swap, $xfer_0, gprA_2, 0x0, 8], ctx_swap[sig1]"};
    for (int k = 4; k < 10; ++k) {
      const std::string n = std::to_string(k);
      out.push_back("alu[gprA_" + n + ", --, B, $xfer_" + std::to_string(k - 4) + "], gpr_wrboth");
      if (k < 8)
        out.push_back("alu[*l$index0[" + std::to_string(k - 4) + "], --, B, gprB_" + n + "]");
    }
    for (int k = 0; k < length; ++k) instruction(out);
    static const char* branches[] = {"beq", "bne", "bcc", "bcs", "blt", "bge",
                                     "bgt", "ble", "bmi", "bpl", "bvc", "bvs"};
    out.push_back(std::string(branches[pick(12)]) + "[.15000]");
    return out;
  }

  std::uint8_t byte() {
    static const std::uint8_t often[] = {0, 1, 0xff, 0x80, 0x7f};
    return pick(3) == 0 ? often[pick(5)] : static_cast<std::uint8_t>(random_());
  }

 private:
  std::mt19937 random_;
};

}  // namespace

TEST_CASE("semantics: symbols mean what the interpreter does") {
  const Costs costs = nfp_test::table();
  int compared = 0, conditions = 0;
  for (std::uint32_t seed = 1; seed <= 3000; ++seed) {
    Writer writer(seed);
    const auto lines = writer.program(1 + static_cast<int>(seed % 14));
    const auto code = nfp_test::parse(lines);
    Terms terms(60, 1500);
    Symbolic symbolic(terms);
    State state = symbolic.initial();
    std::vector<std::uint32_t> all(code.size());
    for (std::uint32_t k = 0; k < all.size(); ++k) all[k] = k;
    symbolic.run(code, all, state);
    const TermId condition = symbolic.condition(code.back(), state);
    for (int round = 0; round < 4; ++round) {
      Input input;
      input.size = 60 + static_cast<std::uint32_t>(writer.pick(1400));
      for (std::uint32_t k = 0; k < 64; ++k) {
        input.packet[k] = writer.byte();
        input.map[k] = writer.byte();
      }
      const Execution run = interpret(code, costs, input, seed);
      Bytes_ bytes(input);
      Terms::Evaluator value(terms, bytes);
      INFO("seed " << seed << "\n" << nfp_test::listing(lines));
      const auto same = [&](const Value& v, std::uint32_t word, const char* what, std::uint32_t k) {
        if (v.type != Value::Type::kTerm || terms.vague(v.term)) return;
        INFO(what << k << " = " << terms.text(v.term, 12));
        CHECK(value(v.term) == word);
        ++compared;
      };
      for (std::uint32_t k = 4; k < 10; ++k) {
        same(state.values[kAtA + k], run.gpr_a[k], "gprA_", k);
        same(state.values[kAtB + k], run.gpr_b[k], "gprB_", k);
      }
      for (std::uint32_t k = 0; k < 6; ++k)
        same(state.values[kAtIn + k], run.xfer_in[k], "$xfer_", k);
      for (const auto& [address, byte] : state.packet.over) {
        const auto found = run.packet.find(address - kPacketBase);
        REQUIRE(found != run.packet.end());
        if (!terms.vague(byte)) CHECK(value(byte) == found->second);
      }
      if (!terms.vague(condition)) {
        INFO("condition " << terms.text(condition, 12));
        CHECK(value(condition) == run.trace.back().taken);
        ++conditions;
      }
    }
  }
  // The comparison is about something: most registers are known, and many conditions.
  CHECK(compared > 100'000);
  CHECK(conditions > 5'000);
}

TEST_CASE("semantics: terms keep their meaning while they are simplified, also in Z3") {
  // Random conditions over three bytes: the solver's example satisfies them, and what it refutes
  // has no example.
  std::mt19937 random(7);
  const auto pick = [&](unsigned n) { return random() % n; };
  int possible = 0, impossible = 0;
  for (int round = 0; round < 300; ++round) {
    Terms terms(60, 1500);
    Conditions conditions(terms, 60, 1500);
    const TermId packet = terms.array(Memory::kPacket);
    std::vector<TermId> words;
    for (std::uint32_t k = 0; k < 3; ++k)
      words.push_back(terms.zext(terms.byte(packet, terms.constant(32, kPacketBase + k)), 16));
    words.push_back(terms.zext(terms.size(), 16));
    for (int k = 0; k < 6; ++k) {
      const TermId a = words[pick(static_cast<unsigned>(words.size()))],
                   b = words[pick(static_cast<unsigned>(words.size()))];
      const TermId c = terms.constant(16, pick(2) ? pick(300) : pick(65536));
      const TermId made[] = {terms.add(a, b),
                             terms.sub(a, b),
                             terms.land(a, c),
                             terms.lor(a, b),
                             terms.lxor(a, c),
                             terms.mul(a, c),
                             terms.shl(a, static_cast<int>(pick(16))),
                             terms.rotl(a, static_cast<int>(pick(16)))};
      words.push_back(made[pick(8)]);
    }
    std::vector<TermId> atoms;
    bool undefined = false, fails = false;
    for (int k = 0; k < 3; ++k) {
      const TermId a = words[pick(static_cast<unsigned>(words.size()))],
                   b = words[pick(static_cast<unsigned>(words.size()))];
      const TermId kinds[] = {terms.eq(a, b), terms.ult(a, b), terms.slt(a, b),
                              terms.eq(a, terms.constant(16, pick(512)))};
      TermId c = kinds[pick(4)];
      if (pick(2)) c = terms.negated(c);
      fails |= !conditions.split(c, atoms, undefined);
    }
    if (fails) continue;
    const Verdict verdict = conditions.solve(atoms, 20);
    REQUIRE(verdict.kind != Verdict::Kind::kUnknown);
    Input input;
    const auto holds = [&](std::uint32_t size, std::uint32_t x, std::uint32_t y, std::uint32_t z) {
      input.size = size;
      input.packet = {{0, static_cast<std::uint8_t>(x)},
                      {1, static_cast<std::uint8_t>(y)},
                      {2, static_cast<std::uint8_t>(z)}};
      Bytes_ bytes(input);
      Terms::Evaluator value(terms, bytes);
      for (const TermId atom : atoms)
        if (!value(atom)) return false;
      return true;
    };
    if (verdict.kind == Verdict::Kind::kSat) {
      ++possible;
      const auto byte = [&](std::uint32_t k) -> std::uint32_t {
        const auto found = verdict.example.packet.find(kPacketBase + k);
        return found == verdict.example.packet.end() ? 0 : found->second;
      };
      CHECK(holds(verdict.example.size, byte(0), byte(1), byte(2)));
    } else {
      ++impossible;
      CHECK_FALSE(verdict.core.empty());
    }
    for (int k = 0; k < 3000; ++k) {  // no smaller packet, no example of the impossible
      const std::uint32_t size = 60 + pick(1441);
      if (!holds(size, pick(256), pick(256), pick(256))) continue;
      CHECK(verdict.kind == Verdict::Kind::kSat);
      CHECK(verdict.example.size <= size);
    }
  }
  CHECK(possible > 50);
  CHECK(impossible > 20);
}
