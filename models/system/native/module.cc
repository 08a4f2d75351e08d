// Python's view of lines.h: models.system.native._system.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <stdexcept>

#include "levels.h"
#include "lines.h"

namespace py = pybind11;

namespace {

using namespace lpn::system;  // NOLINT: this file only binds that namespace

struct Column {
  std::vector<std::int64_t> values;
};

// A buffer that is a column of int64.
py::buffer_info column(const py::buffer& buffer, const char* what) {
  py::buffer_info info = buffer.request();
  if (info.ndim != 1 || info.itemsize != sizeof(std::int64_t)) throw std::invalid_argument(what);
  return info;
}

std::vector<std::pair<Column, Column>> cached_streams(const py::buffer& whose,
                                                      const py::buffer& lines,
                                                      const std::vector<bool>& writes, Ways ways,
                                                      std::int64_t earlier) {
  const char* what = "cached: two columns of int64 of one length, and sizes from 1 on";
  const py::buffer_info numbers = column(whose, what), touched = column(lines, what);
  if (numbers.size != touched.size || ways.sets < 1 || ways.ways < 1 || earlier < 0 ||
      (ways.sets & (ways.sets - 1)) != 0) {
    throw std::invalid_argument(what);
  }
  const auto* number = static_cast<const std::int64_t*>(numbers.ptr);
  const auto* line = static_cast<const std::int64_t*>(touched.ptr);
  const auto count = static_cast<std::size_t>(numbers.size);
  for (std::size_t k = 0; k < count; ++k) {
    if (number[k] < 0 || static_cast<std::size_t>(number[k]) >= writes.size() || line[k] < 0) {
      throw std::invalid_argument("cached: a stream or a line is out of range");
    }
  }
  std::vector<std::pair<Column, Column>> told;
  for (Stream& stream : cached(number, line, count, writes, ways, earlier)) {
    told.emplace_back(Column{std::move(stream.lines)}, Column{std::move(stream.found)});
  }
  return told;
}

}  // namespace

PYBIND11_MODULE(_system, m) {
  m.doc() = "Which level of a memory answers an image decoder's writes, and streams of lines.";
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
        const char* what = "shares: a column of int64 and a size from 1 on";
        const py::buffer_info info = column(bits, what);
        if (piece < 1) throw std::invalid_argument(what);
        const auto* value = static_cast<const std::int64_t*>(info.ptr);
        return Column{shares({value, value + info.size}, {begin, piece, taken, total})};
      },
      py::arg("bits"), py::arg("begin"), py::arg("piece"), py::arg("taken"), py::arg("total"),
      "A Column: how many pieces of the input each block waits for, as lines.h says.");
  m.def(
      "cached",
      [](const py::buffer& whose, const py::buffer& lines, const std::vector<bool>& writes,
         std::int64_t sets, std::int64_t ways, std::int64_t earlier) {
        return cached_streams(whose, lines, writes, {sets, ways}, earlier);
      },
      py::arg("whose"), py::arg("lines"), py::arg("writes"), py::kw_only(), py::arg("sets"),
      py::arg("ways"), py::arg("earlier"),
      "For each stream two Columns: its lines, and what each finds, as levels.h says.");
}
