"""Skips, loudly, what needs the hand-checked results."""

import bpf_truth
import pytest

pytest.importorskip("z3", reason="python3-z3 is missing")
pytest.importorskip("elftools", reason="python3-pyelftools is missing")


@pytest.fixture(scope="session", autouse=True)
def truth():
    """The module that reads truth/ebpf; without the folder the tests are skipped."""
    if not bpf_truth.available():
        pytest.skip(
            f"no results at {bpf_truth.ACCEPT}: set LPN_SHARED to the folder that has truth/ebpf"
        )
    return bpf_truth
