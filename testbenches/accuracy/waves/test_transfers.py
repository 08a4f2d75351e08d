"""Transfers of recorded designs against what their benches counted, cycle by cycle."""

import os
import shutil

import pytest
from conftest import MAPS, TRUTH, cycles, runs

pytest.importorskip("lpn")

from lpn.waves.maps import read_map  # noqa: E402
from lpn.waves.recording import Picture, Recording  # noqa: E402
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


def numbers(data):
    """The LEB128 numbers in bytes."""
    found, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            found.append(value)
            value = shift = 0
    return found


@pytest.mark.parametrize("run", FST)
def test_the_timeline_of_a_page_has_the_same_transfers(run):
    """Phases one by one, and the sums over stretches, of every channel."""
    row = runs()[run]
    map = read_map(str(MAPS[row["design"]]))
    with Recording(str(TRUTH / f"{run}.vcd.xz"), map, picture=Picture()) as recording:
        recording.read()
        _, lanes = recording.history
        for k, (channel, (bins, phases)) in enumerate(zip(recording.channels, lanes)):
            position, length, *list_ = numbers(phases)
            origin, end, at = recording.clock_totals(k)[1], position + length, []
            for each in list_:
                stop = min(end, position + each // 8)
                if each % 8 == 3:
                    at += range(position - origin, stop - origin)
                position += each // 8
            assert at == cycles()[run].get(channel.name, [])
            _, count, *rest = numbers(bins)
            for phase in range(7):
                own, rest = (rest[1 : 1 + count], rest[1 + count :]) if rest[0] else ([], rest[1:])
                if phase == 3:
                    assert sum(own) == len(at)


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
