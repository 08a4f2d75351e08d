"""Engines of a NIC, and service laws: the time that a resource takes for a packet. What a file may
say of them is in scenario.py.
"""

import math
import re
from dataclasses import dataclass, field, replace

from .json_places import shown

__all__ = [
    "CORE_RESOURCES",
    "ENGINES",
    "ENGINE_LAWS",
    "ENGINE_NAME",
    "Engine",
    "LEAST_US",
    "Law",
    "MOST_US",
    "engine_at",
    "engines_at",
    "engines_of",
    "is_engine",
    "law_at",
]

CORE_RESOURCES = ("cpu", "memory")
ENGINES = ("regex", "compression")  # of a BlueField-2
ENGINE_NAME = (
    "letters, digits and _, the first a letter, 32 at most, and neither cpu, memory, window, nor f "
    "and a number"
)
MOST_ENGINES = 16
# A service interval must be a time the net can tell from 0 and 10 s must stay far from 2^63 ticks.
LEAST_US, MOST_US = 0.001, 1e7


@dataclass(frozen=True)
class Law:
    """Service time of a request, as scenario.py describes it; all times in us or ns as named."""

    at_least_us: float = 0.0
    at_least_ns_per_byte: float = 0.0
    knee: float = math.inf
    us: float = 0.0
    ns_per_byte: float = 0.0
    us_per_match_per_MB: float = 0.0
    us_per_match: float = 0.0
    us_per_match2: float = 0.0
    us_by_flows: tuple = ()
    overload: float = 1.0

    def time(self, packets, flows):
        """Service time [us] of one request for a packet of `packets` (bytes, matches per MB) and
        `flows`.
        """
        size, density = packets.packet_bytes, packets.matches_per_MB
        matches = density * size * 1e-6
        sum_ = (
            self.us
            + self.ns_per_byte * size * 1e-3
            + self.us_per_match_per_MB * density
            + self.us_per_match * matches
            + self.us_per_match2 * matches**2
        )
        x, y = self.at_least_us, self.at_least_ns_per_byte * size * 1e-3
        least = (
            max(x, y)
            if self.knee == math.inf
            else (x**self.knee + y**self.knee) ** (1 / self.knee)
        )
        return max(least, sum_ + self._by_flows(flows))

    @property
    def by_matches(self):
        """Whether the time depends on matches."""
        return any((self.us_per_match_per_MB, self.us_per_match, self.us_per_match2))

    def _by_flows(self, flows):
        points = self.us_by_flows
        if not points:
            return 0.0
        if flows <= points[0][0]:
            return points[0][1]
        for (low, at_low), (high, at_high) in zip(points, points[1:]):
            if flows <= high:
                return at_low + (at_high - at_low) * (flows - low) / (high - low)
        return points[-1][1]


# The engines' own laws, by name; where they come from is in net/README.md, "Parameters".
ENGINE_LAWS = {
    "regex": {
        # Two measured points on 1518-B packets, solo, l7-filter rules (Yala's profile): a line.
        "l7-filter": Law(at_least_us=0.2194, us=0.147481, us_per_match_per_MB=0.00212796),
        # RXPBench on an x86 host, Emerging Threats rules. At saturation a request takes 0.2188 us
        # (128 and 256 bytes); 2048 bytes at most 0.3252 us, as what was offered then was scanned,
        # and 1.0815 times that when overloaded;
        # 1024 bytes, between both regimes, 0.2457 us when overloaded, which gives the knee and the
        # time per byte. With 28255 rules a match costs the more, the more its packet already has
        # (from 512 and 2048 bytes). Times of an overloaded engine are divided by that factor. What
        # was not used: net/README.md, "Accuracy".
        "emerging-threats": Law(
            at_least_us=0.2188 / 1.0815,
            at_least_ns_per_byte=0.1434,
            knee=2.88,
            us_per_match=0.01501 / 1.0815,
            us_per_match2=0.0001493 / 1.0815,
            overload=1.0815,
        ),
    },
    "compression": {
        # Bandwidth of one job in flight, dpdk_compression's README; the base is a guess (+- 2x).
        "deflate": Law(us=2.0, ns_per_byte=1.25),
    },
}
# us from the end of service to the result: round trip of a lone request less its service.
ENGINE_LATENCY_US = {"regex": 4.3, "compression": 4.3}


@dataclass(frozen=True)
class Engine:
    """An accelerator: latency [us], service laws by name."""

    name: str
    latency_us: float
    laws: dict = field(default_factory=dict)


def is_engine(name):
    """Whether an engine may have this name: no other part of a net, and no other resource, has it."""
    return bool(
        re.fullmatch("[A-Za-z][A-Za-z0-9_]{0,31}", name)
        and not re.fullmatch(r"cpu|memory|window|f\d+", name)
    )


def engines_of(resources):
    """The engines among names of resources, each once: those of a BlueField-2 first, others by name."""
    names = set(resources)
    known = [name for name in ENGINES if name in names]
    return known + sorted(names - {*ENGINES, *CORE_RESOURCES})


def engines_at(at):
    """(name, its At) of the engines that a NIC names, whatever names they are."""
    if not isinstance(at.value, dict):
        raise at.wrong(f"must be an object of engines by name; got {shown(at.value)}")
    given = at.object(tuple(at.value))
    if len(given) > MOST_ENGINES:
        raise at.wrong(f"{len(given)} engines; at most {MOST_ENGINES}")
    for name, engine in given.items():
        if not is_engine(name):
            raise engine.wrong(f"an engine's name must be {ENGINE_NAME}")
    return given.items()


def engine_at(name, at):
    """The Engine of this name; `at`: what the file says of it, or None."""
    engine = Engine(name, ENGINE_LATENCY_US.get(name, 0.0), dict(ENGINE_LAWS.get(name, ())))
    if at is None:
        return engine
    required = () if name in ENGINES else ("latency_us",)
    parts = at.object(("latency_us", "laws"), required)
    if "latency_us" in parts:
        engine = replace(engine, latency_us=parts["latency_us"].number(0, MOST_US, "us"))
    if "laws" in parts:
        if not isinstance(parts["laws"].value, dict):
            raise parts["laws"].wrong(
                "must be an object of laws by name; got " + shown(parts["laws"].value)
            )
        named = parts["laws"].object(tuple(parts["laws"].value))
        engine = replace(
            engine, laws={**engine.laws, **{key: law_at(law) for key, law in named.items()}}
        )
    return engine


_LAW_PARTS = (
    "at_least_us",
    "at_least_ns_per_byte",
    "knee",
    "us",
    "ns_per_byte",
    "us_per_match_per_MB",
    "us_per_match",
    "us_per_match2",
    "us_by_flows",
    "overload",
)


def law_at(at, names=()):
    """The Law at a place of the file; `names`: those that a name may stand for."""
    if isinstance(at.value, str):
        if at.value not in names:
            raise at.wrong(
                f"there is no law '{at.value}' here; "
                + (
                    f"there are: {', '.join(names)}"
                    if names
                    else "laws with names belong to engines; write a number of us or an object of "
                    + ", ".join(_LAW_PARTS)
                )
            )
        return names[at.value]
    if not isinstance(at.value, dict):
        return Law(us=at.number(LEAST_US, MOST_US, "us"))
    parts = at.object(_LAW_PARTS)
    if not parts:
        raise at.wrong(f"is empty; allowed: {', '.join(_LAW_PARTS)}")
    values = {}
    for key, part in parts.items():
        if key in ("overload", "knee"):
            values[key] = part.number(1, 100)
            continue
        if key != "us_by_flows":
            # A line fitted to measurements may start below zero; what comes out of it may not.
            values[key] = part.number(-MOST_US if key == "us" else 0, MOST_US)
            continue
        points = []
        for point in part.list(1, 1000, "points [flows, us]"):
            flows, us = point.list(2, 2, "numbers, flows and us")
            points.append((flows.number(0, 1e12, "flows"), us.number(0, MOST_US, "us")))
        if any(a[0] >= b[0] for a, b in zip(points, points[1:])):
            raise part.wrong("flows must rise from point to point")
        values[key] = tuple(points)
    return Law(**values)
