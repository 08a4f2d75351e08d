// Integers whose every sum, difference and product is exact, or throws: for arithmetic on numbers
// that a stranger chose.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "lpn/base/wide.h"

namespace lpn {

// Thrown where a result does not fit.
struct Inexact {};

template <typename T>
class Exact {
 public:
  constexpr Exact() = default;
  // From narrower integers, none of whose values are lost.
  template <typename U>
  requires(std::same_as<U, T> ||
           (std::integral<U> &&
            (sizeof(U) < sizeof(T) ||
             (sizeof(U) == sizeof(T) && std::is_signed_v<U>)))) constexpr Exact(U value)
      : value_(static_cast<T>(value)) {}  // NOLINT: meant to be implicit
  template <typename U>
  requires(sizeof(U) < sizeof(T)) constexpr Exact(Exact<U> other)
      : value_(static_cast<T>(other.value())) {}  // NOLINT: likewise

  constexpr T value() const { return value_; }
  // As a 64-bit integer.
  constexpr std::int64_t narrow() const {
    const auto low = static_cast<std::int64_t>(value_);
    if (static_cast<T>(low) != value_) throw Inexact{};
    return low;
  }

  friend constexpr Exact operator+(Exact a, Exact b) {
    Exact c;
    if (__builtin_add_overflow(a.value_, b.value_, &c.value_)) throw Inexact{};
    return c;
  }
  friend constexpr Exact operator-(Exact a, Exact b) {
    Exact c;
    if (__builtin_sub_overflow(a.value_, b.value_, &c.value_)) throw Inexact{};
    return c;
  }
  friend constexpr Exact operator*(Exact a, Exact b) {
    Exact c;
    if (__builtin_mul_overflow(a.value_, b.value_, &c.value_)) throw Inexact{};
    return c;
  }
  // REQUIRES a positive divisor.
  friend constexpr Exact operator/(Exact a, Exact b) {
    return Exact(static_cast<T>(a.value_ / b.value_));
  }
  constexpr Exact operator-() const { return Exact() - *this; }
  constexpr Exact& operator+=(Exact other) { return *this = *this + other; }
  constexpr Exact& operator-=(Exact other) { return *this = *this - other; }
  friend constexpr bool operator==(Exact a, Exact b) { return a.value_ == b.value_; }
  friend constexpr std::strong_ordering operator<=>(Exact a, Exact b) {
    return a.value_ < b.value_   ? std::strong_ordering::less
           : a.value_ > b.value_ ? std::strong_ordering::greater
                                 : std::strong_ordering::equal;
  }

 private:
  T value_ = 0;
};

}  // namespace lpn
