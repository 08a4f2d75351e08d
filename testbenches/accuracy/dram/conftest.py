"""Finds the package and the truth of DRAM; skips, loudly, where there is none."""

import json
import lzma
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import _truth  # noqa: E402
from _truth import SLOW, need  # noqa: E402, F401

TRUTH = _truth.TRUTH / "dram"


def lines(name):
    """The objects of a .jsonl.xz file."""
    with lzma.open(TRUTH / name, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@pytest.fixture(scope="session")
def truth():
    """The folder of the figures."""
    return need(TRUTH / "SPEC.md").parent
