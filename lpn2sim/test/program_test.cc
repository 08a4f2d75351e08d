#include "lpn/sim/program.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "folder.h"
#include "lpn/base/error.h"
#include "nets.h"

namespace lpn::sim {
namespace {

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

TEST_CASE("a net becomes source, or a program that answers without this project") {
  const Folder folder;
  CHECK(write_program(line(), "line", folder / "line.cc") == 0);
  CHECK(text_of(folder / "line.cc").find("#include \"lpnrt/main.h\"") != std::string::npos);

  CompileOptions options;
  options.flags = "-O0";
  CHECK(write_program(line(), "line", folder / "line", options) > 0);
  const std::string command = (folder / "line").string() + " > " + (folder / "out").string();
  CHECK(std::system(command.c_str()) == 0);
  CHECK(text_of(folder / "out").find("\"latency\": 17") != std::string::npos);
}

TEST_CASE("what cannot be written says so") {
  const Folder folder;
  CHECK_THROWS_AS(write_program(line(), "line", folder / "none/line.cc"),
                  std::filesystem::filesystem_error);
  CompileOptions options;
  options.compiler = "/bin/false";
  try {
    write_program(line(), "line", folder / "line", options);
    FAIL("written");
  } catch (const Error& error) {
    CHECK(error.code() == std::string("E-compile"));
    CHECK(error.what() == std::string("'/bin/false' failed on 'line' (status 1)\n"));
  }
  CHECK_FALSE(std::filesystem::exists(folder / "line"));
}

}  // namespace
}  // namespace lpn::sim
