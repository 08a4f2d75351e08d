"""Where to place arriving functions: NICs used and promises broken, by policy.

Functions arrive one by one and stay; each was promised a drop of its throughput of at most so much
from what it has alone. A NIC takes functions while it has cores. The policies:

    monopolisation   a NIC for each function
    greedy           the NIC with the most free cores, of those with the most the one whose engines have
                     the least to do; a new one only when none has cores left. Promises are not
                     looked at.
    memory-only      the first NIC on which every promise is predicted to be kept, by memory contention alone
    both-resources   the same, by memory and engines (../predictor)
    oracle           the same, by the truth

The truth is the net, simulated once per set of co-located functions. Predictors are trained as for
a real NIC, on profiles: solo, against a memory benchmark and against benchmarks of the engines;
here the net is the testbed.
"""

import itertools
import math
import random
import time
from dataclasses import dataclass, replace

import lpn

from ..engines import Law, engines_of
from ..scenario import (
    RUN_TO_COMPLETION,
    Function,
    Nic,
    Packets,
    Pressure,
    Scenario,
    Simulate,
    Stage,
)
from . import build, steady

__all__ = ["POLICIES", "Arrival", "Catalogue", "Placement", "draw", "optimum", "place"]

POLICIES = ("monopolisation", "greedy", "memory-only", "both-resources", "oracle")
# A drop beyond its promise by less than the simulation's tolerance is none.
TOLERANCE = 0.001
# One net has a seat for every set of functions that fits; beyond so many seats, sets have nets of
# their own.
_MOST_SEATS = 24
MOST_FOR_OPTIMUM = 12
MOST_NOISE = 0.3
# Standard deviation of a rate measured on the real NIC: a law that is exact but for it is off by 1.3 %
# on average (regex contention alone, table 12 of the paper), sqrt(2 / pi) of the deviation.
MEASURED_NOISE = 0.016


@dataclass(frozen=True)
class Arrival:
    """A function of the catalogue, by number, and the drop it was promised (a fraction)."""

    function: int
    promised: float


@dataclass
class Placement:
    """What a policy did. nics: lists of arrivals' numbers; broken: numbers of the arrivals whose
    promise is broken in truth; seconds: deciding, with what had to be simulated or trained for it
    meanwhile.
    """

    policy: str
    nics: list
    broken: list
    seconds: float


class Catalogue:
    """Functions that may arrive, what they achieve together on one NIC, and what is predicted of
    that.

    functions, nic: as of scenario.read_catalogue. Sets of co-located functions are sorted tuples of
    numbers. noise: standard deviation, as a fraction, of every measured rate, those of profiles and
    those that decide whether a promise is kept; the same whenever the same is measured with this
    `seed`. Raises Error E-noise for one that is none.
    """

    def __init__(self, functions, nic=None, simulate=Simulate(), noise=0.0, seed=0):
        if not 0 <= noise <= MOST_NOISE:
            raise lpn.Error(
                "E-noise",
                f"a noise of {noise:g} is none; write a fraction of 0 to {MOST_NOISE:g} of a rate",
            )
        self.functions = tuple(functions)
        self.nic = nic or Nic()
        self.simulate = simulate
        self.noise = noise
        self.seed = seed
        self._truth = {}
        self._predictors = {}
        self._form = self._common_form()

    def _common_form(self):
        """A Shape that seats every set of functions with cores for it, and benchmarks; None: too
        large.
        """
        alike = {}
        for f in self.functions:
            alike.setdefault(build.shape(Scenario((f,), self.nic)).functions[0], []).append(f)
        seats = [
            _benchmark(name, 1.0, self.nic)
            for name in engines_of(s.resource for f in self.functions for s in f.stages)
        ]
        for functions in alike.values():
            seats += [functions[0]] * max(self.nic.cores // f.cores for f in functions)
        return build.shape(Scenario(tuple(seats), self.nic)) if len(seats) <= _MOST_SEATS else None

    def fits(self, together):
        """Whether a NIC has cores for these functions."""
        return sum(self.functions[f].cores for f in together) <= self.nic.cores

    def sets(self):
        """All sets of functions that fit on a NIC."""
        found, longer = [], [()]
        while longer:
            longer = [
                key + (f,)
                for key in longer
                for f in range(key[-1] if key else 0, len(self.functions))
                if self.fits(key + (f,))
            ]
            found += longer
        return found

    def prepare(self, sets, progress=None):
        """Simulates those of the sets that are not known yet, as one batch."""
        new = [
            key for key in dict.fromkeys(map(tuple, map(sorted, sets))) if key not in self._truth
        ]
        if not new:
            return
        outcomes = steady.throughputs(
            [self.scenario(key) for key in new], form=self._form, progress=progress
        )
        for key, outcome in zip(new, outcomes):
            self._truth[key] = tuple(
                self._measured(result.throughput_kpps, "set", key, k)
                for k, result in enumerate(outcome.results)
            )

    def _measured(self, rate, *what):
        """A rate as one measurement of `what` has it."""
        if not self.noise:
            return rate
        deviation = random.Random(repr((self.seed, *what))).gauss(0, self.noise)
        return rate * math.exp(deviation)

    def scenario(self, together):
        """The Scenario of these functions on one NIC."""
        named = tuple(
            replace(self.functions[f], name=f"{self.functions[f].name}#{k}")
            for k, f in enumerate(together)
        )
        return Scenario(named, self.nic, simulate=self.simulate)

    def rates(self, together):
        """Throughputs [kpps] of a set, in its order."""
        if together not in self._truth:
            self.prepare([together])
        return self._truth[together]

    def solo(self, function):
        """Throughput [kpps] of a function alone."""
        return self.rates((function,))[0]

    def drops(self, together):
        """Drop of each function of a set against itself alone, in truth."""
        return [1 - rate / self.solo(f) for f, rate in zip(together, self.rates(together))]

    # ---- Prediction ----------------------------------------------------------------------------------

    def predicted_drops(self, together, engines):
        """As drops(), by the predictors trained on profiles; engines False: by memory contention
        alone.
        """
        return [self._predicted(k, together, engines) for k in range(len(together))]

    def _predicted(self, k, together, engines):
        from ..predictor.profile_table import FLOWS, MATCHES, SIZE

        mine, rivals = together[k], together[:k] + together[k + 1 :]
        predictor, traffic = self.predictor(mine), self.functions[mine].traffic
        row = {
            FLOWS: traffic.flows,
            SIZE: traffic.packet_bytes,
            MATCHES: traffic.matches_per_MB,
            **_counters(sum(self._wss(f) for f in rivals), sum(self._accesses(f) for f in rivals)),
        }
        solo = self.solo(mine)
        if not engines:
            return max(0.0, 1 - 1e3 * predictor.memory.model.rate(row) / solo)
        for name in engines_of(s.resource for f in self.functions for s in f.stages):
            row[f"comp_{name}_sum_nt_ms"] = 1e-3 * sum(self._engine_time(f, name) for f in rivals)
        return max(0.0, 1 - 1e3 * predictor.answer(row).rate / solo)

    def _wss(self, function):
        f = self.functions[function]
        return f.memory.working_set(f.traffic.flows)

    def _accesses(self, function):
        # Counters are read while the function runs alone.
        return self.functions[function].memory.accesses_per_packet * self.solo(function) * 1e3

    def _engine_time(self, function, name):
        """Queues times time per request [us] that a function takes of an engine's round, as
        calibrated.
        """
        from ..predictor.profile_table import MATCHES, SIZE

        engine = self.predictor(function).engines.get(name)
        traffic = self.functions[function].traffic
        if engine is None:
            return 0.0
        return (
            engine.queues
            * engine.time({MATCHES: traffic.matches_per_MB, SIZE: traffic.packet_bytes})[0]
        )

    def predictor(self, function):
        """The Predictor of a function, trained on profiles that the net measures."""
        if function not in self._predictors:
            self.train([function])
        return self._predictors[function]

    def train(self, functions, progress=None):
        """Measures the profiles of these functions and trains their predictors."""
        from ..predictor import training
        from ..predictor.profile_table import Profile

        plans = {f: _profiles(self.functions[f], self.nic, self.simulate) for f in functions}
        asked = [
            scenario
            for plan in plans.values()
            for _, _, rows in plan
            for scenario, _ in rows
            if scenario
        ]
        measured = iter(steady.throughputs(asked, form=self._form, progress=progress))
        for f, plan in plans.items():
            profiles = []
            for kind, engine, rows in plan:
                filled = [
                    {
                        **row,
                        "throughput_kpps": self._measured(
                            next(measured).results[0].throughput_kpps, "profile", f, engine, n
                        ),
                    }
                    if scenario
                    else row
                    for n, (scenario, row) in enumerate(rows)
                ]
                name = f"{self.functions[f].name} {engine or kind}"
                profiles.append(Profile(name, kind, filled, list(range(len(filled))), engine))
            traffic = self.functions[f].traffic
            self._predictors[f], _ = training.train(
                profiles,
                self.functions[f].pattern,
                (traffic.flows,),
                kinds=("white-box",),
                function=self.functions[f].name,
            )


def _counters(wss_MB, accesses_per_s):
    return {
        "comp_wss_MB": wss_MB,
        "comp_l2d_rd_per_s": accesses_per_s * 2 / 3,
        "comp_l2d_wr_per_s": accesses_per_s / 3,
    }


def _benchmark(engine, time_us, nic):
    """A function that keeps one queue of an engine full of requests of so many us."""
    stages = (Stage("cpu", Law(us=0.05)), Stage(engine, Law(us=time_us), 1, nic.slots))
    return Function(f"{engine} benchmark", stages, cores=1)


def _cores_read_size(function):
    """Whether a packet's time on the cores depends on its size."""
    return any(
        part.at_least_ns_per_byte or part.ns_per_byte or part.us_per_match or part.us_per_match2
        for part in (stage.service for stage in function.stages if stage.on_core)
    )


def _profiles(function, nic, simulate):
    """[(kind, engine, [(Scenario, row without the rate)])]: what to measure of a function, as of
    any binary.

    Memory: without matches, for functions that compress with the smallest packets, so that no
    engine is in the way, under pressures that cover what three co-located functions make; the rows
    name a packet size only where the cores' time depends on it. Engines:
    co-runs with a benchmark of one queue whose requests are so long that the engine is the
    bottleneck, at two traffics. That tells nothing of a run-to-completion function, whose other
    time always counts: its times per request are taken from its laws (rows without a Scenario).
    """
    from ..predictor.profile_table import FLOWS, MATCHES, SIZE

    source = random.Random(function.name)
    engines = {
        name: [s for s in function.stages if s.resource == name]
        for name in engines_of(s.resource for s in function.stages)
    }
    # What an engine's time is a line of: matches, or the bytes.
    by_matches = {
        name: any(s.service.by_matches for s in stages) for name, stages in engines.items()
    }
    quiet_packets = Packets(
        64 if not all(by_matches.values()) else function.traffic.mix[0].packet_bytes, 0.0
    )
    quiet = replace(
        function, traffic=replace(function.traffic, mix=(quiet_packets,), rate_kpps=None)
    )
    size = {SIZE: quiet_packets.packet_bytes} if _cores_read_size(function) else {}
    rows = []
    for k in range(40):
        wss, accesses = (0.0, 0.0) if k == 0 else (source.uniform(0, 12), source.uniform(0, 2.5e8))
        rows.append(
            (
                Scenario(
                    (quiet,), nic, Pressure(wss, accesses), simulate, f"{function.name}: profile"
                ),
                {
                    FLOWS: function.traffic.flows,
                    **size,
                    MATCHES: 0.0,
                    **_counters(wss, accesses),
                },
            )
        )
    plan = [("memory", None, rows)]
    for name, stages in engines.items():
        size = function.traffic.mix[0].packet_bytes
        traffics = (
            [Packets(size, m) for m in (300.0, 700.0)]
            if by_matches[name]
            else [Packets(b, 0.0) for b in (512, 1500)]
        )
        rows = []
        if function.pattern == RUN_TO_COMPLETION:
            for packets in traffics:
                us = sum(s.service.time(packets, function.traffic.flows) for s in stages)
                rows.append(
                    (
                        None,
                        {
                            SIZE: packets.packet_bytes,
                            MATCHES: packets.matches_per_MB,
                            f"{name}_time_per_pkt_ms": us * 1e-3,
                        },
                    )
                )
            plan.append(("engine times", name, rows))
            continue
        for packets in traffics:
            loaded = replace(
                function, traffic=replace(function.traffic, mix=(packets,), rate_kpps=None)
            )
            # Longer than everything else that the function does to a packet.
            base = sum(
                loaded.service_us(s) / (loaded.cores if s.on_core else 1) for s in loaded.stages
            )
            for times in (1.5, 3, 4.5):
                bench = _benchmark(name, base * times, nic)
                rows.append(
                    (
                        Scenario(
                            (loaded, bench), nic, Pressure(), simulate, f"{function.name}: co-run"
                        ),
                        {
                            FLOWS: function.traffic.flows,
                            SIZE: packets.packet_bytes,
                            MATCHES: packets.matches_per_MB,
                            f"{name}_bench_time_ms": base * times * 1e-3,
                        },
                    )
                )
        plan.append(("co-runs", name, rows))
    return plan


# ---- Policies ----------------------------------------------------------------------------------------


def draw(catalogue, count, seed, promised=(0.05, 0.20)):
    """A random sequence: `count` Arrivals of any function, promised drops uniform between the two."""
    source = random.Random(seed)
    count_of = len(catalogue.functions)
    return [Arrival(source.randrange(count_of), source.uniform(*promised)) for _ in range(count)]


def place(catalogue, arrivals, policy):
    """The Placement of a sequence by one of POLICIES."""
    begin = time.perf_counter()
    drops = {
        "memory-only": lambda key: catalogue.predicted_drops(key, engines=False),
        "both-resources": lambda key: catalogue.predicted_drops(key, engines=True),
        "oracle": catalogue.drops,
    }
    if policy == "monopolisation":
        nics = [[k] for k in range(len(arrivals))]
    elif policy == "greedy":
        nics = _greedy(catalogue, arrivals)
    elif policy in drops:
        nics = _first_fit(catalogue, arrivals, drops[policy])
    else:
        raise lpn.Error(
            "E-usage", f"there is no policy '{policy}'; there are: {', '.join(POLICIES)}"
        )
    return Placement(policy, nics, _broken(catalogue, arrivals, nics), time.perf_counter() - begin)


def _greedy(catalogue, arrivals):
    cores = [f.cores for f in catalogue.functions]
    # Share of an engine that a function would take at its solo rate.
    load = [
        sum(f.service_us(s) * catalogue.solo(k) * 1e-3 for s in f.stages if not s.on_core)
        for k, f in enumerate(catalogue.functions)
    ]
    nics, free, busy = [], [], []
    for k, arrival in enumerate(arrivals):
        able = [n for n, left in enumerate(free) if left >= cores[arrival.function]]
        if able:
            n = max(able, key=lambda n: (free[n], -busy[n], -n))
        else:
            n = len(nics)
            nics.append([])
            free.append(catalogue.nic.cores)
            busy.append(0.0)
        nics[n].append(k)
        free[n] -= cores[arrival.function]
        busy[n] += load[arrival.function]
    return nics


class _Known:
    """Drops of sets, each asked for once, and kept by function: sets have few different ones."""

    def __init__(self, drops):
        self._drops, self._known = drops, {}

    def of(self, key):
        found = self._known.get(key)
        if found is None:
            # Equal functions of a set have equal drops, up to the order of their queues: the larger
            # counts.
            found = {}
            for f, drop in zip(key, self._drops(key)):
                found[f] = max(drop, found.get(f, drop))
            self._known[key] = found
        return found


def _keeps(drops, held):
    return all(drops[a.function] <= a.promised + TOLERANCE for a in held)


def _first_fit(catalogue, arrivals, drops):
    known, nics = _Known(drops), []
    least = min(f.cores for f in catalogue.functions)
    cores = [f.cores for f in catalogue.functions]
    room = []  # (NIC, its arrivals, its set, free cores) of those that could take something yet
    for k, arrival in enumerate(arrivals):
        for at, (n, held, key, free) in enumerate(room):
            if free < cores[arrival.function]:
                continue
            together = tuple(sorted((*key, arrival.function)))
            found = known.of(together)
            if found[arrival.function] <= arrival.promised + TOLERANCE and _keeps(found, held):
                nics[n].append(k)
                held.append(arrival)
                free -= cores[arrival.function]
                if free >= least:
                    room[at] = (n, held, together, free)
                else:
                    room.pop(at)
                break
        else:
            nics.append([k])
            free = catalogue.nic.cores - cores[arrival.function]
            if free >= least:
                room.append((len(nics) - 1, [arrival], (arrival.function,), free))
    return nics


def _broken(catalogue, arrivals, nics):
    """The arrivals whose promise is broken in truth."""
    sets = [tuple(sorted(arrivals[k].function for k in nic)) for nic in nics]
    catalogue.prepare(sets)
    known, broken = _Known(catalogue.drops), []
    for nic, key in zip(nics, sets):
        drops = known.of(key)
        broken += [k for k in nic if drops[arrivals[k].function] > arrivals[k].promised + TOLERANCE]
    return sorted(broken)


def optimum(catalogue, arrivals):
    """The fewest NICs that keep every promise in truth, arrivals known in advance: a Placement.

    Exact, by dynamic programming over subsets; at most MOST_FOR_OPTIMUM arrivals. Raises Error
    "E-optimum" for more, and when an arrival's promise is broken even alone.
    """
    count = len(arrivals)
    if count > MOST_FOR_OPTIMUM:
        raise lpn.Error(
            "E-optimum",
            f"the exact optimum of {count} arrivals would take too long; give "
            f"at most {MOST_FOR_OPTIMUM}",
        )
    begin = time.perf_counter()
    most = catalogue.nic.cores // min(f.cores for f in catalogue.functions)
    groups = [
        g
        for n in range(1, most + 1)
        for g in itertools.combinations(range(count), n)
        if catalogue.fits(arrivals[k].function for k in g)
    ]
    sets = {g: tuple(sorted(arrivals[k].function for k in g)) for g in groups}
    catalogue.prepare(sets.values())
    known = _Known(catalogue.drops)
    # Groups that keep their promises, as bit masks, by their lowest arrival.
    able = [[] for _ in range(count)]
    for g in groups:
        if _keeps(known.of(sets[g]), [arrivals[k] for k in g]):
            able[g[0]].append(sum(1 << k for k in g))
    full = (1 << count) - 1
    # fewest[m]: (NICs for the arrivals in mask m, the group that the lowest of them is in).
    fewest = {0: (0, 0)}
    for mask in range(1, full + 1):
        low = (mask & -mask).bit_length() - 1
        options = [
            (fewest[mask & ~g][0] + 1, g)
            for g in able[low]
            if g & ~mask == 0 and mask & ~g in fewest
        ]
        if options:
            fewest[mask] = min(options)
    if full not in fewest:
        raise lpn.Error(
            "E-optimum", "no placement keeps every promise: a function alone breaks its own"
        )
    nics, mask = [], full
    while mask:
        group = fewest[mask][1]
        nics.append([k for k in range(count) if group >> k & 1])
        mask &= ~group
    return Placement("optimum", sorted(nics), [], time.perf_counter() - begin)
