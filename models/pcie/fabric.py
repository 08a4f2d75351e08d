"""Links and switches of a topology, as a net: what lies between its devices and its root complex."""

import array
from dataclasses import dataclass

import lpn
from lpn.runs import WrongValue

from . import parts, rates
from . import topology as topologies

__all__ = ["Fabric", "add_devices", "add_jobs", "fabric"]


@dataclass
class Fabric:
    """The ends of a fabric, to which devices and a root complex are joined.

    devices: {name: (port of packets to the root, port of packets for it)}. roots: {link at the root:
    (port of packets from below, port of packets to there)}. numbers: {name: number in packets}.
    delays: {"LINK.latency" or "SWITCH.forward": its parameter}.
    """

    devices: dict
    roots: dict
    numbers: dict
    delays: dict


def fabric(
    net, topology, *, prefix="", tick=1000, host=None, up=parts.UP, down=parts.DOWN
) -> Fabric:
    """Adds the links and switches of a Topology to a net; numbers of it are parameters.

    prefix: of every name. tick: femtoseconds of a tick of the net, of which a ps is a whole number. host:
    the device that the host itself exchanges packets with, of the kinds `up` and `down`; it has room for
    any number that wait, not for `queue` of a kind.
    """
    made = _Fabric(net, topology, prefix, tick, host)
    way = [] if host is None else topologies.way(topology, topology.devices[host].link)
    for name, link in topology.links.items():
        kinds = (up, down) if name in way else (parts.UP, parts.DOWN)
        made.link(name, link, *kinds)
    for name, switch in topology.switches.items():
        made.switch(name, switch)
    at = {name: made.lower[device.link] for name, device in topology.devices.items()}
    roots = {link: (a, d) for link, a, d in made.below["root"]}
    return Fabric(at, roots, made.numbers, made.delays)


class _Fabric:
    def __init__(self, net, topology, prefix, tick, host):
        self.net, self.topology, self.prefix, self.tick = net, topology, prefix, tick
        devices = topology.devices.items()
        self.queues = {d.link: d.queue for name, d in devices if name != host}
        self.numbers = {name: k for k, name in enumerate(topology.devices)}
        self.pad = net.param(f"{prefix}pad", topology.pad, range=(1, 8))
        self.lower = {}  # link -> (what goes up into it, what has come down by it)
        self.below = {}  # where links hang -> their names and upper ends
        self.delays = {}

    def latency(self, name, ps):
        """A parameter: a time of the file, in ticks."""
        ticks = ps * 1000 // self.tick
        self.delays[name] = self.net.param(f"{self.prefix}{name}", ticks, range=(0, 4 * 10**12))
        return self.delays[name]

    def link(self, name, link, up, down):
        net, full = self.net, self.prefix + name
        speed = rates.byte_fs(link.generation, link.lanes, self.topology.max_payload)
        how = {
            "byte_fs": net.param(f"{full}.byte_fs", speed, range=(1, 10**8)),
            "latency": self.latency(f"{name}.latency", link.latency),
            "pad": self.pad,
            "credits": {kind: (packets, units) for kind, packets, units in link.credits},
            "tick": self.tick,
        }
        sent = parts.port(net, f"{full}.lower.out", up, self.queues.get(name))
        at_parent = parts.port(net, f"{full}.upper.in", up)
        leaves = parts.port(net, f"{full}.upper.out", down)
        arrived = parts.port(net, f"{full}.lower.in", down)
        parts.direction(net, f"{full}.up", sent, at_parent, **how)
        parts.direction(net, f"{full}.down", leaves, arrived, **how)
        self.lower[name] = (sent, arrived)
        self.below.setdefault(link.parent, []).append((name, at_parent, leaves))

    def switch(self, name, switch):
        up, arrived = self.lower[switch.link]
        ends = [(a, d, self.under(link)) for link, a, d in self.below[name]]
        latency = self.latency(f"{name}.forward", switch.latency)
        parts.switch(self.net, self.prefix + name, up, arrived, ends, latency=latency)

    def under(self, link):
        """The numbers of the devices below a link."""
        devices = self.topology.devices
        return [
            self.numbers[name]
            for name, device in devices.items()
            if link in topologies.way(self.topology, device.link)
        ]


def add_devices(net, topology, made, names, done, *, prefix=""):
    """Joins the DMA engines of these devices of a Topology to a Fabric; a transfer that has ended is a
    token of the place `done` (parts.Done).
    """
    for name in names:
        device, (up, arrived) = topology.devices[name], made.devices[name]
        parts.device(
            net,
            prefix + name,
            up,
            arrived,
            done,
            number=made.numbers[name],
            max_payload=topology.max_payload,
            max_read=net.param(f"{prefix}{name}.max_read", device.max_read, range=(128, 4096)),
            outstanding=net.param(
                f"{prefix}{name}.outstanding", device.outstanding, range=(1, 1024)
            ),
        )


def add_jobs(marking, topology, prefix=""):
    """Adds what the devices of a Topology transfer to the places of their jobs. Raises Error "E-param" for sizes
    that parameters of the net were set to and that there are not.
    """
    said = marking.net.bound
    names = [f"{prefix}{name}" for name in topology.devices]
    given = {name: said[f"{name}.max_read"] for name in names if f"{name}.max_read" in said}
    try:
        topologies.check_sizes(given, said.get("root.completions", topology.chunk))
    except WrongValue as wrong:
        raise lpn.Error("E-param", str(wrong)) from None
    for name, device in topology.devices.items():
        for jobs in device.jobs:
            _add(marking, f"{prefix}{name}.jobs", jobs)


def _add(marking, place, jobs):
    step = jobs.size if jobs.step is None else jobs.step
    kinds = {"write": [1], "read": [0], "both": [1, 0]}[jobs.kind]
    last = jobs.address + (jobs.count - 1) * step
    if last > 2**48:
        raise ValueError(f"the addresses of {jobs.count} jobs go beyond 2**48")
    addresses = (jobs.address + k * step for k in range(jobs.count) for _ in kinds)
    marking.add_columns(
        place,
        write=array.array("q", kinds * jobs.count),
        size=jobs.size,
        address=array.array("q", addresses),
    )
