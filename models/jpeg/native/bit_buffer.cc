#include "bit_buffer.h"

#include <algorithm>

namespace lpn::jpeg {
namespace {

// jpeg_bitbuffer.v: a byte is pushed while at most 56 bits are held; 32 are offered.
constexpr int kPushLimit = 56;
constexpr int kOffered = 32;

// Clocks from the last symbol's output until the next block may start: the fetch that sees the
// block complete, end of block, and two in which the dequantiser drains (jpeg_mcu_proc.v).
constexpr int kBlockClocks = 4;

}  // namespace

// One clock of jpeg_input.v's data state and of jpeg_bitbuffer.v. A byte is pushed when the byte
// behind it is seen; the zero behind FF is passed over, for free while the buffer is full.
void BitBuffer::clock(int pop) {
  const bool room = count_ <= kPushLimit;
  if (!drain_ && at_ < file_.size()) {
    const bool behind_ff = file_[at_ - 1] == 0xFF;
    const bool padding = behind_ff && file_[at_] == 0x00;
    const bool end = behind_ff && file_[at_] == 0xD9;
    if (end) {
      drain_ = true;
    } else {
      if (held_ && room) count_ += 8;
      if (room) held_ = !padding;
      if (room || padding) ++at_;
    }
  }
  count_ = std::max(0, count_ - pop);
}

int BitBuffer::first_word() {
  int clocks = 0;
  for (; !offers_data() && !(drain_ && count_ == 0); ++clocks) clock(0);
  return clocks;
}

// The quick way over a block that cannot run dry, which is nearly every block: the buffer is full
// before and after. False when that is not certain.
bool BitBuffer::skip_ahead(std::span<const std::uint8_t> symbol_bits) {
  if (count_ <= kPushLimit || !held_ || drain_) return false;
  if (file_[at_ - 1] == 0xFF && file_[at_] == 0x00) ++at_;  // passes while the buffer is full
  int missing = 0;                                          // bits below a full buffer, at worst
  int worst = 0;
  int total = 0;
  for (const int bits : symbol_bits) {
    missing += bits;
    total += bits;
    worst = std::max(worst, missing);
    missing = std::max(0, missing - 8 * symbol_clocks_);
  }
  const int bytes = std::max(0, (kPushLimit + 8 - (count_ - total)) / 8);
  // Each stuffed zero may cost a byte's clock. Two bytes more are looked at, so that the end
  // marker is never passed here.
  std::size_t end = at_;
  for (int k = 0; k < bytes + 2; ++k) {
    if (end + 1 >= file_.size()) return false;
    if (file_[end] == 0xFF) {
      if (file_[end + 1] != 0x00) return false;
      worst += 8;
      ++end;
    }
    ++end;
  }
  if (worst > kPushLimit + 1 - kOffered) return false;
  for (int k = 0; k < bytes; ++k) at_ += file_[at_] == 0xFF ? 2 : 1;
  count_ += 8 * bytes - total;
  return true;
}

int BitBuffer::take(std::span<const std::uint8_t> symbol_bits) {
  int waited = 0;
  const auto wait = [&] {
    while (!offers_data() && !(drain_ && count_ == 0)) {
      clock(0);
      ++waited;
    }
  };
  if (!first_) {
    for (int k = 0; k < kBlockClocks; ++k) clock(0);
  }
  first_ = false;
  wait();
  clock(0);  // leaves the idle state
  if (skip_ahead(symbol_bits)) return waited;
  for (const int bits : symbol_bits) {
    wait();
    for (int k = 1; k < symbol_clocks_; ++k) clock(0);
    clock(bits);
  }
  return waited;
}

}  // namespace lpn::jpeg
