"""Contention on a BlueField-2: cores, request queues, round-robin engines and a shared memory as one net.

    source -> core (memory stretches its time) -> request queues -> engine, round robin -> ... -> delivered

`lpn sim bluefield SCENARIO.json` simulates the functions of a scenario file (scenario.py) until their
throughputs are steady. The net's structure follows the scenario's: its functions, their stages, queues and
patterns; all times are parameters, so scenarios of one structure share one compiled net.

Ticks are 0.1 ns. Sources of the parameters: README.md.
"""

import functools
import os
import random
from dataclasses import dataclass, replace

import lpn

from . import parts, scenario as scenarios
from .scenario import RUN_TO_COMPLETION

__all__ = [
    "FunctionShape",
    "Shape",
    "marking",
    "net",
    "net_of",
    "parameters",
    "seats",
    "shape",
    "workload",
]

# The window over which accesses to the memory are counted: some hundred packets of each function.
MEMORY_WINDOW_US = 50
SCHEDULE = 4096  # arrivals until a schedule repeats
_SCENARIOS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scenarios")
_DEFAULT = os.path.join(_SCENARIOS, "flowmonitor_regex_bench.json")
_MOST = 2**50  # of a parameter, in ticks


@dataclass(frozen=True)
class FunctionShape:
    """What of a function decides the structure of the net. stages: (resource, queues, overloads) each."""

    pattern: str
    stages: tuple
    kinds: int
    saturating: bool
    batch: int  # 0 for pipelines
    uses_memory: bool


@dataclass(frozen=True)
class Shape:
    """What of a scenario decides the structure of the net."""

    functions: tuple


def shape(scenario):
    """The Shape of a Scenario."""
    functions = []
    sensitive = any(f.memory.us_per_MB_1e8 > 0 and _stretched(f) for f in scenario.functions)
    several = len(scenario.functions) > 1
    for f in scenario.functions:
        rtc = f.pattern == RUN_TO_COMPLETION
        uses = (
            sensitive
            and several
            and (f.memory.accesses_per_packet > 0 or f.memory.us_per_MB_1e8 > 0 and _stretched(f))
        )
        functions.append(
            FunctionShape(
                f.pattern,
                tuple((s.resource, s.queues, s.service.overload > 1) for s in f.stages),
                len(f.traffic.mix),
                f.traffic.rate_kpps is None,
                f.batch if rtc else 0,
                uses,
            )
        )
    return Shape(tuple(functions))


def _stretched(function):
    return any(s.resource == "memory" for s in function.stages)


@functools.lru_cache(maxsize=256)
def net_of_shape(shape):
    """(net, names of the places that keep counts, Chains) of a Shape; the net is shared and has no values.

    Per function, counts are kept of the packets delivered, arrived and lost (unless it is saturating), of the
    ticks of service of each stage, of the requests in each queue, and of the free descriptors of each engine
    stage.
    """
    return _build(shape, {})


def _build(shape, values):
    net = lpn.Net("bluefield")

    def number(name, default, low, high):
        return net.param(name, values.get(name, default), range=(low, high))

    def time(name):
        return number(name, 1, 0, _MOST)

    window = number("window", parts.ticks(1000), 1, _MOST)
    engines = {}
    for name in scenarios.ENGINES:
        if any(resource == name for f in shape.functions for resource, *_ in f.stages):
            engines[name] = parts.Engine(net, name, time(f"{name}.latency"))
    memory = None
    if any(f.uses_memory for f in shape.functions):
        memory = parts.SharedMemory(net, "memory", time("memory.window"))
    chains = []
    for k, f in enumerate(shape.functions):
        name = f"f{k}"
        stages = []
        for j, (resource, queues, overloads) in enumerate(f.stages):
            times = [time(f"{name}.s{j}.time{kind}") for kind in range(f.kinds)]
            slots = number(f"{name}.s{j}.slots", 1024, 1, 2**22) if resource in engines else 1
            overload = number(f"{name}.s{j}.overload", 1000, 1000, 10**5) if overloads else None
            stages.append(
                parts.Stage(
                    times, engines.get(resource), queues, slots, resource == "memory", overload
                )
            )
        user = None
        if f.uses_memory:
            user = memory.user(
                name,
                number(f"{name}.accesses", 0, 0, 2**20),
                number(f"{name}.slope", 0, 0, 2**40),
            )
        ring = None if f.saturating and f.kinds == 1 else number(f"{name}.ring", 1024, 1, 2**20)
        common = dict(kinds=f.kinds, saturating=f.saturating, memory=user, ring_slots=ring)
        cores = number(f"{name}.cores", 0, 0, 64)  # none: the function is not there
        if f.pattern == RUN_TO_COMPLETION:
            chains.append(parts.run_to_completion(net, name, stages, cores, f.batch, **common))
        else:
            chains.append(parts.pipeline(net, name, stages, cores, **common))
    for engine in engines.values():
        engine.done()
    counted = []
    for chain in chains:
        counted.append(chain.delivered)
        if chain.lost is not None:
            counted += [chain.arrived, chain.lost]
        counted += chain.works
        counted += [queue for queues in chain.queues for queue in queues]
        counted += chain.descriptors
    kept = parts.snapshots(net, counted, window)
    net.done()
    return net, kept, chains


def seats(scenario, form):
    """For each function of a Scenario the number of a function of the Shape `form` that is like it.

    Raises Error "E-shape" when there is none left.
    """
    free, found = list(enumerate(form.functions)), []
    for f, mine in zip(scenario.functions, shape(scenario).functions):
        seat = next((k for k, other in free if _sits(mine, other)), None)
        if seat is None:
            raise lpn.Error(
                "E-shape",
                f"{scenario.path}: the given structure has no place left for " f"{f.name}: {mine}",
            )
        found.append(seat)
        free = [(k, other) for k, other in free if k != seat]
    return found


def _sits(mine, other):
    # A meter of accesses that nobody reads changes nothing.
    return (
        replace(mine, uses_memory=other.uses_memory) == other
        and other.uses_memory >= mine.uses_memory
    )


def parameters(scenario, window_us=1000.0, form=None, seats=None):
    """Parameter values [ticks unless a number] of a Scenario's net, counts kept every `window_us`.

    form, seats: of a larger net, in which function k is number seats[k].
    """
    form = form or shape(scenario)
    seats = seats or range(len(scenario.functions))
    values = {"window": parts.ticks(window_us)}
    for name, engine in scenario.nic.engines.items():
        if any(s.resource == name for f in scenario.functions for s in f.stages):
            values[f"{name}.latency"] = parts.ticks(engine.latency_us)
    if any(f.uses_memory for f in form.functions):
        values["memory.window"] = parts.ticks(MEMORY_WINDOW_US)
    sets = [f.memory.working_set(f.traffic.flows) for f in scenario.functions]
    for k, (seat, f) in enumerate(zip(seats, scenario.functions)):
        name = f"f{seat}"
        reach = min(sum(sets) - sets[k] + scenario.pressure.wss_MB, scenario.nic.reach_MB)
        for j, stage in enumerate(f.stages):
            fixed = 0.0
            if stage.resource == "memory":
                pressing = scenario.pressure.accesses_per_s / 1e8
                fixed = reach * (f.memory.us_per_MB + f.memory.us_per_MB_1e8 * pressing)
            for kind, packets in enumerate(f.traffic.mix):
                time = stage.service.time(packets, f.traffic.flows) + fixed
                values[f"{name}.s{j}.time{kind}"] = parts.ticks(time)
            if not stage.on_core:
                values[f"{name}.s{j}.slots"] = stage.slots * stage.queues
                if stage.service.overload > 1:
                    values[f"{name}.s{j}.overload"] = round(stage.service.overload * 1000)
        if form.functions[seat].uses_memory:
            values[f"{name}.accesses"] = round(f.memory.accesses_per_packet)
            # One access per window is 1e6 / MEMORY_WINDOW_US accesses per second.
            per_access = f.memory.us_per_MB_1e8 * reach * 1e6 / MEMORY_WINDOW_US / 1e8
            in_ticks = per_access * 1e3 / parts.TICK_NS
            values[f"{name}.slope"] = round(in_ticks * 2**parts.SharedMemory.SLOPE_BITS)
        if f.traffic.rate_kpps is not None:
            values[f"{name}.ring"] = scenario.nic.slots
        elif len(f.traffic.mix) > 1:
            values[f"{name}.ring"] = max(64, 2 * f.batch)
        values[f"{name}.cores"] = f.cores
    return values


def marking(scenario, net, snapshots, seats=None):
    """The marking that ends a run of the Scenario's net after so many `snapshots`; traffic schedules."""
    marking = lpn.Marking(net)
    for k, f in zip(seats or range(len(scenario.functions)), scenario.functions):
        if f.traffic.rate_kpps is None and len(f.traffic.mix) == 1:
            continue
        gaps, kinds = _schedule(f.traffic)
        marking.add_rows(f"f{k}.source.schedule", list(zip(gaps, kinds)))
    marking.done_count = snapshots
    return marking


def _schedule(traffic):
    """(gaps [ticks], kinds) of a schedule's arrivals; the mean gap is exact to 1 / SCHEDULE ticks."""
    draw = random.Random(traffic.seed)
    count = SCHEDULE
    kinds = []
    for kind, packets in enumerate(traffic.mix):
        end = sum(p.share for p in traffic.mix[: kind + 1])
        kinds += [kind] * (round(end * count) - len(kinds))
    if len(traffic.mix) > 1:
        draw.shuffle(kinds)
    if traffic.rate_kpps is None:
        return [1] * count, kinds
    mean = 1e6 / traffic.rate_kpps / parts.TICK_NS
    if traffic.arrivals == "paced":
        at = [mean * k for k in range(count + 1)]
    else:
        steps = [draw.expovariate(1.0) for _ in range(count)]
        scale, at = mean * count / sum(steps), [0.0]
        for step in steps:
            at.append(at[-1] + step * scale)
    gaps, now = [], 0
    for time in at[1:]:
        # A wire carries one packet after another.
        gaps.append(max(1, round(time) - now))
        now += gaps[-1]
    return gaps, kinds


# ---- What the commands of every model ask for --------------------------------------------------------


def net() -> lpn.Net:
    """The net of the bundled scenario: FlowMonitor beside a regex benchmark. Others: net_of()."""
    return net_of(_DEFAULT)


def net_of(path) -> lpn.Net:
    """The net of a scenario file; the scenario's numbers are the defaults of its parameters."""
    scenario = scenarios.read(path)
    return _build(shape(scenario), parameters(scenario))[0]


def workload(input_path, net) -> lpn.Marking:
    """The marking of a scenario file for its net: traffic schedules, and an end after eight windows.

    Raises Error "E-scenario" when the net is not the one of this file.
    """
    scenario = scenarios.read(input_path)
    if net.text() != net_of(input_path).text():
        raise lpn.Error(
            "E-scenario",
            f"{input_path}: the net is that of another scenario; each has its own, "
            "by net_of(path), and lpn sim takes it",
        )
    return marking(scenario, net, 9)


def answer(input_path) -> dict:
    """Steady throughputs, latencies and bottlenecks of a scenario file's functions."""
    from . import _cli_simulate

    return _cli_simulate.answer(scenarios.read(input_path))


def show(answer):
    """Prints an answer()."""
    from . import _cli_simulate

    _cli_simulate.show(answer)
