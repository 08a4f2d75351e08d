"""Files of traffic mixes.

A mix file is JSON (README.md, "Mixes"):

    {"program": "count-min.asm",            of the mix file's folder; commands may name another
     "unroll": "160",                       as of --unroll, where the program has a loop
     "paths": [{"path": "->0--15->15000", "weight": 3},
               {"path": "slowest"},         of the guarantee
               {"segments": [[40, "sram"], [25, "dram_read"], [60, "none"]], "weight": 0.5}],
     "packets": 100000, "seed": 1,
     "rate": 30e6,                          packets per second; without it there is always a packet
     "arrivals": "poisson",                 or "even"; with a rate
     "overload": true,                      without "rate": more comes than the MAC takes, which slows it
     "overhead": 224}                       core cycles of firmware per packet
"""

import json
import os

from . import nic as constants
from . import steps
from .mix import Mix, Path, path_of, slowest

__all__ = ["build", "load", "save"]

MOST_PACKETS = 10**8
_KEYS = {
    "program",
    "unroll",
    "paths",
    "packets",
    "seed",
    "rate",
    "arrivals",
    "overload",
    "overhead",
}


def load(path, program=None, cores=50, *, any_rate=False, **changes):
    """The Mix in a file. `program`: a listing that stands in for the file's; `cores`: for which
    `slowest` is the slowest path; `any_rate`: it is asked about at rates of the caller's; `changes`
    replace the file's keys packets, rate, seed, arrivals, unroll, when they are not None.

    Raises Error E-nfp-mix for a file that is no mix, and what reading its program raises.
    """
    from lpn.runs import read_json

    data = read_json(path, "E-nfp-mix")
    return build(data, os.fspath(path), program, cores, any_rate=any_rate, **changes)


def build(data, where, program=None, cores=50, *, any_rate=False, **changes):
    """The Mix that `data`, the content of the file `where`, describes; see load."""
    return _MixFile(data, where, program, cores, changes).mix(any_rate)


def save(path, program, weights, unroll=None):
    """Writes the mix file of a program's [(path, weight)]; the program by its way from there.

    Raises Error E-nfp-mix when it cannot be written.
    """
    from lpn.runs import written

    data = {
        "program": os.path.relpath(program, os.path.dirname(os.path.abspath(path))),
        "paths": [{"path": name, "weight": weight} for name, weight in weights],
    }
    if unroll:
        data["unroll"] = unroll
    try:
        with written(path) as file:
            json.dump(data, file, indent=1)
            file.write("\n")
    except OSError as problem:
        raise _error(f"cannot write {path}: {problem.strerror or problem}") from None


class _MixFile:
    """The content of a mix file, read key by key; what is wrong is said with the file's name."""

    def __init__(self, data, where, program, cores, changes):
        self.where = where
        self.cores = cores
        if not isinstance(data, dict):
            raise self.wrong(
                'a mix is a JSON object; write {"program": "x.asm", "paths": [{"path": "slowest"}]}'
            )
        unknown = sorted(set(data) - _KEYS)
        if unknown:
            raise self.wrong(
                f"'{unknown[0]}' is no key of a mix; they are {', '.join(sorted(_KEYS))}"
            )
        self.data = {**data, **{k: v for k, v in changes.items() if v is not None}}
        unroll = self.data.get("unroll")
        if unroll is not None and not isinstance(unroll, str):
            raise self.wrong(f'\'unroll\' must be text, as "160" or "10:83,4:94", got {unroll!r}')
        self.listing = self._listing(program)
        self._program = None

    def wrong(self, message):
        return _error(f"{self.where}: {message}")

    def mix(self, any_rate):
        packets = self._number("packets", 100_000, 1, MOST_PACKETS, whole=True)
        seed = self._number("seed", 1, 0, 2**62, whole=True)
        rate = self._number("rate", None, 1, 1e9)
        overhead = self._number(
            "overhead", constants.load()["overhead"], 0, steps.MOST_RUN, whole=True
        )
        arrivals = self.data.get("arrivals", "poisson")
        if arrivals not in ("poisson", "even"):
            raise self.wrong(f'\'arrivals\' must be "poisson" or "even", got {arrivals!r}')
        if "arrivals" in self.data and rate is None and not any_rate:
            raise self.wrong("'arrivals' is how packets of a 'rate' arrive; write a 'rate', too")
        overload = self.data.get("overload", False)
        if not isinstance(overload, bool) or overload and rate is not None:
            raise self.wrong("'overload' must be true or false, and is for mixes without a 'rate'")
        return Mix(
            self._paths(),
            packets,
            rate=rate,
            arrivals=arrivals,
            overload=overload,
            seed=seed,
            overhead=overhead,
        )

    def _number(self, key, default, least, most, whole=False):
        value = self.data.get(key, default)
        if value is None and default is None:
            return None
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float))
            or not least <= value <= most
            or (whole and value != int(value))
        ):
            raise self.wrong(
                f"'{key}' must be a {'whole ' if whole else ''}number {least:g}..{most:g}, got {value!r}"
            )
        return int(value) if whole else float(value)

    def _listing(self, program):
        """The file of the program whose paths are taken: the command's, else the mix's; or None."""
        if program is not None:
            return os.fspath(program)
        named = self.data.get("program")
        if named is None:
            return None
        if not isinstance(named, str):
            raise self.wrong("'program' must be the name of a listing")
        return os.path.join(os.path.dirname(self.where), named)

    def _loaded(self):
        if self._program is None:
            from . import program as front

            if self.listing is None:
                raise self.wrong(
                    'its paths are those of a program, but it names none; add "program": "x.asm"'
                )
            self._program = front.load(self.listing, unroll=self.data.get("unroll"))
        return self._program

    def _paths(self):
        given = self.data.get("paths", [{"path": "slowest"}])
        if not isinstance(given, list) or not given:
            raise self.wrong("'paths' must be a list of at least one path")
        return [self._path(entry, k) for k, entry in enumerate(given, start=1)]

    def _path(self, entry, k):
        if (
            not isinstance(entry, dict)
            or ("path" in entry) == ("segments" in entry)
            or (set(entry) - {"path", "segments", "weight", "name"})
        ):
            raise self.wrong(
                f'path {k} must be {{"path": "->0--15->15000" or "slowest", "weight": 1}} or '
                '{"segments": [[cycles, "sram"], [cycles, "none"]], "weight": 1}'
            )
        weight = entry.get("weight", 1)
        if (
            isinstance(weight, bool)
            or not isinstance(weight, (int, float))
            or not 0 < weight < 1e12
        ):
            raise self.wrong(f"the weight of path {k} must be a number above 0, got {weight!r}")
        if not isinstance(entry.get("name", ""), str):
            raise self.wrong(f"the name of path {k} must be text, got {entry['name']!r}")
        if "segments" in entry:
            return Path(self._segments(entry["segments"], k), weight, entry.get("name"))
        name = entry["path"]
        if not isinstance(name, str):
            raise self.wrong(f'path {k} must be text, as "->0--15->15000", got {name!r}')
        if name == "slowest":
            if self.listing is None:
                raise self.wrong(
                    "'slowest' is a path of a program, but the mix names none; "
                    'add "program": "x.asm"'
                )
            name = slowest(self._loaded(), self.cores, self.listing)
        made = path_of(self._loaded(), name, weight)
        made.name = entry.get("name", name)
        return made

    def _segments(self, given, k):
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
                or (len(s) == 3 and (type(s[2]) is not int or s[2] not in range(banks)))
            ):
                raise self.wrong(
                    f'the segments of path {k} must be [cycles, "sram" | "dram_read" | "dram_add" | '
                    f'"none", bank 0..{banks - 1} if it is known], got {s!r}'
                )
            out.append((s[0], s[1], s[2] if len(s) == 3 else 0))
        if not out or out[-1][1] != "none" or any(s[1] == "none" for s in out[:-1]):
            raise self.wrong(
                f'the segments of path {k} must end with the one whose access is "none", and only there'
            )
        return out


def _error(message):
    from lpn import Error

    return Error("E-nfp-mix", message)
