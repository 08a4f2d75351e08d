// Can the conditions of a path hold together, with which packet and memory, and how small may the
// packet be?
//
// Conditions fall into components that share no byte, and most components are a byte or two: those
// are decided by trying values, with the values a single condition allows kept per condition. What
// is larger goes to Z3. Bytes read at addresses that depend on the packet are at first taken as
// free; an example that then contradicts itself goes to Z3 once more, with the memories as arrays.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "term.h"

namespace lpn::nfp {

struct Example {
  std::uint32_t size = 0;
  std::map<std::uint32_t, std::uint8_t> packet, map;  // bytes that matter, by address
};

struct Verdict {
  enum class Kind : std::uint8_t { kSat, kUnsat, kUnknown } kind = Kind::kUnknown;
  Example example;           // kSat; of the smallest packet
  std::vector<TermId> core;  // kUnsat: conditions that cannot hold together
};

class Conditions {
 public:
  Conditions(Terms& terms, std::uint32_t least_size, std::uint32_t most_size);
  ~Conditions();

  // The parts of a conjunction; false when one of them can never hold. Undefined parts are left out
  // and reported.
  bool split(TermId condition, std::vector<TermId>& atoms, bool& undefined);

  // The bound a condition sets on the packet's size alone, if that is what it is: size >= least,
  // size <= most.
  struct Bound {
    std::uint32_t least, most;
  };
  std::optional<Bound> bound(TermId atom);

  // Conditions among `atoms` that cannot hold together, found without a solver; those that share a
  // byte with `fresh` are looked at.
  std::optional<std::vector<TermId>> refute(std::span<const TermId> atoms,
                                            std::span<const TermId> fresh);

  // Everything. `seconds` limits each question to Z3 (0: none).
  Verdict solve(std::span<const TermId> atoms, double seconds);
  // The least packet size under the conditions that have to do with it; 0 when there is none.
  std::uint32_t least_size(std::span<const TermId> atoms);
  // Conditions among `atoms` that together need a packet of `size` bytes. REQUIRES that all of them
  // do.
  std::vector<TermId> size_core(std::span<const TermId> atoms, std::uint32_t size);
  bool mentions_size(TermId atom);
  // What an atom reads that is not known: bytes and the size, sorted.
  const std::vector<TermId>& variables(TermId atom);

  void interrupt();
  std::uint64_t z3_checks() const { return z3_checks_; }

 private:
  struct Solver;
  using Bits = std::vector<std::uint64_t>;

  const Bits& domain(TermId atom, TermId variable);
  std::uint32_t values(TermId variable) const {
    return variable == terms_.size() ? most_ + 1 : 256;
  }
  std::uint64_t evaluate(TermId id);
  void assign(TermId variable, std::uint64_t value);

  struct Partial {
    Verdict::Kind kind = Verdict::Kind::kUnknown;
    std::vector<std::pair<TermId, std::uint32_t>> values;
    std::vector<TermId> core;
  };
  // `minimal`: also a core without superfluous conditions.
  Partial component(std::vector<TermId> atoms, bool with_z3, double seconds);
  struct Var;
  std::vector<Var> variables_of(const std::vector<TermId>& atoms);
  std::vector<TermId> single_core(std::vector<TermId> core, TermId variable);
  std::optional<std::vector<TermId>> narrow(std::vector<Var>& vars,
                                            const std::vector<TermId>& atoms);
  std::optional<std::uint32_t> next_value(const Var& var, std::uint32_t from, std::uint64_t& spent,
                                          std::uint64_t budget);
  Partial try_values(const std::vector<TermId>& atoms, std::uint64_t budget);
  Partial ask_z3(const std::vector<TermId>& atoms, double seconds);
  Verdict ask_arrays(std::span<const TermId> atoms, double seconds);
  std::vector<std::vector<TermId>> components(std::span<const TermId> atoms);

  Terms& terms_;
  std::uint32_t least_, most_;
  std::unordered_map<TermId, std::vector<TermId>> variables_;
  std::unordered_map<TermId, Bits> domains_;
  struct VectorHash {
    std::size_t operator()(const std::vector<TermId>& v) const {
      std::size_t h = v.size();
      for (const TermId t : v) h = (h ^ t) * 0x9e3779b97f4a7c15ull ^ h >> 31;
      return h;
    }
  };
  std::unordered_map<std::vector<TermId>, Partial, VectorHash> quick_, full_;
  // evaluate(): a value per term, as of a counter of assignments
  std::vector<std::uint64_t> value_;
  std::vector<std::uint32_t> when_;
  std::uint32_t now_ = 1;
  std::unordered_map<TermId, std::uint64_t> assigned_;
  std::unique_ptr<Solver> solver_;
  std::uint64_t z3_checks_ = 0;
};

}  // namespace lpn::nfp
