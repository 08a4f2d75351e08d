// Terms go to Z3 one by one, as they are made; conditions are bits there too, which its simplifier
// undoes.
#include "lpn/smt/bitvectors.h"

#include <z3++.h>

#include <algorithm>
#include <mutex>
#include <optional>

#include "lpn/base/error.h"

namespace lpn::smt {

struct BitVectors::Impl {
  z3::context z3;
  z3::solver solver{z3, "QF_AUFBV"};
  std::vector<z3::expr> terms;
  std::optional<z3::model> model;
  std::vector<std::size_t> core;
  std::mutex mutex;  // an interruption while Z3 does nothing could stop its next check
  bool checking = false;

  Id add(z3::expr e) {
    terms.push_back(std::move(e));
    return static_cast<Id>(terms.size() - 1);
  }
  z3::expr condition(Id id) { return terms[id] == z3.bv_val(1, 1); }
  z3::expr bit(const z3::expr& b) { return z3::ite(b, z3.bv_val(1, 1), z3.bv_val(0, 1)); }
};

BitVectors::BitVectors() : impl_(std::make_unique<Impl>()) {}
BitVectors::~BitVectors() = default;

BitVectors::Id BitVectors::constant(int width, std::uint64_t value) {
  return impl_->add(impl_->z3.bv_val(value, static_cast<unsigned>(width)));
}
BitVectors::Id BitVectors::variable(const std::string& name, int width) {
  return impl_->add(impl_->z3.bv_const(name.c_str(), static_cast<unsigned>(width)));
}
BitVectors::Id BitVectors::array(const std::string& name, int index_width, int element_width) {
  const z3::sort sort =
      impl_->z3.array_sort(impl_->z3.bv_sort(static_cast<unsigned>(index_width)),
                           impl_->z3.bv_sort(static_cast<unsigned>(element_width)));
  return impl_->add(impl_->z3.constant(name.c_str(), sort));
}

BitVectors::Id BitVectors::apply(BvOp op, std::span<const Id> operands) {
  const auto& t = impl_->terms;
  const auto arg = [&](std::size_t k) -> const z3::expr& {
    LPN_ASSERT(k < operands.size());
    return t[operands[k]];
  };
  switch (op) {
    case BvOp::kNot: return impl_->add(~arg(0));
    case BvOp::kAnd: return impl_->add(arg(0) & arg(1));
    case BvOp::kOr: return impl_->add(arg(0) | arg(1));
    case BvOp::kXor: return impl_->add(arg(0) ^ arg(1));
    case BvOp::kAdd: return impl_->add(arg(0) + arg(1));
    case BvOp::kSub: return impl_->add(arg(0) - arg(1));
    case BvOp::kMul: return impl_->add(arg(0) * arg(1));
    case BvOp::kShl: return impl_->add(z3::shl(arg(0), arg(1)));
    case BvOp::kShr: return impl_->add(z3::lshr(arg(0), arg(1)));
    case BvOp::kConcat: return impl_->add(z3::concat(arg(0), arg(1)));
    case BvOp::kIte: return impl_->add(z3::ite(impl_->condition(operands[0]), arg(1), arg(2)));
    case BvOp::kEq: return impl_->add(impl_->bit(arg(0) == arg(1)));
    case BvOp::kUlt: return impl_->add(impl_->bit(z3::ult(arg(0), arg(1))));
    case BvOp::kSlt: return impl_->add(impl_->bit(z3::slt(arg(0), arg(1))));
    case BvOp::kSelect: return impl_->add(z3::select(arg(0), arg(1)));
    case BvOp::kStore: return impl_->add(z3::store(arg(0), arg(1), arg(2)));
  }
  LPN_ASSERT(!"an operator");
  return 0;
}

BitVectors::Id BitVectors::extract(Id term, int low, int width) {
  return impl_->add(impl_->terms[term].extract(static_cast<unsigned>(low + width - 1),
                                               static_cast<unsigned>(low)));
}
BitVectors::Id BitVectors::sign_extended(Id term, int width) {
  const z3::expr& e = impl_->terms[term];
  return impl_->add(z3::sext(e, static_cast<unsigned>(width) - e.get_sort().bv_size()));
}

void BitVectors::push() { impl_->solver.push(); }
void BitVectors::pop() { impl_->solver.pop(); }
void BitVectors::require(Id condition) { impl_->solver.add(impl_->condition(condition)); }

Answer BitVectors::check(std::span<const Id> assumptions, const FeasibilityLimits& limits) {
  Impl& m = *impl_;
  m.model.reset();
  m.core.clear();
  z3::params params(m.z3);
  params.set("timeout", limits.seconds > 0
                            ? static_cast<unsigned>(std::clamp(limits.seconds * 1e3, 1.0, 4e9))
                            : 4294967295u);
  params.set("rlimit", static_cast<unsigned>(std::min<std::uint64_t>(limits.work, 4294967295u)));
  params.set("ctrl_c", false);  // else Z3 takes the signal, and whoever asked goes on
  m.solver.set(params);
  // Assumptions must be literals: a fresh one stands for each condition.
  z3::expr_vector literals(m.z3);
  m.solver.push();
  for (std::size_t k = 0; k < assumptions.size(); ++k) {
    const z3::expr literal = m.z3.bool_const(("assumed " + std::to_string(k)).c_str());
    m.solver.add(z3::implies(literal, m.condition(assumptions[k])));
    literals.push_back(literal);
  }
  {
    const std::lock_guard lock(m.mutex);
    m.checking = true;
  }
  z3::check_result result = z3::unknown;
  try {
    result = m.solver.check(literals);
  } catch (const z3::exception&) {
    // Interrupted, or out of memory: it has no answer, and says so.
  }
  {
    const std::lock_guard lock(m.mutex);
    m.checking = false;
  }
  if (result == z3::sat) m.model = m.solver.get_model();
  if (result == z3::unsat) {
    const z3::expr_vector found = m.solver.unsat_core();
    for (unsigned c = 0; c < found.size(); ++c)
      for (unsigned k = 0; k < literals.size(); ++k)
        if (z3::eq(found[static_cast<int>(c)], literals[static_cast<int>(k)])) m.core.push_back(k);
    std::sort(m.core.begin(), m.core.end());
  }
  m.solver.pop();
  return result == z3::sat ? Answer::kSat : result == z3::unsat ? Answer::kUnsat : Answer::kUnknown;
}

const std::vector<std::size_t>& BitVectors::core() const { return impl_->core; }

std::uint64_t BitVectors::value(Id term) const {
  LPN_ASSERT(impl_->model.has_value());
  return impl_->model->eval(impl_->terms[term], true).get_numeral_uint64();
}

void BitVectors::interrupt() {
  const std::lock_guard lock(impl_->mutex);
  if (impl_->checking) impl_->z3.interrupt();
}

}  // namespace lpn::smt
