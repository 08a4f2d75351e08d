#include "linear_programme.h"

#include <glpk.h>

#include <algorithm>
#include <cmath>

namespace lpn::smt {
namespace {

int kind(double lo, double hi) {
  if (std::isinf(lo) && std::isinf(hi)) return GLP_FR;
  if (std::isinf(lo)) return GLP_UP;
  if (std::isinf(hi)) return GLP_LO;
  return lo == hi ? GLP_FX : GLP_DB;
}

// GLPK counts from 1.
void unpack(const std::vector<std::pair<int, double>>& from, std::vector<int>& indices,
            std::vector<double>& values) {
  indices.assign(1, 0);
  values.assign(1, 0);
  for (const auto& [index, value] : from) {
    if (value == 0) continue;
    indices.push_back(index + 1);
    values.push_back(value);
  }
}

}  // namespace

struct LinearProgramme::Impl {
  glp_prob* lp = glp_create_prob();
  std::vector<int> indices;
  std::vector<double> values;
};

LinearProgramme::LinearProgramme() : impl_(std::make_unique<Impl>()) {
  glp_term_out(GLP_OFF);
  glp_set_obj_dir(impl_->lp, GLP_MIN);
}
LinearProgramme::~LinearProgramme() { glp_delete_prob(impl_->lp); }

int LinearProgramme::add_column(double lo, double hi, double cost,
                                const std::vector<std::pair<int, double>>& coefficients) {
  const int j = glp_add_cols(impl_->lp, 1);
  glp_set_col_bnds(impl_->lp, j, kind(lo, hi), lo, hi);
  glp_set_obj_coef(impl_->lp, j, cost);
  unpack(coefficients, impl_->indices, impl_->values);
  glp_set_mat_col(impl_->lp, j, static_cast<int>(impl_->indices.size()) - 1, impl_->indices.data(),
                  impl_->values.data());
  return j - 1;
}

int LinearProgramme::add_row(double lo, double hi,
                             const std::vector<std::pair<int, double>>& coefficients) {
  const int i = glp_add_rows(impl_->lp, 1);
  glp_set_row_bnds(impl_->lp, i, kind(lo, hi), lo, hi);
  unpack(coefficients, impl_->indices, impl_->values);
  glp_set_mat_row(impl_->lp, i, static_cast<int>(impl_->indices.size()) - 1, impl_->indices.data(),
                  impl_->values.data());
  return i - 1;
}

bool LinearProgramme::solve(double seconds) {
  glp_smcp options;
  glp_init_smcp(&options);
  options.msg_lev = GLP_MSG_OFF;
  options.meth = GLP_DUALP;
  options.tm_lim = static_cast<int>(std::clamp(seconds, 0.01, 1e6) * 1000);
  // A basis that rows or columns left singular is built anew.
  if (glp_simplex(impl_->lp, &options) != 0) {
    glp_adv_basis(impl_->lp, 0);
    if (glp_simplex(impl_->lp, &options) != 0) return false;
  }
  return glp_get_status(impl_->lp) == GLP_OPT;
}

double LinearProgramme::value(int column) const { return glp_get_col_prim(impl_->lp, column + 1); }
double LinearProgramme::dual(int row) const { return glp_get_row_dual(impl_->lp, row + 1); }
double LinearProgramme::objective() const { return glp_get_obj_val(impl_->lp); }

}  // namespace lpn::smt
