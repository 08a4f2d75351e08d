#include "lpn/net/marking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lpn/base/error.h"

namespace lpn {
namespace {

constexpr std::string_view kMagic = "LPNM";
constexpr char kVersion = 1;       // all tokens are there at time 0
constexpr char kWithArrivals = 2;  // each place says whether its tokens have times
constexpr std::uint64_t kMostTokens = static_cast<std::uint64_t>(kMaxTokens);

// How a column of the file holds its values: as they are, or each as its difference to the one
// before (the first to 0), modulo 2^64. The writer takes the shorter.
enum Coding : char { kPlain = 0, kDelta = 1 };

std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
std::int64_t unzigzag(std::uint64_t bits) {
  return static_cast<std::int64_t>((bits >> 1) ^ (std::uint64_t{0} - (bits & 1)));
}

std::int64_t wrapping_sub(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
std::int64_t wrapping_add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

std::size_t varint_size(std::uint64_t value) {
  std::size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

std::string field_names(const std::vector<Field>& fields) {
  std::string names;
  for (const Field& field : fields) names += (names.empty() ? "" : ", ") + field.name;
  return names.empty() ? "no fields" : names;
}

class Writer {
 public:
  void byte(char value) { out_ += value; }
  void bytes(std::string_view bytes) { out_ += bytes; }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_ += static_cast<char>(value | 0x80);
    out_ += static_cast<char>(value);
  }
  void name(std::string_view name) {
    varint(name.size());
    out_ += name;
  }
  // Every `fields`-th value from the `k`-th: field `k` of all tokens.
  void column(const std::vector<std::int64_t>& values, std::size_t k, std::size_t fields) {
    std::size_t plain = 0;
    std::size_t delta = 0;
    std::int64_t last = 0;
    for (std::size_t at = k; at < values.size(); at += fields) {
      plain += varint_size(zigzag(values[at]));
      delta += varint_size(zigzag(wrapping_sub(values[at], last)));
      last = values[at];
    }
    const Coding coding = delta < plain ? kDelta : kPlain;
    byte(coding);
    last = 0;
    for (std::size_t at = k; at < values.size(); at += fields) {
      varint(zigzag(coding == kDelta ? wrapping_sub(values[at], last) : values[at]));
      last = values[at];
    }
  }
  std::string take() && { return std::move(out_); }

 private:
  std::string out_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  [[noreturn]] static void fail(std::size_t at, const std::string& message) {
    throw Error("E-marking-file", fmt::format("byte {}: {}", at, message));
  }

  std::size_t at() const { return at_; }
  std::size_t left() const { return bytes_.size() - at_; }

  char byte(const char* what) {
    if (left() == 0) fail(at_, fmt::format("the file is cut off in {}", what));
    return bytes_[at_++];
  }

  std::uint64_t varint(const char* what) {
    const std::size_t start = at_;
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto next = static_cast<unsigned char>(byte(what));
      // The tenth byte holds the one bit that is left of 64.
      if (shift == 63 && next > 1) fail(start, fmt::format("{} does not fit in 64 bits", what));
      value |= static_cast<std::uint64_t>(next & 0x7f) << shift;
      if (next < 0x80) return value;
    }
  }

  std::string_view name(const char* what) {
    const std::size_t start = at_;
    const std::uint64_t size = varint(what);
    if (size > 200) fail(start, fmt::format("{} has {} characters (at most 200)", what, size));
    if (size > left()) fail(at_, fmt::format("the file is cut off in {}", what));
    const std::string_view name = bytes_.substr(at_, static_cast<std::size_t>(size));
    if (!is_name(name)) fail(at_, fmt::format("{} is not a name", what));
    at_ += name.size();
    return name;
  }

  void column(std::vector<std::int64_t>& values, std::size_t k, std::size_t fields) {
    const std::size_t start = at_;
    const char coding = byte("the values");
    if (coding != kPlain && coding != kDelta) {
      fail(start, fmt::format("unknown coding {} of a column", static_cast<unsigned char>(coding)));
    }
    if (coding == kDelta) {
      read<true>(values, k, fields);
    } else {
      read<false>(values, k, fields);
    }
  }

 private:
  template <bool delta>
  void read(std::vector<std::int64_t>& values, std::size_t k, std::size_t fields) {
    std::int64_t last = 0;
    for (std::size_t to = k; to < values.size(); to += fields) {
      std::int64_t value = 0;
      if (at_ < bytes_.size() && static_cast<unsigned char>(bytes_[at_]) < 0x80) {
        value = unzigzag(static_cast<unsigned char>(bytes_[at_++]));  // most values are small
      } else {
        value = unzigzag(varint("the values"));
      }
      if (delta) last = value = wrapping_add(last, value);
      values[to] = value;
    }
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
};

}  // namespace

const Marking::Tokens Marking::kNone;

Marking::Marking(const Net& net) { grow(net); }

void Marking::grow(const Net& net) {
  require_fits(net, *this);
  for (std::size_t p = shapes_.size(); p < net.places.size(); ++p) {
    const Place& place = net.places[p];
    shapes_.push_back({place.name, net[place.type].fields, place.capacity.has_value()});
  }
  tokens_.resize(shapes_.size());
}

void require_fits(const Net& net, const Marking& marking) {
  if (marking.places() <= net.places.size()) return;
  throw Error(
      "E-marking",
      fmt::format("a marking of {} places for net '{}', which has {}; make it from this net",
                  marking.places(), net.name, net.places.size()));
}

std::uint64_t Marking::Tokens::present() const {
  if (times.empty()) return count;
  return static_cast<std::uint64_t>(std::upper_bound(times.begin(), times.end(), 0) -
                                    times.begin());
}

Time Marking::last_arrival() const {
  Time last = 0;
  for (const Tokens& tokens : tokens_) {
    if (!tokens.times.empty()) last = std::max(last, tokens.times.back());
  }
  return last;
}

// `last` arrived before it.
void Marking::check_time(const Shape& shape, std::uint64_t token, Time at, Time last) {
  if (at < 0 || at > kLastInstant) {
    throw Error("E-marking", fmt::format("place '{}', token {}: there is no time {}; times are "
                                         "0..{}",
                                         shape.place, token, at, kLastInstant));
  }
  if (at > 0 && shape.bounded) {
    throw Error("E-marking",
                fmt::format("place '{}' has a capacity, so no token can arrive in it at time {}: "
                            "who brings it could not wait; let it arrive in a place without one, "
                            "in front of it",
                            shape.place, at));
  }
  if (at < last) {
    throw Error("E-marking", fmt::format("place '{}', token {}: it arrives at {}, after one that "
                                         "arrives at {}; add them in the order of their arrival",
                                         shape.place, token, at, last));
  }
}

void Marking::add(PlaceId place, std::span<const std::int64_t> values, std::uint64_t count,
                  Time at) {
  const auto index = static_cast<std::size_t>(place);
  if (index >= tokens_.size() || count == 0 || (at == 0 && tokens_[index].times.empty())) {
    return append(place, values, count);
  }
  Tokens& tokens = tokens_[index];
  check_time(shapes_[index], tokens.count, at, tokens.times.empty() ? 0 : tokens.times.back());
  const std::uint64_t before = tokens.count;
  append(place, values, count);
  tokens.times.resize(before);
  tokens.times.resize(before + count, at);
}

void Marking::add(PlaceId place, std::span<const std::int64_t> values,
                  std::span<const Time> times) {
  const auto index = static_cast<std::size_t>(place);
  if (times.empty() || index >= tokens_.size()) return append(place, values, times.size());
  Tokens& tokens = tokens_[index];
  const std::uint64_t before = tokens.count;
  Time last = tokens.times.empty() ? 0 : tokens.times.back();
  for (std::size_t k = 0; k < times.size(); ++k) {
    check_time(shapes_[index], before + k, times[k], last);
    last = times[k];
  }
  append(place, values, times.size());
  if (last == 0) return;  // all are there at 0
  tokens.times.resize(before);
  tokens.times.insert(tokens.times.end(), times.begin(), times.end());
}

void Marking::append(PlaceId place, std::span<const std::int64_t> values, std::uint64_t count) {
  const auto index = static_cast<std::size_t>(place);
  if (index >= tokens_.size()) {
    throw Error("E-marking",
                fmt::format("no place number {}; the net has {}", index, tokens_.size()));
  }
  const Shape& shape = shapes_[index];
  Tokens& tokens = tokens_[index];
  const std::size_t fields = shape.fields.size();
  if (count > kMostTokens || count > kMostTokens - tokens.count) {
    throw Error("E-marking", fmt::format("place '{}' would hold {} + {} tokens; at most {}",
                                         shape.place, tokens.count, count, kMaxTokens));
  }
  if (values.size() != count * fields) {
    throw Error(
        "E-marking",
        fmt::format("place '{}': {} tokens of {} fields ({}) need {} values, got {}", shape.place,
                    count, fields, field_names(shape.fields), count * fields, values.size()));
  }
  for (std::size_t k = 0; k < fields; ++k) {
    if (!shape.fields[k].range) continue;
    const Range range = *shape.fields[k].range;
    for (std::size_t at = k; at < values.size(); at += fields) {
      if (values[at] < range.lo || values[at] > range.hi) {
        throw Error("E-range",
                    fmt::format("place '{}', token {}: {} = {} is outside its range {}..{}",
                                shape.place, tokens.count + at / fields, shape.fields[k].name,
                                values[at], range.lo, range.hi));
      }
    }
  }
  tokens.values.insert(tokens.values.end(), values.begin(), values.end());
  tokens.count += count;
}

std::string save_marking(const Net& net, const Marking& marking) {
  require_fits(net, marking);
  Writer out;
  bool arrivals = false;
  for (std::size_t p = 0; p < net.places.size(); ++p) {
    arrivals = arrivals || !marking[static_cast<PlaceId>(p)].times.empty();
  }
  out.bytes(kMagic);
  out.byte(arrivals ? kWithArrivals : kVersion);
  out.byte(marking.done_count ? 1 : 0);
  if (marking.done_count) out.varint(*marking.done_count);
  std::uint64_t filled = 0;
  for (std::size_t p = 0; p < net.places.size(); ++p) {
    if (marking[static_cast<PlaceId>(p)].count > 0) ++filled;
  }
  out.varint(filled);
  for (std::size_t p = 0; p < net.places.size(); ++p) {
    const auto place = static_cast<PlaceId>(p);
    const Marking::Tokens& tokens = marking[place];
    if (tokens.count == 0) continue;
    const std::vector<Field>& fields = net.type_of(place).fields;
    out.name(net[place].name);
    out.varint(fields.size());
    for (const Field& field : fields) out.name(field.name);
    out.varint(tokens.count);
    for (std::size_t k = 0; k < fields.size(); ++k) out.column(tokens.values, k, fields.size());
    if (!arrivals) continue;
    out.byte(tokens.times.empty() ? 0 : 1);
    if (!tokens.times.empty()) out.column(tokens.times, 0, 1);
  }
  return std::move(out).take();
}

Marking load_marking(const Net& net, std::string_view bytes) {
  Reader in(bytes);
  for (char expected : kMagic) {
    if (in.left() == 0 || in.byte("the header") != expected) {
      Reader::fail(0, "not a marking file: it does not begin with \"LPNM\"");
    }
  }
  const char version = in.byte("the header");
  if (version != kVersion && version != kWithArrivals) {
    Reader::fail(4, fmt::format("the file has format version {}, this program reads versions {} "
                                "and {}",
                                static_cast<unsigned char>(version), static_cast<int>(kVersion),
                                static_cast<int>(kWithArrivals)));
  }
  const char flags = in.byte("the header");
  if (flags != 0 && flags != 1) {
    Reader::fail(5, fmt::format("unknown flags {}", static_cast<unsigned char>(flags)));
  }
  Marking marking(net);
  if (flags == 1) {
    const std::size_t start = in.at();
    marking.done_count = in.varint("the done count");
    // Engines count in signed numbers, in which more would be less than nothing.
    if (!std::in_range<std::int64_t>(*marking.done_count))
      Reader::fail(start, "the done count does not fit in 63 bits");
  }

  std::unordered_map<std::string_view, PlaceId> places;
  for (std::size_t p = 0; p < net.places.size(); ++p) {
    places.emplace(net.places[p].name, static_cast<PlaceId>(p));
  }
  const std::uint64_t filled = in.varint("the number of places");
  for (std::uint64_t n = 0; n < filled; ++n) {
    const std::size_t start = in.at();
    const std::string_view name = in.name("a place's name");
    const auto found = places.find(name);
    if (found == places.end()) {
      Reader::fail(start, fmt::format("net '{}' has no place '{}' (or the file has it twice)",
                                      net.name, name));
    }
    const PlaceId place = found->second;
    places.erase(found);
    const std::vector<Field>& fields = net.type_of(place).fields;

    const std::size_t fields_at = in.at();
    const std::uint64_t field_count = in.varint("the number of fields");
    bool same = field_count == fields.size();
    for (std::size_t k = 0; same && k < fields.size(); ++k) {
      same = in.name("a field's name") == fields[k].name;
    }
    if (!same) {
      Reader::fail(fields_at, fmt::format("place '{}' has other fields in the file than in net "
                                          "'{}', where it has: {}",
                                          name, net.name, field_names(fields)));
    }

    const std::size_t count_at = in.at();
    const std::uint64_t count = in.varint("the number of tokens");
    if (count > kMostTokens) {
      Reader::fail(count_at,
                   fmt::format("place '{}' has {} tokens (at most {})", name, count, kMaxTokens));
    }
    // Every value takes a byte or more, so memory stays in proportion to the file.
    if (count * fields.size() > in.left()) {
      Reader::fail(count_at, fmt::format("place '{}' has {} tokens of {} fields, but only {} bytes "
                                         "are left: the file is cut off",
                                         name, count, fields.size(), in.left()));
    }
    std::vector<std::int64_t> values(static_cast<std::size_t>(count) * fields.size());
    for (std::size_t k = 0; k < fields.size(); ++k) in.column(values, k, fields.size());
    std::vector<Time> times;
    if (version == kWithArrivals) {
      const std::size_t times_at = in.at();
      const char timed = in.byte("the times");
      if (timed != 0 && timed != 1) {
        Reader::fail(times_at,
                     fmt::format("unknown coding {} of times", static_cast<unsigned char>(timed)));
      }
      if (timed == 1 && count > in.left()) {
        Reader::fail(times_at, fmt::format("place '{}' has {} tokens with times, but only {} bytes "
                                           "are left: the file is cut off",
                                           name, count, in.left()));
      }
      times.resize(timed == 1 ? static_cast<std::size_t>(count) : 0);
      if (timed == 1) in.column(times, 0, 1);
    }
    if (times.empty()) {
      marking.add(place, values, count);
    } else {
      marking.add(place, values, times);
    }
  }
  if (in.left() > 0) {
    Reader::fail(in.at(), fmt::format("{} bytes after the last place", in.left()));
  }
  return marking;
}

}  // namespace lpn
