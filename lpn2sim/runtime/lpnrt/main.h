// A main() for a generated simulator: `program [MARKING] [--param name=value]... [--limit T]`.
//
// Knows nothing but the C interface, so it works the same for every net. Reads a marking file
// ("LPNM", docs/lpn-format.md) and prints one JSON object. Exit status: 0 answered, 1 stalled, 2
// something is wrong, 3 the limit was reached.
#pragma once

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string>
#include <system_error>
#include <vector>

#include "lpnrt/abi.h"
#include "lpnrt/marking_file.h"
#include "lpnrt/words.h"

extern "C" const lpn_sim_api* lpn_sim_entry(void);

namespace lpnrt::program {

// Decimal, as lpn-run reads it: "010" is ten.
inline int64_t to_number(const std::string& text, const std::string& what) {
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, value);
  if (failed != std::errc() || stop != end)
    throw Refused(what + " needs a whole number of 64 bits, got '" + text + "'");
  return value;
}

inline std::string read_file(const std::string& path) {
  std::FILE* const in = std::fopen(path.c_str(), "rb");
  std::string bytes;
  if (in != nullptr) {
    char block[1 << 16];
    for (size_t n; (n = std::fread(block, 1, sizeof block, in)) > 0;) bytes.append(block, n);
  }
  const bool failed = in == nullptr || std::ferror(in) != 0;
  const int why = errno;
  if (in != nullptr) std::fclose(in);
  if (failed) throw Refused("cannot read " + path + ": " + std::strerror(why));
  return bytes;
}

// An answer that got lost is none: a full disk, a closed standard output.
inline void finish_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw Refused(std::string("standard output: ") + std::strerror(errno));
}

// Why there is no instance with these parameters.
inline std::string refusal(const lpn_sim_api& api, const Names& names,
                           const std::vector<int64_t>& params) {
  for (uint32_t p = 0; p < api.params; ++p) {
    if (params[p] >= api.param_lo[p] && params[p] <= api.param_hi[p]) continue;
    return "parameter '" + names.params[p] + "' of net '" + names.net + "' is " +
           std::to_string(params[p]) + ", outside its range " + std::to_string(api.param_lo[p]) +
           ".." + std::to_string(api.param_hi[p]);
  }
  return "net '" + names.net + "': " + kBadParams;
}

// What ended a run that has no result.
inline std::string failure(const lpn_sim_api& api, const Names& names, const lpn_sim* sim,
                           int32_t status) {
  lpn_fault fault{};
  api.fault(sim, &fault);
  if (status == LPN_FULL) {
    const uint32_t place = static_cast<uint32_t>(fault.value);
    return "place '" + names.places[place] + "' of net '" + names.net + "' starts with " +
           std::to_string(api.tokens(sim, place, nullptr)) + " tokens, more than its capacity";
  }
  return "net '" + names.net + "', transition '" + names.transitions[fault.transition] +
         "' at time " + std::to_string(fault.time) + ": " + fault_words(fault);
}

inline void load_marking(const std::string& path, const lpn_sim_api& api, const Names& names,
                         lpn_sim* sim) {
  const std::string bytes = read_file(path);
  try {
    MarkingFile(bytes, api, names).load(sim);
  } catch (const Refused& refused) {
    throw Refused("marking file " + path + ": " + refused.what());
  }
}

inline int run(int argc, char** argv) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  const auto begin = Clock::now();
  const lpn_sim_api& api = *lpn_sim_entry();
  const Names names(api);
  std::vector<int64_t> params(api.param_defaults, api.param_defaults + api.params);
  std::vector<bool> given(api.params);
  std::string marking;
  int64_t limit = INT64_MAX;
  lpn_budget budget{};
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    if (word == "-h" || word == "--help") {
      std::printf(
          "%s [MARKING] [--param name=value]... [--limit T] [--max-memory MIB] [--max-time "
          "SECONDS]\n\nSimulates the net '%s'. "
          "MARKING: a file of `lpn marking`. Parameters:\n",
          argv[0], names.net.c_str());
      for (uint32_t p = 0; p < api.params; ++p) {
        std::printf("  %s=%" PRId64, names.params[p].c_str(), params[p]);
        if (api.param_lo[p] != INT64_MIN || api.param_hi[p] != INT64_MAX)
          std::printf("  (%" PRId64 "..%" PRId64 ")", api.param_lo[p], api.param_hi[p]);
        std::printf("\n");
      }
      finish_output();
      return 0;
    }
    if (word == "-p" || word == "--param" || word == "--limit" || word == "--max-memory" ||
        word == "--max-time") {
      if (++k == argc) throw Refused(word + " needs a value");
      const std::string value = argv[k];
      if (word == "--limit") {
        limit = to_number(value, word);
        if (limit < 0) throw Refused("--limit needs a time >= 0");
        continue;
      }
      if (word == "--max-memory" || word == "--max-time") {
        const int64_t most = to_number(value, word);
        if (most < 0 || most > INT64_MAX / 1000000000) throw Refused(word + " needs a number >= 0");
        if (word == "--max-memory")
          budget.memory = static_cast<uint64_t>(most) << 20;
        else
          budget.nanoseconds = static_cast<uint64_t>(most) * 1000000000;
        continue;
      }
      const size_t equals = value.find('=');
      uint32_t p = 0;
      while (p < api.params && names.params[p] != value.substr(0, equals)) ++p;
      if (equals == std::string::npos || p == api.params) {
        throw Refused("'" + value + "' is not name=value of a parameter; --help lists them");
      }
      if (given[p]) throw Refused(word + " " + names.params[p] + " is given twice; give one value");
      given[p] = true;
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
  const Sim sim{api, api.create_within(params.data(), &budget, &status, nullptr)};
  if (sim.sim == nullptr) {
    throw Refused(status == LPN_OVER ? "the tokens of the start need more than --max-... allow"
                  : status == LPN_NO_MEMORY ? "out of memory"
                                            : refusal(api, names, params));
  }
  if (!marking.empty()) load_marking(marking, api, names, sim.sim);
  const double load_seconds = since(begin);

  const auto start = Clock::now();
  lpn_result result{};
  status = api.run(sim.sim, limit, &result);
  const double seconds = since(start);
  if (status == LPN_NO_MEMORY) throw Refused("out of memory");
  if (status != LPN_OK) throw Refused(failure(api, names, sim.sim, status));
  static const char* const kEndings[] = {"quiet", "done", "limit", "budget"};
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
  finish_output();
  if (result.stalled) return 1;
  return result.ending == LPN_LIMIT || result.ending == LPN_STOPPED ? 3 : 0;
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
