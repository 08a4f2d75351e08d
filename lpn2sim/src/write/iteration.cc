#include "write/iteration.h"

#include <fmt/format.h>

#include <algorithm>

#include "lpn/base/error.h"
#include "lpn/expr/partial.h"
#include "lpn/net/facts.h"
#include "write/expr.h"
#include "write/part_streams.h"

namespace lpn::sim {

using std::int64_t;
using std::size_t;
using std::string;
using std::uint32_t;

namespace {

constexpr const char* kNameCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

bool power_of_two(int64_t x) { return x > 0 && (x & (x - 1)) == 0; }
int log_of(int64_t x) { return __builtin_ctzll(static_cast<unsigned long long>(x)); }

}  // namespace

std::vector<uint32_t> kept_fields(const StaticQueue& q, const StaticOptions& options) {
  std::vector<uint32_t> all;
  if (q.place == StaticQueue::kNone) return all;
  for (uint32_t f = 0; f < options.live[q.place].size(); ++f) {
    if (options.live[q.place][f]) all.push_back(f);
  }
  return all;
}

std::optional<int64_t> const_servers(const Net& net, const StaticQueue& q) {
  int64_t value = 0;
  if (net.exprs.is_const(net.transitions[q.producer].servers->id, value)) return value;
  return std::nullopt;
}

Iteration::Iteration(const Net& net, const StaticPart& part, const StaticOptions& options,
                     const PartStreams* streams)
    : net_(net), part_(part), options_(options), streams_(streams), lanes_(streams == nullptr) {
  for (size_t q = 0; q < part.queues.size(); ++q) {
    const StaticQueue& queue = part.queues[q];
    (queue.place == StaticQueue::kNone ? servers_of_[queue.consumer]
                                       : queue_of_[{queue.consumer, queue.input}]) = q;
    if (queue.place != StaticQueue::kNone) fed_by_[{queue.producer, queue.output}] = q;
  }
  for (const StaticEnd& s : part.sources) source_of_[{s.transition, s.arc}] = &s;
  for (uint32_t k : part.transitions) {
    bounds_.emplace(k, NetBounds(net_, &net_.transitions[k]));
    history_[k] = 1;
  }
  for (const StaticQueue& q : part.queues) {
    if (!q.fixed) continue;
    history_[q.producer] = std::max(history_[q.producer], (q.initial + q.emitted - 1) / q.emitted);
  }
}

string Iteration::body() {
  for (const StaticFiring& f : part_.order) fire(f.transition, f.number);
  for (const auto& [p, values] : sink_values_) {
    if (copied_from(p)) continue;
    for (size_t i = 0; i < values.size(); ++i) line("z{}[{}] = {};", p, i, values[i]);
    line("z{} += {};", p, values.size());
  }
  rotate();
  return take();
}

const std::set<uint32_t>& Iteration::params() const { return params_; }

const std::set<std::pair<uint32_t, uint32_t>>& Iteration::columns() const { return columns_; }

bool Iteration::seen() const { return seen_; }

std::optional<uint32_t> Iteration::copied_from(uint32_t p) const {
  const auto at = sink_values_.find(p);
  if (at == sink_values_.end()) return std::nullopt;
  for (const StaticEnd& s : part_.sources) {
    const size_t w = width(s.place);
    const int64_t rows = s.count * part_.repetition(s.transition);
    if (w != width(p) || at->second.size() != static_cast<size_t>(rows) * w) continue;
    bool same = true;
    for (size_t i = 0; i < at->second.size(); ++i) {
      same &= at->second[i] == fmt::format("y{}_{}_{}", s.place, i / w, i % w);
    }
    if (same) return s.place;
  }
  return std::nullopt;
}

Wide Iteration::growth() {
  Wide total = 1;
  for (size_t i = 0; i < part_.transitions.size(); ++i) {
    const uint32_t k = part_.transitions[i];
    total += Wide{part_.repetitions[i]} * longest(k, net_.transitions[k].delay);
    if (net_.transitions[k].interval) {
      total += Wide{part_.repetitions[i]} * longest(k, *net_.transitions[k].interval);
    }
  }
  return total;
}

int64_t Iteration::zero_delays() {
  int64_t total = 0;
  for (size_t i = 0; i < part_.transitions.size(); ++i) {
    const uint32_t k = part_.transitions[i];
    if (range(k, net_.transitions[k].delay.id).lo <= 0) total += part_.repetitions[i];
  }
  return total;
}

int64_t Iteration::longest(uint32_t k, const Formula& f) {
  return std::clamp<int64_t>(range(k, f.id).hi, 0, kLongDelay);
}

int64_t Iteration::history(uint32_t k) const { return history_.at(k); }

int64_t Iteration::firings_ago(const StaticQueue& q, int64_t position) {
  return (q.initial - position + q.emitted - 1) / q.emitted;
}

size_t Iteration::width(uint32_t p) const { return net_[net_.places[p].type].fields.size(); }

Range Iteration::range(uint32_t k, ExprId id) { return bounds_.at(k).of(id); }

bool Iteration::kept(uint32_t p, size_t f) const { return options_.live[p][f]; }

const char* Iteration::value_type() const { return lanes_ ? "I" : "i64"; }

const char* Iteration::instant_type() const { return lanes_ ? "I" : "Word"; }

Iteration::Produced Iteration::producer_of(const StaticQueue& q, int64_t position) {
  return {q.producer, static_cast<uint32_t>(position / q.emitted), position % q.emitted};
}

string Iteration::instant(size_t q, int64_t position) {
  const StaticQueue& queue = part_.queues[q];
  if (!queue.fixed) return fmt::format("r{0}[(b{0} + {1}) & k{0}]", q, position);
  const int64_t x = position - queue.initial;
  if (x < 0) return earlier(queue.producer, firings_ago(queue, position));
  const Produced from = producer_of(queue, x);
  return fmt::format("c{}_{}", from.transition, from.firing);
}

string Iteration::earlier(uint32_t k, int64_t firings) const {
  const string variable = fmt::format("h{}_{}", k, firings);
  return lanes_ ? variable : streams_->earlier(k, firings, variable);
}

string Iteration::field(uint32_t k, uint32_t firing, uint32_t arc, int64_t which, uint32_t f) {
  if (const auto at = source_of_.find({k, arc}); at != source_of_.end()) {
    const StaticEnd& s = *at->second;
    const int64_t position = firing * s.count + which;
    const string name = fmt::format("y{}_{}_{}", s.place, position, f);
    if (!known_.insert(name).second) return name;
    columns_.insert({s.place, f});
    if (lanes_)
      line("const I {} = x{}_{}[{}];", name, s.place, f, position);
    else
      line("const i64 {} = x{}[{}];", name, s.place,
           position * static_cast<int64_t>(width(s.place)) + f);
    return name;
  }
  const size_t q = queue_of_.at({k, arc});
  return token(q, firing * part_.queues[q].taken + which, f);
}

string Iteration::token(size_t q, int64_t position, uint32_t f) {
  const StaticQueue& queue = part_.queues[q];
  if (!queue.fixed) {
    const string name = fmt::format("y{}_{}_{}", queue.place, position, f);
    if (known_.insert(name).second) {
      line("const {0} {1} = r{2}_{3}[(b{2} + {4}) & k{2}];", value_type(), name, q, f, position);
    }
    return name;
  }
  const int64_t x = position - queue.initial;
  if (x < 0) return fmt::format("g{}_{}_{}", q, position, f);
  const Produced from = producer_of(queue, x);
  return produced(from.transition, from.firing, queue.output, from.slot, f);
}

Iteration::Emitted Iteration::emitted(const OutputArc& arc, int64_t slot) const {
  for (size_t e = 0;; ++e) {
    int64_t count = 0;
    net_.exprs.is_const(arc.emissions.at(e).count.id, count);
    if (slot < count) return {e, slot};
    slot -= count;
  }
}

bool Iteration::may_leave(uint32_t k, const OutputArc& arc, size_t emission, uint32_t f) {
  const auto& declared = net_.type_of(arc.place).fields[f].range;
  const Range may = range(k, arc.emissions[emission].fields[f].id);
  return declared && (may.lo < declared->lo || may.hi > declared->hi);
}

string Iteration::produced(uint32_t k, uint32_t firing, uint32_t output, int64_t slot, uint32_t f) {
  const OutputArc& arc = net_.transitions[k].outputs[output];
  const auto [e, index] = emitted(arc, slot);
  const Formula& formula = arc.emissions[e].fields[f];
  const bool indexed = net_.exprs.reads(formula.id).index;
  const bool check = may_leave(k, arc, e, f);
  const auto key = std::make_tuple(k, firing, formula.id, indexed ? index : 0,
                                   check ? static_cast<int>(arc.place) : -1, f);
  if (const auto at = values_.find(key); at != values_.end()) return at->second;
  Context c{k, firing, index, {}, site(k, SiteKind::kField, output, e, f)};
  string text = expr(formula.id, c);
  const bool simple = text.find_first_not_of(kNameCharacters) == string::npos;
  if (!simple || check) {
    const string name = fmt::format("w{}", values_.size());
    line("const {} {} = {};", value_type(), name, text);
    text = name;
  }
  if (check) {
    if (lanes_) throw NoLanes{"a property might leave its range"};
    const Range declared = *net_.type_of(arc.place).fields[f].range;
    line("if ({0} < {1} || {0} > {2}) [[unlikely]] bail();", text, literal(declared.lo),
         literal(declared.hi));
  }
  values_.emplace(key, text);
  return text;
}

void Iteration::fire(uint32_t k, uint32_t firing) {
  const Transition& t = net_.transitions[k];
  // Instants of this iteration come last, so that what is known early is compared early.
  std::vector<string> early, late;
  const auto wait_for = [&](const string& instant) {
    auto& list = instant[0] == 'c' ? late : early;
    if (std::find(list.begin(), list.end(), instant) == list.end()) list.push_back(instant);
  };
  for (uint32_t a = 0; a < t.inputs.size(); ++a) {
    if (source_of_.count({k, a})) continue;
    const size_t q = queue_of_.at({k, a});
    wait_for(instant(q, firing * part_.queues[q].taken + part_.queues[q].needed - 1));
  }
  if (const auto at = servers_of_.find(k); at != servers_of_.end()) {
    wait_for(instant(at->second, firing));
  }
  if (t.interval) early.push_back(fmt::format("next{}", k));
  std::sort(late.begin(), late.end(),
            [&](const string& x, const string& y) { return number_[x] < number_[y]; });
  early.insert(early.end(), late.begin(), late.end());
  string start = early.empty() ? zero() : early[0];
  for (size_t i = 1; i < early.size(); ++i) start = latest(start, early[i]);
  if (t.interval || (options_.packed && !lanes_)) {
    line("const {} a{}_{} = {};", instant_type(), k, firing, start);
    start = fmt::format("a{}_{}", k, firing);
  }
  const string commit = fmt::format("c{}_{}", k, firing);
  number_[commit] = number_.size();
  string after = add_ticks(k, firing, start, t.delay, SiteKind::kDelay, true);
  if (held_in_order(net_, k)) {
    if (lanes_) throw NoLanes{"its commits are kept in order"};
    line("const Word due{}_{} = {};", k, firing, after);
    after = fmt::format("due{}_{}", k, firing);
    add(streams_->due(k, firing, after));
    after = fmt::format("later({}, {})", after,
                        firing > 0 ? fmt::format("c{}_{}", k, firing - 1) : earlier(k, 1));
  }
  line("const {} {} = {};", instant_type(), commit, after);
  if (!lanes_) add(streams_->committed(k, firing));
  if (t.interval) {
    if (!lanes_) add(streams_->waited_for_interval(k, firing));
    const string next = add_ticks(k, firing, start, *t.interval, SiteKind::kInterval, false);
    if (!next.empty()) line("next{} = {};", k, next);
  }
  outputs(k, firing);
}

string Iteration::latest(const string& x, const string& y) {
  if (!lanes_) return fmt::format("later({}, {})", x, y);
  const string a = named(x), b = named(y);
  return fmt::format("({0} > {1} ? {0} : {1})", a, b);
}

string Iteration::named(const string& text) {
  if (text.find_first_not_of(kNameCharacters) == string::npos) return text;
  const string name = fmt::format("v{}", names_++);
  line("const auto {} = {};", name, text);
  return name;
}

string Iteration::zero() const { return lanes_ ? "I{}" : "u64{0}"; }

string Iteration::add_ticks(uint32_t k, uint32_t firing, const string& start, const Formula& f,
                            SiteKind kind, bool delay) {
  const Range r = range(k, f.id);
  if (r.lo == 0 && r.hi == 0) {
    if (!delay) return "";
    return options_.packed && !lanes_ ? fmt::format("({} + 1)", start) : start;
  }
  Context c{k, firing, 0, {}, site(k, kind)};
  string text = expr(f.id, c);
  const bool watched = r.lo < 0 || r.hi >= kLongDelay;
  if (lanes_) {
    if (watched) throw NoLanes{"a delay or interval has no bound that is known beforehand"};
    if (!delay && r.lo <= 0) {
      const string name = named(text);
      return fmt::format("({0} == 0 ? next{1} : {2} + {0})", name, k, start);
    }
    return fmt::format("{} + {}", start, text);
  }
  const string name = fmt::format("{}{}_{}", delay ? 'd' : 'i', k, firing);
  if (!lanes_) {
    text = fmt::format("LPNRT_HALVED(half{}, {})", k, text);
  }
  // Of the type of instants: added to a narrower one as a wide number, GCC has it as the index of
  // an lea and the instant, which comes late, as its base, and that loop is slower by an eighth.
  const char* const type = watched || options_.packed ? "u64" : instant_type();
  line("const {0} {1} = static_cast<{0}>({2});", type, name, text);
  if (watched) {
    seen_ = true;
    line("seen |= {};", name);
  }
  if (!options_.packed) {
    if (delay || r.lo > 0) return fmt::format("{} + {}", start, name);
    return fmt::format("({0} == 0 ? next{1} : {2} + {0})", name, k, start);
  }
  const string later = fmt::format("(({} & ~kMask) + ({} << kGroupBits))", start, name);
  if (r.lo > 0) return later;
  return delay ? fmt::format("({} == 0 ? {} + 1 : {})", name, start, later)
               : fmt::format("({} == 0 ? next{} : {})", name, k, later);
}

void Iteration::outputs(uint32_t k, uint32_t firing) {
  const Transition& t = net_.transitions[k];
  for (uint32_t o = 0; o < t.outputs.size(); ++o) {
    const auto p = static_cast<uint32_t>(t.outputs[o].place);
    int64_t slot = 0, sum = 0;
    for (const Emission& e : t.outputs[o].emissions) {
      int64_t count = 0;
      net_.exprs.is_const(e.count.id, count);
      sum += count;
    }
    const auto fed = fed_by_.find({k, o});
    for (; slot < sum; ++slot) {
      for (uint32_t f = 0; f < width(p); ++f) {
        // What nobody keeps is evaluated where that may be an error.
        const bool keep = fed == fed_by_.end() ? !lanes_ : kept(p, f);
        if (!keep && !may_fail(k, o, slot, f)) continue;
        const string text = produced(k, firing, o, slot, f);
        if (!keep) continue;
        if (fed == fed_by_.end()) {
          sink_values_[p].push_back(text);
        } else if (!part_.queues[fed->second].fixed) {
          const StaticQueue& queue = part_.queues[fed->second];
          line("r{0}_{1}[(e{0} + {2}) & k{0}] = {3};", fed->second, f,
               firing * queue.emitted + slot, text);
        }
      }
      if (fed != fed_by_.end() && !part_.queues[fed->second].fixed) {
        line("r{0}[(e{0} + {1}) & k{0}] = c{2}_{3};", fed->second,
             firing * part_.queues[fed->second].emitted + slot, k, firing);
      }
    }
  }
  const auto servers = servers_of_.find(k);
  if (servers != servers_of_.end() && !part_.queues[servers->second].fixed) {
    line("r{0}[(e{0} + {1}) & k{0}] = c{2}_{3};", servers->second, firing, k, firing);
  }
}

bool Iteration::may_fail(uint32_t k, uint32_t output, int64_t slot, uint32_t f) {
  const OutputArc& arc = net_.transitions[k].outputs[output];
  return options_.can_fail(k, output, emitted(arc, slot).emission, f);
}

void Iteration::rotate() {
  std::vector<std::pair<string, string>> moves;
  for (size_t q = 0; q < part_.queues.size(); ++q) {
    const StaticQueue& queue = part_.queues[q];
    if (!queue.fixed) {
      line("b{0} += {1}; e{0} += {1};", q, queue.rate);
      continue;
    }
    if (queue.place == StaticQueue::kNone) continue;
    for (int64_t j = 0; j < queue.initial; ++j) {
      for (uint32_t f = 0; f < width(queue.place); ++f) {
        if (!kept(queue.place, f)) continue;
        moves.emplace_back(fmt::format("g{}_{}_{}", q, j, f), token(q, j + queue.rate, f));
      }
    }
  }
  // Some move what others overwrite.
  for (size_t i = 0; i < moves.size(); ++i) {
    string& from = moves[i].second;
    if (from[0] != 'g') continue;
    line("const auto t{} = {};", i, from);
    from = fmt::format("t{}", i);
  }
  for (const auto& [to, from] : moves) line("{} = {};", to, from);
  const string before = take();
  for (size_t i = 0; i < part_.transitions.size(); ++i) {
    const uint32_t k = part_.transitions[i];
    const int64_t times = part_.repetitions[i];
    for (int64_t n = history_[k]; n >= 1; --n) {
      if (n > times)
        line("h{0}_{1} = h{0}_{2};", k, n, n - times);
      else
        line("h{0}_{1} = c{0}_{2};", k, n, times - n);
    }
  }
  const string moved = take();
  add(before);
  add(lanes_ ? moved : PartStreams::unless_read_back(moved));
  for (const StaticEnd& s : part_.sources) {
    const int64_t rate = s.count * part_.repetition(s.transition);
    for (uint32_t f = 0; f < width(s.place); ++f) {
      if (lanes_ && columns_.count({s.place, f})) line("x{}_{} += {};", s.place, f, rate);
    }
    if (!lanes_ && width(s.place) > 0) {
      line("x{} += {};", s.place, rate * static_cast<int64_t>(width(s.place)));
    }
  }
  if (!lanes_) add(streams_->next_iteration());
}

std::optional<int64_t> Iteration::constant(ExprId id, const Context& c) const {
  const Node& n = net_.exprs[id];
  if (n.op == Op::kConst) return n.value;
  if (n.op == Op::kIndex) return c.index;
  if (n.op == Op::kBound) return c.running.at(n.a);
  return std::nullopt;
}

int64_t Iteration::needed(uint32_t k, uint32_t arc) const {
  const InputArc& in = net_.transitions[k].inputs[arc];
  int64_t w = 0, n = 0;
  net_.exprs.is_const(in.weight.id, w);
  if (in.threshold) net_.exprs.is_const(in.threshold->id, n);
  return std::max(w, n);
}

string Iteration::expr(ExprId id, const Context& c) {
  const Node& n = net_.exprs[id];
  if (lanes_) within_lane(range(c.transition, id));
  switch (kind_of(n.op)) {
    case Kind::kConstant:
      if (n.op == Op::kConst) return number(n.value);
      if (lanes_) return n.op == Op::kTrue ? "(I{} == I{})" : "(I{} != I{})";
      return string(op_info(n.op).text);
    case Kind::kVariable: params_.insert(n.a); return fmt::format("P{}", n.a);
    case Kind::kRun: return read(n, c);
    case Kind::kArithmetic:
    case Kind::kComparison:
    case Kind::kLogic:
    case Kind::kChoice: return lanes_ ? lane_operator(n, c) : scalar_operator(n, c);
    case Kind::kTable: return lanes_ ? lane_lookup(n, c) : scalar_lookup(n, c);
    case Kind::kAssumption: return assumption(n, c);
    case Kind::kAggregate: return aggregate(n, c);
  }
  return "";
}

string Iteration::read(const Node& n, const Context& c) {
  if (n.op == Op::kToken) return token_read(n, c);
  if (n.op == Op::kIndex) return number(c.index);
  if (n.op == Op::kBound) return number(c.running.at(n.a));
  LPN_ASSERT(n.op == Op::kTaken);  // a static part reads no occupancy
  int64_t w = 0;
  net_.exprs.is_const(net_.transitions[c.transition].inputs[n.a].weight.id, w);
  return number(w);
}

string Iteration::token_read(const Node& n, const Context& c) {
  const auto which = constant(n.kids[0], c);
  const int64_t need = needed(c.transition, n.a);
  if (which && *which >= 0 && *which < need) {
    return field(c.transition, c.firing, n.a, *which, n.b);
  }
  if (lanes_) throw NoLanes{"a token's index is computed"};
  string all;
  for (int64_t i = 0; i < need; ++i) all += field(c.transition, c.firing, n.a, i, n.b) + ", ";
  return fmt::format("pick({{{}}}, {}, {})", all, expr(n.kids[0], c), c.site);
}

string Iteration::assumption(const Node& n, const Context& c) {
  if (!lanes_) return assume_text(n, expr(n.kids[0], c), expr(n.kids[1], c), c.site);
  if (range(c.transition, n.kids[0]).lo != 1) throw NoLanes{"an assertion might be false"};
  return expr(n.kids[1], c);
}

string Iteration::number(int64_t value) const {
  if (!lanes_) return literal(value);
  within_lane({value, value});
  return fmt::format("(I{{}} + {}u)", static_cast<uint32_t>(value));
}

string Iteration::aggregate(const Node& n, const Context& c) {
  const int64_t need = needed(c.transition, n.a);
  string text;
  for (int64_t j = 0; j < need; ++j) {
    Context inner = c;
    inner.running.resize(n.b);
    inner.running.push_back(j);
    const string item = expr(n.kids[0], inner);
    if (j == 0)
      text = item;
    else if (n.op == Op::kSum)
      text = lanes_ ? fmt::format("({} + {})", text, item)
                    : fmt::format("add({}, {}, {})", text, item, c.site);
    else if (lanes_)
      text = extreme(n.op == Op::kMinOf ? '<' : '>', text, item);
    else
      text = fmt::format("lpnrt::{}({}, {})", n.op == Op::kMinOf ? "min" : "max", text, item);
  }
  return text;
}

string Iteration::scalar_operator(const Node& n, const Context& c) {
  std::array<string, 3> kids;
  std::array<Range, 3> ranges;
  for (int k = 0; k < op_info(n.op).arity; ++k) {
    const auto at = static_cast<size_t>(k);
    kids[at] = expr(n.kids[at], c);
    ranges[at] = range(c.transition, n.kids[at]);
  }
  return operator_text(n.op, kids, partial(net_.exprs, n, ranges), ranges, c.site);
}

string Iteration::scalar_lookup(const Node& n, const Context& c) {
  return fmt::format("lookup(kTable{}, {}, {})", n.a, expr(n.kids[0], c), c.site);
}

void Iteration::within_lane(Range r) {
  if (r.lo < -kLongDelay || r.hi >= kLongDelay) {
    throw NoLanes{"a value may need more than 32 bits"};
  }
}

string Iteration::extreme(char better, const string& x, const string& y) {
  const string a = named(x), b = named(y);
  return fmt::format("((S){0} {2} (S){1} ? {0} : {1})", a, b, better);
}

string Iteration::lane_operator(const Node& n, const Context& c) {
  const auto kid = [&](int i) { return expr(n.kids[static_cast<size_t>(i)], c); };
  const auto at = [&](int i) { return range(c.transition, n.kids[static_cast<size_t>(i)]); };
  const auto infix = [&](const char* op) { return fmt::format("({} {} {})", kid(0), op, kid(1)); };
  const auto compare = [&](const char* op) {
    return fmt::format("((S){} {} (S){})", kid(0), op, kid(1));
  };
  switch (n.op) {
    case Op::kNeg: return fmt::format("(-{})", kid(0));
    case Op::kAbs: {
      const string x = named(kid(0));
      return fmt::format("((S){0} < 0 ? -{0} : {0})", x);
    }
    // within_lane() of the result holds: no wrap.
    case Op::kAdd: return infix("+");
    case Op::kSub: return infix("-");
    case Op::kMul: return infix("*");
    case Op::kFloorDiv:
    case Op::kCeilDiv:
    case Op::kMod: {
      int64_t d = 0;
      if (!net_.exprs.is_const(n.kids[1], d) || d < 1 || at(0).lo < 0) {
        throw NoLanes{"it divides by something, or something that may be negative"};
      }
      string x = kid(0);
      if (n.op == Op::kCeilDiv) {
        within_lane({0, at(0).hi + d - 1});
        x = fmt::format("({} + {}u)", x, d - 1);
      }
      if (power_of_two(d)) {
        return n.op == Op::kMod ? fmt::format("({} & {}u)", x, d - 1)
                                : fmt::format("({} >> {})", x, log_of(d));
      }
      return fmt::format("({} {} {}u)", x, n.op == Op::kMod ? '%' : '/', d);
    }
    case Op::kBitNot: return fmt::format("(~{})", kid(0));
    case Op::kBitAnd: return infix("&");
    case Op::kBitXor: return infix("^");
    case Op::kBitOr: return infix("|");
    case Op::kShiftLeft:
    case Op::kShiftRight: {
      int64_t by = 0;
      if (!net_.exprs.is_const(n.kids[1], by) || by < 0 || by > 31) {
        throw NoLanes{"a shift is computed, or by more bits than a lane has"};
      }
      if (n.op == Op::kShiftLeft) return fmt::format("({} << {})", kid(0), by);
      return fmt::format("((I)((S){} >> {}))", kid(0), by);
    }
    case Op::kMin: return extreme('<', kid(0), kid(1));
    case Op::kMax: return extreme('>', kid(0), kid(1));
    case Op::kEq: return infix("==");
    case Op::kNe: return infix("!=");
    case Op::kLt: return compare("<");
    case Op::kLe: return compare("<=");
    case Op::kNot: return fmt::format("(~{})", kid(0));
    case Op::kAnd: return infix("&");
    case Op::kOr: return infix("|");
    case Op::kSelect:
      if (n.type == Type::kBool) {
        const string condition = named(kid(0));
        return fmt::format("(({0} & {1}) | (~{0} & {2}))", condition, kid(1), kid(2));
      }
      return fmt::format("({} ? {} : {})", kid(0), kid(1), kid(2));
    case Op::kConst:
    case Op::kTrue:
    case Op::kFalse:
    case Op::kParam:
    case Op::kToken:
    case Op::kIndex:
    case Op::kBound:
    case Op::kOccupancy:
    case Op::kFree:
    case Op::kTaken:
    case Op::kLookup:
    case Op::kAssume:
    case Op::kSum:
    case Op::kMinOf:
    case Op::kMaxOf: break;
  }
  LPN_ASSERT(!"an operator with operands");
  return "";
}

string Iteration::lane_lookup(const Node& n, const Context& c) {
  const auto& table = net_.exprs.table(n.a);
  const Range at = range(c.transition, n.kids[0]);
  if (at.lo < 0 || at.hi >= static_cast<int64_t>(table.size())) {
    throw NoLanes{"an index might be outside its table"};
  }
  const string x = named(expr(n.kids[0], c)), name = fmt::format("v{}", names_++);
  line("I {};", name);
  line("for (int i = 0; i < kLanes; ++i) {0}[i] = static_cast<u32>(kTable{1}[{2}[i]]);", name, n.a,
       x);
  return name;
}

}  // namespace lpn::sim
