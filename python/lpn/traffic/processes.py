"""When requests come, and what they are like: arrival processes and distributions of properties.

An arrival process is a function of a numpy Generator that yields arrays of times, in cycles, as
floats that never fall; a distribution is a function (Generator, n) -> n whole numbers. Any function
of that kind may stand beside those made here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from numbers import Integral, Real
from typing import Any

from ..errors import mistake

__all__ = ["BLOCK", "bursts", "choice", "exponential", "periodic", "poisson", "uniform"]

BLOCK = 1 << 15  # times in one array

Process = Callable[[Any], Iterator[Any]]
Distribution = Callable[[Any, int], Any]


def _positive(value, what, zero=False):
    number = float(value) if isinstance(value, Real) else math.nan
    if not (number > 0 or zero and number == 0) or math.isinf(number):
        least = ">= 0" if zero else "> 0"
        raise mistake("E-traffic", f"{what} must be a number of cycles {least}, got {value!r}")
    return number


def periodic(gap: float, phase: float = 0) -> Process:
    """One request every `gap` cycles, the first at `phase`. Fractions are kept, times rounded down."""
    gap, phase = _positive(gap, "periodic(gap)"), _positive(phase, "periodic(phase)", zero=True)

    def times(rng):
        import numpy

        first = 0
        while True:
            yield phase + gap * numpy.arange(first, first + BLOCK)
            first += BLOCK

    return times


def poisson(gap: float) -> Process:
    """Requests that know nothing of each other: exponential times between them, `gap` on average."""
    gap = _positive(gap, "poisson(gap)")

    def times(rng):
        import numpy

        now = 0.0
        while True:
            block = now + numpy.cumsum(rng.exponential(gap, BLOCK))
            now = block[-1]
            yield block

    return times


def bursts(size: int, gap: float, within: float = 0) -> Process:
    """Bursts of `size` requests that come `within` cycles apart; from the end of one to the next an
    exponential time, `gap` on average. Their mean rate is size / ((size - 1) * within + gap).
    """
    if not isinstance(size, Integral) or not 1 <= size <= 1 << 30:
        raise mistake("E-traffic", f"bursts(size) must be an int 1..2^30, got {size!r}")
    gap, within = _positive(gap, "bursts(gap)"), _positive(within, "bursts(within)", zero=True)

    def times(rng):
        import numpy

        now = 0.0
        count = max(1, BLOCK // size)
        inside = within * numpy.arange(size)
        while True:
            ends = numpy.cumsum(rng.exponential(gap, count) + inside[-1])
            starts = now + ends - inside[-1]
            now += ends[-1]
            yield (starts[:, None] + inside[None, :]).ravel()

    return times


def exponential(mean: float) -> Distribution:
    """Whole numbers >= 0, exponentially distributed and rounded to the nearest."""
    mean = _positive(mean, "exponential(mean)")
    return lambda rng, n: rng.exponential(mean, n).round()


def uniform(lo: int, hi: int) -> Distribution:
    """Each whole number from lo to hi, both included, equally often."""
    if not (isinstance(lo, int) and isinstance(hi, int) and lo <= hi):
        raise mistake("E-traffic", f"uniform(lo, hi) needs two ints, lo <= hi, got {lo!r}, {hi!r}")
    return lambda rng, n: rng.integers(lo, hi, n, endpoint=True)


def choice(weights: Mapping[int, float]) -> Distribution:
    """One of the values, each as often as its weight says: choice({0: 9, 1: 1})."""
    if not isinstance(weights, Mapping) or not weights:
        raise mistake("E-traffic", f"choice needs {{value: weight}}, got {weights!r}")
    total = sum(_positive(weight, "a weight of choice", zero=True) for weight in weights.values())
    if total <= 0:
        raise mistake("E-traffic", "choice needs a weight > 0")
    values = [int(value) for value in weights]
    shares = [weight / total for weight in weights.values()]
    return lambda rng, n: rng.choice(values, n, p=shares)
