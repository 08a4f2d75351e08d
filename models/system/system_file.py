"""System files: an accelerator, its shell, a link, a host and its memory, in TOML.

README.md describes every key. Times are nanoseconds with at most three decimals, sizes bytes,
clocks MHz. What a file leaves out has the default that stands here.
"""

import math
import os
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction

import lpn
from lpn.runs import WrongValue, one_of, picoseconds, read_toml, whole

from models.pcie import rates

__all__ = ["Accelerator", "Device", "Host", "Link", "Memory", "Reads", "System", "Writes", "read"]


def _clock(value, name):
    """MHz -> the period in ps, which must be whole."""
    whole(1, 100_000)(value, name)
    period = Fraction(10**6, value)
    if period.denominator != 1:
        raise WrongValue(f"{name}: the period of {value} MHz is not a whole number of picoseconds")
    return int(period)


def _text(value, name):
    if not isinstance(value, str) or not value:
        raise WrongValue(f"{name} must be a text, got {value!r}")
    return value


def _numbers(value, name):
    if not isinstance(value, dict):
        raise WrongValue(f"{name} must be a table")
    check = whole(-(2**62), 2**62)
    return tuple((key, check(number, f"{name}.{key}")) for key, number in value.items())


def _bytes_of(value, name):
    """{place: bytes of each token, or the property that says so}."""
    if not isinstance(value, dict):
        raise WrongValue(f"{name} must be a table")
    for key, size in value.items():
        if not isinstance(size, str):
            whole(0, 2**24)(size, f"{name}.{key}")
    return tuple(value.items())


def _counts(value, name):
    """{place: a number or the name of a start place}."""
    if not isinstance(value, dict):
        raise WrongValue(f"{name} must be a table")
    for key, many in value.items():
        if not isinstance(many, str):
            whole(1, 2**31)(many, f"{name}.{key}")
    return tuple(value.items())


def _trips(value, name):
    if not isinstance(value, dict):
        raise WrongValue(f"{name} must be a table")
    for key, kind in value.items():
        one_of("read", "write")(kind, f"{name}.{key}")
    return tuple(value.items())


def _key(check, default, name=None):
    return field(default=default, metadata={"check": check, "name": name})


@dataclass(frozen=True)
class Accelerator:
    """The net that is joined as it is, and what it exchanges with the memory."""

    model: str = _key(_text, "")
    period: int = _key(_clock, 1000, "clock_mhz")  # ps
    parameters: tuple = _key(_numbers, ())
    inputs: tuple = _key(_bytes_of, ())
    outputs: tuple = _key(_bytes_of, ())
    finished: tuple = _key(_counts, ())
    ahead: int = _key(whole(1, 2**20), 16)
    round_trips: tuple = _key(_trips, ())


@dataclass(frozen=True)
class Device:
    registers: int = _key(whole(1, 1000), 1)
    register_cycles: int = _key(whole(0, 10**6), 1)
    done: str = _key(one_of("accepted", "acknowledged"), "acknowledged")


@dataclass(frozen=True)
class Reads:
    bytes: int = _key(whole(1, 4096), 64)
    outstanding: int = _key(whole(1, 4096), 16)
    buffer: int = _key(whole(1, 2**24), 4096)
    start: int = _key(whole(0, 2**24), 0)
    interval_cycles: int = _key(whole(1, 1000), 1)
    gap_cycles: int = _key(whole(0, 1000), 0)
    bytes_per_cycle: int = _key(whole(1, 4096), 8)


@dataclass(frozen=True)
class Writes:
    bytes: int = _key(whole(1, 4096), 64)
    outstanding: int = _key(whole(1, 4096), 16)
    buffer: int = _key(whole(1, 2**24), 4096)
    cycles: int = _key(whole(0, 1000), 1)
    latency: int = _key(picoseconds, 0, "latency_ns")


@dataclass(frozen=True)
class Link:
    latency: int = _key(picoseconds, 0, "latency_ns")
    generation: int = _key(one_of(0, *rates.GENERATIONS), 0)
    lanes: int = _key(one_of(*rates.LANES), 8)
    max_payload: int = _key(one_of(*rates.PAYLOADS), 256)


@dataclass(frozen=True)
class Host:
    clock_mhz: int = _key(whole(1, 100_000), 1000)  # for answers alone
    request: int = _key(picoseconds, 0, "request_ns")
    answer: int = _key(picoseconds, 0, "answer_ns")
    wait: str = _key(one_of("poll", "interrupt"), "poll")
    pause: int = _key(picoseconds, 0, "pause_ns")
    polls: int = _key(whole(1, 2**31), 4_000_000)
    interrupt: int = _key(picoseconds, 0, "interrupt_ns")
    guest_clock_ppm: int = _key(whole(-500_000, 500_000), 0)


@dataclass(frozen=True)
class Memory:
    packet: int = _key(picoseconds, 0, "packet_ns")
    hit: int = _key(picoseconds, 0, "hit_ns")
    cache_lines: int = _key(whole(0, 1024), 0)
    line: int = _key(one_of(16, 32, 64, 128, 256), 64)
    behind: int = _key(picoseconds, 0, "behind_ns")
    controller: int = _key(picoseconds, 0, "controller_ns")
    activate: int = _key(picoseconds, 0, "activate_ns")
    access: int = _key(picoseconds, 0, "access_ns")
    precharge: int = _key(picoseconds, 0, "precharge_ns")
    page: str = _key(one_of("open", "closed"), "open")
    row_bytes: int = _key(whole(64, 2**20), 8192)
    banks: int = _key(whole(1, 1024), 16)
    model: str = _key(one_of("latency", "dram"), "latency")
    part: str = _key(_text, "ddr4")
    clock: int = _key(_clock, 625, "clock_mhz")  # of the DRAM's commands, ps
    input: str = _key(one_of("behind", "dram"), "dram")
    output: str = _key(one_of("behind", "dram"), "dram")

    def levels(self):
        """ps beyond a hit of each level: in the cache, behind it, row open, shut, another open."""
        dram = self.behind + self.controller + self.access
        shut = dram + self.activate
        return (0, self.behind, dram, shut, shut + self.precharge)


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

    @property
    def tick(self) -> int | Fraction:
        """ps of a tick of the net: the longest in which every time of the file is whole, and a quarter
        of a DRAM's cycle; with a generation of PCI Express at most 1, for the times of packets."""
        m = self.memory
        if m.model == "dram":
            least = self._whole() if not self.link.generation else 1
            found = Fraction(math.gcd(4 * least, m.clock), 4)
            return int(found) if found.denominator == 1 else found
        return 1 if self.link.generation else self._whole()

    def _whole(self):
        m = self.memory
        return math.gcd(
            self.accelerator.period,
            *(self.link.latency, self.writes.latency),
            *(self.host.request, self.host.answer, self.host.pause, self.host.interrupt),
            *(m.packet, m.hit, m.behind, m.controller, m.activate, m.access, m.precharge),
        )

    def changed(self, **settings) -> "System":
        """The same with other values: {"link.lanes": 4}, as a file would say them.

        Raises Error "E-system-file".
        """
        system = self
        try:
            for key, value in settings.items():
                table, _, name = key.partition(".")
                found = {_name(f): f for f in fields(_TABLES[table])}[name]
                checked = found.metadata["check"](value, key)
                part = replace(getattr(system, table), **{found.name: checked})
                system = replace(system, **{table: part})
            _check(system)
        except WrongValue as wrong:
            raise lpn.Error("E-system-file", f"{self.name}: {wrong}") from None
        return system


def _name(found):
    return found.metadata["name"] or found.name


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
    parts = {}
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
    for name in data:
        raise WrongValue(f"there is an unknown '{name}'; known: model, {', '.join(_TABLES)}")
    system = System(
        **parts,
        name=os.path.splitext(os.path.basename(path))[0],
        folder=os.path.dirname(path) or ".",
    )
    _check(system)
    return system


def _part(kind, name, table):
    values = {}
    for found in fields(kind):
        key = _name(found)
        if key in table:
            values[found.name] = found.metadata["check"](table.pop(key), f"{name}.{key}")
    for key in table:
        known = ", ".join(_name(f) for f in fields(kind))
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
    if system.link.generation and max(reads.bytes, writes.bytes) > system.link.max_payload:
        raise WrongValue(
            f"reads.bytes and writes.bytes must be at most link.max_payload, "
            f"{system.link.max_payload} bytes: a request is one packet"
        )
    memory = system.memory
    if memory.model == "dram":
        unread = ("cache_lines", "activate", "access", "precharge", "page", "row_bytes", "banks")
        for key in fields(Memory):
            if key.name in unread and getattr(memory, key.name) != key.default:
                raise WrongValue(
                    f'memory.{_name(key)} is of memory.model = "latency"; with "dram" the part says '
                    "it: leave it out, and see memory.part"
                )
    if system.memory.model == "dram" and system.accelerator.round_trips:
        raise WrongValue(
            'accelerator.round_trips is a fixed latency, which memory.model = "dram" has not; leave out '
            "memory.model"
        )
    if system.accelerator.round_trips and (system.accelerator.outputs):
        raise WrongValue(
            "accelerator.round_trips is for nets with a memory of their own: no outputs"
        )
