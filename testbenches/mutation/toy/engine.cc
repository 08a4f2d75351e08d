// A FIFO of limited depth, to be changed by self_test.py.
#include "engine.h"

#include <algorithm>

#define CHECKED(x) (x)

namespace toy {

constexpr int kDepth = 2 + 2;
static_assert(kDepth == 4);

int free_slots(int held) { return std::max(kDepth - held, 0); }

int first_start(int ready, int busy, bool clocked) {
  int at = ready;
  if (busy > at) at = busy;
  if (CHECKED(clocked) && at % 2 == 1) at += 1;
  return at;
}

const char* test_of(bool wide) {
  const char* text = nullptr;
  if (wide)
    text = "x <= y";
  else
    text = "x == y";
  return text;
}

int never_called(int x) { return x + 1; }

}  // namespace toy
