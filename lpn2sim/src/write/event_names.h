// How the event-driven simulator spells what it is made of: C++ expressions, no whole lines.
//
// Place p: f<p> free tokens, l<p> locked ones, p<p> their values. Transition k: see Keep. In the
// code of a start, arc a: a<a> the head's values, w<a> how many tokens it takes, n<a> how many it
// needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "write/event_facts.h"
#include "write/expr.h"

namespace lpn::sim {

// The facts, as all that write from them see them.
class EventView {
 protected:
  explicit EventView(const EventFacts& facts);

  const EventFacts& facts_;
  const Net &declared_, &net_;
  const Plan& plan_;
  const std::vector<TransitionInfo>& infos_;
  const std::vector<std::size_t>& credits_;
  const std::vector<std::vector<std::uint32_t>>& consumers_;
  const std::vector<bool>& locked_;
  const std::vector<Contest>& contests_;
  const std::vector<Route>& routes_;
};

class EventNames final : public Operands, private EventView {
 public:
  explicit EventNames(const EventFacts& facts) : EventView(facts), printer_(net_, *this) {}
  EventNames(const EventNames&) = delete;
  EventNames& operator=(const EventNames&) = delete;
  const EventFacts& facts() const { return facts_; }

  std::string param(std::uint32_t n) const override;
  std::string head(std::size_t, std::uint32_t arc) const override;
  std::string row(std::size_t k, std::uint32_t arc, const std::string& index) const override;
  std::string needed(std::size_t k, std::uint32_t arc) const override;
  std::int64_t least_need(std::size_t k, std::uint32_t arc) const override;
  std::string occupancy(std::size_t k, std::uint32_t arc) const override;
  std::string free(std::size_t k, std::uint32_t arc) const override;
  bool without_branches() const override { return true; }
  // How many tokens arc `a` needs and takes, as expressions of type u64 and i64.
  std::string need(std::size_t k, std::uint32_t a) const;
  std::string taken(std::size_t k, std::uint32_t a) const override;
  std::string value(std::size_t k, const Formula& f, const std::string& where_,
                    const TermNames* terms = nullptr) const;
  const ExprPrinter& printer() const { return printer_; }
  Range range_of(std::size_t k, const Formula& f) const;
  bool never_zero(std::size_t k) const;
  std::string param_expr(const Formula& f) const;
  // REQUIRES is_rival(p, k), and that the place has not the tokens now.
  std::string park(std::size_t p, std::uint32_t k) const;
  // Has the least of those that wait for a contested place looked at, if it has tokens for it.
  // Whoever is looked at calls on the next.
  std::string call_on(std::size_t p) const;
  // Has the transition looked at to which the first token of a place with a route leads. REQUIRES
  // code where there is such a token.
  std::string send_on(std::size_t p) const;
  // The term of the place's route, of its first token.
  std::string route_term(std::size_t p) const;
  std::string in_flight(std::size_t k) const;
  std::string no_server(std::size_t k) const;
  // Of its clock. A division by a constant is none.
  std::string period(std::size_t k) const;
  std::string phase(std::size_t k) const;
  // Tokens that output arc `o` appends, as an expression of type u64 over the record `r`.
  std::string total(std::size_t k, std::size_t o) const;
  // The counts that the first arcs from `first` on need, or "". Contested places are left out: who
  // lacks their tokens is not forgotten but waits there.
  std::string counts(std::uint32_t k, std::size_t first = 0) const;
  // A cheap necessary condition for `k` to start, or "": its server, the counts of its first arcs
  // and its short guards. Only what the definition checks before anything that can fail may count,
  // else an error could go unnoticed. `own` leaves out the server, which k's own commit is about to
  // free.
  std::string may_start(std::uint32_t k, bool own) const;

 private:
  std::vector<std::string> count_terms(std::uint32_t k, std::size_t first) const;
  // Adds the guards that are asked early, and the counts of the tokens that they read.
  void early_guards(std::uint32_t k, std::vector<std::string>& terms) const;

  ExprPrinter printer_;
};

}  // namespace lpn::sim
