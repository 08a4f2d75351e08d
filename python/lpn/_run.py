"""Running a net, and what a run is."""

import time

import _lpn

from ._errors import mistake
from ._marking import Marking
from ._net import Net

__all__ = ["Run", "simulate"]


class Run:
    """How a run ended.

    `latency`: cycles (ticks) to the last done token, None when none was produced. `ending`: "quiet",
    "done" or "limit". `stalled`: quiet although tokens wait that must drain; then `blocked` lists
    (transition, reason, arc or place) and `undrained` the places. `commits`, `done_tokens`,
    `last_commit`: counts and a time. `trace`: list of commits, when asked for. `stats`: a dict, when
    asked for. `seconds`: wall time of the simulation alone.
    """

    def __init__(self, net, result, engine, seconds, trace=None, stats=None):
        self.net = net
        self.engine = engine
        self.seconds = seconds
        self.latency = result.latency
        self.ending = result.ending
        self.last_commit = result.last_commit
        self.commits = result.commits
        self.done_tokens = result.done_tokens
        self.stalled = result.stalled
        core = net._core
        places, transitions = core.places, core.transitions
        self.blocked = []
        for transition, reason, arc in result.blocked:
            t = transitions[transition]
            if reason == "no credit":
                what = places[arc].name
            elif reason in ("no token", "guard", "inhibited"):
                what = t.inputs[arc].name
            else:
                what = None
            self.blocked.append((t.name, reason, what))
        self.undrained = [places[p].name for p in result.undrained]
        self.trace = trace
        self.stats = _named(core, stats) if stats is not None else None

    def __repr__(self):
        state = "stalled" if self.stalled else self.ending
        return f"<run of net '{self.net.name}': latency {self.latency}, {self.commits} commits, {state}>"


def _named(core, stats):
    """Statistics by name in place of number."""
    return {
        "end": stats["end"],
        "transitions": {t.name: s for t, s in zip(core.transitions, stats["transitions"])},
        "places": {p.name: s for p, s in zip(core.places, stats["places"])},
    }


def parameter_values(net, params):
    """The values of the net's parameters in order: defaults, then the net's bound ones, then `params`."""
    given = {**net.bound, **(params or {})}
    pairs = []
    for name, value in given.items():
        if not isinstance(value, int) and not hasattr(value, "__index__"):
            raise mistake("E-param", f"parameter '{name}' of net '{net.name}' must be int, got {value!r}")
        pairs.append((name, int(value)))
    return net._core.bind_params(pairs)


def _with_interp(net, values, marking, limit, trace, stats):
    interp = _lpn.Interp(net._core, values, marking._core, stats=stats, trace=bool(trace))
    until = _lpn.FOREVER if limit is None else limit
    start = time.perf_counter()
    commits = None
    if callable(trace):
        result = interp.run_observed(until, trace)
    elif trace:
        result, commits = interp.run_recorded(until)
    else:
        result = interp.run(until)
    seconds = time.perf_counter() - start
    return Run(net, result, "interp", seconds, commits, interp.stats() if stats else None)


def simulate(net, marking=None, params=None, *, engine=None, limit=None, trace=False, stats=False):
    """Runs the net on a marking to its end, or to time `limit` (cycles, inclusive).

    `params`: values for the net's parameters. `engine`: "interp", which defines the meaning, or
    "compiled", which is fast. `trace`: keep every commit, or a function called with each. Raises
    RunError for an error of the run; a stalled run is a result.
    """
    if not isinstance(net, Net):
        raise mistake("E-operand", f"simulate needs a net, got {net!r}")
    net.done()
    if marking is None:
        marking = Marking(net)
    if marking.net is not net:
        raise mistake("E-foreign", f"the marking belongs to another net ('{marking.net.name}'); make it with "
                      "lpn.Marking(net) of the net that runs")
    values = parameter_values(net, params)
    if engine is None:
        engine = "compiled" if hasattr(_lpn, "sim") else "interp"
    if engine == "interp":
        return _with_interp(net, values, marking, limit, trace, stats)
    if engine == "compiled":
        if not hasattr(_lpn, "sim"):
            raise mistake("E-engine", "the compiled engine is not built yet; use engine=\"interp\"")
        from . import _compiled

        return _compiled.run(net, values, marking, limit, trace, stats)
    raise mistake("E-engine", f"there is no engine {engine!r}; use \"interp\" or \"compiled\"")
