// Containers without allocation in steady state: rings for tokens and firings, reused slots, and
// sets of transitions.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>
#include <utility>
#include <vector>

#include "lpnrt/budget.h"
#include "lpnrt/codes.h"

namespace lpnrt {

// The little of std::vector that rings need: a net has a ring per transition, each of its own type,
// and a std::vector per type is most of the time that compiling a large net takes.
template <typename T>
class Array {
 public:
  Array() = default;
  explicit Array(u64 size) : items_((charge(size * sizeof(T)), new T[size]())), size_(size) {}
  Array(Array&& other) noexcept { swap(other); }
  Array& operator=(Array&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Array() {
    if (items_ == nullptr) return;
    refund(size_ * sizeof(T));
    delete[] items_;
  }
  void swap(Array& other) {
    T* const items = items_;
    items_ = other.items_;
    other.items_ = items;
    const u64 size = size_;
    size_ = other.size_;
    other.size_ = size;
  }
  u64 size() const { return size_; }
  T& operator[](u64 k) { return items_[k]; }
  const T& operator[](u64 k) const { return items_[k]; }

 private:
  T* items_ = nullptr;
  u64 size_ = 0;
};

// FIFO of fixed-size items; T is trivially copyable or cheap to move.
template <typename T>
class Ring {
 public:
  u64 size() const { return size_; }
  void swap(Ring& other) {
    items_.swap(other.items_);
    std::swap(head_, other.head_);
    std::swap(size_, other.size_);
    std::swap(mask_, other.mask_);
    std::swap(soft_, other.soft_);
  }
  T& front() { return items_[head_]; }
  const T& operator[](u64 k) const { return items_[(head_ + k) & mask_]; }
  T& at(u64 k) { return items_[(head_ + k) & mask_]; }
  T& push() {
    if (size_ == soft_) grow();
    return items_[(head_ + size_++) & mask_];
  }
  void clear() { head_ = size_ = 0; }
  void pop() {
    head_ = (head_ + 1) & mask_;
    --size_;
  }

 private:
  [[gnu::noinline]] void grow() {
    if (soft_ < items_.size()) {
      rest();
      soft_ = std::min<u64>(items_.size(), soft_ + kSoft);
      return;
    }
    const u64 capacity = std::max<u64>(4, items_.size() * 2);
    Array<T> bigger(capacity);
    for (u64 k = 0; k < size_; ++k) bigger[k] = std::move(items_[(head_ + k) & mask_]);
    items_.swap(bigger);
    head_ = 0;
    mask_ = capacity - 1;
    soft_ = std::min<u64>(capacity, size_ + kSoft);
  }
  // Empty at first: a constructor that cannot fail keeps nets of many places quick to compile.
  Array<T> items_;
  u64 head_ = 0, size_ = 0, mask_ = 0;
  u64 soft_ = 0;  // so many items before the next question
};

// FIFO of rows of W values: the free tokens of a place. The first few rows lie in the place
// itself, next to its counters: most places never hold more. Never moved once constructed.
template <int W>
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
    head_ = static_cast<u32>(head_ + count) & mask_;
    size_ -= static_cast<u32>(count);
  }
  [[gnu::noinline]] void append(u64 count, const i64* values) {
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
    for (u64 k = 0; k < count; ++k) std::memcpy(values + k * W, row(k), W * sizeof(i64));
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

// A set of transitions 0..N-1, visited from the least upwards. A summary bit per word, and a
// summary of summaries above 4096, keep the visit independent of N.
template <u32 N>
class Set {
  static constexpr u32 kWords = (N + 63) / 64;
  static constexpr u32 kTops = (kWords + 63) / 64;
  static constexpr u32 kRoots = (kTops + 63) / 64;
  static_assert(kRoots <= 1 || N <= 64u * 64 * 64 * 64);

 public:
  void insert(u32 k) { insert_word(k / 64, u64{1} << (k % 64)); }
  void insert_word(u32 w, u64 bits) {
    words_[w] |= bits;
    if constexpr (kWords > 1) {
      tops_[w / 64] |= u64{1} << (w % 64);
      if constexpr (kTops > 1) root_ |= u64{1} << (w / 64);
    }
  }
  bool empty() const {
    if constexpr (kWords == 1)
      return words_[0] == 0;
    else if constexpr (kTops == 1)
      return tops_[0] == 0;
    else
      return root_ == 0;
  }
  // REQUIRES !empty().
  u32 take_least() {
    u32 w = 0;
    if constexpr (kWords > 1) {
      u32 top = 0;
      if constexpr (kTops > 1) top = static_cast<u32>(__builtin_ctzll(root_));
      w = top * 64 + static_cast<u32>(__builtin_ctzll(tops_[top]));
    }
    const u64 word = words_[w];
    const u64 rest = word & (word - 1);
    words_[w] = rest;
    if constexpr (kWords > 1) {
      if (rest == 0) {
        u64& top = tops_[w / 64];
        top &= ~(u64{1} << (w % 64));
        if constexpr (kTops > 1) {
          if (top == 0) root_ &= ~(u64{1} << (w / 64));
        }
      }
    }
    return w * 64 + static_cast<u32>(__builtin_ctzll(word));
  }

 private:
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
