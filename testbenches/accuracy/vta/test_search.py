"""Trials of lpn.tune until a schedule within 2 % of the best of all, guided and at random.

    pytest -s testbenches/accuracy/vta/test_search.py
"""

import json
import statistics

import pytest

lpn = pytest.importorskip("lpn")
pytest.importorskip("sklearn")

from models.vta.convolution import Conv, matmul  # noqa: E402
from models.vta.tuner import Tuner  # noqa: E402

SHAPES = (
    Conv(7, 7, 64, 64, 3, 1, 1),
    Conv(14, 14, 64, 32, 1, 2),
    Conv(8, 8, 32, 64, 3, 2, 1),
    matmul(32, 128, 64),
    Conv(12, 12, 16, 48, 3, 1, 1),
    Conv(14, 14, 32, 32, 3, 1, 1),
)
NEAR, TRIALS = 1.02, 500
GUIDED_SEEDS, RANDOM_SEEDS, GUIDED_TRIALS = 5, 15, 40


def test_guided_search_needs_at_most_half_of_the_trials():
    better = []
    for conv in SHAPES:
        tuner = Tuner(conv)
        every = tuner.search(strategy="exhaustive", batch=64)
        clocks = {json.dumps(trial.candidate): trial.cost for trial in every.trials}
        best = every.best.cost

        def trials_to_near(strategy, seed, trials):
            found = lpn.tune(
                tuner.space,
                lambda batch: [clocks[json.dumps(one)] for one in batch],
                strategy=strategy,
                seed=seed,
                trials=trials,
                features=tuner.features,
                prior=tuner.estimate,
            )
            near = [t.number for t in found.trials if t.cost <= NEAR * best]
            return near[0] if near else len(tuner.space)

        guided = [trials_to_near("guided", seed, GUIDED_TRIALS) for seed in range(GUIDED_SEEDS)]
        chance = [trials_to_near("random", seed, TRIALS) for seed in range(RANDOM_SEEDS)]
        medians = statistics.median(guided), statistics.median(chance)
        print(
            f"{conv}: {len(tuner.space)} schedules, best {best}; guided {medians[0]} {guided}, "
            f"random {medians[1]} {chance}"
        )
        assert max(guided) <= TRIALS
        better.append(2 * medians[0] <= medians[1])
    assert sum(better) >= 5, better
