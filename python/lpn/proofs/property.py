"""Questions about all inputs: what is to be bounded or proved, parsed from text and never run.

Everything becomes the largest value of linear forms: {atom: coefficient}, where an atom is
("latency",), ("completion", 3), ("busy", "huffman"), ("stall", "huffman", "slots"), ("commits",
"huffman"), ("response", "answers"), ("backlog", "queue"), ("E",), or () for 1.
"""

import ast
import keyword
import math
import re
from fractions import Fraction

from ..authoring.token import BORN, birth_of
from ..errors import listed, mistake

__all__ = ["is_strict", "claims", "largest", "text_of", "timed", "whole"]

_TIMED = ("latency", "completion", "busy", "stall", "response")  # atoms that are times
_TOO_LARGE = 2**63  # a factor of a quantity, a number of done tokens
_TOO_LONG = 10**39  # a number, in a certificate
_MOST_FORMS = 256  # linear forms that one question is made of
_GRAMMAR = (
    "latency, completion(k), busy(T), stall(T, P), commits(T), response(P), backlog(P), E (with "
    "--interface), whole numbers and fractions, "
    "+ - * /, abs, max, min"
)


def _refuse(text, node, why):
    part = ast.get_source_segment(text, node) or text
    raise mistake("E-property", f"'{part}' in '{text}': {why}")


def _parsed(text):
    if not isinstance(text, str):
        raise mistake(
            "E-property", f'a property is text, as "latency <= 2300" or "busy(send)", got {text!r}'
        )
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        instead = "latency <= 2300"
        # Such as the `name.return` of lib.credit, where it has no quotes yet.
        for name in re.findall(r"(?<![\"'\w.])\w+(?:\.\w+)+", text):
            if any(map(keyword.iskeyword, name.split("."))):
                instead = (
                    f"busy(\"{name}\"), since '{name}' has a word of Python's and needs quotes"
                )
        raise mistake(
            "E-property",
            f"'{text}' cannot be read ({getattr(error, 'msg', None) or error}); write for "
            f"example {instead}",
        ) from None


class _Reader:
    def __init__(self, text, net, interface):
        self.text = text
        self.transitions = net.transitions
        self.places = list(net.places)
        self.net = net
        self.interface = interface

    def refuse(self, node, why):
        _refuse(self.text, node, why)

    def forms(self, node, sign=1):
        """Linear forms whose largest is `sign` times the expression."""
        found = self.made_of(node, sign)
        if len(found) > _MOST_FORMS:
            self.refuse(
                node,
                f"is the largest of more than {_MOST_FORMS} sums; ask about fewer abs, max and "
                "min at once",
            )
        return found

    def made_of(self, node, sign):
        if isinstance(node, ast.BinOp):
            return self.operation(node, sign)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            return self.forms(node.operand, -sign if isinstance(node.op, ast.USub) else sign)
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("abs", "max", "min")
        ):
            return self.extreme(node, sign)
        return [
            {self.atom(node): Fraction(sign)}
            if not isinstance(node, ast.Constant)
            else {(): sign * self.number(node)}
        ]

    def operation(self, node, sign):
        if isinstance(node.op, (ast.Add, ast.Sub)):
            left = self.forms(node.left, sign)
            right = self.forms(node.right, sign if isinstance(node.op, ast.Add) else -sign)
            if len(left) * len(right) > _MOST_FORMS:
                return [{}] * (_MOST_FORMS + 1)  # refused where it is asked for
            return [_plus(a, b) for a in left for b in right]
        if isinstance(node.op, (ast.Mult, ast.Div)):
            factor, rest = self.constant(node.right), node.left
            if isinstance(node.op, ast.Div):
                if factor is None or factor == 0:
                    self.refuse(
                        node, "divides by what is no number; multiply both sides with it instead"
                    )
                factor = 1 / factor
            elif factor is None:
                factor, rest = self.constant(node.left), node.right
            if factor is None:
                self.refuse(node, "multiplies two quantities; one side must be a number")
            scale = abs(factor)
            return [
                {atom: scale * c for atom, c in form.items()}
                for form in self.forms(rest, sign if factor >= 0 else -sign)
            ]
        self.refuse(node, f"is not understood; a quantity is made of {_GRAMMAR}")

    def extreme(self, node, sign):
        if node.keywords or not node.args or (node.func.id == "abs") != (len(node.args) == 1):
            self.refuse(node, "abs has one argument; max and min have two or more")
        if (node.func.id == "min") != (sign < 0):
            wrong, right = ("small", "large") if node.func.id == "min" else ("large", "small")
            self.refuse(
                node,
                f"{node.func.id} can be proved about only on the {right} side of a comparison, "
                "not on the "
                f"{wrong} one: of what is to be at most something, abs and max; of what is to be "
                "at least "
                "something, min",
            )
        if node.func.id == "abs":
            return self.forms(node.args[0], 1) + self.forms(node.args[0], -1)
        return [form for argument in node.args for form in self.forms(argument, sign)]

    def constant(self, node):
        """The number that an expression without quantities is, else None."""
        if isinstance(node, ast.Constant):
            return self.number(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            value = self.constant(node.operand)
            return None if value is None else -value if isinstance(node.op, ast.USub) else value
        if isinstance(node, ast.BinOp) and isinstance(
            node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)
        ):
            left, right = self.constant(node.left), self.constant(node.right)
            if left is None or right is None or isinstance(node.op, ast.Div) and right == 0:
                return None
            return (
                {ast.Add: left + right, ast.Sub: left - right, ast.Mult: left * right}.get(
                    type(node.op)
                )
                if not isinstance(node.op, ast.Div)
                else left / right
            )
        return None

    def number(self, node):
        value = node.value
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.refuse(node, f"is no number; a quantity is made of {_GRAMMAR}")
        if isinstance(value, float) and not math.isfinite(value):
            self.refuse(node, "is no finite number")
        # 0.2 is meant as a fifth.
        return Fraction(str(value)) if isinstance(value, float) else Fraction(value)

    def atom(self, node):
        if isinstance(node, ast.Name):
            if node.id == "latency":
                return ("latency",)
            if node.id == "E":
                if not self.interface:
                    self.refuse(
                        node, "is the performance interface, which --interface FILE.py gives"
                    )
                return ("E",)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            name, arguments = node.func.id, node.args
            if name == "completion":
                if (
                    len(arguments) == 1
                    and isinstance(arguments[0], ast.Constant)
                    and type(arguments[0].value) is int
                    and 1 <= arguments[0].value < _TOO_LARGE
                ):
                    return ("completion", arguments[0].value)
                self.refuse(
                    node, "completion(k) is when the k-th done token is produced, k = 1, 2, ..."
                )
            if name in ("busy", "commits"):
                transition = self.named(arguments[0]) if len(arguments) == 1 else None
                if transition not in self.transitions:
                    self.refuse(
                        node, f"{name}(T) needs a transition; there are: {listed(self.transitions)}"
                    )
                return (name, transition)
            if name == "stall":
                transition, place = (
                    map(self.named, arguments) if len(arguments) == 2 else (None, None)
                )
                if transition not in self.transitions or place not in self.places:
                    self.refuse(
                        node,
                        "stall(T, P) needs a transition and a place that it waits for; there are: "
                        f"{listed(self.transitions)}; and {listed(self.places)}",
                    )
                return (name, transition, place)
            if name in ("response", "backlog"):
                place = self.named(arguments[0]) if len(arguments) == 1 else None
                if place not in self.places:
                    self.refuse(node, f"{name}(P) needs a place; there are: {listed(self.places)}")
                if name == "response":
                    self.ends_requests(node, place)
                return (name, place)
            if name == "throughput":
                self.refuse(
                    node, "is a quotient; compare it with a number: throughput(24, 48) >= 0.015"
                )
        self.refuse(node, f"is not understood; a quantity is made of {_GRAMMAR}")

    def ends_requests(self, node, name):
        """A response is told of requests that stay where they are done."""
        place = self.net[name]
        if not birth_of(place._type):
            self.refuse(
                node,
                f"tokens of '{name}' do not say when their request was born; give their type the "
                f"property {BORN}: lpn.Birth",
            )
        taken = any(
            arc.place == place._number for t in self.net.core.transitions for arc in t.inputs
        )
        if taken or self.net.core.places[place._number].initial:
            self.refuse(
                node,
                f"a response ends where a request stays, but '{name}' has tokens at the start or a "
                "transition that takes them; ask about the last place on their way",
            )

    def named(self, node):
        """'a.b' of a.b or of the string."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        if isinstance(node, ast.Attribute):
            before = self.named(node.value)
            return None if before is None else f"{before}.{node.attr}"
        return node.id if isinstance(node, ast.Name) else None

    def cleared(self, small, large):
        """Both sides of small <= large without a quotient of quantities on either.

        What is divided by is a time or a number of commits and hence not negative; where it is 0,
        the comparison is about the dividend alone.
        """
        for _ in range(2):
            for this, other in ((small, large), (large, small)):
                quotient = self.quotient(this)
                if quotient is None:
                    continue
                top, below = quotient
                if self.constant(other) is None:
                    self.refuse(this, "is a quotient of quantities; compare it with a number")
                product = ast.copy_location(ast.BinOp(other, ast.Mult(), below), other)
                small, large = (top, product) if this is small else (product, top)
                break
        return small, large

    def quotient(self, node):
        """(dividend, divisor) of a / b with a quantity b, or of throughput(k, m), else None."""
        if (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Div)
            and self.constant(node.right) is None
        ):
            for form in self.forms(node.right):
                if any(c < 0 or atom == ("E",) for atom, c in form.items()):
                    self.refuse(
                        node, "divides by what may be negative; multiply both sides with it instead"
                    )
            return node.left, node.right
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "throughput"
        ):
            first, last = (
                (self.constant(a) for a in node.args)
                if len(node.args) == 2 and not node.keywords
                else (0, 0)
            )
            if (
                first is None
                or last is None
                or not 1 <= first < last
                or first.denominator * last.denominator != 1
            ):
                self.refuse(
                    node,
                    "throughput(k, m) is done tokens per tick from the k-th to the m-th, 1 <= k "
                    "< m",
                )
            times = [
                ast.copy_location(
                    ast.Call(ast.Name("completion"), [ast.Constant(int(n))], []), node
                )
                for n in (last, first)
            ]
            return (
                ast.copy_location(ast.Constant(int(last - first)), node),
                ast.copy_location(ast.BinOp(times[0], ast.Sub(), times[1]), node),
            )
        return None

    def claims(self, node):
        """Linear forms that are all at most 0 exactly when the property holds."""
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            return [form for value in node.values for form in self.claims(value)]
        if not isinstance(node, ast.Compare):
            self.refuse(
                node,
                "is no property; write a comparison, as latency <= 2300, or several joined with "
                "`and`",
            )
        found, left = [], node.left
        for operator, right in zip(node.ops, node.comparators):
            if isinstance(operator, (ast.LtE, ast.Lt)):
                pairs = [(left, right)]
            elif isinstance(operator, (ast.GtE, ast.Gt)):
                pairs = [(right, left)]
            elif isinstance(operator, ast.Eq):
                pairs = [(left, right), (right, left)]
            else:
                self.refuse(node, "compares with what cannot be proved; use <=, <, >=, > or ==")
            for small, large in pairs:
                small, large = self.cleared(small, large)
                for a in self.forms(small, 1):
                    for b in self.forms(large, -1):
                        form, _ = whole(_plus(a, b))
                        if isinstance(operator, (ast.Lt, ast.Gt)):
                            form = _plus(form, {(): 1})
                        found.append(form)
                if len(found) > _MOST_FORMS:
                    self.refuse(node, f"compares more than {_MOST_FORMS} sums; prove them apart")
            left = right
        return found


def _plus(a, b):
    return {atom: a.get(atom, 0) + b.get(atom, 0) for atom in {**a, **b}}


def whole(form):
    """(the form times its denominator, the denominator), without atoms that do not matter."""
    denominator = math.lcm(*(Fraction(c).denominator for c in form.values()), 1)
    found = {atom: int(c * denominator) for atom, c in form.items() if c}
    for atom, factor in found.items():
        if abs(factor) >= (_TOO_LARGE if atom else _TOO_LONG):
            written = f"{factor:.3g}" if abs(factor) < 10**300 else "1e300 or more"
            what = f"counts {text_of(atom)} {written} times" if atom else f"compares with {written}"
            raise mistake("E-property", f"{what}, in whole numbers; ask with smaller ones")
    return found, denominator


def claims(text, net, interface=False):
    """The linear forms, with whole coefficients, that are <= 0 for exactly the inputs with the
    property.

    Raises Error "E-property" for what cannot be read or is not covered.
    """
    try:
        found = _Reader(text, net, interface).claims(_parsed(text))
    except RecursionError:
        raise _too_deep(text) from None
    if len(found) > _MOST_FORMS:
        raise mistake(
            "E-property",
            f"'{text[:60]}...' compares more than {_MOST_FORMS} sums; prove them apart",
        )
    return found


def is_strict(text):
    """Whether a property has a comparison with < or >."""
    return any(isinstance(node, (ast.Lt, ast.Gt)) for node in ast.walk(_parsed(text)))


def largest(text, net, interface=False, sign=1):
    """Linear forms of which the largest is `sign` times a quantity."""
    try:
        return _Reader(text, net, interface).forms(_parsed(text), sign)
    except RecursionError:
        raise _too_deep(text) from None


def _too_deep(text):
    return mistake("E-property", f"'{text[:60]}...' is nested too deeply; write a shorter formula")


def timed(form):
    """The atoms of a form that are times."""
    return [atom for atom in form if atom and atom[0] in _TIMED]


def text_of(atom):
    return atom[0] if len(atom) == 1 else f"{atom[0]}({', '.join(map(str, atom[1:]))})"
