#include "lpn/net/net.h"

#include <fmt/format.h>

#include <cctype>

#include "lpn/base/error.h"

namespace lpn {
namespace {

template <typename Id, typename Items>
std::optional<Id> find_named(const Items& items, std::string_view name) {
  for (std::size_t k = 0; k < items.size(); ++k) {
    if (items[k].name == name) return static_cast<Id>(k);
  }
  return std::nullopt;
}

}  // namespace

std::optional<PlaceId> Net::find_place(std::string_view name) const {
  return find_named<PlaceId>(places, name);
}
std::optional<TransitionId> Net::find_transition(std::string_view name) const {
  return find_named<TransitionId>(transitions, name);
}
std::optional<std::uint32_t> Net::find_param(std::string_view name) const {
  return find_named<std::uint32_t>(params, name);
}

bool is_name(std::string_view text) {
  if (text.empty() || text.size() > 200) return false;
  bool start = true;  // of a word
  for (char c : text) {
    if (c == '.') {
      if (start) return false;
      start = true;
      continue;
    }
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool digit = c >= '0' && c <= '9';
    if (!letter && (start || !digit)) return false;
    start = false;
  }
  return !start;
}

std::string where(const Net& net, Source source) {
  if (source.line == 0 || source.file >= net.files.size()) return "";
  return fmt::format("{}:{}", net.files[source.file], source.line);
}

ParamValues bind_params(const Net& net,
                        const std::vector<std::pair<std::string, std::int64_t>>& given) {
  ParamValues values;
  for (const Param& param : net.params) values.push_back(param.value);
  for (const auto& [name, value] : given) {
    const auto index = net.find_param(name);
    if (!index) {
      std::string known;
      for (const Param& param : net.params) known += (known.empty() ? "" : ", ") + param.name;
      throw Error("E-param", fmt::format("net '{}' has no parameter '{}'; it has: {}", net.name,
                                         name, known.empty() ? "none" : known));
    }
    values[*index] = value;
  }
  for (std::size_t k = 0; k < values.size(); ++k) {
    const Param& param = net.params[k];
    if (param.range && (values[k] < param.range->lo || values[k] > param.range->hi)) {
      throw Error("E-param",
                  fmt::format("parameter '{}' of net '{}' is {}, outside its range {}..{}",
                              param.name, net.name, values[k], param.range->lo, param.range->hi));
    }
  }
  return values;
}

}  // namespace lpn
