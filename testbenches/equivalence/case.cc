#include "case.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "lpn/base/error.h"
#include "lpn/text/text.h"

namespace lpn::bench {

Case make_case(Net net) {
  Case c;
  for (const Param& p : net.params) c.params.push_back(p.value);
  c.net = std::move(net);
  c.steps.push_back({});
  return c;
}

Marking marking_of(const Case& c) {
  Marking marking(c.net);
  for (const Load& load : c.loads) marking.add(load.place, load.values, load.count);
  marking.done_count = c.done_count;
  return marking;
}

std::string print_inputs(const Case& c) {
  std::string text;
  for (std::size_t k = 0; k < c.params.size(); ++k) {
    if (c.params[k] == c.net.params[k].value) continue;
    text += fmt::format("param {} {}\n", c.net.params[k].name, c.params[k]);
  }
  for (const Load& load : c.loads) {
    text += fmt::format("tokens {} {}", c.net[load.place].name, load.count);
    for (std::int64_t v : load.values) text += fmt::format(" {}", v);
    text += '\n';
  }
  if (c.done_count) text += fmt::format("done {}\n", *c.done_count);
  if (c.group_limit != kDefaultGroupLimit) text += fmt::format("groups {}\n", c.group_limit);
  for (const Step& step : c.steps) {
    if (step.push) {
      text += fmt::format("push {} {}", step.time, c.net[step.place].name);
      for (std::int64_t v : step.values) text += fmt::format(" {}", v);
      text += '\n';
    } else {
      text += step.time == kForever ? "run\n" : fmt::format("run {}\n", step.time);
    }
  }
  return text;
}

void parse_inputs(std::string_view given, Case& c) {
  c.steps.clear();
  std::istringstream lines{std::string(given)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const auto bad = [&](const char* what) {
      return Error("E-case", fmt::format("line {}: {} in '{}'", number, what, line));
    };
    std::istringstream in(line.substr(0, line.find('#')));
    std::string word;
    if (!(in >> word)) continue;
    const auto name = [&] {
      std::string text;
      if (!(in >> text)) throw bad("a name is missing");
      return text;
    };
    const auto integer = [&] {
      std::int64_t value = 0;
      if (!(in >> value)) throw bad("a number is missing");
      return value;
    };
    const auto place = [&] {
      const auto id = c.net.find_place(name());
      if (!id) throw bad("unknown place");
      return *id;
    };
    const auto rest = [&] {
      std::vector<std::int64_t> values;
      for (std::int64_t v = 0; in >> v;) values.push_back(v);
      return values;
    };
    if (word == "param") {
      const auto k = c.net.find_param(name());
      if (!k) throw bad("unknown parameter");
      c.params[*k] = integer();
    } else if (word == "tokens") {
      Load load;
      load.place = place();
      load.count = static_cast<std::uint64_t>(integer());
      load.values = rest();
      c.loads.push_back(load);
    } else if (word == "done") {
      c.done_count = static_cast<std::uint64_t>(integer());
    } else if (word == "groups") {
      c.group_limit = static_cast<std::uint64_t>(integer());
    } else if (word == "push") {
      Step step;
      step.push = true;
      step.time = integer();
      step.place = place();
      step.values = rest();
      c.steps.push_back(step);
    } else if (word == "run") {
      Step step;
      if (!(in >> step.time)) step.time = kForever;
      c.steps.push_back(step);
    } else {
      throw bad("unknown word");
    }
  }
  if (c.steps.empty() || c.steps.back().push) c.steps.push_back({});
}

std::string read_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw Error("E-case", fmt::format("cannot read '{}'", file.string()));
  return text.str();
}

Case load_case(const std::filesystem::path& net_file) {
  Case c = make_case(parse_net(read_text(net_file)));
  const auto inputs = std::filesystem::path(net_file).replace_extension(".marking");
  if (std::filesystem::exists(inputs)) parse_inputs(read_text(inputs), c);
  return c;
}

void save_case(const Case& c, const std::filesystem::path& net_file, const std::string& comment) {
  std::ofstream net(net_file, std::ios::binary);
  std::string text = print_net(c.net);
  // Comments go below the two header lines.
  const std::size_t body = text.find('\n', text.find('\n') + 1) + 1;
  std::istringstream lines(comment);
  std::string block;
  for (std::string line; std::getline(lines, line);) block += "# " + line + "\n";
  text.insert(body, block);
  net << text;
  std::ofstream inputs(std::filesystem::path(net_file).replace_extension(".marking"),
                       std::ios::binary);
  inputs << print_inputs(c);
  if (!net || !inputs) throw Error("E-case", fmt::format("cannot write '{}'", net_file.string()));
}

}  // namespace lpn::bench
