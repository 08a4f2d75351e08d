"""DRAM as a part of other nets: a controller and its devices behind a memory port."""

import functools

from .controller import build
from .controller.tokens import TICKS
from .standard import beside
from .tables import wrong
from .trace import Trace, controllers

__all__ = ["TICKS", "beside", "controllers", "dram", "size"]


@functools.lru_cache(maxsize=8)
def _net(standard, outstanding):
    return build(standard, outstanding)


def _standard(part):
    return Trace(part, part, [], [], []).standard


def size(part):
    """Bytes of the memory behind a controller, as `dram` has it. Raises Error "E-dram-part"."""
    standard = _standard(part)
    return standard.blocks * standard.controller["request_bytes"]


def dram(net, name, port, part, *, quarter=1, phase=0, outstanding=64):
    """A controller behind `port`, an lpn.lib.MemoryPort: accesses of any length, answered in the order
    in which their last pieces are.

    part: a bundled controller ("ddr4", "gddr6", ...) or a file that ends in .toml or .ini
    (README.md). quarter: ticks of `net` in a quarter of a cycle of the memory; phase: of the first.
    outstanding: accesses under way, 1 to 4096; others wait before the controller. Its refreshes never
    stop: a run needs a number of done tokens. A write is answered when the controller has taken it.
    Raises Error "E-dram-part", and ValueError for a name that there is not.
    """
    if type(outstanding) is not int or not 1 <= outstanding <= 4096:
        raise wrong(f"'{name}': outstanding must be an int 1..4096, got {outstanding!r}")
    standard = _standard(part)
    connect = {"asked": port.requests, "answered": port.responses}
    return net.instance(_net(standard, outstanding), name, connect, clock=(quarter, phase))
