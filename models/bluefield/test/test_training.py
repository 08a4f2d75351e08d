"""Training: the choice between profiles, intervals of those that disagree, patterns."""

import math
import random

import pytest
from lpn import Error
from models.bluefield.predictor import function_predictor, training
from rows import LAW, memory_rows, profile, regex_times, row_of


def test_cross_validation_prefers_the_profile_that_fits_its_own_rows():
    good = profile(memory_rows(60, noise=0.005, flows=16384.0), "good.csv")
    noisy = profile(memory_rows(60, seed=1, noise=0.08, flows=16384.0), "noisy.csv")
    found = training.candidates([noisy, good], [16384])
    assert [p.name for p in found[0].profiles] == ["good.csv"]
    assert [c.error for c in found] == sorted(c.error for c in found) and len(found) == 6


def test_copies_of_a_row_are_held_out_together():
    draw = random.Random(5)
    rows = memory_rows(20)
    for row in rows:
        row["throughput_kpps"] = draw.uniform(500, 1000)  # nothing to learn but by heart
    once = training.candidates([profile(rows)], [16384], kinds=("boosting",))[0].error
    thrice = training.candidates(
        [profile([dict(row) for row in rows for _ in range(3)])], [16384], kinds=("boosting",)
    )[0].error
    assert thrice > once / 2


def test_disagreeing_profiles_widen_the_interval():
    slow, fast = memory_rows(60, flows=16384.0), memory_rows(60, seed=1, flows=16384.0)
    for row in fast:
        row["throughput_kpps"] *= 1.2
    alone, _ = training.train([profile(slow)])
    both, _ = training.train([profile(slow, "slow.csv"), profile(fast, "fast.csv")])
    asked = memory_rows(1, seed=2, flows=16384.0)[0]
    ((name, apart),) = both.memory.others
    assert abs(abs(apart[len(apart) // 2]) - math.log(1.2)) < 0.03
    one, two = alone.answer(asked), both.answer(asked)
    assert two.high / two.low > 1.15 * one.high / one.low


@pytest.mark.parametrize("pattern", function_predictor.PATTERNS)
def test_the_pattern_is_found_without_source(pattern):
    engine = [0.15, 0.002]
    solo_m = 600.0
    inside = engine[0] + engine[1] * solo_m if pattern == "run-to-completion" else 0.0
    draw = random.Random(2)

    def measured(row, rivals, m):
        memory, regex = LAW.time(row), engine[0] + engine[1] * m + rivals
        return 1e3 / (memory + regex if inside else max(memory, regex)) * draw.gauss(1, 0.01)

    alone = memory_rows(60, seed=5)
    for row in alone:
        row["mtbr_matches_per_MB"] = solo_m
        row["throughput_kpps"] = 1e3 / (LAW.time(row) + inside)
    both = memory_rows(30, seed=6)
    for row in both:
        m, rivals = draw.uniform(200, 900), draw.uniform(0.0, 2.0)
        row["throughput_kpps"] = measured(row, rivals, m)
        row |= {"mtbr_matches_per_MB": m, "comp_regex_sum_nt_ms": rivals / 1e3}
    given = [profile(alone), regex_times(), profile(both, "both.csv", "contention")]
    found, _ = training.train(given, pattern="detect")
    assert found.pattern == pattern
    (other,) = set(function_predictor.PATTERNS) - {pattern}
    assert found.pattern_errors[pattern] < 5
    # A pipeline's profile may be faster than its engine, which no run-to-completion function's is.
    assert found.pattern_errors[other] is None or found.pattern_errors[other] > 10


def test_detecting_needs_rows_with_all_contended():
    with pytest.raises(Error, match="write --pattern pipeline"):
        training.train([profile(memory_rows(20)), regex_times()], pattern="detect")


def test_too_little_to_train_from():
    with pytest.raises(Error, match="at least 5"):
        training.train([profile(memory_rows(4))])
    with pytest.raises(Error, match="nothing to train from"):
        training.train([profile([row_of()], "both.csv", "contention")])
    with pytest.raises(Error, match="2 or more different traffics"):
        training.train([regex_times(at=(300.0, 300.0))])


def test_only_profiles_that_cover_the_traffic_are_chosen():
    one = profile(memory_rows(60, noise=0.002, flows=16384.0), "one.csv")
    many = profile(memory_rows(60, seed=1, noise=0.05), "many.csv")
    assert training.train([one, many])[0].memory.chosen.endswith("on one.csv")
    for flows in ((200,), (16384, 200), (80_000,)):
        found, candidates = training.train([one, many], flows=flows)
        assert "many.csv" in found.memory.chosen
        assert candidates[-1].unknown and not candidates[0].unknown
        assert [c.covers for c in candidates] == sorted(
            (c.covers for c in candidates), reverse=True
        )


def test_traffic_that_no_profile_covers():
    one = profile(memory_rows(60, flows=16384.0), "one.csv")
    with pytest.raises(Error, match=r"\(200\): one.csv was measured at flow_count 16384 only"):
        training.train([one], flows=[200])
    found, _ = training.train([one])
    row = memory_rows(1, seed=2, flows=16384.0)[0]
    found.answer(row)
    found.answer({**row, "flow_count": 18_000.0})
    with pytest.raises(Error, match="what flow_count 200 changes is not known.*--flows 200"):
        found.answer({**row, "flow_count": 200.0})
    # Where it varies, the answer beyond is wider, and says so.
    many, candidates = training.train([profile(memory_rows(60), "many.csv")], flows=[10**7])
    assert candidates[0].beyond == 1 and not candidates[0].covers
    inside, beyond = (many.answer({**row, "flow_count": f}) for f in (16_384.0, 1e7))
    assert beyond.high / beyond.low > 1.2 * inside.high / inside.low
    assert "flow_count" in [one["input"] for one in beyond.outside]


def test_stochastic_boosting_answers_as_its_estimator():
    rows = memory_rows(60)
    features = ("flow_count", "comp_wss_MB")
    model = training.fit_stochastic(rows, features)
    again = function_predictor.memory_model(model.data(), "model.json")
    assert [again.rate(row) for row in rows] == [model.rate(row) for row in rows]
    errors = [abs(model.rate(row) * 1e3 / row["throughput_kpps"] - 1) for row in rows]
    assert sum(errors) / len(errors) < 0.06
