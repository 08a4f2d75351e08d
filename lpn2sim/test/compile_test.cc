#include "lpn/sim/compile.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

#include "folder.h"
#include "lpn/base/error.h"
#include "lpn/sim/generate.h"
#include "nets.h"

namespace lpn::sim {
namespace {

namespace fs = std::filesystem;

std::string code_of(const std::string& source, const CompileOptions& options) {
  try {
    compile(source, "it", {}, options);
  } catch (const Error& error) {
    return error.code();
  }
  return "";
}

TEST_CASE("what was compiled is taken from the cache, until something that it depends on changes") {
  const Folder folder;
  CompileOptions options;
  options.cache = folder / "cache";
  options.runtime = folder / "runtime";
  options.flags = "-O0";
  fs::copy(runtime_folder(), options.runtime, fs::copy_options::recursive);
  const std::string source = "int answer = 42;\n";

  const Provenance first = compile(source, "it", {}, options);
  CHECK_FALSE(first.cached);
  CHECK(fs::exists(first.artefact));
  const Provenance again = compile(source, "it", {}, options);
  CHECK(again.cached);
  CHECK(again.artefact == first.artefact);

  CHECK(compile(source, "it", {.stats = true}, options).artefact != first.artefact);
  // Any header of the runtime counts, also one that is new.
  std::ofstream(options.runtime / "lpnrt/new.h") << "// new\n";
  const Provenance after = compile(source, "it", {}, options);
  CHECK_FALSE(after.cached);
  CHECK(after.artefact != first.artefact);
  std::ofstream(options.runtime / "lpnrt/new.h") << "// changed\n";
  CHECK(compile(source, "it", {}, options).artefact != after.artefact);
}

TEST_CASE("headers that are compiled in advance serve every source with the same flags") {
  const Folder folder;
  CompileOptions options;
  options.cache = folder / "cache";
  options.flags = "-O0";
  const CompileOptions ready = with_compiled_headers({.stats = true}, options);
  CHECK(with_compiled_headers({.stats = true}, options).flags == ready.flags);
  CHECK(with_compiled_headers({}, options).flags != ready.flags);
  // Without them it would not compile.
  const std::string source = "static_assert(LPNRT_STATS == 1 && lpnrt::kForever > 0);\n";
  CHECK(fs::exists(compile(source, "it", {.stats = true}, ready).artefact));
  CHECK(code_of(source, options) == "E-compile");
}

TEST_CASE("clang compiles every variant, too") {
  if (std::system("command -v clang++ >/dev/null") != 0) {
    MESSAGE("no clang++");
    return;
  }
  const Folder folder;
  CompileOptions options;
  options.cache = folder / "cache";
  options.compiler = "clang++";
  options.flags = "-O0";
  const std::string source = generate(line());
  for (const Variant variant :
       {Variant{}, Variant{.trace = true}, Variant{.stats = true}, Variant{.path = true}}) {
    CHECK(fs::exists(compile(source, "it", variant, options).artefact));
  }
}

TEST_CASE("what cannot be compiled says so") {
  const Folder folder;
  CompileOptions options;
  options.cache = folder / "cache";
  CHECK(code_of("this is no C++\n", options) == "E-compile");
  for (const auto& entry : fs::directory_iterator(options.cache)) {
    CHECK(entry.path().filename() == ".lock");
  }
  options.compiler = "no-such-compiler";
  CHECK(code_of("int x;\n", options) == "E-no-compiler");
  options.compiler.clear();
  std::ofstream(folder / "file") << "no folder";
  options.cache = folder / "file";
  CHECK(code_of("int x;\n", options) == "E-cache");
}

}  // namespace
}  // namespace lpn::sim
