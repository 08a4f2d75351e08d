// Python's view of the reader: models.jpeg.native._jpeg.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstring>
#include <string_view>

#include "markers.h"
#include "reader.h"
#include "refused.h"
#include "transcode.h"

namespace py = pybind11;

namespace {

using namespace lpn::jpeg;  // NOLINT: this file only binds that namespace

// A column of int64 that Python code can pass on without looking at each value.
struct Column {
  std::vector<std::int64_t> values;
};

struct PyImage {
  Image image;
  Column component, symbols, nonzero, bits, waits, completes;
};

const char* sampling_name(Sampling sampling) {
  switch (sampling) {
    case Sampling::kMono: return "mono";
    case Sampling::k444: return "444";
    case Sampling::k420: return "420";
  }
  return "";
}

// The bytes stay alive, and unchanged, as long as their Python object.
Bytes bytes_of(const py::bytes& data) {
  const auto view = static_cast<std::string_view>(data);
  return {reinterpret_cast<const std::uint8_t*>(view.data()), view.size()};
}

PyImage read_bytes(const py::bytes& data, bool writable_tables) {
  const Bytes bytes = bytes_of(data);
  PyImage out;
  py::gil_scoped_release unlocked;
  out.image = read_image(bytes, writable_tables);
  out.component.values = std::move(out.image.blocks.component);
  out.symbols.values = std::move(out.image.blocks.symbols);
  out.nonzero.values = std::move(out.image.blocks.nonzero);
  out.bits.values = std::move(out.image.blocks.bits);
  out.waits.values = std::move(out.image.blocks.waits);
  out.completes.values = std::move(out.image.completes);
  return out;
}

}  // namespace

PYBIND11_MODULE(_jpeg, m) {
  m.doc() = "Reads a baseline JPEG as the core_jpeg decoder meets it.";
  m.attr("MAX_FILE_BYTES") = kMaxFileBytes;
  py::register_exception<Refused>(m, "Refused", PyExc_ValueError);

  py::class_<Column>(m, "Column", py::buffer_protocol(), "A contiguous buffer of int64.")
      .def("__len__", [](const Column& column) { return column.values.size(); })
      .def_buffer([](Column& column) {
        return py::buffer_info(column.values.data(), sizeof(std::int64_t),
                               py::format_descriptor<std::int64_t>::format(), 1,
                               {static_cast<py::ssize_t>(column.values.size())},
                               {static_cast<py::ssize_t>(sizeof(std::int64_t))}, true);
      });

  const auto internal = py::return_value_policy::reference_internal;
  const auto column = [internal](Column PyImage::*member) {
    return py::cpp_function([member](PyImage& self) -> Column& { return self.*member; }, internal);
  };
  py::class_<PyImage>(m, "Image")
      .def_property_readonly("width", [](const PyImage& self) { return self.image.width; })
      .def_property_readonly("height", [](const PyImage& self) { return self.image.height; })
      .def_property_readonly(
          "sampling", [](const PyImage& self) { return sampling_name(self.image.sampling); },
          "'mono', '444' or '420'.")
      .def_property_readonly(
          "header_bytes", [](const PyImage& self) { return self.image.header_bytes; },
          "File offset of the first entropy-coded byte.")
      .def_property_readonly(
          "table_stalls", [](const PyImage& self) { return self.image.table_stalls; },
          "Clocks for which loading the DHT segments holds the input, with writable tables.")
      .def_property_readonly(
          "first_word_clocks", [](const PyImage& self) { return self.image.first_word_clocks; },
          "Clocks from the scan's first byte until the Huffman decoder is offered bits.")
      .def_property_readonly(
          "standard_tables", [](const PyImage& self) { return self.image.standard_tables; },
          "Whether the fixed-table build can decode the file.")
      .def_property_readonly("notes", [](const PyImage& self) { return self.image.notes; })
      .def_property_readonly("component", column(&PyImage::component))
      .def_property_readonly("symbols", column(&PyImage::symbols))
      .def_property_readonly("nonzero", column(&PyImage::nonzero))
      .def_property_readonly("bits", column(&PyImage::bits))
      .def_property_readonly("waits", column(&PyImage::waits))
      .def_property_readonly("completes", column(&PyImage::completes));

  m.def("read", &read_bytes, py::arg("data"), py::arg("writable_tables"),
        "Reads the bytes of a .jpg for the build with or without writable Huffman tables.\n\n"
        "Raises Refused (a ValueError) with the reason when that build cannot decode it.");

  m.def(
      "size",
      [](const py::bytes& data) {
        const Header header = read_header(bytes_of(data));
        return py::make_tuple(header.width, header.height);
      },
      py::arg("data"), "(width, height) of a .jpg. Raises Refused when its header cannot be read.");

  m.def(
      "transcode",
      [](const py::bytes& data, bool optimise, bool progressive, bool arithmetic,
         int restart_mcus) {
        const std::vector<std::uint8_t> out =
            transcode(bytes_of(data), {optimise, progressive, arithmetic, restart_mcus});
        return py::bytes(reinterpret_cast<const char*>(out.data()), out.size());
      },
      py::arg("data"), py::kw_only(), py::arg("optimise") = false, py::arg("progressive") = false,
      py::arg("arithmetic") = false, py::arg("restart_mcus") = 0,
      "The same image coded differently, without loss. Raises Refused when it cannot be read.");
}
