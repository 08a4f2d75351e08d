"""Where the recordings are, what their benches counted, and which map is whose."""

import gzip
import json
import sys
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import _truth  # noqa: E402
from _truth import BUILD, REPO  # noqa: E402, F401

TRUTH = _truth.TRUTH / "waves"
JPEG_TRUTH = _truth.TRUTH / "jpeg"

MAPS = {
    "core_jpeg": REPO / "models" / "jpeg" / "wave.toml",
    "hard_png": REPO / "docs" / "tutorial" / "maps" / "hard_png.toml",
    "axi_cdma": REPO / "docs" / "tutorial" / "maps" / "axi_cdma.toml",
    "axi_crossbar": REPO / "docs" / "tutorial" / "maps" / "axi_crossbar.toml",
}


@cache
def runs():
    """Run -> what stands in runs.jsonl, of those whose recording is there."""
    if not (TRUTH / "runs.jsonl").exists():
        return {}
    rows = map(json.loads, (TRUTH / "runs.jsonl").read_text().splitlines())
    return {row["run"]: row for row in rows if (TRUTH / f"{row['run']}.vcd.xz").exists()}


@cache
def cycles():
    """Run -> channel -> cycles of the transfers."""
    with gzip.open(TRUTH / "transfers.jsonl.gz", "rt") as lines:
        return {row["run"]: row["cycles"] for row in map(json.loads, lines)}


@pytest.fixture(scope="session", autouse=True)
def truth():
    """The folder of the recordings; without it the tests are skipped."""
    if not runs():
        pytest.skip(f"no recordings at {TRUTH}: set LPN_SHARED to the folder that has truth/waves")
    return TRUTH
