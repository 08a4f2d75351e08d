"""The costs of a batch by several processes, or the workers of a Dask scheduler."""

from __future__ import annotations

import os
import queue
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import mistake
from ..parallel import Cluster, Lost, Processes

__all__ = ["Spread"]


class Spread:
    """A `cost` for lpn.tune: function(*context, part of the batch) by each worker, a list of costs.

    `function`: of a module, so that it has a name that a worker can import; it and `context` are
    sent to the workers of a cluster. `jobs`: processes forked from this one; None: one per
    processor; 1: this one. `scheduler`: the address of a Dask scheduler in place of processes, as
    tcp://host:8786. Close it behind the search. Raises Error "E-scheduler" when there is no such
    cluster, and "E-tune" when workers die of a batch twice.
    """

    def __init__(
        self,
        function: Callable[..., Sequence[float | None]],
        *context: Any,
        jobs: int | None = None,
        scheduler: str | None = None,
    ) -> None:
        if "<" in getattr(function, "__qualname__", "<"):
            raise mistake(
                "E-tune",
                f"Spread needs a function of a module, which a worker can find by its name, got "
                f"{function!r}",
            )
        self._function, self._context = function, context
        self._workers: Any = None
        if scheduler is not None:
            self._workers = Cluster(scheduler, "; trials so far are kept where there is a journal")
        else:
            jobs = len(os.sched_getaffinity(0)) if jobs is None else jobs
            self._workers = Processes(jobs) if jobs > 1 else None

    def __call__(self, batch: Sequence[Any]) -> list[float | None]:
        if self._workers is None:
            return list(self._function(*self._context, batch))
        # Neighbours take alike long: each worker gets some of every kind.
        count = max(1, min(self._workers.count, len(batch)))
        parts = [range(first, len(batch), count) for first in range(count)]
        costs: list[float | None] = [None] * len(batch)
        left = {number: 2 for number in range(count)}  # part -> how often it may be tried
        answers: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        for number in range(count):
            self._submit(answers, number, [batch[k] for k in parts[number]])
        while left:
            number, answer = self._next(answers)
            if isinstance(answer, Lost):
                left[number] -= 1
                if not left[number]:
                    raise mistake("E-tune", "a worker that computed costs died, twice")
                self._submit(answers, number, [batch[k] for k in parts[number]])
                continue
            if isinstance(answer, BaseException):
                raise answer
            if len(answer) != len(parts[number]):
                raise mistake(
                    "E-tune",
                    f"cost() must return {len(parts[number])} numbers for as many, got "
                    f"{len(answer)}",
                )
            for k, cost in zip(parts[number], answer):
                costs[k] = cost
            del left[number]
        return costs

    def _submit(self, answers, number, part):
        self._workers.submit(
            lambda answer: answers.put((number, answer)), self._function, *self._context, part
        )

    def _next(self, answers):
        """The next answer. A cluster may go away, or have no worker, while one waits."""
        while True:
            try:
                return answers.get(timeout=1)
            except queue.Empty:
                if isinstance(self._workers, Cluster):
                    self._workers.waits()  # raises when the scheduler went away

    def close(self) -> None:
        """Ends the workers, at once."""
        if isinstance(self._workers, Cluster):
            self._workers.cancel()
        if self._workers is not None:
            self._workers.close()

    def __enter__(self) -> Spread:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
