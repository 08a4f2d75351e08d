// A case of the testbenches: a net, its parameters and tokens, and what is done to it from outside.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lpn/net/marking.h"
#include "lpn/net/net.h"
#include "lpn/run/run.h"

namespace lpn::bench {

struct Load {
  PlaceId place{};
  std::uint64_t count = 0;
  std::vector<std::int64_t> values;  // row-major
};

struct Step {
  bool push = false;     // else a run
  Time time = kForever;  // of the push, or the limit of the run
  PlaceId place{};
  std::vector<std::int64_t> values;  // of the pushed token
};

struct Case {
  Net net;
  ParamValues params;
  std::vector<Load> loads;
  std::optional<std::uint64_t> done_count;
  std::vector<Step> steps;  // at least one run
  std::uint64_t group_limit = kDefaultGroupLimit;
};

// The net alone with its defaults, run to its end.
Case make_case(Net net);

// Throws lpn::Error like Marking::add.
Marking marking_of(const Case& c);

// Everything of a case but its net, one item a line, '#' starts a comment:
//   param NAME VALUE · tokens PLACE COUNT [VALUE...] · done COUNT · groups LIMIT
//   push TIME PLACE [VALUE...] · run [LIMIT]
// `tokens` has the values of all its tokens, row-major. Without a `run` there is one to the end.
std::string print_inputs(const Case& c);
// Throws lpn::Error "E-case" naming the line.
void parse_inputs(std::string_view text, Case& c);

// NAME.lpn and, when there is one, NAME.marking beside it.
Case load_case(const std::filesystem::path& net_file);
void save_case(const Case& c, const std::filesystem::path& net_file, const std::string& comment);

std::string read_text(const std::filesystem::path& file);

}  // namespace lpn::bench
