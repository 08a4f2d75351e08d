"""Where the measured runs and the built package are."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import _truth  # noqa: E402
from _truth import need  # noqa: E402

TRUTH = _truth.TRUTH / "axi"


@pytest.fixture(scope="session")
def truth():
    """The folder with the measured runs; without it the test is skipped."""
    return need(TRUTH / "axi_cdma.jsonl.gz").parent
