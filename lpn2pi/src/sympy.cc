#define PY_SSIZE_T_CLEAN
#include "lpn/pi/sympy.h"

#include <Python.h>

#include <memory>
#include <mutex>

#include "lpn/base/error.h"

namespace lpn::pi {

namespace {

// Names stay symbols, whatever SymPy itself calls so (S, N, E, I); `//` becomes floor, which is
// written back as `//`. Everything is parsed by ast first: only arithmetic is ever evaluated.
constexpr const char* kSource = R"py(
import ast
import sympy
from sympy.printing.pycode import PythonCodePrinter

class _Printer(PythonCodePrinter):
    # Whole numbers over one denominator, so that Python divides once and last.
    def over(self, expr, sign):
        num, den = sympy.fraction(sympy.together(expr))
        num = sympy.expand(num)
        if den == 1 and sign == '/':
            return self._print(num)
        return f"{self.parenthesize(num, 50, strict=True)}{sign}{self._print(den)}"
    def _print_floor(self, expr):
        return '(' + self.over(expr.args[0], '//') + ')'
    def _print_Max(self, expr):
        return 'max(' + ', '.join(self.over(a, '/') for a in expr.args) + ')'
    def _print_Min(self, expr):
        return 'min(' + ', '.join(self.over(a, '/') for a in expr.args) + ')'

_symbols = {}
_two = {ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b,
        ast.Div: lambda a, b: a / b, ast.FloorDiv: lambda a, b: sympy.floor(a / b)}
_many = {'max': sympy.Max, 'min': sympy.Min}

def _read(node):
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return sympy.Integer(node.value)
    if isinstance(node, ast.Name):
        return _symbols.setdefault(node.id, sympy.Symbol(node.id, integer=True))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_read(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in _two:
        return _two[type(node.op)](_read(node.left), _read(node.right))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _many:
        return _many[node.func.id](*map(_read, node.args))
    raise ValueError('not arithmetic: ' + ast.unparse(node))

def simplify(text):
    read = _read(ast.parse(text, mode='eval').body)
    return _Printer({'fully_qualified_modules': False}).over(read, '/')
)py";

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

// The function simplify of the text above; made once and kept for the life of the process.
PyObject* function() {
  static PyObject* kept = nullptr;
  if (kept != nullptr) return kept;
  Object names(PyDict_New());
  if (!names) fail();
  PyDict_SetItemString(names.get(), "__builtins__", PyEval_GetBuiltins());
  const Object done(PyRun_String(kSource, Py_file_input, names.get(), names.get()));
  if (!done) fail();
  kept = PyDict_GetItemString(names.get(), "simplify");
  Py_INCREF(kept);
  return kept;
}

}  // namespace

std::vector<std::string> simplify(const std::vector<std::string>& formulas) {
  static std::once_flag once;
  std::call_once(once, [] {
    if (Py_IsInitialized()) return;
    Py_InitializeEx(0);   // leaves the program's signals alone
    PyEval_SaveThread();  // so that any thread may come next
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
