"""What is said of each formula: how well it is decided, and what else would do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .formula import Formula
from .found import Found
from .known import FAR, Known
from .search import Bounds, search

__all__ = ["judge", "scan_hidden", "tell_overtaking"]

MOST_ALSO = 4  # other formulas that are told of
MOST_SCANNED = 4096  # cycles of a constant that no sum tells
STEPS = 24  # of the first, coarse scan


def judge(known: Known) -> None:
    """Fills in what decided each formula (Found)."""
    for key, site in known.open.items():
        found = known.found[key]
        bounds = known.bounds(key, [e[0] for e in known.events(key)])
        if not len(bounds.at):
            found.hidden = found.hidden or "no recorded instant shows it"
            continue
        found.events = bounds.events
        found.met, found.passed = bounds.score(found.formula)
        left = bounds.left(found.formula)
        _support(found, bounds, left)
        found.residuals = _residuals(bounds, left)
        found.constant = {
            n: int(c[bounds.at][0])
            for n, c in bounds.columns.items()
            if site.open and len(np.unique(c[bounds.at])) == 1
        }
        found.also = [
            other.formula
            for other in search(bounds)
            if other.formula != found.formula
            and other.met >= found.met
            and other.passed <= found.passed
            and other.formula.cost <= found.formula.cost + 2
        ][:MOST_ALSO]


def tell_overtaking(known: Known) -> None:
    """Of delays of transitions whose firings overtake one another with what was found, or may where not
    all was met, while nothing says whose a commit is.
    """
    for case in known.cases:
        for name, commits in known.predicted(case).items():
            found = known.found.get((name, "delay"))
            if found is not None and (found.met < found.events or commits != sorted(commits)):
                found.overtaking = True


def _support(found: Found, bounds: Bounds, left: np.ndarray) -> None:
    """How many events need the formula, and at how many points."""
    needed = (bounds.slack[bounds.event] > 0) & ~bounds.loose[bounds.event]
    exact = needed & (left == 0)
    found.support = len(np.unique(bounds.event[exact]))
    if not exact.any():
        return
    used = [bounds.columns[n][bounds.at[exact]] for n in sorted(found.formula.features())]
    found.points = len(np.unique(np.stack(used, axis=1), axis=0)) if used else 1


def _residuals(bounds, left):
    """How far off -> how many events, of those that are not met."""
    least = bounds.least_left(left)
    off, counts = np.unique(
        least[(least != 0) & (least < FAR // 2) & ~bounds.unsure & ~bounds.loose],
        return_counts=True,
    )
    return {int(o): int(c) for o, c in zip(off, counts)}


def scan_hidden(known: Known, say: Callable[[str], None]) -> None:
    """Constants that no instant tells by a sum: which of them make the net's runs meet most."""
    for key, found in known.found.items():
        if found.support or not found.site.open or found.formula.terms:
            continue
        say(f"trying values of {'.'.join(key)}")
        value, first = found.formula.constant, found.site.least
        most = min(max(known.most.get(key, 0), value, 16), MOST_SCANNED)
        low, high = _flattest(
            lambda v, key=key: known.misses({key: Formula(v)}),
            sorted({*range(first, most + 1, max(1, most // STEPS)), most, value}),
        )
        found.formula = Formula(min(max(value, low), most if high is None else high))
        found.fits = (low, high)


def _flattest(missed, grid):
    """The first and last number with the least `missed`, from a grid and then in between; the last
    one is None where the grid ends with it.
    """
    known = {v: missed(v) for v in grid}
    least = min(known.values())
    best = [v for v in grid if known[v] == least]
    low, high = best[0], best[-1]
    below = max((v for v in grid if v < low), default=None)
    above = min((v for v in grid if v > high), default=None)
    while below is not None and low - below > 1:
        middle = (low + below) // 2
        low, below = (middle, below) if missed(middle) == least else (low, middle)
    while above is not None and above - high > 1:
        middle = (high + above) // 2
        high, above = (middle, above) if missed(middle) == least else (high, middle)
    return low, None if above is None else high
