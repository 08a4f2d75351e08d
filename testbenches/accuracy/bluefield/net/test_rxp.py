"""The net's regex engine against RXPBench on a BlueField-2: rates by size and rules, idle latency."""

import csv
import os
from pathlib import Path

import pytest
from models.bluefield import scenario as scenarios
from models.bluefield.net import steady

SHARED = Path(os.environ.get("LPN_SHARED", Path(__file__).resolve().parents[5] / "shared"))
TRUTH = SHARED / "truth" / "bluefield"
needs_truth = pytest.mark.skipif(
    not (TRUTH / "rxp").is_dir(),
    reason=f"no measurements at {TRUTH}/rxp: set "
    "LPN_SHARED to the folder that has truth/bluefield",
)


def rows():
    path = TRUTH / "rxp" / "rxp_x86host_saturation.csv"
    return list(csv.DictReader(open(path, newline=""))) if path.exists() else []


def scanner(packet_bytes, matches_per_MB, rate_kpps, core_us=0.01, cores=1):
    """A host that sends packets to the engine; its cores are never the limit. Or cores of the NIC."""
    return scenarios.parse(
        {
            "functions": [
                {
                    "name": "host",
                    "cores": cores,
                    "stages": [
                        {"resource": "cpu", "service_us": core_us},
                        {"resource": "regex", "service_us": "emerging-threats"},
                    ],
                    "traffic": {
                        "packet_bytes": packet_bytes,
                        "matches_per_MB": matches_per_MB,
                        "rate_kpps": rate_kpps,
                    },
                }
            ]
        }
    )


def matches_per_MB(row, listed):
    """Measured with the row, or with another size or rate of its rule set: the nearest size counts."""
    known = {
        int(r["pkt_size_B"]): float(r["matches_per_MB"])
        for r in listed
        if r["rules"] == row["rules"] and r["matches_per_MB"]
    }
    return known[min(known, key=lambda size: abs(size - int(row["pkt_size_B"])))]


@needs_truth
@pytest.mark.parametrize(
    "row", rows(), ids=lambda r: "-".join((r["rules"], r["pkt_size_B"], r["offered_target_Gbps"]))
)
def test_rate_by_size_and_rules(row):
    offered = float(row["rx_pkts"]) / float(row["duration_s_est"]) / 1e3
    size = int(row["pkt_size_B"])
    outcome = steady.simulate(
        scanner(size, matches_per_MB(row, rows()), round(offered, 3)),
        engine="interp",
        latencies=False,
    )
    measured = 1e3 * float(row["scanned_Mpps"])
    assert outcome.results[0].throughput_kpps == pytest.approx(
        measured, rel=0.12 if size == 1024 else 0.05
    )
    assert (outcome.results[0].lost < 0.01) == (float(row["scanned_fraction"]) > 0.99)


@needs_truth
def test_idle_latency():
    """A lone packet of 1500 bytes: from an x86 host, and from cores of the NIC at 1 Gb/s."""
    with open(TRUTH / "rxp" / "rxp_lowload_rtt.csv", newline="") as lines:
        measured = [
            (r["condition"], float(r["rtt_us_lower_bound"]), float(r["rtt_us_from_ticks"]))
            for r in csv.DictReader(lines)
            if "3 pkt" not in r["condition"]
        ]
    assert len(measured) == 5
    for condition, low, high in measured:
        # Packet input and output and the request itself: 0.735 us of a core of the NIC.
        arm = condition.startswith("ARM")
        scenario = scanner(1500, 507, 83.3 if arm else 1, 0.735 if arm else 0.01)
        latency = steady.simulate(scenario, engine="interp").results[0].latency_us["p50"]
        assert 4.1 <= latency <= 5.6
        assert (
            low * 0.9 <= latency <= high * 1.12
        )  # the net does not know why more workers see less


def worker_us(workers):
    """A packet's time [us] on each of so many ARM workers (net/README.md, "Parameters"): fitted to one
    and five of them.
    """
    return 0.5 + 0.235 * workers


@needs_truth
def test_workers_on_cores_of_the_nic():
    """Workers hinder each other: with the time of one, five would be 35 % too fast."""
    with open(
        TRUTH / "rxp" / "rxp_arm_core_scaling_1500B_2048rules.csv", newline="", encoding="utf-8"
    ) as lines:
        listed = list(csv.DictReader(lines))
    assert [int(row["worker_cores"]) for row in listed] == [1, 2, 3, 4, 5]
    for row in listed:
        workers = int(row["worker_cores"])
        scenario = scanner(1500, 507, 4600, worker_us(workers), workers)
        found = steady.simulate(scenario, engine="interp", latencies=False).results[0]
        assert found.throughput_kpps == pytest.approx(1e3 * float(row["rxp_Mpps"]), rel=0.035)


def test_cores_of_the_nic():
    """One ARM core forwards 1.36 M packets of 1500 bytes per second through the engine: its own
    0.735 us.
    """
    scenario = scanner(1500, 507, 4600, 0.735)
    result = steady.simulate(scenario, engine="interp", latencies=False).results[0]
    assert result.throughput_kpps == pytest.approx(1360, rel=0.01)
