#include "listing.h"

#include <doctest/doctest.h>

#include "lpn/base/error.h"
#include "programs.h"

namespace {

using namespace lpn::nfp;

std::string refusal(const std::string& text) {
  try {
    parse_listing(text, "a.asm");
  } catch (const lpn::Error& error) {
    CHECK(error.code() == "E-nfp-listing");
    return error.what();
  }
  return "accepted";
}

Instruction only(const std::string& text) { return parse_listing(".0 " + text, "a.asm").front(); }

}  // namespace

TEST_CASE("listing: offsets, blanks and empty lines mean nothing") {
  const auto code =
      parse_listing("  a8:\t  .0  alu[gprA_1,  --, B, gprB_2] ,  gpr_wrboth\n\n.1 nop", "a.asm");
  REQUIRE(code.size() == 2);
  CHECK(code[0].id == 0);
  CHECK(code[0].write_both);
  CHECK(code[0].text == "alu[gprA_1, --, B, gprB_2], gpr_wrboth");
  CHECK(code[1].line == 3);
  CHECK(code[1].opcode == Opcode::kNop);
}

TEST_CASE("listing: every operation of alu") {
  for (const char* op : {"+", "-", "+carry", "-carry", "AND", "OR", "XOR", "B", "B-A", "~B", "~AND",
                         "AND~", "+8", "+16"}) {
    CAPTURE(op);
    CHECK(only(std::string("alu[gprA_1, gprA_2, ") + op + ", 0x10]").opcode == Opcode::kAlu);
    CHECK(only(std::string("alu_shf[gprA_1, gprA_2, ") + op + ", gprB_1, >>rot3]").opcode ==
          Opcode::kAluShf);
  }
}

TEST_CASE("listing: every branch") {
  for (const char* name :
       {"beq", "bne", "bcc", "bcs", "blt", "bge", "bgt", "ble", "bmi", "bpl", "bvc", "bvs", "br"}) {
    const Instruction i = only(std::string(name) + "[.15000]");
    CHECK(i.opcode == Opcode::kBranch);
    CHECK(i.target == kFinId);
    CHECK(std::string(mnemonic(i)) == name);
  }
  CHECK(only("br[.7], defer[2]").defer == 2);
}

TEST_CASE("listing: the other instructions") {
  CHECK(only("asr[gprA_1, gprB_1, >>31]").shift.amount == 31);
  CHECK(only("dbl_shf[gprA_1, gprA_2, gprB_3, >>indirect]").shift.kind ==
        ShiftKind::kRightIndirect);
  CHECK(only("immed[gprA_21, 0xffff003f, <<16]").b.value == 0xffff003f);
  CHECK(only("immed_w1[gprB_21, 0x2c1b]").b.value == 0x2c1b);
  CHECK(only("ld_field[*l$index0[6], 0110, gprB_8, <<8]").mask == 6);
  CHECK(only("ld_field_w_clr[gprA_6, 0001, $xfer_2, >>24], gpr_wrboth").mask == 1);
  CHECK(only("local_csr_wr[ActLMAddr3, gprA_1]").destination.lm == 3);
  CHECK(only("mul_step[gprA_4, gprB_21], start").step == MulStep::kStart);
  CHECK(only("mul_step[gprA_4, --], 32x32_last2, gpr_wrboth").step == MulStep::kLast2);
  CHECK(only("mul_step[gprA_4, gprB_2], 16x16_step2").step == MulStep::kStep16Second);
  const Instruction read =
      only("mem[read32_swap, $xfer_0, gprB_1, <<8, gprA_0, 4], ctx_swap[sig1]");
  CHECK(read.dram());
  CHECK(read.swaps);
  CHECK_FALSE(only("mem[write8_swap, $xfer_0, gprA_2, 0x2b, 1], ctx_swap[sig1]").dram());
  CHECK(only("mem[add_imm, $xfer_0, gprB_20, gprA_20, <<8, 1], indirect_ref").shifted_b);
}

TEST_CASE("listing: what is wrong is named with its line") {
  CHECK(refusal("") == "a.asm: no instruction in it");
  CHECK(refusal(".1 nop") == "a.asm: there is no instruction .0, where a program begins");
  CHECK(refusal(".0 nop\n.0 nop") == "a.asm:2: id .0 is taken by line 1");
  CHECK(refusal(".0 nop\nnop").starts_with("a.asm:2: 'nop' has no '.ID'"));
  CHECK(refusal(".0 nop\n\n.1 crc[gprA_1]")
            .starts_with("a.asm:3: 'crc' is no instruction of this model"));
  CHECK(refusal(".15000 nop").find("above 14999") != std::string::npos);
  CHECK(refusal(".0 alu[gprA_32, --, B, 0]").find("'gprA_32' is no register") != std::string::npos);
  CHECK(refusal(".0 alu[gprA_1, --, NAND, 0]").find("'NAND' is no operation") != std::string::npos);
  CHECK(refusal(".0 alu[gprA_1, --, B]").find("3 operands") != std::string::npos);
  CHECK(refusal(".0 alu[5, --, B, 0]").find("'5' is no destination") != std::string::npos);
  CHECK(refusal(".0 alu[gprA_1, --, B, 0x100000000]").find("no operand") != std::string::npos);
  CHECK(refusal(".0 alu[gprA_1, --, B, 0], predicate_cc")
            .find("'predicate_cc' is no option of alu") != std::string::npos);
  CHECK(refusal(".0 alu[--, --, B, 0], gpr_wrboth").find("gpr_wrboth needs") != std::string::npos);
  CHECK(refusal(".0 alu_shf[gprA_1, --, B, gprB_1, <<32]").find("'<<32' is no shift") !=
        std::string::npos);
  CHECK(refusal(".0 ld_field[gprA_1, 0021, gprB_1]").find("no byte mask") != std::string::npos);
  CHECK(refusal(".0 immed_w1[gprA_1, 0x10000]").find("16 bits") != std::string::npos);
  CHECK(refusal(".0 local_csr_wr[CRCRemainder, gprA_1]").find("ActLMAddr0..3") !=
        std::string::npos);
  CHECK(refusal(".0 mul_step[gprA_1, gprB_1]").find("without its step") != std::string::npos);
  CHECK(refusal(".0 beq[.1], defer[1]").find("defer on a conditional branch") != std::string::npos);
  CHECK(refusal(".0 br[next]").find("no branch target") != std::string::npos);
  CHECK(refusal(".0 mem[read8, $xfer_0, gprA_1, 0, 1], ctx_swap[sig1]")
            .find("'read8' is no command") != std::string::npos);
  CHECK(refusal(".0 mem[read32_swap, $xfer_0, gprA_1, 0, 1]").find("without ctx_swap") !=
        std::string::npos);
  CHECK(
      refusal(".0 mem[read32_swap, $xfer_30, gprA_1, 0, 4], ctx_swap[sig1]").find("does not fit") !=
      std::string::npos);
  CHECK(refusal(".0 mem[read32_swap, $xfer_0, gprA_1, <<4, 0, 1], ctx_swap[sig1]").find("<<8") !=
        std::string::npos);
  CHECK(refusal(".0 mem[add_imm, $xfer_0, gprA_1, 0, 1], indirect_ref").find("32-bit address") !=
        std::string::npos);
  CHECK(refusal(".0 nop[1]").find("after nop") != std::string::npos);
  CHECK(refusal(".0 alu[gprA_1, --, B, *l$index0[1]").find("']' is missing") != std::string::npos);
}
