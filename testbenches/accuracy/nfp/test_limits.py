"""No guarantee above what the MAC and the ports let through, for any program and option; in overload
none above what was measured. A sample; all with LPN_SLOW=1.
"""

import itertools
import os

import pytest

pytest.importorskip("lpn")

from models.nfp import costs, mac_fault  # noqa: E402
from models.nfp.guarantee import METRICS, guarantee  # noqa: E402

TABLE = costs.load()
SLOW = bool(os.environ.get("LPN_SLOW"))
CORES = (1, 5, 15, 20, 25, 50) if SLOW else (5, 20, 50)
LIMIT = 5.0  # seconds; a search that is stopped guarantees less


def test_no_guarantee_above_the_nic(truth):
    smallest = TABLE["min_packet"]
    ports = 2 * 40e9 / (8 * (smallest + 24))
    tried = 0
    listings = sorted((truth.TRUTH / "programs").glob("*.asm"))
    for listing in listings if SLOW else listings[::4]:
        for metric, cores, margin, overload in itertools.product(
            METRICS, CORES, (None, 0), (False, True)
        ):
            found = guarantee(
                listing,
                metric,
                cores,
                truth.unroll(listing.stem),
                limit=LIMIT,
                margin=margin,
                overload=overload,
            )
            unit = 8 * smallest if metric == "bit-rate" else 1
            most = min(TABLE["mac_rate"], ports) * unit
            assert found.rate <= most, (listing.name, metric, cores, margin)
            if overload:
                least = TABLE["mac_fault_from"] if found.mac_fault else 0
                assert not least or found.rate <= mac_fault.fallen(TABLE, 1e9) * unit
            tried += 1
    assert tried >= 5 * 24


def test_no_guarantee_in_overload_above_a_measured_rate(truth):
    """The programs' slowest packets, 50 cores: every rate measured with more than that arriving."""
    measured = {}
    for row in truth.paths():
        if row["meas_pkt_rate_pps"] and row["meas_source"] == "dat" and int(row["workers_w"]) == 50:
            rate = float(row["meas_pkt_rate_pps"]) + float(row["meas_ci99_halfwidth_pps"])
            measured.setdefault(row["program"], []).append(rate)
    assert len(measured) >= 8
    for program, rates in measured.items():
        found = guarantee(
            truth.listing(program),
            "packet-rate",
            unroll=truth.unroll(program),
            limit=LIMIT,
            overload=True,
        )
        assert found.rate <= min(rates), program
