// Compiled nets inside another simulator, in C++17: abi.h with names, errors and lifetimes, and
// nets that are coupled by channels (docs/tutorial/embedding.md).
//
// Header-only; needs abi.h, dlopen and the standard library. No globals: instances share nothing
// but the code of their library. Calls on one Instance or Coupled must not overlap; different ones
// may be used by different threads at the same time.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lpnrt/abi.h"
#include "lpnrt/words.h"

namespace lpn::embed {

using Time = std::int64_t;  // ticks
inline constexpr Time kForever = std::numeric_limits<Time>::max();
using Values = std::vector<std::int64_t>;

enum class Place : std::uint32_t {};
enum class Param : std::uint32_t {};

// ---- errors ---------------------------------------------------------------------------------

// What every error of this file is; the subclasses say which kind. After a Fault the instance only
// repeats it; after any other nothing has changed.
class Error : public std::runtime_error {
 public:
  Error(std::int32_t status, const std::string& what) : std::runtime_error(what), status_(status) {}
  std::int32_t status() const { return status_; }  // enum lpn_status

 private:
  std::int32_t status_;
};
struct LoadError : Error {  // no library, or none of this version
  using Error::Error;
};
struct NameError : Error {  // no such place or parameter
  using Error::Error;
};
struct ParamError : Error {  // LPN_BAD_PARAM
  using Error::Error;
};
struct ValueError : Error {  // LPN_BAD_VALUE, or another number of values than properties
  using Error::Error;
};
struct RoomError : Error {  // LPN_NO_ROOM; LPN_FULL for tokens at the start
  using Error::Error;
};
struct LateError : Error {  // LPN_LATE
  using Error::Error;
};
struct CallError : Error {  // LPN_BAD_CALL
  using Error::Error;
};
struct JoinError : Error {  // two places cannot be a channel
  using Error::Error;
};
struct BudgetError : Error {  // LPN_OVER: stopped by its lpn_budget, or out of memory
  using Error::Error;
};
struct Fault : Error {  // LPN_FAULT: the net's formulas failed
  Fault(const std::string& what, lpn_fault f) : Error(LPN_FAULT, what), detail(f) {}
  lpn_fault detail;
};

// ---- a compiled net ---------------------------------------------------------------------------

// The code of a net, loaded. Copies are cheap and keep it loaded.
class Library {
 public:
  // Throws LoadError. The caller vouches for the file, which is code.
  static Library open(const std::string& file) {
    void* const handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      std::string why = ::dlerror();
      if (file.find('/') == std::string::npos) {
        why += "; a name without '/' is looked for among the system's libraries: write ./" + file;
      }
      throw LoadError(LPN_BAD_CALL, why);
    }
    const std::shared_ptr<void> keep(handle, [](void* h) { ::dlclose(h); });
    using Entry = const lpn_sim_api* (*)();
    const auto entry = reinterpret_cast<Entry>(::dlsym(handle, "lpn_sim_entry"));
    if (entry == nullptr) {
      throw LoadError(LPN_BAD_CALL, "'" + file + "' is no compiled net; make one with lpn compile");
    }
    return Library(*entry(), keep);
  }

  // A net that is linked into the program, or that `keep` keeps loaded.
  explicit Library(const lpn_sim_api& api, std::shared_ptr<void> keep = nullptr)
      : impl_(std::make_shared<Impl>(api, std::move(keep))) {}

  const lpn_sim_api& api() const { return *impl_->api; }
  const std::string& name() const { return impl_->net; }
  const std::vector<std::string>& places() const { return impl_->places; }
  const std::vector<std::string>& params() const { return impl_->params; }
  const std::vector<std::string>& transitions() const { return impl_->transitions; }

  // Throws NameError, with the names there are.
  Place place(const std::string& name) const {
    return static_cast<Place>(find(impl_->places, name, "place"));
  }
  Param param(const std::string& name) const {
    return static_cast<Param>(find(impl_->params, name, "parameter"));
  }

  const std::string& name_of(Place p) const { return impl_->places.at(at(p)); }
  // The properties of a place's tokens.
  const std::vector<std::string>& fields(Place p) const { return impl_->fields.at(at(p)); }
  // Least and greatest value of property `field`.
  std::pair<std::int64_t, std::int64_t> range(Place p, std::size_t field) const {
    const std::size_t k = impl_->first_field.at(at(p)) + field;
    return {api().range_lo[k], api().range_hi[k]};
  }
  bool has(Place p, lpn_place_flag flag) const {
    return (api().place_flags[check(p)] & static_cast<std::uint32_t>(flag)) != 0;
  }
  std::uint32_t check(Place p) const {
    if (at(p) < impl_->places.size()) return static_cast<std::uint32_t>(p);
    throw NameError(LPN_BAD_CALL, "net '" + name() + "' has no place " + std::to_string(at(p)));
  }

 private:
  struct Impl {
    const lpn_sim_api* api;
    std::shared_ptr<void> keep;
    std::string net;
    std::vector<std::string> params, places, transitions;
    std::vector<std::vector<std::string>> fields;
    std::vector<std::size_t> first_field;

    Impl(const lpn_sim_api& a, std::shared_ptr<void> k) : api(&a), keep(std::move(k)) {
      if (api->abi != LPN_SIM_ABI) {
        throw LoadError(LPN_BAD_CALL,
                        "a compiled net of interface version " + std::to_string(api->abi) +
                            ", and this program was built for " + std::to_string(LPN_SIM_ABI) +
                            "; compile the net again with the lpn that this header is of");
      }
      const char* at = api->names;
      const auto next = [&at] {
        std::string name = at;
        at += name.size() + 1;
        return name;
      };
      net = next();
      for (std::uint32_t n = 0; n < api->params; ++n) params.push_back(next());
      for (std::uint32_t n = 0; n < api->places; ++n) places.push_back(next());
      for (std::uint32_t n = 0; n < api->transitions; ++n) transitions.push_back(next());
      std::size_t first = 0;
      fields.resize(api->places);
      for (std::uint32_t p = 0; p < api->places; ++p) {
        first_field.push_back(first);
        first += api->place_fields[p];
        for (std::uint32_t f = 0; f < api->place_fields[p]; ++f) fields[p].push_back(next());
      }
    }
  };

  static std::size_t at(Place p) { return static_cast<std::size_t>(p); }

  std::size_t find(const std::vector<std::string>& names, const std::string& name,
                   const char* what) const {
    const auto it = std::find(names.begin(), names.end(), name);
    if (it != names.end()) return static_cast<std::size_t>(it - names.begin());
    std::string known;
    for (const std::string& n : names) known += (known.empty() ? "" : ", ") + n;
    throw NameError(LPN_BAD_CALL, "net '" + this->name() + "' has no " + what + " '" + name +
                                      "'; it has " + (known.empty() ? "none" : known));
  }

  std::shared_ptr<const Impl> impl_;
};

// ---- a running net ----------------------------------------------------------------------------

struct Token {
  Values values;
  Time time = 0;  // of the commit that produced it; 0 for tokens of the start
  std::uint64_t group = 0;
};

using Result = lpn_result;

namespace detail {
struct Given {  // by the caller, for a message
  const Values* values = nullptr;
  Time time = 0;
};
struct Destroy {
  void (*destroy)(lpn_sim*) = nullptr;
  void operator()(lpn_sim* s) const { destroy(s); }
};
}  // namespace detail

// One run of a net. See abi.h for the meaning of each call.
class Instance {
 public:
  using Params = std::vector<std::pair<std::string, std::int64_t>>;

  // The net's own parameters but for those given. Throws NameError, ParamError.
  // `budget`: what it may use, see abi.h; a run that needs more ends with LPN_STOPPED. Throws also
  // BudgetError, when the net's own tokens are too many for it.
  explicit Instance(Library library, const Params& given = {}, const lpn_budget& budget = {})
      : library_(std::move(library)) {
    const lpn_sim_api& a = library_.api();
    std::vector<std::int64_t> params(a.param_defaults, a.param_defaults + a.params);
    for (const auto& [name, value] : given) {
      params[static_cast<std::size_t>(library_.param(name))] = value;
    }
    std::int32_t status = LPN_OK;
    sim_.reset(a.create_within(params.data(), &budget, &status, nullptr));
    sim_.get_deleter().destroy = a.destroy;
    if (sim_ == nullptr) {
      if (status == LPN_NO_MEMORY) throw std::bad_alloc();
      if (status == LPN_OVER) {
        throw BudgetError(status, "net '" + library_.name() +
                                      "': its own tokens are more than its budget allows");
      }
      const std::string net = "net '" + library_.name() + "': ";
      for (std::uint32_t p = 0; p < a.params; ++p) {
        if (params[p] >= a.param_lo[p] && params[p] <= a.param_hi[p]) continue;
        throw ParamError(status, net + "parameter '" + library_.params()[p] + "' is " +
                                     std::to_string(params[p]) + ", outside its range " +
                                     std::to_string(a.param_lo[p]) + ".." +
                                     std::to_string(a.param_hi[p]));
      }
      throw ParamError(status, net + lpnrt::kBadParams);
    }
  }

  Instance(Instance&&) noexcept = default;
  // By exchange: the old run must go before the library that has its code.
  Instance& operator=(Instance&& other) noexcept {
    std::swap(sim_, other.sim_);
    std::swap(library_, other.library_);
    return *this;
  }

  const Library& library() const { return library_; }
  Place place(const std::string& name) const { return library_.place(name); }

  // `count` tokens at the start, row-major, before the first run. Throws ValueError, CallError.
  void load(Place p, std::uint64_t count, const Values& rows) {
    const std::size_t width = library_.fields(p).size();
    if (width == 0 ? !rows.empty() : rows.size() % width != 0 || rows.size() / width != count) {
      wrong_size(p, rows.size(), count);
    }
    check(api().load(sim_.get(), id(p), count, rows.data()), "load", p, {&rows, 0});
  }
  void load(Place p, const Values& token) { load(p, 1, token); }

  // Ends the run once so many tokens came into done places; see abi.h for less than 0.
  void set_done(std::int64_t count) { api().set_done(sim_.get(), count); }

  // A token that arrives at `time`. False: the place has no free slot. Throws ValueError,
  // LateError.
  bool try_push(Place p, const Values& values, Time time) {
    if (values.size() != library_.fields(p).size()) wrong_size(p, values.size(), 1);
    const std::int32_t status = api().push(sim_.get(), id(p), values.data(), time);
    if (status == LPN_NO_ROOM) return false;
    check(status, "push", p, {&values, time});
    return true;
  }
  // The same where there must be room. Throws also RoomError.
  void push(Place p, const Values& values, Time time) {
    if (!try_push(p, values, time)) check(LPN_NO_ROOM, "push", p);
  }

  // Free slots; kForever for a place without a capacity.
  std::int64_t room(Place p) const { return api().room(sim_.get(), id(p)); }
  void hold(Place p, std::uint64_t count) {
    check(api().hold(sim_.get(), id(p), count), "hold", p);
  }
  void release(Place p, std::uint64_t count, Time time) {
    check(api().release(sim_.get(), id(p), count, time), "release", p, {nullptr, time});
  }

  // Before the first run: take() then tells when tokens arrived. Throws CallError.
  void collect(Place p) { check(api().collect(sim_.get(), id(p)), "collect", p); }
  // The tokens at the front of a place that collects, at most `most`. Throws CallError.
  std::vector<Token> take(Place p, std::uint64_t most = ~std::uint64_t{0}) {
    const std::size_t width = library_.fields(p).size();
    const std::uint64_t there = std::min(most, count(p));
    Values rows(static_cast<std::size_t>(there) * width);
    std::vector<lpn_instant> when(static_cast<std::size_t>(there) + 1);
    std::uint64_t taken = 0;
    check(api().take(sim_.get(), id(p), there, rows.data(), when.data(), &taken), "take", p);
    std::vector<Token> tokens(static_cast<std::size_t>(taken));
    for (std::size_t k = 0; k < tokens.size(); ++k) {
      const auto row = rows.begin() + static_cast<std::ptrdiff_t>(k * width);
      tokens[k] = {Values(row, row + static_cast<std::ptrdiff_t>(width)), when[k].time,
                   when[k].group};
    }
    return tokens;
  }
  // Appends the values of all tokens to `rows`; how many. The place need not collect.
  std::uint64_t take_rows(Place p, Values& rows) {
    const std::uint64_t there = count(p);
    if (there == 0) return 0;
    const std::size_t before = rows.size();
    rows.resize(before + static_cast<std::size_t>(there) * library_.fields(p).size());
    std::uint64_t taken = 0;
    check(api().take(sim_.get(), id(p), there, rows.data() + before, nullptr, &taken), "take", p);
    return taken;
  }

  // Simulates every instant <= limit. Throws Fault, RoomError (more tokens than slots at the
  // start).
  Result run(Time limit = kForever) {
    Result result{};
    check(api().run(sim_.get(), limit, &result), "run");
    return result;
  }
  // Nothing happens before this time unless something is pushed or released.
  Time next() const { return api().next(sim_.get()); }
  // The last instant that was simulated.
  Time now() const { return api().now(sim_.get()); }

  std::uint64_t count(Place p) const { return api().tokens(sim_.get(), id(p), nullptr); }
  // The free tokens, row-major.
  Values values(Place p) const {
    Values rows(static_cast<std::size_t>(count(p)) * library_.fields(p).size());
    if (!rows.empty()) api().tokens(sim_.get(), id(p), rows.data());
    return rows;
  }

  // Group by group: see abi.h.
  void enter(Time time) {
    check(api().enter(sim_.get(), time), "enter", kNowhere, {nullptr, time});
  }
  void commit() { check(api().commit(sim_.get()), "commit"); }
  bool start() {
    std::int32_t more = 0;
    check(api().start(sim_.get(), &more), "start");
    return more != 0;
  }

  // Every commit, in order; for a library compiled with identities. Throws CallError.
  void observe(lpn_observer observer, void* user) {
    check(api().set_observer(sim_.get(), observer, user), "observe");
  }

  const lpn_sim_api& api() const { return library_.api(); }
  lpn_sim* handle() { return sim_.get(); }

 private:
  std::uint32_t id(Place p) const { return library_.check(p); }
  std::string about(Place p) const {
    return "net '" + library_.name() + "', place '" + library_.name_of(p) + "': ";
  }
  [[noreturn]] void wrong_size(Place p, std::size_t size, std::uint64_t tokens) const {
    throw ValueError(LPN_BAD_VALUE, about(p) + std::to_string(size) + " values for " +
                                        std::to_string(tokens) + " tokens with " +
                                        std::to_string(library_.fields(p).size()) + " properties");
  }

  static constexpr Place kNowhere{~std::uint32_t{0}};  // of calls that are about no place

  void check(std::int32_t status, const char* call, Place p = kNowhere,
             detail::Given given = {}) const {
    if (status == LPN_OK) return;
    const std::string net = "net '" + library_.name() + "': ";
    const std::string place = p == kNowhere ? net : about(p);
    lpn_fault f{};
    switch (status) {
      case LPN_FAULT: {
        api().fault(sim_.get(), &f);
        throw Fault(net + "transition '" + library_.transitions().at(f.transition) + "' at time " +
                        std::to_string(f.time) + ": " + lpnrt::fault_words(f),
                    f);
      }
      case LPN_NO_MEMORY: throw std::bad_alloc();
      case LPN_OVER:
        throw BudgetError(status, net +
                                      "stopped by its budget, or out of memory; run() tells how "
                                      "far it came");
      case LPN_FULL: {
        api().fault(sim_.get(), &f);
        const auto full = static_cast<Place>(f.value);
        throw RoomError(status,
                        about(full) + "starts with " + std::to_string(count(full)) +
                            " tokens, more than its capacity, or than the slots held of it leave");
      }
      case LPN_NO_ROOM:
        throw RoomError(status, place + call + ": " + std::to_string(room(p)) +
                                    " free slots; ask room() first, or try_push()");
      case LPN_LATE: throw LateError(status, place + call + late(given.time));
      case LPN_BAD_VALUE: throw ValueError(status, place + call + outside(p, *given.values));
      default: throw CallError(status, misuse(call, place, net));
    }
  }
  std::string late(Time time) const {
    const std::string at = std::to_string(time);
    if (time < 0 || time == kForever) {
      return ": there is no time " + at + "; times are 0.." + std::to_string(kForever - 1);
    }
    if (time > now()) {
      return " for time " + at + ": the run ended at " + std::to_string(now()) +
             " with its last done token; set_done(-2) before it lets a host go on";
    }
    return " for time " + at + " comes too late; the net is at " + std::to_string(now());
  }
  std::string outside(Place p, const Values& rows) const {
    const std::vector<std::string>& fields = library_.fields(p);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const std::size_t f = k % fields.size();
      const auto [lo, hi] = library_.range(p, f);
      if (rows[k] >= lo && rows[k] <= hi) continue;
      return ": token " + std::to_string(k / fields.size()) + ": " + fields[f] + " = " +
             std::to_string(rows[k]) + " is outside its range " + std::to_string(lo) + ".." +
             std::to_string(hi);
    }
    return ": more than 2^31 tokens at once";
  }
  std::string misuse(const std::string& call, const std::string& place,
                     const std::string& net) const {
    if (call == "load" || call == "collect") {
      return place + call + ": only before the first run" +
             (call == "collect" ? ", and of a place that the net does not read" : "");
    }
    if (call == "take") {
      return place +
             "take: only of a place that the net does not read, that collects, and, with a "
             "capacity, after the first instant";
    }
    if (call == "hold") return place + "hold: the place has no capacity";
    if (call == "release") return place + "release: more slots than are held of it";
    if (call == "enter") {
      return net +
             "enter: an instant is not completed, the run is over, or an instant would be skipped: "
             "the next is " +
             std::to_string(next());
    }
    if (call == "observe") {
      return net +
             "observe: this library keeps no identities; compile its source (lpn compile -o "
             "FILE.cc) "
             "with -DLPNRT_TRACE=1";
    }
    return net + call + ": enter, then commit and start in turns";
  }

  Library library_;  // before sim_: the code outlives the instance
  std::unique_ptr<lpn_sim, detail::Destroy> sim_;
};

// ---- nets that share places ---------------------------------------------------------------------

// Instances joined by channels: place `out` of one and place `in` of another are one FIFO. The
// result is that of the one net in which they are one place, commit for commit, groups included,
// also where a delay at the boundary is 0: all instances go through the groups of an instant
// together; between the commits and the starts of a group tokens cross, and slots come back.
//
// With a capacity, both places declare it, the same: the producer's net takes its slots at the
// start of a firing, the consumer's net tells when its commits free them. The transitions of the
// instance added first are the ones with lesser ids.
class Coupled {
 public:
  // Takes over an instance that has not run, before the first run. Throws JoinError.
  std::size_t add(Instance instance) {
    if (begun_ || instance.next() != 0) {
      throw JoinError(LPN_BAD_CALL, "net '" + instance.library().name() +
                                        "': an instance is added before its first run, and before "
                                        "that of the others");
    }
    instances_.push_back(std::move(instance));
    instances_.back().set_done(-2);  // counted over all instances
    due_.push_back(0);
    taking_part_.push_back(false);
    return instances_.size() - 1;
  }
  Instance& operator[](std::size_t k) { return instances_.at(k); }
  std::size_t size() const { return instances_.size(); }

  // Before the first run. Throws JoinError.
  void join(std::size_t from, const std::string& out, std::size_t to, const std::string& in) {
    Channel c{from, to, {}, {}, 0};
    if (from >= size() || to >= size() || from == to) {
      throw JoinError(LPN_BAD_CALL, "a channel leads from one added instance to another one");
    }
    if (begun_) throw JoinError(LPN_BAD_CALL, "join before the first run");
    c.out = instances_[from].place(out);
    c.in = instances_[to].place(in);
    const Library& a = instances_[from].library();
    const Library& b = instances_[to].library();
    const std::string both = "'" + a.name() + "." + out + "' and '" + b.name() + "." + in + "' ";
    const auto refuse = [&](const std::string& why) {
      throw JoinError(LPN_BAD_CALL, both + "cannot be a channel: " + why);
    };
    const std::int64_t ours = a.api().frequency, theirs = b.api().frequency;
    if (ours != 0 && theirs != 0 && ours != theirs) {
      refuse("a second is " + std::to_string(ours) + " ticks of the first net, " +
             std::to_string(theirs) +
             " of the second; make each an instance in a net with the same ticks (clock=...)");
    }
    if (a.has(c.out, LPN_PLACE_READ)) refuse("the first net itself takes from or reads its place");
    if (b.has(c.in, LPN_PLACE_FED)) refuse("the second net itself puts tokens into its place");
    for (const Channel& other : channels_) {
      if ((other.from == from && other.out == c.out) || (other.to == to && other.in == c.in)) {
        refuse("one of them is an end of another channel");
      }
    }
    if (a.has(c.out, LPN_PLACE_DONE) || b.has(c.in, LPN_PLACE_DONE)) {
      refuse(
          "a done place counts finished work, and tokens of a channel go on; declare it "
          "without done");
    }
    if (a.fields(c.out) != b.fields(c.in)) refuse("their tokens have other properties");
    for (std::size_t f = 0; f < a.fields(c.out).size(); ++f) {
      if (a.range(c.out, f) != b.range(c.in, f)) {
        refuse("property '" + a.fields(c.out)[f] + "' has other ranges");
      }
    }
    if (a.has(c.out, LPN_PLACE_BOUNDED) != b.has(c.in, LPN_PLACE_BOUNDED)) {
      refuse(
          "only one declares a capacity; the producer must feel it and the consumer tell when "
          "a slot is free, so declare the same in both");
    }
    channels_.push_back(c);
  }

  // Ends the run once so many tokens came into done places of all nets; < 0: when quiet.
  void set_done(std::int64_t count) { done_ = count; }

  // As of an Instance.
  Time now() const { return std::max<Time>(now_, 0); }
  Time next() const {
    Time least = kForever;
    for (const Instance& i : instances_) least = std::min(least, i.next());
    return over_ ? kForever : least;
  }

  // Simulates every instant <= limit. In between, tokens may be pushed into and taken from places
  // that are no channels, later than the last instant of any of the nets: now().
  // `stalled`: some place that must drain has tokens. Throws Fault, JoinError (other capacities,
  // tokens at both ends), RoomError, LateError, and CallError when an instance was run by itself.
  Result run(Time limit = kForever) {
    if (failed_) std::rethrow_exception(failed_);
    if (!begun_ && limit >= 0) begin();
    for (std::size_t k = 0; k < instances_.size(); ++k) {
      due_[k] = instances_[k].next();
      if (begun_) check_in_step(k);
    }
    try {
      for (;;) {
        const Time t = least_due();
        if (over_ || t == kForever || t > limit) return finish();
        instant(t);
        if (done_ >= 0 && done_tokens() >= static_cast<std::uint64_t>(done_)) over_ = true;
      }
    } catch (...) {
      failed_ = std::current_exception();  // in the middle of an instant there is no going on
      throw;
    }
  }

 private:
  struct Channel {
    std::size_t from, to;
    Place out, in;
    std::int64_t room;  // of `in`, when last looked at
  };

  // What happens to a net alone would reach the others too late: a joined net has one time.
  void check_in_step(std::size_t k) const {
    const Instance& i = instances_[k];
    const bool alone = now_ < 0 ? i.next() != 0 : i.now() > now_;
    if (!alone && due_[k] > now_) return;
    const std::string net = "net '" + i.library().name() + "': ";
    if (alone) {
      throw CallError(LPN_BAD_CALL, net +
                                        "an instance of a coupling was run by itself; run the "
                                        "coupling, which runs them all");
    }
    throw LateError(LPN_LATE, net + "something was pushed or released for time " +
                                  std::to_string(due_[k]) + ", but the coupling is at " +
                                  std::to_string(now_));
  }

  void begin() {
    for (Channel& c : channels_) {
      Instance &a = instances_[c.from], &b = instances_[c.to];
      const auto waiting = static_cast<std::int64_t>(b.count(c.in));
      const auto leaving = static_cast<std::int64_t>(a.count(c.out));
      const std::string both = "channel '" + a.library().name() + "." + a.library().name_of(c.out) +
                               "' to '" + b.library().name() + "." + b.library().name_of(c.in) +
                               "': ";
      if (waiting != 0 && leaving != 0) {
        throw JoinError(LPN_BAD_CALL, both + "both ends start with tokens; put them into one");
      }
      c.room = b.room(c.in);
      if (!a.library().has(c.out, LPN_PLACE_BOUNDED)) continue;
      const std::int64_t theirs = a.room(c.out) + leaving, ours = c.room + waiting;
      if (theirs != ours) {
        throw JoinError(LPN_BAD_CALL, both + "capacities " + std::to_string(theirs) + " and " +
                                          std::to_string(ours) + "; declare the same");
      }
    }
    for (const Channel& c : channels_) {  // once nothing can be refused any more
      if (!instances_[c.from].library().has(c.out, LPN_PLACE_BOUNDED)) continue;
      instances_[c.from].hold(c.out, instances_[c.to].count(c.in));
    }
    begun_ = true;
  }

  Time least_due() const {
    Time least = kForever;
    for (const Time t : due_) least = std::min(least, t);
    return least;
  }

  // Only instances to which something happens take part in an instant; one that others reach in
  // a later group joins them there.
  void instant(Time t) {
    now_ = t;
    active_.clear();
    for (std::size_t k = 0; k < instances_.size(); ++k) {
      taking_part_[k] = due_[k] == t;
      if (!taking_part_[k]) continue;
      active_.push_back(k);
      instances_[k].enter(t);
    }
    group_ = 0;
    for (bool more = true; more; ++group_) {
      for (std::size_t k : active_) instances_[k].commit();
      for (Channel& c : channels_) {
        if (taking_part_[c.from] || taking_part_[c.to]) cross(c, t);
      }
      more = false;
      for (std::size_t k : active_) more |= instances_[k].start();
    }
    for (std::size_t k : active_) due_[k] = instances_[k].next();
  }

  // Nothing of the groups before can have concerned it.
  void join_instant(std::size_t k, Time t) {
    if (taking_part_[k]) return;
    taking_part_[k] = true;
    active_.insert(std::upper_bound(active_.begin(), active_.end(), k), k);
    instances_[k].enter(t);
    instances_[k].commit();
    for (std::uint64_t g = 0; g < group_; ++g) {
      instances_[k].start();
      instances_[k].commit();
    }
  }

  void cross(Channel& c, Time t) {
    Instance &a = instances_[c.from], &b = instances_[c.to];
    rows_.clear();
    const auto moved =
        taking_part_[c.from] ? static_cast<std::int64_t>(a.take_rows(c.out, rows_)) : 0;
    if (moved != 0) join_instant(c.to, t);
    const std::size_t width = b.library().fields(c.in).size();
    for (std::int64_t k = 0; k < moved; ++k) {
      token_.assign(
          rows_.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(k) * width),
          rows_.begin() + static_cast<std::ptrdiff_t>((static_cast<std::size_t>(k) + 1) * width));
      b.push(c.in, token_, t);
    }
    if (c.room == kForever) return;
    const std::int64_t room = b.room(c.in), freed = room - (c.room - moved);
    c.room = room;
    if (freed == 0) return;
    if (freed < 0) {
      throw CallError(LPN_BAD_CALL, "net '" + b.library().name() + "', place '" +
                                        b.library().name_of(c.in) +
                                        "': somebody else took slots of it, and the ends of a "
                                        "channel are the coupling's alone");
    }
    join_instant(c.from, t);
    a.release(c.out, static_cast<std::uint64_t>(freed), t);
  }

  // Where an instance is, without going on.
  static Result look(Instance& i) { return i.run(i.now()); }

  std::uint64_t done_tokens() {
    std::uint64_t sum = 0;
    for (Instance& i : instances_) sum += look(i).done_tokens;
    return sum;
  }

  Result finish() {
    Result all{};
    bool has_done = false, undrained = false, quiet = true;
    all.latency = -1;
    Time last = 0;
    for (Instance& i : instances_) {
      Result r{};
      if (begun_) r = look(i);
      quiet = quiet && begun_ && r.ending == LPN_QUIET;
      undrained = undrained || r.stalled != 0;
      all.commits += r.commits;
      all.done_tokens += r.done_tokens;
      last = std::max(last, r.last_commit);
      if (!counts_done(i)) continue;
      has_done = true;
      if (r.has_latency != 0) all.latency = std::max(all.latency, r.latency);
    }
    all.ending = over_ ? LPN_DONE : quiet ? LPN_QUIET : LPN_LIMIT;
    all.last_commit = last;
    if (!has_done) all.latency = last;
    all.has_latency = all.latency >= 0;
    all.stalled =
        all.ending == LPN_QUIET &&
        (undrained || (done_ >= 0 && all.done_tokens < static_cast<std::uint64_t>(done_)));
    return all;
  }

  static bool counts_done(const Instance& i) {
    for (std::uint32_t p = 0; p < i.api().places; ++p) {
      if (i.library().has(static_cast<Place>(p), LPN_PLACE_DONE)) return true;
    }
    return false;
  }

  std::vector<Instance> instances_;
  std::vector<Channel> channels_;
  std::int64_t done_ = -1;
  Time now_ = -1;  // the last instant of any of them
  bool begun_ = false, over_ = false;
  std::exception_ptr failed_;
  // Of the instant under way: who takes part, in the order of the instances.
  std::vector<Time> due_;
  std::vector<bool> taking_part_;
  std::vector<std::size_t> active_;
  std::uint64_t group_ = 0;
  Values rows_, token_;
};

}  // namespace lpn::embed
