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

from dataclasses import dataclass, field, replace

from .engines import (
    CORE_RESOURCES,
    ENGINES,
    LEAST_US,
    MOST_US,
    Law,
    engine_at,
    engines_at,
    law_at,
)
from .json_places import At, load

__all__ = [
    "COUNTERS",
    "PIPELINE",
    "RUN_TO_COMPLETION",
    "Function",
    "Memory",
    "Nic",
    "Packets",
    "Pressure",
    "Scenario",
    "Simulate",
    "Stage",
    "Traffic",
    "impossible_time",
    "parse",
    "read",
    "read_catalogue",
]

PIPELINE, RUN_TO_COMPLETION = "pipeline", "run-to-completion"
COUNTERS = (
    "ipc",
    "inst_retired_per_s",
    "l2d_rd_per_s",
    "l2d_wr_per_s",
    "mem_rd_per_s",
    "mem_wr_per_s",
    "wss_MB",
)
MOST_FUNCTIONS, MOST_QUEUES, MOST_STAGES, MOST_PACKETS = 16, 32, 8, 16
MOST_LISTED = 1000  # functions of a catalogue
MOST_FLOWS, MOST_BYTES, MOST_MATCHES = 10**9, 65536, 1e6
MOST_WSS_MB, MOST_ACCESSES = 1e6, 1e12  # of a pressure on the memory
# Two working sets of one function, both written, are the same within this: counters are measured.
SAME_WSS = 0.01


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
    return parse(load(path), str(path))


def read_catalogue(path):
    """(tuple of Functions, Nic) of a catalogue: a JSON object of functions as in a scenario, a nic,
    and "about", a list of sentences. They need not fit on one NIC. Raises Error "E-scenario" as
    read() does.
    """
    at = At(str(path), "", load(path))
    parts = at.object(("about", "nic", "functions"), ("functions",))
    nic = _nic(parts.get("nic", at.at("nic", {})))
    return _functions(parts["functions"], nic, MOST_LISTED), nic


def parse(data, path="scenario"):
    """The Scenario in a decoded JSON object; `path` is named in errors ("E-scenario")."""
    return _scenario(At(path, "", data))


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
    engines = {name: engine_at(name, None) for name in ENGINES}
    for name, engine in engines_at(parts["engines"]) if "engines" in parts else ():
        if engine.value is None:
            engines.pop(name, None)
        else:
            engines[name] = engine_at(name, engine)
    return Nic(cores, slots, reach, engines)


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
        law_at(parts["service_us"], engine.laws if engine else ()),
        parts["queues"].whole(1, MOST_QUEUES) if "queues" in parts else 1,
        parts["slots"].whole(1, 65536) if "slots" in parts else nic.slots,
    )
    if engine is None and stage.service.overload > 1:
        raise parts["service_us"].wrong("'overload' is about the queue of an engine; leave it out")
    wrong = impossible_time(stage, traffic)
    if wrong:
        raise parts["service_us"].wrong(wrong)
    return stage


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
        values["mix"] = (_packets(At(at.path, at.where, alike), False),)
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
