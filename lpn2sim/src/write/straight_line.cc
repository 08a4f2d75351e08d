#include "write/straight_line.h"

#include <fmt/format.h>

#include <algorithm>

#include "write/lanes.h"
#include "write/straight_part.h"

namespace lpn::sim {

StaticCode generate_static(const Net& net, const StaticParts& parts, const StaticOptions& options,
                           const Plan& plan, const FlowStats& stats, const Members& members) {
  if (parts.parts.empty()) return {};
  std::string text, run, load, go;
  std::size_t lanes = 0;
  std::vector<bool> low, low_path;
  for (std::size_t i = 0; i < parts.parts.size(); ++i) {
    StraightPart part(net, parts.parts[i], options, plan, stats, members, i);
    low.push_back(part.low());
    low_path.push_back(part.low_path());
    text += part.text();
    run += fmt::format("done += static_part_{}<kHalved>(run, limit);\n", i);
    try {
      const std::string together = Lanes(net, parts.parts[i], options, i).text();
      text += "#if !LPNRT_STATS && !LPNRT_PATH\n" + together + "#endif\n";
    } catch (const NoLanes&) {
      continue;
    }
    load +=
        fmt::format("some |= loaded[{0}] = load_lanes_{1}(lane, width, blocks[{0}]);\n", lanes, i);
    go += fmt::format(
        "if (loaded[{0}]) {{ if (!blocks[{0}].advance()) return false;\n"
        "for (u32 i = 0; i < count; ++i) store_lane_{1}(*runs[i], i, blocks[{0}]); }}\n",
        lanes, i);
    ++lanes;
  }
  text += fmt::format(
      "template <bool kHalved, typename R> u64 run_parts(R& run, u64 limit) {{\nu64 done = 0;\n{}"
      "LPNRT_TESTED(static_iterations += done;)\nreturn "
      "done;\n}}\n"
      // Code of their own for runs with a delay halved: for the others it would be half as fast.
      "template <typename R> u64 run_static(R& run, u64 limit) {{\n"
      "LPNRT_IF_PATH(if (std::find(run.halved, run.halved + {}, true) != run.halved + {})\n"
      "return run_parts<true>(run, limit);)\n"
      "return run_parts<false>(run, limit);\n}}\n",
      run, net.transitions.size(), net.transitions.size());
  std::uint64_t firings = 1;
  for (const StaticPart& part : parts.parts) {
    for (const std::int64_t n : part.repetitions) firings += static_cast<std::uint64_t>(n);
  }
  const std::uint64_t portion = std::clamp<std::uint64_t>((1u << 27) / firings, 1, 1u << 20);
  if (lanes == 0) return {text, low, low_path, false, portion};
  text += fmt::format(
      "#if !LPNRT_STATS && !LPNRT_PATH\ntemplate <typename R> struct StaticLanes {{\n"
      "LaneBlock blocks[{0}]; bool loaded[{0}] = {{}};\n"
      "bool load(R* const* runs, u32 count) {{ const u32 width = lanes_here();\n"
      "if (count == 0 || count > width) return false;\n"
      "R* lane[kMostLanes]; for (u32 i = 0; i < width; ++i) lane[i] = runs[i < count "
      "? i : 0];\n"
      "bool some = false;\n{1}return some; }}\n"
      "bool run(R* const* runs, u32 count) {{\n{2}return true; }}\n"
      "}};\n#endif\n",
      lanes, load, go);
  return {text, low, low_path, true, portion};
}

}  // namespace lpn::sim
