// Prints nets and expressions in the .lpn text form; docs/lpn-format.md has the grammar.
#include <fmt/format.h>

#include <iterator>
#include <string>
#include <unordered_set>
#include <vector>

#include "lpn/base/error.h"
#include "lpn/text/text.h"
#include "text/lexer.h"

namespace lpn {
namespace {

class Printer {
 public:
  explicit Printer(const Net& net, Sources sources = Sources::kPrinted)
      : net_(net), sources_(sources) {
    for (const Param& param : net.params) params_.insert(param.name);
  }

  // The transition whose arcs the expressions name; null: expressions over parameters.
  void enter(const Transition* transition) {
    transition_ = transition;
    arcs_.clear();
    if (transition == nullptr) return;
    for (const InputArc& arc : transition->inputs) arcs_.insert(arc.name);
  }

  void print();
  // Writes `id`, in parentheses when it holds together less tightly than `least`.
  void expr(ExprId id, Level least);
  std::string take() && { return std::move(out_); }

 private:
  template <typename... Args>
  void put(fmt::format_string<Args...> text, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), text, std::forward<Args>(args)...);
  }

  void leaf(const Node& node);
  void call(const Node& node);
  void binary(const Node& node, Level level);
  void prefix(const Node& node, Level level);
  void token(const Node& node);
  std::string variable(std::uint32_t depth) const;
  std::string arc_name(std::uint32_t arc) const;

  void source(Source source, Source inherited);
  void formula(const Formula& formula, Source inherited);
  void range(const std::optional<Range>& range, const char* before);
  bool is_one(const Formula& formula, Source inherited) const { return is(formula, 1, inherited); }
  bool is(const Formula& formula, std::int64_t value, Source inherited) const;
  template <typename Group>
  void groups(const std::vector<Group>& groups, const TokenType& type, Source inherited);
  void place(const Place& place);
  void input(const InputArc& arc, Source inherited);
  void transition(const Transition& transition);

  void limit(std::size_t count, std::size_t most, const char* what) const;
  void count(ExprId id);

  const Net& net_;
  const Sources sources_;
  const Transition* transition_ = nullptr;
  std::unordered_set<std::string_view> params_;
  std::unordered_set<std::string_view> arcs_;
  std::string out_;
  std::vector<bool> seen_;  // nodes, when a whole net is printed
  std::size_t nodes_ = 0;
  std::size_t arcs_in_net_ = 0;
  std::size_t groups_in_net_ = 0;
  std::unordered_set<std::uint32_t> tables_;
  std::unordered_set<std::uint32_t> texts_;
};

// write/expr also serves messages about illegal nets, so a number without a name is shown as such.
std::string Printer::arc_name(std::uint32_t arc) const {
  if (transition_ == nullptr || arc >= transition_->inputs.size()) return fmt::format("?{}", arc);
  return transition_->inputs[arc].name;
}

// j, k, l, ... by nesting depth; never the name of a parameter or an arc.
std::string Printer::variable(std::uint32_t depth) const {
  constexpr std::string_view kLetters = "jklmn";
  std::string name(1, kLetters[depth % kLetters.size()]);
  if (depth >= kLetters.size()) name += std::to_string(depth / kLetters.size());
  while (params_.contains(name) || arcs_.contains(name)) name += '_';
  return name;
}

void Printer::token(const Node& node) {
  const std::string arc = arc_name(node.a);
  std::int64_t which = 1;
  const bool head = net_.exprs.is_const(node.kids[0], which) && which == 0;
  // A dotted arc would read as arc.field, and a reserved word before '[' as itself.
  const bool quote = arc.find('.') != std::string::npos || (!head && text::is_reserved(arc));
  if (quote) {
    put("'{}'", arc);
  } else {
    put("{}", arc);
  }
  if (!head) {
    put("[");
    expr(node.kids[0], Level::kLoose);
    put("]");
  }
  if (transition_ != nullptr && node.a < transition_->inputs.size()) {
    const auto place = static_cast<std::size_t>(transition_->inputs[node.a].place);
    if (place < net_.places.size()) {
      const auto type = static_cast<std::size_t>(net_.places[place].type);
      if (type < net_.types.size() && node.b < net_.types[type].fields.size()) {
        put(".{}", net_.types[type].fields[node.b].name);
        return;
      }
    }
  }
  put(".?{}", node.b);
}

void Printer::leaf(const Node& node) {
  if (node.op == Op::kToken) {
    token(node);
  } else if (node.op == Op::kConst) {
    put("{}", node.value);
  } else if (node.op == Op::kBound) {
    put("{}", variable(node.a));
  } else if (node.op == Op::kParam) {
    if (node.a >= net_.params.size()) {
      put("?{}", node.a);
      return;
    }
    const std::string& name = net_.params[node.a].name;
    const std::size_t dot = name.find('.');
    const bool clash = dot == std::string::npos
                           ? text::is_reserved(name)
                           : arcs_.contains(std::string_view(name).substr(0, dot));
    if (clash) {
      put("'{}'", name);
    } else {
      put("{}", name);
    }
  } else {
    put("{}", op_info(node.op).text);
  }
}

void Printer::call(const Node& node) {
  put("{}(", op_info(node.op).text);
  if (kind_of(node.op) == Kind::kAggregate) {
    put("{} in {}: ", variable(node.b), arc_name(node.a));
  }
  if (kind_of(node.op) == Kind::kRun) put("{}", arc_name(node.a));
  if (node.op == Op::kLookup) {
    if (node.a < net_.exprs.tables()) {
      put("[{}], ", fmt::join(net_.exprs.table(node.a), ", "));
    } else {
      put("?{}, ", node.a);
    }
  }
  for (int k = 0; k < op_info(node.op).arity; ++k) {
    if (k > 0) put(", ");
    expr(node.kids[static_cast<std::size_t>(k)], Level::kLoose);
  }
  if (node.op == Op::kAssume) {
    if (node.a < net_.exprs.texts()) {
      put(", {}", text::escape(net_.exprs.text(node.a)));
    } else {
      put(", ?{}", node.a);
    }
  }
  put(")");
}

// Operators group from the left; comparisons do not chain.
void Printer::binary(const Node& node, Level level) {
  ExprId left = node.kids[0];
  ExprId right = node.kids[1];
  std::string_view text = op_info(node.op).text;
  if ((node.op == Op::kLt || node.op == Op::kLe) && net_.exprs.is_const(left) &&
      !net_.exprs.is_const(right)) {
    // "x > 3" is the same tree as "3 < x" and what people write.
    std::swap(left, right);
    text = node.op == Op::kLt ? ">" : ">=";
  }
  expr(left, level == Level::kCompare ? tighter(level) : level);
  put(" {} ", text);
  expr(right, tighter(level));
}

// -(5), since -5 is the constant; and -(-x).
void Printer::prefix(const Node& node, Level level) {
  const std::string_view text = op_info(node.op).text;
  const Op operand = net_.exprs[node.kids[0]].op;
  const bool parens = node.op == Op::kNeg && (operand == Op::kConst || operand == Op::kNeg);
  put("{}{}", text, level == Level::kNegation ? " " : "");
  if (parens) put("(");
  expr(node.kids[0], level);
  if (parens) put(")");
}

void Printer::expr(ExprId id, Level least) {
  count(id);
  const Node& node = net_.exprs[id];
  const OpInfo& info = op_info(node.op);
  const bool parens = info.level < least;
  if (parens) put("(");
  switch (info.notation) {
    case Notation::kNamed:
    case Notation::kWord: leaf(node); break;
    case Notation::kCall: call(node); break;
    case Notation::kPrefix: prefix(node, info.level); break;
    case Notation::kInfix: binary(node, info.level); break;
  }
  if (parens) put(")");
}

void Printer::limit(std::size_t count, std::size_t most, const char* what) const {
  if (count <= most) return;
  throw Error("E-text", fmt::format("net '{}' is too large for the text form: more than {} {}",
                                    net_.name, most, what));
}

// Counts what an expression of the net adds to the limits of the parser.
void Printer::count(ExprId id) {
  const auto index = static_cast<std::size_t>(id);
  if (seen_.empty() || seen_[index]) return;
  seen_[index] = true;
  limit(++nodes_, text::kMaxNodes, "different nodes of expressions");
  const Node& node = net_.exprs[id];
  if (node.op == Op::kLookup && tables_.insert(node.a).second) {
    limit(tables_.size(), text::kMaxShared, "different tables");
  }
  if (node.op == Op::kAssume && texts_.insert(node.a).second) {
    limit(texts_.size(), text::kMaxShared, "different texts of 'assume'");
  }
}

void Printer::source(Source source, Source inherited) {
  if (source == inherited || sources_ == Sources::kLeftOut) return;
  if (source == Source{}) {
    put(" @?");
  } else if (source.file == 0) {
    put(" @{}", source.line);
  } else {
    put(" @{}:{}", source.file, source.line);
  }
}

void Printer::formula(const Formula& formula, Source inherited) {
  expr(formula.id, Level::kLoose);
  source(formula.source, inherited);
  limit(out_.size(), kMaxTextBytes, "bytes");
}

void Printer::range(const std::optional<Range>& range, const char* before) {
  if (range) put("{}{}..{}", before, range->lo, range->hi);
}

bool Printer::is(const Formula& formula, std::int64_t value, Source inherited) const {
  std::int64_t constant = 0;
  return net_.exprs.is_const(formula.id, constant) && constant == value &&
         (formula.source == inherited || sources_ == Sources::kLeftOut);
}

// Tokens in a row: counts where tokens have no fields, else "(a, b) times count".
template <typename Group>
void Printer::groups(const std::vector<Group>& groups, const TokenType& type, Source inherited) {
  groups_in_net_ += groups.size();
  limit(groups_in_net_, text::kMaxGroups, "emissions and groups of initial tokens");
  const char* before = " ";
  for (const Group& group : groups) {
    put("{}", before);
    before = ", ";
    if (type.fields.empty()) {
      formula(group.count, inherited);
      continue;
    }
    put("(");
    for (std::size_t k = 0; k < group.fields.size(); ++k) {
      if (k > 0) put(", ");
      formula(group.fields[k], inherited);
    }
    put(")");
    if (!is_one(group.count, inherited)) {
      put(" times ");
      formula(group.count, inherited);
    }
  }
}

void Printer::place(const Place& place) {
  const TokenType& type = net_[place.type];
  put("place {} : {}", place.name, type.name);
  if (place.start) put(" start");
  if (place.done) put(" done");
  if (place.drain) put(" drain");
  if (place.sink) put(" sink");
  source(place.source, {});
  if (place.capacity) {
    put(" capacity ");
    formula(*place.capacity, place.source);
  }
  if (!place.initial.empty()) {
    put(" initial");
    groups(place.initial, type, place.source);
  }
  put("\n");
}

void Printer::input(const InputArc& arc, Source inherited) {
  put("  {} {} {} {}", arc.inhibit ? "empty" : "take", arc.name, arc.inhibit ? "in" : "from",
      net_[arc.place].name);
  source(arc.source, inherited);
  if (!arc.inhibit) {
    if (!is_one(arc.weight, arc.source)) {
      put(" weight ");
      formula(arc.weight, arc.source);
    }
    if (arc.threshold) {
      put(" need ");
      formula(*arc.threshold, arc.source);
    }
    if (arc.guard) {
      put(" when ");
      formula(*arc.guard, arc.source);
    }
  }
  put("\n");
}

void Printer::transition(const Transition& transition) {
  enter(&transition);
  arcs_in_net_ += transition.inputs.size() + transition.outputs.size();
  limit(arcs_in_net_, text::kMaxArcsInNet, "arcs");
  const Source here = transition.source;
  put("\ntransition {}", transition.name);
  source(here, {});
  put(" {{\n");
  for (const InputArc& arc : transition.inputs) input(arc, here);
  put("  delay ");
  formula(transition.delay, here);
  put("\n");
  if (transition.servers) {
    put("  servers ");
    formula(*transition.servers, here);
    put("\n");
  }
  if (transition.interval) {
    put("  interval ");
    formula(*transition.interval, here);
    put("\n");
  }
  if (transition.ordered) put("  ordered\n");
  if (transition.clock) {
    put("  clock ");
    formula(transition.clock->period, here);
    if (!is(transition.clock->phase, 0, here)) {
      put(" phase ");
      formula(transition.clock->phase, here);
    }
    put("\n");
  }
  for (const OutputArc& arc : transition.outputs) {
    const TokenType& type = net_.type_of(arc.place);
    put("  put {}", net_[arc.place].name);
    source(arc.source, here);
    const bool single = type.fields.empty() && arc.emissions.size() == 1 &&
                        is_one(arc.emissions[0].count, arc.source);
    if (arc.emissions.empty()) {
      put(" nothing");
    } else if (!single) {
      groups(arc.emissions, type, arc.source);
    }
    put("\n");
  }
  put("}}\n");
  enter(nullptr);
}

void Printer::print() {
  seen_.assign(net_.exprs.size(), false);
  limit(net_.files.size(), text::kMaxFiles, "files");
  limit(net_.params.size(), text::kMaxParams, "parameters");
  limit(net_.types.size(), text::kMaxTypes, "types");
  put("lpn {}\nnet {}\n", kTextVersion, net_.name);
  if (sources_ == Sources::kPrinted) {
    for (const std::string& file : net_.files) put("file {}\n", text::escape(file));
  }
  if (net_.frequency) put("frequency {}\n", *net_.frequency);
  if (!net_.params.empty()) put("\n");
  for (const Param& param : net_.params) {
    put("param {} = {}", param.name, param.value);
    range(param.range, " in ");
    source(param.source, {});
    put("\n");
  }
  if (!net_.types.empty()) put("\n");
  for (const TokenType& type : net_.types) {
    put("type {} (", type.name);
    for (std::size_t k = 0; k < type.fields.size(); ++k) {
      put("{}{}", k > 0 ? ", " : "", type.fields[k].name);
      range(type.fields[k].range, ": ");
    }
    put(")");
    source(type.source, {});
    put("\n");
  }
  if (!net_.places.empty()) put("\n");
  for (const Place& p : net_.places) place(p);
  if (net_.done_count) {
    put("\ndone ");
    formula(*net_.done_count, {});
    put("\n");
  }
  for (const Transition& t : net_.transitions) transition(t);
  put("\nend\n");
}

}  // namespace

std::string print_net(const Net& net, Sources sources) {
  Printer printer(net, sources);
  printer.print();
  return std::move(printer).take();
}

std::string print_expr(const Net& net, const Transition* transition, ExprId id) {
  Printer printer(net);
  printer.enter(transition);
  printer.expr(id, Level::kLoose);
  return std::move(printer).take();
}

}  // namespace lpn
