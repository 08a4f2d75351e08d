// What the interpreter does with many cases, as text: the other side of compare.py.
//
// stdin: cases, each a line "net", the text of a net, a line "inputs", its inputs
// (equivalence/case.h), a line "go". stdout: for each the lines of print_outcome with statistics
// and `now` after each run, then a line "end"; "refused CODE" for a net that is none, "too long"
// for a run of more than 4,000 commits.

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/time.h>

#include <cstdio>
#include <iostream>
#include <string>

#include "case.h"
#include "lpn/base/error.h"
#include "lpn/net/verify.h"
#include "lpn/text/text.h"
#include "outcome.h"

namespace lpn::bench {
namespace {

constexpr std::size_t kMostCommits = 4000;
constexpr itimerval kMostSeconds{{0, 0}, {2, 0}};  // of CPU; then SIGVTALRM ends the process

std::string answer(const std::string& text, const std::string& inputs) {
  Case c;
  try {
    c = make_case(parse_net(text));
    if (const auto violations = verify(c.net); !violations.empty())
      return fmt::format("refused {}\n", violations[0].code);
    parse_inputs(inputs, c);
  } catch (const Error& error) {
    return fmt::format("refused {}\n", error.code());
  }
  try {
    const Outcome outcome = play(c, {.observe = true, .stats = true, .most_commits = kMostCommits});
    return print_outcome(c, outcome, true);
  } catch (const TooLong&) {
    return "too long\n";
  } catch (const std::bad_alloc&) {
    return "too long\n";
  }
}

int main() {
#ifndef __SANITIZE_ADDRESS__  // it reserves more address space than that
  const rlimit memory{rlim_t{4} << 30, rlim_t{4} << 30};
  setrlimit(RLIMIT_AS, &memory);
#endif
  std::string text, inputs, line;
  std::string* into = &text;
  while (std::getline(std::cin, line)) {
    if (line == "net") {
      text.clear();
      into = &text;
    } else if (line == "inputs") {
      inputs.clear();
      into = &inputs;
    } else if (line == "go") {
      setitimer(ITIMER_VIRTUAL, &kMostSeconds, nullptr);
      std::fputs((answer(text, inputs) + "end\n").c_str(), stdout);
      std::fflush(stdout);
    } else {
      *into += line + "\n";
    }
  }
  return 0;
}

}  // namespace
}  // namespace lpn::bench

int main() { return lpn::bench::main(); }
