"""Interfaces of joined paths at a resolution: a class's cost is a sum over conditions, of which those
that matter least become a number.
"""

from dataclasses import replace

from .state import Cost

__all__ = ["coarser", "terms"]


def coarser(interface, metric, resolution):
    """The interface with as few conditions as keep every packet's cost in `metric` within `resolution`
    of the truth; Class.off is how far it may be.
    """
    classes = []
    for one in interface.classes:
        if one.rest is not None:
            classes.append(one)
            continue
        cost, off = _reduced(one.cost, metric, resolution)
        classes.append(replace(one, cost=cost, off=off))
    return replace(interface, classes=classes)


def terms(cost):
    """How many conditions a cost has."""
    return sum(1 + terms(a) + terms(b) for _, a, b in cost.choices)


def _reduced(cost, metric, resolution):
    """(cost, how far it may be off): the choices of the smallest spread are their midpoints, for as
    long as what they are off adds up to no more than the resolution.
    """
    spreads = []
    for choice in cost.choices:
        bounds = [each.bounds(metric) for each in choice[1:]]
        low, high = min(b[0] for b in bounds), max(b[1] for b in bounds)
        middle = (low + high) // 2
        spreads.append((high - middle, middle, choice))
    number, off, kept = cost.of(metric), 0, []
    for miss, middle, choice in sorted(spreads, key=lambda each: each[0]):
        if off + miss <= resolution:
            number, off = number + middle, off + miss
        else:
            kept.append(choice)
    return _of(metric, number, kept), off


def _of(metric, number, choices):
    """A cost of which only one metric is of interest."""
    if metric == "mem":
        return Cost(mem={"any": number}, choices=tuple(choices))
    return Cost(**{metric: number}, choices=tuple(choices))
