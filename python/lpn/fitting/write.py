"""The fitted net as a file: a .lpn, or the skeleton's Python with what was found in place."""

from __future__ import annotations

import ast
import os
import re

from ..authoring.net import Net
from ..errors import Error, without_place
from .formula import Formula
from .solve import Fit

__all__ = ["as_lpn", "as_python"]


def as_lpn(fit: Fit, skeleton: Net) -> str:
    """The text of the fitted net; its numbers are parameters with what was found, or given, as
    default. Raises Error "E-fit-output" where each recording was given another one.
    """
    open = {u for s in fit.open.values() if s.open for u in s.unknowns}
    net = fit.filled(skeleton)
    for number, param in enumerate(net.core.params):
        if param.name in fit.settled:
            net.core.set_param(number, _given(fit, param.name), None)
    lines = [
        line
        for line in net.text().splitlines(keepends=True)
        if not (line.startswith("param ") and line.split()[1] in open)
    ]
    return Net.parse("".join(lines)).text()


def as_python(fit: Fit, skeleton: Net, path: str) -> str:
    """The source at `path` with each lpn.unknown() replaced. Raises Error "E-fit-output" where one
    call stands for several results, or in another file.
    """
    with open(path, encoding="utf-8") as file:
        source = file.read()
    tree = ast.parse(source)
    numbers = fit.number_values() | {name: _given(fit, name) for name in fit.settled}
    formulas = {u: f.formula for f in fit.found.values() if f.site.open for u in f.site.unknowns}
    put: dict[tuple, str] = {}
    for name, unknown in {**skeleton.unknowns, **fit.settled}.items():
        for at in unknown.calls:
            if at is None or os.path.realpath(at[0]) != os.path.realpath(path):
                raise _cannot(path, f"the unknown '{name}' is not written in this file")
            if name in formulas:
                text = _function(formulas[name], tree, skeleton, path, name)
            else:
                text = str(numbers[name])
            key = (at[1], at[3], at[2], at[4])
            if put.setdefault(key, text) != text:
                raise _cannot(
                    path, f"line {at[1]}: one lpn.unknown() stands for {put[key]} and {text}"
                )
    lines = source.encode().splitlines(keepends=True)
    for (line, column, last, end), text in sorted(put.items(), reverse=True):
        head, tail = lines[line - 1][:column], lines[last - 1][end:]
        lines[line - 1 : last] = [head + text.encode() + tail]
    return b"".join(lines).decode()


def _given(fit, name):
    """The one number that an unknown was given."""
    values = sorted({case.observed.values[name] for case in fit.cases})
    if len(values) > 1:
        raise without_place(
            "E-fit-output",
            f"the unknown '{name}' was given another number for each recording "
            f"({', '.join(map(str, values))}); declare it as a parameter of the net (net.param)",
        )
    return values[0]


def _cannot(path, why) -> Error:
    return without_place(
        "E-fit-output", f"{path} cannot be written with what was found: {why}; write a .lpn file"
    )


def _function(formula: Formula, tree, net, path, name):
    """A number, or a lambda over the arcs that the formula reads."""
    if not formula.terms and formula.other is None:
        return str(formula.constant)
    text = formula.text()
    arcs = []
    for feature in sorted(formula.features()):
        if feature in net.params:
            variable = _variable(tree, feature)
            if variable is None:
                raise _cannot(
                    path,
                    f"'{name}' reads the parameter '{feature}', which no variable of the file is",
                )
            text = re.sub(rf"(?<![\w.]){re.escape(feature)}(?![\w.])", variable, text)
        else:
            found = re.match(r"lpn\.sum\((\w+),|(\w+)\.", feature)
            if found is not None:
                arcs.append(found[1] or found[2])
    return f"lambda {', '.join(dict.fromkeys(arcs))}: {text}"


def _variable(tree, parameter):
    """The name that `x = net.param("parameter", ...)` gives."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and isinstance(node.value.func, ast.Attribute)
            and node.value.func.attr == "param"
            and node.value.args
            and isinstance(node.value.args[0], ast.Constant)
            and node.value.args[0].value == parameter
            and isinstance(node.targets[0], ast.Name)
        ):
            return node.targets[0].id
    return None
