// Recorded waveforms (lpnwave): _lpn.wave.Vcd reads a dump and samples its channels.
#include "bind.h"
#include "lpn/wave/sampler.h"
#include "lpn/wave/vcd_reader.h"

namespace lpn::python {
namespace {

using BitTuple = std::tuple<std::uint32_t, std::uint32_t, bool>;
using SliceTuple = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
using ClockTuple = std::tuple<BitTuple, std::vector<BitTuple>, std::int64_t>;
using ChannelTuple = std::tuple<int, std::uint32_t, std::vector<BitTuple>, std::vector<BitTuple>,
                                std::vector<std::vector<SliceTuple>>, std::optional<std::uint32_t>,
                                std::vector<SliceTuple>>;
using HistoryTuple =
    std::tuple<std::size_t, std::size_t, std::optional<std::pair<std::int64_t, std::int64_t>>>;
using OriginTuple = std::tuple<int, std::uint32_t, std::int64_t>;  // kind, channel, time

wave::Bit to_bit(const BitTuple& t) { return {std::get<0>(t), std::get<1>(t), std::get<2>(t)}; }

std::vector<wave::Bit> to_bits(const std::vector<BitTuple>& list) {
  std::vector<wave::Bit> bits;
  for (const BitTuple& t : list) bits.push_back(to_bit(t));
  return bits;
}

std::vector<wave::ClockSpec> to_clocks(const std::vector<ClockTuple>& list) {
  std::vector<wave::ClockSpec> clocks;
  for (const auto& [signal, resets, period] : list) {
    clocks.push_back({to_bit(signal), to_bits(resets), period});
  }
  return clocks;
}

wave::Field to_field(const std::vector<SliceTuple>& slices) {
  wave::Field field;
  for (const auto& [watched, lsb, width, shift] : slices) {
    field.push_back({watched, lsb, width, shift});
  }
  return field;
}

std::vector<wave::ChannelSpec> to_channels(const std::vector<ChannelTuple>& list) {
  std::vector<wave::ChannelSpec> channels;
  for (const auto& [kind, clock, first, second, fields, until, counter] : list) {
    wave::ChannelSpec spec;
    spec.kind = static_cast<wave::ChannelSpec::Kind>(kind);
    spec.clock = clock;
    spec.until = until;
    spec.first = to_bits(first);
    spec.second = to_bits(second);
    for (const auto& slices : fields) spec.fields.push_back(to_field(slices));
    spec.counter = to_field(counter);
    channels.push_back(std::move(spec));
  }
  return channels;
}

wave::History::Options to_options(const HistoryTuple& t) {
  return {std::get<0>(t), std::get<1>(t), std::get<2>(t)};
}

// (first and last position kept one by one, [(bins, phases) of each channel]).
py::tuple of_history(const wave::History& history, std::size_t channels) {
  py::list rows;
  for (std::size_t k = 0; k < channels; ++k) {
    rows.append(py::make_tuple(py::bytes(history.bins(k)), py::bytes(history.phases(k))));
  }
  return py::make_tuple(history.kept(), rows);
}

// A dump and who samples it.
struct Vcd {
  wave::VcdReader reader;
  std::unique_ptr<wave::Sampler> sampler;

  wave::Sampler& sampling() {
    if (!sampler) throw py::value_error("sample() comes first");
    return *sampler;
  }
};

template <typename T>
py::bytes column(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

py::dict totals(Vcd& vcd, std::size_t k) {
  const wave::Totals& t = vcd.sampling().totals(k);
  py::dict d;
  const auto by_phase = [&](const char* name, const auto& counts) {
    static constexpr const char* kNames[] = {"idle",   "starved", "stalled", "transfer",
                                             "active", "unknown", "reset"};
    py::dict of;
    for (std::size_t p = 0; p < wave::kPhases; ++p) of[kNames[p]] = counts[p];
    d[name] = of;
  };
  by_phase("cycles", t.cycles);
  by_phase("runs", t.runs);
  by_phase("longest", t.longest);
  d["transfers"] = t.transfers;
  d["first"] = t.first;
  d["last"] = t.last;
  d["duration"] = py::make_tuple(t.shortest_duration, t.duration, t.longest_duration);
  d["episodes"] = vcd.sampling().episodes(k);
  py::list preceding;
  for (const wave::Preceding& p : vcd.sampling().preceding(k)) {
    preceding.append(py::make_tuple(p.channel, p.episodes, p.cycles, p.lead));
  }
  d["preceding"] = preceding;
  d["releases"] = vcd.sampling().releases(k);
  py::list following;
  for (const wave::Following& f : vcd.sampling().following(k)) {
    following.append(py::make_tuple(f.channel, f.lag, f.releases));
  }
  d["following"] = following;
  return d;
}

// Names are any bytes.
py::str text(const std::string& bytes) {
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
}

py::list variables(const Vcd& vcd) {
  py::list list;
  for (const wave::Variable& v : vcd.reader.header().variables) {
    list.append(
        py::make_tuple(text(v.name), text(v.kind), v.width, v.ranged, v.msb, v.lsb, v.signal));
  }
  return list;
}

py::list clocks(Vcd& vcd) {
  py::list list;
  for (const wave::ClockTotals& c : vcd.sampling().clocks()) {
    list.append(py::make_tuple(c.edges, c.origin, c.first, c.last));
  }
  return list;
}

}  // namespace

void bind_wave(py::module_& parent) {
  py::module_ m = parent.def_submodule("wave", "Recorded waveforms.");
  struct Built {  // what a caller says, in place of a recording
    wave::History history;
    std::size_t rows;
  };
  py::class_<Built>(m, "History")
      .def(py::init([](std::size_t channels, const HistoryTuple& options) {
        return Built{wave::History(channels, to_options(options)), channels};
      }))
      .def("set",
           [](Built& h, std::size_t channel, std::int64_t position, int phase) {
             h.history.set(channel, position, static_cast<wave::Phase>(phase), 0);
           })
      .def("finish", [](Built& h, std::size_t channel,
                        std::int64_t position) { h.history.finish(channel, position, 0, false); })
      .def("rows", [](const Built& h) { return of_history(h.history, h.rows); });
  py::class_<Vcd>(m, "Vcd")
      .def(py::init<>())
      .def("read_header",
           [](Vcd& vcd, const py::bytes& bytes) { return vcd.reader.read_header(bytes); })
      .def_property_readonly("variables", &variables,
                             "(name, kind, width, ranged, msb, lsb, signal) of each.")
      .def_property_readonly("tick", [](const Vcd& vcd) { return vcd.reader.header().tick; })
      .def_property_readonly("line", [](const Vcd& vcd) { return vcd.reader.line(); })
      .def_property_readonly("byte", [](const Vcd& vcd) { return vcd.reader.byte(); })
      .def(
          "sample",
          [](Vcd& vcd, const std::vector<std::uint32_t>& signals,
             const std::vector<std::uint32_t>& widths, const std::vector<ClockTuple>& clocks,
             const std::vector<ChannelTuple>& channels, const OriginTuple& origin,
             std::uint64_t window, bool keep, const std::optional<HistoryTuple>& history,
             bool times) {
            for (std::uint32_t k = 0; k < signals.size(); ++k) vcd.reader.watch(signals[k], k);
            const auto& [kind, channel, time] = origin;
            wave::Sampler::Options options{
                {static_cast<wave::Origin::Kind>(kind), channel, time}, window, keep, {}, times};
            if (history) options.history = to_options(*history);
            vcd.sampler = std::make_unique<wave::Sampler>(widths, to_clocks(clocks),
                                                          to_channels(channels), options);
          },
          "After the header: what to sample (lpn/wave/sampler.h). Signals by number.")
      .def("read",
           [](Vcd& vcd, const py::bytes& bytes) {
             wave::Sampler& sampler = vcd.sampling();
             const std::string_view view = bytes;
             const py::gil_scoped_release no_gil;
             vcd.reader.read(view, sampler);
           })
      .def("history",
           [](Vcd& vcd) {
             const wave::History* history = vcd.sampling().history();
             if (history == nullptr) throw py::value_error("sample() with a history comes first");
             return of_history(*history, vcd.sampling().channels());
           })
      .def_property_readonly(
          "origin", [](Vcd& vcd) { return vcd.sampling().origin(); },
          "The time of cycle 0, or None.")
      .def("settle", [](Vcd& vcd) { vcd.sampling().settle(); })
      .def("complete", [](const Vcd& vcd) { return vcd.reader.complete(); })
      .def("finish", [](Vcd& vcd, bool whole) { vcd.sampling().finish(whole); })
      .def_property_readonly("time", [](Vcd& vcd) { return vcd.sampling().time(); })
      .def_property_readonly("clocks", &clocks, "(edges, edge of cycle 0 or None, first, last).")
      .def("totals", &totals)
      .def(
          "take",
          [](Vcd& vcd, std::size_t channel) {
            const wave::Transfers t = vcd.sampling().take(channel);
            return py::make_tuple(column(t.edge), column(t.stalled), column(t.values),
                                  column(t.unknowns));
          },
          "Transfers since the last call: columns of 64-bit numbers in the machine's order.");
}

}  // namespace lpn::python
