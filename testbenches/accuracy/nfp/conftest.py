"""Skips, loudly, what needs the figures of the real NIC."""

import nfp_truth
import pytest


@pytest.fixture(scope="session")
def truth():
    """The module that reads truth/nfp; without the folder the test is skipped."""
    if not nfp_truth.available():
        pytest.skip(
            f"no figures of the NFP at {nfp_truth.TRUTH}: set LPN_SHARED to the folder that has truth/nfp"
        )
    return nfp_truth
