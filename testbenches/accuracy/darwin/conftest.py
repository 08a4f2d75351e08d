"""Where the array's figures, its sequences and the built package are."""

import csv
import os
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[3]
SHARED = Path(os.environ.get("LPN_SHARED", REPO.parent / "shared"))
TRUTH = SHARED / "truth" / "darwin"
SLOW = bool(os.environ.get("LPN_SLOW"))

BUILD = Path(os.environ.get("LPN_BUILD", REPO / "build"))
for folder in (str(REPO), str(BUILD / "python")):
    if folder not in sys.path:
        sys.path.insert(0, folder)


@pytest.fixture(scope="session")
def rows():
    """The rows of cycles.csv; a seventh of them unless LPN_SLOW=1."""
    if not (TRUTH / "cycles.csv").exists():
        pytest.skip(f"no figures at {TRUTH}: set LPN_SHARED to the folder that has truth/darwin")
    with open(TRUTH / "cycles.csv", newline="") as lines:
        found = list(csv.DictReader(lines))
    return found if SLOW else found[::7]
