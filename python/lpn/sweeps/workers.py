"""Who runs the tasks of a sweep: this process, processes forked from it, or a Dask cluster.

Each has submit(task, seconds, done), which calls done(task, what points.local returns) or
done(task, exception) from any thread; slots(), how many tasks may be given out at a time; parse,
which parses inputs here for workers that cannot, or None; forget(source), when no row needs a
marking any more; and `workers`, how many there have been.
"""

import contextlib
import hashlib
import os

from ..parallel import Cluster, Processes
from ..runs.engines import never_compile
from . import points

__all__ = ["workers_for"]


def workers_for(definition, folder, stop, jobs, scheduler, rows):
    """The workers of a sweep of so many rows. `folder`: for its markings; `stop`: its Interrupt."""
    if scheduler is not None:
        return _Remote(definition, scheduler)
    if jobs is None:
        jobs = len(os.sched_getaffinity(0))
    jobs = min(jobs, rows)
    if jobs == 1:
        return _Here(definition, folder, stop)
    return _Forked(definition, folder, jobs)


def _unlink(source):
    with contextlib.suppress(OSError):
        os.unlink(source[1])


class _Here:
    """This process."""

    task_seconds = 0.1
    workers = 1
    parse = None

    def __init__(self, definition, folder, stop):
        points.begin(definition, folder, lambda: stop.asked, stop.immediately)

    def slots(self):
        return 1

    def forget(self, source):
        _unlink(source)

    def submit(self, task, seconds, done):
        done(task, points.local(task.variant, task.parts, seconds))

    def waits(self):
        return None

    def ask_to_stop(self):
        """Whether what was given out may still come back."""
        return True

    def close(self):
        points.end()


class _Forked:
    """Processes forked from this one, which therefore know the model."""

    task_seconds = 0.1
    parse = None

    def __init__(self, definition, folder, jobs):
        import mmap

        self.workers = jobs
        self._processes = Processes(jobs)
        self._flag = flag = mmap.mmap(-1, 1)  # shared with the workers: stop
        points.begin(definition, folder, lambda: flag[0] != 0)

    def slots(self):
        return 2 * self.workers

    def forget(self, source):
        _unlink(source)

    def submit(self, task, seconds, done):
        self._processes.submit(
            lambda answer: done(task, answer), points.local, task.variant, task.parts, seconds
        )

    def waits(self):
        return None

    def ask_to_stop(self):
        self._flag[0] = 1
        return True

    def close(self):
        self._flag[0] = 1
        points.end()
        self._processes.close(2)  # one that parses a huge input, or hangs in it, does not hear


class _Remote:
    """The workers of a Dask scheduler. They get nets and markings as data, not the model."""

    task_seconds = 0.3  # handing out takes longer

    def __init__(self, definition, address):
        safe = "; what is finished is in the files, and the same sweep goes on there"
        self._cluster = Cluster(address, safe)
        self._definition = definition
        self._texts, self._blobs = {}, {}
        self.workers = 0

    def slots(self):
        threads = self._cluster.count
        self.workers = max(self.workers, threads)
        return 3 * max(1, threads)

    def forget(self, source):
        self._blobs.pop(source[0], None)

    def parse(self, variant, number, row):
        """A marking as bytes: the model is here, not with the workers."""
        marking, refused, reads = points.parse(self._definition, variant, number, row)
        if marking is None:
            return points.Answer([], [], reads, None, refused)
        key = f"{variant}-{number}-{row}"
        self._blobs[key] = self._cluster.put(marking.save_bytes())
        return points.Answer([], [], reads, (key, None))

    def submit(self, task, seconds, done):
        definition = self._definition
        if task.variant not in self._texts:
            text = definition.variants[task.variant].net.text()
            key = hashlib.sha256(text.encode()).hexdigest()
            self._texts[task.variant] = key, self._cluster.put(text)
        salt = f"{os.getpid()}-{id(self)}"  # keys of markings are unique only in this sweep
        self._cluster.submit(
            lambda answer: done(task, answer),
            points.remote,
            *self._texts[task.variant],
            [self._blobs[part.source[0]] for part in task.parts],
            [part._replace(source=(f"{salt}-{part.source[0]}", None)) for part in task.parts],
            seconds,
            definition.ends,
            "interp" if never_compile() else definition.engine or "compiled",
        )

    def waits(self):
        return self._cluster.waits()

    def ask_to_stop(self):
        self._cluster.cancel()
        return False

    def close(self):
        self._cluster.close()
