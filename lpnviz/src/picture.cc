#include "lpn/viz/picture.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "lpn/net/facts.h"
#include "lpn/net/initial.h"
#include "lpn/structure/structure.h"
#include "lpn/text/text.h"
#include "lpn/viz/export.h"

namespace lpn::viz {
namespace {

using Json = nlohmann::ordered_json;  // members stay in the order of writing

class Picture {
 public:
  Picture(const Net& net, const ParamValues& params, const Marking& marking)
      : net_(net),
        params_(params),
        marking_(marking),
        initial_(viz::initial_tokens(net, params, marking)),
        uses_(place_uses(net)) {}

  Json all() const {
    Json params = Json::array(), places = Json::array();
    for (std::size_t k = 0; k < net_.params.size(); ++k) params.push_back(param(k));
    for (std::size_t k = 0; k < net_.places.size(); ++k) places.push_back(place(k));
    return {
        {"format", 1},
        {"name", net_.name},
        {"files", net_.files},
        {"params", std::move(params)},
        {"types", list(net_.types, [&](const TokenType& each) { return type(each); })},
        {"places", std::move(places)},
        {"transitions",
         list(net_.transitions, [&](const Transition& each) { return transition(each); })},
        {"loops", list(credit_loops(net_), [&](const CreditLoop& each) { return loop(each); })}};
  }

 private:
  template <typename Items, typename Each>
  static Json list(const Items& items, const Each& each) {
    Json all = Json::array();
    for (const auto& item : items) all.push_back(each(item));
    return all;
  }
  template <typename T>
  static Json or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
  }
  template <typename Ids>
  static Json numbers(const Ids& ids) {
    return list(ids, [](auto id) { return Json(static_cast<std::uint32_t>(id)); });
  }
  static Json at(Source source) {
    return source.line == 0 ? Json(nullptr) : Json::array({source.file, source.line});
  }
  static Json range(const std::optional<Range>& r) {
    // As text: a bound of 64 bits does not fit a number of JavaScript.
    return r ? Json::array({std::to_string(r->lo), std::to_string(r->hi)}) : Json(nullptr);
  }
  std::string words(const Formula& f, const Transition* t) const {
    return print_expr(net_, t, f.id);
  }
  Json formula(const std::optional<Formula>& f, const Transition* t) const {
    return f ? Json(words(*f, t)) : Json(nullptr);
  }
  std::optional<std::int64_t> constant(const Formula& f) const {
    const Node& node = net_.exprs[f.id];
    return node.op == Op::kConst ? std::optional(node.value) : std::nullopt;
  }
  // A formula over parameters, with its value in this run.
  Json valued(const char* what, const std::optional<Formula>& f) const {
    if (!f) return nullptr;
    return {{"text", words(*f, nullptr)}, {"value", param_value(net_, params_, *f, what, 0)}};
  }

  Json param(std::size_t k) const {
    const Param& p = net_.params[k];
    return {{"name", p.name},
            {"value", std::to_string(params_[k])},
            {"default", std::to_string(p.value)},
            {"range", range(p.range)},
            {"at", at(p.source)}};
  }

  static Json type(const TokenType& t) {
    const auto field = [](const Field& each) {
      return Json{{"name", each.name}, {"range", range(each.range)}};
    };
    return {{"name", t.name}, {"fields", list(t.fields, field)}, {"at", at(t.source)}};
  }

  Json place(std::size_t k) const {
    const Place& p = net_.places[k];
    const std::uint64_t marked = marking_[static_cast<PlaceId>(k)].count;
    return {{"name", p.name},
            {"type", static_cast<std::uint32_t>(p.type)},
            {"capacity", valued("capacity", p.capacity)},
            {"initial", initial_[k] - marked},
            {"tokens", marked},
            {"start", p.start},
            {"done", p.done},
            {"drain", p.drain},
            {"sink", p.sink},
            {"at", at(p.source)}};
  }

  Json transition(const Transition& t) const {
    Json clock = nullptr, inputs = Json::array();
    for (std::uint32_t a = 0; a < t.inputs.size(); ++a) inputs.push_back(input(t, a));
    if (t.clock) {
      clock = {{"period", words(t.clock->period, nullptr)},
               {"phase", words(t.clock->phase, nullptr)}};
    }
    return {{"name", t.name},
            {"delay", words(t.delay, &t)},
            {"servers", valued("servers", t.servers)},
            {"interval", formula(t.interval, &t)},
            {"ordered", t.ordered},
            {"clock", std::move(clock)},
            {"at", at(t.source)},
            {"inputs", std::move(inputs)},
            {"outputs", list(t.outputs, [&](const OutputArc& arc) { return output(t, arc); })}};
  }

  Json input(const Transition& t, std::uint32_t a) const {
    const InputArc& arc = t.inputs[a];
    const ArcFacts facts = arc_facts(net_, t, a);
    const char* kind = "take";
    if (arc.inhibit) {
      kind = "empty";
    } else if (facts.takes_nothing()) {
      kind = facts.only_watches() ? "watch" : "peek";
    }
    return {{"name", arc.name},
            {"place", static_cast<std::uint32_t>(arc.place)},
            {"kind", kind},
            {"weight", arc.inhibit ? "0" : words(arc.weight, &t)},
            {"constant", or_null(facts.weight)},
            {"need", formula(arc.threshold, &t)},
            {"guard", formula(arc.guard, &t)},
            {"at", at(arc.source)},
            {"guardAt", at(arc.guard ? arc.guard->source : Source{})}};
  }

  Json output(const Transition& t, const OutputArc& arc) const {
    std::optional<std::int64_t> total = 0;
    for (const Emission& e : arc.emissions) {
      const auto count = constant(e.count);
      total = total && count ? std::optional(*total + *count) : std::nullopt;
    }
    const auto emission = [&](const Emission& e) {
      const auto field = [&](const Formula& f) { return Json(words(f, &t)); };
      return Json{{"count", words(e.count, &t)}, {"fields", list(e.fields, field)}};
    };
    return {{"place", static_cast<std::uint32_t>(arc.place)},
            {"constant", or_null(total)},
            {"at", at(arc.source)},
            {"emissions", list(arc.emissions, emission)}};
  }

  // The place of a loop that is there to count only: tokens without properties, all of the loop's
  // in it at first and given back to it, and no start, done, drain or sink place of the author's.
  std::optional<std::size_t> credit_of(const CreditLoop& loop, std::int64_t tokens) const {
    std::optional<std::size_t> found;
    for (const PlaceId id : loop.places) {
      const auto k = static_cast<std::size_t>(id);
      const Place& p = net_[id];
      const bool plain = net_.type_of(id).fields.empty() && !p.start && !p.done && !p.drain &&
                         !p.sink && !p.capacity && !uses_[k].producers.empty();
      if (plain && tokens > 0 && initial_[k] == static_cast<std::uint64_t>(tokens)) {
        if (found) return std::nullopt;
        found = k;
      }
    }
    return loop.places.size() > 1 ? found : std::nullopt;
  }

  Json loop(const CreditLoop& loop) const {
    const std::int64_t tokens = loop_tokens(net_, params_, loop);
    const auto credit = loop.capacity ? std::nullopt : credit_of(loop, tokens);
    return {{"places", numbers(loop.places)},
            {"transitions", numbers(loop.transitions)},
            {"capacity", loop.capacity},
            {"tokens", tokens},
            {"credit", or_null(credit)}};
  }

  const Net& net_;
  const ParamValues& params_;
  const Marking& marking_;
  const std::vector<std::uint64_t> initial_;  // per place
  const std::vector<PlaceUse> uses_;
};

}  // namespace

std::string describe(const Net& net, const ParamValues& params, const Marking& marking) {
  return in_script(Picture(net, params, marking).all().dump());
}

}  // namespace lpn::viz
