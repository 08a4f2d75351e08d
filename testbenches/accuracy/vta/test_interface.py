"""Performance interfaces of programs of one form, fitted by `lpn pi`, against the RTL.

    LPN_SLOW=1 pytest -s testbenches/accuracy/vta/test_interface.py    # every matmul-like program
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from _truth import SLOW, TRUTH, lpn_pi, need, rows_of  # noqa: E402

RUNS = TRUTH / "vta" / "programs.jsonl.gz"
LATENCY = 20  # of memory, both ways: the net's defaults
SAMPLE = ("M_ot1_kt4_r16_oc1_vt1", "M_ot4_kt2_r16_oc4_vt2")


def programs():
    """(line, name, clocks) of the measured programs like matrix products at these latencies."""
    return [
        pytest.param(line, row["name"], row["total_cycles"], id=row["name"])
        for line, row in rows_of(RUNS)
        if row["read_latency"] == row["write_ack_latency"] == LATENCY
        and (row["name"].startswith("M") if SLOW else row["name"] in SAMPLE)
    ]


def test_there_are_figures():
    need(RUNS)
    assert programs()


@pytest.mark.parametrize("line, name, cycles", programs())
def test_a_program_of_the_form(line, name, cycles, tmp_path):
    program, path = f"{RUNS}#{line}", tmp_path / "interface.py"
    lpn_pi("vta", "--fitted", "--space", f"like={program}", "-o", path)
    (row,) = lpn_pi("--evaluate", path, "--model", "vta", program)["rows"]
    error = row["predicted"] / cycles - 1
    print(f"{name}: {row['predicted']:.1f}, RTL {cycles}: {error:+.3%}")
    assert abs(error) <= 0.01
