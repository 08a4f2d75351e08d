// Random nets that are joined by channels, and the one net that they are together; random nets in
// the loop of a host, and the net in which the host is a pair of transitions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../fuzz/random_net.h"
#include "case.h"
#include "lpn/sim/library.h"

namespace lpn::bench {

struct Link {
  std::size_t from = 0, to = 0;  // parts
  PlaceId out{}, in{};           // their places
};

struct Parts {
  std::vector<Net> nets;
  std::vector<Link> links;
  Case joined;  // the parts' transitions in the order of the parts, a place per link; its inputs
  std::vector<std::vector<PlaceId>> places;            // per part and place: the joined net's
  std::vector<std::vector<TransitionId>> transitions;  // likewise
  std::vector<std::size_t> first_param;                // of each part
};

// Joins nets at places: what coupling them has to amount to. Throws Error like add_instance.
Parts join(std::vector<Net> nets, std::vector<Link> links);

// Two or three random nets with traffic between them; sometimes a ring. May fail verify().
Parts random_parts(Random& random);

// The inputs of `joined`: random tokens and parameters, a done count at times, and steps.
void random_traffic(Parts& parts, Random& random);

// Runs the parts coupled, and the joined net on the interpreter; the first difference in words, or
// "". `traced`: libraries of the parts with identities, or none to compare ends only.
struct Tally {
  std::uint64_t commits = 0, crossed = 0, refused = 0, faults = 0, too_long = 0, full = 0,
                zero_delay = 0;
};
std::string coupled_difference(const Parts& parts, const std::vector<sim::Library>& libraries,
                               bool traced, Tally& tally);

// A part with a place that a host fills and one that it empties, both with a capacity.
struct Hosted {
  Net part;
  PlaceId in{}, out{};
  PlaceId from{};  // of `joined`: where `produce` takes them from
  Case joined;     // the part, then `produce` and `consume` as transitions
  std::vector<PlaceId> places;
  std::vector<TransitionId> transitions;
  Time produce_delay = 1, consume_delay = 1;
  std::int64_t producers = 1, consumers = 1;    // servers
  std::vector<std::vector<std::int64_t>> jobs;  // the tokens to produce
};
Hosted random_hosted(Random& random);
void random_traffic(Hosted& hosted, Random& random);

// The part in a host's loop of run, take, push and release against `joined` on the interpreter.
std::string hosted_difference(const Hosted& hosted, const sim::Library& library, bool traced,
                              Tally& tally);

}  // namespace lpn::bench
