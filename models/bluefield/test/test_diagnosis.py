"""What holds a function back by rows, where that shifts, and how far off a prediction is."""

import pytest
from models.bluefield.predictor import diagnosis, prediction_errors
from rows import row_of


def test_the_lowest_bound_is_the_bottleneck(trained):
    light, heavy = {**row_of(m=0.0, rivals=0.0)}, row_of(m=1000.0, rivals=3.0)
    for row in (light, heavy):
        row.pop("throughput_kpps")
    found = diagnosis.diagnose(trained, [light, heavy])
    assert [d.bottleneck for d in found] == ["memory", "regex"]
    assert found[1].certain and found[1].measured is None


def test_crossings_are_where_the_name_changes():
    ((at, before, after),) = diagnosis.crossings(lambda x: "b" if x >= 3 else "a", 0, 10)
    assert (before, after) == ("a", "b") and at == pytest.approx(3, abs=1e-4)


def test_scores():
    scores = prediction_errors.scores([1.0, 1.04, 1.2], [1.0, 1.0, 1.0])
    assert scores["within_5"] == pytest.approx(200 / 3) and scores["worst"] == pytest.approx(20)
