"""What stands in the tables of a system file: keys, ranges, defaults. Times are ps once read."""

from dataclasses import dataclass, field
from fractions import Fraction

from lpn.runs import WrongValue, one_of, picoseconds, whole

from models.pcie import rates

from .trips import KINDS

__all__ = ["Accelerator", "Device", "Host", "Link", "Memory", "Reads", "Writes", "name_of"]


def name_of(found):
    """The key of a field in a file."""
    return found.metadata["name"] or found.name


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
        one_of(*KINDS)(kind, f"{name}.{key}")
    return tuple(value.items())


def _ports(value, name):
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
    ports: tuple = _key(_ports, ())


@dataclass(frozen=True)
class Device:
    registers: int = _key(whole(1, 1000), 1)
    register_cycles: int = _key(whole(0, 10**6), 1)
    done: str = _key(one_of("accepted", "acknowledged"), "acknowledged")
    truth: str = _key(one_of("rtl", "lpn"), "rtl")  # what it was when it was measured


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
    topology: str = _key(_text, "")
    device: str = _key(_text, "")

    @property
    def packets(self) -> bool:
        """Whether it has packets of PCI Express, which take turns; else messages, which do not."""
        return bool(self.generation or self.topology)


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
    setup: int = _key(picoseconds, 0, "setup_ns")  # before the first command
    command: int = _key(picoseconds, 0, "command_ns")  # before the register writes of each
    rounds: int = _key(whole(1, 1000), 1)  # of the input's work, one after the other


# Times of an access, beyond a hit.
BEYOND_HIT = ("behind", "controller", "access", "activate", "precharge")


def levels(behind, controller, access, activate, precharge):
    """Memory.levels() of these times."""
    dram = behind + controller + access
    shut = dram + activate
    return (0, behind, dram, shut, shut + precharge)


@dataclass(frozen=True)
class Memory:
    packet: int = _key(picoseconds, 0, "packet_ns")
    read_packet: int = _key(picoseconds, 0, "read_packet_ns")  # of a port's reads
    hit: int = _key(picoseconds, 0, "hit_ns")
    cache_lines: int = _key(whole(0, 1024), 0)
    line: int = _key(one_of(16, 32, 64, 128, 256), 64)
    behind: int = _key(picoseconds, 0, "behind_ns")
    behind_bytes: int = _key(whole(0, 2**32), 0)  # of the cache behind the edge, for ports
    behind_ways: int = _key(whole(1, 64), 8)
    controller: int = _key(picoseconds, 0, "controller_ns")
    activate: int = _key(picoseconds, 0, "activate_ns")
    access: int = _key(picoseconds, 0, "access_ns")
    precharge: int = _key(picoseconds, 0, "precharge_ns")
    page: str = _key(one_of("open", "closed"), "open")
    row_bytes: int = _key(whole(64, 2**20), 8192)
    banks: int = _key(whole(1, 1024), 16)
    model: str = _key(one_of("latency", "dram"), "latency")
    part: str = _key(_text, "ddr4")
    outstanding: int = _key(whole(1, 4096), 64)  # accesses in the DRAM's controllers
    clock: int = _key(_clock, 625, "clock_mhz")  # of the DRAM's commands, ps
    input: str = _key(one_of("behind", "dram"), "dram")
    output: str = _key(one_of("behind", "dram"), "dram")

    @property
    def behind_sets(self):
        """Sets of the cache behind the edge."""
        return self.behind_bytes // (self.line * self.behind_ways)

    def levels(self):
        """ps beyond a hit of each level: in the cache, behind it, row open, shut, another open."""
        return levels(*(getattr(self, name) for name in BEYOND_HIT))
