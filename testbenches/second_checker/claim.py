"""What is claimed, as linear forms: docs/certificates.md, "Claims".

A form is {atom: factor}; an atom is () for the constant, ("latency",), ("completion", k), ("busy", T),
("commits", T), ("stall", T, P), ("response", P), ("backlog", P) or ("E",).
"""

import ast
import math
from fractions import Fraction

from document import Refused, demand

MOST_FORMS = 256
OF = {"busy": "T", "commits": "T", "response": "P", "backlog": "P", "stall": "TP"}
# Whether the left side is the small one, or the right one, or both; whether equal is too large.
COMPARED = {
    ast.LtE: ((True,), False), ast.Lt: ((True,), True), ast.GtE: ((False,), False),
    ast.Gt: ((False,), True), ast.Eq: ((True, False), False),
}  # fmt: skip


class Claim:
    """`forms`: [(form, denominator)]; `sign`: 0 of a property, 1 of a largest, -1 of a least quantity."""

    def __init__(self, claim, net, interface, denominator):
        self.names = {"T": {t.name for t in net.transitions}, "P": {p.name for p in net.places}}
        self.interface = interface
        kind = next(each for each in ("property", "largest", "least") if each in claim)
        self.sign = {"property": 0, "largest": 1, "least": -1}[kind]
        try:
            node = ast.parse(claim[kind].strip(), mode="eval").body
            forms = self.made(node, self.sign) if self.sign else self.property(node)
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
            raise Refused(f"the claim cannot be read: {error}") from None
        demand(len(forms) <= MOST_FORMS, "too many forms")
        self.forms = []
        for form, d in forms if not self.sign else map(whole, forms):
            if ("E",) in form and denominator != 1:
                form = {a: c if a == ("E",) else c * denominator for a, c in form.items()}
                d *= denominator
            self.forms.append((form, d))

    # ---- properties ----

    def property(self, node):
        """[(form, 1)], forms that are at most 0."""
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            return [form for value in node.values for form in self.property(value)]
        demand(isinstance(node, ast.Compare), "no comparison")
        found, left = [], node.left
        for op, right in zip(node.ops, node.comparators):
            demand(type(op) in COMPARED, "no such comparison")
            ways, strict = COMPARED[type(op)]
            for in_order in ways:
                small, large = self.multiplied(*((left, right) if in_order else (right, left)))
                for form in self.sums(self.made(small, 1), self.made(large, -1)):
                    form, _ = whole(form)
                    found.append((plus(form, {(): 1}) if strict else form, 1))
                demand(len(found) <= MOST_FORMS, "too many forms")
            left = right
        return found

    def multiplied(self, *sides):
        """The sides of a comparison times what they are divided by."""
        sides = list(sides)
        for _ in range(2):
            for k in (0, 1):
                top, below = self.quotient(sides[k])
                if below is not None:
                    number = self.constant(sides[1 - k]) is not None
                    demand(number, "a quotient is compared with a quantity")
                    sides[k], sides[1 - k] = top, ast.BinOp(sides[1 - k], ast.Mult(), below)
                    break
        return sides

    def quotient(self, node):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            if self.constant(node.right) is None:
                for form in self.made(node.right, 1):
                    fine = all(c >= 0 and atom != ("E",) for atom, c in form.items())
                    demand(fine, "divides by what may be negative")
                return node.left, node.right
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "throughput":
            demand(not node.keywords and len(node.args) == 2, "throughput(k, m)")
            k, m = (self.constant(a) for a in node.args)
            demand(k is not None and m is not None, "throughput of numbers")
            demand(k.denominator == m.denominator == 1 and 1 <= k < m, "throughput(k, m)")
            times = [ast.Call(ast.Name("completion"), [ast.Constant(int(n))], []) for n in (m, k)]
            return ast.Constant(int(m - k)), ast.BinOp(times[0], ast.Sub(), times[1])
        return node, None

    # ---- quantities ----

    def made(self, node, s):
        """forms(q, s)."""
        found = self.forms_of(node, s)
        demand(len(found) <= MOST_FORMS, "too many forms")
        return found

    def forms_of(self, node, s):
        op = type(getattr(node, "op", None))
        if op in (ast.USub, ast.UAdd):
            return self.made(node.operand, -s if op is ast.USub else s)
        if op in (ast.Add, ast.Sub):
            right = self.made(node.right, s if op is ast.Add else -s)
            return self.sums(self.made(node.left, s), right)
        if op in (ast.Mult, ast.Div):
            c, rest = self.constant(node.right), node.left
            if op is ast.Div:
                demand(c, "divides by what is no number")
                c = 1 / c
            elif c is None:
                c, rest = self.constant(node.left), node.right
            demand(c is not None, "a product of two quantities")
            forms = self.made(rest, s if c >= 0 else -s)
            return [{atom: abs(c) * f for atom, f in form.items()} for form in forms]
        name = getattr(node.func, "id", None) if isinstance(node, ast.Call) else None
        if name in ("abs", "max", "min"):
            fits = len(node.args) == 1 if name == "abs" else len(node.args) > 0
            demand(fits and not node.keywords, f"{name} has other arguments")
            demand((name == "min") == (s < 0), f"{name} stands on the wrong side")
            signs = (1, -1) if name == "abs" else (s,)
            return [form for sign in signs for a in node.args for form in self.made(a, sign)]
        if isinstance(node, ast.Constant):
            return [{(): s * value_of(node)}]
        return [{self.atom(node): Fraction(s)}]

    def sums(self, left, right):
        demand(len(left) * len(right) <= MOST_FORMS, "too many forms")
        return [plus(a, b) for a in left for b in right]

    def constant(self, node):
        """What an expression of numbers alone is worth, else None."""
        quantities = (ast.Name, ast.Call, ast.Attribute)
        if any(isinstance(each, quantities) for each in ast.walk(node)):
            return None
        (form,) = self.made(node, 1)
        return form[()]

    def atom(self, node):
        if isinstance(node, ast.Name):
            demand(node.id == "latency" or node.id == "E" and self.interface, "no such quantity")
            return (node.id,)
        demand(isinstance(node, ast.Call) and isinstance(node.func, ast.Name), "no such quantity")
        name, given = node.func.id, node.args
        demand(not node.keywords, "no such quantity")
        if name == "completion":
            k = given[0].value if len(given) == 1 and isinstance(given[0], ast.Constant) else None
            demand(type(k) is int and k >= 1, "completion(k) of a number k")
            return (name, k)
        demand(name in OF and len(given) == len(OF[name]), "no such quantity")
        names = [named(each) for each in given]
        known = all(each in self.names[kind] for each, kind in zip(names, OF[name]))
        demand(known, f"{name} of nothing there is")
        return (name, *names)


def named(node):
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Attribute):
        before = named(node.value)
        return before and f"{before}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else None


def value_of(node):
    value = node.value
    demand(type(value) in (int, float), "no number")
    demand(type(value) is int or math.isfinite(value), "no finite number")
    return Fraction(value) if type(value) is int else Fraction(repr(value))


def plus(a, b):
    return {atom: a.get(atom, 0) + b.get(atom, 0) for atom in {**a, **b}}


def whole(form):
    d = math.lcm(*(Fraction(c).denominator for c in form.values()), 1)
    return {atom: int(c * d) for atom, c in form.items() if c}, d
