"""The net of a scenario: its structure (Shape), the values of its parameters, its marking.

The structure follows the scenario's functions, their stages, queues and patterns; all times are
parameters, so scenarios of one structure share one compiled net. Ticks are 0.1 ns. Sources of the
parameters: README.md.
"""

import functools
import random
from dataclasses import dataclass, replace
from typing import NamedTuple

import lpn

from .. import scenario as scenarios
from ..engines import engines_of
from ..scenario import RUN_TO_COMPLETION
from . import parts

__all__ = [
    "Counts",
    "FunctionShape",
    "Shape",
    "marking",
    "net_of_scenario",
    "net_of_shape",
    "parameters",
    "seats",
    "shape",
]

# The window over which accesses to the memory are counted: some hundred packets of each function.
MEMORY_WINDOW_US = 50
SCHEDULE = 4096  # arrivals until a schedule repeats
_MOST = 2**50  # of a parameter, in ticks


@dataclass(frozen=True)
class FunctionShape:
    """What of a function decides the structure of the net. stages: (resource, queues, overloads)
    each.
    """

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


class Counts(NamedTuple):
    """What is counted of one function: its places, the names of the places that keep the counts, or
    the numbers that a run kept there.

    delivered, arrived, lost: packets, the latter two None when it is saturating; works: per stage,
    ticks of service; queues: per stage a list, requests in each queue; free: per engine stage,
    descriptors.
    """

    delivered: object
    arrived: object
    lost: object
    works: list
    queues: list
    free: list

    def each(self, of):
        """The Counts of of(x) for every x, in the order above."""
        offered = self.lost is not None
        return Counts(
            of(self.delivered),
            of(self.arrived) if offered else None,
            of(self.lost) if offered else None,
            [of(work) for work in self.works],
            [[of(queue) for queue in queues] for queues in self.queues],
            [of(free) for free in self.free],
        )


class ShapeNet(NamedTuple):
    """The net of a Shape. Per function of it: chains, a parts.Chain; counts, Counts of names; kept:
    all these names.
    """

    net: lpn.Net
    chains: list
    counts: list
    kept: list


@functools.lru_cache(maxsize=256)
def net_of_shape(shape):
    """The ShapeNet of a Shape; it is shared, and its parameters have no values."""
    return _build(shape, {})


def net_of_scenario(scenario):
    """The net of a Scenario, whose numbers are the defaults of its parameters."""
    return _build(shape(scenario), parameters(scenario)).net


def _build(shape, values):
    net = lpn.Net("bluefield")
    net.frequency = round(1e9 / parts.TICK_NS)

    def number(name, default, low, high):
        return net.param(name, values.get(name, default), range=(low, high))

    def time(name):
        return number(name, 1, 0, _MOST)

    window = number("window", parts.ticks(1000), 1, _MOST)
    engines = {}
    for name in engines_of(stage[0] for f in shape.functions for stage in f.stages):
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
    snapshots = parts.Snapshots(net, window)
    counts = [_counted(chain).each(snapshots.keep) for chain in chains]
    snapshots.done()
    net.done()
    return ShapeNet(net, chains, counts, snapshots.kept)


def _counted(chain):
    """The Counts of a Chain's places."""
    return Counts(
        chain.delivered, chain.arrived, chain.lost, chain.works, chain.queues, chain.descriptors
    )


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
    """The marking that ends a run of the Scenario's net after so many `snapshots`; traffic
    schedules.
    """
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
