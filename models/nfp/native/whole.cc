#include "whole.h"

#include <algorithm>

#include "lpn/base/error.h"

namespace lpn::nfp {
namespace {

constexpr std::int64_t kBytes = 8;  // of an instruction

[[noreturn]] void fail(const std::string& name, const Instruction& at, const std::string& message) {
  throw Error("E-nfp-listing", name + ":" + std::to_string(at.line) + ": " + message);
}

std::string dotted(std::uint32_t id) { return "." + std::to_string(id); }

std::string hex(std::int64_t value) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  do out.insert(out.begin(), kDigits[value % 16]);
  while ((value /= 16) > 0);
  return out;
}

// Instructions by id: `code[k]` has id k.
std::vector<const Instruction*> without_gaps(const std::vector<Instruction>& listing,
                                             const std::string& name) {
  std::vector<const Instruction*> code;
  for (const Instruction& i : listing) code.push_back(&i);
  std::sort(code.begin(), code.end(),
            [](const Instruction* a, const Instruction* b) { return a->id < b->id; });
  for (std::size_t k = 0; k < code.size(); ++k) {
    if (code[k]->id == k) continue;
    const std::uint32_t last = code[k]->id - 1;
    fail(name, *code[k],
         "instruction" + std::string(last == k ? " " : "s ") +
             dotted(static_cast<std::uint32_t>(k)) +
             (last == k ? " is" : " to " + dotted(last) + " are") +
             " missing before it: the listing is not whole; write all instructions, numbered "
             "without gaps");
  }
  return code;
}

void require_offsets(const std::vector<const Instruction*>& code, const std::string& name) {
  const Instruction* before = nullptr;
  for (const Instruction* i : code) {
    if (!i->offset) continue;
    if (before) {
      const std::int64_t expected =
          *before->offset + kBytes * (std::int64_t{i->id} - std::int64_t{before->id});
      if (*i->offset != expected)
        fail(name, *i,
             "byte offset " + hex(*i->offset) + " of " + dotted(i->id) + " should be " +
                 hex(expected) + ", as " + dotted(before->id) + " is at " + hex(*before->offset) +
                 " and an instruction has " + std::to_string(kBytes) +
                 " bytes: the listing is not whole, or its lines are of two programs");
    }
    before = i;
  }
}

}  // namespace

void require_whole(const std::vector<Instruction>& listing, const std::string& name) {
  const std::vector<const Instruction*> code = without_gaps(listing, name);
  require_offsets(code, name);
  for (const Instruction& i : listing)
    if (i.opcode == Opcode::kBranch && i.target != kFinId && i.target >= code.size())
      fail(name, i,
           "the branch goes to " + dotted(i.target) + ", but the listing ends with " +
               dotted(code.back()->id) + ": it is not whole; only the end of the program, " +
               dotted(kFinId) + ", is no line");

  std::vector<bool> reached(code.size() + 1);
  std::vector<std::size_t> open{0};
  reached[0] = true;
  const auto reach = [&](std::size_t id) {
    if (id == kFinId || reached[id]) return;
    reached[id] = true;
    open.push_back(id);
  };
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    if (at == code.size())
      fail(name, *code.back(),
           "the program goes on behind " + dotted(code.back()->id) +
               ", the last instruction: the listing is not whole; where the program ends, write "
               "'br[.15000]'");
    const Instruction& i = *code[at];
    const bool branch = i.opcode == Opcode::kBranch;
    if (branch) reach(i.target);
    if (!branch || i.condition != Condition::kAlways) reach(at + 1);
  }
}

}  // namespace lpn::nfp
