"""Open-loop runs: requests come in parts while the run goes on, and each one's latency is summed up.

Memory is that of the requests under way and of histograms of a fixed size, however many requests
there are.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import _lpn

from ..authoring.marking import Marking
from ..authoring.net import Net
from ..authoring.place import Place
from ..authoring.token import BORN, birth_of
from ..errors import listed, mistake
from ..interrupt import Interrupt
from ..traffic import Traffic
from .background import Background
from .endless import refuse_endless
from .engines import name_of, start
from .quickest import first_answer
from .run import Run, budget_of

__all__ = [
    "CONFIDENCE",
    "FIGURES",
    "Replicated",
    "ends_of_requests",
    "estimate",
    "measure",
    "measured_places",
]

# What is said of latencies, and which of it has an interval. Quantiles are by nearest rank.
QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}
FIGURES = ("mean", *QUANTILES)
CONFIDENCE = 0.95


def ends_of_requests(net: Net) -> list[Place]:
    """The places in which requests end: those that nothing takes from, whose tokens say when they
    were born.
    """
    read = {arc.place for t in net.core.transitions for arc in t.inputs}
    bounded = {number for number, p in enumerate(net.core.places) if p.capacity is not None}
    return [
        place
        for place in net.places.values()
        if birth_of(place._type) and place._number not in read | bounded
    ]


def measured_places(net: Net) -> list[Place]:
    """The same. Raises Error "E-born" where there is none."""
    found = ends_of_requests(net)
    if not found:
        raise mistake(
            "E-born",
            f"net '{net.name}' does not say how long a request takes: no place that keeps its "
            f"tokens has a property {BORN}: lpn.Birth; declare it for the tokens of requests, from "
            "where they arrive to where they are done",
        )
    return found


def measure(
    net: Net,
    values: Sequence[int],
    traffic: Traffic | Marking | Callable[[], Traffic | Marking],
    library: Any,
    *,
    by: str | None = None,
    warm_up: int = 0,
    limit: int | None = None,
    limits: Any = None,
    on_slice: Callable[[int, int], object] | None = None,
) -> tuple[Run, dict[str, Any]]:
    """(the Run, {place: _lpn.sim.Latencies}): one run of the traffic, or of a Marking.

    `values`: of the net's parameters; `library`: None for the interpreter, a Background of the net
    for whatever answers first. `traffic` may be a function that makes it, called again when the run
    starts over. `by`: a property whose
    values are the classes. Requests born before `warm_up` (cycles) are left out. Ctrl-C ends it with
    ending "interrupted" and what was measured. Raises Error "E-born", and "E-unending" where nothing
    would end it.
    """
    limits = limits or budget_of()
    what = (by, warm_up, limit, on_slice)
    if not isinstance(library, Background):
        return _measured(net, values, traffic, library, what, limits)

    def run(libraries, limits, leave):
        return _measured(net, values, traffic, libraries[0], what, limits, leave)

    return first_answer(library, limits, run)


def _measured(net, values, traffic, library, what, limits, leave=None):
    """What measure() returns; None once leave() is true."""
    by, warm_up, limit, on_slice = what
    traffic = traffic() if callable(traffic) else traffic
    places = measured_places(net)
    sums = {}
    for place in places:
        fields = place._type.fields
        if by is not None and by not in fields:
            raise mistake(
                "E-born",
                f"tokens of '{place.name}' have no property '{by}' to tell classes; they have: "
                f"{listed(fields)}",
            )
        sums[place.name] = _lpn.sim.Latencies(
            len(fields), fields[BORN], None if by is None else fields[by], warm_up
        )
    marking = traffic.start if isinstance(traffic, Traffic) else traffic
    refuse_endless(net, marking, limit, limits)
    last = _lpn.FOREVER if limit is None else limit
    with Interrupt() as stop:

        def ends():
            return stop.asked or leave is not None and leave()

        machine = start(
            net,
            values,
            marking,
            library,
            budget=limits,
            poll=lambda time, commits: ends(),
        )
        for place in places:
            machine.collect(place._number)

        def drain():
            for place in places:
                sums[place.name].drain(machine, place._number)

        def between(time, commits):
            with contextlib.suppress(_lpn.Error):  # "E-call": asked in the midst of an instant
                drain()
            if on_slice is not None:
                on_slice(time, commits)
            return ends()

        def run_to(time):
            nonlocal seconds
            answer = _lpn.sim.run(machine, time, None, between, 0.0)
            seconds += answer[1]
            drain()
            return answer[0], answer[2], answer[3]

        seconds, over = 0.0, False
        for horizon, parts in traffic.blocks() if isinstance(traffic, Traffic) else ():
            for place, rows, times in parts:
                _lpn.sim.feed(machine, place._number, rows.ravel(), times)
            if horizon > last:
                break
            if horizon == 0:
                continue
            result, interrupted, reached = run_to(horizon - 1)  # more may come at the horizon
            over = interrupted or result.ending != "limit"
            if over:
                break
        if not over:
            result, interrupted, reached = run_to(last)
    if interrupted and not stop.asked:
        return None
    run = Run(net, result, name_of(library), seconds)
    if interrupted or run.ending in ("limit", "budget"):
        run.until = reached if reached >= 0 else None
    if interrupted:
        run.ending = "interrupted"
    return run, sums


class Replicated:
    """The latencies of one place, or of one class of its requests, over independent runs."""

    def __init__(self, histograms: Iterable[Any]) -> None:
        self.histograms = [h for h in histograms if h.count > 0]
        self.requests = sum(h.count for h in self.histograms)

    def estimates(self) -> dict[str, tuple[float, float | None]]:
        """{figure: (value, half of its interval or None)}; the intervals hold together.

        The mean is that of the runs. A quantile is that of all requests: the quantiles of single runs
        are too low on average. Its interval is by the jackknife, each run left out once, of the
        quantile between two values: whole ones may be the same whichever run is left out.
        """
        rows = {"mean": estimate([h.mean for h in self.histograms], len(FIGURES))}
        values, counts = self._table()
        total = counts.sum(axis=0)
        runs = len(self.histograms)
        for name, q in QUANTILES.items():
            pooled = _quantile(values, total, q)
            half = None
            if runs > 1:
                whole = _between(values, total, q)
                without = [_between(values, total - one, q) for one in counts]
                # Pseudo-values: what each run says of the quantile.
                half = estimate([runs * whole - (runs - 1) * w for w in without], len(FIGURES))[1]
            rows[name] = (pooled, half)
        return rows

    @property
    def least(self) -> int:
        return min(h.least for h in self.histograms)

    @property
    def greatest(self) -> int:
        return max(h.greatest for h in self.histograms)

    def cells(self) -> list[tuple[int, int, int]]:
        """(first value, last value, count) of all runs together."""
        counts: dict[int, tuple[int, int]] = {}
        for histogram in self.histograms:
            for first, last, count in histogram.cells():
                known = counts.get(first, (last, 0))
                counts[first] = (max(last, known[0]), count + known[1])
        return [(first, last, count) for first, (last, count) in sorted(counts.items())]

    def _table(self):
        """(values in order, counts per run and value) as arrays."""
        import numpy

        together = self.cells()
        column = {first: k for k, (first, _, _) in enumerate(together)}
        counts = numpy.zeros((len(self.histograms), len(together)), numpy.int64)
        for row, histogram in zip(counts, self.histograms):
            for first, _, count in histogram.cells():
                row[column[first]] = count
        return numpy.array([last for _, last, _ in together]), counts


def _quantile(values, counts, q):
    """The least of the values that at least the fraction `q` of so many do not exceed."""
    import numpy

    before = numpy.cumsum(counts)
    wanted = max(1, math.ceil(q * int(before[-1])))
    return int(values[numpy.searchsorted(before, wanted)])


def _between(values, counts, q):
    """The same, in a straight line between it and the value before."""
    import numpy

    before = numpy.cumsum(counts)
    wanted = q * float(before[-1])
    k = int(numpy.searchsorted(before, wanted))
    below, reached = (values[k - 1], before[k - 1]) if k else (values[0] - 1, 0)
    return float(below + (values[k] - below) * (wanted - reached) / (before[k] - reached))


def estimate(values: Sequence[float], together: int = 1) -> tuple[float, float | None]:
    """(mean, half of its interval) of independent values, by Student's t; None of one value.

    `together`: of how many figures the intervals are to hold at once with CONFIDENCE (Bonferroni:
    each by itself holds with 1 - (1 - CONFIDENCE) / together).
    """
    n = len(values)
    mean = math.fsum(values) / n
    if n < 2:
        return mean, None
    from scipy.special import stdtrit

    deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (n - 1))
    level = 1 - (1 - CONFIDENCE) / together / 2
    return mean, float(stdtrit(n - 1, level)) * deviation / math.sqrt(n)
