// lpn-run NET.lpn [MARKING]: a net and a marking file through the compiled simulator, without
// Python.
//
// Prints one JSON object with the time of each step, so that the cost of parsing, of loading the
// simulator from the cache and of running can be told apart. Exit status: 0 answered, 1 stalled, 2
// something is wrong, 3 the limit was reached or Ctrl-C.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <new>
#include <set>
#include <string>

#include "lpn/run/interp.h"
#include "lpn/sim/simulator.h"
#include "lpn/text/text.h"
#include "main/isolated.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kUsage =
    "lpn-run NET.lpn [MARKING] [-p name=value]... [--limit T] [--engine compiled|interp]\n"
    "        [--never-compile] [--isolate] [--isolate-seconds S] [--isolate-memory MIB]\n"
    "        [--max-memory MIB] [--max-time SECONDS] [--max-tokens N] [--max-firings N]\n"
    "        [--max-groups N]\n"
    "\n"
    "What is more than --max-... allow ends the run with ending \"budget\"; 0: any. Memory: three\n"
    "quarters of the machine's unless given. Tokens: at the start. Firings, groups: at one time.\n"
    "\n"
    "Simulates a net (lpn print) on the tokens of a marking file (lpn marking) and prints JSON.\n"
    "\n"
    "  --never-compile   interprets; no code of the net is compiled, loaded or run\n"
    "                    (also LPN_NO_COMPILE=1)\n"
    "  --isolate         does all in a child process: its death is an answer, E-killed\n"
    "  --isolate-seconds S   with --isolate: wall time of the child, compiling included\n"
    "  --isolate-memory MIB  with --isolate: address space of the child, and of each compiler\n";

struct Request {
  std::string net, marking;
  std::vector<std::pair<std::string, std::int64_t>> params;
  lpn::Time limit = lpn::kForever;
  bool interpret = false;
  bool isolate = false;
  lpn::sim::IsolationLimits most;
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

// Takes an option with a value.
void take_option(Request& request, const std::string& word, const std::string& value) {
  if (word == "--limit") {
    request.limit = to_number(value, word);
    if (request.limit < 0) throw usage("--limit needs a time >= 0");
  } else if (word == "--engine") {
    if (value != "compiled" && value != "interp") throw usage("--engine is compiled or interp");
    request.interpret = value == "interp";
  } else if (word == "--isolate-seconds" || word == "--isolate-memory") {
    const std::int64_t number = to_number(value, word);
    if (number < 1 || number > 1'000'000'000) throw usage(word + " needs a number 1..1000000000");
    if (word == "--isolate-seconds") {
      request.most.seconds = static_cast<double>(number);
    } else {
      request.most.bytes = static_cast<std::uint64_t>(number) << 20U;
    }
  } else {
    const std::size_t equals = value.find('=');
    if (equals == std::string::npos) throw usage(fmt::format("'{}' is not name=value", value));
    for (const auto& [name, given] : request.params) {
      if (name == value.substr(0, equals))
        throw usage(fmt::format("{} {} is given twice; give one value", word, name));
    }
    request.params.emplace_back(value.substr(0, equals),
                                to_number(value.substr(equals + 1), value.substr(0, equals)));
  }
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
  const std::set<std::string> valued{"-p",       "--param",           "--limit",
                                     "--engine", "--isolate-seconds", "--isolate-memory"};
  Request request;
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    if (word.starts_with("--max-")) {
      if (++k == argc) throw usage(word + " needs a value");
      set_budget(request.budget, word, argv[k]);
    } else if (valued.contains(word)) {
      if (++k == argc) throw usage(word + " needs a value");
      take_option(request, word, argv[k]);
    } else if (word == "--isolate") {
      request.isolate = true;
    } else if (word == "--never-compile") {
      ::setenv("LPN_NO_COMPILE", "1", 1);
      request.interpret = true;
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
  if (!request.isolate && (request.most.seconds || request.most.bytes)) {
    throw usage("--isolate-seconds and --isolate-memory need --isolate");
  }
  if (const auto most = request.most.bytes) {  // the engine says so before it hits that wall
    const std::uint64_t memory = request.budget.memory;  // 0: any
    request.budget.memory = memory == 0 ? *most : std::min(memory, *most);
  }
  return request;
}

volatile std::sig_atomic_t g_signal = 0;

// While a compiler runs, a signal that would end this process ends the compiler first.
lpn::sim::Library build(const lpn::Net& net) {
  constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction note {
  }, before[std::size(kSignals)];
  note.sa_handler = [](int signal) { g_signal = signal; };
  for (std::size_t k = 0; k < std::size(kSignals); ++k) {
    ::sigaction(kSignals[k], nullptr, &before[k]);
    if (before[k].sa_handler != SIG_IGN) ::sigaction(kSignals[k], &note, nullptr);
  }
  const auto restore = [&] {
    for (std::size_t k = 0; k < std::size(kSignals); ++k) {
      ::sigaction(kSignals[k], &before[k], nullptr);
    }
    if (g_signal == SIGTERM || g_signal == SIGHUP) ::raise(g_signal);
  };
  lpn::sim::CompileOptions options;
  options.keep_on = [] { return g_signal == 0; };
  try {
    lpn::sim::Library library = lpn::sim::Library::build(net, {}, options);
    restore();
    return library;
  } catch (...) {
    restore();
    throw;
  }
}

// What `make` makes of the bytes of a file, whose name its errors begin with.
template <typename Make>
auto read(const std::string& path, const Make& make) {
  std::string bytes;
  try {
    std::ifstream in;
    in.exceptions(std::ios::failbit | std::ios::badbit);
    in.open(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  } catch (const std::ios_base::failure&) {  // of a folder only reading fails
    throw lpn::Error("E-input", fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  }
  try {
    return make(bytes);
  } catch (const lpn::Error& error) {
    throw lpn::Error(error.code(), fmt::format("{}: {}", path, error.what()));
  }
}

// An answer that got lost is none: a full disk, a closed standard output.
void finish_output() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  throw lpn::Error("E-input", fmt::format("stdout: {}", std::strerror(errno)));
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
    net = read(request.net, [](const std::string& text) { return lpn::parse_net(text); });
    params = lpn::bind_params(net, request.params);
  });
  lpn::Marking marking(net);
  const double marking_seconds = timed([&] {
    if (request.marking.empty()) return;
    marking = read(request.marking,
                   [&](const std::string& bytes) { return lpn::load_marking(net, bytes); });
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
      const lpn::sim::Library library = build(net);
      cached = library.provenance().cached;
      if (const std::string& notice = library.provenance().notice; !notice.empty()) {
        fmt::print(stderr, "note: {}\n", notice);
      }
      simulator.emplace(library, params, marking, request.budget);
    });
    seconds = timed([&] { result = simulator->run(request.limit); });
    at = simulator->now() + (simulator->was_order_free() ? 1 : 0);  // which ends between instants
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
  finish_output();
  if (result.stalled) return 1;
  return stopped || result.ending == lpn::Ending::kLimit ? 3 : 0;
}

// simulate(), with what goes wrong as a message and an exit status.
int answer(const Request& request) {
  try {
    return simulate(request);
  } catch (const lpn::Error& error) {
    fmt::print(stderr, "error: {} [{}]\n", error.what(), error.code());
    return error.code() == "E-interrupted" ? 3 : 2;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "error: out of memory [E-memory]\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
  }
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error, as a full disk is
  try {
    for (int k = 1; k < argc; ++k) {
      if (std::string(argv[k]) == "-h" || std::string(argv[k]) == "--help") {
        fmt::print("{}", kUsage);
        finish_output();
        return 0;
      }
    }
    const Request request = parse(argc, argv);
    if (!request.isolate) return answer(request);
    return lpn::sim::isolated(request.most, [&] { return answer(request); });
  } catch (const lpn::Error& error) {
    fmt::print(stderr, "error: {} [{}]\n", error.what(), error.code());
    return error.code() == "E-interrupted" ? 3 : 2;
  }
}
