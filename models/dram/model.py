"""DRAM: when each command of a sequence is first legal, by the standard.

`lpn sim dram SEQUENCE.json` runs a sequence of commands on the net of its part (device.py), which
is generated from a description of the standard (standard.py, standards/*.toml).
"""

from lpn.command import table

from . import device
from .sequence import Sequence, earliest, marking, truth_rows
from .standard import standard

__all__ = ["answer", "compare", "engine", "net", "net_of", "show", "truth_rows", "workload"]

_nets = {}


def net():
    """The net of the smallest organisation of DDR4. Others: net_of() of a sequence."""
    return _net(standard("ddr4", "small"))


def net_of(input):
    """The net of a sequence's part: a file name, or a Sequence."""
    return _net(Sequence.of(input).standard)


def _net(standard):
    if standard not in _nets:
        _nets[standard] = device.build(standard)
    found = _nets[standard]
    found.bound = {}
    return found


def workload(input, net):
    """The marking of a sequence for the net of its part. Raises Error "E-dram-sequence"."""
    return marking(Sequence.of(input), net)


def engine(input) -> str:
    """What runs an input when nobody asks: a sequence is over before its net is compiled."""
    return "interp"


def answer(input) -> dict:
    """The earliest cycle of every command of a sequence."""
    sequence = Sequence.of(input)
    rows = earliest(sequence, _net(sequence.standard))
    return {"commands": [[c, list(where), cycle] for c, where, cycle in rows]}


def show(answer):
    """Prints an answer()."""
    table(
        ["command", "coordinate", ">earliest cycle"],
        [[c, " ".join(map(str, where)), f"{cycle}"] for c, where, cycle in answer["commands"]],
    )


def compare(ready, expected):
    """Of a row of lpn validate: every command, and the same commands with idle gaps."""
    return expected.compare(ready)
