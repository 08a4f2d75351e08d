#include "text/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "lpn/base/error.h"
#include "lpn/net/net.h"

namespace lpn::text {
namespace {

constexpr std::size_t kShown = 40;  // bytes of the text that a message repeats

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// Whether `bytes` is well-formed UTF-8 (lengths and continuation bytes; that is enough to show it).
bool is_utf8(std::string_view bytes) {
  for (std::size_t k = 0; k < bytes.size();) {
    const auto lead = static_cast<unsigned char>(bytes[k]);
    const std::size_t more = lead < 0x80                   ? 0
                             : lead >= 0xc2 && lead < 0xe0 ? 1
                             : lead >= 0xe0 && lead < 0xf0 ? 2
                             : lead >= 0xf0 && lead < 0xf5 ? 3
                                                           : 9;
    if (more == 9 || more >= bytes.size() - k) return false;
    for (std::size_t m = 1; m <= more; ++m) {
      if ((static_cast<unsigned char>(bytes[k + m]) & 0xc0) != 0x80) return false;
    }
    k += more + 1;
  }
  return true;
}

// Bytes as a message shows them.
std::string shown(std::string_view bytes) {
  std::string out;
  for (char c : bytes.substr(0, kShown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
    }
  }
  if (bytes.size() > kShown) out += "...";
  return out;
}

}  // namespace

void fail(const Token& at, const std::string& message) {
  throw Error("E-text", fmt::format("{}:{}: {}", at.line, at.column, message));
}

std::string describe(const Token& token) {
  switch (token.kind) {
    case Kind::kEnd: return "the end of the text";
    case Kind::kNewline: return "the end of the line";
    case Kind::kString: return fmt::format("the string \"{}\"", shown(token.text));
    case Kind::kName:
    case Kind::kQuoted:
    case Kind::kNumber:
    case Kind::kSymbol: break;
  }
  return fmt::format("'{}'", shown(token.text));
}

bool is_reserved(std::string_view word) {
  if (word == "nothing") return true;
  return std::any_of(kOps.begin(), kOps.end(), [word](const OpInfo& info) {
    return info.notation != Notation::kNamed && info.text == word;
  });
}

std::string unescape(const Token& token) {
  std::string out;
  const std::string_view text = token.text;
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (text[k] != '\\') {
      out += text[k];
      continue;
    }
    ++k;  // the lexer saw to it that a character follows
    switch (text[k]) {
      case 'n': out += '\n'; continue;
      case 't': out += '\t'; continue;
      case '"': out += '"'; continue;
      case '\\': out += '\\'; continue;
      case 'x': break;
      default:
        fail(token, fmt::format("unknown escape '\\{}'; known are \\n \\t \\\" \\\\ and \\xHH",
                                shown(text.substr(k, 1))));
    }
    const int high = k + 1 < text.size() ? hex_digit(text[k + 1]) : -1;
    const int low = k + 2 < text.size() ? hex_digit(text[k + 2]) : -1;
    if (high < 0 || low < 0) fail(token, "'\\x' needs two digits of 0..9 and a..f");
    out += static_cast<char>(high * 16 + low);
    k += 2;
  }
  return out;
}

std::string escape(std::string_view bytes) {
  const bool readable = is_utf8(bytes);
  std::string out = "\"";
  for (char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !readable)) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  out += '"';
  return out;
}

Token Lexer::next() {
  Token token;
  for (;; ++at_) {
    token.line = line_;
    token.column = static_cast<std::uint32_t>(at_ - line_start_ + 1);
    if (at_ >= text_.size()) return token;
    const char c = text_[at_];
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size()) - 1;
      continue;
    }
    if (c == '\n') {
      ++line_;
      line_start_ = at_ + 1;
      if (open_ != 0) continue;
      ++at_;
      token.kind = Kind::kNewline;
      return token;
    }
    if (c != ' ' && c != '\t' && c != '\r') break;
  }
  const char c = text_[at_];
  if (is_letter(c)) return name(token);
  if (is_digit(c)) return number(token);
  if (c == '\'') return quoted(token);
  if (c == '"') return string(token);
  return symbol(token);
}

Token Lexer::name(Token token) {
  const std::size_t start = at_;
  auto word = [this] {
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
  };
  word();
  while (at_ + 1 < text_.size() && text_[at_] == '.' && is_letter(text_[at_ + 1])) {
    ++at_;
    word();
  }
  token.kind = Kind::kName;
  token.text = text_.substr(start, at_ - start);
  if (!lpn::is_name(token.text)) {
    fail(token, fmt::format("{} is too long for a name: {} characters (at most 200)",
                            describe(token), token.text.size()));
  }
  return token;
}

Token Lexer::quoted(Token token) {
  const std::size_t start = ++at_;
  while (at_ < text_.size() && text_[at_] != '\'' && text_[at_] != '\n') ++at_;
  token.kind = Kind::kQuoted;
  token.text = text_.substr(start, at_ - start);
  if (at_ >= text_.size() || text_[at_] != '\'') fail(token, "the quoted name is not closed");
  ++at_;
  if (!lpn::is_name(token.text)) {
    fail(token, fmt::format("{} is not a name: words of letters, digits and '_' joined by dots, at "
                            "most 200 characters",
                            describe(token)));
  }
  return token;
}

Token Lexer::number(Token token) {
  const std::size_t start = at_;
  // 2^63 is allowed here, for -9223372036854775808; the parser rejects it without its sign.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 63;
  bool fits = true;
  for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
    const auto digit = static_cast<std::uint64_t>(text_[at_] - '0');
    if (!fits || token.number > (kMost - digit) / 10) {
      fits = false;
      continue;
    }
    token.number = token.number * 10 + digit;
  }
  token.kind = Kind::kNumber;
  token.text = text_.substr(start, at_ - start);
  if (!fits) fail(token, fmt::format("{} does not fit in 64 bits", describe(token)));
  if (at_ < text_.size() && is_letter(text_[at_])) {
    fail(token, fmt::format("found '{}' right after the number {}", shown(text_.substr(at_, 1)),
                            describe(token)));
  }
  return token;
}

Token Lexer::string(Token token) {
  const std::size_t start = ++at_;
  while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') {
    at_ += text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] != '\n' ? 2 : 1;
  }
  token.kind = Kind::kString;
  token.text = text_.substr(start, at_ - start);
  if (at_ >= text_.size() || text_[at_] != '"') fail(token, "the string is not closed on its line");
  ++at_;
  return token;
}

// What stands between words: of operators, and the rest of the grammar; longer ones first.
static const std::vector<std::string_view>& symbols() {
  static const std::vector<std::string_view> all = [] {
    std::vector<std::string_view> found{">=", ">", "..", "(", ")", "[", "]", "{",
                                        "}",  ",", ":",  ".", "=", "@", "?"};
    for (const OpInfo& info : kOps) {
      const bool sign = info.notation == Notation::kPrefix || info.notation == Notation::kInfix;
      if (sign && !is_letter(info.text[0])) found.push_back(info.text);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](auto x, auto y) { return x.size() > y.size(); });
    return found;
  }();
  return all;
}

Token Lexer::symbol(Token token) {
  token.kind = Kind::kSymbol;
  for (std::string_view symbol : symbols()) {
    if (!rest().starts_with(symbol)) continue;
    token.text = text_.substr(at_, symbol.size());
    at_ += symbol.size();
    if (symbol == "(" || symbol == "[") ++open_;
    if ((symbol == ")" || symbol == "]") && open_ > 0) --open_;
    return token;
  }
  token.text = text_.substr(at_, 1);
  if (token.text == "/")
    fail(token, "found '/'; write '//' to round down or ceil_div(a, b) to round up");
  fail(token, fmt::format("found {}, which starts no word", describe(token)));
}

}  // namespace lpn::text
