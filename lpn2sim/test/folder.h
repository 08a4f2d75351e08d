// A folder of its own for a test, gone at the end.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

namespace lpn::sim {

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "lpn-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace lpn::sim
