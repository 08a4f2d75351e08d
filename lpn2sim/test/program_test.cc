#include "lpn/sim/program.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
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
        "error: cannot read " + (folder / "none").string() + ": No such file or directory\n");
  CHECK(call(folder, (folder / "").string()).second ==
        "error: cannot read " + (folder / "").string() + ": Is a directory\n");
}

TEST_CASE("what a program refuses, and an answer that nobody can read") {
  const Net net = parse_net(
      "lpn 1\nnet pr\nparam slots = 2 in 1..9\nparam p = 1\ntype t (a: 0..9)\n"
      "place q : t capacity slots\nplace out : t done\ntransition go {\n  take x from q\n"
      "  delay p - x.a\n  servers p\n  put out (x.a)\n}\nend\n");
  const Folder folder;
  CompileOptions options;
  options.flags = "-O0";
  write_program(net, "pr", folder / "program", options);
  const std::string file = (folder / "m.lpnm").string();
  Marking marking(net);
  for (int k = 0; k < 3; ++k) marking.add(PlaceId{0}, std::vector<std::int64_t>{7});
  std::ofstream(file, std::ios::binary) << save_marking(net, marking);
  const auto says = [&](const std::string& arguments, const std::string& what) {
    CHECK(call(folder, arguments) == std::pair{2, "error: " + what + "\n"});
  };
  says("-p slots=10", "parameter 'slots' of net 'pr' is 10, outside its range 1..9");
  says("-p p=0",
       "net 'pr': the parameters give servers < 1, a clock period < 1, or tokens, a capacity or a "
       "done count that there cannot be; lpn sim says which");
  says("-p p=2 --param p=3", "--param p is given twice; give one value");
  says(file, "place 'q' of net 'pr' starts with 3 tokens, more than its capacity");
  says(
      file + " -p slots=9",
      "net 'pr', transition 'go' at time 0: E-negative-delay in its delay (value -6); lpn sim says "
      "it in full");
  CHECK(call(folder, "--help").second.find("  slots=2  (1..9)\n  p=1\n") != std::string::npos);
  for (const char* const arguments : {" --help", ""}) {
    const auto shell = [&](const std::string& into) {
      const std::string command =
          (folder / "program").string() + arguments + into + " 2> " + (folder / "out").string();
      return std::pair{WEXITSTATUS(std::system(command.c_str())), text_of(folder / "out")};
    };
    CHECK(shell(" > /dev/full") ==
          std::pair{2, std::string("error: standard output: No space left on device\n")});
    CHECK(shell(" >&-") ==
          std::pair{2, std::string("error: standard output: Bad file descriptor\n")});
  }
}

TEST_CASE("a program takes the place of a file, and of nothing else") {
  const Folder folder;
  CompileOptions options;
  options.flags = "-O0";
  std::ofstream(folder / "real") << "before";
  std::filesystem::create_symlink(folder / "real", folder / "link");
  write_program(line(), "line", folder / "link", options);
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(std::filesystem::file_size(folder / "real") > 1000);
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  try {
    write_program(line(), "line", folder / "pipe", options);
    FAIL("written");
  } catch (const Error& error) {
    CHECK(error.code() == std::string("E-input"));
    CHECK(error.what() == "cannot write " + (folder / "pipe").string() +
                              ": a program takes the place of what is there, and that is no "
                              "regular file");
  }
  CHECK(std::filesystem::is_fifo(folder / "pipe"));
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
