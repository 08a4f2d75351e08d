"""Periods and buffer fronts of dataflow graphs against ../shared/truth/csdf, exactly.

Of its public graphs those are read that lie there; for others LPN_GRAPHS names a folder of GRAPH.xml.
"""

import csv
import os
from fractions import Fraction
from pathlib import Path

import pytest

import sys

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from _truth import TRUTH, need  # noqa: E402

from lpn.interfaces.sdf3 import read_sdf3  # noqa: E402

CSDF = TRUTH / "csdf"


def rows(name):
    with open(need(CSDF / name), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def find(graph):
    """The file of a graph, or None."""
    given = os.environ.get("LPN_GRAPHS")
    folders = [CSDF / "own", CSDF / "graphs_gpl3", *([Path(given)] if given else [])]
    return next((f / f"{graph}.xml" for f in folders if (f / f"{graph}.xml").exists()), None)


@pytest.mark.parametrize("table, least", [("own.csv", 60), ("graphs.csv", 6)])
def test_periods(table, least):
    compared = 0
    for row in rows(table):
        path = find(row["graph"])
        if path is None:
            continue
        graph = read_sdf3(str(path))
        phases = {actor.name: len(actor.times.recurring) for actor in graph.actors}
        firings = sum(count * phases[name] for name, count in graph.repetitions().items())
        assert firings == int(row["firings_per_iteration"]), row["graph"]
        truth = Fraction(int(row["period_num"]), int(row["period_den"]))
        assert graph.pace().period == truth, row["graph"]
        compared += 1
    assert compared >= least


def test_buffer_fronts():
    truth = {}
    for row in rows("pareto.csv"):
        points = truth.setdefault(row["graph"], set())
        points.add((int(row["total_size"]), Fraction(row["period"])))
    compared = 0
    for name, points in truth.items():
        path = find(name)
        if path is None:
            continue
        front = read_sdf3(str(path)).buffer_front()
        assert front.complete
        assert {(point.total, point.period) for point in front.points} == points, name
        assert all(sum(point.capacities) == point.total for point in front.points)
        compared += 1
    assert compared >= 2
