"""Functions of our own beside each other: the program says what it did, the recorded rows are predicted."""

import os
import statistics

import corun
import pytest

from models.bluefield.benches.bench import FUNCTIONS, Bench, Config


@pytest.fixture(scope="module")
def bench():
    try:
        return Bench(seconds=0.1, repeats=1)
    except RuntimeError as wrong:
        pytest.skip(str(wrong))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_run_alone_and_beside_another(bench, function):
    config = Config(function, flows=1000, wss_KB=256)
    alone = bench.rate(config)
    assert alone > 0 and bench.rate(config, Config("memory")) > 0


def test_what_a_function_did_is_what_was_asked(bench):
    """Patterns are found as often as they were put in; an access of the memory benchmark is a line."""
    run = bench._run(Config("regex", bytes=1500, matches=600))
    assert run["found"] / (run["packets"] * 1500e-6) == pytest.approx(600, rel=0.25)
    assert bench._run(Config("regex", matches=0))["found"] == 0
    run = bench._run(Config("memory", wss_KB=512))
    assert run["lines"] == run["packets"]
    run = bench._run(Config("deflate"))
    assert 0 < run["found"] < 0.9 * 1024 * run["packets"]


@pytest.mark.skipif(not os.environ.get("LPN_SLOW"), reason="what a kernel counts is its own affair")
def test_a_working_set_is_measured(bench):
    """Packets are 2 MB; the memory benchmark's lines come on top, as far as they are touched."""
    if os.geteuid() != 0:
        pytest.skip("clear_refs of another process needs root here")
    small = bench.pressure(Config("parse", bytes=1024)).wss_MB
    large = bench.pressure(Config("memory", bytes=64, wss_KB=8192)).wss_MB
    assert 2 <= small < 3 and 7 < large < 9


@pytest.mark.parametrize(
    "config",
    [
        Config("parse", bytes=63),
        Config("flows", flows=0),
        Config("bridge"),
        Config("memory", wss_KB=0),
    ],
)
def test_what_cannot_be_run_is_an_error(bench, config):
    with pytest.raises(RuntimeError, match="failed: nf: "):
        bench.rate(config)


def test_recorded_co_runs():
    """Recorded beside other work: what is asserted is what such a record allows."""
    about, rows = corun.read()
    found = corun.predicted(rows)
    assert about and len(found["predictor"]) >= 60
    errors = {method: corun.mape(triples) for method, triples in found.items()}
    print(about, errors)
    solos = {}
    for row in rows:
        solos.setdefault(row["function"], []).append(row["solo_kpps"])
    spread = max(statistics.stdev(r) / statistics.fmean(r) for r in solos.values())
    # No better than its measurements, and no worse than three times their deviation.
    assert errors["predictor"] <= 300 * spread
    assert errors["predictor"] <= 1.2 * errors["linear"]
