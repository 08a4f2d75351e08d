#include "lpn/base/fault.h"

namespace lpn {
namespace {

struct Known {
  const char* code;
  const char* text;
};

constexpr Known kKnown[] = {
#define LPN_FAULT(enumerator, code, text) {code, text},
#include "lpn/base/fault.def"
#undef LPN_FAULT
};

}  // namespace

const char* fault_code(Fault fault) { return kKnown[static_cast<int>(fault)].code; }
const char* fault_text(Fault fault) { return kKnown[static_cast<int>(fault)].text; }

}  // namespace lpn
