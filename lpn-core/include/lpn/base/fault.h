// What can go wrong while a net runs or a formula is evaluated, the same in every engine.
#pragma once

#include <cstdint>

namespace lpn {

enum class Fault : std::uint8_t {
#define LPN_FAULT(enumerator, code, text) enumerator,
#include "lpn/base/fault.def"
#undef LPN_FAULT
};

inline constexpr int kFaults = 0
#define LPN_FAULT(enumerator, code, text) +1
#include "lpn/base/fault.def"
#undef LPN_FAULT
    ;

const char* fault_code(Fault fault);  // "E-overflow", ... (docs/errors.md)
// What happened, a format string of base/fault.def; "" where that depends on more than a value.
const char* fault_text(Fault fault);

// Thrown by eval(); the engine adds time, transition and site.
struct EvalFault {
  Fault fault{};
  std::int64_t value = 0;  // the offending value where there is one
};

}  // namespace lpn
