"""lpn wave compare on recorded designs: against the lists of transfers, and the model of the JPEG
decoder, which is exact where the output is always accepted and says so where it is not.
"""

import json
import subprocess

import pytest
from conftest import BUILD, JPEG_TRUTH, MAPS, TRUTH, cycles, runs

lpn = pytest.importorskip("lpn")

from lpn.waves.between import Comparison  # noqa: E402
from lpn.waves.maps import read_map  # noqa: E402
from lpn.waves.recording import Recording  # noqa: E402

JPEG = [run for run, row in runs().items() if row["design"] == "core_jpeg"]


def between(one, two, design):
    map = read_map(str(MAPS[design]))
    with Recording(str(one), map, keep=True) as first, Recording(
        str(two), map, keep=True
    ) as second:
        comparison = Comparison(first, second)
        while comparison.step():
            pass
        return comparison.result()


def first_difference(one, two):
    """(cycle, transfer) of two lists of cycles."""
    for k, (a, b) in enumerate(zip(one, two)):
        if a != b:
            return min(a, b), k
    k = min(len(one), len(two))
    return None if len(one) == len(two) else ((one + two)[k], k)


def test_two_memories_behind_one_data_mover():
    """Reference A and B have the same descriptors and other memories."""
    found = between(TRUTH / "cdma_refA.vcd.xz", TRUTH / "cdma_refB.vcd.xz", "axi_cdma")
    a, b = cycles()["cdma_refA"], cycles()["cdma_refB"]
    for row in found["channels"]:
        name, first = row["channel"], row["first_divergence"]
        assert (first["cycle"], first["transfer"]) == first_difference(a[name], b[name])
        assert row["different"] == sum(x != y for x, y in zip(a[name], b[name]))
        lates = [y - x for x, y in zip(a[name], b[name])][first["transfer"] :]
        assert (row["late"]["least"], row["late"]["most"]) == (min(lates), max(lates))
    least = min(row["first_divergence"]["cycle"] for row in found["channels"])
    assert found["first_divergence"]["cycle"] == least


@pytest.mark.parametrize("design", MAPS)
def test_a_recording_equals_itself(design):
    run = next(run for run, row in runs().items() if row["design"] == design)
    path = TRUTH / f"{run}.vcd.xz"
    found = between(path, path, design)
    assert found["equal"] and found["whole"] and found["first_divergence"] is None
    assert {r["channel"]: r["compared"] for r in found["channels"] if r["compared"]} == runs()[run][
        "transfers"
    ]


@pytest.mark.parametrize("run", JPEG)
def test_the_decoder_against_its_recording(run):
    row = runs()[run]
    picture = JPEG_TRUTH / "own" / row["input"]
    if not picture.exists():
        pytest.skip(f"no {row['input']} in {JPEG_TRUTH}")
    words = ["jpeg", str(picture), str(TRUTH / f"{run}.vcd.xz"), "--map", str(MAPS["core_jpeg"])]
    command = [str(BUILD / "bin" / "lpn"), "wave", "compare", *words, "--json"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    found = json.loads(answer.stdout)
    always = row["outport_accept_pattern"][0] == row["outport_accept_pattern"][1]
    assert answer.returncode == (0 if always else 1)
    if always:
        assert all(t["exact"] == t["firings"] for t in found["transitions"])
        # Without 4:2:0 there is no Cr RAM to fill.
        idle = {t["transition"] for t in found["transitions"] if not t["firings"]}
        assert idle == ({"fill_cr"} if "444" in row["input"] else set())
        return
    # The output is not modelled to wait: the first block leaves as much later as it was held back.
    first = found["first_divergence"]
    assert (first["channel"], first["transition"]) == ("pixel", "output")
    cause = next(t["cause"] for t in found["transitions"] if t["entry"] == "output")
    assert "a stall that the model has not" in cause
