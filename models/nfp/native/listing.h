// NFP assembly listings: text -> instructions, with an error that names the line of whatever it
// does not know.
//
// One instruction per line, `  10:  .2  alu[gprA_6, gprB_22, +, *l$index1[2]], gpr_wrboth`: an
// optional byte offset, the instruction's id, the mnemonic with operands, options. Blanks mean
// nothing. Lines that begin with `;` say the source of the instructions below them; a symbol with a
// colon may stand above the first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lpn::nfp {

enum class Place : std::uint8_t {
  kNone,      // `--`
  kConstant,  // `value`
  kGprA,      // general purpose registers, bank A and B; `value` is the index
  kGprB,
  kXfer,   // as source a transfer-in register, as destination a transfer-out register
  kLocal,  // local memory: word `value` after the one ActLMAddr`lm` points at
};

struct Operand {
  Place place = Place::kNone;
  std::uint32_t value = 0;
  std::uint8_t lm = 0;
  bool operator==(const Operand&) const = default;
};

enum class Opcode : std::uint8_t {
  kAlu,
  kAluShf,
  kAsr,
  kDblShf,
  kImmed,
  kImmedW1,
  kLdField,
  kLdFieldClr,
  kLocalCsrWr,
  kMulStep,
  kNop,
  kBranch,
  kMem,
  kFin,  // the end of the program; no line has it
};

enum class AluOp : std::uint8_t {
  kAdd,
  kSub,
  kAddCarry,
  kSubCarry,
  kAnd,
  kOr,
  kXor,
  kB,
  kBSubA,    // B-A
  kNotB,     // ~B
  kNotAAnd,  // ~AND: ~A & B
  kAndNotB,  // AND~: A & ~B
  kAdd8,
  kAdd16,  // A + the low 8 or 16 bits of B
};

// Whether it works bit by bit; else it adds or subtracts.
bool logic(AluOp op);

enum class ShiftKind : std::uint8_t {
  kNone,
  kLeft,
  kRight,
  kRotLeft,
  kRotRight,
  kLeftIndirect,
  kRightIndirect
};

struct Shift {
  ShiftKind kind = ShiftKind::kNone;
  std::uint8_t amount = 0;  // 0..31
};

enum class Condition : std::uint8_t {
  kAlways,
  kEq,
  kNe,
  kCarryClear,
  kCarrySet,
  kLt,
  kGe,
  kGt,
  kLe,
  kMinus,
  kPlus,
  kOverflowClear,
  kOverflowSet,
};

enum class MulStep : std::uint8_t {
  kStart,
  kStep1,
  kStep2,
  kStep3,
  kStep4,
  kLast,
  kLast2,  // 32x32
  kStep16First,
  kStep16Second,
  kLast16,  // 16x16
};

enum class MemCommand : std::uint8_t { kRead32, kWrite8, kWrite32, kAddImm };

constexpr std::uint32_t kFinId = 15000;  // a branch there ends the program
constexpr std::uint32_t kGprs = 32, kXfers = 32, kLocalPointers = 4;

// Where an instruction comes from, as far as the listing says: "filter.c:12" and what stands there.
struct Source {
  std::string place, statement;
};

struct Instruction {
  Opcode opcode = Opcode::kNop;
  std::uint32_t id = 0;
  std::uint32_t line = 0;              // of the file, from 1
  std::optional<std::int64_t> offset;  // in byte, where the line has one
  std::string text;                    // as written, without offset and id
  Source source;

  Operand destination, a, b;
  bool write_both = false;  // gpr_wrboth
  AluOp alu = AluOp::kB;
  Shift shift;             // of b; of the constant of immed; of the source of ld_field and asr
  std::uint32_t mask = 0;  // ld_field: bit k selects byte k
  MulStep step = MulStep::kStart;
  Condition condition = Condition::kAlways;
  std::uint32_t target = 0;  // of a branch
  std::uint32_t defer = 0;
  MemCommand command = MemCommand::kRead32;
  bool shifted_a = false,
       shifted_b = false;  // which part of the address is shifted: the 40-bit form
  std::uint32_t count = 0;
  bool indirect_ref = false, swaps = false;  // ctx_swap: waits for the answer

  bool dram() const { return opcode == Opcode::kMem && (shifted_a || shifted_b); }
  bool writes_flags() const;
};

// Throws Error "E-nfp-listing": text that is no such listing, an instruction, operand or option
// that is not known, an id twice, no instruction. `name` is what messages call the file. Whether
// instructions are missing, whole.h tells.
std::vector<Instruction> parse_listing(std::string_view text, const std::string& name);

const char* mnemonic(const Instruction& instruction);

}  // namespace lpn::nfp
