"""Captures on the NIC: which paths their packets take, and the mix that they are.

The paths come from the interpreter, which also confirms the examples of `lpn nfp guarantee`. A
packet goes from program to program as long as each answers XDP_PASS.
"""

from array import array

from lpn import Error
from lpn.runs import integer, read_capture, read_json

from . import nic as constants
from .mix import Mix, Path, segments_of

__all__ = ["Trace", "Traffic", "chained", "follow", "load_capture", "memory_of", "work_of"]

_CUT = 2**32 - 1
_MOST_BYTES = (1 << 14) - 1  # of a packet: programs read 14 bits
_MOST_GAP = 2**40 - 1  # ticks between packets, as the net's tokens have them; about a minute
_NS = 1_000_000_000


def load_capture(path):
    """The lpn.runs.Capture in a file. Raises Error E-nfp-capture."""
    try:
        found = read_capture(path)
    except OSError as wrong:
        raise _error(f"cannot read {path}: {wrong.strerror or wrong}") from None
    except ValueError as wrong:
        raise _error(str(wrong)) from None
    for number, size in enumerate(found.sizes, 1):
        if size > _MOST_BYTES:
            raise _error(
                f"'{found.path}', packet {number} has {size} bytes, of which a program of this NIC "
                f"sees at most {_MOST_BYTES}; capture behind what splits such packets (segmentation "
                "offload off)"
            )
    return found


def memory_of(path):
    """{offset: byte} of a file with DRAM content, {"0x100": "01 02 ff"}: as `lpn nfp guarantee --json`
    says it. Raises Error E-nfp-memory.
    """
    data = read_json(path, "E-nfp-memory")
    if not isinstance(data, dict):
        raise Error(
            "E-nfp-memory", f'{path}: write {{"0x100": "01 02 ff"}}: bytes from an offset on'
        )
    found = {}
    for key, text in data.items():
        try:
            offset, content = integer(key), bytes.fromhex(text)
        except (TypeError, ValueError):
            offset, content = -1, b""
        if offset < 0 or not content or offset + len(content) > 2**32:
            raise Error(
                "E-nfp-memory",
                f"{path}: '{key}' must be an offset below 2^32 with bytes in hex, as "
                '"0x100": "01 02 ff"',
            )
        for k, byte in enumerate(content, offset):
            if k in found:
                raise Error("E-nfp-memory", f"{path}: the byte at {k:#x} stands there twice")
            found[k] = byte
    return found


class Traffic:
    """What the packets of a capture did.

    paths: per path, the notations of its programs, that of the chain's first one first; most
    frequent path first. packets: how many took each. of: per packet followed, its path's index.
    numbers: which packets of the capture those are, from 0; None: all. cut: packets left out, as a
    program read bytes that the capture does not have. padded, beyond: packets smaller than the
    least, and larger than the largest that the cost table, and so a guarantee, covers. complete:
    False after Ctrl-C.
    """

    __slots__ = ("paths", "packets", "of", "numbers", "cut", "padded", "beyond", "complete")


def follow(programs, capture, memories=None, costs=None, progress=None):
    """The Traffic of a Capture through programs (as program.load returns them).

    memories: per program {offset: byte} of its DRAM before the first packet; what packets write
    stays. progress(packets so far) is called now and then. Raises Error E-nfp-path,
    E-nfp-undefined, with the packet's number, and E-nfp-capture when no packet is whole enough or
    when there are too many paths.
    """
    from lpn_models_native import _nfp

    costs = costs or constants.load()

    def go_on(packets):
        if progress is not None:
            progress(packets)
        return True

    memories = memories or [{}] * len(programs)
    found = _nfp.follow(
        programs, memories, capture.data, capture.starts, capture.kept, capture.sizes, go_on
    )
    of = array("I")
    of.frombytes(found["of"])
    out = Traffic()
    out.complete = len(of) == len(capture)
    out.numbers = None
    out.cut = of.count(_CUT)
    if out.cut:
        out.numbers = array("Q", (n for n, path in enumerate(of) if path != _CUT))
        of = array("I", map(of.__getitem__, out.numbers))
    if not of:
        if not out.complete:
            raise KeyboardInterrupt
        raise _error(
            f"'{capture.path}': the programs read bytes of every packet that the capture does not "
            "have; capture whole packets (tcpdump -s 0)"
        )
    by_count = sorted(range(len(found["paths"])), key=lambda k: -found["packets"][k])
    rank = array("I", bytes(4 * len(by_count)))
    for new, old in enumerate(by_count):
        rank[old] = new
    out.of = array("I", map(rank.__getitem__, of))
    out.paths = [found["paths"][k] for k in by_count]
    out.packets = [found["packets"][k] for k in by_count]
    out.padded = sum(size < costs["min_packet"] for size in capture.sizes)
    out.beyond = sum(size > costs["max_packet"] for size in capture.sizes)
    return out


def chained(parts):
    """Segments of programs one behind the other: where one ends, the next goes on at once."""
    out = []
    for segments in parts:
        first = list(segments)
        if out:
            cycles, access, bank = first[0]
            first[0] = (out.pop()[0] + cycles, access, bank)
        out += first
    return out


class Trace(Mix):
    """The packets of a capture in their order, as a Mix that `simulate` takes.

    `programs`: those of the Traffic. `rate`: packets per second at which they arrive, at random
    times or `arrivals="even"`; None: at the times of the capture.
    """

    def __init__(self, programs, traffic, capture, *, rate=None, arrivals="poisson", seed=1):
        paths = [
            Path(
                chained(segments_of(p, path) for p, path in zip(programs, names)),
                packets,
                " => ".join(names),
            )
            for names, packets in zip(traffic.paths, traffic.packets)
        ]
        super().__init__(paths, len(traffic.of), rate=rate, arrivals=arrivals, seed=seed)
        self._of = traffic.of
        self._captured = None
        if rate is None:
            self._captured = self._gaps(traffic, capture)
            ticks = sum(self._captured)
            if not ticks:
                raise _error(
                    f"'{capture.path}': all packets have the same time; say how fast they come with "
                    "--rate"
                )
            per_second = constants.load()["clock_hz"] * constants.TICKS
            self.rate = (self.packets - 1) * per_second / ticks

    def _gaps(self, traffic, capture):
        """Ticks before each packet."""
        numbers = range(len(traffic.of)) if traffic.numbers is None else traffic.numbers
        per_ns = constants.load()["clock_hz"] * constants.TICKS / _NS
        gaps, before = array("q"), capture.times[numbers[0]]
        for n in numbers:
            time = capture.times[n]
            if time < before:
                raise _error(
                    f"'{capture.path}', packet {n + 1} is earlier than the one before it; say how "
                    "fast packets come with --rate"
                )
            gaps.append(round((time - before) * per_ns))
            if gaps[-1] > _MOST_GAP:
                raise _error(
                    f"'{capture.path}', packet {n + 1} comes {(time - before) / _NS:.0f} s after the one "
                    f"before it, and {_MOST_GAP / per_ns / _NS:.0f} s are the most; cut the capture "
                    "there, or say how fast packets come with --rate"
                )
            before = time
        return gaps

    def draw(self):
        """The path's index of each packet."""
        return self._of

    def gaps(self):
        """Ticks on the wire between packets."""
        return super().gaps() if self._captured is None else self._captured

    def mixture(self, packets, **options):
        """A Mix with these paths and shares, drawn at random."""
        return Mix(self.paths, packets, seed=self.seed, **options)


def _error(message):
    return Error("E-nfp-capture", message)


def work_of(names, programs, found):
    """[{"program", "line", "place", "share", "cycles_per_packet", "dram_cycles_per_packet"}] of a
    Traffic (traffic.follow) through programs of these names, most first; without the firmware's
    cycles and without waiting. `place`: in the source, with its "statement", where the listing has
    it, else a block.
    """
    sums, total = {}, 0
    blocks = [_blocks(program) for program in programs]
    for of_programs, packets in zip(found.paths, found.packets):
        for name, program, block, path in zip(names, programs, blocks, of_programs):
            for number, line, text, cycles, dram, place, statement in program.steps(path):
                if text == "fin":
                    continue
                sourced = place or statement
                key = (name, place, statement) if sourced else (name, block[number])
                entry = sums.setdefault(key, [line, 0, 0.0])
                entry[0] = min(entry[0], line)
                entry[1] += packets * cycles
                entry[2] += packets * dram
                total += packets * cycles
    out = []
    for (program, place, *statement), (line, cycles, dram) in sums.items():
        out.append(
            {
                "program": program,
                "line": line,
                "place": place,
                **({"statement": statement[0]} if statement else {}),
                "share": cycles / total if total else 0.0,
                "cycles_per_packet": cycles / len(found.of),
                "dram_cycles_per_packet": dram / len(found.of),
            }
        )
    return sorted(out, key=lambda w: (-w["share"], w["program"], w["line"]))


def _blocks(program):
    """Number of an instruction -> the id of its block."""
    graph = program.graph()
    return {
        graph["instructions"][k][0]: f".{block}" for block, _, code in graph["blocks"] for k in code
    }
