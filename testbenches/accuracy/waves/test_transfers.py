"""Transfers of recorded designs against what their benches counted, cycle by cycle."""

import os
import shutil

import pytest
from conftest import MAPS, TRUTH, cycles, runs

pytest.importorskip("lpn")

from lpn.waves.maps import read_map  # noqa: E402
from lpn.waves.recording import Recording  # noqa: E402
from lpn.waves.stalls import stalls  # noqa: E402

# In CI the smaller FST files; all of them with LPN_SLOW=1.
FST = [run for run in runs() if os.environ.get("LPN_SLOW") or runs()[run]["vcd_bytes"] < 100_000]


def transfers(path, design):
    """Channel -> cycles of its transfers."""
    with Recording(str(path), read_map(str(MAPS[design])), keep=True) as recording:
        recording.read()
        assert recording.damage is None
        found = {}
        for k, channel in enumerate(recording.channels):
            origin = recording.clock_totals(k)[1]
            found[channel.name] = [edge - origin for edge in recording.take(k).edges]
            assert recording.totals(k)["transfers"] == len(found[channel.name])
        return found


def check(run, ending):
    row = runs()[run]
    found = transfers(TRUTH / f"{run}{ending}", row["design"])
    assert {name: len(at) for name, at in found.items() if at} == row["transfers"]
    assert {name: at for name, at in found.items() if at} == cycles()[run]


@pytest.mark.parametrize("run", runs())
def test_every_transfer_of_a_vcd(run):
    check(run, ".vcd.xz")


@pytest.mark.parametrize("run", FST)
def test_every_transfer_of_an_fst(run):
    if shutil.which("fst2vcd") is None:
        pytest.skip("no fst2vcd (Debian's package gtkwave)")
    check(run, ".fst")


def held(run):
    """Victim -> culprit."""
    design = runs()[run]["design"]
    with Recording(str(TRUTH / f"{run}.vcd.xz"), read_map(str(MAPS[design]))) as recording:
        recording.read()
        return {link["victim"]: link["culprit"] for link in stalls(recording)["links"]}


def test_who_holds_whom():
    """As the designs are made: a memory that takes write data one clock of three holds the reads
    (they are throttled by the write FIFO) and the commands; the Huffman decoder the bytes, these
    the input; the address decoders of a crossbar its masters.
    """
    assert held("cdma_refB") == {"r": "w", "cmd": "w"}
    jpeg = held("jpeg_4")
    assert (jpeg["in"], jpeg["byte"]) == ("byte", "pop")
    crossbar = held("xbar_1")
    assert all(crossbar[f"s{k}.ar"] == f"s{k}.dec_ar" for k in range(3))
