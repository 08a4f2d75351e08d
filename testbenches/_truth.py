"""Where the figures measured on hardware or on its RTL are: for the tests of testbenches/accuracy."""

import os
from pathlib import Path

import pytest
from _command import BUILD, REPO  # noqa: F401  (finds the built package too)

SHARED = Path(os.environ.get("LPN_SHARED", REPO.parent / "shared"))
TRUTH = SHARED / "truth"
SLOW = os.environ.get("LPN_SLOW") == "1"  # all rows instead of a sample


def need(path):
    """The path of something below TRUTH; without it the test is skipped, and says so."""
    if not path.exists():
        folder = path.relative_to(TRUTH).parts[0]
        pytest.skip(f"no {path}: set LPN_SHARED to the folder that has truth/{folder}")
    return path
