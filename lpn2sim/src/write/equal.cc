#include "write/equal.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <unordered_map>
#include <utility>

#include "lpn/base/error.h"
#include "write/expr.h"

namespace lpn::sim {

using std::int64_t;
using std::size_t;
using std::string;
using std::string_view;

namespace {

constexpr char kSlot = '\x01';                  // in keys; followed by what it is
constexpr int64_t kLargest = int64_t{1} << 61;  // of constants that may be numbers of a row
constexpr const char* kRow = "row_";
constexpr char kParameter = '\x02';  // in bodies: the row, whose type is known last

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Text between marks: constants with their type, 12ll or 12ull, are slots.
void plain(string_view text, Shape& out) {
  for (size_t at = 0; at < text.size();) {
    const bool starts = is_digit(text[at]) && (at == 0 || !in_word(text[at - 1]));
    size_t end = at + 1;
    if (in_word(text[at])) {
      while (end < text.size() && in_word(text[end])) ++end;
    }
    const string_view word = text.substr(at, end - at);
    at = end;
    int64_t value = 0;
    if (starts) {
      const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      const string_view type(rest, static_cast<size_t>(word.data() + word.size() - rest));
      if (error == std::errc() && value < kLargest && (type == "ll" || type == "ull")) {
        out.slots.push_back({out.key.size(), type == "ll" ? 'i' : 'u', 0, value});
        out.key += {kSlot, out.slots.back().what};
        continue;
      }
    }
    out.key += word;
  }
}

// `begin`: what its key begins with.
Shape shape_of(const string& begin, string_view of, const Members& members) {
  Shape out;
  out.key = begin;
  const auto slot = [&](char what, size_t array, size_t value) {
    out.slots.push_back({out.key.size(), what, array, static_cast<int64_t>(value)});
    out.key += {kSlot, what};
    if (what == '[' || what == '{') out.key += fmt::format("{};", array);
  };
  each_mark(
      of, [&](string_view text) { plain(text, out); },
      [&](const Mark& mark) {
        const std::uint32_t n = mark.numbers[0];
        if (mark.name == "N" || mark.name == "A" || mark.name == "B") {
          out.key += fmt::format("@{}", mark.name);
        } else if (mark.name == "T" || mark.name == "P") {
          slot(mark.name[0], 0, n);
        } else if (mark.name == "C" || mark.name == "S") {
          const Call& call = members.call(mark.name[0], n);
          out.key += call.name + '(' + call.table;
          if (!call.table.empty()) slot('r', 0, call.at);
          out.key += ')';
        } else if (mark.name == "R") {
          out.key += members.type(n);
        } else if (mark.name[0] == 'W') {
          const string_view set = mark.name.substr(1, mark.name.size() - 2);
          for (const std::uint32_t m : mark.numbers) {
            out.key += fmt::format("{}.insert(", set);
            slot('T', 0, m);
            out.key += ");";
          }
        } else {
          const Members::Where at = members.where(mark.name, n);
          if (at.copy.part != Copy::kNone) slot('{', at.copy.part, at.copy.number);
          slot('[', at.array, at.index);
          out.key += at.inner;
        }
      });
  return out;
}

// `shift`: what is to be added to its value, or "".
string spelled(const Shape::Slot& slot, const string& shift, const Members& members) {
  const string number =
      shift.empty() ? fmt::format("{}", slot.value) : fmt::format("{} + {}", slot.value, shift);
  const string wide = fmt::format("{}ll + {}", slot.value, shift);
  switch (slot.what) {
    case '[':
      return fmt::format("{}[{}]", members.array(slot.array), shift.empty() ? number : wide);
    case '{':
      return fmt::format("{}[{}].", Members::copies(slot.array), shift.empty() ? number : wide);
    case 'i': return shift.empty() ? number + "ll" : fmt::format("({})", wide);
    case 'u': return shift.empty() ? number + "ull" : fmt::format("static_cast<u64>({})", wide);
    case 'r': return " + " + number;
    default: return shift.empty() ? number : fmt::format("static_cast<u32>({})", number);
  }
}

// How far slot `s` of each is from that of the first.
std::vector<int64_t> distances(size_t s, const std::vector<size_t>& members,
                               const std::vector<Shape>& shapes) {
  std::vector<int64_t> far;
  for (const size_t m : members) {
    far.push_back(shapes[m].slots[s].value - shapes[members[0]].slots[s].value);
  }
  return far;
}
bool all_none(const std::vector<int64_t>& distance) {
  return std::all_of(distance.begin(), distance.end(), [](int64_t d) { return d == 0; });
}

// Behind a slot in a key.
size_t behind(const Shape::Slot& slot, const string& key) {
  return slot.what == '[' || slot.what == '{' ? key.find(';', slot.at) + 1 : slot.at + 2;
}

string loop(const std::vector<size_t>& members, const std::vector<Shape>& shapes,
            const Members& where) {
  const Shape& shape = shapes[members[0]];
  std::map<std::vector<int64_t>, size_t> columns;
  string body;
  size_t from = 0;
  for (size_t s = 0; s < shape.slots.size(); ++s) {
    const Shape::Slot& slot = shape.slots[s];
    body += shape.key.substr(from, slot.at - from);
    from = behind(slot, shape.key);
    const std::vector<int64_t> far = distances(s, members, shapes);
    string shift;
    if (!all_none(far)) {
      bool steps = true;  // by one each
      for (size_t i = 0; i < far.size(); ++i) steps &= far[i] == static_cast<int64_t>(i);
      shift = steps
                  ? "static_cast<i64>(i_)"
                  : fmt::format("{}[{}]", kRow, columns.emplace(far, columns.size()).first->second);
    }
    body += spelled(slot, shift, where);
  }
  body += shape.key.substr(from);
  const size_t width = columns.size();
  string rows;
  if (width != 0) {
    std::vector<int64_t> numbers(members.size() * width);
    for (const auto& [far, c] : columns) {
      for (size_t i = 0; i < far.size(); ++i) numbers[i * width + c] = far[i];
    }
    rows = "static constexpr i64 kRows_[] = {";
    for (const int64_t n : numbers) rows += fmt::format("{},", n);
    rows += "};\n";
    body = fmt::format("const i64* const {} = kRows_ + i_ * {};\n{}", kRow, width, body);
  }
  return fmt::format("{{ {}for (u32 i_ = 0; i_ < {}; ++i_) {{\n{}}} }}\n", rows, members.size(),
                     body);
}

}  // namespace

string repeated(const std::vector<string>& texts, const Members& members) {
  constexpr size_t kFew = 4;
  std::vector<Shape> shapes(texts.size());
  std::unordered_map<string, std::vector<size_t>> equal;
  for (size_t t = 0; members.arrays() && t < texts.size(); ++t) {
    shapes[t] = shape_of("", texts[t], members);
    equal[shapes[t].key].push_back(t);
  }
  string all;
  for (size_t t = 0; t < texts.size(); ++t) {
    if (members.arrays()) {
      const std::vector<size_t>& same = equal[shapes[t].key];
      if (same.size() > kFew && !texts[t].empty()) {
        if (same[0] == t) all += loop(same, shapes, members);
        continue;
      }
    }
    all += texts[t];
  }
  return all;
}

void EqualCode::add(const string& kind, size_t k, string text) {
  if (!text.empty()) units_.push_back({kind, std::move(text), k});
}

string EqualCode::shared(const std::vector<size_t>& members, const std::vector<Shape>& shapes) {
  const Unit& first = units_[members[0]];
  const Shape& shape = shapes[members[0]];
  std::map<std::vector<int64_t>, size_t> columns;  // how far each is from the first one
  std::vector<std::vector<int64_t>> rows(members.size());
  std::map<string, string> copies;  // found at the beginning of a function
  string body;
  size_t from = first.kind.size() + 1;
  const auto copy = [&](size_t to) {
    for (; from < to; ++from) {
      if (shape.key[from] != '@') {
        body += shape.key[from];
        continue;
      }
      const char what = shape.key[++from];
      if (what == 'N') body += fmt::format("{}s", first.k);
      if (what == 'A') body += kParameter;
      if (what == 'B') body += kRow;
    }
  };
  for (size_t s = 0; s < shape.slots.size(); ++s) {
    const Shape::Slot& slot = shape.slots[s];
    copy(slot.at);
    from = behind(slot, shape.key);
    const std::vector<int64_t> distance = distances(s, members, shapes);
    string shift;
    if (!all_none(distance)) {
      const auto [at, is_new] = columns.emplace(distance, columns.size());
      shift = fmt::format("{}[{}]", kRow, at->second);
      for (size_t i = 0; is_new && i < members.size(); ++i) rows[i].push_back(distance[i]);
      if (slot.what == '{') {
        // An order-free run reaches the members of its net as net.@f12.
        constexpr string_view kNet = "net.";
        const bool of_net = body.size() >= kNet.size() && string_view(body).ends_with(kNet);
        if (of_net) body.resize(body.size() - kNet.size());
        const string mine =
            fmt::format("{}copy{}_{}_{}", of_net ? "net_" : "", slot.array, slot.value, at->second);
        copies[mine] = (of_net ? string(kNet) : "") + spelled(slot, shift, members_);
        body += mine + '.';
        continue;
      }
    }
    body += spelled(slot, shift, members_);
  }
  copy(shape.key.size());
  const string table = fmt::format("kRows_{}_{}", first.kind, first.k);
  Range all{0, 0};
  for (const auto& [distances, at] : columns) {
    const auto [least, most] = std::minmax_element(distances.begin(), distances.end());
    all = {std::min(all.lo, *least), std::max(all.hi, *most)};
  }
  // Rows are data beside the places that they lead to, so they are as small as can be.
  const string type = number_type(all);
  const string parameter = fmt::format("[[maybe_unused]] const {}* const {}", type, kRow);
  string found;
  for (const auto& [name, copy] : copies) {
    found +=
        fmt::format("[[maybe_unused]] auto& {} = {};\n", name, copy.substr(0, copy.size() - 1));
  }
  for (size_t at = 0; (at = body.find(kParameter, at)) != string::npos;) {
    body.replace(at, 1, parameter);
    if (!found.empty()) body.insert(body.find('{', at) + 1, '\n' + found);
  }
  string numbers;
  for (size_t i = 0; i < members.size(); ++i) {
    const size_t k = units_[members[i]].k;
    calls_[first.kind][k] = {fmt::format("{}_{}s", first.kind, first.k), table, type,
                             i * columns.size(), rows[i]};
    for (const int64_t n : rows[i]) numbers += fmt::format("{},", n);
  }
  return fmt::format("static constexpr {} {}[] = {{{}0}};\n{}", type, table, numbers, body);
}

string EqualCode::text() {
  std::vector<Shape> shapes(units_.size());
  std::unordered_map<string, std::vector<size_t>> equal;
  for (size_t u = 0; shares_ && u < units_.size(); ++u) {
    shapes[u] = shape_of(units_[u].kind + " ", units_[u].text, members_);
    equal[shapes[u].key].push_back(u);
  }
  string all;
  for (size_t u = 0; u < units_.size(); ++u) {
    const Unit& unit = units_[u];
    if (shares_) {
      const std::vector<size_t>& members = equal[shapes[u].key];
      if (members.size() > 1) {
        if (members[0] == u) all += shared(members, shapes);
        continue;
      }
    }
    calls_[unit.kind][unit.k] = {fmt::format("{}_{}", unit.kind, unit.k), "", "", 0, {}};
    all += linked(unit.text, members_);
  }
  return all;
}

string EqualCode::table(const string& of, const std::vector<Entry>& entries, size_t count) const {
  // Of one transition; most rows fit beside the function.
  const string type = fmt::format("Step_{}", entries[0].name);
  string members, functions, rows;
  for (const Entry& e : entries) {
    members += fmt::format("void (*{0})({1}&, const Row&); Row {0}_row; ", e.name, of);
    functions += fmt::format(
        "void {0}(u32 k) {{ {1} const {2}& step = steps_{3}(k); step.{0}(*this, step.{0}_row); "
        "}}\n",
        e.name, e.before, type, entries[0].name);
  }
  for (size_t k = 0; k < count; ++k) {
    rows += '{';
    for (const Entry& e : entries) {
      const Call& c = call(e.kind, k);
      const size_t room = c.type == "Near" ? 4 : c.type == "Far" ? 2 : 0;
      if (c.table.empty()) {
        rows += fmt::format("apart<&{}::{}>, {{}}, ", of, c.name);
      } else if (c.numbers.size() > room) {
        rows += fmt::format("by_row<{}, &{}::{}>, {{.row = {} + {}}}, ", c.type, of, c.name,
                            c.table, c.at);
      } else {
        rows += fmt::format("with_row<{0}, &{1}::{2}>, {{.{0}s = {{{3}}}}}, ", c.type, of, c.name,
                            fmt::join(c.numbers, ","));
      }
    }
    rows += "},\n";
  }
  return fmt::format(
      "struct {0} {{ union Row {{ const void* row; Near Nears[4]; Far Fars[2]; }}; {2}}};\n"
      "template <void ({1}::*F)()> static void apart({1}& me, const {0}::Row&) {{ (me.*F)(); }}\n"
      "template <typename T, void ({1}::*F)(const T*)> static void by_row({1}& me, "
      "const {0}::Row& at) {{ (me.*F)(static_cast<const T*>(at.row)); }}\n"
      "template <typename T, void ({1}::*F)(const T*)> static void with_row({1}& me, "
      "const {0}::Row& at) {{ if constexpr (sizeof(T) == 2) (me.*F)(at.Nears); else "
      "(me.*F)(at.Fars); }}\n"
      "static const {0}& steps_{5}(u32 k) {{ alignas(64) static constexpr {0} kSteps[] = "
      "{{\n{3}}};\n"
      "return kSteps[k]; }}\n{4}",
      type, of, members, rows, functions, entries[0].name);
}

const Call& EqualCode::call(const string& kind, size_t k) const { return calls_.at(kind).at(k); }

}  // namespace lpn::sim
