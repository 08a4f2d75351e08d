"""The controller against the simulator's traces, request by request."""

import pytest
from conftest import SLOW, lines

lpn = pytest.importorskip("lpn")

from lpn.runs import prepare  # noqa: E402
from models.dram.trace import Trace, controllers  # noqa: E402

MODEL = lpn.load("dram")
PREFIX = 500  # requests, of which those count that are done before the next one is accepted


def test_every_request_is_exact(truth):
    rows = lines("controller.jsonl.xz")
    assert len(rows) == 70 and {row["part"] for row in rows} <= set(controllers())
    for row in rows if SLOW else rows[::9]:
        n = len(row["block"]) if SLOW else PREFIX
        writes = [w == "1" for w in row["write"][:n]]
        trace = Trace(row["name"], row["part"], row["arrive"][:n], row["block"][:n], writes)
        run, accept, done = trace.times(prepare(MODEL, trace))
        end = row["accept"][n] if n < len(row["accept"]) else max(row["done"])
        early = [k for k in range(n) if row["done"][k] <= end]
        assert len(early) > n // 2
        assert accept == row["accept"][:n], row["name"]
        assert [done[k] for k in early] == [row["done"][k] for k in early], row["name"]
        assert run.ending == "done"
