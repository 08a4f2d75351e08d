"""parallel: work handed to processes, and what is heard of it."""

import concurrent.futures
import os
import queue
import signal
import threading
import time

import lpn
import pytest
from lpn.parallel import Cluster, Lost, Processes


def collect(count, work):
    """What `count` processes answer to [(function, *arguments)], by position."""
    answers, processes = queue.SimpleQueue(), Processes(count)
    try:
        for k, (function, *arguments) in enumerate(work):
            processes.submit(lambda answer, k=k: answers.put((k, answer)), function, *arguments)
        return dict(answers.get(timeout=60) for _ in work)
    finally:
        processes.close()


def fail(text):
    raise ValueError(text)


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def test_answers_and_exceptions():
    known = [1, 2, 3]  # workers are forks: they know it
    found = collect(2, [(known.index, 2), (fail, "no"), (os.getpid,)])
    assert found[0] == 1 and found[2] != os.getpid()
    assert isinstance(found[1], ValueError) and str(found[1]) == "no"


def test_a_worker_that_dies_loses_its_work_and_the_next_ones_are_new():
    answers, processes = queue.SimpleQueue(), Processes(1)
    processes.submit(answers.put, die)
    assert isinstance(answers.get(timeout=60), Lost)
    processes.submit(answers.put, sum, [1, 2])
    assert answers.get(timeout=60) == 3
    processes.close()


def test_close_ends_who_still_works():
    processes = Processes(1)
    processes.submit(lambda answer: None, time.sleep, 60)
    begin = time.monotonic()
    processes.close(0.1)
    assert time.monotonic() - begin < 10


def test_close_leaves_no_thread_for_the_end_of_python_to_race_with():
    threads = set(threading.enumerate())
    for _ in range(5):
        processes = Processes(2)
        processes.submit(lambda answer: None, time.sleep, 60)
        processes.close()
        assert set(threading.enumerate()) <= threads


@pytest.mark.parametrize(
    "address, words",
    [("here", "no address of a Dask scheduler"), ("tcp://127.0.0.1:1", "cannot reach")],
)
def test_a_scheduler_that_is_none(address, words):
    pytest.importorskip("distributed")
    with pytest.raises(lpn.Error, match=words) as caught:
        Cluster(address)
    assert caught.value.code == "E-scheduler"


def test_a_scheduler_that_has_just_gone_is_told_by_waits():
    """Its client then knows of no workers at all, not even of none."""

    class Client:
        status = "closed"

        def scheduler_info(self):
            return {}

    cluster = Cluster.__new__(Cluster)
    cluster._client, cluster._safe, cluster._asked, cluster._count = Client(), "; safe", 0.0, 3
    assert cluster.count == 3
    with pytest.raises(lpn.Error, match="the Dask scheduler went away; safe$") as error:
        cluster.waits()
    assert error.value.code == "E-scheduler"


def test_data_that_went_with_its_scheduler_is_told():
    """A task over data of a cluster whose scheduler has just gone: the client calls them cancelled."""

    class Client:
        status = "running"

        def submit(self, function, *arguments, pure):
            raise concurrent.futures.CancelledError("_constant-1")

    cluster = Cluster.__new__(Cluster)
    cluster._client, cluster._safe, cluster._futures = Client(), "; safe", {}
    for call in (lambda: cluster.put(1), lambda: cluster.submit(print, len, 1)):
        with pytest.raises(lpn.Error, match="^the Dask scheduler went away; safe$") as error:
            call()
        assert error.value.code == "E-scheduler"
