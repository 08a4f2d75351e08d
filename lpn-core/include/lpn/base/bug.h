// What a failed LPN_ASSERT throws.
#pragma once

#include <stdexcept>

namespace lpn {

// A broken promise inside our own code. No Error: nobody may take it for an answer. Thrown, because
// a process belongs to its host (Python, a simulator that embeds nets), who may have work to save.
class Bug : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace lpn
