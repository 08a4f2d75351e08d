"""Where the RTL's figures, the reference's net and the built package are."""

import os
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[3]
SHARED = Path(os.environ.get("LPN_SHARED", REPO.parent / "shared"))
TRUTH = SHARED / "truth" / "protoacc"

BUILD = Path(os.environ.get("LPN_BUILD", REPO / "build"))
for folder in (str(REPO / "testbenches" / "ltc"), str(BUILD / "python")):
    if folder not in sys.path:
        sys.path.insert(0, folder)

lpn = pytest.importorskip("lpn")


@pytest.fixture(scope="session")
def truth():
    """The folder with the RTL's figures; without it the test is skipped."""
    if not (TRUTH / "messages.jsonl.gz").exists():
        pytest.skip(
            f"no RTL figures at {TRUTH}: set LPN_SHARED to the folder that has truth/protoacc"
        )
    return TRUTH


@pytest.fixture(scope="session")
def model():
    return lpn.load("protoacc")


@pytest.fixture(scope="session")
def net(model):
    return model.net()


@pytest.fixture(scope="session")
def serialise(model, net):
    """Run(messages, **parameters) on the RTL's six handlers, interpreted; of trees or Messages."""
    module = model.module

    def run(messages, **parameters):
        if isinstance(messages[0], list):
            messages = module.messages_of(messages)
        marking = module.workload(module.Batch("messages", messages), net)
        return lpn.simulate(net, marking, params=parameters, engine="interp")

    return run
