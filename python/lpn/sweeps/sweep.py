"""Sweeps: one model, many parameter values and inputs.

A `Definition` says what the rows of a sweep are. `run` hands their points out in tasks and collects
what comes back; who does the work is an executor: this process, local processes, or a Dask cluster.
"""

import contextlib
import inspect
import os
import queue
import tempfile
import time
from collections import Counter, deque
from collections.abc import Iterable, Mapping

import _lpn

from ..authoring.marking import Marking
from ..authoring.net import Net
from ..errors import Error, listed, mistake, placed, refusal
from ..interrupt import Interrupt
from ..runs.engines import check_engine
from ..runs.models import Model, load
from ..runs.run import whole_limit
from . import points as work

__all__ = ["Definition", "Outcome", "run", "sweep", "whole_values"]

MOST_ROWS = 1_000_000

# What a task should take, in seconds: far more than handing it out, little enough to show progress.
_TASK_SECONDS = {"here": 0.1, "processes": 0.1, "cluster": 0.3}
_MOST_POINTS, _MOST_PARTS = 4096, 64  # of one task
_BUILD_TRIES = 3
_FIRST_LOOK = 8  # points of an input before anything is known about their time


# What a sweep is.


def whole_values(text, name):
    """The values that '1,2,8:64:8' stands for: numbers and ranges lo:hi[:step] that include hi."""
    values = []
    for part in text.split(","):
        try:
            numbers = [int(n, 0) for n in part.split(":")]
        except ValueError:
            numbers = []
        if not 1 <= len(numbers) <= 3:
            raise mistake(
                "E-sweep",
                f"'{part.strip()}' is no value of parameter '{name}'; write whole numbers and "
                f"ranges lowest:highest:step, as in {name}=1,2,8:64:8",
            )
        if len(numbers) == 1:
            values += numbers
            continue
        lo, hi, step = [*numbers, 1][:3]
        if step < 1 or hi < lo:
            raise mistake(
                "E-sweep",
                f"the range {part.strip()} of parameter '{name}' is empty; write "
                "lowest:highest:step with a step of 1 or more",
            )
        if (hi - lo) // step >= MOST_ROWS:
            raise mistake(
                "E-sweep",
                f"the range {part.strip()} of parameter '{name}' has more than {MOST_ROWS:,} "
                "values; use a larger step",
            )
        values += range(lo, hi + 1, step)
    return values


def _values(name, given):
    """The values of a parameter, each once."""
    if isinstance(given, str):
        values = whole_values(given, name)
    elif isinstance(given, Iterable):
        values = list(given)
    else:
        values = [given]
    for value in values:
        if not isinstance(value, int) and not hasattr(value, "__index__"):
            raise mistake("E-sweep", f"parameter '{name}' must have whole numbers, got {value!r}")
    values = [int(value) for value in values]
    twice = (
        next((v for k, v in enumerate(values) if v in values[:k]), None)
        if len(values) < 1000
        else None
    )
    if twice is None and len(set(values)) < len(values):
        twice = "a value"
    if twice is not None:
        raise mistake("E-sweep", f"parameter '{name}' is given {twice} twice; give each value once")
    if not values:
        raise mistake("E-sweep", f"parameter '{name}' has no values; give at least one")
    return values


class Input:
    """An input with its name in the table. `value`: what the workload gets; None: nothing."""

    def __init__(self, name, value):
        self.name = name
        self.value = value

    def digest(self):
        """A hash of the content, so that a file is the same input only while it is the same."""
        import hashlib

        def of(*parts):
            return hashlib.sha256(b"\0".join(parts)).hexdigest()

        if self.value is None:
            return of(b"none")
        if isinstance(self.value, Marking):
            return of(b"marking", self.value.save_bytes())
        if isinstance(self.value, (str, os.PathLike)):
            path = os.fspath(self.value)
            if os.path.isdir(path):
                files = []
                for folder, folders, names in os.walk(path):
                    folders.sort()
                    for name in sorted(names):
                        status = os.stat(os.path.join(folder, name))
                        files.append(f"{folder}/{name} {status.st_size} {status.st_mtime_ns}")
                return of(b"folder", "\n".join(files).encode())
            try:
                with open(path, "rb") as file:
                    hashed = hashlib.sha256(b"file\0")
                    while block := file.read(1 << 20):
                        hashed.update(block)
                    return hashed.hexdigest()
            except OSError:  # no file, or none that can be read: its rows will say so
                return of(b"text", str(path).encode())
        import pickle

        try:
            return of(b"object", pickle.dumps(self.value, 5))
        except Exception as error:
            raise mistake(
                "E-sweep",
                f"input '{self.name}' is {type(self.value).__name__}, which cannot be told from "
                f"another one ({error}); a sweep that keeps a file needs file names, markings or data "
                "that can be pickled",
            ) from None


class Variant:
    """The net for one choice of the parameters that are arguments of the model's net() function.

    `failure`: (code, message) when there is no such net.
    """

    def __init__(self, net, failure=None):
        self.net = net
        self.failure = failure


class Definition:
    """The rows of a sweep: every point with every input, or for points with inputs of their own each
    with its own. Row numbers are 0, 1, ... in that order.
    """

    def __init__(
        self,
        model,
        inputs=None,
        params=None,
        points=None,
        point_inputs=None,
        limit=None,
        engine="compiled",
    ):
        self.model = _as_model(model)
        self.engine = check_engine(engine)
        self.limit = whole_limit(limit)
        self.grid = {name: _values(name, given) for name, given in (params or {}).items()}
        self.points = self._product(points)
        self.names = list(self.points[0])
        self._swept = [
            name for name in self.names if len({point[name] for point in self.points}) > 1
        ]
        self._inputs(inputs, point_inputs, points)
        if len(self) > MOST_ROWS:
            raise mistake(
                "E-sweep",
                f"the sweep has {len(self):,} rows, more than {MOST_ROWS:,}; split it into several",
            )
        self._variants()

    def _product(self, points):
        listed_points = [dict(point) for point in points] if points is not None else [{}]
        if not listed_points:
            raise mistake("E-sweep", "the list of points is empty; give at least one")
        names = list(listed_points[0])
        for number, point in enumerate(listed_points):
            if set(point) != set(names):
                raise mistake(
                    "E-sweep",
                    f"point {number} has the parameters {listed(point)}, the first one {listed(names)}; "
                    "all points of a sweep have the same ones",
                )
            for name, value in point.items():
                if isinstance(value, str) or not hasattr(value, "__index__"):
                    raise mistake(
                        "E-sweep",
                        f"parameter '{name}' of point {number} must be a whole number, got {value!r}",
                    )
        both = [name for name in names if name in self.grid]
        if both:
            raise mistake(
                "E-sweep",
                f"parameter '{both[0]}' is in the list of points and in the grid; give it once",
            )
        size = len(listed_points)
        for values in self.grid.values():
            size *= len(values)
            if size > MOST_ROWS:
                raise mistake(
                    "E-sweep",
                    f"the sweep has more than {MOST_ROWS:,} points; split it into several",
                )
        combined = [{name: int(point[name]) for name in names} for point in listed_points]
        for name, values in self.grid.items():
            combined = [{**point, name: value} for point in combined for value in values]
        return combined

    def _inputs(self, inputs, point_inputs, points):
        if point_inputs is not None:
            if inputs:
                raise mistake("E-sweep", "the points have inputs of their own; give no others")
            if len(point_inputs) != len(points):
                raise mistake(
                    "E-sweep",
                    f"there are {len(points)} points, but {len(point_inputs)} inputs for them",
                )
            numbers = {name: k for k, name in enumerate(dict.fromkeys(point_inputs))}
            self.inputs = [Input(str(name), name) for name in numbers]
            each = len(self.points) // len(points)
            self._point_inputs = [numbers[name] for name in point_inputs for _ in range(each)]
        else:
            self._point_inputs = None
            self.inputs = list(_named_inputs(inputs))
        names = [i.name for i in self.inputs]
        if len(set(names)) < len(names):
            twice = next(n for k, n in enumerate(names) if n in names[:k])
            raise mistake("E-sweep", f"input '{twice}' is given twice; give each input once")
        module = self.model.module
        if (
            any(i.value is None for i in self.inputs)
            and getattr(module, "workload", None) is not None
        ):
            raise mistake("E-sweep", f"model '{self.model.name}' needs an input")
        if points is not None:
            own = self._point_inputs or [None] * len(self.points)
            seen = {}
            for where, (number, point) in enumerate(zip(own, self.points)):
                first = seen.setdefault((number, *point.values()), where)
                if first != where:
                    raise mistake(
                        "E-sweep",
                        f"point {where} is the same as point {first}; give each point once",
                    )

    def _variants(self):
        """A net per choice of what net() takes as arguments; every value is checked once."""
        model = self.model
        self._own = own = _own_names(model, self.names)
        self._bound_names = [name for name in self.names if name not in own]
        self.variants, self._variant_of = [], []
        numbers = {}
        for point in self.points:
            key = tuple(point[name] for name in own)
            if key not in numbers:
                numbers[key] = len(self.variants)
                self.variants.append(self._variant(point))
            self._variant_of.append(numbers[key])
        failures = [v.failure for v in self.variants]
        if all(failures):
            raise _unplaced(*failures[0])
        distinct = {}
        for number, point in zip(self._variant_of, self.points):
            for name in self._bound_names:
                distinct.setdefault((number, name), set()).add(point[name])
        for (number, name), values in distinct.items():
            net = self.variants[number].net
            for value in sorted(values) if net is not None else ():
                self._bind(net, {name: value})

    def _variant(self, point):
        model = self.model
        if isinstance(model._make, Net):
            net, bound = model._make, model._make.bound
            try:
                model.net(**point)  # are these its parameters?
                return Variant(net.done())
            finally:
                net.bound = bound
        try:
            net = model.net(**point)
            net.bound = {}
            return Variant(net.done())
        except Exception as error:
            code, message = refusal(error)
            if code == "E-param":
                raise
            return Variant(None, (code, message))

    def _bind(self, net, values):
        try:
            return net._core.bind_params(list({**net.bound, **values}.items()))
        except _lpn.Error as error:
            raise placed(error) from None

    def __len__(self):
        return len(self.points) * (1 if self._point_inputs is not None else len(self.inputs))

    def where(self, row):
        """(number of the point, number of the input) of a row."""
        if self._point_inputs is not None:
            return row, self._point_inputs[row]
        return divmod(row, len(self.inputs))

    def variant(self, row):
        """The number of the net of a row."""
        return self._variant_of[self.where(row)[0]]

    def bound(self, row):
        """The parameters of a row that its net takes as values: {name: value}."""
        point = self.points[self.where(row)[0]]
        return {name: point[name] for name in self._bound_names}

    def vector(self, row):
        """The values of all parameters of the net of a row, in the net's order."""
        return self._bind(self.variants[self.variant(row)].net, self.bound(row))

    def agrees(self, row, reads):
        """Whether a workload that saw these values sees the same for this row."""
        if not reads:
            return True
        point = self.points[self.where(row)[0]]
        return all(point.get(name, value) == value for name, value in reads.items())

    def swept(self):
        """The parameters that have more than one value."""
        return self._swept

    def row(self, row, result):
        """A row as users get it."""
        point, number = self.where(row)
        out = {
            "row": row,
            "input": self.inputs[number].name,
            "parameters": dict(self.points[point]),
        }
        for field in FIELDS:
            out[field] = result.get(field)
        return out

    def identity(self):
        """What has to be equal for two sweeps to have the same rows: JSON data.

        The nets' text and what the inputs hold count, and the model's Python apart from comments,
        since its workload makes the tokens.
        """
        import hashlib

        def digest(parts):
            hashed = hashlib.sha256()
            for part in parts:
                data = part.encode() if isinstance(part, str) else part
                hashed.update(len(data).to_bytes(8, "little") + data)
            return hashed.hexdigest()

        texts = ["-" if v.net is None else _without_lines(v.net.text()) for v in self.variants]
        bound = [
            repr(sorted(v.net.bound.items())) if v.net is not None else "" for v in self.variants
        ]
        points = [repr(tuple(point.values())) for point in self.points]
        places = "" if self._point_inputs is None else repr(self._point_inputs)
        names = digest([*(i.name for i in self.inputs), places])
        return {
            "version": 1,
            "model": self.model.name,
            "rows": len(self),
            "parameters": self._ranges(),
            "net": digest(texts + bound)[:24],
            "workload": _source_digest(self.model.module),
            "points": digest([repr(self.names), *points])[:24],
            "inputs": len(self.inputs),
            "input_names": names[:24],
            "input_data": digest([i.digest() for i in self.inputs])[:24],
            "limit": self.limit,
        }

    def _ranges(self):
        """The parameters for people: {'slots': '1,2,4'}."""
        text = {}
        for name in self.names:
            values = list(dict.fromkeys(point[name] for point in self.points))
            shown = [str(v) for v in values]
            if len(shown) > 12:
                shown = [*shown[:6], "...", *shown[-3:]]
            text[name] = ",".join(shown)
        return text


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


def _unplaced(code, message):
    """An Error of which no line of the author's Python is the reason."""
    error = Error(code, message)
    error.placed = True
    return error


def _as_model(model):
    if isinstance(model, Net):
        model.done()
        return Model(model.name, model)
    if isinstance(model, Model):
        return model
    if isinstance(model, (str, os.PathLike)):
        return load(model)
    raise mistake("E-operand", f"sweep needs a net, a model or the name of one, got {model!r}")


def _own_names(model, names):
    """Those of the names that the model's net() takes as arguments: each value is another net."""
    if isinstance(model._make, Net):
        return []
    accepted = inspect.signature(model._make).parameters
    if any(p.kind == p.VAR_KEYWORD for p in accepted.values()):
        return list(names)
    return [name for name in names if name in accepted]


def _named_inputs(inputs):
    if inputs is None or inputs == []:
        yield Input(None, None)
        return
    if isinstance(inputs, (str, os.PathLike, Marking)):
        inputs = [inputs]
    if isinstance(inputs, Mapping):
        for name, value in inputs.items():
            yield Input(str(name), value)
        return
    for number, value in enumerate(inputs):
        if isinstance(value, (str, os.PathLike)):
            yield Input(os.fspath(value), value)
        else:
            yield Input(f"input {number}", value)


def _without_lines(text):
    """A .lpn text without the places in the author's Python: `file "m.py"` and `@12`."""
    import re

    return re.sub(r" @(\?|[\d:]+)(?=[\s,;()\[\]]|$)|^file .*\n", "", text, flags=re.MULTILINE)


def _source_digest(module):
    """A hash of the model's Python without its comments; None for a net alone."""
    import ast
    import hashlib

    path = getattr(module, "__file__", None)
    if path is None:
        return None
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return None
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()[:24]


# Handing out.


class _Group:
    """The points of one input and one net that are not given out and need `source`.

    `source` None: the input has to be parsed first, for the parameters of the first of the rows.
    """

    def __init__(self, variant, number, rows, source=None):
        self.variant = variant
        self.number = number
        self.rows = deque(rows)
        self.source = source
        self.out = 0  # tasks that use the source
        self.keep = False  # others may use the source too


class _Task:
    """Parts of one net. Its first task has none: it compiles the net, and the others wait for it."""

    def __init__(self, variant, parts, groups, alone=False):
        self.variant = variant
        self.parts = parts
        self.groups = groups  # a _Group per part
        self.alone = alone  # one point, tried again after its worker died


class _Queue:
    """Which points are to be done, and how many make a task.

    `slots()`: how many tasks may be given out at a time. `parse(group)`: parses inputs here, for
    workers that cannot, and calls `parsed`. `forget(source)`: no row needs this marking any more.
    """

    def __init__(self, definition, rows, seconds, slots, parse=None, forget=lambda source: None):
        self._definition = definition
        self._seconds = seconds
        self._slots = slots
        self._parse = parse
        self._forget = forget
        self._unfinished = len(rows)
        self._ready, self._raw = {}, {}  # variant -> deque of groups with and without a source
        self._active = {}  # variants that have groups, in order
        self._built, self._leading = set(), set()
        self._lost_builds = Counter()
        self._suspects = deque()  # single points of tasks whose worker died
        self._lonely = False  # one of them is given out, and nothing else
        self.in_flight = 0
        self._point_seconds = self._parse_seconds = None
        groups = {}
        for row in rows:
            key = definition.variant(row), definition.where(row)[1]
            if key not in groups:
                groups[key] = _Group(*key, ())
            groups[key].rows.append(row)
        # Net after net, inputs in their order.
        for _, group in sorted(groups.items(), key=lambda item: item[0]):
            self._add(group)

    def _add(self, group, first=False):
        if not group.rows:
            return
        where = self._raw if group.source is None else self._ready
        waiting = where.setdefault(group.variant, deque())
        waiting.appendleft(group) if first else waiting.append(group)
        self._active.setdefault(group.variant)

    def take(self):
        """The next task; None while there is none."""
        if self._lonely or self._suspects and self.in_flight:
            return None
        if self._suspects:
            self.in_flight += 1
            self._lonely = True
            return self._suspects.popleft()
        for variant in list(self._active):
            if variant in self._leading:
                continue
            task = self._fill(variant)
            if task is not None:
                self.in_flight += 1
                return task
            if not self._ready.get(variant) and not self._raw.get(variant):
                del self._active[variant]
        return None

    def _many(self, seconds):
        """How many points fill so much time. The last tasks should end together."""
        many = _FIRST_LOOK
        if self._point_seconds is not None:
            many = int(seconds / max(self._point_seconds, 1e-6))
        return max(1, min(many, -(-self._unfinished // (2 * self._slots())), _MOST_POINTS))

    def _fill(self, variant):
        ready = self._ready.setdefault(variant, deque())
        raw = self._raw.setdefault(variant, deque())
        if variant not in self._built and (ready or raw):
            # Its own task, so that the first input does not keep the others waiting too.
            self._leading.add(variant)
            return _Task(variant, [], [])
        left = self._seconds
        most = max(1, min(_MOST_PARTS, len(raw) // (2 * self._slots())))
        parts, groups = [], []
        while left > 0 and len(parts) < _MOST_PARTS:
            if ready:
                group = ready[0]
            elif raw and self._parse is not None:
                begin = time.monotonic()
                self._parse(raw.popleft())
                left -= time.monotonic() - begin if parts else 0
                continue
            elif raw and len(parts) < most:
                group = raw.popleft()
                left -= self._seconds if self._parse_seconds is None else self._parse_seconds
            else:
                break
            points = []
            for _ in range(min(self._many(max(left, 0)), len(group.rows))):
                row = group.rows.popleft()
                points.append((row, self._definition.vector(row)))
            left -= len(points) * (self._point_seconds or self._seconds / _FIRST_LOOK)
            if group.source is not None and not group.rows:
                ready.popleft()
            group.out += 1
            waited_for = group.source is None and bool(group.rows)
            parts.append(work.Part(group.number, group.source, points, waited_for))
            groups.append(group)
        return _Task(variant, parts, groups) if parts else None

    def answered(self, task, answers):
        """Takes back what a task did not do. Yields (row, result) of what is known now."""
        self._returned(task)
        self._built.add(task.variant)
        for part, group, answer in zip(task.parts, task.groups, answers):
            group.out -= 1
            self._learn(answer)
            self._unfinished -= len(answer.results)
            for result in answer.results:
                yield result["row"], result
            if group.source is not None:
                self._give_back(group, answer.left)
                continue
            rows = [*answer.left, *group.rows]
            group.rows = ()
            if answer.reads is None:  # there was no time even to parse
                self._add(_Group(group.variant, group.number, rows), first=True)
            else:
                yield from self.parsed(group, rows, answer)

    def _returned(self, task):
        self.in_flight -= 1
        self._lonely = False
        self._leading.discard(task.variant)

    def _give_back(self, group, left):
        """Rows of a group that is parsed."""
        if left:
            queued = bool(group.rows)
            group.rows.extendleft(reversed(left))
            if not queued:
                self._add(group, first=True)
        elif not group.rows and not group.out and not group.keep:
            self._forget(group.source)

    def parsed(self, group, rows, answer):
        """The input of these rows was parsed or refused: which of them does that concern?"""
        agrees = self._definition.agrees
        same = [row for row in rows if agrees(row, answer.reads)]
        if answer.refused is not None:
            code, message = answer.refused
            self._unfinished -= len(same)
            for row in same:
                yield row, {"row": row, "code": code, "message": message}
        elif same:
            self._add(_Group(group.variant, group.number, same, answer.source), first=True)
        elif answer.source is not None:
            self._forget(answer.source)
        other = [row for row in rows if not agrees(row, answer.reads)]
        self._add(_Group(group.variant, group.number, other), first=True)

    def lost(self, task):
        """A worker died. Its points are tried again one by one and alone, so that the one that kills
        its worker is known; returns that point's row when `task` was it.
        """
        self._returned(task)
        if not task.parts:
            self._lost_builds[task.variant] += 1
            if self._lost_builds[task.variant] == _BUILD_TRIES:
                raise mistake(
                    "E-worker",
                    f"the process that compiles the net died {_BUILD_TRIES} times: out of memory? "
                    "--engine interp needs no compiler",
                )
        for part, group in zip(task.parts, task.groups):
            group.out -= 1
            group.keep = True
            if group.source is None:
                self._add(_Group(group.variant, group.number, group.rows))
                group.rows = ()
            if task.alone:
                self._unfinished -= 1
                return part.points[0][0]
            for point in part.points:
                single = _Group(group.variant, group.number, (), group.source)
                single.keep = True
                single.out = 1
                self._suspects.append(
                    _Task(
                        task.variant,
                        [part._replace(points=[point], more=False)],
                        [single],
                        alone=True,
                    )
                )
        return None

    def _learn(self, answer):
        """Smoothed times per point and per parse."""

        def smooth(old, new):
            return new if old is None else 0.7 * old + 0.3 * new

        if answer.results:
            self._point_seconds = smooth(
                self._point_seconds, answer.run_seconds / len(answer.results)
            )
        if answer.parse_seconds:
            self._parse_seconds = smooth(self._parse_seconds, answer.parse_seconds)


# Who does the work. An executor's submit(task, seconds, done) calls done(task, what work.local
# returns) or done(task, exception), from any thread.


class Lost(Exception):
    """The worker of a task died."""


def _unlink(source):
    with contextlib.suppress(OSError):
        os.unlink(source[1])


class _Here:
    """This process."""

    kind = "here"
    workers = 1
    parse = None

    def __init__(self, definition, folder, stop):
        work.begin(definition, folder, lambda: stop.asked, stop.immediately)

    def slots(self):
        return 1

    def forget(self, source):
        _unlink(source)

    def submit(self, task, seconds, done):
        done(task, work.local(task.variant, task.parts, seconds))

    def close(self):
        work.end()


class _Processes:
    """Processes forked from this one, which therefore know the model."""

    kind = "processes"
    parse = None

    def __init__(self, definition, folder, jobs):
        import mmap

        self._jobs = self.workers = jobs
        self._flag = mmap.mmap(-1, 1)  # shared with the workers: stop
        self._pool = None
        flag = self._flag
        work.begin(definition, folder, lambda: flag[0] != 0)

    def slots(self):
        return 2 * self._jobs

    def forget(self, source):
        _unlink(source)

    def submit(self, task, seconds, done):
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor
        from concurrent.futures.process import BrokenProcessPool

        def ended(future):
            error = future.exception()
            if isinstance(error, BrokenProcessPool):
                error = Lost()
            done(task, error if error is not None else future.result())

        for attempt in (1, 2):
            if self._pool is None:
                self._pool = ProcessPoolExecutor(
                    self._jobs, multiprocessing.get_context("fork"), work.forked, (os.getpid(),)
                )
            try:
                future = self._pool.submit(work.local, task.variant, task.parts, seconds)
                break
            except BrokenProcessPool:
                self._pool.shutdown(wait=True)
                self._pool = None
                if attempt == 2:
                    raise
        future.add_done_callback(ended)

    def ask_to_stop(self):
        self._flag[0] = 1

    def close(self):
        self._flag[0] = 1
        work.end()
        if self._pool is None:
            return
        # One that parses a huge input, or hangs in it, does not hear.
        workers = list((self._pool._processes or {}).values())
        self._pool.shutdown(wait=False, cancel_futures=True)
        until = time.monotonic() + 2
        for worker in workers:
            worker.join(max(0.0, until - time.monotonic()))
            if worker.is_alive():
                worker.terminate()


def _knock(address):
    """Refuses an address where nobody answers, at once; the client itself tries for long."""
    import re
    import socket

    found = re.fullmatch(r"(?:tcp|tls|ws|wss)://(?:\[([^]]+)\]|([^:/]+)):(\d{1,5})", address)
    if found is None or int(found[3]) > 65535:
        raise mistake(
            "E-scheduler", f"'{address}' is no address of a Dask scheduler; write tcp://host:8786"
        )
    try:
        socket.create_connection((found[1] or found[2], int(found[3])), timeout=10).close()
    except OSError as error:
        raise mistake(
            "E-scheduler",
            f"cannot reach a Dask scheduler at {address}: {error.strerror or error}; start one "
            "with `dask-scheduler` and give its address, as in tcp://host:8786",
        ) from None


def cluster_client(address, patience=30.0):
    """(the module distributed, a client of the scheduler with a worker). Raises Error "E-scheduler"."""
    try:
        import distributed
    except ImportError:
        raise mistake(
            "E-scheduler",
            "a Dask cluster needs the Python package distributed; install " "python3-distributed",
        ) from None
    import logging

    # It reports a lost connection at length; the errors here say what it means.
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    _knock(address)
    try:
        client = distributed.Client(address, timeout=10, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise mistake(
            "E-scheduler",
            f"cannot reach a Dask scheduler at {address}: {str(error) or 'no answer'}; "
            "start one with `dask-scheduler` and give its address, as in tcp://host:8786",
        ) from None
    try:
        client.wait_for_workers(1, timeout=patience)
    except TimeoutError:
        client.close()
        raise mistake(
            "E-scheduler",
            f"the Dask scheduler at {address} has no worker; start one with "
            f"`dask-worker {address}`, with this package on its PYTHONPATH",
        ) from None
    return distributed, client


class _Cluster:
    """The workers of a Dask scheduler. They get nets and markings as data, not the model."""

    kind = "cluster"

    def __init__(self, definition, address, patience=30.0):
        self._distributed, self._client = cluster_client(address, patience)
        self._definition = definition
        self._texts, self._blobs, self._futures = {}, {}, {}
        self._asked, self._threads, self.workers = 0.0, 1, 0

    def slots(self):
        now = time.monotonic()
        if now - self._asked > 1:
            self._asked = now
            workers = self._client.scheduler_info()["workers"].values()
            self._threads = sum(w["nthreads"] for w in workers)
            self.workers = max(self.workers, self._threads)
        return 3 * max(1, self._threads)

    def forget(self, source):
        self._blobs.pop(source[0], None)

    def waits(self):
        """Why nothing can come back now, in words; None otherwise."""
        if self._client.status not in ("running", "connecting"):
            raise self._gone()
        return None if self._threads else "waiting for a worker"

    def parse(self, variant, number, row):
        """A marking as bytes: the model is here, not with the workers."""
        marking, refused, reads = work.parse(self._definition, variant, number, row)
        if marking is None:
            return work.Answer([], [], reads, None, refused)
        key = f"{variant}-{number}-{row}"
        self._blobs[key] = self._client.submit(work.constant, marking.save_bytes(), pure=False)
        return work.Answer([], [], reads, (key, None))

    def submit(self, task, seconds, done):
        definition = self._definition
        if task.variant not in self._texts:
            import hashlib

            text = definition.variants[task.variant].net.text()
            self._texts[task.variant] = (
                hashlib.sha256(text.encode()).hexdigest(),
                self._client.submit(work.constant, text, pure=False),
            )
        key, text = self._texts[task.variant]
        blobs = [self._blobs[part.source[0]] for part in task.parts]
        salt = f"{os.getpid()}-{id(self)}"  # keys of markings are unique only in this sweep
        parts = [part._replace(source=(f"{salt}-{part.source[0]}", None)) for part in task.parts]
        future = self._client.submit(
            work.remote,
            key,
            text,
            blobs,
            parts,
            seconds,
            definition.limit,
            definition.engine,
            pure=False,
        )
        self._futures[future.key] = future

        def ended(future):
            self._futures.pop(future.key, None)
            try:
                done(task, self._answer(future))
            except Exception as error:  # the client closed meanwhile
                done(task, self._gone(error))

        future.add_done_callback(ended)

    def _answer(self, future):
        if future.status == "finished":
            return future.result()
        if future.status != "error":
            return self._gone()
        error = future.exception()
        if isinstance(error, self._distributed.KilledWorker):
            return Lost()
        if isinstance(error, Error):
            return error
        return _unplaced(
            "E-scheduler",
            f"a worker cannot do its part of the sweep: {type(error).__name__}: {error}; "
            "start workers with this package on their PYTHONPATH",
        )

    @staticmethod
    def _gone(error=None):
        why = f" ({type(error).__name__}: {error})" if error is not None else ""
        return _unplaced(
            "E-scheduler",
            f"the Dask scheduler went away{why}; what is finished is in the files, and the "
            "same sweep goes on there",
        )

    def ask_to_stop(self):
        self._client.cancel(list(self._futures.values()), force=True)

    def close(self):
        with contextlib.suppress(Exception):
            self._client.close(timeout=5)


class Outcome:
    """How a sweep went. `rows`: by number, those of earlier runs too."""

    def __init__(self):
        self.rows = {}
        self.resumed = 0
        self.interrupted = False
        self.workers = 1
        self.compiled, self.compile_seconds = 0, 0.0
        self.fallback = None
        self.seconds = 0.0

    def ordered(self):
        return [self.rows[row] for row in sorted(self.rows)]


def run(definition, *, jobs=None, scheduler=None, known=None, on_rows=None, on_wait=None):
    """Runs what is not in `known` ({row number: row}); an Outcome.

    `on_rows` is called with each list of new rows, in the main thread; `on_wait(text)` about ten
    times a second while nothing comes.
    """
    if jobs is not None and (not isinstance(jobs, int) or jobs < 1):
        raise mistake("E-sweep", f"jobs must be a number of processes >= 1, got {jobs!r}")
    outcome = Outcome()
    outcome.rows.update(known or {})
    outcome.resumed = len(outcome.rows)
    begin = time.monotonic()
    todo = [row for row in range(len(definition)) if row not in outcome.rows]

    def found(pairs):
        rows = []
        for number, result in pairs:
            if number in outcome.rows:
                raise AssertionError(f"row {number} came twice")
            outcome.rows[number] = definition.row(number, result)
            rows.append(outcome.rows[number])
        if rows and on_rows is not None:
            on_rows(rows)

    broken = [row for row in todo if definition.variants[definition.variant(row)].failure]
    found(
        (row, dict(zip(("code", "message"), definition.variants[definition.variant(row)].failure)))
        for row in broken
    )
    todo = [row for row in todo if row not in outcome.rows]
    if not todo:
        return outcome
    with contextlib.ExitStack() as stack:
        stop = stack.enter_context(Interrupt())
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="lpn-sweep-"))
        executor = _executor(definition, folder, stop, jobs, scheduler, len(todo))
        stack.callback(executor.close)
        try:
            _loop(definition, todo, executor, stop, outcome, found, on_wait)
        except KeyboardInterrupt:
            outcome.interrupted = True
    outcome.seconds = time.monotonic() - begin
    return outcome


def _executor(definition, folder, stop, jobs, scheduler, rows):
    if scheduler is not None:
        return _Cluster(definition, scheduler)
    if jobs is None:
        jobs = len(os.sched_getaffinity(0))
    jobs = min(jobs, rows)
    if jobs == 1:
        return _Here(definition, folder, stop)
    return _Processes(definition, folder, jobs)


def _loop(definition, todo, executor, stop, outcome, found, on_wait):
    seconds = _TASK_SECONDS[executor.kind]
    answers = queue.SimpleQueue()

    def done(task, answer):
        answers.put((task, answer))

    def parse(group):
        with stop.immediately():
            answer = executor.parse(group.variant, group.number, group.rows[0])
        found(waiting.parsed(group, list(group.rows), answer))

    waiting = _Queue(
        definition,
        todo,
        seconds,
        executor.slots,
        parse if executor.parse is not None else None,
        executor.forget,
    )
    while True:
        while not stop.asked and waiting.in_flight < executor.slots():
            task = waiting.take()
            if task is None:
                break
            executor.submit(task, 2 * seconds, done)
        outcome.workers = executor.workers
        if not waiting.in_flight:
            break
        if stop.asked and not outcome.interrupted:
            outcome.interrupted = True
            if hasattr(executor, "ask_to_stop"):
                executor.ask_to_stop()
            if executor.kind == "cluster":
                break  # cancelled: nothing comes any more
            grace = time.monotonic() + 2
        try:
            task, answer = answers.get(timeout=0.1)
        except queue.Empty:
            if outcome.interrupted and time.monotonic() > grace:
                break
            text = executor.waits() if hasattr(executor, "waits") else None
            if on_wait is not None:
                on_wait(text)
            continue
        if isinstance(answer, Lost):
            row = waiting.lost(task)
            if row is not None:
                found(
                    [
                        (
                            row,
                            {
                                "code": "E-worker",
                                "message": "the process that ran this point died, also when it ran "
                                "nothing else: out of memory, or a crash in the model's own native code",
                            },
                        )
                    ]
                )
            continue
        if isinstance(answer, BaseException):
            raise answer
        parts, built = answer
        if built is not None:
            if built.fallback is not None:
                outcome.fallback = built.fallback
            elif not built.cached:
                outcome.compiled += 1
                outcome.compile_seconds += built.seconds
        found(waiting.answered(task, parts))
    outcome.interrupted = outcome.interrupted or stop.asked


def sweep(
    model,
    inputs=None,
    params=None,
    *,
    points=None,
    limit=None,
    engine="compiled",
    jobs=None,
    scheduler=None,
    csv=None,
    jsonl=None,
    on_rows=None,
):
    """Simulates a model for every combination of parameter values and inputs; a list of rows.

    `model`: a Net, a Model, or what lpn.load takes. `inputs`: what the model's workload takes (for a
    net: markings of it, or files), as a list or as {name: input}; None: the net's own tokens.
    `params`: {name: values}, values being ints or "1,2,8:64:8" (ranges include their end).
    `points`: a list of {name: value}; with `params` each of them with each combination. Parameters
    declared with net.param are values of one compiled net; an argument of the model's net() makes
    another net for each value, which is compiled too. An input is parsed once, and once more for
    each other value of a parameter that the workload reads from net.bound.

    A row: `row` (its number), `input`, `parameters`, `latency`, `last_commit` (cycles), `firings`,
    `done_tokens`, `throughput` (done tokens per cycle of latency), `stalled`, `ending` ("quiet",
    "done", "limit"), `seconds` (wall time of the simulation alone), `code` and `message`: the error
    for which there is no result, or who waits in a stalled run. What is not known is None.

    `limit`: cycles after which a run ends. `engine`: "compiled" or "interp". `jobs`: local
    processes, forked from this one (None: one per core). `scheduler`: the address of a Dask
    scheduler instead, "tcp://host:8786". `csv`, `jsonl`: files that get each row as it comes; when
    they exist the sweep goes on where they end. `on_rows(rows)` is called with new rows.

    Raises Error "E-sweep" for what is wrong with the request or when a file belongs to another
    sweep, "E-param" for a parameter or value that the net does not have, "E-scheduler" without a
    cluster. What goes wrong in single points is in their rows. Ctrl-C raises KeyboardInterrupt
    whose `rows` are those so far.
    """
    from .files import Files

    definition = Definition(model, inputs, params, points, None, limit, engine)
    with Files(definition, csv, jsonl) as files:

        def got(rows):
            files.add(rows)
            if on_rows is not None:
                on_rows(rows)

        outcome = run(definition, jobs=jobs, scheduler=scheduler, known=files.rows, on_rows=got)
        if not outcome.interrupted:
            files.finish()
    if outcome.interrupted:
        stopped = KeyboardInterrupt()
        stopped.rows = outcome.ordered()
        raise stopped
    return outcome.ordered()
