#include "lpn/sim/simulator.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <new>
#include <thread>

#include "library/path_answer.h"
#include "lpn/net/initial.h"
#include "lpn/run/interp.h"
#include "lpn/run/running.h"

namespace lpn::sim {
namespace {

// Turns the C observer's commits into lpn::Commit.
struct Relay {
  const Net* net = nullptr;
  Observer* observer = nullptr;
  Commit commit;

  static void call(void* user, const lpn_commit* c) { static_cast<Relay*>(user)->relay(*c); }

  void relay(const lpn_commit& c) {
    const Transition& t = net->transitions[c.transition];
    commit.time = c.time;
    commit.group = c.group;
    commit.transition = static_cast<TransitionId>(c.transition);
    commit.firing = c.firing;
    commit.start = c.start;
    commit.taken.resize(t.inputs.size());
    for (auto& taken : commit.taken) taken.clear();
    for (std::uint64_t k = 0; k < c.taken_runs; ++k) {
      const lpn_token_run& run = c.taken[k];
      for (std::uint64_t i = 0; i < run.count; ++i) {
        TokenId id;
        id.source = run.source;
        id.initial = run.initial != 0;
        id.arc = run.arc;
        id.firing = run.firing;
        id.index = run.index + i;
        commit.taken[run.input].push_back(id);
      }
    }
    commit.produced.assign(c.produced, c.produced + t.outputs.size());
    observer->on_commit(commit);
  }
};

}  // namespace

struct Simulator::Impl {
  Library library;
  ParamValues params;
  lpn_sim* sim = nullptr;
  Relay relay;
  Poll poll;
  Stop stopped = Stop::kNone;  // before there was an instance
  bool limited = false;        // in memory
  Mode mode = Mode::kAuto;
  bool started = false;  // or pushed to, or with a number of done tokens to stop at, or arrivals
  std::int32_t order_free = 0;
  std::atomic<bool> running = false;
  std::vector<lpn_instant> when;  // of what is taken

  // For a call that uses the instance: not while a run of it is under way, whose observer, or
  // another thread, makes this call.
  void require_idle() const {
    if (running) throw run_under_way(library.net());
  }
  // For what only some variants of the library do.
  void require(std::uint32_t bit, const char* option) const {
    if ((library.api().variant & bit) != 0) return;
    throw Error("E-call", fmt::format("the library of net '{}' was built without {}=True, which "
                                      "this call needs",
                                      library.net().name, option));
  }
  void require_path() const {
    require_idle();
    require(8, "path");
  }
  // A place that a call names: std::out_of_range for a number that none has.
  const Place& named(PlaceId id) const {
    return library.net().places.at(static_cast<std::size_t>(id));
  }

  explicit Impl(Library l) : library(std::move(l)) {}
  ~Impl() {
    if (sim != nullptr) library.api().destroy(sim);
  }

  static std::int32_t ask(void* user, std::int64_t time, std::uint64_t commits) {
    return static_cast<Impl*>(user)->poll(time, commits) ? 1 : 0;
  }
  void place(const ParamValues& values, const Marking& marking, const Budget& budget);
};

namespace {

struct Stopped {
  Stop why;
};

}  // namespace

// The instance with the tokens of the start; throws Stopped.
void Simulator::Impl::place(const ParamValues& values, const Marking& marking,
                            const Budget& budget) {
  const Net& net = library.net();
  const lpn_sim_api& api = library.api();
  const auto begin = std::chrono::steady_clock::now();
  const auto spent = [&begin] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  if (budget.tokens != 0 || budget.memory != 0) {
    const InitialSize size = initial_size(net, values, marking);
    if (budget.tokens != 0 && size.tokens > budget.tokens) throw Stopped{Stop::kTokens};
    if (budget.memory != 0 && size.bytes > budget.memory) throw Stopped{Stop::kMemory};
  }
  check_initial(net, values, marking, [&] {
    if (poll && poll(0, 0)) throw Stopped{Stop::kAsked};
    if (budget.seconds > 0 && spent() > budget.seconds) throw Stopped{Stop::kSeconds};
  });
  lpn_budget raw{};
  raw.memory = budget.memory;
  if (budget.seconds > 0) {
    constexpr double kMost = 1e9;  // some thirty years
    const double left = std::min(budget.seconds, kMost) - spent();
    raw.nanoseconds = left > 0 ? static_cast<std::uint64_t>(left * 1e9) + 1 : 1;
  }
  raw.groups = budget.groups;
  raw.firings = budget.firings;
  raw.poll = poll ? ask : nullptr;
  raw.user = this;
  std::int32_t status = 0, stop = 0;
  sim = api.create_within(values.data(), &raw, &status, &stop);
  if (stop != LPN_STOP_NONE) throw Stopped{static_cast<Stop>(stop)};
  if (status == LPN_NO_MEMORY) throw Stopped{Stop::kMemory};
  LPN_ASSERT(sim != nullptr);
  for (std::uint32_t p = 0; p < net.places.size(); ++p) {
    const Marking::Tokens& tokens = marking[static_cast<PlaceId>(p)];
    if (tokens.count == 0) continue;
    const std::uint64_t present = tokens.present();
    status = api.load(sim, p, present, tokens.values.data());
    if (status == LPN_OVER) return;  // the first run says so
    LPN_ASSERT(status == LPN_OK);
    if (present == tokens.count) continue;
    const std::size_t width = net.type_of(static_cast<PlaceId>(p)).fields.size();
    started = true;
    status = api.feed(sim, p, tokens.count - present, tokens.values.data() + present * width,
                      tokens.times.data() + present);
    if (status == LPN_OVER) return;
    LPN_ASSERT(status == LPN_OK);
  }
}

Simulator::Simulator(Library library, const ParamValues& params, const Marking& marking,
                     const Budget& budget, Poll poll)
    : impl_(std::make_unique<Impl>(std::move(library))) {
  const Net& net = impl_->library.net();
  const lpn_sim_api& api = impl_->library.api();
  LPN_ASSERT(params.size() == net.params.size());
  require_fits(net, marking);
  impl_->params = params;
  impl_->poll = std::move(poll);
  impl_->limited = budget.memory != 0;
  try {
    impl_->place(params, marking, budget);
  } catch (const Stopped& s) {
    impl_->stopped = s.why;
    return;
  } catch (const std::bad_alloc&) {
    impl_->stopped = Stop::kMemory;
    return;
  }
  if (marking.done_count || net.done_count) impl_->started = true;
  if (marking.done_count) api.set_done(impl_->sim, static_cast<std::int64_t>(*marking.done_count));
}
std::uint64_t sane_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || size <= 0) return 0;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size) / 4 * 3;
}

Simulator::~Simulator() = default;
Simulator::Simulator(Simulator&&) noexcept = default;
Simulator& Simulator::operator=(Simulator&&) noexcept = default;

void Simulator::push(PlaceId place, std::span<const std::int64_t> values, Time time) {
  const Net& net = impl_->library.net();
  check_push(net, place, values);
  impl_->require_idle();
  if (impl_->sim == nullptr) return;
  const std::int32_t status =
      impl_->library.api().push(impl_->sim, static_cast<std::uint32_t>(place), values.data(), time);
  impl_->started = true;
  if (status == LPN_LATE) throw late_push(net, place, time, now());
  if (status == LPN_NO_MEMORY) throw std::bad_alloc();
  LPN_ASSERT(status == LPN_OK || status == LPN_OVER);
}

void Simulator::feed(PlaceId place, std::span<const std::int64_t> values,
                     std::span<const Time> times) {
  const Net& net = impl_->library.net();
  impl_->named(place);
  impl_->require_idle();
  if (times.empty()) return;
  if (impl_->sim == nullptr || values.size() != times.size() * net.type_of(place).fields.size()) {
    return check_feed(net, place, values, times);
  }
  impl_->started = true;
  const std::int32_t status = impl_->library.api().feed(
      impl_->sim, static_cast<std::uint32_t>(place), times.size(), values.data(), times.data());
  if (status == LPN_OK || status == LPN_OVER) return;
  if (status == LPN_NO_MEMORY) throw std::bad_alloc();
  check_feed(net, place, values, times);  // says what is wrong
  LPN_ASSERT(status == LPN_LATE);
  throw late_push(net, place, times.front(), now());
}

RunResult Simulator::run(Time limit, Observer* observer) {
  const Net& net = impl_->library.net();
  const lpn_sim_api& api = impl_->library.api();
  if (observer != nullptr) impl_->require(1, "trace");
  const Running running(impl_->running, net);
  if (impl_->sim == nullptr) return finish(LPN_OK, {});
  if (observer != nullptr) {
    impl_->relay.net = &net;
    impl_->relay.observer = observer;
    api.set_observer(impl_->sim, Relay::call, &impl_->relay);
  } else if ((api.variant & 1) != 0) {
    api.set_observer(impl_->sim, nullptr, nullptr);
  }
  lpn_result raw{};
  const std::int32_t status = api.run(impl_->sim, limit, &raw);
  return finish(status, raw);
}

// What the C interface answered, as a result or an exception.
RunResult Simulator::finish(std::int32_t status, const lpn_result& raw) {
  const Net& net = impl_->library.net();
  const lpn_sim_api& api = impl_->library.api();
  impl_->started = true;
  impl_->order_free = raw.order_free;
  const Stop stop = impl_->sim == nullptr ? impl_->stopped : static_cast<Stop>(raw.stop);
  // Who sets no limit expects no such answer.
  if (stop == Stop::kMemory && !impl_->limited) throw std::bad_alloc();
  if (impl_->sim == nullptr) {
    RunResult result;
    result.ending = Ending::kStopped;
    result.stop = impl_->stopped;
    return result;
  }
  if (status == LPN_FAULT) {
    lpn_fault f{};
    api.fault(impl_->sim, &f);
    RunFault fault;
    fault.fault = static_cast<Fault>(f.fault);
    fault.time = f.time;
    fault.group = f.group;
    fault.transition = static_cast<TransitionId>(f.transition);
    fault.site = {static_cast<SiteKind>(f.site_kind), f.site_arc, f.site_emission, f.site_field};
    fault.value = f.value;
    throw RunError(
        net, fault,
        describe_heads(
            net, fault.transition, [this](PlaceId p) { return tokens(p); },
            [&](PlaceId p) { return api.occupancy(impl_->sim, static_cast<std::uint32_t>(p)); }));
  }
  LPN_ASSERT(status == LPN_OK);
  RunResult result;
  result.ending = static_cast<Ending>(raw.ending);
  result.stop = static_cast<Stop>(raw.stop);
  if (raw.has_latency) result.latency = raw.latency;
  result.last_commit = raw.last_commit;
  result.commits = raw.commits;
  result.done_tokens = raw.done_tokens;
  result.stalled = raw.stalled != 0;
  if (result.stalled) {
    explain_stall(
        net, impl_->params,
        [this](PlaceId p) {
          return std::pair{free_tokens(p), legal_tokens(p)};
        },
        result);
  }
  return result;
}

namespace {

// As run_batch of the C interface, up to a limit.
void run_up_to(const lpn_sim_api& api, const std::vector<lpn_sim*>& sims, unsigned threads,
               Time limit, std::vector<lpn_result>& raw, std::vector<std::int32_t>& statuses) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t k = next++; k < sims.size(); k = next++) {
      statuses[k] = api.run(sims[k], limit, &raw[k]);
    }
  };
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::jthread> others;
  while (others.size() + 1 < std::min<std::size_t>(threads, sims.size())) {
    others.emplace_back(work);
  }
  work();
}

}  // namespace

double Simulator::run_batch(
    std::span<Simulator> simulators, unsigned threads,
    const std::function<void(std::size_t, const RunResult*, const RunError*)>& each, Time limit) {
  if (simulators.empty()) return 0;
  const lpn_sim_api& api = simulators[0].impl_->library.api();
  std::vector<lpn_sim*> sims;
  for (Simulator& s : simulators) {
    LPN_ASSERT(&s.impl_->library.api() == &api);
    if (s.impl_->sim != nullptr) sims.push_back(s.impl_->sim);
  }
  std::vector<lpn_result> raw(sims.size());
  std::vector<std::int32_t> statuses(sims.size());
  std::uint64_t layout = 0;
  if (limit == kForever) {
    api.run_batch(sims.data(), sims.size(), threads, raw.data(), statuses.data(), &layout);
  } else {
    run_up_to(api, sims, threads, limit, raw, statuses);
  }
  for (std::size_t k = 0, at = 0; k < simulators.size(); ++k) {
    const bool placed = simulators[k].impl_->sim != nullptr;
    const std::size_t of_raw = placed ? at++ : 0;
    try {
      const RunResult result = placed ? simulators[k].finish(statuses[of_raw], raw[of_raw])
                                      : simulators[k].finish(LPN_OK, {});
      each(k, &result, nullptr);
    } catch (const RunError& error) {
      each(k, nullptr, &error);
    }
  }
  return static_cast<double>(layout) * 1e-9;
}

void Simulator::set_mode(Mode mode) {
  impl_->mode = mode;
  if (impl_->sim == nullptr) return;
  const std::int32_t status =
      impl_->library.api().set_mode(impl_->sim, static_cast<std::int32_t>(mode));
  LPN_ASSERT(status == LPN_OK);
}

void Simulator::set_poll(Poll poll) {
  impl_->poll = std::move(poll);
  if (impl_->sim == nullptr) return;
  impl_->library.api().set_poll(impl_->sim, impl_->poll ? Impl::ask : nullptr, impl_.get());
}

bool Simulator::will_run_order_free() const {
  const std::uint32_t variant = impl_->library.api().variant;
  if ((variant & 4) == 0 || impl_->started || impl_->mode == Mode::kEvents) return false;
  return impl_->mode == Mode::kOrderFree || (variant & 1) == 0;
}
bool Simulator::was_order_free() const { return impl_->order_free > 0; }
bool Simulator::fell_back() const { return impl_->order_free < 0; }

Time Simulator::now() const {
  if (impl_->sim == nullptr) return 0;
  return impl_->library.api().now(impl_->sim);
}

std::uint64_t Simulator::free_tokens(PlaceId place) const {
  impl_->named(place);
  if (impl_->sim == nullptr) return 0;
  return impl_->library.api().tokens(impl_->sim, static_cast<std::uint32_t>(place), nullptr);
}

std::vector<std::int64_t> Simulator::tokens(PlaceId place) const {
  impl_->named(place);
  const std::size_t width = impl_->library.net().type_of(place).fields.size();
  std::vector<std::int64_t> values(free_tokens(place) * width);
  if (!values.empty()) {
    impl_->library.api().tokens(impl_->sim, static_cast<std::uint32_t>(place), values.data());
  }
  return values;
}

// Where lock step lost the values, which nothing reads, any within the ranges.
std::vector<std::int64_t> Simulator::legal_tokens(PlaceId place) const {
  std::vector<std::int64_t> values = tokens(place);
  const std::vector<Field>& fields = impl_->library.net().type_of(place).fields;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const Range range = fields[k % fields.size()].range.value_or(Range{});
    values[k] = std::clamp(values[k], range.lo, range.hi);
  }
  return values;
}

namespace {

bool is_read(const Net& net, PlaceId place) {
  return std::any_of(net.transitions.begin(), net.transitions.end(), [&](const Transition& t) {
    return std::any_of(t.inputs.begin(), t.inputs.end(),
                       [&](const InputArc& arc) { return arc.place == place; });
  });
}

}  // namespace

void Simulator::collect(PlaceId place) {
  const std::string& name = impl_->named(place).name;
  impl_->require_idle();
  if (impl_->sim == nullptr) return;
  const std::int32_t status =
      impl_->library.api().collect(impl_->sim, static_cast<std::uint32_t>(place));
  if (status == LPN_BAD_CALL) {
    throw Error("E-collect", fmt::format("place '{}' of net '{}' cannot collect its tokens: {}",
                                         name, impl_->library.net().name,
                                         is_read(impl_->library.net(), place)
                                             ? "a transition takes from it; collect a sink"
                                             : "its run has begun; collect before it"));
  }
  LPN_ASSERT(status == LPN_OK);
  impl_->started = true;  // only events serve it
}

Collected Simulator::take(PlaceId place) {
  Collected out;
  take(place, out);
  return out;
}

void Simulator::take(PlaceId place, Collected& into) {
  const std::string& name = impl_->named(place).name;
  impl_->require_idle();
  if (impl_->sim == nullptr) {
    into = {};
    return;
  }
  const lpn_sim_api& api = impl_->library.api();
  const std::size_t width = impl_->library.net().type_of(place).fields.size();
  const std::uint64_t most = free_tokens(place);
  into.values.resize(most * width);
  std::vector<lpn_instant>& when = impl_->when;
  if (when.size() < most) when.resize(most);
  std::uint64_t taken = 0;
  const std::int32_t status = api.take(impl_->sim, static_cast<std::uint32_t>(place), most,
                                       into.values.data(), when.data(), &taken);
  if (status == LPN_BAD_CALL) {
    throw Error("E-collect", fmt::format("nothing can be taken from place '{}' of net '{}': call "
                                         "collect() for it before the run; a transition must not "
                                         "take from it",
                                         name, impl_->library.net().name));
  }
  LPN_ASSERT(status == LPN_OK && taken == most);
  into.times.resize(most);
  for (std::uint64_t k = 0; k < most; ++k) into.times[k] = when[k].time;
}

namespace {

Error begun(const std::string& what) {
  return Error("E-call", fmt::format("{} before the first run", what));
}

}  // namespace

void Simulator::halve(TransitionId transition) {
  const std::string& name =
      impl_->library.net().transitions.at(static_cast<std::size_t>(transition)).name;
  impl_->require_path();
  if (impl_->sim == nullptr) return;
  const std::int32_t status =
      impl_->library.api().halve(impl_->sim, static_cast<std::uint32_t>(transition));
  if (status != LPN_OK) throw begun(fmt::format("halve the delays of '{}'", name));
}

void Simulator::set_path_budget(std::uint64_t bytes) {
  impl_->require_path();
  if (impl_->sim == nullptr) return;
  const std::int32_t status = impl_->library.api().set_path_budget(impl_->sim, bytes);
  if (status != LPN_OK) throw begun("set the memory of the critical path");
}

Error path_memory(const std::string& net) {
  return Error("E-path-memory",
               fmt::format("the critical path of net '{}' needs more memory than it may use: the "
                           "tokens alive at one time have too many different pasts; allow more "
                           "(--path-memory, path_memory=)",
                           net));
}

CriticalPath Simulator::path() const {
  impl_->require_path();
  if (impl_->sim == nullptr) return {};
  const lpn_sim_api& api = impl_->library.api();
  std::uint64_t row_count = 0, step_count = 0;
  std::int32_t status = api.path(impl_->sim, nullptr, &row_count, nullptr, &step_count);
  std::vector<lpn_path_row> rows(row_count);
  std::vector<lpn_path_step> steps(step_count);
  if (status == LPN_OK) {
    status = api.path(impl_->sim, rows.data(), &row_count, steps.data(), &step_count);
  }
  if (status == LPN_NO_MEMORY) throw path_memory(impl_->library.net().name);
  LPN_ASSERT(status == LPN_OK);
  CriticalPath path;
  for (const lpn_path_row& r : rows) {
    path.rows.push_back({static_cast<CriticalPath::Kind>(r.kind), r.index, r.count, r.cycles});
  }
  for (const lpn_path_step& s : steps) {
    path.steps.push_back({s.index, s.cause, s.to_commit != 0, s.start, s.commit});
  }
  return path;
}

Stats Simulator::stats() const {
  const Net& net = impl_->library.net();
  impl_->require_idle();
  impl_->require(2, "stats");
  std::vector<lpn_transition_stats> transitions(net.transitions.size());
  std::vector<lpn_place_stats> places(net.places.size());
  Stats stats;
  stats.transitions.resize(transitions.size());
  stats.places.resize(places.size());
  if (impl_->sim == nullptr) return stats;
  stats.transitions.clear();
  stats.places.clear();
  const std::int32_t status =
      impl_->library.api().stats(impl_->sim, transitions.data(), places.data(), &stats.end);
  LPN_ASSERT(status == LPN_OK);
  for (const lpn_transition_stats& t : transitions) {
    TransitionStats out;
    out.commits = t.commits;
    out.busy = t.busy;
    for (std::size_t w = 0; w < out.waited.size(); ++w) out.waited[w] = t.waited[w];
    stats.transitions.push_back(out);
  }
  for (const lpn_place_stats& p : places) stats.places.push_back({p.mean, p.peak});
  return stats;
}

}  // namespace lpn::sim
