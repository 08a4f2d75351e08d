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

string Call::text() const {
  return table.empty() ? name + "()" : fmt::format("{}({} + {})", name, table, at);
}

string Members::declare(const string& variant, const string& type, const string& name, size_t id,
                        const string& initial) {
  if (!arrays_) {
    const string text =
        fmt::format("{} {}{}{};", type, name, id, initial.empty() ? "" : " = " + initial);
    return variant.empty() ? text : fmt::format("{}({})", variant, text);
  }
  const auto [at, is_new] =
      array_of_.emplace(fmt::format("{} {} {} {}", here_.part, variant, type, name), all_.size());
  if (is_new) all_.push_back({here_.part, variant, type, name, initial});
  if (here_.part != Copy::kNone) {
    if (here_.part >= copies_.size()) copies_.resize(here_.part + 1);
    copies_[here_.part] = std::max(copies_[here_.part], here_.number + 1);
  }
  const size_t index = used_[{at->second, here_.number}]++;
  all_[at->second].size = std::max(all_[at->second].size, index + 1);
  where_[name][static_cast<uint32_t>(id)] = {here_, at->second, index, ""};
  return "";
}

void Members::declare_within(const string& outer, const string& inner, const string& name,
                             size_t id) {
  Where at = where(outer, static_cast<uint32_t>(id));
  at.inner = "." + inner;
  where_[name][static_cast<uint32_t>(id)] = at;
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

string Members::declarations(string_view of, uint32_t part, size_t from) const {
  string text, constructor;
  // Of a copy what is small is together, in few cache lines.
  const auto size = [](const Array& array) {
    if (array.type == "bool") return 0;
    if (array.type.find('<') != string::npos) return array.type.find("Brief") == 0 ? 1 : 3;
    return 2;
  };
  std::vector<size_t> order;
  for (size_t a = from; a < all_.size(); ++a) {
    if (all_[a].part == part) order.push_back(a);
  }
  if (part != Copy::kNone) {
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return size(all_[a]) < size(all_[b]); });
  }
  for (const size_t a : order) {
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

string Members::arrays_text(string_view of) {
  string text;
  for (uint32_t part = 0; written_ == 0 && part < copies_.size(); ++part) {
    const string type = fmt::format("Part{}", part);
    text += fmt::format("struct {} {{\n{}}};\n{} {}[{}];\n", type, declarations(type, part, 0),
                        type, copies(part), copies_[part]);
  }
  text += declarations(of, Copy::kNone, written_);
  written_ = all_.size();
  return text;
}

Members::Where Members::where(string_view name, uint32_t id) const {
  const auto at = where_.find(name);
  LPN_ASSERT(at != where_.end() && at->second.count(id) != 0);
  return at->second.at(id);
}

string Members::array(size_t number) const {
  return fmt::format("{}_{}", all_[number].name, number);
}

string Members::copies(size_t part) { return fmt::format("part{}_", part); }

string Members::type(uint32_t k) const { return fmt::format("R{}", record_.at(k)); }

string Members::member(string_view name, uint32_t id) const {
  if (!arrays_) return fmt::format("{}{}", name, id);
  const Where at = where(name, id);
  const string element = fmt::format("{}[{}]{}", array(at.array), at.index, at.inner);
  if (at.copy.part == Copy::kNone) return element;
  return fmt::format("{}[{}].{}", copies(at.copy.part), at.copy.number, element);
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
        } else if (mark.name == "C" || mark.name == "S") {
          out += members.call(mark.name[0], n).text();
        } else if (mark.name[0] == 'W') {
          out += insert_words(mark.name.substr(1, mark.name.size() - 2), mark.numbers);
        } else if (mark.name != "A" && mark.name != "B") {
          out += members.member(mark.name, n);
        }
      });
  return out;
}

}  // namespace lpn::sim
