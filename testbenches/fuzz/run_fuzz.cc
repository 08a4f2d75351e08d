// What a stranger's files do when they are run: the text of a net, and after a NUL a marking. The
// net is read, checked, given its tokens and interpreted for a while in two ways, which must agree;
// whatever cannot be done must be an Error.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lpn/base/error.h"
#include "lpn/expr/eval.h"
#include "lpn/net/initial.h"
#include "lpn/net/marking.h"
#include "lpn/run/interp.h"
#include "lpn/text/text.h"
#include "require.h"

namespace {

using lpn::fuzz::require;

constexpr std::uint64_t kMostCommits = 300;
constexpr std::int64_t kMostTokens = 2000;

struct Enough {};

// What happened, until it is enough.
class Recorder final : public lpn::Observer {
 public:
  void on_commit(const lpn::Commit& commit) override {
    if (commits.size() == kMostCommits) throw Enough{};
    for (const std::uint64_t produced : commit.produced) produced_ += produced;
    if (produced_ > static_cast<std::uint64_t>(kMostTokens)) throw Enough{};
    commits.push_back(commit);
  }
  std::vector<lpn::Commit> commits;

 private:
  std::uint64_t produced_ = 0;
};

// Millions of tokens are no mistake, but nothing new either.
bool few_tokens(const lpn::Net& net, const lpn::ParamValues& params, const lpn::Marking& marking) {
  std::int64_t total = 0;
  for (std::size_t p = 0; p < net.places.size(); ++p) {
    for (const lpn::Initial& initial : net.places[p].initial) {
      const std::int64_t count = lpn::param_value(net, params, initial.count, "count", 0);
      if (count > kMostTokens || (total += count) > kMostTokens) return false;
    }
    const std::uint64_t given = marking[static_cast<lpn::PlaceId>(p)].count;
    if (given > static_cast<std::uint64_t>(kMostTokens)) return false;
    total += static_cast<std::int64_t>(given);
  }
  return total <= kMostTokens;
}

struct Ran {
  std::vector<lpn::Commit> commits;
  std::optional<lpn::RunResult> result;  // none: enough
  std::string error;
  bool operator==(const Ran&) const = default;
};

Ran run(const lpn::Net& net, const lpn::ParamValues& params, const lpn::Marking& marking,
        bool full_scan) {
  Ran ran;
  Recorder recorder;
  try {
    lpn::Interp interp(net, params, marking,
                       {.group_limit = 40, .trace = true, .full_scan = full_scan});
    ran.result = interp.run(lpn::kForever, &recorder);
  } catch (const Enough&) {
  } catch (const lpn::Error& error) {
    ran.error = error.code() + " " + error.what();
  }
  ran.commits = std::move(recorder.commits);
  return ran;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t end = all.find('\0');
  try {
    const lpn::Net net = lpn::parse_net(all.substr(0, end));
    const lpn::ParamValues params = lpn::bind_params(net, {});
    lpn::Marking marking(net);
    if (end != std::string_view::npos) marking = lpn::load_marking(net, all.substr(end + 1));
    if (!few_tokens(net, params, marking)) return 0;
    const Ran ran = run(net, params, marking, false);
    require(run(net, params, marking, true) == ran, "looking at every transition changes the run");
    const lpn::Net again = lpn::parse_net(lpn::print_net(net));
    require(run(again, params, marking, false) == ran, "the printed net runs otherwise");
  } catch (const lpn::Error&) {
  }
  return 0;
}
