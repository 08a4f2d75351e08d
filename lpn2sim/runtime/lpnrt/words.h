// What abi.h tells by numbers, in words: for programs (main.h) and hosts (embed.h).
#pragma once

#include <string>

#include "lpnrt/abi.h"

namespace lpnrt {

// LPN_BAD_PARAM where every parameter is within its range.
inline constexpr const char* kBadParams =
    "the parameters give servers < 1, a clock period < 1, or tokens, a capacity or a done count "
    "that "
    "there cannot be; lpn sim says which";

// What a transition met: "E-divisor in its delay (value 0); ...".
inline std::string fault_words(const lpn_fault& f) {
  static constexpr const char* kCodes[] = {LPN_FAULT_CODES};
  static constexpr const char* kSites[] = {"weight",   "threshold", "guard", "delay",
                                           "interval", "count",     "value", "start"};  // lpn_site
  return std::string(kCodes[f.fault]) + " in its " + kSites[f.site_kind] + " (value " +
         std::to_string(f.value) + "); lpn sim says it in full";
}

}  // namespace lpnrt
