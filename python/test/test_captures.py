"""Captures: what is written is read, and every damaged file is refused with the packet's number."""

import gzip
import struct

import pytest

from lpn.runs import is_capture, read_capture, write_capture

FRAMES = [bytes(range(60)), bytes(64), b"\xff" * 1514]


def made(tmp_path, frames=None, order="<", magic=0xA1B2C3D4, link=1, times=None):
    data = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65535, link)
    for k, frame in enumerate(FRAMES if frames is None else frames):
        seconds, part = times[k] if times else (7, k)
        data += struct.pack(order + "4I", seconds, part, len(frame), len(frame)) + frame
    path = tmp_path / "a.pcap"
    path.write_bytes(data)
    return path


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "a.pcap"
    write_capture(path, FRAMES, gap=0.4)
    found = read_capture(path)
    assert list(found.frames()) == FRAMES and found.cut == 0 and len(found) == 3
    assert list(found.times) == [0, 400_000_000, 800_000_000]
    assert is_capture(path.read_bytes()) and not is_capture(b"64\n")
    packed = tmp_path / "a.pcap.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert list(read_capture(packed).frames()) == FRAMES


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("magic, unit", [(0xA1B2C3D4, 1000), (0xA1B23C4D, 1)])
def test_orders_and_ticks(tmp_path, order, magic, unit):
    found = read_capture(made(tmp_path, order=order, magic=magic))
    assert list(found.frames()) == FRAMES
    assert [t - 7 * 10**9 for t in found.times] == [0, unit, 2 * unit]


def test_cut_anywhere_but_between_packets(tmp_path):
    path = made(tmp_path)
    whole = path.read_bytes()
    ends = {24 + sum(16 + len(f) for f in FRAMES[:k]): k for k in (1, 2)}
    for k in range(0, len(whole), 7):
        path.write_bytes(whole[:k])
        if k in ends:
            continue
        with pytest.raises(ValueError, match="no pcap file|ends in|ends within|no packets"):
            read_capture(path)
    for k, packets in ends.items():
        path.write_bytes(whole[:k])
        assert len(read_capture(path)) == packets


@pytest.mark.parametrize(
    "change, words",
    [
        ({"link": 113}, "has frames of link type 113, not Ethernet (1)"),
        ({"frames": []}, "has no packets"),
        ({"times": [(0, 0), (0, 10**6), (1, 0)]}, "packet 2: its fraction of a second"),
        ({"frames": [bytes(60), bytes((1 << 18) + 1)]}, "packet 2: 262145 bytes kept"),
    ],
)
def test_wrong_captures(tmp_path, change, words):
    path = made(tmp_path, **change)
    with pytest.raises(ValueError) as refused:
        read_capture(path)
    assert words in str(refused.value) and str(path) in str(refused.value)


def test_check_sequences_are_no_part_of_frames(tmp_path):
    """A capture says in the upper bits of its link type that each frame ends with one of 4 bytes."""
    whole = read_capture(
        made(tmp_path, [frame + b"\x9e\x1f\x07\x55" for frame in FRAMES], link=0x24000001)
    )
    assert list(whole.frames()) == FRAMES and whole.cut == 0
    assert list(whole.sizes) == [len(frame) for frame in FRAMES]
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 0x24000001)
    path = tmp_path / "b.pcap"
    path.write_bytes(head + struct.pack("<4I", 0, 0, 60, 68) + bytes(60))
    short = read_capture(path)
    assert list(short.kept) == [60] and list(short.sizes) == [64] and short.cut == 1
    path.write_bytes(head + struct.pack("<4I", 0, 0, 3, 3) + bytes(3))
    with pytest.raises(
        ValueError, match="packet 1 of 3 bytes has no room for the check sequence of 4"
    ):
        read_capture(path)
    # Without the bit that says so, the upper ones mean nothing.
    found = read_capture(made(tmp_path, link=0x20000001))
    assert list(found.frames()) == FRAMES


def test_more_kept_than_sent(tmp_path):
    path = tmp_path / "a.pcap"
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    path.write_bytes(head + struct.pack("<4I", 0, 0, 60, 59) + bytes(60))
    with pytest.raises(ValueError, match="packet 1: 60 bytes kept of 59 on the wire"):
        read_capture(path)
    path.write_bytes(head + struct.pack("<4I", 0, 0, 60, 61) + bytes(60))
    assert read_capture(path).cut == 1


def test_the_next_format_is_named(tmp_path):
    path = tmp_path / "a.pcapng"
    path.write_bytes(b"\x0a\x0d\x0d\x0a" + bytes(60))
    with pytest.raises(ValueError, match="editcap -F pcap IN OUT"):
        read_capture(path)
