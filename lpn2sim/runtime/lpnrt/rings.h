// Containers without allocation in steady state: rings for tokens and firings, reused slots, and
// sets of transitions.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "lpnrt/budget.h"
#include "lpnrt/codes.h"

namespace lpnrt {

// A net has a ring per transition, each of its own type, and what belongs to a type is most of the
// time that compiling takes: so what moves bytes is there once, and what is tiny is inlined always.
struct RingBytes {
  char* items = nullptr;
  u64 head = 0, size = 0, mask = 0, capacity = 0;
  u64 soft = 0;  // so many items before the next question

  // Whether there was room after all.
  bool asked() {
    if (soft == capacity) return false;
    rest();
    soft = std::min<u64>(capacity, soft + kSoft);
    return true;
  }
  // Twice the room, zeros where there is nothing yet.
  [[gnu::noinline]] void grow(u64 width) {
    if (asked()) return;
    const u64 wanted = std::max<u64>(4, capacity * 2);
    charge(wanted * width);
    char* const bigger = static_cast<char*>(::operator new(wanted* width));
    const u64 first = std::min(size, capacity - head);
    if (size != 0) {
      std::memcpy(bigger, items + head * width, first * width);
      std::memcpy(bigger + first * width, items, (size - first) * width);
    }
    std::memset(bigger + size * width, 0, (wanted - size) * width);
    drop(width);
    moved_to(bigger, wanted);
  }
  [[gnu::noinline]] void drop(u64 width) {
    if (items == nullptr) return;
    refund(capacity * width);
    ::operator delete(items);
  }
  void moved_to(char* bigger, u64 wanted) {
    items = bigger;
    head = 0;
    mask = wanted - 1;
    capacity = wanted;
    soft = std::min<u64>(capacity, size + kSoft);
  }
  [[gnu::noinline]] void swap(RingBytes& other) { std::swap(*this, other); }
};

// FIFO of fixed-size items; T is trivially copyable or cheap to move.
template <typename T>
class Ring {
  static constexpr bool kBytes = std::is_trivially_copyable_v<T>;

 public:
  [[gnu::always_inline]] Ring() = default;
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  Ring(Ring&& other) noexcept { swap(other); }
  Ring& operator=(Ring&& other) noexcept {
    swap(other);
    return *this;
  }
  [[gnu::always_inline]] ~Ring() {
    if constexpr (kBytes)
      bytes_.drop(sizeof(T));
    else
      release();
  }
  [[gnu::always_inline]] u64 size() const { return bytes_.size; }
  [[gnu::always_inline]] void swap(Ring& other) { bytes_.swap(other.bytes_); }
  [[gnu::always_inline]] T& front() { return items()[bytes_.head]; }
  [[gnu::always_inline]] const T& operator[](u64 k) const {
    return items()[(bytes_.head + k) & bytes_.mask];
  }
  [[gnu::always_inline]] T& at(u64 k) { return items()[(bytes_.head + k) & bytes_.mask]; }
  [[gnu::always_inline]] T& push() {
    if (bytes_.size == bytes_.soft) {
      if constexpr (kBytes)
        bytes_.grow(sizeof(T));
      else
        grow();
    }
    return items()[(bytes_.head + bytes_.size++) & bytes_.mask];
  }
  void clear() { bytes_.head = bytes_.size = 0; }
  [[gnu::always_inline]] void pop() {
    bytes_.head = (bytes_.head + 1) & bytes_.mask;
    --bytes_.size;
  }

 private:
  [[gnu::always_inline]] T* items() const { return reinterpret_cast<T*>(bytes_.items); }
  [[gnu::noinline]] void release() {
    if (bytes_.items != nullptr) refund(bytes_.capacity * sizeof(T));
    delete[] items();
  }
  [[gnu::noinline]] void grow() {
    if (bytes_.asked()) return;
    const u64 capacity = std::max<u64>(4, bytes_.capacity * 2);
    charge(capacity * sizeof(T));
    T* const bigger = new T[capacity]();
    for (u64 k = 0; k < bytes_.size; ++k) bigger[k] = static_cast<T&&>(at(k));
    release();
    bytes_.moved_to(reinterpret_cast<char*>(bigger), capacity);
  }
  // Empty at first: a constructor that cannot fail keeps nets of many places quick to compile.
  RingBytes bytes_;
};

// FIFO of rows of W values: the free tokens of a place. The first few rows lie in the place
// itself, next to its counters: most places never hold more. Never moved once constructed. `Anew`:
// an empty one begins again with its first row, which is in the cache then.
template <int W, bool Anew = false>
class Rows {
 public:
  Rows() = default;
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  ~Rows() {
    if (values_ != first_) drop();
  }
  const i64* row(u64 k) const { return values_ + ((head_ + k) & mask_) * W; }
  i64* push() {
    if (size_ > soft_) grow(size_ + 1);
    return values_ + ((head_ + size_++) & mask_) * W;
  }
  void pop(u64 count) {
    const u32 next = static_cast<u32>(head_ + count) & mask_;
    size_ -= static_cast<u32>(count);
    head_ = Anew && size_ == 0 ? 0 : next;
  }
  [[gnu::noinline]] void append(u64 count, const i64* values) {
    if (count == 1) {  // most often, and of a known size
      std::memcpy(push(), values, W * sizeof(i64));
      return;
    }
    if (size_ + count > mask_ + u64{1}) grow(size_ + count);
    if (head_ + u64{size_} + count <= mask_ + u64{1}) {
      std::memcpy(values_ + (head_ + u64{size_}) * W, values, count * W * sizeof(i64));
      size_ += static_cast<u32>(count);
      return;
    }
    for (u64 k = 0; k < count; ++k) std::memcpy(push(), values + k * W, W * sizeof(i64));
  }
  // Takes over `count` rows that stood in `from` at `first`; false when one of both is not empty
  // or the rows are elsewhere.
  bool take(Rows& from, const i64* first, u64 count) {
    const i64* const end = from.values_ + (from.mask_ + u64{1}) * W;
    if (size_ != 0 || from.size_ != 0 || from.values_ == from.first_) return false;
    if (std::less<const i64*>()(first, from.values_) || !std::less<const i64*>()(first, end)) {
      return false;
    }
    if (values_ != first_) drop();
    values_ = from.values_;
    mask_ = soft_ = from.mask_;
    head_ = static_cast<u32>((first - values_) / W);
    size_ = static_cast<u32>(count);
    from.values_ = from.first_;
    from.mask_ = from.soft_ = kFirst - 1;
    from.head_ = 0;
    return true;
  }
  [[gnu::noinline]] void copy(u64 count, i64* values) const {
    const u64 first = std::min<u64>(count, mask_ + u64{1} - head_);  // up to the end of the ring
    std::memcpy(values, row(0), first * W * sizeof(i64));
    std::memcpy(values + first * W, values_, (count - first) * W * sizeof(i64));
  }

 private:
  static constexpr u32 kFirst = W <= 4 ? 4 : 1;
  void drop() {
    refund((mask_ + u64{1}) * W * sizeof(i64));
    ::operator delete(values_);
  }
  [[gnu::noinline, gnu::cold]] void grow(u64 least) {
    if (least <= mask_ + u64{1}) {
      rest();
      soft_ = std::min(mask_, std::max(soft_, size_) + kSoft);
      return;
    }
    u64 capacity = (mask_ + u64{1}) * 2;
    while (capacity < least) capacity *= 2;
    if (capacity > u64{1} << 31) throw std::bad_alloc();
    charge(capacity * W * sizeof(i64));
    i64* const bigger = static_cast<i64*>(::operator new(capacity* W * sizeof(i64)));
    for (u64 k = 0; k < size_; ++k) std::memcpy(bigger + k * W, row(k), W * sizeof(i64));
    if (values_ != first_) drop();
    values_ = bigger;
    head_ = 0;
    mask_ = static_cast<u32>(capacity - 1);
    soft_ = std::min(mask_, size_ + kSoft);
  }
  i64* values_ = first_;
  u32 head_ = 0, size_ = 0, mask_ = kFirst - 1, soft_ = kFirst - 1;
  i64 first_[kFirst * W];
};

// A place of a large net: its rows, and how many of them are free tokens. Begins with a cache line,
// which holds both counters and the first token, unless that one is large.
template <int W>
struct alignas(64) Held : Rows<W, true> {
  u64 free = 0;
};

// A set of transitions 0..N-1, visited from the least upwards. More than two words have a summary
// bit each, and more than 4096 a summary of those, which keeps the visit independent of N. Whether
// a word is left empty is arithmetic, not a branch: it cannot be foretold.
template <u32 N>
class Set {
  static constexpr u32 kWords = (N + 63) / 64;
  static constexpr bool kSummed = kWords > 2;
  static constexpr u32 kTops = kSummed ? (kWords + 63) / 64 : 1;
  static constexpr u32 kRoots = (kTops + 63) / 64;
  static_assert(kRoots <= 1 || N <= 64u * 64 * 64 * 64);

 public:
  void insert(u32 k) { insert_word(k / 64, u64{1} << (k % 64)); }
  void insert_word(u32 w, u64 bits) {
    words_[w] |= bits;
    if constexpr (kSummed) {
      tops_[kTops > 1 ? w / 64 : 0] |= u64{1} << (w % 64);
      if constexpr (kTops > 1) root_ |= u64{1} << (w / 64);
    }
  }
  bool empty() const {
    if constexpr (kWords == 1)
      return words_[0] == 0;
    else if constexpr (kWords == 2)
      return (words_[0] | words_[1]) == 0;
    else if constexpr (kTops == 1)
      return tops_[0] == 0;
    else
      return root_ == 0;
  }
  // REQUIRES !empty().
  u32 take_least() {
    u32 w = 0;
    if constexpr (kWords == 2) w = words_[0] == 0 ? 1 : 0;
    u32 top = 0;
    if constexpr (kTops > 1) top = static_cast<u32>(__builtin_ctzll(root_));
    if constexpr (kSummed) w = top * 64 + static_cast<u32>(__builtin_ctzll(tops_[top]));
    const u64 word = words_[w];
    const u64 rest = word & (word - 1);
    words_[w] = rest;
    if constexpr (kSummed) {
      const u64 bit = tops_[top] & -tops_[top];
      tops_[top] ^= rest == 0 ? bit : 0;
      if constexpr (kTops > 1) {
        if (tops_[top] == 0) root_ &= ~(u64{1} << top);
      }
    }
    return w * 64 + static_cast<u32>(__builtin_ctzll(word));
  }
  // Visits all of it, which is then empty; none is inserted meanwhile.
  template <typename Visit>
  void drain(const Visit& visit) {
    if constexpr (!kSummed) {
      for (u32 w = 0; w < kWords; ++w) drain_word(w, visit);
    } else {
      for (u32 top = 0; top < kTops; ++top) {
        for (u64 words = std::exchange(tops_[top], 0); words != 0; words &= words - 1) {
          drain_word(top * 64 + static_cast<u32>(__builtin_ctzll(words)), visit);
        }
      }
      root_ = 0;
    }
  }
  // All of it, which is then empty. REQUIRES N <= 64.
  u64 take_all() {
    static_assert(kWords == 1);
    return std::exchange(words_[0], 0);
  }

 private:
  template <typename Visit>
  void drain_word(u32 w, const Visit& visit) {
    for (u64 word = std::exchange(words_[w], 0); word != 0; word &= word - 1) {
      visit(w * 64 + static_cast<u32>(__builtin_ctzll(word)));
    }
  }

  u64 words_[kWords] = {};
  u64 tops_[kTops] = {};
  u64 root_ = 0;
};

// Firings whose commits may overtake one another: records in reused slots.
template <typename T>
class Pool {
 public:
  u32 take() {
    if (free_.empty()) {
      if (items_.size() == items_.capacity()) more();
      items_.emplace_back();
      return static_cast<u32>(items_.size() - 1);
    }
    const u32 slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void give(u32 slot) { free_.push_back(slot); }
  u32 slots() const { return static_cast<u32>(items_.size()); }
  T& operator[](u32 slot) { return items_[slot]; }

 private:
  // Beside a firing: its event, and its places in lists of slots.
  static constexpr u64 kEach = sizeof(T) + 48;
  [[gnu::noinline, gnu::cold]] void more() {
    const u64 before = items_.capacity(), wanted = std::max<u64>(4, before * 2);
    charge(wanted * kEach);
    items_.reserve(wanted);
    refund(before * kEach);
  }
  std::vector<T> items_;
  std::vector<u32> free_;
};

}  // namespace lpnrt
