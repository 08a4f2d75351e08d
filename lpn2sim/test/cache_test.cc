// Who may have written what is loaded, and what becomes of damage and of litter.

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "folder.h"
#include "library/artefact.h"
#include "lpn/base/error.h"
#include "lpn/sim/library.h"
#include "lpn/sim/program.h"
#include "lpn/sim/simulator.h"
#include "nets.h"

namespace lpn::sim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSource = "int answer = 42;\n";

CompileOptions in(const fs::path& cache) {
  CompileOptions options;
  options.cache = cache;
  options.flags = "-O0";
  return options;
}

// "E-code: message" of what compile() throws; "" when it does not.
std::string refusal(const CompileOptions& options, const std::string& source = kSource) {
  try {
    compile(source, "it", {}, options);
  } catch (const Error& error) {
    return error.code() + ": " + error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void put(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

// Everything in a folder beside finished artefacts, their sources and the lock.
std::size_t litter(const fs::path& cache) {
  std::size_t count = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(cache)) {
    const std::string name = entry.path().filename();
    const bool finished = name.size() == 35 && (name.ends_with(".so") || name.ends_with(".cc"));
    if (!finished && name != ".lock") ++count;
  }
  return count;
}

// A variable of the environment for as long as this lives; nothing: not set.
class Variable {
 public:
  Variable(const char* name, std::optional<std::string> value) : name_(name) {
    if (const char* const old = std::getenv(name)) old_ = old;
    set(value);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { set(old_); }

 private:
  void set(const std::optional<std::string>& value) {
    if (value) {
      ::setenv(name_, value->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }
  const char* name_;
  std::optional<std::string> old_;
};

TEST_CASE("the cache is made for its user alone, with the folders above it that are missing") {
  const Folder folder;
  const mode_t before = ::umask(0);
  const Provenance made = compile(kSource, "it", {}, in(folder / "a/b"));
  ::umask(before);
  for (const char* name : {"a", "a/b"}) {
    struct stat info {};
    REQUIRE(::stat((folder / name).c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0700);
  }
  struct stat info {};
  REQUIRE(::stat(made.artefact.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0600);
  CHECK(litter(folder / "a/b") == 0);
}

TEST_CASE("a cache into which others may have put code is refused") {
  const Folder folder;
  const fs::path cache = folder / "cache";
  REQUIRE(refusal(in(cache)).empty());

  ::chmod(cache.c_str(), 0777);
  CHECK(has(refusal(in(cache)), "E-cache: others may write to the cache folder"));
  ::chmod(cache.c_str(), 0720);
  CHECK(has(refusal(in(cache)), "(mode 0720)"));
  ::chmod(cache.c_str(), 0755);
  CHECK(refusal(in(cache)).empty());

  fs::create_directory_symlink(cache, folder / "link");
  CHECK(has(refusal(in(folder / "link")), "is a symbolic link"));
  CHECK(has(refusal(in(folder / "link/")), "is a symbolic link"));

  ::chmod((folder / "").c_str(), 0777);
  CHECK(has(refusal(in(cache)), "above it can be written by all (mode 0777)"));
  ::chmod((folder / "").c_str(), 01777);
  CHECK(refusal(in(cache)).empty());

  if (::geteuid() == 0) {
    REQUIRE(::chown(cache.c_str(), 65534, 65534) == 0);
    CHECK(has(refusal(in(cache)), "belongs to another user (65534)"));
  }
}

TEST_CASE("without a home the cache is a private folder, and a planted one is not used") {
  const Folder folder;
  const Variable none[] = {{"LPN_CACHE", {}}, {"XDG_CACHE_HOME", {}}, {"HOME", {}}};
  const Variable temporary("TMPDIR", (folder / "").string());
  CompileOptions options;
  options.flags = "-O0";
  const Provenance usual = compile(kSource, "it", {}, options);
  CHECK(usual.artefact.parent_path() == cache_folder());
  CHECK(usual.notice.empty());
  CHECK(compile(kSource, "it", {}, options).cached);

  ::chmod(cache_folder().c_str(), 0777);
  const Provenance made = compile(kSource, "it", {}, options);
  CHECK_FALSE(made.cached);
  CHECK(made.artefact.parent_path() != cache_folder());
  CHECK(has(made.notice, "others may write to the cache folder"));
  struct stat info {};
  REQUIRE(::stat(made.artefact.parent_path().c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0700);
}

TEST_CASE("a damaged or foreign artefact is compiled once more") {
  const Folder folder;
  const CompileOptions options = in(folder / "cache");
  const fs::path artefact = compile(kSource, "it", {}, options).artefact;
  const std::string whole = bytes_of(artefact);
  const auto is_cached = [&] { return compile(kSource, "it", {}, options).cached; };
  CHECK(is_cached());
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{100}, whole.size() / 2, whole.size() - 50, whole.size() - 1}) {
    CAPTURE(size);
    fs::remove(artefact);
    put(artefact, whole.substr(0, size));
    CHECK_FALSE(is_cached());
    CHECK(is_cached());
  }
  std::string flipped = bytes_of(artefact);
  flipped[flipped.size() / 3] ^= 1;
  fs::remove(artefact);
  put(artefact, flipped);
  CHECK_FALSE(is_cached());

  // Another net's, and one that others may write to.
  const Provenance other = compile("int another;\n", "it", {}, options);
  fs::remove(artefact);
  fs::copy_file(other.artefact, artefact);
  CHECK_FALSE(is_cached());
  ::chmod(artefact.c_str(), 0666);
  CHECK_FALSE(is_cached());
  if (::geteuid() == 0) {
    REQUIRE(::chown(artefact.c_str(), 65534, 65534) == 0);
    CHECK_FALSE(is_cached());
  }
  fs::remove(artefact);
  fs::create_symlink(other.artefact, artefact);
  CHECK_FALSE(is_cached());
  CHECK(is_cached());
}

TEST_CASE("what is whole but cannot be loaded here is compiled once more") {
  const Folder folder;
  const CompileOptions options = in(folder / "cache");
  const fs::path artefact = Library::build(line(), {}, options).provenance().artefact;
  const std::string source = bytes_of(fs::path(artefact).replace_extension(".cc"));
  // As from a machine whose loader knows more than this one's.
  std::string bytes = bytes_of(artefact);
  bytes.resize(bytes.rfind("\nlpn seal "));
  bytes[18] = '\xff';  // e_machine
  fs::remove(artefact);
  put(artefact, bytes);
  const int file = ::open(artefact.c_str(), O_RDWR | O_CLOEXEC);
  seal(file, source);
  CHECK(is_sealed(file, source));
  CHECK_THROWS_AS(load(file, artefact), Error);
  ::close(file);
  const Library library = Library::build(line(), {}, options);
  CHECK_FALSE(library.provenance().cached);
  Simulator simulator(library, {}, Marking(line()));
  CHECK(simulator.run().latency == 17);
}

TEST_CASE("libraries that are loaded one after the other are not taken for each other") {
  // All of them are opened as the same number of file, which is part of the name they are loaded
  // by.
  const Folder folder;
  const CompileOptions options = in(folder / "cache");
  std::vector<std::shared_ptr<void>> loaded;
  for (const int answer : {1, 2, 1, 3}) {
    const std::string source =
        "extern \"C\" __attribute__((visibility(\"default\"))) int answer() { return " +
        std::to_string(answer) + "; }\n";
    const Artefact artefact = obtain(source, "it", {}, options);
    loaded.push_back(load(artefact.file.get(), artefact.provenance.artefact));
    const auto function = reinterpret_cast<int (*)()>(::dlsym(loaded.back().get(), "answer"));
    REQUIRE(static_cast<bool>(function));
    CHECK(function() == answer);
  }
}

TEST_CASE("what killed compilations left is cleaned away, what runs is left alone") {
  const Folder folder;
  const fs::path cache = folder / "cache";
  REQUIRE(refusal(in(cache)).empty());
  const std::string key(32, 'a');
  fs::create_directory(cache / "work-1-dead");
  put(cache / "work-1-dead/net.cc", "int x;");
  put(cache / "work-1-dead/lock", "");
  fs::create_directory(cache / "work-2-unborn");
  fs::create_directory(cache / "work-3-alive");
  put(cache / "work-3-alive/lock", "");
  const int alive = ::open((cache / "work-3-alive/lock").c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(::flock(alive, LOCK_EX) == 0);
  put(cache / (key + ".77.123.so"), "of an earlier version");
  put(cache / (key + ".78.124.cc"), "the same, of now");
  fs::last_write_time(cache / (key + ".77.123.so"),
                      fs::file_time_type::clock::now() - std::chrono::hours(2));

  REQUIRE(refusal(in(cache), "int another;\n").empty());
  CHECK_FALSE(fs::exists(cache / "work-1-dead"));
  CHECK_FALSE(fs::exists(cache / "work-2-unborn"));
  CHECK(fs::exists(cache / "work-3-alive"));
  CHECK_FALSE(fs::exists(cache / (key + ".77.123.so")));
  CHECK(fs::exists(cache / (key + ".78.124.cc")));
  ::close(alive);
  REQUIRE(refusal(in(cache), "int third;\n").empty());
  CHECK_FALSE(fs::exists(cache / "work-3-alive"));
}

TEST_CASE("a compiler that says that all went well, but wrote nothing, is told") {
  const Folder folder;
  CompileOptions options = in(folder / "cache");
  options.compiler = "/bin/true";
  CHECK(has(refusal(options),
            "E-compile: '/bin/true' said that all went well on it, but wrote no "
            "library"));
  CHECK(litter(folder / "cache") == 0);
  CHECK_THROWS_WITH_AS(
      write_program(line(), "line", folder / "program", options),
      "'/bin/true' said that all went well on 'line', but wrote nothing; is it a C++ compiler? Set "
      "LPN_CXX to one",
      Error);
  put(folder / "text", "#!/bin/sh\nprintf nothing > net.so\n");
  ::chmod((folder / "text").c_str(), 0700);
  options.compiler = folder / "text";
  CHECK(has(refusal(options), "but wrote no library"));
  CHECK(refusal(in(folder / "cache")).empty());
}

TEST_CASE("a compilation that is interrupted ends at once, with its compiler, and leaves nothing") {
  const Folder folder;
  CompileOptions options = in(folder / "cache");
  put(folder / "slow",
      "#!/bin/sh\nsleep 30 & echo $! > " + (folder / "child").string() + "\ntouch half.o\nwait\n");
  ::chmod((folder / "slow").c_str(), 0700);
  options.compiler = folder / "slow";
  options.keep_on = [&] {
    return !fs::exists(folder / "child") || bytes_of(folder / "child").empty();
  };
  const auto begin = std::chrono::steady_clock::now();
  CHECK(refusal(options) == "E-interrupted: the compilation was interrupted");
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
  CHECK(litter(folder / "cache") == 0);
  const fs::path child = "/proc/" + std::to_string(std::stoi(bytes_of(folder / "child"))) + "/stat";
  const auto gone = [&] {
    const std::string status = bytes_of(child);
    return status.empty() || has(status, ") Z ");
  };
  for (int turn = 0; turn < 200 && !gone(); ++turn) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  CHECK(gone());
}

TEST_CASE("LPN_NO_COMPILE: nothing is compiled, and nothing that was compiled is run") {
  const Folder folder;
  const CompileOptions options = in(folder / "cache");
  REQUIRE(refusal(options).empty());
  const Variable never("LPN_NO_COMPILE", "1");
  CHECK(refusal(options) ==
        "E-never-compile: it is not compiled: LPN_NO_COMPILE (or --never-compile) forbids it; use "
        "--engine interp");
  CHECK_THROWS_AS(Library::build(line(), {}, options), Error);
  CHECK_THROWS_AS(write_program(line(), "line", folder / "line.so", options), Error);
  CHECK_FALSE(fs::exists(folder / "line.so"));
  CHECK(write_program(line(), "line", folder / "line.cc", options) == 0);
  const Variable allowed("LPN_NO_COMPILE", "0");
  CHECK(refusal(options).empty());
}

}  // namespace
}  // namespace lpn::sim
