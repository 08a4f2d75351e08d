#include "outcome.h"

#include <fmt/format.h>

#include "lpn/base/error.h"

namespace lpn::bench {
namespace {

class Recorder : public Observer {
 public:
  Recorder(std::vector<Commit>& commits, std::size_t most) : commits_(commits), most_(most) {}
  void on_commit(const Commit& commit) override {
    if (commits_.size() >= most_) throw TooLong{};
    commits_.push_back(commit);
  }

 private:
  std::vector<Commit>& commits_;
  std::size_t most_;
};

template <typename Engine>
void play_steps(const Case& c, Engine& engine, PlayOptions options, Outcome& outcome) {
  outcome.observed = options.observe;
  Recorder recorder(outcome.commits, options.most_commits);
  for (const Step& step : c.steps) {
    StepOutcome out;
    try {
      if (step.push)
        engine.push(step.place, step.values, step.time);
      else
        out.result = engine.run(step.time, options.observe ? &recorder : nullptr);
    } catch (const RunError& error) {
      out.fault = error.fault();
      out.message = error.what();
    } catch (const Error& error) {
      out.error = error.code() + ": " + error.what();
    }
    out.commits = outcome.commits.size();
    if (!out.fault) {
      out.now = engine.now();
      for (std::size_t p = 0; p < c.net.places.size(); ++p) {
        const auto id = static_cast<PlaceId>(p);
        out.counts.push_back(engine.free_tokens(id));
        out.tokens.push_back(engine.tokens(id));
      }
      if (options.stats && out.result) out.stats = engine.stats();
    }
    const bool dead = out.fault.has_value();
    outcome.steps.push_back(std::move(out));
    if (dead) return;  // after an error only the error counts
  }
}

std::string print_ids(const Net& net, const std::vector<TokenId>& ids) {
  std::string text;
  for (std::size_t k = 0; k < ids.size();) {
    const TokenId& first = ids[k];
    std::size_t n = 1;
    for (; k + n < ids.size(); ++n) {
      TokenId next = first;
      next.index += n;
      if (!(ids[k + n] == next)) break;
    }
    text += text.empty() ? "" : ",";
    if (first.initial)
      text += net.places[first.source].name;
    else
      text += fmt::format("{}#{}/{}", net.transitions[first.source].name, first.firing, first.arc);
    text += n == 1 ? fmt::format("[{}]", first.index)
                   : fmt::format("[{}..{}]", first.index, first.index + n - 1);
    k += n;
  }
  return text;
}

const char* ending_name(Ending ending) {
  switch (ending) {
    case Ending::kQuiet: return "quiet";
    case Ending::kDone: return "done";
    case Ending::kLimit: return "limit";
    case Ending::kStopped: return "stopped";
    case Ending::kCondition: return "condition";
  }
  return "";
}

std::string print_blocked(const Net& net, const Blocked& b) {
  std::string text = fmt::format("{}: {}", net[b.transition].name, wait_name(b.wait));
  if (b.wait == Wait::kCredit) return text + " " + net.places[b.arc].name;
  if (b.wait == Wait::kToken || b.wait == Wait::kGuard || b.wait == Wait::kInhibited) {
    text += " " + net[b.transition].inputs[b.arc].name;
  }
  return text;
}

std::string print_result(const Net& net, const RunResult& r) {
  std::string text = fmt::format(
      "{}, latency {}, last {}, commits {}, done {}\n", ending_name(r.ending),
      r.latency ? fmt::format("{}", *r.latency) : "none", r.last_commit, r.commits, r.done_tokens);
  if (r.stalled) {
    text += "stalled";
    for (PlaceId p : r.undrained) text += " " + net[p].name;
    text += '\n';
  }
  for (const Blocked& b : r.blocked) text += "blocked " + print_blocked(net, b) + "\n";
  return text;
}

std::string print_fault(const Net& net, const RunFault& f) {
  static constexpr const char* kSites[] = {"weight",   "threshold", "guard", "delay",
                                           "interval", "count",     "field", "start"};
  const Site& s = f.site;
  std::string site = kSites[static_cast<int>(s.kind)];
  switch (s.kind) {
    case SiteKind::kWeight:
    case SiteKind::kThreshold:
    case SiteKind::kGuard: site += fmt::format(" {}", s.arc); break;
    case SiteKind::kCount: site += fmt::format(" {}.{}", s.arc, s.emission); break;
    case SiteKind::kField: site += fmt::format(" {}.{}.{}", s.arc, s.emission, s.field); break;
    case SiteKind::kDelay:
    case SiteKind::kInterval:
    case SiteKind::kNone: break;
  }
  return fmt::format("fault {} at {}.{} in {} {}, value {}\n", fault_code(f.fault), f.time, f.group,
                     net[f.transition].name, site, f.value);
}

std::string print_left(const Net& net, const StepOutcome& step) {
  std::string text;
  for (std::size_t p = 0; p < step.counts.size(); ++p) {
    if (step.counts[p] == 0) continue;
    const std::size_t width = net.type_of(static_cast<PlaceId>(p)).fields.size();
    text += fmt::format("left {} {}", net.places[p].name, step.counts[p]);
    for (std::size_t k = 0; k < step.tokens[p].size(); ++k) {
      text += k % width == 0 ? " (" : ",";
      text += fmt::format("{}{}", step.tokens[p][k], (k + 1) % width == 0 ? ")" : "");
    }
    text += '\n';
  }
  return text;
}

std::string print_step(const Net& net, const StepOutcome& step) {
  if (!step.error.empty()) return "error " + step.error.substr(0, step.error.find(':')) + "\n";
  if (step.fault) return print_fault(net, *step.fault);
  if (!step.result) return "pushed\n";
  return print_result(net, *step.result) + print_left(net, step);
}

std::string compare_stats(const Net& net, const Stats& a, const Stats& b) {
  if (a.end != b.end) return fmt::format("statistics end at {} and {}", a.end, b.end);
  for (std::size_t k = 0; k < net.transitions.size(); ++k) {
    const TransitionStats &x = a.transitions[k], &y = b.transitions[k];
    const std::string& name = net.transitions[k].name;
    if (x.commits != y.commits)
      return fmt::format("{} commits {} and {}", name, x.commits, y.commits);
    if (x.busy != y.busy) return fmt::format("{} busy {} and {}", name, x.busy, y.busy);
    for (std::size_t w = 0; w < x.waited.size(); ++w) {
      if (x.waited[w] == y.waited[w]) continue;
      return fmt::format("{} waited '{}' for {} and {}", name, wait_name(static_cast<Wait>(w)),
                         x.waited[w], y.waited[w]);
    }
  }
  for (std::size_t p = 0; p < net.places.size(); ++p) {
    const PlaceStats &x = a.places[p], &y = b.places[p];
    // Both add up the same products in the same order, so even the mean is the same bits.
    if (x.mean != y.mean || x.peak != y.peak) {
      return fmt::format("{} mean {} peak {} and mean {} peak {}", net.places[p].name, x.mean,
                         x.peak, y.mean, y.peak);
    }
  }
  return "";
}

}  // namespace

Outcome play(const Case& c, PlayOptions options) {
  Outcome outcome;
  std::optional<Interp> engine;
  try {
    InterpOptions how;
    how.group_limit = c.group_limit;
    how.stats = options.stats;
    how.trace = options.observe;
    how.full_scan = options.full_scan;
    engine.emplace(c.net, c.params, marking_of(c), how);
  } catch (const Error& error) {
    outcome.error = error.code() + ": " + error.what();
    return outcome;
  }
  Patience patience(options.most_commits);
  if (options.most_commits != ~std::size_t{0}) engine->watch(&patience);
  play_steps(c, *engine, options, outcome);
  return outcome;
}

Outcome play(const Case& c, const sim::Library& library, PlayOptions options) {
  Outcome outcome;
  std::optional<sim::Simulator> engine;
  try {
    engine.emplace(library, c.params, marking_of(c));
    if (options.mode != sim::Mode::kAuto) engine->set_mode(options.mode);
  } catch (const Error& error) {
    outcome.error = error.code() + ": " + error.what();
    return outcome;
  }
  play_steps(c, *engine, options, outcome);
  outcome.order_free = engine->was_order_free();
  outcome.fell_back = engine->fell_back();
  return outcome;
}

std::string difference(const Case& c, const Outcome& a, const Outcome& b) {
  if (a.error != b.error) return fmt::format("at the start: '{}' and '{}'", a.error, b.error);
  if (a.observed && b.observed) {
    for (std::size_t k = 0; k < std::min(a.commits.size(), b.commits.size()); ++k) {
      if (a.commits[k] == b.commits[k]) continue;
      return fmt::format("commit {}:\n  {}\n  {}", k, print_commit(c.net, a.commits[k]),
                         print_commit(c.net, b.commits[k]));
    }
    if (a.commits.size() != b.commits.size()) {
      const bool first = a.commits.size() > b.commits.size();
      const Outcome& longer = first ? a : b;
      const std::size_t k = std::min(a.commits.size(), b.commits.size());
      return fmt::format("{} and {} commits; only the {} has\n  {}", a.commits.size(),
                         b.commits.size(), first ? "first" : "second",
                         print_commit(c.net, longer.commits[k]));
    }
  }
  for (std::size_t k = 0; k < std::min(a.steps.size(), b.steps.size()); ++k) {
    const StepOutcome &x = a.steps[k], &y = b.steps[k];
    const std::string at = fmt::format("step {}: ", k);
    if (x.error != y.error) return fmt::format("{}'{}' and '{}'", at, x.error, y.error);
    if (x.fault != y.fault || x.result != y.result || x.counts != y.counts ||
        x.tokens != y.tokens) {
      return fmt::format("{}\n{}and\n{}", at, print_step(c.net, x), print_step(c.net, y));
    }
    if (x.message != y.message) return fmt::format("{}'{}' and '{}'", at, x.message, y.message);
    if (x.now != y.now) return fmt::format("{}now {} and {}", at, x.now, y.now);
    if (a.observed && b.observed && x.commits != y.commits) {
      return fmt::format("{}{} and {} commits by then", at, x.commits, y.commits);
    }
    if (x.stats && y.stats) {
      if (std::string what = compare_stats(c.net, *x.stats, *y.stats); !what.empty())
        return at + what;
    }
  }
  if (a.steps.size() != b.steps.size()) return "a different number of steps";
  return "";
}

std::string print_commit(const Net& net, const Commit& c) {
  const Transition& t = net[c.transition];
  std::string text = fmt::format("{}.{} {}#{} from {}", c.time, c.group, t.name, c.firing, c.start);
  for (std::size_t a = 0; a < c.taken.size(); ++a) {
    if (!c.taken[a].empty())
      text += fmt::format(" {}={}", t.inputs[a].name, print_ids(net, c.taken[a]));
  }
  text += " ->";
  for (std::size_t o = 0; o < c.produced.size(); ++o) {
    if (c.produced[o] == 0) continue;
    text += fmt::format(" {}", net[t.outputs[o].place].name);
    if (c.produced[o] != 1) text += fmt::format("*{}", c.produced[o]);
  }
  return text;
}

std::string print_stats(const Net& net, const Stats& stats) {
  std::string text = fmt::format("over [0, {}]\n", stats.end);
  for (std::size_t k = 0; k < net.transitions.size(); ++k) {
    const TransitionStats& t = stats.transitions[k];
    text += fmt::format("waits {} commits {} busy {}", net.transitions[k].name, t.commits, t.busy);
    for (std::size_t w = 0; w < t.waited.size(); ++w) {
      if (t.waited[w] != 0)
        text += fmt::format(", {} {}", wait_name(static_cast<Wait>(w)), t.waited[w]);
    }
    text += '\n';
  }
  for (std::size_t p = 0; p < net.places.size(); ++p) {
    text += fmt::format("holds {} mean {} peak {}\n", net.places[p].name, stats.places[p].mean,
                        stats.places[p].peak);
  }
  return text;
}

std::string print_outcome(const Case& c, const Outcome& outcome, bool metered) {
  if (!outcome.error.empty())
    return "error " + outcome.error.substr(0, outcome.error.find(':')) + "\n";
  std::string text;
  std::size_t next = 0;
  for (const StepOutcome& step : outcome.steps) {
    for (; next < step.commits; ++next) text += print_commit(c.net, outcome.commits[next]) + "\n";
    text += print_step(c.net, step);
    if (!metered || step.fault) continue;
    text += fmt::format("now {}\n", step.now);
    if (step.stats) text += print_stats(c.net, *step.stats);
  }
  return text;
}

}  // namespace lpn::bench
