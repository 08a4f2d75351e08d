#include "pair.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "lpn/base/error.h"
#include "lpn/net/compose.h"
#include "lpn/net/verify.h"
#include "lpnrt/embed.h"
#include "outcome.h"

namespace lpn::bench {
namespace {

constexpr std::size_t kMostCommits = 4'000;

std::size_t at(PlaceId p) { return static_cast<std::size_t>(p); }

InstanceSpec free_standing(const Net& part, const std::string& prefix) {
  return {prefix, std::vector<std::optional<PlaceId>>(part.places.size()),
          std::vector<std::optional<ExprId>>(part.params.size())};
}

ExprId small(Random& r, ExprPool& pool, ExprId x, std::int64_t most) {
  return pool.binary(Op::kMod, x, pool.constant(r.between(1, most)));
}

Formula number(Net& net, std::int64_t value) { return {net.exprs.constant(value), {}}; }

// A part: the places of its channels first, so that a producer's credits are asked for in the same
// order alone and joined, then a random net.
class PartMaker {
 public:
  PartMaker(Random& random, const std::string& name) : r(random) { net.name = name; }

  PlaceId channel_place(const std::string& name, const TokenType& type,
                        std::optional<std::int64_t> capacity) {
    TokenType copy = type;
    copy.name = "on_" + name;
    net.types.push_back(copy);
    Place p;
    p.name = name;
    p.type = static_cast<TypeId>(net.types.size() - 1);
    if (capacity) p.capacity = number(net, *capacity);
    net.places.push_back(p);
    return static_cast<PlaceId>(net.places.size() - 1);
  }

  void fill() {
    const Net random = random_net(r);
    add_instance(net, random, free_standing(random, "r"));
    own_ = net.transitions.size();
  }

  // Transitions put tokens into the place.
  void feed(PlaceId p) {
    if (r.chance(75)) source(p);
    for (std::int64_t n = r.between(own_ == 0 ? 0 : 1, 3); n > 0 && own_ > 0; --n) {
      Transition& t =
          net.transitions[static_cast<std::size_t>(r.below(static_cast<std::int64_t>(own_)))];
      OutputArc arc;
      arc.place = p;
      arc.emissions.push_back(emission(p, t));
      if (r.chance(15)) arc.emissions.push_back(emission(p, t));
      const auto where = r.below(static_cast<std::int64_t>(t.outputs.size()) + 1);
      t.outputs.insert(t.outputs.begin() + where, arc);
    }
  }

  // Transitions take tokens from the place, and look at it.
  void drain(PlaceId p) {
    if (r.chance(80)) sink(p);
    for (std::int64_t n = r.between(own_ == 0 ? 0 : 1, 2); n > 0 && own_ > 0; --n) {
      Transition& t =
          net.transitions[static_cast<std::size_t>(r.below(static_cast<std::int64_t>(own_)))];
      const bool twice = std::any_of(t.inputs.begin(), t.inputs.end(),
                                     [&](const InputArc& arc) { return arc.place == p; });
      if (!twice) t.inputs.push_back(input(p, t));
    }
  }

  Net net;

 private:
  Random& r;
  std::size_t own_ = 0;  // transitions of the random net

  Emission emission(PlaceId p, const Transition& t) {
    Emission e;
    e.count = number(net, r.chance(75) ? 1 : r.between(0, 3));
    for (const Field& field : net.type_of(p).fields) {
      const std::int64_t lo = field.range ? field.range->lo : 0;
      const std::int64_t span = field.range ? field.range->hi - field.range->lo + 1 : 20;
      ExprId x = net.exprs.constant(r.below(20));
      for (std::uint32_t a = 0; a < t.inputs.size(); ++a) {
        std::int64_t weight = 0;
        if (t.inputs[a].inhibit || net.type_of(t.inputs[a].place).fields.empty()) continue;
        if (!net.exprs.is_const(t.inputs[a].weight.id, weight) || weight < 1) continue;
        if (r.chance(70)) x = net.exprs.token(a, 0, net.exprs.constant(0));
      }
      x = net.exprs.binary(Op::kMod, x, net.exprs.constant(span));
      e.fields.push_back({net.exprs.binary(Op::kAdd, x, net.exprs.constant(lo)), {}});
    }
    return e;
  }

  InputArc input(PlaceId p, Transition& t) {
    const auto a = static_cast<std::uint32_t>(t.inputs.size());
    InputArc arc;
    arc.name = fmt::format("channel{}", a);
    arc.place = p;
    arc.weight = number(net, 1);
    const auto roll = r.below(100);
    if (roll < 8) {
      arc.inhibit = true;
      return arc;
    }
    if (roll < 20) {
      arc.weight = number(net, 0);
      arc.threshold = number(net, r.below(3));
      return arc;
    }
    if (roll < 30) arc.weight = number(net, 2);
    if (roll < 35) arc.threshold = number(net, 3);
    if (!net.type_of(p).fields.empty() && r.chance(40)) {
      const ExprId head = net.exprs.token(a, 0, net.exprs.constant(0));
      arc.guard = Formula{net.exprs.binary(r.chance(50) ? Op::kEq : Op::kNe,
                                           net.exprs.binary(Op::kMod, head, net.exprs.constant(2)),
                                           net.exprs.constant(r.below(2))),
                          {}};
    }
    return arc;
  }

  // From a place with tokens of its own; usually the one who keeps the channel busy.
  void source(PlaceId p) {
    TokenType type;
    type.name = fmt::format("job{}", net.types.size());
    type.fields.push_back({"n", Range{0, 30}});
    net.types.push_back(type);
    Place jobs;
    jobs.name = fmt::format("jobs{}", net.places.size());
    jobs.type = static_cast<TypeId>(net.types.size() - 1);
    const ExprId i = net.exprs.index();
    const ExprId spread = net.exprs.binary(
        Op::kMod, net.exprs.binary(Op::kMul, i, net.exprs.constant(r.between(1, 13))),
        net.exprs.constant(31));
    jobs.initial.push_back({number(net, r.between(1, 25)), {{spread, {}}}});
    net.places.push_back(jobs);
    Transition t;
    t.name = fmt::format("source{}", net.transitions.size());
    InputArc job;
    job.name = "job";
    job.place = static_cast<PlaceId>(net.places.size() - 1);
    job.weight = number(net, 1);
    t.inputs.push_back(job);
    t.delay = delay(0);
    if (r.chance(70)) t.servers = number(net, r.between(1, 3));
    if (r.chance(25)) t.interval = number(net, r.between(0, 3));
    if (r.chance(25)) t.ordered = true;
    if (r.chance(15)) t.clock = Clock{number(net, r.between(1, 3)), number(net, r.below(3))};
    OutputArc out;
    out.place = p;
    out.emissions.push_back(emission(p, t));
    t.outputs.push_back(out);
    insert(std::move(t));
  }

  void sink(PlaceId p) {
    Place done;
    done.name = fmt::format("gone{}", net.places.size());
    done.type = unit();
    done.done = r.chance(70);
    net.places.push_back(done);
    Transition t;
    t.name = fmt::format("sink{}", net.transitions.size());
    t.inputs.push_back(input(p, t));
    if (t.inputs[0].inhibit) {
      t.inputs[0].inhibit = false;
      t.inputs[0].weight = number(net, 1);
    }
    std::int64_t weight = 0;
    const bool takes = net.exprs.is_const(t.inputs[0].weight.id, weight) && weight > 0;
    t.delay = takes && !net.type_of(p).fields.empty() ? delay(0) : number(net, r.below(5));
    if (!takes || r.chance(70)) t.servers = number(net, r.between(1, 2));
    if (!takes) t.interval = number(net, r.between(1, 4));
    if (!takes) t.delay = number(net, r.between(1, 4));
    if (r.chance(20)) t.ordered = true;
    OutputArc out;
    out.place = static_cast<PlaceId>(net.places.size() - 1);
    out.emissions.push_back({number(net, 1), {}});
    t.outputs.push_back(out);
    insert(std::move(t));
  }

  // Zero often: at the boundary that is what matters.
  Formula delay(std::uint32_t arc) {
    if (r.chance(25)) return number(net, 0);
    if (r.chance(30)) return number(net, r.between(1, 6));
    return {small(r, net.exprs, net.exprs.token(arc, 0, net.exprs.constant(0)), 8), {}};
  }

  TypeId unit() {
    for (std::size_t k = 0; k < net.types.size(); ++k) {
      if (net.types[k].fields.empty()) return static_cast<TypeId>(k);
    }
    net.types.push_back({.name = "plain", .fields = {}, .source = {}});
    return static_cast<TypeId>(net.types.size() - 1);
  }

  // Somewhere: the order is the priority.
  void insert(Transition t) {
    const auto where = r.below(static_cast<std::int64_t>(net.transitions.size()) + 1);
    net.transitions.insert(net.transitions.begin() + where, std::move(t));
    ++own_;
  }
};

TokenType channel_type(Random& r) {
  TokenType type;
  type.name = "channel";
  const auto fields = r.below(3);
  for (std::int64_t f = 0; f < fields; ++f) {
    Field field;
    field.name = fmt::format("f{}", f);
    if (r.chance(60)) field.range = Range{r.between(-2, 0), r.between(3, 40)};
    type.fields.push_back(field);
  }
  return type;
}

}  // namespace

Parts join(std::vector<Net> nets, std::vector<Link> links) {
  Parts parts;
  parts.nets = std::move(nets);
  parts.links = std::move(links);
  Net& all = parts.joined.net;
  all.name = "joined";
  // The joined places first, with the capacity that both ends declare.
  std::vector<PlaceId> middle;
  for (std::size_t k = 0; k < parts.links.size(); ++k) {
    const Link& link = parts.links[k];
    const Net& from = parts.nets[link.from];
    TokenType type = from.type_of(link.out);
    type.name = fmt::format("channel{}", k);
    type.source = {};
    all.types.push_back(type);
    Place p;
    p.name = fmt::format("channel{}", k);
    p.type = static_cast<TypeId>(all.types.size() - 1);
    if (const auto& capacity = from[link.out].capacity) {
      std::int64_t slots = 0;
      LPN_ASSERT(from.exprs.is_const(capacity->id, slots));
      p.capacity = Formula{all.exprs.constant(slots), {}};
    }
    all.places.push_back(p);
    middle.push_back(static_cast<PlaceId>(k));
  }
  for (std::size_t n = 0; n < parts.nets.size(); ++n) {
    Net part = parts.nets[n];
    InstanceSpec spec = free_standing(part, fmt::format("n{}", n));
    for (std::size_t k = 0; k < parts.links.size(); ++k) {
      const Link& link = parts.links[k];
      for (const auto& [net, place] : {std::pair{link.from, link.out}, {link.to, link.in}}) {
        if (net != n) continue;
        part[place].capacity.reset();
        spec.connect[at(place)] = middle[k];
      }
    }
    parts.first_param.push_back(all.params.size());
    const Instance instance = add_instance(all, part, spec);
    parts.places.push_back(instance.places);
    parts.transitions.push_back(instance.transitions);
  }
  for (const Param& p : all.params) parts.joined.params.push_back(p.value);
  return parts;
}

Parts random_parts(Random& r) {
  const std::size_t count = r.chance(75) ? 2 : 3;
  const bool ring = r.chance(30);
  std::vector<PartMaker> makers;
  for (std::size_t n = 0; n < count; ++n) makers.emplace_back(r, fmt::format("part{}", n));
  std::vector<Link> links;
  const std::size_t channels = ring ? count : count - 1;
  for (std::size_t k = 0; k < channels; ++k) {
    const TokenType type = channel_type(r);
    std::optional<std::int64_t> capacity;
    if (r.chance(85)) capacity = r.between(r.chance(10) ? 0 : 1, 5);
    Link link;
    link.from = k;
    link.to = (k + 1) % count;
    link.out = makers[link.from].channel_place(fmt::format("out{}", k), type, capacity);
    link.in = makers[link.to].channel_place(fmt::format("in{}", k), type, capacity);
    links.push_back(link);
    // Tokens that are there at the start, at one of the ends.
    if (capacity && *capacity > 0 && r.chance(ring ? 60 : 25)) {
      Net& net = makers[r.chance(50) ? link.from : link.to].net;
      Place& place = net.places.back();
      std::vector<Formula> fields;
      for (const Field& f : net[place.type].fields) {
        fields.push_back(number(net, f.range ? f.range->hi : r.below(9)));
      }
      place.initial.push_back({number(net, r.between(1, *capacity)), fields});
    }
  }
  for (PartMaker& maker : makers) maker.fill();
  std::vector<Net> nets;
  for (const Link& link : links) {
    makers[link.from].feed(link.out);
    makers[link.to].drain(link.in);
  }
  for (PartMaker& maker : makers) nets.push_back(std::move(maker.net));
  return join(std::move(nets), std::move(links));
}

void random_traffic(Parts& parts, Random& r) {
  Case& c = parts.joined;
  Case inputs = random_inputs(c.net, r);
  c.params = inputs.params;
  c.done_count = inputs.done_count;
  c.loads.clear();
  for (Load& load : inputs.loads) {
    if (at(load.place) >= parts.links.size()) c.loads.push_back(load);
  }
  // As a host would: runs step by step, tokens pushed in between.
  c.steps.clear();
  Time limit = 0;
  for (std::int64_t k = r.chance(50) ? r.between(1, 6) : 0; k > 0; --k) {
    limit += r.below(20);
    Step run;
    run.time = limit;
    c.steps.push_back(run);
    while (r.chance(40)) {
      const auto p = static_cast<PlaceId>(r.below(static_cast<std::int64_t>(c.net.places.size())));
      if (c.net[p].capacity || at(p) < parts.links.size()) continue;
      Step push;
      push.push = true;
      push.place = p;
      push.time = limit + r.between(1, 9);
      for (const Field& f : c.net.type_of(p).fields) {
        push.values.push_back(f.range ? f.range->lo : r.below(10));
      }
      c.steps.push_back(push);
    }
  }
  Step last;
  last.time = r.chance(70) ? 120 : 2'000;
  c.steps.push_back(last);
}

namespace {

// What the commits of coupled instances are in the joined net.
class Translator {
 public:
  explicit Translator(const Parts& parts) : parts_(parts), crossed_(parts.links.size()) {
    for (std::size_t n = 0; n < parts.nets.size(); ++n) {
      relays_.push_back(std::make_unique<Relay>(Relay{this, n}));
    }
    for (std::size_t k = 0; k < parts.links.size(); ++k) {
      const Link& link = parts.links[k];
      std::uint64_t tokens = 0;
      for (const auto& [net, place] : {std::pair{link.from, link.out}, {link.to, link.in}}) {
        for (const Initial& i : parts.nets[net][place].initial) {
          std::int64_t n = 0;
          LPN_ASSERT(parts.nets[net].exprs.is_const(i.count.id, n));
          tokens += static_cast<std::uint64_t>(n);
        }
      }
      for (std::uint64_t i = 0; i < tokens; ++i) {
        crossed_[k].push_back({static_cast<std::uint32_t>(k), true, 0, 0, i});
      }
      initial_ += tokens;
    }
  }

  static void observe(void* user, const lpn_commit* c) {
    const auto* relay = static_cast<const Relay*>(user);
    relay->self->add(relay->net, *c);
  }
  void* user(std::size_t net) { return relays_[net].get(); }

  std::vector<Commit> commits;
  std::uint64_t crossed() const {
    std::uint64_t sum = 0;
    for (const auto& ids : crossed_) sum += ids.size();
    return sum - initial_;
  }

 private:
  struct Relay {
    Translator* self;
    std::size_t net;
  };

  TokenId translate(std::size_t net, TokenId id) const {
    if (!id.initial) {
      id.source = static_cast<std::uint32_t>(parts_.transitions[net][id.source]);
      return id;
    }
    for (std::size_t k = 0; k < parts_.links.size(); ++k) {
      if (parts_.links[k].to == net && static_cast<std::uint32_t>(parts_.links[k].in) == id.source)
        return crossed_[k].at(id.index);
    }
    id.source = static_cast<std::uint32_t>(parts_.places[net][id.source]);
    return id;
  }

  void add(std::size_t net, const lpn_commit& c) {
    if (commits.size() >= kMostCommits) throw TooLong{};
    const Transition& t = parts_.nets[net].transitions[c.transition];
    Commit commit;
    commit.time = c.time;
    commit.group = c.group;
    commit.transition = parts_.transitions[net][c.transition];
    commit.firing = c.firing;
    commit.start = c.start;
    commit.taken.resize(t.inputs.size());
    for (std::uint64_t k = 0; k < c.taken_runs; ++k) {
      const lpn_token_run& run = c.taken[k];
      for (std::uint64_t i = 0; i < run.count; ++i) {
        commit.taken[run.input].push_back(
            translate(net, {run.source, run.initial != 0, run.arc, run.firing, run.index + i}));
      }
    }
    commit.produced.assign(c.produced, c.produced + t.outputs.size());
    for (std::uint32_t o = 0; o < t.outputs.size(); ++o) {
      for (std::size_t k = 0; k < parts_.links.size(); ++k) {
        if (parts_.links[k].from != net || parts_.links[k].out != t.outputs[o].place) continue;
        std::uint64_t& next = produced_[{net, c.transition, c.firing, o}];
        for (std::uint64_t i = 0; i < commit.produced[o]; ++i) {
          crossed_[k].push_back(
              {static_cast<std::uint32_t>(commit.transition), false, o, c.firing, next++});
        }
      }
    }
    commits.push_back(std::move(commit));
  }

  const Parts& parts_;
  std::vector<std::unique_ptr<Relay>> relays_;
  std::vector<std::vector<TokenId>> crossed_;  // per channel: its tokens in order
  std::map<std::tuple<std::size_t, std::uint32_t, std::uint64_t, std::uint32_t>, std::uint64_t>
      produced_;
  std::uint64_t initial_ = 0;
};

std::string print(const RunResult& r) {
  return fmt::format("ending {}, latency {}, last {}, commits {}, done {}, stalled {}",
                     static_cast<int>(r.ending), r.latency.value_or(-1), r.last_commit, r.commits,
                     r.done_tokens, r.stalled);
}

}  // namespace

std::string coupled_difference(const Parts& parts, const std::vector<sim::Library>& libraries,
                               bool traced, Tally& tally) {
  const Case& c = parts.joined;
  PlayOptions options;
  options.observe = true;
  options.most_commits = kMostCommits;
  Outcome reference;
  try {
    reference = play(c, options);
  } catch (const TooLong&) {
    ++tally.too_long;
    return "";
  }

  // The same, coupled.
  Translator translator(parts);
  embed::Coupled coupled;
  const auto part_of = [&](PlaceId p) {
    for (std::size_t n = 0; n < parts.nets.size(); ++n) {
      const auto& map = parts.places[n];
      const auto it = std::find(map.begin(), map.end(), p);
      if (it != map.end()) return std::pair{n, static_cast<embed::Place>(it - map.begin())};
    }
    LPN_ASSERT(false);
  };
  try {
    for (std::size_t n = 0; n < parts.nets.size(); ++n) {
      embed::Instance::Params params;
      for (std::size_t k = 0; k < parts.nets[n].params.size(); ++k) {
        params.emplace_back(parts.nets[n].params[k].name, c.params[parts.first_param[n] + k]);
      }
      embed::Instance instance(embed::Library(libraries[n].api()), params);
      if (traced) instance.observe(Translator::observe, translator.user(n));
      coupled.add(std::move(instance));
    }
    for (const Load& load : c.loads) {
      const auto [net, place] = part_of(load.place);
      coupled[net].load(place, load.count, load.values);
    }
    for (const Link& link : parts.links) {
      coupled.join(link.from, parts.nets[link.from][link.out].name, link.to,
                   parts.nets[link.to][link.in].name);
    }
    if (c.done_count) coupled.set_done(static_cast<std::int64_t>(*c.done_count));
    if (!reference.error.empty()) coupled.run(0);
  } catch (const embed::Error& error) {
    ++tally.refused;
    if (!reference.error.empty()) return "";
    return fmt::format("refused: {}", error.what());
  }
  if (!reference.error.empty()) return "only the joined net is refused: " + reference.error;

  bool over = false;  // then what is pushed means nothing, and only the joined net says so
  std::size_t compared = 0;
  const auto check_commits = [&](std::size_t until) -> std::string {
    if (!traced) return "";
    for (; compared < std::min(until, translator.commits.size()); ++compared) {
      if (reference.commits[compared] == translator.commits[compared]) continue;
      return fmt::format("commit {}:\n  joined  {}\n  coupled {}", compared,
                         print_commit(c.net, reference.commits[compared]),
                         print_commit(c.net, translator.commits[compared]));
    }
    if (translator.commits.size() == until) return "";
    return fmt::format("{} commits joined, {} coupled", until, translator.commits.size());
  };
  for (std::size_t s = 0; s < reference.steps.size(); ++s) {
    const Step& step = c.steps[s];
    const StepOutcome& expected = reference.steps[s];
    try {
      if (step.push) {
        const auto [net, place] = part_of(step.place);
        if (over) continue;
        coupled[net].push(place, step.values, step.time);
        if (!expected.error.empty()) return "only the joined net refuses: " + expected.error;
        continue;
      }
      const embed::Result r = coupled.run(step.time);
      over = r.ending == LPN_DONE;
      RunResult got;
      got.ending = static_cast<Ending>(r.ending);
      if (r.has_latency != 0) got.latency = r.latency;
      got.last_commit = r.last_commit;
      got.commits = r.commits;
      got.done_tokens = r.done_tokens;
      got.stalled = r.stalled != 0;
      if (expected.fault)
        return fmt::format("step {}: only the joined net fails: {}", s, expected.message);
      RunResult wanted = *expected.result;
      wanted.blocked.clear();
      wanted.undrained.clear();
      if (std::string what = check_commits(expected.commits); !what.empty()) return what;
      if (!(got == wanted)) {
        return fmt::format("step {}: joined {}, coupled {}", s, print(wanted), print(got));
      }
      for (std::size_t p = 0; p < c.net.places.size(); ++p) {
        auto [net, place] = part_of(static_cast<PlaceId>(p));
        if (p < parts.links.size()) {
          net = parts.links[p].to;
          place = static_cast<embed::Place>(parts.links[p].in);
        }
        if (coupled[net].count(place) != expected.counts[p] ||
            coupled[net].values(place) != expected.tokens[p]) {
          return fmt::format("step {}: other tokens are left in {}", s, c.net.places[p].name);
        }
      }
    } catch (const embed::Fault& fault) {
      if (!expected.fault) return fmt::format("only the coupled nets fail: {}", fault.what());
      if (std::string what = check_commits(expected.commits); !what.empty()) return what;
      const RunFault& f = *expected.fault;
      const lpn_fault& g = fault.detail;
      std::size_t part = 0;
      while (std::string(fault.what()).find("'" + parts.nets.at(part).name + "'") ==
             std::string::npos) {
        ++part;
      }
      if (static_cast<int>(f.fault) != g.fault || f.time != g.time || f.group != g.group ||
          f.transition != parts.transitions[part].at(g.transition) || f.value != g.value ||
          static_cast<std::uint32_t>(f.site.kind) != g.site_kind || f.site.arc != g.site_arc ||
          f.site.emission != g.site_emission || f.site.field != g.site_field) {
        return fmt::format("joined: {}\ncoupled, part {}: {}", expected.message, part,
                           fault.what());
      }
      ++tally.faults;
      break;
    } catch (const embed::Error& error) {
      if (expected.error.empty()) return fmt::format("step {}: refused: {}", s, error.what());
    }
  }
  tally.commits += reference.commits.size();
  tally.crossed += translator.crossed();
  for (const Commit& commit : reference.commits) tally.zero_delay += commit.group != 0 ? 1 : 0;
  return "";
}

Hosted random_hosted(Random& r) {
  Hosted h;
  PartMaker maker(r, "part");
  const TokenType type = channel_type(r);
  const std::int64_t slots_in = r.between(1, 4), slots_out = r.between(1, 4);
  h.in = maker.channel_place("in", type, slots_in);
  h.out = maker.channel_place("out", type, slots_out);
  maker.fill();
  maker.drain(h.in);
  maker.feed(h.out);
  h.part = std::move(maker.net);
  h.produce_delay = r.between(1, 5);
  h.consume_delay = r.between(1, 9);
  h.producers = r.between(1, 3);
  h.consumers = r.between(1, 2);

  Net& all = h.joined.net;
  all.name = "joined";
  const Instance instance = add_instance(all, h.part, free_standing(h.part, "n"));
  h.places = instance.places;
  h.transitions = instance.transitions;
  Place jobs;
  jobs.name = "jobs";
  jobs.type = all[h.places[at(h.in)]].type;
  all.places.push_back(jobs);
  h.from = static_cast<PlaceId>(all.places.size() - 1);

  const auto add = [&](const char* name, PlaceId take, std::optional<PlaceId> put, Time delay,
                       std::int64_t servers) {
    Transition t;
    t.name = name;
    InputArc arc;
    arc.name = "token";
    arc.place = take;
    arc.weight = number(all, 1);
    t.inputs.push_back(arc);
    t.delay = number(all, delay);
    t.servers = number(all, servers);
    if (put) {
      OutputArc out;
      out.place = *put;
      Emission e;
      e.count = number(all, 1);
      for (std::uint32_t f = 0; f < all.type_of(*put).fields.size(); ++f) {
        e.fields.push_back({all.exprs.token(0, f, all.exprs.constant(0)), {}});
      }
      out.emissions.push_back(e);
      t.outputs.push_back(out);
    }
    all.transitions.push_back(t);
  };
  add("produce", h.from, h.places[at(h.in)], h.produce_delay, h.producers);
  add("consume", h.places[at(h.out)], std::nullopt, h.consume_delay, h.consumers);

  return h;
}

void random_traffic(Hosted& h, Random& r) {
  const Net& all = h.joined.net;
  Load load{h.from, static_cast<std::uint64_t>(r.between(3, 30)), {}};
  h.jobs.clear();
  for (std::uint64_t n = 0; n < load.count; ++n) {
    std::vector<std::int64_t> job;
    for (const Field& f : all.type_of(h.from).fields) {
      job.push_back(f.range ? r.between(f.range->lo, f.range->hi) : r.below(30));
    }
    load.values.insert(load.values.end(), job.begin(), job.end());
    h.jobs.push_back(std::move(job));
  }
  h.joined.loads = {load};
  const Case inputs = random_inputs(all, r);
  h.joined.params = inputs.params;
  for (const Load& l : inputs.loads) {
    if (l.place != h.from && l.place != h.places[at(h.in)] && l.place != h.places[at(h.out)]) {
      h.joined.loads.push_back(l);
    }
  }
  Step run;
  run.time = r.chance(70) ? 150 : 1'500;
  h.joined.steps = {run};
}

namespace {

struct Seen {
  Time time = 0;
  std::uint64_t group = 0;
  std::uint32_t transition = 0;
  std::uint64_t firing = 0;
  Time start = 0;
  bool operator==(const Seen&) const = default;
};

void see(void* user, const lpn_commit* c) {
  auto& seen = *static_cast<std::vector<Seen>*>(user);
  if (seen.size() >= kMostCommits) throw TooLong{};
  seen.push_back({c->time, c->group, c->transition, c->firing, c->start});
}

// Of `servers`, each busy until its time: the first that is free at `now`.
Time* free_server(std::vector<Time>& servers, Time now) {
  for (Time& until : servers) {
    if (until <= now) return &until;
  }
  return nullptr;
}

}  // namespace

std::string hosted_difference(const Hosted& h, const sim::Library& library, bool traced,
                              Tally& tally) {
  const Case& c = h.joined;
  const Time limit = c.steps[0].time;
  PlayOptions options;
  options.observe = true;
  options.most_commits = kMostCommits;
  Outcome reference;
  try {
    reference = play(c, options);
  } catch (const TooLong&) {
    ++tally.too_long;
    return "";
  }
  if (!reference.error.empty()) {
    ++tally.refused;
    return "";
  }
  std::vector<Seen> expected, seen, taken_expected, taken;
  for (const Commit& commit : reference.commits) {
    const auto it = std::find(h.transitions.begin(), h.transitions.end(), commit.transition);
    if (it == h.transitions.end()) continue;
    const auto k = static_cast<std::uint32_t>(it - h.transitions.begin());
    expected.push_back({commit.time, commit.group, k, commit.firing, commit.start});
    const Transition& t = h.part.transitions[k];
    for (std::size_t o = 0; o < t.outputs.size(); ++o) {
      if (t.outputs[o].place != h.out) continue;
      taken_expected.insert(taken_expected.end(), commit.produced[o],
                            Seen{commit.time, commit.group});
    }
  }

  embed::Instance::Params params;
  for (std::size_t k = 0; k < h.part.params.size(); ++k) {
    params.emplace_back(h.part.params[k].name, c.params[k]);
  }
  std::string failed;
  try {
    embed::Instance sim(embed::Library(library.api()), params);
    sim.set_done(-2);
    if (traced) sim.observe(see, &seen);
    for (const Load& load : c.loads) {
      const auto it = std::find(h.places.begin(), h.places.end(), load.place);
      if (it == h.places.end()) continue;
      sim.load(static_cast<embed::Place>(it - h.places.begin()), load.count, load.values);
    }
    const auto in = static_cast<embed::Place>(h.in), out = static_cast<embed::Place>(h.out);
    sim.collect(out);
    std::vector<Time> producers(static_cast<std::size_t>(h.producers)),
        consumers(static_cast<std::size_t>(h.consumers));
    std::size_t job = 0;
    for (Time now = 0; now <= limit;) {
      sim.run(now);
      for (Time* until; job < h.jobs.size() && (until = free_server(producers, now)) != nullptr;) {
        if (!sim.try_push(in, h.jobs[job], now + h.produce_delay)) break;
        ++job;
        *until = now + h.produce_delay;
      }
      for (Time* until; (until = free_server(consumers, now)) != nullptr;) {
        const std::vector<embed::Token> tokens = sim.take(out, 1);
        if (tokens.empty()) break;
        taken.push_back({tokens[0].time, tokens[0].group});
        *until = now + h.consume_delay;
        sim.release(out, 1, *until);
      }
      now = sim.next();  // pushes and releases are what the host waits for
    }
  } catch (const embed::Fault& fault) {
    failed = fault.what();
    const auto& wanted = reference.steps[0].fault;
    if (!wanted || wanted->time != fault.detail.time || wanted->group != fault.detail.group ||
        static_cast<int>(wanted->fault) != fault.detail.fault) {
      return "only in the host: " + failed;
    }
    ++tally.faults;
  } catch (const embed::Error& error) {
    return fmt::format("refused: {}", error.what());
  }
  if (failed.empty() && reference.steps[0].fault) return "only the joined net fails";
  if (traced) {
    for (std::size_t k = 0; k < std::min(seen.size(), expected.size()); ++k) {
      if (seen[k] == expected[k]) continue;
      return fmt::format(
          "commit {}: joined {}.{} {}#{}, in the host {}.{} {}#{}", k, expected[k].time,
          expected[k].group, h.part.transitions[expected[k].transition].name, expected[k].firing,
          seen[k].time, seen[k].group, h.part.transitions[seen[k].transition].name, seen[k].firing);
    }
    if (seen.size() != expected.size()) {
      return fmt::format("{} commits joined, {} in the host", expected.size(), seen.size());
    }
  }
  // What the host has taken is a front part: the rest waited for its consumers.
  for (std::size_t k = 0; k < taken.size(); ++k) {
    if (k >= taken_expected.size() || !(taken[k] == taken_expected[k])) {
      return fmt::format("token {} came at {}.{}", k, taken[k].time, taken[k].group);
    }
  }
  tally.commits += expected.size();
  tally.crossed += taken.size();
  for (const Seen& s : expected) tally.zero_delay += s.group != 0 ? 1 : 0;
  return "";
}

}  // namespace lpn::bench
