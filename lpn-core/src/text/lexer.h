// The words of the .lpn text form (text.h), private to the parser and the printer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lpn::text {

// Limits beside those of net.h. They keep the parser's memory in proportion to the text; the
// printer refuses a net beyond them, so that what it writes can be read.
inline constexpr std::size_t kMaxParams = 10'000;
inline constexpr std::size_t kMaxTypes = 10'000;
inline constexpr std::size_t kMaxFiles = 10'000;
inline constexpr std::size_t kMaxArcsInNet = 2'000'000;
inline constexpr std::size_t kMaxGroups = 2'000'000;  // emissions and groups of initial tokens
inline constexpr std::size_t kMaxNodes = 4'000'000;   // different nodes of the net's expressions
inline constexpr std::size_t kMaxShared = 16'384;     // different tables, and texts of assume

enum class Kind : std::uint8_t {
  kEnd,      // of the text
  kNewline,  // outside ( ) and [ ] only
  kName,     // words joined by dots
  kQuoted,   // 'name': a name that is never a keyword
  kNumber,
  kString,
  kSymbol,
};

// Refers into the text; a string's escapes are resolved by unescape().
struct Token {
  Kind kind = Kind::kEnd;
  std::string_view text;  // a name without its quotes, a string without its quotes, a symbol
  std::uint64_t number = 0;
  std::uint32_t line = 1;
  std::uint32_t column = 1;  // in bytes, from 1

  bool is(std::string_view symbol) const { return kind == Kind::kSymbol && text == symbol; }
  bool is_word(std::string_view word) const { return kind == Kind::kName && text == word; }
  bool is_name() const { return kind == Kind::kName || kind == Kind::kQuoted; }
};

// Cheap to copy: the parser looks ahead by copying it.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  // Throws Error "E-text" on a byte or number that no word starts with.
  Token next();

 private:
  Token name(Token token);
  Token quoted(Token token);
  Token number(Token token);
  Token string(Token token);
  Token symbol(Token token);
  std::string_view rest() const { return text_.substr(at_); }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_start_ = 0;
  std::uint32_t line_ = 1;
  std::uint32_t open_ = 0;  // ( and [ not closed yet
};

// Throws Error "E-text" with the place in front of the message.
[[noreturn]] void fail(const Token& at, const std::string& message);

// The token as an error message shows it: never long, never with control characters.
std::string describe(const Token& token);

// The bytes that a kString token stands for, and the literal (with its quotes) for some bytes.
std::string unescape(const Token& token);
std::string escape(std::string_view bytes);

// Words that mean something in an expression; as the name of a parameter they need quotes.
bool is_reserved(std::string_view word);

}  // namespace lpn::text
