// Python's view of lines.h: models.system.native._system.
#include <pybind11/pybind11.h>

#include <stdexcept>

#include "lines.h"

namespace py = pybind11;

namespace {

using namespace lpn::system;  // NOLINT: this file only binds that namespace

struct Column {
  std::vector<std::int64_t> values;
};

}  // namespace

PYBIND11_MODULE(_system, m) {
  m.doc() = "Which level of a memory answers the writes of an image decoder.";
  py::class_<Column>(m, "Column", py::buffer_protocol(), "A contiguous buffer of int64.")
      .def("__len__", [](const Column& column) { return column.values.size(); })
      .def_buffer([](Column& column) {
        return py::buffer_info(column.values.data(), sizeof(std::int64_t),
                               py::format_descriptor<std::int64_t>::format(), 1,
                               {static_cast<py::ssize_t>(column.values.size())},
                               {static_cast<py::ssize_t>(sizeof(std::int64_t))}, true);
      });
  m.def(
      "levels",
      [](std::int64_t width, std::int64_t height, std::int64_t mcu, std::int64_t line,
         std::int64_t cache_lines, std::int64_t warm_bytes, std::int64_t read_lines,
         std::int64_t row_bytes, std::int64_t banks, bool open_rows) {
        if (width < 1 || height < 1 || width > 65535 || height > 65535 || (mcu != 8 && mcu != 16) ||
            line < 8 || cache_lines < 0 || row_bytes < 1 || banks < 1) {
          throw std::invalid_argument("levels: a size is out of range");
        }
        py::gil_scoped_release unlocked;
        return Column{levels({width, height, mcu}, {line, cache_lines, warm_bytes, read_lines,
                                                    row_bytes, banks, open_rows})};
      },
      py::kw_only(), py::arg("width"), py::arg("height"), py::arg("mcu"), py::arg("line"),
      py::arg("cache_lines"), py::arg("warm_bytes"), py::arg("read_lines"), py::arg("row_bytes"),
      py::arg("banks"), py::arg("open_rows"),
      "A Column with a number per 8x8 block: 6 bits for each of its rows, as lines.h says.");
  m.def(
      "shares",
      [](const py::buffer& bits, std::int64_t begin, std::int64_t piece, std::int64_t taken,
         std::int64_t total) {
        const py::buffer_info info = bits.request();
        if (info.ndim != 1 || info.itemsize != sizeof(std::int64_t) || piece < 1) {
          throw std::invalid_argument("shares: a column of int64 and a size from 1 on");
        }
        const auto* value = static_cast<const std::int64_t*>(info.ptr);
        return Column{shares({value, value + info.size}, {begin, piece, taken, total})};
      },
      py::arg("bits"), py::arg("begin"), py::arg("piece"), py::arg("taken"), py::arg("total"),
      "A Column: how many pieces of the input each block waits for, as lines.h says.");
}
