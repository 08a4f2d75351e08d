"""System files: an accelerator, its shell, a link, a host and its memory, in TOML.

README.md describes every key. Times are nanoseconds with at most three decimals, sizes bytes,
clocks MHz. What a file leaves out has the default that stands here.
"""

import math
import os
from dataclasses import dataclass, fields, replace
from fractions import Fraction

import lpn
from lpn.runs import WrongValue, read_toml

from models.pcie import topology as topologies

from .tables import Accelerator, Device, Host, Link, Memory, Reads, Writes, name_of

__all__ = ["System", "read"]


_TABLES = {
    "accelerator": Accelerator,
    "device": Device,
    "reads": Reads,
    "writes": Writes,
    "link": Link,
    "host": Host,
    "memory": Memory,
}


@dataclass(frozen=True)
class System:
    """All of a file. Times are ps."""

    accelerator: Accelerator
    device: Device = Device()
    reads: Reads = Reads()
    writes: Writes = Writes()
    link: Link = Link()
    host: Host = Host()
    memory: Memory = Memory()
    name: str = "system"
    folder: str = "."
    topology: topologies.Topology | None = None  # of link.topology
    stated: frozenset = frozenset()  # keys that the file says, or -p: "reads.bytes"

    @property
    def tick(self) -> int | Fraction:
        """ps of a tick of the net: the longest in which every time of the file is whole, and a quarter
        of a DRAM's cycle; with PCI Express at most 1, for the times of packets."""
        m = self.memory
        if m.model == "dram":
            least = self._whole() if not self.link.packets else 1
            found = Fraction(math.gcd(4 * least, m.clock), 4)
            return int(found) if found.denominator == 1 else found
        return 1 if self.link.packets else self._whole()

    def _whole(self):
        m = self.memory
        return math.gcd(
            self.accelerator.period,
            *(self.link.latency, self.writes.latency),
            *(self.host.request, self.host.answer, self.host.pause, self.host.interrupt),
            *(self.host.setup, self.host.command),
            *(
                m.packet,
                m.read_packet,
                m.hit,
                m.behind,
                m.controller,
                m.activate,
                m.access,
                m.precharge,
            ),
        )

    def changed(self, **settings) -> "System":
        """The same with other values: {"link.lanes": 4}, as a file would say them.

        Raises Error "E-system-file".
        """
        system = self
        try:
            for key, value in settings.items():
                table, _, name = key.partition(".")
                found = {name_of(f): f for f in fields(_TABLES[table])}[name]
                checked = found.metadata["check"](value, key)
                part = replace(getattr(system, table), **{found.name: checked})
                system = replace(system, **{table: part})
            system = replace(system, stated=system.stated | set(settings))
            _check(system)
        except WrongValue as wrong:
            raise lpn.Error("E-system-file", f"{self.name}: {wrong}") from None
        return system


def read(path) -> System:
    """The system of a file. Raises Error "E-system-file" with what is wrong and where."""
    data = read_toml(path, "E-system-file", unreadable="E-input")
    try:
        return _system(data, os.fspath(path))
    except WrongValue as wrong:
        raise lpn.Error("E-system-file", f"{path}: {wrong}") from None


def _system(data, path):
    if data.pop("model", "system") != "system":
        raise WrongValue('model must be "system"')
    parts, stated = {}, set()
    for name, kind in _TABLES.items():
        table = data.pop(name, None)
        if table is None:
            if name == "accelerator":
                raise WrongValue(
                    "there is no [accelerator]; it names the model that the system is about"
                )
            continue
        if not isinstance(table, dict):
            raise WrongValue(f"{name} must be a table, [{name}]")
        parts[name] = _part(kind, name, dict(table))
        stated |= {f"{name}.{key}" for key in table}
    for name in data:
        raise WrongValue(f"there is an unknown '{name}'; known: model, {', '.join(_TABLES)}")
    system = System(
        **parts,
        stated=frozenset(stated),
        name=os.path.splitext(os.path.basename(path))[0],
        folder=os.path.dirname(path) or ".",
    )
    if system.link.topology:
        topology = topologies.read(os.path.join(system.folder, system.link.topology))
        system = replace(system, topology=topology)
    _check(system)
    return system


def _part(kind, name, table):
    values = {}
    for found in fields(kind):
        key = name_of(found)
        if key in table:
            values[found.name] = found.metadata["check"](table.pop(key), f"{name}.{key}")
    for key in table:
        known = ", ".join(name_of(f) for f in fields(kind))
        raise WrongValue(f"[{name}] has an unknown '{key}'; known: {known}")
    return kind(**values)


def _check(system):
    reads, writes = system.reads, system.writes
    if not system.accelerator.model:
        raise WrongValue("[accelerator] has no 'model': the name of a bundled model or a file")
    if reads.start > reads.buffer:
        raise WrongValue(
            f"reads.start is {reads.start} bytes, more than reads.buffer holds, {reads.buffer}"
        )
    for name, part in (("reads", reads), ("writes", writes)):
        if part.buffer < part.bytes:
            raise WrongValue(f"{name}.buffer has {part.buffer} bytes, less than {name}.bytes")
    if system.topology is not None:
        _check_topology(system)
    elif system.link.device:
        raise WrongValue("link.device is a device of link.topology, which is not there")
    elif system.link.generation and max(reads.bytes, writes.bytes) > system.link.max_payload:
        raise WrongValue(
            f"reads.bytes and writes.bytes must be at most link.max_payload, "
            f"{system.link.max_payload} bytes: a request is one packet"
        )
    host, link = system.host, system.link
    apart = host.request + host.answer + host.pause + link.latency + system.device.register_cycles
    if host.wait == "poll" and not link.packets and not apart:
        raise WrongValue(
            "host.wait is 'poll', and no time passes between two polls, which would go on for ever in one "
            "instant; write host.pause_ns, or the time of a register access"
        )
    if system.accelerator.round_trips and system.accelerator.outputs:
        raise WrongValue(
            "accelerator.round_trips is for nets with a memory of their own: no outputs"
        )
    _check_ports(system)


def _check_ports(system):
    """What a net with a memory of its own needs of a DRAM controller, and the other way round."""
    about, memory, link = system.accelerator, system.memory, system.link
    if not about.ports:
        if memory.model == "dram" and about.round_trips:
            raise WrongValue(
                'accelerator.round_trips is a fixed latency, which memory.model = "dram" has not; leave '
                "out memory.model, or join the net by accelerator.ports"
            )
        return
    if memory.model != "dram":
        raise WrongValue(
            'accelerator.ports is for accesses with addresses: memory.model must be "dram"'
        )
    if link.packets:
        key = "topology" if link.topology else "generation"
        raise WrongValue(f"accelerator.ports needs a link of messages; leave out link.{key}")
    for name, kind in about.round_trips:
        if kind != "command":
            raise WrongValue(
                f"accelerator.round_trips.{name} is '{kind}', a fixed latency, which a net with "
                "accelerator.ports has not: leave it out"
            )
    if about.outputs or any(size != 0 for _, size in about.inputs):
        raise WrongValue(
            "accelerator.ports are all that the net reads and writes: no outputs, and 0 bytes of inputs"
        )
    sets = memory.behind_sets
    if (
        sets < 1
        or sets & (sets - 1)
        or sets * memory.line * memory.behind_ways != memory.behind_bytes
    ):
        raise WrongValue(
            f"memory.behind_bytes is {memory.behind_bytes}: with accelerator.ports it is behind_ways, "
            f"{memory.behind_ways}, times line, {memory.line}, times a power of two"
        )
    if max(memory.packet, memory.read_packet) > memory.hit:
        raise WrongValue(
            "memory.hit_ns has packet_ns and read_packet_ns in it with accelerator.ports"
        )


def _check_topology(system):
    """That the accelerator has its place in the topology, and each fact one."""
    link, topology, reads, writes = system.link, system.topology, system.reads, system.writes
    for key in ("latency_ns", "generation", "lanes", "max_payload"):
        if f"link.{key}" not in system.stated:
            continue
        raise WrongValue(
            f"link.{key} is of a link without a topology; {link.topology} says it: leave it out"
        )
    names = ", ".join(topology.devices)
    if link.device not in topology.devices:
        said = f"got '{link.device}'" if link.device else "it is left out"
        raise WrongValue(
            f"link.device names the accelerator among the devices of {link.topology}, {names}; {said}"
        )
    own = topology.devices[link.device]
    if own.jobs:
        raise WrongValue(
            f"device '{link.device}' of {link.topology} is the accelerator and has jobs; it transfers "
            "what [reads] and [writes] say: leave jobs out, or name another device"
        )
    for key in ("outstanding", "queue"):
        if getattr(own, key) != getattr(topologies.Device, key):
            raise WrongValue(
                f"device '{link.device}' of {link.topology} is the accelerator and has '{key}', which "
                "[reads] and [writes] say: leave it out"
            )
    if reads.bytes > own.max_read:
        raise WrongValue(
            f"reads.bytes is {reads.bytes}, more than max_read of device '{link.device}' in "
            f"{link.topology}, {own.max_read}: a request is one packet"
        )
    if reads.bytes % topology.chunk and topology.chunk % reads.bytes:
        raise WrongValue(
            f"reads.bytes is {reads.bytes}, neither a multiple nor a divisor of the {topology.chunk} bytes "
            f"at whose multiples completions end ({link.topology}, root.completions)"
        )
    if writes.bytes > topology.max_payload:
        raise WrongValue(
            f"writes.bytes is {writes.bytes}, more than max_payload of {link.topology}, "
            f"{topology.max_payload}: a write is one packet"
        )
