#include "sums.h"

namespace lpn::reach {
namespace {

constexpr std::int64_t kLarge = std::int64_t{1} << 40;   // of one term
constexpr std::int64_t kFactor = std::int64_t{1} << 12;  // so sums of 2^8 terms fit easily

}  // namespace

Sums::Sums(TermSets& sets, const std::vector<ExprId>& constraints, std::vector<DomainId>& domains)
    : sets_(sets), roles_(domains.size(), 0) {
  for (const ExprId each : constraints) add(each, domains);
  // The part of a variable, written with variable 0 in its place.
  std::map<std::vector<std::pair<std::size_t, std::uint32_t>>, std::uint32_t> known;
  for (std::uint32_t v = 0; v < domains.size(); ++v) {
    std::vector<std::pair<std::size_t, std::uint32_t>> parts;
    for (std::size_t k = 0; k < sums_.size(); ++k) {
      const auto it = sums_[k].parts.find(v);
      if (it == sums_[k].parts.end()) continue;
      std::vector<ExprId> params;
      for (std::uint32_t w = 0; w < domains.size(); ++w) {
        params.push_back(sets_.pool().param(w == v ? 0 : w));
      }
      ExprPool& pool = sets_.pool();
      parts.emplace_back(k, static_cast<std::uint32_t>(substitute(pool, it->second, pool, params)));
    }
    if (parts.empty()) continue;
    roles_[v] = known.emplace(parts, static_cast<std::uint32_t>(known.size() + 1)).first->second;
  }
}

void Sums::add(ExprId constraint, std::vector<DomainId>& domains) {
  const Node node = sets_.pool()[constraint];
  if (node.op == Op::kAnd) {
    add(node.kids[0], domains);
    add(node.kids[1], domains);
    return;
  }
  const auto& reads = sets_.variables(constraint);
  if (reads.size() == 1) {
    const std::uint32_t v = reads.front();
    const Cases* cases = sets_.cases(constraint, v, domains[v]);
    if (cases == nullptr) return;
    DomainId holds = kForgotten;
    for (const auto& [value, where] : cases->values) {
      if (value != 0) holds = where;
    }
    domains[v] = holds;
    return;
  }
  if (node.op == Op::kLe) add_least(node.kids[0], node.kids[1], 0, domains);
  if (node.op == Op::kLt) add_least(node.kids[0], node.kids[1], 1, domains);
  if (node.op == Op::kEq) {
    add_least(node.kids[0], node.kids[1], 0, domains);
    add_least(node.kids[1], node.kids[0], 0, domains);
  }
}

// less + apart <= more
void Sums::add_least(ExprId less, ExprId more, std::int64_t apart,
                     const std::vector<DomainId>& domains) {
  Sum sum;
  sum.most = -apart;
  if (!collect(less, 1, domains, sum) || !collect(more, -1, domains, sum)) return;
  if (sum.parts.size() <= 256) sums_.push_back(std::move(sum));
}

bool Sums::collect(ExprId term, std::int64_t factor, const std::vector<DomainId>& domains,
                   Sum& sum) {
  if (factor > kFactor || factor < -kFactor) return false;
  const Node node = sets_.pool()[term];
  if (node.op == Op::kAdd || node.op == Op::kSub) {
    return collect(node.kids[0], factor, domains, sum) &&
           collect(node.kids[1], node.op == Op::kAdd ? factor : -factor, domains, sum);
  }
  if (node.op == Op::kNeg) return collect(node.kids[0], -factor, domains, sum);
  const Range range = sets_.span(term, domains).range;
  if (range.lo < -kLarge || range.hi > kLarge) return false;
  if (const Value known = sets_.value(term); known.decided()) {
    sum.most -= factor * known.number;
    return true;
  }
  const auto reads = sets_.variables(term);
  if (reads.size() != 1) {  // as little as it can be
    sum.most -= factor >= 0 ? factor * range.lo : factor * range.hi;
    return true;
  }
  ExprBuilder build(sets_.pool());
  const ExprId part = build.mul(term, sets_.pool().constant(factor));
  const auto [it, added] = sum.parts.emplace(reads.front(), part);
  if (!added) it->second = build.add(it->second, part);
  return true;
}

std::int64_t Sums::least(const Sum& sum, std::uint32_t variable, DomainId domain) {
  const ExprId part = sum.parts.at(variable);
  if (const Cases* cases = sets_.cases(part, variable, domain)) {
    return cases->values.empty() ? 0 : cases->values.front().first;
  }
  std::vector<DomainId> domains(roles_.size(), kForgotten);
  domains[variable] = domain;
  return sets_.span(part, domains).range.lo;
}

bool Sums::fit(const std::vector<DomainId>& domains, const std::vector<std::int64_t>& spent) {
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    std::int64_t total = spent[k];
    for (const auto& [variable, part] : sums_[k].parts) {
      if (domains[variable] != kForgotten) total += least(sums_[k], variable, domains[variable]);
    }
    if (total > sums_[k].most) return false;
  }
  return true;
}

void Sums::forget(std::uint32_t variable, DomainId domain, std::vector<std::int64_t>& spent) {
  if (roles_[variable] == 0) return;
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    if (sums_[k].parts.contains(variable)) spent[k] += least(sums_[k], variable, domain);
  }
}

}  // namespace lpn::reach
