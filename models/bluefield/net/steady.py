"""Steady throughputs, latencies and bottlenecks of scenarios, by simulating their nets.

A run keeps counts at nine instants, eight windows apart. The first half lets queues fill; the rates
are those of the second half, and are believed when its two quarters agree and no queue, neither of
requests nor of results that wait for what comes next, is longer or shorter at its end than at its
beginning. Else the windows are doubled, up to the scenario's limit of simulated time.

A queue that moves slowly hardly changes the rate of its function, but when it is full or empty in
the end, what was kept back there moves elsewhere, and all rates may change. Two things look like
it and are none: a batch of another function pushes a queue to and fro, and requests pile up,
slowly, at a function's first engine: that serves them as fast before the queue is full as after,
and only the cores in front of it will wait.
"""

import math
from dataclasses import dataclass, field

import lpn

from ..scenario import RUN_TO_COMPLETION
from . import build, parts

__all__ = ["Outcome", "Result", "detail", "schedule_ms", "simulate", "throughputs"]

WINDOWS = 8
# Batches leave together, so that a count is off by up to one of them per core. With batches, the
# counts behind a rate are means over so many instants, those of a window, between which batches
# are differently far.
INSTANTS = 8
# With fewer batches of a core in the half that is measured, its rate is given with a warning: with
# several cores, as batches that meet at an engine can fall into another rhythm after dozens of
# rounds, by which all rates jump; with one, as the counts are coarse.
FEW_BATCHES, FEW_OF_ONE_CORE = 100, 30
# A ring of arrivals, or the queue of a first engine, that still fills at this fraction of its
# function's rate changes no other rate by more, and its own by less.
_FILLING = 0.005
_OTHER_INSTANTS = 0.93
# The sources of a net's randomness are its schedules; a Poisson rate over n packets varies by
# 1/sqrt(n).
_US_PER_TICK = parts.TICK_NS * 1e-3


@dataclass
class Result:
    """What a function achieved.

    throughput_kpps; offered_kpps (None: saturating); lost: fraction of the offered packets; work:
    per stage the fraction of time that its resource (of all cores of the function, or the engine)
    worked for it; queued: per stage the least number of its requests that was seen waiting in the
    second half, free: the most of its descriptors that were seen free, None on cores; few_batches:
    how many of each core were counted, where these are too few to trust the rate to a percent, else
    None.
    """

    name: str
    throughput_kpps: float
    offered_kpps: float = None
    lost: float = 0.0
    work: list = field(default_factory=list)
    queued: list = field(default_factory=list)
    free: list = field(default_factory=list)
    bottleneck: str = ""
    why: str = ""
    latency_us: dict = None
    few_batches: int = None


@dataclass
class Outcome:
    """Results in the order of the scenario's functions. steady: the rates no longer moved;
    simulated_ms, firings: what the last run took; utilisation: engine -> fraction of time at work.
    """

    results: list
    steady: bool
    simulated_ms: float
    firings: int
    utilisation: dict


class _Run:
    """A scenario being simulated: its net, and how long its windows are."""

    def __init__(self, scenario, form=None):
        self.scenario = scenario
        self.form = form or build.shape(scenario)
        self.seats = (
            build.seats(scenario, self.form) if form else list(range(len(scenario.functions)))
        )
        self.net, self.chains, self.counts, self.kept = build.net_of_shape(self.form)
        batches = any(_granule(f) > 1 for f in scenario.functions)
        self.instants = INSTANTS if batches else 1
        self.marking = build.marking(scenario, self.net, WINDOWS * self.instants + 1, self.seats)
        self.values = build.parameters(scenario, form=self.form, seats=self.seats)
        self.most_us = self._most_window()
        self.window_us = min(self._first_window(), self.most_us)
        self.outcome = None
        self._last = False

    def _most_window(self):
        """What most_ms allows; whole periods, as _first_window, where it is as much as one."""
        most, period = self.scenario.simulate.most_ms * 1e3 / WINDOWS, self._period_window()
        return most // period * period if 0 < period <= most else most

    def _period_window(self):
        """Windows [us] half of which are a period of the slowest random schedule: of whole periods
        a mean is exact. 0 where nothing varies by chance.
        """
        periods = (_period(f) for f in self.scenario.functions if _random(f))
        return max(periods, default=0.0) / (WINDOWS / 2)

    def _first_window(self):
        """Long enough that every function delivers what the tolerance needs, by its service times."""
        rounds = {}
        for f in self.scenario.functions:
            for stage in f.stages:
                if not stage.on_core:
                    rounds.setdefault(stage.resource, []).append(stage.queues * f.service_us(stage))
        slowest = 0.0
        for f in self.scenario.functions:
            per_packet = [
                f.service_us(s) / f.cores if s.on_core else sum(rounds[s.resource]) / s.queues
                for s in f.stages
            ]
            time = sum(per_packet) if f.pattern == RUN_TO_COMPLETION else max(per_packet)
            if f.traffic.rate_kpps is not None:
                time = max(time, 1e3 / f.traffic.rate_kpps)
            slowest = max(slowest, time * _granule(f))
        longest = max(
            (
                f.cores * f.batch * sum(f.service_us(s) for s in f.stages)
                for f in self.scenario.functions
                if f.pattern == RUN_TO_COMPLETION
            ),
            default=0.0,
        )
        least = max(0.5 / self.scenario.simulate.tolerance * slowest, 4 * longest)
        period = self._period_window()
        return max(2, math.ceil(least / period)) * period if period > 0 else least

    def parameters(self):
        return {**self.values, "window": parts.ticks(self.window_us / self.instants)}

    def take(self, run):
        """Reads a run; True when its rates are steady or there is no time for longer windows."""
        self.outcome = _read(self, run)
        if self.outcome.steady or self._last:
            return True
        if self.window_us < self.most_us:
            self.window_us = min(2 * self.window_us, self.most_us)
            return False
        # Seen at instants nearly whole rounds of a batch apart, queues in rhythm with it seem to
        # move slowly. At other instants they do not; those that move do.
        self._last = True
        if all(_granule(f) == 1 for f in self.scenario.functions):
            return True
        self.window_us *= _OTHER_INSTANTS
        return False


def _granule(function):
    """Packets that leave at about one instant."""
    return function.batch * function.cores if function.pattern == RUN_TO_COMPLETION else 1


def schedule_ms(function):
    """After how many ms what arrives by chance repeats; None: nothing does. A rate over less is off
    by chance, over whole periods it is exact.
    """
    return _period(function) * 1e-3 if _random(function) else None


def _random(function):
    """Whether what arrives varies by chance."""
    return function.traffic.arrivals == "poisson" or len(function.traffic.mix) > 1


def _period(function):
    """Time [us] after which a random schedule repeats; of a saturating one by its service times."""
    rate = function.traffic.rate_kpps
    if rate is not None:
        return build.SCHEDULE * 1e3 / rate
    return build.SCHEDULE * max(
        function.service_us(s) / (function.cores if s.on_core else 1) for s in function.stages
    )


def _read(state, run):
    scenario = state.scenario
    taken = [
        counts.each(lambda name: [n for (n,) in run.tokens[name]][:: state.instants])
        for counts in state.counts
    ]
    window, half, quarter = state.window_us, WINDOWS // 2, WINDOWS // 4
    steady, results, utilisation = True, [], {}
    counted = {f.name: taken[seat] for f, seat in zip(scenario.functions, state.seats)}
    # By chance a random function's packets vary by the root of their number, and others with them.
    by_chance = max(
        (
            3
            / math.sqrt(
                max(counted[f.name].delivered[WINDOWS] - counted[f.name].delivered[half], 1)
            )
            for f in scenario.functions
            if _random(f)
        ),
        default=0.0,
    )
    burst = max((_granule(f) for f in scenario.functions), default=1)
    cores = sum(f.cores for f in scenario.functions if f.pattern == RUN_TO_COMPLETION)
    few = FEW_BATCHES if cores > 1 else FEW_OF_ONE_CORE
    for f, seat in zip(scenario.functions, state.seats):
        _, arrived, lost, works, queues, free = counted[f.name]
        left = _levels([n for (n,) in run.tokens[state.counts[seat].delivered]], state.instants)
        third, fourth = left[half + quarter] - left[half], left[WINDOWS] - left[half + quarter]
        packets = third + fourth
        # A mean over many instants is off by much less than what leaves at one of them.
        grain = 2 * _granule(f) if state.instants == 1 else _granule(f) / 2
        allowed = (scenario.simulate.tolerance / 2 + by_chance) * packets + max(grain, 2)
        steady &= packets > 0 and abs(fourth - third) <= allowed
        steady &= _rest(
            free,
            queues,
            2 * _granule(f) + (by_chance > 0) * math.sqrt(packets),
            burst if burst > 1 else 0,
            _may_fill(f) * _FILLING * packets,
        )
        result = Result(f.name, packets / (half * window) * 1e3, f.traffic.rate_kpps)
        if f.pattern == RUN_TO_COMPLETION and packets < few * _granule(f):
            result.few_batches = int(packets / _granule(f))
        if lost is not None:
            came = arrived[WINDOWS] - arrived[half]
            kept = came - packets <= _FILLING * came + 2 * _granule(f) + math.sqrt(came) * _random(
                f
            )
            if lost[WINDOWS] == lost[half] and kept:
                # What is neither lost nor piles up is delivered, at the schedule's exact rate.
                result.throughput_kpps = f.traffic.rate_kpps
            else:
                # In the long run what is not delivered is lost; a ring that still fills loses
                # nothing yet, but nobody else notices, so it is not waited for.
                result.lost = max(0.0, 1 - result.throughput_kpps / f.traffic.rate_kpps)
        spare = iter(free)  # of the stages at engines
        for stage, work, stage_queues in zip(f.stages, works, queues):
            busy = (work[WINDOWS] - work[half]) * _US_PER_TICK / (half * window)
            if stage.on_core:
                busy /= f.cores
            else:
                utilisation[stage.resource] = utilisation.get(stage.resource, 0.0) + busy
            result.work.append(busy)
            result.queued.append(
                None
                if stage.on_core
                else min(map(sum, zip(*(queue[half:] for queue in stage_queues))))
            )
            result.free.append(None if stage.on_core else max(next(spare)[half:]))
        result.bottleneck, result.why = _bottleneck(f, result)
        results.append(result)
    return Outcome(results, steady, WINDOWS * window * 1e-3, run.commits, utilisation)


def _levels(count, instants):
    """A count at the ends of the windows, from the first on: the mean of those seen in each.

    Between two of them is the same time as between the ends.
    """
    ends = range(0, len(count), instants)
    return [
        sum(seen) / len(seen) for seen in (count[max(0, k - instants + 1) : k + 1] for k in ends)
    ]


def _may_fill(function):
    """Whether a full queue of the function's first engine only makes its cores wait."""
    first = next((stage for stage in function.stages if not stage.on_core), None)
    return (
        first is not None and function.pattern != RUN_TO_COMPLETION and first.service.overload <= 1
    )


def _rest(free, queues, allowed, burst=0, filling=0):
    """Whether nothing of a function fills or drains in the second half, by more than `allowed`
    packets: its descriptors in use of each engine stage, and each of its request queues. Both, as
    requests become results that hold their descriptor.

    burst: so many more to and fro, as other functions' batches come. filling: so many requests may
    pile up at the first engine.
    """
    engines = [stage_queues for stage_queues in queues if stage_queues]
    for k, (held, stage_queues) in enumerate(zip(free, engines)):
        if any(_moves(count, allowed, burst) for count in (held, *stage_queues)) and (
            k > 0 or not _fills(held, stage_queues, allowed, burst, filling)
        ):
            return False
    return True


def _moves(count, allowed, burst):
    """Whether a count differs between the ends of the second half, and not as one that is pushed
    to and fro: that comes back to where it was in the second quarter.
    """
    half, quarter = WINDOWS // 2, WINDOWS // 4
    change = abs(count[WINDOWS] - count[half])
    if change <= allowed:
        return False
    before, last = count[quarter : half + 1], count[WINDOWS - 1 :]
    gone = min(last) > max(before) + allowed or max(last) < min(before) - allowed
    return gone or change > allowed + burst


def _fills(held, queues, allowed, burst, filling):
    """Whether requests pile up by no more than `filling`, in queues that never run empty, and no
    results do.
    """
    half = WINDOWS // 2
    waiting = [min(queue[half:]) for queue in queues]
    unfinished = [sum(counts) for counts in zip(held, *queues)]
    return (
        0 < held[half] - held[WINDOWS] <= filling
        and min(waiting) > allowed
        and not _moves(unfinished, allowed, burst)
    )


def _bottleneck(function, result):
    """(resource, why) that holds the function back: what a pipeline's packets pile up in front of,
    and where the time of a run-to-completion core goes.
    """
    offered = result.offered_kpps
    if offered is not None and result.lost < 0.005:
        return "offered load", "it delivers what it is offered"
    core = max(((w, s.resource) for w, s in zip(result.work, function.stages) if s.on_core))[1]
    on_cores = sum(w for w, s in zip(result.work, function.stages) if s.on_core)
    if function.pattern == RUN_TO_COMPLETION:
        if on_cores >= 0.5:
            return core, f"its cores spend {on_cores:.0%} of their time on it"
        engines = [s for s in function.stages if not s.on_core]
        # Waiting for several engines: the one that worked longest for it.
        worked = {s.resource: w for s, w in zip(function.stages, result.work) if not s.on_core}
        most = max(worked, key=worked.get)
        waited_for = " and ".join(s.resource for s in engines)
        return most, f"its cores wait {1 - on_cores:.0%} of their time for {waited_for}"
    for stage, queued, free in reversed(list(zip(function.stages, result.queued, result.free))):
        if stage.on_core:
            continue
        if queued >= 4 * stage.queues:
            return stage.resource, f"{queued} or more requests always wait for it"
        if free == 0:
            descriptors = stage.slots * stage.queues
            return stage.resource, f"its {descriptors} descriptors there are always in use"
    return (
        core,
        f"its cores are busy {min(on_cores, 1):.0%} of the time and no engine keeps it waiting",
    )


def throughputs(scenarios, *, form=None, threads=None, progress=None):
    """An Outcome per Scenario. Those of one structure share a compiled net and go as one batch.

    `form`: a build.Shape in which all of them find a seat: one net for all. `progress(finished,
    of)` is called as they finish. Raises Error "E-no-compiler" without a compiler.
    """
    runs = [_Run(scenario, form) for scenario in scenarios]
    left = list(range(len(runs)))
    while left:
        groups = {}
        for k in left:
            groups.setdefault(runs[k].form, []).append(k)
        left = []
        for group in groups.values():
            first = runs[group[0]]
            answers = lpn.run_batch(
                first.net,
                [runs[k].marking for k in group],
                [runs[k].parameters() for k in group],
                threads=threads,
                read=first.kept,
            )
            left += [k for k, answer in zip(group, answers) if not runs[k].take(answer)]
        if progress is not None:
            progress(len(runs) - len(left), len(runs))
    return [run.outcome for run in runs]


def simulate(scenario, *, engine=None, latencies=True):
    """The Outcome of one Scenario. `engine`: as for lpn.simulate."""
    run = _Run(scenario)
    while not run.take(
        lpn.simulate(run.net, run.marking, run.parameters(), engine=engine, read=run.kept)
    ):
        pass
    if latencies:
        detail(run)
    return run.outcome


# ---- Latencies ---------------------------------------------------------------------------------------

PERCENTILES = (50, 90, 99, 99.9)
# Packets are followed firing by firing, some 200 000 a second: first so many firings, more if that
# is not yet the steady state, and beyond the most there are no latencies.
_FOLLOWED_FIRST, MOST_FOLLOWED = 300_000, 3_000_000


def detail(run):
    """Adds latencies to the outcome of a _Run: of the packets that leave in the second half of a
    run that is long enough to be steady. None when that takes more than MOST_FOLLOWED firings."""
    outcome, full = run.outcome, run.window_us
    share = min(1.0, _FOLLOWED_FIRST / outcome.firings)
    while True:
        if share * outcome.firings > MOST_FOLLOWED:
            return
        run.window_us = full * share
        follower = _Follower(
            run.net,
            [run.chains[seat] for seat in run.seats],
            WINDOWS // 2 * parts.ticks(run.window_us),
        )
        traced = lpn.simulate(
            run.net, run.marking, run.parameters(), engine="interp", trace=follower, read=run.kept
        )
        if share == 1 or _read(run, traced).steady:
            break
        share = min(1.0, 4 * share)
    for result, ticks in zip(outcome.results, follower.latencies):
        ticks.sort()
        if ticks:
            us = {
                f"p{p:g}": round(ticks[math.ceil(len(ticks) * p / 100) - 1] * _US_PER_TICK, 4)
                for p in PERCENTILES
            }
            mean = round(sum(ticks) / len(ticks) * _US_PER_TICK, 4)
            result.latency_us = {
                "packets": len(ticks),
                "mean": mean,
                **us,
                "max": round(ticks[-1] * _US_PER_TICK, 4),
            }


class _Follower:
    """Sees every commit; per chain the ticks from entry to delivery of packets delivered since
    `since`.

    Packets are followed along arcs `t` by the origins of tokens: a firing hands on the tokens that
    it took over `t`, in their order.
    """

    def __init__(self, net, chains, since):
        self.latencies = [[] for _ in chains]
        self._since = since
        # (transition, firing) -> when its packets entered: one time for all, or a list
        self._born = {}
        entries = {chain.entry: chain.entry_at_start for chain in chains}
        lefts = {chain.left: k for k, chain in enumerate(chains)}
        # A pipeline's firing hands on one packet, so that its entry is read once.
        single = {chain.entry.split(".")[0] for chain in chains if chain.single}
        # Per transition: (arc t, entry_at_start or None, chain that it leaves, single).
        self._about = []
        for t in net.core.transitions:
            arc = next((k for k, arc in enumerate(t.inputs) if arc.name == "t"), None)
            self._about.append(
                (arc, entries.get(t.name), lefts.get(t.name), t.name.split(".")[0] in single)
            )

    def __call__(self, commit):
        arc, entry, left, single = self._about[commit.transition]
        born = self._born
        if entry is not None:
            when = commit.start if entry else commit.time
        elif arc is None:
            return
        else:
            origins = commit.taken[arc]
            if single:
                when = born.pop(origins[0][1:3])
            else:
                when = []
                for origin in origins:
                    kept = born[origin[1:3]]
                    when.append(kept[origin[4]] if isinstance(kept, list) else kept)
        if left is None:
            born[commit.transition, commit.firing] = when
        elif commit.time >= self._since:
            entered = when if isinstance(when, list) else [when]
            self.latencies[left] += [commit.time - each for each in entered]
