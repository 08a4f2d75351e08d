#include "write/shared_terms.h"

namespace lpn::sim {

using std::size_t;

namespace {

constexpr std::uint64_t kWorthIt = 3;  // nodes; less is written again
constexpr unsigned kIndexBit = 63;     // folds are nested less deep

}  // namespace

void SharedTerms::turn_to(size_t k) {
  names_.clear();
  seen_.clear();
  if (k == transition_) return;
  transition_ = k;
  uses_.clear();
  open_.clear();
  count();
}

void SharedTerms::count() {
  const Transition& t = net_->transitions[transition_];
  for (const InputArc& arc : t.inputs) {
    if (arc.inhibit) continue;
    count(arc.weight, false);
    if (arc.threshold) count(*arc.threshold, false);
    if (arc.guard) count(*arc.guard, false);
  }
  count(t.delay, false);
  if (t.interval) count(*t.interval, false);
  for (const OutputArc& arc : t.outputs) {
    for (const Emission& emission : arc.emissions) {
      std::int64_t number = 0;
      const bool one = net_->exprs.is_const(emission.count.id, number) && number == 1;
      count(emission.count, false);
      for (const Formula& field : emission.fields) count(field, !one);
    }
  }
}

// `repeated`: the formula is evaluated for each of several tokens.
void SharedTerms::count(const Formula& f, bool repeated) {
  std::vector<ExprId> left;
  const auto use = [&](ExprId id, unsigned times) {
    unsigned& uses = uses_[id];
    if (uses == 0) left.push_back(id);
    uses += times;
  };
  use(f.id, repeated && !varies(f.id) ? 2 : 1);
  while (!left.empty()) {
    const ExprId id = left.back();
    left.pop_back();
    const Node& n = net_->exprs[id];
    const bool loop = varies(id) || kind_of(n.op) == Kind::kAggregate;
    for (int kid = 0; kid < op_info(n.op).arity; ++kid) {
      const ExprId child = n.kids[static_cast<size_t>(kid)];
      use(child, loop && !varies(child) ? 2 : 1);
    }
  }
}

std::uint64_t SharedTerms::open(ExprId id) {
  if (const auto it = open_.find(id); it != open_.end()) return it->second;
  const Node& n = net_->exprs[id];
  std::uint64_t found = 0;
  if (n.op == Op::kIndex) found = std::uint64_t{1} << kIndexBit;
  if (n.op == Op::kBound) found = std::uint64_t{1} << n.a;
  for (int kid = 0; kid < op_info(n.op).arity; ++kid) {
    found |= open(n.kids[static_cast<size_t>(kid)]);
  }
  if (kind_of(n.op) == Kind::kAggregate) found &= ~(std::uint64_t{1} << n.b);
  open_.emplace(id, found);
  return found;
}

void SharedTerms::define(const Formula& f, const Define& define_one) { define(f.id, define_one); }

void SharedTerms::define(ExprId id, const Define& define_one) {
  if (!seen_.insert(id).second) return;
  const Node& n = net_->exprs[id];
  for (int kid = 0; kid < op_info(n.op).arity; ++kid) {
    define(n.kids[static_cast<size_t>(kid)], define_one);
  }
  const auto it = uses_.find(id);
  if (it == uses_.end() || it->second < 2 || varies(id)) return;
  if (net_->exprs.tree_size(id) < kWorthIt) return;
  const bool kept = printer_->may_fail(transition_, {id, {}});
  if (kept && kind_of(n.op) != Kind::kAggregate) return;
  const std::string cpp = printer_->of(transition_, {id, {}}, kept ? kSite : "0", &names_);
  names_.emplace(id, Term{define_one(id, cpp, kept), kept});
}

}  // namespace lpn::sim
