// VTA's instructions: 128 bits each, two little-endian words, as core/ISA.scala and
// core/Decode.scala lay them out. models/vta/isa.py writes them.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

namespace lpn::vta {

struct Instruction {
  std::uint64_t low = 0, high = 0;
};
using Program = std::span<const Instruction>;

enum Opcode : std::int64_t { kLoad, kStore, kGemm, kFinish, kAlu };
enum Memory : std::int64_t { kUop, kWgt, kInp, kAcc, kOut, kMemories };
inline constexpr const char* kMemoryNames[] = {"uop", "wgt", "inp", "acc", "out"};
inline constexpr std::int64_t kShift = 3;  // the last operation of the ALU

namespace field {

struct Field {
  int word, shift, bits;
  std::int64_t operator()(const Instruction& of) const {
    const std::uint64_t value = word == 0 ? of.low : of.high;
    return static_cast<std::int64_t>(value >> shift & ((std::uint64_t{1} << bits) - 1));
  }
};

// Of all; `flags`: pop_prev is bit 0, then pop_next, push_prev, push_next.
inline constexpr Field op{0, 0, 3}, flags{0, 3, 4};
// Of loads and stores.
inline constexpr Field mem{0, 7, 3}, sram{0, 10, 16}, dram{0, 26, 32}, y{1, 0, 16}, x{1, 16, 16},
    stride{1, 32, 16}, y0{1, 48, 4}, y1{1, 52, 4}, x0{1, 56, 4}, x1{1, 60, 4};
// Of GEMM and ALU.
inline constexpr Field uop_begin{0, 8, 13}, uop_end{0, 21, 14}, lp0{0, 35, 14}, lp1{0, 49, 14};
// Of ALU.
inline constexpr Field alu_op{1, 44, 3}, use_imm{1, 47, 1};

}  // namespace field

// Bytes of one element and number of elements of each memory: models/vta/config.py reads them from
// VTA's JSON configuration. These are CoreConfig of core/Configs.scala.
struct Hardware {
  std::int64_t bytes[kMemories] = {4, 256, 16, 64, 16};
  std::int64_t depth[kMemories] = {2048, 1024, 2048, 2048, 2048};
};

// What the hardware does not run. The message names the instruction and the reason.
class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

[[noreturn]] void refuse(std::size_t instruction, const std::string& reason);

}  // namespace lpn::vta
