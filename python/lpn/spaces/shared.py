"""Paths of a partition found by several processes or a Dask cluster.

A path is named by the choices that lead to it. A worker gets the net and the space as text with
some branches, and returns the choices of the paths it found; going along them again here takes no
solver.
"""

import contextlib
import json
import os
import queue
import time
from typing import Any

import _lpn

from ..authoring.net import Net
from ..errors import without_place
from ..interrupt import Interrupt
from ..parallel import Cluster, Lost, Processes
from .space import InputSpace

_SHARE = 4  # branches per worker before the work is shared out, so that small ones even out
_ROUND = 5.0  # seconds after which a worker returns what it has not begun, to be shared out anew
_WORKERS_KNOWN = 8  # texts that a worker keeps


def partition(net, space, jobs, scheduler, progress, options, samples):
    """(the partition of _lpn, whether it was interrupted, why it is not complete), as
    _lpn.partition.
    """
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
    workers = Processes(jobs or os.cpu_count() or 1) if scheduler is None else Cluster(scheduler)
    with contextlib.closing(workers):
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
        self._given = 0
        self.interrupted = False
        self.why = None

    def run(self, core):
        begin = time.monotonic()
        limit = self.options["seconds"]
        self.paths = _paths(core)
        self.open = list(core.open)
        self._out, self._answers = {}, queue.SimpleQueue()
        with Interrupt() as stop:
            while (self.open or self._out) and len(self.paths) < self.options["max_paths"]:
                left = limit - (time.monotonic() - begin) if limit else _ROUND
                if left <= 0:
                    self.why = f"the limit of {limit:.4g} s"
                    break
                self._hand_out(core.exact, min(left, _ROUND))
                if self._take():
                    return "restart"
                ends = self.progress is not None and self.progress(
                    len(self.paths), len(self.open) + len(self._out)
                )
                self.interrupted = stop.asked
                if ends or stop.asked:
                    self.why = "a request to stop"
                    break
        # What was handed out and did not come back is still to do.
        self.open += [branch for branches in self._out.values() for branch in branches]
        if self.open and self.why is None:
            self.why = f"the limit of {self.options['max_paths']} paths"
        return None

    def _hand_out(self, exact, seconds):
        most = 2 * max(1, self.workers.count)
        while self.open and len(self._out) < most:
            share = max(1, len(self.open) // most)
            some, self.open = self.open[:share], self.open[share:]
            options = {
                **self.options,
                "seconds": seconds,
                "max_paths": self.options["max_paths"] - len(self.paths),
            }
            key = self._given = self._given + 1
            self._out[key] = some
            self.workers.submit(
                lambda answer, key=key: self._answers.put((key, answer)),
                _do,
                *(self.text, self.space, some, exact, options),
            )

    def _take(self):
        """Waits a little for answers; whether all must begin again."""
        with contextlib.suppress(queue.Empty):
            wait = 0.5
            while True:
                key, answer = self._answers.get(timeout=wait)
                if isinstance(answer, Lost):
                    raise without_place("E-worker", _DIED)
                if isinstance(answer, BaseException):
                    raise answer
                paths, still_open, restart = answer
                if restart:
                    return True
                del self._out[key]
                self.paths += paths
                self.open += still_open
                wait = 0
        return False


_DIED = (
    "a process that sorted the inputs died: out of memory? With fewer --jobs each has more of it"
)


def _paths(core):
    return [(path.choices, path.samples) for each in core.classes for path in each.paths]


_known: dict[Any, Any] = {}  # (net text, space) -> (net, space), in a worker


def _do(text, space_data, branches, exact, options):
    """In a worker: (paths, open branches, whether all must begin again)."""
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
