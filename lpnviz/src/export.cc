#include "lpn/viz/export.h"

#include <fmt/format.h>

#include "lpn/net/initial.h"

namespace lpn::viz {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == '<') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      out += c;
    }
  }
  return out;
}

std::string in_script(const std::string& json) {
  std::string out;
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

std::vector<std::uint64_t> initial_tokens(const Net& net, const ParamValues& params,
                                          const Marking& marking) {
  std::vector<std::uint64_t> tokens;
  for (std::uint32_t p = 0; p < net.places.size(); ++p) {
    std::uint64_t count = marking[static_cast<PlaceId>(p)].count;
    for (const Initial& initial : net.places[p].initial) {
      count +=
          static_cast<std::uint64_t>(param_value(net, params, initial.count, "initial tokens", 0));
    }
    tokens.push_back(count);
  }
  return tokens;
}

}  // namespace lpn::viz
