"""Who does work that is shared out: processes of this machine, or the workers of a Dask scheduler.

Both take work one way: `submit(done, function, *arguments)` has done(result) called from any
thread, with the exception in place of the result when there was one; `Lost` when the worker died.

Not joblib: it tells of no single result, and ends everything when one worker dies. Not Dask's
LocalCluster for local processes either: its workers are no forks, so that all they need, a model
from a file included, would have to be sent, and starting them takes longer than most sweeps.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from typing import Any

from . import source
from .errors import Error, mistake, without_place

__all__ = ["Cluster", "Lost", "Processes", "die_with"]


class Lost(Exception):
    """The worker that had a piece of work died."""


class Processes:
    """Processes forked from this one, which therefore know all that it knows.

    `count`: how many. A worker that dies takes the work of all with it: each piece is Lost.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool: Any = None

    def submit(
        self, done: Callable[[Any], object], function: Callable[..., Any], *arguments: Any
    ) -> None:
        """See above."""
        from concurrent.futures.process import BrokenProcessPool

        def ended(future):
            error = future.exception()
            if isinstance(error, BrokenProcessPool):
                error = Lost()
            done(error if error is not None else future.result())

        for attempt in (1, 2):
            if self._pool is None:
                self._pool = self._start()
            try:
                future = self._pool.submit(function, *arguments)
                break
            except BrokenProcessPool:
                self._pool.shutdown(wait=True)
                self._pool = None
                if attempt == 2:
                    raise
        future.add_done_callback(ended)

    def _start(self):
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        context = multiprocessing.get_context("fork")
        return ProcessPoolExecutor(self.count, context, _forked, (os.getpid(),))

    def close(self, patience: float = 0.0) -> None:
        """Ends the workers, after so many seconds also those that still work."""
        if self._pool is None:
            return
        workers = list((self._pool._processes or {}).values())
        manager = self._pool._executor_manager_thread
        self._pool.shutdown(wait=False, cancel_futures=True)
        until = time.monotonic() + patience
        for worker in workers:
            worker.join(max(0.0, until - time.monotonic()))
            if worker.is_alive():
                worker.terminate()
        # Python's own wait for it at exit writes to a pipe that it may be closing just then.
        if manager is not None:
            manager.join()


def _forked(parent):
    """The first call in a forked worker: Ctrl-C is the business of its parent, which tells its
    workers.
    """
    import concurrent.futures
    import multiprocessing
    import signal

    for module in (concurrent.futures, multiprocessing):  # nobody's line
        source.count_as_ours(os.path.dirname(module.__file__) + os.sep)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with(parent)


def die_with(parent: int) -> None:
    """In a forked process: it will not outlive its parent, since a run may be endless."""
    import ctypes
    import signal

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(1)


class Cluster:
    """The workers of a Dask scheduler. They get all they need as data.

    `safe`: what is not lost when the scheduler goes away, for the message, as "; ...". Raises Error
    "E-scheduler" when there is no such scheduler, or no worker within `patience` seconds.
    """

    def __init__(self, address: str, safe: str = "", patience: float = 30.0) -> None:
        self._distributed, self._client = _connect(address, patience)
        self._safe = safe
        self._futures: dict[str, Any] = {}
        self._asked, self._count = 0.0, 1

    @property
    def count(self) -> int:
        """Threads of all workers now; they may come and go."""
        now = time.monotonic()
        if now - self._asked > 1:
            self._asked = now
            # Without workers where the scheduler has just gone away; waits() says so.
            workers = self._client.scheduler_info().get("workers")
            if workers is not None:
                self._count = sum(w["nthreads"] for w in workers.values())
        return self._count

    def waits(self) -> str | None:
        """Why nothing can come back now, in words; None otherwise. Raises Error "E-scheduler"."""
        if self._client.status not in ("running", "connecting"):
            raise self._gone()
        return None if self._count else "waiting for a worker"

    def put(self, data):
        """The data, held by the cluster: to be given to submit() in place of it."""
        return self._submit(_constant, data)

    def submit(
        self, done: Callable[[Any], object], function: Callable[..., Any], *arguments: Any
    ) -> None:
        """See above."""
        future = self._submit(function, *arguments)
        self._futures[future.key] = future

        def ended(future):
            self._futures.pop(future.key, None)
            try:
                done(self._answer(future))
            except Exception as error:  # the client closed meanwhile
                done(self._gone(error))

        future.add_done_callback(ended)

    def _submit(self, function, *arguments):
        import concurrent.futures

        try:
            return self._client.submit(function, *arguments, pure=False)
        except concurrent.futures.CancelledError:
            # What put() gave the cluster is lost with its scheduler, which the client may not know yet.
            raise self._gone() from None

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
        return without_place(
            "E-scheduler",
            f"a worker cannot do its part: {type(error).__name__}: {error}; start workers with "
            "this "
            "package on their PYTHONPATH",
        )

    def _gone(self, error=None):
        why = f" ({type(error).__name__}: {error})" if error is not None else ""
        return without_place("E-scheduler", f"the Dask scheduler went away{why}{self._safe}")

    def cancel(self):
        """Takes back all that was submitted; nothing of it comes any more."""
        self._client.cancel(list(self._futures.values()), force=True)

    def close(self):
        with contextlib.suppress(Exception):
            self._client.close(timeout=5)


def _constant(data):
    """As a task, so that the cluster can make the data again when the worker that holds it dies."""
    return data


def _connect(address, patience):
    """(the module distributed, a client of the scheduler with a worker)."""
    try:
        import distributed
    except ImportError:
        raise mistake(
            "E-scheduler",
            "a Dask cluster needs the Python package distributed; install python3-distributed",
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


def _knock(address):
    """Refuses an address where nobody answers, at once; the client itself tries for long."""
    import re
    import socket

    found = re.fullmatch(r"(?:tcp|tls|ws|wss)://(?:\[([^]]+)\]|([^:/]+)):([0-9]{1,5})", address)
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
