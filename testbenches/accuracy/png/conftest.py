"""Where the decoder's figures, their images and the built package are."""

import csv
import gzip
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import _truth  # noqa: E402
from _truth import need  # noqa: E402

TRUTH = _truth.TRUTH / "png"


def table(name):
    with open(need(TRUTH / name), newline="") as lines:
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
