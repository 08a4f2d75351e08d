// Code that is compiled once for all transitions that it fits.
//
// The functions of two transitions are equal when their texts are, but for which places and
// transitions they name and for the values of constants. One function is written for all of them;
// what differs comes as a row of numbers. Most of what a function names lies as far from what the
// first one names as anything else that it names (a copy of a part is declared together), so a row
// has a number per such distance, not one per name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "write/link.h"

namespace lpn::sim {

// A text with marks, but for what it names and the values of its constants.
struct Shape {
  // A place in the text where others may differ.
  struct Slot {
    std::size_t at = 0;  // in the key
    // T, P, a row r, an array of members [, the copy of a part that it is in {, or a constant: i, u
    char what = 0;
    std::size_t array = 0;  // or part
    std::int64_t value = 0;
  };
  std::string key;
  std::vector<Slot> slots;
};

// Statements that stand once per place or transition, each of `texts` a block of them with marks
// that declares nothing and does not depend on the others' order: where members are in arrays, the
// equal ones become a loop. The text has marks where a block stays alone.
std::string repeated(const std::vector<std::string>& texts, const Members& members);

class EqualCode {
 public:
  // Without `shares` each function stays what it is.
  EqualCode(const Members& members, bool shares) : members_(members), shares_(shares) {}

  // Adds the function `kind`_k, with marks (and those it alone calls), or "".
  void add(const std::string& kind, std::size_t k, std::string text);
  // All functions and their rows. Nothing can be added after that.
  std::string text();
  const Call& call(const std::string& kind, std::size_t k) const;
  const std::map<std::size_t, Call>& calls(const std::string& kind) { return calls_[kind]; }
  // `void NAME(u32 k)` of struct `of`: calls the function `kind`_k, after the text `before`.
  struct Entry {
    std::string name, kind, before;
  };
  // One of each entry, of `count` transitions. What they need to know of one is in one place.
  std::string table(const std::string& of, const std::vector<Entry>& entries,
                    std::size_t count) const;

 private:
  struct Unit {
    std::string kind, text;
    std::size_t k = 0;
  };
  std::string shared(const std::vector<std::size_t>& members, const std::vector<Shape>& shapes);

  const Members& members_;
  bool shares_;
  std::vector<Unit> units_;
  std::map<std::string, std::map<std::size_t, Call>> calls_;
};

}  // namespace lpn::sim
