"""What is known of the unknowns so far, and what the recordings then say about the others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import Error, without_place
from .case import Case, case_columns
from .formula import Formula
from .found import Found, Number
from .history import LENIENT, Observed, identify, may_overtake, run
from .result import errors, filled, total
from .search import Bounds, Shape
from .terms import Site, sites_of

__all__ = ["FAR", "NONE_MET", "Known"]

FAR = 1 << 60  # slack of an event that nothing else explains
NONE_MET = 1 << 60  # firings off, of numbers with which a net does not run


class Known:
    """The unknowns of nets that share them by name, with what has been found of each."""

    def __init__(self, observed: list[Observed]) -> None:
        self.sites: dict[tuple[str, str], Site] = {}
        self.unknowns: dict[str, Any] = {}
        for each in observed:
            for key, site in sites_of(each.net).items():
                self.sites.setdefault(key, site)
            self.unknowns.update(each.net.unknowns)
        if not self.unknowns:
            raise without_place(
                "E-unknown",
                "all unknowns of the skeleton are given (-p): nothing is to be found"
                if any(each.settled for each in observed)
                else "the skeleton has no unknown; write lpn.unknown() for what is to be found",
            )
        _require_one_kind(self.unknowns.values())
        self.open = {k: s for k, s in self.sites.items() if s.unknowns}
        self.cases = [Case(each, sites_of(each.net)) for each in observed]
        self.found: dict[tuple[str, str], Found] = {}
        self.settled = {name: u for each in observed for name, u in each.settled.items()}
        self.numbers: dict[str, Number] = {}
        self.most: dict[tuple[str, str], int] = {}  # of sites that no instant decides, a bound
        in_shapes = {u for s in self.open.values() for u in s.unknowns}
        self.pool_names = [
            name
            for name, u in self.unknowns.items()
            if any(use.part in ("servers", "capacity", "init") for use in u.uses)
        ]
        self.tried = [n for n in self.unknowns if n not in in_shapes and n not in self.pool_names]

    def play(self) -> None:
        """Guided runs of all cases, with the numbers of lenient()."""
        for case in self.cases:
            identify(case.observed, self.lenient())
            case.play(self.lenient())

    def lenient(self):
        """Values of the unknown numbers at which nothing is held up that might not be."""
        values = {}
        for name, u in self.unknowns.items():
            values[name] = LENIENT if name in self.pool_names else 0
            if name in self.numbers:
                values[name] = self.numbers[name].value
            elif name in self.tried:
                values[name] = 1
        return values

    def number_values(self):
        """Unknown numbers as found."""
        values = {name: n.value for name, n in self.numbers.items()}
        for f in self.found.values():
            if not f.site.open:
                values.update(f.site.values(f.formula))
        return values

    def values_of(self, case, key):
        """Values of a site by firing of the case's graph; None while they are unknown."""
        site = case.sites.get(key)
        if site is None:
            return None
        if not site.unknowns:
            column = case.rows(site.transition)[:, case.known_columns[key]]
            return case.spread(site.transition, column)
        found = self.found.get(key)
        if found is None:
            return None
        base = case.base(site)
        return case.spread(site.transition, base + found.formula.at(case.columns(site), len(base)))

    def bounds(self, key, events):
        """The Bounds that `events`, a list per case, say about a site."""
        those = [case for case in self.cases if key in case.sites]
        columns: dict[str, list] = {name: [] for name in case_columns(those, key)}
        rows, each, offset = [], [], 0  # of each bound, of each event
        bases = []
        for case, own in zip(self.cases, events):
            site = case.sites.get(key)
            if site is None:
                continue
            own_columns = case.columns(site)
            for name, values in columns.items():
                values.append(own_columns[name])
            base = case.base(site)
            bases.append(base)
            for event in own:
                mine, rest, more = _uses(event, key)
                if not mine:
                    continue
                for n, known in mine:
                    k = case.number_of[n]
                    rows.append((offset + k, event.time - known - int(base[k]), len(each)))
                each.append((event.time - rest if rest >= 0 else FAR, more, event.loose))
            offset += len(base)
        at, bound, number = np.array(rows, dtype=np.int64).reshape(-1, 3).T.copy()
        slack, unsure, loose = np.array(each, dtype=np.int64).reshape(-1, 3).T.copy()
        return Bounds(
            {n: np.concatenate(v) for n, v in columns.items()},
            np.concatenate(bases),
            at,
            bound,
            number,
            slack,
            unsure.astype(bool),
            loose.astype(bool),
            self.sites[key].least,
            self.shape(key),
        )

    def shape(self, key):
        """The Shape of a site that is not open. Unknowns that another one has found are not free."""
        site = self.open[key]
        if site.open:
            return None
        given: dict[str, int] = {}
        own = self.found.get(key)
        for found in self.found.values():
            if found is own and not own.hidden:
                break  # those behind it have taken over what it found
            if not found.hidden and not found.site.open:
                given = found.site.values(found.formula) | given
        first = {u: given.get(u, max(least, 0)) for u, least in site.unknowns.items()}
        return Shape(site, [u for u in site.unknowns if u not in given], first)

    def least_formula(self, key):
        """The least that a site can be."""
        shape = self.shape(key)
        return Formula(self.open[key].least) if shape is None else shape.site.sum(shape.first)

    def events(self, without=None, first=None):
        """Events per case, with the sites that are known but for one."""
        return [
            case.graph.events(
                {
                    key: values
                    for key in case.sites
                    if key != without and (values := self.values_of(case, key)) is not None
                },
                first,
            )
            for case in self.cases
        ]

    def missed(self):
        """Recorded instants that are not what the sums say."""
        self.limit_pools()
        return sum(
            max(event.sums.values(), default=0) != event.time and not event.loose
            for own, _, _ in self.events()
            for event in own
        )

    def limit_pools(self, supposed: dict[str, int] | None = None) -> None:
        """Graphs with the limits of the pools that are known, and of those that are `supposed`."""
        known = {n: v.value for n, v in self.numbers.items() if n in self.pool_names}
        for case in self.cases:
            case.graph.limit_to({**known, **(supposed or {})})

    def lift_pools(self) -> None:
        """Graphs in which no pool limits anything."""
        for case in self.cases:
            case.graph.limit_to({})

    def miscounted(self):
        """How many firings more or fewer than were recorded the runs of the nets have."""
        total = 0
        for case in self.cases:
            try:
                history = run(case.observed, self.lenient())
            except Error:
                return NONE_MET
            for times in (case.observed.starts, case.observed.commits):
                for name, recorded in times.items():
                    fired = len(history.of[case.net.transitions.index(name)])
                    total += abs(fired - len(recorded))
        return total

    def misses(self, changed=None):
        """Recorded instants that runs of the filled net miss, with other `changed` formulas."""
        formulas = {k: f.formula for k, f in self.found.items()} | (changed or {})
        numbers = self.number_values()
        missed = 0
        for case in self.cases:
            net = filled(case.net, self._open_formulas(formulas), numbers)
            compared, exact = total(errors(case.observed, net, numbers))
            missed += compared - exact
        return missed

    def predicted(self, case):
        """Transition -> its commits by number of firing, in a run with what was found; of those whose
        firings may overtake one another while nothing says whose a recorded commit is.
        """
        names = may_overtake(case.observed, case.history)
        if not names:
            return {}
        alone = replace(case.observed, net=self.filled(case.net))
        history = run(alone, self.number_values(), guided=False)
        commits = {}
        for name in names:
            of = history.of[case.net.transitions.index(name)]
            commits[name] = [history.firings[n].commit for _, n in sorted(of.items())]
        return commits

    def _open_formulas(self, formulas):
        return {k: f for k, f in formulas.items() if self.open[k].open}

    def filled(self, net):
        """A copy of a net with what was found."""
        formulas = {k: f.formula for k, f in self.found.items()}
        return filled(net, self._open_formulas(formulas), self.number_values())


def _require_one_kind(unknowns):
    """Delays, pools and other numbers are looked for in different ways, none of which knows of the
    others.
    """
    kinds = {"delay": 0, "interval": 0, "servers": 1, "capacity": 1, "init": 1}
    for unknown in unknowns:
        first = unknown.uses[0]
        other = next(
            (use for use in unknown.uses if kinds.get(use.part, 2) != kinds.get(first.part, 2)),
            None,
        )
        if other is not None:
            raise without_place(
                "E-fit-shape",
                f"the unknown '{unknown.name}' stands in the {first} and in the {other}, and no search "
                "goes through both; give each a name of its own",
            )


def _uses(event, key):
    """([(firing, known rest of the sum)] of the sums of an event whose one unknown is that site's, the
    latest sum without an unknown or -1, whether there are other unknowns).
    """
    mine, rest, more = [], -1, event.unsure
    for uses, known in event.sums.items():
        if not uses:
            rest = max(rest, known)
        elif len(uses) == 1 and uses[0][0] == key:
            mine.append((uses[0][1], known))
        elif any(use[0] != key for use in uses):
            more = True
    return mine, rest, more
