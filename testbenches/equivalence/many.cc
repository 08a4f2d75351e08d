#include "many.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "lpn/base/error.h"
#include "lpn/sim/generate.h"

namespace lpn::bench {

std::vector<sim::Library> build_many(const std::vector<Net>& nets, sim::Variant variant,
                                     const sim::CompileOptions& options, bool often) {
  std::string source;
  for (std::size_t k = 0; k < nets.size(); ++k) {
    sim::GenerateOptions each;
    each.suffix = fmt::format("_{}", k);
    if (k % 2 == 0) each.contested = 2, each.routed = 1;
    if (k / 2 % 2 == 0) each.inlined = 0;
    if (k % 4 != 3) each.assume = sim::Assume::kAnything;
    source += sim::generate(nets[k], each);
  }
  const sim::Provenance made =
      sim::compile(source, fmt::format("{} nets", nets.size()), variant,
                   often ? sim::with_compiled_headers(variant, options) : options);
  void* const handle = ::dlopen(made.artefact.c_str(), RTLD_NOW | RTLD_LOCAL);
  LPN_ASSERT(handle != nullptr);
  const std::shared_ptr<void> code(handle, ::dlclose);
  std::vector<sim::Library> libraries;
  for (std::size_t k = 0; k < nets.size(); ++k) {
    using Entry = const lpn_sim_api* (*)();
    const auto entry =
        reinterpret_cast<Entry>(::dlsym(handle, fmt::format("lpn_sim_entry_{}", k).c_str()));
    LPN_ASSERT(entry != nullptr);
    libraries.push_back(sim::Library::of(nets[k], *entry(), code, made));
  }
  return libraries;
}

}  // namespace lpn::bench
