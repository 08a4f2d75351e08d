"""Ctrl-C as a wish instead of an exception, which would hit what it interrupts in the middle of a
write.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator

__all__ = ["Interrupt"]


class Interrupt:
    """A context in which Ctrl-C only sets `asked`; whoever works looks at it between two pieces of
    work.

    A second Ctrl-C is the exception, and inside of immediately() the first one. Does nothing in
    other threads and where the program has a handler of its own.
    """

    def __enter__(self) -> Interrupt:
        self.asked = False
        self._at_once = False
        self._installed = False
        with contextlib.suppress(ValueError):  # not the main thread
            if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                signal.signal(signal.SIGINT, self._ask)
                self._installed = True
        return self

    def _ask(self, number, frame):
        again, self.asked = self.asked, True
        if again or self._at_once:
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def immediately(self) -> Iterator[None]:
        """Around work that cannot look at `asked`."""
        self._at_once = True
        try:
            yield
        finally:
            self._at_once = False

    def __exit__(self, *_: object) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)
