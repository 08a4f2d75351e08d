"""A program on a recorded trace: what its packets cost, class by class."""

import math
import random
from dataclasses import dataclass

from lpn.runs import read_capture

from .check import module_of, tables_of
from .errors import refused
from .machine import Machine, Run, Table, World
from .objects import ARRAYS
from .writer import write

ANSWERS = 64  # random numbers for one packet


def read_trace(path):
    """([(time in ns, bytes)], how many were cut off) of a pcap file of Ethernet frames. Raises Error
    E-bpf-file.
    """
    try:
        found = read_capture(path)
    except OSError as wrong:
        raise refused("E-bpf-file", f"cannot read '{path}': {wrong.strerror}") from None
    except ValueError as wrong:
        raise refused("E-bpf-file", str(wrong)) from None
    return list(zip(found.times, found.frames())), found.cut


@dataclass
class Replayed:
    """A packet of a trace: its class, what the machine did, entries of the maps before it."""

    name: str
    content: bytes
    run: Run
    entries: dict
    where: object  # a function: the name of an instruction's place


def replay(interface, packets, maps, carry=False, ifindex=1, seed=1, trace=False):
    """A Replayed per packet of a trace. `maps`: {map: Table} before the first packet; with `carry`
    every packet finds what those before it left. `trace`: runs keep their instructions.
    """
    module = module_of(write(interface))
    machine = Machine(interface.program, interface.function, interface.tails, interface.prices)
    generator = random.Random(seed)
    for name, shape in interface.program.maps.items():
        maps.setdefault(name, Table(shape))
    data, counted = {}, [name for name, shape in interface.program.maps.items() if _fills(shape)]
    for when, content in packets:
        environment = {
            "ktime": when,
            "random": [generator.randrange(1 << 32) for _ in range(ANSWERS)],
            "cpu": 0,
        }
        world = World(content, {"ingress_ifindex": ifindex}, maps, data, environment)
        if not carry:
            world = world.copy()
        name = module["class_of"](content, world.context, tables_of(world), environment, world.data)
        entries = {each: len(world.maps[each].entries) for each in counted}
        run = machine.run(world, trace)
        yield Replayed(name, content, run, entries, interface.program.where)


def _fills(shape):
    """Whether a map has more entries or less."""
    return shape.kind not in ARRAYS and shape.kind not in ("PROG_ARRAY",)


def deploy(interface, packets, maps, metric="insns", carry=False, ifindex=1, seed=1):
    """[(class, cost)] of the packets of a trace (replay)."""
    replayed = replay(interface, packets, maps, carry, ifindex, seed)
    return [(one.name, one.run.of(metric)) for one in replayed]


def nearest_rank(ordered, percent):
    """The percentile of sorted values that is one of them."""
    return ordered[max(math.ceil(percent / 100 * len(ordered)), 1) - 1]


def statistics(costs, percentiles):
    """n, min, percentiles by nearest rank, max, mean."""
    ordered = sorted(costs)
    out = {"n": len(ordered), "min": ordered[0]}
    for each in percentiles:
        out[f"p{each:g}"] = nearest_rank(ordered, each)
    out["max"] = ordered[-1]
    out["mean"] = round(sum(ordered) / len(ordered), 6)
    return out


def per_class(rows, percentiles):
    """{"overall": ..., "per_class": {name: ...}} of deploy's rows."""
    groups = {}
    for name, cost in rows:
        groups.setdefault(name, []).append(cost)
    return {
        "overall": statistics([cost for _, cost in rows], percentiles),
        "per_class": {
            name: statistics(costs, percentiles)
            for name, costs in sorted(groups.items(), key=lambda g: int(g[0][1:]))
        },
    }
