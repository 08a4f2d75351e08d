// Whose turn it is to compile a key: what one makes, the others wait for and load.
#pragma once

#include <functional>
#include <string>

#include "library/cache_folder.h"

namespace lpn::sim {

class Turn {
 public:
  // Waits until nobody else compiles the key in this cache. Does not wait where files cannot be
  // locked: then a key may be compiled twice, which does no harm. Throws Error "E-interrupted" when
  // keep_on, which may be empty and is asked about 20 times a second, says no.
  Turn(const CacheFolder& cache, const std::string& key, const std::function<bool()>& keep_on);
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  int cache_;
  std::string name_;
  Descriptor lock_;
};

// Removes the file of a turn, by its name in the cache, when it was left by a process that was
// killed; false: it is none.
bool clean_turn(int cache, const std::string& name);

}  // namespace lpn::sim
