#include "levels.h"

#include <algorithm>

namespace lpn::system {
namespace {

struct Way {
  std::int64_t line = -1;
  bool dirty = false;
};

class Cache {
 public:
  explicit Cache(Ways size) : size_(size), ways_(static_cast<std::size_t>(size.sets * size.ways)) {}

  std::int64_t touch(std::int64_t line, bool write) {
    const auto set = ways_.begin() + (line & (size_.sets - 1)) * size_.ways;
    const auto end = set + size_.ways;
    auto way = std::find_if(set, end, [&](const Way& w) { return w.line == line; });
    std::int64_t found = kHit;
    bool dirty = write;
    if (way == end) {
      way = end - 1;
      found = way->dirty ? way->line : kMiss;
    } else {
      dirty = dirty || way->dirty;
    }
    std::move_backward(set, way, way + 1);  // the most recent comes first
    *set = {line, dirty};
    return found;
  }

 private:
  Ways size_;
  std::vector<Way> ways_;
};

}  // namespace

std::vector<Stream> cached(const std::int64_t* whose, const std::int64_t* lines, std::size_t count,
                           const std::vector<bool>& writes, Ways ways, std::int64_t earlier) {
  std::vector<Stream> streams(writes.size());
  for (std::size_t k = 0; k < writes.size(); ++k) streams[k].writes = writes[k];
  Cache cache(ways);
  for (std::int64_t pass = 0; pass <= earlier; ++pass) {
    for (std::size_t k = 0; k < count; ++k) {
      Stream& stream = streams[static_cast<std::size_t>(whose[k])];
      const std::int64_t found = cache.touch(lines[k], stream.writes);
      if (pass < earlier) continue;
      stream.lines.push_back(lines[k]);
      stream.found.push_back(found);
    }
  }
  return streams;
}

}  // namespace lpn::system
