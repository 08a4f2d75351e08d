"""The package of this build, and the demo objects (ours; compiled by Debian's clang 14)."""

import os
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("LPN_BUILD", REPO / "build"))
for folder in (str(REPO), str(BUILD / "python")):
    if folder not in sys.path:
        sys.path.insert(0, folder)

pytest.importorskip("z3", reason="python3-z3 is missing")
pytest.importorskip("elftools", reason="python3-pyelftools is missing")


@pytest.fixture
def demo():
    """demo("bridge"): the path of a demo object."""
    return lambda name: str(REPO / "models" / "bpf" / "demo" / f"{name}.bpf.o")
