#include "lpn/wave/vcd_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "lpn/base/error.h"

namespace lpn::wave {
namespace {

constexpr std::size_t kLongestToken = std::size_t{1} << 24;
constexpr std::uint32_t kWidest = 1 << 20;
constexpr std::size_t kShort = 3;  // identifiers of so many characters are in a table
constexpr std::uint32_t kLetters = 94;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // of UTF-8, which some editors add

bool space(char c) { return static_cast<unsigned char>(c) <= ' '; }

bool bit(char c) { return c == '0' || c == '1' || (c | ' ') == 'x' || (c | ' ') == 'z'; }

// Text of a stranger for a message: short, and printable.
std::string shown(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 40)) out += c > ' ' && c <= '~' ? c : '?';
  return text.size() > 40 ? out + "..." : out;
}

// The position of a short identifier in the table, or the table's size.
std::size_t position(std::string_view id) {
  std::size_t code = 0;
  for (const char c : id) {
    if (c < '!' || c > '~') return std::numeric_limits<std::size_t>::max();
    code = code * kLetters + static_cast<std::size_t>(c - '!') + 1;
  }
  return code;
}

template <typename Number>
bool whole(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// "[7:0]" or "[3]".
bool range(std::string_view text, Variable& v) {
  if (text.size() < 3 || text.front() != '[' || text.back() != ']') return false;
  text = text.substr(1, text.size() - 2);
  const std::size_t colon = text.find(':');
  if (!whole(text.substr(0, colon), v.msb)) return false;
  v.lsb = v.msb;
  if (colon != std::string_view::npos && !whole(text.substr(colon + 1), v.lsb)) return false;
  const std::uint64_t span =
      v.msb > v.lsb ? static_cast<std::uint64_t>(v.msb) - static_cast<std::uint64_t>(v.lsb)
                    : static_cast<std::uint64_t>(v.lsb) - static_cast<std::uint64_t>(v.msb);
  v.ranged = span == v.width - 1;  // another range than the width says is no range to go by
  return true;
}

}  // namespace

void VcdReader::fail(const std::string& what) const {
  throw Error("E-wave", fmt::format("line {}, byte {}: {}", line_, base_, what));
}

bool VcdReader::complete() const {
  return in_body_ && skip_ == Skip::kNothing &&
         std::all_of(rest_.begin(), rest_.end(), [](char c) { return space(c); });
}

std::uint32_t& VcdReader::entry(std::string_view identifier) {
  if (identifier.size() <= kShort) {
    const std::size_t k = position(identifier);
    if (k != std::numeric_limits<std::size_t>::max()) {
      if (k >= short_ids_.size()) short_ids_.resize(k + 1, kUnknown);
      return short_ids_[k];
    }
  }
  const auto found = long_ids_.find(identifier);
  if (found != long_ids_.end()) return found->second;
  return long_ids_.emplace(std::string(identifier), kUnknown).first->second;
}

// 0: not declared; else 1 + signal.
std::uint32_t VcdReader::find(std::string_view identifier) const {
  if (identifier.size() <= kShort) {
    const std::size_t k = position(identifier);
    if (k < short_ids_.size()) return short_ids_[k];
    if (k != std::numeric_limits<std::size_t>::max()) return kUnknown;
  }
  const auto found = long_ids_.find(identifier);
  return found == long_ids_.end() ? kUnknown : found->second;
}

void VcdReader::timescale(const std::vector<std::string_view>& words) {
  std::string text;
  for (const std::string_view word : words) text += word;
  std::int64_t number = 0;
  const std::size_t unit = text.find_first_not_of("0123456789");
  constexpr std::pair<std::string_view, std::int64_t> kUnits[] = {{"s", 1'000'000'000'000'000},
                                                                  {"ms", 1'000'000'000'000},
                                                                  {"us", 1'000'000'000},
                                                                  {"ns", 1'000'000},
                                                                  {"ps", 1'000},
                                                                  {"fs", 1}};
  if (unit != std::string::npos && whole(std::string_view(text).substr(0, unit), number)) {
    for (const auto& [name, femtoseconds] : kUnits) {
      if (text.substr(unit) != name || (number != 1 && number != 10 && number != 100)) continue;
      header_.tick = number * femtoseconds;
      return;
    }
  }
  fail(fmt::format("the time scale '{}' is none; it is 1, 10 or 100 of s, ms, us, ns, ps or fs",
                   shown(text)));
}

// $var TYPE WIDTH IDENTIFIER NAME [RANGE] $end
void VcdReader::variable(const std::vector<std::string_view>& words) {
  if (words.size() < 4) fail("a $var without type, width, identifier and name");
  Variable v;
  v.kind = words[0];
  if (!whole(words[1], v.width)) fail(fmt::format("'{}' is no width of a $var", shown(words[1])));
  const bool number = v.kind == "real" || v.kind == "realtime" || v.kind == "string";
  if (v.width > kWidest) fail(fmt::format("a signal of {} bits; at most {}", v.width, kWidest));
  if (v.width == 0 && !number) v.width = 1;
  std::string_view name = words[3];
  std::string joined;
  std::size_t names = words.size();
  if (names > 4 && range(words[names - 1], v)) --names;
  for (std::size_t k = 4; k < names; ++k) {
    joined += joined.empty() ? std::string(name) : std::string();
    joined += ' ';
    joined += words[k];
    name = joined;
  }
  // "data[7:0]" in one word; an escaped name may end in brackets, so only where it fits the width.
  const std::size_t bracket = name.rfind('[');
  if (!v.ranged && bracket != std::string_view::npos && bracket > 0 && name.back() == ']' &&
      name.front() != '\\' && range(name.substr(bracket), v) && v.ranged) {
    name = name.substr(0, bracket);
  }
  for (const std::string& scope : scopes_) (v.name += scope) += '.';
  v.name += name;
  std::uint32_t& known = entry(words[2]);
  if (known == kUnknown) known = ++header_.signals;
  v.signal = known - 1;
  header_.variables.push_back(std::move(v));
}

void VcdReader::declare(std::string_view keyword, const std::vector<std::string_view>& words) {
  if (keyword == "$var") {
    variable(words);
  } else if (keyword == "$scope") {
    if (words.size() < 2) fail("a $scope without type and name");
    scopes_.emplace_back(words[1]);
  } else if (keyword == "$upscope") {
    if (scopes_.empty()) fail("an $upscope too many");
    scopes_.pop_back();
  } else if (keyword == "$timescale") {
    timescale(words);
  } else if (keyword == "$enddefinitions") {
    in_body_ = true;
    watched_.assign(header_.signals, kIgnored);
  }
}

bool VcdReader::read_header(std::string_view bytes) {
  LPN_ASSERT(!in_body_);
  rest_ += bytes;
  std::size_t at = 0;
  if (base_ == 0) {
    if (rest_.size() < kByteOrderMark.size() && kByteOrderMark.substr(0, rest_.size()) == rest_)
      return false;  // which may go on in the next piece
    if (rest_.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
      rest_.erase(0, kByteOrderMark.size());
      base_ = kByteOrderMark.size();
    }
    if (rest_.substr(0, 2) == "\xFF\xFE" || rest_.substr(0, 2) == "\xFE\xFF")
      fail("text of two bytes a character (UTF-16); a VCD is ASCII or UTF-8");
  }
  std::vector<std::string_view> words;
  const auto next = [&](std::size_t& from) {  // the next word that is surely complete, or none
    while (from < rest_.size() && space(rest_[from])) ++from;
    std::size_t end = from;
    while (end < rest_.size() && !space(rest_[end])) ++end;
    if (end - from > kLongestToken) fail("a word of more than 16 MiB");
    const std::string_view word(rest_.data() + from, end == rest_.size() ? 0 : end - from);
    from = end;
    return word;
  };
  const auto advance = [&](std::size_t to) {
    line_ += static_cast<std::uint64_t>(std::count(rest_.begin() + static_cast<std::ptrdiff_t>(at),
                                                   rest_.begin() + static_cast<std::ptrdiff_t>(to),
                                                   '\n'));
    base_ += to - at;
    at = to;
  };
  while (!in_body_) {
    std::size_t from = at;
    while (from < rest_.size() && space(rest_[from])) ++from;
    advance(from);
    if (at < rest_.size() && rest_[at] != '$') {
      const std::size_t end = std::min(rest_.size(), at + 20);
      fail(fmt::format("'{}': a VCD begins with $ keywords up to $enddefinitions",
                       shown(std::string_view(rest_).substr(at, end - at))));
    }
    const std::string_view keyword = next(from);
    if (keyword.empty()) break;
    words.clear();
    bool ended = keyword == "$end";
    while (!ended) {
      const std::string_view word = next(from);
      if (word.empty()) break;
      ended = word == "$end";
      if (!ended) words.push_back(word);
      if (words.size() > (1 << 22)) fail(fmt::format("{} without $end", shown(keyword)));
    }
    if (!ended) {
      if (from - at > 4 * kLongestToken) fail(fmt::format("{} without $end", shown(keyword)));
      break;
    }
    declare(keyword, words);
    advance(from);
  }
  rest_.erase(0, at);
  return in_body_;
}

void VcdReader::watch(std::uint32_t signal, std::uint32_t watched) {
  LPN_ASSERT(in_body_ && signal < watched_.size());
  watched_[signal] = kFirst + watched;
}

void VcdReader::read(std::string_view bytes, Listener& listener) {
  LPN_ASSERT(in_body_);
  if (rest_.empty()) {
    const std::size_t done = parse(bytes, listener);
    rest_.assign(bytes.substr(done));
  } else {
    rest_ += bytes;
    rest_.erase(0, parse(rest_, listener));
  }
  if (rest_.size() > kLongestToken) fail("a word of more than 16 MiB");
}

// Returns how much was understood: all but a token or change that may go on in the next piece.
std::size_t VcdReader::parse(std::string_view text, Listener& listener) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char* p = begin;
  const std::uint64_t base = base_;
  std::uint64_t lines = line_;
  const auto skip_space = [&] {
    while (p < end && space(*p)) lines += *p++ == '\n';
  };
  const auto word = [&] {  // up to the space behind it; empty when that is not there yet
    const char* const from = p;
    while (p < end && !space(*p)) ++p;
    return p == end ? std::string_view()
                    : std::string_view(from, static_cast<std::size_t>(p - from));
  };
  const auto signal = [&](std::string_view id) {
    const std::uint32_t known = find(id);
    if (known == kUnknown) fail(fmt::format("'{}' is no identifier that was declared", shown(id)));
    return watched_[known - 1];
  };
  for (;;) {
    skip_space();
    line_ = lines;
    base_ = base + static_cast<std::uint64_t>(p - begin);
    const char* const token = p;
    const std::string_view first = p == end ? std::string_view() : word();
    if (first.empty()) return static_cast<std::size_t>(token - begin);
    if (skip_ == Skip::kComment) {
      if (first == "$end") skip_ = Skip::kNothing;
      continue;
    }
    switch (first.front()) {
      case '0':
      case '1':
      case 'x':
      case 'X':
      case 'z':
      case 'Z': {
        const std::uint32_t who = signal(first.substr(1));
        if (who >= kFirst) listener.on_change(who - kFirst, first.substr(0, 1));
        break;
      }
      case 'b':
      case 'B':
      case 'r':
      case 'R':
      case 's':
      case 'S': {
        skip_space();
        const std::string_view id = p == end ? std::string_view() : word();
        if (id.empty()) return static_cast<std::size_t>(token - begin);
        const std::uint32_t who = signal(id);
        if (who < kFirst) break;
        if (first.front() != 'b' && first.front() != 'B')
          break;  // reals and strings are not watched
        const std::string_view bits = first.substr(1);
        if (bits.empty() || !std::all_of(bits.begin(), bits.end(), bit)) {
          fail(fmt::format("'{}' is no value of bits 0, 1, x and z", shown(first)));
        }
        listener.on_change(who - kFirst, bits);
        break;
      }
      case '#': {
        std::int64_t time = 0;
        if (!whole(first.substr(1), time) || time < 0) {
          fail(fmt::format("'{}' is no time", shown(first)));
        }
        if (time < time_) fail(fmt::format("time goes back from {} to {}", time_, time));
        if (time > time_) listener.on_time(time_ = time);
        break;
      }
      case '$':
        if (first == "$end" || first == "$dumpvars" || first == "$dumpall" || first == "$dumpon" ||
            first == "$dumpoff") {
          break;
        }
        if (first == "$comment" || first == "$date" || first == "$version") {
          skip_ = Skip::kComment;
          break;
        }
        [[fallthrough]];
      default: fail(fmt::format("'{}' is no value change and no time", shown(first)));
    }
  }
}

}  // namespace lpn::wave
