// lpn-run NET.lpn [MARKING]: a net and a marking file through the compiled simulator, without
// Python.
//
// Prints one JSON object with the time of each step, so that the cost of parsing, of loading the
// simulator from the cache and of running can be told apart. Exit status: 0 answered, 1 stalled, 2
// something is wrong, 3 the limit was reached.
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "lpn/run/interp.h"
#include "lpn/sim/simulator.h"
#include "lpn/text/text.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kUsage =
    "lpn-run NET.lpn [MARKING] [-p name=value]... [--limit T] [--engine compiled|interp]\n"
    "        [--max-memory MIB] [--max-time SECONDS] [--max-tokens N] [--max-firings N]\n"
    "        [--max-groups N]\n"
    "\n"
    "What is more than --max-... allow ends the run with ending \"budget\"; 0: any. Memory: three\n"
    "quarters of the machine's unless given. Tokens: at the start. Firings, groups: at one time.\n"
    "\n"
    "Simulates a net (lpn print) on the tokens of a marking file (lpn marking) and prints JSON.\n";

struct Request {
  std::string net, marking;
  std::vector<std::pair<std::string, std::int64_t>> params;
  lpn::Time limit = lpn::kForever;
  bool interpret = false;
  lpn::Budget budget = {lpn::sim::sane_memory(), 0, 0, 0, 0};
};

lpn::Error usage(const std::string& message) { return {"E-usage", message}; }

std::int64_t to_number(const std::string& text, const std::string& what) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, value);
  if (failed != std::errc() || stop != end) {
    throw usage(fmt::format("{} needs a whole number of 64 bits, got '{}'", what, text));
  }
  return value;
}

void set_budget(lpn::Budget& budget, const std::string& word, const std::string& value) {
  if (word == "--max-time") {
    char* end = nullptr;
    budget.seconds = std::strtod(value.c_str(), &end);
    if (value.empty() || *end != 0 || !(budget.seconds >= 0)) {
      throw usage(fmt::format("--max-time needs seconds >= 0, got '{}'", value));
    }
    return;
  }
  const std::int64_t n = to_number(value, word);
  if (n < 0 || n > std::int64_t{1} << 40) throw usage(word + " needs a number >= 0");
  const auto most = static_cast<std::uint64_t>(n);
  if (word == "--max-memory")
    budget.memory = most << 20;
  else if (word == "--max-tokens")
    budget.tokens = most;
  else if (word == "--max-firings")
    budget.firings = most;
  else if (word == "--max-groups")
    budget.groups = most;
  else
    throw usage(fmt::format("unknown option '{}'; --help lists them", word));
}

Request parse(int argc, char** argv) {
  Request request;
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    if (word.starts_with("--max-")) {
      if (++k == argc) throw usage(word + " needs a value");
      set_budget(request.budget, word, argv[k]);
    } else if (word == "-p" || word == "--param" || word == "--limit" || word == "--engine") {
      if (++k == argc) throw usage(word + " needs a value");
      const std::string value = argv[k];
      if (word == "--limit") {
        request.limit = to_number(value, word);
        if (request.limit < 0) throw usage("--limit needs a time >= 0");
      } else if (word == "--engine") {
        if (value != "compiled" && value != "interp") throw usage("--engine is compiled or interp");
        request.interpret = value == "interp";
      } else {
        const std::size_t equals = value.find('=');
        if (equals == std::string::npos) throw usage(fmt::format("'{}' is not name=value", value));
        request.params.emplace_back(value.substr(0, equals),
                                    to_number(value.substr(equals + 1), value.substr(0, equals)));
      }
    } else if (!word.empty() && word[0] == '-') {
      throw usage(fmt::format("unknown option '{}'; --help lists them", word));
    } else if (request.net.empty()) {
      request.net = word;
    } else if (request.marking.empty()) {
      request.marking = word;
    } else {
      throw usage(fmt::format("unexpected '{}'; --help tells what is expected", word));
    }
  }
  if (request.net.empty()) throw usage("which net? lpn-run NET.lpn [MARKING]");
  return request;
}

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw lpn::Error("E-input", "cannot read " + path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// How long the call took, in seconds.
template <typename Act>
double timed(Act act) {
  const auto begin = Clock::now();
  act();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::string blocked_list(const lpn::Net& net, const lpn::RunResult& result) {
  std::string text;
  for (const lpn::Blocked& b : result.blocked) {
    const lpn::Transition& t = net[b.transition];
    std::string place = "null";
    if (b.wait == lpn::Wait::kCredit) {
      place = fmt::format("\"{}\"", net.places[b.arc].name);
    } else if (b.wait == lpn::Wait::kToken || b.wait == lpn::Wait::kGuard ||
               b.wait == lpn::Wait::kInhibited) {
      place = fmt::format("\"{}\"", net[t.inputs[b.arc].place].name);
    }
    text += fmt::format("{}{{\"transition\": \"{}\", \"reason\": \"{}\", \"place\": {}}}",
                        text.empty() ? "" : ", ", t.name, lpn::wait_name(b.wait), place);
  }
  return "[" + text + "]";
}

int simulate(const Request& request) {
  lpn::Net net;
  lpn::ParamValues params;
  const double parse_seconds = timed([&] {
    net = lpn::parse_net(read(request.net));
    params = lpn::bind_params(net, request.params);
  });
  lpn::Marking marking(net);
  const double marking_seconds = timed([&] {
    if (!request.marking.empty()) marking = lpn::load_marking(net, read(request.marking));
  });
  lpn::RunResult result;
  double load_seconds = 0, seconds = 0;
  bool cached = false;
  lpn::Time at = 0;
  if (request.interpret) {
    std::optional<lpn::Interp> interp;
    load_seconds = timed([&] {
      lpn::InterpOptions options;
      options.budget = request.budget;
      interp.emplace(net, params, marking, options);
    });
    seconds = timed([&] { result = interp->run(request.limit); });
    at = interp->now();
  } else {
    std::optional<lpn::sim::Simulator> simulator;
    load_seconds = timed([&] {
      const auto library = lpn::sim::Library::build(net);
      cached = library.provenance().cached;
      simulator.emplace(library, params, marking, request.budget);
    });
    seconds = timed([&] { result = simulator->run(request.limit); });
    at = simulator->now();
  }
  const char* const endings[] = {"quiet", "done", "limit", "budget"};
  const bool stopped = result.ending == lpn::Ending::kStopped;
  fmt::print(
      "{{\"net\": \"{}\", \"engine\": \"{}\", \"cached\": {}, \"latency\": {}, \"ending\": "
      "\"{}\"{}, \"firings\": {}, \"done_tokens\": {}, \"last_commit\": {}, \"stalled\": {}, "
      "\"blocked\": {}, \"parse_seconds\": {:.9f}, \"marking_seconds\": {:.9f}, "
      "\"load_seconds\": {:.9f}, \"seconds\": {:.9f}}}\n",
      net.name, request.interpret ? "interp" : "compiled", cached,
      result.latency ? fmt::to_string(*result.latency) : "null",
      endings[static_cast<int>(result.ending)],
      stopped ? fmt::format(", \"stopped\": \"stopped at time {}: {}\"", at,
                            lpn::stop_text(result.stop, request.budget))
              : std::string(),
      result.commits, result.done_tokens, result.last_commit, result.stalled,
      blocked_list(net, result), parse_seconds, marking_seconds, load_seconds, seconds);
  if (result.stalled) return 1;
  return stopped || result.ending == lpn::Ending::kLimit ? 3 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  for (int k = 1; k < argc; ++k) {
    if (std::string(argv[k]) == "-h" || std::string(argv[k]) == "--help") {
      fmt::print("{}", kUsage);
      return 0;
    }
  }
  try {
    return simulate(parse(argc, argv));
  } catch (const lpn::Error& error) {
    fmt::print(stderr, "error: {} [{}]\n", error.what(), error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
  }
  return 2;
}
