"""Work in a child process, so that nothing it does ends this one: no crash, no memory, no loop.

This keeps a host alive; it is no sandbox: the child may do what its user may.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable
from typing import Any

from ..errors import Error, describe, without_place
from ..interrupt import Interrupt
from ..parallel import die_with

__all__ = ["isolated"]

# How long the child may take to end after Ctrl-C, in seconds.
_PATIENCE = 2.0


def isolated(
    work: Callable[[], Any], *, memory: int | None = None, seconds: float | None = None
) -> Any:
    """What work() returns or raises, called in a process that is forked for it; both must pickle.

    `memory`: bytes of address space that it, and each compiler that it starts, may use; `seconds`:
    of wall time. Ctrl-C is handed on to it. Raises Error "E-killed" when it was killed, took too
    long or ended without an answer, KeyboardInterrupt when Ctrl-C brought no answer.
    """
    parent = os.getpid()
    reader, writer = os.pipe()
    with Interrupt() as stop:
        child = os.fork()
        if child == 0:
            _be_the_child(parent, writer, work, memory)
        os.close(writer)
        try:
            data, late = _read(reader, child, stop, seconds)
        except BaseException:
            _kill(child)
            _reap(child)
            raise
        finally:
            os.close(reader)
        status = _reap(child)
        interrupted = stop.asked
    if late:
        raise without_place("E-killed", f"stopped: the simulator ran longer than {seconds:g} s")
    import pickle

    try:
        good, answer = pickle.loads(data)
    except Exception:  # cut off
        if interrupted:
            raise KeyboardInterrupt from None
        raise without_place("E-killed", _death(status)) from None
    if good:
        return answer
    raise answer


def _be_the_child(parent, writer, work, memory):
    """Never returns; what this process has from its parent, such as unwritten output, it leaves."""
    status = 1
    try:
        os.setpgid(0, 0)  # a terminal's Ctrl-C comes by way of the parent, once
        die_with(parent)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        with open(writer, "wb") as pipe:
            pipe.write(_answer(work))
        status = 0
    finally:
        os._exit(status)


def _answer(work):
    """(True, what it returns) or (False, what it raises), as bytes."""
    import pickle

    try:
        return pickle.dumps((True, work()))
    except BaseException as error:
        try:
            data = pickle.dumps((False, error))
            pickle.loads(data)  # some exceptions can only be written
            return data
        except Exception:
            return pickle.dumps((False, Error(*describe(error))))


def _read(reader, child, stop, seconds):
    """(all that the child says, whether it had to be killed because it took too long)."""
    end = None if seconds is None else time.monotonic() + seconds
    told = False
    data = bytearray()
    while True:
        if stop.asked and not told:
            told, end = True, time.monotonic() + _PATIENCE
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGINT)
        if end is not None and time.monotonic() > end:
            _kill(child)
            return bytes(data), not told
        if select.select([reader], [], [], 0.05)[0]:
            part = os.read(reader, 1 << 16)
            if not part:
                return bytes(data), False
            data += part


def _kill(child):
    """With what it started; its group may not be there yet."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)


def _reap(child):
    return os.waitpid(child, 0)[1]


def _death(status):
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return (
            f"stopped: the simulator was killed by signal {number} "
            f"({signal.strsignal(number) or 'unknown'})"
        )
    return f"stopped: the simulator ended without an answer (status {os.WEXITSTATUS(status)})"
