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


class _Compiler:
    """A thread that compiles a net's variants. `libraries`, `fallback`: as Background has them;
    `broken`: another exception.
    """

    def __init__(self, net: Net, text: str, variants: list[dict[str, bool]]) -> None:
        self.of = text, variants
        self.libraries: tuple[Any, ...] | None = None
        self.fallback: Error | None = None
        self.broken: BaseException | None = None
        self._net = net
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._work, name="lpn compiles", daemon=True)
        try:
            self._thread.start()
        except RuntimeError as error:  # no more threads: the interpreter goes on
            self.fallback = Error("E-compile", f"no thread for the compiler: {error}")

    @property
    def serves(self) -> bool:
        """Whether it has answered, or will. A process that was forked has not its thread."""
        answered = self.libraries or self.fallback or self.broken
        return bool(answered) or self._thread.is_alive() and not self._end.is_set()

    def stop(self) -> None:
        """Asks it to end."""
        self._end.set()

    def join(self) -> None:
        """Waits until it has ended."""
        if self._thread.ident is not None:
            self._thread.join()

    def _work(self):
        _, variants = self.of
        try:
            self.libraries = tuple(
                compiled(self._net, **kept, stop=self._end.is_set) for kept in variants
            )
        except Error as error:
            if error.code in NOT_COMPILED:
                self.fallback = error
            elif error.code != "E-interrupted":
                self.broken = error
        except BaseException as error:
            self.broken = error


class Background:
    """The libraries of a net, compiled by a thread of their own once its runs have taken a while.

    `variants`: what the runs with each library keep. `libraries`: a tuple, one per variant,
    when they are there, else None. `fallback`: the Error that says why the net cannot be compiled
    here, else None. Nets of the same text share the thread and what it made.
    """

    def __init__(self, net: Net, variants: list[dict[str, bool]]) -> None:
        self._net = net
        self.variants = variants
        self._spent = 0.0
        self._running = 0
        self._compiler: _Compiler | None = None
        _all.add(self)

    @property
    def libraries(self) -> tuple[Any, ...] | None:
        return None if self._compiler is None else self._compiler.libraries

    @property
    def fallback(self) -> Error | None:
        return None if self._compiler is None else self._compiler.fallback

    def there(self, seconds: float) -> bool:
        """Whether the libraries are there, for a run that has been interpreted for so long; starts
        to make them when that is long. Raises what went wrong but for `fallback`.
        """
        compiler = self._compiler
        if compiler is None or not compiler.serves:
            if self._spent + seconds <= PATIENCE:
                return False
            compiler = self._compiler = self._begun()
        if compiler.broken is not None:
            raise compiler.broken
        return compiler.libraries is not None

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
        if self._compiler is not None:
            self._compiler.stop()
            self._compiler.join()

    def _begun(self) -> _Compiler:
        """A compiler of this net; those of nets that were given up end, since one is enough."""
        wanted = self._net.text(), self.variants
        pairs = [(one._compiler, one._running) for one in list(_all)]
        known = [(compiler, running) for compiler, running in pairs if compiler is not None]
        for compiler, _ in known:
            if compiler.of == wanted and compiler.serves:
                return compiler
        needed = {compiler for compiler, running in known if running}
        for compiler in {compiler for compiler, _ in known} - needed:
            compiler.stop()
        return _Compiler(self._net, *wanted)


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
        if background._compiler is not None:
            background._compiler.stop()
    for background in list(_all):
        background.close()
