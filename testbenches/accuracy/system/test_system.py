"""The JPEG decoder in a whole system against durations of a full-system simulator.

The images are those of dslab-epfl/SimBricks-LPN, experiments/jpeg_data, commit 276f647; they are not
in this repository: LPN_SYSTEM_IMAGES is the folder that has them.
"""

import csv
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tomllib

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from _command import BUILD, REPO  # noqa: E402
from _truth import TRUTH, need  # noqa: E402

JPEG = TRUTH / "system" / "jpeg.csv"


@pytest.fixture(scope="module")
def images():
    folder = os.environ.get("LPN_SYSTEM_IMAGES")
    if not folder:
        pytest.skip("no images: set LPN_SYSTEM_IMAGES to experiments/jpeg_data of SimBricks-LPN")
    with open(need(JPEG), newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            data = (pathlib.Path(folder) / f"{row['image']}.jpg").read_bytes()
            assert hashlib.sha256(data).hexdigest() == row["sha256"]
    return folder


LPN = REPO / "models" / "system" / "demo" / "jpeg_lpn.toml"


def validated(images, *more, model="system"):
    command = [BUILD / "bin" / "lpn", "validate", model, "--truth", JPEG, "--inputs", images]
    command += ["--json", *more]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def ratios(found):
    return [row["truth"] / row["predicted"] for row in found["rows"]]


def in_ticks(found):
    """The reasons of the rows that were measured in ticks."""
    reasons = [row["reason"] for row in found["not_covered"]]
    return [reason for reason in reasons if reason.startswith("measured in ticks")]


def test_durations_by_the_cycle_counter(images):
    found = validated(images)
    assert found["compared"] == 11
    assert found["mean_error"] < 0.0017 and found["worst_error"] < 0.0031


def test_durations_by_the_cycle_counter_as_it_counts(images):
    """All are alike too short: what is left beside one ratio of clocks is small (README.md)."""
    found = validated(images, "-p", "guest_clock_ppm=0")
    assert found["compared"] == 11
    assert found["mean_error"] < 0.0185 and found["worst_error"] < 0.021
    assert max(ratios(found)) / min(ratios(found)) < 1.005


def test_durations_by_the_timer_are_met_within_its_tick(images):
    """Whatever the cycle counter does."""
    found = in_ticks(validated(images))
    assert len(found) == 13 and found == in_ticks(validated(images, "-p", "guest_clock_ppm=0"))
    assert all(reason.endswith(", within a tick") for reason in found)


def test_the_calibration_is_of_the_other_device(images):
    """Its durations by the cycle counter are one number times the net's, which jpeg.toml says; those by
    the timer are the net's."""
    found = validated(images, model=LPN)
    assert found["compared"] == 11
    measured = ratios(found)
    assert max(measured) / min(measured) < 1.0035
    ppm = (sum(measured) / len(measured) - 1) * 1e6
    with open(LPN.parent / "jpeg.toml", "rb") as file:
        assert tomllib.load(file)["host"]["guest_clock_ppm"] == pytest.approx(ppm, abs=5)
    assert len(in_ticks(found)) == 13
    assert all(reason.endswith(", within a tick") for reason in in_ticks(found))
