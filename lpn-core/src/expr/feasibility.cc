#include "lpn/expr/feasibility.h"

#include <unordered_map>
#include <utility>

#include "lpn/base/error.h"
#include "lpn/expr/build.h"
#include "lpn/expr/eval.h"

namespace lpn {

Feasibility::Feasibility() : bounds_(std::make_unique<TermBounds>(terms_)) {}
Feasibility::~Feasibility() = default;

VarId Feasibility::integer(std::string name, Range range) {
  changed();
  const auto var = static_cast<VarId>(terms_.variables.size());
  terms_.variables.push_back({std::move(name), range});
  if (range.lo > range.hi) impossible_ = true;
  on_variable(var, range);
  return var;
}

VarId Feasibility::boolean(std::string name) { return integer(std::move(name), {0, 1}); }

const std::string& Feasibility::name(VarId var) const {
  return terms_.variables.at(static_cast<std::size_t>(var)).name;
}
Range Feasibility::range(VarId var) const {
  return terms_.variables.at(static_cast<std::size_t>(var)).range;
}

ExprId Feasibility::term(VarId var) { return pool().param(static_cast<std::uint32_t>(var)); }
ExprId Feasibility::condition(VarId var) { return ExprBuilder(pool()).to_bool(term(var)); }

void Feasibility::push() {
  changed();
  levels_.push_back({terms_.variables.size(), requirements_.size(), impossible_});
  on_push();
}

void Feasibility::pop() {
  LPN_ASSERT(!levels_.empty());
  changed();
  const Level level = levels_.back();
  levels_.pop_back();
  // What is known of terms that read a variable dies with it.
  if (level.variables != terms_.variables.size()) {
    terms_.variables.resize(level.variables);
    bounds_ = std::make_unique<TermBounds>(terms_);
  }
  requirements_.resize(level.requirements);
  impossible_ = level.impossible;
  on_pop(level.variables);
}

void Feasibility::require(ExprId condition) {
  LPN_ASSERT(pool()[condition].type == Type::kBool);
  changed();
  if (bounds(condition).hi == 0) impossible_ = true;
  requirements_.push_back({condition, false});
  on_require(condition, false);
}

void Feasibility::require_fault(ExprId term) {
  changed();
  if (ExprBuilder(pool()).total(term)) impossible_ = true;
  requirements_.push_back({term, true});
  on_require(term, true);
}

Answer Feasibility::check(std::span<const ExprId> assumptions, const FeasibilityLimits& limits) {
  changed();
  if (impossible_) {
    verdict_ = Verdict{.answer = Answer::kUnsat, .model = {}, .core = {}};
    return Answer::kUnsat;
  }
  for (std::size_t k = 0; k < assumptions.size(); ++k) {
    LPN_ASSERT(pool()[assumptions[k]].type == Type::kBool);
    if (bounds(assumptions[k]).hi != 0) continue;
    verdict_ = Verdict{.answer = Answer::kUnsat, .model = {}, .core = {k}};
    return Answer::kUnsat;
  }
  verdict_ = solve(assumptions, limits);
  if (verdict_->answer == Answer::kSat) {
    // A solver's example is believed when evaluation agrees, whatever the solver is.
    LPN_ASSERT(verdict_->model.size() == variables());
    for (std::size_t k = 0; k < variables(); ++k) {
      const Range allowed = range(static_cast<VarId>(k));
      LPN_ASSERT(verdict_->model[k] >= allowed.lo && verdict_->model[k] <= allowed.hi);
    }
    for (const Requirement& requirement : requirements_) LPN_ASSERT(holds(requirement));
    for (const ExprId assumption : assumptions) LPN_ASSERT(holds({assumption, false}));
  }
  return verdict_->answer;
}

bool Feasibility::holds(const Requirement& requirement) const {
  try {
    return value(requirement.term) != 0 && !requirement.fault;
  } catch (const EvalFault&) {
    return requirement.fault;
  }
}

const std::vector<std::int64_t>& Feasibility::model() const {
  LPN_ASSERT(verdict_ && verdict_->answer == Answer::kSat);
  return verdict_->model;
}
std::int64_t Feasibility::value(VarId var) const {
  return model().at(static_cast<std::size_t>(var));
}
std::int64_t Feasibility::value(ExprId term) const { return eval_params(pool(), term, model()); }

const std::vector<std::size_t>& Feasibility::core() const {
  LPN_ASSERT(verdict_ && verdict_->answer == Answer::kUnsat);
  return verdict_->core;
}

void Feasibility::changed() { verdict_.reset(); }

// ---- instantiate -----------------------------------------------------------------------------

namespace {

// A formula without a counterpart, for instance because it reads what the leaves do not give.
struct NoCounterpart {};

class Instantiation {
 public:
  Instantiation(const ExprPool& from, ExprPool& to, const Leaves& leaves)
      : from_(from), to_(to), build_(to), leaves_(leaves) {}

  ExprId operator()(ExprId id) {
    // Inside an aggregate a node has a value per position, outside it has one.
    if (depth_ == 0) {
      if (const auto it = done_.find(id); it != done_.end()) return it->second;
    }
    const ExprId made = copy(id);
    if (depth_ == 0) done_.emplace(id, made);
    return made;
  }

 private:
  template <typename T>
  static T known(const std::optional<T>& value) {
    if (!value) throw NoCounterpart{};
    return *value;
  }
  template <typename Function, typename... Args>
  static auto ask(const Function& function, Args... args) {
    if (!function) throw NoCounterpart{};
    return known(function(args...));
  }

  ExprId copy(ExprId id) {
    if (++steps_ > kMaxSteps) throw NoCounterpart{};
    Node n = from_[id];
    switch (kind_of(n.op)) {
      case Kind::kConstant:
        return n.op == Op::kConst ? to_.constant(n.value) : to_.boolean(n.op == Op::kTrue);
      case Kind::kVariable:
        if (n.a >= leaves_.params.size()) throw NoCounterpart{};
        return leaves_.params[n.a];
      case Kind::kRun: return read(n);
      case Kind::kTable: return build_.lookup(from_.table(n.a), (*this)(n.kids[0]));
      case Kind::kAssumption: {
        const ExprId condition = (*this)(n.kids[0]);
        return build_.assume(condition, (*this)(n.kids[1]), from_.text(n.a));
      }
      case Kind::kAggregate: return aggregate(n);
      case Kind::kArithmetic:
      case Kind::kComparison:
      case Kind::kLogic:
      case Kind::kChoice: break;
    }
    for (int k = 0; k < op_info(n.op).arity; ++k) {
      auto& kid = n.kids[static_cast<std::size_t>(k)];
      kid = (*this)(kid);
    }
    return build_.build(n);
  }

  // What only a run has.
  ExprId read(const Node& n) {
    if (n.op == Op::kToken) return token(n);
    if (n.op == Op::kIndex) return known(leaves_.index);
    if (n.op == Op::kBound) return to_.constant(bound_.at(n.a));
    if (n.op == Op::kOccupancy) return ask(leaves_.occupancy, n.a);
    if (n.op == Op::kFree) return ask(leaves_.free, n.a);
    LPN_ASSERT(n.op == Op::kTaken);
    return ask(leaves_.taken, n.a);
  }

  // A failure that no variable can avoid.
  ExprId fault(const char* why) { return to_.assume(to_.boolean(false), to_.constant(0), why); }

  ExprId token(const Node& n) {
    const ExprId which = (*this)(n.kids[0]);
    const auto needed = leaves_.needed ? leaves_.needed(n.a) : std::nullopt;
    std::int64_t position = 0;
    if (to_.is_const(which, position)) {
      if (position < 0 || (needed && position >= *needed)) return fault(kMissing);
      return ask(leaves_.token, n.a, n.b, position);
    }
    // One of several: the chain is evaluated up to the position asked for.
    if (!needed || *needed > kMaxUnrolled) throw NoCounterpart{};
    ExprId chain = fault(kMissing);
    for (std::int64_t k = *needed - 1; k >= 0; --k) {
      chain =
          build_.select(build_.eq(which, to_.constant(k)), ask(leaves_.token, n.a, n.b, k), chain);
    }
    return chain;
  }

  ExprId aggregate(const Node& n) {
    const std::int64_t needed = ask(leaves_.needed, n.a);
    if (needed > kMaxUnrolled) throw NoCounterpart{};
    if (needed == 0) {
      return n.op == Op::kSum ? to_.constant(0) : fault("a minimum or maximum is over some token");
    }
    ExprId total{};
    const std::int64_t outer = bound_.at(n.b);
    ++depth_;
    for (std::int64_t k = 0; k < needed; ++k) {
      bound_[n.b] = k;
      const ExprId x = (*this)(n.kids[0]);
      if (n.op == Op::kSum)
        total = k == 0 ? x : build_.add(total, x);
      else if (k == 0)
        total = x;
      else
        total = n.op == Op::kMinOf ? build_.min(total, x) : build_.max(total, x);
    }
    --depth_;
    bound_[n.b] = outer;
    return total;
  }

  static constexpr const char* kMissing = "the arc needs the token that is read";
  static constexpr std::int64_t kMaxUnrolled = 4096;
  static constexpr int kMaxSteps = 1 << 20;

  const ExprPool& from_;
  ExprPool& to_;
  ExprBuilder build_;
  const Leaves& leaves_;
  std::unordered_map<ExprId, ExprId> done_;
  std::array<std::int64_t, kMaxNesting> bound_{};
  int depth_ = 0;
  int steps_ = 0;
};

}  // namespace

std::optional<ExprId> instantiate(const ExprPool& from, ExprId id, ExprPool& to,
                                  const Leaves& leaves) {
  LPN_ASSERT(&from != &to);
  try {
    return Instantiation(from, to, leaves)(id);
  } catch (const NoCounterpart&) {
    return std::nullopt;
  }
}

}  // namespace lpn
