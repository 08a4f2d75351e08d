#include "lpn/sim/program.h"

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

#include "folder.h"
#include "lpn/base/error.h"
#include "lpn/net/marking.h"
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

// The status and what is written to standard output and error.
std::pair<int, std::string> call(const Folder& folder, const std::string& arguments) {
  const std::filesystem::path out = folder / "out";
  const std::string command =
      (folder / "program").string() + " " + arguments + " > " + out.string() + " 2>&1";
  const int status = std::system(command.c_str());
  return {WEXITSTATUS(status), text_of(out)};
}

TEST_CASE("a program reads a marking by the names of properties, and numbers as decimal") {
  const auto net = [](const std::string& fields) {
    return parse_net("lpn 1\nnet pr\nparam p = 1\ntype t (" + fields +
                     ")\nplace q : t start\nplace out : t done\ntransition go {\n"
                     "  take x from q\n  delay p + x.a\n  put out (x.a, x.b)\n}\nend\n");
  };
  const Net own = net("a: 0..100, b: 0..100");
  const Folder folder;
  CompileOptions options;
  options.flags = "-O0";
  write_program(own, "pr", folder / "program", options);
  const std::filesystem::path file = folder / "m.lpnm";
  const auto save = [&](const Net& of, std::initializer_list<std::int64_t> values) {
    Marking marking(of);
    marking.add(PlaceId{0}, std::vector<std::int64_t>(values));
    std::ofstream(file, std::ios::binary) << save_marking(of, marking);
  };
  const auto error = [&](const std::string& what) {
    return std::pair{2, "error: marking file " + file.string() + ": " + what + "\n"};
  };

  save(own, {3, 7});
  auto [status, text] = call(folder, file.string() + " --param p=010");
  CHECK(status == 0);
  CHECK(text.find("\"latency\": 13,") != std::string::npos);
  CHECK(call(folder, file.string() + " --param p=0x1").first == 2);

  save(net("b: 0..100, a: 0..100"), {3, 7});
  CHECK(call(folder, file.string()) ==
        error("byte 9: place 'q' has other fields in the file than in net 'pr', where it has: "
              "a, b"));
  save(net("a, b"), {3, 101});
  CHECK(call(folder, file.string()) ==
        error("place 'q', token 0: b = 101 is outside its range 0..100"));
  CHECK(call(folder, (folder / "none").string()).second ==
        "error: cannot read " + (folder / "none").string() + "\n");
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
