"""The net with what was found in place of its unknowns, and how far it is from recordings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..authoring.expr import Expr, Scope
from ..authoring.net import Net
from .formula import Formula
from .history import Observed, run
from .terms import features_of

__all__ = ["errors", "filled", "not_followed", "total"]


def filled(
    net: Net, formulas: Mapping[tuple[str, str], Formula], numbers: Mapping[str, int]
) -> Net:
    """A copy of a net whose unknowns are these; the numbers are its parameters."""
    copy = Net._of(net.core.copy())
    core = copy.core
    for (name, part), formula in formulas.items():
        if name not in copy.transitions:
            continue
        number = copy.transitions.index(name)
        transition = core.transitions[number]
        old = transition.delay if part == "delay" else transition.interval
        value = formula.build(features_of(copy, name))
        if not isinstance(value, Expr):
            value = Expr(Scope(core, transition, ""), core.constant(int(value)))
        located = (value._int()._id, old[1], old[2])
        if part == "delay":
            transition.set_delay(located)
        else:
            transition.set_interval(located)
        core.replace_transition(number, transition)
    for number, param in enumerate(core.params):
        if param.name in numbers:
            core.set_param(number, int(numbers[param.name]), None)
    copy.bound = {k: v for k, v in net.bound.items() if k not in numbers}
    copy._checked = False
    return copy.done()


def errors(observed: Observed, net: Net, numbers: Mapping[str, int]) -> list[dict[str, Any]]:
    """The run of `net` against a recording: a row per transition and event that was recorded.
    `missing`: firings or transfers that have no partner, before the recording ends; where that is not
    known, before its last instant.
    """
    history = run(replace(observed, net=net), numbers, guided=False)
    recorded = (("start", observed.starts), ("commit", observed.commits))
    last = max((t for _, times in recorded for at in times.values() for t in at[-1:]), default=0)
    rows = []
    for event, instants in recorded:
        for name, times in instants.items():
            if name in observed.given:
                continue
            number = net.transitions.index(name)
            own = [history.firings[n] for _, n in sorted(history.of[number].items())]
            expected = [f.start if event == "start" else f.commit for f in own]
            count = len(times)
            if event == "commit" and name in observed.named:  # each against its own
                count = len(observed.named[name].times)
            else:
                expected, times = sorted(expected), sorted(times)
            late: list[int] = [t - e for e, t in zip(expected, times)]
            end = observed.ends.get((event, name), last)
            more = max(0, count - len(expected)) if name not in observed.trailing else 0
            rows.append(
                {
                    "recording": observed.name,
                    "transition": name,
                    "event": event,
                    "firings": len(expected),
                    "compared": len(late),
                    "missing": more + sum(e < end for e in expected[len(times) :]),
                    "exact": sum(not x for x in late),
                    "mean_error": sum(abs(x) for x in late) / len(late) if late else None,
                    "worst_error": max((abs(x) for x in late), default=None),
                }
            )
    return rows


def not_followed(observed: Observed) -> list[dict[str, Any]]:
    """The rows of a recording that the net ends in an error on."""
    recorded = (("start", observed.starts), ("commit", observed.commits))
    return [
        {
            "recording": observed.name,
            "transition": name,
            "event": event,
            "firings": 0,
            "compared": 0,
            "missing": len(times),
            "exact": 0,
            "mean_error": None,
            "worst_error": None,
        }
        for event, instants in recorded
        for name, times in instants.items()
        if name not in observed.given
    ]


def total(rows: list[dict[str, Any]]) -> tuple[int, int]:
    """(instants recorded or run, of them exact)."""
    return sum(r["compared"] + r["missing"] for r in rows), sum(r["exact"] for r in rows)
