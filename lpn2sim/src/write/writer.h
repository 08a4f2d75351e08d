// C++ text as it grows, line by line.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace lpn::sim {

class Writer {
 public:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }
  // Whole lines, or nothing.
  void add(std::string_view text) { text_ += text; }
  // What was written so far; nothing is left.
  std::string take() { return std::exchange(text_, {}); }

 private:
  std::string text_;
};

}  // namespace lpn::sim
