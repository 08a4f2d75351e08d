#include "lpn/sim/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "lpn/base/error.h"
#include "lpn/sim/generate.h"

namespace lpn::sim {

namespace fs = std::filesystem;

struct Library::Impl {
  Net net;
  Provenance provenance;
  std::shared_ptr<void> code;  // stays loaded as long as this is held
  const lpn_sim_api* api = nullptr;
};

Library Library::of(const Net& net, const lpn_sim_api& api, std::shared_ptr<void> code,
                    Provenance provenance) {
  Library library;
  library.impl_ =
      std::make_shared<const Impl>(Impl{net, std::move(provenance), std::move(code), &api});
  return library;
}

Library Library::open(const Net& net, const fs::path& artefact) {
  void* const handle = ::dlopen(artefact.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    throw Error("E-load", fmt::format("cannot load the compiled simulator '{}': {}",
                                      artefact.string(), ::dlerror()));
  }
  std::shared_ptr<void> code(handle, ::dlclose);
  using Entry = const lpn_sim_api* (*)();
  const auto entry = reinterpret_cast<Entry>(::dlsym(handle, "lpn_sim_entry"));
  if (entry == nullptr || entry()->abi != LPN_SIM_ABI) {
    throw Error("E-load", fmt::format("'{}' is not a simulator of this version; delete it",
                                      artefact.string()));
  }
  const lpn_sim_api& api = *entry();
  if (api.places != net.places.size() || api.transitions != net.transitions.size() ||
      api.params != net.params.size()) {
    throw Error("E-load", fmt::format("'{}' is the simulator of another net than '{}'",
                                      artefact.string(), net.name));
  }
  return of(net, api, std::move(code), {artefact, false, 0});
}

Library Library::build(const Net& net, Variant variant, const CompileOptions& options) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const std::string source = generate(net, {options.solver});
  Provenance made = compile(source, fmt::format("net '{}'", net.name), variant, options);
  const Library library = open(net, made.artefact);
  made.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return of(net, library.api(), library.impl_->code, std::move(made));
}

Net without_defaults(const Net& net) {
  Net plain = net;
  for (Param& p : plain.params) {
    p.value = p.range ? std::clamp<std::int64_t>(0, p.range->lo, p.range->hi) : 0;
  }
  return plain;
}

const Net& Library::net() const { return impl_->net; }
const Provenance& Library::provenance() const { return impl_->provenance; }
const lpn_sim_api& Library::api() const { return *impl_->api; }

}  // namespace lpn::sim
