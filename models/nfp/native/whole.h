// Whether a listing is whole: a part of a program is faster than the program, so a guarantee from a
// part would be too high.
#pragma once

#include <string>
#include <vector>

#include "listing.h"

namespace lpn::nfp {

// Throws Error "E-nfp-listing" that names what is missing: an id or a byte offset between two
// lines, the target of a branch, or what comes after the last instruction where a packet gets
// there. Only the end, .15000, need not be a line. `name` is what messages call the file.
void require_whole(const std::vector<Instruction>& listing, const std::string& name);

}  // namespace lpn::nfp
