"""Where the streams measured on the RTL and the built package are."""

import os
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[3]
SHARED = Path(os.environ.get("LPN_SHARED", REPO.parent / "shared"))
TRUTH = SHARED / "truth" / "menshen"
SLOW = bool(os.environ.get("LPN_SLOW"))

BUILD = Path(os.environ.get("LPN_BUILD", REPO / "build"))
for folder in (str(REPO), str(BUILD / "python")):
    if folder not in sys.path:
        sys.path.insert(0, folder)


@pytest.fixture(scope="session")
def measured():
    """(stream, first beats out, last beats out); those of at most 100 packets unless LPN_SLOW=1."""
    path = TRUTH / "streams.jsonl.gz"
    if not path.exists():
        pytest.skip(f"no streams at {TRUTH}: set LPN_SHARED to the folder that has truth/menshen")
    from models.menshen import streams

    found = list(streams.measured(path))
    return found if SLOW else [row for row in found if len(row[0].lengths) <= 100]
