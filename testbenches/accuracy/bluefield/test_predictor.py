"""The predictor's parts: trees as scikit-learn's, calibration, choice, intervals, files; no outside truth."""

import json
import math
import random
import subprocess
import sys

import pytest
from lpn import Error

from models.bluefield import calibration, laws, predictor, profiles, training
from models.bluefield.memory import Boosted, WhiteBox

LAW = WhiteBox(1.2, 0.00002, 0.02, 0.01, 0.0, 6.0, 20_000)
COLUMNS = ["flow_count", *profiles.COUNTERS]


def memory_rows(count, seed=0, law=LAW, noise=0.01, flows=None):
    """Rows of a function with a known memory law; counters that do not matter are noise of their own."""
    draw = random.Random(seed)
    rows = []
    for _ in range(count):
        row = {name: draw.uniform(1e8, 1e9) for name in profiles.COUNTERS}
        row |= {
            "comp_ipc": draw.uniform(0.4, 1.5),
            "comp_wss_MB": draw.uniform(0, 12),
            "comp_l2d_rd_per_s": draw.uniform(3e6, 2e8),
            "comp_l2d_wr_per_s": draw.uniform(1e6, 1e8),
            "flow_count": flows or float(round(10 ** draw.uniform(2, 5))),
        }
        row["throughput_kpps"] = 1e3 * law.rate(row) * math.exp(draw.gauss(0, noise))
        rows.append(row)
    return rows


def profile(rows, file="memory.csv", kind="memory", engine=None):
    return profiles.Profile(file, kind, rows, list(range(2, len(rows) + 2)), engine)


def regex_times(a=0.002, b=0.15, at=(300.0, 600.0)):
    return profile(
        [{"mtbr_matches_per_MB": m, "regex_time_per_pkt_ms": (a * m + b) / 1e3} for m in at],
        "regex.csv",
        "engine times",
        "regex",
    )


def write(path, rows):
    path.write_text(
        "\n".join([",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]) + "\n"
    )
    return str(path)


@pytest.fixture(scope="module")
def trained():
    return training.train([profile(memory_rows(80)), regex_times()], function="toy")[0]


# ---- Memory models -----------------------------------------------------------------------------------


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


# ---- Engines -----------------------------------------------------------------------------------------


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
            (bench, draw.gauss(1, predictor.RATE_SD) * queues / (queues * time + bench))
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
    read = profiles.read(write(tmp_path / "co_runs.csv", rows))
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


def test_the_engine_has_a_ceiling(trained):
    time, _ = trained.engines["regex"].time({"mtbr_matches_per_MB": 0.0})
    assert time == predictor.FLOOR["regex"]


# ---- Answers -----------------------------------------------------------------------------------------


def row_of(m=450.0, rivals=1.0, seed=21):
    inside = {"comp_l2d_rd_per_s": 1e8, "comp_l2d_wr_per_s": 5e7}
    return {
        **memory_rows(1, seed)[0],
        **inside,
        "mtbr_matches_per_MB": m,
        "comp_regex_sum_nt_ms": rivals / 1e3,
    }


def test_composition_by_pattern(trained):
    row = row_of()
    memory, regex = (bound.rate for bound in trained.bounds(row))
    assert regex == pytest.approx(1 / (0.15 + 0.002 * 450 + 1.0))
    assert trained.answer(row).rate == min(memory, regex)
    # Without the profile's own matches its rates are those of the stage alone: times add.
    assert trained.answer(row, pattern="run-to-completion").rate == pytest.approx(
        1 / (1 / memory + 1 / regex)
    )


def test_composition_by_stage(trained):
    row = row_of()
    memory, regex = (bound.rate for bound in trained.bounds(row))
    pipe, rtc = predictor.PATTERNS
    assert trained.answer(row, pattern=f"{pipe},{rtc}").rate == pytest.approx(min(memory, regex))
    assert trained.answer(row, pattern=f"{rtc},{rtc}").rate == trained.answer(row, pattern=rtc).rate
    with pytest.raises(Error, match="3 patterns for 2 stages: memory, regex"):
        trained.answer(row, pattern=f"{pipe},{rtc},{pipe}")


def test_engines_a_core_waits_for_are_in_its_memory_profile():
    """Stages memory, regex, compression: the core waits for those next to it in the closed loop."""
    lines = {
        name: predictor.Engine(name, [column], [time, 0.0], [[0, 0], [0, 0]])
        for name, column, time in (
            ("regex", "mtbr_matches_per_MB", 0.5),
            ("compression", "pkt_size_B", 0.7),
        )
    }
    pipe, rtc = predictor.PATTERNS
    memory = predictor.Memory(LAW, {}, [0.01], {}, [], "x", 0.4, matches=600.0)
    toy = predictor.Predictor("toy", pipe, memory, lines, [])
    for stages, inside in (
        ((rtc, rtc, rtc), 1.2),
        ((rtc, pipe, rtc), 0.7),
        ((rtc, rtc, pipe), 0.5),
        ((rtc, pipe, pipe), 0.0),
        ((pipe, rtc, rtc), 0.0),
    ):
        assert toy.engine_time_of_profile(",".join(stages)) == pytest.approx(inside)


@pytest.mark.parametrize("pattern", predictor.PATTERNS)
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
    (other,) = set(predictor.PATTERNS) - {pattern}
    assert found.pattern_errors[pattern] < 5
    # A pipeline's profile may be faster than its engine, which no run-to-completion function's is.
    assert found.pattern_errors[other] is None or found.pattern_errors[other] > 10


def test_detecting_needs_rows_with_all_contended():
    with pytest.raises(Error, match="write --pattern pipeline"):
        training.train([profile(memory_rows(20)), regex_times()], pattern="detect")


def test_inputs_outside_are_named(trained):
    assert trained.answer(row_of()).outside == []
    low, high = trained.memory.ranges["comp_wss_MB"]
    row = {**row_of(m=1000.0), "comp_wss_MB": 40.0}
    found = {one["input"]: one for one in trained.answer(row).outside}
    assert set(found) == {"comp_wss_MB", "mtbr_matches_per_MB"}
    assert found["comp_wss_MB"] == {"input": "comp_wss_MB", "value": 40.0, "low": low, "high": high}
    inside, outside = (trained.memory.bound(r, 0.9) for r in (row_of(), row))
    assert outside.high / outside.low >= inside.high / inside.low


def test_intervals_hold_what_they_promise():
    """Conformal intervals on functions drawn anew: memory alone, in range, so that only chance is left."""
    held = total = 0
    for seed in range(8):
        law = WhiteBox(1.0 + seed / 10, 1e-5 * seed, 0.02, 0.005, 0.0, 6.0, 30_000)
        rows = memory_rows(60, seed, law, noise=0.02)
        fitted, _ = training.train([profile(rows)], kinds=("white-box",))
        for row in memory_rows(60, 100 + seed, law, noise=0.02):
            answer = fitted.answer(row, level=0.9)
            if not answer.outside:
                held += answer.low <= row["throughput_kpps"] / 1e3 <= answer.high
                total += 1
    assert 0.84 <= held / total <= 0.97


def test_quantile_counts_itself():
    assert predictor.quantile([0.1, 0.2, 0.3], 0.5) == 0.2
    assert predictor.quantile(list(range(1, 20)), 0.9) == 18
    assert predictor.quantile([0.1], 0.99) == 0.1


# ---- Files -------------------------------------------------------------------------------------------


def test_a_predictor_survives_its_file(trained, tmp_path):
    file = str(tmp_path / "toy.json")
    trained.save(file)
    again = predictor.load(file)
    assert json.dumps(again.data()) == json.dumps(trained.data())
    for seed in range(20):
        assert again.answer(row_of(seed=seed)) == trained.answer(row_of(seed=seed))


def test_predicting_imports_no_library(trained, tmp_path):
    file = str(tmp_path / "toy.json")
    trained.save(file)
    rows = write(tmp_path / "rows.csv", [row_of(seed=seed) for seed in range(3)])
    program = (
        "import sys; from lpn.cli import main as cli\n"
        "try: cli.main(sys.argv[1:])\n"
        "except SystemExit: print(\n"
        "    [m for m in ('numpy', 'sklearn', 'scipy', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "bluefield", "predict", rows, "--model", file],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]" and "kpps" in done.stdout


@pytest.mark.parametrize(
    "change, told",
    [
        (lambda d: d.update(format="other"), "is no predictor"),
        (lambda d: d.update(version=7), "version 7"),
        (lambda d: d.update(pattern="magic"), "pattern 'magic'"),
        (lambda d: d["engines"]["regex"]["coefficients_us"].append(1.0), "engine 'regex'"),
        (
            lambda d: d["engines"]["regex"]["coefficients_us"].__setitem__(0, float("inf")),
            "numbers",
        ),
        (lambda d: d["memory"].pop("residuals"), "residuals"),
        (lambda d: d["memory"]["model"].update(kind="neural"), "kind 'neural'"),
        (lambda d: d["memory"].update(model={**LAW.data(), "w": -1.0}), "not negative"),
    ],
)
def test_damaged_predictors_are_refused(trained, tmp_path, change, told):
    data = json.loads(json.dumps(trained.data()))
    change(data)
    file = tmp_path / "damaged.json"
    file.write_text(json.dumps(data))
    with pytest.raises(Error, match=told) as error:
        predictor.load(str(file))
    assert error.value.code == "E-predictor" and "damaged.json" in str(error.value)


def test_trees_that_never_end_are_refused(tmp_path):
    boosted = Boosted(("comp_ipc",), 0.5, 0.1, [[[0, 1.0, 0, 1], [0.1]]])
    model = predictor.Predictor(
        "f", "pipeline", predictor.Memory(boosted, {}, [0.1], {}, [], "x", 0.5), {}, []
    )
    file = str(tmp_path / "loop.json")
    model.save(file)
    with pytest.raises(Error, match="node"):
        predictor.load(file)


MEMORY = "flow_count,comp_wss_MB,comp_l2d_rd_per_s,comp_l2d_wr_per_s,throughput_kpps\n"


@pytest.mark.parametrize(
    "text, told",
    [
        ("", ":1: no header"),
        ("a,b\n1,2\n", "no known kind of profile"),
        (MEMORY, "no rows below the header"),
        (MEMORY + "1,2,3,4\n", ":2: 4 cells"),
        (MEMORY + "1,2,3,4,0\n", "throughput_kpps is '0'; it must be a positive number"),
        (MEMORY + "1,2,nan,4,5\n", "comp_l2d_rd_per_s is 'nan'"),
        (MEMORY + "1,2,1_0,4,5\n", "comp_l2d_rd_per_s is '1_0'"),
        (MEMORY + "1,-2,3,4,5\n", "comp_wss_MB is '-2'"),
        ("comp_wss_MB,comp_wss_MB\n1,2\n", "there twice"),
        ("regex_time_per_pkt_ms\n1\n", "missing: mtbr_matches_per_MB"),
    ],
)
def test_what_is_no_profile_is_refused(tmp_path, text, told):
    file = tmp_path / "bad.csv"
    file.write_text(text)
    with pytest.raises(Error) as error:
        profiles.read(str(file))
    assert (
        error.value.code == "E-profile"
        and told in str(error.value)
        and "bad.csv" in str(error.value)
    )


def test_too_little_to_train_from():
    with pytest.raises(Error, match="at least 5"):
        training.train([profile(memory_rows(4))])
    with pytest.raises(Error, match="nothing to train from"):
        training.train([profile([row_of()], "both.csv", "contention")])
    with pytest.raises(Error, match="2 or more different traffics"):
        training.train([regex_times(at=(300.0, 300.0))])
