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
from .engines import check_engine, compiled, library_of
from .run import Run, budget_of, execute, whole_limit

__all__ = ["simulate"]

# What the interpreter may take, in seconds, before simulate() thinks of compiling.
_PATIENCE = 0.1


def simulate(
    net: Net,
    marking: Marking | None = None,
    params: Mapping[str, int] | None = None,
    *,
    engine: str | None = None,
    limit: int | None = None,
    trace: bool | Callable[..., object] = False,
    stats: bool = False,
    path: bool | int | None = False,
    path_memory: int | None = None,
    read: Iterable[Place | str] = (),
    max_memory: int | None = None,
    max_time: float | None = None,
    max_tokens: int | None = None,
    max_firings: int | None = None,
    max_groups: int | None = None,
) -> Run:
    """Runs the net on a marking to its end, or to time `limit` (cycles, inclusive).

    `params`: values for the net's parameters. `engine`: "interp", which defines the meaning, or
    "compiled", which is fast and compiles a net once (later runs take it from the cache); None: the
    interpreter for runs of a tenth of a second, else compiled where there is a compiler. The
    variable LPN_ENGINE sets the default. `trace`: keep every commit, or a function called with
    each. `path`: find the critical path (Run.path) and, for so many of its transitions (True: 3),
    what halving their delays gains; compiled only. `path_memory`: bytes it may use, 256 MiB if not
    given. `read`: places whose free tokens at the end Run.tokens keeps. `max_...`: what the run may
    use, for nets of strangers: bytes of its tokens and firings (None: three quarters of the
    machine's memory; 0: any), seconds, tokens at the start, firings and groups at one time; a run
    that needs more ends with ending "budget", see Run.stopped. Raises RunError for an
    error of the run, "E-no-compiler" when "compiled" cannot be had; a stalled run is a result.
    Ctrl-C raises KeyboardInterrupt whose `run` is the run so far.
    """
    start = _checked(net, marking)
    values = parameter_values(net, params)
    limit = whole_limit(limit)
    engine = engine or os.environ.get("LPN_ENGINE") or None
    if engine is not None:
        check_engine(engine)
    limits = budget_of(max_memory, max_time, max_tokens, max_firings, max_groups)
    same: dict[str, Any] = {"limit": limit, "read": read, "limits": limits}
    if path is False or path is None:  # 0: without asking what is gained
        return _finished(_run(net, values, start, engine, trace, stats, same))
    if engine == "interp":
        raise mistake(
            "E-engine", 'the critical path needs engine "compiled"; leave `engine` out or say so'
        )
    asked: dict[str, Any] = {"path": 3 if path is True else int(path), "path_memory": path_memory}
    run = execute(net, values, start, compiled(net, path=True), **asked, **same)
    if run.ending in ("interrupted", "budget") or not (trace or stats):
        return _finished(run)
    found = run.path
    run = _run(net, values, start, engine, trace, stats, same)
    run.path = found
    return _finished(run)


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


def _run(net, values, marking, engine, trace, stats, same):
    """The Run by `engine`; None: by the interpreter while that is quick."""
    kept = {"trace": bool(trace), "stats": bool(stats)}

    def attempt(library, budget=0.0):
        recorder = _lpn.sim.Recorder() if trace and not callable(trace) else None
        observer = recorder or (trace if callable(trace) else None)
        run = execute(
            net, values, marking, library, stats=stats, budget=budget, observer=observer, **same
        )
        if run is not None and recorder is not None:
            run.trace = recorder.take()
        return run

    if engine == "compiled":
        return attempt(compiled(net, **kept))
    if engine == "interp" or callable(trace):  # a function must see every commit once
        return attempt(None)
    return attempt(None, _PATIENCE) or attempt(library_of(net, "compiled", **kept)[0])


def _finished(run):
    if run.ending == "interrupted":
        stop = KeyboardInterrupt()
        stop.run = run
        raise stop
    return run
