"""What lpn/pi/sympy.h asks of SymPy; lpn2pi compiles this text into itself.

Names stay symbols, whatever SymPy itself calls so (S, N, E, I); `//` becomes floor, which is
written back as `//`. Everything is parsed by ast first: only arithmetic is ever evaluated.
"""

import ast
import sympy
from sympy.printing.pycode import PythonCodePrinter


class _Printer(PythonCodePrinter):
    # Whole numbers over one denominator, so that Python divides once and last.
    def over(self, expr, sign):
        num, den = sympy.fraction(sympy.together(expr))
        num = sympy.expand(num)
        if den == 1 and sign == "/":
            return self._print(num)
        return f"{self.parenthesize(num, 50, strict=True)}{sign}{self._print(den)}"

    def _print_floor(self, expr):
        return "(" + self.over(expr.args[0], "//") + ")"

    def _print_Max(self, expr):
        return "max(" + ", ".join(self.over(a, "/") for a in expr.args) + ")"

    def _print_Min(self, expr):
        return "min(" + ", ".join(self.over(a, "/") for a in expr.args) + ")"


_symbols = {}
_two = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: sympy.floor(a / b),
}
_many = {"max": sympy.Max, "min": sympy.Min}


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
    raise ValueError("not arithmetic: " + ast.unparse(node))


def simplify(text):
    """A formula in Python's syntax, simplified; ValueError for what is no arithmetic."""
    read = _read(ast.parse(text, mode="eval").body)
    return _Printer({"fully_qualified_modules": False}).over(read, "/")
