// A main() for a generated simulator: `program [MARKING] [--param name=value]... [--limit T]`.
//
// Knows nothing but the C interface, so it works the same for every net. Reads a marking file
// ("LPNM", docs/lpn-format.md) and prints one JSON object. Exit status: 0 answered, 1 stalled, 2
// something is wrong, 3 the limit was reached.
#pragma once

#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "lpnrt/abi.h"

extern "C" const lpn_sim_api* lpn_sim_entry(void);

namespace lpnrt::program {

struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The names of the interface, which lie one after the other.
struct Names {
  std::string net;
  std::vector<std::string> params, places, transitions;

  explicit Names(const lpn_sim_api& api) {
    const char* at = api.names;
    const auto next = [&at] {
      std::string name = at;
      at += name.size() + 1;
      return name;
    };
    net = next();
    for (uint32_t k = 0; k < api.params; ++k) params.push_back(next());
    for (uint32_t k = 0; k < api.places; ++k) places.push_back(next());
    for (uint32_t k = 0; k < api.transitions; ++k) transitions.push_back(next());
  }
};

inline int64_t to_number(const std::string& text, const std::string& what) {
  char* end = nullptr;
  errno = 0;
  const long long value = std::strtoll(text.c_str(), &end, 0);
  if (text.empty() || *end != 0 || errno != 0) {
    throw Refused(what + " needs a whole number of 64 bits, got '" + text + "'");
  }
  return value;
}

// Bytes of a marking file, checked at every step: the file may come from anywhere.
class MarkingFile {
 public:
  MarkingFile(const std::string& path, const lpn_sim_api& api, const Names& names)
      : api_(api), names_(names) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw Refused("cannot read " + path);
    bytes_.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }

  void load(lpn_sim* sim) {
    if (bytes_.compare(0, 4, "LPNM") != 0)
      fail("not a marking file: it does not begin with \"LPNM\"");
    at_ = 4;
    if (byte() != 1) fail("a marking file of another version");
    const unsigned flags = byte();
    if (flags > 1) fail("unknown flags");
    if (flags == 1) {
      const uint64_t done = varint();
      if (done > INT64_MAX) fail("the done count does not fit in 63 bits");
      api_.set_done(sim, static_cast<int64_t>(done));
    }
    std::vector<bool> seen(names_.places.size());
    for (uint64_t left = varint(); left > 0; --left) place(sim, seen);
    if (at_ != bytes_.size()) fail("bytes after the last place");
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Refused("marking file, byte " + std::to_string(at_) + ": " + what);
  }
  unsigned byte() {
    if (at_ >= bytes_.size()) fail("the file is cut off");
    return static_cast<unsigned char>(bytes_[at_++]);
  }
  uint64_t varint() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const unsigned next = byte();
      if (shift == 63 && next > 1) fail("a number does not fit in 64 bits");
      value |= static_cast<uint64_t>(next & 0x7f) << shift;
      if (next < 0x80) return value;
    }
  }
  std::string name() {
    const uint64_t size = varint();
    if (size > 200 || size > bytes_.size() - at_) fail("a name that is too long");
    const std::string text = bytes_.substr(at_, size);
    at_ += size;
    return text;
  }

  void place(lpn_sim* sim, std::vector<bool>& seen) {
    const std::string called = name();
    uint32_t p = 0;
    while (p < names_.places.size() && names_.places[p] != called) ++p;
    if (p == names_.places.size() || seen[p])
      fail("the net has no such place, or the file has it twice");
    seen[p] = true;
    const uint64_t fields = varint();
    if (fields != api_.place_fields[p])
      fail("place '" + called + "' has another number of properties");
    for (uint64_t k = 0; k < fields; ++k) name();
    const uint64_t count = varint();
    if (count > uint64_t{1} << 31 || count * fields > bytes_.size() - at_)
      fail("more tokens than bytes");
    std::vector<int64_t> values(count * fields);
    for (uint64_t k = 0; k < fields; ++k) {
      const unsigned coding = byte();
      if (coding > 1) fail("unknown coding of a column");
      uint64_t last = 0;
      for (uint64_t row = 0; row < count; ++row) {
        const uint64_t bits = varint();
        const uint64_t value = (bits >> 1) ^ (uint64_t{0} - (bits & 1));
        last = coding == 1 ? last + value : value;
        values[row * fields + k] = static_cast<int64_t>(last);
      }
    }
    switch (api_.load(sim, p, count, values.data())) {
      case LPN_OK: return;
      case LPN_BAD_VALUE: fail("a value of place '" + called + "' is outside its property's range");
      case LPN_NO_MEMORY: throw Refused("out of memory");
      default: fail("place '" + called + "' cannot be loaded");
    }
  }

  const lpn_sim_api& api_;
  const Names& names_;
  std::string bytes_;
  size_t at_ = 0;
};

inline int run(int argc, char** argv) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  const auto begin = Clock::now();
  const lpn_sim_api& api = *lpn_sim_entry();
  const Names names(api);
  std::vector<int64_t> params(api.param_defaults, api.param_defaults + api.params);
  std::string marking;
  int64_t limit = INT64_MAX;
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    if (word == "-h" || word == "--help") {
      std::printf(
          "%s [MARKING] [--param name=value]... [--limit T]\n\nSimulates the net '%s'. "
          "MARKING: a file of `lpn marking`. Parameters:\n",
          argv[0], names.net.c_str());
      for (uint32_t p = 0; p < api.params; ++p) {
        std::printf("  %s=%" PRId64 "\n", names.params[p].c_str(), params[p]);
      }
      return 0;
    }
    if (word == "-p" || word == "--param" || word == "--limit") {
      if (++k == argc) throw Refused(word + " needs a value");
      const std::string value = argv[k];
      if (word == "--limit") {
        limit = to_number(value, word);
        if (limit < 0) throw Refused("--limit needs a time >= 0");
        continue;
      }
      const size_t equals = value.find('=');
      uint32_t p = 0;
      while (p < api.params && names.params[p] != value.substr(0, equals)) ++p;
      if (equals == std::string::npos || p == api.params) {
        throw Refused("'" + value + "' is not name=value of a parameter; --help lists them");
      }
      params[p] = to_number(value.substr(equals + 1), "parameter " + names.params[p]);
    } else if (marking.empty() && !word.empty() && word[0] != '-') {
      marking = word;
    } else {
      throw Refused("unexpected '" + word + "'; --help tells what is expected");
    }
  }

  struct Sim {
    const lpn_sim_api& api;
    lpn_sim* sim;
    ~Sim() { api.destroy(sim); }
  };
  int32_t status = LPN_OK;
  const Sim sim{api, api.create(params.data(), &status)};
  if (sim.sim == nullptr) {
    throw Refused(status == LPN_NO_MEMORY ? "out of memory"
                                          : "a parameter gives servers < 1, a negative number of "
                                            "tokens or capacity, or a clock period < 1");
  }
  if (!marking.empty()) MarkingFile(marking, api, names).load(sim.sim);
  const double load_seconds = since(begin);

  const auto start = Clock::now();
  lpn_result result{};
  status = api.run(sim.sim, limit, &result);
  const double seconds = since(start);
  if (status == LPN_FULL) throw Refused("a place starts with more tokens than its capacity");
  if (status == LPN_NO_MEMORY) throw Refused("out of memory");
  if (status != LPN_OK) {
    lpn_fault fault{};
    api.fault(sim.sim, &fault);
    throw Refused("transition '" + names.transitions[fault.transition] + "' at time " +
                  std::to_string(fault.time) + ": error " + std::to_string(fault.fault) +
                  " of its formulas (value " + std::to_string(fault.value) +
                  "); lpn sim says which one");
  }
  static const char* const kEndings[] = {"quiet", "done", "limit"};
  std::printf("{\"net\": \"%s\", \"latency\": ", names.net.c_str());
  if (result.has_latency)
    std::printf("%" PRId64, result.latency);
  else
    std::printf("null");
  std::printf(", \"ending\": \"%s\", \"firings\": %" PRIu64 ", \"done_tokens\": %" PRIu64
              ", \"last_commit\": %" PRId64
              ", \"stalled\": %s, \"load_seconds\": %.9f, "
              "\"seconds\": %.9f",
              kEndings[result.ending], result.commits, result.done_tokens, result.last_commit,
              result.stalled ? "true" : "false", load_seconds, seconds);
  if (result.stalled) {
    std::printf(", \"left\": {");
    const char* comma = "";
    for (uint32_t p = 0; p < api.places; ++p) {
      const uint64_t left = api.tokens(sim.sim, p, nullptr);
      if (left == 0) continue;
      std::printf("%s\"%s\": %" PRIu64, comma, names.places[p].c_str(), left);
      comma = ", ";
    }
    std::printf("}");
  }
  std::printf("}\n");
  if (result.stalled) return 1;
  return result.ending == LPN_LIMIT ? 3 : 0;
}

}  // namespace lpnrt::program

int main(int argc, char** argv) {
  try {
    return lpnrt::program::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  }
}
