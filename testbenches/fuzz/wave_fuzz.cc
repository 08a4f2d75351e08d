// Recorded waveforms of any bytes: an Error with its place or sums, the same ones however the bytes
// are cut into pieces. The first byte says how long the pieces are.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lpn/base/error.h"
#include "lpn/wave/sampler.h"
#include "lpn/wave/vcd_reader.h"
#include "require.h"

namespace {

using lpn::fuzz::require;
using namespace lpn::wave;

// The signals in their order are clock, reset, valid, ready, then payload; a second channel is an
// operation of valid and ready, a third one busy.
std::optional<Sampler> sampler_of(const Header& header) {
  std::vector<std::uint32_t> widths(header.signals, 1);
  for (const Variable& v : header.variables) {
    if (v.width > 4096) return std::nullopt;
    widths[v.signal] = std::max(widths[v.signal], v.width);
  }
  if (widths.size() < 4) return std::nullopt;
  ChannelSpec channel;
  channel.first = {{2, 0, false}};
  channel.second = {{3, widths[3] - 1, false}};
  for (std::uint32_t k = 4; k < std::min<std::size_t>(widths.size(), 8); ++k) {
    const std::uint32_t width = std::min(widths[k], 64U);
    channel.fields.push_back({{k, widths[k] - width, width, 0}});
  }
  ChannelSpec operation = channel, busy = channel;
  operation.kind = ChannelSpec::Kind::kOperation;
  busy.kind = ChannelSpec::Kind::kBusy;
  busy.second.clear();
  busy.until = 0;
  const ClockSpec clock{{0, 0, false}, {{1, 0, false}}};
  return std::make_optional<Sampler>(widths, std::vector<ClockSpec>{clock},
                                     std::vector<ChannelSpec>{channel, operation, busy},
                                     Sampler::Options{{Origin::Kind::kChannel, 0, 0}, 4, true});
}

// All that is said of the dump, in pieces of `size` bytes.
std::string told(std::string_view dump, std::size_t size) {
  VcdReader reader;
  std::optional<Sampler> sampler;
  std::string text;
  std::string transfers[3];  // their edges
  bool whole = true;
  try {
    for (std::size_t at = 0; at < dump.size(); at += size) {
      const std::string_view piece = dump.substr(at, size);
      if (sampler) {
        reader.read(piece, *sampler);
        sampler->settle();
      } else if (reader.read_header(piece)) {
        sampler = sampler_of(reader.header());
        if (!sampler) return "not sampled";
        for (std::uint32_t k = 0; k < reader.header().signals; ++k) reader.watch(k, k);
        reader.read({}, *sampler);
      }
      for (std::size_t k = 0; sampler && k < 3; ++k) {
        for (const std::int64_t edge : sampler->take(k).edge)
          transfers[k] += std::to_string(edge) + " ";
      }
    }
    whole = reader.complete();
  } catch (const lpn::Error& error) {
    const std::string_view what = error.what();
    require(error.code() == "E-wave" && what.starts_with("line "), "an error without its line");
    text = what.substr(0, what.find(':'));  // behind it the text shown may be cut with the piece
    whole = false;
  }
  if (!sampler) return text;
  sampler->finish(whole);
  std::string sums = text + (whole ? " whole" : " cut");
  for (std::size_t k = 0; k < 3; ++k) {
    const Totals& t = sampler->totals(k);
    std::uint64_t cycles = 0;
    for (const std::uint64_t n : t.cycles) cycles += n;
    require(k == 2 || cycles == static_cast<std::uint64_t>(sampler->clocks()[0].edges),
            "cycles do not add up to the clock's edges");
    for (std::size_t p = 0; p < kPhases; ++p) {
      require(t.longest[p] <= t.cycles[p] && t.runs[p] <= t.cycles[p], "runs exceed their cycles");
      sums += " " + std::to_string(t.cycles[p]) + "/" + std::to_string(t.runs[p]);
    }
    for (const std::int64_t edge : sampler->take(k).edge)
      transfers[k] += std::to_string(edge) + " ";
    sums += " = " + std::to_string(t.transfers) + ": " + transfers[k];
  }
  return sums;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view dump(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string at_once = told(dump, dump.size() + 1);
  require(told(dump, 1 + data[0] % 64) == at_once, "pieces make a difference");
  return 0;
}
