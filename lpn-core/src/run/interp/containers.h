// What the state of the interpreter is made of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace lpn::interp {

// FIFO of property rows without allocation in steady state.
class Rows {
 public:
  void set_width(std::size_t width) { width_ = width; }
  const std::int64_t* row(std::size_t k) const { return &buffer_[((head_ + k) & mask_) * width_]; }
  std::int64_t* push() {
    if (buffer_.empty() || size_ == mask_ + 1) grow();
    return &buffer_[((head_ + size_++) & mask_) * width_];
  }
  void pop(std::size_t count) {
    head_ = (head_ + count) & mask_;
    size_ -= count;
  }
  // Bytes that the next push allocates, for which it gives back half as many; 0: none.
  std::size_t growth() const {
    if (buffer_.empty()) return 8 * width_ * sizeof(std::int64_t);
    return size_ == mask_ + 1 ? 2 * size_ * width_ * sizeof(std::int64_t) : 0;
  }

 private:
  void grow() {
    const std::size_t capacity = buffer_.empty() ? 8 : 2 * (mask_ + 1);
    std::vector<std::int64_t> bigger(capacity * width_);
    for (std::size_t k = 0; k < size_; ++k) {
      std::copy_n(row(k), width_, &bigger[k * width_]);
    }
    buffer_ = std::move(bigger);
    head_ = 0;
    mask_ = capacity - 1;
  }
  std::size_t width_ = 0, head_ = 0, size_ = 0, mask_ = 0;
  std::vector<std::int64_t> buffer_;
};

// A set of transitions, visited from the least id upwards.
class DirtySet {
 public:
  explicit DirtySet(std::size_t n) : words_((n + 63) / 64) {}
  void insert(std::size_t k) { words_[k / 64] |= std::uint64_t{1} << (k % 64); }
  void erase(std::size_t k) { words_[k / 64] &= ~(std::uint64_t{1} << (k % 64)); }
  std::optional<std::size_t> least() const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      if (words_[w] != 0) return w * 64 + static_cast<std::size_t>(__builtin_ctzll(words_[w]));
    }
    return std::nullopt;
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace lpn::interp
