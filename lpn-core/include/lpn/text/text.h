// The .lpn text form: how a net is stored and shipped without Python.
//
// print_net(parse_net(t)) == t for every t that print_net wrote, and parse_net(print_net(n)) is n
// up to the numbering of unreachable expressions. The grammar is in docs/lpn-format.md.
#pragma once

#include <string>
#include <string_view>

#include "lpn/net/net.h"

namespace lpn {

inline constexpr int kTextVersion = 1;
inline constexpr std::size_t kMaxTextBytes = std::size_t{64} << 20;

// Whether the places in the author's Python are printed. Without them two nets that run alike have
// one text, wherever their Python was moved.
enum class Sources { kPrinted, kLeftOut };

// REQUIRES verify(net).empty().
std::string print_net(const Net& net, Sources sources = Sources::kPrinted);

// One expression in the author's words: "6 + 3 * blk.nonzero". `transition` may be null for an
// expression over parameters only.
std::string print_expr(const Net& net, const Transition* transition, ExprId id);

// Throws Error "E-text" with "line:column: ..." on anything that is not a net, including limits;
// then Error of require_valid() when the text is fine but the net is not. Never crashes.
Net parse_net(std::string_view text);

}  // namespace lpn
