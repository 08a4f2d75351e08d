"""Where the RTL's figures, the reference's net and the built package are."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import _truth  # noqa: E402
from _truth import REPO, need  # noqa: E402

TRUTH = _truth.TRUTH / "protoacc"
sys.path.insert(0, str(REPO / "testbenches" / "ltc"))

lpn = pytest.importorskip("lpn")


@pytest.fixture(scope="session")
def truth():
    """The folder with the RTL's figures; without it the test is skipped."""
    return need(TRUTH / "messages.jsonl.gz").parent


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
