#include "lpn/base/error.h"

#include <cstdio>
#include <cstdlib>

namespace lpn {

void assert_failed(const char* what, const char* file, int line) {
  std::fprintf(stderr, "lpn: internal error at %s:%d: %s\nThis is a bug of ours.\n", file, line,
               what);
  std::abort();
}

}  // namespace lpn
