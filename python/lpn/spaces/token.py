"""What an input space is made of: variables, and tokens whose properties are terms over them."""

from ..authoring.expr import Expr, text_of
from ..errors import listed, mistake, near

__all__ = ["SpaceToken", "Variable", "any_later"]


class Variable:
    """A variable of an input space: `name`, and its least and largest value `lo` and `hi`."""

    __slots__ = ("name", "lo", "hi")

    def __init__(self, name, lo, hi):
        self.name = name
        self.lo = lo
        self.hi = hi

    def __repr__(self):
        return f"{self.name} in {self.lo}..{self.hi}"


class SpaceToken:
    """A token of an input space: its properties as ints and expressions; `token.nonzero`.

    `present`: the condition under which it is one of the input's tokens, True when it always is.
    `at`: when it arrives, unless its type has a property of that name.
    """

    __slots__ = ("_place", "_index", "_values", "_at", "present")

    def __init__(self, place, index, values, present, at=0):
        self._place = place
        self._index = index
        self._values = values
        self._at = at
        self.present = present

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name):
        if name == "at" and name not in self._values:
            return self._at
        if name not in self._values:
            raise mistake(
                "E-field",
                f"tokens of place '{self._place}' have no property '{name}'; they have: "
                f"{listed(self._values)}{near(name, self._values)}",
            )
        return self._values[name]

    def __repr__(self):
        values = ", ".join(f"{name}={text_of(value)}" for name, value in self._values.items())
        return f"{self._place}[{self._index}]({values})"


def any_later(tokens):
    """Whether some of the tokens arrive later than 0."""
    return any(isinstance(token._at, Expr) or token._at for token in tokens)
