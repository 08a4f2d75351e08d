"""Traffic mixes: which program paths the packets of a simulation take, how often, and how fast they
come.

A mix file is JSON (README.md, "Mixes"):

    {"program": "count-min.asm",            of the mix file's folder; commands may name another
     "unroll": "160",                       as of --unroll, where the program has a loop
     "paths": [{"path": "->0--15->15000", "weight": 3},
               {"path": "slowest"},         of the guarantee
               {"segments": [[40, "sram"], [25, "dram_read"], [60, "none"]], "weight": 0.5}],
     "packets": 100000, "seed": 1,
     "rate": 30e6,                          packets per second; without it there is always a packet
     "arrivals": "poisson",                 or "even"
     "overload": true,                      without "rate": more comes than the MAC takes, which slows it
     "overhead": 224}                       core cycles of firmware per packet
"""

import math
import os
import random
from array import array
from itertools import accumulate

from . import nic as constants
from . import steps

__all__ = ["Mix", "Path", "load", "path_of", "segments_of"]

_KEYS = {
    "program",
    "unroll",
    "costs",
    "paths",
    "packets",
    "seed",
    "rate",
    "arrivals",
    "overload",
    "overhead",
}
MOST_PACKETS = 10**8


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


def words_of(net):
    """How many words of steps a packet of the net has room for."""
    return sum(name.startswith("w") for name in net._places["wire"]._type.fields)


def islands_of(cores):
    """The islands that packets go to one after the other: each as often as it has cores."""
    islands = constants.load()["islands"]
    return [k % islands for k in range(cores)]


def load(path, program=None, cores=50, **changes):
    """The Mix in a file. `program`: a listing that stands in for the file's; `cores`: for which
    `slowest` is the slowest path; `changes` replace the file's keys packets, rate, seed, arrivals,
    unroll, when they are not None.

    Raises Error E-nfp-mix for a file that is no mix, and what reading its program raises.
    """
    from lpn.runs import read_json

    data = read_json(path, "E-nfp-mix")
    return build(data, os.fspath(path), program, cores, **changes)


def build(data, where, program=None, cores=50, **changes):
    """The Mix that `data`, the content of the file `where`, describes; see load."""

    def wrong(message):
        return _error("E-nfp-mix", f"{where}: {message}")

    if not isinstance(data, dict):
        raise wrong(
            'a mix is a JSON object; write {"program": "x.asm", "paths": [{"path": "slowest"}]}'
        )
    unknown = sorted(set(data) - _KEYS)
    if unknown:
        raise wrong(f"'{unknown[0]}' is no key of a mix; they are {', '.join(sorted(_KEYS))}")
    data = {**data, **{k: v for k, v in changes.items() if v is not None}}

    def number(key, default, least, most, whole=False):
        value = data.get(key, default)
        if value is None and default is None:
            return None
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float))
            or not least <= value <= most
            or (whole and value != int(value))
        ):
            raise wrong(
                f"'{key}' must be a {'whole ' if whole else ''}number {least:g}..{most:g}, got {value!r}"
            )
        return int(value) if whole else float(value)

    packets = number("packets", 100_000, 1, MOST_PACKETS, whole=True)
    seed = number("seed", 1, 0, 2**62, whole=True)
    rate = number("rate", None, 1, 1e9)
    overhead = number("overhead", constants.load()["overhead"], 0, steps.MOST_RUN, whole=True)
    arrivals = data.get("arrivals", "poisson")
    if arrivals not in ("poisson", "even"):
        raise wrong(f'\'arrivals\' must be "poisson" or "even", got {arrivals!r}')
    overload = data.get("overload", False)
    if not isinstance(overload, bool) or overload and rate is not None:
        raise wrong("'overload' must be true or false, and is for mixes without a 'rate'")
    listing = os.fspath(program) if program is not None else None
    if listing is None and data.get("program") is not None:
        if not isinstance(data["program"], str):
            raise wrong("'program' must be the name of a listing")
        listing = os.path.join(os.path.dirname(where), data["program"])
    given = data.get("paths", [{"path": "slowest"}])
    if not isinstance(given, list) or not given:
        raise wrong("'paths' must be a list of at least one path")

    loaded = []

    def the_program():
        if not loaded:
            from . import program as front

            if listing is None:
                raise wrong(
                    'its paths are those of a program, but it names none; add "program": "x.asm"'
                )
            loaded.append(front.load(listing, unroll=data.get("unroll")))
        return loaded[0]

    paths = []
    for k, entry in enumerate(given):
        if (
            not isinstance(entry, dict)
            or ("path" in entry) == ("segments" in entry)
            or (set(entry) - {"path", "segments", "weight", "name"})
        ):
            raise wrong(
                f'path {k + 1} must be {{"path": "->0--15->15000" or "slowest", "weight": 1}} or '
                '{"segments": [[cycles, "sram"], [cycles, "none"]], "weight": 1}'
            )
        weight = entry.get("weight", 1)
        if (
            isinstance(weight, bool)
            or not isinstance(weight, (int, float))
            or not 0 < weight < 1e12
        ):
            raise wrong(f"the weight of path {k + 1} must be a number above 0, got {weight!r}")
        if "segments" in entry:
            paths.append(Path(_segments(entry["segments"], k, wrong), weight, entry.get("name")))
        else:
            name = entry["path"]
            if name == "slowest":
                if listing is None:
                    raise wrong(
                        '\'slowest\' is a path of a program, but the mix names none; add "program": "x.asm"'
                    )
                name = slowest(the_program(), cores, listing)
            made = path_of(the_program(), name, weight)
            made.name = entry.get("name", name)
            paths.append(made)
    return Mix(
        paths,
        packets,
        rate=rate,
        arrivals=arrivals,
        overload=overload,
        seed=seed,
        overhead=overhead,
    )


def _segments(given, k, wrong):
    banks = constants.load()["dram_banks"]
    out = []
    for s in given if isinstance(given, list) else [None]:
        if (
            not isinstance(s, list)
            or len(s) not in (2, 3)
            or isinstance(s[0], bool)
            or not isinstance(s[0], int)
            or (not 0 <= s[0] <= steps.MOST_RUN)
            or s[1] not in ("sram", "dram_read", "dram_add", "none")
            or (len(s) == 3 and s[2] not in range(banks))
        ):
            raise wrong(
                f'the segments of path {k + 1} must be [cycles, "sram" | "dram_read" | "dram_add" | '
                f'"none", bank 0..{banks - 1} if it is known], got {s!r}'
            )
        out.append((s[0], s[1], s[2] if len(s) == 3 else 0))
    if not out or out[-1][1] != "none" or any(s[1] == "none" for s in out[:-1]):
        raise wrong(
            f'the segments of path {k + 1} must end with the one whose access is "none", and only there'
        )
    return out


def slowest(program, cores, what="the program"):
    """The notation of the slowest path per packet that a packet can take, on so many cores."""
    found = program.slowest(False, cores, 1)
    if not found["slowest"]:
        raise _error("E-nfp-mix", f"the slowest path of {what} was not found; name a path")
    return found["slowest"][0]["path"]


def _error(code, message):
    from lpn import Error

    return Error(code, message)
