// Certificates of any bytes: read and checked against bounds whose true values are known, because
// every input was looked at. What is no certificate is an Error, what proves nothing has a reason,
// and what is accepted must be true. Text that is read is written and read the same again.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lpn/base/error.h"
#include "lpn/classes/partition.h"
#include "lpn/expr/build.h"
#include "lpn/smt/certificate.h"
#include "lpn/smt/certificate_json.h"
#include "lpn/smt/measured_path.h"
#include "lpn/text/text.h"
#include "require.h"

namespace {

using namespace lpn;  // NOLINT: all of this file is about lpn's types
using lpn::fuzz::require;

// Two jobs fetched and worked on, with a gate, a clock, an interval and a choice between two ways:
// every kind of instant.
constexpr std::string_view kNet = R"(lpn 1
net small
type unit ()
type job (size: 0..9)
place in : job start
place ready : job
place lock : unit initial 1
place out : unit done
transition fetch {
  take j from in
  delay 3
  servers 1
  interval 4
  put ready (j.size)
}
transition slow {
  take j from ready when j.size > 4
  empty l in lock
  delay j.size * 2
  servers 1
  put out
}
transition quick {
  take j from ready when j.size <= 4
  clock 3 phase 1
  delay j.size
  put out
}
transition open {
  take l from lock
  delay 5
}
end
)";

// What is bounded, and where it lies.
struct Question {
  const InputSpace* space;
  smt::Target target;
  Time least = std::numeric_limits<Time>::max(), most = std::numeric_limits<Time>::min();
};

// Sizes from 1 to 6 that add up to 9 at most, as variables of a space.
InputSpace small_space(const Net& net) {
  InputSpace space;
  ExprBuilder build(space.variables.exprs);
  std::vector<std::vector<ExprId>> rows;
  for (const char* name : {"first", "second"}) {
    const auto k = static_cast<std::uint32_t>(space.variables.params.size());
    space.variables.params.push_back(
        {.name = name, .value = 1, .range = Range{1, 6}, .source = {}});
    rows.push_back({space.variables.exprs.param(k)});
  }
  const ExprId sum = build.add(rows[0][0], rows[1][0]);
  space.constraints.push_back(build.le(sum, space.variables.exprs.constant(9)));
  space.tokens.push_back({.place = *net.find_place("in"), .rows = rows, .count = {}});
  return space;
}

// Five numbers of which two sums are limited, one of them with factors near the end of 64 bits; two
// chains of delays that are joined: what multipliers and budgets are for.
struct Limited {
  InputSpace space;
  Path path;
  smt::Measure lead;  // how far the second chain is ahead of the end, and a multiple of the first

  Limited() {
    ExprPool& pool = space.variables.exprs;
    ExprBuilder build(pool);
    std::vector<ExprId> x;
    for (std::uint32_t k = 0; k < 5; ++k) {
      space.variables.params.push_back(
          {.name = "x" + std::to_string(k), .value = 0, .range = Range{0, 3}, .source = {}});
      x.push_back(pool.param(k));
    }
    ExprId sum = x[0];
    for (std::size_t k = 1; k < x.size(); ++k) sum = build.add(sum, x[k]);
    const auto times = [&](std::int64_t factor, ExprId of) {
      return build.mul(pool.constant(factor), of);
    };
    const std::int64_t large = std::int64_t{1} << 57;
    ExprId weighted = times(large, x[0]);
    for (std::size_t k = 1; k < x.size(); ++k)
      weighted = build.add(weighted, times(k % 2 == 0 ? large : 2 * large, x[k]));
    space.constraints = {build.le(sum, pool.constant(7)),
                         build.le(weighted, pool.constant(9 * large))};
    const auto after = [&](InstantId from, ExprId delay) {
      return path.timing.add({.after = {{from, delay}}});
    };
    const InstantId first = after(after(kTimeZero, x[0]), times(3, x[1]));
    const InstantId second = after(after(kTimeZero, times(2, x[2])), x[3]);
    path.latency = path.timing.add({.after = {{first, x[4]}, {second, pool.constant(1)}}});
    lead = {.instants = {{1, path.latency}, {-1, second}, {2, first}}, .constant = -4};
  }
};

// Everything that is asked, with its answer. Lives as long as the program.
class Bench {
 public:
  Bench() : net_(parse_net(kNet)), parts_(partition(net_, small_space(net_))) {
    const Path& path = limited_.path;
    questions_.push_back({&limited_.space, {.path = &path, .instant = path.latency}});
    questions_.push_back(
        {&limited_.space, {.path = &path, .instant = {}, .measure = limited_.lead}});
    require(parts_.complete, "the bench is not complete");
    for (const InputClass& each : parts_.classes) {
      for (const Path& path : each.paths) {
        questions_.push_back({&parts_.space, {.path = &path, .instant = path.latency}});
        add_measures(path);
      }
    }
    std::vector<Question> asked;
    for (Question& question : questions_) {
      answer(question);
      if (question.least <= question.most) asked.push_back(question);
    }
    questions_ = std::move(asked);
    require(questions_.size() >= 6, "the bench asks too little");
  }
  const std::vector<Question>& questions() const { return questions_; }

 private:
  void add_measures(const Path& path) {
    if (path.outcome != Outcome::kLatency) return;
    const auto& measured =
        measured_.emplace_back(std::make_unique<smt::MeasuredPath>(net_, parts_.space, path));
    const auto ask = [&](const smt::Measure& measure) {
      questions_.push_back(
          {&measured->space(), {.path = &measured->path(), .instant = {}, .measure = measure}});
    };
    ask(measured->measures().latency());
    ask(measured->measures().busy(*net_.find_transition("fetch")));
    ask(measured->measures().stall(*net_.find_transition("fetch"), *net_.find_place("in")));
  }

  static void answer(Question& question) {
    each_input(*question.space, [&](const Assignment& input) {
      const Path& path = *question.target.path;
      if (!follows(path, *question.space, input)) return true;
      const std::vector<Time> times = evaluate(path.timing, *question.space, input);
      const Time value = question.target.measure
                             ? smt::value(*question.target.measure, times)
                             : times.at(static_cast<std::size_t>(question.target.instant));
      question.least = std::min(question.least, value);
      question.most = std::max(question.most, value);
      return true;
    });
  }

  Limited limited_;
  Net net_;
  Partition parts_;
  std::vector<std::unique_ptr<smt::MeasuredPath>> measured_;
  std::vector<Question> questions_;
};

void check_all(const smt::PathCertificate& certificate) {
  static const Bench bench;
  for (const Question& question : bench.questions()) {
    std::optional<std::string> why;
    try {
      why = smt::check(*question.space, question.target, certificate);
    } catch (const Error& error) {
      require(!error.code().empty(), "an error without a code");
      continue;
    }
    require(!why || !why->empty(), "refused without a reason");
    if (why) continue;
    require(certificate.maximum ? certificate.bound >= question.most
                                : certificate.bound <= question.least,
            "a false bound is proved");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool maximum : {true, false}) {
    smt::PathCertificate certificate;
    try {
      certificate = smt::parse_certificate(text, maximum);
    } catch (const Error& error) {
      require(error.code() == "E-certificate", "not of this reader: " + error.code());
      return 0;
    }
    // A member that its kind of step does not have is not written; what is written stays.
    const std::string written = smt::to_json(certificate);
    const smt::PathCertificate again = smt::parse_certificate(written, maximum);
    require(smt::to_json(again) == written, "a written certificate is read otherwise");
    check_all(certificate);
  }
  return 0;
}
