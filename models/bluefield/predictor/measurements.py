"""Measures a function where it matters: adaptive profiling under a quota, after Algorithm 1 of the
ASPLOS paper.

A configuration is a dict: the traffic's attributes and the contention's columns, each with a
number. `measure` answers its rate; it may be a testbed, the LPN, or anything else. Attributes that
change nothing alone are dropped; a range is split in the middle while the function alone differs
between its ends, and rates under random contention are taken at every point that a split visits.
Beyond the algorithm as printed:

- the range that differs most is split first, so that whatever the quota allows is spent where it matters
most;
- an attribute is dropped on three points, its middle too: a hump with equal ends is not missed;
- under contention the other kept attributes take values already visited, not their defaults, so that a model
  learns how attributes act together;
- what is left of the quota when no range differs any more goes to random combinations of visited values.
"""

import heapq
import itertools
import json
import math
import random
import subprocess
from dataclasses import dataclass

from lpn import Error

__all__ = ["Attribute", "Profiler", "adaptive", "command", "full", "uniform"]


@dataclass(frozen=True)
class Attribute:
    """A traffic attribute: its range, its default, the shortest range worth a split (`step`), and
    whether values are spread on a log scale."""

    name: str
    low: float
    high: float
    default: float
    step: float = 1.0
    log: bool = False

    def __post_init__(self):
        if not (self.low < self.high and self.low <= self.default <= self.high):
            raise Error(
                "E-usage",
                f"attribute {self.name}: {self.low:g}..{self.high:g} with default "
                f"{self.default:g}; the ends must rise, the default lie between them",
            )
        if self.log and self.low <= 0:
            raise Error("E-usage", f"attribute {self.name}: a range on a log scale starts above 0")

    def middle(self, low, high):
        middle = math.sqrt(low * high) if self.log else (low + high) / 2
        # Traffic comes in whole flows, bytes and matches per MB.
        return float(round(middle)) if high - low >= 2 else middle

    def draw(self, source):
        if self.log:
            return float(round(math.exp(source.uniform(math.log(self.low), math.log(self.high)))))
        return float(round(source.uniform(self.low, self.high)))


class Profiler:
    """Counts distinct configurations against a quota and keeps what was measured.

    measure: dict -> rate; contentions: list of dicts of columns, the first one of them no
    contention (solo).
    """

    def __init__(self, measure, attributes, contentions, quota, seed=0, progress=None):
        if quota < 1 or not attributes or not contentions:
            raise Error(
                "E-usage",
                "a profile takes a quota of 1 or more, an attribute and a contention level",
            )
        self.measure, self.attributes, self.contentions = measure, attributes, contentions
        self.quota, self.random, self.progress = quota, random.Random(seed), progress
        self.samples = {}  # configuration as a tuple -> (dict, rate)

    @property
    def left(self):
        return self.quota - len(self.samples)

    def rate(self, traffic, contention):
        """Rate of a configuration; None when it is new and the quota is spent."""
        point = {**traffic, **contention}
        key = tuple(sorted(point.items()))
        if key not in self.samples:
            if self.left <= 0:
                return None
            rate = self.measure(point)
            if not (isinstance(rate, (int, float)) and math.isfinite(rate) and rate > 0):
                raise Error(
                    "E-measurement",
                    f"the measurement of {json.dumps(point)} answered {rate}; a rate is positive",
                )
            self.samples[key] = point, float(rate)
            if self.progress:
                self.progress.step(json.dumps(point))
        return self.samples[key][1]

    def rows(self):
        """[(configuration, rate)] in the order measured."""
        return list(self.samples.values())

    def default(self):
        return {attribute.name: attribute.default for attribute in self.attributes}


# Three normal measurements of one rate differ by more than so many standard deviations once in 100
# times (the studentised range of three).
_BY_CHANCE = 4.12


def adaptive(profiler, drop=0.05, split=0.1, samples=2, noise=0.0):
    """Algorithm 1. Returns {"kept", "dropped"}: names of attributes.

    drop, split: relative differences of the rate alone, at most which an attribute is dropped and a
    range is not split; samples: measurements under random contention at every point visited;
    noise: standard deviation of a measured rate, as a fraction, by which an attribute that changes
    nothing seems to.
    """
    drop = max(drop, _BY_CHANCE * noise)
    split = max(split, _BY_CHANCE * noise)
    solo = profiler.contentions[0]
    visited, kept, ranges = {}, [], []

    def alone(attribute, value):
        return profiler.rate({**profiler.default(), attribute.name: value}, solo)

    def differ(one, other):
        return abs(one - other) / max(one, other)

    for attribute in profiler.attributes:
        middle = attribute.middle(attribute.low, attribute.high)
        rates = [alone(attribute, value) for value in (attribute.low, middle, attribute.high)]
        if None in rates:
            break
        if max(rates) - min(rates) > drop * max(rates):
            kept.append(attribute)
            visited[attribute.name] = [attribute.default]
            ends = list(zip((attribute.low, middle, attribute.high), rates))
            ranges += [
                (-differ(a[1], b[1]), len(ranges) + k, attribute, a, b)
                for k, (a, b) in enumerate(zip(ends, ends[1:]))
            ]

    def contended(attribute, value):
        values = visited[attribute.name]
        if value not in values:
            values.append(value)
        for _ in range(samples):
            traffic = {
                **profiler.default(),
                **{name: profiler.random.choice(points) for name, points in visited.items()},
                attribute.name: value,
            }
            profiler.rate(traffic, profiler.random.choice(profiler.contentions))

    for attribute in kept:
        for value in (
            attribute.low,
            attribute.middle(attribute.low, attribute.high),
            attribute.high,
        ):
            contended(attribute, value)
    heapq.heapify(ranges)
    serial = itertools.count(len(ranges))
    while ranges and profiler.left > 0:
        difference, _, attribute, low, high = heapq.heappop(ranges)
        middle = attribute.middle(low[0], high[0])
        if -difference <= split or middle in (low[0], high[0]) or high[0] - low[0] < attribute.step:
            continue
        at = middle, alone(attribute, middle)
        if at[1] is None:
            break
        contended(attribute, middle)
        for a, b in ((low, at), (at, high)):
            heapq.heappush(ranges, (-differ(a[1], b[1]), next(serial), attribute, a, b))
    _fill(profiler, visited)
    names = [attribute.name for attribute in kept]
    return {"kept": names, "dropped": [a.name for a in profiler.attributes if a.name not in names]}


def _fill(profiler, visited):
    repeated = 0
    while profiler.left > 0 and repeated < 1000:
        before = profiler.left
        traffic = {
            **profiler.default(),
            **{name: profiler.random.choice(points) for name, points in visited.items()},
        }
        profiler.rate(traffic, profiler.random.choice(profiler.contentions))
        # Few visited values have few combinations; all of them may be measured already.
        repeated = repeated + 1 if profiler.left == before else 0


def uniform(profiler):
    """Baseline: random traffic from the whole ranges under random contention, until the quota is
    spent.
    """
    repeated = 0
    while profiler.left > 0 and repeated < 1000:
        before = profiler.left
        traffic = {
            attribute.name: attribute.draw(profiler.random) for attribute in profiler.attributes
        }
        profiler.rate(traffic, profiler.random.choice(profiler.contentions))
        repeated = repeated + 1 if profiler.left == before else 0


def full(profiler, steps):
    """Baseline: every combination of `steps` values or more of each attribute, and every contention
    level.
    """
    axes = []
    for attribute, least in zip(profiler.attributes, steps):
        points = [attribute.low, attribute.high]
        while len(points) < least:
            points = sorted(
                {*points, *(attribute.middle(a, b) for a, b in zip(points, points[1:]))}
            )
        axes.append(points)
    for values in itertools.product(*axes):
        for contention in profiler.contentions:
            if (
                profiler.rate(dict(zip((a.name for a in profiler.attributes), values)), contention)
                is None
            ):
                return


def command(line, timeout=600):
    """A `measure` that runs a shell command: the configuration as JSON on its standard input, and
    on its standard output a number or a JSON object with "throughput_kpps".

    Raises lpn.Error E-measurement when it fails or answers something else.
    """

    def measure(point):
        try:
            done = subprocess.run(
                line,
                shell=True,
                input=json.dumps(point),
                capture_output=True,
                text=True,
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Error(
                "E-measurement",
                f"'{line}' did not answer within {timeout} s for {json.dumps(point)}",
            ) from None
        if done.returncode:
            told = (done.stderr or done.stdout).strip().split("\n")[-1]
            raise Error(
                "E-measurement",
                f"'{line}' ended with status {done.returncode} for {json.dumps(point)}"
                + (f": {told}" if told else ""),
            )
        try:
            answer = json.loads(done.stdout)
            return float(answer["throughput_kpps"] if isinstance(answer, dict) else answer)
        except (ValueError, KeyError, TypeError):
            raise Error(
                "E-measurement",
                f"'{line}' answered {done.stdout.strip()[:80]!r}; it must print a number or "
                'an object with "throughput_kpps"',
            ) from None

    return measure
