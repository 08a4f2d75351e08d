#include "lpn/sim/generate.h"

#include <doctest/doctest.h>

#include "nets.h"

namespace lpn::sim {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("the source depends on the net alone, and names reach it as bytes") {
  Net net = line();
  const std::string source = generate(net);
  CHECK(source == generate(line()));
  CHECK(has(source, "#include \"lpnrt/static.h\""));
  CHECK(has(source, "lpn_sim_entry()"));
  CHECK_FALSE(has(source, "pack"));
  net.places[0].name = "*/ #error";
  CHECK_FALSE(has(generate(net), "#error"));
}

TEST_CASE("several nets may stand in one translation unit") {
  GenerateOptions options;
  options.suffix = "_7";
  const std::string source = generate(line(), options);
  CHECK(has(source, "namespace lpn_net_7 {"));
  CHECK(has(source, "lpn_sim_entry_7() { return &lpn_net_7::kApi; }"));
}

TEST_CASE("competitors queue for a place from a number on") {
  Net net = inhibited();
  net.transitions[0].inputs[1].inhibit = false;
  net.transitions[0].inputs[1].weight = net.transitions[1].inputs[0].weight;
  CHECK_FALSE(has(generate(net), "parked"));
  GenerateOptions options;
  options.contested = 2;
  CHECK(has(generate(net, options), "parked1"));
}

}  // namespace
}  // namespace lpn::sim
