// Both readers of marking files on any bytes: an error or a marking, which saves and loads to
// itself; the reader of compiled programs (lpnrt/marking_file.h) finds the same tokens, or has the
// same to say about the same byte.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lpn/base/error.h"
#include "lpn/net/marking.h"
#include "lpn/text/text.h"
#include "lpnrt/marking_file.h"
#include "require.h"

namespace {

using lpn::fuzz::require;

constexpr std::string_view kNet = R"(lpn 1
net sample
type unit ()
type block (nonzero: 0..63, plane)
place coded : block start
place ready : block capacity 3
place free : unit
end
)";

// The C interface of a net that only takes tokens in: the instance is the Marking they go to.
struct Interface {
  std::string names;
  std::vector<std::uint32_t> place_fields, place_flags;
  std::vector<std::int64_t> lo, hi;
  lpn_sim_api api{};

  explicit Interface(const lpn::Net& net) {
    const auto add = [this](const std::string& name) { names += name + '\0'; };
    add(net.name);
    for (const lpn::Place& place : net.places) add(place.name);
    for (const lpn::Place& place : net.places) {
      const std::vector<lpn::Field>& fields = net[place.type].fields;
      place_fields.push_back(static_cast<std::uint32_t>(fields.size()));
      place_flags.push_back(place.capacity ? LPN_PLACE_BOUNDED : 0);
      for (const lpn::Field& field : fields) {
        add(field.name);
        const lpn::Range any{INT64_MIN, INT64_MAX};
        lo.push_back(field.range.value_or(any).lo);
        hi.push_back(field.range.value_or(any).hi);
      }
    }
    api.places = static_cast<std::uint32_t>(net.places.size());
    api.names = names.c_str();
    api.place_fields = place_fields.data();
    api.place_flags = place_flags.data();
    api.range_lo = lo.data();
    api.range_hi = hi.data();
    api.load = [](lpn_sim* sim, std::uint32_t place, std::uint64_t count,
                  const std::int64_t* values) -> std::int32_t {
      auto& marking = *reinterpret_cast<lpn::Marking*>(sim);
      const std::size_t fields = place < 2 ? 2 : 0;  // of kNet
      marking.add(lpn::PlaceId{place}, {values, count * fields}, count);
      return LPN_OK;
    };
    api.feed = [](lpn_sim* sim, std::uint32_t place, std::uint64_t count,
                  const std::int64_t* values, const std::int64_t* times) -> std::int32_t {
      const std::size_t fields = place < 2 ? 2 : 0;
      reinterpret_cast<lpn::Marking*>(sim)->add(lpn::PlaceId{place}, {values, count * fields},
                                                std::span(times, count));
      return LPN_OK;
    };
    api.set_done = [](lpn_sim* sim, std::int64_t count) -> std::int32_t {
      reinterpret_cast<lpn::Marking*>(sim)->done_count = static_cast<std::uint64_t>(count);
      return LPN_OK;
    };
  }
};

// A marking as it is saved, or what is wrong.
struct Answer {
  std::string saved, error;
  bool operator==(const Answer&) const = default;
};

Answer by_core(const lpn::Net& net, std::string_view bytes) {
  try {
    return {lpn::save_marking(net, lpn::load_marking(net, bytes)), ""};
  } catch (const lpn::Error& error) {
    return {"", error.what()};
  }
}

Answer by_program(const lpn::Net& net, std::string_view bytes) {
  static const Interface interface(net);
  static const lpnrt::program::Names names(interface.api);
  lpn::Marking marking(net);
  try {
    lpnrt::program::MarkingFile(std::string(bytes), interface.api, names)
        .load(reinterpret_cast<lpn_sim*>(&marking));
  } catch (const lpnrt::program::Refused& refused) {
    return {"", refused.what()};
  }
  return {lpn::save_marking(net, marking), ""};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const lpn::Net net = lpn::parse_net(kNet);
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Answer core = by_core(net, bytes);
  const Answer program = by_program(net, bytes);
  require(core == program, "the readers differ: '" + core.error + "', '" + program.error + "'");
  if (core.error.empty()) require(by_core(net, core.saved) == core, "save(load(b)) differs from b");
  return 0;
}
