#include "write/straight_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "lpn/base/error.h"
#include "lpn/base/wide.h"
#include "lpn/expr/range.h"
#include "lpn/net/facts.h"
#include "write/expr.h"

namespace lpn::sim {
namespace {

using std::int64_t;
using std::size_t;
using std::string;
using std::uint32_t;

constexpr int64_t kLongDelay = int64_t{1} << 31;  // longer ones are looked for at run time

bool power_of_two(int64_t x) { return x > 0 && (x & (x - 1)) == 0; }
int log_of(int64_t x) { return __builtin_ctzll(static_cast<unsigned long long>(x)); }

// Thrown when a part cannot be written for vectors.
struct NoLanes {
  string why;
};

// Code of one part, for one input or with vectors of many.
class PartWriter {
 public:
  PartWriter(const Net& net, const StaticPart& part, const StaticOptions& options, bool lanes)
      : net_(net), part_(part), options_(options), lanes_(lanes) {
    for (size_t q = 0; q < part.queues.size(); ++q) {
      const StaticQueue& queue = part.queues[q];
      (queue.place == StaticQueue::kNone ? servers_of_[queue.consumer]
                                         : queue_of_[{queue.consumer, queue.input}]) = q;
      if (queue.place != StaticQueue::kNone) fed_by_[{queue.producer, queue.output}] = q;
    }
    for (const StaticEnd& s : part.sources) source_of_[{s.transition, s.arc}] = &s;
    for (uint32_t k : part.transitions) {
      bounds_.emplace(k, Bounds(net_, &net_.transitions[k]));
      history_[k] = 1;
    }
    for (const StaticQueue& q : part.queues) {
      if (!q.fixed) continue;
      history_[q.producer] =
          std::max(history_[q.producer], (q.initial + q.emitted - 1) / q.emitted);
    }
  }

  string body() {
    for (const StaticFiring& f : part_.order) fire(f.transition, f.number);
    for (const auto& [p, values] : sink_values_) {
      if (copied_from(p)) continue;
      for (size_t i = 0; i < values.size(); ++i) line("z{}[{}] = {};", p, i, values[i]);
      line("z{} += {};", p, values.size());
    }
    rotate();
    return std::move(out_);
  }

  // The source whose rows the sink `p` gets, one by one and unchanged.
  std::optional<uint32_t> copied_from(uint32_t p) const {
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
  // Names of the sources' columns that the body reads, in their order.
  const std::set<std::pair<uint32_t, uint32_t>>& columns() const { return columns_; }
  bool seen() const { return seen_; }
  // Most ticks that an iteration may add to the latest instant, and its firings of delay 0.
  Wide growth() {
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
  int64_t zero_delays() {
    int64_t total = 0;
    for (size_t i = 0; i < part_.transitions.size(); ++i) {
      const uint32_t k = part_.transitions[i];
      if (range(k, net_.transitions[k].delay.id).lo <= 0) total += part_.repetitions[i];
    }
    return total;
  }
  int64_t longest(uint32_t k, const Formula& f) {
    return std::clamp<int64_t>(range(k, f.id).hi, 0, kLongDelay);
  }
  Range range(uint32_t k, ExprId id) { return bounds_.at(k).of(id); }

  // How many firings of its producer ago the token at `position` was appended.
  static int64_t firings_ago(const StaticQueue& q, int64_t position) {
    return (q.initial - position + q.emitted - 1) / q.emitted;
  }
  size_t width(uint32_t p) const { return net_[net_.places[p].type].fields.size(); }
  bool kept(uint32_t p, size_t f) const { return options_.live[p][f]; }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }
  const char* value_type() const { return lanes_ ? "I" : "i64"; }
  const char* instant_type() const { return lanes_ ? "I" : "u64"; }

  // ---- tokens -----------------------------------------------------------------------------

  struct Produced {
    uint32_t transition, firing;
    int64_t slot;
  };
  static Produced producer_of(const StaticQueue& q, int64_t position) {
    return {q.producer, static_cast<uint32_t>(position / q.emitted), position % q.emitted};
  }

  // The instant of the token that stands at `position` when the iteration begins. Instants of
  // before belong to the firings: all tokens of a firing have the same.
  string instant(size_t q, int64_t position) {
    const StaticQueue& queue = part_.queues[q];
    if (!queue.fixed) return fmt::format("r{0}[(b{0} + {1}) & k{0}]", q, position);
    const int64_t x = position - queue.initial;
    if (x < 0) return fmt::format("h{}_{}", queue.producer, firings_ago(queue, position));
    const Produced from = producer_of(queue, x);
    return fmt::format("c{}_{}", from.transition, from.firing);
  }

  string field(uint32_t k, uint32_t firing, uint32_t arc, int64_t which, uint32_t f) {
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

  string token(size_t q, int64_t position, uint32_t f) {
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

  // Property `f` of the token number `slot` that a firing appends over `output`.
  string produced(uint32_t k, uint32_t firing, uint32_t output, int64_t slot, uint32_t f) {
    const OutputArc& arc = net_.transitions[k].outputs[output];
    for (size_t e = 0; e < arc.emissions.size(); ++e) {
      int64_t count = 0;
      net_.exprs.is_const(arc.emissions[e].count.id, count);
      if (slot >= count) {
        slot -= count;
        continue;
      }
      const Formula& formula = arc.emissions[e].fields[f];
      const bool indexed = net_.exprs.reads(formula.id).index;
      const auto& declared = net_.type_of(arc.place).fields[f].range;
      const Range may = range(k, formula.id);
      const bool check = declared && (may.lo < declared->lo || may.hi > declared->hi);
      const auto key = std::make_tuple(k, firing, formula.id, indexed ? slot : 0,
                                       check ? static_cast<int>(arc.place) : -1, f);
      if (const auto at = values_.find(key); at != values_.end()) return at->second;
      Context c{k, firing, slot, {}, site(k, SiteKind::kField, output, e, f)};
      string text = expr(formula.id, c);
      const bool simple = text.find_first_not_of(kNameCharacters) == string::npos;
      if (!simple || check) {
        const string name = fmt::format("w{}", values_.size());
        line("const {} {} = {};", value_type(), name, text);
        text = name;
      }
      if (check) {
        if (lanes_) throw NoLanes{"a property might leave its range"};
        line("if ({0} < {1} || {0} > {2}) [[unlikely]] bail();", text, literal(declared->lo),
             literal(declared->hi));
      }
      values_.emplace(key, text);
      return text;
    }
    LPN_ASSERT(!"a slot of the arc");
    return "";
  }

  // ---- a firing ---------------------------------------------------------------------------

  void fire(uint32_t k, uint32_t firing) {
    const Transition& t = net_.transitions[k];
    // Instants of this iteration come last, so that what is known early is compared early.
    std::vector<string> early, late;
    const auto add = [&](const string& instant) {
      auto& list = instant[0] == 'c' ? late : early;
      if (std::find(list.begin(), list.end(), instant) == list.end()) list.push_back(instant);
    };
    for (uint32_t a = 0; a < t.inputs.size(); ++a) {
      if (source_of_.count({k, a})) continue;
      const size_t q = queue_of_.at({k, a});
      add(instant(q, firing * part_.queues[q].taken + part_.queues[q].needed - 1));
    }
    if (const auto at = servers_of_.find(k); at != servers_of_.end()) {
      add(instant(at->second, firing));
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
    if (ordered(k)) {
      if (lanes_) throw NoLanes{"its commits are kept in order"};
      after =
          fmt::format("later({}, {})", after,
                      firing > 0 ? fmt::format("c{}_{}", k, firing - 1) : fmt::format("h{}_1", k));
    }
    line("const {} {} = {};", instant_type(), commit, after);
    if (t.interval) {
      const string next = add_ticks(k, firing, start, *t.interval, SiteKind::kInterval, false);
      if (!next.empty()) line("next{} = {};", k, next);
    }
    outputs(k, firing);
  }

  // Whether `ordered` says more than servers and delay do.
  bool ordered(uint32_t k) {
    const Transition& t = net_.transitions[k];
    return t.ordered && !one_server(net_, t) && !net_.exprs.reads(t.delay.id).tokens.empty();
  }

  string latest(const string& x, const string& y) {
    if (!lanes_) return fmt::format("later({}, {})", x, y);
    const string a = named(x), b = named(y);
    return fmt::format("({0} > {1} ? {0} : {1})", a, b);
  }
  // A variable with that value.
  string named(const string& text) {
    if (text.find_first_not_of(kNameCharacters) == string::npos) return text;
    const string name = fmt::format("v{}", names_++);
    line("const auto {} = {};", name, text);
    return name;
  }

  string zero() const { return lanes_ ? "I{}" : "u64{0}"; }

  // start + delay; for an interval, the start's group is dropped and "" means none.
  string add_ticks(uint32_t k, uint32_t firing, const string& start, const Formula& f,
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
    line("const u64 {} = static_cast<u64>({});", name, text);
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

  void outputs(uint32_t k, uint32_t firing) {
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

  bool may_fail(uint32_t k, uint32_t output, int64_t slot, uint32_t f) {
    const OutputArc& arc = net_.transitions[k].outputs[output];
    for (size_t e = 0; e < arc.emissions.size(); ++e) {
      int64_t count = 0;
      net_.exprs.is_const(arc.emissions[e].count.id, count);
      if (slot >= count) {
        slot -= count;
        continue;
      }
      const Formula& formula = arc.emissions[e].fields[f];
      const auto& declared = net_.type_of(arc.place).fields[f].range;
      const Range may = range(k, formula.id);
      if (declared && (may.lo < declared->lo || may.hi > declared->hi)) return true;
      const Node& n = net_.exprs[formula.id];
      // A copy of a property that is in range, or a constant.
      return !(n.op == Op::kConst || (n.op == Op::kToken && net_.exprs.is_const(n.kids[0])));
    }
    return false;
  }

  // The end of the iteration: what was new is now old.
  void rotate() {
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
    for (const StaticEnd& s : part_.sources) {
      const int64_t rate = s.count * part_.repetition(s.transition);
      for (uint32_t f = 0; f < width(s.place); ++f) {
        if (lanes_ && columns_.count({s.place, f})) line("x{}_{} += {};", s.place, f, rate);
      }
      if (!lanes_ && width(s.place) > 0) {
        line("x{} += {};", s.place, rate * static_cast<int64_t>(width(s.place)));
      }
    }
  }

  // ---- expressions ------------------------------------------------------------------------

  struct Context {
    uint32_t transition, firing;
    int64_t index;                 // of the token being emitted
    std::vector<int64_t> running;  // of the aggregates around
    string site;
  };
  static constexpr const char* kNameCharacters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

  std::optional<int64_t> constant(ExprId id, const Context& c) const {
    const Node& n = net_.exprs[id];
    if (n.op == Op::kConst) return n.value;
    if (n.op == Op::kIndex) return c.index;
    if (n.op == Op::kBound) return c.running.at(n.a);
    return std::nullopt;
  }

  int64_t needed(uint32_t k, uint32_t arc) const {
    const InputArc& in = net_.transitions[k].inputs[arc];
    int64_t w = 0, n = 0;
    net_.exprs.is_const(in.weight.id, w);
    if (in.threshold) net_.exprs.is_const(in.threshold->id, n);
    return std::max(w, n);
  }

  string expr(ExprId id, const Context& c) {
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

  string read(const Node& n, const Context& c) {
    if (n.op == Op::kToken) return token_read(n, c);
    if (n.op == Op::kIndex) return number(c.index);
    if (n.op == Op::kBound) return number(c.running.at(n.a));
    LPN_ASSERT(n.op == Op::kTaken);  // a static part reads no occupancy
    int64_t w = 0;
    net_.exprs.is_const(net_.transitions[c.transition].inputs[n.a].weight.id, w);
    return number(w);
  }

  string token_read(const Node& n, const Context& c) {
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

  string assumption(const Node& n, const Context& c) {
    if (!lanes_) return assume_text(n, expr(n.kids[0], c), expr(n.kids[1], c), c.site);
    if (range(c.transition, n.kids[0]).lo != 1) throw NoLanes{"an assertion might be false"};
    return expr(n.kids[1], c);
  }

  string number(int64_t value) const {
    if (!lanes_) return literal(value);
    within_lane({value, value});
    return fmt::format("(I{{}} + {}u)", static_cast<uint32_t>(value));
  }

  string aggregate(const Node& n, const Context& c) {
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

  // Which of several failures comes first does not matter here: the run is made again.
  string scalar_operator(const Node& n, const Context& c) {
    std::array<string, 3> kids;
    std::array<Range, 3> ranges;
    for (int k = 0; k < op_info(n.op).arity; ++k) {
      const auto at = static_cast<size_t>(k);
      kids[at] = expr(n.kids[at], c);
      ranges[at] = range(c.transition, n.kids[at]);
    }
    return operator_text(n.op, kids, partial(net_.exprs, n, ranges), ranges, c.site);
  }

  string scalar_lookup(const Node& n, const Context& c) {
    return fmt::format("lookup(kTable{}, {}, {})", n.a, expr(n.kids[0], c), c.site);
  }

  // ---- vectors ----------------------------------------------------------------------------

  // Values are 32-bit two's complement in unsigned elements.
  static void within_lane(Range r) {
    if (r.lo < -kLongDelay || r.hi >= kLongDelay) {
      throw NoLanes{"a value may need more than 32 bits"};
    }
  }

  string extreme(char better, const string& x, const string& y) {
    const string a = named(x), b = named(y);
    return fmt::format("((S){0} {2} (S){1} ? {0} : {1})", a, b, better);
  }

  string lane_operator(const Node& n, const Context& c) {
    const auto kid = [&](int i) { return expr(n.kids[static_cast<size_t>(i)], c); };
    const auto at = [&](int i) { return range(c.transition, n.kids[static_cast<size_t>(i)]); };
    const auto infix = [&](const char* op) {
      return fmt::format("({} {} {})", kid(0), op, kid(1));
    };
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

  string lane_lookup(const Node& n, const Context& c) {
    const auto& table = net_.exprs.table(n.a);
    const Range at = range(c.transition, n.kids[0]);
    if (at.lo < 0 || at.hi >= static_cast<int64_t>(table.size())) {
      throw NoLanes{"an index might be outside its table"};
    }
    const string x = named(expr(n.kids[0], c)), name = fmt::format("v{}", names_++);
    line("I {};", name);
    line("for (int i = 0; i < kLanes; ++i) {0}[i] = static_cast<u32>(kTable{1}[{2}[i]]);", name,
         n.a, x);
    return name;
  }

 public:
  const std::set<uint32_t>& params() const { return params_; }
  int64_t history(uint32_t k) const { return history_.at(k); }

 private:
  const Net& net_;
  const StaticPart& part_;
  const StaticOptions& options_;
  bool lanes_;
  string out_;
  size_t names_ = 0;
  std::map<uint32_t, int64_t> history_;  // per transition: commits of earlier iterations in use
  std::map<uint32_t, size_t> servers_of_;
  std::map<std::pair<uint32_t, uint32_t>, size_t> queue_of_, fed_by_;
  std::map<std::pair<uint32_t, uint32_t>, const StaticEnd*> source_of_;
  std::map<uint32_t, Bounds> bounds_;
  std::set<string> known_;
  std::map<std::tuple<uint32_t, uint32_t, ExprId, int64_t, int, uint32_t>, string> values_;
  std::map<string, size_t> number_;  // of a commit in the order of the sequence
  std::set<std::pair<uint32_t, uint32_t>> columns_;
  std::set<uint32_t> params_;
  std::map<uint32_t, std::vector<string>> sink_values_;  // of an iteration, row by row
  bool seen_ = false;
};

// The functions around the body: what has to hold, what is loaded, what is left behind.
class PartFunction {
 public:
  PartFunction(const Net& net, const StaticPart& part, const StaticOptions& options, size_t index)
      : net_(net), part_(part), options_(options), index_(index) {}

  string scalar() {
    PartWriter writer(net_, part_, options_, false);
    const string body = writer.body();
    line(
        "template <typename R> [[gnu::noinline]] LPNRT_STRAIGHT u64 static_part_{}(R& run, u64 "
        "limit) {{",
        index_);
    line("[[maybe_unused]] constexpr u64 kMask = R::kMask;");
    line("u64 n = limit;");
    for (const StaticEnd& s : part_.sources) {
      const int64_t rate = s.count * part_.repetition(s.transition);
      line("n = fewer(n, iterations(run.s{}.size(), {}, {}));", s.place, rate, s.needed - s.count);
    }
    line("if (n == 0) return 0;");
    for (size_t q = 0; q < part_.queues.size(); ++q) check(q);
    for (uint32_t p : writer.params()) line("const i64 P{0} = run.P{0};", p);
    for (size_t q = 0; q < part_.queues.size(); ++q) load(q);
    for (uint32_t k : part_.transitions) {
      history(k, writer.history(k));
      if (net_.transitions[k].interval) line("u64 next{0} = run.next{0};", k);
    }
    for (const StaticEnd& s : part_.sources) {
      const size_t w = writer.width(s.place);
      if (w == 0) continue;
      line("const i64* x{0} = run.s{0}.rows + run.s{0}.next * {1};", s.place, w);
    }
    for (const StaticEnd& s : part_.sinks) {
      if (writer.width(s.place) == 0) continue;
      if (const auto from = writer.copied_from(s.place))
        line("const i64* const z{} = x{};", s.place, *from);
      else
        line("i64* z{0} = run.out{0}.room(n * {1});", s.place, per_iteration(s));
    }
    line("u64 done = 0;");
    if (writer.seen()) line("u64 seen = 0;");
    line("while (done != n) {{");
    // Within a chunk no instant can leave its bits.
    line("u64 now = 0;");
    for (uint32_t k : part_.transitions) {
      line("now = later(now, h{}_1);", k);
      if (net_.transitions[k].interval) line("now = later(now, next{});", k);
    }
    line("u64 chunk = fewer(n - done, (R::kTooLate - static_cast<u64>(R::ticks(now))) / {}ull);",
         static_cast<std::uint64_t>(writer.growth()));
    if (options_.packed) {
      line("u64 group = 0;");
      for (uint32_t k : part_.transitions) {
        for (int64_t n = 1; n <= writer.history(k); ++n) {
          line("group = later(group, h{}_{} & kMask);", k, n);
        }
      }
      for (size_t q = 0; q < part_.queues.size(); ++q) {
        if (part_.queues[q].fixed) continue;
        line(
            "for (u64 j = 0; j < m{0}; ++j) group = later(group, r{0}[(b{0} + j) & k{0}] & "
            "kMask);",
            q);
      }
      if (const int64_t zeros = writer.zero_delays(); zeros > 0) {
        line("chunk = group < kGroupLimit ? fewer(chunk, (kGroupLimit - group) / {}) : 0;", zeros);
      }
    }
    line("if (chunk == 0) break;");
    line("for (u64 left = chunk; left != 0; --left) {{");
    out_ += body;
    line("}}");
    line("done += chunk;");
    if (writer.seen()) line("if (seen >> 31 != 0) bail();");
    line("}}");
    line("if (done == 0) return 0;");
    for (size_t q = 0; q < part_.queues.size(); ++q) store(q);
    for (size_t i = 0; i < part_.transitions.size(); ++i) {
      const uint32_t k = part_.transitions[i];
      line("run.fired{0} += done * {1}; run.made += done * {1}; run.end{0} = h{0}_1;", k,
           part_.repetitions[i]);
      if (net_.transitions[k].interval) line("run.next{0} = next{0};", k);
    }
    for (const StaticEnd& s : part_.sources) {
      line("run.s{}.next += done * {};", s.place, s.count * part_.repetition(s.transition));
    }
    for (const StaticEnd& s : part_.sinks) {
      line("run.sunk{} += done * {};", s.place, per_iteration(s));
      if (writer.width(s.place) == 0) {
      } else if (writer.copied_from(s.place)) {
        line("run.out{0}.borrow(z{0}, done * {1});", s.place, per_iteration(s));
      } else {
        line("run.out{0}.add(done * {1});", s.place, per_iteration(s));
      }
      produced(s.place, s.transition, per_iteration(s));
    }
    for (const StaticQueue& q : part_.queues) {
      if (q.place != StaticQueue::kNone) produced(q.place, q.producer, q.rate);
    }
    line("return done;");
    line("}}");
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  int64_t per_iteration(const StaticEnd& s) const {
    return s.count * part_.repetition(s.transition);
  }

  void produced(uint32_t p, uint32_t k, int64_t count) {
    if (!net_.places[p].done) return;
    line("run.produced{0} += done * {1}; run.done{0} = later(run.done{0}, h{2}_1);", p, count, k);
  }

  std::vector<uint32_t> kept(const StaticQueue& q) const {
    std::vector<uint32_t> all;
    if (q.place == StaticQueue::kNone) return all;
    for (uint32_t f = 0; f < options_.live[q.place].size(); ++f) {
      if (options_.live[q.place][f]) all.push_back(f);
    }
    return all;
  }

  bool one_server(const StaticQueue& q) const {
    int64_t value = 0;
    return net_.exprs.is_const(net_.transitions[q.producer].servers->id, value) && value == 1;
  }

  void check(size_t q) {
    const StaticQueue& queue = part_.queues[q];
    if (queue.place == StaticQueue::kNone) {
      if (!queue.fixed) {
        int64_t value = 0;
        if (net_.exprs.is_const(net_.transitions[queue.producer].servers->id, value))
          line("const u64 m{} = {};", q, value);
        else
          line("const u64 m{} = static_cast<u64>(run.net.servers{});", q, queue.producer);
      }
    } else if (queue.fixed) {
      line("if (run.q{}.size() != {}) return 0;", queue.place, queue.initial);
    } else {
      line("const u64 m{} = run.q{}.size();", q, queue.place);
    }
    if (!queue.fixed) line("if (m{0} < {1} || m{0} > kMostInRing) return 0;", q, queue.initial);
  }

  // The instant of the j-th token that the run holds.
  string held(const StaticQueue& q, const string& j, const string& count) const {
    if (q.place != StaticQueue::kNone) return fmt::format("run.q{}.instant({})", q.place, j);
    if (one_server(q)) return fmt::format("run.end{}", q.producer);
    return fmt::format("latest_of(run.served{}, {}, {})", q.producer, j, count);
  }

  // Earlier commits stand in the queues that they fed, 0 where there were none.
  void history(uint32_t k, int64_t depth) {
    line("u64 h{0}_1 = run.end{0};", k);
    for (int64_t n = 2; n <= depth; ++n) {
      const auto at = std::find_if(part_.queues.begin(), part_.queues.end(), [&](const auto& q) {
        return q.fixed && q.producer == k && n <= PartWriter::firings_ago(q, 0);
      });
      LPN_ASSERT(at != part_.queues.end());
      int64_t j = 0;
      while (PartWriter::firings_ago(*at, j) != n) ++j;
      line("u64 h{}_{} = {};", k, n, held(*at, fmt::to_string(j), fmt::to_string(at->initial)));
    }
  }

  void load(size_t q) {
    const StaticQueue& queue = part_.queues[q];
    const std::vector<uint32_t> fields = kept(queue);
    if (queue.fixed) {
      for (int64_t j = 0; j < queue.initial; ++j) {
        for (size_t c = 0; c < fields.size(); ++c) {
          line("i64 g{}_{}_{} = run.q{}.row({})[{}];", q, j, fields[c], queue.place, j, c);
        }
      }
      return;
    }
    line("const u64 k{0} = mask_for(m{0} + {1}); u64 b{0} = 0, e{0} = m{0};", q, queue.rate);
    line("const std::unique_ptr<u64[]> own{0}(new u64[k{0} + 1]); u64* const r{0} = own{0}.get();",
         q);
    for (uint32_t f : fields) {
      line(
          "const std::unique_ptr<i64[]> own{0}_{1}(new i64[k{0} + 1]); i64* const r{0}_{1} = "
          "own{0}_{1}.get();",
          q, f);
    }
    line("for (u64 j = 0; j < m{}; ++j) {{", q);
    line("r{}[j] = {};", q, held(queue, "j", fmt::format("m{}", q)));
    for (size_t c = 0; c < fields.size(); ++c) {
      line("r{}_{}[j] = run.q{}.row(j)[{}];", q, fields[c], queue.place, c);
    }
    line("}}");
  }

  void store(size_t q) {
    const StaticQueue& queue = part_.queues[q];
    const std::vector<uint32_t> fields = kept(queue);
    if (queue.place == StaticQueue::kNone && one_server(queue)) return;  // end
    const string to = queue.place == StaticQueue::kNone ? fmt::format("served{}", queue.producer)
                                                        : fmt::format("q{}", queue.place);
    if (queue.fixed) {
      if (queue.initial == 0) return;
      line("run.{0}.pop(run.{0}.size());", to);
      for (int64_t j = 0; j < queue.initial; ++j) {
        line("{{ i64* const x = run.{}.push(h{}_{}); (void)x;", to, queue.producer,
             PartWriter::firings_ago(queue, j));
        for (size_t c = 0; c < fields.size(); ++c) {
          line("x[{}] = g{}_{}_{};", c, q, j, fields[c]);
        }
        line("}}");
      }
      return;
    }
    line("run.{0}.pop(run.{0}.size());", to);
    line("for (u64 j = 0; j < m{0}; ++j) {{ const u64 at = (b{0} + j) & k{0};", q);
    line("i64* const x = run.{}.push(r{}[at]); (void)x;", to, q);
    for (size_t c = 0; c < fields.size(); ++c) line("x[{}] = r{}_{}[at];", c, q, fields[c]);
    line("}}");
  }

  const Net& net_;
  const StaticPart& part_;
  const StaticOptions& options_;
  size_t index_;
  string out_;
};

// Properties and parameters whose declared ranges do not fit 32 bits are assumed to lie in these;
// their values are looked at before a run.
constexpr Range kAssumedField{0, (int64_t{1} << 30) - 1};
constexpr Range kAssumedParam{0, (int64_t{1} << 20) - 1};
constexpr int64_t kMostInLanes = 256;        // firings of an iteration
constexpr Wide kMostGrowth = Wide{1} << 26;  // ticks that an iteration may add

// The same part for vectors of 32-bit numbers: a kernel, and what moves runs into it and out.
class LanesFunction {
 public:
  LanesFunction(const Net& net, const StaticPart& part, const StaticOptions& options, size_t index)
      : net_(net), part_(part), options_(options), index_(index) {
    for (TokenType& t : net_.types) {
      for (Field& f : t.fields) {
        const Range r = f.range.value_or(Range{});
        assumed_.emplace(&f, assume(r, kAssumedField));
        f.range = assumed_.at(&f).range;
      }
    }
    for (Param& p : net_.params) {
      const auto a = assume(p.range.value_or(Range{}), kAssumedParam);
      if (a.checked) checked_params_.insert(static_cast<uint32_t>(&p - net_.params.data()));
      p.range = a.range;
    }
  }

  string text() {
    int64_t firings = 0;
    for (int64_t r : part_.repetitions) firings += r;
    if (firings > kMostInLanes) throw NoLanes{"an iteration is long"};
    PartWriter writer(net_, part_, options_, true);
    const string body = writer.body();
    if (writer.growth() > kMostGrowth) throw NoLanes{"delays are long"};
    slots(writer);
    kernel(writer, body, 16, "LPNRT_AVX512");
    kernel(writer, body, 8, "LPNRT_AVX2");
    load(writer);
    store(writer);
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  struct Assumed {
    Range range;
    bool checked = false;
  };
  static Assumed assume(Range declared, Range assumed) {
    if (declared.lo >= -kLongDelay && declared.hi < kLongDelay) return {declared, false};
    return {{std::max(declared.lo, assumed.lo), std::min(declared.hi, assumed.hi)}, true};
  }
  const Assumed& assumed(uint32_t p, uint32_t f) const {
    return assumed_.at(&net_.type_of(static_cast<PlaceId>(p)).fields[f]);
  }

  // What the kernel keeps between calls, instants first.
  void slots(PartWriter& writer) {
    for (uint32_t k : part_.transitions) {
      for (int64_t n = 1; n <= writer.history(k); ++n) slot(fmt::format("h{}_{}", k, n));
      if (net_.transitions[k].interval) slot(fmt::format("next{}", k));
    }
    instants_ = slots_.size();
    for (size_t q = 0; q < part_.queues.size(); ++q) {
      const StaticQueue& queue = part_.queues[q];
      if (queue.place == StaticQueue::kNone || !queue.fixed) continue;
      for (int64_t j = 0; j < queue.initial; ++j) {
        for (uint32_t f : kept(queue)) slot(fmt::format("g{}_{}_{}", q, j, f));
      }
    }
    variable_ = slots_.size();
    for (uint32_t p : writer.params()) slot(fmt::format("P{}", p));
  }
  void slot(const string& name) {
    slot_of_.emplace(name, slots_.size());
    slots_.push_back(name);
  }
  std::vector<uint32_t> kept(const StaticQueue& q) const {
    std::vector<uint32_t> all;
    if (q.place == StaticQueue::kNone) return all;
    for (uint32_t f = 0; f < options_.live[q.place].size(); ++f) {
      if (options_.live[q.place][f]) all.push_back(f);
    }
    return all;
  }

  void kernel(const PartWriter& writer, const string& body, int lanes, const char* target) {
    line(
        "{} void static_kernel_{}_{}(u32* state, const u32* const* columns, u32* const* rings, "
        "u64* at, u64 n) {{",
        target, index_, lanes);
    line("typedef u32 I __attribute__((vector_size({}), may_alias));", lanes * 4);
    line("typedef std::int32_t S __attribute__((vector_size({}), may_alias));", lanes * 4);
    line("[[maybe_unused]] constexpr int kLanes = {}; (void)columns; (void)rings; (void)at;",
         lanes);
    line("I* const kept = reinterpret_cast<I*>(state);");
    for (size_t i = 0; i < slots_.size(); ++i) line("I {} = kept[{}];", slots_[i], i);
    size_t c = 0;
    for (const auto& [p, f] : writer.columns()) {
      line("const I* x{}_{} = reinterpret_cast<const I*>(columns[{}]);", p, f, c++);
    }
    size_t r = 0, a = 0;
    for (size_t q = 0; q < part_.queues.size(); ++q) {
      if (part_.queues[q].fixed) continue;
      line("const u64 k{0} = at[{1}]; u64 b{0} = at[{1} + 1], e{0} = at[{1} + 2]; (void)k{0};", q,
           a);
      a += 3;
      line("I* const r{} = reinterpret_cast<I*>(rings[{}]);", q, r++);
      for (uint32_t f : kept(part_.queues[q])) {
        line("I* const r{}_{} = reinterpret_cast<I*>(rings[{}]);", q, f, r++);
      }
    }
    line("for (; n != 0; --n) {{");
    out_ += body;
    line("}}");
    for (size_t i = 0; i < variable_; ++i) line("kept[{}] = {};", i, slots_[i]);
    a = 0;
    for (size_t q = 0; q < part_.queues.size(); ++q) {
      if (part_.queues[q].fixed) continue;
      line("at[{1} + 1] = b{0}; at[{1} + 2] = e{0};", q, a);
      a += 3;
    }
    line("}}");
  }

  void load(PartWriter& writer) {
    line("constexpr LaneSlot kLaneLasts{}[] = {{", index_);
    for (uint32_t k : part_.transitions) {
      line("{{{}, {}}},", slot_of_.at(fmt::format("h{}_1", k)),
           writer.longest(k, net_.transitions[k].delay));
    }
    line("}};");
    size_t rings = 0;
    for (const StaticQueue& q : part_.queues) rings += q.fixed ? 0 : 1 + kept(q).size();
    line(
        "constexpr LanePart kLanePart{0} = {{{1}, {2}, {3}, {4}ull, {5}ull, kLaneLasts{0}, {6}, "
        "static_kernel_{0}_16, static_kernel_{0}_8}};",
        index_, slots_.size(), instants_, rings, static_cast<std::uint64_t>(writer.growth()),
        static_cast<std::uint64_t>(writer.zero_delays()), part_.transitions.size());

    line("template <typename R> bool load_lanes_{}(R* const* runs, u32 lanes, LaneBlock& block) {{",
         index_);
    line("u64 n = ~u64{{0}};");
    line("for (u32 lane = 0; lane < lanes; ++lane) {{ R& run = *runs[lane];");
    for (uint32_t k : part_.transitions) line("if (run.fired{} != 0) return false;", k);
    for (const StaticQueue& q : part_.queues) {
      if (q.place == StaticQueue::kNone) continue;
      if (q.fixed)
        line("if (run.q{}.size() != {}) return false;", q.place, q.initial);
      else
        line("if (run.q{0}.size() != runs[0]->q{0}.size()) return false;", q.place);
    }
    for (const StaticQueue& q : part_.queues) {
      if (q.place != StaticQueue::kNone || q.fixed || const_servers(q)) continue;
      line("if (run.net.servers{0} != runs[0]->net.servers{0}) return false;", q.producer);
    }
    for (uint32_t p : writer.params()) {
      if (checked_params_.count(p)) {
        line("if (run.P{0} < {1} || run.P{0} > {2}) return false;", p,
             literal(net_.params[p].range->lo), literal(net_.params[p].range->hi));
      }
    }
    for (const StaticEnd& s : part_.sources) {
      line("n = fewer(n, iterations(run.s{}.size(), {}, {}));", s.place, rate(s),
           s.needed - s.count);
    }
    line("}}");
    line("if (n == 0) return false;");
    for (size_t q = 0; q < part_.queues.size(); ++q) {
      const StaticQueue& queue = part_.queues[q];
      if (queue.fixed) continue;
      if (queue.place != StaticQueue::kNone)
        line("const u64 m{} = runs[0]->q{}.size();", q, queue.place);
      else if (const auto servers = const_servers(queue))
        line("const u64 m{} = {};", q, *servers);
      else
        line("const u64 m{} = static_cast<u64>(runs[0]->net.servers{});", q, queue.producer);
      line("if (m{0} < {1} || m{0} > kMostInRing) return false;", q, queue.initial);
    }
    line("block.begin(kLanePart{}, lanes, n);", index_);
    for (size_t q = 0; q < part_.queues.size(); ++q) {
      const StaticQueue& queue = part_.queues[q];
      if (!queue.fixed) line("block.queue(m{0}, {1}, {2});", q, queue.rate, kept(queue).size());
    }
    line("for (u32 lane = 0; lane < lanes; ++lane) {{ R& run = *runs[lane]; (void)run;");
    for (uint32_t p : writer.params()) {
      line("block.set({}, lane, run.P{});", slot_of_.at(fmt::format("P{}", p)), p);
    }
    size_t ring = 0;
    for (size_t q = 0; q < part_.queues.size(); ++q) {
      const StaticQueue& queue = part_.queues[q];
      const std::vector<uint32_t> fields = kept(queue);
      if (!queue.fixed) ++ring;
      if (queue.fixed && queue.initial == 0) continue;
      for (size_t c = 0; c < fields.size(); ++c) {
        const string at = queue.fixed ? fmt::to_string(queue.initial) : fmt::format("m{}", q);
        line("for (u64 j = 0; j < {}; ++j) {{ const i64 x = run.q{}.row(j)[{}];", at, queue.place,
             c);
        const Assumed& a = assumed(queue.place, fields[c]);
        if (a.checked) {
          line("if (x < {} || x > {}) return false;", literal(a.range.lo), literal(a.range.hi));
        }
        if (queue.fixed) {
          line("block.set({} + j * {}, lane, x); }}",
               slot_of_.at(fmt::format("g{}_0_{}", q, fields[c])), fields.size());
        } else {
          line("block.put({}, j, lane, x); }}", ring++);
        }
      }
    }
    line("}}");
    for (const auto& [p, f] : writer.columns()) {
      const StaticEnd& s = *std::find_if(part_.sources.begin(), part_.sources.end(),
                                         [&, at = p](const StaticEnd& e) { return e.place == at; });
      const Assumed& a = assumed(p, f);
      line("{{ LaneRows rows;");
      line(
          "for (u32 lane = 0; lane < lanes; ++lane) rows.at[lane] = runs[lane]->s{0}.rows + "
          "runs[lane]->s{0}.next * {1} + {2};",
          p, writer.width(p), f);
      line("if (!block.column(rows, {}, {}, {}, {}, {}, {})) return false; }}", rate(s),
           s.needed - s.count, writer.width(p), a.checked, literal(a.range.lo),
           literal(a.range.hi));
    }
    line("return true;");
    line("}}");
  }

  void store(PartWriter& writer) {
    line("template <typename R> void store_lane_{}(R& run, u32 lane, const LaneBlock& block) {{",
         index_);
    line("const u64 done = block.done(); if (done == 0) return;");
    line("const u64 group = block.group() & R::kMask; (void)group;");
    const auto instant = [&](const string& name) {
      return fmt::format("R::at(block.instant({}, lane)) + group", slot_of_.at(name));
    };
    size_t ring = 0, queue_number = 0;
    for (size_t q = 0; q < part_.queues.size(); ++q) {
      const StaticQueue& queue = part_.queues[q];
      const std::vector<uint32_t> fields = kept(queue);
      const size_t first = ring;
      if (!queue.fixed) ring += 1 + fields.size();
      const size_t number = queue_number;
      if (!queue.fixed) ++queue_number;
      if (queue.place == StaticQueue::kNone && const_servers(queue) == 1) continue;
      const string to = queue.place == StaticQueue::kNone ? fmt::format("served{}", queue.producer)
                                                          : fmt::format("q{}", queue.place);
      if (queue.fixed && queue.initial == 0) continue;
      line("run.{0}.pop(run.{0}.size());", to);
      if (queue.fixed) {
        for (int64_t j = 0; j < queue.initial; ++j) {
          line("{{ i64* const x = run.{}.push({}); (void)x;", to,
               instant(fmt::format("h{}_{}", queue.producer, PartWriter::firings_ago(queue, j))));
          for (size_t c = 0; c < fields.size(); ++c) {
            line("x[{}] = block.value({}, lane);", c,
                 slot_of_.at(fmt::format("g{}_{}_{}", q, j, fields[c])));
          }
          line("}}");
        }
      } else {
        line("for (u64 j = 0; j < block.queued({}); ++j) {{", number);
        line(
            "i64* const x = run.{}.push(R::at(block.ring_instant({}, {}, j, lane)) + group); "
            "(void)x;",
            to, number, first);
        for (size_t c = 0; c < fields.size(); ++c) {
          line("x[{}] = block.ring_value({}, {}, j, lane);", c, number, first + 1 + c);
        }
        line("}}");
      }
    }
    for (size_t i = 0; i < part_.transitions.size(); ++i) {
      const uint32_t k = part_.transitions[i];
      line("run.fired{0} += done * {1}; run.made += done * {1}; run.end{0} = {2};", k,
           part_.repetitions[i], instant(fmt::format("h{}_1", k)));
      if (net_.transitions[k].interval) {
        line("run.next{} = {};", k, instant(fmt::format("next{}", k)));
      }
    }
    for (const StaticEnd& s : part_.sinks) {
      line("run.sunk{} += done * {};", s.place, rate(s));
      if (const auto from = writer.copied_from(s.place)) {
        line("run.out{0}.borrow(run.s{1}.rows + run.s{1}.next * {2}, done * {3});", s.place, *from,
             writer.width(*from), rate(s));
      }
      produced(s.place, s.transition, rate(s));
    }
    for (const StaticEnd& s : part_.sources) {
      line("run.s{}.next += done * {};", s.place, rate(s));
    }
    for (const StaticQueue& q : part_.queues) {
      if (q.place != StaticQueue::kNone) produced(q.place, q.producer, q.rate);
    }
    line("}}");
  }

  void produced(uint32_t p, uint32_t k, int64_t count) {
    if (!net_.places[p].done) return;
    line("run.produced{0} += done * {1}; run.done{0} = later(run.done{0}, run.end{2});", p, count,
         k);
  }
  int64_t rate(const StaticEnd& s) const { return s.count * part_.repetition(s.transition); }
  std::optional<int64_t> const_servers(const StaticQueue& q) const {
    int64_t value = 0;
    if (net_.exprs.is_const(net_.transitions[q.producer].servers->id, value)) return value;
    return std::nullopt;
  }

  Net net_;
  const StaticPart& part_;
  const StaticOptions& options_;
  size_t index_;
  string out_;
  std::map<const Field*, Assumed> assumed_;
  std::set<uint32_t> checked_params_;
  std::vector<string> slots_;
  std::map<string, size_t> slot_of_;
  size_t instants_ = 0, variable_ = 0;
};

}  // namespace

StaticCode generate_static(const Net& net, const StaticParts& parts, const StaticOptions& options) {
  if (parts.parts.empty()) return {};
  string text, run, load, go;
  size_t lanes = 0;
  for (size_t i = 0; i < parts.parts.size(); ++i) {
    text += PartFunction(net, parts.parts[i], options, i).scalar();
    run += fmt::format("done += static_part_{}(run, limit);\n", i);
    try {
      text += LanesFunction(net, parts.parts[i], options, i).text();
    } catch (const NoLanes&) {
      continue;
    }
    load +=
        fmt::format("some |= loaded[{0}] = load_lanes_{1}(lane, width, blocks[{0}]);\n", lanes, i);
    go += fmt::format(
        "if (loaded[{0}]) {{ if (!blocks[{0}].advance()) return false;\n"
        "for (u32 i = 0; i < count; ++i) store_lane_{1}(*runs[i], i, blocks[{0}]); }}\n",
        lanes, i);
    ++lanes;
  }
  text += fmt::format(
      "template <typename R> u64 run_static(R& run, u64 limit) {{\nu64 done = 0;\n{}"
      "LPNRT_TESTED(static_iterations += done;)\nreturn "
      "done;\n}}\n",
      run);
  if (lanes == 0) return {text, false};
  text += fmt::format(
      "template <typename R> struct StaticLanes {{\n"
      "LaneBlock blocks[{0}]; bool loaded[{0}] = {{}};\n"
      "bool load(R* const* runs, u32 count) {{ const u32 width = lanes_here();\n"
      "if (count == 0 || count > width) return false;\n"
      "R* lane[kMostLanes]; for (u32 i = 0; i < width; ++i) lane[i] = runs[i < count "
      "? i : 0];\n"
      "bool some = false;\n{1}return some; }}\n"
      "bool run(R* const* runs, u32 count) {{\n{2}return true; }}\n"
      "}};\n",
      lanes, load, go);
  return {text, true};
}

}  // namespace lpn::sim
