"""Places, and what transitions say about them: arcs and emissions."""

from __future__ import annotations

from typing import Any

from .. import source
from ..errors import mistake
from .around import around

__all__ = ["ArcSpec", "Emission", "Place", "Tokens", "Type", "tokens"]


class Type:
    """A token type of one net: its number and the properties by name."""

    __slots__ = ("number", "name", "fields", "ranges")

    def __init__(self, number, name, fields, ranges):
        self.number = number
        self.name = name
        self.fields = {field: k for k, field in enumerate(fields)}
        self.ranges = ranges


class ArcSpec:
    """What a transition needs of a place: made by Place.take, peek, empty and watch."""

    __slots__ = ("place", "kind", "weight", "need", "guard", "at", "around")

    def __init__(self, place, kind, weight, need, guard, at):
        self.around = around(weight, need, guard)
        self.place = place
        self.kind = kind
        self.weight = weight
        self.need = need
        self.guard = guard
        self.at = at

    def __repr__(self):
        return f"{self.place.name}.{self.kind}(...)"


class Emission:
    """What a firing appends to a place: made by Place.emit and forward."""

    __slots__ = ("place", "arc", "count", "values", "at", "around")

    def __init__(self, place, arc, count, values, at):
        self.around = around(count, *values.values())
        self.place = place
        self.arc = arc
        self.count = count
        self.values = values
        self.at = at

    def __repr__(self):
        return f"{self.place.name}.{'forward' if self.arc else 'emit'}(...)"


class Tokens:
    """A number of initial tokens, made by lpn.tokens."""

    __slots__ = ("count", "values")

    def __init__(self, count, values):
        self.count = count
        self.values = values


def tokens(count: Any, /, **values: Any) -> Tokens:
    """`count` initial tokens for net.place(init=...), whose properties may be functions of `i`.

    `net.place("tags", Tag, init=lpn.tokens(slots, id=lambda i: i))`
    """
    return Tokens(count, values)


class Place:
    """A FIFO of tokens of one type. Made by net.place."""

    __slots__ = ("_net", "_number", "_type", "name")

    def __init__(self, net, number, type_, name):
        self._net = net
        self._number = number
        self._type = type_
        self.name = name

    def __repr__(self):
        return f"<place '{self.name}' of net '{self._net.name}'>"

    def __getattr__(self, name):
        if name not in ("count", "free", "taken") and name not in self._type.fields:
            raise AttributeError(f"place '{self.name}' has no '{name}'")
        arc = self.name.rsplit(".", 1)[-1]
        kind = "take" if name in self._type.fields or name == "taken" else "watch"
        raise mistake(
            "E-place",
            f"place '{self.name}' has no {name} by itself: formulas read arcs; write "
            f'take={{"{arc}": {arc}.{kind}(), ...}} and a function that names it, lambda {arc}: {arc}.{name}',
        )

    @property
    def net(self) -> Any:
        return self._net

    @property
    def fields(self) -> list[str]:
        """The names of the properties of its tokens, in order."""
        return list(self._type.fields)

    def take(self, n=1, need=None, guard=None):
        """An arc that takes `n` tokens when `need` (default n) are there and `guard` holds.

        `n` and `need` may be functions of earlier arcs and of the head of this place; `guard` is a
        function of this and earlier arcs that returns a condition.
        """
        return ArcSpec(self, "take", n, need, guard, source.caller())

    def peek(self, n=1, guard=None):
        """An arc that needs `n` tokens and reads them, but takes none."""
        return ArcSpec(self, "peek", 0, n, guard, source.caller())

    def empty(self):
        """An arc that lets the transition start only while the place has no token (inhibitor)."""
        return ArcSpec(self, "empty", 0, None, None, source.caller())

    def watch(self, guard=None):
        """An arc that needs and takes nothing; formulas may read `arc.count` and `arc.free`."""
        return ArcSpec(self, "watch", 0, 0, guard, source.caller())

    def emit(self, /, count=1, **values):
        """`count` tokens appended at commit, with one value per property.

        Count and values are ints, parameters or functions of arcs; a function of a value may also
        name `i`, the position 0..count-1 of the token.
        """
        return Emission(self, None, count, values, source.caller())

    def forward(self, arc, /, **values):
        """A copy of every token that the arc named `arc` takes (or peeks), with some values
        replaced.
        """
        return Emission(self, arc, None, values, source.caller())
