"""Where the images, the RTL's figures and the built package are."""

import csv
import gzip
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import _truth  # noqa: E402
from _command import DEMO  # noqa: E402, F401
from _truth import need  # noqa: E402

TRUTH = _truth.TRUTH / "jpeg"


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
    return need(TRUTH / "cycles.csv").parent


@pytest.fixture(scope="session")
def jpeg():
    """The native reader."""
    try:
        from lpn_models_native import _jpeg
    except ImportError as missing:
        pytest.skip(f"the reader is not built ({missing}): set LPN_BUILD to the build folder")
    return _jpeg
