// Linear programmes in floating point, minimised: for hints only, nothing rests on their answers.
// The only place that knows GLPK.
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace lpn::smt {

class LinearProgramme {
 public:
  LinearProgramme();
  ~LinearProgramme();
  LinearProgramme(const LinearProgramme&) = delete;
  LinearProgramme& operator=(const LinearProgramme&) = delete;

  // Coefficients are (row, value) and (column, value), numbered from 0 in the order of adding.
  // An infinite bound is none.
  int add_column(double lo, double hi, double cost,
                 const std::vector<std::pair<int, double>>& coefficients = {});
  int add_row(double lo, double hi, const std::vector<std::pair<int, double>>& coefficients);

  // Goes on from the solution before. False: no optimum within the time (in seconds).
  bool solve(double seconds);
  double value(int column) const;
  double dual(int row) const;
  double objective() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lpn::smt
