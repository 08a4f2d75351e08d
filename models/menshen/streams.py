"""Packet streams for the pipeline, from files.

    STREAM.txt        a packet per line: BYTES [IDLE [KIND]]; # begins a comment
    CAPTURE.pcap      a capture of Ethernet frames with their times
    STREAMS.jsonl     an object per line: stream (its name), lens, gaps_before or null, arb_phase;
                      also as .jsonl.gz; FILE#NAME is one of them

IDLE: clocks without a beat before the packet. KIND: data, control (to the configuration port) or
drop (whatever else the filter does not pass).
"""

import dataclasses
import os

from lpn.runs import capture_of, decimal, is_capture, json_lines, unpacked

BEAT_BYTES = 64
MOST_BYTES = 1024 * BEAT_BYTES
MOST_PACKETS = 1_000_000
MOST_FILE_BYTES = 1 << 28
KINDS = ("data", "control", "drop")
_NS_PER_US = 1000

# pkt_filter.v looks at these bytes of the first beat: the type behind a VLAN tag, the protocol and
# the destination port of UDP.
_IPV4, _UDP, _CONTROL_PORT = 0x0800, 17, 0xF1F2


@dataclasses.dataclass(frozen=True)
class Stream:
    """Packets as they come: `lengths` in bytes, `idle` clocks before each, and their kinds."""

    lengths: list
    idle: list
    kinds: list
    arb_phase: int = 0
    name: str = ""

    def __str__(self):
        return self.name


def read(input_path, clock_mhz: int) -> Stream:
    """The stream of an input. Raises OSError and ValueError with the reason."""
    text = os.fspath(input_path)
    path, entry = text, None
    if "#" in text and not os.path.isfile(text):
        path, _, entry = text.rpartition("#")
    data = unpacked(path, MOST_FILE_BYTES)
    if entry is not None:
        return _entry(path, entry, data)
    if is_capture(data):
        stream = _capture(path, data, clock_mhz)
    elif data[:1] == b"{":
        raise ValueError(f"{path} has streams by name; write {path}#NAME")
    else:
        stream = _list(path, data)
    return _checked(path, stream)


def _checked(path, stream):
    if not stream.lengths:
        raise ValueError(f"{path} has no packet")
    if len(stream.lengths) > MOST_PACKETS:
        raise ValueError(f"{path} has {len(stream.lengths)} packets; at most {MOST_PACKETS}")
    for number, (length, idle) in enumerate(zip(stream.lengths, stream.idle), 1):
        if not 1 <= length <= MOST_BYTES:
            raise ValueError(f"{path}, packet {number}: {length} bytes, not 1 to {MOST_BYTES}")
        if not 0 <= idle < 2**40:
            raise ValueError(f"{path}, packet {number}: {idle} idle clocks before it")
    if "data" not in stream.kinds:
        raise ValueError(f"{path} has no packet that the filter passes on")
    return stream


def _list(path, data):
    lengths, idle, kinds = [], [], []
    try:
        lines = data.decode("ascii").splitlines()
    except UnicodeDecodeError:
        raise ValueError(f"{path} is neither a capture nor a list of packets") from None
    for number, line in enumerate(lines, 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        try:
            numbers = [decimal(word) for word in words[:2]]
        except ValueError:
            numbers = []
        kind = words[2] if len(words) > 2 else "data"
        if not numbers or len(words) > 3 or kind not in KINDS:
            raise ValueError(
                f"{path}, line {number}: expected BYTES [IDLE [{'|'.join(KINDS)}]], "
                f"got {line[:60]!r}"
            )
        lengths.append(numbers[0])
        idle.append(numbers[1] if len(numbers) > 1 else 0)
        kinds.append(kind)
    return Stream(lengths, idle, kinds)


def objects(path) -> list[dict]:
    """The streams of a .jsonl or .jsonl.gz file. Raises OSError and ValueError."""
    return _objects(path, unpacked(path, MOST_FILE_BYTES))


def _objects(path, data):
    found = []
    for number, stream in json_lines(path, data):
        if not isinstance(stream, dict):
            raise ValueError(f"{path}, line {number}: expected an object")
        found.append(stream)
    return found


def _entry(path, name, data):
    chosen = [found for found in _objects(path, data) if found.get("stream") == name]
    if len(chosen) != 1:
        raise ValueError(f"{path} has {len(chosen)} streams named {name}")
    return _stream(path, chosen[0])


def _stream(path, found):
    name = found.get("stream")
    where = f"{path}, {name}"
    lengths = _numbers(where, found, "lens")
    if found.get("gaps_before") is None:
        idle = [0] * len(lengths)
    else:
        idle = _numbers(where, found, "gaps_before")
    phase = found.get("arb_phase", 0)
    if len(idle) != len(lengths) or type(phase) is not int or not 0 <= phase <= 3:
        raise ValueError(f"{where}: gaps_before needs a number per packet, arb_phase 0 to 3")
    kinds = ["data"] * len(lengths)
    return _checked(where, Stream(lengths, idle, kinds, phase, str(name)))


def measured(path):
    """(stream, first beats out, last beats out) of the streams of a truth file. Raises as read."""
    for found in objects(path):
        stream = _stream(path, found)
        where = f"{path}, {stream}"
        clocks = [_numbers(where, found, key) for key in ("out_first", "out_last")]
        if any(len(times) != len(stream.lengths) for times in clocks):
            raise ValueError(f"{where}: out_first and out_last need a number per packet")
        yield stream, *clocks


def _numbers(where, stream, key):
    values = stream.get(key)
    if not isinstance(values, list) or any(type(value) is not int for value in values):
        raise ValueError(f"{where}: {key} must be a list of whole numbers")
    return values


def _capture(path, data, clock_mhz):
    """Frames start at their time, in whole clocks, or as soon as the link is free."""
    capture = capture_of(path, data)
    lengths, idle, kinds = list(capture.sizes), [], []
    begin, free = capture.times[0], 0
    for number, (time, frame, length) in enumerate(
        zip(capture.times, capture.frames(), lengths), 1
    ):
        if time < begin:
            raise ValueError(f"{path}, packet {number}: it is before the first")
        start = max((time - begin) * clock_mhz // _NS_PER_US, free)
        idle.append(start - free)
        free = start - (-length // BEAT_BYTES)
        kinds.append(_kind(path, number, frame, length))
    return Stream(lengths, idle, kinds)


def _kind(path, number, frame, length):
    """What the filter makes of a frame; bytes behind a short one read as 0."""
    if len(frame) < min(length, 42):
        raise ValueError(f"{path}, packet {number}: {len(frame)} bytes were kept, 42 are needed")
    head = frame[:42].ljust(42, b"\0")
    type_, protocol = int.from_bytes(head[16:18], "big"), head[27]
    if type_ != _IPV4 or protocol != _UDP:
        return "drop"
    return "control" if int.from_bytes(head[40:42], "big") == _CONTROL_PORT else "data"
