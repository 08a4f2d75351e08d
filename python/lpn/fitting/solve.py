"""The unknowns of a net from recordings: which formula each delay has, and each number."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import listed, without_place
from .found import Found, Number
from .history import Observed
from .judge import judge, scan_hidden, tell_overtaking
from .known import Known
from .numbers import find_pools, try_numbers
from .search import Candidate, search
from .terms import is_linear

__all__ = ["Fit"]

ROUNDS = 4
PREFIX = 3000  # firings of a recording that a first look takes
SUPPOSED = (1, 2, 3, 4, 6, 8)  # numbers of a pool that are supposed where nothing else is left
STARTS = (1, 9)  # levels of the grammar with which a search begins


class Fit(Known):
    """Finds the unknowns of nets that share them by name; `say(text)` is told what goes on."""

    def __init__(
        self, observed: list[Observed], say: Callable[[str], None] = lambda text: None
    ) -> None:
        super().__init__(observed)
        self.say = say

    def solve(self) -> None:
        """Fills in `found` and `numbers`.

        Raises:
            Error: E-fit-shape, where a shape is not linear in its unknowns.
        """
        self.play()
        try_numbers(self)
        self._check_shapes()
        least, best = None, self._state()
        for levels in STARTS:
            self._solve_from(levels)
            missed = self.missed()
            merit = (missed, sum(f.formula.cost for f in self.found.values()))
            if least is None or merit < least:
                least, best = merit, self._state()
            if not missed:
                break
        self._restore(*best)
        self.limit_pools()
        judge(self)
        scan_hidden(self, self.say)
        tell_overtaking(self)

    def _solve_from(self, levels):
        """Everything, beginning with formulas up to a level of the grammar."""
        self.found.clear()
        for name in self.pool_names:
            self.numbers.pop(name, None)
        self.lift_pools()
        self._first_pass(levels)
        find_pools(self)
        for each in range(ROUNDS):
            self.say(f"round {each + 1} of at most {ROUNDS}")
            before = self._state()
            self.limit_pools()
            self._second_pass()
            find_pools(self)
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
        find_pools(self)

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
            self.limit_pools()
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
                if k and (ratio < 1 or self._shares(key)):
                    break
                self.found[key] = Found(remaining.pop(key), candidate.formula)

    def _shares(self, key):
        """Whether another site has found an unknown of this one."""
        shape = self.shape(key)
        return shape is not None and len(shape.free) < len(shape.first)

    def _ranked(self, sites, levels):
        """(share of its instants that are met, their number, site, candidate), the best first."""
        events = [e[0] for e in self.events(first=PREFIX)]
        ranked = []
        for key, site in sites.items():
            bounds = self.bounds(key, events)
            if not len(bounds.at):
                continue
            candidate = search(bounds, levels)[0]
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
                self.limit_pools({name: value})
                ranked = self._ranked(sites, levels)
                if not ranked:
                    continue
                ratio, events, key, candidate = ranked[0]
                merit = ratio - 0.002 * candidate.formula.cost - 0.0001 * value
                if events >= 8 and candidate.met > 0 and (best is None or merit > best[0]):
                    best = (merit, ratio, name, value, key, candidate.formula)
        self.limit_pools()
        return None if best is None else best[1:]

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
            remaining.pop(key),
            self.least_formula(key),
            hidden=f"only the sum with {others} shows"
            if others
            else "no recorded instant shows it",
        )

    def _take_over(self, key):
        """Into a formula what others have found of the unknowns that it has in common with them."""
        shape, found = self.shape(key), self.found[key]
        if shape is not None:
            now = shape.site.values(found.formula)
            found.formula = shape.site.sum({**shape.first, **{u: now[u] for u in shape.free}})

    def _second_pass(self):
        """Each site again, now that the others are known: the simplest formula that explains what
        they do not.
        """
        for key, site in sorted(self.open.items(), key=lambda s: s[0][1] == "delay"):
            self._take_over(key)
            if self.found[key].hidden:
                continue
            bounds = self.bounds(key, [e[0] for e in self.events(key)])
            if not len(bounds.at):
                continue
            if not bounds.needed and site.open:  # what bounds it is no reason to be as large
                self.most[key] = int(bounds.bound.min())
                self.found[key].formula = self.least_formula(key)
                continue
            now = Candidate(self.found[key].formula, *bounds.score(self.found[key].formula))
            exact = not now.passed and now.met == bounds.events
            if exact and not now.formula.terms:
                continue
            best = search(bounds, int(now.formula.cost) if exact else 9)[0]
            clean = (
                not best.passed and best.met >= now.met and best.formula.cost <= now.formula.cost
            )
            if clean or best.merit(bounds.events) > now.merit(bounds.events):
                self.found[key].formula = best.formula
