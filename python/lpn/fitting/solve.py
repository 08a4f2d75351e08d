"""The unknowns of a net from recordings: which formula each delay has, and each number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..errors import Error, listed, without_place
from .formula import Formula
from .graph import Graph
from .history import LENIENT, History, Observed, run
from .result import errors, filled, total
from .search import Bounds, Candidate, search
from .terms import Probes, Site, features_of, is_linear, shape_probes, sites_of

__all__ = ["Fit", "Found", "Number"]

FAR = 1 << 60  # slack of an event that nothing else explains
ROUNDS = 4
FREE = (
    64  # room or servers of which no start shows a limit: at least that, and 4 times what is used
)
PREFIX = 3000  # firings of a recording that a first look takes
SUPPOSED = (1, 2, 3, 4, 6, 8)
STARTS = (1, 9)  # levels of the grammar with which a search begins


@dataclass
class Found:
    """What is known about the formula of a site. `met` of `events` instants are exact with it;
    `support`: those that nothing else explains, at `points` different values of the features;
    `also`: other formulas that meet as many. `hidden`: no instant tells it alone.
    """

    site: Site
    formula: Formula
    events: int = 0
    met: int = 0
    passed: int = 0
    support: int = 0
    points: int = 0
    also: list[Formula] = field(default_factory=list)
    constant: dict[str, int] = field(default_factory=dict)  # features that had one value only
    hidden: str = ""
    residuals: dict[int, int] = field(default_factory=dict)
    fits: tuple[int, int | None] | None = None  # constants that do as well, where support is 0


@dataclass
class Number:
    """A number: capacity, servers, tokens of a pool, or one that was tried out. Every value in
    `fits` meets as many instants; None: no end.
    """

    name: str
    value: int
    support: int = 0
    fits: tuple[int, int | None] = (0, 0)
    passed: int = 0


class Case:
    """A recording with a guided run of its net and what its formulas read."""

    def __init__(self, observed: Observed, sites: dict[tuple[str, str], Site]) -> None:
        self.observed = observed
        self.sites = sites
        self.net = observed.net
        self.probes = Probes()
        self.features: dict[str, dict[str, int]] = {}  # transition -> feature -> column
        self.exprs: dict[str, dict[str, Any]] = {}
        self.shapes: dict[tuple[str, str], dict[str, Any]] = {}
        self.known_columns: dict[tuple[str, str], int] = {}
        self._other: dict[tuple, int] = {}
        self._ask()

    def _ask(self):
        net, core = self.net, self.net.core
        for number, name in enumerate(net.transitions):
            transition = core.transitions[number]
            own = [s for s in self.sites.values() if s.transition == name]
            if any(s.open for s in own):
                self.exprs[name] = features_of(net, name)
                self.features[name] = {
                    feature: self.probes.ask(name, expr._int()._id, {})
                    for feature, expr in self.exprs[name].items()
                }
            for site in own:
                if site.open:
                    continue
                if site.unknowns:
                    self.shapes[site.key] = shape_probes(site, net, self.probes)
                else:
                    formula = transition.delay if site.part == "delay" else transition.interval
                    self.known_columns[site.key] = self.probes.ask(name, formula[0], {})
            if transition.servers is not None:
                self._other[name, "servers"] = self.probes.ask(name, transition.servers[0], {})
            for k, arc in enumerate(transition.inputs):
                need = arc.weight if arc.threshold is None else arc.threshold
                if core.value(need[0]) is None:
                    self._other[name, ("need", k)] = self.probes.ask(name, need[0], {})
            for arc in transition.outputs:
                place = core.places[arc.place]
                if place.capacity is not None:
                    self._other[name, ("capacity", arc.place)] = self.probes.ask(
                        name, place.capacity[0], {}
                    )

    def play(self, values, net=None):
        """A guided run with `values` for unknown numbers, of `net` in place of the skeleton."""
        observed = self.observed
        if net is not None:
            observed = replace(observed, net=net)
        self.history: History = run(observed, values, self.probes.asked)
        self.graph = Graph(self.observed, self.history, self.sites, self._column)
        self.firing_of = {}  # site transition -> firing of the graph by number
        self.number_of = [f.number for f in self.history.firings]

    def _column(self, name, what, number):
        rows = self.history.probed[self.net.transitions.index(name)]
        return rows[number, self._other[name, what]]

    def rows(self, name):
        return self.history.probed[self.net.transitions.index(name)]

    def spread(self, name, by_number):
        """Values by firing of the graph, of values by number of firing of a transition."""
        t = self.net.transitions.index(name)
        out = [0] * len(self.history.firings)
        for number, n in self.history.of[t].items():
            if number < len(by_number):
                out[n] = int(by_number[number])
        return out

    def columns(self, site):
        """Feature -> values by number of firing."""
        rows = self.rows(site.transition)
        if site.open:
            return {f: rows[:, k] for f, k in self.features[site.transition].items()}
        shape = self.shapes[site.key]
        base = rows[:, shape["base"]]
        return {u: rows[:, k] - base for u, k in shape["each"].items()}

    def base(self, site):
        rows = self.rows(site.transition)
        if site.open:
            return np.zeros(len(rows), dtype=np.int64)
        return rows[:, self.shapes[site.key]["base"]]


def case_columns(cases: list[Case], key: tuple[str, str]) -> list[str]:
    """The features of a site that the nets of all cases have."""
    names = [list(case.columns(case.sites[key])) for case in cases]
    return [n for n in names[0] if all(n in own for own in names)]


class Fit:
    """Finds the unknowns of nets that share them by name; `say(text)` is told what goes on."""

    def __init__(
        self, observed: list[Observed], say: Callable[[str], None] = lambda text: None
    ) -> None:
        self.say = say
        self.sites: dict[tuple[str, str], Site] = {}
        self.unknowns: dict[str, Any] = {}
        for each in observed:
            for key, site in sites_of(each.net).items():
                self.sites.setdefault(key, site)
            self.unknowns.update(each.net.unknowns)
        if not self.unknowns:
            raise without_place(
                "E-unknown",
                "the skeleton has no unknown; write lpn.unknown() for what is to be found",
            )
        self.open = {k: s for k, s in self.sites.items() if s.unknowns}
        self.cases = [Case(each, sites_of(each.net)) for each in observed]
        self.found: dict[tuple[str, str], Found] = {}
        self.numbers: dict[str, Number] = {}
        self.most: dict[tuple[str, str], int] = {}  # of sites that no instant decides, a bound
        in_shapes = {u for s in self.open.values() for u in s.unknowns}
        self.pool_names = [
            name
            for name, u in self.unknowns.items()
            if any(use.part in ("servers", "capacity", "init") for use in u.uses)
        ]
        self.tried = [n for n in self.unknowns if n not in in_shapes and n not in self.pool_names]

    # Values.

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
                values.update({u: 0 for u in f.site.unknowns})
                values.update({t.feature: c for c, t in f.formula.terms})
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

    # Bounds.

    def bounds(self, key, events):
        """The Bounds that `events`, a list per case, say about a site."""
        offset = 0
        those = [case for case in self.cases if key in case.sites]
        columns: dict[str, list] = {name: [] for name in case_columns(those, key)}
        at, bound, number, slack, unsure, loose = [], [], [], [], [], []
        count = 0
        for case, own in zip(self.cases, events):
            site = case.sites.get(key)
            if site is None:
                continue
            own_columns = case.columns(site)
            for name, values in columns.items():
                values.append(own_columns[name])
            base = case.base(site)
            for event in own:
                rest, more, mine = -1, event.unsure, []
                for uses, known in event.sums.items():
                    if not uses:
                        rest = max(rest, known)
                    elif len(uses) == 1 and uses[0][0] == key:
                        mine.append((uses[0][1], known))
                    elif any(use[0] != key for use in uses):
                        more = True
                if not mine:
                    continue
                for n, known in mine:
                    k = case.number_of[n]
                    at.append(offset + k)
                    bound.append(event.time - known - int(base[k]))
                    number.append(count)
                slack.append(event.time - rest if rest >= 0 else FAR)
                unsure.append(more)
                loose.append(event.loose)
                count += 1
            offset += len(base)
        return Bounds(
            {n: np.concatenate(v) for n, v in columns.items()},
            np.array(at, dtype=np.int64),
            np.array(bound, dtype=np.int64),
            np.array(number, dtype=np.int64),
            np.array(slack, dtype=np.int64),
            np.array(unsure, dtype=bool),
            np.array(loose, dtype=bool),
            self.sites[key].least,
        )

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

    # The search.

    def solve(self):
        for case in self.cases:
            case.play(self.lenient())
        self._try_numbers()
        self._check_shapes()
        best = None
        for levels in STARTS:
            self._solve_from(levels)
            state = self._state()
            missed = self._missed()
            cost = sum(f.formula.cost for f in self.found.values())
            if best is None or (missed, cost) < best[:2]:
                best = (missed, cost, *state)
            if not missed:
                break
        self._restore(*best[2:])
        self._limit_pools()
        self._judge()
        self._scan_hidden()

    def _solve_from(self, levels):
        """Everything, beginning with formulas up to a level of the grammar."""
        self.found.clear()
        for name in self.pool_names:
            self.numbers.pop(name, None)
        self._limit_pools(none=True)
        self._first_pass(levels)
        self._pools()
        for each in range(ROUNDS):
            self.say(f"round {each + 1} of at most {ROUNDS}")
            before = self._state()
            self._limit_pools()
            self._second_pass()
            self._pools()
            if self._state() == before:
                break

    def _state(self):
        return (
            {k: (f.formula, f.hidden) for k, f in self.found.items()},
            {n: (v.value, v.passed) for n, v in self.numbers.items()},
        )

    def _restore(self, formulas, numbers):
        self.found = {k: Found(self.open[k], f, hidden=h) for k, (f, h) in formulas.items()}
        self.numbers = {
            n: self.numbers[n] if n in self.tried else Number(n, value)
            for n, (value, _) in numbers.items()
        }
        self._pools()

    def _missed(self):
        """Recorded instants that are not what the sums say."""
        self._limit_pools()
        return sum(
            max(event.sums.values(), default=0) != event.time and not event.loose
            for own, _, _ in self.events()
            for event in own
        )

    def _check_shapes(self):
        """Unknowns in shapes that are not linear in them are tried out."""
        for key, site in self.open.items():
            if site.open:
                continue
            for case in self.cases:
                if key in case.shapes and not is_linear(
                    case.shapes[key], case.rows(site.transition)
                ):
                    raise without_place(
                        "E-fit-shape",
                        f"the {site.part} of transition '{site.transition}' is not a sum of multiples "
                        f"of its unknowns ({listed(site.unknowns)}); an unknown may be added and "
                        "multiplied, not divide, be compared or multiply another one",
                    )

    def _first_pass(self, levels):
        """One site after the other, those first that recorded instants tell alone. Where they do not
        tell it all, small numbers of the servers and the room that its starts wait for are supposed.
        """
        remaining = dict(self.open)
        while remaining:
            self.say(f"{len(remaining)} formulas to find")
            self._limit_pools()
            ranked = self._ranked(remaining, levels)
            if not ranked or ranked[0][0] < 1:
                supposed = self._suppose(remaining, min(levels, 2))
                if supposed is not None and (not ranked or supposed[0] > ranked[0][0] + 0.02):
                    _, name, value, key, formula = supposed
                    self.numbers[name] = Number(name, value)
                    self.found[key] = Found(remaining.pop(key), formula)
                    continue
            if not ranked:
                self._set_hidden(remaining, [e[0] for e in self.events(first=PREFIX)])
                continue
            for k, (ratio, _, key, candidate) in enumerate(ranked):
                if k and ratio < 1:
                    break
                self.found[key] = Found(remaining.pop(key), candidate.formula)

    def _ranked(self, sites, levels):
        """(share of its instants that are met, their number, site, candidate), the best first."""
        events = [e[0] for e in self.events(first=PREFIX)]
        ranked = []
        for key, site in sites.items():
            bounds = self.bounds(key, events)
            if not len(bounds.at):
                continue
            candidate = self._search(site, bounds, levels)[0]
            ratio = (candidate.met - candidate.passed) / max(1, bounds.events)
            ranked.append((ratio, bounds.events, key, candidate))
        return sorted(ranked, key=lambda r: (-r[0], -r[1]))

    def _suppose(self, remaining, levels):
        """(share met, pool, number, site, formula) of the best supposition about a pool, or None."""
        best = None
        for name in self.pool_names:
            if name in self.numbers:
                continue
            owners = set()
            for case in self.cases:
                for pool in case.graph.pools.get(name, ()):
                    owners.update(
                        case.net.transitions[case.history.firings[n].transition]
                        for n, _ in pool.entries[:1]
                    )
            sites = {k: s for k, s in remaining.items() if k[0] in owners}
            if not sites:
                continue
            for value in SUPPOSED:
                for case in self.cases:
                    known = {n: v.value for n, v in self.numbers.items() if n in self.pool_names}
                    case.graph.limit_to({**known, name: value})
                ranked = self._ranked(sites, levels)
                if not ranked:
                    continue
                ratio, events, key, candidate = ranked[0]
                merit = ratio - 0.002 * candidate.formula.cost - 0.0001 * value
                if events >= 8 and candidate.met > 0 and (best is None or merit > best[0]):
                    best = (merit, ratio, name, value, key, candidate.formula)
        self._limit_pools()
        return None if best is None else best[1:]

    def _search(self, site, bounds, levels=9):
        return search(bounds, None if site.open else site.unknowns, levels)

    def _set_hidden(self, remaining, events):
        """No instant tells a remaining site alone: one of those that only show together is set to the
        least it can be.
        """
        together = {}
        for own in events:
            for event in own:
                for uses in event.sums:
                    names = {use[0] for use in uses}
                    for key in names:
                        together.setdefault(key, set()).update(names - {key})
        key = next((k for k in remaining if k in together), next(iter(remaining)))
        others = ", ".join(f"{t}.{p}" for t, p in sorted(together.get(key, ())))
        self.found[key] = Found(
            site := remaining.pop(key),
            Formula(site.least),
            hidden=f"only the sum with {others} shows"
            if others
            else "no recorded instant shows it",
        )

    def _second_pass(self):
        """Each site again, now that the others are known: the simplest formula that explains what
        they do not.
        """
        for key, site in sorted(self.open.items(), key=lambda s: s[0][1] == "delay"):
            if self.found[key].hidden:
                continue
            bounds = self.bounds(key, [e[0] for e in self.events(key)])
            if not len(bounds.at):
                continue
            if not bounds.needed and site.open:  # what bounds it is no reason to be as large
                self.most[key] = int(bounds.bound.min())
                self.found[key].formula = Formula(site.least)
                continue
            now = Candidate(self.found[key].formula, *bounds.score(self.found[key].formula))
            exact = not now.passed and now.met == bounds.events
            if exact and not now.formula.terms:
                continue
            best = self._search(site, bounds, int(now.formula.cost) if exact else 9)[0]
            penalty = 1 + 0.008 * bounds.events
            clean = (
                not best.passed and best.met >= now.met and best.formula.cost <= now.formula.cost
            )
            if clean or best.merit(penalty) > now.merit(penalty):
                self.found[key].formula = best.formula

    # Numbers.

    def _pools(self):
        """Room, servers and tokens of pools: the least with which nothing comes too late."""
        names = [n for n in self.pool_names if any(n in c.graph.pools for c in self.cases)]
        for name in self.pool_names:
            if name not in names:
                self.numbers[name] = Number(name, FREE, 0, (1, None))
        if not names:
            return
        self._limit_pools(none=True)
        times = []
        for case, (_, starts, commits) in zip(self.cases, self.events()):
            ready = [max((s or {}).values(), default=0) for s in starts]
            done = [max((c or {}).values(), default=0) for c in commits]
            begun = []
            observed = case.observed
            values = {key: self.values_of(case, key) for key in case.sites}
            for n, f in enumerate(case.history.firings):
                name = case.net.transitions[f.transition]
                late = observed.commits.get(name, ())
                if f.number < len(observed.starts.get(name, ())):
                    begun.append(observed.starts[name][f.number])
                elif f.number < len(late):
                    begun.append(late[f.number] - values[name, "delay"][n])
                else:
                    begun.append(ready[n])
            before = []
            for n, edges in enumerate(case.graph._edges):
                at = 0
                for kind, ref, add, use in edges:
                    rest = ref if kind == 0 else done[ref] if kind == 1 else begun[ref]
                    if kind == 2 and use is not None:
                        rest += values[use[0]][ref]
                    at = max(at, rest + add)
                before.append(at)
            times.append((begun, before, done))
        for name in names:
            self.numbers[name] = self._least(name, times)

    def _least(self, name, times):
        needs, firsts = (
            [],
            [],
        )  # per start: from which number on it is not too late; is it explained
        most = 1
        for case, (begun, before, done) in zip(self.cases, times):
            for pool in case.graph.pools.get(name, ()):
                returned = [done[n] for n in pool.returns]
                for n, m in pool.entries:
                    # The returns that have come by the start: c is enough from m - count on.
                    by = _count(returned, begun[n])
                    needs.append(m - by)
                    firsts.append((m, returned, begun[n], before[n] < begun[n]))
                    most = max(most, m)
        if not needs:
            return Number(name, FREE, 0, (1, None))
        least = self.unknowns[name].uses[0].part != "init"
        values = sorted({max(int(least), v) for v in needs})
        best = None
        for value in reversed(values):
            passed = sum(v > value for v in needs)
            met = sum(
                held and 0 <= m - value - 1 < len(returned) and returned[m - value - 1] == at
                for m, returned, at, held in firsts
            )
            merit = met - passed
            if best is None or merit > best[0] or (merit == best[0] and not passed):
                best = (merit, value, met, passed)
        _, value, met, passed = best
        if met or not least:
            return Number(name, value, met, (value, value if met else None), passed)
        return Number(name, max(FREE, 4 * value), 0, (value, None), passed)

    def _limit_pools(self, none=False):
        for case in self.cases:
            known = {n: v.value for n, v in self.numbers.items() if n in self.pool_names}
            case.graph.limit_to({} if none else known)

    def _try_numbers(self):
        """Numbers of tokens: the one with which the transitions fire as often as was recorded."""
        for name in self.tried:
            best = None
            first = (
                1 if self.unknowns[name].uses[0].part.endswith((".take", ".need", ".peek")) else 0
            )
            for value in range(first, 65):
                self.numbers[name] = Number(name, value)
                wrong = self._miscounted()
                if best is None or wrong < best[0]:
                    best = (wrong, value, value)
                elif wrong == best[0]:
                    best = (*best[:2], value)
                if wrong == 0 and value > best[1]:
                    break
            instants = sum(
                len(at)
                for case in self.cases
                for times in (case.observed.starts, case.observed.commits)
                for at in times.values()
            )
            support = instants if best[1] == best[2] else 0
            self.numbers[name] = Number(name, best[1], support, best[1:], best[0])
        if self.tried:
            for case in self.cases:
                case.play(self.lenient())

    def _miscounted(self):
        total = 0
        for case in self.cases:
            try:
                history = run(case.observed, self.lenient())
            except Error:
                return 1 << 60
            for times in (case.observed.starts, case.observed.commits):
                for name, recorded in times.items():
                    fired = len(history.of[case.net.transitions.index(name)])
                    total += abs(fired - len(recorded))
        return total

    # What no instant shows alone.

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

    def _open_formulas(self, formulas):
        return {k: f for k, f in formulas.items() if self.open[k].open}

    def filled(self, net):
        """A copy of a net with what was found."""
        formulas = {k: f.formula for k, f in self.found.items()}
        return filled(net, self._open_formulas(formulas), self.number_values())

    def _scan_hidden(self):
        """Constants that no instant tells by a sum: which of them make the net's runs meet most."""
        for key, found in self.found.items():
            if found.support or not found.site.open or found.formula.terms:
                continue
            most = min(max(self.most.get(key, 0), found.formula.constant, 16), 4096)
            self.say(f"trying values of {'.'.join(key)}")
            tried = {}

            def missed(value):
                if value not in tried:
                    tried[value] = self.misses({key: Formula(value)})
                return tried[value]

            step = max(1, most // 24)
            first = found.site.least
            grid = sorted({*range(first, most + 1, step), most, found.formula.constant})
            least = min(missed(v) for v in grid)
            best = [v for v in grid if missed(v) == least]
            low, high = best[0], best[-1]
            below = max([v for v in grid if v < low], default=None)
            above = min([v for v in grid if v > high], default=None)
            while below is not None and low - below > 1:
                middle = (low + below) // 2
                low, below = (middle, below) if missed(middle) == least else (low, middle)
            while above is not None and above - high > 1:
                middle = (high + above) // 2
                high, above = (middle, above) if missed(middle) == least else (high, middle)
            value = found.formula.constant
            found.formula = Formula(min(max(value, low), high))
            found.fits = (low, None if above is None else high)

    # What is said of each.

    def _judge(self):
        for key, site in self.open.items():
            found = self.found[key]
            bounds = self.bounds(key, [e[0] for e in self.events(key)])
            if not len(bounds.at):
                found.hidden = found.hidden or "no recorded instant shows it"
                continue
            found.events = bounds.events
            found.met, found.passed = bounds.score(found.formula)
            columns = bounds.columns
            size = len(next(iter(columns.values()))) if columns else int(bounds.at.max()) + 1
            left = bounds.bound - found.formula.at(columns, size)[bounds.at]
            needed = (bounds.slack[bounds.event] > 0) & ~bounds.loose[bounds.event]
            exact = needed & (left == 0)
            found.support = len(np.unique(bounds.event[exact]))
            used = sorted(found.formula.features())
            if exact.any():
                rows = (
                    np.stack([columns[n][bounds.at[exact]] for n in used], axis=1) if used else None
                )
                found.points = 1 if rows is None else len(np.unique(rows, axis=0))
            found.constant = {
                n: int(c[bounds.at][0])
                for n, c in columns.items()
                if site.open and len(np.unique(c[bounds.at])) == 1
            }
            least = bounds.slack.copy()
            np.minimum.at(least, bounds.event, left)
            off, counts = np.unique(
                least[(least != 0) & (least < FAR // 2) & ~bounds.unsure & ~bounds.loose],
                return_counts=True,
            )
            found.residuals = {int(o): int(c) for o, c in zip(off, counts)}
            found.also = []
            for other in self._search(site, bounds):
                if (
                    other.formula != found.formula
                    and other.met >= found.met
                    and other.passed <= found.passed
                    and other.formula.cost <= found.formula.cost + 2
                    and len(found.also) < 4
                ):
                    found.also.append(other.formula)


def _count(times, by):
    """How many of the leading `times` are not after `by`."""
    import bisect

    return bisect.bisect_right(times, by)
