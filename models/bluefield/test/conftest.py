"""Finds the built package: PYTHONPATH when set, else LPN_BUILD or build/; and a predictor trained once."""

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
try:
    import lpn  # noqa: F401
except ImportError:
    sys.path.insert(0, str(Path(os.environ.get("LPN_BUILD", ROOT / "build")) / "python"))


@pytest.fixture(scope="session")
def trained():
    from models.bluefield.predictor import training
    from rows import memory_rows, profile, regex_times

    return training.train([profile(memory_rows(80)), regex_times()], function="toy")[0]
