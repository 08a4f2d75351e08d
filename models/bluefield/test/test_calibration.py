"""An engine's time and queues of an unknown function, from rates against a benchmark."""

import random

import pytest
from lpn import Error
from models.bluefield.predictor import calibration, function_predictor, laws, profile_table
from rows import profile, write


@pytest.mark.parametrize("queues, time", [(1, 1.4), (2, 0.8), (4, 2.5)])
def test_an_unknown_function_from_co_runs(queues, time):
    points = [
        (bench, laws.shares([laws.Load(time, queues), laws.Load(bench)])[0])
        for bench in (1.0, 4.0, 9.0)
    ]
    found = calibration.co_run(points)
    assert found.queues == queues
    assert found.time == pytest.approx(time, rel=1e-6)
    assert 0 < found.time_sd < 0.1 * time + 0.2


def test_the_calibration_is_off_by_what_it_says():
    draw = random.Random(11)
    beyond = 0
    for _ in range(200):
        time, queues = draw.uniform(0.5, 3), draw.randint(1, 2)
        points = [
            (bench, draw.gauss(1, function_predictor.RATE_SD) * queues / (queues * time + bench))
            for bench in (time, 2 * time, 3 * time)
        ]
        found = calibration.co_run(points)
        beyond += abs(found.time - time) > 2 * found.time_sd or found.queues != queues
    assert 2 <= beyond <= 30  # 4.6 % of 200 are 9, with queues to guess a few more


def test_co_runs_without_contention_are_refused():
    with pytest.raises(Error, match="engine is not the bottleneck"):
        calibration.co_run([(1.0, 0.5), (2.0, 0.5), (3.0, 0.5)])
    with pytest.raises(Error, match="two values or more"):
        calibration.co_run([(1.0, 0.5), (1.0, 0.5)])
    with pytest.raises(Error, match="no whole number"):
        calibration.co_run([(bench, 1 / (1.0 + bench / 1.5)) for bench in (2.0, 8.0, 30.0)])


def test_co_runs_over_traffic_give_the_line(tmp_path):
    rows = [
        {
            "mtbr_matches_per_MB": m,
            "regex_bench_time_ms": bench / 1e3,
            "throughput_kpps": 1e3 * 2 / (2 * (0.002 * m + 0.3) + bench),
        }
        for m in (100, 400, 900)
        for bench in (2.0, 6.0)
    ]
    read = profile_table.read(write(tmp_path / "co_runs.csv", rows))
    assert (read.kind, read.engine) == ("co-runs", "regex")
    engine = calibration.engine("regex", [read])
    assert engine.queues == 2
    assert engine.coefficients == pytest.approx([0.3, 0.002])
    assert engine.ranges["mtbr_matches_per_MB"] == (100, 900)


def test_sizes_that_vary_make_matches_count_per_packet():
    rows = [
        {
            "mtbr_matches_per_MB": float(m),
            "pkt_size_B": float(size),
            "regex_time_per_pkt_ms": (0.2 + 1.4 * m * size * 1e-6 + 0.0001 * size) / 1e3,
        }
        for m in (200, 700)
        for size in (300, 1500)
    ]
    engine = calibration.engine("regex", [profile(rows, "regex.csv", "engine times", "regex")])
    assert engine.time({"mtbr_matches_per_MB": 500, "pkt_size_B": 1000})[0] == pytest.approx(
        0.2 + 0.7 + 0.1
    )
