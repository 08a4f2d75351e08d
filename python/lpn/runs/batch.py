"""lpn.run_batch: many runs of one net, compiled, side by side."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import _lpn

from ..authoring.marking import Marking
from ..authoring.net import Net, parameter_values
from ..authoring.place import Place
from ..errors import mistake
from .engines import compiled_once
from .run import Run, budget_of, read_places, read_tokens, stopped_at, whole_limit

__all__ = ["run_batch"]

# Runs between two looks at Ctrl-C, per thread.
_PORTION = 256


def run_batch(
    net: Net,
    markings: Marking | Iterable[Marking],
    params: Mapping[str, int] | Sequence[Mapping[str, int]] | None = None,
    *,
    threads: int | None = None,
    limit: int | None = None,
    errors: str = "raise",
    read: Iterable[Place | str] = (),
    max_memory: int | None = None,
    max_time: float | None = None,
    max_tokens: int | None = None,
    max_firings: int | None = None,
    max_groups: int | None = None,
) -> list[Any]:
    """Runs the net on many markings, or with many parameter values, compiled; a list of Run.

    `markings`: lpn.Markings of the net, or one for all. `params`: a dict for all runs, or a list of
    dicts, one per run; the longer list counts. `threads`: default one per processor. `limit`: the
    time (cycles, inclusive) at which runs end that go on; those are event-driven. `errors`:
    "raise" raises the first RunError, its `index` saying of which run; "return" puts it into the
    list in the place of the Run. Inputs of a net whose transitions all have constant weights go in
    lock step through vector registers, 16 or more at a time. `seconds` of each Run is its share of
    the time of all; `layout_seconds` of that went into laying inputs side by side. `read`: places
    whose free tokens at the end Run.tokens keeps. `max_...`: what each run may use, as for simulate,
    but any memory unless it is given; one that needs more ends as "budget", and Run.stopped says
    where. Raises "E-no-compiler" when nothing can be compiled.
    """
    if not isinstance(net, Net):
        raise mistake("E-operand", f"run_batch needs a net, got {net!r}")
    net.done()
    if errors not in ("raise", "return"):
        raise mistake("E-operand", f'errors must be "raise" or "return", got {errors!r}')
    limit = whole_limit(limit)
    limits = budget_of(max_memory or 0, max_time, max_tokens, max_firings, max_groups)
    starts, values = _paired(net, markings, params)
    library = compiled_once(net)
    result: list[Any] = []
    wanted = read_places(net, read)
    portion = _PORTION * (threads or os.cpu_count() or 1)
    for first in range(0, len(starts), portion):
        part = slice(first, first + portion)
        answers, seconds, layout = _lpn.sim.run_batch(
            library,
            values[part],
            [m._core for m in starts[part]],
            threads or 0,
            [place._number for place in wanted],
            limits,
            _lpn.FOREVER if limit is None else limit,
        )
        for marking, (answer, about, tokens, now) in zip(starts[part], answers):
            if answer is None:
                about.index = len(result)
                if errors == "raise":
                    raise about
                result.append(about)
                continue
            run = Run(net, answer, "compiled", seconds / len(answers), marking=marking)
            run.layout_seconds = layout / len(answers)
            if run.ending == "limit":
                run.until = limit
            if run.ending == "budget":
                run.until = now - 1 if now > 0 else None
                run.stopped = stopped_at(now, answer, limits)
            if run.stalled:
                run.left = {
                    place.name: about[place._number]
                    for place in net.places.values()
                    if about[place._number]
                }
            run.tokens = {
                place.name: read_tokens(place, *kept) for place, kept in zip(wanted, tokens)
            }
            result.append(run)
    return result


def _paired(net, markings, params):
    """(markings, values of all parameters), as many of one as of the other."""
    markings = [markings] if isinstance(markings, Marking) else list(markings)
    values = [
        parameter_values(net, p)
        for p in ([params] if params is None or isinstance(params, dict) else params)
    ]
    runs = max(len(markings), len(values))
    if not markings or not values or len(markings) not in (1, runs) or len(values) not in (1, runs):
        raise mistake(
            "E-operand",
            f"run_batch got {len(markings)} markings and {len(values)} sets of parameters; "
            "give as many of one as of the other, or one for all",
        )
    for marking in markings:
        if not isinstance(marking, Marking) or marking.net is not net:
            raise mistake(
                "E-foreign", f"run_batch needs markings of net '{net.name}', got {marking!r}"
            )
    return markings * (runs // len(markings)), values * (runs // len(values))
