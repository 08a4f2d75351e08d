"""One run of a net, and what it was."""

from __future__ import annotations

import array
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import _lpn

from ..authoring.marking import Marking
from ..authoring.net import Net
from ..authoring.place import Place
from ..errors import mistake
from ..interrupt import Interrupt
from .condition import Condition
from .critical import critical_path
from .engines import name_of, start

__all__ = [
    "Run",
    "budget_of",
    "execute",
    "named_blocked",
    "read_places",
    "read_tokens",
    "stopped_at",
    "stopped_text",
    "whole_limit",
]


# Bytes that a critical path may use unless somebody says otherwise.
_PATH_MEMORY = 256 << 20


class Run:
    """How a run ended.

    `latency`: cycles (ticks) to the last done token, None when none was produced. `ending`:
    "quiet", "done", "limit", "interrupted" (Ctrl-C), "condition": what it was to run until holds, or
    "budget": it needed more than it may use. With the last two `stopped` is a dict of `at`, the time,
    `reason` ("condition", "memory", "time", "tokens", "groups" or "firings") and `text`; else None.
    `until`: the time up to which the run is complete when it ended by limit, interrupt, condition or
    budget, else None. `stalled`: quiet although tokens wait
    that must drain; then `blocked` lists (transition, reason, arc or place), `undrained` the places
    and `left` the tokens per place. `commits`, `done_tokens`, `last_commit`: counts and a time.
    `trace`: list of commits, when asked for. `stats`: a dict, when asked for. `collected`: {place:
    (values row-major, times)} as arrays, when asked for (execute). `path`: the critical path, when
    asked for: a dict of `latency` and of `rows` that add up to it. `tokens`: place -> its free
    tokens at the end, a list of tuples of values or, without properties, a number; of the places
    asked for with `read`. `engine`: "compiled" or "interp". `seconds`: wall time of the simulation
    alone.
    """

    def __init__(self, net, result, engine, seconds, trace=None, stats=None, marking=None):
        self.net = net
        self.engine = engine
        self.seconds = seconds
        self.layout_seconds = 0.0  # of run_batch
        self.until = None
        self.stopped = None
        self.latency = result.latency
        self.ending = result.ending
        self.last_commit = result.last_commit
        # Until when tokens came from outside, in a run that became quiet.
        self._arrivals = (
            marking._core.last_arrival if marking is not None and self.ending == "quiet" else 0
        )
        self.commits = result.commits
        self.done_tokens = result.done_tokens
        self.stalled = result.stalled
        core = net.core
        self.blocked = []
        self.undrained = []
        self.left = {}
        if result.stalled:
            self.blocked = named_blocked(core, result.blocked, result.undrained)
            self.undrained = [core.places[p].name for p in result.undrained]
        self.trace = trace
        self.path = None
        self.collected = {}
        self.probed = []  # of a guided run
        self.tokens = {}
        # Of the critical path, from its end: (transition, cause, to its commit, start, commit).
        self.steps = []
        self.stats = _named(core, stats) if stats is not None else None

    @property
    def end(self) -> int:
        """The time up to which there is something to show: of a run that came to rest, the last
        commit or, when that is later, the last arrival of a token.
        """
        return max(self.last_commit, self._arrivals) if self.until is None else self.until

    def __repr__(self):
        state = "stalled" if self.stalled else self.ending
        about = f"latency {self.latency}, {self.commits} commits, {state}"
        return f"<run of net '{self.net.name}': {about}>"


def named_blocked(
    core: Any, blocked: Any, undrained: Collection[int] = ()
) -> list[tuple[str, str, str | None]]:
    """[(transition, reason, the arc or place that it waits for, or None)] of a stalled run, by
    name. First those that would take what is left in `undrained` and are not kept from it by a guard
    on that very place, as those are whose turn it is not; then these; units that merely idle last.
    """
    places, transitions = core.places, core.transitions

    def rank(waiting):
        number, reason, arc = waiting
        inputs = transitions[number].inputs
        if all(a.inhibit or a.place not in undrained for a in inputs):
            return 2
        return int(reason == "guard" and inputs[arc].place in undrained)

    named = []
    for number, reason, arc in sorted(blocked, key=rank):
        transition, what = transitions[number], None
        if reason == "no credit":
            what = places[arc].name
        elif reason in ("no token", "guard", "inhibited"):
            what = transition.inputs[arc].name
        named.append((transition.name, reason, what))
    return named


def _named(core, stats):
    """Statistics by name in place of number."""
    return {
        "end": stats["end"],
        "transitions": {t.name: s for t, s in zip(core.transitions, stats["transitions"])},
        "places": {p.name: s for p, s in zip(core.places, stats["places"])},
    }


def read_places(net, read):
    """The Places of the names (or Places) in `read`, each once; of one, too. Raises Error "E-operand"."""
    given = [read] if isinstance(read, (str, Place)) else list(read)
    for place in given:
        if not isinstance(place, (str, Place)):
            raise mistake("E-operand", f"{place!r} is no place; give its name or the lpn.Place")
    return list({net[p if isinstance(p, str) else p.name]: None for p in given})


def read_tokens(place, count, values):
    """What Run.tokens says of a place."""
    width = len(place._type.fields)
    return [tuple(values[k : k + width]) for k in range(0, len(values), width)] if width else count


def execute(
    net: Net,
    values: Sequence[int],
    marking: Marking,
    library: Any,
    *,
    limit: int | None = None,
    observer: Any = None,
    stats: bool = False,
    on_slice: Callable[[int, int], object] | None = None,
    budget: float = 0.0,
    path: int | None = None,
    path_memory: int | None = None,
    read: Iterable[Place | str] = (),
    collect: Iterable[Place | str] = (),
    watch: Any = None,
    limits: Any = None,
    leave: Callable[[], object] | None = None,
    guide: Sequence[tuple] = (),
    until: str | None = None,
) -> Any:
    """A Run by the compiled `library`, or by the interpreter when it is None.

    `observer`: a function or _lpn.sim.Observer that sees every commit. `on_slice(time, commits)` is
    called about 20 times a second. Ctrl-C ends the run with ending "interrupted". Returns None when
    the run would take longer than `budget` seconds (0: any time), and when leave(), which is asked as
    often as on_slice, says so. `path`: the critical path, of a library that keeps it or of the
    interpreter, and what the run gains from twice as fast a transition for so many of them;
    `path_memory`: bytes that it may use. `watch`: without a library, a _lpn.viz.Record or
    _lpn.sim.Timeline that is to see the run, which then has no path. `collect`: places
    that the net does not read, of which the Run keeps what arrived and when, tokens that were there
    at the start first. Raises "E-collect" for another place. `limits`: an _lpn.Budget, what the run
    may use; None: as budget_of() has it. `guide`: as engines.start() has it; then `probed` of the Run
    has a list of numbers per transition, row by row of its starts. `until`: the text of a Condition;
    without a library, the run ends as "condition" with the first instant after which it holds; not
    together with `path`.
    """
    condition = None if until is None else Condition(net, until)
    if condition is not None and path is not None:
        raise mistake(
            "E-operand", "a run that a condition ends has no critical path; leave one out"
        )
    limits = limits or budget_of()
    left = False

    def going(time, commits):
        nonlocal left
        left = left or leave is not None and bool(leave())
        return left

    sinks = read_places(net, collect)
    if library is None:
        _check_sinks(net, sinks)
    with Interrupt() as stop:
        machine = start(
            net,
            values,
            marking,
            library,
            stats=stats,
            trace=observer is not None,
            budget=limits,
            poll=lambda time, commits: stop.asked or going(time, commits),
            guide=guide,
            until=condition,
        )
        trail = machine
        if path is not None and library is None:
            trail = _lpn.sim.InterpretedPath(net.core, machine, path_memory or _PATH_MEMORY)
        if watch is not None:
            watch.watch(machine)
        for place in sinks:
            machine.collect(place._number)
        if path_memory is not None and library is not None:
            machine.set_path_budget(path_memory)
        last = _lpn.FOREVER if limit is None else limit
        result, seconds, interrupted, reached = _run_sliced(
            machine, last, observer, on_slice, budget, stop, going
        )
    if result is None or left and interrupted and not stop.asked:
        return None
    cut = interrupted or result.ending == "budget"
    # An order-free run that was cut short has run ahead here and there: no moment to speak of.
    whole = not cut or isinstance(machine, _lpn.Interp) or not machine.order_free
    measured = machine.stats() if stats and whole else None
    run = Run(net, result, name_of(library), seconds, None, measured, marking)
    if run.ending in ("limit", "condition") or cut:
        run.until = reached if reached >= 0 else None
    if interrupted:
        run.ending = "interrupted"
    elif cut:
        run.stopped = stopped_at(reached + 1, result, limits)
    elif condition is not None and run.ending == "condition":
        because = f"{condition.text} ({condition.values(machine)})"
        text = f"stopped at time {reached}, because {because}"
        run.stopped = {"at": reached, "reason": "condition", "text": text}
    if guide:
        run.probed = [machine.probed(number) for number in range(len(guide))]
    _read(run, machine, read, sinks)
    if path is not None and not cut:
        _find_path(run, trail, result, (values, marking, library, last), path)
    return run


def budget_of(
    max_memory: int | None = None,
    max_time: float | None = None,
    max_tokens: int | None = None,
    max_firings: int | None = None,
    max_groups: int | None = None,
) -> Any:
    """An _lpn.Budget: bytes, seconds, tokens at the start, firings and groups at one instant.

    None, and 0: any; but of memory, None: three quarters of the machine's. Raises Error
    "E-operand".
    """
    given = {"max_tokens": max_tokens, "max_firings": max_firings, "max_groups": max_groups}
    for name, value in {"max_memory": max_memory, "max_time": max_time, **given}.items():
        whole = name != "max_time"
        if value is not None and not (
            (hasattr(value, "__index__") if whole else isinstance(value, (int, float)))
            and 0 <= value < 2**63
        ):
            what = "an int" if whole else "seconds, a number"
            raise mistake("E-operand", f"{name} must be {what} >= 0, got {value!r}")
    return _lpn.Budget(
        memory=_lpn.sim.sane_memory() if max_memory is None else max_memory,
        seconds=max_time or 0.0,
        tokens=max_tokens or 0,
        firings=max_firings or 0,
        groups=max_groups or 0,
    )


def stopped_at(at, result, limits):
    """Run.stopped of a run that needed more than it may use, `at` the first instant that it did not
    complete.
    """
    return {
        "at": at,
        "reason": result.stop,
        "text": stopped_text(at, result, limits),
    }


def stopped_text(at: int, result: Any, limits: Any) -> str:
    """'stopped at time 4: ...' of a result that ended at its budget."""
    return f"stopped at time {at}: {limits.text(result)}"


def _run_sliced(machine, until, observer, on_slice, budget, stop, going=None):
    """What _lpn.sim.run says of a run that Ctrl-C (`stop`) ends, or going()."""

    def between(time, commits):
        if on_slice is not None:
            on_slice(time, commits)
        return stop.asked or going is not None and going(time, commits)

    return _lpn.sim.run(machine, until, observer, between, budget)


def _read(run, machine, read, sinks):
    """Takes from the machine what the Run keeps of its places."""
    net = run.net
    if run.stalled:
        interpreted = isinstance(machine, _lpn.Interp)
        count = machine.occupancy if interpreted else machine.free_tokens
        left = {place.name: count(place._number) for place in net.places.values()}
        run.left = {name: n for name, n in left.items() if n}
    for place in read_places(net, read):
        number = place._number
        run.tokens[place.name] = read_tokens(
            place, machine.free_tokens(number), machine.tokens(number)
        )
    for place in sinks:  # last: what is taken is no longer there
        run.collected[place.name] = tuple(map(_whole_numbers, machine.take(place._number)))


def _check_sinks(net, sinks):
    """Refuses what a compiled net refuses to collect."""
    taken = {arc.place for t in net.core.transitions for arc in t.inputs}
    for place in sinks:
        if place._number in taken:
            raise mistake(
                "E-collect",
                f"place '{place.name}' of net '{net.name}' cannot collect its tokens: a transition "
                "takes from it; collect a sink",
            )


def _find_path(run, trail, result, same, top):
    """The critical path, and what the run gains when one of `top` transitions is twice as fast."""
    net = run.net
    values, marking, library, until = same
    has_done = any(p.done for p in net.core.places)

    def time_of(result):
        return result.latency if has_done else result.last_commit

    def again(transition):
        with Interrupt() as stop:
            other = start(net, values, marking, library, halved=transition)
            answer, _, interrupted, _ = _run_sliced(other, until, None, None, 0.0, stop)
        if interrupted:
            raise KeyboardInterrupt
        return time_of(answer)

    target = time_of(result)
    if target is not None:
        run.path = critical_path(net, trail, target, again, top)
        run.steps = trail.path()[1]


def _whole_numbers(data):
    numbers = array.array("q")
    numbers.frombytes(data)
    return numbers


def whole_limit(limit: Any) -> int | None:
    """A limit of time, checked. Raises Error "E-operand"."""
    if limit is None:
        return None
    if not hasattr(limit, "__index__") or not 0 <= int(limit) <= _lpn.FOREVER:
        raise mistake("E-operand", f"limit must be a time in cycles, an int >= 0, got {limit!r}")
    return int(limit)
