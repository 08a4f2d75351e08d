"""Finds the package and the truth of DRAM; skips, loudly, where there is none."""

import json
import lzma
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("LPN_BUILD", ROOT / "build"))
if str(BUILD / "python") not in sys.path:
    sys.path.insert(0, str(BUILD / "python"))
TRUTH = Path(os.environ.get("LPN_SHARED", ROOT.parent / "shared")) / "truth" / "dram"
SLOW = os.environ.get("LPN_SLOW") == "1"


def lines(name):
    """The objects of a .jsonl.xz file."""
    with lzma.open(TRUTH / name, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@pytest.fixture(scope="session")
def truth():
    """The folder of the figures."""
    if not (TRUTH / "SPEC.md").exists():
        pytest.skip(f"no figures at {TRUTH}: set LPN_SHARED to the folder that has truth/dram")
    return TRUTH
