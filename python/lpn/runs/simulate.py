"""lpn.simulate: one run, by the engine that is the quicker one for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import _lpn

from ..authoring.marking import Marking
from ..authoring.net import Net, parameter_values
from ..authoring.place import Place
from ..errors import mistake
from .background import background_of
from .endless import warn_endless
from .engines import UNTIL_INTERPRETED, check_engine, compiled_once
from .quickest import run_by, run_quickest
from .run import Run, budget_of, read_places, whole_limit

__all__ = ["simulate"]


def simulate(
    net: Net,
    marking: Marking | None = None,
    params: Mapping[str, int] | None = None,
    *,
    engine: str | None = None,
    limit: int | None = None,
    until: str | None = None,
    trace: bool | Callable[..., object] = False,
    stats: bool = False,
    path: bool | int | None = False,
    path_memory: int | None = None,
    read: Iterable[Place | str] = (),
    collect: Iterable[Place | str] = (),
    max_memory: int | None = None,
    max_time: float | None = None,
    max_tokens: int | None = None,
    max_firings: int | None = None,
    max_groups: int | None = None,
) -> Run:
    """Runs the net on a marking to its end, or to time `limit` (cycles, inclusive).

    `until`: a condition over the marking, as "buffer.count >= 4 and credits.free == 0"; the run ends
    with the first instant after which it holds, as ending "condition", and Run.stopped says why. It
    is the interpreter's. Raises "E-condition" for what is none.

    `params`: values for the net's parameters. `engine`: "interp", which defines the meaning, or
    "compiled", which is fast and compiles a net once (later runs take it from the cache); None: the
    interpreter, and when runs of the net have taken a tenth of a second, a compiler beside it,
    whose net takes over when it is there first. The variable LPN_ENGINE sets the default. `trace`:
    keep every commit, or a function called with each. `path`: find the critical path (Run.path)
    and, for so many of its transitions (True: 3), what halving their delays gains. `path_memory`:
    bytes it may use, 256 MiB if not given. `read`: places whose free tokens at the end Run.tokens
    keeps. `collect`: places from which nothing takes, of which Run.collected keeps every token
    and when it came ("E-collect" for another). `max_...`: what the run may use, for nets of strangers:
    bytes of its tokens and firings (None: three quarters of the machine's memory; 0: any), seconds,
    tokens at the start, firings and groups at one time; a run that needs more ends with ending "budget",
    see Run.stopped. Raises RunError for an error of the run, "E-no-compiler" when "compiled" cannot
    be had; a stalled run is a result. Ctrl-C raises KeyboardInterrupt whose `run` is the run so far; a
    RuntimeWarning says that nothing else will end a run, where a transition goes on for ever by itself.
    """
    start = _checked(net, marking)
    values = parameter_values(net, params)
    limit = whole_limit(limit)
    engine = engine or os.environ.get("LPN_ENGINE") or None
    if engine is not None:
        check_engine(engine)
    if until is not None:
        if engine == "compiled":
            raise mistake("E-engine", UNTIL_INTERPRETED)
        engine = "interp"
    limits = budget_of(max_memory, max_time, max_tokens, max_firings, max_groups)
    if until is None and not callable(trace):  # what sees every commit may end the run by itself
        warn_endless(net, start, limit, limits)
    asked: dict[str, Any] = {"limit": limit, "limits": limits, "stats": bool(stats)}
    asked.update(read=read_places(net, read), collect=read_places(net, collect))
    if until is not None:
        asked["until"] = until
    wants_path = path is not False and path is not None  # 0: without asking what is gained
    if wants_path:
        asked.update(path=3 if path is True else int(path or 0), path_memory=path_memory)
    return _finished(_run(net, values, start, engine, trace, asked))


def _checked(net, marking):
    """The marking for a net that is finished."""
    if not isinstance(net, Net):
        raise mistake("E-operand", f"simulate needs a net, got {net!r}")
    net.done()
    if marking is None:
        return Marking(net)
    if not isinstance(marking, Marking):
        raise mistake(
            "E-operand",
            f"simulate needs an lpn.Marking as its second argument, got {marking!r}; "
            "parameters go into params={...}",
        )
    if marking.net is not net:
        raise mistake(
            "E-foreign",
            f"the marking belongs to another net ('{marking.net.name}'); make it with "
            "lpn.Marking(net) of the net that runs",
        )
    return marking


def _run(net, values, marking, engine, trace, asked):
    """The Run by `engine`; None: by the one that answers first."""
    recorder = None

    def observe():
        nonlocal recorder
        recorder = _lpn.sim.Recorder()
        return recorder

    same: dict[str, Any] = dict(asked)
    if trace:
        same["observe"] = (lambda: trace) if callable(trace) else observe
    kept = (asked["stats"], "path" in asked, bool(trace))
    if engine is None and callable(trace):  # a function must see every commit once
        engine = "interp"
    if engine is None:
        run = run_quickest(background_of(net, *kept), net, values, marking, **same)
    elif engine == "compiled":
        variants = background_of(net, *kept).variants
        libraries = [compiled_once(net, **variant) for variant in variants]
        run = run_by(libraries, net, values, marking, **same)
    else:
        run = run_by([None], net, values, marking, **same)
    if recorder is not None:
        run.trace = recorder.take()
    return run


def _finished(run):
    if run.ending == "interrupted":
        stop = KeyboardInterrupt()
        stop.run = run
        raise stop
    return run
