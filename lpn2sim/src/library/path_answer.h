// What both engines say of a critical path that needed too much memory.
#pragma once

#include <string>

#include "lpn/base/error.h"

namespace lpn::sim {

Error path_memory(const std::string& net);

}  // namespace lpn::sim
