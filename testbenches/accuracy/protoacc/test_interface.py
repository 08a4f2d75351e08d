"""Performance interfaces of messages of one shape, fitted by `lpn pi`, against the RTL.

    LPN_SLOW=1 pytest -s testbenches/accuracy/protoacc/test_interface.py    # every random message
"""

import json

import pytest
from _truth import SLOW, lpn_pi, need, rows_of
from conftest import TRUTH

RUNS = TRUTH / "messages.jsonl.gz"
LATENCIES = 20, 1  # read, acknowledgement: the net's defaults
SAMPLE = ("R_msg05", "R_msg18", "A_6xstr64")


def messages():
    """(name, tree, clocks) of the measured messages at these latencies."""
    return [
        pytest.param(row["shape"], row["completed"][-1], id=row["name"])
        for _, row in rows_of(RUNS)
        if (row["read_latency"], row["write_ack_latency"]) == LATENCIES
        and (row["name"].startswith("R") if SLOW else row["name"] in SAMPLE)
    ]


def test_there_are_figures():
    need(RUNS)
    assert messages()


@pytest.mark.parametrize("shape, clocks", messages())
def test_a_message_of_the_shape(shape, clocks, tmp_path, request):
    message, path = tmp_path / "message.json", tmp_path / "interface.py"
    message.write_text(json.dumps(shape))
    lpn_pi("protoacc", "--fitted", "--space", f"like={message}", "-o", path)
    (row,) = lpn_pi("--evaluate", path, "--model", "protoacc", message)["rows"]
    error = row["predicted"] / clocks - 1
    print(f"{request.node.name}: {row['predicted']:.1f}, RTL {clocks}: {error:+.2%}")
    # Sizes that are all multiples of 16 are written in fewer pieces than the sums tell.
    assert abs(error) <= 0.12
