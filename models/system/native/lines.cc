#include "lines.h"

#include <algorithm>
#include <numeric>

namespace lpn::system {
namespace {

constexpr std::int64_t kPixelBytes = 2, kWord = 4, kWordsOfRow = 4;

// A fully associative cache: few lines, the most recent first.
class Cache {
 public:
  explicit Cache(std::int64_t lines) : most_(static_cast<std::size_t>(lines)) {}

  bool touch(std::int64_t line) {
    const auto it = std::find(lines_.begin(), lines_.end(), line);
    const bool hit = it != lines_.end();
    if (hit) {
      lines_.erase(it);
    } else if (lines_.size() == most_ && most_ > 0) {
      lines_.pop_back();
    }
    if (most_ > 0) lines_.insert(lines_.begin(), line);
    return hit;
  }

 private:
  std::size_t most_;
  std::vector<std::int64_t> lines_;
};

class Pass {
 public:
  Pass(const Picture& picture, const Memory& memory)
      : picture_(picture),
        memory_(memory),
        cache_(memory.cache_lines),
        open_(static_cast<std::size_t>(memory.banks), -1) {}

  std::vector<std::int64_t> run() {
    const std::int64_t across = (picture_.width + picture_.mcu - 1) / picture_.mcu;
    const std::int64_t down = (picture_.height + picture_.mcu - 1) / picture_.mcu;
    const std::int64_t side = picture_.mcu / 8;
    const std::int64_t blocks = across * down * side * side;
    known_.assign(
        static_cast<std::size_t>(
            (picture_.width * down * picture_.mcu + across * 16) * kPixelBytes / memory_.line + 2),
        false);
    std::vector<std::int64_t> found;
    found.reserve(static_cast<std::size_t>(blocks));
    std::int64_t read = 0;
    for (std::int64_t y = 0; y < down; ++y) {
      for (std::int64_t x = 0; x < across; ++x) {
        for (std::int64_t k = 0; k < side * side; ++k) {
          found.push_back(block(x * picture_.mcu + k % side * 8, y * picture_.mcu + k / side * 8));
          const auto done = static_cast<std::int64_t>(found.size());
          for (; read * blocks < memory_.read_lines * done; ++read) cache_.touch(-1 - read);
        }
      }
    }
    return found;
  }

 private:
  std::int64_t block(std::int64_t x, std::int64_t y) {
    std::int64_t bits = 0;
    for (int row = 0; row < kRows; ++row) bits |= one_row(x, y + row) << (kBitsOfRow * row);
    return bits;
  }

  std::int64_t one_row(std::int64_t x, std::int64_t y) {
    std::int64_t slowest = 0, waiting = 0, last = -1;
    bool waits = false;
    const std::int64_t start = (y * picture_.width + x) * kPixelBytes;
    for (std::int64_t word = 0; word < kWordsOfRow; ++word) {
      const std::int64_t line = (start + word * kWord) / memory_.line;
      if (line != last) {
        const auto level = static_cast<std::int64_t>(access(line));
        waits = level != 0;
        slowest = std::max(slowest, level);
        last = line;
      }
      waiting += waits ? 1 : 0;
    }
    return slowest | waiting << 3;
  }

  Level access(std::int64_t line) {
    if (cache_.touch(line)) return Level::kCache;
    const auto at = static_cast<std::size_t>(line);
    if (known_[at] || (line + 1) * memory_.line <= memory_.warm_bytes) return Level::kBehind;
    known_[at] = true;
    const std::int64_t row = line * memory_.line / memory_.row_bytes;
    std::int64_t& open = open_[static_cast<std::size_t>(row % memory_.banks)];
    if (!memory_.open_rows || open < 0) {
      if (memory_.open_rows) open = row;
      return Level::kRowShut;
    }
    const bool same = open == row;
    open = row;
    return same ? Level::kRowOpen : Level::kRowOther;
  }

  const Picture& picture_;
  const Memory& memory_;
  Cache cache_;
  std::vector<bool> known_;
  std::vector<std::int64_t> open_;
};

}  // namespace

std::vector<std::int64_t> levels(const Picture& picture, const Memory& memory) {
  return Pass(picture, memory).run();
}

std::vector<std::int64_t> shares(const std::vector<std::int64_t>& bits, const Input& input) {
  std::vector<std::int64_t> found;
  found.reserve(bits.size());
  const std::int64_t all =
      std::max<std::int64_t>(1, std::accumulate(bits.begin(), bits.end(), std::int64_t{0}));
  const std::int64_t behind = input.total * input.piece - input.begin;
  std::int64_t sum = 0, taken = input.taken;
  for (const std::int64_t own : bits) {
    sum += own;
    const std::int64_t position =
        input.begin +
        static_cast<std::int64_t>(static_cast<double>(behind) * static_cast<double>(sum) /
                                  static_cast<double>(all));
    std::int64_t end = (position + input.piece - 1) / input.piece;
    if (sum == all) end = input.total;
    end = std::clamp(end, taken, input.total);
    found.push_back(end - taken);
    taken = end;
  }
  return found;
}

}  // namespace lpn::system
