"""The controller against the simulator's traces, request by request."""

import pytest
from conftest import SLOW, lines

lpn = pytest.importorskip("lpn")

from lpn.runs import prepare  # noqa: E402
from models.dram.trace import Requests, Trace, controllers, mean_latency  # noqa: E402

MODEL = lpn.load("dram")
# While writes drain, several banks get room, and the net does not take the oldest request first.
OUT_OF_AGE = {
    "ddr4-copy-0.6",
    "ddr4-copy-max",
    "ddr4close-mixed-max",
    "ddr4close-copy-0.3",
    "ddr4close-copy-0.6",
    "ddr4close-copy-0.9",
    "ddr4close-copy-max",
    "lpddr4-mixed-max",
}
PREFIX = 500  # requests, of which those count that are done before the next one is accepted


def test_every_request_is_exact(truth):
    rows = [
        row
        for row in lines("controller.jsonl.xz")
        if row["part"] in controllers() and row["pattern"] != "hot"
    ]
    assert len(rows) == 41
    for row in rows if SLOW else rows[::9]:
        n = len(row["block"]) if SLOW else PREFIX
        writes = [w == "1" for w in row["write"][:n]]
        trace = Trace(row["name"], row["part"], row["arrive"][:n], row["block"][:n], writes)
        run, accept, done = trace.times(prepare(MODEL, trace))
        if row["name"] in OUT_OF_AGE:
            if SLOW:
                about = Requests(trace, row["accept"], row["done"])
                assert about.mean == pytest.approx(mean_latency(accept, done), rel=0.02)
                assert max(done) == pytest.approx(max(row["done"]), rel=0.01)
            continue
        end = row["accept"][n] if n < len(row["accept"]) else max(row["done"])
        early = [k for k in range(n) if row["done"][k] <= end]
        assert len(early) > n // 2
        assert accept == row["accept"][:n], row["name"]
        assert [done[k] for k in early] == [row["done"][k] for k in early], row["name"]
        assert run.ending == "done"
