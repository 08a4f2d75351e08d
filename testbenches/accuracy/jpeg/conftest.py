"""Where the images, the RTL's figures and the built package are."""

import csv
import gzip
import json
import os
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[3]
DEMO = REPO / "models" / "jpeg" / "demo"
SHARED = Path(os.environ.get("LPN_SHARED", REPO.parent / "shared"))
TRUTH = SHARED / "truth" / "jpeg"

BUILD = Path(os.environ.get("LPN_BUILD", REPO / "build"))
for folder in (str(REPO), str(BUILD / "python")):
    if folder not in sys.path:
        sys.path.insert(0, folder)


def read_cycles(path):
    """The rows of a cycles.csv."""
    with open(path, newline="") as lines:
        return list(csv.DictReader(lines))


def read_json_lines(path):
    """The objects of a .jsonl.gz."""
    with gzip.open(path, "rt") as lines:
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="session")
def truth():
    """The folder with the RTL's figures; without it the test is skipped."""
    if not (TRUTH / "cycles.csv").exists():
        pytest.skip(f"no RTL figures at {TRUTH}: set LPN_SHARED to the folder that has truth/jpeg")
    return TRUTH


@pytest.fixture(scope="session")
def jpeg():
    """The native reader."""
    try:
        from lpn_models_native import _jpeg
    except ImportError as missing:
        pytest.skip(f"the reader is not built ({missing}): set LPN_BUILD to the build folder")
    return _jpeg
