"""Finds the built package and the models: PYTHONPATH when set, else LPN_BUILD or build/."""

import os
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("LPN_BUILD", REPO / "build"))
for folder in (str(REPO), str(BUILD / "python")):
    if folder not in sys.path:
        sys.path.insert(0, folder)
