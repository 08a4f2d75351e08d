"""Where the array's figures, its sequences and the built package are."""

import csv
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import _truth  # noqa: E402
from _truth import BUILD, SLOW, need  # noqa: E402, F401

TRUTH = _truth.TRUTH / "darwin"


@pytest.fixture(scope="session")
def rows():
    """The rows of cycles.csv; a seventh of them unless LPN_SLOW=1."""
    with open(need(TRUTH / "cycles.csv"), newline="") as lines:
        found = list(csv.DictReader(lines))
    return found if SLOW else found[::7]
