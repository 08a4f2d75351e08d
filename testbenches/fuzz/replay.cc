// Runs kept inputs through the fuzz target linked in, so that any compiler and CI can replay what a
// libFuzzer run has found: every file of the given folders, every entry of the given packed corpora
// (corpus.py). Where one fails, its name is the last line on standard error.
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Replay {
 public:
  void run(const std::string& name, const std::string& bytes) {
    current_ = name;
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    ++entries_;
  }
  std::size_t entries() const { return entries_; }
  // Where the target has ended the program.
  static const std::string& current() { return current_; }

 private:
  static inline std::string current_;
  std::size_t entries_ = 0;
};

// Which input it was; then the signal does what it would have done.
void tell(int signal) {
  std::fprintf(stderr, "input: %s\n", Replay::current().c_str());
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

bool replay_pack(const std::filesystem::path& file, Replay& replay) {
  const std::string all = bytes_of(file);
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t blank = all.find(' ', at), end = all.find('\n', at);
    if (blank >= end || end == std::string::npos) return false;
    const std::size_t size = std::strtoull(all.c_str() + at, nullptr, 10);
    if (size >= all.size() - end || end + 1 + size >= all.size() || all[end + 1 + size] != '\n')
      return false;
    replay.run(all.substr(blank + 1, end - blank - 1), all.substr(end + 1, size));
    at = end + size + 2;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Replay replay;
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE}) std::signal(signal, tell);
  for (int k = 1; k < argc; ++k) {
    const std::filesystem::path path = argv[k];
    if (!std::filesystem::is_directory(path)) {
      if (!replay_pack(path, replay)) {
        std::fprintf(stderr, "%s is no packed corpus\n", argv[k]);
        return 1;
      }
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(path))
      replay.run(entry.path().filename().string(), bytes_of(entry.path()));
  }
  std::printf("%zu inputs\n", replay.entries());
  return replay.entries() > 0 ? 0 : 1;
}
