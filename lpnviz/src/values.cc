#include "lpn/viz/values.h"

#include <algorithm>

#include "numbers.h"

namespace lpn::viz {
namespace {

constexpr std::int64_t kMostExact = std::int64_t{1} << 51;  // whose differences are, in a double

// One property of all tokens: 0 and differences, or 1 and the numbers themselves where a double
// would not be exact.
void put_column(std::string& out, const std::vector<std::int64_t>& values, std::size_t first,
                std::size_t width) {
  bool wide = false;
  for (std::size_t k = first; k < values.size(); k += width) {
    wide = wide || values[k] > kMostExact || values[k] < -kMostExact;
  }
  put(out, wide ? 1 : 0);
  std::int64_t before = 0;
  for (std::size_t k = first; k < values.size(); k += width) {
    put_signed(out, wide ? values[k] : values[k] - before);
    before = values[k];
  }
}

}  // namespace

TokenValues::TokenValues(const Net& net, std::uint64_t most)
    : net_(net), most_(most), places_(net.places.size()) {
  for (std::size_t p = 0; p < places_.size(); ++p) {
    places_[p].width = net.type_of(static_cast<PlaceId>(p)).fields.size();
  }
}

// Whether so many more numbers of an instant are kept; once not, nothing is from that instant on.
bool TokenValues::keep(Time time, std::uint64_t numbers) {
  if (until_ != kForever) return false;
  kept_ += numbers;
  if (kept_ > most_) until_ = time;
  return until_ == kForever;
}

void TokenValues::begin(const Interp& interp) {
  for (std::size_t p = 0; p < places_.size(); ++p) {
    OfPlace& place = places_[p];
    if (place.width == 0) continue;
    const std::uint64_t there = interp.free_tokens(static_cast<PlaceId>(p));
    if (!keep(0, there * place.width)) return;
    place.initial = there;
    place.values = interp.tokens(static_cast<PlaceId>(p));
  }
}

void TokenValues::on_start(const Started& firing) {
  const auto& inputs = net_[firing.transition].inputs;
  for (std::size_t a = 0; a < inputs.size(); ++a) {
    OfPlace& place = places_[static_cast<std::size_t>(inputs[a].place)];
    if (place.width == 0 || inputs[a].inhibit || !keep(firing.start, 3)) continue;
    place.takes.push_back(
        {firing.start, static_cast<std::uint32_t>(firing.transition), firing.taken[a]});
  }
}

void TokenValues::on_commit(const Started& firing) {
  const auto& outputs = net_[firing.transition].outputs;
  const std::int64_t* from = firing.values.data();
  for (std::size_t a = 0; a < outputs.size(); ++a) {
    OfPlace& place = places_[static_cast<std::size_t>(outputs[a].place)];
    const std::uint64_t numbers = firing.produced[a] * place.width;
    if (numbers != 0 && keep(firing.due, numbers + firing.produced[a])) {
      place.values.insert(place.values.end(), from, from + numbers);
      place.times.insert(place.times.end(), firing.produced[a], firing.due);
    }
    from += numbers;
  }
}

void TokenValues::on_arrival(Time time, PlaceId id, std::span<const std::int64_t> values) {
  OfPlace& place = places_[static_cast<std::size_t>(id)];
  if (place.width == 0 || !keep(time, place.width + 1)) return;
  place.values.insert(place.values.end(), values.begin(), values.end());
  place.times.push_back(time);
}

std::string TokenValues::data(Time end) const {
  if (std::all_of(places_.begin(), places_.end(),
                  [](const OfPlace& place) { return place.width == 0; })) {
    return "";
  }
  std::string out;
  // Instants below this number are known.
  put(out, static_cast<std::uint64_t>(until_ == kForever ? end + 1 : until_));
  for (const OfPlace& place : places_) {
    if (place.width == 0) continue;
    put(out, place.initial);
    put(out, place.times.size());
    Time last = 0;
    for (const Time time : place.times) {
      put(out, static_cast<std::uint64_t>(time - last));
      last = time;
    }
    for (std::size_t f = 0; f < place.width; ++f) put_column(out, place.values, f, place.width);
    put(out, place.takes.size());
    last = 0;
    for (const Take& take : place.takes) {
      put(out, static_cast<std::uint64_t>(take.time - last));
      last = take.time;
    }
    for (const Take& take : place.takes) put(out, take.transition);
    for (const Take& take : place.takes) put(out, take.tokens);
  }
  return out;
}

}  // namespace lpn::viz
