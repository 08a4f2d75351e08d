"""Memory models: trees as scikit-learn's, and a white box that finds the law which made the rows."""

import pytest
from models.bluefield.predictor import training
from models.bluefield.predictor.memory import WhiteBox
from rows import COLUMNS, LAW, memory_rows


def test_trees_answer_as_scikit_learn_does():
    rows = memory_rows(120, seed=3)
    estimator, boosted = training.fit_boosting(rows, COLUMNS)
    asked = memory_rows(300, seed=4)
    # Thresholds themselves: single precision decides on which side they are.
    for k, tree in enumerate(boosted.trees[:60]):
        feature, threshold = tree[0][:2]
        asked[k][COLUMNS[feature]] = threshold
    theirs = estimator.predict([[row[name] for name in COLUMNS] for row in asked])
    for row, expected in zip(asked, theirs):
        assert boosted.rate(row) == pytest.approx(float(expected), rel=1e-12)


def test_the_white_box_finds_the_law_that_made_the_rows():
    fitted = training.fit_white_box(memory_rows(200, noise=0.0))
    for row in memory_rows(100, seed=9, noise=0.0):
        assert fitted.rate(row) == pytest.approx(LAW.rate(row), rel=0.02)
    assert min(fitted.f, fitted.w, fitted.wc, fitted.wf) >= 0


def test_contention_never_helps_in_the_white_box():
    rows = memory_rows(60, law=WhiteBox(1.0, 0, 0, 0, 0, 6, 1), noise=0.03)
    fitted = training.fit_white_box(rows)
    assert min(fitted.f, fitted.w, fitted.wc, fitted.wf) >= 0
    assert fitted.t0 == pytest.approx(1.0, rel=0.03)
