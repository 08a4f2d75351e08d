// Marks in generated text, and what they become.
//
// The writers of the event-driven simulator name what belongs to a place or a transition by marks,
// `@f12` for member f of place 12, so that text can be compared, and one text serve several of
// them, before it is decided where things lie:
//   @T12 @P12   the number of a transition, of a place
//   @R12        the type of the records of transition 12
//   @N12        part of a function's name: which transition it belongs to
//   @A12 @B12   the parameters of such a function, and what a call of another one passes on
//   @C12        has the least of those that wait for place 12 looked at
//   @S12        has the transition looked at to which the route of place 12 leads
//   @Wdirty_3,4;  inserts transitions 3 and 4 into the set `dirty`
//   @f12 ...    any other name: a member; of order-free runs `run_` and a name
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "write/copies.h"

namespace lpn::sim {

struct Mark {
  std::string_view name;               // of @W: the set
  std::vector<std::uint32_t> numbers;  // one, or several of @W
};

// Calls `plain` with the text between marks and `mark` with each of them, in their order.
void each_mark(std::string_view text, const std::function<void(std::string_view)>& plain,
               const std::function<void(const Mark&)>& mark);

// How a function is called that is one of several equal ones (equal.h).
struct Call {
  std::string name, table, type;  // the table of their rows, of numbers of that type; or "", ""
  std::size_t at = 0;             // where its row begins there
  std::vector<std::int64_t> numbers;

  std::string text() const;
};

// Where members lie: each by itself, or those of a kind in one array, so that code can reach them
// by their number; of copies of a part in arrays of each copy.
class Members {
 public:
  explicit Members(bool arrays) : arrays_(arrays) {}

  bool arrays() const { return arrays_; }
  // With arrays: what is declared from here on belongs to that copy, or to none.
  void go_to(const Copy& copy) { here_ = copy; }
  // Declares member `name` of place or transition `id`. `variant`: of which variant only, a macro
  // of variants.h, or "". The text to write there, "" with arrays.
  std::string declare(const std::string& variant, const std::string& type, const std::string& name,
                      std::size_t id, const std::string& initial = "");
  // With arrays: member `name` of `id` is the member `inner` of its member `outer`.
  void declare_within(const std::string& outer, const std::string& inner, const std::string& name,
                      std::size_t id);
  // Declares the type of the records of transition `k`, by its body; the text to write there.
  std::string record(std::size_t k, const std::string& body);
  // With arrays: the declarations of those since the last call, members of `of`, and its
  // constructor where something does not begin with zeros. Copies are all declared before the
  // first.
  std::string arrays_text(std::string_view of);

  // What @C (`what`: 'C') and @S become.
  void calls_of(char what, std::map<std::size_t, Call> calls) { calls_[what] = std::move(calls); }
  const Call& call(char what, std::uint32_t place) const { return calls_.at(what).at(place); }

  struct Where {
    Copy copy;
    std::size_t array = 0, index = 0;
    std::string inner;  // ".free": of the element
  };
  // REQUIRES arrays().
  Where where(std::string_view name, std::uint32_t id) const;
  std::string array(std::size_t number) const;  // of each copy, where it is in one
  static std::string copies(std::size_t part);  // the array of these
  std::string type(std::uint32_t k) const;      // of records
  std::string member(std::string_view name, std::uint32_t id) const;

 private:
  struct Array {
    std::uint32_t part;
    std::string variant, type, name, initial;
    std::size_t size = 0;
  };
  // Declarations of the arrays from number `from` on of a part, or of what is in none.
  std::string declarations(std::string_view of, std::uint32_t part, std::size_t from) const;

  bool arrays_;
  Copy here_;
  std::vector<std::uint32_t> copies_;  // of each part
  std::vector<Array> all_;
  std::size_t written_ = 0;  // of them
  std::map<std::string, std::map<std::uint32_t, Where>, std::less<>> where_;
  std::map<std::string, std::size_t> array_of_, record_of_;
  std::map<std::pair<std::size_t, std::uint32_t>, std::size_t> used_;  // of an array, in a copy
  std::map<std::uint32_t, std::size_t> record_;
  std::map<char, std::map<std::size_t, Call>> calls_;
};

// The text without marks, for one transition alone.
std::string linked(std::string_view text, const Members& members);

// Inserts into a set, a word at a time.
std::string insert_words(std::string_view set, const std::vector<std::uint32_t>& members);

}  // namespace lpn::sim
