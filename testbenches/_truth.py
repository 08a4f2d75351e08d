"""Where the figures measured on hardware or on its RTL are: for the tests of testbenches/accuracy."""

import gzip
import json
import os
import subprocess
from pathlib import Path

import pytest
from _command import BUILD, REPO  # noqa: F401  (finds the built package too)

SHARED = Path(os.environ.get("LPN_SHARED", REPO.parent / "shared"))
TRUTH = SHARED / "truth"
SLOW = os.environ.get("LPN_SLOW") == "1"  # all rows instead of a sample


def rows_of(path):
    """The rows of a .jsonl.gz file below TRUTH, each with its number from 1; none where it is missing."""
    if not path.exists():
        return []
    with gzip.open(path, "rt") as file:
        return list(enumerate(map(json.loads, file), 1))


def lpn_pi(*words):
    """What `lpn pi` answers, as data."""
    command = [str(BUILD / "bin" / "lpn"), "pi", *map(str, words), "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def need(path):
    """The path of something below TRUTH; without it the test is skipped, and says so."""
    if not path.exists():
        folder = path.relative_to(TRUTH).parts[0]
        pytest.skip(f"no {path}: set LPN_SHARED to the folder that has truth/{folder}")
    return path
