"""A trained predictor of one network function: read, asked and written without any library.

A packet's rate is bounded by every resource the function uses: by its memory and CPU stage
(`memory`), by each engine (`laws.shares`). Its execution pattern says how the bounds make one rate
(`laws.pipeline`, `laws.stages`). Each bound has an interval, and names its inputs outside the range
trained on.
"""

import itertools
import json
import math
from dataclasses import dataclass, field
from statistics import NormalDist

from lpn import Error
from lpn.runs import read_json, written

from ..engines import is_engine
from . import laws
from .memory import memory_model
from .profile_table import FLOWS, MATCHES, NEAR_FACTOR, SIZE, competitors

__all__ = ["Answer", "Bound", "Engine", "Memory", "PATTERNS", "Predictor", "load"]

FORMAT = "lpn bluefield predictor"
VERSION = 1
PATTERNS = (laws.PIPELINE, laws.RUN_TO_COMPLETION)

# Relative standard deviation of a rate with the regex engine contended alone: ASPLOS 2025, table
# 12, gives a mean absolute error of 1.3 % for FlowMonitor; of a normal error that mean is sqrt(2 /
# pi) of its deviation.
RATE_SD = 0.013 / math.sqrt(2 / math.pi)
# A competitor's queues x time is itself calibrated (`calibration.co_run`), at the least from two
# runs. With the benchmark at one and three times the competitor's own time the intercept is 3/2 y1
# - 1/2 y2, y1 = 2 and y2 = 4 of these times: deviations add up to hypot(3, 2) of a rate's.
RIVAL_SD = math.hypot(3, 2) * RATE_SD
# Least time per request [us], whatever the line says: 4.57 M requests/s is the most that was ever
# measured of the engine (PAMO-RXPBench, 128 to 512 B).
FLOOR = {"regex": 0.219}


class ImpossiblePattern(Error):
    """The profiles rule the pattern out."""


@dataclass(frozen=True)
class Bound:
    """Rate [packets/us] that one resource allows, its interval, and without competitors there."""

    resource: str
    rate: float
    low: float
    high: float
    solo: float


@dataclass
class Answer:
    """One prediction: rates in packets per us.

    bottleneck: the resource that decides; could_be: all that could, within their intervals.
    outside: {input, value, low, high} of inputs that are not in the range trained on.
    """

    rate: float
    low: float
    high: float
    bottleneck: str
    could_be: list
    bounds: list
    outside: list

    def data(self):
        """For JSON, rates in thousands of packets per second."""
        return {
            "throughput_kpps": self.rate * 1e3,
            "low_kpps": self.low * 1e3,
            "high_kpps": self.high * 1e3,
            "bottleneck": self.bottleneck,
            "could_be": self.could_be,
            "bounds_kpps": {bound.resource: bound.rate * 1e3 for bound in self.bounds},
            "outside": self.outside,
        }


@dataclass
class Engine:
    """Time per request [us] of a function at an engine, over its traffic: a line with a floor.

    inputs: [mtbr] or [size]: coefficients are base and slope; [mtbr, size]: base, per match, per
    byte. covariance: of the coefficients; ranges: input -> (least, most) calibrated; points: how
    many.
    """

    name: str
    inputs: list
    coefficients: list
    covariance: list
    ranges: dict = field(default_factory=dict)
    queues: int = 1
    points: int = 0

    def terms(self, row):
        for name in self.inputs:
            if name not in row:
                raise Error(
                    "E-profile",
                    f"the time at the {self.name} engine depends on {name}, which the traffic "
                    "does not say",
                )
        if len(self.inputs) == 1:
            return [1.0, row[self.inputs[0]]]
        return [1.0, row[MATCHES] * row[SIZE] * 1e-6, row[SIZE]]

    def time(self, row):
        """(time per request, its standard deviation) [us]."""
        terms = self.terms(row)
        time = sum(c * x for c, x in zip(self.coefficients, terms))
        variance = sum(
            a * b * self.covariance[i][k] for i, a in enumerate(terms) for k, b in enumerate(terms)
        )
        least = FLOOR.get(self.name, 0.0)
        if time <= 0 and not least:
            asked = ", ".join(f"{name} {row[name]:g}" for name in self.inputs)
            raise Error(
                "E-profile",
                f"the {self.name} engine's line gives {time:.3g} us per request at "
                f"{asked}; calibrate there",
            )
        return max(time, least), max(variance, 0.0) ** 0.5

    def bound(self, row, z):
        time, sd = self.time(row)
        rivals = row.get(f"comp_{self.name}_sum_nt_ms", 0.0) * 1e3
        mine = laws.Load(time, self.queues)
        rate = laws.shares([mine] + ([laws.Load(rivals)] if rivals else []))[0]
        # All competitors backlogged, one round is n t + sum n_j t_j, and its error that of both.
        relative = math.hypot(self.queues * sd, RIVAL_SD * rivals) / (self.queues * time + rivals)
        error = z * math.hypot(relative, RATE_SD)
        return Bound(self.name, rate, rate / (1 + error), rate / max(1 - error, 0.1), 1 / time)

    def data(self):
        return {
            "inputs": self.inputs,
            "coefficients_us": self.coefficients,
            "covariance": self.covariance,
            "ranges": self.ranges,
            "queues": self.queues,
            "points": self.points,
        }


@dataclass
class Memory:
    """A memory model with what is known of its errors.

    ranges: input -> (least, most) trained on; residuals: sorted |log(measured / predicted)| of
    held-out rows; beyond: (input, "low" | "high") -> the same for rows beyond the range fitted;
    others: (profile, sorted log(measured / predicted) at the traffic asked for) of memory profiles
    that were not chosen: nobody knows which of them the truth will resemble, so that intervals
    reach them; solo: highest measured rate [packets/us]; matches: matches per MB during the
    profile, None if not said.
    """

    model: object
    ranges: dict
    residuals: list
    beyond: dict
    others: list
    chosen: str
    solo: float
    matches: float = None

    def outside(self, row):
        """(input, side) of the inputs that are not in the range. Raises Error E-profile for a row
        without an input, and for traffic of which the profile can tell nothing: it was all of
        another.
        """
        found = []
        for name, (low, high) in self.ranges.items():
            if name not in row and name in self.model.features:
                raise Error("E-profile", f"memory contention depends on {name}, which a row lacks")
            if (
                name in (FLOWS, SIZE)
                and low == high
                and not low / NEAR_FACTOR <= row.get(name, low) <= low * NEAR_FACTOR
            ):
                raise Error(
                    "E-profile",
                    f"the memory model was trained at {name} {low:g} only ({self.chosen}): what "
                    f"{name} {row[name]:g} changes is not known; train it on a profile in which "
                    f"{name} varies" + (f", with --flows {row[name]:.0f}" if name == FLOWS else ""),
                )
            if name in row and not low <= row[name] <= high:
                found.append((name, "low" if row[name] < low else "high"))
        return found

    def bound(self, row, level):
        error = quantile(self.residuals, level)
        for name, side in self.outside(row):
            low, high = self.ranges[name]
            # The held-out ends are as far from the rest as they are; what is farther still is less
            # certain.
            far = 1 + min(
                max(low - row[name], row[name] - high) / max(high - low, abs(high), 1e-9), 9
            )
            error = max(error, far * quantile(self.beyond.get((name, side), self.residuals), level))
        rate = self.model.rate(row)
        # Half of what the interval may miss on either side.
        side = (1 + level) / 2
        low = -max(
            [0.0, *(quantile([-r for r in reversed(apart)], side) for _, apart in self.others)]
        )
        high = max([0.0, *(quantile(apart, side) for _, apart in self.others)])
        return Bound(
            "memory", rate, rate * math.exp(low - error), rate * math.exp(high + error), self.solo
        )

    def data(self):
        return {
            "model": self.model.data(),
            "ranges": self.ranges,
            "residuals": self.residuals,
            "beyond": [[name, side, errors] for (name, side), errors in self.beyond.items()],
            "others": [list(other) for other in self.others],
            "chosen": self.chosen,
            "solo": self.solo,
            "matches": self.matches,
        }


def quantile(ordered, level):
    """The conformal quantile: with n held-out errors, the ceil((n + 1) level)-th; the largest if
    there is none."""
    return ordered[min(math.ceil((len(ordered) + 1) * level), len(ordered)) - 1]


@dataclass
class Predictor:
    """Predicts one function's rate from rows of `profile_table` columns.

    pattern: "pipeline", "run-to-completion", or one of these per stage with commas between: the
    memory and CPU stage, then the engines; trained_on: (file, kind, rows).
    """

    function: str
    pattern: str
    memory: Memory
    engines: dict
    trained_on: list
    pattern_errors: dict = None

    def bounds(self, row, level=0.9):
        """A Bound per resource."""
        z = NormalDist().inv_cdf((1 + level) / 2)
        found = [self.memory.bound(row, level)] if self.memory else []
        return found + [engine.bound(row, z) for engine in self.engines.values()]

    def answer(self, row, level=0.9, pattern=None):
        """The Answer for one row; `level`: share of truths that the interval should hold."""
        pattern = pattern or self.pattern
        bounds = self.bounds(row, level)
        rate, low, high = (
            self.composed([getattr(bound, end) for bound in bounds], bounds, pattern)
            for end in ("rate", "low", "high")
        )
        times = {bound.resource: 1 / bound.rate for bound in bounds}
        if self.memory:
            times["memory"] -= self.engine_time_of_profile(pattern)
        bottleneck = max(times, key=times.get)
        decided = next(bound for bound in bounds if bound.resource == bottleneck)
        could_be = [bound.resource for bound in bounds if bound.low <= decided.high]
        return Answer(rate, low, high, bottleneck, could_be, bounds, self.outside(row))

    def composed(self, rates, bounds, pattern):
        """One rate of the bounds' (their ends'), by pattern."""
        if pattern == laws.PIPELINE:
            return laws.pipeline(rates)
        inside = self.engine_time_of_profile(pattern) if self.memory else 0.0
        times = [
            1 / rate - (inside if bound.resource == "memory" else 0)
            for rate, bound in zip(rates, bounds)
        ]
        if min(times) <= 0:
            raise ImpossiblePattern(
                "E-profile",
                f"run to completion: the memory profile at {self.memory.matches:g} "
                f"matches per MB is faster than the engines' {inside:.3g} us per packet; "
                "it is no such function",
            )
        return laws.stages(times, self.patterns(pattern))

    def patterns(self, pattern=None):
        """The pattern of each stage: memory and CPU, then the engines."""
        stages = ["memory"] * (self.memory is not None) + list(self.engines)
        parts = (pattern or self.pattern).split(",")
        if len(parts) not in (1, len(stages)):
            raise Error(
                "E-profile",
                f"{len(parts)} patterns for {len(stages)} stages: {', '.join(stages)}; write "
                "one for each, or one for all",
            )
        return parts * len(stages) if len(parts) == 1 else parts

    def engine_time_of_profile(self, pattern=None):
        """What of the time in the memory profile the engines took for which the core waits. 0 when
        the profile does not say its traffic: its rates then stand for the CPU and memory stage
        alone.
        """
        first, *others = self.patterns(pattern)
        if self.memory.matches is None or first != laws.RUN_TO_COMPLETION:
            return 0.0
        # The core waits in the stages behind its own, and in those from which it returns to it.
        behind = list(itertools.takewhile(lambda k: others[k] == first, range(len(others))))
        before = itertools.takewhile(lambda k: others[k] == first, reversed(range(len(others))))
        row = {MATCHES: self.memory.matches, SIZE: self.memory.ranges.get(SIZE, (0, 0))[0]}
        engines = list(self.engines.values())
        return sum(engines[k].time(row)[0] for k in {*behind, *before})

    def outside(self, row):
        """{input, value, low, high} of every input outside the range trained on."""
        found = {}
        for name, _ in self.memory.outside(row) if self.memory else ():
            found[name] = self.memory.ranges[name]
        for engine in self.engines.values():
            for name, (low, high) in engine.ranges.items():
                if name in row and not low <= row[name] <= high:
                    found[name] = (low, high)
        return [
            {"input": name, "value": row[name], "low": low, "high": high}
            for name, (low, high) in found.items()
        ]

    def unused(self, row):
        """Engines at which a row has competitors, though the function was trained without them."""
        return [name for name in competitors(row) if name not in self.engines]

    # ---- Files ---------------------------------------------------------------------------------------

    def data(self):
        return {
            "format": FORMAT,
            "version": VERSION,
            "function": self.function,
            "pattern": self.pattern,
            "pattern_errors": self.pattern_errors,
            "trained_on": [list(item) for item in self.trained_on],
            "engines": {name: engine.data() for name, engine in self.engines.items()},
            "memory": self.memory and self.memory.data(),
        }

    def save(self, file):
        with written(file) as stream:
            json.dump(self.data(), stream, allow_nan=False)
            stream.write("\n")


def load(file):
    """The Predictor of a file that `save` wrote. Raises lpn.Error E-predictor for any other."""
    data = read_json(file, "E-predictor", "no JSON")
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise Error(
            "E-predictor",
            f"{file} is no predictor; lpn bluefield train PROFILE.csv... -o {file} makes one",
        )
    if data.get("version") != VERSION:
        raise Error(
            "E-predictor",
            f"{file} has version {data.get('version')} of the format, this is {VERSION}: "
            "train it again",
        )
    try:
        return _predictor(data, file)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Error("E-predictor", f"{file}: {error!r}; train it again") from None


def _predictor(data, file):
    engines = {}
    for name, of in data["engines"].items():
        engine = Engine(
            name,
            list(of["inputs"]),
            _numbers(of["coefficients_us"]),
            [_numbers(row) for row in of["covariance"]],
            _ranges(of["ranges"]),
            int(of["queues"]),
            int(of["points"]),
        )
        size = len(engine.terms(dict.fromkeys(engine.inputs, 1.0)))
        shape = [len(engine.coefficients), *(len(r) for r in engine.covariance)]
        if not is_engine(name) or shape != [size] * (size + 1):
            raise ValueError(f"engine '{name}'")
        engines[name] = engine
    memory = None
    if data["memory"] is not None:
        of = data["memory"]
        memory = Memory(
            memory_model(of["model"], file),
            _ranges(of["ranges"]),
            _numbers(of["residuals"]),
            {(name, side): _numbers(errors) for name, side, errors in of["beyond"]},
            [(str(name), _numbers(apart)) for name, apart in of["others"]],
            str(of["chosen"]),
            _numbers([of["solo"]])[0],
            None if of["matches"] is None else _numbers([of["matches"]])[0],
        )
        if (
            not memory.residuals
            or not all(memory.beyond.values())
            or not all(e for _, e in memory.others)
        ):
            raise ValueError("no residuals")
    patterns = data["pattern"].split(",")
    if (
        set(patterns) - set(PATTERNS)
        or not engines
        and memory is None
        or len(patterns) not in (1, len(engines) + (memory is not None))
    ):
        raise ValueError(f"pattern '{data['pattern']}', {len(engines)} engines")
    return Predictor(
        str(data["function"]),
        data["pattern"],
        memory,
        engines,
        [tuple(item) for item in data["trained_on"]],
        data["pattern_errors"],
    )


def _numbers(values):
    numbers = [float(value) for value in values]
    if not all(map(math.isfinite, numbers)):
        raise ValueError(f"numbers {values}")
    return numbers


def _ranges(of):
    return {str(name): tuple(_numbers(ends)) for name, ends in of.items()}
