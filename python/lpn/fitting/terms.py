"""The delays and intervals of a net as the fit sees them: known, of a given shape, or open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..authoring.expr import Expr, Scope
from ..authoring.net import Net
from .formula import Formula, Term

__all__ = ["Probes", "Site", "features_of", "sites_of"]

CHECKED = (3, 7)  # values of two unknowns at which a shape is checked to be linear in them


@dataclass
class Site:
    """The delay or interval of a transition. `unknowns`: those that stand in it, each with the least
    that it may be; `open`: it is one, and no shape is given.
    """

    transition: str
    part: str
    unknowns: dict[str, int]
    open: bool
    least: int = 0  # of an open one

    @property
    def key(self) -> tuple[str, str]:
        return self.transition, self.part

    def sum(self, values: Mapping[str, int]) -> Formula:
        """The formula of a shape with these values of its unknowns."""
        return Formula(0, tuple((v, Term("x", u)) for u in self.unknowns if (v := values[u])))

    def values(self, formula: Formula) -> dict[str, int]:
        """What a formula of the shape says of each unknown."""
        return {u: 0 for u in self.unknowns} | {t.feature: c for c, t in formula.terms}


def sites_of(net: Net) -> dict[tuple[str, str], Site]:
    """All delays and intervals of a net, by (transition, part)."""
    found = {}
    for number, name in enumerate(net.transitions):
        transition = net.core.transitions[number]
        for part, formula in (("delay", transition.delay), ("interval", transition.interval)):
            if formula is None:
                continue
            inside = {
                u.name: _least(net, u.name)
                for u in net.unknowns.values()
                if any(use.owner == name and use.part == part and use.kind == "transition" for use in u.uses)
            }  # fmt: skip
            open = any(net.unknowns[u].open for u in inside)
            least = max(inside.values(), default=0) if open else 0
            found[name, part] = Site(name, part, inside, open, least)
    return found


def _least(net, unknown):
    return next(p.range[0] for p in net.core.params if p.name == unknown)


def features_of(net: Net, name: str) -> dict[str, Any]:
    """Feature -> Expr of the properties that a delay of the transition may read; parameters too."""
    number = net.transitions.index(name)
    core, transition = net.core, net.core.transitions[number]
    scope = Scope(core, transition, f"transition '{name}'")
    places = list(net.places.values())
    found: dict[str, Any] = {}
    for k, arc in enumerate(transition.inputs):
        if arc.inhibit:
            continue
        need = arc.weight if arc.threshold is None else arc.threshold
        weight, needed = core.value(arc.weight[0]), core.value(need[0])
        most = None if weight is None or needed is None else max(weight, needed)
        if most == 0:
            continue
        for field_name, position in places[arc.place]._type.fields.items():
            if most == 1:
                found[f"{arc.name}.{field_name}"] = Expr(
                    scope, core.token(k, position, core.constant(0))
                )
            else:
                token = core.token(k, position, core.bound(0))
                found[f"lpn.sum({arc.name}, lambda t: t.{field_name})"] = Expr(
                    scope, core.aggregate("sum", k, 0, token)
                )
        if weight is None:
            found[f"{arc.name}.taken"] = Expr(scope, core.taken(k))
    for param in net.params:
        if param not in net.unknowns:
            found[param] = net._params[param]
    return found


@dataclass
class Probes:
    """What is to be evaluated at every start of a transition, and in which column it is."""

    asked: dict[str, list[tuple[int, dict[str, int]]]] = field(default_factory=dict)

    def ask(self, transition: str, expr: int, values: dict[str, int]) -> int:
        column = self.asked.setdefault(transition, [])
        entry = (expr, values)
        if entry not in column:
            column.append(entry)
        return column.index(entry)


def shape_probes(site: Site, net: Net, probes: Probes) -> dict[str, Any]:
    """Columns of a site's formula with all its unknowns 0, each 1, and two points that tell whether
    it is linear in them.
    """
    number = net.transitions.index(site.transition)
    transition = net.core.transitions[number]
    expr = (transition.delay if site.part == "delay" else transition.interval)[0]
    zero = {u: 0 for u in site.unknowns}
    ask = lambda values: probes.ask(site.transition, expr, values)  # noqa: E731
    return {
        "base": ask(zero),
        "each": {u: ask({**zero, u: 1}) for u in site.unknowns},
        "checks": [
            (point, ask(point))
            for point in (
                {u: CHECKED[0] + k for k, u in enumerate(site.unknowns)},
                {u: CHECKED[1] * (k + 1) for k, u in enumerate(site.unknowns)},
            )
        ],
    }


def is_linear(columns: dict[str, Any], rows: np.ndarray) -> bool:
    base = rows[:, columns["base"]]
    for point, column in columns["checks"]:
        expected = base.copy()
        for u, k in columns["each"].items():
            expected = expected + point[u] * (rows[:, k] - base)
        if not np.array_equal(expected, rows[:, column]):
            return False
    return True
