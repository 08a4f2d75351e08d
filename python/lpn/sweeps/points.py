"""The part of a sweep that is done by workers: parse an input, run points of it.

Local workers are forked from the sweep and know its definition (`begin`, `local`). Workers of a
Dask cluster get the net as text and markings as bytes (`remote`). Both give a Task an Answer per
part.
"""

import contextlib
import os
import threading
import time
from typing import NamedTuple, Optional

import _lpn

from ..authoring.marking import Marking
from ..authoring.net import Net
from ..errors import Error, refusal
from ..runs.background import background_of
from ..runs.endless import refuse_endless
from ..runs.engines import library_of, start
from ..runs.open_loop import ends_of_requests
from ..runs.quickest import first_answer
from ..runs.run import budget_of, named_blocked, stopped_text
from .requests import Requests

# What a row says besides its number, input and parameters; None where a run did not get so far.
FIELDS = (
    "latency",
    "last_commit",
    "firings",
    "done_tokens",
    "throughput",
    "stalled",
    "ending",
    "seconds",
    "code",
    "message",
)

SECONDS = "latency_seconds"  # of the modelled hardware, in rows of nets that have a frequency

# A worker keeps so many nets and markings that came as data.
_KEPT = 8


class Part(NamedTuple):
    """Points of one input. `source`: where its marking is; None: parse the input."""

    input: int
    source: Optional[tuple]  # (key, path) of a local file, or (key, None) with the bytes apart
    points: list  # of (row, values of the net's parameters in order)
    more: bool = False  # others wait for this part: do not start what takes long, keep the marking


class Answer(NamedTuple):
    """What became of a part. `reads` is None when its input was neither parsed nor refused."""

    results: list  # a dict per row that ran
    left: list  # the rows for which there was no time
    reads: Optional[dict] = None  # the parameters that the workload looked at, with their values
    source: Optional[tuple] = None  # the marking just parsed, for other points
    refused: Optional[tuple] = None  # (code, message): the input, for all points with these reads
    parse_seconds: float = 0.0
    run_seconds: float = 0.0


class Built(NamedTuple):
    """How a worker came to a compiled net, or why it interprets."""

    cached: bool
    seconds: float
    fallback: Optional[tuple] = None  # (code, message): why it interprets instead


def parse(definition, variant, number, row):
    """(marking or None, (code, message) or None, reads) of an input for the parameters of a row."""
    net = definition.variants[variant].net
    given = definition.inputs[number].value
    if given is None and not definition.model.has_traffic:
        return Marking(net), None, {}
    if isinstance(given, Marking):
        if given.net is net:
            return given, None, {}
        return (
            None,
            (
                "E-foreign",
                f"the marking belongs to another net ('{given.net.name}'); make it with "
                "lpn.Marking(net) of the net that is swept",
            ),
            {},
        )
    bound = net.bound
    net.bound = {**bound, **definition.bound(row)}
    reads = net.bound.read
    try:
        if given is None:
            return definition.model.traffic(net).marking(), None, reads
        return definition.model.workload(given, net), None, reads
    except SystemExit as error:
        said = f"the model ended Python itself (SystemExit: {error})"
        return None, ("E-model", said), reads
    except Exception as error:
        return None, refusal(error), reads
    finally:
        net.bound = bound


class Engine:
    """What a worker runs a net with: `name`, of lpn.runs.ENGINES, or None: whatever answers first.
    Raises Error "E-interrupted" when stop() ends the compiler.
    """

    def __init__(self, net, name, stop=None):
        self._background = self._library = self._error = None
        self._told = False
        if name is None:
            self._background = background_of(net, False, False)
        else:
            self._library, self._error = library_of(net, name, stop=stop)

    def run(self, limits, one):
        """What one(library, limits, leave) finds; see first_answer."""
        if self._background is None:
            return one(self._library, limits, None)

        def by(libraries, limits, leave):
            self._library = libraries[0]
            return one(self._library, limits, leave)

        found = first_answer(self._background, limits, by)
        self._error = self._background.fallback
        return found

    def built(self):
        """Built, once: when there is something to tell."""
        error = self._error
        if self._told or self._library is None and error is None:
            return None
        self._told = True
        if error is not None:
            return Built(False, 0.0, (error.code, str(error).splitlines()[0]))
        return Built(self._library.cached, self._library.seconds)


def _run_points(net, engine, marking, points, ends, stop):
    """Runs one marking with many parameter values; yields a result per point, in their order.

    `engine`: an Engine. `points`: (row, values of all parameters in the net's order). `ends`: an
    Ends. `stop`: a function; once true, the generator ends and the run that was going on gives no
    result.
    """
    limits = budget_of(**ends.budget)
    places = ends_of_requests(net)
    try:
        refuse_endless(net, marking, ends.limit, limits)
    except Error as error:
        yield from (_refused(row, error) for row, _ in points)
        return
    for row, values in points:
        if stop():
            return

        def run(library, limits, leave, row=row, values=values):
            how = net, library, limits, places
            return _run_point(row, values, marking, how, ends, stop, leave)

        try:
            out = engine.run(limits, run)
        except Exception as error:
            out = _refused(row, error)
        if out is _STOPPED:
            return
        yield out


_STOPPED = object()


def _refused(row, error):
    code, message = refusal(error)
    return {"row": row, "code": code, "message": message}


def _run_point(row, values, marking, how, ends, stop, leave):
    """The result of a point; _STOPPED once stop() is true, None once leave() is."""
    net, library, limits, places = how
    until = _lpn.FOREVER if ends.limit is None else ends.limit

    def between(time, commits):
        return stop() or leave is not None and leave()

    machine = start(net, values, marking, library, budget=limits, poll=between)
    requests = Requests(places, machine)

    def pause(time, commits):
        requests.drain()
        return between(time, commits)

    result, seconds, interrupted, reached = _lpn.sim.run(machine, until, None, pause, 0.0)
    if interrupted:
        return _STOPPED if stop() else None
    out = _result(net, row, result, seconds)
    out.update(requests.row())
    if result.ending == "budget":
        out["message"] = stopped_text(reached + 1, result, limits)
        out["latency"] = out["throughput"] = None  # what came of it by then is none
    return out


def _result(net, row, result, seconds):
    """What a row says about a run."""
    latency = result.latency
    out = {
        "row": row,
        "latency": latency,
        "last_commit": result.last_commit,
        "firings": result.commits,
        "done_tokens": result.done_tokens,
        "throughput": round(result.done_tokens / latency, 9) if latency else None,
        "stalled": result.stalled,
        "ending": result.ending,
        "seconds": round(seconds, 9),
    }
    if result.stalled:
        out["message"] = _waiting(net, result)
    return out


def _waiting(net, result, most=3):
    """'write (no credit: buffer), read (no token: word)': who waits in a stalled run."""
    blocked = named_blocked(net.core, result.blocked, result.undrained)
    parts = [
        f"{name} ({reason}: {what})" if what is not None else f"{name} ({reason})"
        for name, reason, what in blocked[:most]
    ]
    if len(blocked) > most:
        parts.append(f"{len(blocked) - most} more")
    return "waiting: " + ", ".join(parts) if parts else "too few done tokens"


class _Kept(dict):
    """The last few values by key. Threads of one worker share it."""

    _lock = threading.Lock()

    def keep(self, key, value):
        with self._lock:
            self[key] = value
            while len(self) > _KEPT:
                del self[next(iter(self))]
        return value


def _answer(net, engine, part, marking, deadline, ends, stop):
    """Runs a part's points until the deadline, but at least one: (results, rows left, seconds).

    Where others wait a run is given up at the deadline, to be begun again after them.
    """
    begin = time.monotonic()
    results = []
    halt = (lambda: stop() or time.monotonic() > deadline) if part.more else stop
    for result in _run_points(net, engine, marking, part.points, ends, halt):
        results.append(result)
        if time.monotonic() > deadline:
            break
    left = [row for row, _ in part.points[len(results) :]]
    return results, left, time.monotonic() - begin


# Local workers.


class _Local:
    """What a process knows that was forked from the sweep, or is the sweep itself."""

    def __init__(self, definition, folder, stop, parsing):
        self.definition = definition
        self.folder = folder
        self.stop = stop
        self.parsing = parsing
        self.engines = {}
        self.markings = _Kept()

    def engine(self, variant):
        if variant not in self.engines:
            net = self.definition.variants[variant].net
            self.engines[variant] = Engine(net, self.definition.engine, self.stop)
        return self.engines[variant]

    def run(self, variant, parts, seconds):
        net = self.definition.variants[variant].net
        try:
            engine = self.engine(variant)
        except Error as error:
            if error.code != "E-interrupted":
                raise
            return [Answer([], [row for row, _ in part.points]) for part in parts], None
        deadline = time.monotonic() + seconds
        answers = []
        for part in parts:
            if answers and time.monotonic() > deadline or self.stop():
                answers.append(Answer([], [row for row, _ in part.points]))
            elif part.source is None:
                answers.append(self._parse_and_run(net, engine, variant, part, deadline))
            else:
                marking = self._marking(net, part.source)
                results, left, spent = _answer(
                    net, engine, part, marking, deadline, self.definition.ends, self.stop
                )
                answers.append(Answer(results, left, {}, run_seconds=spent))
        return answers, engine.built()

    def _marking(self, net, source):
        key, path = source
        marking = self.markings.get(key)
        return marking if marking is not None else self.markings.keep(key, Marking.load(net, path))

    def _parse_and_run(self, net, engine, variant, part, deadline):
        begin = time.monotonic()
        first = part.points[0][0]
        with self.parsing():
            marking, refused, reads = parse(self.definition, variant, part.input, first)
        parsed = time.monotonic() - begin
        definition = self.definition
        same = [point for point in part.points if definition.agrees(point[0], reads)]
        other = [row for row, _ in part.points if not definition.agrees(row, reads)]
        if marking is None:
            return Answer([], [row for row, _ in part.points], reads, None, refused, parsed)
        results, left, seconds = _answer(
            net, engine, part._replace(points=same), marking, deadline, definition.ends, self.stop
        )
        kept = None
        if (part.more or left) and not self.stop():
            key = f"{variant}-{part.input}-{first}"
            kept = key, os.path.join(self.folder, key + ".lpnm")
            marking.save(kept[1])
            self.markings.keep(key, marking)
        return Answer(results, left + other, reads, kept, None, parsed, seconds)


_here = None


def begin(definition, folder, stop, parsing=contextlib.nullcontext):
    """Before `local` is called, here or in a process that is forked from here.

    `stop`: a function, true once the sweep is to end. `parsing`: a context around each parse.
    """
    global _here
    _here = _Local(definition, folder, stop, parsing)


def end():
    global _here
    _here = None


def local(variant, parts, seconds):
    """(an Answer per part, Built when this process has something new to say of its engine)."""
    return _here.run(variant, parts, seconds)


# Workers of a cluster.

_nets, _markings = _Kept(), _Kept()


def remote(key, text, blobs, parts, seconds, ends, engine):
    """As `local`, from the net's text and the bytes of the parts' markings."""
    known = _nets.get((key, engine))
    if known is None:
        net = Net.parse(text)
        known = _nets.keep((key, engine), (net, Engine(net, engine)))
    net, runs = known
    stop = _cancelled()
    deadline = time.monotonic() + seconds
    answers = []
    for part, blob in zip(parts, blobs):
        if answers and time.monotonic() > deadline or stop():
            answers.append(Answer([], [row for row, _ in part.points]))
            continue
        name = key, part.source[0]
        marking = _markings.get(name)
        if marking is None or marking.net is not net:
            marking = _markings.keep(name, Marking.parse(net, blob))
        results, left, spent = _answer(net, runs, part, marking, deadline, ends, stop)
        answers.append(Answer(results, left, {}, run_seconds=spent))
    return answers, runs.built()


def _cancelled():
    """A function: does nobody want this task any more? False where that cannot be known."""
    try:
        from distributed import get_worker

        worker = get_worker()
        task = worker.get_current_task()
        states = worker.state.tasks
    except (ImportError, ValueError, AttributeError):
        return lambda: False

    def stop():
        known = states.get(task)
        return known is None or known.state == "cancelled"

    return stop
