#include "neighbourhood.h"

#include <algorithm>

namespace lpn::smt {

Neighbourhood::Neighbourhood(const PathUnits& path, bool maximum, std::uint64_t seed)
    : p_(path), maximum_(maximum), random_(seed), uses_(path.units().size()) {
  for (std::size_t l = 0; l < p_.limits().size(); ++l) {
    for (const std::uint32_t f : p_.limits()[l].functions) {
      uses_[p_.function(f).unit].push_back({l, &p_.function(f)});
    }
  }
  for (std::uint32_t u = 0; u < p_.units().size(); ++u) {
    if (p_.units()[u].size > 1) several_.push_back(u);
  }
}

bool Neighbourhood::repair(Choice& choice, const Box& box) {
  std::vector<bool> free(choice.size(), false);
  for (std::uint32_t u = 0; u < choice.size(); ++u) {
    if (choice[u] != kUnset) continue;
    free[u] = true;
    choice[u] = box[u].first;
  }
  usage(choice);
  for (std::size_t step = 0; step < 4 * choice.size() + 16; ++step) {
    if (excess() == 0) return true;
    if (!improve(choice, box, &free) && !improve(choice, box, nullptr)) return false;
  }
  return excess() == 0;
}

void Neighbourhood::polish(Choice choice, std::size_t moves,
                           const std::function<bool(const Choice& moved, Time estimate)>& better) {
  if (several_.empty()) return;
  usage(choice);
  Time now = p_.estimate(choice);
  for (std::size_t done = 0; done < moves; ++done) {
    Choice moved = choice;
    const std::vector<Wide> before = used_;
    const std::uint32_t u = several_[random_() % several_.size()];
    move(moved, u, static_cast<std::uint32_t>(random_() % p_.units()[u].size));
    for (int other = 0; other < 4 && excess() != 0; ++other) {
      const std::uint32_t v = several_[random_() % several_.size()];
      if (v != u) nearest(moved, v);
    }
    bool kept = excess() == 0;
    if (kept) {
      const Time then = p_.estimate(moved);
      kept = maximum_ ? then >= now : then <= now;
      if (kept) {
        choice = std::move(moved);
        if (then != now && !better(choice, then)) return;
        now = then;
      }
    }
    if (!kept) used_ = before;
  }
}

void Neighbourhood::usage(const Choice& choice) {
  used_.assign(p_.limits().size(), 0);
  for (std::size_t u = 0; u < choice.size(); ++u) {
    for (const Use& use : uses_[u]) used_[use.limit] += use.function->values[choice[u]];
  }
}

void Neighbourhood::move(Choice& choice, std::uint32_t u, std::uint32_t row) {
  for (const Use& use : uses_[u]) {
    used_[use.limit] += use.function->values[row] - use.function->values[choice[u]];
  }
  choice[u] = row;
}

Wide Neighbourhood::excess() const {
  Wide sum = 0;
  for (std::size_t l = 0; l < used_.size(); ++l) {
    sum += std::max<Wide>(0, used_[l] - p_.limits()[l].cap);
  }
  return sum;
}

Wide Neighbourhood::excess_with(std::uint32_t u, std::uint32_t from, std::uint32_t row,
                                Wide now) const {
  for (const Use& use : uses_[u]) {
    const Wide cap = p_.limits()[use.limit].cap;
    const Wide before = used_[use.limit];
    const Wide after = before + use.function->values[row] - use.function->values[from];
    now += std::max<Wide>(0, after - cap) - std::max<Wide>(0, before - cap);
  }
  return now;
}

// The move of one unit that leaves the least excess; among those the least change.
bool Neighbourhood::improve(Choice& choice, const Box& box, const std::vector<bool>* only) {
  const Wide now = excess();
  Wide best = now;
  std::uint32_t unit = kUnset, row = 0, distance = 0;
  // Starts anywhere, so that not always the first units give way.
  const auto offset = static_cast<std::uint32_t>(random_() % choice.size());
  for (std::uint32_t k = 0; k < choice.size(); ++k) {
    const std::uint32_t u = (k + offset) % static_cast<std::uint32_t>(choice.size());
    if ((only != nullptr && !(*only)[u]) || uses_[u].empty()) continue;
    for (std::uint32_t r = box[u].first; r < box[u].second; ++r) {
      const Wide then = excess_with(u, choice[u], r, now);
      const std::uint32_t d = r > choice[u] ? r - choice[u] : choice[u] - r;
      if (then < best || (then == best && unit != kUnset && then < now && d < distance)) {
        best = then, unit = u, row = r, distance = d;
      }
    }
  }
  if (unit == kUnset) return false;
  move(choice, unit, row);
  return true;
}

// The tuple of one unit that leaves the least excess; among those the nearest.
void Neighbourhood::nearest(Choice& choice, std::uint32_t u) {
  const Wide now = excess();
  Wide best = now;
  std::uint32_t row = choice[u], distance = 0;
  for (std::uint32_t r = 0; r < p_.units()[u].size; ++r) {
    const Wide then = excess_with(u, choice[u], r, now);
    const std::uint32_t d = r > choice[u] ? r - choice[u] : choice[u] - r;
    if (then < best || (then == best && then < now && d < distance)) {
      best = then, row = r, distance = d;
    }
  }
  move(choice, u, row);
}

}  // namespace lpn::smt
