"""The slowest packets of a program as a capture."""

from lpn import Error
from lpn.command import note
from lpn.runs import read_capture, write_capture

__all__ = ["write_packets"]

_SEEDS = (1, 2)  # of what is undefined


def write_packets(path, program, slowest):
    """Writes a packet of each SlowPath; bytes that do not matter are 0. What was written is read back
    and run: each packet takes its path. Raises Error E-nfp-capture when that cannot be written, or
    when a path needs bytes behind the packet's end.
    """
    if not slowest:
        raise Error("E-nfp-capture", "no packet was found that could be written; search longer")
    for k, one in enumerate(slowest, 1):
        if any(not 0 <= offset < one.packet_size for offset in one.packet):
            raise Error(
                "E-nfp-capture",
                f"path {k} depends on bytes behind the end of its packet, which no capture has",
            )
    frames = [bytes(one.packet.get(k, 0) for k in range(one.packet_size)) for one in slowest]
    try:
        write_capture(path, frames)
    except OSError as wrong:
        raise Error("E-nfp-capture", f"cannot write {path}: {wrong.strerror or wrong}") from None
    for k, (one, frame) in enumerate(zip(slowest, read_capture(path).frames(), strict=True), 1):
        packet = dict(enumerate(frame))
        for seed in _SEEDS:
            took = program.path_taken(len(frame), packet, one.memory, seed)
            if took != one.path:
                raise RuntimeError(f"packet {k} takes {took}, not {one.path}; please report this")
    needing = [str(k) for k, one in enumerate(slowest, 1) if one.memory]
    if needing:
        note(
            f"of path{'s' * (len(needing) > 1)} {', '.join(needing)} the packet is slow when the NIC's "
            "memory has the bytes that are shown"
        )
