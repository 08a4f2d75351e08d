// Which tokens a commit took (LPNRT_TRACE): identities in runs, as observers are told of them.
#pragma once

#include <algorithm>
#include <vector>

#include "lpnrt/abi.h"
#include "lpnrt/rings.h"
#include "lpnrt/variants.h"

namespace lpnrt {

#if LPNRT_TRACE
using IdRuns = Ring<lpn_token_run>;

inline void take_ids(IdRuns& ids, u64 count, u32 input, std::vector<lpn_token_run>& into) {
  while (count > 0) {
    lpn_token_run& run = ids.front();
    const u64 part = std::min(count, run.count);
    into.push_back({input, run.initial, run.source, run.arc, run.firing, run.index, part});
    count -= part;
    run.count -= part;
    run.index += part;
    if (run.count == 0) ids.pop();
  }
}

// A commit that is reported when the order of all is known.
struct FlowCommit {
  u64 commit;  // instant
  i64 start;
  u32 transition;
  u64 firing;
  std::vector<lpn_token_run> taken;
  std::vector<u64> produced;
  bool operator<(const FlowCommit& other) const {
    if (commit != other.commit) return commit < other.commit;
    return transition != other.transition ? transition < other.transition : firing < other.firing;
  }
};
#endif

}  // namespace lpnrt
