#include "vta_cost.h"

#include <dlfcn.h>

#include <bit>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "lpnrt/abi.h"
#include "tokens.h"

namespace {

using namespace lpn::vta;  // NOLINT: this file is its C view

static_assert(std::endian::native == std::endian::little, "instructions are read as they lie");

struct Place {
  std::uint32_t number;
  std::map<std::string, std::size_t> properties;  // name -> column
};

void tell(char* why, std::size_t room, const std::string& reason) {
  if (why == nullptr || room == 0) return;
  const std::size_t length = std::min(room - 1, reason.size());
  std::memcpy(why, reason.data(), length);
  why[length] = '\0';
}

}  // namespace

struct lpn_vta {
  void* library = nullptr;
  const lpn_sim_api* api = nullptr;
  std::map<std::string, Place> places;
  std::vector<std::string> transitions;

  ~lpn_vta() {
    if (library != nullptr) dlclose(library);
  }
};

namespace {

// One running net; none where it could not be made.
class Run {
 public:
  Run(const lpn_vta& vta, Program program, const lpn_vta_options& options) : api_(*vta.api) {
    Hardware hardware;
    std::memcpy(hardware.bytes, options.bytes, sizeof hardware.bytes);
    std::memcpy(hardware.depth, options.depth, sizeof hardware.depth);
    const auto tokens = tokens_of(program, hardware, {.fetch = options.fetch != 0});
    const std::int64_t params[] = {options.read_latency, options.write_ack_latency};
    std::int32_t status = LPN_OK;
    sim_ = api_.create(params, &status);
    if (sim_ == nullptr)
      throw Refused("no net with these latencies, status " + std::to_string(status));
    for (const PlaceTokens& of : tokens) load(vta.places.at(of.place), of);
  }
  ~Run() {
    if (sim_ != nullptr) api_.destroy(sim_);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  lpn_sim* sim() const { return sim_; }

 private:
  void load(const Place& place, const PlaceTokens& of) {
    const std::size_t count = of.columns.front().values.size(), width = of.columns.size();
    std::vector<std::int64_t> rows(count * width);
    for (const Column& column : of.columns) {
      const std::size_t at = place.properties.at(column.property);
      for (std::size_t i = 0; i < count; ++i) rows[i * width + at] = column.values[i];
    }
    if (const std::int32_t status = api_.load(sim_, place.number, count, rows.data());
        status != LPN_OK)
      throw Refused(std::string("a value of ") + of.place + " is out of range, status " +
                    std::to_string(status));
  }

  const lpn_sim_api& api_;
  lpn_sim* sim_ = nullptr;
};

std::int64_t answer(std::int32_t status, const lpn_result& result) {
  if (status != LPN_OK || result.ending == LPN_STOPPED) return LPN_VTA_FAILED;
  if (result.stalled != 0 || result.has_latency == 0) return LPN_VTA_STALLED;
  return result.latency;
}

const lpn_vta_options& or_defaults(const lpn_vta_options* options) {
  static const lpn_vta_options defaults = [] {
    lpn_vta_options made;
    lpn_vta_defaults(&made);
    return made;
  }();
  return options == nullptr ? defaults : *options;
}

// The caller's memory may lie at any address.
std::vector<Instruction> read(const void* program, std::size_t bytes) {
  if (bytes % sizeof(Instruction) != 0)
    throw Refused("the stream is cut in instruction " +
                  std::to_string(bytes / sizeof(Instruction)) + ": " + std::to_string(bytes) +
                  " bytes are no multiple of 16");
  std::vector<Instruction> out(bytes / sizeof(Instruction));
  if (bytes != 0 && program == nullptr) throw Refused("the program is NULL");
  if (bytes != 0) std::memcpy(out.data(), program, bytes);
  return out;
}

void require(const lpn_vta* vta, const lpn_vta_options& options) {
  if (vta == nullptr) throw Refused("no net is open: lpn_vta_open answered NULL");
  for (int memory = 0; memory < kMemories; ++memory)
    if (options.bytes[memory] < 1 || options.bytes[memory] > 1 << 20 || options.depth[memory] < 1)
      throw Refused(std::string("memory ") + kMemoryNames[memory] +
                    ": its elements must be 1 to 2^20 bytes, and at least one of them");
}

// Reads the names of a compiled net: it must be that of models/vta.
void read_names(lpn_vta& vta) {
  const lpn_sim_api& api = *vta.api;
  const char* at = api.names;
  const auto next = [&at] {
    std::string name = at;
    at += name.size() + 1;
    return name;
  };
  const std::string net = next();
  const bool params = api.params == 2 && next() == "read_latency" && next() == "write_ack_latency";
  if (net != "vta" || !params) throw Refused("a compiled net, but not that of models/vta");
  std::vector<std::string> places;
  for (std::uint32_t i = 0; i < api.places; ++i) places.push_back(next());
  for (std::uint32_t i = 0; i < api.transitions; ++i) vta.transitions.push_back(next());
  for (std::uint32_t i = 0; i < api.places; ++i) {
    Place place{i, {}};
    for (std::size_t column = 0; column < api.place_fields[i]; ++column)
      place.properties.emplace(next(), column);
    vta.places.emplace(places[i], std::move(place));
  }
}

// Calls `make`; what it throws is LPN_VTA_REFUSED with the reason, or LPN_VTA_FAILED.
template <class Make>
std::int64_t guarded(char* why, std::size_t room, Make make) noexcept {
  try {
    return make();
  } catch (const Refused& refused) {
    tell(why, room, refused.what());
    return LPN_VTA_REFUSED;
  } catch (const std::bad_alloc&) {
    tell(why, room, "no memory");
  } catch (const std::exception& error) {
    tell(why, room, error.what());
  }
  return LPN_VTA_FAILED;
}

}  // namespace

void lpn_vta_defaults(lpn_vta_options* options) {
  const Hardware hardware;
  std::memcpy(options->bytes, hardware.bytes, sizeof hardware.bytes);
  std::memcpy(options->depth, hardware.depth, sizeof hardware.depth);
  options->read_latency = options->write_ack_latency = 20;
  options->fetch = 1;
}

lpn_vta* lpn_vta_open(const char* library, char* why, std::size_t room) {
  lpn_vta* opened = nullptr;
  guarded(why, room, [&]() -> std::int64_t {
    auto vta = std::make_unique<lpn_vta>();
    if (library == nullptr) throw Refused("no library is named");
    vta->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (vta->library == nullptr) throw Refused(dlerror());
    const lpn_sim_api* (*entry)() = nullptr;
    void* const symbol = dlsym(vta->library, "lpn_sim_entry");
    std::memcpy(&entry, &symbol, sizeof entry);
    if (entry == nullptr || entry()->abi != LPN_SIM_ABI)
      throw Refused(std::string(library) + " is no compiled net of this version");
    vta->api = entry();
    read_names(*vta);
    opened = vta.release();
    return 0;
  });
  return opened;
}

std::int64_t lpn_vta_cost(const lpn_vta* vta, const void* program, std::size_t bytes,
                          const lpn_vta_options* options, char* why, std::size_t room) {
  return guarded(why, room, [&]() -> std::int64_t {
    require(vta, or_defaults(options));
    const Run run(*vta, read(program, bytes), or_defaults(options));
    lpn_result result{};
    const std::int32_t status = vta->api->run(run.sim(), INT64_MAX, &result);
    const std::int64_t cycles = answer(status, result);
    if (cycles == LPN_VTA_STALLED) tell(why, room, "the program waits for ever");
    if (cycles == LPN_VTA_FAILED)
      tell(why, room, "the run ended with status " + std::to_string(status));
    return cycles;
  });
}

void lpn_vta_costs(const lpn_vta* vta, std::size_t count, const void* const* programs,
                   const std::size_t* bytes, const lpn_vta_options* options, std::uint32_t threads,
                   std::int64_t* cycles) {
  std::vector<std::unique_ptr<Run>> runs;
  std::vector<lpn_sim*> sims;
  std::vector<std::size_t> whose;
  const std::int64_t made = guarded(nullptr, 0, [&]() -> std::int64_t {
    for (std::size_t i = 0; i < count; ++i) {
      cycles[i] = guarded(nullptr, 0, [&]() -> std::int64_t {
        require(vta, or_defaults(options));
        runs.push_back(
            std::make_unique<Run>(*vta, read(programs[i], bytes[i]), or_defaults(options)));
        sims.push_back(runs.back()->sim());
        whose.push_back(i);
        return 0;
      });
    }
    if (sims.empty()) return 0;
    std::vector<lpn_result> results(sims.size());
    std::vector<std::int32_t> statuses(sims.size());
    vta->api->run_batch(sims.data(), sims.size(), threads, results.data(), statuses.data(),
                        nullptr);
    for (std::size_t k = 0; k < sims.size(); ++k)
      cycles[whose[k]] = answer(statuses[k], results[k]);
    return 0;
  });
  if (made < 0)
    for (std::size_t i = 0; i < count; ++i) cycles[i] = made;
}

void lpn_vta_close(lpn_vta* vta) { delete vta; }
