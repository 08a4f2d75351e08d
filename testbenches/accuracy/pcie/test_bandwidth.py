"""Steady bandwidths of one link against a published model of PCI Express (pcie-bench/pcie-model):
every row with LPN_SLOW=1, else some of each generation.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from _truth import SLOW, TRUTH, need  # noqa: E402

lpn = pytest.importorskip("lpn")

WORST_ERROR = 0.005  # what the project asks for
MEAN_ERROR = 0.001


def test_bandwidth_over_generation_width_and_payload():
    model = lpn.load("pcie")
    rows = list(model.module.truth_rows(need(TRUTH / "system" / "pcie_bw.csv")))
    assert len(rows) == 3 * 2088
    rows = rows if SLOW else rows[::29]
    first = lpn.runs.prepare(model, rows[0][0], engine="compiled")
    errors = []
    for topology, _, gbps, kind in rows:
        _, about = model.module.compare(first.on(topology), kind)
        errors.append(abs(about["predicted"] - gbps) / gbps)
        assert errors[-1] <= WORST_ERROR, topology.name
    assert sum(errors) / len(errors) <= MEAN_ERROR
