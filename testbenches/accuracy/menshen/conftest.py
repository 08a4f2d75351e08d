"""Where the streams measured on the RTL and the built package are."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import _truth  # noqa: E402
from _truth import BUILD, SLOW, need  # noqa: E402, F401

TRUTH = _truth.TRUTH / "menshen"


@pytest.fixture(scope="session")
def measured():
    """(stream, first beats out, last beats out); those of at most 100 packets unless LPN_SLOW=1."""
    path = need(TRUTH / "streams.jsonl.gz")
    from models.menshen import streams

    found = list(streams.measured(path))
    return found if SLOW else [row for row in found if len(row[0].lengths) <= 100]
