"""Inputs: captures, lists, streams by name, and what is refused."""

import gzip
import json
import struct

import pytest

from models.menshen import streams


def frame(length=64, type_=0x0800, protocol=17, port=9):
    head = bytearray(max(length, 42))
    head[16:18] = type_.to_bytes(2, "big")
    head[27] = protocol
    head[40:42] = port.to_bytes(2, "big")
    return bytes(head[:length])


def capture(packets, order="<", magic=0xA1B2C3D4, link=1, kept=None):
    """A .pcap of (seconds, fraction, frame)."""
    data = struct.pack(order + "I2H4I", magic, 2, 4, 0, 0, 65535, link)
    for seconds, part, content in packets:
        held = content[:kept]
        data += struct.pack(order + "4I", seconds, part, len(held), len(content)) + held
    return data


def read(tmp_path, data, entry="", clock_mhz=250):
    path = tmp_path / "input"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return streams.read(f"{path}{entry}", clock_mhz)


def test_a_list(tmp_path):
    stream = read(tmp_path, "# bytes idle kind\n64\n128 3\n\n100 0 control # to the tables\n")
    assert stream.lengths == [64, 128, 100] and stream.idle == [0, 3, 0]
    assert stream.kinds == ["data", "data", "control"]


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("magic, ticks", [(0xA1B2C3D4, 10**6), (0xA1B23C4D, 10**9)])
def test_a_capture(tmp_path, order, magic, ticks):
    us = ticks // 10**6
    packets = [
        (7, 0, frame(130)),  # 3 beats
        (7, 1 * us, frame(64, port=0xF1F2)),  # 1 us is 250 clocks of 250 MHz
        (7, 1 * us, frame(60, protocol=6)),  # as soon as the link is free
        (8, 0, frame(65)),
    ]
    stream = read(tmp_path, capture(packets, order, magic))
    assert stream.lengths == [130, 64, 60, 65]
    assert stream.idle == [0, 247, 0, 250_000_000 - 252]
    assert stream.kinds == ["data", "control", "drop", "data"]
    assert read(tmp_path, capture(packets, order, magic), clock_mhz=100).idle[1] == 97


def test_streams_by_name(tmp_path):
    line = {"stream": "a", "lens": [64, 65], "gaps_before": [5, 6], "arb_phase": 2}
    text = json.dumps(line) + "\n" + json.dumps({"stream": "b", "lens": [1], "gaps_before": None})
    stream = read(tmp_path, text, "#a")
    assert (stream.lengths, stream.idle, stream.arb_phase) == ([64, 65], [5, 6], 2)
    assert str(stream) == "a"
    assert read(tmp_path, gzip.compress(text.encode()), "#b").idle == [0]


@pytest.mark.parametrize(
    "data, entry, words",
    [
        ("", "", "has no packet"),
        ("0\n", "", "packet 1: 0 bytes"),
        ("65537\n", "", "65537 bytes, not 1 to 65536"),
        ("64 -1\n", "", "line 1: expected BYTES"),
        ("6_4\n", "", "line 1: expected BYTES"),
        ("64\n64 +2\n", "", "line 2: expected BYTES"),
        ("64 x\n", "", "line 1: expected BYTES"),
        ("64 0 voice\n", "", "line 1: expected BYTES"),
        ("64 0 drop\n", "", "no packet that the filter passes on"),
        ("\u00e9", "", "neither a capture nor a list"),
        ('{"stream": "a"}', "", "write .*#NAME"),
        ('{"stream": "a"}', "#b", "0 streams named b"),
        ('{"stream": "a"}', "#a", "lens must be a list"),
        ('{"stream": "a", "lens": [true]}', "#a", "lens must be a list"),
        ('{"stream": "a", "lens": [1], "gaps_before": []}', "#a", "a number per packet"),
        ('{"stream": "a", "lens": [1], "arb_phase": 4}', "#a", "arb_phase 0 to 3"),
        ('{"stream": "a", "lens": [1], "arb_phase": 1.0}', "#a", "arb_phase 0 to 3"),
        ("[1]", "#a", "expected an object"),
        ("{", "#a", "no JSON"),
        (gzip.compress(b"64\n" * 9)[:-9], "", "no whole gzip file"),
        (capture([])[:20], "", "ends in the header of the capture"),
        (capture([], link=113), "", "link type 113"),
        (capture([]), "", "has no packets"),
        (capture([(0, 0, frame())])[:-1], "", "ends within packet 1"),
        (capture([(0, 0, frame())])[:30], "", "ends within packet 1"),
        (capture([(0, 0, frame())], kept=30), "", "30 bytes were kept, 42 are needed"),
        (capture([(1, 0, frame()), (0, 0, frame())]), "", "packet 2: it is before the first"),
    ],
)
def test_refusals(tmp_path, data, entry, words):
    with pytest.raises(ValueError, match=words):
        read(tmp_path, data, entry)


def test_a_missing_file(tmp_path):
    with pytest.raises(OSError):
        streams.read(tmp_path / "none", 250)
