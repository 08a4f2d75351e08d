// Library and Simulator: a net compiled once, and runs of it.
#include "lpn/sim/simulator.h"

#include <doctest/doctest.h>

#include "folder.h"
#include "lpn/base/error.h"
#include "lpn/run/interp.h"
#include "lpn/sim/sliced.h"
#include "nets.h"

namespace lpn::sim {
namespace {

const Folder& folder() {
  static const Folder one;
  return one;
}

CompileOptions quick() {
  CompileOptions options;
  options.flags = "-O0";
  options.cache = folder() / "cache";
  return options;
}

TEST_CASE("a compiled net does what the interpreter does") {
  const Net net = line();
  const Library library = Library::build(net, {}, quick());
  CHECK_FALSE(library.provenance().cached);
  CHECK(Library::build(net, {}, quick()).provenance().cached);

  const Marking marking(net);
  Simulator simulator(library, {}, marking);
  CHECK(simulator.will_run_order_free());
  const RunResult result = simulator.run();
  CHECK(simulator.was_order_free());
  const RunResult defined = Interp(net, {}, marking).run();
  CHECK(result.latency == defined.latency);
  CHECK(result.latency == 17);  // 2, then three times 5
  CHECK(result.commits == 6);
  CHECK(simulator.tokens(static_cast<PlaceId>(2)) == std::vector<std::int64_t>{3, 6, 9});

  // In steps, by events.
  Simulator steps(library, {}, marking);
  CHECK(steps.run(7).ending == Ending::kLimit);
  CHECK(steps.free_tokens(static_cast<PlaceId>(2)) == 1);
  CHECK(steps.run().latency == 17);

  // Many at once.
  std::vector<Simulator> many;
  for (int k = 0; k < 3; ++k) many.emplace_back(library, ParamValues{}, marking);
  int answered = 0;
  Simulator::run_batch(many, 1, [&](std::size_t, const RunResult* each, const RunError*) {
    answered += each != nullptr && each->latency == 17;
  });
  CHECK(answered == 3);

  // An artefact belongs to its net.
  const auto& artefact = library.provenance().artefact;
  CHECK(Library::open(net, artefact).api().transitions == 2);
  try {
    Library::open(parse_net("lpn 1\nnet other\nend\n"), artefact);
    FAIL("loaded");
  } catch (const Error& error) {
    CHECK(error.code() == std::string("E-load"));
  }
  // A run is asked whether it is to go on.
  Simulator asked(library, {}, marking);
  asked.set_mode(Mode::kEvents);
  Time seen = -1;
  const SlicedRun part = run_sliced(asked, {.limit = 1000, .keep_on = [&](Time at, std::uint64_t) {
                                              seen = at;
                                              return false;
                                            }});
  CHECK(part.stopped);
  CHECK(part.until == seen);
  CHECK(part.result.has_value());
}

// Throws at the second commit.
class Thrower : public Observer {
 public:
  void on_commit(const Commit&) override {
    if (++commits == 2) throw std::runtime_error("enough");
  }
  int commits = 0;
};

TEST_CASE("slices of the interpreter: to the end, to a limit, or to what an observer throws") {
  const Net net = line();
  const Marking marking(net);
  Interp whole(net, {}, marking);
  const SlicedRun all = run_sliced(whole, {});
  CHECK_FALSE(all.stopped);
  CHECK(all.result->latency == 17);

  Interp half(net, {}, marking);
  const SlicedRun part = run_sliced(half, {.limit = 8});
  CHECK(part.result->ending == Ending::kLimit);
  CHECK(part.until == 8);

  Interp watched(net, {}, marking, {.trace = true});
  Thrower thrower;
  CHECK_THROWS_AS(run_sliced(watched, {.observer = &thrower}), std::runtime_error);
  CHECK(thrower.commits == 2);  // later ones are not handed on
}

TEST_CASE("defaults of parameters do not reach the artefact") {
  Net net = parse_net("lpn 1\nnet p\nparam n = 5 in 2..9\nend\n");
  CHECK(without_defaults(net).params[0].value == 2);
  net.params[0].range.reset();
  CHECK(without_defaults(net).params[0].value == 0);
}

}  // namespace
}  // namespace lpn::sim
