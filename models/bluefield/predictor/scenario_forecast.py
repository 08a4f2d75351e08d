"""Throughputs of all functions of a scenario by the laws alone: the fast counterpart of simulating
its net.

Every function is bounded by its cores, whose memory stages the others' working sets and accesses
stretch, by its share of each engine, and by what it is offered. What a function leaves of an engine
depends on what holds it back elsewhere, and the pressure on the memory on all rates: a fixed point,
found by iteration. Functions with a trained `predictor` take their times from it instead of from
the scenario.

Rates are packets per us, times us.
"""

import math
from dataclasses import dataclass, replace
from statistics import NormalDist

from lpn import Error

from ..engines import ENGINE_LAWS
from ..scenario import (
    COUNTERS,
    MOST_ACCESSES,
    MOST_BYTES,
    MOST_FLOWS,
    MOST_MATCHES,
    MOST_WSS_MB,
    RUN_TO_COMPLETION,
    impossible_time,
)
from . import laws
from .function_predictor import RATE_SD, RIVAL_SD
from .profile_table import FLOWS, MATCHES, SIZE

__all__ = ["Forecast", "changed", "forecast", "solve"]

# Relative standard deviation of a time on cores: the white-box memory law's mean error on rows left
# out is
# 1.58 % (FlowMonitor, 50 rows), of a normal error that is sqrt(2 / pi) of its deviation.
CORE_SD = 0.0158 / math.sqrt(2 / math.pi)
# Batches of several run-to-completion functions meet at an engine, or lock into missing each other;
# the laws know averages only. Root mean square of their error against the net over 12 random sets
# of two or three functions.
MEETING_SD = 0.1
# What the constants of named laws were measured on (../net/README.md, "Parameters"): input ->
# (least, most).
MEASURED = {
    ("regex", "l7-filter"): {MATCHES: (330.2, 628.0), SIZE: (1500, 1518)},
    ("regex", "emerging-threats"): {MATCHES: (500, 33_000), SIZE: (128, 2048)},
    ("compression", "deflate"): {SIZE: (35e6, 100e6)},
}
# FlowMonitor's memory law: working set [MB] and accesses [1e8/s] of the competitors in its profile.
MEMORY_MEASURED = {"wss_MB": (0.1, 11.82), "accesses_1e8_per_s": (0.04, 3.6)}
# Inputs of changed() beside the traffic: the pressure on the memory from outside.
PRESSURE = ("wss_MB", "accesses_per_s")
_MOST = {
    FLOWS: MOST_FLOWS,
    SIZE: MOST_BYTES,
    MATCHES: MOST_MATCHES,
    "wss_MB": MOST_WSS_MB,
    "accesses_per_s": MOST_ACCESSES,
}
# Rounds overshoot where a function is twice at an engine: steps become shorter.
_STEADY, _MOST_ROUNDS, _TURNS_OF_A_STEP = 1e-10, 5000, 1000


@dataclass
class Forecast:
    """One function's prediction; rates in packets per us.

    alone: its rate with nobody else; bounds: {resource: rate}; bottleneck: the resource (or
    "offered load") that decides; could_be: all that could, within the interval; outside: {input,
    value, low, high}.
    """

    name: str
    rate: float
    low: float
    high: float
    alone: float
    bounds: dict
    bottleneck: str
    could_be: list
    outside: list
    promised_drop: float = None

    @property
    def drop(self):
        """Fraction of its rate alone that the others cost it."""
        return 1 - self.rate / self.alone

    @property
    def broken(self):
        """Whether it loses more than promised; a tenth of a percent is the models' own resolution."""
        return self.promised_drop is not None and self.drop > self.promised_drop + 1e-3

    def data(self):
        """For JSON, rates in thousands of packets per second."""
        return {
            "name": self.name,
            "throughput_kpps": self.rate * 1e3,
            "low_kpps": self.low * 1e3,
            "high_kpps": self.high * 1e3,
            "alone_kpps": self.alone * 1e3,
            "drop": self.drop,
            "promised_drop": self.promised_drop,
            "promise_kept": None if self.promised_drop is None else not self.broken,
            "bottleneck": self.bottleneck,
            "could_be": self.could_be,
            "bounds_kpps": {name: rate * 1e3 for name, rate in self.bounds.items()},
            "outside": self.outside,
        }


@dataclass
class _Visit:
    """Of an engine; as laws.Load."""

    engine: str
    time: float
    queues: int
    overload: float = 1.0


@dataclass
class _Times:
    """A function's times, which errors multiply: on cores, per visit of an engine."""

    fixed: float  # on cores, whatever presses on the memory
    stretched: float  # on cores, without pressure
    visits: list  # of _Visit


def forecast(scenario, predictors=None, level=0.9):
    """A Forecast per function of a `scenario.Scenario`, in its order.

    predictors: function name -> predictor.Predictor. Raises lpn.Error E-scenario when one of them
    needs what the scenario does not say.
    """
    predictors = predictors or {}
    names = [f.name for f in scenario.functions]
    for name in predictors:
        if name not in names:
            raise Error(
                "E-scenario",
                f"{scenario.path}: there is no function '{name}' for the model; there are: "
                f"{', '.join(names)}",
            )
    rows = {name: traffic_row(scenario, name) for name in predictors}
    times = [_times(f, predictors.get(f.name), rows.get(f.name)) for f in scenario.functions]
    answers = solve(scenario, times)
    spread = _spread(
        scenario, times, answers, predictors, rows, NormalDist().inv_cdf((1 + level) / 2), level
    )
    found = []
    for k, f in enumerate(scenario.functions):
        rate, bounds = answers[k]
        own = _alone(f, predictors.get(f.name), times[k], rows.get(f.name))
        alone = solve(scenario.alone(f.name), [own])[0][0]
        _check_descriptors(scenario, f, rate, times[k].visits, times)
        _check_descriptors(scenario, f, alone, own.visits, [own])
        # By the same model; beyond its range it may see help in a little contention, which is none.
        alone = max(rate, alone)
        down, up = spread[k]
        bottleneck = (
            min(bounds, key=bounds.get)
            if f.pattern != RUN_TO_COMPLETION
            else _longest(f, bounds, rate)
        )
        limit = rate * math.exp(up)
        could_be = [bottleneck] + [
            name
            for name, bound in bounds.items()
            if name != bottleneck
            and f.pattern != RUN_TO_COMPLETION
            and bound * math.exp(-down) <= limit
        ]
        trained = predictors.get(f.name)
        outside = trained.outside(rows[f.name]) if trained else _outside(scenario, f)
        found.append(
            Forecast(
                f.name,
                rate,
                rate * math.exp(-down),
                limit,
                alone,
                bounds,
                bottleneck,
                could_be,
                outside,
                f.promised_drop,
            )
        )
    return found


def _times(function, predictor, row):
    visits = [
        _Visit(s.resource, function.service_us(s), s.queues, s.service.overload)
        for s in function.stages
        if not s.on_core
    ]
    if predictor is not None and predictor.engines:
        used = {visit.engine for visit in visits}
        if used - set(predictor.engines):
            raise Error(
                "E-scenario",
                f"function '{function.name}' uses {', '.join(sorted(used))}, its model was "
                f"trained for {', '.join(predictor.engines)}; train it with these engines' times",
            )
        # Calibrated on a backlogged engine, so that an overload is in the time.
        visits = [
            _Visit(visit.engine, predictor.engines[visit.engine].time(row)[0], visit.queues)
            for visit in visits
        ]
    if predictor is not None and predictor.memory:
        # The profile has all of the function's cores, and the pressure of the others.
        inside = predictor.engine_time_of_profile(function.pattern)
        time = 1 / predictor.memory.bound(row, 0.9).rate - inside
        return _Times(time * function.cores, 0.0, visits)
    return _Times(
        sum(function.service_us(s) for s in function.stages if s.resource == "cpu"),
        sum(function.service_us(s) for s in function.stages if s.resource == "memory"),
        visits,
    )


def _alone(function, predictor, times, row):
    """The times of a function with no competitor: its predictor's, where it has one, at its own
    traffic. The highest rate of a profile is another traffic's, or another's contention.
    """
    if predictor is None or not predictor.memory:
        return times
    nobody = {name: 0.0 if name.startswith("comp_") else value for name, value in row.items()}
    inside = predictor.engine_time_of_profile(function.pattern)
    time = 1 / predictor.memory.bound(nobody, 0.9).rate - inside
    return _Times(time * function.cores, 0.0, times.visits)


def traffic_row(scenario, name):
    """The row of `profile_table` columns that a predictor of function `name` is asked with: its
    traffic, and the counters of all others summed."""
    mine = next(f for f in scenario.functions if f.name == name)
    row = {
        FLOWS: float(mine.traffic.flows),
        SIZE: float(mine.traffic.packet_bytes),
        MATCHES: float(mine.traffic.matches_per_MB),
    }
    parts = []
    for other in scenario.functions:
        if other.name == name:
            continue
        if other.memory.counters is None:
            raise Error(
                "E-scenario",
                f"{scenario.path}: the model of '{name}' needs the counters of '{other.name}': "
                f'write "memory": {{"counters": {{"{COUNTERS[0]}": ..., ...}}}}',
            )
        parts.append(other.memory.counters)
    pressure = scenario.pressure
    if pressure.counters is not None:
        parts.append(pressure.counters)
    elif pressure.wss_MB or pressure.accesses_per_s:
        raise Error(
            "E-scenario",
            f"{scenario.path}: the model of '{name}' needs the counters of memory_pressure: "
            f'write "memory_pressure": {{"counters": {{"{COUNTERS[0]}": ..., ...}}}}',
        )
    for counter in COUNTERS:
        row[f"comp_{counter}"] = sum(part[counter] for part in parts)
    return row


def changed(scenario, index, column, value):
    """The Scenario with one input changed: traffic of a function, or PRESSURE.

    Raises Error "E-usage" for an input that there is not, and a value that no scenario may have.
    """
    f = scenario.functions[index]
    if column in _MOST and not 0 <= value <= _MOST[column]:
        raise Error(
            "E-usage",
            f"{scenario.path}: {column} is {value:g}; it must be a number from 0 to "
            f"{_MOST[column]:g}",
        )
    if column in PRESSURE:
        return replace(
            scenario, pressure=replace(scenario.pressure, **{column: value}, counters=None)
        )
    if column == FLOWS:
        traffic = replace(f.traffic, flows=max(1, round(value)))
    elif column in (MATCHES, SIZE):
        if len(f.traffic.mix) > 1:
            raise Error(
                "E-usage",
                f"{scenario.path}: '{f.name}' receives a mix of packets; {column} is one number only "
                "without it",
            )
        key, number = (
            ("matches_per_MB", value)
            if column == MATCHES
            else ("packet_bytes", max(1, round(value)))
        )
        traffic = replace(f.traffic, mix=(replace(f.traffic.mix[0], **{key: number}),))
    else:
        raise Error(
            "E-usage",
            f"there is no input '{column}' of a scenario; there are: "
            f"{', '.join((MATCHES, FLOWS, SIZE, *PRESSURE))}",
        )
    for k, stage in enumerate(f.stages):
        wrong = impossible_time(stage, traffic)
        if wrong:
            raise Error(
                "E-usage",
                f"{scenario.path}: with {column} {value:g}, stage {k} of '{f.name}' {wrong}",
            )
    functions = list(scenario.functions)
    functions[index] = replace(f, traffic=traffic)
    return replace(scenario, functions=tuple(functions))


# ---- The fixed point -----------------------------------------------------------------------------------


def solve(scenario, times=None):
    """[(rate, {resource: bound})] per function, from the times of `forecast` (None: the scenario's
    own).
    """
    functions = scenario.functions
    times = times or [_times(f, None, None) for f in functions]
    sets = [f.memory.working_set(f.traffic.flows) for f in functions]
    reach = [min(sum(sets) - own + scenario.pressure.wss_MB, scenario.nic.reach_MB) for own in sets]
    accesses = [f.memory.accesses_per_packet for f in functions]
    offered = [
        math.inf if f.traffic.rate_kpps is None else f.traffic.rate_kpps / 1e3 for f in functions
    ]
    rates = [
        min(o, f.cores / max(t.fixed + t.stretched, 1e-9))
        for f, t, o in zip(functions, times, offered)
    ]
    demands = [[rate] * len(t.visits) for rate, t in zip(rates, times)]
    # Queues in front of what comes first on a packet's way fill first, and keep what comes later
    # from filling: with more than one fixed point, it is the one that is reached from empty queues.
    # So demands are first limited by what comes before a visit; then also by what comes behind it,
    # whose full queues hold a function back. An engine that was overloaded before they filled stays
    # so while more is asked of it than it then serves.
    overloaded = set()
    for behind in (False, True):
        for turn in range(_MOST_ROUNDS):
            new_rates, new_demands, bounds = _round(
                scenario, times, reach, accesses, offered, rates, demands, behind, overloaded
            )
            moved = max(
                [abs(a / b - 1) for a, b in zip(new_rates, rates)]
                + [abs(a / b - 1) for x, y in zip(new_demands, demands) for a, b in zip(x, y)]
            )
            step = 0.5 ** (1 + turn // _TURNS_OF_A_STEP)
            rates = [b + step * (a - b) for a, b in zip(new_rates, rates)]
            demands = [
                [b + step * (a - b) for a, b in zip(x, y)] for x, y in zip(new_demands, demands)
            ]
            if moved < _STEADY:
                break
        else:
            raise Error(
                "E-forecast",
                f"{scenario.path}: the functions' rates depend on each other in a way that "
                "does not settle; lpn bluefield simulate answers it",
            )
        overloaded = {
            (k, v)
            for k, t in enumerate(times)
            for v, visit in enumerate(t.visits)
            if visit.overload > 1 and demands[k][v] > _share(times, demands, k, v, 1.0)
        }
    return [
        (rate, _named(f, core_time, shares, t, offer))
        for rate, f, (core_time, shares), t, offer in zip(
            new_rates, functions, bounds, times, offered
        )
    ]


def _round(scenario, times, reach, accesses, offered, rates, demands, behind, overloaded):
    """(rates, demands per visit, (core time, share per visit)) of every function, given the
    others'. overloaded: (function, visit) of those that were before.
    """
    new_rates, new_demands, bounds = [], [], []
    for k, (f, t) in enumerate(zip(scenario.functions, times)):
        others = sum(rate * a for j, (rate, a) in enumerate(zip(rates, accesses)) if j != k) * 1e6
        pressure = (others + scenario.pressure.accesses_per_s) / 1e8
        stretch = reach[k] * (f.memory.us_per_MB + f.memory.us_per_MB_1e8 * pressure)
        memory_stages = sum(s.resource == "memory" for s in f.stages) if t.stretched else 0
        core_time = t.fixed + t.stretched + memory_stages * stretch
        shares = [_given(times, demands, k, v, (k, v) in overloaded) for v in range(len(t.visits))]
        bounds.append((core_time, shares))
        if f.pattern == RUN_TO_COMPLETION:
            rate = min(
                [offered[k], _closed_loop(scenario, f, core_time, t.visits, shares), *shares]
            )
            # Between its batches the engine is idle for others: on average it asks for what it
            # gets.
            new_demands.append([rate] * len(shares))
        else:
            most = min(offered[k], f.cores / core_time)
            rate = min([most, *shares])
            new_demands.append(
                [
                    min([most, *shares[:v], *(shares[v + 1 :] if behind else ())])
                    for v in range(len(shares))
                ]
            )
        new_rates.append(rate)
    return new_rates, new_demands, bounds


def _given(times, demands, k, visit, overloaded):
    """What an engine could give function k at one of its visits; less where it is overloaded, which
    it is by what it is asked or, if it was before, stays.
    """
    factor = times[k].visits[visit].overload
    most = _share(times, demands, k, visit, 1.0)
    if factor == 1:
        return most
    least = _share(times, demands, k, visit, factor)
    return most if demands[k][visit] <= (least if overloaded else most) else least


def _share(times, demands, k, visit, overload):
    """What an engine could give function k at one of its visits, if k were always waiting there and
    its requests took `overload` times as long.
    """
    mine = times[k].visits[visit]
    loads = [laws.Load(mine.time * overload, mine.queues)]
    for j, t in enumerate(times):
        for v, other in enumerate(t.visits):
            if other.engine == mine.engine and (j, v) != (k, visit):
                loads.append(laws.Load(other.time, other.queues, demands[j][v], other.overload))
    return laws.shares(loads)[0]


def _closed_loop(scenario, f, core_time, visits, shares):
    """Eq 4 for cores that wait for a batch's completions, with the engines' latency once per batch
    and visit."""
    latency = sum(scenario.nic.engines[v.engine].latency_us for v in visits) / f.batch
    return f.cores / (core_time + latency + sum(1 / share for share in shares))


def _check_descriptors(scenario, f, rate, visits, times):
    """Raises Error E-forecast where descriptors may hold a function back, or decide whether it is
    overloaded: the laws take queues to be as deep as they need be.
    """
    stages = [(k, s) for k, s in enumerate(f.stages) if not s.on_core]
    for (k, stage), visit in zip(stages, visits):
        if f.pattern == RUN_TO_COMPLETION:
            needed = f.cores * f.batch
        else:
            # By Little's law; a request waits for no more than a round, and every core has one.
            round_ = sum(
                v.queues * v.time * v.overload
                for t in times
                for v in t.visits
                if v.engine == visit.engine
            )
            needed = f.cores + rate * (scenario.nic.engines[visit.engine].latency_us + round_)
        if visit.overload > 1:
            needed *= 2  # of which less than half wait where the engine keeps up
        if stage.queues * stage.slots < needed * (1 - 1e-9):
            raise Error(
                "E-forecast",
                f"{scenario.path}: '{f.name}', stage {k}: up to {math.ceil(needed)} descriptors would "
                f"be in use at {visit.engine}, and there are {stage.queues * stage.slots}; the laws "
                "know no such limit: write more slots, or ask lpn bluefield simulate",
            )


def _named(f, core_time, shares, times, offered):
    on_core = max((s for s in f.stages if s.on_core), key=f.service_us).resource
    named = {on_core: f.cores / core_time}
    for share, visit in zip(shares, times.visits):
        named[visit.engine] = min(share, named.get(visit.engine, math.inf))
    if offered < math.inf:
        named["offered load"] = offered
    return named


def _longest(f, bounds, rate):
    """What holds a run-to-completion function back: the offered load, or where a packet's time
    goes.
    """
    if bounds.get("offered load", math.inf) <= rate * (1 + 1e-9):
        return "offered load"
    on_core = next(iter(bounds))
    times = {
        name: (f.cores if name == on_core else 1) / bound
        for name, bound in bounds.items()
        if name != "offered load"
    }
    return max(times, key=times.get)


# ---- Intervals -----------------------------------------------------------------------------------------


def _spread(scenario, times, answers, predictors, rows, z, level):
    """(down, up) per function: logs of the interval's ends against the rate.

    Each time is moved by a standard deviation either way and the fixed point found again; the
    effects add up as independent ones do. Competitors' engine times are less well known than the
    function's own (`function_predictor`).
    """
    down, up = [0.0] * len(times), [0.0] * len(times)
    for k, (f, t) in enumerate(zip(scenario.functions, times)):
        memory = predictors[f.name].memory if f.name in predictors else None
        if memory:
            bound = memory.bound(rows[f.name], level)
            deviations = math.log(bound.high / bound.rate) / z, math.log(bound.rate / bound.low) / z
            steps = [("core", deviations, 1.0)]
        else:
            steps = [("core", (CORE_SD, CORE_SD), 1.0)]
        for v in range(len(t.visits)):
            steps.append((v, (RIVAL_SD, RIVAL_SD), RATE_SD / RIVAL_SD))
        for which, (faster, slower), own in steps:
            for step in (-faster, slower):
                moved = list(times)
                moved[k] = _moved(t, which, math.exp(step))
                for i, (rate, _) in enumerate(solve(scenario, moved)):
                    change = z * (own if i == k else 1.0) * math.log(rate / answers[i][0])
                    if change < 0:
                        down[i] += change**2
                    else:
                        up[i] += change**2
    for k in range(len(times)):
        if _meets(scenario.functions, k):
            down[k] += (z * MEETING_SD) ** 2
            up[k] += (z * MEETING_SD) ** 2
    # Moves both ways may change a rate the same way at a kink; that only widens the interval.
    return [(math.sqrt(d), math.sqrt(u)) for d, u in zip(down, up)]


def _meets(functions, k):
    """Whether a function at an engine finds there batches that depend on its own."""
    engines = [{s.resource for s in f.stages if not s.on_core} for f in functions]
    return functions[k].pattern == RUN_TO_COMPLETION and any(
        f.pattern == RUN_TO_COMPLETION and engines[j] & engines[k]
        for j, f in enumerate(functions)
        if j != k
    )


def _moved(times, which, factor):
    if which == "core":
        return _Times(times.fixed * factor, times.stretched * factor, times.visits)
    visits = list(times.visits)
    visits[which] = replace(visits[which], time=visits[which].time * factor)
    return _Times(times.fixed, times.stretched, visits)


def _outside(scenario, f):
    """Inputs outside what the constants of named laws, and of the memory law, were measured on."""
    found = {}
    for stage in f.stages:
        for (engine, name), ranges in MEASURED.items():
            if stage.resource == engine and stage.service == ENGINE_LAWS[engine][name]:
                for packets in f.traffic.mix:
                    for key, value in (
                        (MATCHES, packets.matches_per_MB),
                        (SIZE, packets.packet_bytes),
                    ):
                        if key in ranges and not ranges[key][0] <= value <= ranges[key][1]:
                            found[key] = value, *ranges[key]
    if any(s.resource == "memory" for s in f.stages) and f.memory.us_per_MB:
        others = [g for g in scenario.functions if g.name != f.name]
        wss = sum(g.memory.working_set(g.traffic.flows) for g in others) + scenario.pressure.wss_MB
        low, high = MEMORY_MEASURED["wss_MB"]
        # No pressure at all is where the line starts.
        if wss and not low <= wss <= high:
            found["competitors' wss_MB"] = wss, low, high
        accesses = scenario.pressure.accesses_per_s / 1e8
        low, high = MEMORY_MEASURED["accesses_1e8_per_s"]
        if accesses and not low <= accesses <= high:
            found["competitors' accesses [1e8/s]"] = accesses, low, high
    return [
        {"input": name, "value": value, "low": low, "high": high}
        for name, (value, low, high) in found.items()
    ]
