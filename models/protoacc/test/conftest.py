"""Finds the built package: PYTHONPATH when set, else LPN_BUILD or build/."""

import json
import os
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[3]
DEMO = REPO / "models" / "protoacc" / "demo"

BUILD = Path(os.environ.get("LPN_BUILD", REPO / "build"))
if str(BUILD / "python") not in sys.path:
    sys.path.insert(0, str(BUILD / "python"))

lpn = pytest.importorskip("lpn")


@pytest.fixture(scope="session")
def model():
    return lpn.load("protoacc")


@pytest.fixture(scope="session")
def serialise(model):
    """Run(input, **parameters of the net) on the RTL's six handlers, interpreted."""
    net = model.net()

    def run(input, **parameters):
        marking = model.workload(input, net)
        return lpn.simulate(net, marking, params=parameters, engine="interp")

    return run


@pytest.fixture
def written(tmp_path):
    """written(data) is the name of a JSON file with it; written(data, name) of a file of text."""

    def write(data, name=None):
        path = tmp_path / (name or "input.json")
        path.write_text(data if name else json.dumps(data))
        return str(path)

    return write
