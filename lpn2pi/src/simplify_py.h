// The text of simplify.py, which CMake writes into simplify_py.cc.
#pragma once

namespace lpn::pi {

extern const char* const kSimplify;

}  // namespace lpn::pi
