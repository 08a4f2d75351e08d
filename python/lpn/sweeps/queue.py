"""Which points of a sweep are to be done, handed out in tasks that take a good time."""

import time
from collections import Counter, deque

from ..errors import mistake
from .points import Part

__all__ = ["Queue", "Task"]

_MOST_POINTS, _MOST_PARTS = 4096, 64  # of one task
_BUILD_TRIES = 3
_FIRST_LOOK = 8  # points of an input before anything is known about their time


class Group:
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


class Task:
    """Parts of one net. Its first task has none: it compiles the net, and the others wait for
    it.
    """

    def __init__(self, variant, parts, groups, alone=False):
        self.variant = variant
        self.parts = parts
        self.groups = groups  # a Group per part
        self.alone = alone  # one point, tried again after its worker died


class Queue:
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
                groups[key] = Group(*key, ())
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
            return Task(variant, [], [])
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
            parts.append(Part(group.number, group.source, points, waited_for))
            groups.append(group)
        return Task(variant, parts, groups) if parts else None

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
                self._add(Group(group.variant, group.number, rows), first=True)
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
            self._add(Group(group.variant, group.number, same, answer.source), first=True)
        elif answer.source is not None:
            self._forget(answer.source)
        other = [row for row in rows if not agrees(row, answer.reads)]
        self._add(Group(group.variant, group.number, other), first=True)

    def lost(self, task):
        """A worker died. Its points are tried again one by one and alone, so that the one that
        kills its worker is known; returns that point's row when `task` was it.
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
                self._add(Group(group.variant, group.number, group.rows))
                group.rows = ()
            if task.alone:
                self._unfinished -= 1
                return part.points[0][0]
            for point in part.points:
                single = Group(group.variant, group.number, (), group.source)
                single.keep = True
                single.out = 1
                self._suspects.append(
                    Task(
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
