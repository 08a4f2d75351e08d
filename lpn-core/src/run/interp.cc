// The definition, executable: interp/machine.h says how its state is kept, interp/instants.cc what
// an instant is.
#include "lpn/run/interp.h"

#include <utility>

#include "interp/machine.h"

namespace lpn {

struct Interp::Impl : interp::Machine {
  using Machine::Machine;
};

Interp::Interp(const Net& net, const ParamValues& params, const Marking& marking,
               InterpOptions options)
    : impl_(std::make_unique<Impl>(net, params, marking, options)) {}
Interp::~Interp() = default;
Interp::Interp(Interp&&) noexcept = default;
Interp& Interp::operator=(Interp&&) noexcept = default;

void Interp::push(PlaceId place, std::span<const std::int64_t> values, Time time) {
  impl_->push(place, values, time);
}
void Interp::feed(PlaceId place, std::span<const std::int64_t> values,
                  std::span<const Time> times) {
  impl_->feed(place, values, times);
}
void Interp::collect(PlaceId place) { impl_->collect(place); }
Collected Interp::take(PlaceId place) { return impl_->take(place); }
RunResult Interp::run(Time limit, Observer* observer) { return impl_->run(limit, observer); }
void Interp::set_poll(Poll poll) { impl_->allowance.poll = std::move(poll); }
void Interp::watch(Watcher* watcher) { impl_->watcher = watcher; }
Time Interp::now() const { return impl_->now; }
std::optional<Time> Interp::next() const { return impl_->next(); }
Blocked Interp::why(TransitionId transition) const { return impl_->why(transition); }
std::uint64_t Interp::occupancy(PlaceId place) const { return impl_->place(place).occupancy(); }
std::uint64_t Interp::free_tokens(PlaceId place) const { return impl_->place(place).free; }
std::vector<std::int64_t> Interp::tokens(PlaceId place) const { return impl_->tokens(place); }
Stats Interp::stats() const { return impl_->stats(); }
const std::vector<std::int64_t>& Interp::probed(TransitionId transition) const {
  return impl_->transitions.at(static_cast<std::size_t>(transition)).probed;
}

void explain_stall(
    const Net& net, const ParamValues& params,
    const std::function<std::pair<std::uint64_t, std::vector<std::int64_t>>(PlaceId)>& tokens,
    RunResult& result) {
  // A quiet state has nothing in flight: it is an initial state with these tokens.
  Net quiet = net;
  Marking marking(net);
  for (std::size_t k = 0; k < net.places.size(); ++k) {
    quiet.places[k].initial.clear();
    const auto [count, values] = tokens(static_cast<PlaceId>(k));
    marking.add(static_cast<PlaceId>(k), values, count);
  }
  Interp interp(quiet, params, marking);
  interp.impl_->list_undrained(result);
  interp.impl_->list_blocked(result);
}

}  // namespace lpn
