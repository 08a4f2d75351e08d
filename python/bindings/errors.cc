// lpn::Error and lpn::RunError as Python exceptions with a `code`, and for a run its `fault`.
#include <pybind11/eval.h>

#include "bind.h"
#include "lpn/base/bug.h"
#include "lpn/base/error.h"
#include "lpn/run/run.h"

namespace lpn::python {
namespace {

constexpr const char* kClasses = R"(
class Error(Exception):
    """What the user can mend: an illegal net, marking, file or request.

    `code` is stable ("E-range") and has an entry in docs/errors.md.
    """

    __module__ = "lpn"

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code

    def __reduce__(self):
        return (type(self), (self.code, str(self)), self.__dict__)


class RunError(Error):
    """An error during a run. `fault`, `time`, `group`, `transition`, `site`, `value` say where."""

    __module__ = "lpn"
)";

const char* site_name(SiteKind kind) {
  switch (kind) {
    case SiteKind::kWeight: return "weight";
    case SiteKind::kThreshold: return "threshold";
    case SiteKind::kGuard: return "guard";
    case SiteKind::kDelay: return "delay";
    case SiteKind::kInterval: return "interval";
    case SiteKind::kCount: return "count";
    case SiteKind::kField: return "field";
    case SiteKind::kNone: return "none";
  }
  return "";
}

}  // namespace

py::object to_exception(const RunError& e) {
  const py::object type = py::module_::import("_lpn").attr("RunError");
  const RunFault& f = e.fault();
  py::object error = type(e.code(), e.what());
  error.attr("time") = f.time;
  error.attr("group") = f.group;
  error.attr("transition") = static_cast<std::uint32_t>(f.transition);
  error.attr("site") =
      py::make_tuple(site_name(f.site.kind), f.site.arc, f.site.emission, f.site.field);
  error.attr("value") = f.value;
  return error;
}

void bind_errors(py::module_& m) {
  py::dict scope;
  scope["__builtins__"] = py::module_::import("builtins");
  py::exec(kClasses, scope);
  m.attr("Error") = scope["Error"];
  m.attr("RunError") = scope["RunError"];

  py::register_exception_translator([](std::exception_ptr p) {
    try {
      if (p) std::rethrow_exception(p);
    } catch (const RunError& e) {
      PyErr_SetObject(py::module_::import("_lpn").attr("RunError").ptr(), to_exception(e).ptr());
    } catch (const Bug& e) {
      const py::object type = py::module_::import("_lpn").attr("Error");
      PyErr_SetObject(type.ptr(), type("E-bug", e.what()).ptr());
    } catch (const Error& e) {
      const py::object type = py::module_::import("_lpn").attr("Error");
      const py::object error = type(e.code(), e.what());
      PyErr_SetObject(type.ptr(), error.ptr());
    }
  });
}

}  // namespace lpn::python
