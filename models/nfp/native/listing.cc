#include "listing.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <unordered_map>

#include "lpn/base/error.h"

namespace lpn::nfp {
namespace {

constexpr std::uint32_t kMostId = 14999;
constexpr std::int64_t kMostOffset = 0xffffffff;

template <class T>
struct Word {
  std::string_view text;
  T value;
};

constexpr std::array<Word<AluOp>, 14> kAluOps{{{"+", AluOp::kAdd},
                                               {"-", AluOp::kSub},
                                               {"+carry", AluOp::kAddCarry},
                                               {"-carry", AluOp::kSubCarry},
                                               {"AND", AluOp::kAnd},
                                               {"OR", AluOp::kOr},
                                               {"XOR", AluOp::kXor},
                                               {"B", AluOp::kB},
                                               {"B-A", AluOp::kBSubA},
                                               {"~B", AluOp::kNotB},
                                               {"~AND", AluOp::kNotAAnd},
                                               {"AND~", AluOp::kAndNotB},
                                               {"+8", AluOp::kAdd8},
                                               {"+16", AluOp::kAdd16}}};

constexpr std::array<Word<Condition>, 13> kBranches{{{"br", Condition::kAlways},
                                                     {"beq", Condition::kEq},
                                                     {"bne", Condition::kNe},
                                                     {"bcc", Condition::kCarryClear},
                                                     {"bcs", Condition::kCarrySet},
                                                     {"blt", Condition::kLt},
                                                     {"bge", Condition::kGe},
                                                     {"bgt", Condition::kGt},
                                                     {"ble", Condition::kLe},
                                                     {"bmi", Condition::kMinus},
                                                     {"bpl", Condition::kPlus},
                                                     {"bvc", Condition::kOverflowClear},
                                                     {"bvs", Condition::kOverflowSet}}};

constexpr std::array<Word<MulStep>, 10> kSteps{{{"start", MulStep::kStart},
                                                {"32x32_step1", MulStep::kStep1},
                                                {"32x32_step2", MulStep::kStep2},
                                                {"32x32_step3", MulStep::kStep3},
                                                {"32x32_step4", MulStep::kStep4},
                                                {"32x32_last", MulStep::kLast},
                                                {"32x32_last2", MulStep::kLast2},
                                                {"16x16_step1", MulStep::kStep16First},
                                                {"16x16_step2", MulStep::kStep16Second},
                                                {"16x16_last", MulStep::kLast16}}};

constexpr std::array<Word<MemCommand>, 4> kCommands{{{"read32_swap", MemCommand::kRead32},
                                                     {"write8_swap", MemCommand::kWrite8},
                                                     {"write32_swap", MemCommand::kWrite32},
                                                     {"add_imm", MemCommand::kAddImm}}};

constexpr std::array<Word<Opcode>, 11> kOthers{{{"alu", Opcode::kAlu},
                                                {"alu_shf", Opcode::kAluShf},
                                                {"asr", Opcode::kAsr},
                                                {"dbl_shf", Opcode::kDblShf},
                                                {"immed", Opcode::kImmed},
                                                {"immed_w1", Opcode::kImmedW1},
                                                {"ld_field", Opcode::kLdField},
                                                {"ld_field_w_clr", Opcode::kLdFieldClr},
                                                {"local_csr_wr", Opcode::kLocalCsrWr},
                                                {"mul_step", Opcode::kMulStep},
                                                {"mem", Opcode::kMem}}};

template <class Table>
auto find(const Table& table, std::string_view text) -> std::optional<decltype(table[0].value)> {
  for (const auto& word : table)
    if (word.text == text) return word.value;
  return std::nullopt;
}

template <class Table>
std::string words(const Table& table) {
  std::string out;
  for (const auto& word : table) out += (out.empty() ? "" : ", ") + std::string(word.text);
  return out;
}

class Line {
 public:
  Line(std::string_view text, const std::string& name, std::uint32_t number)
      : name_(name), number_(number) {
    for (const char c : text)
      if (!std::isspace(static_cast<unsigned char>(c))) squeezed_ += c;
    rest_ = squeezed_;
  }

  bool empty() const { return rest_.empty(); }

  [[noreturn]] void fail(const std::string& message) const {
    throw Error("E-nfp-listing", name_ + ":" + std::to_string(number_) + ": " + message);
  }

  Instruction parse() {
    Instruction out;
    out.offset = offset();
    out.line = number_;
    if (!take('.'))
      fail("'" + std::string(rest_) + "' has no '.ID' before the instruction; write '.0 nop'");
    out.id = decimal("an id");
    if (out.id > kMostId)
      fail("id ." + std::to_string(out.id) + " is above " + std::to_string(kMostId));
    out.text = readable(rest_);
    const std::string_view word = name();
    const auto branch = find(kBranches, word);
    const auto other = find(kOthers, word);
    if (word == "nop") {
      out.opcode = Opcode::kNop;
    } else if (!branch && !other) {
      fail("'" + std::string(word) + "' is no instruction of this model; it knows " +
           words(kOthers) + ", nop, " + words(kBranches));
    } else {
      std::vector<std::string_view> operands = bracket();
      const std::vector<std::string_view> options = list();
      if (branch) {
        out.opcode = Opcode::kBranch;
        out.condition = *branch;
        expect(operands, 1, 1, "a target '[.ID]'");
        out.target = target(operands[0]);
      } else {
        out.opcode = *other;
        shape(out, operands);
      }
      for (const std::string_view option : options) apply(out, option);
      finish(out);
      return out;
    }
    if (!rest_.empty()) fail("'" + std::string(rest_) + "' after nop");
    return out;
  }

 private:
  // "1a0:" at the beginning, if there.
  std::optional<std::int64_t> offset() {
    const std::size_t colon = rest_.find(':'), dot = rest_.find('.');
    if (colon == std::string_view::npos || dot < colon) return std::nullopt;
    std::int64_t value = 0;
    const auto [end, problem] = std::from_chars(rest_.data(), rest_.data() + colon, value, 16);
    if (problem != std::errc{} || end != rest_.data() + colon || value < 0 || value > kMostOffset)
      fail("'" + std::string(rest_.substr(0, colon)) + "' is no byte offset");
    rest_.remove_prefix(colon + 1);
    return value;
  }

  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::uint32_t decimal(const char* what) {
    std::size_t used = 0;
    std::uint64_t value = 0;
    while (used < rest_.size() && std::isdigit(static_cast<unsigned char>(rest_[used])) && used < 9)
      value = value * 10 + static_cast<std::uint64_t>(rest_[used++] - '0');
    if (used == 0)
      fail(std::string("there is no number for ") + what + " at '" + std::string(rest_) + "'");
    rest_.remove_prefix(used);
    return static_cast<std::uint32_t>(value);
  }

  std::string_view name() {
    std::size_t used = 0;
    while (used < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[used])) || rest_[used] == '_'))
      ++used;
    const std::string_view out = rest_.substr(0, used);
    rest_.remove_prefix(used);
    if (out.empty()) fail("there is no instruction after the id");
    return out;
  }

  // The operands between the outer brackets; `*l$index0[2]` has its own.
  std::vector<std::string_view> bracket() {
    if (!take('[')) fail("operands in '[...]' are missing");
    int depth = 1;
    std::size_t from = 0, at = 0;
    std::vector<std::string_view> out;
    for (; at < rest_.size(); ++at) {
      const char c = rest_[at];
      if (c == '[') ++depth;
      if (c == ']' && --depth == 0) break;
      if (c == ',' && depth == 1) {
        out.push_back(rest_.substr(from, at - from));
        from = at + 1;
      }
    }
    if (depth != 0) fail("a ']' is missing");
    out.push_back(rest_.substr(from, at - from));
    rest_.remove_prefix(at + 1);
    return out;
  }

  std::vector<std::string_view> list() {
    std::vector<std::string_view> out;
    while (!rest_.empty()) {
      if (!take(',')) fail("'" + std::string(rest_) + "' after the operands: options follow a ','");
      const std::size_t end = std::min(rest_.find(','), rest_.size());
      out.push_back(rest_.substr(0, end));
      rest_.remove_prefix(end);
    }
    return out;
  }

  void expect(const std::vector<std::string_view>& operands, std::size_t least, std::size_t most,
              const char* what) const {
    if (operands.size() < least || operands.size() > most)
      fail(std::to_string(operands.size()) + " operands; it takes " + what);
  }

  static std::optional<std::uint32_t> number(std::string_view text) {
    const bool hex = text.starts_with("0x") || text.starts_with("0X");
    if (hex) text.remove_prefix(2);
    if (text.empty() || text.size() > 12) return std::nullopt;
    std::uint64_t value = 0;
    for (const char c : text) {
      const auto u = static_cast<unsigned char>(c);
      if (!(hex ? std::isxdigit(u) : std::isdigit(u))) return std::nullopt;
      const int digit = std::isdigit(u) ? c - '0' : std::tolower(u) - 'a' + 10;
      value = value * (hex ? 16 : 10) + static_cast<std::uint64_t>(digit);
    }
    if (value > 0xffffffffu) return std::nullopt;
    return static_cast<std::uint32_t>(value);
  }

  std::uint32_t constant(std::string_view text, const char* what) const {
    const auto value = number(text);
    if (!value) fail("'" + std::string(text) + "' is not " + what);
    return *value;
  }

  std::uint32_t target(std::string_view text) const {
    const auto value = text.starts_with(".") ? number(text.substr(1)) : std::nullopt;
    if (!value || text.starts_with(".0x"))
      fail("'" + std::string(text) + "' is no branch target; write '.15'");
    return *value;
  }

  Operand operand(std::string_view text, bool destination) const {
    if (text == "--") return {};
    const auto indexed = [&](std::string_view prefix, std::uint32_t size,
                             Place place) -> std::optional<Operand> {
      if (!text.starts_with(prefix)) return std::nullopt;
      const auto index = number(text.substr(prefix.size()));
      if (!index || *index >= size || text.substr(prefix.size()).starts_with("0x"))
        fail("'" + std::string(text) + "' is no register; there are " + std::string(prefix) +
             "0.." + std::to_string(size - 1));
      return Operand{place, *index, 0};
    };
    if (const auto found = indexed("gprA_", kGprs, Place::kGprA)) return *found;
    if (const auto found = indexed("gprB_", kGprs, Place::kGprB)) return *found;
    if (const auto found = indexed("$xfer_", kXfers, Place::kXfer)) return *found;
    if (text.starts_with("*l$index")) {
      const std::string_view tail = text.substr(8);
      Operand out{Place::kLocal, 0, 0};
      const bool known =
          !tail.empty() && tail[0] >= '0' && tail[0] < '0' + static_cast<char>(kLocalPointers);
      if (known) {
        out.lm = static_cast<std::uint8_t>(tail[0] - '0');
        if (tail.size() == 1) return out;
        if (tail[1] == '[' && tail.back() == ']') {
          out.value = constant(tail.substr(2, tail.size() - 3), "an offset into local memory");
          return out;
        }
      }
      fail("'" + std::string(text) + "' is no local memory; write '*l$index0' or '*l$index0[3]'");
    }
    if (!destination)
      if (const auto value = number(text)) return {Place::kConstant, *value, 0};
    fail("'" + std::string(text) + "' is no " + (destination ? "destination" : "operand") +
         "; write gprA_0, gprB_0, $xfer_0, *l$index0, *l$index0[1], --" +
         (destination ? "" : " or a number below 2^32"));
  }

  Shift shift(std::string_view text) const {
    const bool left = text.starts_with("<<"), right = text.starts_with(">>");
    if (left || right) {
      std::string_view tail = text.substr(2);
      if (tail == "indirect")
        return {left ? ShiftKind::kLeftIndirect : ShiftKind::kRightIndirect, 0};
      const bool rotates = tail.starts_with("rot");
      if (rotates) tail.remove_prefix(3);
      const auto amount = number(tail);
      if (amount && *amount < 32)
        return {rotates ? (left ? ShiftKind::kRotLeft : ShiftKind::kRotRight)
                        : (left ? ShiftKind::kLeft : ShiftKind::kRight),
                static_cast<std::uint8_t>(*amount)};
    }
    fail("'" + std::string(text) +
         "' is no shift; write <<n, >>n, <<rotn, >>rotn (n 0..31), <<indirect or >>indirect");
  }

  static bool is_shift(std::string_view text) {
    return text.starts_with("<<") || text.starts_with(">>");
  }

  AluOp alu_op(std::string_view text) const {
    const auto op = find(kAluOps, text);
    if (!op) fail("'" + std::string(text) + "' is no operation; there are " + words(kAluOps));
    return *op;
  }

  void shape(Instruction& out, std::vector<std::string_view> operands) {
    switch (out.opcode) {
      case Opcode::kAlu:
        expect(operands, 4, 4, "[destination, A, operation, B]");
        out.destination = operand(operands[0], true);
        out.a = operand(operands[1], false);
        out.alu = alu_op(operands[2]);
        out.b = operand(operands[3], false);
        return;
      case Opcode::kAluShf:
        expect(operands, 5, 5, "[destination, A, operation, B, shift]");
        out.destination = operand(operands[0], true);
        out.a = operand(operands[1], false);
        out.alu = alu_op(operands[2]);
        out.b = operand(operands[3], false);
        out.shift = shift(operands[4]);
        return;
      case Opcode::kAsr:
        expect(operands, 3, 3, "[destination, source, >>n]");
        out.destination = operand(operands[0], true);
        out.b = operand(operands[1], false);
        out.shift = shift(operands[2]);
        if (out.shift.kind != ShiftKind::kRight && out.shift.kind != ShiftKind::kRightIndirect)
          fail("asr shifts to the right: write >>n or >>indirect");
        return;
      case Opcode::kDblShf:
        expect(operands, 4, 4, "[destination, A, B, shift]");
        out.destination = operand(operands[0], true);
        out.a = operand(operands[1], false);
        out.b = operand(operands[2], false);
        out.shift = shift(operands[3]);
        if (out.shift.kind == ShiftKind::kRotLeft || out.shift.kind == ShiftKind::kRotRight)
          fail("dbl_shf does not rotate: write <<n or >>n");
        return;
      case Opcode::kImmed:
        expect(operands, 2, 3, "[destination, constant] or [destination, constant, shift]");
        out.destination = operand(operands[0], true);
        out.b = {Place::kConstant, constant(operands[1], "a constant below 2^32"), 0};
        if (operands.size() == 3) out.shift = shift(operands[2]);
        if (out.shift.kind == ShiftKind::kLeftIndirect ||
            out.shift.kind == ShiftKind::kRightIndirect)
          fail("immed shifts by a constant");
        return;
      case Opcode::kImmedW1:
        expect(operands, 2, 2, "[destination, constant]");
        out.destination = operand(operands[0], true);
        out.b = {Place::kConstant, constant(operands[1], "a constant"), 0};
        if (out.b.value > 0xffff) fail("immed_w1 takes 16 bits, not " + std::string(operands[1]));
        return;
      case Opcode::kLdField:
      case Opcode::kLdFieldClr:
        expect(operands, 3, 4, "[destination, byte mask, source] or [..., shift]");
        out.destination = operand(operands[0], true);
        out.mask = mask(operands[1]);
        out.b = operand(operands[2], false);
        if (operands.size() == 4) out.shift = shift(operands[3]);
        return;
      case Opcode::kLocalCsrWr: return shape_of_local_csr_wr(out, operands);
      case Opcode::kMulStep:
        expect(operands, 2, 2, "[A, B] or [destination, --]");
        multiply_ = {operands[0], operands[1]};  // which, its option says
        return;
      case Opcode::kMem: return shape_of_mem(out, operands);
      case Opcode::kNop:
      case Opcode::kBranch:
      case Opcode::kFin: LPN_ASSERT(!"has no operands of this kind");
    }
  }

  void shape_of_local_csr_wr(Instruction& out, const std::vector<std::string_view>& operands) {
    expect(operands, 2, 2, "[ActLMAddr0..3, source]");
    const std::string_view text = operands[0];
    if (text.size() != 10 || !text.starts_with("ActLMAddr") || text[9] < '0' ||
        text[9] >= '0' + static_cast<char>(kLocalPointers))
      fail("'" + std::string(text) +
           "' is no register of local_csr_wr in this model: ActLMAddr0..3 are");
    out.destination = {Place::kLocal, 0, static_cast<std::uint8_t>(text[9] - '0')};
    out.b = operand(operands[1], false);
  }

  void shape_of_mem(Instruction& out, const std::vector<std::string_view>& operands) {
    expect(operands, 5, 6,
           "[command, $xfer, address, address, count] or the same with <<8 after one address");
    const auto command = find(kCommands, operands[0]);
    if (!command)
      fail("'" + std::string(operands[0]) + "' is no command of mem in this model; it knows " +
           words(kCommands));
    out.command = *command;
    out.destination = operand(operands[1], true);
    if (out.destination.place != Place::kXfer)
      fail("mem moves $xfer registers, not " + std::string(operands[1]));
    std::size_t at = 2;
    out.a = operand(operands[at++], false);
    if (is_shift(operands[at])) {
      address_shift(operands[at++]);
      out.shifted_a = true;
    }
    if (at >= operands.size()) fail("mem's second address is missing");
    out.b = operand(operands[at++], false);
    if (at < operands.size() && is_shift(operands[at])) {
      if (out.shifted_a) fail("only one part of an address is shifted");
      address_shift(operands[at++]);
      out.shifted_b = true;
    }
    if (at + 1 != operands.size()) fail("mem's count is missing");
    out.count = constant(operands[at], "a count");
  }

  void address_shift(std::string_view text) const {
    if (text != "<<8")
      fail("'" + std::string(text) + "': the 40-bit form of an address is shifted by <<8");
  }

  std::uint32_t mask(std::string_view text) const {
    std::uint32_t out = 0;
    if (text.size() != 4)
      fail("'" + std::string(text) + "' is no byte mask; write four digits, 0011");
    for (const char c : text) {
      if (c != '0' && c != '1')
        fail("'" + std::string(text) + "' is no byte mask; write four digits, 0011");
      out = out * 2 + static_cast<std::uint32_t>(c - '0');
    }
    return out;
  }

  void apply(Instruction& out, std::string_view option) {
    if (option == "gpr_wrboth") {
      out.write_both = true;
    } else if (option.starts_with("defer[") && option.ends_with("]") &&
               out.opcode == Opcode::kBranch) {
      out.defer =
          constant(option.substr(6, option.size() - 7), "a number of deferred instructions");
      if (out.condition != Condition::kAlways)
        fail("defer on a conditional branch has no known cost; only br has it");
      if (out.defer > 3) fail("at most 3 instructions are deferred");
    } else if (option == "indirect_ref" && out.opcode == Opcode::kMem) {
      out.indirect_ref = true;
    } else if (option.starts_with("ctx_swap[") && option.ends_with("]") &&
               out.opcode == Opcode::kMem) {
      out.swaps = true;
    } else if (const auto step = find(kSteps, option); step && out.opcode == Opcode::kMulStep) {
      if (stepped_) fail("two steps in one mul_step");
      out.step = *step;
      stepped_ = true;
    } else {
      fail("'" + std::string(option) + "' is no option of " + mnemonic(out) + " in this model");
    }
  }

  void finish(Instruction& out) {
    if (out.opcode == Opcode::kMulStep) {
      if (!stepped_) fail("mul_step without its step; there are " + words(kSteps));
      if (out.step == MulStep::kLast || out.step == MulStep::kLast2 ||
          out.step == MulStep::kLast16) {
        if (multiply_[1] != "--") fail("the last step of mul_step has '--' as second operand");
        out.destination = operand(multiply_[0], true);
      } else {
        out.a = operand(multiply_[0], false);
        out.b = operand(multiply_[1], false);
      }
    }
    if (out.write_both && out.destination.place != Place::kGprA &&
        out.destination.place != Place::kGprB)
      fail("gpr_wrboth needs a gprA or gprB as destination");
    if (out.opcode != Opcode::kMem) return;
    const bool reads = out.command == MemCommand::kRead32;
    if (out.command == MemCommand::kAddImm) {
      if (!out.dram())
        fail(
            "add_imm on a 32-bit address has no known meaning or cost; its address is shifted by "
            "<<8");
      if (out.swaps) fail("add_imm has no answer to wait for: it takes no ctx_swap");
      return;
    }
    if (reads && !out.swaps)
      fail("read32_swap without ctx_swap: when its registers are filled is not modelled");
    const std::uint32_t registers =
        out.command == MemCommand::kWrite8 ? (out.count + 3) / 4 : out.count;
    if (out.count == 0 || out.destination.value + registers > kXfers)
      fail("count " + std::to_string(out.count) + " does not fit into the transfer registers");
    if (out.indirect_ref && !reads)
      fail("indirect_ref on a write has no known meaning in this model");
  }

  // "alu[gprA_1,--,B,0x0],gpr_wrboth" with a blank after commas.
  static std::string readable(std::string_view squeezed) {
    std::string out;
    for (const char c : squeezed) {
      out += c;
      if (c == ',') out += ' ';
    }
    return out;
  }

  const std::string& name_;
  std::uint32_t number_;
  std::string squeezed_;
  std::string_view rest_;
  std::array<std::string_view, 2> multiply_;
  bool stepped_ = false;
};

}  // namespace

bool logic(AluOp op) {
  switch (op) {
    case AluOp::kAdd:
    case AluOp::kSub:
    case AluOp::kAddCarry:
    case AluOp::kSubCarry:
    case AluOp::kBSubA:
    case AluOp::kAdd8:
    case AluOp::kAdd16: return false;
    case AluOp::kAnd:
    case AluOp::kOr:
    case AluOp::kXor:
    case AluOp::kB:
    case AluOp::kNotB:
    case AluOp::kNotAAnd:
    case AluOp::kAndNotB: return true;
  }
  return true;
}

bool Instruction::writes_flags() const {
  switch (opcode) {
    case Opcode::kAlu:
    case Opcode::kAluShf:
    case Opcode::kAsr:
    case Opcode::kDblShf:
    case Opcode::kLdField:
    case Opcode::kLdFieldClr:
    case Opcode::kFin: return true;
    case Opcode::kMulStep:
      return step == MulStep::kLast || step == MulStep::kLast2 || step == MulStep::kLast16;
    case Opcode::kImmed:
    case Opcode::kImmedW1:
    case Opcode::kLocalCsrWr:
    case Opcode::kNop:
    case Opcode::kBranch:
    case Opcode::kMem: return false;
  }
  return false;
}

const char* mnemonic(const Instruction& instruction) {
  if (instruction.opcode == Opcode::kNop) return "nop";
  if (instruction.opcode == Opcode::kFin) return "fin";
  if (instruction.opcode == Opcode::kBranch) {
    for (const auto& word : kBranches)
      if (word.value == instruction.condition) return word.text.data();
  }
  for (const auto& word : kOthers)
    if (word.value == instruction.opcode) return word.text.data();
  return "";
}

namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// "; statement [file:path/x.c line_num:12 line_col:5]", the bracket only where it was asked for.
Source source_of(std::string_view remark) {
  Source out;
  remark = trimmed(remark.substr(1));
  constexpr std::string_view kFile = "[file:", kLine = " line_num:";
  const std::size_t at = remark.rfind(kFile);
  if (at != std::string_view::npos && remark.ends_with("]")) {
    std::string_view place = remark.substr(at + kFile.size());
    const std::size_t line = place.find(kLine);
    if (line != std::string_view::npos) {
      const std::string_view digits = place.substr(line + kLine.size());
      out.place = std::string(place.substr(0, line)) + ":" +
                  std::string(digits.substr(0, digits.find_first_not_of("0123456789")));
      remark = trimmed(remark.substr(0, at));
    }
  }
  out.statement = std::string(remark);
  return out;
}

// "bpf_prog_f00_filter:", the symbol above a program; but no byte offset.
bool symbol(std::string_view text) {
  if (text.size() < 2 || text.back() != ':') return false;
  text.remove_suffix(1);
  const auto in = [](auto test) {
    return [test](char c) { return test(static_cast<unsigned char>(c)) != 0; };
  };
  return !std::all_of(text.begin(), text.end(), in(isxdigit)) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return c == '_' || in(isalnum)(c); });
}

}  // namespace

std::vector<Instruction> parse_listing(std::string_view text, const std::string& name) {
  std::vector<Instruction> out;
  Source source;
  std::unordered_map<std::uint32_t, std::uint32_t> lines;
  std::uint32_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view words = trimmed(text.substr(0, end));
    Line line(words, name, ++number);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (words.starts_with(";")) source = source_of(words);
    if (line.empty() || words.starts_with(";") || (out.empty() && symbol(words))) continue;
    out.push_back(line.parse());
    out.back().source = source;
    const auto [at, fresh] = lines.emplace(out.back().id, number);
    if (!fresh)
      line.fail("id ." + std::to_string(out.back().id) + " is taken by line " +
                std::to_string(at->second));
  }
  if (out.empty()) throw Error("E-nfp-listing", name + ": no instruction in it");
  if (!lines.count(0))
    throw Error("E-nfp-listing", name + ": there is no instruction .0, where a program begins");
  return out;
}

}  // namespace lpn::nfp
