"""The nets that other simulators were measured on end when they must."""

import importlib.util
import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
if importlib.util.find_spec("_lpn") is None:
    build = Path(os.environ.get("LPN_BUILD", HERE.parents[1] / "build"))
    sys.path.insert(0, str(build / "python"))

import lpn  # noqa: E402


@pytest.mark.parametrize(
    "name, count, end",
    [
        ("pipe4", 1_000_000, 14_437_999),
        ("ring64", 62_500, 5_375_963),
        ("forkjoin", 222_222, 2_768_018),
    ],
)
def test_last_commit(name, count, end):
    model = lpn.load(HERE / "nets" / f"{name}.py")
    net = model.net()
    run = lpn.simulate(net, model.workload(count, net), engine="compiled")
    assert (run.last_commit, run.stalled) == (end, False)


def test_the_array_ends_with_its_last_operand():
    model = lpn.load(HERE / "nets" / "array.py")
    net = model.net(n=4)
    run = lpn.simulate(net, model.workload(10, net), engine="interp")
    assert (run.latency, run.commits) == (10 + 2 * 4 - 2, 10 * 16)


@pytest.mark.parametrize("n", [2, 10, 33])
def test_sizes(n):
    assert len(lpn.load(HERE / "nets" / "ring.py").net(n=n).transitions) == n
    assert len(lpn.load(HERE / "nets" / "fork_join.py").net(n=n + 8).transitions) in range(n, n + 9)


@pytest.mark.parametrize("n, resources, think", [(8, 1, False), (9, 1, True), (70, 3, True)])
def test_arbiter(n, resources, think):
    """Competitors are kept in sets: who starts, and when, must not change by it."""
    model = lpn.load(HERE / "nets" / "arbiter.py")
    net = model.net(n=n, resources=resources, think=think)
    marking = model.workload(40 * n, net)
    runs = [
        lpn.simulate(net, marking, engine=engine, trace=True, stats=True)
        for engine in ("interp", "compiled")
    ]
    assert runs[0].trace == runs[1].trace
    assert runs[0].stats == runs[1].stats
    assert (runs[1].commits, runs[1].stalled) == (40 * n * (1 + think), False)


@pytest.mark.parametrize(
    "name, count", [("pipe4", 10_000), ("ring64", 4_000), ("forkjoin", 10_000)]
)
def test_critical_path(name, count):
    """In straight-line code it is pieced together from many blocks: as the interpreter has it."""
    model = lpn.load(HERE / "nets" / f"{name}.py")
    net = model.net()
    marking = model.workload(count, net)
    asked, made = (
        lpn.simulate(net, marking, engine=engine, path=0).path for engine in ("interp", "compiled")
    )
    assert made["rows"] == asked["rows"]
    assert sum(row["cycles"] for row in made["rows"]) == made["latency"] == asked["latency"]
