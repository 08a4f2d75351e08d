"""Traffic: FlowMonitor over flow counts from 200 to 16 million, each predicted from rows of others."""

import statistics
from dataclasses import replace

import pytest
from flowmon import TRAIN, needs_profile

from models.bluefield.predictor import prediction_errors, profile_table, training

pytestmark = needs_profile
PARTS = 5


@pytest.fixture(scope="module")
def profiles():
    return [profile_table.read(file) for file in TRAIN]


def test_error_over_flow_counts(profiles):
    """All three files offered, of which one has a single flow count, and of the one that varies it a
    fifth held out at a time."""
    fixed, varied, regex = profiles
    errors, yala, held = [], [], 0
    for part in range(PARTS):
        kept = [row for k, row in enumerate(varied.rows) if k % PARTS != part]
        out = [{**row, "mtbr_matches_per_MB": 0.0} for row in varied.rows[part::PARTS]]
        found = prediction_errors.evaluate(
            [fixed, replace(varied, rows=kept, lines=list(range(len(kept)))), regex],
            replace(varied, rows=out, lines=list(range(len(out)))),
        )
        assert varied.name in found["chosen"]["memory"]
        errors.append(found["mape"])
        yala += [b["mape"] for b in found["baselines"] if b["name"].startswith("Yala")]
        held += sum(
            p["low_kpps"] <= p["measured_kpps"] <= p["high_kpps"] for p in found["predictions"]
        )
    print(
        f"\nover flow counts {statistics.fmean(errors):.2f} %, Yala {statistics.fmean(yala):.2f} %"
    )
    assert statistics.fmean(errors) <= 4.7
    assert statistics.fmean(errors) < statistics.fmean(yala)
    assert held >= 0.8 * len(varied.rows)


@pytest.mark.parametrize("flows", [200, 3000, 100_000, 4_000_000])
def test_a_profile_of_one_flow_count_is_not_chosen_for_others(profiles, flows):
    chosen = training.train(profiles, flows=[flows], kinds=("white-box",))[0].memory.chosen
    assert profiles[1].name in chosen
