#include "lpn/sim/library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "library/artefact.h"
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

namespace {

// The interface of loaded code, if it is that of this net. Throws Error "E-load".
const lpn_sim_api& api_of(const Net& net, void* code, const fs::path& artefact) {
  using Entry = const lpn_sim_api* (*)();
  const auto entry = reinterpret_cast<Entry>(::dlsym(code, "lpn_sim_entry"));
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
  return api;
}

}  // namespace

Library Library::open(const Net& net, const fs::path& artefact) {
  const Descriptor file(::open(artefact.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    throw Error("E-load", fmt::format("cannot load the compiled simulator '{}': {}",
                                      artefact.string(), std::strerror(errno)));
  }
  std::shared_ptr<void> code = load(file.get(), artefact);
  const lpn_sim_api& api = api_of(net, code.get(), artefact);
  return of(net, api, std::move(code), {artefact, false, 0, ""});
}

Library Library::build(const Net& net, Variant variant, const CompileOptions& options) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const std::string what = fmt::format("net '{}'", net.name);
  check_may_compile(what, "use --engine interp");
  const std::string source = generate(net, {options.solver});
  for (bool anew = false;; anew = true) {
    Artefact made = obtain(source, what, variant, options, anew);
    const fs::path& path = made.provenance.artefact;
    try {
      std::shared_ptr<void> code = load(made.file.get(), path);
      const lpn_sim_api& api = api_of(net, code.get(), path);
      made.provenance.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      return of(net, api, std::move(code), made.provenance);
    } catch (const Error&) {
      // Another machine's, perhaps, with which this one shares a folder.
      if (!made.provenance.cached) throw;
    }
  }
}

Net to_share(const Net& net) {
  Net plain = net;
  plain.frequency.reset();
  for (Param& p : plain.params) {
    p.value = p.range ? std::clamp<std::int64_t>(0, p.range->lo, p.range->hi) : 0;
  }
  return plain;
}

const Net& Library::net() const { return impl_->net; }
const Provenance& Library::provenance() const { return impl_->provenance; }
const lpn_sim_api& Library::api() const { return *impl_->api; }

}  // namespace lpn::sim
