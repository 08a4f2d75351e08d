#include "terms.h"

#include <algorithm>

#include "lpn/expr/eval.h"
#include "lpn/expr/total.h"

namespace lpn::reach {
namespace {

class DomainBounds final : public Bounds {
 public:
  DomainBounds(const ExprPool& pool, const TermSets& sets, const std::vector<DomainId>& domains)
      : Bounds(pool), sets_(sets), domains_(domains) {}

 private:
  Range variable(std::uint32_t k) override {
    const Domain& domain = sets_[domains_[k]];
    return domain.ranges.empty() ? Range{} : domain.hull();
  }
  Range read(const Node&) override { return {}; }
  Range needed(std::uint32_t) override { return {0, kMaxTokens}; }

  const TermSets& sets_;
  const std::vector<DomainId>& domains_;
};

}  // namespace

TermSets::TermSets(ExprPool& pool, std::size_t variables) : pool_(pool), scratch_(variables, 0) {
  domains_.emplace_back();
  numbers_[{}] = kForgotten;
  for (std::uint32_t k = 0; k < variables; ++k) same_.push_back(pool_.param(k));
}

DomainId TermSets::domain(std::vector<Range> ranges) {
  std::vector<std::pair<std::int64_t, std::int64_t>> key;
  for (const Range& range : ranges) {
    if (!key.empty() && key.back().second + 1 == range.lo)
      key.back().second = range.hi;
    else
      key.emplace_back(range.lo, range.hi);
  }
  const auto [it, added] = numbers_.emplace(key, static_cast<DomainId>(domains_.size()));
  if (!added) return it->second;
  Domain made;
  for (const auto& [lo, hi] : key) {
    made.ranges.push_back({lo, hi});
    const std::uint64_t more = static_cast<std::uint64_t>(hi) - static_cast<std::uint64_t>(lo);
    made.count = more >= UINT64_MAX - 1 - made.count ? UINT64_MAX : made.count + more + 1;
  }
  bytes_ += 160 + made.ranges.size() * 2 * sizeof(Range);
  domains_.push_back(std::move(made));
  return it->second;
}

const std::vector<std::uint32_t>& TermSets::variables(ExprId term) {
  const auto id = static_cast<std::uint32_t>(term);
  const auto it = variables_.find(id);
  if (it != variables_.end()) return it->second;
  const auto& made = variables_.emplace(id, pool_.reads(term).params).first->second;
  bytes_ += 96 + made.size() * sizeof(std::uint32_t);
  return made;
}

Value TermSets::value(ExprId term) const {
  const Node& node = pool_[term];
  if (node.op == Op::kConst) return {node.value, Value::kNumber};
  if (node.op == Op::kTrue) return {1, Value::kNumber};
  if (node.op == Op::kFalse) return {0, Value::kNumber};
  return {0, static_cast<std::uint32_t>(term)};
}

Value TermSets::decided(const Value& value, std::uint32_t variable, std::int64_t number) {
  if (value.decided()) return value;
  const Node& node = pool_[value.id()];
  if (node.op == Op::kParam) return node.a == variable ? Value{number, Value::kNumber} : value;
  const auto& reads = variables(value.id());
  if (std::find(reads.begin(), reads.end(), variable) == reads.end()) return value;
  if (reads.size() == 1) {
    // A value that cannot be computed stays a term: it fails where it is read.
    scratch_[variable] = number;
    try {
      return {eval_params(pool_, value.id(), scratch_), Value::kNumber};
    } catch (const EvalFault&) {
    }
  }
  std::vector<ExprId> params = same_;
  params[variable] = pool_.constant(number);
  return this->value(substitute(pool_, value.id(), pool_, params));
}

const Cases* TermSets::cases(ExprId term, std::uint32_t variable, DomainId domain) {
  if (domains_[domain].count > kMostValues) return nullptr;
  const std::uint64_t key = (std::uint64_t{static_cast<std::uint32_t>(term)} << 32) | domain;
  const auto it = cases_.find(key);
  if (it != cases_.end()) return &it->second;
  Cases found;
  std::map<std::int64_t, std::vector<Range>> where;
  for (const Range& range : domains_[domain].ranges) {
    for (std::int64_t x = range.lo;; ++x) {
      scratch_[variable] = x;
      try {
        std::vector<Range>& ranges = where[eval_params(pool_, term, scratch_)];
        if (!ranges.empty() && ranges.back().hi == x - 1)
          ranges.back().hi = x;
        else
          ranges.push_back({x, x});
      } catch (const EvalFault&) {
        found.fails = true;
      }
      if (x == range.hi) break;
    }
  }
  for (auto& [value, ranges] : where) {
    found.values.emplace_back(value, this->domain(std::move(ranges)));
  }
  bytes_ += 96 + found.values.size() * sizeof(found.values.front());
  return &cases_.emplace(key, std::move(found)).first->second;
}

Span TermSets::span(ExprId term, const std::vector<DomainId>& domains) {
  const auto& reads = variables(term);
  if (reads.size() == 1) {
    const std::uint32_t v = reads.front();
    if (const Cases* found = cases(term, v, domains[v])) {
      if (found->values.empty()) return {{0, 0}, 0, true};
      return {{found->values.front().first, found->values.back().first},
              found->values.size(),
              found->fails};
    }
  }
  DomainBounds bounds(pool_, *this, domains);
  Totality total(bounds);
  const bool sure = total(term);
  return {bounds.of(term), 0, !sure};
}

}  // namespace lpn::reach
