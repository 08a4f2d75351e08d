"""Finds the built package: PYTHONPATH when set, else LPN_BUILD or build/."""

import importlib.util
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

if importlib.util.find_spec("_lpn") is None:
    sys.path.insert(0, str(Path(os.environ.get("LPN_BUILD", ROOT / "build")) / "python"))
sys.path.insert(0, str(ROOT / "testbenches"))

from _command import environment, run  # noqa: E402, F401
