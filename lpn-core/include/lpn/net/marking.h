// The tokens a workload puts into a net, before time 0 or when they arrive, and their compact file
// form.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lpn/net/net.h"

namespace lpn {

// Tokens per place, in FIFO order; they follow the net's own initial tokens. Values are row-major:
// token k of a type with n fields has values [k*n, (k+1)*n). Those of a later time than 0 arrive
// then, as if they were pushed (docs/semantics.md).
class Marking {
 public:
  struct Tokens {
    std::uint64_t count = 0;
    std::vector<std::int64_t> values;
    std::vector<Time> times;  // of each token, never falling; empty: all are there at 0

    std::uint64_t present() const;  // how many are there at 0: the first ones
  };

  explicit Marking(const Net& net);

  // Takes in places that the net has got since; they are empty here.
  void grow(const Net& net);

  // Appends one token, or `count` tokens at once (values.size() == count * fields), that arrive at
  // `at`, or each at its own time. Throws Error: "E-marking" (wrong number of values, a time before
  // that of an earlier token of the place or below 0, a later one than 0 in a place with a
  // capacity), "E-range" (value outside its field's range).
  void add(PlaceId place, std::span<const std::int64_t> values, std::uint64_t count = 1,
           Time at = 0);
  void add(PlaceId place, std::span<const std::int64_t> values, std::span<const Time> times);

  // Of a place that came later there are none.
  const Tokens& operator[](PlaceId place) const {
    const auto index = static_cast<std::size_t>(place);
    return index < tokens_.size() ? tokens_[index] : kNone;
  }
  std::size_t places() const { return tokens_.size(); }
  Time last_arrival() const;  // 0 when all tokens are there at the start

  // Done tokens after which the run ends; none: the net's own, else the run ends when quiet.
  std::optional<std::uint64_t> done_count;

 private:
  struct Shape {
    std::string place;
    std::vector<Field> fields;
    bool bounded = false;  // it has a capacity
  };
  static void check_time(const Shape& shape, std::uint64_t token, Time at, Time last);
  void append(PlaceId place, std::span<const std::int64_t> values, std::uint64_t count);
  static const Tokens kNone;
  std::vector<Shape> shapes_;
  std::vector<Tokens> tokens_;
};

// Throws Error "E-marking" unless the marking is one of this net, or of the net before it got its
// last places.
void require_fits(const Net& net, const Marking& marking);

// The file form ("LPNM", version, then per place its name, field names and the values column by
// column as zig-zag varints; see docs/lpn-format.md). Throws Error "E-marking-file" with the byte
// offset when the data is cut, too large or does not fit the net.
std::string save_marking(const Net& net, const Marking& marking);
Marking load_marking(const Net& net, std::string_view bytes);

}  // namespace lpn
