"""What is claimed, as linear forms: docs/certificates.md, "Claims".

A form is {atom: factor}; an atom is () for the constant, ("latency",), ("completion", k), ("busy", T),
("commits", T), ("stall", T, P), ("response", P), ("backlog", P) or ("E",).
"""

import ast
import math
from fractions import Fraction

from document import Refused, demand

MOST_FORMS = 256


class Claim:
    """`forms`: [(form, denominator)]; `of`: the claim's text; `sign`: 0 of a property, 1 of a
    largest, -1 of a least quantity.
    """

    def __init__(self, claim, net, interface, denominator):
        self.transitions = {t.name for t in net.transitions}
        self.places = {p.name for p in net.places}
        self.interface = interface
        if "property" in claim:
            self.sign, self.text = 0, claim["property"]
            made = [each for each in self.guarded(self.property)]
        else:
            self.sign = 1 if "largest" in claim else -1
            self.text = claim["largest" if self.sign > 0 else "least"]
            made = [whole(form) for form in self.guarded(self.extreme)]
        demand(len(made) <= MOST_FORMS, "too many forms")
        self.forms = []
        for form, d in made:
            if ("E",) in form and denominator != 1:
                form = {a: c if a == ("E",) else c * denominator for a, c in form.items()}
                d *= denominator
            self.forms.append((form, d))

    def guarded(self, make):
        try:
            return make(ast.parse(self.text.strip(), mode="eval").body)
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
            raise Refused(f"the claim cannot be read: {error}") from None

    def extreme(self, node):
        return self.made(node, self.sign)

    def property(self, node):
        """Forms that are at most 0, with denominators."""
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            return [form for value in node.values for form in self.property(value)]
        demand(isinstance(node, ast.Compare), "no comparison")
        found, left = [], node.left
        for op, right in zip(node.ops, node.comparators):
            less = isinstance(op, (ast.LtE, ast.Lt))
            more = isinstance(op, (ast.GtE, ast.Gt))
            demand(less or more or isinstance(op, ast.Eq), "no such comparison")
            sides = [(left, right)] if not more else [(right, left)]
            if not less and not more:
                sides.append((right, left))
            for small, large in sides:
                small, large = self.multiplied(small, large)
                for a in self.made(small, 1):
                    for b in self.made(large, -1):
                        form, _ = whole(plus(a, b))
                        if isinstance(op, (ast.Lt, ast.Gt)):
                            form = plus(form, {(): 1})
                        found.append((form, 1))
                demand(len(found) <= MOST_FORMS, "too many forms")
            left = right
        return found

    def multiplied(self, small, large):
        for _ in range(2):
            for this, other in ((small, large), (large, small)):
                top, below = self.quotient(this)
                if below is None:
                    continue
                demand(self.constant(other) is not None, "a quotient is compared with a quantity")
                product = ast.BinOp(other, ast.Mult(), below)
                small, large = (top, product) if this is small else (product, top)
                break
        return small, large

    def quotient(self, node):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            if self.constant(node.right) is None:
                for form in self.made(node.right, 1):
                    for atom, c in form.items():
                        demand(c >= 0 and atom != ("E",), "divides by what may be negative")
                return node.left, node.right
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "throughput":
            demand(not node.keywords and len(node.args) == 2, "throughput(k, m)")
            k, m = (self.constant(a) for a in node.args)
            demand(k is not None and m is not None, "throughput of numbers")
            demand(k.denominator == m.denominator == 1 and 1 <= k < m, "throughput(k, m)")
            times = [ast.Call(ast.Name("completion"), [ast.Constant(int(n))], []) for n in (m, k)]
            return ast.Constant(int(m - k)), ast.BinOp(times[0], ast.Sub(), times[1])
        return node, None

    def made(self, node, s):
        found = self.forms_of(node, s)
        demand(len(found) <= MOST_FORMS, "too many forms")
        return found

    def forms_of(self, node, s):
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            return self.made(node.operand, -s if isinstance(node.op, ast.USub) else s)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            left = self.made(node.left, s)
            right = self.made(node.right, s if isinstance(node.op, ast.Add) else -s)
            demand(len(left) * len(right) <= MOST_FORMS, "too many forms")
            return [plus(a, b) for a in left for b in right]
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
            c, rest = self.constant(node.right), node.left
            if isinstance(node.op, ast.Div):
                demand(c, "divides by what is no number")
                c = 1 / c
            elif c is None:
                c, rest = self.constant(node.left), node.right
            demand(c is not None, "a product of two quantities")
            return [
                {atom: abs(c) * f for atom, f in form.items()}
                for form in self.made(rest, s if c >= 0 else -s)
            ]
        name = getattr(node.func, "id", None) if isinstance(node, ast.Call) else None
        if name in ("abs", "max", "min"):
            fits = len(node.args) == 1 if name == "abs" else len(node.args) > 0
            demand(fits and not node.keywords, f"{name} has other arguments")
            demand((name == "min") == (s < 0), f"{name} stands on the wrong side")
            if name == "abs":
                return self.made(node.args[0], 1) + self.made(node.args[0], -1)
            return [form for a in node.args for form in self.made(a, s)]
        if isinstance(node, ast.Constant):
            return [{(): s * value_of(node)}]
        return [{self.atom(node): Fraction(s)}]

    def constant(self, node):
        if isinstance(node, ast.Constant):
            return value_of(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            value = self.constant(node.operand)
            return -value if value is not None and isinstance(node.op, ast.USub) else value
        if not isinstance(node, ast.BinOp):
            return None
        a, b = self.constant(node.left), self.constant(node.right)
        if a is None or b is None:
            return None
        if isinstance(node.op, ast.Div):
            return a / b if b else None
        made = {ast.Add: a + b, ast.Sub: a - b, ast.Mult: a * b}
        return made.get(type(node.op))

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
        names = tuple(named(each) for each in given)
        if name in ("busy", "commits"):
            demand(len(names) == 1 and names[0] in self.transitions, f"{name} of no transition")
        elif name in ("response", "backlog"):
            demand(len(names) == 1 and names[0] in self.places, f"{name} of no place")
        else:
            demand(name == "stall" and len(names) == 2, "no such quantity")
            demand(names[0] in self.transitions and names[1] in self.places, "stall of nothing")
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
