#include "tensors.h"

#include <algorithm>

namespace lpn::vta {

namespace {

// No burst crosses such a boundary (firstMaxTransfer, xmax_bytes).
constexpr std::int64_t kPage = kBurst * kBeatBytes;

std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

void refuse(std::size_t instruction, const std::string& reason) {
  throw Refused("instruction " + std::to_string(instruction) + ": " + reason);
}

Tensor::Tensor(const Instruction& of, std::size_t number, const Hardware& hardware, bool store)
    : number_(number),
      flags_(field::flags(of)),
      memory_(store ? static_cast<std::int64_t>(kOut) : field::mem(of)),
      x_(field::x(of)),
      y_(field::y(of)),
      stride_(field::stride(of)),
      dram_(field::dram(of)),
      bytes_(hardware.bytes[memory_]),
      sram_(field::sram(of)),
      depth_(hardware.depth[memory_]) {
  if (x_ == 0) {
    y_ = 0;
  } else if (y_ == 0) {
    refuse(number, "y_size 0 with x_size > 0: the hardware would count 65536 rows");
  } else if (!store) {  // TensorStore*.scala ignores the padding
    y0_ = field::y0(of);
    y1_ = field::y1(of);
    x0_ = field::x0(of);
    x1_ = field::x1(of);
  }
  width_ = x_ + x0_ + x1_;
  row_beats_ = divided_up(x_ * bytes_, kBeatBytes);
  zeros_ = width_ * (y0_ + y1_) + (x0_ + x1_) * y_;
}

void Tensor::require_room() const {
  const std::int64_t end = sram_ + width_ * (y_ + y0_ + y1_);
  if (!empty() && end > depth_)
    refuse(number_, std::string("it fills ") + kMemoryNames[memory_] + " up to element " +
                        std::to_string(end) + ", of which there are " + std::to_string(depth_));
}

Row Tensor::row(std::int64_t number) const {
  const std::int64_t address = (dram_ + number * stride_) * bytes_;
  const std::int64_t start = address % kBeatBytes;
  const std::int64_t beats = divided_up(x_ * bytes_ + start, kBeatBytes);
  const std::int64_t first = std::min(beats, (kPage - address % kPage + start) / kBeatBytes);
  return {beats, first, 1 + divided_up(beats - first, kBurst)};
}

std::int64_t Tensor::bursts() const {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < y_; ++i) sum += row(i).bursts;
  return sum;
}

std::int64_t Tensor::beats() const {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < y_; ++i) sum += row(i).beats;
  return sum;
}

bool Tensor::even(bool exact) const {
  if (row_beats_ < kCommandInterval || wide()) return false;
  if (!exact) return true;
  const std::int64_t number = bursts();
  return number <= kOutstanding || number == y_;
}

Tensor::Together Tensor::together() const {
  const std::int64_t number = y_ * divided_up(row_beats_, kBurst);
  return {row_beats_ * y_, std::max<std::int64_t>(number - 1, 0) / kOutstanding,
          (kOutstanding - 1) * std::min(row_beats_, kBurst)};
}

Tensor::Zeros Tensor::zeros() const {
  const std::int64_t beats = row_beats_ * y_;
  const std::int64_t skipped = x0_ + x1_ == 0 && y1_ > 0 ? y_ : 0;
  return {std::max<std::int64_t>(zeros_ + skipped + beats - 2 - y0_, 0),
          skipped > 0 ? 2 + width_ * y0_ + skipped : 0, std::min(skipped, beats)};
}

std::int64_t Tensor::stored_beats() const {
  // TensorStoreNarrowVME.scala: an element's beats, and sReadMem before each but a burst's first;
  // TensorStoreWideVME.scala: a beat a clock.
  return wide() ? beats() : beats() + x_ * y_ - bursts();
}

}  // namespace lpn::vta
