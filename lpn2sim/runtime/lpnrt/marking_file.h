// Reads a marking file ("LPNM", docs/lpn-format.md) into an instance, by the C interface alone.
//
// lpn-core has the reader that defines the format (lpn/net/marking.h); generated code must do
// without lpn-core, so this is the second one. Both accept the same bytes, give the same tokens and
// say the same of what they refuse: testbenches/fuzz/marking_fuzz.cc compares them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "lpnrt/abi.h"
#include "lpnrt/codes.h"

namespace lpnrt::program {

struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The names of the interface, which lie one after the other.
struct Names {
  std::string net;
  std::vector<std::string> params, places, transitions;
  std::vector<std::vector<std::string>> fields;  // per place

  explicit Names(const lpn_sim_api& api) : fields(api.places) {
    const char* at = api.names;
    const auto next = [&at] {
      std::string name = at;
      at += name.size() + 1;
      return name;
    };
    net = next();
    for (uint32_t k = 0; k < api.params; ++k) params.push_back(next());
    for (uint32_t k = 0; k < api.places; ++k) places.push_back(next());
    for (uint32_t k = 0; k < api.transitions; ++k) transitions.push_back(next());
    for (uint32_t p = 0; p < api.places; ++p) {
      for (uint32_t k = 0; k < api.place_fields[p]; ++k) fields[p].push_back(next());
    }
  }
};

// The bytes of a file, checked at every step: it may come from anywhere.
class MarkingFile {
 public:
  MarkingFile(std::string bytes, const lpn_sim_api& api, const Names& names)
      : api_(api), names_(names), bytes_(std::move(bytes)), first_range_(names.places.size()) {
    for (size_t p = 1; p < names.places.size(); ++p)
      first_range_[p] = first_range_[p - 1] + names.fields[p - 1].size();
  }

  // Throws Refused with the place in the file.
  void load(lpn_sim* sim) {
    for (const char expected : {'L', 'P', 'N', 'M'}) {
      if (at_ == bytes_.size() || bytes_[at_++] != expected)
        fail(0, "not a marking file: it does not begin with \"LPNM\"");
    }
    const unsigned version = byte("the header");
    if (version != 1 && version != 2) {
      fail(4, "the file has format version " + std::to_string(version) +
                  ", this program reads versions 1 and 2");
    }
    with_arrivals_ = version == 2;
    const unsigned flags = byte("the header");
    if (flags > 1) fail(5, "unknown flags " + std::to_string(flags));
    int64_t done = -1;
    if (flags == 1) {
      const size_t start = at_;
      const uint64_t count = varint("the done count");
      if (count > static_cast<uint64_t>(kForever))
        fail(start, "the done count does not fit in 63 bits");
      done = static_cast<int64_t>(count);
    }
    std::vector<bool> seen(names_.places.size());
    for (uint64_t left = varint("the number of places"); left > 0; --left) place(sim, seen);
    if (at_ != bytes_.size())
      fail(at_, std::to_string(bytes_.size() - at_) + " bytes after the last place");
    if (done >= 0 && api_.set_done(sim, done) != LPN_OK) throw Refused("the done count is refused");
  }

 private:
  [[noreturn]] static void fail(size_t at, const std::string& what) {
    throw Refused("byte " + std::to_string(at) + ": " + what);
  }

  size_t left() const { return bytes_.size() - at_; }

  unsigned byte(const char* what) {
    if (left() == 0) fail(at_, std::string("the file is cut off in ") + what);
    return static_cast<unsigned char>(bytes_[at_++]);
  }

  uint64_t varint(const char* what) {
    const size_t start = at_;
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const unsigned next = byte(what);
      if (shift == 63 && next > 1) fail(start, std::string(what) + " does not fit in 64 bits");
      value |= static_cast<uint64_t>(next & 0x7f) << shift;
      if (next < 0x80) return value;
    }
  }

  std::string name(const char* what) {
    const size_t start = at_;
    const uint64_t size = varint(what);
    if (size > 200) {
      fail(start, std::string(what) + " has " + std::to_string(size) + " characters (at most 200)");
    }
    if (size > left()) fail(at_, std::string("the file is cut off in ") + what);
    const std::string text = bytes_.substr(at_, size);
    if (!is_name(text)) fail(at_, std::string(what) + " is not a name");
    at_ += size;
    return text;
  }

  // Words of letters, digits and _ that do not begin with a digit, joined by dots.
  static bool is_name(const std::string& text) {
    bool start = true;
    for (const char c : text) {
      if (c == '.') {
        if (start) return false;
        start = true;
        continue;
      }
      const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
      if (!letter && (start || c < '0' || c > '9')) return false;
      start = false;
    }
    return !start;
  }

  void place(lpn_sim* sim, std::vector<bool>& seen) {
    const size_t start = at_;
    const std::string called = name("a place's name");
    uint32_t p = 0;
    while (p < names_.places.size() && names_.places[p] != called) ++p;
    if (p == names_.places.size() || seen[p]) {
      fail(start,
           "net '" + names_.net + "' has no place '" + called + "' (or the file has it twice)");
    }
    seen[p] = true;
    const std::vector<std::string>& fields = names_.fields[p];
    same_fields(called, fields);

    const size_t count_at = at_;
    const uint64_t count = varint("the number of tokens");
    if (count > static_cast<uint64_t>(kMaxTokens)) {
      fail(count_at, "place '" + called + "' has " + std::to_string(count) + " tokens (at most " +
                         std::to_string(kMaxTokens) + ")");
    }
    // Every value takes a byte or more, so memory stays in proportion to the file.
    if (count * fields.size() > left()) {
      fail(count_at, "place '" + called + "' has " + std::to_string(count) + " tokens of " +
                         std::to_string(fields.size()) + " fields, but only " +
                         std::to_string(left()) + " bytes are left: the file is cut off");
    }
    std::vector<int64_t> values(count * fields.size());
    for (size_t k = 0; k < fields.size(); ++k) column(values, k, fields.size());
    const std::vector<int64_t> times = with_arrivals_ ? arrivals(p, count) : std::vector<int64_t>();
    check(p, times);
    for (size_t k = 0; k < fields.size(); ++k) in_range(p, values, k);
    switch (place_tokens(sim, p, values, times, count)) {
      case LPN_OK: return;
      case LPN_NO_MEMORY: throw std::bad_alloc();
      case LPN_OVER: return;  // the run says so
      default: throw Refused("place '" + called + "' cannot be loaded");
    }
  }

  // When each token arrives; empty: all are there at time 0.
  std::vector<int64_t> arrivals(uint32_t p, uint64_t count) {
    const std::string about = "place '" + names_.places[p] + "'";
    const size_t start = at_;
    const unsigned timed = byte("the times");
    if (timed > 1) fail(start, "unknown coding " + std::to_string(timed) + " of times");
    if (timed == 0) return {};
    if (count > left()) {
      fail(start, about + " has " + std::to_string(count) + " tokens with times, but only " +
                      std::to_string(left()) + " bytes are left: the file is cut off");
    }
    std::vector<int64_t> times(count);
    column(times, 0, 1);
    return times;
  }

  void check(uint32_t p, const std::vector<int64_t>& times) const {
    const std::string place = "place '" + names_.places[p] + "'";
    int64_t last = 0;
    for (size_t k = 0; k < times.size(); ++k) {
      const std::string token = place + ", token " + std::to_string(k) + ": ";
      const std::string at = std::to_string(times[k]);
      if (times[k] < 0 || times[k] > kLastInstant) {
        throw Refused(token + "there is no time " + at + "; times are 0.." +
                      std::to_string(kLastInstant));
      }
      if (times[k] > 0 && (api_.place_flags[p] & LPN_PLACE_BOUNDED) != 0) {
        throw Refused(place + " has a capacity, so no token can arrive in it at time " + at +
                      ": who brings it could not wait; let it arrive in a place without one, in "
                      "front of it");
      }
      if (times[k] < last) {
        throw Refused(token + "it arrives at " + at + ", after one that arrives at " +
                      std::to_string(last) + "; add them in the order of their arrival");
      }
      last = times[k];
    }
  }

  int32_t place_tokens(lpn_sim* sim, uint32_t p, const std::vector<int64_t>& values,
                       const std::vector<int64_t>& times, uint64_t count) const {
    uint64_t present = 0;
    while (present < times.size() && times[present] == 0) ++present;
    if (present == times.size()) return api_.load(sim, p, count, values.data());
    const int32_t status = api_.load(sim, p, present, values.data());
    if (status != LPN_OK) return status;
    return api_.feed(sim, p, count - present, values.data() + present * names_.fields[p].size(),
                     times.data() + present);
  }

  // The names in the file are those of the net, in its order: their values follow by position.
  void same_fields(const std::string& called, const std::vector<std::string>& fields) {
    const size_t start = at_;
    bool same = varint("the number of fields") == fields.size();
    for (size_t k = 0; same && k < fields.size(); ++k) same = name("a field's name") == fields[k];
    if (same) return;
    std::string known;
    for (const std::string& field : fields) known += (known.empty() ? "" : ", ") + field;
    fail(start, "place '" + called + "' has other fields in the file than in net '" + names_.net +
                    "', where it has: " + (known.empty() ? "no fields" : known));
  }

  void column(std::vector<int64_t>& values, size_t k, size_t fields) {
    const size_t start = at_;
    const unsigned coding = byte("the values");
    if (coding > 1) fail(start, "unknown coding " + std::to_string(coding) + " of a column");
    uint64_t last = 0;
    for (size_t to = k; to < values.size(); to += fields) {
      const uint64_t bits = varint("the values");
      const uint64_t value = (bits >> 1) ^ (uint64_t{0} - (bits & 1));
      last = coding == 1 ? last + value : value;
      values[to] = static_cast<int64_t>(last);
    }
  }

  void in_range(uint32_t p, const std::vector<int64_t>& values, size_t k) const {
    const std::vector<std::string>& fields = names_.fields[p];
    const int64_t lo = api_.range_lo[first_range_[p] + k];
    const int64_t hi = api_.range_hi[first_range_[p] + k];
    for (size_t at = k; at < values.size(); at += fields.size()) {
      if (values[at] >= lo && values[at] <= hi) continue;
      throw Refused("place '" + names_.places[p] + "', token " +
                    std::to_string(at / fields.size()) + ": " + fields[k] + " = " +
                    std::to_string(values[at]) + " is outside its range " + std::to_string(lo) +
                    ".." + std::to_string(hi));
    }
  }

  const lpn_sim_api& api_;
  const Names& names_;
  std::string bytes_;
  std::vector<size_t> first_range_;  // per place, in range_lo
  size_t at_ = 0;
  bool with_arrivals_ = false;
};

}  // namespace lpnrt::program
