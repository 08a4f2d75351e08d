#include "random_route.h"

#include <algorithm>
#include <functional>

namespace lpn::bench {

namespace {

// A term of a property, and what it is for a value of the property.
struct Term {
  ExprId id{};
  std::function<std::int64_t(std::int64_t)> value;
};

std::int64_t mod(std::int64_t x, std::int64_t n) { return ((x % n) + n) % n; }

Term table_of(ExprPool& pool, ExprId x, Random& r) {
  std::vector<std::int64_t> table;
  // A difference of 4096 is where a route has no table any more.
  const std::int64_t longest = r.chance(70) ? 9 : r.chance(70) ? 300 : 5000;
  const auto n = r.between(2, 6);
  while (static_cast<std::int64_t>(table.size()) < n) {
    table.push_back(r.between(-longest, longest));
  }
  return {pool.lookup(table, pool.binary(Op::kMod, x, pool.constant(n))), [table](std::int64_t v) {
            return table[static_cast<std::size_t>(mod(v, static_cast<std::int64_t>(table.size())))];
          }};
}

bool is_small(const Range& range) { return range.lo > -1000 && range.hi < 1000; }

Term random_term(Net& net, ExprId x, bool small, Random& r) {
  ExprPool& pool = net.exprs;
  const auto op = [&](Op o, ExprId a, ExprId b) { return pool.binary(o, a, b); };
  const auto number = [&](std::int64_t v) { return pool.constant(v); };
  // Of what may overflow nobody is asked early: rarely.
  switch (small || r.chance(10) ? r.below(9) : r.below(4)) {
    case 0: return table_of(pool, x, r);
    case 1: {
      const auto n = r.between(2, 6);
      return {op(Op::kMod, x, number(n)), [n](std::int64_t v) { return mod(v, n); }};
    }
    case 2: {  // a computed one that cannot overflow
      const auto n = r.between(2, 5), shift = r.between(-9, 9);
      return {op(Op::kAdd, op(Op::kMod, x, number(n)), number(shift)),
              [=](std::int64_t v) { return mod(v, n) + shift; }};
    }
    case 3: return {x, [](std::int64_t v) { return v; }};
    case 4: {
      const auto from = r.between(-3, 12);
      return {op(Op::kSub, number(from), x), [from](std::int64_t v) { return from - v; }};
    }
    case 5: {
      const auto by = r.between(2, 7);
      return {op(Op::kMul, x, number(by)), [by](std::int64_t v) { return v * by; }};
    }
    case 6:
      if (!net.params.empty()) {
        const auto which =
            static_cast<std::uint32_t>(r.below(static_cast<std::int64_t>(net.params.size())));
        const auto usual = net.params[which].value;
        return {op(Op::kAdd, x, pool.param(which)), [usual](std::int64_t v) { return v + usual; }};
      }
      [[fallthrough]];
    default: return {x, [](std::int64_t v) { return v; }};
  }
}

template <typename T>
void shuffle(std::vector<T>& all, Random& r) {
  for (std::size_t k = all.size(); k > 1; --k) {
    std::swap(all[k - 1], all[static_cast<std::size_t>(r.below(static_cast<std::int64_t>(k)))]);
  }
}

}  // namespace

RandomRoute random_route(Net& net, PlaceId place, std::uint32_t arc, Random& r) {
  const auto& fields = net.type_of(place).fields;
  RandomRoute route;
  route.place = place;
  route.arc = arc;
  Range range{5, 5};
  for (int tries = 0; tries < 4 && range.lo == range.hi; ++tries) {
    route.field = static_cast<std::uint32_t>(r.below(static_cast<std::int64_t>(fields.size())));
    range = fields[route.field].range.value_or(Range{-1, 40});
  }
  const bool small = fields[route.field].range && is_small(range);
  const Term term =
      random_term(net, net.exprs.token(arc, route.field, net.exprs.constant(0)), small, r);
  route.term = term.id;
  const auto count = static_cast<std::size_t>(r.chance(75) ? r.between(2, 4) : r.between(5, 6));
  // Far below zero tokens come with the greatest values of such a range.
  const std::int64_t lo = range.lo < -1000 ? range.hi - 5 : range.lo;
  const auto values = [&](std::int64_t from, std::int64_t widest, std::size_t most) {
    for (std::int64_t at = from; at <= range.hi && at < lo + 24 && route.values.size() < most;
         at += r.between(1, widest)) {
      const std::int64_t value = term.value(at);
      if (std::find(route.values.begin(), route.values.end(), value) != route.values.end())
        continue;
      route.properties.push_back(at);
      route.values.push_back(value);
    }
  };
  values(lo + (r.chance(70) ? 0 : r.below(4)), r.chance(65) ? 1 : 4, count);
  values(lo, 1, 2);  // where the range is too short for that
  route.wanted.assign(route.values.begin(), route.values.end());
  if (r.chance(55)) route.wanted.emplace_back();
  shuffle(route.wanted, r);
  if (route.wanted.size() > 2 && r.chance(15)) route.wanted.pop_back();  // one that nobody takes
  return route;
}

ExprId next_guard(ExprPool& pool, RandomRoute& route, Random& r) {
  const auto value = route.wanted.back();
  if (!r.chance(6)) route.wanted.pop_back();  // else the next taker wants it, too
  if (!value) {
    const auto other = [&](std::size_t k) {
      return pool.binary(Op::kNe, route.term, pool.constant(route.values[k]));
    };
    ExprId rest = other(0);
    for (std::size_t k = 1; k < route.values.size(); ++k) {
      rest = pool.binary(Op::kAnd, rest, other(k));
    }
    return rest;
  }
  const ExprId wanted = pool.constant(*value);
  return r.chance(85) ? pool.binary(Op::kEq, route.term, wanted)
                      : pool.binary(Op::kEq, wanted, route.term);
}

}  // namespace lpn::bench
