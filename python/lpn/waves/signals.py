"""The signals of a recording by name: whole buses, bits and slices of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..errors import listed, near, without_place

__all__ = ["Piece", "Signals", "Variable"]

_PART = re.compile(r"(.+?)\s*\[\s*(-?[0-9]+)\s*(?::\s*(-?[0-9]+)\s*)?\]")
_NUMBERS = {"real", "realtime", "string", "shortreal"}


class Variable(NamedTuple):
    """As the recording declares it; variables of one `signal` are the same wire."""

    name: str
    kind: str
    width: int
    ranged: bool
    msb: int
    lsb: int
    signal: int


class Piece(NamedTuple):
    """`width` bits of a signal from bit `lsb` on, counted from its right end."""

    signal: int
    lsb: int
    width: int


class Signals:
    """What `file` declares."""

    def __init__(self, variables: Sequence[tuple], file: str) -> None:
        self.file = file
        self.variables = [Variable(*v) for v in variables]
        self.widths: dict[int, int] = {}
        self._named: dict[str, list[Variable]] = {}
        self._ends: dict[str, list[str]] | None = None
        for v in self.variables:
            self.widths[v.signal] = max(self.widths.get(v.signal, 1), v.width)
            self._named.setdefault(v.name, []).append(v)

    def find(self, expression: str, what: str) -> list[Piece]:
        """The bits that 'tb.bus', 'tb.bus[3]' or 'tb.bus[7:4]' names, from the lowest on.

        A name without its first scopes does where only one signal ends in it. Raises Error
        "E-wave-map", which begins with `what`, for one that is not there or has not these bits.
        """
        text = expression.strip()
        variables, part = self._lookup(text), None
        if variables is None:
            part = _PART.fullmatch(text)
            variables = self._lookup(part[1]) if part else None
        if variables is None:
            self._refuse(text, what)
        bits = self._bits(variables, text, what)
        if part is None:
            wanted = list(bits)
        else:
            low, high = sorted((int(part[2]), int(part[3] or part[2])))
            if high - low > 1 << 20:
                raise without_place("E-wave-map", f"{what}: '{text}' is a million bits and more")
            wanted = list(range(low, high + 1))
            if not all(k in bits for k in wanted):
                order = list(bits)
                raise without_place(
                    "E-wave-map",
                    f"{what}: '{text}' reaches outside of bits {order[-1]} to {order[0]} of "
                    f"'{part[1]}'",
                )
            if wanted[0] in bits and list(bits).index(wanted[0]) > list(bits).index(wanted[-1]):
                wanted.reverse()  # declared as [0:7]: bit 7 is the lowest
        return _joined([bits[k] for k in wanted])

    def _lookup(self, name):
        if name in self._named:
            return self._named[name]
        if self._ends is None:
            self._ends = {}
            for full in self._named:
                self._ends.setdefault(full.rsplit(".", 1)[-1], []).append(full)
        ending = [
            full
            for full in self._ends.get(name.rsplit(".", 1)[-1], [])
            if full.endswith("." + name)
        ]
        distinct = {tuple(v.signal for v in self._named[full]) for full in ending}
        return self._named[ending[0]] if len(distinct) == 1 else None

    def _refuse(self, name, what):
        last = _PART.sub(r"\1", name).rsplit(".", 1)[-1]
        ends = [full for full in self._named if full.rsplit(".", 1)[-1] == last]
        if len(ends) > 1:
            hint = f"; it may be {listed(ends[:4])}" + (" or another one" if len(ends) > 4 else "")
        elif ends:
            hint = f"; did you mean '{ends[0]}'?"
        else:
            hint = near(name, self._named)
        raise without_place("E-wave-map", f"{what}: {self.file} has no one signal '{name}'{hint}")

    def _bits(self, variables, name, what):
        """{number of the bit: (signal, position)}, from the lowest on."""
        bits: dict[int, tuple[int, int]] = {}
        for v in variables:
            if v.kind in _NUMBERS:
                raise without_place(
                    "E-wave-map", f"{what}: '{name}' is a {v.kind}; a channel is made of bits"
                )
            if not v.ranged:
                numbers: Sequence[int] = range(v.width)
            elif v.msb >= v.lsb:
                numbers = range(v.lsb, v.msb + 1)
            else:
                numbers = range(v.lsb, v.msb - 1, -1)
            for position, number in enumerate(numbers):
                if bits.setdefault(number, (v.signal, position)) != (v.signal, position):
                    raise without_place(
                        "E-wave-map",
                        f"{what}: {self.file} declares '{v.name}' twice, as different signals; name "
                        "one that it has once",
                    )
        if len(variables) > 1:  # a bus that is dumped bit by bit
            bits = dict(sorted(bits.items()))
        return bits


def _joined(bits):
    """Runs of bits that lie side by side as pieces."""
    pieces: list[Piece] = []
    for signal, position in bits:
        last = pieces[-1] if pieces else None
        if last and last.signal == signal and last.lsb + last.width == position:
            pieces[-1] = Piece(signal, last.lsb, last.width + 1)
        else:
            pieces.append(Piece(signal, position, 1))
    return pieces
