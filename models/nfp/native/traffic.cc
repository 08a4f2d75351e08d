#include "traffic.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "lpn/base/error.h"
#include "machine.h"
#include "memory.h"

namespace lpn::nfp {
namespace {

constexpr std::size_t kMostSteps = 10'000'000;  // of one packet in one program
constexpr std::uint32_t kXdpPass = 2;
// What a path depends on is the path's, so that not every packet of it is run twice.
constexpr std::uint64_t kRunTwice = 16;
constexpr std::uint64_t kSeeds[] = {1, 2};
constexpr std::size_t kMostPaths = 20'000;  // each is made a kind of packets of the net

[[noreturn]] void fail(const char* code, std::size_t packet, const std::string& what) {
  throw Error(code, "packet " + std::to_string(packet + 1) + " " + what);
}

// The paths of one program met so far, as a tree of edges.
class Met {
 public:
  explicit Met(const Graph& graph) : graph_(graph), nodes_{{0, kNone, {0, 0}}} {}

  // Follows a run, instruction by instruction.
  void begin() {
    node_ = 0;
    enter(0);
  }
  // False where the graph has no such edge.
  bool step(bool taken) {
    if (--left_ > 0) return true;
    const Block& block = graph_.blocks[graph_.edges[nodes_[node_].edge].to];
    const std::uint32_t edge = taken ? block.taken : block.next;
    if (edge == kNone) {
      lost_ = block.id;
      return false;
    }
    std::uint32_t& child = nodes_[node_].child[taken];
    if (child == 0) {
      child = static_cast<std::uint32_t>(nodes_.size());
      const std::uint32_t made = child, before = node_;
      nodes_.push_back({edge, before, {0, 0}});
      node_ = made;
    } else {
      node_ = child;
    }
    enter(edge);
    return true;
  }
  std::uint32_t node() const { return node_; }
  std::uint32_t lost_at() const { return lost_; }

  Path path(std::uint32_t node) const {
    Path out;
    for (; node != kNone; node = nodes_[node].before) out.push_back(nodes_[node].edge);
    std::reverse(out.begin(), out.end());
    return out;
  }

 private:
  struct Node {
    std::uint32_t edge, before, child[2];
  };

  void enter(std::uint32_t edge) {
    const std::uint32_t to = graph_.edges[edge].to;
    left_ = to == graph_.fin ? ~std::size_t{0} : graph_.blocks[to].code.size();
  }

  const Graph& graph_;
  std::vector<Node> nodes_;
  std::uint32_t node_ = 0, lost_ = 0;
  std::size_t left_ = 0;
};

// The programs with their memories. Each has two machines, in which what is undefined differs.
class Chain {
 public:
  explicit Chain(std::span<const Hop> hops) {
    for (const Hop& hop : hops) {
      auto stage = std::make_unique<Stage>(*hop.graph);
      for (const auto& [offset, byte] : hop.memory) stage->dram.fill(offset, byte);
      for (const std::uint64_t seed : kSeeds)
        stage->machines.emplace_back(*hop.listing, *hop.costs, seed, packet_, stage->dram);
      stages_.push_back(std::move(stage));
    }
  }

  Memory& packet() { return packet_; }

  // Runs the packet held; per program run, the node of its path. `machine`: 0 or 1.
  const std::vector<std::uint32_t>& run(std::size_t machine, std::uint32_t size,
                                        std::size_t number) {
    nodes_.clear();
    for (const auto& stage : stages_) {
      Machine& runs = stage->machines[machine];
      Met& met = stage->met;
      runs.start(size);
      met.begin();
      bool lost = false;
      const bool ended = runs.run(kMostSteps, [&](std::uint32_t, Cycles, bool taken) {
        lost = !met.step(taken);
        return !lost;
      });
      if (packet_.missed()) return nodes_;
      if (lost)
        fail("E-nfp-path", number,
             "runs the loop at ." + std::to_string(met.lost_at()) +
                 " more often than --unroll allows; allow more");
      if (!ended) fail("E-nfp-path", number, "never comes to the end of the program");
      nodes_.push_back(met.node());
      if (runs.verdict() != kXdpPass) break;
    }
    return nodes_;
  }

  void undo() {
    for (const auto& stage : stages_) stage->dram.undo();
  }
  void keep() {
    for (const auto& stage : stages_) stage->dram.keep();
  }

  std::vector<Path> paths(const std::vector<std::uint32_t>& nodes) const {
    std::vector<Path> out;
    for (std::size_t k = 0; k < nodes.size(); ++k) out.push_back(stages_[k]->met.path(nodes[k]));
    return out;
  }

 private:
  struct Stage {
    explicit Stage(const Graph& graph) : met(graph) {}
    Memory dram;
    std::vector<Machine> machines;
    Met met;
  };

  Memory packet_;
  std::vector<std::unique_ptr<Stage>> stages_;
  std::vector<std::uint32_t> nodes_;
};

}  // namespace

Traffic follow(std::span<const Hop> hops, std::span<const std::uint8_t> data,
               std::span<const Frame> frames, const std::function<bool(std::size_t)>& go_on,
               std::size_t slice) {
  LPN_ASSERT(!hops.empty());
  const auto least = static_cast<std::uint32_t>(hops[0].costs->min_packet);
  Chain chain(hops);
  Traffic out;
  std::map<std::vector<std::uint32_t>, std::uint32_t> known;
  for (std::size_t n = 0; n < frames.size(); ++n) {
    if (n % slice == 0 && !go_on(n)) break;
    const Frame& frame = frames[n];
    const std::uint32_t size = std::max(frame.size, least);
    // What a short frame is padded with is known.
    const std::uint32_t missing_to = frame.known < frame.size ? frame.size : 0;
    const auto hold = [&] {
      chain.packet().hold(data.data() + frame.begin, frame.known, missing_to);
    };
    hold();
    const std::vector<std::uint32_t> first = chain.run(0, size, n);
    if (chain.packet().missed()) {
      chain.undo();
      out.of.push_back(kCut);
      continue;
    }
    const auto [at, fresh] = known.try_emplace(first, static_cast<std::uint32_t>(out.paths.size()));
    if (fresh) {
      if (out.paths.size() == kMostPaths)
        fail("E-nfp-capture", n,
             "takes another path than the " + std::to_string(kMostPaths) +
                 " of those before it, and more are not simulated; give a part of the capture");
      out.paths.push_back(chain.paths(first));
      out.packets.push_back(0);
    }
    if (out.packets[at->second] < kRunTwice) {
      chain.undo();
      hold();
      if (chain.run(1, size, n) != first || chain.packet().missed())
        fail("E-nfp-undefined", n, "takes a path that depends on what is undefined");
    }
    chain.keep();
    ++out.packets[at->second];
    out.of.push_back(at->second);
  }
  return out;
}

}  // namespace lpn::nfp
