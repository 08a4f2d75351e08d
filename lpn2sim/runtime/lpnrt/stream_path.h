// The critical path of straight-line code (LPNRT_PATH): it only writes down when its firings
// committed. What let a firing start follows from these streams, and is asked of few: of those on
// the ways back from whatever may yet become a cause. The ways soon meet, and what lies between two
// firings that matter becomes one node (path.h) at the end of each block. So no firing costs more
// than its instant, and memory stays that of the tokens alive.
#pragma once

#include <algorithm>
#include <vector>

#include "lpnrt/flow.h"
#include "lpnrt/path.h"
#include "lpnrt/stream_tables.h"
#include "lpnrt/stream_ways.h"

namespace lpnrt {

template <bool Packed>
class StreamTrace {
  using Instant = Instants<Packed>;

 public:
  bool begun() const { return part_ != nullptr; }
  // Before the first block; then how many tokens stand where the table does not say it.
  void begin(const StreamPart& part, Causes& causes) {
    part_ = &part;
    causes_ = &causes;
    if (causes.budget == 0) causes.lose();
    const u32 streams = part.stream_count + part.for_causes;
    numbers_ = std::vector<StreamTail<u64>>(streams);
    names_ = std::vector<StreamTail<u32>>(streams);
    for (u32 s = 0; s < streams; ++s) numbers_[s].stand_apart(s), names_[s].stand_apart(s);
    number_.resize(streams), name_.resize(streams), first_.resize(streams), base_.resize(streams);
    of_.resize(streams);
    block_ = std::vector<u64>(part.words);
    const StreamWait* wait = part.waits;
    for (u32 k = 0; k < part.transition_count; ++k) {
      Waits waits{static_cast<u32>(waits_.size()), 0, 0, part.causes[k].raw, true};
      for (u32 w = 0; w < part.transitions[k].waits; ++w, ++wait) {
        const bool token = wait->reason == kToken || wait->reason == kCredit;
        const Cause cause = token                     ? Cause::kToken
                            : wait->reason == kServer ? Cause::kServer
                                                      : Cause::kInterval;
        waits.tokens += token;
        waits.strict &= token || (cause == Cause::kServer && part.transitions[k].alone);
        waits_.push_back(
            {wait->emitted, wait->taken, wait->needed - 1 - wait->initial, wait->stream, cause});
      }
      waits.tokens += waits.first;
      waits.end = static_cast<u32>(waits_.size());
      transitions_.push_back(waits);
      of_[k] = k;
      if (waits.raw != 0) of_[waits.raw] = k;
    }
    find_plain();
    total_.room(part.transition_count * u64{kRowsEach});
  }
  void initial(u32 wait, u64 tokens) {
    waits_[wait].shift = part_->waits[wait].needed - 1 - static_cast<i64>(tokens);
    find_plain();
  }

  // Where straight-line code writes so many iterations.
  u64* block() { return block_.data(); }
  u64 most() const { return std::min<u64>(part_->block, LPNRT_STREAM_BLOCK); }

  // The block holds so many more, after which `last` says that no others come for now.
  template <typename Run>
  void observe(Run& run, u64 iterations, bool last) {
    if (causes_->lost) return;
    append(iterations);
    steps_.clear(), chains_.clear();
    std::vector<i64>& first = next_first_;
    firsts(first, 0);
    if (plain_) return observe_plainly(run, last);
    for (u32 k = 0; k < part_->transition_count; ++k) {
      for (i64 n = std::max(first[k], base_[k]); n < end(k); ++n) go_back(k, n);
      if (transitions_[k].raw != 0) go_back(begun_at(k, end(k) - 1), end(k) - 1);
    }
    const bool single = (last || !folded_) && causes_->make_room(run, steps_.size(), last);
    folded_ |= !single;
    if (!single) causes_->make_room(run, steps_.size(), true, true);
    if (causes_->lost) return;
    for (const Chain& chain : chains_) keep(chain, single);
    for (u32 k = 0; k < part_->transition_count; ++k) {
      for (i64 n = std::max(first[k], base_[k]); n < end(k); ++n) {
        u32& name = name_[k][n];
        name = steps_[name - 1].node;
      }
      if (const u32 raw = transitions_[k].raw; raw != 0) {
        const i64 n = end(k) - 1;
        u32& name = name_[raw][n];
        const u32 at = begun_at(k, n);
        name = at == raw ? steps_[name - 1].node : name_[k][n];
      }
    }
    go_on();
  }

  // The nodes that are named here.
  template <typename Visit>
  void each(const Visit& visit) {
    for (u32 s = 0; begun() && s < base_.size(); ++s) {
      if (!has_names(s)) continue;
      for (i64 n = std::max<i64>(first_[s], 0); n < base_[s]; ++n) visit(*names_[s].at(n));
    }
  }

  // What has come of it, for the flow engine to go on from: the last commit of a transition, its
  // start, when that was, and the j-th token that stands where `wait` waits.
  u32 ended(u32 k) const { return causes_->lost ? 0 : *names_[k].at(fired(k) - 1); }
  u32 begun(u32 k) const {
    const u32 raw = transitions_[k].raw;
    return raw == 0 || causes_->lost ? ended(k) : *names_[raw].at(fired(k) - 1);
  }
  u64 last(u32 k) const { return causes_->lost ? 0 : started(k, fired(k) - 1); }
  u32 token(u32 k, u32 wait, u64 j) const {
    if (causes_->lost) return 0;
    const StreamWait& w = part_->waits[wait];
    const i64 n = fired(k) * w.taken + static_cast<i64>(j) + waits_[wait].shift - (w.needed - 1);
    const i64 at = floor_of(n, w.emitted);
    return at < 0 || at < first_[w.stream] ? 0 : *names_[w.stream].at(at);
  }

 private:
  struct Wait {
    i64 emitted, taken, shift;
    u32 stream;
    Cause cause;
  };
  // [first, tokens) are for tokens, [tokens, end) for a server and an interval.
  struct Waits {
    u32 first, tokens, end, raw;
    bool strict;  // what it waits for besides tokens is later than its last start
  };
  // A firing on a way back; its start alone where the path leaves it there and it is late.
  struct Step {
    u64 start, commit;
    u32 of, node;
    Cause cause;
    bool late, named;
  };
  // Steps [from, to), the latest first, and what the oldest came from: a step, counted from 1, or
  // what number `n` of a stream names.
  struct Chain {
    u32 from, to, step, stream;
    i64 n;
  };

  i64 end(u32 s) const { return numbers_[s].end(); }
  i64 fired(u32 k) const { return numbers_[k].end(); }
  bool has_names(u32 s) const { return s < part_->transition_count || s >= part_->stream_count; }

  void append(u64 iterations) {
    for (u32 s = 0; s < base_.size(); ++s) {
      const u64 count = part_->streams[s].firings * iterations;
      if (numbers_[s].room() < count || names_[s].room() < count) {
        make_room();
        break;
      }
    }
    for (u32 s = 0; s < base_.size(); ++s) {
      const u64 count = part_->streams[s].firings * iterations;
      std::memcpy(numbers_[s].next(), block_.data() + part_->streams[s].offset,
                  count * sizeof(u64));
      if (!plain_) std::memset(names_[s].next(), 0, count * sizeof(u32));
      numbers_[s].added(count), names_[s].added(count);
      number_[s] = numbers_[s].at(0), name_[s] = names_[s].at(0);
    }
  }
  // Per stream the first number that firings look at, the `done` last ones and those to come.
  void firsts(std::vector<i64>& first, i64 done) const {
    first.resize(base_.size());
    for (u32 s = 0; s < first.size(); ++s) first[s] = end(s) - 1 - done;
    for (u32 k = 0; k < part_->transition_count; ++k) {
      for (u32 w = transitions_[k].first; w < transitions_[k].end; ++w) {
        i64& of = first[waits_[w].stream];
        of = std::min(of, before(waits_[w], fired(k) - done));
      }
    }
  }
  [[gnu::noinline, gnu::cold]] void make_room() {
    std::vector<i64> first;
    firsts(first, 1);
    for (u32 s = 0; s < first.size(); ++s) {
      const u64 more = part_->streams[s].firings * most();
      numbers_[s].keep(first[s], more), names_[s].keep(first[s], more);
    }
  }

  static i64 before(const Wait& w, i64 firing) {
    const i64 at = firing * w.taken + w.shift;
    return w.emitted == 1 ? at : floor_of(at, w.emitted);
  }
  u64 number(const Wait& w, i64 firing) const { return number_[w.stream][before(w, firing)]; }
  // Streams never fall, so no start is before the one before it.
  u64 started(u32 k, i64 firing) const {
    u64 start = 0;
    for (u32 w = transitions_[k].first; firing >= 0 && w < transitions_[k].end; ++w) {
      start = std::max(start, number(waits_[w], firing));
    }
    return start;
  }
  bool late(u32 k, i64 firing) const {
    const u32 raw = transitions_[k].raw;
    return raw != 0 && number_[raw][firing] < number_[k][firing - 1];
  }
  // The stream with the name of its start.
  u32 begun_at(u32 k, i64 firing) const {
    const u32 raw = transitions_[k].raw;
    return raw != 0 && (firing < base_[k] || late(k, firing)) ? raw : k;
  }

  // From number `n` of stream `s` to where others have been.
  void go_back(u32 s, i64 n) {
    Chain chain{static_cast<u32>(steps_.size()), 0, 0, 0, -1};
    for (;;) {
      u32& name = name_[s][n];
      if (n < base_[s]) {
        chain.stream = s;
        chain.n = n;
        break;
      }
      if (name != 0) {
        chain.step = name;
        steps_[name - 1].named = true;
        break;
      }
      const u32 k = of_[s];
      steps_.push_back({0, number_[k][n], k, 0, Cause::kInitial, false, false});
      Step& step = steps_.back();
      name = static_cast<u32>(steps_.size());
      if (s == k && late(k, n)) {
        step.start = started(k, n);
        step.late = true;
        step.cause = Cause::kOrdered;
        --n;
        continue;
      }
      const Wait* decided = nullptr;
      const Waits& waits = transitions_[k];
      u64 start = 0;
      for (u32 w = waits.first; w < waits.tokens; ++w) {
        const u64 x = number(waits_[w], n);
        decided = x > start ? &waits_[w] : decided;
        start = x > start ? x : start;
      }
      if (waits.tokens != waits.end) {
        // A server or an interval that was no matter at its last start is none now.
        const u64 last = waits.strict ? 0 : started(k, n - 1);
        for (u32 w = waits.tokens; w < waits.end; ++w) {
          const u64 x = number(waits_[w], n);
          if (x <= start || x <= last) continue;
          decided = &waits_[w];
          start = x;
        }
        if (last > start) {
          step.start = last;
          step.cause = Cause::kOrder;
          s = begun_at(k, --n);
          continue;
        }
      }
      step.start = start;
      if (decided == nullptr) break;  // nothing: it starts at 0
      step.cause = decided->cause;
      if (decided->cause == Cause::kInterval) {
        s = begun_at(k, --n);
        continue;
      }
      s = decided->stream;
      n = before(*decided, n);
    }
    chain.to = static_cast<u32>(steps_.size());
    if (chain.to != chain.from) chains_.push_back(chain);
  }

  void go_on() {
    first_.swap(next_first_);
    for (u32 s = 0; s < base_.size(); ++s) base_[s] = end(s);
  }

  // Whether waits move on by one with each firing, not far back, and commits do alone.
  void find_plain() {
    plain_ = true;
    for (const Waits& k : transitions_) plain_ &= k.strict && k.raw == 0;
    for (const Wait& w : waits_) plain_ &= w.emitted == w.taken;
    if (!plain_) return;
    std::vector<u64> firings;
    std::vector<std::vector<typename StreamWays<Packed>::Wait>> waits;
    for (u32 k = 0; k < part_->transition_count; ++k) {
      firings.push_back(part_->streams[k].firings * most());
      waits.emplace_back();
      for (u32 w = transitions_[k].first; w < transitions_[k].end; ++w) {
        waits[k].push_back({waits_[w].stream, before(waits_[w], 0)});
      }
    }
    plain_ = ways_.begin(std::move(waits), firings);
  }
  template <typename Run>
  void observe_plainly(Run& run, bool last) {
    using Firing = typename StreamWays<Packed>::Firing;
    const u32 transitions = part_->transition_count;
    counts_.resize(transitions);
    for (u32 k = 0; k < transitions; ++k) counts_[k] = static_cast<u64>(end(k) - base_[k]);
    ways_.decide(number_, base_, counts_);
    for (u32 k = 0; k < transitions; ++k) {
      for (i64 n = std::max(next_first_[k], base_[k]); n < end(k); ++n) {
        ways_.go_back(k, n - base_[k]);
      }
    }
    const bool single = (last || !folded_) && causes_->make_room(run, ways_.steps(), last);
    folded_ |= !single;
    if (!single) causes_->make_room(run, ways_.most_nodes(), true, true);
    if (causes_->lost) return;
    ways_.keep(
        single, [this](const Firing& f) { return name_[f.k][base_[f.k] + f.n]; },
        [this](const Firing& f, u64 begun, u64 ended, u32 parent, const Firing& oldest,
               std::vector<Causes::Row>& rows) {
          const i64 start = Instant::ticks(begun), commit = Instant::ticks(ended);
          const auto group = static_cast<u32>(Instant::group(begun));
          const u32 by = part_->causes[f.k].by;
          const Cause how = cause_of(oldest.k, base_[oldest.k] + oldest.n);
          if (rows.empty()) return causes_->add(start, group, commit, parent, by, how);
          for (Causes::Row& row : rows)
            row.what = part_->causes[row.what].by * kRowsEach + kDelayRow;
          return causes_->add_folded(start, group, commit, parent, by, how, rows.data(),
                                     rows.size());
        });
    for (u32 k = 0; k < transitions; ++k) {
      for (i64 n = std::max(next_first_[k], base_[k]); n < end(k); ++n) {
        name_[k][n] = ways_.node(k, n - base_[k]);
      }
    }
    go_on();
  }
  Cause cause_of(u32 k, i64 firing) const {
    u64 start = 0;
    Cause cause = Cause::kInitial;
    for (u32 w = transitions_[k].first; w < transitions_[k].end; ++w) {
      const u64 x = number(waits_[w], firing);
      if (x > start) start = x, cause = waits_[w].cause;
    }
    return cause;
  }

  // Nodes for a chain: of all its steps if `single`, else of those that others lead to.
  void keep(const Chain& chain, bool single) {
    const bool of_step = chain.step != 0;
    u32 parent = of_step       ? steps_[chain.step - 1].node
                 : chain.n < 0 ? u32{Causes::kNone}
                               : name_[chain.stream][chain.n];
    i64 begun = of_step ? Instant::ticks(steps_[chain.step - 1].start) : causes_->start(parent);
    const Step* inner = nullptr;  // the step before, if it has no node
    Cause how = Cause::kInitial;  // of the first one since the last node
    for (u32 i = chain.to; i-- > chain.from;) {
      Step& step = steps_[i];
      const bool named = single || step.named || i == chain.from;
      if (inner == nullptr) how = step.cause;
      if (inner != nullptr || !named) {
        if (inner != nullptr && !of_start(step.cause)) add_delay(*inner);
        if (step.cause == Cause::kInterval) {
          add(step.of, kIntervalRow, Instant::ticks(step.start) - begun);
        }
      }
      begun = Instant::ticks(step.start);
      if (!named) {
        inner = &step;
        continue;
      }
      const u32 by = part_->causes[step.of].by | (step.late ? u32{Causes::kLate} : 0);
      const i64 start = Instant::ticks(step.start), commit = Instant::ticks(step.commit);
      const u32 group = static_cast<u32>(Instant::group(step.late ? step.commit : step.start));
      if (inner == nullptr) {
        parent = causes_->add(start, group, commit, parent, by, step.cause);
      } else {
        take_rows();
        parent =
            causes_->add_folded(start, group, commit, parent, by, how, rows_.data(), rows_.size());
        inner = nullptr;
      }
      step.node = parent;
    }
  }
  void add_delay(const Step& step) {
    add(step.of, kDelayRow,
        step.late ? 0 : Instant::ticks(step.commit) - Instant::ticks(step.start));
  }
  void add(u32 k, u32 row, i64 cycles) {
    const u32 at = k * kRowsEach + row;
    if (row != kDelayRow && cycles == 0) return;
    total_.add(at, cycles);
  }
  void take_rows() {
    rows_.clear();
    total_.take(rows_);
    for (Causes::Row& row : rows_) {
      row.what = part_->causes[row.what / kRowsEach].by * kRowsEach + row.what % kRowsEach;
    }
  }

  const StreamPart* part_ = nullptr;
  Causes* causes_ = nullptr;
  bool folded_ = false;
  bool plain_ = false;  // all its firings wait plainly
  StreamWays<Packed> ways_;
  std::vector<u64> counts_;
  std::vector<Waits> transitions_;
  std::vector<Wait> waits_;
  std::vector<u32> of_;  // per stream that has names: its transition
  std::vector<StreamTail<u64>> numbers_;
  std::vector<StreamTail<u32>> names_;  // nodes; of this block the steps, from 1
  std::vector<const u64*> number_;      // number 0 of each stream
  std::vector<u32*> name_;
  std::vector<i64> base_, first_, next_first_;  // the block begins; what is named begins
  std::vector<u64> block_;
  std::vector<Step> steps_;
  std::vector<Chain> chains_;
  RowSums total_;  // per transition and row, since the last node
  std::vector<Causes::Row> rows_;
};

}  // namespace lpnrt
