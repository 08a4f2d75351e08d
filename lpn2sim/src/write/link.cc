#include "write/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "lpn/base/error.h"

namespace lpn::sim {

using std::size_t;
using std::string;
using std::string_view;
using std::uint32_t;

namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

uint32_t number_at(string_view text, size_t& at) {
  uint32_t n = 0;
  LPN_ASSERT(at < text.size() && is_digit(text[at]));
  for (; at < text.size() && is_digit(text[at]); ++at) {
    n = n * 10 + static_cast<uint32_t>(text[at] - '0');
  }
  return n;
}

}  // namespace

void each_mark(string_view text, const std::function<void(string_view)>& plain,
               const std::function<void(const Mark&)>& mark) {
  for (size_t at = 0; at < text.size();) {
    const size_t next = std::min(text.find('@', at), text.size());
    if (next != at) plain(text.substr(at, next - at));
    if (next == text.size()) return;
    at = next + 1;
    while (at < text.size() && !is_digit(text[at])) ++at;
    Mark found{text.substr(next + 1, at - next - 1), {}};
    found.numbers.push_back(number_at(text, at));
    if (found.name[0] == 'W') {
      while (text[at] == ',') found.numbers.push_back(number_at(text, ++at));
    }
    mark(found);
  }
}

string Members::declare(const string& variant, const string& type, const string& name, size_t id,
                        const string& initial) {
  if (!arrays_) {
    const string text =
        fmt::format("{} {}{}{};", type, name, id, initial.empty() ? "" : " = " + initial);
    return variant.empty() ? text : fmt::format("{}({})", variant, text);
  }
  const auto [at, is_new] =
      array_of_.emplace(fmt::format("{} {} {}", variant, type, name), all_.size());
  if (is_new) all_.push_back({variant, type, name, initial});
  where_[name][static_cast<uint32_t>(id)] = {at->second, all_[at->second].size++};
  return "";
}

string Members::record(size_t k, const string& body) {
  const auto id = static_cast<uint32_t>(k);
  if (!arrays_) {
    record_[id] = k;
    return fmt::format("struct R{} {{\n{}}};\n", k, body);
  }
  const auto [at, is_new] = record_of_.emplace(body, k);
  record_[id] = at->second;
  return is_new ? fmt::format("struct R{} {{\n{}}};\n", k, body) : "";
}

string Members::arrays_text(string_view of) {
  string text, constructor;
  for (; written_ < all_.size(); ++written_) {
    const size_t a = written_;
    const Array& array = all_[a];
    const bool value = !array.initial.empty();
    const string line =
        fmt::format("{} {}[{}]{};", array.type, this->array(a), array.size, value ? " = {}" : "");
    text += array.variant.empty() ? line : fmt::format("{}({})", array.variant, line);
    text += '\n';
    if (!value || array.initial == "0" || array.initial == "false") continue;
    const string fill = fmt::format("for (auto& x : {}) x = {};", this->array(a), array.initial);
    constructor += array.variant.empty() ? fill : fmt::format("{}({})", array.variant, fill);
    constructor += '\n';
  }
  return constructor.empty() ? text : fmt::format("{}{}() {{\n{}}}\n", text, of, constructor);
}

Members::Where Members::where(string_view name, uint32_t id) const {
  const auto at = where_.find(name);
  LPN_ASSERT(at != where_.end() && at->second.count(id) != 0);
  return at->second.at(id);
}

string Members::array(size_t number) const {
  return fmt::format("{}_{}", all_[number].name, number);
}

string Members::type(uint32_t k) const { return fmt::format("R{}", record_.at(k)); }

string Members::member(string_view name, uint32_t id) const {
  if (!arrays_) return fmt::format("{}{}", name, id);
  const Where at = where(name, id);
  return fmt::format("{}[{}]", array(at.array), at.index);
}

string insert_words(string_view set, const std::vector<uint32_t>& members) {
  std::map<uint32_t, std::uint64_t> words;
  for (const uint32_t m : members) words[m / 64] |= std::uint64_t{1} << (m % 64);
  string text;
  for (const auto& [word, bits] : words) {
    text += fmt::format("{}.insert_word({}, {:#x}ull);", set, word, bits);
  }
  return text;
}

string linked(string_view text, const Members& members) {
  string out;
  each_mark(
      text, [&](string_view plain) { out += plain; },
      [&](const Mark& mark) {
        const uint32_t n = mark.numbers[0];
        if (mark.name == "T" || mark.name == "P" || mark.name == "N") {
          out += fmt::format("{}", n);
        } else if (mark.name == "R") {
          out += members.type(n);
        } else if (mark.name == "C") {
          out += fmt::format("call_{}()", n);
        } else if (mark.name == "S") {
          out += fmt::format("route_{}()", n);
        } else if (mark.name[0] == 'W') {
          out += insert_words(mark.name.substr(1, mark.name.size() - 2), mark.numbers);
        } else if (mark.name != "A" && mark.name != "B") {
          out += members.member(mark.name, n);
        }
      });
  return out;
}

}  // namespace lpn::sim
