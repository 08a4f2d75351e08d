"""Compiling a net beside its interpreted runs."""

from __future__ import annotations

import atexit
import contextlib
import threading
import time
import weakref
from collections.abc import Iterator
from typing import Any

from ..authoring.net import Net
from ..errors import Error
from .engines import NOT_COMPILED, compiled

__all__ = ["PATIENCE", "Background", "background_of", "variants_of"]

# What interpreted runs of a net may take together, in seconds of their thread's processor time,
# before it is compiled: on a machine with other work a compiler comes no earlier.
PATIENCE = 0.1

_all: weakref.WeakSet[Background] = weakref.WeakSet()


class Background:
    """The libraries of a net, compiled by a thread of their own once its runs have taken a while.

    `variants`: what the runs with each library keep. `libraries`: a tuple, one per variant,
    when they are there, else None. `fallback`: the Error that says why the net cannot be compiled
    here, else None.
    """

    def __init__(self, net: Net, variants: list[dict[str, bool]]) -> None:
        self._net = net
        self.variants = variants
        self._spent = 0.0
        self._running = 0
        self._end = threading.Event()
        self._thread: threading.Thread | None = None
        self._broken: BaseException | None = None
        self.libraries: tuple[Any, ...] | None = None
        self.fallback: Error | None = None
        _all.add(self)

    def there(self, seconds: float) -> bool:
        """Whether the libraries are there, for a run that has been interpreted for so long; starts
        to make them when that is long. Raises what went wrong but for `fallback`.
        """
        if self._broken is not None:
            raise self._broken
        if self.libraries is not None:
            return True
        if self.fallback is None and self._spent + seconds > PATIENCE:
            # A process that was forked has the thread's object, but not the thread.
            if self._thread is None or not self._thread.is_alive():
                self._begin()
        return False

    @contextlib.contextmanager
    def during_run(self) -> Iterator[None]:
        """Around a run that is interpreted."""
        begin = time.thread_time()
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
            self._spent += time.thread_time() - begin

    def close(self) -> None:
        """Ends a compiler that still works, and what it wrote; may be called twice."""
        self._end.set()
        if self._thread is not None:
            self._thread.join()

    def _begin(self):
        for other in list(_all):  # of nets that were given up: one compiler is enough
            if other is not self and not other._running:
                other._end.set()
        self._end.clear()
        self._thread = threading.Thread(target=self._work, name="lpn compiles", daemon=True)
        try:
            self._thread.start()
        except RuntimeError as error:  # no more threads: the interpreter goes on
            self._thread = None
            self.fallback = Error("E-compile", f"no thread for the compiler: {error}")

    def _work(self):
        try:
            self.libraries = tuple(
                compiled(self._net, **kept, stop=self._end.is_set) for kept in self.variants
            )
        except Error as error:
            if error.code in NOT_COMPILED:
                self.fallback = error
            elif error.code != "E-interrupted":
                self._broken = error
        except BaseException as error:
            self._broken = error


def background_of(net: Net, stats: bool, path: bool, trace: bool = False) -> Background:
    """The one Background of a net, which must be done(), for runs that keep this."""
    key = (stats, path, trace)
    if key not in net._compiling:
        net._compiling[key] = Background(net, variants_of(*key))
    return net._compiling[key]


def variants_of(stats: bool, path: bool, trace: bool) -> list[dict[str, bool]]:
    """What each library keeps of those that keep all of this together."""
    variants = [{"trace": trace, "stats": stats}] if stats or trace or not path else []
    return [*variants, {"path": True}] if path else variants


@atexit.register
def _close_all():
    """Nothing that this process started stays behind it."""
    for background in list(_all):
        background._end.set()
    for background in list(_all):
        background.close()
