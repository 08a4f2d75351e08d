"""The simplest formula that recorded firings allow.

What a recording says about a delay are *bounds*: an event (a recorded start or commit) is the latest
of several sums, one of them with the delay of a firing in it, so the delay is at most the event less
the rest. It is exactly that in the events that nothing else explains. So a formula must not pass a
bound, and has to meet one in every such event.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from .formula import Formula, Term, greater
from .terms import Site

__all__ = ["Bounds", "Candidate", "Shape", "search"]

DIVISORS = [*range(2, 33), 48, 64, 96, 128, 256, 512, 1024, 2048, 4096]
TABLE = 16  # most entries of a table
TRIES = 48  # subsets of firings from which coefficients are computed, per set of terms
WORSE = 5  # times as bad as an event that is not met is one that is passed: no waiting explains it
KEPT = 40  # candidates that are tried on all events


@dataclass
class Shape:
    """A formula that is a sum of multiples of unknowns. `site`: whose it is; `free`: those to be found;
    `first`: values of all, of the free ones the least that they may be, or 0.
    """

    site: Site
    free: list[str]
    first: dict[str, int]

    def allows(self, formula: Formula) -> bool:
        found = self.site.values(formula)
        return all(found[u] >= self.site.unknowns[u] for u in self.free)

    def beyond(self, formula: Formula) -> Formula:
        """The formula whose multiples are added to the first values."""
        more = self.site.values(formula)
        return self.site.sum({u: v + more[u] for u, v in self.first.items()})


@dataclass
class Bounds:
    """`columns`: feature -> its values per row, `base`: what is known of the formula there; per row of
    `at`: an index into them, the bound without the base, and the event, in order of events. Per event:
    what the rest leaves (`slack`, a large number where nothing else ends there), whether more is
    unknown about it, and whether it is only bounded (loose).
    """

    columns: dict[str, np.ndarray]
    base: np.ndarray
    at: np.ndarray
    bound: np.ndarray
    event: np.ndarray
    slack: np.ndarray
    unsure: np.ndarray
    loose: np.ndarray
    least: int = 0  # no formula may be less for any firing, with the base
    shape: Shape | None = None  # None: the formula is open

    @property
    def events(self) -> int:
        """Events that a formula can meet."""
        return int((~self.loose).sum())

    @property
    def rows(self) -> int:
        """Rows of the columns."""
        return len(next(iter(self.columns.values()))) if self.columns else int(self.at.max()) + 1

    def score(self, formula: Formula) -> tuple[int, int]:
        """(events met exactly, events passed)."""
        if not self.allows(formula):
            return 0, len(self.slack)
        return self.judge(self.left(formula))

    def allows(self, formula: Formula) -> bool:
        """Whether it is nowhere less than the least, nor one of its unknowns."""
        if self.shape is not None and not self.shape.allows(formula):
            return False
        values = self.base[: self.rows] + formula.at(self.columns, self.rows)
        return bool((values >= self.least).all())

    def left(self, formula: Formula) -> np.ndarray:
        """What a formula leaves of each bound."""
        return self.bound - formula.at(self.columns, self.rows)[self.at]

    def least_left(self, left: np.ndarray) -> np.ndarray:
        """What is left of each event, of what is left of each bound."""
        least = self.slack.copy()
        np.minimum.at(least, self.event, left)
        return least

    def judge(self, left):
        least = self.least_left(left)
        return int(((least == 0) & ~self.loose).sum()), int((least < 0).sum())

    @property
    def needed(self) -> int:
        """Events that nothing else explains."""
        return int(((self.slack > 0) & ~self.unsure & ~self.loose).sum())


@dataclass
class Candidate:
    formula: Formula
    met: int
    passed: int

    def merit(self, events: int) -> float:
        """Its worth where there are so many events: what it meets, less what it costs."""
        return self.met - WORSE * self.passed - (1 + 0.008 * events) * self.formula.cost


def search(bounds: Bounds, levels: int = 9) -> list[Candidate]:
    """Candidates, the best one first; none where there is no bound. `levels`: how far to go from the
    simplest ones. One that is less than it may be is there only where all are.
    """
    if not len(bounds.at):
        return []
    shape = bounds.shape
    rows = _Rows(bounds)
    found: dict[Formula, Candidate] = {}
    pool: list[tuple[float, Formula]] = []

    def add(formulas):
        pool.extend(formulas)

    if shape is None:
        add(rows.constants(bounds.least))
    else:
        add([(rows.value(Formula(0)), Formula(0))])
    exact_at = 0 if rows.complete(pool) else None
    for level, terms in _levels(rows) if shape is None else _shape_levels(shape.free):
        if level > levels or exact_at is not None and level > exact_at + 1:
            break
        for each in terms:
            add(rows.fitted(each, shape is None))
        if exact_at is None and rows.complete(pool):
            exact_at = level
    if exact_at is None and shape is None and levels > 1:
        add(rows.greater_of(pool))
    pool.sort(key=lambda p: (-p[0], p[1].cost))
    if shape is not None:
        pool = [(value, shape.beyond(formula)) for value, formula in pool]
    pool = _allowed(pool, bounds) or pool
    simple = sorted(pool, key=lambda p: p[1].cost)
    for _, formula in itertools.chain(pool[:KEPT], [p for p in simple if p[0] >= pool[0][0]]):
        if formula not in found:
            found[formula] = Candidate(formula, *bounds.score(formula))
    return ranked(list(found.values()), bounds.events)


def _allowed(pool, bounds):
    """The first of a pool that are nowhere less than they may be."""
    kept = (p for p in pool if bounds.allows(p[1]))
    return list(itertools.islice(kept, 4 * KEPT))


def ranked(found, events):
    """The best first: the simplest of those that meet every event; where none does, by merit: an
    exact formula of many numbers for a part of the events is worth less than a simple one for most.
    """
    whole = [c for c in found if not c.passed and c.met == events]
    if whole:
        best = min(whole, key=lambda c: c.formula.cost)
        rest = [c for c in found if c is not best]
        rest.sort(key=lambda c: (-c.met + c.passed, c.formula.cost))
        return [best, *rest]
    most = max((c.met for c in found if not c.passed), default=-1)
    clean = [c for c in found if not c.passed and c.met >= most]
    best = max(found, key=lambda c: (c.merit(events), -c.formula.cost))
    simple = min(clean, key=lambda c: c.formula.cost, default=None)
    if simple is not None and simple.merit(events) >= best.merit(events):
        best = simple
    rest = [c for c in found if c is not best]
    rest.sort(key=lambda c: (-c.met + c.passed, c.formula.cost))
    return [best, *rest]


class _Rows:
    """Bounds with equal rows put together, with weights."""

    def __init__(self, bounds):
        shape = bounds.shape
        self.names = [
            n
            for n, c in bounds.columns.items()
            if shape is not None or len(np.unique(c[bounds.at])) > 1
        ]
        # Of all firings, those included that no recorded instant is about.
        self.ranges = {n: (int(c.min()), int(c.max())) for n, c in bounds.columns.items() if len(c)}
        left = bounds.bound if shape is None else bounds.left(shape.site.sum(shape.first))
        data = [bounds.columns[n][bounds.at] for n in self.names] + [left]
        # An event counts for its least bound alone; one that something else explains counts little.
        least = np.full(len(bounds.slack), np.iinfo(np.int64).max)
        np.minimum.at(least, bounds.event, left)
        weight = np.where(left == least[bounds.event], 1.0, 0.01)
        weight = weight * np.where(bounds.slack[bounds.event] > 0, 1.0, 0.05)
        weight = weight * np.where(bounds.loose[bounds.event], 0.01, 1.0)
        rows, inverse = np.unique(np.stack(data, axis=1), axis=0, return_inverse=True)
        self.weight = np.bincount(inverse.ravel(), weights=weight, minlength=len(rows))
        self.bound = rows[:, -1]
        self.columns = {n: rows[:, k] for k, n in enumerate(self.names)}
        self.random = np.random.default_rng(20261123)
        self.total = self.weight.sum()

    def value(self, formula):
        left = self.bound - formula.at(self.columns, len(self.bound))
        return float(self.weight[left == 0].sum() - WORSE * self.weight[left < 0].sum())

    def complete(self, pool):
        return any(value >= self.total - 1e-6 for value, _ in pool)

    def constants(self, least=0):
        values = np.unique(self.bound)
        counts = [(float(self.weight[self.bound == v].sum()), int(v)) for v in values]
        counts.sort(reverse=True)
        tried = {least} | {v for _, v in counts[:8]} | {int(v) for v in values[:4]}
        return [(self.value(Formula(v)), Formula(v)) for v in tried if v >= least]

    def targets(self, design):
        """Per different row of `design`: the row, its likeliest value, the weight of that."""
        rows, inverse = np.unique(design, axis=0, return_inverse=True)
        inverse = inverse.ravel()
        order = np.lexsort((self.bound, inverse))
        row, bound = inverse[order], self.bound[order]
        new_row = np.append(True, row[1:] != row[:-1])
        first = np.flatnonzero(new_row | np.append(True, bound[1:] != bound[:-1]))
        here = np.add.reduceat(self.weight[order], first)
        row, bound, begins = row[first], bound[first], new_row[first]
        before = np.cumsum(here) - here
        below = before - before[begins][np.cumsum(begins) - 1]  # in the same row
        ranked = np.lexsort((here - below, row))
        best = ranked[np.append(row[ranked][1:] != row[ranked][:-1], True)]
        return rows, bound[best].astype(float), here[best]

    def fitted(self, terms, constant=True):
        """Formulas of these terms whose coefficients some firings give."""
        design = np.stack([t.at(self.columns) for t in terms], axis=1)
        rows, value, weight = self.targets(design)
        unknowns = len(terms) + constant
        if len(rows) < unknowns:
            return []
        ones = [np.ones((len(rows), 1))] if constant else []
        full = np.concatenate([rows, *ones], axis=1).astype(float)
        if weight.sum() <= 0 or int((weight > 0).sum()) < unknowns:
            return []
        tries = [np.unique(np.linspace(0, len(rows) - 1, unknowns).astype(int))]  # the ends
        share = np.cumsum(weight / weight.sum())
        drawn = np.searchsorted(share, self.random.random((TRIES, unknowns)))
        drawn = np.sort(np.minimum(drawn, len(rows) - 1), axis=1)
        distinct = (np.diff(drawn, axis=1) > 0).all(axis=1)
        tries = np.concatenate([np.array(tries), drawn[distinct]])
        systems = full[tries]
        solvable = np.abs(np.linalg.det(systems)) > 1e-9
        if not solvable.any():
            return []
        solved = np.linalg.solve(systems[solvable], value[tries[solvable]][..., None])[..., 0]
        whole = np.rint(solved)
        fine = (np.abs(solved - whole).max(axis=1) < 1e-6) & (np.abs(whole).max(axis=1) < 2**40)
        fine &= (whole[:, : len(terms)] != 0).all(axis=1)
        if not fine.any():
            return []
        whole = np.unique(whole[fine], axis=0)
        ones = [np.ones((len(design), 1))] if constant else []
        left = self.bound[:, None] - np.concatenate([design, *ones], axis=1) @ whole.T
        values = self.weight @ (left == 0) - WORSE * (self.weight @ (left < 0))
        best = np.argsort(-values)[:6]
        return [
            (
                float(values[k]),
                Formula(
                    int(whole[k, -1]) if constant else 0,
                    tuple((int(c), t) for c, t in zip(whole[k], terms)),
                ),
            )
            for k in best
        ]

    def tables(self, name):
        values = self.columns[name]
        low, high = self.ranges[name]
        if high - low >= TABLE or len(np.unique(values)) < 3:
            return []
        rows, value, _ = self.targets(values.reshape(-1, 1))
        at = {int(r[0]): int(v) for r, v in zip(rows, value)}
        entries = [at.get(k) for k in range(low, high + 1)]
        filled = tuple(max(at.values()) if e is None else e for e in entries)
        return [Formula(0, ((1, Term("table", name, low, filled)),))]

    def greater_of(self, pool):
        """Of two formulas, neither of which passes a bound often."""
        clean = {}
        for _, formula in pool:
            left = self.bound - formula.at(self.columns, len(self.bound))
            passed = self.weight[left < 0].sum()
            met = self.weight[left == 0].sum()
            if passed <= 0.02 * self.total and met > 0 and formula.other is None:
                clean[formula] = (met - passed, left)
        order = sorted(clean, key=lambda f: (-clean[f][0], f.cost))
        best = [f for f in order if f.cost <= 1.75][:25] + [f for f in order if f.cost > 1.75][:35]
        found = []
        for one, two in itertools.combinations(best, 2):
            left = np.minimum(clean[one][1], clean[two][1])
            value = float(self.weight[left == 0].sum() - self.weight[left < 0].sum())
            if value > max(clean[one][0], clean[two][0]):
                found.append((value, greater(*sorted((one, two), key=lambda f: -f.cost))))
        found.sort(key=lambda f: (-f[0], f[1].cost))
        return found[:20]


def _shape_levels(shape):
    """Subsets of the unknowns of a shape, the others as they are first."""
    for size in range(1, len(shape) + 1):
        yield size, [[Term("x", n) for n in names] for names in itertools.combinations(shape, size)]


def _levels(rows):
    """(level, sets of terms) from the simplest on."""
    names = rows.names
    singles = [Term("x", n) for n in names]
    yield 1, [[t] for t in singles]
    products = [
        Term("product", x, p)
        for x in names
        for p in names
        if "." not in p and x != p and ("." in x or x < p)
    ]
    divided = [
        Term(kind, n, q)
        for n in names
        if "." in n
        for q in DIVISORS
        if q < rows.columns[n].max()
        for kind in ("ceil", "floor")
    ]
    pairs = [list(p) for p in itertools.combinations(singles, 2)]
    yield 2, [*pairs, *([t] for t in products), *([t] for t in divided)]
    tables = [f.terms[0][1] for n in names for f in rows.tables(n)]
    with_table = [[t] for t in tables] + [
        [t, s] for t in tables for s in singles if s.feature != t.feature
    ]
    triples = [list(p) for p in itertools.combinations(singles, 3)]
    with_product = [[t, s] for t in products for s in singles]
    few = divided if len(divided) <= 200 else [t for t in divided if t.by in (2, 4, 8, 16, 32, 64)]
    with_division = [[t, s] for t in few for s in singles if s.feature != t.feature]
    yield 3, [*with_table, *triples, *with_product, *with_division]
    yield 4, [[t, s, u] for t in products for s, u in itertools.combinations(singles, 2)] + [
        list(p) for p in itertools.combinations(singles, 4)
    ]
