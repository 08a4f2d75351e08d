"""Scenario files: the network functions on one BlueField-2, their traffic, and what presses on its
memory.

A scenario is a JSON object. Everything but "functions" may be left out:

    {
      "nic": {
        "cores": 8,
        "slots": 1024,                       descriptors of every request queue
        "memory": {"reach_MB": 9.5},         working sets beyond this add no more pressure
        "engines": {
          "regex": {
            "latency_us": 4.3,               from the end of service until the result is seen; it is
                                             not part of the service interval
            "laws": {"l7-filter": LAW}       service laws with a name, beside those of ENGINES
          },
          "crypto": {"latency_us": 2},       any other engine, by a name of letters, digits and _
          "compression": null                the NIC has no such engine
        }
      },
      "functions": [
        {
          "name": "FlowMonitor",
          "pattern": "pipeline",             or "run-to-completion": a core keeps a batch to its end
          "cores": 2,
          "batch": 32,                       packets a run-to-completion core takes at a time
          "stages": [                        in the order of a packet's way
            {"resource": "memory", "service_us": 1.378},
            {"resource": "regex", "queues": 1, "slots": 1024, "service_us": "l7-filter"}
          ],
          "traffic": {
            "flows": 16384, "packet_bytes": 1500, "matches_per_MB": 600,
            "rate_kpps": 500,                left out: saturating
            "arrivals": "poisson",           or "paced" (evenly spaced), which is the default
            "seed": 1,
            "mix": [                         left out: all packets are alike
              {"share": 0.7, "packet_bytes": 1500, "matches_per_MB": 600},
              {"share": 0.3, "packet_bytes": 64, "matches_per_MB": 0}
            ]
          },
          "memory": {
            "wss_MB": 2.0,                   working set
            "bytes_per_flow": 0,             ... plus so much per flow
            "accesses_per_packet": 60,       L2 reads and writes
            "us_per_MB": 0.01363,            what a packet pays per MB of the others' working sets,
            "us_per_MB_1e8": 0.00957,        ... and per MB and 10^8 accesses/s of theirs
            "counters": {"ipc": 1.2, ...}    its seven counters as a competitor, for predictors; their
                                             working set is the one above, if that is written
          },
          "promised_drop": 0.1               of the throughput it has alone
        }
      ],
      "memory_pressure": {"wss_MB": 8, "accesses_per_s": 1.5e8},    others that are not simulated;
                                             or {"counters": {...}}
      "simulate": {"tolerance": 0.001, "most_ms": 200}
    }

A resource is "cpu" (a core's time that memory pressure leaves alone), "memory" (a core's time that
it stretches), or an engine of the NIC: "regex", "compression" (those of a BlueField-2), and what
nic.engines adds. cpu and memory stages hold one of the function's cores.

`service_us` is the time per packet on one core or one engine: a number of microseconds, for engines
also the name of a law, or a LAW, an object of

    at_least_us          the interval between two requests whatever they hold
    at_least_ns_per_byte ... and per byte of the packet; the larger of both counts
    knee                 ... or they blend, (x^knee + y^knee)^(1/knee), for 1 and above: the stages of an
                         engine wait for each other where they are about equally fast
    us                   a constant
    ns_per_byte          per byte of the packet
    us_per_match_per_MB  per match in a MB of payload (slope of Eq 5 of the paper)
    us_per_match         per match in the packet: matches_per_MB * packet_bytes / 10^6
    us_per_match2        per square of it
    us_by_flows          [[flows, us], ...]: a line from point to point, constant beyond the ends
    overload             the service takes so many times as long while half of its queue's descriptors or
                         more wait; 1 when left out; engines only

    service = max(larger or blend of at_least_us and at_least_ns_per_byte * bytes / 1000,
                  us + us_by_flows + ns_per_byte * bytes / 1000 + us_per_match_per_MB * m
                     + us_per_match * k + us_per_match2 * k^2).

Counters are those of table 13 of the paper, per second, of all competitors together: ipc,
inst_retired_per_s, l2d_rd_per_s, l2d_wr_per_s, mem_rd_per_s, mem_wr_per_s, wss_MB.
"""

import json
import math
import re
from dataclasses import dataclass, field, replace

import lpn

__all__ = [
    "COUNTERS",
    "ENGINES",
    "ENGINE_NAME",
    "PIPELINE",
    "RUN_TO_COMPLETION",
    "Engine",
    "Function",
    "Law",
    "Memory",
    "Nic",
    "Packets",
    "Pressure",
    "Scenario",
    "Simulate",
    "Stage",
    "Traffic",
    "engines_of",
    "impossible_time",
    "is_engine",
    "parse",
    "read",
    "read_catalogue",
]

PIPELINE, RUN_TO_COMPLETION = "pipeline", "run-to-completion"
CORE_RESOURCES = ("cpu", "memory")
ENGINES = ("regex", "compression")  # of a BlueField-2
ENGINE_NAME = (
    "letters, digits and _, the first a letter, 32 at most, and neither cpu, memory, window, nor f "
    "and a number"
)
COUNTERS = (
    "ipc",
    "inst_retired_per_s",
    "l2d_rd_per_s",
    "l2d_wr_per_s",
    "mem_rd_per_s",
    "mem_wr_per_s",
    "wss_MB",
)
MOST_FUNCTIONS, MOST_QUEUES, MOST_STAGES, MOST_PACKETS, MOST_ENGINES = 16, 32, 8, 16, 16
MOST_LISTED = 1000  # functions of a catalogue
MOST_FLOWS, MOST_BYTES, MOST_MATCHES = 10**9, 65536, 1e6
MOST_WSS_MB, MOST_ACCESSES = 1e6, 1e12  # of a pressure on the memory
# Two working sets of one function, both written, are the same within this: counters are measured.
SAME_WSS = 0.01
# A service interval must be a time the net can tell from 0 and 10 s must stay far from 2^63 ticks.
LEAST_US, MOST_US = 0.001, 1e7


@dataclass(frozen=True)
class Law:
    """Service time of a request, see the module's docstring; all times in us or ns as named."""

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


@dataclass(frozen=True)
class Nic:
    cores: int = 8
    slots: int = 1024
    reach_MB: float = 9.5
    engines: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Packets:
    """Packets that are alike: size [bytes], matches per MB of payload, share of all packets."""

    packet_bytes: int = 1500
    matches_per_MB: float = 600.0
    share: float = 1.0


@dataclass(frozen=True)
class Traffic:
    """What a function receives. `rate_kpps` None: saturating. `mix`: one entry when all packets are
    alike.
    """

    flows: int = 16384
    mix: tuple = (Packets(),)
    rate_kpps: float = None
    arrivals: str = "paced"
    seed: int = 1

    @property
    def packet_bytes(self):
        """Mean size [bytes]."""
        return sum(p.share * p.packet_bytes for p in self.mix)

    @property
    def matches_per_MB(self):
        """Mean over the bytes."""
        return (
            sum(p.share * p.packet_bytes * p.matches_per_MB for p in self.mix) / self.packet_bytes
        )


@dataclass(frozen=True)
class Memory:
    """A function as a user of the shared memory, see the module's docstring."""

    wss_MB: float = 0.0
    bytes_per_flow: float = 0.0
    accesses_per_packet: float = 0.0
    us_per_MB: float = 0.0
    us_per_MB_1e8: float = 0.0
    counters: dict = None

    def working_set(self, flows):
        """Working set [MB]."""
        return self.wss_MB + self.bytes_per_flow * flows * 1e-6


@dataclass(frozen=True)
class Stage:
    """A visit to a resource. `queues`, `slots`: request queues at an engine and their descriptors."""

    resource: str
    service: Law
    queues: int = 1
    slots: int = 1024

    @property
    def on_core(self):
        return self.resource in CORE_RESOURCES


@dataclass(frozen=True)
class Function:
    name: str
    stages: tuple
    pattern: str = PIPELINE
    cores: int = 2
    batch: int = 32
    traffic: Traffic = Traffic()
    memory: Memory = Memory()
    promised_drop: float = None

    def service_us(self, stage):
        """Mean service time of a packet on one core or the engine [us], without contention."""
        return sum(p.share * stage.service.time(p, self.traffic.flows) for p in self.traffic.mix)


@dataclass(frozen=True)
class Pressure:
    """Competitors for the memory that are not simulated: working set [MB], accesses per second."""

    wss_MB: float = 0.0
    accesses_per_s: float = 0.0
    counters: dict = None


@dataclass(frozen=True)
class Simulate:
    """When the simulation stops: throughputs steady within `tolerance` (a fraction), or simulated
    time.
    """

    tolerance: float = 0.001
    most_ms: float = 200.0


@dataclass(frozen=True)
class Scenario:
    functions: tuple
    nic: Nic = Nic()
    pressure: Pressure = Pressure()
    simulate: Simulate = Simulate()
    path: str = "scenario"

    def alone(self, name):
        """The scenario with this function only and nothing that presses on the memory: solo."""
        mine = tuple(f for f in self.functions if f.name == name)
        return replace(self, functions=mine, pressure=Pressure())


def read(path):
    """The Scenario in a JSON file. Raises Error "E-scenario" saying where and what is allowed."""
    return parse(_load(path), str(path))


def _load(path):
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise lpn.Error(
            "E-scenario", f"{path}: {getattr(error, 'strerror', None) or error}"
        ) from None
    try:
        return json.loads(text, object_pairs_hook=_Object)
    except RecursionError:
        why = "lists and objects are nested too deeply"
    except ValueError as error:
        why = error
    raise lpn.Error("E-scenario", f"{path} is not JSON: {why}")


def read_catalogue(path):
    """(tuple of Functions, Nic) of a catalogue: a JSON object of functions as in a scenario, a nic,
    and "about", a list of sentences. They need not fit on one NIC. Raises Error "E-scenario" as
    read() does.
    """
    at = _At(str(path), "", _load(path))
    parts = at.object(("about", "nic", "functions"), ("functions",))
    nic = _nic(parts.get("nic", at.at("nic", {})))
    return _functions(parts["functions"], nic, MOST_LISTED), nic


def parse(data, path="scenario"):
    """The Scenario in a decoded JSON object; `path` is named in errors ("E-scenario")."""
    return _scenario(_At(path, "", data))


# ---- Reading with places -----------------------------------------------------------------------------


class _Object(dict):
    """A JSON object that remembers a key given twice."""

    def __init__(self, pairs):
        super().__init__(pairs)
        seen = set()
        twice = (name for name, _ in pairs if name in seen or seen.add(name))
        self.twice = next(twice, None) if len(self) < len(pairs) else None


class _At:
    """A value and its place in the file, e.g. functions[1].traffic.flows."""

    def __init__(self, path, where, value):
        self.path, self.where, self.value = path, where, value

    def wrong(self, what):
        where = self.where or "the file"
        return lpn.Error("E-scenario", f"{self.path}: {where}: {what}")

    def object(self, allowed, required=()):
        """{key: _At}; refuses other keys, missing and doubled ones."""
        if not isinstance(self.value, dict):
            raise self.wrong(f"must be an object of {', '.join(allowed)}; got {_shown(self.value)}")
        twice = getattr(self.value, "twice", None)
        if twice is not None:
            raise self.wrong(f"'{twice}' is given twice")
        for key in self.value:
            if key not in allowed:
                raise self.wrong(f"there is no '{key}'; allowed: {', '.join(allowed)}")
        for key in required:
            if key not in self.value:
                raise self.wrong(f"'{key}' is missing; allowed: {', '.join(allowed)}")
        return {key: self.at(key, value) for key, value in self.value.items()}

    def at(self, key, value):
        return _At(self.path, f"{self.where}.{key}" if self.where else key, value)

    def list(self, least, most, of):
        if not isinstance(self.value, list) or not least <= len(self.value) <= most:
            got = (
                f"{len(self.value)} of them" if isinstance(self.value, list) else _shown(self.value)
            )
            raise self.wrong(f"must be a list of {least} to {most} {of}; got {got}")
        return [_At(self.path, f"{self.where}[{k}]", value) for k, value in enumerate(self.value)]

    def number(self, low, high, unit=""):
        value = self.value
        if (
            isinstance(value, bool)
            or not isinstance(value, (int, float))
            or not low <= value <= high
        ):
            raise self.wrong(
                f"must be a number {_range(low, high)}{unit and ' ' + unit}; "
                f"got {_shown(value)}"
            )
        return float(value)

    def whole(self, low, high, unit=""):
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.wrong(
                f"must be a whole number {_range(low, high)}{unit and ' ' + unit}; "
                f"got {_shown(value)}"
            )
        return value

    def name(self):
        if not isinstance(self.value, str) or not self.value.strip():
            raise self.wrong(f"must be a name; got {_shown(self.value)}")
        return self.value

    def choice(self, allowed):
        if self.value not in allowed or not isinstance(self.value, str):
            raise self.wrong(f"must be {' or '.join(allowed)}; got {_shown(self.value)}")
        return self.value


def _range(low, high):
    return f"of {low:g} or more" if high == math.inf else f"from {low:g} to {high:g}"


def _shown(value):
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _scenario(at):
    parts = at.object(("nic", "functions", "memory_pressure", "simulate"), ("functions",))
    nic = _nic(parts.get("nic", at.at("nic", {})))
    functions = _functions(parts["functions"], nic, MOST_FUNCTIONS)
    cores = sum(f.cores for f in functions)
    if cores > nic.cores:
        raise parts["functions"].wrong(
            f"the functions have {cores} cores, the NIC {nic.cores}; "
            "give them fewer, or write nic.cores"
        )
    for name in nic.engines:
        queues = sum(s.queues for f in functions for s in f.stages if s.resource == name)
        if queues > MOST_QUEUES:
            raise parts["functions"].wrong(
                f"{queues} request queues at engine {name}; at most {MOST_QUEUES}"
            )
    pressure = _pressure(parts["memory_pressure"]) if "memory_pressure" in parts else Pressure()
    simulate = Simulate()
    if "simulate" in parts:
        given = parts["simulate"].object(("tolerance", "most_ms"))
        if "tolerance" in given:
            simulate = replace(simulate, tolerance=given["tolerance"].number(1e-5, 0.1))
        if "most_ms" in given:
            simulate = replace(simulate, most_ms=given["most_ms"].number(0.01, 1e5, "ms"))
    return Scenario(functions, nic, pressure, simulate, at.path)


def _functions(at, nic, most):
    listed = at.list(1, most, "functions")
    functions = tuple(_function(f, nic) for f in listed)
    used = {s.resource for f in functions for s in f.stages}
    for name in nic.engines:
        if name not in ENGINES and name not in used:
            raise at.wrong(f"no stage is at '{name}', which nic.engines names; leave it out there")
    for k, function in enumerate(functions):
        if function.name in [f.name for f in functions[:k]]:
            raise listed[k].wrong(
                f"the name '{function.name}' is taken; names tell functions apart"
            )
    return functions


def _nic(at):
    parts = at.object(("cores", "slots", "memory", "engines"))
    cores = parts["cores"].whole(1, 64) if "cores" in parts else Nic.cores
    slots = parts["slots"].whole(1, 65536) if "slots" in parts else Nic.slots
    reach = Nic.reach_MB
    if "memory" in parts:
        memory = parts["memory"].object(("reach_MB",))
        reach = memory["reach_MB"].number(0, 1e6, "MB") if "reach_MB" in memory else reach
    engines = {name: _engine(name, None) for name in ENGINES}
    for name, engine in _engines(parts["engines"]) if "engines" in parts else ():
        if engine.value is None:
            engines.pop(name, None)
        else:
            engines[name] = _engine(name, engine)
    return Nic(cores, slots, reach, engines)


def _engines(at):
    """(name, its _At) of the engines that a NIC names, whatever names they are."""
    if not isinstance(at.value, dict):
        raise at.wrong(f"must be an object of engines by name; got {_shown(at.value)}")
    given = at.object(tuple(at.value))
    if len(given) > MOST_ENGINES:
        raise at.wrong(f"{len(given)} engines; at most {MOST_ENGINES}")
    for name, engine in given.items():
        if not is_engine(name):
            raise engine.wrong(f"an engine's name must be {ENGINE_NAME}")
    return given.items()


def _engine(name, at):
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
                "must be an object of laws by name; got " + _shown(parts["laws"].value)
            )
        named = parts["laws"].object(tuple(parts["laws"].value))
        engine = replace(
            engine, laws={**engine.laws, **{key: _law(law) for key, law in named.items()}}
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


def _law(at, names=()):
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


_FUNCTION_PARTS = (
    "name",
    "pattern",
    "cores",
    "batch",
    "stages",
    "traffic",
    "memory",
    "promised_drop",
)


def _function(at, nic):
    parts = at.object(_FUNCTION_PARTS, ("name", "stages"))
    traffic = _traffic(parts["traffic"]) if "traffic" in parts else Traffic()
    stages = []
    for stage in parts["stages"].list(1, MOST_STAGES, "stages"):
        stages.append(_stage(stage, nic, traffic))
    if not stages[0].on_core:
        raise parts["stages"].wrong(
            "the first stage must be cpu or memory: a core receives the packet"
        )
    function = Function(parts["name"].name(), tuple(stages), traffic=traffic)
    if "pattern" in parts:
        function = replace(function, pattern=parts["pattern"].choice((PIPELINE, RUN_TO_COMPLETION)))
    if "cores" in parts:
        function = replace(function, cores=parts["cores"].whole(1, 64))
    if "batch" in parts:
        function = replace(function, batch=parts["batch"].whole(1, 1024, "packets"))
    for stage, given in zip(stages, parts["stages"].list(1, MOST_STAGES, "stages")):
        if (
            function.pattern == RUN_TO_COMPLETION
            and not stage.on_core
            and stage.slots * stage.queues < function.batch
        ):
            raise given.wrong(
                f"{stage.queues} queues of {stage.slots} slots do not hold a batch of "
                f"{function.batch}"
            )
    if "memory" in parts:
        function = replace(function, memory=_memory(parts["memory"], traffic.flows))
    if "promised_drop" in parts:
        function = replace(function, promised_drop=parts["promised_drop"].number(0, 1))
    return function


def _stage(at, nic, traffic):
    parts = at.object(("resource", "service_us", "queues", "slots"), ("resource", "service_us"))
    resource = parts["resource"].choice((*CORE_RESOURCES, *nic.engines))
    engine = nic.engines.get(resource)
    if engine is None:
        for key in ("queues", "slots"):
            if key in parts:
                raise parts[key].wrong("request queues belong to engines; leave it out")
    stage = Stage(
        resource,
        _law(parts["service_us"], engine.laws if engine else ()),
        parts["queues"].whole(1, MOST_QUEUES) if "queues" in parts else 1,
        parts["slots"].whole(1, 65536) if "slots" in parts else nic.slots,
    )
    if engine is None and stage.service.overload > 1:
        raise parts["service_us"].wrong("'overload' is about the queue of an engine; leave it out")
    wrong = impossible_time(stage, traffic)
    if wrong:
        raise parts["service_us"].wrong(wrong)
    return stage


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


def impossible_time(stage, traffic):
    """What is wrong with a Stage's service time for packets of a Traffic, or None."""
    for packets in traffic.mix:
        time = stage.service.time(packets, traffic.flows)
        if not LEAST_US <= time <= MOST_US:
            return (
                f"gives {time:g} us for packets of {packets.packet_bytes} bytes with "
                f"{packets.matches_per_MB:g} matches per MB; it must give {LEAST_US:g} to {MOST_US:g} us"
            )
    return None


def _packets(at, share):
    keys = ("packet_bytes", "matches_per_MB")
    parts = at.object((*keys, "share") if share else keys, ("share",) if share else ())
    packets = Packets()
    if "packet_bytes" in parts:
        packets = replace(packets, packet_bytes=parts["packet_bytes"].whole(1, MOST_BYTES, "bytes"))
    if "matches_per_MB" in parts:
        packets = replace(packets, matches_per_MB=parts["matches_per_MB"].number(0, MOST_MATCHES))
    return replace(packets, share=parts["share"].number(0.001, 1)) if share else packets


def _traffic(at):
    parts = at.object(
        ("flows", "packet_bytes", "matches_per_MB", "rate_kpps", "arrivals", "seed", "mix")
    )
    values = {}
    if "mix" in parts:
        for key in ("packet_bytes", "matches_per_MB"):
            if key in parts:
                raise parts[key].wrong("belongs into the entries of mix, as there is one")
        mix = [
            _packets(entry, True)
            for entry in parts["mix"].list(1, MOST_PACKETS, "kinds of packets")
        ]
        whole = sum(p.share for p in mix)
        if abs(whole - 1) > 1e-6:
            raise parts["mix"].wrong(f"the shares add up to {whole:g}, not 1")
        values["mix"] = tuple(mix)
    else:
        alike = {k: parts[k].value for k in ("packet_bytes", "matches_per_MB") if k in parts}
        values["mix"] = (_packets(_At(at.path, at.where, alike), False),)
    if "flows" in parts:
        values["flows"] = parts["flows"].whole(1, MOST_FLOWS)
    if "rate_kpps" in parts:
        values["rate_kpps"] = parts["rate_kpps"].number(0.001, 1e6, "kpps")
    for key in ("arrivals", "seed"):
        if key in parts and "rate_kpps" not in parts:
            raise parts[key].wrong("belongs to a rate; write rate_kpps too")
    if "arrivals" in parts:
        values["arrivals"] = parts["arrivals"].choice(("paced", "poisson"))
    if "seed" in parts:
        values["seed"] = parts["seed"].whole(0, 2**32 - 1)
    return Traffic(**values)


def _counters(at):
    parts = at.object(COUNTERS, COUNTERS)
    return {name: parts[name].number(0, 1e15) for name in COUNTERS}


def _memory(at, flows):
    keys = ("wss_MB", "bytes_per_flow", "accesses_per_packet", "us_per_MB", "us_per_MB_1e8")
    parts = at.object((*keys, "counters"))
    values = {key: parts[key].number(0, 1e9) for key in keys if key in parts}
    if "counters" in parts:
        values["counters"] = _counters(parts["counters"])
    memory = Memory(**values)
    if "counters" in parts and ("wss_MB" in parts or "bytes_per_flow" in parts):
        own, counted = memory.working_set(flows), memory.counters["wss_MB"]
        if abs(own - counted) > SAME_WSS * max(own, counted):
            raise parts["counters"].at("wss_MB", None).wrong(
                f"is {counted:g}, but wss_MB and bytes_per_flow give {own:g} MB; leave one out, or "
                "write the same"
            )
    return memory


def _pressure(at):
    parts = at.object(("wss_MB", "accesses_per_s", "counters"))
    if "counters" in parts:
        for key in ("wss_MB", "accesses_per_s"):
            if key in parts:
                raise parts[key].wrong("is among the counters; give it once")
        counters = _counters(parts["counters"])
        return Pressure(
            counters["wss_MB"], counters["l2d_rd_per_s"] + counters["l2d_wr_per_s"], counters
        )
    return Pressure(
        parts["wss_MB"].number(0, MOST_WSS_MB, "MB") if "wss_MB" in parts else 0.0,
        parts["accesses_per_s"].number(0, MOST_ACCESSES) if "accesses_per_s" in parts else 0.0,
    )
