// Python's view of the tokens of a program: lpn_models_native._vta.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>

#include "tensors.h"
#include "tokens.h"

namespace py = pybind11;

namespace {

using namespace lpn::vta;  // NOLINT: this file only binds that namespace

using Words = py::array_t<std::uint64_t, py::array::c_style | py::array::forcecast>;
using Sizes = std::array<std::int64_t, kMemories>;

Program program_of(const Words& words) {
  if (words.ndim() != 2 || words.shape(1) != 2)
    throw py::value_error("a program is an array of two columns: low and high words");
  static_assert(sizeof(Instruction) == 2 * sizeof(std::uint64_t));
  return {reinterpret_cast<const Instruction*>(words.data()),
          static_cast<std::size_t>(words.shape(0))};
}

// Place -> {property: column}.
py::dict columns(const Words& words, const Sizes& bytes, const Sizes& depth, bool every_burst,
                 bool fetch) {
  Hardware hardware;
  std::copy(bytes.begin(), bytes.end(), hardware.bytes);
  std::copy(depth.begin(), depth.end(), hardware.depth);
  const Program program = program_of(words);
  std::vector<PlaceTokens> tokens;
  try {
    py::gil_scoped_release unlocked;
    tokens = tokens_of(program, hardware, {every_burst, fetch});
  } catch (const Refused& refused) {
    throw py::value_error(refused.what());
  }
  py::dict out;
  for (const PlaceTokens& of : tokens) {
    py::dict properties;
    for (const Column& column : of.columns)
      properties[column.property] = py::array_t<std::int64_t>(
          static_cast<py::ssize_t>(column.values.size()), column.values.data());
    out[of.place] = properties;
  }
  return out;
}

}  // namespace

PYBIND11_MODULE(_vta, m) {
  m.doc() = "The tokens of a VTA program.";
  // Of tokens and of the net's formulas alike.
  m.attr("COMMAND_INTERVAL") = kCommandInterval;
  m.attr("OUTSTANDING") = kOutstanding;
  m.attr("PADDED") = kPadded;
  m.attr("WIDE") = kWide;
  m.attr("FINISHES") = kFinishes;
  m.attr("TO_LOAD") = kToLoad;
  m.attr("TO_COMPUTE") = kToCompute;
  m.attr("SYNC") = kSync;
  m.def("columns", &columns, py::arg("words"), py::arg("bytes"), py::arg("depth"),
        py::arg("every_burst"), py::arg("fetch"));
}
