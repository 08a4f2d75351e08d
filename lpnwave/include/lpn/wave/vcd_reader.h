// A value change dump (IEEE 1364-2005, clause 18), read as it arrives, in pieces of any size.
//
// Memory is bounded by the declarations and the longest token, whatever the length of the dump.
// Only the signals that are watched are looked at beyond their identifier.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace lpn::wave {

struct Variable {
  std::string name;  // with its scopes: "tb.dut.valid"
  std::string kind;  // "wire", "reg", "integer", "real", ...
  std::uint32_t width = 1;
  bool ranged = false;  // declared with [msb:lsb], or [bit]
  std::int64_t msb = 0, lsb = 0;
  std::uint32_t signal = 0;  // variables of one identifier are one signal
};

struct Header {
  std::vector<Variable> variables;
  std::uint32_t signals = 0;
  std::int64_t tick = 0;  // femtoseconds; 0: the dump does not say
};

// Who is told of the changes.
class Listener {
 public:
  virtual ~Listener() = default;
  // Instants rise; all changes of the one before have been told.
  virtual void on_time(std::int64_t time) = 0;
  // `bits`: characters 0 1 x z (any case), the highest first, at least one; shorter than the signal
  // where the rest is 0, or x or z like the first.
  virtual void on_change(std::uint32_t watched, std::string_view bits) = 0;
};

class VcdReader {
 public:
  // Each throws Error "E-wave" with line and byte for what is no VCD. What came before the place
  // has been told; nothing may follow.

  // The beginning of the dump; true when its header is complete. The rest of the piece is kept.
  bool read_header(std::string_view bytes);
  const Header& header() const { return header_; }

  // What is told of `signal`, under the number `watched`. After the header and before the body.
  void watch(std::uint32_t signal, std::uint32_t watched);

  // The next piece of the body; the first one may be empty, for what read_header kept.
  void read(std::string_view bytes, Listener& listener);

  // After the last piece. False: the dump ends in the midst of a token or a change.
  bool complete() const;

  std::uint64_t line() const { return line_; }  // of the first byte not understood, from 1
  std::uint64_t byte() const { return base_; }  // and its offset, from 0

 private:
  enum class Skip : std::uint8_t { kNothing, kComment };
  static constexpr std::uint32_t kUnknown = 0, kIgnored = 1, kFirst = 2;

  void declare(std::string_view keyword, const std::vector<std::string_view>& words);
  void variable(const std::vector<std::string_view>& words);
  void timescale(const std::vector<std::string_view>& words);
  std::uint32_t& entry(std::string_view identifier);
  std::uint32_t find(std::string_view identifier) const;
  std::size_t parse(std::string_view text, Listener& listener);
  [[noreturn]] void fail(const std::string& what) const;

  Header header_;
  std::vector<std::string> scopes_;
  std::vector<std::uint32_t> short_ids_;  // by identifier of up to three characters
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view s) const { return std::hash<std::string_view>{}(s); }
  };
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> long_ids_;
  std::vector<std::uint32_t> watched_;  // signal -> kIgnored or kFirst + number
  bool in_body_ = false;
  Skip skip_ = Skip::kNothing;
  std::string rest_;  // not understood yet
  std::uint64_t base_ = 0, line_ = 1;
  std::int64_t time_ = -1;
};

}  // namespace lpn::wave
