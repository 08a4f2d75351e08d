"""Finds the built package: PYTHONPATH when set, else LPN_BUILD or build/."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("LPN_BUILD", ROOT / "build"))
if str(BUILD / "python") not in sys.path:
    sys.path.insert(0, str(BUILD / "python"))
UNIT = (Path(__file__).parent / "unit.py").read_text(encoding="utf-8")  # an accelerator
