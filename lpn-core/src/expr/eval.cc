#include "lpn/expr/eval.h"

namespace lpn {

std::int64_t eval_params(const ExprPool& pool, ExprId id, const ParamValues& params,
                         std::int64_t index) {
  struct Env : EvalScope {
    const ParamValues& params;
    explicit Env(const ParamValues& p) : params(p) {}
    std::int64_t param(std::uint32_t k) const { return params[k]; }
    std::int64_t token(std::uint32_t, std::uint32_t, std::int64_t) const { return fail(); }
    std::int64_t occupancy(std::uint32_t) const { return fail(); }
    std::int64_t free(std::uint32_t) const { return fail(); }
    std::int64_t taken(std::uint32_t) const { return fail(); }
    std::int64_t needed(std::uint32_t) const { return fail(); }
    static std::int64_t fail() {
      LPN_ASSERT(!"verify() lets only parameters through");
      return 0;
    }
  } env(params);
  env.index = index;
  return eval(pool, id, env);
}

}  // namespace lpn
