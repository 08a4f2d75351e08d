// The one way this reader says no: a text with what is wrong, why the core cannot take it and
// what to do instead.
#pragma once

#include <stdexcept>
#include <string>

namespace lpn::jpeg {

class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace lpn::jpeg
