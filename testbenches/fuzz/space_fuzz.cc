// Input spaces of any shape: bytes choose variables, terms, tokens and constraints. A space that
// does not fit its net is an Error; of one that does, every input is a marking, or an Error, and
// follows exactly one path of the partition.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lpn/base/error.h"
#include "lpn/classes/input_space.h"
#include "lpn/classes/partition.h"
#include "lpn/text/text.h"
#include "require.h"

namespace {

using namespace lpn;  // NOLINT: all of this file is about lpn's types
using lpn::fuzz::require;

constexpr std::string_view kNet = R"(lpn 1
net sample
param slots = 2 in 1..8
type unit ()
type block (nonzero: 0..63, plane)
place coded : block start
place ready : block capacity slots
place free : unit
place out : unit done
transition fetch {
  take b from coded
  delay 2
  servers 1
  put ready (b.nonzero, b.plane)
}
transition work {
  take b from ready when b.nonzero > 3
  delay b.nonzero
  put out
}
transition skip {
  take b from ready when b.nonzero <= 3
  take f from free
  delay 1
  put out
}
end
)";

constexpr std::uint64_t kMostInputs = 64;

// Numbers from the bytes; 0 when they are used up.
class Bytes {
 public:
  explicit Bytes(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  bool empty() const { return bytes_.empty(); }
  std::uint8_t byte() {
    if (bytes_.empty()) return 0;
    const std::uint8_t value = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return value;
  }
  std::uint32_t below(std::uint32_t end) { return byte() % end; }
  // Small, or at the end of 64 bits.
  std::int64_t number() {
    const std::uint8_t kind = byte();
    if (kind < 200) return static_cast<std::int64_t>(kind % 20) - 4;
    const auto power = static_cast<std::int64_t>(std::uint64_t{1} << (kind - 200));
    return kind % 2 == 0 ? power : static_cast<std::int64_t>(-static_cast<std::uint64_t>(power));
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

ExprId any_term(Bytes& source, const InputSpace& space) {
  const auto size = static_cast<std::uint32_t>(space.variables.exprs.size());
  return static_cast<ExprId>(source.byte() % (size + 1));  // one behind the end is a mistake, too
}

void add_term(Bytes& source, ExprPool& pool) {
  Node node;
  node.op = static_cast<Op>(source.below(kOpCount));
  node.a = source.below(6);
  node.b = source.below(3);
  node.value = node.op == Op::kConst ? source.number() : 0;
  for (int k = 0; k < op_info(node.op).arity; ++k) {
    if (pool.size() == 0) return;
    node.kids[static_cast<std::size_t>(k)] =
        static_cast<ExprId>(source.byte() % static_cast<std::uint32_t>(pool.size()));
  }
  if (node.op == Op::kLookup || node.op == Op::kAssume) return;  // their tables are not bytes
  try {
    pool.make(node);
  } catch (const Error&) {
  }
}

InputSpace space_of(Bytes& source) {
  InputSpace space;
  for (std::uint32_t k = 0, count = source.below(5); k < count; ++k) {
    Param variable{.name = "x" + std::to_string(k), .value = 0, .range = {}, .source = {}};
    const std::int64_t lo = source.number(), hi = source.number();
    if (source.below(16) != 0) variable.range = Range{std::min(lo, hi), std::max(lo, hi)};
    variable.value = variable.range.value_or(Range{0, 0}).lo;
    space.variables.params.push_back(variable);
    space.variables.exprs.param(k);
  }
  space.variables.exprs.constant(2);
  for (std::uint32_t k = 0, count = source.below(24); k < count; ++k)
    add_term(source, space.variables.exprs);
  if (source.below(8) != 0) space.params.push_back(any_term(source, space));
  for (std::uint32_t k = 0, count = source.below(4); k < count; ++k) {
    InputSpace::Tokens tokens{.place = PlaceId{source.below(5)}, .rows = {}, .count = {}};
    const std::uint32_t width = source.below(8) == 0                           ? source.below(4)
                                : static_cast<std::uint32_t>(tokens.place) < 2 ? 2
                                                                               : 0;
    for (std::uint32_t row = 0, rows = source.below(5); row < rows; ++row) {
      std::vector<ExprId>& terms = tokens.rows.emplace_back();
      for (std::uint32_t f = 0; f < width; ++f) terms.push_back(any_term(source, space));
    }
    if (source.below(3) == 0) tokens.count = any_term(source, space);
    space.tokens.push_back(std::move(tokens));
  }
  for (std::uint32_t k = 0, count = source.below(3); k < count; ++k)
    space.constraints.push_back(any_term(source, space));
  return space;
}

// Whether the space says what every one of its inputs is.
bool fits(const Net& net, const InputSpace& space) {
  bool all = true;
  each_input(space, [&](const Assignment& input) {
    try {
      params_of(net, space, input);
      marking_of(net, space, input);
    } catch (const Error& error) {
      require(error.code() == "E-space" || error.code() == "E-range", error.code());
      all = false;
    }
    return true;
  });
  return all;
}

// `fit`: every input is a marking; else only an answer is asked for.
void check_partition_of(const Net& net, const InputSpace& space, bool fit) {
  PartitionOptions options;
  options.max_paths = 200;
  options.max_firings = 400;
  Partition parts;
  try {
    parts = partition(net, space, options);
  } catch (const Error& error) {
    require(error.code() == "E-space" || error.code() == "E-partition", error.code());
    return;
  }
  if (!fit || !parts.complete) return;
  each_input(space, [&](const Assignment& input) {
    int paths = 0;
    for (const InputClass& each : parts.classes) {
      paths += static_cast<int>(
          std::count_if(each.paths.begin(), each.paths.end(),
                        [&](const Path& path) { return follows(path, parts.space, input); }));
    }
    require(paths == 1, "an input follows " + std::to_string(paths) + " paths");
    return true;
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Net net = parse_net(kNet);
  Bytes source({data, size});
  const InputSpace space = space_of(source);
  try {
    check_space(net, space);
  } catch (const Error& error) {
    require(error.code() == "E-space" && *error.what() != 0, "refused with " + error.code());
    return 0;
  }
  if (!assignments(space, kMostInputs)) return 0;
  check_partition_of(net, space, fits(net, space));
  return 0;
}
