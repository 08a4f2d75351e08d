"""Sweeps: one model, many parameter values and inputs.

A Definition says what the rows are. `run` hands their points out in tasks and collects what comes
back.
"""

from __future__ import annotations

import contextlib
import os
import queue
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..authoring.net import Net
from ..errors import mistake
from ..interrupt import Interrupt
from ..parallel import Lost
from ..runs.models import Model
from .definition import Definition
from .files import Files
from .queue import Queue
from .workers import workers_for

__all__ = ["Outcome", "run", "sweep"]


class Outcome:
    """How a sweep went. `rows`: by number, those of earlier runs too. `engine`: "compiled" when a
    run was, else "interp"; `fallback`: (code, message), why not although it was worth it.
    """

    def __init__(self):
        self.rows = {}
        self.resumed = 0
        self.interrupted = False
        self.workers = 1
        self.engine = "interp"
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
    running = _Running(definition, outcome, on_rows, on_wait)
    todo = running.without_net([row for row in range(len(definition)) if row not in outcome.rows])
    if not todo:
        return outcome
    with contextlib.ExitStack() as stack:
        stop = stack.enter_context(Interrupt())
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="lpn-sweep-"))
        workers = workers_for(definition, folder, stop, jobs, scheduler, len(todo))
        stack.callback(workers.close)
        try:
            running.all(todo, workers, stop)
        except KeyboardInterrupt:
            outcome.interrupted = True
    outcome.seconds = time.monotonic() - begin
    return outcome


class _Running:
    """A sweep while it runs: hands out tasks and puts what comes back into the Outcome."""

    def __init__(self, definition, outcome, on_rows, on_wait):
        self._definition = definition
        self._outcome = outcome
        self._on_rows = on_rows
        self._on_wait = on_wait

    def _found(self, pairs):
        known, rows = self._outcome.rows, []
        for number, result in pairs:
            if number in known:
                raise AssertionError(f"row {number} came twice")
            known[number] = self._definition.row(number, result)
            rows.append(known[number])
        if rows and self._on_rows is not None:
            self._on_rows(rows)

    def without_net(self, todo):
        """The rows whose parameters make no net say so; the others are left."""
        definition, left = self._definition, []

        def failed():
            for row in todo:
                failure = definition.variants[definition.variant(row)].failure
                if failure:
                    yield row, dict(zip(("code", "message"), failure))
                else:
                    left.append(row)

        self._found(failed())
        return left

    def all(self, todo, workers, stop):
        """Runs these rows, until all are there or Ctrl-C ends it."""
        outcome = self._outcome
        answers = queue.SimpleQueue()
        seconds = workers.task_seconds
        waiting = self._queue(todo, workers, stop)

        def done(task, answer):
            answers.put((task, answer))

        while True:
            while not stop.asked and waiting.in_flight < workers.slots():
                task = waiting.take()
                if task is None:
                    break
                workers.submit(task, 2 * seconds, done)
            outcome.workers = workers.workers
            if not waiting.in_flight:
                break
            if stop.asked and not outcome.interrupted:
                outcome.interrupted = True
                if not workers.ask_to_stop():
                    break
                grace = time.monotonic() + 2
            try:
                task, answer = answers.get(timeout=0.1)
            except queue.Empty:
                if outcome.interrupted and time.monotonic() > grace:
                    break
                text = workers.waits()
                if self._on_wait is not None:
                    self._on_wait(text)
                continue
            self._take(waiting, task, answer)
        outcome.interrupted = outcome.interrupted or stop.asked

    def _queue(self, todo, workers, stop):
        def parse(group):
            with stop.immediately():
                answer = workers.parse(group.variant, group.number, group.rows[0])
            self._found(waiting.parsed(group, list(group.rows), answer))

        waiting = Queue(
            self._definition,
            todo,
            workers.task_seconds,
            workers.slots,
            parse if workers.parse is not None else None,
            workers.forget,
        )
        return waiting

    def _take(self, waiting, task, answer):
        """What came back of a task."""
        if isinstance(answer, Lost):
            row = waiting.lost(task)
            if row is not None:
                self._found([(row, dict(zip(("code", "message"), _DIED)))])
            return
        if isinstance(answer, BaseException):
            raise answer
        parts, built = answer
        if built is not None:
            if built.fallback is not None:
                self._outcome.fallback = built.fallback
            else:
                self._outcome.engine = "compiled"
                if not built.cached:
                    self._outcome.compiled += 1
                    self._outcome.compile_seconds += built.seconds
        self._found(waiting.answered(task, parts))


_DIED = (
    "E-worker",
    "the process that ran this point died, also when it ran nothing else: out of memory, or a "
    "crash "
    "in the model's own native code",
)


def sweep(
    model: Net | Model | str | os.PathLike[str],
    inputs: Any = None,
    params: Mapping[str, Any] | None = None,
    *,
    points: Iterable[Mapping[str, int]] | None = None,
    limit: int | None = None,
    engine: str | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    csv: str | os.PathLike[str] | None = None,
    jsonl: str | os.PathLike[str] | None = None,
    on_rows: Callable[[list[dict[str, Any]]], object] | None = None,
    max_memory: int | None = None,
    max_time: float | None = None,
    max_tokens: int | None = None,
    max_firings: int | None = None,
    max_groups: int | None = None,
) -> list[dict[str, Any]]:
    """Simulates a model for every combination of parameter values and inputs; a list of rows.

    `model`: a Net, a Model, or what lpn.load takes. `inputs`: what the model's workload takes (for
    a net: markings of it, or files), as a list or as {name: input}; None: the net's own tokens.
    `params`: {name: values}, values being ints or "1,2,8:64:8" (ranges include their end).
    `points`: a list of {name: value}; with `params` each of them with each combination. Parameters
    declared with net.param are values of one compiled net; an argument of the model's net() makes
    another net for each value. An input is parsed once, and once more for
    each other value of a parameter that the workload reads from net.bound. A model whose net follows
    its input (net_of) is swept with one input at a time.

    A row: `row` (its number), `input`, `parameters`, `latency`, `last_commit` (cycles), `firings`,
    `done_tokens`, `throughput` (done tokens per cycle of latency), `stalled`, `ending` ("quiet",
    "done", "limit", "budget"), `seconds` (wall time of the simulation alone), `code` and `message`:
    the error for which there is no result, who waits in a stalled run, or where a run was "stopped
    at time 4: ..." that needed more than it may use. Where a net has a frequency rows have
    `latency_seconds`, too, by the frequency of the row's net. What is not known is None.

    `limit`: cycles after which a run ends. `max_memory` (bytes), `max_time` (seconds), `max_tokens`,
    `max_firings`, `max_groups`: what each run may use, as for simulate. `engine`: "compiled" or
    "interp"; None: what answers first, as for simulate. `jobs`: local
    processes, forked from this one (None: one per core). `scheduler`: the address of a Dask
    scheduler instead, "tcp://host:8786". `csv`, `jsonl`: files that get each row as it comes; when
    they exist the sweep goes on where they end. `on_rows(rows)` is called with new rows.

    Raises Error "E-sweep" for what is wrong with the request or when a file belongs to another
    sweep, "E-param" for a parameter or value that the net does not have, "E-scheduler" without a
    cluster. What goes wrong in single points is in their rows. Ctrl-C raises KeyboardInterrupt
    whose `rows` are those so far.
    """
    budget = {
        "max_memory": max_memory,
        "max_time": max_time,
        "max_tokens": max_tokens,
        "max_firings": max_firings,
        "max_groups": max_groups,
    }
    definition = Definition(model, inputs, params, points, None, limit, engine, budget)
    with Files(definition, csv, jsonl) as files:

        def got(rows):
            files.add(rows)
            if on_rows is not None:
                on_rows(rows)

        outcome = run(definition, jobs=jobs, scheduler=scheduler, known=files.rows, on_rows=got)
        if not outcome.interrupted:
            files.finish()
    if outcome.interrupted:
        raise _stopped(outcome)
    return outcome.ordered()


def _stopped(outcome):
    """Ctrl-C, with the rows that there are."""
    stopped = KeyboardInterrupt()
    stopped.rows = outcome.ordered()
    return stopped
