"""Where the published FlowMonitor profile is, and what decides each of its rows."""

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("LPN_SHARED", Path(__file__).resolve().parents[5] / "shared"))
FOLDER = SHARED / "truth" / "bluefield" / "flowmon"
TRAIN = [str(FOLDER / f"flowmon_{name}_train.csv") for name in ("slomo", "yala_mem", "yala_reg")]
TEST = str(FOLDER / "flowmon_test.csv")

needs_profile = pytest.mark.skipif(
    not FOLDER.is_dir(),
    reason=f"no FlowMonitor profile at {FOLDER}: set LPN_SHARED to "
    "the folder that has truth/bluefield",
)


def bottleneck(row):
    """What holds FlowMonitor back: the measurements' groups are flat under memory pressure but for
    one.
    """
    little_regex = row["mtbr_matches_per_MB"] < 200 and row["comp_regex_sum_nt_ms"] < 0.0005
    return "memory" if little_regex else "regex"
