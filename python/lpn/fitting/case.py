"""A recording with a guided run of its net: what happened, and what its formulas read."""

from __future__ import annotations

from typing import Any

import numpy as np

from .graph import Graph
from .history import History, Observed, run
from .terms import Probes, Site, features_of, shape_probes

__all__ = ["Case", "case_columns"]


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
                self.exprs[name] = {
                    feature: expr
                    for feature, expr in features_of(net, name).items()
                    if feature not in self.observed.settled
                }
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

    def play(self, values):
        """A guided run with `values` for unknown numbers."""
        self.history: History = run(self.observed, values, self.probes.asked)
        self.graph = Graph(self.observed, self.history, self.sites, self._column)
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
