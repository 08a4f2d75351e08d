#include "unordered_waits.h"

#include <fmt/format.h>

#include <algorithm>

#include "lpn/base/error.h"

namespace lpn::smt {
namespace {

constexpr std::size_t kMostAlternatives = 10;  // their subsets are looked at

}  // namespace

UnorderedWaits::UnorderedWaits(const Path& path, const InputSpace& space, const Net& net,
                               ExprId zero)
    : path_(path),
      net_(net),
      differences_(path.timing, space),
      zero_(zero),
      arrivals_(net.places.size()),
      taken_(net.places.size(), 0) {
  for (const Order& order : path.orders) {
    if (order.before < order.after) differences_.learn(order.before, order.after, order.strict);
  }
  for (std::size_t p = 0; p < arrivals_.size(); ++p) {
    if (path.unordered[p]) arrivals_[p].assign(path.given[p], kTimeZero);
  }
  for (const TimedFiring& firing : path.firings) {
    const Transition& t = net[firing.transition];
    for (std::size_t o = 0; o < t.outputs.size(); ++o) {
      const auto p = static_cast<std::size_t>(t.outputs[o].place);
      if (!path.unordered[p]) continue;
      arrivals_[p].insert(arrivals_[p].end(), firing.produced[o], firing.commit);
    }
  }
}

void UnorderedWaits::pass(std::size_t firing) {
  for (; passed_ < firing; ++passed_) {
    const TimedFiring& before = path_.firings[passed_];
    const Transition& t = net_[before.transition];
    for (std::size_t a = 0; a < t.inputs.size(); ++a) {
      taken_[static_cast<std::size_t>(t.inputs[a].place)] += before.taken[a];
    }
  }
}

UnorderedWaits::Wanted UnorderedWaits::wanted(const TimedFiring& firing, std::size_t arc,
                                              const std::vector<Timing::Arc>& after) {
  const auto p = static_cast<std::size_t>(net_[firing.transition].inputs[arc].place);
  Wanted wanted{.number = taken_[p] + firing.need[arc], .tokens = {}};
  std::size_t in_time = 0;
  bool late = false;
  for (const InstantId token : arrivals_[p]) {
    const bool early = std::any_of(after.begin(), after.end(), [&](const Timing::Arc& other) {
      return differences_.upper(token, other.from) <= differences_.delay(other.delay).lo;
    });
    if (early) {
      if (wanted.number > 0) --wanted.number;
    } else if (not_after(firing.start, token)) {
      late = true;
    } else {
      wanted.tokens.push_back(token);
      in_time += not_after(token, firing.start);
    }
  }
  // All that it needs was there at its start: of late ones, those of that very tick.
  wanted.by_start = late && in_time < wanted.number;
  return wanted;
}

// Leaves out tokens of which it is known that enough others come before, and those that come before
// enough others.
void UnorderedWaits::drop_decided(Wanted& wanted) {
  auto& tokens = wanted.tokens;
  const auto before = [&](std::size_t a, std::size_t b) {
    return not_after(tokens[a], tokens[b]) && (a < b || !not_after(tokens[b], tokens[a]));
  };
  for (bool again = true; again;) {
    again = false;
    for (std::size_t k = 0; k < tokens.size() && !again; ++k) {
      std::size_t earlier = 0, later = 0;
      for (std::size_t j = 0; j < tokens.size(); ++j) {
        if (j == k) continue;
        earlier += before(j, k);
        later += before(k, j);
      }
      if (earlier >= wanted.number) {
        again = true;
      } else if (wanted.number >= 2 && later + wanted.number >= tokens.size() + 1 &&
                 !wanted.by_start) {
        again = true;
        --wanted.number;
      }
      if (again) tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
}

std::vector<std::pair<std::int64_t, std::vector<Timing::Arc>>> UnorderedWaits::sum(
    const TimedFiring& firing, const std::vector<Timing::Arc>& after,
    const std::vector<std::size_t>& arcs) {
  std::vector<Set> alternatives{{}};  // the least of these
  const auto refuse = [&] {
    const Transition& t = net_[firing.transition];
    throw Error(
        "E-measure",
        fmt::format("{}: what it waits for comes in too many orders; ask about a space with "
                    "fewer tokens, or for the latency",
                    t.name));
  };
  for (const std::size_t arc : arcs) {
    Wanted one = wanted(firing, arc, after);
    if (one.number == 0) continue;
    drop_decided(one);
    std::vector<Set> ways;
    if (one.by_start) ways.push_back({firing.start});
    if (one.number <= one.tokens.size()) {
      std::vector<bool> chosen(one.tokens.size(), false);
      std::fill(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(one.number), true);
      do {
        Set some;
        for (std::size_t k = 0; k < chosen.size(); ++k) {
          if (chosen[k]) some.push_back(one.tokens[k]);
        }
        ways.push_back(std::move(some));
        if (ways.size() > kMostAlternatives) refuse();
      } while (std::prev_permutation(chosen.begin(), chosen.end()));
    }
    std::vector<Set> both;
    for (const Set& a : alternatives) {
      for (const Set& b : ways) {
        Set all = a;
        all.insert(all.end(), b.begin(), b.end());
        both.push_back(std::move(all));
      }
    }
    alternatives = std::move(both);
    if (alternatives.size() > kMostAlternatives) refuse();
  }
  std::map<Set, std::int64_t> factors;
  for (std::size_t which = 1; which < std::size_t{1} << alternatives.size(); ++which) {
    Set all;
    std::int64_t sign = -1;
    for (std::size_t k = 0; k < alternatives.size(); ++k) {
      if ((which >> k & 1) == 0) continue;
      all.insert(all.end(), alternatives[k].begin(), alternatives[k].end());
      sign = -sign;
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    factors[all] += sign;
  }
  std::vector<std::pair<std::int64_t, std::vector<Timing::Arc>>> result;
  for (const auto& [tokens, factor] : factors) {
    if (factor == 0) continue;
    std::vector<Timing::Arc> some = after;
    for (const InstantId token : tokens) some.push_back({token, zero_});
    result.emplace_back(factor, std::move(some));
  }
  return result;
}

}  // namespace lpn::smt
