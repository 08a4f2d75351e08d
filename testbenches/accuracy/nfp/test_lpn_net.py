"""The net of the NIC against the real NIC, and against the guarantee. lpn_net.py prints the same
figures.
"""

import os

import lpn_net
import pytest

# What a rate is measured to: a window of some thousand packets whose ends fall between packets.
RESOLUTION = 1e-5


@pytest.fixture(scope="module")
def memory_bound(truth):
    return lpn_net.against_paths(lpn_net.measured("dram"), packets=10_000)


def test_section_4(truth):
    others = [abs(error) for row, _, error in lpn_net.against_section4() if row["cores"] != "5"]
    assert len(others) >= 15
    assert sum(others) / len(others) <= 0.01
    assert max(others) <= 0.03


def test_calibrated_rows_come_out(truth):
    for row, _, error in lpn_net.against_section4(5000):
        if row["cores"] == "5":
            assert abs(error) < 0.005, row["program"]


def test_memory_bound_paths(memory_bound):
    errors = [abs(error) for _, error, _ in memory_bound]
    assert len(errors) >= 70
    assert sum(errors) / len(errors) <= 0.02


def test_memory_bound_paths_of_each_program(memory_bound):
    """One set of parameters for all programs: none of them pays for the others."""
    for program in {row["program"] for row, *_ in memory_bound}:
        errors = [abs(error) for row, error, _ in memory_bound if row["program"] == program]
        assert sum(errors) / len(errors) <= 0.02, program


def test_closer_than_the_analysis(memory_bound):
    assert sum(abs(n) for _, n, _ in memory_bound) < 0.5 * sum(abs(a) for *_, a in memory_bound)


def test_processor_bound_paths(truth):
    rows = lpn_net.measured("proc")[::31]
    errors = [abs(error) for _, error, _ in lpn_net.against_paths(rows, packets=5000)]
    assert sum(errors) / len(errors) <= 0.02


def test_unshaped_is_overload(truth, monkeypatch):
    """Both words are in tables of section 4 for a sender that is not held back."""
    rows = [row for row in lpn_net.section4() if row["cores"] == "5"]
    assert all(row["offered_pps"] == "overload" for row in rows)
    said = [{**row, "offered_pps": "unshaped"} for row in rows]
    monkeypatch.setattr(lpn_net, "section4", lambda: rows)
    wanted = [rate for _, rate, _ in lpn_net.against_section4(200)]
    monkeypatch.setattr(lpn_net, "section4", lambda: said)
    assert [rate for _, rate, _ in lpn_net.against_section4(200)] == wanted


def _paths(truth):
    rows = truth.paths()
    return rows if os.environ.get("LPN_SLOW") else rows[::41]


def test_no_guarantee_above_the_simulation(truth):
    rows = _paths(truth)
    for row, above in lpn_net.below_guarantee(rows):
        assert above >= -RESOLUTION, f"{row['program']} {row['path']}"
