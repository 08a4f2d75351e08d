"""Steady bandwidths of one link against a published model of PCI Express (pcie-bench/pcie-model):
every row with LPN_SLOW=1, else some of each generation.
"""

import os
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[3]
SHARED = Path(os.environ.get("LPN_SHARED", REPO.parent / "shared"))
TRUTH = SHARED / "truth" / "system" / "pcie_bw.csv"
sys.path.insert(0, str(Path(os.environ.get("LPN_BUILD", REPO / "build")) / "python"))

lpn = pytest.importorskip("lpn")

WORST_ERROR = 0.005  # what the project asks for
MEAN_ERROR = 0.001


def test_bandwidth_over_generation_width_and_payload():
    if not TRUTH.exists():
        pytest.skip(f"no {TRUTH}: set LPN_SHARED to the folder that has truth/system")
    model = lpn.load("pcie")
    rows = list(model.module.truth_rows(TRUTH))
    assert len(rows) == 3 * 2088
    rows = rows if os.environ.get("LPN_SLOW") == "1" else rows[::29]
    first = lpn.runs.prepare(model, rows[0][0], engine="compiled")
    errors = []
    for topology, _, gbps, kind in rows:
        _, about = model.module.compare(first.on(topology), kind)
        errors.append(abs(about["predicted"] - gbps) / gbps)
        assert errors[-1] <= WORST_ERROR, topology.name
    assert sum(errors) / len(errors) <= MEAN_ERROR
