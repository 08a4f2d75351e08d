// What an order-free simulator of a net is made of: which properties travel, in what, and how that
// is spelled in C++. In the code of a firing, arc a: a<a> the head's values, w<a> how many tokens
// it takes, n<a> how many it needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lpn/net/net.h"
#include "plan/plan.h"
#include "write/expr.h"

namespace lpn::sim {

class FlowFacts final : public Operands {
 public:
  // `net` is lowered; its first `declared` places are the author's. Both must outlive this.
  FlowFacts(const Net& net, std::size_t declared, const Plan& plan);
  FlowFacts(const FlowFacts&) = delete;
  FlowFacts& operator=(const FlowFacts&) = delete;

  const Net& net() const { return net_; }
  std::size_t declared() const { return declared_; }
  const Plan& plan() const { return plan_; }
  bool mixed() const { return !plan_.whole(); }  // with an event-driven part
  const ExprPrinter& printer() const { return printer_; }

  // Per place and property: something reads it, so it travels.
  const std::vector<std::vector<bool>>& live() const { return live_; }
  // Whether the queue of a place holds where rows stand, not their values.
  bool refers(std::size_t p) const { return refers_[p]; }
  // Where a live property stands in a row of its queue.
  std::uint32_t column_of(std::size_t p, std::size_t f) const { return columns_[p][f]; }

  struct Arc {
    std::int64_t weight = -1;  // constant, else -1
    std::int64_t need = -1;    // constant, else -1
    bool reads_head = false;
    std::int64_t least_need = 0;
  };
  std::size_t width(std::size_t p) const;
  Passage passage(std::size_t p) const;
  bool event(std::size_t k) const;
  // Held by Run as a FIFO.
  bool queued(std::size_t p) const;
  // Touched by the event-driven part alone, or given to it.
  bool of_events(std::size_t p) const;
  std::size_t place_of(std::size_t k, std::uint32_t arc) const;
  bool is_const(const Formula& f) const;
  std::int64_t const_of(const Formula& f) const;
  // A count that is known beforehand.
  bool const_count(const Emission& e) const;
  bool one_row(const Emission& e) const;
  bool no_row(const Emission& e) const;
  // The input arc whose tokens an emission into `p` passes on with all their properties, each the
  // same token or the one of the emission's index.
  std::optional<std::uint32_t> passed(std::uint32_t k, std::size_t p, const Emission& e) const;
  bool live(std::size_t k, std::size_t o, std::size_t f) const;
  std::size_t kept(std::size_t p) const;
  // Whether evaluating a property of an emission can be an error, which must not go unnoticed.
  bool can_fail(std::size_t k, std::size_t o, std::size_t e, std::size_t f) const;
  bool range_check(std::size_t k, std::size_t o, std::size_t e, std::size_t f) const;
  bool any_dead_failure(std::uint32_t k, std::size_t o, std::size_t e) const;
  Arc arc(std::size_t k, std::uint32_t a) const;
  // Firings of a transition until other actors have their turn.
  std::uint64_t chunk(std::uint32_t k) const;
  // One firing alone puts so many tokens one by one that it is left to the event-driven engine.
  bool emits_too_many(std::uint32_t k) const;
  bool is_input(std::uint32_t k, std::size_t p) const;
  bool feeds(std::uint32_t k) const;
  // Whether several transitions take from it, members of one actor.
  bool contested(std::size_t p) const;
  // What the plan assumes of a place, to be checked.
  bool merged(std::size_t p) const { return plan_.assumes() && plan_.merged[p]; }
  bool disputed(std::size_t p) const { return plan_.assumes() && plan_.disputed[p]; }
  // The arcs of `k` from disputed places, in the order in which its readiness is judged: resources
  // first. Of a later one it is known that tokens of the earlier ones had to be waited for.
  std::vector<std::uint32_t> disputes(std::uint32_t k) const;
  // The other arcs that need a number of tokens that is known and has to come.
  std::vector<std::uint32_t> gates(std::uint32_t k) const;
  bool one_server(std::size_t k) const;
  bool many_servers(std::size_t k) const;
  // Sinks whose producers are not one actor in order: their tokens are sorted at the end.
  bool unsorted(std::size_t p) const;
  // Order-free ones.
  std::vector<std::uint32_t> producers(std::size_t p) const;
  // Order-free ones.
  std::vector<std::uint32_t> consumers(std::size_t p) const;

  std::string head(std::size_t, std::uint32_t a) const override;
  std::string row(std::size_t k, std::uint32_t a, const std::string& index) const override;
  std::uint32_t column(std::size_t k, std::uint32_t a, std::uint32_t field) const override;
  std::string needed(std::size_t k, std::uint32_t a) const override;
  std::int64_t least_need(std::size_t k, std::uint32_t a) const override;
  std::string taken(std::size_t k, std::uint32_t a) const override;
  std::string occupancy(std::size_t, std::uint32_t) const override;
  std::string free(std::size_t, std::uint32_t) const override;

  std::string value(std::size_t k, const Formula& f, const std::string& where) const;
  std::string size(std::size_t p) const;
  std::string count(std::uint32_t k, std::size_t o, std::size_t e) const;
  std::string fifo(std::size_t p, std::uint32_t k) const;
  // The instant at which the tokens that arc `i` needs are there, "" when they always were.
  std::string arrival(std::uint32_t k, std::uint32_t i) const;
  // The node of the last of those tokens (lpnrt/path.h).
  std::string node_of(std::uint32_t k, std::uint32_t i) const;

 private:
  std::uint64_t const_tokens(std::uint32_t k) const;
  // Whether all tokens of the place are gone at the end of a run that has not stalled.
  bool drains(std::size_t p) const;
  // The tokens that an arc's formulas may read, by property.
  void read(std::size_t k, ExprId id, bool& changed);
  void find_live();
  // Places into which tokens of sources are passed on as they are: their queues hold where the row
  // stands, not its values.
  void find_references();

  const Net& net_;
  std::size_t declared_;
  const Plan& plan_;
  ExprPrinter printer_;
  std::vector<std::vector<bool>> live_;
  std::vector<bool> refers_;
  std::vector<std::vector<std::uint32_t>> columns_;
};

}  // namespace lpn::sim
