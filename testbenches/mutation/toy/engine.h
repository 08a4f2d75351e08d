#pragma once

namespace toy {
int free_slots(int held);
int first_start(int ready, int busy, bool clocked);
const char* test_of(bool wide);
int never_called(int x);
}  // namespace toy
