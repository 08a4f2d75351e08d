"""lpn.Traffic: streams of requests into the places of a net, with a seed."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator
from numbers import Integral
from typing import Any

from ..authoring.marking import Marking
from ..authoring.net import Net
from ..authoring.place import Place
from ..authoring.token import BORN, birth_of
from ..errors import listed, mistake, without_place
from ..words import integer

__all__ = ["Traffic"]

_LAST = (1 << 62) - 1  # the last time at which a request may be born
_EXACT = 1 << 53  # the last of the floats that are all whole numbers


class _Stream:
    """Requests into one place: arrival times, and a column or distribution per property."""

    def __init__(self, place, times, requests, values):
        self.place = place
        self.times = times
        self.requests = requests
        self.values = values

    def blocks(self, rng):
        """(times, rows) as numpy arrays of int64, until all requests have come."""
        import numpy

        left, first = self.requests, 0
        last = 0
        for block in self.times(rng):
            block = numpy.asarray(block)[:left]
            if block.size == 0:
                break
            whole = block if block.dtype.kind in "iub" else numpy.floor(block)
            # False for what is no number, too.
            rises = (whole[1:] >= whole[:-1]).all() and last <= whole[0] and whole[-1] <= _LAST
            if not rises:
                raise mistake(
                    "E-traffic", f"arrivals of '{self.place.name}' must be times that never fall"
                )
            if whole.dtype.kind == "f" and whole[-1] > _EXACT:
                raise mistake(
                    "E-traffic",
                    f"arrivals of '{self.place.name}' go on beyond cycle 2^53, where a float is no "
                    "exact time; give a list of ints",
                )
            times = whole.astype(numpy.int64)
            last = int(times[-1])
            yield times, self._rows(rng, first, times)
            first += times.size
            left -= times.size
            if left <= 0:
                break

    def _whole(self, name, drawn, number):
        """What a list or a distribution gave, as an array of int64 or one for all."""
        import numpy

        about = f"traffic of '{self.place.name}': {name}"
        drawn = numpy.asarray(drawn)
        if drawn.shape not in ((), (number,)):
            raise mistake(
                "E-traffic",
                f"{about} needs {number} numbers, got an array of shape {drawn.shape}",
            )
        if drawn.dtype.kind in "ib":
            return drawn.astype(numpy.int64, copy=False)
        if drawn.dtype.kind == "u":
            fits = drawn <= numpy.uint64(2**63 - 1)
        elif drawn.dtype.kind == "f":  # False for what is no number, too
            fits = (drawn == numpy.floor(drawn)) & (abs(drawn) < 2.0**63)
        else:
            raise mistake("E-traffic", f"{about} needs whole numbers, got {drawn.dtype}")
        if not fits.all():
            raise mistake(
                "E-traffic",
                f"{about} = {drawn[~fits].flat[0]} is no whole number of 64 bits; round what is drawn",
            )
        return drawn.astype(numpy.int64)

    def _rows(self, rng, first, times):
        import numpy

        rows = numpy.empty((times.size, len(self.place._type.fields)), numpy.int64)
        for column, (name, position) in zip(rows.T, self.place._type.fields.items()):
            given = self.values.get(name, times)
            if callable(given):
                given = self._whole(name, given(rng, times.size), times.size)
            elif given is not times and not isinstance(given, int):
                given = self._whole(name, given[first : first + times.size], times.size)
            column[:] = given
            bounds = self.place._type.ranges[position]
            if bounds is None:
                continue
            if given is times and bounds[0] <= times[0] and times[-1] <= bounds[1]:
                continue  # they never fall
            if isinstance(given, numpy.ndarray) and given.dtype == numpy.int64:
                column = given  # what lies side by side is looked at faster
            if bounds[0] <= column.min() and column.max() <= bounds[1]:
                continue
            wrong = column[(column < bounds[0]) | (column > bounds[1])]
            raise mistake(
                "E-range",
                f"traffic of '{self.place.name}': {name} = {wrong[0]} is outside its range "
                f"{bounds[0]}..{bounds[1]}; clip what is drawn, or declare a wider range",
            )
        return rows


class Traffic:
    """Requests that arrive at their own times: `stream` and `trace` say which. `start` is a Marking
    of what is there before. The same seed gives the same requests (by numpy's PCG64).
    """

    def __init__(self, net: Net, seed: int = 1) -> None:
        if not isinstance(net, Net):
            raise mistake("E-operand", f"Traffic needs a net, got {net!r}")
        if not isinstance(seed, int) or seed < 0:
            raise mistake("E-traffic", f"the seed must be an int >= 0, got {seed!r}")
        self.net = net
        self.seed = seed
        self.start = Marking(net)
        self._streams: list[_Stream] = []

    def stream(
        self,
        place: Place | str,
        arrivals: Any,
        requests: int,
        **values: Any,
    ) -> None:
        """`requests` tokens into `place`, at the times of `arrivals`: lpn.periodic(gap),
        lpn.poisson(gap), lpn.bursts(...), or a list of cycles.

        A property is an int, a list with a value per request, or a distribution:
        lpn.exponential(mean), lpn.uniform(lo, hi), lpn.choice({value: weight}), or any function
        (numpy Generator, n) -> n numbers. `born: lpn.Birth` is the time of arrival. Raises Error
        "E-traffic", and "E-marking" for properties that do not fit.
        """
        to = self.net[place if isinstance(place, str) else place.name]
        if not isinstance(requests, Integral) or requests < 0:
            raise mistake("E-traffic", f"requests must be an int >= 0, got {requests!r}")
        fields = to._type.fields
        needed = [name for name in fields if name != BORN or not birth_of(to._type)]
        if sorted(values) != sorted(needed):
            raise mistake(
                "E-marking",
                f"traffic of '{to.name}' needs exactly: {listed(needed)}; got: {listed(values)}",
            )
        if any(place.name == to.name and place.capacity for place in self._bounded()):
            raise mistake(
                "E-traffic",
                f"place '{to.name}' has a capacity, so nothing can arrive in it: who brings it "
                "could not wait; let it arrive in a place without one, in front of it",
            )
        for name, given in values.items():
            if isinstance(given, Integral):
                values[name] = int(given)
            elif not callable(given):
                values[name] = _column(given, name, requests)
        if not callable(arrivals):
            times = _column(arrivals, "arrivals", requests)
            arrivals = _listed_times(times)
        self._streams.append(_Stream(to, arrivals, int(requests), values))

    def _bounded(self):
        return [place for place in self.net.core.places if place.capacity is not None]

    def trace(self, place: Place | str, path: str | os.PathLike[str]) -> None:
        """The requests of a CSV file: a column `at`, in cycles that never fall, and one for each
        property. Raises Error "E-input".
        """
        to = self.net[place if isinstance(place, str) else place.name]
        columns: dict[str, list[int]] = {}
        try:
            with open(path, newline="", encoding="utf-8-sig") as file:
                reader = csv.DictReader(file, strict=True)
                names = reader.fieldnames or []
                if "at" not in names:
                    raise without_place("E-input", f"{path}: there is no column 'at'")
                columns = {name: [] for name in names}
                if len(columns) < len(names):
                    twice = next(name for name in names if names.count(name) > 1)
                    raise without_place("E-input", f"{path}: there are two columns '{twice}'")
                for row in reader:
                    for name in names:
                        columns[name].append(_cell(path, reader.line_num, name, row.get(name)))
                    if None in row:
                        raise without_place(
                            "E-input", f"{path}:{reader.line_num}: more values than columns"
                        )
        except OSError as error:
            raise without_place("E-input", f"cannot read {path}: {error.strerror}") from None
        except (UnicodeDecodeError, csv.Error) as error:
            raise without_place("E-input", f"{path} is no CSV file ({error})") from None
        times = columns.pop("at")
        for number, (before, time) in enumerate(zip(times, times[1:])):
            if time < before:
                raise without_place(
                    "E-input",
                    f"{path}: request {number + 1} comes at {time}, after one at {before}",
                )
        if times and times[0] < 0:
            raise without_place("E-input", f"{path}: request 0 comes at {times[0]}")
        self.stream(to, times, len(times), **columns)

    @property
    def requests(self) -> int:
        """How many there are in all."""
        return sum(stream.requests for stream in self._streams)

    def blocks(self) -> Iterator[tuple[int, list[tuple[Place, Any, Any]]]]:
        """(horizon, [(place, rows, times)]): the requests in parts, in the order of time. No later
        part has one before the horizon. Rows and times are numpy arrays of int64.
        """
        import numpy

        runs: list[Any] = [
            stream.blocks(numpy.random.default_rng([self.seed, number]))
            for number, stream in enumerate(self._streams)
        ]
        ready: list[Any] = [next(run, None) for run in runs]
        while any(block is not None for block in ready):
            horizon = min(int(block[0][-1]) for block in ready if block is not None)
            parts: dict[str, list[Any]] = {}
            for number, block in enumerate(ready):
                if block is None:
                    continue
                times, rows = block
                cut = int(numpy.searchsorted(times, horizon, "right"))
                if cut:
                    now = parts.setdefault(self._streams[number].place.name, [])
                    now.append((times[:cut], rows[:cut]))
                if cut < times.size:
                    ready[number] = times[cut:], rows[cut:]
                else:
                    ready[number] = next(runs[number], None)
            found: list[tuple[Place, Any, Any]] = []
            for name, several in parts.items():
                rows, times = _merged(several)
                found.append((self.net[name], rows, times))
            yield horizon, found

    def marking(self) -> Marking:
        """All requests at once, for runs that are not streamed."""
        marking = Marking.parse(self.net, self.start.save_bytes())
        marking.done_count = self.start.done_count
        for _, parts in self.blocks():
            for place, rows, times in parts:
                marking._core.add_at(place._number, rows.ravel().tolist(), times.tolist())
        return marking


def _merged(parts):
    """(rows, times) of several streams into one place, by time; equal ones in their order."""
    import numpy

    times, rows = parts[0]
    if len(parts) > 1:
        times = numpy.concatenate([part[0] for part in parts])
        rows = numpy.concatenate([part[1] for part in parts])
        order = numpy.argsort(times, kind="stable")
        times, rows = times[order], rows[order]
    return numpy.ascontiguousarray(rows), numpy.ascontiguousarray(times)


def _column(given, name, requests):
    import numpy

    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise mistake(
            "E-traffic",
            f"'{name}' must be an int, a list, or a distribution as lpn.uniform(0, 9), got {given!r}",
        )
    column = numpy.asarray(given if hasattr(given, "__len__") else list(given))
    if column.ndim != 1 or (column.size and column.dtype.kind not in "iub"):
        raise mistake("E-traffic", f"'{name}' must be a list of ints")
    if column.size < requests:
        raise mistake("E-traffic", f"'{name}' has {column.size} values for {requests} requests")
    return column


def _listed_times(times):
    def blocks(rng):
        yield times

    return blocks


def _cell(path, line, name, text):
    try:
        return integer(text)
    except (AttributeError, ValueError):
        said = "no value" if text is None else f"'{text}'"
        raise without_place(
            "E-input", f"{path}:{line}: column '{name}' has {said}, which is no whole number"
        ) from None
