"""M/M/1 and M/D/1 queues: intervals of lpn latency have the formulas' values (report.py: all seeds)."""

import os

import formulas
import pytest
import report

SEEDS = 100 if os.environ.get("LPN_SLOW") else 3


def test_the_formulas():
    # Tables: P(W <= 1) of M/D/1 at 0.5 is 0.5 e^0.5; mean by Pollaczek-Khinchin.
    assert round(formulas.md1_within(0.5, 1.0), 9) == 0.824360635
    assert abs(formulas.md1_quantile(0.5, 0.99) - 3.336256) < 1e-5
    assert abs(formulas.mm1_quantile(0.8, 0.99) - 21.910133) < 1e-5
    step, total = 0.01, 0.0
    for k in range(2000):  # the mean is the integral of P(W > t)
        total += step * (1 - formulas.md1_within(0.6, (k + 0.5) * step))
    assert abs(total - formulas.md1_mean(0.6)) < 1e-4


@pytest.mark.parametrize("queue", formulas.QUEUES)
@pytest.mark.parametrize("load", [0.3, 0.7] if SEEDS < 100 else report.LOADS)
def test_waiting_times(queue, load):
    rows = [report.hits((queue, load, seed, 4000)) for seed in range(1, SEEDS + 1)]
    for name in ("mean", "p99"):
        inside = sum(row[name][0] for row in rows)
        assert inside >= (93 if SEEDS == 100 else SEEDS), f"{name}: {inside} of {SEEDS}"
        assert all(abs(row[name][1]) < 0.5 for row in rows)
