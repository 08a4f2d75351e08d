"""Every measured instant of the RTL's runs, met to the clock: handshakes, beats, responses, statuses.

A sample of the runs; with LPN_SLOW=1 all of them.
"""

import os
from functools import cache

import pytest

lpn = pytest.importorskip("lpn")
runs = pytest.importorskip("lpn.runs")

SLOW = os.environ.get("LPN_SLOW")
# Every so-manieth run; the crossbar's nets take the most time to write down.
SAMPLE = {"axi_cdma": 3, "axi_dma_rd": 4, "axi_dma_wr": 4, "axi_fifo": 3, "axi_crossbar": 7}
HANGS = {"axi_cdma-060", "axi_cdma-080", "axi_cdma-087"}


@cache
def model():
    return lpn.load("dma")


def rows(truth, design):
    every = list(model().module.truth_rows(str(truth / f"{design}.jsonl.gz")))
    return every if SLOW else every[:: SAMPLE[design]]


@pytest.mark.parametrize("design", SAMPLE)
def test_every_instant_is_the_rtl_s(truth, design):
    chosen = rows(truth, design)
    assert len(chosen) >= 15
    for given, parameters, cycles, expected in chosen:
        ready = runs.prepare(model(), given, parameters, "interp")
        run, said = model().module.compare(ready, expected)
        name = str(given)
        assert said["times"] == said["times_exact"] > 0, name
        assert run.latency == cycles, name
        assert run.stalled == (not given["completed"]), name


def test_runs_in_which_the_rtl_hangs_stall_for_want_of_the_lost_word(truth):
    hung = {}
    for given, _, _, expected in model().module.truth_rows(str(truth / "axi_cdma.jsonl.gz")):
        if not given["completed"]:
            ready = runs.prepare(model(), given, {}, "interp")
            hung[str(given)] = model().module.compare(ready, expected)
            run, said = hung[str(given)]
            assert run.stalled and said["times"] == said["times_exact"]
            assert ("cdma.engine.word", "no token", "in_") in run.blocked
            assert run.left["cdma.lost_word"] >= 1
    assert set(hung) == HANGS


def test_the_compiled_net_meets_them_too(truth):
    """One structure: the compiler's time is the test's."""
    given, _, cycles, expected = rows(truth, "axi_dma_rd")[0]
    ready = runs.prepare(model(), given, {}, "compiled")
    run, said = model().module.compare(ready, expected)
    assert (run.latency, said["times_exact"]) == (cycles, said["times"])
