"""Paths of a partition found by several processes or a Dask cluster.

A path is named by the choices that lead to it. A worker gets the net and the space as text with some
branches, and returns the choices of the paths it found; going along them again here takes no solver.
"""

import contextlib
import time

import _lpn

from ..errors import Error, mistake

_SHARE = 4  # branches per worker before the work is shared out, so that small ones even out
_ROUND = 5.0  # seconds after which a worker returns what it has not begun, to be shared out anew
_WORKERS_KNOWN = 8  # texts that a worker keeps


def partition(net, space, jobs, scheduler, progress, options, samples):
    """(the partition of _lpn, whether it was interrupted, why it is not complete), as _lpn.partition."""
    alone = {
        **options,
        "samples": samples,
        "branches": [],
        "exact": False,
        "max_open": 0,
        "progress": progress,
    }
    if jobs == 1 and scheduler is None:
        core, interrupted = _lpn.partition(net._core, space.core, **alone)
        return core, interrupted, core.why or None
    with _workers(jobs, scheduler) as workers:
        core, interrupted = _lpn.partition(
            net._core, space.core, **{**alone, "max_open": _SHARE * workers.count}
        )
        if interrupted or not core.open:
            return core, interrupted, core.why or None
        shared = _Shared(net, space, workers, progress, options)
        found = shared.run(core)
        if found == "restart":
            core, interrupted = _lpn.partition(
                net._core,
                space.core,
                **{**alone, "exact": True, "max_open": _SHARE * workers.count},
            )
            if not interrupted and core.open:
                shared = _Shared(net, space, workers, progress, options)
                shared.run(core)
        exact = core.exact
    # All paths again, here; what nobody did is left open, since the last branches come first.
    core, interrupted = _lpn.partition(
        net._core,
        space.core,
        **{
            **alone,
            "branches": [*shared.open, *shared.paths],
            "exact": exact,
            "seconds": 0,
            "progress": None,
            "max_paths": len(shared.paths) if shared.open else 1 << 62,
        },
    )
    return core, interrupted or shared.interrupted, shared.why


class _Shared:
    """Branches handed out, and what comes back."""

    def __init__(self, net, space, workers, progress, options):
        self.text, self.space = net.text(), space.to_json()
        self.workers = workers
        self.progress = progress
        self.options = options
        self.paths, self.open = [], []
        self.interrupted = False
        self.why = None

    def run(self, core):
        begin = time.monotonic()
        limit = self.options["seconds"]
        self.paths = _paths(core)
        self.open = list(core.open)
        waiting = set()
        try:
            while (self.open or waiting) and len(self.paths) < self.options["max_paths"]:
                left = limit - (time.monotonic() - begin) if limit else _ROUND
                if left <= 0:
                    self.why = f"the limit of {limit:g} s"
                    break
                while self.open and len(waiting) < 2 * self.workers.count:
                    share = max(1, len(self.open) // (2 * self.workers.count))
                    some, self.open = self.open[:share], self.open[share:]
                    options = {
                        **self.options,
                        "seconds": min(left, _ROUND),
                        "max_paths": self.options["max_paths"] - len(self.paths),
                    }
                    waiting.add(
                        self.workers.submit(self.text, self.space, some, core.exact, options)
                    )
                done, waiting = self.workers.wait(waiting)
                for paths, still_open, restart in done:
                    if restart:
                        return "restart"
                    self.paths += paths
                    self.open += still_open
                if self.progress is not None and self.progress(
                    len(self.paths), len(self.open) + len(waiting)
                ):
                    self.why = "a request to stop"
                    break
        except KeyboardInterrupt:
            self.interrupted, self.why = True, "a request to stop"
        # What was handed out and did not come back is still to do.
        self.open += [branch for future in waiting for branch in self.workers.branches(future)]
        if self.open and self.why is None:
            self.why = f"the limit of {self.options['max_paths']} paths"
        return None


def _paths(core):
    return [(path.choices, path.samples) for each in core.classes for path in each.paths]


_known = {}  # (net text, space) -> (net, space), in a worker


def _do(text, space_data, branches, exact, options):
    """In a worker: (paths, open branches, whether all must begin again)."""
    import json

    from ..authoring.net import Net
    from .space import InputSpace

    key = (text, json.dumps(space_data, sort_keys=True))
    if key not in _known:
        while len(_known) >= _WORKERS_KNOWN:
            _known.pop(next(iter(_known)))
        net = Net.parse(text)
        _known[key] = net, InputSpace.from_json(net, space_data)
    net, space = _known[key]
    core, _ = _lpn.partition(
        net._core,
        space.core,
        **options,
        samples=[],
        branches=branches,
        exact=exact,
        max_open=0,
        progress=None,
    )
    return _paths(core), core.open, core.restart


@contextlib.contextmanager
def _workers(jobs, scheduler):
    workers = _Processes(jobs) if scheduler is None else _Cluster(scheduler)
    try:
        yield workers
    finally:
        workers.close()


class _Processes:
    def __init__(self, jobs):
        import multiprocessing
        import os
        from concurrent.futures import ProcessPoolExecutor

        self.count = jobs or os.cpu_count() or 1
        self._pool = ProcessPoolExecutor(self.count, multiprocessing.get_context("fork"), _quiet)
        self._branches = {}

    def submit(self, text, space, branches, exact, options):
        future = self._pool.submit(_do, text, space, branches, exact, options)
        self._branches[future] = branches
        return future

    def wait(self, futures):
        from concurrent.futures import FIRST_COMPLETED, wait

        done, waiting = wait(futures, timeout=0.5, return_when=FIRST_COMPLETED)
        for future in done:
            self._branches.pop(future)
        return [future.result() for future in done], set(waiting)

    def branches(self, future):
        return self._branches[future]

    def close(self):
        self._pool.shutdown(wait=False, cancel_futures=True)
        for worker in list((self._pool._processes or {}).values()):
            worker.terminate()


def _quiet():
    """Ctrl-C is for the parent, which ends its workers."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)


class _Cluster:
    def __init__(self, address):
        from ..sweeps.sweep import cluster_client

        _, self._client = cluster_client(address)
        self.count = max(1, sum(self._client.nthreads().values()))
        self._branches = {}

    def submit(self, text, space, branches, exact, options):
        future = self._client.submit(_do, text, space, branches, exact, options, pure=False)
        self._branches[future.key] = branches
        return future

    def wait(self, futures):
        until = time.monotonic() + 0.5
        while (
            not (done := {future for future in futures if future.done()})
            and time.monotonic() < until
        ):
            time.sleep(0.01)
        results = []
        for future in done:
            self._branches.pop(future.key)
            try:
                results.append(future.result())
            except Error:
                raise
            except Exception as error:
                raise mistake(
                    "E-scheduler",
                    f"a worker cannot do its part: {type(error).__name__}: {error}; start "
                    "workers with this package on their PYTHONPATH",
                ) from None
        return results, futures - done

    def branches(self, future):
        return self._branches[future.key]

    def close(self):
        with contextlib.suppress(Exception):
            self._client.close(timeout=5)
