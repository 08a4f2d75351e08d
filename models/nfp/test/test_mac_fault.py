"""The MAC's fault: its measured rows, what lies between them, and guarantees that hold in it."""

import pytest
from conftest import DEMO

pytest.importorskip("lpn")

from models.nfp import costs, mac_fault  # noqa: E402

TABLE = costs.load()
STRUCK = [(c, rate) for _, c, rate, fell in mac_fault.rows() if fell == "yes"]


def test_no_measured_rate_is_below_it():
    assert len(STRUCK) == 8
    for capacity, rate in STRUCK:
        assert mac_fault.fallen(TABLE, capacity) <= rate
        assert mac_fault.fallen(TABLE, capacity) >= 0.94 * rate


def test_a_capacity_left_out_is_met_by_the_others():
    """Between the ends of the band, where there is something on both sides."""
    rows = mac_fault.rows()
    inner = sorted({c for c, _ in STRUCK})[1:-1]
    for left_out in inner:
        others = [row for row in rows if row[1] != left_out]
        for rate in (rate for c, rate in STRUCK if c == left_out):
            assert mac_fault.fallen(TABLE, left_out, others) == pytest.approx(rate, rel=0.05)


def test_it_grows_with_the_capacity_and_never_exceeds_it():
    found = [mac_fault.fallen(TABLE, m * 1e6) for m in range(30, 70)]
    assert all(b >= a - 0.02 * a for a, b in zip(found, found[1:]))
    assert all(rate < m * 1e6 for m, rate in zip(range(30, 70), found))


def test_the_band():
    assert mac_fault.outcome(TABLE, 34e6, 34e6) is None
    assert mac_fault.outcome(TABLE, 69e6, 53e6) is None
    inside = mac_fault.outcome(TABLE, 41e6, 41e6)
    assert 32e6 < inside["low"] < 34e6 and inside["high"] == 41e6
    assert inside["measured"] == 17 and inside["struck"] == 11
    without = {**TABLE, "mac_fault_rate": TABLE["mac_rate"]}
    assert mac_fault.outcome(without, 41e6, 41e6) is None
    other = {**TABLE, "mac_fault_rate": 20e6}
    assert mac_fault.fallen(other, 41e6) == 20e6


def test_simulations_say_both(nfp):
    run = ("simulate", DEMO / "portcount.asm", "--cores", "15", "--packets", "20000")
    told = nfp(*run, "--overload", "--json").data
    assert told["mac_fault"]["low"] < 34e6 and told["mac_fault"]["high"] == told["packet_rate"]
    assert "when the MAC's fault strikes" in nfp(*run, "--overload").stdout
    assert nfp(*run, "--json").data["mac_fault"] is None
    assert nfp(*run[:3], "5", *run[4:], "--overload", "--json").data["mac_fault"] is None


def test_a_guarantee_that_holds_in_overload(nfp):
    run = ("guarantee", DEMO / "portcount.asm", "--metric", "packet-rate", "--cores", "20")
    plain = nfp(*run, "--json").data
    held = nfp(*run, "--overload", "--json").data
    assert not plain["guarantee"]["holds_in_overload"] and held["guarantee"]["holds_in_overload"]
    assert held["guarantee"]["decides"] == "MAC's fault"
    assert held["guarantee"]["rate"] == held["mac_fault"]["falls_to"] < plain["guarantee"]["rate"]
    assert "warning" in nfp(*run).stderr and "warning" not in nfp(*run, "--overload").stderr
