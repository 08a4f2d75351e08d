"""Traffic mixes: which program paths the packets of a simulation take, how often, and how fast they
come. mix_file.py reads them from files.
"""

import math
import random
from array import array
from itertools import accumulate

from . import nic as constants
from . import steps

__all__ = ["Mix", "Path", "overloaded_interval", "path_of", "segments_of", "slowest"]


class Path:
    """A program path as the net needs it.

    `segments`: [(core cycles, access, DRAM bank)], as of steps.encode. `weight`: its share before
    they are normalised. `name`: its path, or what else a reader knows it by.
    """

    def __init__(self, segments, weight=1.0, name=None):
        self.segments = [tuple(s) for s in segments]
        self.weight = weight
        self.name = name or f"{len(segments)} segments"

    def work(self, overhead):
        """(core cycles without any wait, [cycles of each DRAM bank]) per packet."""
        nic = constants.load()
        banks = [0.0] * nic["dram_banks"]
        for _, access, bank in self.segments:
            if access == "dram_read":
                banks[bank] += nic["dram_read"]
            elif access == "dram_add":
                banks[bank] += nic["dram_add"]
        return overhead + sum(s[0] for s in self.segments), banks


def segments_of(program, path):
    """[(core cycles, access, bank)] of a path of a program.

    The bank is that of the 16-byte line, where the address's low bits follow from the code whatever
    packet and memory; an access whose line is not known gets bank 0: that all of them are at one
    place is the worst case, and what the paper's measurements with one repeated packet were.
    """
    nic = constants.load()
    line, banks = nic["dram_line"], nic["dram_banks"]
    field = line * (banks - 1)
    addresses = iter(program.dram_addresses(path))
    out = []
    for cycles, access, _, _ in program.segments(path):
        bank = 0
        if access.startswith("dram"):
            known, value = next(addresses)
            if known & field == field:
                bank = value // line % banks
        out.append((cycles, access, bank))
    return out


def path_of(program, path, weight=1.0):
    """A Path of a program by its notation. Raises Error E-nfp-path."""
    return Path(segments_of(program, path), weight, path)


class Mix:
    """Traffic for the net.

    `paths`: list of Path. `packets`: how many arrive. `rate`: packets per second, None for a source
    that always has a packet; `overload`: and the wire more than the MAC takes. `arrivals`:
    "poisson" or "even". `overhead`: core cycles of firmware per packet.
    """

    def __init__(
        self,
        paths,
        packets=100_000,
        *,
        rate=None,
        arrivals="poisson",
        overload=False,
        seed=1,
        overhead=None,
    ):
        self.paths = list(paths)
        self.packets = packets
        self.rate = rate
        self.arrivals = arrivals
        self.overload = overload
        self.seed = seed
        self.overhead = constants.load()["overhead"] if overhead is None else overhead
        total = sum(p.weight for p in self.paths)
        self.shares = [p.weight / total for p in self.paths]

    def check_buffer(self, room):
        """Raises Error E-nfp-mix for a limit on what waits at the MAC where the source does."""
        if room and self.rate is None:
            raise _error(
                "E-nfp-mix",
                f"a buffer of {room} packets is for those of a rate, and this mix has none: there is "
                "always a packet; give a rate, or leave the buffer out",
            )

    def words(self):
        """The words of each path, as steps.encode has them. Raises Error E-nfp-steps."""
        return [steps.encode(p.segments, self.overhead) for p in self.paths]

    def needs(self):
        """How many words a packet of the net must have room for."""
        return max(map(len, self.words()))

    def draw(self):
        """The path's index of each packet."""
        if len(self.paths) == 1:
            return array("B", bytes(self.packets))
        weights = list(accumulate(self.shares))
        return array(
            "I",
            random.Random(self.seed).choices(
                range(len(self.paths)), cum_weights=weights, k=self.packets
            ),
        )

    def gaps(self):
        """Ticks on the wire between packets; None when the source is saturated."""
        if self.rate is None:
            return None
        mean = constants.load()["clock_hz"] * constants.TICKS / self.rate
        if self.arrivals == "even":
            return array(
                "q",
                (math.floor((k + 1) * mean) - math.floor(k * mean) for k in range(self.packets)),
            )
        draw = random.Random(self.seed + 1).expovariate
        out, exact, whole = array("q"), 0.0, 0
        for _ in range(self.packets):
            exact += draw(1.0) * mean
            out.append(round(exact) - whole)
            whole = round(exact)
        return out

    def marking(self, net, cores=None):
        """The packets as tokens of `net`, for so many cores (None: those of the net). Raises Error
        E-nfp-steps when a path has more steps than fit.
        """
        import lpn

        room = words_of(net)
        words = self.words()
        for path, of_path in zip(self.paths, words):
            if len(of_path) > room:
                raise _error(
                    "E-nfp-steps",
                    f"path {path.name} needs {len(of_path)} words of steps, a packet of this net "
                    f"has room for {room}; make the net with words={len(of_path)}",
                )
            of_path += [0] * (room - len(of_path))
        marking = lpn.Marking(net)
        if cores is None:
            cores = {**net.params, **net.bound}["cores"]
        pattern = islands_of(cores)
        islands = (array("q", pattern) * (self.packets // len(pattern) + 1))[: self.packets]
        columns = {"id": array("q", range(self.packets)), "island": islands, "core": 0, "round": 0}
        if len(words) == 1:
            columns["now"] = words[0][0] & (steps.WORD - 1)
            columns.update((f"w{k}", words[0][k]) for k in range(room))
        else:
            drawn = self.draw()
            firsts = [w[0] & (steps.WORD - 1) for w in words]
            columns["now"] = array("q", map(firsts.__getitem__, drawn))
            for k in range(room):
                of_paths = [w[k] for w in words]
                columns[f"w{k}"] = (
                    of_paths[0]
                    if len(set(of_paths)) == 1
                    else array("q", map(of_paths.__getitem__, drawn))
                )
        gaps = self.gaps()
        columns["gap"] = 0 if gaps is None else gaps
        marking.add_columns("buffer" if gaps is None else "wire", **columns)
        return marking


def overloaded_interval():
    """Ticks from packet to packet of the MAC while more arrives than it takes."""
    nic = constants.load()
    return constants.ticks(nic["clock_hz"] / nic["mac_overload"])


def words_of(net):
    """How many words of steps a packet of the net has room for."""
    return sum(name.startswith("w") for name in net._places["wire"]._type.fields)


def islands_of(cores):
    """The islands that packets go to one after the other: each as often as it has cores."""
    islands = constants.load()["islands"]
    return [k % islands for k in range(cores)]


def slowest(program, cores, what="the program"):
    """The notation of the slowest path per packet that a packet can take, on so many cores."""
    found = program.slowest(False, cores, 1)
    if not found["slowest"]:
        raise _error("E-nfp-mix", f"the slowest path of {what} was not found; name a path")
    return found["slowest"][0]["path"]


def _error(code, message):
    from lpn import Error

    return Error(code, message)
