// What a fuzz target says before it ends: libFuzzer and the replay keep the input that led to it.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace lpn::fuzz {

inline void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz target: %s\n", what.c_str());
  std::abort();
}

}  // namespace lpn::fuzz
