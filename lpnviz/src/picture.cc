#include "lpn/viz/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "lpn/net/facts.h"
#include "lpn/net/initial.h"
#include "lpn/structure/structure.h"
#include "lpn/text/text.h"
#include "lpn/viz/export.h"

namespace lpn::viz {
namespace {

class Picture {
 public:
  Picture(const Net& net, const ParamValues& params, const Marking& marking)
      : net_(net),
        params_(params),
        marking_(marking),
        initial_(initial_tokens(net, params, marking)) {}

  std::string text() {
    add("{{\"format\":1,\"name\":\"{}\",\"files\":[", escaped(net_.name));
    list(net_.files.size(), [&](std::size_t k) { add("\"{}\"", escaped(net_.files[k])); });
    add("],\"params\":[");
    list(net_.params.size(), [&](std::size_t k) { param(k); });
    add("],\"types\":[");
    list(net_.types.size(), [&](std::size_t k) { type(net_.types[k]); });
    add("],\"places\":[");
    list(net_.places.size(), [&](std::size_t k) { place(k); });
    add("],\"transitions\":[");
    list(net_.transitions.size(), [&](std::size_t k) { transition(net_.transitions[k]); });
    add("],\"loops\":[");
    loops();
    add("]}}");
    return std::move(out_);
  }

 private:
  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  template <typename Each>
  void list(std::size_t count, const Each& each) {
    for (std::size_t k = 0; k < count; ++k) {
      if (k != 0) out_ += ',';
      each(k);
    }
  }
  void at(const char* key, Source source) {
    if (source.line == 0) {
      add("\"{}\":null", key);
    } else {
      add("\"{}\":[{},{}]", key, source.file, source.line);
    }
  }
  void range(const std::optional<Range>& r) {
    // As text: a bound of 64 bits does not fit a number of JavaScript.
    r ? add("[\"{}\",\"{}\"]", r->lo, r->hi) : add("null");
  }
  std::string words(const Formula& f, const Transition* t) const {
    return escaped(print_expr(net_, t, f.id));
  }
  void formula(const char* key, const std::optional<Formula>& f, const Transition* t) {
    f ? add("\"{}\":\"{}\"", key, words(*f, t)) : add("\"{}\":null", key);
  }
  std::optional<std::int64_t> constant(const Formula& f) const {
    const Node& node = net_.exprs[f.id];
    return node.op == Op::kConst ? std::optional(node.value) : std::nullopt;
  }
  // A formula over parameters, with its value in this run.
  void valued(const char* key, const std::optional<Formula>& f) {
    if (!f) {
      add("\"{}\":null", key);
      return;
    }
    add("\"{}\":{{\"text\":\"{}\",\"value\":{}}}", key, words(*f, nullptr),
        param_value(net_, params_, *f, key, 0));
  }

  void param(std::size_t k) {
    const Param& p = net_.params[k];
    add("{{\"name\":\"{}\",\"value\":\"{}\",\"default\":\"{}\",\"range\":", escaped(p.name),
        params_[k], p.value);
    range(p.range);
    out_ += ',';
    at("at", p.source);
    out_ += '}';
  }

  void type(const TokenType& t) {
    add("{{\"name\":\"{}\",\"fields\":[", escaped(t.name));
    list(t.fields.size(), [&](std::size_t k) {
      add("{{\"name\":\"{}\",\"range\":", escaped(t.fields[k].name));
      range(t.fields[k].range);
      out_ += '}';
    });
    out_ += "],";
    at("at", t.source);
    out_ += '}';
  }

  void place(std::size_t k) {
    const Place& p = net_.places[k];
    add("{{\"name\":\"{}\",\"type\":{},", escaped(p.name), static_cast<std::uint32_t>(p.type));
    valued("capacity", p.capacity);
    add(",\"initial\":{},\"tokens\":{},\"start\":{},\"done\":{},\"drain\":{},\"sink\":{},",
        initial_[k] - marking_[static_cast<PlaceId>(k)].count,
        marking_[static_cast<PlaceId>(k)].count, p.start, p.done, p.drain, p.sink);
    at("at", p.source);
    out_ += '}';
  }

  void transition(const Transition& t) {
    add("{{\"name\":\"{}\",\"delay\":\"{}\",", escaped(t.name), words(t.delay, &t));
    valued("servers", t.servers);
    out_ += ',';
    formula("interval", t.interval, &t);
    add(",\"ordered\":{},\"clock\":", t.ordered);
    if (t.clock) {
      add("{{\"period\":\"{}\",\"phase\":\"{}\"}}", words(t.clock->period, nullptr),
          words(t.clock->phase, nullptr));
    } else {
      add("null");
    }
    out_ += ',';
    at("at", t.source);
    out_ += ",\"inputs\":[";
    list(t.inputs.size(), [&](std::size_t a) { input(t, static_cast<std::uint32_t>(a)); });
    out_ += "],\"outputs\":[";
    list(t.outputs.size(), [&](std::size_t a) { output(t, t.outputs[a]); });
    out_ += "]}";
  }

  void input(const Transition& t, std::uint32_t a) {
    const InputArc& arc = t.inputs[a];
    const ArcFacts facts = arc_facts(net_, t, a);
    const auto weight = facts.weight;
    const char* kind = "take";
    if (arc.inhibit)
      kind = "empty";
    else if (facts.takes_nothing())
      kind = facts.only_watches() ? "watch" : "peek";
    add("{{\"name\":\"{}\",\"place\":{},\"kind\":\"{}\",\"weight\":\"{}\",\"constant\":{},",
        escaped(arc.name), static_cast<std::uint32_t>(arc.place), kind,
        arc.inhibit ? "0" : words(arc.weight, &t), weight ? std::to_string(*weight) : "null");
    formula("need", arc.threshold, &t);
    out_ += ',';
    formula("guard", arc.guard, &t);
    out_ += ',';
    at("at", arc.source);
    out_ += ',';
    at("guardAt", arc.guard ? arc.guard->source : Source{});
    out_ += '}';
  }

  void output(const Transition& t, const OutputArc& arc) {
    std::optional<std::int64_t> total = 0;
    for (const Emission& e : arc.emissions) {
      const auto count = constant(e.count);
      total = total && count ? std::optional(*total + *count) : std::nullopt;
    }
    add("{{\"place\":{},\"constant\":{},", static_cast<std::uint32_t>(arc.place),
        total ? std::to_string(*total) : "null");
    at("at", arc.source);
    out_ += ",\"emissions\":[";
    list(arc.emissions.size(), [&](std::size_t e) {
      const Emission& emission = arc.emissions[e];
      add("{{\"count\":\"{}\",\"fields\":[", words(emission.count, &t));
      list(emission.fields.size(),
           [&](std::size_t f) { add("\"{}\"", words(emission.fields[f], &t)); });
      out_ += "]}";
    });
    out_ += "]}";
  }

  bool is_filled(PlaceId place) const {
    return std::any_of(net_.transitions.begin(), net_.transitions.end(), [&](const Transition& t) {
      return std::any_of(t.outputs.begin(), t.outputs.end(),
                         [&](const OutputArc& arc) { return arc.place == place; });
    });
  }

  // The place of a loop that is there to count only: tokens without properties, all of the loop's
  // in it at first and given back to it, and no start, done, drain or sink place of the author's.
  std::optional<std::size_t> credit_of(const CreditLoop& loop, std::int64_t tokens) const {
    std::optional<std::size_t> found;
    for (const PlaceId id : loop.places) {
      const auto k = static_cast<std::size_t>(id);
      const Place& p = net_[id];
      const bool plain = net_.type_of(id).fields.empty() && !p.start && !p.done && !p.drain &&
                         !p.sink && !p.capacity && is_filled(id);
      if (plain && tokens > 0 && initial_[k] == static_cast<std::uint64_t>(tokens)) {
        if (found) return std::nullopt;
        found = k;
      }
    }
    return loop.places.size() > 1 ? found : std::nullopt;
  }

  void loops() {
    bool first = true;
    for (const CreditLoop& loop : credit_loops(net_)) {
      const std::int64_t tokens = loop_tokens(net_, params_, loop);
      if (!first) out_ += ',';
      first = false;
      add("{{\"places\":[");
      list(loop.places.size(),
           [&](std::size_t k) { add("{}", static_cast<std::uint32_t>(loop.places[k])); });
      add("],\"transitions\":[");
      list(loop.transitions.size(),
           [&](std::size_t k) { add("{}", static_cast<std::uint32_t>(loop.transitions[k])); });
      const auto credit = loop.capacity ? std::nullopt : credit_of(loop, tokens);
      add("],\"capacity\":{},\"tokens\":{},\"credit\":{}}}", loop.capacity, tokens,
          credit ? std::to_string(*credit) : "null");
    }
  }

  const Net& net_;
  const ParamValues& params_;
  const Marking& marking_;
  const std::vector<std::uint64_t> initial_;
  std::string out_;
};

}  // namespace

std::string describe(const Net& net, const ParamValues& params, const Marking& marking) {
  return Picture(net, params, marking).text();
}

}  // namespace lpn::viz
