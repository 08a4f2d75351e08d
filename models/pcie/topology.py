"""Topology files: a root complex, links, switches, devices and what they transfer, in TOML.

    max_payload = 256              bytes of a packet, one for all (128 to 4096)

    [root]
    read_ns = 90                   from a read request's arrival to its completions
    write_ns = 40                  from a write's arrival until it is in memory
    completions = 64               bytes, to max_payload: completions end at multiples; or "payload"

    [links.slot]
    parent = "root"                or the name of a switch
    generation = 4
    lanes = 8
    latency_ns = 60                one way, from the end of a packet to the receiver
    credits = {posted = [64, 512], nonposted = [64, 64], completion = [64, 512]}
                                   packets and units of 16 bytes that a receiver has room for;
                                   a kind that is left out is never held up

    [switches.middle]              at the lower end of the link of this name or of `link`
    link = "slot"
    latency_ns = 110

    [devices.nic]
    link = "slot"
    max_read = 512                 bytes of a read request
    outstanding = 32               read requests in flight
    queue = 2                      packets of a kind in the device, until the last byte of one is sent
    jobs = [{kind = "write", size = 64, count = 100, address = 0, step = 64}, ...]

`kind`: "write", "read", or "both", a write and a read in turn. Times are numbers of nanoseconds
with at most three decimals; sizes are bytes.
"""

import os
import re
from dataclasses import dataclass, field

import lpn
from lpn.runs import WrongValue, one_of, picoseconds, read_toml, whole

from . import rates

__all__ = ["Device", "Jobs", "Link", "Switch", "Topology", "check_sizes", "read", "way"]

# What registers of the specification can say.
_generation, _lanes = one_of(*rates.GENERATIONS), one_of(*rates.LANES)
_payload = _max_read = one_of(*rates.PAYLOADS)
_boundary = one_of(64, *rates.PAYLOADS)


def check_sizes(max_reads, chunk):
    """That sizes are such as a device can be told. max_reads: {name: bytes of a read request}; chunk: bytes
    at whose multiples completions end. Raises WrongValue.
    """
    for name, size in max_reads.items():
        _max_read(size, f"{name}.max_read")
    _boundary(chunk, "root.completions")


@dataclass(frozen=True)
class Link:
    parent: str = "root"
    generation: int = 3
    lanes: int = 8
    latency: int = 0  # ps
    credits: tuple = ()  # (kind, packets, units)


@dataclass(frozen=True)
class Switch:
    link: str
    latency: int = 0  # ps


@dataclass(frozen=True)
class Jobs:
    kind: str
    size: int
    count: int = 1
    address: int = 0
    step: int | None = None  # None: size


@dataclass(frozen=True)
class Device:
    link: str
    max_read: int = 512
    outstanding: int = 32
    queue: int = 2
    jobs: tuple = ()


@dataclass(frozen=True)
class Topology:
    """All of a file. Names in their order there. Raises Error "E-pcie-topology" for links and sizes that
    there are not, and for completions that are more than a packet.
    """

    max_payload: int = 256
    read: int = 0  # ps
    write: int = 0  # ps
    chunk: int = 64  # bytes
    pad: int = 4  # bytes
    links: dict = field(default_factory=dict)
    switches: dict = field(default_factory=dict)
    devices: dict = field(default_factory=dict)
    name: str = "topology"

    def __post_init__(self):
        try:
            _payload(self.max_payload, "max_payload")
            for name, link in self.links.items():
                _generation(link.generation, f"links.{name}.generation")
                _lanes(link.lanes, f"links.{name}.lanes")
            check_sizes({n: d.max_read for n, d in self.devices.items()}, self.chunk)
        except WrongValue as wrong:
            raise lpn.Error("E-pcie-topology", str(wrong)) from None
        if self.chunk > self.max_payload:
            raise lpn.Error(
                "E-pcie-topology",
                f"root.completions is {self.chunk} bytes, more than a packet carries (max_payload "
                f'{self.max_payload}); write "payload" for completions of that size',
            )

    def __str__(self):
        return self.name


def read(path) -> Topology:
    """The topology of a file. Raises Error "E-pcie-topology" with what is wrong and where."""
    data = read_toml(path, "E-pcie-topology", unreadable="E-input")
    try:
        return _topology(data, os.path.splitext(os.path.basename(path))[0])
    except (WrongValue, lpn.Error) as wrong:
        raise lpn.Error("E-pcie-topology", f"{path}: {wrong}") from None


class _Table:
    """A table of the file; what is left in it was not understood."""

    def __init__(self, data, name):
        if not isinstance(data, dict):
            raise WrongValue(f"{name} must be a table")
        self.left = dict(data)
        self.name = name

    def take(self, key, check, default=None):
        if key not in self.left:
            if default is None:
                raise WrongValue(f"{self.name} has no '{key}'")
            return default
        return check(self.left.pop(key), f"{self.name}.{key}")

    def tables(self, key):
        found = self.take(key, lambda value, name: _Table(value, name).left, {})
        return {name: _Table(data, f"{key}.{name}") for name, data in found.items()}

    def end(self, known):
        for key in self.left:
            raise WrongValue(f"{self.name} has an unknown '{key}'; known: {', '.join(known)}")


def _text(value, name):
    if not isinstance(value, str):
        raise WrongValue(f"{name} must be a name, got {value!r}")
    return value


def _chunk(value, name):
    if value == "payload":
        return 0
    return one_of("payload", 64, *rates.PAYLOADS)(value, name)


def _credits(value, name):
    table = _Table(value, name)
    found = []
    for kind in ("posted", "nonposted", "completion"):
        pair = table.left.pop(kind, None)
        if pair is None:
            continue
        if not isinstance(pair, list) or len(pair) != 2:
            raise WrongValue(f"{name}.{kind} must be [packets, units of 16 bytes], got {pair!r}")
        check = whole(1, 2**20)
        found.append((kind, *(check(n, f"{name}.{kind}") for n in pair)))
    table.end(("posted", "nonposted", "completion"))
    return tuple(found)


def _jobs(value, name):
    if not isinstance(value, list):
        raise WrongValue(f"{name} must be a list of tables")
    return tuple(_job(_Table(each, f"{name}[{k}]")) for k, each in enumerate(value))


def _job(table):
    jobs = Jobs(
        kind=table.take("kind", one_of("write", "read", "both")),
        size=table.take("size", whole(1, 2**32)),
        count=table.take("count", whole(1, 10_000_000), 1),
        address=table.take("address", whole(0, 2**48), 0),
        step=table.take("step", whole(0, 2**32), -1),
    )
    table.end(("kind", "size", "count", "address", "step"))
    return jobs if jobs.step != -1 else Jobs(jobs.kind, jobs.size, jobs.count, jobs.address)


def _topology(data, name):
    top = _Table(data, "the file")
    payload = top.take("max_payload", _payload, 256)
    root = top.take("root", _Table, _Table({}, "root"))
    topology = Topology(
        max_payload=payload,
        read=root.take("read_ns", picoseconds, 0),
        write=root.take("write_ns", picoseconds, 0),
        chunk=root.take("completions", _chunk, 64) or payload,
        pad=4,
        links={each: _link(table) for each, table in top.tables("links").items()},
        switches={each: _switch(table, each) for each, table in top.tables("switches").items()},
        devices={each: _device(table) for each, table in top.tables("devices").items()},
        name=name,
    )
    root.end(("read_ns", "write_ns", "completions"))
    top.end(("max_payload", "root", "links", "switches", "devices"))
    _check(topology)
    return topology


def _link(table):
    link = Link(
        parent=table.take("parent", _text, "root"),
        generation=table.take("generation", _generation),
        lanes=table.take("lanes", _lanes),
        latency=table.take("latency_ns", picoseconds, 0),
        credits=table.take("credits", _credits, ()),
    )
    table.end(("parent", "generation", "lanes", "latency_ns", "credits"))
    return link


def _switch(table, name):
    switch = Switch(table.take("link", _text, name), table.take("latency_ns", picoseconds, 0))
    table.end(("link", "latency_ns"))
    return switch


def _device(table):
    device = Device(
        link=table.take("link", _text),
        max_read=table.take("max_read", _max_read, 512),
        outstanding=table.take("outstanding", whole(1, 1024), 32),
        queue=table.take("queue", whole(1, 1024), 2),
        jobs=table.take("jobs", _jobs, ()),
    )
    table.end(("link", "max_read", "outstanding", "queue", "jobs"))
    return device


def _check(topology):
    """That links, switches and devices make a tree, and packets are no larger than they may be."""
    for kind, parts in (
        ("link", topology.links),
        ("switch", topology.switches),
        ("device", topology.devices),
    ):
        for name in parts:
            if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,63}", name) or name == "root":
                raise WrongValue(
                    f"{kind} {name!r} must be named by a letter and up to 63 letters, digits and _, and "
                    "not 'root'"
                )
    for name in topology.devices:
        if name in topology.switches:
            raise WrongValue(f"'{name}' is a switch and a device; choose another name")
    if len(topology.devices) > 256 or len(topology.links) > 1000:
        raise WrongValue(
            f"there are {len(topology.devices)} devices and {len(topology.links)} links; at most 256 and "
            "1000"
        )
    at_end = {}
    for kind, parts in (("switch", topology.switches), ("device", topology.devices)):
        for name, part in parts.items():
            if part.link not in topology.links:
                raise WrongValue(
                    f"{kind} '{name}' is at link '{part.link}', which is not there; links: "
                    f"{', '.join(topology.links) or 'none'}"
                )
            if part.link in at_end:
                raise WrongValue(f"{at_end[part.link]} and {kind} '{name}' are at one link")
            at_end[part.link] = f"{kind} '{name}'"
    if not topology.devices:
        raise WrongValue("there is no device")
    for name in topology.switches:
        if all(link.parent != name for link in topology.links.values()):
            raise WrongValue(f"no link hangs on switch '{name}'")
    for name in topology.links:
        if name not in at_end:
            raise WrongValue(f"link '{name}' has nothing at its lower end: a device or a switch")
        way(topology, name)
    for name, link in topology.links.items():
        for kind, packets, units in link.credits:
            if kind != "nonposted" and units * 16 < topology.max_payload:
                raise WrongValue(
                    f"links.{name}.credits: {units} units are {units * 16} bytes, less than "
                    f"one {kind} packet of max_payload {topology.max_payload}"
                )


def way(topology, name):
    """The links from this one up to the root."""
    way, seen = [name], {name}
    while (parent := topology.links[way[-1]].parent) != "root":
        if parent not in topology.switches:
            raise WrongValue(
                f"link '{way[-1]}' hangs on '{parent}', which is neither root nor a switch; "
                f"switches: {', '.join(topology.switches) or 'none'}"
            )
        way.append(topology.switches[parent].link)
        if way[-1] in seen:
            raise WrongValue(f"links {', '.join(way)} go round in a circle")
        seen.add(way[-1])
    return way
