"""Finds the built package: PYTHONPATH when set, else LPN_BUILD or build/; and the demo images."""

import os
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[3]
DEMO = REPO / "models" / "jpeg" / "demo"

BUILD = Path(os.environ.get("LPN_BUILD", REPO / "build"))
if str(BUILD / "python") not in sys.path:
    sys.path.insert(0, str(BUILD / "python"))


@pytest.fixture(scope="session")
def jpeg():
    """The native reader."""
    try:
        from lpn_models_native import _jpeg
    except ImportError as missing:
        pytest.skip(f"the reader is not built ({missing}): set LPN_BUILD to the build folder")
    return _jpeg


@pytest.fixture
def demo():
    """demo("name") is the bytes of a committed image."""
    return lambda name: (DEMO / f"{name}.jpg").read_bytes()
