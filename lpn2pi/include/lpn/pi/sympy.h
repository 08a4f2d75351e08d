// SymPy, through CPython: simplification of formulas.
//
// Inside a Python process the running interpreter is used; a plain C++ program (which links
// lpn::pi_embed) gets one of its own at the first call.
#pragma once

#include <string>
#include <vector>

namespace lpn::pi {

// Formulas in Python's syntax, over names, whole numbers, + - * / //, max() and min(), simplified
// with exact fractions; the order stays. `//` rounds down. Throws Error "E-sympy" when SymPy is not
// installed or cannot read a formula, with its message.
std::vector<std::string> simplify(const std::vector<std::string>& formulas);

}  // namespace lpn::pi
