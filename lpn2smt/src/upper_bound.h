// The largest an instant can be: longest paths of which each unit is charged once.
//
// The bound of an instant is a table over the budget of one limit, the main one: the most that it
// can be when the units read so far use so much of it. A unit that later delays still read stays
// open: its functions are added up, and its tuple is chosen when nothing after reads it. The other
// limits have multipliers. Gates are late by what differences of instants allow.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "box.h"
#include "lpn/classes/differences.h"
#include "path_units.h"

namespace lpn::smt {

class UpperBound {
 public:
  UpperBound(PathUnits& path, InstantId target);

  // What a path costs beside its delays, all of the same denominator.
  struct Charge {
    std::int64_t scale = 1;  // times the instant
    std::optional<std::uint32_t> budget;
    std::int64_t quantum = 1;
    std::vector<std::int64_t> multipliers;                      // per limit; none: zeros
    std::vector<std::pair<std::uint32_t, std::int64_t>> tolls;  // functions, with weights
  };
  struct Result {
    Wide total = 0;           // scale * instant - tolls is this at most
    Choice choice;            // of the longest path; kUnset for units that it does not read
    Choice whole;             // the same with the tuples that the others are left with
    std::vector<Wide> slack;  // per limit: cap less what the whole choice uses
  };
  // REQUIRES least_use() within the caps, and a magnitude.
  Result solve(const Box& box, const Charge& charge);

  // Units are charged at one of their delays only, since there were too many states.
  bool split() const { return split_; }
  std::size_t tables() const { return tables_.size(); }

 private:
  enum class Kind : std::uint8_t { kZero, kMax, kClose, kFree, kEdge, kLeast };
  struct Part {
    std::uint32_t table = 0;
    std::int64_t offset = 0;
    std::uint8_t group = 0;  // 0; of a gate: 1 by what opens it, 2 by its start and the difference
    std::uint32_t gate = 0;
  };
  struct Table {
    Kind kind = Kind::kZero;
    std::vector<Part> parts;
    std::uint32_t function = 0;          // kClose, kFree
    std::int64_t period = 1, phase = 0;  // kEdge
  };
  using Open = std::vector<std::uint32_t>;  // functions, by unit
  struct State {
    Open open;
    std::uint32_t table = 0;
    std::int64_t offset = 0;
  };
  struct Candidate {
    Open open;
    Part part;
  };
  struct Gate {
    std::vector<std::pair<Part, Open>> opens, late;
  };

  bool compile(bool split);
  void read_sets();
  bool reads_after(std::size_t v, std::uint32_t unit) const {
    return (after_[v * words_ + unit / 64] >> (unit % 64)) & 1;
  }
  bool reads_before(std::size_t v, std::uint32_t unit) const {
    return (before_[v * words_ + unit / 64] >> (unit % 64)) & 1;
  }
  // The states of `from`, with the delays on top, as they arrive at v.
  void arrive(std::size_t from, std::size_t v, const std::vector<const Sum*>& delays,
              std::int64_t extra, std::uint8_t group, std::vector<Candidate>& out);
  std::uint32_t close(std::uint32_t table, std::uint32_t function, Kind kind);
  void settle(std::size_t v, std::vector<Candidate>& candidates);
  void gate(std::size_t v, std::vector<Candidate>& candidates);
  void edge(std::size_t v, std::vector<Candidate>& candidates);

  struct Point {
    std::int64_t cost, value;
    std::uint32_t row;
  };
  const std::vector<Point>& points(std::uint32_t function);
  std::int64_t largest(const Function& function) const;
  std::int64_t most(const std::vector<std::pair<Part, Open>>& ways) const;
  // Tables of values by budget, each of the tables before it.
  void fill(std::uint32_t table);
  void join(const Table& table, std::vector<std::int64_t>& out);
  void add_largest(const Table& table, std::vector<std::int64_t>& out);
  void round_up(const Table& table, std::vector<std::int64_t>& out);
  void add_unit(const Table& table, std::vector<std::int64_t>& out);
  static void add_linear(const std::vector<std::int64_t>& from, std::int64_t n, std::int64_t first,
                         std::int64_t gain, std::vector<std::int64_t>& out);
  void begin(const Box& box, const Charge& charge);
  void charge_function(const Function& function, std::int64_t weight, std::int64_t lo);
  Wide charge_limits(const Charge& charge);
  Choice lightest(Wide& total);
  void trace(Choice& choice);
  std::int64_t value(std::uint32_t table, std::int64_t budget) const {
    const auto& t = values_[table];
    return t[static_cast<std::size_t>(std::min(budget, static_cast<std::int64_t>(t.size()) - 1))];
  }

  PathUnits& p_;
  InstantId target_;
  Differences differences_;
  bool split_ = false;
  std::size_t words_ = 0;
  std::vector<bool> used_;  // instants that the target depends on
  std::vector<std::uint64_t> after_, before_;
  std::vector<Table> tables_;
  std::unordered_map<std::uint64_t, std::uint32_t> closed_;
  std::vector<std::vector<State>> states_;
  std::vector<Gate> gates_;
  std::size_t steps_ = 0;
  std::uint32_t result_ = 0;
  std::int64_t result_offset_ = 0;

  // Of the solve() in progress.
  const Box* box_ = nullptr;
  std::int64_t budget_ = 0, scale_ = 1;
  bool multiplied_ = false;
  std::vector<std::vector<std::int64_t>> cost_, penalty_;  // per unit and tuple
  std::vector<std::vector<std::int64_t>> values_;          // per table
  std::vector<std::optional<std::vector<Point>>> points_;  // per function
  std::vector<std::uint8_t> chosen_;                       // per gate: group 1 or 2
};

}  // namespace lpn::smt
