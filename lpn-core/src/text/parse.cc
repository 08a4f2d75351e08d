// Parses the .lpn text form by recursive descent; docs/lpn-format.md has the grammar.
//
// The text may come from a stranger: every count is limited, expressions nest to a fixed depth,
// and whatever is wrong is an Error with its line and column.
#include <fmt/format.h>

#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lpn/base/error.h"
#include "lpn/net/verify.h"
#include "lpn/text/text.h"
#include "text/lexer.h"

namespace lpn {
namespace {

using text::describe;
using text::fail;
using text::Kind;
using text::kMaxArcsInNet;
using text::kMaxFiles;
using text::kMaxGroups;
using text::kMaxNodes;
using text::kMaxParams;
using text::kMaxShared;
using text::kMaxTypes;
using text::Token;

// Twice the deepest tree of ExprPool (each level may stand in parentheses) and some.
constexpr int kMaxOpen = 1'200;

// The operators between two operands by their symbol; `swap` gives > and >=.
struct Binary {
  Op op;
  Level level;
  bool swap = false;
};

const std::unordered_map<std::string_view, Binary>& binaries() {
  static const std::unordered_map<std::string_view, Binary> all = [] {
    std::unordered_map<std::string_view, Binary> found{{">", {Op::kLt, Level::kCompare, true}},
                                                       {">=", {Op::kLe, Level::kCompare, true}}};
    for (std::size_t k = 0; k < kOps.size(); ++k) {
      if (kOps[k].notation != Notation::kInfix) continue;
      found.emplace(kOps[k].text, Binary{static_cast<Op>(k), kOps[k].level});
    }
    return found;
  }();
  return all;
}

const Binary* binary_of(const Token& token) {
  if (token.kind != Kind::kSymbol && token.kind != Kind::kName) return nullptr;
  const auto found = binaries().find(token.text);
  return found == binaries().end() ? nullptr : &found->second;
}

// The operator written as `text` in this notation.
std::optional<Op> op_written(std::string_view text, Notation notation) {
  for (std::size_t k = 0; k < kOps.size(); ++k) {
    if (kOps[k].notation == notation && kOps[k].text == text) return static_cast<Op>(k);
  }
  return std::nullopt;
}

// "abs, assume, ...": what may stand before '('.
std::string functions() {
  std::set<std::string_view> names;
  for (const OpInfo& info : kOps) {
    if (info.notation == Notation::kCall) names.insert(info.text);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  Net parse();

 private:
  // Words.
  void next() { token_ = lexer_.next(); }
  bool accept(std::string_view symbol);
  bool accept_word(std::string_view word);
  void expect(std::string_view symbol, std::string_view purpose);
  void expect_word(std::string_view word, std::string_view purpose);
  void end_line();
  void skip_lines();
  Token name(std::string_view of_what);
  std::int64_t integer(std::string_view of_what);
  std::uint32_t small(std::string_view of_what);
  std::string string(std::string_view of_what);
  [[noreturn]] void unexpected(std::string_view expected) const;
  void check(std::size_t count, std::size_t most, const Token& at, std::string_view what) const;

  // Items. A formula without a source of its own has that of the item around it.
  void header();
  void file();
  void param();
  void type();
  void place();
  void done();
  void transition();
  void scan_arcs();
  void take(Transition& transition, bool inhibit);
  void put(Transition& transition);
  void setting(std::optional<Formula>& formula, Source inherited);
  Source source(Source inherited);
  std::optional<Range> range();
  Formula formula(Source inherited);
  Formula one(Source source) { return {net_.exprs.constant(1), source}; }
  PlaceId place_name(std::string_view of_what);
  template <typename Group>
  std::vector<Group> groups(PlaceId place, Source inherited);

  // Expressions.
  ExprId expr(Level level);
  ExprId unary();
  ExprId primary();
  ExprId named();
  ExprId call(const Token& function, Op op);
  ExprId arc_call(const Token& function, Op op);
  ExprId aggregate(const Token& function, Op op);
  ExprId lookup(const Token& function);
  ExprId assume(const Token& function);
  ExprId parameter(const Token& name);
  ExprId token_of(const Token& name, std::uint32_t arc);
  ExprId field(const Token& at, std::uint32_t arc, std::string_view field, ExprId which);
  std::uint32_t arc_name(const Token& name) const;
  std::optional<std::uint32_t> find_arc(std::string_view name) const;
  // A new node; what the pool refuses is an error of the text at `at`.
  template <typename Make>
  ExprId build(const Token& at, Make make);

  // Counts nesting for as long as it lives.
  class Nested {
   public:
    explicit Nested(Parser& parser) : parser_(parser) {
      if (++parser_.nesting_ > kMaxOpen) {
        fail(parser_.token_,
             fmt::format("expression nested too deeply (at most {} levels)", kMaxOpen));
      }
    }
    ~Nested() { --parser_.nesting_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    Parser& parser_;
  };

  struct Declared {
    std::uint32_t index;
    std::uint32_t line;
  };
  using Names = std::unordered_map<std::string_view, Declared>;  // names lie in the text
  void declare(Names& names, const Token& name, std::size_t index, std::string_view what);

  text::Lexer lexer_;
  Token token_;
  Net net_;
  Names params_;
  Names types_;
  Names places_;
  Names transitions_;
  std::size_t arcs_in_net_ = 0;
  std::size_t groups_in_net_ = 0;
  int nesting_ = 0;
  // The input arcs of the transition being read, all of them: a guard may watch a later arc's
  // place. `place` is null when that line is wrong, which the line itself reports.
  struct Arc {
    std::string_view name;
    std::optional<PlaceId> place;
  };
  std::vector<Arc> arcs_;
  std::unordered_map<std::string_view, std::uint32_t> arc_index_;
  bool in_transition_ = false;
  // The pool's own tables and texts, found faster than it does when there are thousands.
  std::map<std::vector<std::int64_t>, std::uint32_t> tables_;
  std::unordered_map<std::string, std::uint32_t> texts_;
  std::vector<std::string_view> variables_;  // of the aggregates around, outermost first
};

// --- words ---

bool Parser::accept(std::string_view symbol) {
  if (!token_.is(symbol)) return false;
  next();
  return true;
}

bool Parser::accept_word(std::string_view word) {
  if (!token_.is_word(word)) return false;
  next();
  return true;
}

void Parser::unexpected(std::string_view expected) const {
  fail(token_, fmt::format("found {}, expected {}", describe(token_), expected));
}

void Parser::expect(std::string_view symbol, std::string_view purpose) {
  if (!accept(symbol)) unexpected(fmt::format("'{}' {}", symbol, purpose));
}

void Parser::expect_word(std::string_view word, std::string_view purpose) {
  if (!accept_word(word)) unexpected(fmt::format("'{}' {}", word, purpose));
}

void Parser::end_line() {
  if (token_.kind != Kind::kNewline) unexpected("the end of the line");
  next();
}

void Parser::skip_lines() {
  while (token_.kind == Kind::kNewline) next();
}

Token Parser::name(std::string_view of_what) {
  if (!token_.is_name()) unexpected(of_what);
  const Token found = token_;
  next();
  return found;
}

std::int64_t Parser::integer(std::string_view of_what) {
  const bool negative = accept("-");
  if (token_.kind != Kind::kNumber) unexpected(of_what);
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (token_.number > kMost && !negative) {
    fail(token_, fmt::format("{} does not fit in 64 bits", describe(token_)));
  }
  const std::uint64_t magnitude = token_.number;
  next();
  return static_cast<std::int64_t>(negative ? std::uint64_t{0} - magnitude : magnitude);
}

std::uint32_t Parser::small(std::string_view of_what) {
  if (token_.kind != Kind::kNumber) unexpected(of_what);
  if (token_.number > std::numeric_limits<std::uint32_t>::max()) {
    fail(token_, fmt::format("{} is too large for {}", describe(token_), of_what));
  }
  const auto value = static_cast<std::uint32_t>(token_.number);
  next();
  return value;
}

std::string Parser::string(std::string_view of_what) {
  if (token_.kind != Kind::kString) unexpected(of_what);
  std::string bytes = text::unescape(token_);
  next();
  return bytes;
}

void Parser::check(std::size_t count, std::size_t most, const Token& at,
                   std::string_view what) const {
  if (count >= most) fail(at, fmt::format("too many {} (at most {})", what, most));
}

void Parser::declare(Names& names, const Token& name, std::size_t index, std::string_view what) {
  const Declared declared{static_cast<std::uint32_t>(index), name.line};
  const auto [it, fresh] = names.try_emplace(name.text, declared);
  if (!fresh) {
    fail(name, fmt::format("{} {} is declared twice, first in line {}", what, describe(name),
                           it->second.line));
  }
}

// --- items ---

Net Parser::parse() {
  next();
  header();
  for (;;) {
    skip_lines();
    const Token item = token_;
    if (accept_word("end")) break;
    if (accept_word("file")) {
      file();
    } else if (accept_word("frequency")) {
      if (net_.frequency) fail(item, "'frequency' stands twice");
      net_.frequency = integer("the ticks of a second");
    } else if (accept_word("param")) {
      param();
    } else if (accept_word("type")) {
      type();
    } else if (accept_word("place")) {
      place();
    } else if (accept_word("done")) {
      done();
    } else if (accept_word("transition")) {
      transition();
    } else if (item.kind == Kind::kEnd) {
      fail(item, "the text is cut off: its last line must be 'end'");
    } else {
      unexpected("'file', 'frequency', 'param', 'type', 'place', 'done', 'transition' or 'end'");
    }
    end_line();
  }
  skip_lines();
  if (token_.kind != Kind::kEnd) unexpected("nothing after 'end'");
  require_valid(net_);
  return std::move(net_);
}

void Parser::header() {
  skip_lines();
  if (!token_.is_word("lpn")) unexpected(fmt::format("'lpn {}' as the first line", kTextVersion));
  next();
  const Token version = token_;
  if (version.kind != Kind::kNumber) unexpected("the version of the format");
  if (version.number != kTextVersion) {
    fail(version, fmt::format("the text has format version {}, this program reads version {}",
                              version.number, kTextVersion));
  }
  next();
  end_line();
  skip_lines();
  if (!accept_word("net")) unexpected("'net NAME' as the second line");
  net_.name = name("the net's name").text;
  end_line();
}

void Parser::file() {
  check(net_.files.size(), kMaxFiles, token_, "files");
  net_.files.push_back(string("a file name in double quotes"));
}

std::optional<Range> Parser::range() {
  Range range;
  range.lo = integer("the least value of the range");
  expect("..", "between the ends of the range");
  range.hi = integer("the greatest value of the range");
  return range;
}

void Parser::param() {
  Param param;
  const Token at = name("the parameter's name");
  check(net_.params.size(), kMaxParams, at, "parameters");
  declare(params_, at, net_.params.size(), "parameter");
  param.name = at.text;
  expect("=", "and the parameter's default");
  param.value = integer("the parameter's default, a number");
  if (accept_word("in")) param.range = range();
  param.source = source({});
  net_.params.push_back(std::move(param));
}

void Parser::type() {
  TokenType type;
  const Token at = name("the type's name");
  check(net_.types.size(), kMaxTypes, at, "types");
  declare(types_, at, net_.types.size(), "type");
  type.name = at.text;
  expect("(", "and the fields of the type");
  while (!token_.is(")")) {
    Field field;
    const Token field_at = name("a field's name or ')'");
    check(type.fields.size(), kMaxFields, field_at, "fields in one type");
    field.name = field_at.text;
    for (const Field& other : type.fields) {
      if (other.name == field.name) {
        fail(field_at, fmt::format("field {} is declared twice", describe(field_at)));
      }
    }
    if (accept(":")) field.range = range();
    type.fields.push_back(std::move(field));
    if (!accept(",") && !token_.is(")")) unexpected("',' or ')' after a field");
  }
  next();
  type.source = source({});
  net_.types.push_back(std::move(type));
}

void Parser::place() {
  Place place;
  const Token at = name("the place's name");
  check(net_.places.size(), kMaxPlaces, at, "places");
  declare(places_, at, net_.places.size(), "place");
  place.name = at.text;
  expect(":", "and the type of the place's tokens");
  const Token type = name("the name of a type");
  const auto found = types_.find(type.text);
  if (found == types_.end()) {
    fail(type, fmt::format("no type {} above; write 'type {} ()' before its first use",
                           describe(type), type.text));
  }
  place.type = static_cast<TypeId>(found->second.index);
  for (bool more = true; more;) {
    const Token word = token_;
    bool* flag = nullptr;
    if (accept_word("start"))
      flag = &place.start;
    else if (accept_word("done"))
      flag = &place.done;
    else if (accept_word("drain"))
      flag = &place.drain;
    else if (accept_word("sink"))
      flag = &place.sink;
    more = flag != nullptr;
    if (flag == nullptr) break;
    if (*flag) fail(word, fmt::format("{} stands twice", describe(word)));
    *flag = true;
  }
  place.source = source({});
  if (accept_word("capacity")) place.capacity = formula(place.source);
  const PlaceId id{static_cast<std::uint32_t>(net_.places.size())};
  net_.places.push_back(std::move(place));
  if (accept_word("initial")) {
    const Source inherited = net_[id].source;
    net_[id].initial = groups<Initial>(id, inherited);
  }
  if (token_.kind != Kind::kNewline) {
    unexpected(
        "'start', 'done', 'drain', 'sink', '@LINE', 'capacity COUNT', 'initial TOKENS' (in this "
        "order) or the end of the line");
  }
}

void Parser::done() {
  if (net_.done_count) fail(token_, "'done' stands twice");
  net_.done_count = formula({});
}

PlaceId Parser::place_name(std::string_view of_what) {
  const Token at = name(of_what);
  const auto found = places_.find(at.text);
  if (found == places_.end()) {
    fail(at, fmt::format("no place {} above; declare it with 'place {} : TYPE'", describe(at),
                         at.text));
  }
  return static_cast<PlaceId>(found->second.index);
}

// Reads ahead to the closing '}' for the names of the input arcs. Whatever is wrong there is left
// to the line itself.
void Parser::scan_arcs() {
  arcs_.clear();
  arc_index_.clear();
  text::Lexer ahead = lexer_;
  Token token = token_;
  while (token.kind != Kind::kEnd && !token.is("}")) {
    if (token.kind == Kind::kNewline) {
      token = ahead.next();
      if (!token.is_word("take") && !token.is_word("empty")) continue;
      const Token arc = ahead.next();
      if (!arc.is_name()) {
        token = arc;
        continue;
      }
      token = ahead.next();
      Arc found{arc.text, std::nullopt};
      if (token.is_word("from") || token.is_word("in")) {
        token = ahead.next();
        const auto place = places_.find(token.text);
        if (token.is_name() && place != places_.end()) {
          found.place = static_cast<PlaceId>(place->second.index);
        }
      }
      if (arcs_.size() > kMaxArcs) return;  // too many, which their lines report
      const auto index = static_cast<std::uint32_t>(arcs_.size());
      if (arc_index_.try_emplace(arc.text, index).second) arcs_.push_back(found);
      continue;
    }
    token = ahead.next();
  }
}

void Parser::transition() {
  const Token at = name("the transition's name");
  check(net_.transitions.size(), kMaxTransitions, at, "transitions");
  declare(transitions_, at, net_.transitions.size(), "transition");
  Transition transition;
  transition.name = at.text;
  transition.source = source({});
  expect("{", "and the transition's arcs and delay");
  scan_arcs();
  in_transition_ = true;
  const Source here = transition.source;
  bool has_delay = false;
  end_line();
  for (skip_lines(); !token_.is("}"); skip_lines()) {
    const Token line = token_;
    if (accept_word("take")) {
      take(transition, false);
    } else if (accept_word("empty")) {
      take(transition, true);
    } else if (accept_word("put")) {
      put(transition);
    } else if (accept_word("delay")) {
      if (has_delay) fail(line, "'delay' stands twice in this transition");
      has_delay = true;
      transition.delay = formula(here);
    } else if (accept_word("servers")) {
      if (transition.servers) fail(line, "'servers' stands twice in this transition");
      transition.servers = formula(here);
    } else if (accept_word("interval")) {
      if (transition.interval) fail(line, "'interval' stands twice in this transition");
      transition.interval = formula(here);
    } else if (accept_word("ordered")) {
      if (transition.ordered) fail(line, "'ordered' stands twice in this transition");
      transition.ordered = true;
    } else if (accept_word("clock")) {
      if (transition.clock) fail(line, "'clock' stands twice in this transition");
      Clock clock;
      clock.period = formula(here);
      clock.phase = accept_word("phase") ? formula(here) : Formula{net_.exprs.constant(0), here};
      transition.clock = clock;
    } else {
      unexpected(
          "'take', 'empty', 'delay', 'servers', 'interval', 'ordered', 'clock', 'put' or '}'");
    }
    end_line();
  }
  if (!has_delay) {
    fail(token_, fmt::format("transition {} has no delay; write 'delay 0' if it takes no time",
                             describe(at)));
  }
  next();
  in_transition_ = false;
  arcs_.clear();
  arc_index_.clear();
  net_.transitions.push_back(std::move(transition));
}

void Parser::take(Transition& transition, bool inhibit) {
  const Token at = name("the arc's name");
  check(transition.inputs.size(), kMaxArcs, at, "input arcs in one transition");
  check(arcs_in_net_++, kMaxArcsInNet, at, "arcs in the net");
  if (find_arc(at.text) != transition.inputs.size()) {
    fail(at, fmt::format("input arc {} is declared twice in this transition", describe(at)));
  }
  InputArc arc;
  arc.name = at.text;
  arc.inhibit = inhibit;
  expect_word(inhibit ? "in" : "from", "and the arc's place");
  arc.place = place_name("the name of a place");
  arc.source = source(transition.source);
  arc.weight = {net_.exprs.constant(inhibit ? 0 : 1), arc.source};
  if (!inhibit) {
    if (accept_word("weight")) arc.weight = formula(arc.source);
    if (accept_word("need")) arc.threshold = formula(arc.source);
    if (accept_word("when")) arc.guard = formula(arc.source);
    if (token_.kind != Kind::kNewline) {
      unexpected(
          "'@LINE', 'weight COUNT', 'need COUNT', 'when CONDITION' (in this order) or the end of "
          "the line");
    }
  }
  transition.inputs.push_back(std::move(arc));
}

void Parser::put(Transition& transition) {
  check(transition.outputs.size(), kMaxArcs, token_, "output arcs in one transition");
  check(arcs_in_net_++, kMaxArcsInNet, token_, "arcs in the net");
  OutputArc arc;
  arc.place = place_name("the name of a place");
  arc.source = source(transition.source);
  if (accept_word("nothing")) {
  } else if (net_.type_of(arc.place).fields.empty() && token_.kind == Kind::kNewline) {
    arc.emissions.push_back({one(arc.source), {}});
  } else {
    arc.emissions = groups<Emission>(arc.place, arc.source);
  }
  transition.outputs.push_back(std::move(arc));
}

template <typename Group>
std::vector<Group> Parser::groups(PlaceId place, Source inherited) {
  const TokenType& type = net_.type_of(place);
  std::vector<Group> groups;
  do {
    check(groups_in_net_++, kMaxGroups, token_, "emissions and initial tokens");
    Group group;
    if (type.fields.empty()) {
      group.count = formula(inherited);
      groups.push_back(std::move(group));
      continue;
    }
    const Token at = token_;
    expect("(", fmt::format("and the {} fields of type '{}'", type.fields.size(), type.name));
    while (!token_.is(")")) {
      if (group.fields.size() >= kMaxFields) break;
      group.fields.push_back(formula(inherited));
      if (!accept(",") && !token_.is(")")) unexpected("an operator, ',' or ')'");
    }
    if (group.fields.size() != type.fields.size()) {
      std::string names;
      for (const Field& field : type.fields) names += (names.empty() ? "" : ", ") + field.name;
      fail(at, fmt::format("a token of place '{}' has {} fields ({}), found {}{}", net_[place].name,
                           type.fields.size(), names, group.fields.size(),
                           token_.is(")") ? "" : " or more"));
    }
    next();
    group.count = accept_word("times") ? formula(inherited) : one(inherited);
    groups.push_back(std::move(group));
  } while (accept(","));
  return groups;
}

// "@12" (line 12 of file 0), "@1:12" or "@?" (unknown); otherwise the enclosing item's.
Source Parser::source(Source inherited) {
  if (!accept("@")) return inherited;
  if (accept("?")) return {};
  Source source;
  source.line = small("a line number, FILE:LINE or '?'");
  if (accept(":")) {
    source.file = source.line;
    source.line = small("a line number");
  }
  return source;
}

Formula Parser::formula(Source inherited) {
  Formula formula;
  formula.id = expr(Level::kLoose);
  formula.source = source(inherited);
  return formula;
}

// --- expressions ---

template <typename Make>
ExprId Parser::build(const Token& at, Make make) {
  if (net_.exprs.size() >= kMaxNodes) {
    fail(at, fmt::format("the net's expressions are too large: more than {} different nodes",
                         kMaxNodes));
  }
  try {
    return make();
  } catch (const Error& error) {
    fail(at, error.what());
  }
}

ExprId Parser::expr(Level level) {
  const Nested nested(*this);
  const Token start = token_;
  ExprId left{};
  if (level <= Level::kNegation && accept_word("not")) {
    const ExprId operand = expr(Level::kNegation);
    left = build(start, [&] { return net_.exprs.unary(Op::kNot, operand); });
  } else {
    left = unary();
  }
  bool compared = false;
  for (;;) {
    if (token_.is("=")) fail(token_, "found '='; write '==' to compare");
    const Binary* binary = binary_of(token_);
    if (binary == nullptr || binary->level < level) return left;
    const Token at = token_;
    if (compared && binary->level == Level::kCompare) {
      fail(at, "comparisons do not chain; write 'a < b and b < c'");
    }
    compared = binary->level == Level::kCompare;
    next();
    const ExprId right = expr(tighter(binary->level));
    left = build(at, [&] {
      return binary->swap ? net_.exprs.binary(binary->op, right, left)
                          : net_.exprs.binary(binary->op, left, right);
    });
  }
}

// A sign before digits belongs to the number; elsewhere it negates.
ExprId Parser::unary() {
  const Token at = token_;
  const auto op =
      at.kind == Kind::kSymbol ? op_written(at.text, Notation::kPrefix) : std::optional<Op>();
  if (!op) return primary();
  const Nested nested(*this);
  text::Lexer ahead = lexer_;
  if (*op == Op::kNeg && ahead.next().kind == Kind::kNumber) {
    const std::int64_t value = integer("a number");
    return build(at, [&] { return net_.exprs.constant(value); });
  }
  next();
  const ExprId operand = unary();
  return build(at, [&] { return net_.exprs.unary(*op, operand); });
}

ExprId Parser::primary() {
  const Token at = token_;
  if (at.kind == Kind::kNumber) {
    const std::int64_t value = integer("a number");
    return build(at, [&] { return net_.exprs.constant(value); });
  }
  if (accept("(")) {
    const ExprId inner = expr(Level::kLoose);
    if (!token_.is(")")) unexpected(fmt::format("an operator or the ')' of line {}", at.line));
    next();
    return inner;
  }
  if (token_.is_name()) return named();
  unexpected("a value");
}

ExprId Parser::named() {
  const Token at = token_;
  next();
  const bool quoted = at.kind == Kind::kQuoted;
  if (token_.is("[") || (quoted && token_.is("."))) return token_of(at, arc_name(at));
  if (quoted) return parameter(at);
  const std::size_t dot = at.text.find('.');
  if (dot != std::string_view::npos) {
    const auto arc = find_arc(at.text.substr(0, dot));
    if (!arc) return parameter(at);
    return field(at, *arc, at.text.substr(dot + 1), net_.exprs.constant(0));
  }
  if (token_.is("(")) {
    if (const auto op = op_written(at.text, Notation::kCall)) return call(at, *op);
    fail(at, fmt::format("no function {}; there are: {}", describe(at), functions()));
  }
  if (at.text == "true" || at.text == "false") {
    return build(at, [&] { return net_.exprs.boolean(at.text == "true"); });
  }
  if (at.text == "index") return build(at, [&] { return net_.exprs.index(); });
  for (std::size_t k = variables_.size(); k-- > 0;) {
    if (variables_[k] != at.text) continue;
    return build(at, [&] { return net_.exprs.bound(static_cast<std::uint32_t>(k)); });
  }
  if (text::is_reserved(at.text)) {
    fail(at, fmt::format("found {}, expected a value; a parameter of that name is written in "
                         "single quotes",
                         describe(at)));
  }
  return parameter(at);
}

ExprId Parser::parameter(const Token& name) {
  const auto found = params_.find(name.text);
  if (found != params_.end()) {
    return build(name, [&] { return net_.exprs.param(found->second.index); });
  }
  if (find_arc(name.text)) {
    fail(name, fmt::format("{} is an input arc; write '{}.FIELD' for a field of its first token",
                           describe(name), name.text));
  }
  if (in_transition_ && name.text.find('.') != std::string_view::npos) {
    fail(name, fmt::format("no parameter {} above, and no input arc '{}' in this transition",
                           describe(name), name.text.substr(0, name.text.find('.'))));
  }
  fail(name, fmt::format("no parameter {} above", describe(name)));
}

std::optional<std::uint32_t> Parser::find_arc(std::string_view name) const {
  const auto found = arc_index_.find(name);
  if (found == arc_index_.end()) return std::nullopt;
  return found->second;
}

std::uint32_t Parser::arc_name(const Token& name) const {
  const auto arc = find_arc(name.text);
  if (!arc) fail(name, fmt::format("no input arc {} in this transition", describe(name)));
  return *arc;
}

// arc[which].field; the name is read already.
ExprId Parser::token_of(const Token& name, std::uint32_t arc) {
  ExprId which{};
  if (accept("[")) {
    which = expr(Level::kLoose);
    if (!token_.is("]")) unexpected(fmt::format("an operator or the ']' of line {}", name.line));
    next();
  } else {
    which = build(name, [&] { return net_.exprs.constant(0); });
  }
  expect(".", "and the field's name");
  const Token at = token_;
  if (!at.is_name()) unexpected("the field's name");
  next();
  return field(at, arc, at.text, which);
}

ExprId Parser::field(const Token& at, std::uint32_t arc, std::string_view field, ExprId which) {
  const Arc& read = arcs_[arc];
  if (!read.place) fail(at, fmt::format("the place of input arc '{}' is not declared", read.name));
  const TokenType& type = net_.type_of(*read.place);
  std::string names;
  for (std::size_t k = 0; k < type.fields.size(); ++k) {
    if (type.fields[k].name == field) {
      return build(at, [&] { return net_.exprs.token(arc, static_cast<std::uint32_t>(k), which); });
    }
    names += (names.empty() ? "" : ", ") + type.fields[k].name;
  }
  fail(at, fmt::format("the tokens of input arc '{}' have no field '{}'; type '{}' has: {}",
                       read.name, field, type.name, names.empty() ? "none" : names));
}

ExprId Parser::call(const Token& function, Op op) {
  next();  // (
  switch (kind_of(op)) {
    case lpn::Kind::kRun: return arc_call(function, op);
    case lpn::Kind::kAggregate: return aggregate(function, op);
    case lpn::Kind::kTable: return lookup(function);
    case lpn::Kind::kAssumption: return assume(function);
    case lpn::Kind::kArithmetic:
    case lpn::Kind::kComparison:
    case lpn::Kind::kLogic:
    case lpn::Kind::kChoice: break;  // plain operands
    case lpn::Kind::kConstant:
    case lpn::Kind::kVariable: LPN_ASSERT(!"written as a call");
  }
  std::vector<ExprId> operands;
  const auto arity = static_cast<std::size_t>(op_info(op).arity);
  for (std::size_t k = 0; k < arity; ++k) {
    if (k > 0) expect(",", fmt::format("and operand {} of '{}'", k + 1, function.text));
    operands.push_back(expr(Level::kLoose));
  }
  expect(")", fmt::format("after operand {} of '{}'", arity, function.text));
  return build(function, [&] {
    if (arity == 1) return net_.exprs.unary(op, operands[0]);
    if (arity == 2) return net_.exprs.binary(op, operands[0], operands[1]);
    return net_.exprs.select(operands[0], operands[1], operands[2]);
  });
}

ExprId Parser::arc_call(const Token& function, Op op) {
  const std::uint32_t arc = arc_name(name("the name of an input arc"));
  expect(")", fmt::format("after the arc of '{}'", function.text));
  return build(function, [&] { return net_.exprs.make({.op = op, .a = arc}); });
}

ExprId Parser::aggregate(const Token& function, Op op) {
  const Token variable = name("a name for the position of the token");
  if (variable.text.find('.') != std::string_view::npos || text::is_reserved(variable.text)) {
    fail(variable, fmt::format("{} cannot name the position of a token", describe(variable)));
  }
  for (std::string_view other : variables_) {
    if (other == variable.text) {
      fail(variable, fmt::format("{} is already the position of an outer sum, minimum or maximum",
                                 describe(variable)));
    }
  }
  expect_word("in", "and the name of an input arc");
  const std::uint32_t arc = arc_name(name("the name of an input arc"));
  expect(":", fmt::format("and what '{}' goes over", function.text));
  const auto depth = static_cast<std::uint32_t>(variables_.size());
  variables_.push_back(variable.text);
  const ExprId body = expr(Level::kLoose);
  variables_.pop_back();
  expect(")", fmt::format("after the operand of '{}'", function.text));
  return build(function, [&] { return net_.exprs.aggregate(op, arc, depth, body); });
}

ExprId Parser::lookup(const Token& function) {
  expect("[", "and the table of 'lookup'");
  std::vector<std::int64_t> table;
  while (!token_.is("]")) {
    table.push_back(integer("a number of the table or ']'"));
    if (!accept(",") && !token_.is("]")) unexpected("',' or ']' after a number of the table");
  }
  next();
  expect(",", "and the position in the table");
  const ExprId x = expr(Level::kLoose);
  expect(")", "after the operands of 'lookup'");
  const auto [entry, fresh] =
      tables_.try_emplace(table, static_cast<std::uint32_t>(net_.exprs.tables()));
  const std::uint32_t known = entry->second;
  if (fresh) {
    check(tables_.size() - 1, kMaxShared, function, "different tables");
    return build(function, [&] { return net_.exprs.lookup(std::move(table), x); });
  }
  return build(function,
               [&] { return net_.exprs.make({.op = Op::kLookup, .a = known, .kids = {x}}); });
}

ExprId Parser::assume(const Token& function) {
  const ExprId condition = expr(Level::kLoose);
  expect(",", "and the value of 'assume'");
  const ExprId value = expr(Level::kLoose);
  expect(",", "and the text of 'assume'");
  std::string reason = string("the text of 'assume' in double quotes");
  expect(")", "after the operands of 'assume'");
  const auto [entry, fresh] =
      texts_.try_emplace(reason, static_cast<std::uint32_t>(net_.exprs.texts()));
  const std::uint32_t known = entry->second;
  if (fresh) {
    check(texts_.size() - 1, kMaxShared, function, "different texts of 'assume'");
    return build(function, [&] { return net_.exprs.assume(condition, value, std::move(reason)); });
  }
  return build(function, [&] {
    return net_.exprs.make({.op = Op::kAssume,
                            .type = net_.exprs[value].type,
                            .a = known,
                            .kids = {condition, value}});
  });
}

}  // namespace

Net parse_net(std::string_view text) {
  if (text.size() > kMaxTextBytes) {
    throw Error("E-text",
                fmt::format("1:1: the text has {} bytes (at most {})", text.size(), kMaxTextBytes));
  }
  return Parser(text).parse();
}

}  // namespace lpn
