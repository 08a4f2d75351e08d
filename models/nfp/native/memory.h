// Bytes by 32-bit address that remember what was written to them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace lpn::nfp {

class Memory {
 public:
  // What is nowhere filled is 0.
  std::uint8_t get(std::uint32_t address) {
    missed_ |= address >= known_ && address < size_;
    return page(address)[address % kPage];
  }
  void set(std::uint32_t address, std::uint8_t byte) {
    std::uint8_t& here = page(address)[address % kPage];
    journal_.emplace_back(address, here);
    here = byte;
  }
  // As set, but not counted as written.
  void fill(std::uint32_t address, std::uint8_t byte) { page(address)[address % kPage] = byte; }

  // From here on the content is a frame of `size` bytes of which the first `known` are at `data`,
  // which must stay.
  void hold(const std::uint8_t* data, std::uint32_t known, std::uint32_t size) {
    pages_.clear();
    journal_.clear();
    last_ = nullptr;
    data_ = data;
    known_ = known;
    size_ = size;
    missed_ = false;
  }
  // Whether bytes of the frame were read that are not known.
  bool missed() const { return missed_; }

  // Bytes written since the last keep(), with what they are now.
  std::map<std::uint32_t, std::uint8_t> written() {
    std::map<std::uint32_t, std::uint8_t> out;
    for (const auto& [address, before] : journal_) out[address] = page(address)[address % kPage];
    return out;
  }
  void undo() {
    for (auto at = journal_.rbegin(); at != journal_.rend(); ++at)
      page(at->first)[at->first % kPage] = at->second;
    journal_.clear();
  }
  void keep() { journal_.clear(); }

 private:
  static constexpr std::uint32_t kPage = 64;
  using Page = std::array<std::uint8_t, kPage>;

  Page& page(std::uint32_t address) {
    const std::uint32_t number = address / kPage;
    if (last_ && number == last_number_) return *last_;
    const auto [found, fresh] = pages_.try_emplace(number);
    if (fresh) {
      found->second.fill(0);
      const std::uint32_t first = number * kPage;
      if (first < known_)
        std::memcpy(found->second.data(), data_ + first, std::min(kPage, known_ - first));
    }
    last_number_ = number;
    last_ = &found->second;
    return *last_;
  }

  std::unordered_map<std::uint32_t, Page> pages_;  // a page stays where it is
  Page* last_ = nullptr;
  std::uint32_t last_number_ = 0;
  const std::uint8_t* data_ = nullptr;
  std::uint32_t known_ = 0, size_ = 0;
  bool missed_ = false;
  std::vector<std::pair<std::uint32_t, std::uint8_t>> journal_;  // address, what was there before
};

}  // namespace lpn::nfp
