#include "write/event_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace lpn::sim {

using std::size_t;
using std::string;
using std::uint32_t;

namespace {

// As in a start, but for where first tokens are: nothing has found them yet.
class InPlaces final : public Operands {
 public:
  InPlaces(const EventNames& names, const std::vector<TransitionInfo>& infos)
      : names_(names), infos_(infos) {}
  string param(uint32_t n) const override { return names_.param(n); }
  string head(size_t k, uint32_t arc) const override {
    return fmt::format("@p{}.row(0)", infos_[k].arcs[arc].place);
  }
  string row(size_t k, uint32_t a, const string& i) const override { return names_.row(k, a, i); }
  string needed(size_t k, uint32_t arc) const override { return names_.needed(k, arc); }
  std::int64_t least_need(size_t k, uint32_t a) const override { return names_.least_need(k, a); }
  string taken(size_t k, uint32_t arc) const override { return names_.taken(k, arc); }
  string occupancy(size_t k, uint32_t arc) const override { return names_.occupancy(k, arc); }
  string free(size_t k, uint32_t arc) const override { return names_.free(k, arc); }
  bool without_branches() const override { return true; }

 private:
  const EventNames& names_;
  const std::vector<TransitionInfo>& infos_;
};

}  // namespace

EventView::EventView(const EventFacts& facts)
    : facts_(facts),
      declared_(facts.declared),
      net_(facts.net),
      plan_(facts.plan),
      infos_(facts.infos),
      credits_(facts.credits),
      consumers_(facts.consumers),
      locked_(facts.locked),
      contests_(facts.contests),
      routes_(facts.routes) {}

string EventNames::param(uint32_t n) const { return fmt::format("@param{}", n); }

string EventNames::head(size_t, uint32_t arc) const { return fmt::format("a{}", arc); }

string EventNames::row(size_t k, uint32_t arc, const string& index) const {
  return fmt::format("@p{}.row({})", infos_[k].arcs[arc].place, index);
}

string EventNames::needed(size_t k, uint32_t arc) const { return need(k, arc); }

std::int64_t EventNames::least_need(size_t k, uint32_t arc) const {
  return infos_[k].arcs[arc].least_need;
}

string EventNames::occupancy(size_t k, uint32_t arc) const {
  return fmt::format("static_cast<i64>(@f{0} + @l{0})", infos_[k].arcs[arc].place);
}

string EventNames::free(size_t k, uint32_t arc) const {
  return fmt::format("static_cast<i64>(@f{})", infos_[k].arcs[arc].place);
}

string EventNames::need(size_t k, uint32_t a) const {
  const ArcInfo& arc = infos_[k].arcs[a];
  if (arc.need >= 0) return fmt::format("{}ull", std::max(arc.need, arc.least_need));
  return fmt::format("n{}", a);
}

string EventNames::taken(size_t k, uint32_t a) const {
  const ArcInfo& arc = infos_[k].arcs[a];
  if (net_.transitions[k].inputs[a].inhibit) return "0ll";
  return arc.weight >= 0 ? literal(arc.weight) : fmt::format("w{}", a);
}

string EventNames::value(size_t k, const Formula& f, const string& where_,
                         const TermNames* terms) const {
  return printer_.of(k, f, where_, terms);
}

Range EventNames::range_of(size_t k, const Formula& f) const { return printer_.range(k, f); }

bool EventNames::never_zero(size_t k) const {
  return range_of(k, net_.transitions[k].delay).lo > 0;
}

string EventNames::param_expr(const Formula& f) const { return printer_.of_params(f); }

string EventNames::park(size_t p, uint32_t k) const {
  const auto& rivals = contests_[p].rivals;
  const auto rank = std::lower_bound(rivals.begin(), rivals.end(), k) - rivals.begin();
  return fmt::format("@parked{}.insert({}ll);", p, rank);
}

string EventNames::call_on(size_t p) const {
  return fmt::format("if (@f{0} >= {1}ull && !@parked{0}.empty()) @C{0};", p, contests_[p].need);
}

string EventNames::send_on(size_t p) const { return fmt::format("@S{};", p); }

string EventNames::route_term(size_t p) const {
  const Route& route = routes_[p];
  const InPlaces first(*this, infos_);
  return ExprPrinter(net_, first).of(route.member.begin()->second, {route.term, {}}, "0");
}

void EventNames::early_guards(uint32_t k, std::vector<string>& terms) const {
  const InPlaces first(*this, infos_);
  const ExprPrinter printer(net_, first);
  for (const uint32_t a : infos_[k].early) {
    const Formula& guard = *net_.transitions[k].inputs[a].guard;
    for (const uint32_t read : net_.exprs.reads(guard.id).tokens) {
      const ArcInfo& arc = infos_[k].arcs[read];
      const string there = fmt::format("@f{} >= {}ull", arc.place, arc.need);
      if (std::find(terms.begin(), terms.end(), there) == terms.end()) terms.push_back(there);
    }
    terms.push_back(printer.of(k, guard, "0"));
  }
}

string EventNames::in_flight(size_t k) const {
  switch (infos_[k].keep) {
    case Keep::kCount:
    case Keep::kPool: return fmt::format("@c{}", k);
    case Keep::kSingle: return fmt::format("(@busy{} ? 1ull : 0ull)", k);
    case Keep::kFifo: return fmt::format("@q{}.size()", k);
  }
  return "";
}

string EventNames::no_server(size_t k) const {
  const Transition& t = net_.transitions[k];
  if (infos_[k].keep == Keep::kSingle) return fmt::format("@busy{}", k);
  if (facts_.is_const(*t.servers)) {
    return fmt::format("{} >= {}ull", in_flight(k), facts_.const_of(*t.servers));
  }
  return fmt::format("{} >= static_cast<u64>(@servers{})", in_flight(k), k);
}

string EventNames::period(size_t k) const {
  const Formula& f = net_.transitions[k].clock->period;
  return facts_.is_const(f) ? literal(facts_.const_of(f)) : fmt::format("@period{}", k);
}

string EventNames::phase(size_t k) const {
  const Formula& f = net_.transitions[k].clock->phase;
  return facts_.is_const(f) ? literal(facts_.const_of(f)) : fmt::format("@phase{}", k);
}

string EventNames::total(size_t k, size_t o) const {
  std::int64_t known = 0;
  string sum;
  const OutputArc& arc = net_.transitions[k].outputs[o];
  for (size_t e = 0; e < arc.emissions.size(); ++e) {
    if (facts_.const_count(arc.emissions[e]))
      known += facts_.const_of(arc.emissions[e].count);
    else
      sum += fmt::format("static_cast<u64>(r.c{}_{}) + ", o, e);
  }
  return fmt::format("{}{}ull", sum, known);
}

std::vector<string> EventNames::count_terms(uint32_t k, size_t first) const {
  constexpr size_t kTerms = 4;
  std::vector<string> terms;
  for (size_t a = first; a < facts_.safe_arcs(k) && terms.size() < kTerms; ++a) {
    const ArcInfo& ai = infos_[k].arcs[a];
    if (net_.transitions[k].inputs[a].inhibit || ai.need == 0 || facts_.is_rival(ai.place, k))
      continue;
    terms.push_back(fmt::format("@f{} >= {}ull", ai.place, ai.need));
  }
  return terms;
}

string EventNames::counts(uint32_t k, size_t first) const {
  return fmt::format("{}", fmt::join(count_terms(k, first), " && "));
}

string EventNames::may_start(uint32_t k, bool own) const {
  std::vector<string> terms;
  if (net_.transitions[k].servers && !own) terms.push_back(fmt::format("!({})", no_server(k)));
  for (string& term : count_terms(k, 0)) terms.push_back(std::move(term));
  early_guards(k, terms);
  return fmt::format("{}", fmt::join(terms, " && "));
}

}  // namespace lpn::sim
