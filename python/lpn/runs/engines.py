"""What runs a net: the engines by name, and what each needs before it can.

The interpreter defines the meaning and needs nothing; it is what a library of None stands for. A
compiled net is a library, made once and kept in the cache; they agree commit for commit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import _lpn

from ..authoring.marking import Marking
from ..authoring.net import Net
from ..authoring.unknown import require_known
from ..errors import Error, mistake
from .condition import Condition

__all__ = [
    "ENGINES",
    "NOT_COMPILED",
    "UNTIL_INTERPRETED",
    "check_engine",
    "compiled",
    "compiled_once",
    "library_of",
    "name_of",
    "never_compile",
    "start",
]

UNTIL_INTERPRETED = (
    "only the interpreter looks at a condition after every instant; leave the compiled engine out, "
    "or the condition"
)

# Errors that say that a net cannot be compiled here, not that it is wrong: then it is interpreted.
NOT_COMPILED = (
    "E-no-compiler",
    "E-compile",
    "E-cache",
    "E-load",
    "E-too-large",
    "E-never-compile",
)


def compiled(
    net: Net,
    *,
    trace: bool = False,
    stats: bool = False,
    path: bool = False,
    stop: Callable[[], object] | None = None,
) -> Any:
    """The library of a net; `trace`, `stats`, `path`: what its runs are to keep.

    Raises Error "E-no-compiler", "E-compile", "E-cache", "E-load", "E-too-large" or
    "E-never-compile"; KeyboardInterrupt when Ctrl-C ends the compiler, "E-interrupted" when stop()
    does, which is asked about 20 times a second.
    """
    require_known(net)
    return _lpn.sim.Library.build(net.core, trace=trace, stats=stats, path=path, stop=stop)


# What decides where a library comes from, and whether it may be had.
_DECIDES = ("LPN_NO_COMPILE", "LPN_CXX", "LPN_CACHE", "LPN_RUNTIME")


def compiled_once(net: Net, *, trace: bool = False, stats: bool = False, path: bool = False) -> Any:
    """As compiled(), of a net that is done(); kept with the net until it is changed.

    For calls that are made again and again: writing a net's source anew, and looking up what it
    names, takes some milliseconds.
    """
    key = (trace, stats, path, *map(os.environ.get, _DECIDES))
    library = net._compiling.get(key)
    if library is None:
        library = net._compiling[key] = compiled(net, trace=trace, stats=stats, path=path)
    return library


def interpreted(net, **_):
    """No library: the interpreter keeps what it is asked for."""
    return None


# Name -> what makes the library that start() takes.
ENGINES: dict[str, Callable[..., Any]] = {"compiled": compiled, "interp": interpreted}


def check_engine(name: str) -> str:
    """The name of an engine. Raises Error "E-engine" for another one."""
    if name not in ENGINES:
        words = " or ".join(f'"{each}"' for each in reversed(ENGINES))
        raise mistake("E-engine", f"there is no engine {name!r}; use {words}")
    return name


def library_of(net: Net, engine: str, **kept: Any) -> tuple[Any, Error | None]:
    """(what `engine` runs the net with, None); (None, the Error) for a net that cannot be compiled
    here.
    """
    try:
        return ENGINES[engine](net, **kept), None
    except Error as error:
        if error.code not in NOT_COMPILED:
            raise
        return None, error


def never_compile() -> bool:
    """Whether the user wants no code of a net compiled, loaded or run; what compiles refuses it."""
    return os.environ.get("LPN_NO_COMPILE", "") not in ("", "0")


def name_of(library: Any) -> str:
    """The engine that runs with this library; a new one is known by what it returns for it."""
    return "interp" if library is None else "compiled"


def start(
    net: Net,
    values: Sequence[int],
    marking: Marking,
    library: Any,
    *,
    stats: bool = False,
    trace: bool = False,
    budget: Any = None,
    poll: Callable[[int, int], object] | None = None,
    halved: int | None = None,
    guide: Sequence[tuple] = (),
    until: Condition | None = None,
) -> Any:
    """The machine at time 0 that _lpn.sim.run takes: an _lpn.sim.Simulator or an _lpn.Interp.

    `budget`: an _lpn.Budget. `poll(time, commits)` is asked while the tokens are placed, and stops
    that by saying yes; the machine's runs then only say so. `halved`: the number of a transition
    whose delays are halved, rounded up; a library keeps the critical path for that. `guide`: of the
    interpreter, (starts, commits, probes) per transition: instants before which its firings neither
    start nor commit, and (expression, 0)s that are evaluated at each start (lpn/run/interp.h).
    `until`: of the interpreter, a condition after which the run ends.
    """
    require_known(net)
    within = {"budget": budget or _lpn.Budget(), "poll": poll}
    if library is None:
        kept: dict[str, Any] = {"stats": stats, "trace": trace, "halved": halved}
        if guide:
            kept |= {"guide": guide, "guide_values": [values]}
        if until is not None:
            kept["until"] = until.core
        return _lpn.Interp(net.core, values, marking._core, **kept, **within)
    if guide:
        raise mistake("E-engine", "a guided run is the interpreter's; leave the library out")
    if until is not None:
        raise mistake("E-engine", UNTIL_INTERPRETED)
    machine = _lpn.sim.Simulator(library, values, marking._core, **within)
    if halved is not None:
        machine.set_path_budget(0)
        machine.halve(halved)
    return machine
