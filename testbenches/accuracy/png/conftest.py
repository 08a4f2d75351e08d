"""Where the decoder's figures, their images and the built package are."""

import csv
import gzip
import json
import os
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[3]
SHARED = Path(os.environ.get("LPN_SHARED", REPO.parent / "shared"))
TRUTH = SHARED / "truth" / "png"

BUILD = Path(os.environ.get("LPN_BUILD", REPO / "build"))
for folder in (str(REPO), str(BUILD / "python")):
    if folder not in sys.path:
        sys.path.insert(0, folder)


def table(name):
    if not (TRUTH / name).exists():
        pytest.skip(f"no figures at {TRUTH}: set LPN_SHARED to the folder that has truth/png")
    with open(TRUTH / name, newline="") as lines:
        return list(csv.DictReader(lines))


@pytest.fixture(scope="session")
def rows():
    """The rows of cycles.csv; all of them, since they take 2 seconds."""
    return table("cycles.csv")


@pytest.fixture(scope="session")
def refused():
    """The rows of refused.csv."""
    return table("refused.csv")


@pytest.fixture(scope="session")
def listed():
    """listed(name) -> {file: [entries]} of a .jsonl.gz."""

    def of(name):
        found = {}
        with gzip.open(TRUTH / name, "rt") as lines:
            for entry in map(json.loads, lines):
                found.setdefault(entry["file"], []).append(entry)
        return found

    return of
