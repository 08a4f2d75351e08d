"""What a sequence of calls starts from: names that its lines may use."""

import copy
import gc
import os
import pickle
import sys
from array import array
from pathlib import Path

import _lpn
import lpn
from c_interface import Instance

NETS = Path(__file__).parents[1] / "nets"

# Nets that are compiled before a campaign begins, so that no sequence waits for a compiler.
COMPILED = [
    "bits", "capacity_slot", "params", "clock", "credits_last", "done_count", "emit_index",
    "fault_divisor", "fault_range", "stats_busy_guard",
]  # fmt: skip


class Plain(lpn.Token):
    a: lpn.Int


class Narrow(lpn.Token):
    a: lpn.Int[0, 7]
    b: bool


class Request(lpn.Token):
    size: lpn.Int[0, 63]
    born: lpn.Birth


class Rude:
    """Raises whatever is asked of it."""

    def __getattr__(self, name):
        raise ValueError("rude")

    def __index__(self):
        raise OSError("rude")

    __int__ = __len__ = __iter__ = __bool__ = __hash__ = __index__

    def __eq__(self, other):
        raise RuntimeError("rude")

    def __repr__(self):
        return "Rude()"


def stop(*_):
    return True


def go_on(*_):
    return False


def raises(*_):
    raise ValueError("from a callback")


def text_of(name):
    return (NETS / f"{name}.lpn").read_text()


def scene():
    """The names, made anew."""
    names = {
        "lpn": lpn, "_lpn": _lpn, "array": array, "copy": copy, "gc": gc, "os": os,
        "pickle": pickle, "Plain": Plain, "Narrow": Narrow, "Request": Request, "Rude": Rude,
        "stop": stop, "go_on": go_on, "raises": raises, "text_of": text_of, "Instance": Instance,
        "library": library,
    }  # fmt: skip
    names["__name__"] = "calls"
    return names


def library(name, number):
    """The file of a net that prepare() has compiled, in one of its variants."""
    return (Path(os.environ["LPN_CALLS"]) / f"{name}.artefacts").read_text().split()[number]


def compiled():
    """The names of these nets; none without LPN_CALLS."""
    folder = os.environ.get("LPN_CALLS")
    return [n for n in COMPILED if folder and (Path(folder) / f"{n}.artefacts").exists()]


def prepare(folder, nets):
    """Compiles the first of COMPILED, each plain and in one more variant."""
    for number, name in enumerate(COMPILED[:nets]):
        net = lpn.Net.parse(text_of(name)).done()
        made = [
            _lpn.sim.Library.build(net.core, **{v: True for v in variant}).artefact
            for variant in ([], ["trace", "stats", "path"][number % 3 :][:1])
        ]
        (Path(folder) / f"{name}.artefacts").write_text("\n".join(made))


if __name__ == "__main__":
    prepare(sys.argv[1], int(sys.argv[2]))
