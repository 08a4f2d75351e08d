#include "learned.h"

#include <algorithm>
#include <utility>

namespace lpn::nfp {

bool Learned::learn(std::vector<TermId> core, std::uint32_t size,
                    const std::unordered_map<TermId, std::uint32_t>& where) {
  std::sort(core.begin(), core.end());
  core.erase(std::unique(core.begin(), core.end()), core.end());
  bool news = false;
  for (const TermId atom : core) {
    const auto at = where.find(atom);
    if (at == where.end()) continue;
    std::uint32_t& latest = latest_[atom];
    if (at->second + 1 > latest) {
      latest = at->second + 1;
      news = true;
    }
  }
  Rest whole{std::move(core), size};
  if (known_.insert(whole).second) {
    for (const TermId atom : whole.atoms)
      with_[atom].push_back(static_cast<std::uint32_t>(sets_.size()));
    sets_.push_back(std::move(whole));
    news = true;
  }
  return news;
}

void Learned::restart() {
  states_.clear();
  index_.clear();
  steps_.clear();
  intern({});
}

Learned::Step Learned::step(std::uint32_t state, std::uint32_t node, bool taken,
                            const std::vector<TermId>& atoms, std::uint32_t block) {
  if (state == 0 &&
      std::none_of(atoms.begin(), atoms.end(), [&](TermId a) { return with_.count(a) > 0; }))
    return {};
  const std::uint64_t key = (std::uint64_t{state} << 32 | node) * 2 + taken;
  const auto found = steps_.find(key);
  if (found != steps_.end()) return found->second;
  std::vector<Rest> left = states_[state];
  for (const TermId atom : atoms) {
    for (Rest& rest : left) {
      const auto at = std::lower_bound(rest.atoms.begin(), rest.atoms.end(), atom);
      if (at != rest.atoms.end() && *at == atom) rest.atoms.erase(at);
    }
    const auto with = with_.find(atom);
    if (with == with_.end()) continue;
    for (const std::uint32_t k : with->second) {
      Rest rest = sets_[k];
      std::erase(rest.atoms, atom);
      left.push_back(std::move(rest));
    }
  }
  Step out;
  for (const Rest& rest : left)
    if (rest.atoms.empty()) out.size = std::max(out.size, rest.size);
  if (out.size == kImpossible) {
    out.state = kNone;
  } else {
    out.state = intern(least(std::move(left), block));
  }
  steps_.emplace(key, out);
  return out;
}

std::vector<Learned::Rest> Learned::least(std::vector<Rest> left, std::uint32_t block) {
  std::erase_if(left, [&](const Rest& rest) {
    return rest.atoms.empty() || std::any_of(rest.atoms.begin(), rest.atoms.end(),
                                             [&](TermId a) { return latest_[a] <= block + 1; });
  });
  std::sort(left.begin(), left.end(), [](const Rest& a, const Rest& b) {
    if (a.atoms.size() != b.atoms.size()) return a.atoms.size() < b.atoms.size();
    return a.atoms != b.atoms ? a.atoms < b.atoms : a.size > b.size;
  });
  std::vector<Rest> out;
  for (Rest& rest : left) {
    const bool implied = std::any_of(out.begin(), out.end(), [&](const Rest& r) {
      return r.size >= rest.size &&
             std::includes(rest.atoms.begin(), rest.atoms.end(), r.atoms.begin(), r.atoms.end());
    });
    if (!implied) out.push_back(std::move(rest));
  }
  return out;
}

std::uint32_t Learned::intern(std::vector<Rest> state) {
  const auto [at, fresh] =
      index_.emplace(std::move(state), static_cast<std::uint32_t>(states_.size()));
  if (fresh) states_.push_back(at->first);
  return at->second;
}

}  // namespace lpn::nfp
