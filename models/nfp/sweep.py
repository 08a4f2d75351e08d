"""A family of programs with a parameter: rates against the parameter."""

import ast
import math
import operator
import os
import re

__all__ = ["evaluate", "members", "parse_expression"]


def _error(message):
    from lpn import Error

    return Error("E-nfp-sweep", message)


def members(programs, parameter="n", pattern=None):
    """[(value, listing)] by value, of files and folders.

    pattern: a file name with {parameter} where its number stands, as "count-min.{n}.asm"; without
    it the last number in the name counts. Raises Error E-nfp-sweep.
    """
    files = []
    for name in programs:
        if os.path.isdir(name):
            files += [os.path.join(name, f) for f in sorted(os.listdir(name)) if f.endswith(".asm")]
        else:
            files.append(name)
    expression = None
    if pattern is not None:
        hole = "{" + parameter + "}"
        if pattern.count(hole) != 1:
            raise _error(
                f"--name {pattern}: write {hole} once, where the number stands, as in count-min.{hole}.asm"
            )
        expression = re.compile(r"([0-9]+(?:\.[0-9]+)?)".join(map(re.escape, pattern.split(hole))))
    found = {}
    for file in files:
        name = os.path.basename(file)
        if expression is not None:
            match = expression.fullmatch(name)
            if match is None:
                continue  # another program in the same folder
            text = match[1]
        else:
            numbers = re.findall("[0-9]+", os.path.splitext(name)[0])
            if not numbers:
                raise _error(
                    f"{file}: its name has no number to be the value of {parameter}; say where it stands with "
                    "--name, as in --name 'count-min.{" + parameter + "}.asm'"
                )
            text = numbers[-1]
        value = float(text) if "." in text else int(text)
        if value in found:
            raise _error(
                f"{file} and {found[value]} both have {parameter}={value}; name one of them, or use --name"
            )
        found[value] = file
    if not found:
        raise _error(f"no listing {'is named ' + pattern if pattern else 'was given'}")
    return sorted(found.items())


_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
}
_FUNCTIONS = {"exp": math.exp, "log": math.log, "sqrt": math.sqrt}


def parse_expression(text, parameter):
    """The tree of "exp(-n)": numbers, the parameter, + - * / **, exp, log, sqrt. Raises Error
    E-nfp-sweep.
    """
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        raise _error(f"'{text}' is no formula; write one as exp(-{parameter})") from None

    def check(node):
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            check(node.left), check(node.right)
        elif isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATORS:
            check(node.operand)
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in _FUNCTIONS
            and (len(node.args) == 1 and not node.keywords)
        ):
            check(node.args[0])
        elif isinstance(node, ast.Name) and node.id == parameter:
            pass
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            pass
        else:
            raise _error(
                f"'{text}': '{ast.unparse(node)}' cannot stand in a formula; it has numbers, {parameter}, + - * / "
                "**, exp, log and sqrt"
            )

    check(tree)
    return tree


def evaluate(tree, value):
    """The value of a tree of parse_expression at a value of the parameter; None where there is
    none.
    """

    def of(node):
        # In floats: powers of whole numbers may take for ever.
        if isinstance(node, ast.BinOp):
            return _OPERATORS[type(node.op)](of(node.left), of(node.right))
        if isinstance(node, ast.UnaryOp):
            return -of(node.operand)
        if isinstance(node, ast.Call):
            return _FUNCTIONS[node.func.id](of(node.args[0]))
        return float(value if isinstance(node, ast.Name) else node.value)

    try:
        out = of(tree)
    except (ArithmeticError, ValueError, TypeError):  # TypeError: a function of a complex number
        return None
    return out if isinstance(out, float) and math.isfinite(out) else None
