#include "tokens.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "semaphores.h"
#include "tensors.h"

namespace lpn::vta {

namespace {

using Values = std::vector<std::int64_t>;
using Numbers = std::vector<std::size_t>;  // of instructions

constexpr std::size_t kChunk = 128;  // instructions: entries_q of FetchVME64.scala
enum Unit { kLoadUnit, kComputeUnit, kStoreUnit, kUnits };
enum Semaphore { kPopPrev, kPopNext, kPushPrev, kPushNext };  // bits of the flags
// From start to done beyond what the loops take (TensorGemm.scala, TensorAlu.scala: start register,
// index generator, five stages), and one clock until the unit is idle again.
constexpr std::int64_t kPipeline = 6 + 1;

// What FetchDecode of core/Decode.scala does not know, and programs without end.
void require_legal(Program program) {
  if (program.empty()) throw Refused("the program has no instruction");
  for (std::size_t i = 0; i < program.size(); ++i)
    if (const std::int64_t op = field::op(program[i]); op > kAlu)
      refuse(i, "unknown opcode " + std::to_string(op));
  for (std::size_t i = 0; i < program.size(); ++i)
    if (const std::int64_t memory = field::mem(program[i]);
        field::op(program[i]) == kLoad && memory > kAcc)
      refuse(i, "a load of memory " + std::to_string(memory) +
                    ": only uop 0, wgt 1, inp 2 and acc 3 can be loaded");
  for (std::size_t i = 0; i < program.size(); ++i)
    if (const std::int64_t op = field::alu_op(program[i]);
        field::op(program[i]) == kAlu && op > kShift)
      refuse(i, "unknown ALU operation " + std::to_string(op) + ": min 0, max 1, add 2, shift 3");
  const auto finish = std::find_if(program.begin(), program.end(),
                                   [](const auto& i) { return field::op(i) == kFinish; });
  if (finish == program.end())
    throw Refused("the program has no finish instruction: the accelerator would never end");
  if (finish != program.end() - 1)
    throw Refused("instruction " + std::to_string(finish - program.begin()) + " is a finish, but " +
                  std::to_string(program.end() - finish - 1) +
                  " instructions follow it; finish ends a program");
}

Unit unit_of(const Instruction& instruction) {
  switch (field::op(instruction)) {
    case kLoad: {
      const std::int64_t memory = field::mem(instruction);
      return memory == kInp || memory == kWgt ? kLoadUnit : kComputeUnit;
    }
    case kStore: return kStoreUnit;
    default: return kComputeUnit;
  }
}

Towards towards(Program program, const Numbers& numbers, Semaphore pop, Semaphore push) {
  Towards out;
  for (const std::size_t number : numbers) {
    const std::int64_t flags = field::flags(program[number]);
    out.pop.push_back(flags >> pop & 1);
    out.push.push_back(flags >> push & 1);
  }
  return out;
}

// Places with their tokens; those without are left out.
class Tokens {
 public:
  struct From {
    const char* property;
    Values& values;  // taken
  };
  void add(const char* place, std::initializer_list<From> columns) {
    if (columns.begin()->values.empty()) return;
    PlaceTokens& made = places_.emplace_back();
    made.place = place;
    for (const From& from : columns)
      made.columns.push_back({from.property, std::move(from.values)});
  }
  std::vector<PlaceTokens> take() { return std::move(places_); }

 private:
  std::vector<PlaceTokens> places_;
};

// The chunks of the fetch unit, and in each the runs of instructions for one unit.
void add_order(Tokens& tokens, Program program) {
  Values sizes, unit, instructions, last;
  for (std::size_t begin = 0; begin < program.size(); begin += kChunk) {
    const std::size_t end = std::min(begin + kChunk, program.size());
    sizes.push_back(static_cast<std::int64_t>(end - begin));
    for (std::size_t i = begin; i < end; ++i) {
      const Unit mine = unit_of(program[i]);
      if (i == begin || mine != unit.back()) {
        unit.push_back(mine);
        instructions.push_back(0);
        last.push_back(0);
      }
      ++instructions.back();
    }
    last.back() = 1;
  }
  tokens.add("chunks", {{"instructions", sizes}});
  tokens.add("order", {{"unit", unit}, {"instructions", instructions}, {"last", last}});
}

std::vector<Tensor> tensors_of(Program program, const Numbers& numbers, const Hardware& hardware,
                               bool store = false) {
  std::vector<Tensor> out;
  out.reserve(numbers.size());
  for (const std::size_t number : numbers)
    out.emplace_back(program[number], number, hardware, store);
  for (const Tensor& tensor : out) tensor.require_room();
  return out;
}

// Requests of tensors whose bursts are tokens; `to` takes each tensor's last.
class Bursts {
 public:
  explicit Bursts(std::int64_t to) : to_(to) {}

  // Returns their number.
  std::int64_t add(const Tensor& tensor) {
    const std::size_t before = beats_.size();
    for (std::int64_t i = 0; i < tensor.rows(); ++i) {
      const Row row = tensor.row(i);
      beats_.push_back(row.first);
      for (std::int64_t left = row.beats - row.first; left > 0; left -= kBurst)
        beats_.push_back(std::min(left, kBurst));
    }
    last_.resize(beats_.size());
    low_.resize(beats_.size(), tensor.accumulator());
    if (beats_.size() > before) last_.back() = to_;
    return static_cast<std::int64_t>(beats_.size() - before);
  }

  void put(Tokens& tokens, const char* place) {
    Values waits(beats_.size()), ahead(beats_.size());
    tokens.add(
        place,
        {{"beats", beats_}, {"to", last_}, {"low", low_}, {"waits", waits}, {"ahead", ahead}});
  }

 private:
  std::int64_t to_;
  Values beats_, last_, low_;
};

void add_zeros(Tokens& tokens, const char* place, const std::vector<Tensor>& tensors,
               const std::vector<bool>& with_data) {
  Values cycles, skipped, rows, data;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].padded()) continue;
    const Tensor::Zeros zeros = tensors[i].zeros();
    cycles.push_back(zeros.cycles);
    skipped.push_back(zeros.skipped);
    rows.push_back(zeros.rows);
    data.push_back(with_data[i]);
  }
  tokens.add(place,
             {{"cycles", cycles}, {"skipped", skipped}, {"rows", rows}, {"with_data", data}});
}

std::int64_t load_flags(const Tensor& tensor) {
  return tensor.flags() | std::int64_t{tensor.padded()} << kPadded |
         std::int64_t{tensor.wide()} << kWide;
}

// Clocks of a GEMM or ALU instruction.
std::int64_t loop_cycles(const Instruction& of) {
  // TensorAluIndexGenerator: the second operand takes a clock of its own.
  const std::int64_t operands = field::op(of) == kAlu && field::use_imm(of) == 0 ? 2 : 1;
  return kPipeline +
         (field::uop_end(of) - field::uop_begin(of)) * field::lp0(of) * field::lp1(of) * operands;
}

bool loops(const Instruction& of) { return field::op(of) == kGemm || field::op(of) == kAlu; }

void require_loops(Program program, const Numbers& numbers, const Hardware& hardware) {
  for (const std::size_t number : numbers) {
    const Instruction& of = program[number];
    const std::int64_t begin = field::uop_begin(of), end = field::uop_end(of);
    if (loops(of) && (begin >= end || field::lp0(of) == 0 || field::lp1(of) == 0))
      refuse(number, "an empty loop (micro-ops " + std::to_string(begin) + ".." +
                         std::to_string(end) + ", " + std::to_string(field::lp0(of)) + " x " +
                         std::to_string(field::lp1(of)) + "): the hardware's counters would wrap");
  }
  for (const std::size_t number : numbers)
    if (const Instruction& of = program[number];
        loops(of) && field::uop_end(of) > hardware.depth[kUop])
      refuse(number, "micro-ops up to " + std::to_string(field::uop_end(of)) + ": there are " +
                         std::to_string(hardware.depth[kUop]));
}

// The compute unit's instructions. Returns, before each and after the last, how many read memory.
std::vector<std::int64_t> add_compute(Tokens& tokens, Program program, const Numbers& numbers,
                                      const Hardware& hardware) {
  Numbers loads;
  for (const std::size_t number : numbers)
    if (field::op(program[number]) == kLoad) loads.push_back(number);
  const std::vector<Tensor> tensors = tensors_of(program, loads, hardware);
  require_loops(program, numbers, hardware);
  Values flags, cycles, tensor_flags, tensor_bursts, rows_above, reads(1);
  Bursts bursts(kToCompute);
  auto tensor = tensors.begin();
  for (const std::size_t number : numbers) {
    const Instruction& of = program[number];
    const std::int64_t op = field::op(of);
    const bool read = op == kLoad && !(tensor++)->empty();
    if (read) {
      tensor_flags.push_back(load_flags(tensor[-1]));
      tensor_bursts.push_back(bursts.add(tensor[-1]));
      rows_above.push_back(tensor[-1].rows_above());
    }
    flags.push_back(field::flags(of) | std::int64_t{op == kFinish} << kFinishes);
    cycles.push_back(read ? 0 : loops(of) ? loop_cycles(of) : kSync);
    reads.push_back(reads.back() + read);
  }
  tokens.add("compute_program", {{"flags", flags}, {"cycles", cycles}});
  bursts.put(tokens, "compute_bursts");
  tokens.add("compute_tensors",
             {{"flags", tensor_flags}, {"bursts", tensor_bursts}, {"rows_above", rows_above}});
  add_zeros(tokens, "compute_zeros", tensors, std::vector<bool>(tensors.size()));
  return reads;
}

// The load unit's instructions; those `alone` have all their bursts in one token.
void add_loads(Tokens& tokens, const std::vector<Tensor>& tensors, const std::vector<bool>& alone) {
  Values flags, number, beats, waits, ahead, rows_above;
  Bursts bursts(kToLoad);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    const Tensor::Together all = tensor.together();
    flags.push_back(load_flags(tensor));
    number.push_back(alone[i] ? !tensor.empty() : bursts.add(tensor));
    beats.push_back(alone[i] ? all.beats : 0);
    waits.push_back(alone[i] ? all.waits : 0);
    ahead.push_back(waits.back() > 0 ? all.ahead : 0);
    rows_above.push_back(tensor.rows_above());
  }
  bursts.put(tokens, "load_bursts");
  tokens.add("load_program", {{"flags", flags},
                              {"bursts", number},
                              {"beats", beats},
                              {"waits", waits},
                              {"ahead", ahead},
                              {"rows_above", rows_above}});
  add_zeros(tokens, "load_zeros", tensors, alone);
}

void add_stores(Tokens& tokens, const std::vector<Tensor>& tensors) {
  Values flags, beats, bursts;
  for (const Tensor& tensor : tensors) {
    flags.push_back(tensor.flags());
    beats.push_back(tensor.stored_beats());
    bursts.push_back(tensor.bursts());
  }
  tokens.add("store_program", {{"flags", flags}, {"beats", beats}, {"bursts", bursts}});
}

}  // namespace

std::vector<PlaceTokens> tokens_of(Program program, const Hardware& hardware, Choice choice) {
  require_legal(program);
  Numbers of_unit[kUnits];
  for (std::size_t i = 0; i < program.size(); ++i) of_unit[unit_of(program[i])].push_back(i);
  const auto& [load, compute, store] = of_unit;
  const Towards load_to_compute = towards(program, load, kPopNext, kPushNext),
                compute_to_load = towards(program, compute, kPopPrev, kPushPrev),
                compute_to_store = towards(program, compute, kPopNext, kPushNext),
                store_to_compute = towards(program, store, kPopPrev, kPushPrev);
  require_kept("load", load_to_compute, "compute", compute_to_load);
  require_kept("compute", compute_to_load, "load", load_to_compute);
  require_kept("compute", compute_to_store, "store", store_to_compute);
  require_kept("store", store_to_compute, "compute", compute_to_store);

  Tokens tokens;
  add_order(tokens, program);
  const std::vector<std::int64_t> reads = add_compute(tokens, program, compute, hardware);
  const std::vector<Tensor> loaded = tensors_of(program, load, hardware);
  std::vector<bool> alone(loaded.size());
  if (!choice.every_burst && (program.size() <= kChunk || !choice.fetch)) {
    const Pair pair(load_to_compute, compute_to_load);
    const std::vector<std::size_t> before = pair.before(), until = pair.until();
    for (std::size_t i = 0; i < loaded.size(); ++i)
      alone[i] = reads[until[i]] <= reads[before[i]] && loaded[i].even(choice.fetch);
  }
  add_loads(tokens, loaded, alone);
  add_stores(tokens, tensors_of(program, store, hardware, true));
  return tokens.take();
}

}  // namespace lpn::vta
