"""Finds the built package: PYTHONPATH when set, else LPN_BUILD or build/; and a predictor trained
once.
"""

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("LPN_BUILD", ROOT / "build"))
if str(BUILD / "python") not in sys.path:
    sys.path.insert(0, str(BUILD / "python"))


@pytest.fixture(scope="session")
def trained():
    from models.bluefield.predictor import training
    from rows import memory_rows, profile, regex_times

    return training.train([profile(memory_rows(80)), regex_times()], function="toy")[0]
