"""Protoacc as HyperProtoBench drives it, against durations of a full-system simulator."""

import csv
import json
import pathlib
import subprocess
import sys
import tomllib

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from _command import BUILD, REPO  # noqa: E402
from _truth import TRUTH, need  # noqa: E402

FILE = REPO / "models" / "system" / "demo" / "protoacc.toml"
MESSAGES = TRUTH / "protoacc" / "hyperprotobench_processed"
ROWS = TRUTH / "system" / "protoacc.csv"


def answer(*command):
    done = subprocess.run(
        [BUILD / "bin" / "lpn", *command, "--json"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def found():
    need(MESSAGES)
    return answer("validate", FILE, "--truth", need(ROWS), "--inputs", MESSAGES)


def errors(found, bench):
    rows = [row for row in found["rows"] if row["input"].startswith(bench)]
    return [row["predicted"] / row["truth"] - 1 for row in rows]


def test_bench1(found):
    assert len(errors(found, "bench1")) == 3
    assert max(map(abs, errors(found, "bench1"))) < 0.0011


def test_bench3_of_which_nothing_is_calibrated(found):
    # The first of them, run 1, took 0.2 ms more than the others, with either device.
    assert sorted(errors(found, "bench3")) == pytest.approx([-0.0614, -0.0001, 0.0], abs=2e-4)


def test_bench5_of_which_nothing_is_calibrated_and_which_the_dram_binds(found):
    assert errors(found, "bench5") == pytest.approx([-0.1024], abs=1e-3)


def test_the_mean_of_all_rows_is_what_was_asked(found):
    every = [abs(e) for bench in ("bench1", "bench3", "bench5") for e in errors(found, bench)]
    assert len(every) == 7 and sum(every) / 7 < 0.04


def test_the_calibration_is_of_the_other_device():
    """Of its bench1 alone: the mean of the warm runs, less the system without the processor's work."""
    with open(need(ROWS), newline="", encoding="utf-8") as file:
        rows = [
            r for r in csv.DictReader(file) if (r["bench"], r["accelerator"]) == ("bench1", "lpn")
        ]
    warm = [int(r["ns_per_iteration"]) for r in rows if r["run"] != "0"]
    cold = ("-p", "setup_ns=0", "-p", "earlier=1")
    rest = answer("sim", FILE, need(MESSAGES) / "bench1-ser.json.gz", *cold)
    rest = rest["runs"][0]["answer"]["ns"]
    with open(FILE, "rb") as file:
        assert tomllib.load(file)["host"]["setup_ns"] == round(sum(warm) / len(warm) - rest)
