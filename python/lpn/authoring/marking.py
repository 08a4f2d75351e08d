"""Markings: the tokens that a workload puts into a net before time 0."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import _lpn

from ..errors import listed, mistake, placed
from ..output_file import written
from ..words import shortened
from .check import Spelled
from .expr import INT_MAX, INT_MIN, as_index
from .net import Net
from .place import Place
from .token import BORN, Token, birth_of

__all__ = ["Marking"]

MAX_TOKENS = 1 << 31


def _int(value, name, where=""):
    """The int that a property of a token is; `where` says of which one."""
    index = int(value) if isinstance(value, int) else as_index(value)
    if index is None:
        raise mistake("E-marking", f"property '{name}'{where} must be int, got {_shown(value)}")
    if not INT_MIN <= index <= INT_MAX:
        raise mistake("E-overflow", f"property '{name}'{where} does not fit in 64 bits")
    return index


def _shown(value):
    """A value for messages, which may be long or nested."""
    if isinstance(value, (list, dict, tuple)):
        return f"a {type(value).__name__}"
    return shortened(repr(value))


def _arrival(place, at, values):
    """(when tokens arrive, values): `at` is a property where the type has one and it is not given."""
    if "at" in place._type.fields and "at" not in values:
        return 0, values if at is None else {**values, "at": at}
    return 0 if at is None else at, values


class Marking(Spelled):
    """Tokens per place, in FIFO order; they come after the net's own initial tokens.

    Places are named or given as net.place's result. Raises Error "E-marking" for properties that do
    not fit the place's type and "E-range" for a value outside its range.
    """

    def __init__(self, net: Net) -> None:
        if not isinstance(net, Net):
            raise mistake("E-marking", f"Marking needs a net, got {net!r}")
        net.done()
        self._net = net
        self._core = _lpn.Marking(net._core)

    @property
    def net(self) -> Net:
        return self._net

    def _place(self, place: Place | str) -> Any:
        found = self._of_net(place)
        self._core.grow(self._net._core)  # the place may be newer than the marking
        return found

    def _of_net(self, place):
        if isinstance(place, Place):
            if place._net is not self._net:
                raise mistake(
                    "E-foreign",
                    f"place '{place.name}' belongs to net '{place._net.name}', the marking to "
                    f"net '{self._net.name}'",
                )
            return place
        found = self._net._places.get(place)
        if found is None:
            raise mistake(
                "E-place",
                f"net '{self._net.name}' has no place '{place}'; it has: "
                f"{listed(self._net._places)}",
            )
        return found

    def _ordered(self, place, values, what):
        fields = place._type.fields
        if len(values) != len(fields) or any(name not in fields for name in values):
            raise mistake(
                "E-marking",
                f"{what} of '{place.name}' needs exactly: {listed(fields)}; got: "
                f"{listed(values)}",
            )
        return [values[name] for name in fields]

    def add(
        self,
        place: Place | str,
        token: Token | int | None = None,
        /,
        *,
        count: int = 1,
        at: int | None = None,
        **values: Any,
    ) -> None:
        """Appends `count` equal tokens: `add("coded", nonzero=5)`, `add("coded",
        Block(nonzero=5))`.

        `at`: the cycle at which they arrive, before anything else of that cycle; 0: they are there
        at the start. Tokens of one place are added in the order of their arrival. A property `born:
        lpn.Birth` that is not given is this time. For tokens with a property of that name it is the
        property, unless they are given as an object.
        """
        to = self._place(place)
        if isinstance(token, int):
            raise mistake("E-marking", f"write add('{to.name}', count={token})")
        if token is not None:
            values = _values(token)
        at, values = _arrival(to, at, values)
        at = _int(at, "at")
        values = self._born(to, values, at)
        row = [
            _int(v, name) for name, v in zip(to._type.fields, self._ordered(to, values, "a token"))
        ]
        count = _int(count, "count")
        if not 0 <= count <= MAX_TOKENS:
            raise mistake("E-marking", f"count must be 0..{MAX_TOKENS}, got {count}")
        try:
            self._append(to, row * count if row else [], count, at)
        except MemoryError:
            raise mistake(
                "E-memory",
                f"{count} tokens of '{to.name}' need more memory than there is",
            ) from None

    @staticmethod
    def _born(place, values, at):
        """The values with the birth of a request, which is its arrival unless it is given."""
        if not birth_of(place._type) or BORN in values:
            return values
        return {**values, BORN: at}

    def add_rows(
        self, place: Place | str, rows: Iterable[Any], at: Iterable[int] | None = None
    ) -> None:
        """Appends one token per row: a dict, a Token, or the values in the order of the type.

        `at`: the cycle at which each arrives, never falling; None: all are there at the start. Rows
        may leave out a property `born: lpn.Birth`, which is this time.
        """
        to = self._place(place)
        fields = list(to._type.fields)
        flat: list[int] = []
        if at is not None and not isinstance(at, Iterable):
            raise mistake(
                "E-marking",
                f"add_rows needs a time per row, at=[{_shown(at)}, ...]; got {_shown(at)}",
            )
        times = None if at is None else [_int(t, "at") for t in at]
        births = birth_of(to._type)
        position = to._type.fields.get(BORN, 0)
        count = 0
        if not isinstance(rows, Iterable):
            raise mistake("E-marking", f"add_rows needs a list of rows, got {_shown(rows)}")
        for row in rows:
            if times is not None and count >= len(times):
                raise mistake("E-marking", f"row {count} of '{to.name}' has no time in at=[...]")
            time = 0 if times is None else times[count]
            if isinstance(row, (dict, Token)):
                row = self._ordered(to, self._born(to, _values(row), time), f"row {count}")
            elif not hasattr(row, "__len__") or isinstance(row, str):
                raise mistake(
                    "E-marking",
                    f"row {count} of '{to.name}' is {_shown(row)}; write a tuple of the values of "
                    f"{listed(fields, 'no property')}, a dict, or a token",
                )
            elif births and len(row) == len(fields) - 1:
                row = (*row[:position], time, *row[position:])
            elif len(row) != len(fields):
                raise mistake(
                    "E-marking",
                    f"row {count} of '{to.name}' has {len(row)} values; its type has: "
                    f"{listed(fields)}",
                )
            flat.extend(_int(v, name, f" of row {count}") for name, v in zip(fields, row))
            count += 1
        if times is not None and len(times) != count:
            raise mistake("E-marking", f"{count} rows and {len(times)} times (at=)")
        self._append(to, flat, count, times or 0)

    def add_columns(self, place: Place | str, /, *, at: Any = None, **columns: Any) -> None:
        """Appends many tokens, one column per property.

        A column is a contiguous buffer of signed 64-bit integers (array.array('q'), numpy.int64) or
        one int for all tokens; all buffers have one length. `at`: when they arrive, likewise; for
        tokens with a property of that name it is the property.
        """
        to = self._place(place)
        at, columns = _arrival(to, at, columns)
        ordered = self._ordered(to, self._born(to, columns, at), "columns")
        try:
            self._core.add_columns(to._number, list(to._type.fields), ordered, at)
        except _lpn.Error as error:
            raise placed(error) from None

    def _append(self, place, flat, count, at=0):
        try:
            if isinstance(at, list):
                self._core.add_at(place._number, flat, at)
            else:
                self._core.add(place._number, flat, count, at)
        except _lpn.Error as error:
            raise placed(error) from None
        except TypeError:
            raise mistake(
                "E-overflow", f"a value for '{place.name}' does not fit in 64 bits"
            ) from None

    def count(self, place: Place | str) -> int:
        """How many tokens were added to the place."""
        return self._core.count(self._place(place)._number)

    def times(self, place: Place | str) -> list[int]:
        """When the tokens added to the place arrive."""
        number = self._place(place)._number
        return self._core.times(number) or [0] * self._core.count(number)

    def rows(self, place: Place | str) -> list[tuple[int, ...]]:
        """The tokens added to the place, as tuples in the order of its type's properties."""
        to = self._place(place)
        width = len(to._type.fields)
        if not width:
            return [()] * self._core.count(to._number)
        flat = self._core.values(to._number)
        return [tuple(flat[k : k + width]) for k in range(0, len(flat), width)]

    @property
    def done_count(self) -> int | None:
        """Done tokens after which the run ends; None: the net's own, else when nothing can
        happen.
        """
        return self._core.done_count

    @done_count.setter
    def done_count(self, value):
        if value is not None:
            value = _int(value, "done_count")
            if not 0 <= value <= INT_MAX:
                raise mistake("E-marking", f"done_count must be 0..2**63-1, got {value}")
        self._core.done_count = value

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the compact file form."""
        with written(path, binary=True) as file:
            file.write(self.save_bytes())

    def save_bytes(self) -> bytes:
        """What save writes."""
        return self._core.save(self._net._core)

    @classmethod
    def load(cls, net: Net, path: str | os.PathLike[str]) -> Marking:
        """Reads what save wrote. Raises Error "E-marking-file" when it does not fit the net."""
        with open(path, "rb") as file:
            return cls.parse(net, file.read())

    @classmethod
    def parse(cls, net: Net, data: bytes) -> Marking:
        """The marking of the bytes that save_bytes made. Raises Error "E-marking-file"."""
        marking = cls(net)
        marking._core = _lpn.load_marking(net._core, data)
        return marking

    def __reduce__(self):
        """Pickles as the net and the bytes that save writes."""
        return Marking.parse, (self._net, self.save_bytes())

    def __repr__(self) -> str:
        parts = [
            f"{p.name}: {self._core.count(p._number)}"
            for p in self._net._places.values()
            if self._core.count(p._number)
        ]
        return f"<marking of net '{self._net.name}': {', '.join(parts) or 'empty'}>"


def _values(token):
    if isinstance(token, Token):
        return {name: getattr(token, name) for name in token._properties}
    return token
