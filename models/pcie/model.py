"""PCI Express: devices that write to and read from a host's memory over links and switches.

    device -> [packets by kind] -> link -> switch -> link -> root complex -> memory
                                                     <- completions <-

`lpn sim pcie TOPOLOGY.toml` (topology.py); parts.py has the parts, to be joined with other nets.
Times are picoseconds. `latency` is the instant at which the last transfer has ended.
"""

import functools
import math

import lpn
from lpn.command import grouped, table
from lpn.runs import decimal, prepare, read_csv

from . import parts, rates
from . import topology as topologies
from .fabric import add_devices, add_jobs, fabric
from .topology import Device, Jobs, Link, Topology

__all__ = ["answer", "compare", "net", "net_of", "show", "truth_rows", "workload"]


def net(
    *,
    generation: int = 3,
    lanes: int = 8,
    max_payload: int = 256,
    max_read: int = 512,
    completions: int = 64,
    outstanding: int = 256,
) -> lpn.Net:
    """One device at one link; others by net_of(). Sizes in bytes, as in a topology file."""
    return net_of(
        Topology(
            max_payload=max_payload,
            chunk=completions,
            links={"link": Link(generation=generation, lanes=lanes)},
            devices={"device": Device("link", max_read, outstanding)},
        )
    )


def net_of(topology) -> lpn.Net:
    """The net of a Topology or of its file; its numbers are the defaults of parameters, but for the
    largest payload: rates of links follow from it.

    Raises Error "E-pcie-topology".
    """
    if not isinstance(topology, Topology):
        topology = topologies.read(topology)
    net = _net(_Key(topology))
    net.bound = {}  # whoever had it before may have set parameters
    return net


class _Key:
    """A topology without what it transfers: many workloads share a net."""

    def __init__(self, topology):
        self.topology = topology
        devices = [(n, d.link, d.max_read, d.outstanding, d.queue) for n, d in _devices(topology)]
        numbers = [topology.max_payload, topology.read, topology.write, topology.chunk]
        self._all = repr((numbers, topology.pad, topology.links, topology.switches, devices))

    def __hash__(self):
        return hash(self._all)

    def __eq__(self, other):
        return self._all == other._all


def _devices(topology):
    return topology.devices.items()


@functools.lru_cache(maxsize=8)
def _net(key):
    topology = key.topology
    net = lpn.Net("pcie")
    net.frequency = 10**12  # ticks are picoseconds, as fabric() has them
    done = net.place("done", parts.Done, done=True, sink=True)
    made = fabric(net, topology)
    add_devices(net, topology, made, topology.devices, done)
    how = {
        "read": net.param("root.read", topology.read, range=(0, 10**12)),
        "write": net.param("root.write", topology.write, range=(0, 10**12)),
        "chunk": net.param("root.completions", topology.chunk, range=(64, topology.max_payload)),
    }
    for link, (at_root, down) in made.roots.items():
        parts.root_complex(net, f"root.{link}", at_root, down, done, **how)
    return net


def workload(topology, net: lpn.Net) -> lpn.Marking:
    """The jobs of a Topology, or of its file."""
    if not isinstance(topology, Topology):
        topology = topologies.read(topology)
    marking = lpn.Marking(net)
    add_jobs(marking, topology)
    return marking


def answer(path) -> dict:
    """Per device and direction: transfers, bytes, when the last ended (ns) and Gbit/s until then."""
    topology = topologies.read(path)
    net = net_of(topology)
    ready = prepare(net, workload(topology, net), engine=None)
    run = ready.run(collect=["done"])
    values, times = run.collected["done"]
    rows = {}
    for k, time in enumerate(times):
        number, write, size = values[3 * k : 3 * k + 3]
        row = rows.setdefault((list(topology.devices)[number], bool(write)), [0, 0, 0])
        row[0] += 1
        row[1] += size
        row[2] = time
    return {
        "transfers": [
            {
                "device": device,
                "kind": "write" if write else "read",
                "transfers": count,
                "bytes": size,
                "ended_ns": time / 1000,
                "gbps": 8000 * size / time if time else None,
            }
            for (device, write), (count, size, time) in sorted(rows.items())
        ]
    }


def show(answer):
    """Prints an answer()."""
    table(
        ["device", "kind", ">transfers", ">bytes", ">ended ns", ">Gbit/s"],
        [
            [
                row["device"],
                row["kind"],
                grouped(row["transfers"]),
                grouped(row["bytes"]),
                f"{row['ended_ns']:.3f}",
                "" if row["gbps"] is None else f"{row['gbps']:.3f}",
            ]
            for row in answer["transfers"]
        ],
    )


_COLUMNS = {"write": "write_eff_gbps", "read": "read_eff_gbps", "both": "rw_rx_eff_gbps"}


def truth_rows(path):
    """Rows of a table of bandwidths (Gbit/s) over generation, lanes and sizes: three of each, for
    writes alone, reads alone, and both in turn.

    Columns: gen, lanes, mps, mrrs, rcb, rcb_chunks, size_bytes and the three bandwidths. The table
    counts payloads by the byte (`pad` 1), where the wire has words of 4.
    """
    for number, row in read_csv(path)[1]:
        try:
            measured = [(kind, _gbps(row[column])) for kind, column in _COLUMNS.items()]
            setting = _of_row(row)
        except KeyError as error:
            raise lpn.Error("E-truth-file", f"{path} has no column {error}") from None
        except (ValueError, TypeError) as error:
            raise lpn.Error("E-truth-file", f"{path}, row {number}: {error}") from None
        for kind, gbps in measured:
            yield setting(kind), {}, gbps, kind


def _gbps(text):
    value = float(text)
    if not 0 < value < math.inf:
        raise ValueError(f"a bandwidth must be a number above 0, got {text}")
    return value


def _of_row(row):
    """What makes the Topology of a row for a kind of transfer."""
    generation = decimal(row["gen"].removeprefix("gen"))
    lanes = decimal(row["lanes"].removeprefix("x"))
    payload, size = decimal(row["mps"]), decimal(row["size_bytes"])
    if generation not in rates.GENERATIONS or lanes not in rates.LANES:
        raise ValueError(f"generation {generation} with {lanes} lanes is not covered")
    if payload not in rates.PAYLOADS or size < 1:
        raise ValueError(f"payload {payload}, size {size}")
    rcb, chunks, most = decimal(row["rcb"]), row["rcb_chunks"].strip(), decimal(row["mrrs"])
    if chunks not in ("0", "1") or most not in rates.PAYLOADS:
        raise ValueError(f"rcb_chunks {chunks}, mrrs {most}")
    if chunks == "1" and rcb not in (64, *rates.PAYLOADS):
        raise ValueError(f"rcb {rcb}")
    chunk = rcb if chunks == "1" else payload
    count = min(600, 60 * -(-4096 // size))
    # Each transfer begins at a multiple of all sizes, as the table has it.
    step = -(-size // 4096) * 4096

    def topology(kind):
        return Topology(
            max_payload=payload,
            chunk=chunk,
            pad=1,
            links={"link": Link(generation=generation, lanes=lanes)},
            devices={"device": Device("link", most, 256, 2, (Jobs(kind, size, count, 0, step),))},
            name=f"gen{generation} x{lanes} {payload} B {chunk} B {kind} {size} B",
        )

    return topology


def compare(ready, kind):
    """(Run, steady Gbit/s): from the end of the first third of the transfers to that of the last."""
    run = ready.run(collect=["done"])
    values, times = run.collected["done"]
    wanted = 1 if kind == "write" else 0
    ends = [
        (time, values[3 * k + 2]) for k, time in enumerate(times) if values[3 * k + 1] == wanted
    ]
    first = len(ends) // 3
    moved = sum(size for _, size in ends[first + 1 :])
    spent = ends[-1][0] - ends[first][0]
    return run, {"predicted": 8000 * moved / spent}
