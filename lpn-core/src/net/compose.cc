#include "lpn/net/compose.h"

#include <fmt/format.h>

#include <algorithm>

#include "lpn/base/error.h"
#include "lpn/expr/build.h"
#include "lpn/net/facts.h"

namespace lpn {
namespace {

bool same_fields(const TokenType& x, const TokenType& y) {
  return std::equal(
      x.fields.begin(), x.fields.end(), y.fields.begin(), y.fields.end(),
      [](const Field& a, const Field& b) { return a.name == b.name && a.range == b.range; });
}

std::string describe(const TokenType& type) {
  std::string text;
  for (const Field& field : type.fields) {
    text += (text.empty() ? "" : ", ") + field.name;
    if (field.range) text += fmt::format(": {}..{}", field.range->lo, field.range->hi);
  }
  return fmt::format("{} ({})", type.name, text.empty() ? "no properties" : text);
}

class Composer {
 public:
  Composer(Net& net, const Net& part, const InstanceSpec& spec)
      : net_(net), part_(part), spec_(spec) {}

  Instance run() {
    check();
    Instance instance;
    for (const std::string& file : part_.files) {
      const auto it = std::find(net_.files.begin(), net_.files.end(), file);
      files_.push_back(static_cast<std::uint32_t>(it - net_.files.begin()));
      if (it == net_.files.end()) net_.files.push_back(file);
    }
    for (std::size_t k = 0; k < part_.params.size(); ++k) {
      if (spec_.params[k]) {
        params_.push_back(*spec_.params[k]);
        instance.params.emplace_back();
        continue;
      }
      Param param = part_.params[k];
      param.name = prefixed(param.name);
      param.source = source(param.source);
      const auto index = static_cast<std::uint32_t>(net_.params.size());
      net_.params.push_back(std::move(param));
      params_.push_back(net_.exprs.param(index));
      instance.params.emplace_back(index);
    }
    for (const TokenType& type : part_.types) types_.push_back(add_type(type));
    for (std::size_t k = 0; k < part_.places.size(); ++k) {
      instance.places.push_back(add_place(part_.places[k], spec_.connect[k]));
    }
    for (const Transition& t : part_.transitions) {
      instance.transitions.push_back(add_transition(t, instance.places));
    }
    return instance;
  }

 private:
  std::string prefixed(const std::string& name) const { return spec_.prefix + "." + name; }

  // Everything that can fail, before anything is changed.
  void check() const {
    if (!is_name(spec_.prefix)) {
      throw Error("E-name", fmt::format("'{}' cannot be the prefix of an instance: use letters, "
                                        "digits and _, starting with a letter or _",
                                        spec_.prefix));
    }
    LPN_ASSERT(spec_.connect.size() == part_.places.size());
    LPN_ASSERT(spec_.params.size() == part_.params.size());
    for (std::size_t k = 0; k < part_.places.size(); ++k) {
      const Place& theirs = part_.places[k];
      if (!spec_.connect[k]) {
        if (net_.find_place(prefixed(theirs.name))) taken("place", theirs.name);
        continue;
      }
      const Place& mine = net_[*spec_.connect[k]];
      if (!same_fields(net_[mine.type], part_[theirs.type])) {
        throw Error(
            "E-connect",
            fmt::format("place '{}' of net '{}' cannot be '{}': its tokens are {}, there {}; "
                        "connected places have the same properties and ranges",
                        theirs.name, part_.name, mine.name, describe(part_[theirs.type]),
                        describe(net_[mine.type])));
      }
      if (mine.capacity && theirs.capacity) {
        throw Error(
            "E-connect",
            fmt::format("place '{}' of net '{}' and '{}' both declare a capacity; declare it "
                        "once",
                        theirs.name, part_.name, mine.name));
      }
    }
    for (const Transition& t : part_.transitions) {
      if (net_.find_transition(prefixed(t.name))) taken("transition", t.name);
    }
    for (std::size_t k = 0; k < part_.params.size(); ++k) {
      const Param& param = part_.params[k];
      std::int64_t value = 0;
      if (!spec_.params[k]) {
        if (net_.find_param(prefixed(param.name))) taken("parameter", param.name);
      } else if (param.range && net_.exprs.is_const(*spec_.params[k], value) &&
                 (value < param.range->lo || value > param.range->hi)) {
        throw Error("E-param",
                    fmt::format("parameter '{}' of net '{}' is given {}, outside its range {}..{}",
                                param.name, part_.name, value, param.range->lo, param.range->hi));
      }
    }
  }

  [[noreturn]] void taken(const char* what, const std::string& name) const {
    throw Error("E-duplicate", fmt::format("net '{}' has a {} '{}' already; give the instance of "
                                           "'{}' another prefix",
                                           net_.name, what, prefixed(name), part_.name));
  }

  Source source(Source s) const {
    if (s.line == 0 || s.file >= files_.size()) return {};
    return {files_[s.file], s.line};
  }

  Formula formula(const Formula& f) {
    return {substitute(part_.exprs, f.id, net_.exprs, params_), source(f.source)};
  }
  std::optional<Formula> formula(const std::optional<Formula>& f) {
    if (!f) return std::nullopt;
    return formula(*f);
  }
  std::vector<Formula> formulas(const std::vector<Formula>& fs) {
    std::vector<Formula> copies;
    for (const Formula& f : fs) copies.push_back(formula(f));
    return copies;
  }

  TypeId add_type(const TokenType& type) {
    const auto find = [this](const std::string& name) {
      return std::find_if(net_.types.begin(), net_.types.end(),
                          [&](const TokenType& t) { return t.name == name; });
    };
    std::string name = type.name;
    if (auto it = find(name); it != net_.types.end()) {
      if (same_fields(*it, type)) return static_cast<TypeId>(it - net_.types.begin());
      name = prefixed(name);
    }
    TokenType copy = type;
    copy.name = name;
    copy.source = source(type.source);
    net_.types.push_back(std::move(copy));
    return static_cast<TypeId>(net_.types.size() - 1);
  }

  PlaceId add_place(const Place& theirs, std::optional<PlaceId> connected) {
    std::vector<Initial> initial;
    for (const Initial& group : theirs.initial) {
      initial.push_back({formula(group.count), formulas(group.fields)});
    }
    const std::optional<Formula> capacity = formula(theirs.capacity);
    if (connected) {
      Place& mine = net_[*connected];
      mine.initial.insert(mine.initial.end(), initial.begin(), initial.end());
      if (capacity) mine.capacity = capacity;
      mine.drain = mine.drain || theirs.drain;
      return *connected;
    }
    Place copy = theirs;
    copy.name = prefixed(theirs.name);
    copy.type = types_[static_cast<std::size_t>(theirs.type)];
    copy.capacity = capacity;
    copy.initial = std::move(initial);
    copy.source = source(theirs.source);
    net_.places.push_back(std::move(copy));
    return static_cast<PlaceId>(net_.places.size() - 1);
  }

  TransitionId add_transition(const Transition& theirs, const std::vector<PlaceId>& places) {
    Transition copy = theirs;
    copy.name = prefixed(theirs.name);
    copy.source = source(theirs.source);
    for_each_formula(copy, [this](Formula& f, const Site&) { f = formula(f); });
    for (InputArc& arc : copy.inputs) {
      arc.place = places[static_cast<std::size_t>(arc.place)];
      arc.source = source(arc.source);
    }
    for (OutputArc& arc : copy.outputs) {
      arc.place = places[static_cast<std::size_t>(arc.place)];
      arc.source = source(arc.source);
    }
    if (spec_.clock) copy.clock = clock_of(copy.clock);
    net_.transitions.push_back(std::move(copy));
    return static_cast<TransitionId>(net_.transitions.size() - 1);
  }

  // In ticks of the net: each of the part's ticks is a period of the instance's clock.
  Clock clock_of(const std::optional<Clock>& theirs) {
    const Clock& ours = *spec_.clock;
    if (!theirs) return ours;
    ExprBuilder b(net_.exprs);
    return {{b.mul(theirs->period.id, ours.period.id), theirs->period.source},
            {b.add(b.mul(theirs->phase.id, ours.period.id), ours.phase.id), theirs->phase.source}};
  }

  Net& net_;
  const Net& part_;
  const InstanceSpec& spec_;
  std::vector<std::uint32_t> files_;
  std::vector<ExprId> params_;
  std::vector<TypeId> types_;
};

}  // namespace

Instance add_instance(Net& net, const Net& part, const InstanceSpec& spec) {
  LPN_ASSERT(&net != &part);
  return Composer(net, part, spec).run();
}

}  // namespace lpn
