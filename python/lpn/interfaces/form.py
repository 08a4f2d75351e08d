"""Delays as sums over properties of tokens: what chains of delays are added up in."""

import ast
import keyword
import re
from fractions import Fraction

from ..authoring.expr import select
from ..errors import mistake
from ..spaces import text as _space_text
from ..spaces.nodes import kids

__all__ = ["Form", "Reader", "evaluate"]

_VARIABLE = re.compile(r"(.*)\[(\d+)\]\.(\w+)")


class Form:
    """constant + sum of coefficient * atom; an atom is (place, token's index, text over its
    properties).
    """

    __slots__ = ("constant", "atoms")

    def __init__(self, constant=0, atoms=None):
        self.constant = Fraction(constant)
        self.atoms = atoms or {}

    def add(self, other, factor=1):
        """self + factor * other, as a new form."""
        atoms = dict(self.atoms)
        for atom, coefficient in other.atoms.items():
            atoms[atom] = atoms.get(atom, 0) + factor * coefficient
            if not atoms[atom]:
                del atoms[atom]
        return Form(self.constant + factor * other.constant, atoms)

    def half(self):
        return self.scaled(Fraction(1, 2))

    def scaled(self, factor):
        return Form().add(self, factor)

    @property
    def key(self):
        return self.constant, frozenset(self.atoms.items())


class Reader:
    """Reads terms of a partition whose variables are properties of tokens, each term once."""

    def __init__(self, core, names):
        self.core = core
        self.names = names
        self.known = {}
        self.limits = {}  # atom -> (least, most)
        self.writer = _space_text.Writer(
            core, [(_VARIABLE.fullmatch(n) or [n] * 4)[3] for n in names]
        )

    def total(self, links):
        """The form that a chain's delays and extras add up to."""
        counts = {}
        extra = 0
        for _, _, delay, more in links:
            counts[delay] = counts.get(delay, 0) + 1
            extra += more
        result, atoms = Form(extra), {}
        for delay, times in counts.items():
            form = self.read(delay)
            result.constant += times * form.constant
            for atom, coefficient in form.atoms.items():
                atoms[atom] = atoms.get(atom, 0) + times * coefficient
        result.atoms = {atom: value for atom, value in atoms.items() if value}
        return result

    def read(self, number):
        if number not in self.known:
            self.known[number] = self._read(number)
        return self.known[number]

    def _read(self, number):
        made_by, *given = self.core.node(number)
        if made_by == "constant":
            return Form(given[0])
        if made_by == "assume":
            return self.read(given[1])
        if made_by == "neg":
            return self.read(given[0]).scaled(-1)
        if made_by in ("add", "sub"):
            return self.read(given[0]).add(self.read(given[1]), 1 if made_by == "add" else -1)
        if made_by == "mul":
            left, right = map(self.read, given)
            for one, other in ((left, right), (right, left)):
                if not one.atoms:
                    return other.scaled(one.constant)
        return Form(0, {self._atom(number): Fraction(1)})

    def _atom(self, number):
        tokens, pending, words = set(), [number], set()
        while pending:
            made_by, *given = self.core.node(pending.pop())
            if made_by == "param":
                found = _VARIABLE.fullmatch(self.names[given[0]])
                tokens.add((found[1], int(found[2])) if found else (None, 0))
                if found and keyword.iskeyword(found[3]):
                    words.add(found[3])
            pending += kids(made_by, given)
        if len(tokens) != 1:
            raise mistake(
                "E-pi",
                f"a delay depends on several tokens at once: {self.writer.write(number)}; an "
                "interface adds up what each token brings",
            )
        ((place, index),) = tokens
        text = self.writer.write(number)
        if place is None or "..." in text:
            raise mistake(
                "E-pi", f"a delay of this class is no arithmetic over a token's properties: {text}"
            )
        if words and text not in words:
            raise mistake(
                "E-pi",
                f"the property '{min(words)}' is named by a word of Python's, in which the interface "
                f"would say {text}; give it another name, or write the interface by --steps",
            )
        self.limits[place, index, text] = self.core.bounds(None, number)
        return place, index, text


# By names that no property can have: one may be called "max".
_FUNCTIONS = {
    "min()": min,
    "max()": max,
    "abs()": abs,
    "ceil_div()": lambda a, b: -(-a // b),
    "select()": select,
    "lookup()": lambda table, k: table[k],
}
_ALLOWED = (
    ast.Expression,
    ast.BinOp,
    ast.UnaryOp,
    ast.Compare,
    ast.BoolOp,
    ast.Call,
    ast.Name,
    ast.Load,
    ast.Constant,
    ast.List,
    ast.operator,
    ast.unaryop,
    ast.cmpop,
    ast.boolop,
)
_compiled = {}


def evaluate(text, values):
    """The value of an atom's text for a token's properties. Only arithmetic is evaluated."""
    if text in values:  # also where its name is a word of Python's
        return values[text]
    if text not in _compiled:
        tree = ast.parse(text, mode="eval")
        for node in ast.walk(tree):
            if not isinstance(node, _ALLOWED):
                raise mistake("E-pi-file", f"'{text}' is no arithmetic over a token's properties")
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                node.func.id += "()"
        _compiled[text] = compile(tree, "<interface>", "eval")
    try:
        return eval(_compiled[text], {"__builtins__": {}}, {**_FUNCTIONS, **values})
    except (NameError, TypeError, ValueError, ArithmeticError, LookupError, MemoryError) as error:
        raise mistake("E-pi-file", f"'{text}' has no value for a token: {error}") from None
