#include "lpn/base/error.h"

#include "lpn/base/bug.h"

namespace lpn {

void assert_failed(const char* what, const char* file, int line) {
  const std::string path = file;
  throw Bug("internal error at " + path.substr(path.rfind('/') + 1) + ":" + std::to_string(line) +
            ": " + what + "\n  This is a bug of ours; please report it with what led to it.");
}

}  // namespace lpn
