#include "conditions.h"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "lpn/base/error.h"
#include "lpn/graph/union_find.h"
#include "lpn/smt/bitvectors.h"

namespace lpn::nfp {
namespace {

constexpr std::uint64_t kQuickBudget = 4'000, kFullBudget = 60'000;  // evaluations of conditions
constexpr std::size_t kQuickAtoms = 64;

std::uint64_t mask(int width) {
  return width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
}
std::uint64_t signed_of(std::uint64_t v, int width) {
  if (width < 64 && (v >> (width - 1) & 1)) v |= ~mask(width);
  return v;
}

}  // namespace

// Z3's side. Made when first needed: loading and starting it costs more than most programs do.
struct Conditions::Solver {
  Solver(Terms& t, std::uint64_t& z3_checks) : terms(t), checks(z3_checks) {}
  Terms& terms;
  std::uint64_t& checks;
  smt::BitVectors bv;
  std::unordered_map<TermId, smt::BitVectors::Id> free,
      exact;  // bytes of symbolic addresses: free variables, arrays

  smt::BitVectors::Id translate(TermId id, bool arrays) {
    using smt::BvOp;
    auto& done = arrays ? exact : free;
    const auto found = done.find(id);
    if (found != done.end()) return found->second;
    const Term t = terms[id];
    const auto op = [&](BvOp o, std::initializer_list<TermId> kids) {
      std::array<smt::BitVectors::Id, 3> ids{};
      std::size_t n = 0;
      for (const TermId k : kids) ids[n++] = translate(k, arrays);
      return bv.apply(o, std::span(ids.data(), n));
    };
    // Shifts by a term: both operands of one width, as Z3 wants them.
    const auto shift = [&](BvOp o) {
      const int width = t.width, amount = terms.width(t.b);
      const TermId by = amount < width ? terms.zext(t.b, width) : t.b;
      return op(o, {t.a, by});
    };
    smt::BitVectors::Id out = 0;
    switch (t.kind) {
      case Kind::kConst: out = bv.constant(t.width, t.value); break;
      case Kind::kUndef: LPN_ASSERT(!"undefined terms are never asked about"); break;
      case Kind::kSize: out = bv.variable("size", kSizeBits); break;
      case Kind::kArray: out = bv.array(t.value ? "map" : "packet", 32, 8); break;
      case Kind::kStore: out = op(BvOp::kStore, {t.a, t.b, t.c}); break;
      case Kind::kByte:
        out = arrays ? op(BvOp::kSelect, {t.a, t.b}) : bv.variable("byte " + std::to_string(id), 8);
        break;
      case Kind::kNot: out = op(BvOp::kNot, {t.a}); break;
      case Kind::kAnd: out = op(BvOp::kAnd, {t.a, t.b}); break;
      case Kind::kOr: out = op(BvOp::kOr, {t.a, t.b}); break;
      case Kind::kXor: out = op(BvOp::kXor, {t.a, t.b}); break;
      case Kind::kAdd: out = op(BvOp::kAdd, {t.a, t.b}); break;
      case Kind::kSub: out = op(BvOp::kSub, {t.a, t.b}); break;
      case Kind::kMul: out = op(BvOp::kMul, {t.a, t.b}); break;
      case Kind::kShl: out = shift(BvOp::kShl); break;
      case Kind::kShr: out = shift(BvOp::kShr); break;
      case Kind::kConcat: out = op(BvOp::kConcat, {t.a, t.b}); break;
      case Kind::kExtract:
        out = bv.extract(translate(t.a, arrays), static_cast<int>(t.value), t.width);
        break;
      case Kind::kSext: out = bv.sign_extended(translate(t.a, arrays), t.width); break;
      case Kind::kIte: out = op(BvOp::kIte, {t.a, t.b, t.c}); break;
      case Kind::kEq: out = op(BvOp::kEq, {t.a, t.b}); break;
      case Kind::kUlt: out = op(BvOp::kUlt, {t.a, t.b}); break;
      case Kind::kSlt: out = op(BvOp::kSlt, {t.a, t.b}); break;
    }
    (arrays ? exact : free).emplace(id, out);
    return out;
  }

  Answer check(std::span<const smt::BitVectors::Id> assumed, const FeasibilityLimits& limits) {
    ++checks;
    return bv.check(assumed, limits);
  }

  // Only packets of `lo` to `hi` bytes.
  void require_size(smt::BitVectors::Id size, std::uint32_t lo, std::uint32_t hi) {
    const std::array above{size, bv.constant(kSizeBits, lo)},
        below{bv.constant(kSizeBits, hi), size};
    const std::array too_small{bv.apply(smt::BvOp::kUlt, above)},
        too_large{bv.apply(smt::BvOp::kUlt, below)};
    bv.require(bv.apply(smt::BvOp::kNot, too_small));
    bv.require(bv.apply(smt::BvOp::kNot, too_large));
  }

  // The least packet from `lo` bytes on, by halving; the model at hand has `hi`. `keep` notes a
  // model and returns its size. False: Z3 has given up.
  template <typename Keep>
  bool shrink(smt::BitVectors::Id size, std::span<const smt::BitVectors::Id> assumed,
              const FeasibilityLimits& limits, std::uint32_t lo, std::uint32_t hi,
              const Keep& keep) {
    while (lo < hi) {
      const std::uint32_t middle = lo + (hi - lo) / 2;
      bv.push();
      require_size(size, lo, middle);
      const Answer answer = check(assumed, limits);
      if (answer == Answer::kSat) hi = keep();
      if (answer == Answer::kUnsat) lo = middle + 1;
      bv.pop();
      if (answer == Answer::kUnknown) return false;
    }
    return true;
  }
};

Conditions::Conditions(Terms& terms, std::uint32_t least_size, std::uint32_t most_size)
    : terms_(terms), least_(least_size), most_(most_size) {}
Conditions::~Conditions() = default;

void Conditions::interrupt() {
  if (solver_) solver_->bv.interrupt();
}

bool Conditions::split(TermId condition, std::vector<TermId>& atoms, bool& undefined) {
  const Term t = terms_[condition];
  if (t.kind == Kind::kConst) return t.value == 1;
  if (t.kind == Kind::kAnd) return split(t.a, atoms, undefined) && split(t.b, atoms, undefined);
  if (t.kind == Kind::kNot && terms_[t.a].kind == Kind::kOr) {
    const Term o = terms_[t.a];
    return split(terms_.negated(o.a), atoms, undefined) &&
           split(terms_.negated(o.b), atoms, undefined);
  }
  if (terms_.vague(condition))
    undefined = true;
  else
    atoms.push_back(condition);
  return true;
}

std::optional<Conditions::Bound> Conditions::bound(TermId atom) {
  const Term t = terms_[atom];
  const bool negative = t.kind == Kind::kNot;
  const Term c = negative ? terms_[t.a] : t;
  const auto size = [&](TermId id) {
    const Term& s = terms_[id];
    return id == terms_.size() || (s.kind == Kind::kExtract && s.a == terms_.size() &&
                                   s.value == 0 && most_ >> s.width == 0);
  };
  if (c.kind == Kind::kUlt && size(c.a) && terms_.constant(c.b)) {  // size < v
    const auto v = static_cast<std::uint32_t>(terms_[c.b].value);
    return negative ? Bound{v, most_} : Bound{0, v - 1};
  }
  if (c.kind == Kind::kUlt && size(c.b) && terms_.constant(c.a)) {  // v < size
    const auto v = static_cast<std::uint32_t>(terms_[c.a].value);
    return negative ? Bound{0, v} : Bound{v + 1, most_};
  }
  if (c.kind == Kind::kEq && !negative && size(c.a) && terms_.constant(c.b)) {
    const auto v = static_cast<std::uint32_t>(terms_[c.b].value);
    return Bound{v, v};
  }
  return std::nullopt;
}

const std::vector<TermId>& Conditions::variables(TermId atom) {
  const auto found = variables_.find(atom);
  if (found != variables_.end()) return found->second;
  std::vector<TermId> out, work{atom};
  std::unordered_map<TermId, bool> seen;
  while (!work.empty()) {
    const TermId id = work.back();
    work.pop_back();
    if (!seen.emplace(id, true).second) continue;
    const Term& t = terms_[id];
    switch (t.kind) {
      case Kind::kConst:
      case Kind::kUndef:
      case Kind::kArray: break;
      case Kind::kSize:
      case Kind::kByte: out.push_back(id); break;
      case Kind::kNot:
      case Kind::kExtract:
      case Kind::kSext: work.push_back(t.a); break;
      case Kind::kIte:
      case Kind::kStore: work.push_back(t.c); [[fallthrough]];
      case Kind::kAnd:
      case Kind::kOr:
      case Kind::kXor:
      case Kind::kAdd:
      case Kind::kSub:
      case Kind::kMul:
      case Kind::kShl:
      case Kind::kShr:
      case Kind::kConcat:
      case Kind::kEq:
      case Kind::kUlt:
      case Kind::kSlt: work.push_back(t.a); work.push_back(t.b);
    }
  }
  std::sort(out.begin(), out.end());
  return variables_.emplace(atom, std::move(out)).first->second;
}

bool Conditions::mentions_size(TermId atom) {
  const auto& vars = variables(atom);
  return std::binary_search(vars.begin(), vars.end(), terms_.size());
}

void Conditions::assign(TermId variable, std::uint64_t value) {
  assigned_[variable] = value;
  ++now_;
}

std::uint64_t Conditions::evaluate(TermId id) {
  if (when_.size() < terms_.count()) {
    when_.resize(terms_.count() + 1024, 0);
    value_.resize(terms_.count() + 1024, 0);
  }
  const Term& t = terms_[id];
  if (t.kind == Kind::kConst) return t.value;
  if (when_[id] == now_) return value_[id];
  std::uint64_t v = 0;
  switch (t.kind) {
    case Kind::kConst:
    case Kind::kUndef:
    case Kind::kArray:
    case Kind::kStore: break;
    case Kind::kSize:
    case Kind::kByte: v = assigned_[id]; break;
    case Kind::kNot: v = ~evaluate(t.a); break;
    case Kind::kAnd: v = evaluate(t.a) & evaluate(t.b); break;
    case Kind::kOr: v = evaluate(t.a) | evaluate(t.b); break;
    case Kind::kXor: v = evaluate(t.a) ^ evaluate(t.b); break;
    case Kind::kAdd: v = evaluate(t.a) + evaluate(t.b); break;
    case Kind::kSub: v = evaluate(t.a) - evaluate(t.b); break;
    case Kind::kMul: v = evaluate(t.a) * evaluate(t.b); break;
    case Kind::kShl: {
      const std::uint64_t n = evaluate(t.b);
      v = n >= t.width ? 0 : evaluate(t.a) << n;
      break;
    }
    case Kind::kShr: {
      const std::uint64_t n = evaluate(t.b);
      v = n >= t.width ? 0 : evaluate(t.a) >> n;
      break;
    }
    case Kind::kConcat: v = evaluate(t.a) << terms_.width(t.b) | evaluate(t.b); break;
    case Kind::kExtract: v = evaluate(t.a) >> t.value; break;
    case Kind::kSext: v = signed_of(evaluate(t.a), terms_.width(t.a)); break;
    case Kind::kIte: v = evaluate(t.a) ? evaluate(t.b) : evaluate(t.c); break;
    case Kind::kEq: v = evaluate(t.a) == evaluate(t.b); break;
    case Kind::kUlt: v = evaluate(t.a) < evaluate(t.b); break;
    case Kind::kSlt: {
      const int w = terms_.width(t.a);
      v = static_cast<std::int64_t>(signed_of(evaluate(t.a), w)) <
          static_cast<std::int64_t>(signed_of(evaluate(t.b), w));
      break;
    }
  }
  v &= mask(t.width);
  when_[id] = now_;
  value_[id] = v;
  return v;
}

// The values of its only variable with which an atom holds.
const Conditions::Bits& Conditions::domain(TermId atom, TermId variable) {
  const auto found = domains_.find(atom);
  if (found != domains_.end()) return found->second;
  Bits out((values(variable) + 63) / 64, 0);
  for (std::uint32_t v = variable == terms_.size() ? least_ : 0; v < values(variable); ++v) {
    assign(variable, v);
    if (evaluate(atom)) out[v / 64] |= std::uint64_t{1} << v % 64;
  }
  return domains_.emplace(atom, std::move(out)).first->second;
}

std::vector<std::vector<TermId>> Conditions::components(std::span<const TermId> atoms) {
  std::unordered_map<TermId, std::uint32_t> owner;  // variable -> an atom that has it
  UnionFind tied(static_cast<std::size_t>(atoms.size()));
  for (std::uint32_t k = 0; k < atoms.size(); ++k) {
    for (const TermId v : variables(atoms[k])) {
      const auto [at, fresh] = owner.emplace(v, k);
      if (!fresh) tied.join(k, at->second);
    }
  }
  std::vector<std::vector<TermId>> out;
  std::unordered_map<std::uint32_t, std::size_t> place;
  for (std::uint32_t k = 0; k < atoms.size(); ++k) {
    const auto [at, fresh] = place.emplace(tied.find(k), out.size());
    if (fresh) out.emplace_back();
    out[at->second].push_back(atoms[k]);
  }
  for (auto& c : out) {
    std::sort(c.begin(), c.end());
    c.erase(std::unique(c.begin(), c.end()), c.end());
  }
  return out;
}

// A variable of a component, with the values that are left to it.
struct Conditions::Var {
  TermId id;
  Bits domain;
  std::vector<TermId> single;  // atoms on it alone
  std::vector<TermId> last;    // atoms that are decided once it has a value
  std::uint32_t count = 0;
};

std::vector<Conditions::Var> Conditions::variables_of(const std::vector<TermId>& atoms) {
  std::vector<Var> out;
  std::unordered_set<TermId> met;
  for (const TermId atom : atoms)
    for (const TermId v : variables(atom)) {
      if (!met.insert(v).second) continue;
      Bits all((values(v) + 63) / 64, 0);
      for (std::uint32_t k = v == terms_.size() ? least_ : 0; k < values(v); ++k)
        all[k / 64] |= std::uint64_t{1} << k % 64;
      out.push_back({v, std::move(all), {}, {}});
    }
  return out;
}

// Of conditions on one variable that leave it no value, some that it takes: one is left out at a
// time.
std::vector<TermId> Conditions::single_core(std::vector<TermId> core, TermId variable) {
  for (std::size_t k = 0; k < core.size();) {
    Bits rest((values(variable) + 63) / 64, ~std::uint64_t{0});
    for (std::size_t j = 0; j < core.size(); ++j)
      if (j != k)
        for (std::size_t w = 0; w < rest.size(); ++w) rest[w] &= domain(core[j], variable)[w];
    const bool still =
        std::all_of(rest.begin(), rest.end(), [](std::uint64_t w) { return w == 0; });
    if (still && core.size() > 1)
      core.erase(core.begin() + static_cast<std::ptrdiff_t>(k));
    else
      ++k;
  }
  return core;
}

// Applies the conditions on one variable alone, and puts each other at the last of its variables:
// the packet's size comes first, then those with fewest values. The core when one has none.
std::optional<std::vector<TermId>> Conditions::narrow(std::vector<Var>& vars,
                                                      const std::vector<TermId>& atoms) {
  std::unordered_map<TermId, std::size_t> at;
  for (std::size_t k = 0; k < vars.size(); ++k) at[vars[k].id] = k;
  std::vector<TermId> wide;
  for (const TermId atom : atoms) {
    const auto& vs = variables(atom);
    if (vs.size() != 1) {
      wide.push_back(atom);
      continue;
    }
    Var& var = vars[at[vs[0]]];
    const Bits& allowed = domain(atom, vs[0]);
    var.single.push_back(atom);
    bool any = false;
    for (std::size_t w = 0; w < var.domain.size(); ++w) any |= (var.domain[w] &= allowed[w]) != 0;
    if (!any) return single_core(var.single, vs[0]);
  }
  for (Var& var : vars)
    for (const std::uint64_t w : var.domain)
      var.count += static_cast<std::uint32_t>(std::popcount(w));
  std::stable_sort(vars.begin(), vars.end(), [&](const Var& x, const Var& y) {
    if ((x.id == terms_.size()) != (y.id == terms_.size())) return x.id == terms_.size();
    return x.count < y.count;
  });
  for (std::size_t k = 0; k < vars.size(); ++k) at[vars[k].id] = k;
  for (const TermId atom : wide) {
    std::size_t latest = 0;
    for (const TermId v : variables(atom)) latest = std::max(latest, at[v]);
    vars[latest].last.push_back(atom);
  }
  return std::nullopt;
}

// The next value of `var` from `from` on with which the conditions it decides hold; values(var.id)
// when there is none, nothing when `spent` exceeds the budget.
std::optional<std::uint32_t> Conditions::next_value(const Var& var, std::uint32_t from,
                                                    std::uint64_t& spent, std::uint64_t budget) {
  const std::uint32_t end = values(var.id);
  for (std::uint32_t v = from; v < end; ++v) {
    const std::uint64_t word = var.domain[v / 64] >> v % 64;
    if (word == 0) {
      v |= 63;
      continue;
    }
    v += static_cast<std::uint32_t>(std::countr_zero(word));
    assign(var.id, v);
    bool holds = true;
    for (const TermId atom : var.last) {
      if (++spent > budget) return std::nullopt;
      if (!evaluate(atom)) {
        holds = false;
        break;
      }
    }
    if (holds) return v;
  }
  return end;
}

// Depth first over the variables, the packet's size first and from below, so that the first answer
// has the least.
Conditions::Partial Conditions::try_values(const std::vector<TermId>& atoms, std::uint64_t budget) {
  std::vector<Var> vars = variables_of(atoms);
  if (auto core = narrow(vars, atoms)) return {Verdict::Kind::kUnsat, {}, std::move(*core)};
  std::vector<std::uint32_t> chosen(vars.size(), 0);
  std::vector<bool> started(vars.size(), false);
  std::uint64_t spent = 0;
  std::size_t k = 0;
  while (k < vars.size()) {
    const auto v = next_value(vars[k], started[k] ? chosen[k] + 1 : 0, spent, budget);
    if (!v) return {};
    if (*v < values(vars[k].id)) {
      chosen[k] = *v;
      started[k] = true;
      if (++k < vars.size()) started[k] = false;
      continue;
    }
    if (k == 0) return {Verdict::Kind::kUnsat, {}, atoms};
    --k;
    ++spent;
  }
  Partial out{Verdict::Kind::kSat, {}, {}};
  for (std::size_t j = 0; j < vars.size(); ++j) out.values.emplace_back(vars[j].id, chosen[j]);
  return out;
}

Conditions::Partial Conditions::component(std::vector<TermId> atoms, bool with_z3, double seconds) {
  auto& cache = with_z3 ? full_ : quick_;
  const auto found = cache.find(atoms);
  if (found != cache.end()) return found->second;
  Partial out = try_values(atoms, with_z3 ? kFullBudget : kQuickBudget);
  if (out.kind == Verdict::Kind::kUnknown && with_z3) out = ask_z3(atoms, seconds);
  if (out.kind == Verdict::Kind::kUnsat && out.core.size() > 2) {
    for (std::size_t k = 0; k < out.core.size();) {  // what the contradiction can do without
      std::vector<TermId> rest = out.core;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(k));
      Partial still;
      for (auto& part : components(rest)) {
        still = try_values(part, kQuickBudget);
        if (still.kind == Verdict::Kind::kUnsat) break;
      }
      if (still.kind == Verdict::Kind::kUnsat) {
        out.core = still.core;
        k = 0;
      } else {
        ++k;
      }
    }
  }
  if (out.kind != Verdict::Kind::kUnknown || !with_z3) cache.emplace(std::move(atoms), out);
  return out;
}

std::optional<std::vector<TermId>> Conditions::refute(std::span<const TermId> atoms,
                                                      std::span<const TermId> fresh) {
  std::vector<TermId> all(atoms.begin(), atoms.end());
  all.insert(all.end(), fresh.begin(), fresh.end());
  for (auto& part : components(all)) {
    const bool concerned = std::any_of(part.begin(), part.end(), [&](TermId a) {
      return std::find(fresh.begin(), fresh.end(), a) != fresh.end();
    });
    if (!concerned || part.size() < 2 || part.size() > kQuickAtoms) continue;
    Partial p = component(part, false, 0);
    if (p.kind == Verdict::Kind::kUnsat) return std::move(p.core);
  }
  return std::nullopt;
}

Conditions::Partial Conditions::ask_z3(const std::vector<TermId>& atoms, double seconds) {
  if (!solver_) solver_ = std::make_unique<Solver>(terms_, z3_checks_);
  Solver& s = *solver_;
  std::vector<smt::BitVectors::Id> assumed;
  std::vector<TermId> vars;
  for (const TermId atom : atoms) {
    assumed.push_back(s.translate(atom, false));
    for (const TermId v : variables(atom)) vars.push_back(v);
  }
  std::sort(vars.begin(), vars.end());
  vars.erase(std::unique(vars.begin(), vars.end()), vars.end());
  const bool sized = std::binary_search(vars.begin(), vars.end(), terms_.size());
  FeasibilityLimits limits;
  limits.seconds = seconds;
  s.bv.push();
  if (sized) s.require_size(s.translate(terms_.size(), false), least_, most_);
  Partial out;
  const Answer answer = s.check(assumed, limits);
  if (answer == Answer::kUnsat) {
    out.kind = Verdict::Kind::kUnsat;
    for (const std::size_t k : s.bv.core()) out.core.push_back(atoms[k]);
  }
  const auto keep = [&] {
    out.values.clear();
    std::uint32_t size = least_;
    for (const TermId v : vars) {
      const auto value = static_cast<std::uint32_t>(s.bv.value(s.translate(v, false)));
      out.values.emplace_back(v, value);
      if (v == terms_.size()) size = value;
    }
    return size;
  };
  if (answer == Answer::kSat) {
    out.kind = Verdict::Kind::kSat;
    const std::uint32_t size = keep();
    if (sized && !s.shrink(s.translate(terms_.size(), false), assumed, limits, least_, size, keep))
      out = {};
  }
  s.bv.pop();
  return out;
}

Verdict Conditions::ask_arrays(std::span<const TermId> atoms, double seconds) {
  if (!solver_) solver_ = std::make_unique<Solver>(terms_, z3_checks_);
  Solver& s = *solver_;
  std::vector<smt::BitVectors::Id> assumed;
  for (const TermId atom : atoms) assumed.push_back(s.translate(atom, true));
  FeasibilityLimits limits;
  limits.seconds = seconds;
  s.bv.push();
  const auto size = s.translate(terms_.size(), true);
  s.require_size(size, least_, most_);
  // Every byte that is read, so that the example can be told.
  std::vector<TermId> reads;
  std::vector<TermId> work(atoms.begin(), atoms.end());
  std::unordered_map<TermId, bool> seen;
  while (!work.empty()) {
    const TermId id = work.back();
    work.pop_back();
    const Term& t = terms_[id];
    if (t.kind == Kind::kConst || t.kind == Kind::kArray || t.kind == Kind::kSize ||
        t.kind == Kind::kUndef)
      continue;
    if (!seen.emplace(id, true).second) continue;
    if (t.kind == Kind::kByte) reads.push_back(id);
    work.push_back(t.a);
    if (t.kind == Kind::kNot || t.kind == Kind::kExtract || t.kind == Kind::kSext) continue;
    work.push_back(t.b);
    if (t.kind == Kind::kIte || t.kind == Kind::kStore) work.push_back(t.c);
  }
  Verdict out;
  const auto keep = [&] {
    out.example = {};
    out.example.size = static_cast<std::uint32_t>(s.bv.value(size));
    for (const TermId id : reads) {
      const auto address = static_cast<std::uint32_t>(s.bv.value(s.translate(terms_[id].b, true)));
      TermId base = terms_[id].a;
      while (terms_[base].kind == Kind::kStore) base = terms_[base].a;
      const std::array select{s.translate(base, true), s.bv.constant(32, address)};
      auto& memory = terms_[base].value ? out.example.map : out.example.packet;
      memory[address] =
          static_cast<std::uint8_t>(s.bv.value(s.bv.apply(smt::BvOp::kSelect, select)));
    }
    return out.example.size;
  };
  const Answer answer = s.check(assumed, limits);
  if (answer == Answer::kUnsat) {
    out.kind = Verdict::Kind::kUnsat;
    for (const std::size_t k : s.bv.core()) out.core.push_back(atoms[k]);
  }
  if (answer == Answer::kSat) {
    out.kind = Verdict::Kind::kSat;
    if (!s.shrink(size, assumed, limits, least_, keep(), keep)) out = {};
  }
  s.bv.pop();
  return out;
}

std::uint32_t Conditions::least_size(std::span<const TermId> atoms) {
  std::uint32_t least = least_;
  for (auto& part : components(atoms)) {
    if (std::none_of(part.begin(), part.end(), [&](TermId a) { return mentions_size(a); }))
      continue;
    const Partial p = component(part, true, 10);
    if (p.kind == Verdict::Kind::kUnsat) return 0;
    for (const auto& [v, value] : p.values)
      if (v == terms_.size()) least = std::max(least, value);
  }
  return least;
}

std::vector<TermId> Conditions::size_core(std::span<const TermId> atoms, std::uint32_t size) {
  for (auto& part : components(atoms)) {
    if (std::none_of(part.begin(), part.end(), [&](TermId a) { return mentions_size(a); }))
      continue;
    for (std::size_t k = 0; k < part.size();) {
      std::vector<TermId> rest = part;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(k));
      if (least_size(rest) >= size)
        part = std::move(rest);
      else
        ++k;
    }
    return part;
  }
  return {atoms.begin(), atoms.end()};
}

Verdict Conditions::solve(std::span<const TermId> atoms, double seconds) {
  Verdict out;
  std::map<TermId, std::uint32_t> values;
  for (auto& part : components(atoms)) {
    Partial p = component(part, true, seconds);
    if (p.kind == Verdict::Kind::kUnsat) {
      out.kind = p.kind;
      out.core = std::move(p.core);
      return out;
    }
    if (p.kind == Verdict::Kind::kUnknown) return out;
    for (const auto& [v, value] : p.values) values[v] = value;
  }
  // The memories that go with these values: addresses are known once what they depend on is. Should
  // two of them collide, other contents of bytes that no condition is about may part them.
  struct Made : Valuation {
    Example& example;
    std::uint64_t seed;
    explicit Made(Example& e, std::uint64_t s) : example(e), seed(s) {}
    std::uint8_t byte(Memory memory, std::uint32_t address) override {
      auto& bytes = memory == Memory::kMap ? example.map : example.packet;
      const auto found = bytes.find(address);
      if (found != bytes.end()) return found->second;
      const std::uint64_t h = (seed * 0x9e3779b97f4a7c15ull + address) * 0xff51afd7ed558ccdull;
      return bytes[address] = seed == 0 ? 0 : static_cast<std::uint8_t>(h >> 40);
    }
  };
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    Example e;
    e.size = least_;
    const auto sized = values.find(terms_.size());
    if (sized != values.end()) e.size = sized->second;
    Made made(e, seed);
    made.size = e.size;
    bool consistent = true;
    std::vector<TermId> indirect;
    for (const auto& [v, value] : values) {
      if (v == terms_.size()) continue;
      const Term& t = terms_[v];
      if (terms_.constant(t.b) && terms_[t.a].kind == Kind::kArray)
        (terms_[t.a].value ? e.map : e.packet)[static_cast<std::uint32_t>(terms_[t.b].value)] =
            static_cast<std::uint8_t>(value);
      else
        indirect.push_back(v);
    }
    for (const TermId v : indirect) {  // by id: what an address depends on comes before it
      const Term& t = terms_[v];
      const auto address = static_cast<std::uint32_t>(terms_.evaluate(t.b, made));
      TermId base = t.a;
      while (terms_[base].kind == Kind::kStore) base = terms_[base].a;
      auto& bytes = terms_[base].value ? e.map : e.packet;
      if (!bytes.count(address)) bytes[address] = static_cast<std::uint8_t>(values[v]);
      if (terms_.evaluate(v, made) != values[v]) {
        consistent = false;
        break;
      }
    }
    if (!consistent) continue;
    Terms::Evaluator evaluator(terms_, made);
    if (std::all_of(atoms.begin(), atoms.end(), [&](TermId a) { return evaluator(a) == 1; })) {
      out.kind = Verdict::Kind::kSat;
      out.example = std::move(e);
      return out;
    }
  }
  return ask_arrays(atoms, seconds);
}

}  // namespace lpn::nfp
