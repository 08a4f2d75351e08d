// A 128-bit integer, for sums and products of 64-bit ones that must not overflow on the way.
#pragma once

namespace lpn {

__extension__ typedef __int128 Wide;

}  // namespace lpn
