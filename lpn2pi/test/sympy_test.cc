#include "lpn/pi/sympy.h"

#include <doctest/doctest.h>

#include <string>

#include "lpn/base/error.h"

using lpn::pi::simplify;

TEST_CASE("formulas are simplified exactly, in a plain C++ program") {
  CHECK(simplify({"(3*s + 5*n) * 2 - s*6"}).at(0) == "10*n");
  CHECK(simplify({"n/3 + n/3"}).at(0) == "2*n/3");
  CHECK(simplify({"n/2 + 3*s/4 + 1"}).at(0) == "(2*n + 3*s + 4)/4");
  CHECK(simplify({"max(a, a)"}).at(0) == "a");
  CHECK(simplify({"S + E - S"}).at(0) == "E");  // names are symbols only
  CHECK(simplify({"(r + 6) * q // 4 + 2"}).at(0) == "((q*r + 6*q)//4) + 2");
  CHECK(simplify({}).empty());
}

TEST_CASE("what is no arithmetic is refused") {
  for (const char* text : {"__import__('os')", "a.b", "1.5", "(", "a if b else c"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(simplify({text}), lpn::Error);
  }
}
