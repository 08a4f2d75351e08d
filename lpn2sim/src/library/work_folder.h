// A folder in which one compilation works, gone at its end.
#pragma once

#include <string>

#include "library/cache_folder.h"

namespace lpn::sim {

class WorkFolder {
 public:
  // In the cache; removes first what compilations have left there whose processes were killed.
  // Throws Error "E-cache" when it cannot be made.
  explicit WorkFolder(const CacheFolder& cache);
  // Under the temporary directory. Throws std::filesystem::filesystem_error.
  WorkFolder();
  ~WorkFolder();

  int descriptor() const { return folder_.get(); }
  // Writes a file. Throws std::system_error.
  void write(const char* name, const std::string& text) const;
  // Up to so many bytes of a file; "" where there is none.
  std::string read(const char* name, std::size_t most) const;
  bool is_full() const;  // no room for another megabyte

 private:
  Descriptor parent_, lock_, folder_;
  std::string name_;
};

// All of an open file.
std::string read_all(int file);
// Writes all of it at the file's position. Throws std::system_error.
void write_all(int file, const std::string& text);

}  // namespace lpn::sim
