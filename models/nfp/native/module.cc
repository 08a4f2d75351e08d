// Python's view of the engine: lpn_models_native._nfp.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <span>

#include "address.h"
#include "analysis.h"
#include "costs.h"
#include "graph.h"
#include "guarantee.h"
#include "interpret.h"
#include "listing.h"
#include "lpn/base/error.h"
#include "trace.h"
#include "traffic.h"
#include "whole.h"

namespace py = pybind11;

namespace {

using namespace lpn::nfp;  // NOLINT: this file only binds that namespace

const char* access_name(Access access) {
  switch (access) {
    case Access::kNone: return "none";
    case Access::kSram: return "sram";
    case Access::kDramRead: return "dram_read";
    case Access::kDramAdd: return "dram_add";
    case Access::kDramWrite: return "dram_write";
  }
  return "";
}

Costs costs_of(const py::dict& d) {
  const auto cycles = [&](const char* key) { return d[key].cast<Cycles>(); };
  Costs c;
  c.overhead = cycles("overhead");
  c.instruction = cycles("instruction");
  c.branch_not_taken = cycles("branch_not_taken");
  c.branch_taken = cycles("branch_taken");
  c.branch_taken_late = cycles("branch_taken_late");
  c.jump = cycles("jump");
  c.access = cycles("access");
  c.swap = cycles("swap");
  c.distance_sram = cycles("distance_sram");
  c.distance_dram = cycles("distance_dram");
  c.dram_read = d["dram_read"].cast<double>();
  c.dram_add = d["dram_add"].cast<double>();
  if (!d["dram_write"].is_none()) c.dram_write = d["dram_write"].cast<double>();
  c.clock_hz = d["clock_hz"].cast<double>();
  c.min_packet = d["min_packet"].cast<int>();
  c.max_packet = d["max_packet"].cast<int>();
  return c;
}

constexpr std::uint64_t kMostFrame = 1 << 14;  // bytes; the programs read 14 bits

struct PyProgram {
  std::string name;  // of the listing, in messages
  std::vector<Instruction> listing;
  Costs costs;
  Graph graph;
  std::optional<std::uint32_t> rounds;  // the limit of loops that was found
};

// What `make` makes; where it throws an Error of a program, the Error names the listing.
template <typename Make>
auto named(const std::string& name, const Make& make) {
  try {
    return make();
  } catch (const lpn::Error& error) {
    throw lpn::Error(error.code(), name + ": " + error.what());
  }
}

std::unique_ptr<PyProgram> program(const std::string& text, const std::string& name,
                                   const py::dict& costs, std::optional<std::uint32_t> unroll,
                                   std::map<std::uint32_t, std::uint32_t> unroll_blocks) {
  auto out = std::make_unique<PyProgram>();
  out->name = name;
  out->listing = parse_listing(text, name);
  require_whole(out->listing, name);
  out->costs = costs_of(costs);
  out->graph = named(name, [&] {
    if (!unroll && unroll_blocks.empty() && cyclic(out->listing)) {
      out->rounds = 0;
      return make_bounded_graph(out->listing, out->costs, *out->rounds);
    }
    return make_graph(out->listing, {unroll, std::move(unroll_blocks)}, out->costs);
  });
  return out;
}

py::dict path_cost_of(const PyProgram& p, const std::string& path) {
  const PathCost c = path_cost(p.graph, p.costs, parse_path(p.graph, path));
  py::dict out;
  out["cycles"] = c.cycles;
  out["max_cycles"] = c.max_cycles;
  out["dram_cycles"] = c.dram_cycles;
  return out;
}

py::list segments_of(const PyProgram& p, const std::string& path) {
  py::list out;
  for (const Segment& s : segments(p.graph, p.costs, parse_path(p.graph, path)))
    out.append(py::make_tuple(s.cycles, access_name(s.access), s.waits, s.words));
  return out;
}

py::list dram_addresses_of(const PyProgram& p, const std::string& path) {
  py::list out;
  for (const LowBits& bits : dram_addresses(p.graph, parse_path(p.graph, path)))
    out.append(py::make_tuple(bits.known, bits.value));
  return out;
}

py::list steps_of(const PyProgram& p, const std::string& path) {
  py::list out;
  for (const Step& s : steps(p.graph, p.costs, parse_path(p.graph, path))) {
    const Instruction& i = p.graph.instructions[s.instruction];
    out.append(
        py::make_tuple(i.id, i.line, i.text, s.cycles, s.dram, i.source.place, i.source.statement));
  }
  return out;
}

constexpr double kLeastZ3Seconds = 0.05;

py::dict slowest_of(const PyProgram& p, bool per_byte, double cores, std::size_t paths,
                    const py::object& go_on, const py::object& z3_seconds) {
  Options options;
  options.per_byte = per_byte;
  options.cores = cores;
  options.paths = paths;
  bool interrupted = false;
  // Ctrl-C may come while Python answers: then `otherwise`, and the search ends with what it has.
  const auto ask = [&](const auto& question, auto otherwise) {
    try {
      return question();
    } catch (const py::error_already_set& error) {
      if (!error.matches(PyExc_KeyboardInterrupt)) throw;
      interrupted = true;
      return otherwise;
    }
  };
  if (!z3_seconds.is_none())
    options.z3_seconds = [&] {
      return ask([&] { return z3_seconds().cast<double>(); }, kLeastZ3Seconds);
    };
  const auto continued = [&](const Progress& now) {
    if (interrupted) return false;
    if (PyErr_CheckSignals() != 0) {
      if (!PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) throw py::error_already_set();
      PyErr_Clear();
      interrupted = true;
      return false;
    }
    return ask(
        [&] {
          return go_on.is_none() ||
                 go_on(now.bound, now.states, now.refuted, now.found).cast<bool>();
        },
        false);
  };
  const Findings f =
      named(p.name, [&] { return find_slowest(p.graph, p.costs, options, continued); });
  py::dict out, naive;
  naive["cycles"] = f.naive.cycles;
  naive["cycles_size"] = f.naive.cycles_size;
  naive["dram_cycles"] = f.naive.dram;
  naive["dram_size"] = f.naive.dram_size;
  out["naive"] = naive;
  py::list found;
  for (const SlowPath& slow : f.slowest) {
    py::dict one;
    one["path"] = notation(p.graph, slow.path);
    one["cycles"] = slow.cost.cycles;
    one["max_cycles"] = slow.cost.max_cycles;
    one["dram_cycles"] = slow.cost.dram_cycles;
    one["value"] = slow.value;
    one["size"] = slow.example.size;
    std::map<std::uint32_t, std::uint8_t> packet;
    for (const auto& [address, byte] : slow.example.packet) packet[address - kPacketBase] = byte;
    one["packet"] = packet;
    one["memory"] = slow.example.map;
    found.append(one);
  }
  out["slowest"] = found;
  out["bound"] = f.bound;
  out["complete"] = f.complete;
  out["interrupted"] = interrupted;
  out["slower"] = f.slower < 0 ? py::object(py::none()) : py::object(py::float_(f.slower));
  out["loops_bounded"] = f.loops_bounded;
  out["refuted"] = f.refuted;
  out["states"] = f.states;
  out["restarts"] = f.restarts;
  out["z3_checks"] = f.z3_checks;
  return out;
}

py::dict replayed(const PyProgram& p, std::uint32_t size,
                  std::map<std::uint32_t, std::uint8_t> packet,
                  std::map<std::uint32_t, std::uint8_t> memory, const std::string& path,
                  std::uint64_t seed) {
  const Execution run =
      interpret(p.listing, p.costs, {size, std::move(packet), std::move(memory)}, seed);
  std::vector<std::uint32_t> expected, met;
  for (const Step& s : steps(p.graph, p.costs, parse_path(p.graph, path)))
    expected.push_back(s.instruction);
  expected.pop_back();  // fin
  for (const Executed& e : run.trace) met.push_back(e.instruction);
  py::dict out;
  out["takes_path"] = run.ended && met == expected;
  out["cycles"] = run.cycles;
  out["dram_cycles"] = run.dram_cycles;
  return out;
}

std::string path_taken_by(const PyProgram& p, std::uint32_t size,
                          std::map<std::uint32_t, std::uint8_t> packet,
                          std::map<std::uint32_t, std::uint8_t> memory, std::uint64_t seed) {
  const Execution run =
      interpret(p.listing, p.costs, {size, std::move(packet), std::move(memory)}, seed);
  return notation(p.graph, path_taken(p.graph, run));
}

std::span<const std::uint64_t> numbers(const py::buffer& given, const char* what) {
  const py::buffer_info info = given.request();
  if (info.itemsize != 8 || info.ndim != 1 || info.strides[0] != 8)
    throw py::value_error(std::string(what) + " must be an array of 64-bit numbers");
  return {static_cast<const std::uint64_t*>(info.ptr), static_cast<std::size_t>(info.size)};
}

py::dict follow_frames(const std::vector<const PyProgram*>& programs,
                       std::vector<std::map<std::uint32_t, std::uint8_t>> memories,
                       const py::buffer& data, const py::buffer& starts, const py::buffer& kept,
                       const py::buffer& sizes, const py::object& go_on) {
  if (programs.empty() || programs.size() != memories.size())
    throw py::value_error("a memory per program, and one program at least");
  std::vector<Hop> hops;
  for (std::size_t k = 0; k < programs.size(); ++k)
    hops.push_back(
        {&programs[k]->listing, &programs[k]->costs, &programs[k]->graph, std::move(memories[k])});
  const py::buffer_info bytes = data.request();
  const auto begin = numbers(starts, "starts"), known = numbers(kept, "kept"),
             size = numbers(sizes, "sizes");
  const auto total = static_cast<std::uint64_t>(bytes.size * bytes.itemsize);
  if (begin.size() != known.size() || begin.size() != size.size())
    throw py::value_error("starts, kept and sizes must have a number per frame");
  std::vector<Frame> frames;
  frames.reserve(begin.size());
  for (std::size_t n = 0; n < begin.size(); ++n) {
    if (begin[n] > total || known[n] > total - begin[n] || known[n] > size[n] ||
        size[n] >= kMostFrame)
      throw py::value_error("frame " + std::to_string(n + 1) + " does not lie in the data");
    frames.push_back(
        {begin[n], static_cast<std::uint32_t>(known[n]), static_cast<std::uint32_t>(size[n])});
  }
  const Traffic found = follow(hops, {static_cast<const std::uint8_t*>(bytes.ptr), total}, frames,
                               [&](std::size_t n) {
                                 try {
                                   if (PyErr_CheckSignals() != 0) throw py::error_already_set();
                                   return go_on.is_none() || go_on(n).cast<bool>();
                                 } catch (const py::error_already_set& error) {
                                   if (!error.matches(PyExc_KeyboardInterrupt)) throw;
                                   return false;
                                 }
                               });
  py::list paths;
  for (const std::vector<Path>& path : found.paths) {
    py::list names;
    for (std::size_t k = 0; k < path.size(); ++k)
      names.append(notation(programs[k]->graph, path[k]));
    paths.append(py::tuple(names));
  }
  py::dict out;
  out["paths"] = paths;
  out["packets"] = found.packets;
  out["of"] = py::bytes(reinterpret_cast<const char*>(found.of.data()),
                        found.of.size() * sizeof(found.of[0]));
  return out;
}

py::dict graph_of(const PyProgram& p) {
  py::list blocks, edges;
  for (const Block& b : p.graph.blocks) blocks.append(py::make_tuple(b.id, b.depth, b.code));
  for (std::size_t e = 0; e < p.graph.edges.size(); ++e) {
    const Edge& edge = p.graph.edges[e];
    const EdgeCost& c = p.graph.costs[e];
    edges.append(py::make_tuple(edge.from == kNone ? -1 : static_cast<int>(edge.from), edge.to,
                                edge.taken, c.body, c.last, c.last_taken, c.dram));
  }
  py::list code;
  for (const Instruction& i : p.graph.instructions)
    code.append(py::make_tuple(i.id, i.line, i.text));
  py::dict out;
  out["instructions"] = code;
  out["blocks"] = blocks;
  out["edges"] = edges;
  return out;
}

}  // namespace

PYBIND11_MODULE(_nfp, m) {
  m.doc() = "NFP programs: listings, control flow, what paths cost, what rate is guaranteed.";

  py::register_exception_translator([](std::exception_ptr p) {
    try {
      if (p) std::rethrow_exception(p);
    } catch (const lpn::Error& e) {
      const py::object type = py::module_::import("_lpn").attr("Error");
      const py::object error = type(e.code(), e.what());
      PyErr_SetObject(type.ptr(), error.ptr());
    }
  });

  m.def(
      "cyclic",
      [](const std::string& text, const std::string& name) {
        return cyclic(parse_listing(text, name));
      },
      py::arg("text"), py::arg("name"),
      "Whether a listing has a loop. Raises Error E-nfp-listing.");

  m.def("follow", &follow_frames, py::arg("programs"), py::arg("memories"), py::arg("data"),
        py::arg("starts"), py::arg("kept"), py::arg("sizes"), py::arg("go_on") = py::none(),
        "The paths that frames take through programs, one packet after the other: {paths: a tuple "
        "of notations each, of the programs that it was run by; packets: how many took it; of: per "
        "frame the path's number as a 32-bit word, 2^32 - 1 where bytes were read that are not "
        "kept}. "
        "Frames lie in `data`: 64-bit arrays of where they start, how many bytes are kept, and of "
        "their sizes below 2^14. `memories`: per program, DRAM bytes by offset. go_on(packets so "
        "far) is asked now and then; False or Ctrl-C ends it. Raises Error E-nfp-path, "
        "E-nfp-undefined.");

  py::class_<PyProgram>(m, "Program",
                        "A listing with its unrolled control-flow graph and a cost table.")
      .def(py::init(&program), py::arg("text"), py::arg("name"), py::arg("costs"),
           py::arg("unroll") = py::none(),
           py::arg("unroll_blocks") = std::map<std::uint32_t, std::uint32_t>{},
           "`costs`: what models.nfp.costs.load() returns. Raises Error E-nfp-listing, E-nfp-loop, "
           "E-nfp-cost.")
      .def_property_readonly("instructions", [](const PyProgram& p) { return p.listing.size(); })
      .def_property_readonly(
          "rounds", [](const PyProgram& p) { return p.rounds; },
          "The limit of loops, where it was not given but found; else None.")
      .def_property_readonly(
          "cut", [](const PyProgram& p) { return p.graph.cut.size(); },
          "Edges that the limit of loops cut.")
      .def("path_cost", &path_cost_of, py::arg("path"),
           "{cycles, max_cycles, dram_cycles} per packet of a path in the notation ->0--15->15000.")
      .def(
          "segments", &segments_of, py::arg("path"),
          "What a thread does on a path: a list of (core cycles up to and with the accessing "
          "instruction, access, "
          "waits, 32-bit words). access: 'sram', 'dram_read', 'dram_add', 'dram_write', and 'none' "
          "for the end. "
          "Without the firmware's overhead per packet and without any waiting.")
      .def("dram_addresses", &dram_addresses_of, py::arg("path"),
           "What is known of the addresses of a path's DRAM accesses whatever packet and memory: "
           "(mask of the known "
           "ones of the low eight bits, their values).")
      .def("steps", &steps_of, py::arg("path"),
           "The instructions of a path: (id, line, text, core cycles, memory engine cycles, place "
           "in "
           "the source and what stands there: empty where the listing does not say).")
      .def("slowest", &slowest_of, py::arg("per_byte"), py::arg("cores"), py::arg("paths") = 1,
           py::arg("go_on") = py::none(), py::arg("z3_seconds") = py::none(),
           "The slowest packets. go_on(bound, states, refuted, found) is asked now and then; False "
           "or Ctrl-C ends the "
           "search with what was found. z3_seconds() is asked how long the solver may take for its "
           "next question; without it 20.")
      .def("replay", &replayed, py::arg("size"), py::arg("packet"), py::arg("memory"),
           py::arg("path"), py::arg("seed") = 1,
           "Runs a packet (bytes by offset) and DRAM content in the interpreter: {takes_path, "
           "cycles, dram_cycles}. "
           "What is undefined differs from seed to seed.")
      .def("path_taken", &path_taken_by, py::arg("size"), py::arg("packet"), py::arg("memory"),
           py::arg("seed") = 1,
           "The path that a packet (bytes by offset) takes with this DRAM content. Raises Error "
           "E-nfp-path.")
      .def(
          "graph", &graph_of,
          "{instructions: (id, line, text), blocks: (id, depth, instruction indices), edges: (from "
          "or -1, to, taken, "
          "cycles of the body, of its last instruction when not taken, when taken, memory engine "
          "cycles)}");
}
