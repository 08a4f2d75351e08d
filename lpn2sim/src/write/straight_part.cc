#include "write/straight_part.h"

#include <fmt/format.h>

#include <algorithm>

#include "lpn/base/error.h"
#include "write/equal.h"

namespace lpn::sim {

using std::int64_t;
using std::size_t;
using std::string;
using std::uint32_t;

namespace {

constexpr const char* kReadBackMacros[] = {"LPNRT_READS_BACK", "LPNRT_WORD", "LPNRT_EARLIER"};

}  // namespace

string StraightPart::text() {
  add(streams_.tables());
  read_back();
  line(
      "template <bool kHalved, typename R> [[gnu::noinline]] LPNRT_STRAIGHT u64 static_part_{}(R& "
      "run, u64 limit) {{",
      index_);
  line("using Word = LPNRT_WORD;");
  line("[[maybe_unused]] constexpr u64 kMask = R::kMask;");
  line("u64 n = limit;");
  for (const StaticEnd& s : part_.sources) {
    const int64_t rate = s.count * part_.repetition(s.transition);
    line("n = fewer(n, iterations(run.@run_s{}.size(), {}, {}));", s.place, rate,
         s.needed - s.count);
  }
  line("if (n == 0) return 0;");
  checks();
  begin();
  add(stats_.begin());
  add(path_.begin());
  line("u64 done = 0;");
  if (iteration_.seen()) line("u64 seen = 0;");
  line("while (done != n) {{");
  chunk();
  line("if (chunk == 0) break;");
  add(streams_.open_chunk());
  add(body_);
  add(streams_.close_chunk(low(), low_path()));
  line("done += chunk;");
  if (iteration_.seen()) line("if (seen >> 31 != 0) bail();");
  line("}}");
  line("if (done == 0) return 0;");
  line("LPNRT_TESTED(read_back += LPNRT_READS_BACK * done;)");
  leave();
  line("return done;");
  line("}}");
  for (const char* macro : kReadBackMacros) line("#undef {}", macro);
  return take();
}

// What an iteration knows of the one before it: from variables, or from the streams.
void StraightPart::read_back() {
  line("#if {}", options_.packed ? "0" : streams_.read_back_if(iteration_.growth()));
  line("#define LPNRT_READS_BACK 1");
  line("#define LPNRT_WORD u32");
  line("#define LPNRT_EARLIER(variable, stream) stream");
  line("#else");
  line("#define LPNRT_READS_BACK 0");
  line("#define LPNRT_WORD u64");
  line("#define LPNRT_EARLIER(variable, stream) variable");
  line("#endif");
}

bool StraightPart::low() { return !options_.packed && streams_.low(iteration_.growth()); }

bool StraightPart::low_path() { return !options_.packed && streams_.low_path(iteration_.growth()); }

void StraightPart::begin() {
  for (uint32_t p : iteration_.params()) line("const i64 P{0} = run.P{0};", p);
  for (size_t q = 0; q < part_.queues.size(); ++q) load(q);
  const string before = take();
  for (uint32_t k : part_.transitions) history(k, iteration_.history(k));
  const string variables = take();
  add(before);
  add(PartStreams::unless_read_back(variables));
  for (uint32_t k : part_.transitions) {
    if (net_.transitions[k].interval) line("u64 next{0} = run.@run_next{0};", k);
  }
  for (const StaticEnd& s : part_.sources) {
    const size_t w = iteration_.width(s.place);
    if (w == 0) continue;
    line("const i64* x{0} = run.@run_s{0}.rows + run.@run_s{0}.next * {1};", s.place, w);
  }
  for (const StaticEnd& s : part_.sinks) {
    if (iteration_.width(s.place) == 0) continue;
    if (const auto from = iteration_.copied_from(s.place))
      line("const i64* const z{} = x{};", s.place, *from);
    else
      line("i64* z{0} = run.@run_out{0}.room(n * {1});", s.place, per_iteration(s));
  }
}

// Within a chunk no instant can leave its bits.
void StraightPart::chunk() {
  line("#if LPNRT_READS_BACK");
  line("const u64 now = watch.latest();");
  line("#else");
  line("u64 now = 0;");
  for (uint32_t k : part_.transitions) {
    line("now = later(now, h{}_1);", k);
    if (net_.transitions[k].interval) line("now = later(now, next{});", k);
  }
  line("#endif");
  line("u64 chunk = fewer(n - done, (R::kTooLate - static_cast<u64>(R::ticks(now))) / {}ull);",
       static_cast<std::uint64_t>(iteration_.growth()));
  if (options_.packed) chunk_of_groups();
}

void StraightPart::chunk_of_groups() {
  line("u64 group = 0;");
  for (uint32_t k : part_.transitions) {
    for (int64_t n = 1; n <= iteration_.history(k); ++n) {
      line("group = later(group, h{}_{} & kMask);", k, n);
    }
  }
  for (size_t q = 0; q < part_.queues.size(); ++q) {
    if (part_.queues[q].fixed) continue;
    line(
        "for (u64 j = 0; j < m{0}; ++j) group = later(group, r{0}[(b{0} + j) & k{0}] & "
        "kMask);",
        q);
  }
  if (const int64_t zeros = iteration_.zero_delays(); zeros > 0) {
    line("chunk = group < kGroupLimit ? fewer(chunk, (kGroupLimit - group) / {}) : 0;", zeros);
  }
}

void StraightPart::leave() {
  line("#if LPNRT_READS_BACK");
  for (uint32_t k : part_.transitions) {
    for (int64_t n = 1; n <= iteration_.history(k); ++n) {
      line("const u64 h{0}_{1} = watch.earlier({2}, {1}); (void)h{0}_{1};", k, n,
           streams_.number(k));
    }
  }
  line("#endif");
  for (size_t q = 0; q < part_.queues.size(); ++q) store(q);
  std::vector<string> fired;
  const string before = take();
  int64_t firings = 0;
  for (size_t i = 0; i < part_.transitions.size(); ++i) {
    line("run.@run_fired{} += done * {}ull;", part_.transitions[i], part_.repetitions[i]);
    fired.push_back(take());
    firings += part_.repetitions[i];
  }
  add(before);
  add(repeated(fired, members_));
  line("run.made += done * {};", firings);
  for (const uint32_t k : part_.transitions) {
    line("run.@run_end{0} = h{0}_1;", k);
    if (net_.transitions[k].interval) line("run.@run_next{0} = next{0};", k);
  }
  for (const StaticEnd& s : part_.sources) {
    line("run.@run_s{}.next += done * {};", s.place, s.count * part_.repetition(s.transition));
  }
  for (const StaticEnd& s : part_.sinks) {
    line("run.@run_sunk{} += done * {};", s.place, per_iteration(s));
    if (iteration_.width(s.place) == 0) {
    } else if (iteration_.copied_from(s.place)) {
      line("run.@run_out{0}.borrow(z{0}, done * {1});", s.place, per_iteration(s));
    } else {
      line("run.@run_out{0}.add(done * {1});", s.place, per_iteration(s));
    }
    produced(s.place, s.transition, per_iteration(s));
  }
  for (const StaticQueue& q : part_.queues) {
    if (q.place != StaticQueue::kNone) produced(q.place, q.producer, q.rate);
  }
  add(stats_.leave());
  add(path_.leave());
}

int64_t StraightPart::per_iteration(const StaticEnd& s) const {
  return s.count * part_.repetition(s.transition);
}

void StraightPart::produced(uint32_t p, uint32_t k, int64_t count) {
  if (!net_.places[p].done) return;
  line("run.@run_produced{0} += done * {1};", p, count);
  line("LPNRT_IF_PATH(run.finish_{0}(h{1}_1, {1}, {2});)", p, k, path_.ended(k));
  line("run.@run_done{0} = later(run.@run_done{0}, h{1}_1);", p, k);
}

// What declares nothing comes first.
void StraightPart::checks() {
  const string before = take();
  std::vector<string> fixed;
  for (const StaticQueue& queue : part_.queues) {
    if (queue.place == StaticQueue::kNone || !queue.fixed) continue;
    line("if (run.@run_q{}.size() != {}) return 0;", queue.place, queue.initial);
    fixed.push_back(take());
  }
  add(before);
  add(repeated(fixed, members_));
  for (size_t q = 0; q < part_.queues.size(); ++q) check(q);
}

void StraightPart::check(size_t q) {
  const StaticQueue& queue = part_.queues[q];
  if (queue.place == StaticQueue::kNone) {
    if (!queue.fixed) {
      if (const auto servers = const_servers(net_, queue))
        line("const u64 m{} = {};", q, *servers);
      else
        line("const u64 m{} = static_cast<u64>(run.net.@servers{});", q, queue.producer);
    }
  } else if (!queue.fixed) {
    line("const u64 m{} = run.@run_q{}.size();", q, queue.place);
  }
  if (!queue.fixed) line("if (m{0} < {1} || m{0} > kMostInRing) return 0;", q, queue.initial);
}

string StraightPart::held(const StaticQueue& q, const string& j, const string& count) const {
  if (q.place != StaticQueue::kNone) return fmt::format("run.@run_q{}.instant({})", q.place, j);
  if (const_servers(net_, q) == 1) return fmt::format("run.@run_end{}", q.producer);
  return fmt::format("latest_of(run.@run_served{}, {}, {})", q.producer, j, count);
}

void StraightPart::history(uint32_t k, int64_t depth) {
  line("u64 h{0}_1 = run.@run_end{0};", k);
  for (int64_t n = 2; n <= depth; ++n) {
    const auto at = std::find_if(part_.queues.begin(), part_.queues.end(), [&](const auto& q) {
      return q.fixed && q.producer == k && n <= Iteration::firings_ago(q, 0);
    });
    LPN_ASSERT(at != part_.queues.end());
    int64_t j = 0;
    while (Iteration::firings_ago(*at, j) != n) ++j;
    line("u64 h{}_{} = {};", k, n, held(*at, fmt::to_string(j), fmt::to_string(at->initial)));
  }
}

void StraightPart::load(size_t q) {
  const StaticQueue& queue = part_.queues[q];
  const std::vector<uint32_t> fields = kept_fields(queue, options_);
  if (queue.fixed) {
    for (int64_t j = 0; j < queue.initial; ++j) {
      for (size_t c = 0; c < fields.size(); ++c) {
        line("i64 g{}_{}_{} = run.@run_q{}.row({})[{}];", q, j, fields[c], queue.place, j, c);
      }
    }
    return;
  }
  line("const u64 k{0} = mask_for(m{0} + {1}); u64 b{0} = 0, e{0} = m{0};", q, queue.rate);
  line("const std::unique_ptr<u64[]> own{0}(new u64[k{0} + 1]); u64* const r{0} = own{0}.get();",
       q);
  for (uint32_t f : fields) {
    line(
        "const std::unique_ptr<i64[]> own{0}_{1}(new i64[k{0} + 1]); i64* const r{0}_{1} = "
        "own{0}_{1}.get();",
        q, f);
  }
  line("for (u64 j = 0; j < m{}; ++j) {{", q);
  line("r{}[j] = {};", q, held(queue, "j", fmt::format("m{}", q)));
  for (size_t c = 0; c < fields.size(); ++c) {
    line("r{}_{}[j] = run.@run_q{}.row(j)[{}];", q, fields[c], queue.place, c);
  }
  line("}}");
}

void StraightPart::store(size_t q) {
  const StaticQueue& queue = part_.queues[q];
  const std::vector<uint32_t> fields = kept_fields(queue, options_);
  if (queue.place == StaticQueue::kNone && const_servers(net_, queue) == 1) return;  // end
  const string to = queue.place == StaticQueue::kNone ? fmt::format("@run_served{}", queue.producer)
                                                      : fmt::format("@run_q{}", queue.place);
  const size_t node = fields.size();  // where its column is
  if (queue.fixed) {
    if (queue.initial == 0) return;
    line("run.{0}.pop(run.{0}.size());", to);
    for (int64_t j = 0; j < queue.initial; ++j) {
      line("{{ i64* const x = run.{}.push(h{}_{}); (void)x;", to, queue.producer,
           Iteration::firings_ago(queue, j));
      line("LPNRT_IF_PATH(x[{}] = {};)", node, path_.token(q, fmt::to_string(j)));
      for (size_t c = 0; c < fields.size(); ++c) {
        line("x[{}] = g{}_{}_{};", c, q, j, fields[c]);
      }
      line("}}");
    }
    return;
  }
  line("run.{0}.pop(run.{0}.size());", to);
  line("for (u64 j = 0; j < m{0}; ++j) {{ const u64 at = (b{0} + j) & k{0};", q);
  line("i64* const x = run.{}.push(r{}[at]); (void)x;", to, q);
  line("LPNRT_IF_PATH(x[{}] = {};)", node, path_.token(q, "j"));
  for (size_t c = 0; c < fields.size(); ++c) line("x[{}] = r{}_{}[at];", c, q, fields[c]);
  line("}}");
}

}  // namespace lpn::sim
