"""What is said of each unknown: formula, what decides it, what else fits, and what would tell."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..authoring.net import Net
from .solve import Fit, Found

__all__ = ["described", "few"]

LEAST = 3  # firings more than a formula has numbers, below which it is not called found


def few(found: Found) -> bool:
    """Whether too few firings decide a formula for it to be more than a guess."""
    numbers = found.formula.coefficients if found.site.open else len(found.site.unknowns)
    short = found.support < numbers + LEAST - 1
    return short or (bool(found.formula.terms) and found.site.open and found.points <= numbers)


def described(fit: Fit, nets: list[Net]) -> list[dict[str, Any]]:
    """A row per unknown formula and number, fields as in docs/cli.md."""
    rows = [_formula(f, nets) for f in fit.found.values()]
    return rows + [_number(n, fit) for n in fit.numbers.values()]


def _formula(found, nets):
    row = {
        "unknown": ".".join(found.site.key),
        "kind": found.site.part,
        "formula": found.formula.text() if found.site.open else _shape_text(found),
        "events": found.events,
        "met": found.met,
        "support": found.support,
        "points": found.points,
        "few": few(found),
        "undecided": None,
        "constant": found.constant,
        "also": [],
        "residuals": {str(k): v for k, v in sorted(found.residuals.items())},
        "overtaking": found.overtaking,
    }
    if found.hidden:
        row["undecided"] = found.hidden
    elif not found.support:
        row["undecided"] = "no recorded instant is decided by it" + _others(found.fits)
    for other in found.also if row["undecided"] is None else ():
        told = _telling(found, other, nets)
        if told is not None:  # else the same formula in other words
            row["also"].append({"formula": other.text(), "told_apart_by": told})
    return row


def _others(fits):
    """Of a constant that the net's own runs told: with which others they meet as much."""
    if fits is None:
        return ""
    low, high = fits
    if low == high:
        return "; with any other constant the net meets fewer of them"
    return f"; any constant {_span(low, high)} does as well"


def _span(low, high):
    return f"from {low} on" if high is None else f"in {low}..{high}"


def _shape_text(found):
    at = {t.feature: c for c, t in found.formula.terms}
    return ", ".join(f"{u} = {at.get(u, 0)}" for u in found.site.unknowns)


def _number(number, fit):
    part = fit.unknowns[number.name].uses[0].part
    low, high = number.fits
    undecided = None
    if not number.support:
        undecided = (
            f"no start waits for it in the recordings; any number {_span(low, high)} does as well"
        )
    return {
        "unknown": number.name,
        "kind": part,
        "formula": str(number.value),
        "events": None,
        "met": None,
        "support": number.support,
        "points": None,
        "few": 0 < number.support < LEAST,
        "undecided": undecided,
        "constant": {},
        "also": [],
        "residuals": {"passed": number.passed} if number.passed else {},
        "overtaking": False,
    }


def _ranges(nets, transition):
    """Feature -> declared range of the properties of a transition's tokens."""
    found = {}
    for net in nets:
        if transition not in net.transitions:
            continue
        core = net.core
        for arc in core.transitions[net.transitions.index(transition)].inputs:
            for field in core.types[core.places[arc.place].type].fields:
                if field.range is not None:
                    found[f"{arc.name}.{field.name}"] = field.range
        for param in core.params:
            if param.range is not None:
                found[param.name] = param.range
    return found


def _telling(found, other, nets):
    """{feature: value} at which two formulas differ, and what they say there; None: not found."""
    one = found.formula
    names = sorted(one.features() | other.features())
    ranges = _ranges(nets, found.site.transition)
    middle = {n: _middle(ranges.get(n, (0, 64))) for n in names}
    for name in names:
        low, high = ranges.get(name, (0, 4096))
        tried = np.unique(
            np.concatenate(
                [
                    np.arange(low, min(high, low + 300) + 1),
                    np.linspace(low, min(high, 2**31), 200).astype(np.int64),
                ]
            )
        )
        columns = {n: np.full(len(tried), middle[n]) for n in names}
        columns[name] = tried
        a, b = one.at(columns, len(tried)), other.at(columns, len(tried))
        at = np.flatnonzero(a != b)
        if len(at):
            k = at[0]
            return {
                "input": {n: int(columns[n][k]) for n in names},
                "values": [int(a[k]), int(b[k])],
            }
    return None


def _middle(range):
    return min((range[0] + range[1]) // 2, range[0] + 16)
