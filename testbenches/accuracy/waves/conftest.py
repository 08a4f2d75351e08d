"""Where the recordings are, what their benches counted, and which map is whose."""

import gzip
import json
import os
import sys
from functools import cache
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[3]
SHARED = Path(os.environ.get("LPN_SHARED", REPO.parent / "shared"))
TRUTH = SHARED / "truth" / "waves"
JPEG_TRUTH = SHARED / "truth" / "jpeg"

BUILD = Path(os.environ.get("LPN_BUILD", REPO / "build"))
for folder in (str(REPO), str(BUILD / "python")):
    if folder not in sys.path:
        sys.path.insert(0, folder)

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
