"""A recording whose channels are sampled while it is read."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import _lpn

from ..errors import Error, listed, without_place
from .files import Stream
from .maps import Map
from .signals import Signals

__all__ = ["Picture", "Recording", "Rows", "read_signals"]


CELLS = 1 << 18  # bins of all channels together
BINS = (16, 4096)  # the least and the most of one channel
BYTES = 2_500_000  # of phases that are kept one by one


@dataclass
class Picture:
    """What is kept of a recording for a timeline, in bounded memory. `part`: cycles (from, to) that
    alone are kept one by one; None: all, as far as room is. `times`: where channels have several
    clocks, positions are times of the recording and not cycles of each one's own clock.
    """

    part: tuple[int, int] | None = None
    times: bool = False

    def options(self, channels: int) -> tuple[int, int, tuple[int, int] | None]:
        """(bins, bytes, part) of that many channels."""
        least, most = BINS
        bins = min(most, max(least, CELLS // max(1, channels)))
        return bins // 2 * 2, BYTES, self.part


@dataclass
class Rows:
    """Transfers of a channel as columns: numbers of the clock's edges, cycles of back-pressure
    since the one before (of an operation: its duration), and the payload, a tuple of (value,
    unknown bits) per field, of a signed one whose bits are all known with its sign up to bit 63.
    """

    edges: Any
    stalled: Any
    values: Any
    unknowns: Any
    columns: int  # of values and unknowns per row


def _opened(path):
    """(stream, VCD behind its header)."""
    stream = Stream(path)
    vcd = _lpn.wave.Vcd()
    try:
        while not vcd.read_header(piece := stream.read()):
            if not piece:
                raise without_place(
                    "E-wave",
                    stream.damage
                    or f"line {vcd.line}, byte {vcd.byte}: the declarations end before "
                    "$enddefinitions",
                )
    except BaseException as error:
        stream.close()
        if isinstance(error, Error) and error.code == "E-wave":
            raise without_place("E-wave", f"{path}, {error}") from None
        raise
    return stream, vcd


def read_signals(path: str) -> Signals:
    """What a recording declares. Raises Error "E-wave" for a file that is none."""
    stream, vcd = _opened(path)
    stream.close()
    return Signals(vcd.variables, path)


class Recording:
    """Reads `path` by `map`; a context. Raises Error "E-wave" for a file that is no recording, and
    "E-wave-map" where the map does not fit it.

    `keep`: keep transfers for take(). `window`: the most cycles between two of an episode of
    back-pressure. `picture`: what to keep for timeline.py. `damage`: None, or where and why the
    recording ends before its end, when it has been read.
    """

    def __init__(
        self,
        path: str,
        map: Map,
        *,
        keep: bool = False,
        window: int = 16,
        picture: Picture | None = None,
    ) -> None:
        self.path, self.map = path, map
        self.damage: str | None = None
        self.finished = False
        self._stream, self._vcd = _opened(path)
        try:
            self.signals = Signals(self._vcd.variables, path)
            self.channels = [c for given in map.channels for c in self._each(given)]
            self.tick = self._vcd.tick  # femtoseconds; 0: not said
            self.picture = picture
            self._sample(keep, window)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._stream.close()

    # What the map says, as numbers of signals and bits

    def _each(self, channel):
        """The channel, or with * in its name those of all numbers that there are."""
        if "*" not in channel.name:
            return [channel]
        if "*" not in channel.first[0]:
            raise self._unfit(
                f"channels.{channel.name}: * stands in the name but not in the signals"
            )
        pattern = re.escape(channel.first[0].lstrip("!").strip()).replace(r"\*", r"(\d+)", 1)
        pattern = re.compile(r"(?:.*\.)?" + pattern.replace(r"\*", r"\d+"))
        numbers = set()
        for v in self.signals.variables:
            found = pattern.fullmatch(v.name)
            if found:
                numbers.add(int(found[1]))
        if not numbers:
            raise self._unfit(
                f"channels.{channel.name}: {self.path} has no signal '{channel.first[0]}' for any "
                "number in place of *"
            )

        def at(text, number):
            return None if text is None else text.replace("*", str(number))

        return [
            replace(
                channel,
                name=at(channel.name, n),
                first=[at(t, n) for t in channel.first],
                second=[at(t, n) for t in channel.second],
                payload={key: at(t, n) for key, t in channel.payload.items()},
                until=at(channel.until, n),
            )
            for n in sorted(numbers)
        ]

    def _unfit(self, text):
        return without_place("E-wave-map", f"{self.map.file}: {text}")

    def _bit(self, text, where):
        """(signal, bit, inverted) of '!tb.bus[3]'."""
        inverted = text.startswith("!")
        name = text[1:].strip() if inverted else text
        pieces = self.signals.find(name, f"{self.map.file}: {where}")
        if len(pieces) != 1 or pieces[0].width != 1:
            width = sum(p.width for p in pieces)
            raise self._unfit(f"{where}: '{name}' has {width} bits; name one, as '{name}[0]'")
        return pieces[0].signal, pieces[0].lsb, inverted

    def _field(self, text, where):
        """Columns of 64 bits, each a list of (signal, lsb, width, shift)."""
        columns: list[list[tuple[int, int, int, int]]] = []
        at = 0
        for signal, lsb, width in self.signals.find(text, f"{self.map.file}: {where}"):
            while width:
                if at % 64 == 0:
                    columns.append([])
                part = min(width, 64 - at % 64)
                columns[-1].append((signal, lsb, part, at % 64))
                lsb, width, at = lsb + part, width - part, at + part
        return columns

    def _counter(self, texts, where):
        """The slices of a counter of at most 64 bits."""
        columns = self._field(texts[0], where) if len(texts) == 1 else []
        if len(columns) != 1:
            raise self._unfit(f"{where}.count is one signal of at most 64 bits")
        return columns[0]

    def _period(self, clock, where):
        """In times of the recording."""
        if not self.tick or clock.period % self.tick:
            raise self._unfit(
                f"{where}: {clock.signal!r} is no multiple of the time scale of {self.path}"
                if self.tick
                else f"{where} is a time, but {self.path} does not say its time scale; name a signal"
            )
        return clock.period // self.tick

    def _sample(self, keep, window):
        names = [c.name for c in self.channels]
        if len(set(names)) < len(names):
            twice = next(n for n in names if names.count(n) > 1)
            raise self._unfit(f"two channels are called '{twice}'")
        clock_names = list(self.map.clocks)
        clocks = []
        for name, clock in self.map.clocks.items():
            where = f"clocks.{name}" if name else "clock"
            resets = [self._bit(text, f"{where}: reset") for text in clock.resets]
            if clock.period:
                clocks.append((None, resets, self._period(clock, where)))
                continue
            signal, bit, inverted = self._bit(clock.signal, where)
            clocks.append(((signal, bit, inverted != clock.falling), resets, 0))
        channels, self._fields, self._signs = [], [], []
        for c in self.channels:
            where = f"channels.{c.name}"
            fields = {k: self._field(t, f"{where}.payload.{k}") for k, t in c.payload.items()}
            self._fields.append({key: len(columns) for key, columns in fields.items()})
            self._signs.append({key: _width(fields[key]) for key in c.signed})
            if c.until is not None and (c.until not in names or c.until == c.name):
                raise self._unfit(f"{where}: until is the name of another channel, not {c.until!r}")
            until = None if c.until is None else names.index(c.until)
            if until is not None and self.channels[until].clock != c.clock:
                raise self._unfit(f"{where}: until is a channel of the same clock")
            counter = c.kind == 3
            channels.append(
                (
                    c.kind,
                    clock_names.index(c.clock),
                    [] if counter else [self._bit(t, where) for t in c.first],
                    [self._bit(t, where) for t in c.second],
                    [column for columns in fields.values() for column in columns] if keep else [],
                    until,
                    self._counter(c.first, where) if counter else [],
                )
            )
        self._clock_of = [clock_names.index(c.clock) for c in self.channels]
        used: dict[int, int] = {}  # signal -> number among those that are watched

        def watched(signal):
            return used.setdefault(signal, len(used))

        def bits(list):
            return [(watched(s), bit, inverted) for s, bit, inverted in list]

        def slices(column):
            return [(watched(s), *rest) for s, *rest in column]

        clocks = [
            ((0, 0, False) if signal is None else bits([signal])[0], bits(resets), period)
            for signal, resets, period in clocks
        ]
        channels = [
            (kind, clock, bits(first), bits(second),
             [slices(column) for column in columns], until, slices(counter))
            for kind, clock, first, second, columns, until, counter in channels
        ]  # fmt: skip
        self._vcd.sample(
            list(used),
            [self.signals.widths[signal] for signal in used],
            clocks,
            channels,
            self._origin(names),
            window,
            keep,
            None if self.picture is None else self.picture.options(len(channels)),
            self.in_times,
        )
        self._begun = False

    def _origin(self, names):
        origin = self.map.origin
        if origin is None:
            return (0, 0, 0)
        if isinstance(origin, str):
            if origin not in names:
                raise self._unfit(
                    f"origin: there is no channel '{origin}'; there is {listed(names)}"
                )
            return (1, names.index(origin), 0)
        if not self.tick:
            raise self._unfit(
                f"origin is a time, but {self.path} does not say its time scale; name a channel"
            )
        return (2, 0, -(-origin // self.tick))

    # Reading

    def step(self) -> bool:
        """Reads the next piece; False when there is no more."""
        if self.finished:
            return False
        piece = self._stream.read() if self._begun else None
        self._begun = True
        whole = False
        try:
            self._vcd.read(piece or b"")
            if piece is None or piece:
                self._vcd.settle()
                return True
            whole = self._vcd.complete() and self._stream.damage is None
            if not whole:
                cut = "the recording ends in the midst of a line"
                why = self._stream.damage or cut
                self.damage = f"line {self._vcd.line}, byte {self._vcd.byte}: {why}"
        except Error as error:
            if error.code != "E-wave":
                raise
            self.damage = str(error)
        try:
            self._vcd.finish(whole)
        except Error as error:  # of what its last instant shows
            if error.code != "E-wave":
                raise
            self.damage = str(error)
            self._vcd.finish(False)
        self.finished = True
        return False

    def read(self, progress: Callable[[int, int | None], object] | None = None) -> None:
        """Reads to the end. `progress(bytes of the file so far, of all or None)` is called now and
        then.
        """
        while self.step():
            if progress is not None:
                progress(self._stream.position, self._stream.total)

    @property
    def position(self) -> tuple[int, int | None]:
        """(bytes of the file read so far, all of them or None)."""
        return self._stream.position, self._stream.total

    # What was found

    @property
    def in_times(self) -> bool:
        """Whether the positions of its picture are times: its channels have several clocks."""
        if self.picture is None or not self.picture.times:
            return False
        return len(set(self._clock_of)) > 1

    @property
    def history(self) -> tuple[tuple[int, int], list[tuple[bytes, bytes]]]:
        """Behind read(), with a picture: (positions kept one by one from, to; (bins, phases) of each
        channel), as lpn/wave/history.h has them.
        """
        return self._vcd.history()

    @property
    def origin_time(self) -> int | None:
        """The time of cycle 0."""
        return self._vcd.origin

    @property
    def time(self) -> int:
        """The last instant that is complete, in times of the recording; -1 without any."""
        return self._vcd.time

    def clock_totals(self, channel: int) -> tuple[int, int | None, int, int]:
        """(edges, edge of cycle 0 or None, times of the first and the last edge) of its clock."""
        return self._vcd.clocks[self._clock_of[channel]]

    def totals(self, channel: int) -> dict[str, Any]:
        return self._vcd.totals(channel)

    def take(self, channel: int) -> Rows:
        """Transfers since the last call; with `keep` only."""
        import array

        columns: list[Any] = []
        for code, data in zip("qqQQ", self._vcd.take(channel)):
            column = array.array(code)
            column.frombytes(data)
            columns.append(column)
        edges, stalled, values, unknowns = columns
        rows = Rows(edges, stalled, values, unknowns, sum(self._fields[channel].values()))
        for name, width in self._signs[channel].items():
            self._extend(rows, self.column(channel, name), width)
        return rows

    @staticmethod
    def _extend(rows, first, width):
        """The signs of a field of so many bits, from column `first` on."""
        last, bit = (width - 1) // 64, (width - 1) % 64
        above = (1 << 64) - (1 << bit)
        for at in range(first, len(rows.values), rows.columns):
            if rows.values[at + last] >> bit & 1 and not any(rows.unknowns[at : at + last + 1]):
                rows.values[at + last] |= above

    def payload(self, channel: int, rows: Rows, row: int) -> dict[str, int | str]:
        """{field: value} of a transfer; a text of binary digits with x where bits are unknown."""
        at = row * rows.columns
        found: dict[str, int | str] = {}
        for name, columns in self._fields[channel].items():
            value = unknown = 0
            for k in range(columns):
                value |= rows.values[at + k] << (64 * k)
                unknown |= rows.unknowns[at + k] << (64 * k)
            at += columns
            if unknown:
                digits = max(value.bit_length(), unknown.bit_length())
                found[name] = "".join(
                    "x" if unknown >> k & 1 else str(value >> k & 1)
                    for k in reversed(range(digits))
                )
            else:
                sign = name in self._signs[channel] and value >> (64 * columns - 1)
                found[name] = value - (1 << 64 * columns) if sign else value
        return found

    def columns(self, channel: int) -> list[int]:
        """How many 64-bit columns each field of a channel takes."""
        return list(self._fields[channel].values())

    def width(self, channel: int, field: str) -> int:
        """How many 64-bit columns a field of a channel takes."""
        return self._fields[channel][field]

    def column(self, channel: int, field: str) -> int:
        """The first column of a field among Rows.values of its channel."""
        names = list(self._fields[channel])
        return sum(self._fields[channel][n] for n in names[: names.index(field)])


def _width(columns):
    """Bits of a field (Recording._field)."""
    return sum(width for column in columns for _, _, width, _ in column)
