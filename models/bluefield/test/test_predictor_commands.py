"""The predictor's commands: what they print and write, their exit status, and what they refuse."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rows import memory_rows, row_of, write

LPN = [sys.executable, "-m", "lpn", "bluefield"]
ROOT = Path(__file__).resolve().parents[3]
SCENARIO = str(ROOT / "models/bluefield/scenarios/flowmonitor_regex_bench.json")


def lpn(*arguments, status=0):
    """What `lpn bluefield` prints on stdout and stderr."""
    done = subprocess.run([*LPN, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout, done.stderr


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """memory.csv, regex.csv, rows.csv (both contended, a pipeline) and the model of the first two."""
    folder = tmp_path_factory.mktemp("files")
    write(folder / "memory.csv", memory_rows(50))
    write(
        folder / "regex.csv",
        [
            {"mtbr_matches_per_MB": m, "regex_time_per_pkt_ms": (0.15 + 0.002 * m) / 1e3}
            for m in (300, 600)
        ],
    )
    rows = []
    for seed in range(12):
        row = row_of(m=200.0 + 60 * seed, rivals=0.3 * (seed % 4), seed=seed)
        row["throughput_kpps"] = min(
            row["throughput_kpps"],
            1e3 / (0.15 + 0.002 * row["mtbr_matches_per_MB"] + 1e3 * row["comp_regex_sum_nt_ms"]),
        )
        rows.append(row)
    write(folder / "rows.csv", rows)
    lpn("train", folder / "memory.csv", folder / "regex.csv", "-o", folder / "toy.json")
    return folder


@pytest.mark.parametrize(
    "order",
    [
        lambda f: ["--train", f / "memory.csv", f / "regex.csv", "--test", f / "rows.csv"],
        lambda f: ["--test", f / "rows.csv", "--train", f / "memory.csv", f / "regex.csv"],
        lambda f: [
            "--train",
            f / "memory.csv",
            "--train",
            f / "regex.csv",
            "--test",
            f / "rows.csv",
        ],
    ],
)
def test_evaluate(files, order):
    figures = json.loads(lpn("evaluate", *order(files), "--json")[0])
    assert {"rows", "mape", "within_5", "within_10", "baselines", "chosen", "candidates"} <= set(
        figures
    )
    assert figures["rows"] == 12 and figures["mape"] < 5 and figures["within_10"] > 80


def test_evaluate_prints_the_choice_before_the_figures(files):
    printed, notes = lpn(
        "evaluate",
        "--train",
        files / "memory.csv",
        files / "regex.csv",
        "--test",
        files / "rows.csv",
        "--rows",
    )
    assert (
        printed.index("chosen: ")
        < printed.index("this predictor")
        < printed.index("interval [kpps]")
    )
    assert "SLOMO" in printed and "intervals for 90 % hold" in printed
    assert "outside the range trained on: " in notes and "mtbr_matches_per_MB" in notes


def test_rows_that_were_trained_on_are_told(files):
    _, notes = lpn("evaluate", "--train", files / "memory.csv", "--test", files / "memory.csv")
    assert "50 of 50 rows stand in the training files too" in notes


@pytest.mark.parametrize("kind", ["boosting", "white-box"])
def test_the_memory_model_can_be_given(files, kind, tmp_path):
    told = json.loads(
        lpn("train", files / "memory.csv", "-o", tmp_path / "m.json", "--memory", kind, "--json")[0]
    )
    assert [candidate["model"] for candidate in told["candidates"]] == [kind]
    assert json.loads((tmp_path / "m.json").read_text())["memory"]["model"]["kind"] == kind


def test_train_detects_the_pattern(files, tmp_path):
    told = json.loads(
        lpn(
            "train",
            files / "memory.csv",
            files / "regex.csv",
            files / "rows.csv",
            "-o",
            tmp_path / "m.json",
            "--pattern",
            "detect",
            "--json",
        )[0]
    )
    assert told["pattern"] == "pipeline" and set(told["pattern_errors"]) == {
        "pipeline",
        "run-to-completion",
    }


def test_predict_rows(files):
    told = json.loads(
        lpn("predict", files / "rows.csv", "--model", files / "toy.json", "--json")[0]
    )
    assert len(told["rows"]) == 12
    for row in told["rows"]:
        assert row["low_kpps"] <= row["throughput_kpps"] <= row["high_kpps"]
        assert row["bottleneck"] in row["could_be"]


def test_predict_a_scenario():
    printed, notes = lpn("predict", SCENARIO, status=1)  # its promise will be broken
    assert "10 %: broken" in printed and "regex" in printed
    assert "mtbr_matches_per_MB 194.3 lies outside" in notes
    functions = json.loads(lpn("predict", SCENARIO, "--json", status=1)[0])["functions"]
    assert [f["name"] for f in functions] == ["FlowMonitor", "regex-bench"]
    assert functions[0]["promise_kept"] is False and functions[0]["outside"]


def test_predict_and_simulate_agree():
    predicted = json.loads(lpn("predict", SCENARIO, "--json", status=1)[0])["functions"]
    simulated = json.loads(lpn("simulate", SCENARIO, "--json", status=1)[0])["functions"]
    for p, s in zip(predicted, simulated):
        assert p["throughput_kpps"] == pytest.approx(s["throughput_kpps"], rel=0.005)
        assert p["alone_kpps"] == pytest.approx(s["alone_kpps"], rel=0.005)
        assert p["bottleneck"] == s["bottleneck"]["resource"]


def test_diagnose(files, tmp_path):
    told = json.loads(
        lpn("diagnose", files / "rows.csv", "--model", files / "toy.json", "--json")[0]
    )["rows"]
    assert all(row["evidence"] and row["bottleneck"] in row["could_be"] for row in told)
    picture = tmp_path / "shift.svg"
    swept = json.loads(
        lpn(
            "diagnose",
            files / "rows.csv",
            "--model",
            files / "toy.json",
            "--sweep",
            "mtbr_matches_per_MB=0..2000",
            "--line",
            2,
            "--plot",
            picture,
            "--json",
        )[0]
    )
    (shift,) = swept["shifts"]
    assert (shift["from"], shift["to"]) == ("memory", "regex") and picture.stat().st_size > 5000
    # The bounds cross there: t_memory = a m + b + rivals.
    memory = swept["sweep"][0]["bounds_kpps"]["memory"]
    assert shift["at"] == pytest.approx((1e3 / memory - 0.15) / 0.002, rel=1e-3)


def test_diagnose_a_scenario():
    printed, _ = lpn("diagnose", SCENARIO, "--sweep", "wss_MB=0..40", "--steps", 3)
    assert "the bottleneck is regex throughout" in printed
    printed, _ = lpn("diagnose", SCENARIO)
    assert "regex-bench" in printed


def test_measure_is_the_simulation():
    asked = {
        "mtbr_matches_per_MB": 194.3,
        "flow_count": 16384,
        "pkt_size_B": 1518,
        "comp_wss_MB": 6.0,
        "comp_l2d_rd_per_s": 5e7,
        "comp_l2d_wr_per_s": 3e7,
    }
    done = subprocess.run(
        [*LPN, "measure", SCENARIO],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
    )
    simulated = json.loads(lpn("simulate", SCENARIO, "--json", status=1)[0])["functions"][0]
    assert json.loads(done.stdout)["throughput_kpps"] == pytest.approx(
        simulated["throughput_kpps"], rel=1e-3
    )


@pytest.mark.parametrize(
    "arguments, told",
    [
        (["predict", "{f}/rows.csv"], "write one --model"),
        (["predict", "{f}/rows.csv", "--model", "{f}/rows.csv"], "is no JSON"),
        (["predict", SCENARIO, "--model", "{f}/toy.json"], "there is no function 'toy'"),
        (
            ["predict", SCENARIO, "--model", "FlowMonitor={f}/toy.json"],
            "needs the counters of 'regex-bench'",
        ),
        (["diagnose", SCENARIO, "--plot", "x.svg"], "--plot shows a sweep"),
        (["diagnose", SCENARIO, "--sweep", "wss_MB"], "write --sweep"),
        (["diagnose", SCENARIO, "--sweep", "wss_MB=9..1"], "must rise"),
        (["diagnose", SCENARIO, "--sweep", "colour=1..9"], "no input 'colour'"),
        (["diagnose", SCENARIO, "--function", "ghost"], "no function 'ghost'"),
        (
            ["diagnose", "{f}/rows.csv", "--model", "{f}/toy.json", "--sweep", "hue=1..2"],
            "no input 'hue'",
        ),
        (
            [
                "diagnose",
                "{f}/rows.csv",
                "--model",
                "{f}/toy.json",
                "--sweep",
                "flow_count=1..2",
                "--line",
                "99",
            ],
            "no row in line 99",
        ),
        (
            ["evaluate", "--train", "{f}/memory.csv", "--test", "{f}/rows.csv"],
            "no training file has the function's time",
        ),
        (
            ["evaluate", "--train", "{f}/memory.csv", "--test", "{f}/regex.csv"],
            "an evaluation takes rows",
        ),
        (["train", "{f}/missing.csv", "-o", "{f}/x.json"], "No such file"),
        (
            ["train", "{f}/memory.csv", "{f}/./memory.csv", "-o", "{f}/x.json"],
            "/./memory.csv is given twice; its rows count once",
        ),
        (
            ["evaluate", "--train", "{f}/memory.csv", "{f}/memory.csv", "--test", "{f}/rows.csv"],
            "memory.csv is given twice",
        ),
        (
            ["profile", "--measure", "true", "-o", "{f}/x.csv", "--attribute", "flows"],
            "write flow_count=1..16e6:16384",
        ),
        (["measure", SCENARIO, "--function", "ghost"], "no function 'ghost'"),
    ],
)
def test_refusals(files, arguments, told):
    filled = [argument.format(f=files) for argument in arguments]
    _, printed = lpn(*filled, status=2)
    assert told in printed and "[E-" in printed and "Traceback" not in printed


def test_ctrl_c_keeps_what_was_measured(tmp_path):
    output = tmp_path / "profile.csv"
    measured = tmp_path / "measured"
    running = subprocess.Popen(
        [
            *LPN,
            "profile",
            "--measure",
            f"echo >> {measured}; sleep 0.2; echo 5",
            "-o",
            str(output),
            "--json",
        ],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while running.poll() is None and not (measured.exists() and len(measured.read_text()) >= 3):
        time.sleep(0.02)
    os.killpg(running.pid, signal.SIGINT)
    told = json.loads(running.communicate(timeout=20)[0])
    assert running.returncode == 3 and told["stopped"] and told["measurements"] >= 1
    assert len(output.read_text().splitlines()) == told["measurements"] + 1


def test_evaluate_takes_profiles_of_three_counters(tmp_path):
    """What `profile` writes has three of the seven counters."""
    rows = [
        {
            "flow_count": float(flows),
            "comp_wss_MB": wss,
            "comp_l2d_rd_per_s": 2e7 * wss,
            "comp_l2d_wr_per_s": 1e7 * wss,
            "throughput_kpps": 1e3 / (0.5 + flows / 1e6 + wss / 40),
        }
        for flows in (1, 15_626, 31_250, 125_000)
        for wss in (0.0, 1.0, 5.0, 11.8)
    ]
    from rows import write

    file = write(tmp_path / "three.csv", rows)
    from models.bluefield.predictor import prediction_errors, profile_table

    read = profile_table.read(file)
    figures = prediction_errors.evaluate([read], read)
    names = [baseline["name"] for baseline in figures["baselines"]]
    assert [name.split(",")[0] for name in names] == [
        "linear regression",
        "SLOMO: boosting",
    ] and all("3 counters" in name for name in names)
