"""Captures of Ethernet frames: classic pcap files, read and written.

The file format is that of libpcap (pcap-savefile(5)): a header of 24 bytes, then 16 bytes and the
frame for each packet, in either byte order, with micro- or nanoseconds.
"""

from __future__ import annotations

import os
import struct
from array import array
from collections.abc import Iterable, Iterator

from .json_file import unpacked
from .output_file import written

__all__ = ["Capture", "capture_of", "is_capture", "read_capture", "write_capture"]

_ETHERNET = 1
_WITH_CHECKS = 1 << 26  # of the link type: the upper four bits are the length of check sequences
_NEXT_GENERATION = b"\x0a\x0d\x0d\x0a"
# First four bytes -> byte order, nanoseconds of a tick.
_MAGIC = {
    struct.pack(order + "I", magic): (order, unit)
    for order in "<>"
    for magic, unit in ((0xA1B2C3D4, 1000), (0xA1B23C4D, 1))
}
_MOST_BYTES = 1 << 32
_MOST_KEPT = 1 << 18  # of a frame: libpcap's own limit (MAXIMUM_SNAPLEN)
_SECOND = 10**9  # ns


class Capture:
    """The frames of a capture, in the order of the file.

    path: of the file. data: its bytes; frame k is data[starts[k] : starts[k] + kept[k]]. sizes:
    bytes of each frame on the wire, without its check sequence; more than are kept where the
    capture cut it. times: nanoseconds since 1970 of each.
    """

    __slots__ = ("data", "kept", "path", "sizes", "starts", "times")

    def __init__(
        self,
        path: str,
        data: bytes,
        starts: array[int],
        kept: array[int],
        sizes: array[int],
        times: array[int],
    ):
        self.path, self.data = path, data
        self.starts, self.kept, self.sizes, self.times = starts, kept, sizes, times

    def __len__(self) -> int:
        return len(self.starts)

    def frames(self) -> Iterator[bytes]:
        """The bytes that are kept of each frame."""
        data = self.data
        for start, kept in zip(self.starts, self.kept):
            yield data[start : start + kept]

    @property
    def cut(self) -> int:
        """How many frames are not kept whole."""
        return sum(kept < size for kept, size in zip(self.kept, self.sizes))


def is_capture(data: bytes) -> bool:
    """Whether a file that begins so is a capture."""
    return data[:4] in _MAGIC or data[:4] == _NEXT_GENERATION


def read_capture(path: str | os.PathLike[str], most: int = _MOST_BYTES) -> Capture:
    """The Capture in a pcap file, also packed by gzip or xz, of at most `most` bytes.

    Raises OSError, and ValueError, with the file's name and the number of the packet, from 1, for a
    file that is none, is cut, has another link layer than Ethernet, no packet, or one that is
    longer than it was on the wire.
    """
    return capture_of(path, unpacked(path, most))


def capture_of(path: str | os.PathLike[str], data: bytes) -> Capture:
    """As read_capture, of the bytes of the file."""
    path = os.fspath(path)
    if data[:4] == _NEXT_GENERATION:
        raise ValueError(f"'{path}' is a pcapng file; convert it: editcap -F pcap IN OUT")
    if data[:4] not in _MAGIC:
        raise ValueError(f"'{path}' is no pcap file")
    if len(data) < 24:
        raise ValueError(f"'{path}' ends in the header of the capture")
    order, unit = _MAGIC[data[:4]]
    (layer,) = struct.unpack_from(order + "I", data, 20)
    link, check = layer & 0xFFFF, 2 * (layer >> 28) if layer & _WITH_CHECKS else 0
    if link != _ETHERNET:
        raise ValueError(f"'{path}' has frames of link type {link}, not Ethernet ({_ETHERNET})")
    found = Capture(path, data, array("Q"), array("Q"), array("Q"), array("Q"))
    add = (found.starts.append, found.kept.append, found.sizes.append, found.times.append)
    add_start, add_kept, add_size, add_time = add
    header = struct.Struct(order + "4I").unpack_from
    at, end = 24, len(data)
    while at < end:
        if at + 16 > end:
            raise ValueError(f"'{path}' ends within packet {len(found) + 1}")
        seconds, part, kept, size = header(data, at)
        at += 16
        if at + kept > end or kept > size or kept > _MOST_KEPT or part * unit >= _SECOND:
            raise ValueError(_wrong(found, at + kept > end, kept, size))
        if size < check:
            raise ValueError(
                f"'{path}', packet {len(found) + 1} of {size} bytes has no room for the check "
                f"sequence of {check} that the capture says its frames have"
            )
        add_start(at)
        add_kept(min(kept, size - check))
        add_size(size - check)
        add_time(seconds * _SECOND + part * unit)
        at += kept
    if not len(found):
        raise ValueError(f"'{path}' has no packets")
    return found


def _wrong(found, ends, kept, size):
    number = len(found) + 1
    if kept > _MOST_KEPT:
        return (
            f"'{found.path}', packet {number}: {kept} bytes kept; a frame has at most {_MOST_KEPT}"
        )
    if ends:
        return f"'{found.path}' ends within packet {number}"
    if kept > size:
        return f"'{found.path}', packet {number}: {kept} bytes kept of {size} on the wire"
    return f"'{found.path}', packet {number}: its fraction of a second is a second or more"


def write_capture(path: str | os.PathLike[str], frames: Iterable[bytes], gap: float = 1e-6) -> None:
    """Writes whole frames, without their check sequences, as a pcap file that tcpdump and traffic
    generators read: `gap` seconds apart, from 0 on. Raises OSError.
    """
    with written(path, binary=True) as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, _MOST_KEPT, _ETHERNET))
        for k, frame in enumerate(frames):
            seconds, part = divmod(round(k * gap * 1e6), 10**6)
            file.write(struct.pack("<4I", seconds, part, len(frame), len(frame)) + frame)
