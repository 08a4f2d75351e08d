// Markings: one token, many rows, or whole columns of int64 through the buffer protocol.
#include "lpn/net/marking.h"

#include <fmt/format.h>

#include <span>

#include "bind.h"
#include "lpn/base/error.h"
#include "method.h"

namespace lpn::python {
namespace {

// A column: a contiguous buffer of 64-bit integers, or one number for every token.
struct Column {
  py::buffer_info info;
  bool many = false;  // a buffer; an empty one may have no address
  const std::int64_t* data = nullptr;
  std::size_t size = 0;
  std::int64_t same = 0;
};

Column to_column(const std::string& name, const py::handle& object) {
  Column c;
  if (py::isinstance<py::int_>(object)) {
    c.same = object.cast<std::int64_t>();
    return c;
  }
  if (!PyObject_CheckBuffer(object.ptr())) {
    throw Error("E-marking", fmt::format("column '{}' is neither an int nor a buffer; give "
                                         "array.array('q', ...) or a numpy.int64 array",
                                         name));
  }
  c.info = py::reinterpret_borrow<py::buffer>(object).request();
  const bool is_signed = c.info.format == "q" || c.info.format == "l";
  if (!is_signed || c.info.itemsize != 8 || c.info.ndim != 1 ||
      (c.info.shape[0] > 1 && c.info.strides[0] != 8)) {
    throw Error("E-marking",
                fmt::format("column '{}' must be contiguous 64-bit integers in one dimension, got "
                            "format '{}', {} bytes each, {} dimensions; use "
                            "numpy.ascontiguousarray(x, dtype=numpy.int64)",
                            name, c.info.format, c.info.itemsize, c.info.ndim));
  }
  c.many = true;
  c.data = static_cast<const std::int64_t*>(c.info.ptr);
  c.size = static_cast<std::size_t>(c.info.shape[0]);
  return c;
}

void add_columns(Marking& m, std::uint32_t place, const std::vector<std::string>& names,
                 const py::list& objects, const py::object& at) {
  std::vector<Column> columns;
  std::optional<std::size_t> size;
  for (std::size_t k = 0; k < names.size(); ++k) {
    columns.push_back(to_column(names[k], objects[k]));
    const Column& c = columns.back();
    if (!c.many) continue;
    if (size && *size != c.size) {
      throw Error("E-marking", fmt::format("column '{}' has {} values, an earlier one {}; columns "
                                           "of one place have one length",
                                           names[k], c.size, *size));
    }
    size = c.size;
  }
  if (!size && !py::isinstance<py::int_>(at)) size = to_column("at", at).size;
  if (!size) {
    throw Error("E-marking",
                "no column is a buffer, so the number of tokens is unknown; use "
                "add(place, count, field=value)");
  }
  std::vector<std::int64_t> values(*size * columns.size());
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const Column& c = columns[j];
    for (std::size_t k = 0; k < *size; ++k) {
      values[k * columns.size() + j] = c.many ? c.data[k] : c.same;
    }
  }
  if (py::isinstance<py::int_>(at)) {
    m.add(static_cast<PlaceId>(place), values, *size, at.cast<Time>());
    return;
  }
  const Column times = to_column("at", at);
  if (times.size != *size) {
    throw Error("E-marking",
                fmt::format("{} tokens and {} times of arrival (at=)", *size, times.size));
  }
  m.add(static_cast<PlaceId>(place), values, std::span(times.data, times.size));
}

const Marking::Tokens& tokens(const Marking& m, std::uint32_t place) {
  if (place >= m.places()) throw py::index_error("no such place");
  return m[static_cast<PlaceId>(place)];
}

}  // namespace

void bind_marking(py::module_& m) {
  py::class_<Marking, std::shared_ptr<Marking>>(m, "Marking")
      .def(py::init<const Net&>())
      .def(
          "add",
          [](Marking& marking, std::uint32_t place, const std::vector<std::int64_t>& values,
             std::uint64_t count, Time at) {
            tokens(marking, place);
            marking.add(static_cast<PlaceId>(place), values, count, at);
          },
          py::arg("place"), py::arg("values"), py::arg("count"), py::arg("at") = 0)
      .def("add_at",
           [](Marking& marking, std::uint32_t place, const std::vector<std::int64_t>& values,
              const std::vector<Time>& times) {
             tokens(marking, place);
             marking.add(static_cast<PlaceId>(place), values, times);
           })
      .def_property_readonly("last_arrival", &Marking::last_arrival)
      .def("times",
           [](const Marking& marking, std::uint32_t place) { return tokens(marking, place).times; })

      .def(
          "add_columns",
          [](Marking& marking, std::uint32_t place, const std::vector<std::string>& names,
             const py::list& columns, const py::object& at) {
            tokens(marking, place);
            add_columns(marking, place, names, columns, at);
          },
          py::arg("place"), py::arg("names"), py::arg("columns"), py::arg("at") = 0)
      .def("count",
           [](const Marking& marking, std::uint32_t place) { return tokens(marking, place).count; })
      .def("values", [](const Marking& marking,
                        std::uint32_t place) { return tokens(marking, place).values; })
      .def("grow", method<Marking>(&Marking::grow))
      .def_readwrite("done_count", &Marking::done_count)
      .def("save", [](const Marking& marking, const Net& net) {
        return py::bytes(save_marking(net, marking));
      });
  m.def("load_marking", [](const Net& net, const py::bytes& data) {
    return std::make_shared<Marking>(load_marking(net, std::string(data)));
  });
}

}  // namespace lpn::python
