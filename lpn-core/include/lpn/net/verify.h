// The rules a Net must obey before any engine may see it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lpn/net/net.h"

namespace lpn {

struct Violation {
  std::string code;   // "E-..." with an entry in docs/errors.md
  std::string where;  // "transition 'huffman'.blk.weight", "place 'ready'", "type 'block'"
  Source source;
  std::string message;  // complete: names the culprit, says what to write instead
  // The part it is about, if it is about one.
  std::optional<PlaceId> place;
  std::optional<TransitionId> transition;
};

// All violations, in the order of the net's own parts. Empty: well formed.
std::vector<Violation> verify(const Net& net);

// Throws Error with the first violation's code and every violation's message, one per line.
void require_valid(const Net& net);

}  // namespace lpn
