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
                                          const Marking& marking, bool later) {
  std::vector<std::uint64_t> tokens;
  for (std::uint32_t p = 0; p < net.places.size(); ++p) {
    const Marking::Tokens& given = marking[static_cast<PlaceId>(p)];
    std::uint64_t count = later ? given.count : given.present();
    for (const Initial& initial : net.places[p].initial) {
      count +=
          static_cast<std::uint64_t>(param_value(net, params, initial.count, "initial tokens", 0));
    }
    tokens.push_back(count);
  }
  return tokens;
}

Arrivals::Arrivals(const Marking& marking) {
  for (std::uint32_t p = 0; p < marking.places(); ++p) {
    const Marking::Tokens& tokens = marking[static_cast<PlaceId>(p)];
    const auto present = static_cast<std::ptrdiff_t>(tokens.present());
    if (tokens.times.empty() || tokens.present() == tokens.count) continue;
    queues_.push_back(
        {static_cast<PlaceId>(p), {tokens.times.begin() + present, tokens.times.end()}});
  }
}

const Arrivals::Queue* Arrivals::first() const {
  const Queue* found = nullptr;
  for (const Queue& queue : queues_) {
    if (queue.told == queue.times.size()) continue;
    if (found == nullptr || queue.time() < found->time()) found = &queue;
  }
  return found;
}

}  // namespace lpn::viz
