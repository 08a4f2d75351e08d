// Loops over streams of instants (streams.h), with the widest vectors of the machine.
#pragma once

#include <cstring>
#include <type_traits>
#include <utility>

#include "lpnrt/codes.h"
#include "lpnrt/vectors.h"

namespace lpnrt {

// What a loop over firings of one server reads and finds. Each starts at the latest of up to two
// waits and of the commit before it.
template <typename Word>
struct AloneLoop {
  const Word* waits[2] = {};
  const Word* commits = nullptr;  // of the firings; before it stands that of the last one
  const Word* left = nullptr;     // what must not be later than the first wait
  Word start = 0;                 // of the last firing before; then of the last one
  // Sums, modulo 2^the bits of a word, of the commits, of the starts, and of how far a start has
  // come with the first wait, and with both.
  Word of_commits = 0, of_starts = 0, upto[2] = {};
  bool above = false;  // some of `left` is later
};

// `Vector` is of numbers that are compared, `Sums` of as many unsigned ones. Sums are modulo 2^the
// bits of a word, of what is behind the lowest `kShift` ones.
template <typename Vector, typename Sums, typename Word, int kShift>
struct StreamLoops {
  static constexpr u64 kWidth = sizeof(Vector) / sizeof(Word);
  using Number = std::conditional_t<std::is_same_v<Vector, Sums>, Word, std::make_signed_t<Word>>;

  [[gnu::always_inline]] static void get(Vector& x, const Word* from) {
    std::memcpy(&x, from, sizeof x);
  }
  [[gnu::always_inline]] static void add(Sums& sum, const Vector& x) { sum += (Sums)x >> kShift; }
  // Reads it once: from where it stands, in two cache lines, it costs more. Clang knows no operand
  // as wide as this in a function that is not for such a machine.
  [[gnu::always_inline]] static void hold([[maybe_unused]] Vector& x) {
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
    if constexpr (kWidth > 1) __asm__("" : "+v"(x));
#endif
  }
  // Numbers of the second, from `by` on, where the first had the first ones.
  template <int by, typename Any, std::size_t... at>
  [[gnu::always_inline]] static void ahead(Any& to, const Any& x, const Any& y,
                                           std::index_sequence<at...>) {
    to = __builtin_shufflevector(x, y, (static_cast<int>(at) + by)...);
  }
  template <int by, typename Any>
  [[gnu::always_inline]] static void ahead(Any& to, const Any& x, const Any& y) {
    ahead<by>(to, x, y, std::make_index_sequence<kWidth>());
  }
  template <int by>
  [[gnu::always_inline]] static void halve(Sums& x) {
    if constexpr (by > 0) {
      Sums y;
      ahead<by>(y, x, x);
      x += y;
      halve<by / 2>(x);
    }
  }
  [[gnu::always_inline]] static Word total(Sums& x) {
    halve<kWidth / 2>(x);
    Word sum;
    std::memcpy(&sum, &x, sizeof sum);
    return sum;
  }
  [[gnu::always_inline]] static Word latest(Word x, Word y) {
    return static_cast<Number>(x) > static_cast<Number>(y) ? x : y;
  }
  // What stands one place before, `last` being what stood before `now`.
  [[gnu::always_inline]] static void before(Vector& to, const Vector& last, const Vector& now) {
    if constexpr (kWidth > 1) {
      ahead<kWidth - 1>(to, last, now);
    } else {
      to = last;
    }
  }

  // The sum of n.
  [[gnu::always_inline]] static Word sum(const Word* from, u64 n) {
    Sums all{};
    Vector x;
    u64 i = 0;
    for (; i + kWidth <= n; i += kWidth) {
      get(x, from + i);
      add(all, x);
    }
    Word result = total(all);
    for (; i < n; ++i) result += from[i] >> kShift;
    return result;
  }
  // The later of each pair, and their sum. `to` may be one of them.
  [[gnu::always_inline]] static Word latest(Word* to, const Word* one, const Word* other, u64 n) {
    Sums sum{};
    Vector x, y;
    u64 i = 0;
    for (; i + kWidth <= n; i += kWidth) {
      get(x, one + i);
      get(y, other + i);
      x = x > y ? x : y;
      add(sum, x);
      std::memcpy(to + i, &x, sizeof x);
    }
    Word all = total(sum);
    for (; i < n; ++i) all += (to[i] = latest(one[i], other[i])) >> kShift;
    return all;
  }
  // kFull: 1: whether some of `left` is later than the first wait, 2: or at the same instant.
  template <int kWaits, int kFull>
  [[gnu::always_inline]] static void alone(AloneLoop<Word>& a, u64 n) {
    Vector x[2], commit{}, last{}, begun{}, start, far, gone;
    Sums commits{}, starts{}, upto[2] = {}, found{};
    Word each[kWidth] = {};
    each[kWidth - 1] = a.start;
    get(begun, each);
    each[kWidth - 1] = a.commits[-1];
    get(last, each);
    u64 i = 0;
    for (; i + kWidth <= n; i += kWidth) {
      get(commit, a.commits + i);
      before(start, last, commit);
      last = commit;
      add(commits, commit);
      for (int w = 0; w < kWaits; ++w) {
        get(x[w], a.waits[w] + i);
        hold(x[w]);
        start = start > x[w] ? start : x[w];
      }
      add(starts, start);
      before(far, begun, start);
      begun = start;
      for (int w = 0; w < kWaits; ++w) {
        far = far > x[w] ? far : x[w];
        add(upto[w], far);
      }
      if constexpr (kFull != 0) {
        get(gone, a.left + i);
        found |= kFull == 1 ? (Sums)x[0] - (Sums)gone : ~((Sums)gone - (Sums)x[0]);
      }
    }
    Word negative = 0;
    std::memcpy(each, &found, sizeof each);
    for (u64 k = 0; k < kWidth; ++k) negative |= each[k];
    std::memcpy(each, &begun, sizeof each);
    a.start = each[kWidth - 1];
    a.of_commits = total(commits), a.of_starts = total(starts);
    for (int w = 0; w < kWaits; ++w) a.upto[w] = total(upto[w]);
    for (; i < n; ++i) {
      a.of_commits += a.commits[i] >> kShift;
      Word reached = a.start;
      for (int w = 0; w < kWaits; ++w) {
        reached = latest(reached, a.waits[w][i]);
        a.upto[w] += reached >> kShift;
      }
      a.start = latest(reached, a.commits[static_cast<i64>(i) - 1]);
      a.of_starts += a.start >> kShift;
      if constexpr (kFull != 0) {
        const Word by = a.waits[0][i] - a.left[i];
        negative |= kFull == 1 ? by : by - 1;
      }
    }
    a.above = negative >> (sizeof(Word) * 8 - 1) != 0;
  }
  // Whether some of the second is later than that of the first, or, if `more` is 1, as late.
  [[gnu::always_inline]] static bool any_above(const Word* one, Word more, const Word* other,
                                               u64 n) {
    Sums found{};
    Vector x, y;
    u64 i = 0;
    for (; i + kWidth <= n; i += kWidth) {
      get(x, one + i);
      get(y, other + i);
      found |= (Sums)y - (Sums)x - more;
    }
    Word each[kWidth], negative = 0;
    std::memcpy(each, &found, sizeof each);
    for (u64 k = 0; k < kWidth; ++k) negative |= each[k];
    for (; i < n; ++i) negative |= other[i] - one[i] - more;
    return negative >> (sizeof(Word) * 8 - 1) != 0;
  }
};

// Vectors of unsigned and of signed numbers. (Of a size that a template is told, GCC makes none.)
template <typename Word, u64 kBytes>
struct NumberVectors {
  using Unsigned = Word;
  using Signed = std::make_signed_t<Word>;
};
template <>
struct NumberVectors<u32, 64> {
  typedef u32 Unsigned __attribute__((vector_size(64)));
  typedef std::int32_t Signed __attribute__((vector_size(64)));
};
template <>
struct NumberVectors<u32, 32> {
  typedef u32 Unsigned __attribute__((vector_size(32)));
  typedef std::int32_t Signed __attribute__((vector_size(32)));
};
template <>
struct NumberVectors<u64, 64> {
  typedef u64 Unsigned __attribute__((vector_size(64)));
  typedef i64 Signed __attribute__((vector_size(64)));
};
template <>
struct NumberVectors<u64, 32> {
  typedef u64 Unsigned __attribute__((vector_size(32)));
  typedef i64 Signed __attribute__((vector_size(32)));
};

// The loops, compiled for each kind of vectors. With `late` numbers are compared as they are, else
// as if their highest bit were a sign.
template <typename Word, int kShift>
class StreamWork {
  template <u64 kBytes, bool kLate>
  struct Vectors {
    using Of = NumberVectors<Word, kBytes>;
    using Sums = typename Of::Unsigned;
    using Loops =
        StreamLoops<std::conditional_t<kLate, Sums, typename Of::Signed>, Sums, Word, kShift>;
  };

 public:
  explicit StreamWork(u32 lanes = lanes_here()) : lanes_(lanes) {}

  Word sum(const Word* from, u64 n) const {
    return lanes_ == 16  ? wide_sum(from, n)
           : lanes_ == 8 ? narrow_sum(from, n)
                         : Vectors<sizeof(Word), false>::Loops::sum(from, n);
  }
  Word latest(bool late, Word* to, const Word* one, const Word* other, u64 n) const {
    if (lanes_ == 16) return wide_latest(late, to, one, other, n);
    if (lanes_ == 8) return narrow_latest(late, to, one, other, n);
    return any_latest<sizeof(Word)>(late, to, one, other, n);
  }
  // 0 to 2 `waits`; `full` as of StreamLoops::alone, 0 unless there is one.
  void alone(bool late, u32 waits, u32 full, AloneLoop<Word>& a, u64 n) const {
    if (lanes_ == 16) return wide_alone(late, waits, full, a, n);
    if (lanes_ == 8) return narrow_alone(late, waits, full, a, n);
    any_alone<sizeof(Word)>(late, waits, full, a, n);
  }
  bool any_above(const Word* one, Word more, const Word* other, u64 n) const {
    return lanes_ == 16  ? wide_any_above(one, more, other, n)
           : lanes_ == 8 ? narrow_any_above(one, more, other, n)
                         : Vectors<sizeof(Word), false>::Loops::any_above(one, more, other, n);
  }

 private:
  // Only what is narrow can be late: instants are below 2^63.
  static constexpr bool kMayBeLate = sizeof(Word) < sizeof(u64);
  template <u64 kBytes>
  [[gnu::always_inline]] static Word any_latest(bool late, Word* to, const Word* one,
                                                const Word* other, u64 n) {
    if (kMayBeLate && late) {
      return Vectors<kBytes, kMayBeLate>::Loops::latest(to, one, other, n);
    }
    return Vectors<kBytes, false>::Loops::latest(to, one, other, n);
  }
  template <typename Loops>
  [[gnu::always_inline]] static void alone_by(u32 waits, u32 full, AloneLoop<Word>& a, u64 n) {
    if (waits == 0) return Loops::template alone<0, 0>(a, n);
    if (waits == 2) return Loops::template alone<2, 0>(a, n);
    if (full == 0) return Loops::template alone<1, 0>(a, n);
    if (full == 1) return Loops::template alone<1, 1>(a, n);
    Loops::template alone<1, 2>(a, n);
  }
  template <u64 kBytes>
  [[gnu::always_inline]] static void any_alone(bool late, u32 waits, u32 full, AloneLoop<Word>& a,
                                               u64 n) {
    if (kMayBeLate && late) {
      return alone_by<typename Vectors<kBytes, kMayBeLate>::Loops>(waits, full, a, n);
    }
    alone_by<typename Vectors<kBytes, false>::Loops>(waits, full, a, n);
  }
  LPNRT_AVX512 Word wide_sum(const Word* from, u64 n) {
    return Vectors<64, false>::Loops::sum(from, n);
  }
  LPNRT_AVX2 Word narrow_sum(const Word* from, u64 n) {
    return Vectors<32, false>::Loops::sum(from, n);
  }
  LPNRT_AVX512 Word wide_latest(bool late, Word* to, const Word* one, const Word* other, u64 n) {
    return any_latest<64>(late, to, one, other, n);
  }
  LPNRT_AVX2 Word narrow_latest(bool late, Word* to, const Word* one, const Word* other, u64 n) {
    return any_latest<32>(late, to, one, other, n);
  }
  LPNRT_AVX512 void wide_alone(bool late, u32 waits, u32 full, AloneLoop<Word>& a, u64 n) {
    any_alone<64>(late, waits, full, a, n);
  }
  LPNRT_AVX2 void narrow_alone(bool late, u32 waits, u32 full, AloneLoop<Word>& a, u64 n) {
    any_alone<32>(late, waits, full, a, n);
  }
  LPNRT_AVX512 bool wide_any_above(const Word* one, Word more, const Word* other, u64 n) {
    return Vectors<64, false>::Loops::any_above(one, more, other, n);
  }
  LPNRT_AVX2 bool narrow_any_above(const Word* one, Word more, const Word* other, u64 n) {
    return Vectors<32, false>::Loops::any_above(one, more, other, n);
  }
  u32 lanes_;
};

}  // namespace lpnrt
