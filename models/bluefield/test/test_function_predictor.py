"""A trained predictor: composition, intervals, what lies outside, and its file."""

import json
import subprocess
import sys

import pytest
from lpn import Error
from models.bluefield.predictor import function_predictor, training
from models.bluefield.predictor.memory import Boosted, Stochastic, WhiteBox
from rows import LAW, memory_rows, profile, row_of, write


def test_the_engine_has_a_ceiling(trained):
    time, _ = trained.engines["regex"].time({"mtbr_matches_per_MB": 0.0})
    assert time == function_predictor.FLOOR["regex"]


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
    pipe, rtc = function_predictor.PATTERNS
    assert trained.answer(row, pattern=f"{pipe},{rtc}").rate == pytest.approx(min(memory, regex))
    assert trained.answer(row, pattern=f"{rtc},{rtc}").rate == trained.answer(row, pattern=rtc).rate
    with pytest.raises(Error, match="3 patterns for 2 stages: memory, regex"):
        trained.answer(row, pattern=f"{pipe},{rtc},{pipe}")


def test_engines_a_core_waits_for_are_in_its_memory_profile():
    """Stages memory, regex, compression: the core waits for those next to it in the closed loop."""
    lines = {
        name: function_predictor.Engine(name, [column], [time, 0.0], [[0, 0], [0, 0]])
        for name, column, time in (
            ("regex", "mtbr_matches_per_MB", 0.5),
            ("compression", "pkt_size_B", 0.7),
        )
    }
    pipe, rtc = function_predictor.PATTERNS
    memory = function_predictor.Memory(LAW, {}, [0.01], {}, [], "x", 0.4, matches=600.0)
    toy = function_predictor.Predictor("toy", pipe, memory, lines, [])
    for stages, inside in (
        ((rtc, rtc, rtc), 1.2),
        ((rtc, pipe, rtc), 0.7),
        ((rtc, rtc, pipe), 0.5),
        ((rtc, pipe, pipe), 0.0),
        ((pipe, rtc, rtc), 0.0),
    ):
        assert toy.engine_time_of_profile(",".join(stages)) == pytest.approx(inside)


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
    """Conformal intervals on functions drawn anew: memory alone, in range, so that only chance is
    left.
    """
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
    assert function_predictor.quantile([0.1, 0.2, 0.3], 0.5) == 0.2
    assert function_predictor.quantile(list(range(1, 20)), 0.9) == 18
    assert function_predictor.quantile([0.1], 0.99) == 0.1


def test_a_predictor_survives_its_file(trained, tmp_path):
    file = str(tmp_path / "toy.json")
    trained.save(file)
    again = function_predictor.load(file)
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
            "no number of JSON",
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
        function_predictor.load(str(file))
    assert error.value.code == "E-predictor" and "damaged.json" in str(error.value)


def test_trees_whose_rate_is_no_number_are_refused(tmp_path):
    """exp() of their sum was an OverflowError of the command."""
    trees = Stochastic(("comp_ipc",), 0.5, 0.1, [[[0, 1.0, 1, 2], [0.1], [1e20]]])
    memory = function_predictor.Memory(trees, {}, [0.1], {}, [], "x", 0.5)
    file = str(tmp_path / "large.json")
    function_predictor.Predictor("f", "pipeline", memory, {}, []).save(file)
    with pytest.raises(Error, match=r"leaves that add up to 1e\+20") as error:
        function_predictor.load(file)
    assert error.value.code == "E-predictor"


@pytest.mark.parametrize(
    "node", [[0, 1.0, 0, 1], [0.5, 1.0, 1, 1], [0, 1.0, 1, 1.0], [True, 1.0, 1, 1]]
)
def test_trees_that_cannot_be_walked_are_refused(tmp_path, node):
    boosted = Boosted(("comp_ipc", "comp_wss_MB"), 0.5, 0.1, [[node, [0.1]]])
    model = function_predictor.Predictor(
        "f", "pipeline", function_predictor.Memory(boosted, {}, [0.1], {}, [], "x", 0.5), {}, []
    )
    file = str(tmp_path / "loop.json")
    model.save(file)
    with pytest.raises(Error, match="node"):
        function_predictor.load(file)
