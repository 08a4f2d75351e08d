#define PY_SSIZE_T_CLEAN
#include "lpn/pi/sympy.h"

#include <Python.h>

#include <memory>
#include <mutex>

#include "lpn/base/error.h"
#include "simplify_py.h"

namespace lpn::pi {

namespace {

struct Release {
  void operator()(PyObject* object) const { Py_XDECREF(object); }
};
using Object = std::unique_ptr<PyObject, Release>;

class Gil {
 public:
  Gil() : state_(PyGILState_Ensure()) {}
  ~Gil() { PyGILState_Release(state_); }
  Gil(const Gil&) = delete;
  Gil& operator=(const Gil&) = delete;

 private:
  PyGILState_STATE state_;
};

[[noreturn]] void fail() {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  const Object owned_type(type), owned_value(value), owned_trace(trace);
  const Object text(value == nullptr ? nullptr : PyObject_Str(value));
  const char* words = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  const std::string message = words == nullptr ? "no reason given" : words;
  PyErr_Clear();
  throw Error("E-sympy",
              "SymPy cannot simplify: " + message + " (Debian: apt-get install python3-sympy)");
}

// Starts the Python that the library was built for. Left to itself Python takes its home from the
// first python3 on PATH, which may be another version, or a virtual environment without SymPy.
void start_python() {
  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  config.install_signal_handlers = 0;  // the program's signals are its own
  PyStatus status = PyConfig_SetBytesString(&config, &config.program_name, LPN_PYTHON);
  if (!PyStatus_Exception(status)) status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  if (PyStatus_Exception(status)) {
    throw Error("E-sympy", std::string("Python cannot start: ") +
                               (status.err_msg == nullptr ? "no reason given" : status.err_msg));
  }
  PyEval_SaveThread();  // so that any thread may come next
}

// The function simplify of simplify.py; made once and kept for the life of the process.
PyObject* function() {
  static PyObject* kept = nullptr;
  if (kept != nullptr) return kept;
  Object names(PyDict_New());
  if (!names) fail();
  PyDict_SetItemString(names.get(), "__builtins__", PyEval_GetBuiltins());
  const Object done(PyRun_String(kSimplify, Py_file_input, names.get(), names.get()));
  if (!done) fail();
  kept = PyDict_GetItemString(names.get(), "simplify");
  Py_INCREF(kept);
  return kept;
}

}  // namespace

std::vector<std::string> simplify(const std::vector<std::string>& formulas) {
  static std::once_flag once;
  std::call_once(once, [] {
    if (!Py_IsInitialized()) start_python();
  });
  const Gil gil;
  std::vector<std::string> simplified;
  for (const std::string& formula : formulas) {
    const Object result(PyObject_CallFunction(function(), "s", formula.c_str()));
    if (!result) fail();
    const char* text = PyUnicode_AsUTF8(result.get());
    if (text == nullptr) fail();
    simplified.emplace_back(text);
  }
  return simplified;
}

}  // namespace lpn::pi
