// Variables of the environment.
#pragma once

#include <cstdlib>
#include <string>

namespace lpn::sim {

// What the environment says; "" where the variable is not set.
inline std::string from_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace lpn::sim
