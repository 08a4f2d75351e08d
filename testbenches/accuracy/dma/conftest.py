"""Where the measured runs and the built package are."""

import os
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[3]
SHARED = Path(os.environ.get("LPN_SHARED", REPO.parent / "shared"))
TRUTH = SHARED / "truth" / "axi"

BUILD = Path(os.environ.get("LPN_BUILD", REPO / "build"))
for folder in (str(REPO), str(BUILD / "python")):
    if folder not in sys.path:
        sys.path.insert(0, folder)


@pytest.fixture(scope="session")
def truth():
    """The folder with the measured runs; without it the test is skipped."""
    if not (TRUTH / "axi_cdma.jsonl.gz").exists():
        pytest.skip(f"no measured runs at {TRUTH}: set LPN_SHARED to the folder that has truth/axi")
    return TRUTH
