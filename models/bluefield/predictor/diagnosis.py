"""Which resource holds a function back, from predictions and, where there are any, from measured
rates.

A bottleneck caps the rate: the resource with the lowest bound (`function_predictor`). A measured
rate says more: a resource whose bound it exceeds is none; and over rows with the same load on the
engines, a rate that stays flat while the pressure on the memory changes is held by an engine, one
that follows the pressure is held by the memory.
"""

import math
import statistics
from dataclasses import dataclass

from .profile_table import MATCHES, SIZE, THROUGHPUT, competitors

__all__ = ["Diagnosis", "at", "crossings", "diagnose", "plot"]

# A group of rows speaks for flat or following when one explains it twice as well (in squared
# deviations), over a span of memory pressure that changes the memory's bound by 5 % and in 4 rows
# or more.
BETTER, LEAST_SPAN, LEAST_ROWS = 2.0, 0.05, 4


@dataclass
class Diagnosis:
    """bottleneck: a resource; could_be: all that the evidence leaves (one: unambiguous); evidence:
    which counted, "predicted", "measured rate" or "response to memory pressure"; answer: the
    prediction.
    """

    bottleneck: str
    could_be: list
    evidence: str
    answer: object
    measured: float = None

    @property
    def certain(self):
        return len(self.could_be) == 1

    def data(self):
        return {
            **self.answer.data(),
            "measured_kpps": self.measured and self.measured * 1e3,
            "bottleneck": self.bottleneck,
            "could_be": self.could_be,
            "certain": self.certain,
            "evidence": self.evidence,
        }


def diagnose(predictor, rows, level=0.9):
    """A Diagnosis for each row; measured rates are used where a row has throughput_kpps."""
    found = []
    for row in rows:
        answer = predictor.answer(row, level)
        measured = row[THROUGHPUT] / 1e3 if THROUGHPUT in row else None
        found.append(
            _by_rate(answer, measured)
            if measured and predictor.pattern == "pipeline"
            else Diagnosis(answer.bottleneck, answer.could_be, "predicted", answer, measured)
        )
    if predictor.pattern == "pipeline" and predictor.memory and predictor.engines:
        groups = {}
        for row, diagnosis in zip(rows, found):
            if diagnosis.measured:
                load = [row.get(name) for name in (MATCHES, SIZE)]
                load.append(tuple(competitors(row).items()))
                groups.setdefault(tuple(load), []).append(diagnosis)
        for group in groups.values():
            _by_response(group)
    return found


def _by_rate(answer, measured):
    # The interval of a bound says how far the measured rate may be from it if it is the one.
    fitting = [bound for bound in answer.bounds if bound.low <= measured <= bound.high]
    if not fitting:
        return Diagnosis(answer.bottleneck, answer.could_be, "predicted", answer, measured)
    nearest = min(fitting, key=lambda bound: abs(math.log(measured / bound.rate)))
    return Diagnosis(
        nearest.resource, [bound.resource for bound in fitting], "measured rate", answer, measured
    )


def _by_response(group):
    memory = [next(b.rate for b in d.answer.bounds if b.resource == "memory") for d in group]
    engine = min(
        (b for b in group[0].answer.bounds if b.resource != "memory"), key=lambda bound: bound.rate
    )
    if len(group) < LEAST_ROWS or max(memory) / min(memory) - 1 < LEAST_SPAN:
        return
    flat = _scatter([math.log(d.measured) for d in group])
    # A profile that is off by a factor still moves with the pressure as the function does.
    following = _scatter([math.log(d.measured / rate) for d, rate in zip(group, memory)])
    mean = statistics.geometric_mean([d.measured for d in group])
    if flat * BETTER < following and engine.low <= mean <= engine.high:
        verdict = engine.resource
    elif following * BETTER < flat:
        verdict = "memory"
    else:
        return
    for d in group:
        # Rows far from the engine's bound are the group's exceptions: memory may hold them all the
        # same.
        reach = 2 * math.log(engine.high / engine.rate)
        if verdict == "memory" or abs(math.log(d.measured / engine.rate)) <= reach:
            d.bottleneck, d.could_be, d.evidence = verdict, [verdict], "response to memory pressure"


def _scatter(values):
    mean = statistics.fmean(values)
    return sum((value - mean) ** 2 for value in values)


def at(row, name, value):
    """A row to predict, with one input changed."""
    return {**{key: of for key, of in row.items() if key != THROUGHPUT}, name: value}


def crossings(bottleneck, low, high, steps=200):
    """[(value, from, to)] where bottleneck(value), a name, changes between low and high; to 1e-6 of
    the range."""
    found = []
    points = [low + (high - low) * k / steps for k in range(steps + 1)]
    names = [bottleneck(point) for point in points]
    for left, right, before, after in zip(points, points[1:], names, names[1:]):
        if before == after:
            continue
        while right - left > 1e-6 * (high - low):
            middle = (left + right) / 2
            left, right = (middle, right) if bottleneck(middle) == before else (left, middle)
        found.append(((left + right) / 2, before, after))
    return found


def plot(file, title, axis, values, answers, measured=()):
    """Writes a picture of throughput against contention: bounds, prediction with its interval,
    measured points.

    values: of the horizontal axis; answers: objects with rate, low, high and
    `data()["bounds_kpps"]`, one for each; measured: (value, packets/us).
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.2), layout="constrained")
    axes.fill_between(
        values,
        [a.low * 1e3 for a in answers],
        [a.high * 1e3 for a in answers],
        alpha=0.2,
        label="interval",
    )
    bounds = [answer.data()["bounds_kpps"] for answer in answers]
    for resource in bounds[0]:
        axes.plot(
            values,
            [each[resource] for each in bounds],
            linestyle="--",
            linewidth=1,
            label=f"{resource} alone",
        )
    axes.plot(values, [a.rate * 1e3 for a in answers], color="black", label="predicted")
    if measured:
        axes.plot(
            *zip(*[(x, rate * 1e3) for x, rate in measured]),
            "o",
            color="tab:red",
            markersize=4,
            label="measured",
        )
    axes.set(title=title, xlabel=axis, ylabel="thousand packets per second")
    axes.set_ylim(0, 1.4 * max(a.high * 1e3 for a in answers))
    axes.legend(fontsize="small")
    axes.grid(alpha=0.3)
    figure.savefig(file)
    pyplot.close(figure)
