"""Running a net, and what a run is."""

import array
import os
import signal

import _lpn

from .critical import critical_path
from .critical import library as path_library
from ..errors import mistake, placed
from .marking import Marking
from ..authoring.net import Net

__all__ = ["Run", "run_batch", "simulate"]

# What the interpreter may take, in seconds, before simulate() thinks of compiling.
_PATIENCE = 0.1
_NOT_COMPILED = ("E-no-compiler", "E-compile", "E-cache", "E-too-large")


class Run:
    """How a run ended.

    `latency`: cycles (ticks) to the last done token, None when none was produced. `ending`: "quiet",
    "done", "limit" or "interrupted" (Ctrl-C). `until`: the time up to which the run is complete when
    it ended by limit or interrupt, else None. `stalled`: quiet although tokens wait that must drain;
    then `blocked` lists (transition, reason, arc or place), `undrained` the places and `left` the
    tokens per place. `commits`, `done_tokens`, `last_commit`: counts and a time. `trace`: list of
    commits, when asked for. `stats`: a dict, when asked for.
    `collected`: {place: (values row-major, times)} as arrays, when asked for (execute).
    `path`: the critical path, when asked for: a dict of `latency` and of `rows` that add up to it.
    `tokens`: place -> its free tokens at the end, a list of tuples of values or, without properties, a
    number; of the places asked for with `read`. `engine`: "compiled" or "interp".
    `seconds`: wall time of the simulation alone.
    """

    def __init__(self, net, result, engine, seconds, trace=None, stats=None):
        self.net = net
        self.engine = engine
        self.seconds = seconds
        self.until = None
        self.latency = result.latency
        self.ending = result.ending
        self.last_commit = result.last_commit
        self.commits = result.commits
        self.done_tokens = result.done_tokens
        self.stalled = result.stalled
        core = net._core
        self.blocked = []
        self.undrained = []
        self.left = {}
        if result.stalled:
            places, transitions = core.places, core.transitions
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
        self.path = None
        self.collected = {}
        self.tokens = {}
        self.steps = (
            []
        )  # of the critical path, from its end: (transition, cause, to its commit, start, commit)
        self.stats = _named(core, stats) if stats is not None else None

    @property
    def end(self):
        """The time up to which the run is known."""
        return self.last_commit if self.until is None else self.until

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


def _read_places(net, read):
    """The Places of the names (or Places) in `read`."""
    return [net[place if isinstance(place, str) else place.name] for place in read]


def _tokens(place, count, values):
    """What Run.tokens says of a place."""
    width = len(place._type.fields)
    return [tuple(values[k : k + width]) for k in range(0, len(values), width)] if width else count


def parameter_values(net, params):
    """The values of the net's parameters in order: defaults, then the net's bound ones, then `params`."""
    given = {**net.bound, **(params or {})}
    pairs = []
    for name, value in given.items():
        if not isinstance(value, int) and not hasattr(value, "__index__"):
            raise mistake(
                "E-param", f"parameter '{name}' of net '{net.name}' must be int, got {value!r}"
            )
        pairs.append((name, int(value)))
    try:
        return net._core.bind_params(pairs)
    except _lpn.Error as error:
        raise placed(error) from None


class _Interrupt:
    """Ctrl-C as a wish instead of an exception, which would hit an observer in the middle of a write.

    A second Ctrl-C is the exception. Does nothing in other threads and where the program has a
    handler of its own.
    """

    def __enter__(self):
        self.asked = False
        self._installed = False
        try:
            if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                signal.signal(signal.SIGINT, self._ask)
                self._installed = True
        except ValueError:  # not the main thread
            pass
        return self

    def _ask(self, number, frame):
        if self.asked:
            signal.default_int_handler(number, frame)
        self.asked = True

    def __exit__(self, *_):
        if self._installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def compiled(net):
    """The compiled simulator of a net, for execute(). Raises "E-no-compiler", "E-compile", "E-cache", "E-too-large"."""
    return _lpn.sim.Library.build(net._core)


def execute(
    net,
    values,
    marking,
    library,
    *,
    limit=None,
    observer=None,
    stats=False,
    on_slice=None,
    budget=0.0,
    path=None,
    path_memory=None,
    read=(),
    collect=(),
    watch=None,
):
    """A Run by the compiled `library`, or by the interpreter when it is None.

    `observer`: a function or _lpn.sim.Observer that sees every commit. `on_slice(time, commits)` is
    called about 20 times a second. Ctrl-C ends the run with ending "interrupted". Returns None when
    the run would take longer than `budget` seconds (0: any time). `path`: with a library that keeps
    it, the critical path, and what the run gains from twice as fast a transition for so many of them.
    `watch`: without a library, a _lpn.viz.Record or _lpn.sim.Timeline that is to see the run.
    `collect`: names of places that the net does not read, of which the Run keeps what arrived and when; with a
    compiled library only. Raises "E-collect" for another place.
    """
    if library is None:
        engine = _lpn.Interp(
            net._core, values, marking._core, stats=stats, trace=observer is not None
        )
        count = engine.occupancy
        if watch is not None:
            watch.watch(engine)
    else:
        engine = _lpn.sim.Simulator(library, values, marking._core)
        count = engine.free_tokens
        for name in collect:
            engine.collect(net._places[name]._number)
        if path_memory is not None:
            engine.set_path_budget(path_memory)
    until = _lpn.FOREVER if limit is None else limit
    with _Interrupt() as stop:

        def between(time, commits):
            if on_slice is not None:
                on_slice(time, commits)
            return stop.asked

        result, seconds, interrupted, reached = _lpn.sim.run(
            engine, until, observer, between, budget
        )
    if result is None:
        return None
    # An order-free run that was interrupted has run ahead here and there: no moment to speak of.
    whole = not interrupted or library is None or not engine.order_free
    run = Run(
        net,
        result,
        "interp" if library is None else "compiled",
        seconds,
        None,
        engine.stats() if stats and whole else None,
    )
    for name in collect:
        run.collected[name] = tuple(
            _whole_numbers(part) for part in engine.take(net._places[name]._number)
        )
    if run.ending == "limit":
        run.until = reached
    if interrupted:
        run.ending = "interrupted"
    if run.stalled:
        left = {place.name: count(place._number) for place in net._places.values()}
        run.left = {name: n for name, n in left.items() if n}
    for place in _read_places(net, read):
        run.tokens[place.name] = _tokens(
            place, engine.free_tokens(place._number), engine.tokens(place._number)
        )
    if path is not None and not interrupted:
        has_done = any(p.done for p in net._core.places)

        def time_of(result):
            return result.latency if has_done else result.last_commit

        def again(transition):
            other = _lpn.sim.Simulator(library, values, marking._core)
            other.set_path_budget(0)
            other.halve(transition)
            with _Interrupt() as stop:
                answer = _lpn.sim.run(other, until, None, lambda *_: stop.asked, 0.0)
            if answer[2]:
                raise KeyboardInterrupt
            return time_of(answer[0])

        target = time_of(result)
        run.path = critical_path(net, engine, target, again, path) if target is not None else None
        run.steps = engine.path()[1] if target is not None else []
    return run


def _whole_numbers(data):
    numbers = array.array("q")
    numbers.frombytes(data)
    return numbers


def _whole_limit(limit):
    if limit is None:
        return None
    if not hasattr(limit, "__index__") or not 0 <= int(limit) <= _lpn.FOREVER:
        raise mistake("E-operand", f"limit must be a time in cycles, an int >= 0, got {limit!r}")
    return int(limit)


def simulate(
    net,
    marking=None,
    params=None,
    *,
    engine=None,
    limit=None,
    trace=False,
    stats=False,
    path=False,
    path_memory=None,
    read=(),
):
    """Runs the net on a marking to its end, or to time `limit` (cycles, inclusive).

    `params`: values for the net's parameters. `engine`: "interp", which defines the meaning, or
    "compiled", which is fast and compiles a net once (later runs take it from the cache); None: the
    interpreter for runs of a tenth of a second, else compiled where there is a compiler. The
    variable LPN_ENGINE sets the default. `trace`: keep every commit, or a function called with
    each. `path`: find the critical path (Run.path) and, for so many of its transitions (True: 3), what
    halving their delays gains; compiled only. `path_memory`: bytes it may use, 256 MiB if not given.
    `read`: places whose free tokens at the end Run.tokens keeps.
    Raises RunError for an error of the run, "E-no-compiler" when "compiled" cannot be had; a
    stalled run is a result. Ctrl-C raises KeyboardInterrupt whose `run` is the run so far.
    """
    if not isinstance(net, Net):
        raise mistake("E-operand", f"simulate needs a net, got {net!r}")
    net.done()
    if marking is None:
        marking = Marking(net)
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
    values = parameter_values(net, params)
    limit = _whole_limit(limit)
    engine = engine or os.environ.get("LPN_ENGINE") or None
    if engine not in (None, "interp", "compiled"):
        raise mistake("E-engine", f'there is no engine {engine!r}; use "interp" or "compiled"')

    wanted = path is not False and path is not None  # 0: without asking what is gained
    if wanted and engine == "interp":
        raise mistake(
            "E-engine", 'the critical path needs engine "compiled"; leave `engine` out or say so'
        )
    if wanted:
        run = execute(
            net,
            values,
            marking,
            path_library(net),
            limit=limit,
            path=3 if path is True else int(path),
            path_memory=path_memory,
            read=read,
        )
        if run.ending == "interrupted" or not (trace or stats):
            return _finished(run)
        found = run.path

    def attempt(library, budget=0.0):
        recorder = _lpn.sim.Recorder() if trace and not callable(trace) else None
        run = execute(
            net,
            values,
            marking,
            library,
            limit=limit,
            stats=stats,
            budget=budget,
            read=read,
            observer=recorder or (trace if callable(trace) else None),
        )
        if run is not None and recorder is not None:
            run.trace = recorder.take()
        return run

    def compiled():
        return _lpn.sim.Library.build(net._core, trace=bool(trace), stats=bool(stats))

    if engine == "compiled":
        run = attempt(compiled())
    elif engine == "interp" or callable(trace):  # a function must see every commit once
        run = attempt(None)
    else:
        run = attempt(None, _PATIENCE)
        if run is None:
            try:
                library = compiled()
            except _lpn.Error as error:
                if error.code not in _NOT_COMPILED:
                    raise
                library = None
            run = attempt(library)
    if wanted:
        run.path = found
    return _finished(run)


def _finished(run):
    if run.ending == "interrupted":
        stop = KeyboardInterrupt()
        stop.run = run
        raise stop
    return run


# Runs between two looks at Ctrl-C, per thread.
_PORTION = 256


def run_batch(net, markings, params=None, *, threads=None, errors="raise", read=()):
    """Runs the net on many markings, or with many parameter values, compiled; a list of Run.

    `markings`: lpn.Markings of the net, or one for all. `params`: a dict for all runs, or a list of
    dicts, one per run; the longer list counts. `threads`: default one per processor. `errors`:
    "raise" raises the first RunError, its `index` saying of which run; "return" puts it into the
    list in the place of the Run. Inputs of a net whose transitions all have constant weights go in
    lock step through vector registers, 16 or more at a time. `seconds` of each Run is its share of
    the time of all; `layout_seconds` of that went into laying inputs side by side. `read`: places whose
    free tokens at the end Run.tokens keeps. Raises "E-no-compiler" when nothing can be compiled.
    """
    if not isinstance(net, Net):
        raise mistake("E-operand", f"run_batch needs a net, got {net!r}")
    net.done()
    if isinstance(markings, Marking):
        markings = [markings]
    markings = list(markings)
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
    if errors not in ("raise", "return"):
        raise mistake("E-operand", f'errors must be "raise" or "return", got {errors!r}')
    markings *= runs // len(markings)
    values *= runs // len(values)
    library = _lpn.sim.Library.build(net._core)
    result = []
    read = _read_places(net, read)
    portion = _PORTION * (threads or os.cpu_count() or 1)
    for first in range(0, runs, portion):
        part = slice(first, first + portion)
        answers, seconds, layout = _lpn.sim.run_batch(
            library,
            values[part],
            [m._core for m in markings[part]],
            threads or 0,
            [place._number for place in read],
        )
        for answer, about, tokens in answers:
            if answer is None:
                about.index = len(result)
                if errors == "raise":
                    raise about
                result.append(about)
                continue
            run = Run(net, answer, "compiled", seconds / len(answers))
            run.layout_seconds = layout / len(answers)
            if run.stalled:
                run.left = {
                    place.name: about[place._number]
                    for place in net._places.values()
                    if about[place._number]
                }
            run.tokens = {place.name: _tokens(place, *kept) for place, kept in zip(read, tokens)}
            result.append(run)
    return result
