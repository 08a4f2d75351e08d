"""A run by whatever answers first: the interpreter at once, or a compiled net when there is one."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ..authoring.marking import Marking
from ..authoring.net import Net
from .background import Background
from .run import Run, budget_of, execute

__all__ = ["first_answer", "run_by", "run_quickest"]

Found = TypeVar("Found")


def first_answer(
    background: Background,
    limits: Any,
    run: Callable[[Sequence[Any], Any, Callable[[], bool] | None], Found | None],
) -> Found:
    """What run(libraries, limits, leave) finds: by the interpreter ([None]) until the libraries are
    there.

    `run` gives up and returns None once leave() is true, which starts to compile when runs have
    taken long, and is asked every now and then; then it is called again with the libraries, what is
    left of `limits`, an _lpn.Budget, and without `leave`. Raises what compiling raises, but not that
    it is impossible here.
    """
    if not background.there(0.0):
        begin, busy = time.monotonic(), time.thread_time()
        with background.during_run():
            found = run([None], limits, lambda: background.there(time.thread_time() - busy))
        if found is not None:
            return found
        limits = limits.after(time.monotonic() - begin)
    libraries = background.libraries
    assert libraries is not None  # else the run had not been left
    found = run(libraries, limits, None)
    assert found is not None
    return found


def run_quickest(
    background: Background,
    net: Net,
    values: Sequence[int],
    marking: Marking,
    *,
    observe: Callable[[], Any] | None = None,
    limits: Any = None,
    **options: Any,
) -> Run:
    """The Run, interpreted; but once all runs with this Background have taken longer than PATIENCE,
    a compiler works beside it, and the run starts over when the compiled net is there before it
    has ended.

    `observe()`: an observer, asked for again when the run starts over. `options` as execute() takes
    them. Raises as execute() and lpn.runs.engines.compiled() do, but not that it cannot be compiled.
    """

    def run(libraries, limits, leave):
        how = {"limits": limits, **options}
        if leave is None:
            return run_by(libraries, net, values, marking, observe=observe, **how)
        observer = observe() if observe else None
        return execute(net, values, marking, None, observer=observer, leave=leave, **how)

    return first_answer(background, limits or budget_of(), run)


def run_by(
    libraries: Sequence[Any],
    net: Net,
    values: Sequence[int],
    marking: Marking,
    *,
    observe: Callable[[], Any] | None = None,
    path: int | None = None,
    path_memory: int | None = None,
    stats: bool = False,
    **options: Any,
) -> Run:
    """The Run by the libraries of a Background, or by the interpreter ([None]): it keeps all at
    once, compiled nets statistics (and what an observer sees) and the critical path in two runs.
    """
    asked: dict[str, Any] = {} if path is None else {"path": path, "path_memory": path_memory}
    if libraries[0] is None:
        observer = observe() if observe else None
        return execute(
            net, values, marking, None, stats=stats, observer=observer, **asked, **options
        )
    found = None
    if asked:
        found = execute(net, values, marking, libraries[-1], **asked, **options)
        if found.ending in ("interrupted", "budget") or not (stats or observe):
            return found
    observer = observe() if observe else None
    run = execute(net, values, marking, libraries[0], stats=stats, observer=observer, **options)
    if found is not None and run.ending not in ("interrupted", "budget"):
        run.path, run.steps = found.path, found.steps
    return run
