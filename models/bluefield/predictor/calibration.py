"""An engine's time per request for a function whose source nobody has, from end-to-end rates.

No accelerator of a BlueField-2 has counters. Against a benchmark with one queue and a known time
t_b per request, both backlogged, Eq 2 makes the function's time per packet a straight line in t_b:

    1 / T = t + t_b / n        slope 1 / n: its queues; intercept t: its time per request.

Over traffic the time is a line of its own (`profile_table.attribute_of`: matches per MB, bytes).
"""

from dataclasses import dataclass

import numpy
from lpn import Error

from .function_predictor import RATE_SD, Engine
from .profile_table import MATCHES, SIZE, THROUGHPUT, attribute_of

__all__ = ["Calibration", "co_run", "engine"]


@dataclass(frozen=True)
class Calibration:
    """Time per request [us] and number of queues of a function at an engine, each with its standard
    deviation.

    `queues` is the whole number that `estimate` stands for.
    """

    time: float
    time_sd: float
    queues: int
    estimate: float
    estimate_sd: float


def co_run(points, where="co-runs"):
    """Calibration from (t_b [us], T [packets/us]) at two or more benchmark times.

    Raises lpn.Error E-profile when the points are no such line: the engine was not the bottleneck.
    """
    times = numpy.array([t for t, _ in points])
    per_packet = 1 / numpy.array([rate for _, rate in points])
    if len(set(times.tolist())) < 2:
        raise Error(
            "E-profile",
            f"{where}: the benchmark's time per request must take two values or more, "
            f"got {sorted(set(times.tolist()))} us",
        )
    sd = RATE_SD * per_packet
    (t, slope), covariance = _line(
        numpy.stack([numpy.ones(len(times)), times], axis=1), per_packet, sd
    )
    if slope <= 2 * covariance[1, 1] ** 0.5:
        raise Error(
            "E-profile",
            f"{where}: the rate does not fall as the benchmark's requests get longer, so the "
            "engine is not the bottleneck; measure at longer ones",
        )
    estimate, estimate_sd = 1 / slope, covariance[1, 1] ** 0.5 / slope**2
    queues = max(1, round(estimate))
    if abs(estimate - queues) > max(3 * estimate_sd, 0.15 * queues):
        raise Error(
            "E-profile",
            f"{where}: the slope says {estimate:.2f} +- {estimate_sd:.2f} queues, which is no "
            "whole number: the engine was not the bottleneck in all of them, or the benchmark "
            "has not one queue",
        )
    # With the number of queues known to be whole, the intercept is better known.
    (t,), covariance = _line(numpy.ones((len(times), 1)), per_packet - times / queues, sd)
    if t <= 0:
        raise Error(
            "E-profile",
            f"{where}: time per request {t:.3g} us; measure where the benchmark's requests are "
            "shorter",
        )
    return Calibration(
        float(t), float(covariance[0, 0] ** 0.5), queues, float(estimate), float(estimate_sd)
    )


def _line(terms, values, sd):
    """(coefficients, covariance) by weighted least squares; scatter beyond `sd` widens the
    covariance.
    """
    weighted = terms / sd[:, None]
    covariance = numpy.linalg.pinv(weighted.T @ weighted)
    found = covariance @ weighted.T @ (values / sd)
    spare = len(values) - terms.shape[1]
    if spare > 0:
        scatter = float((((values - terms @ found) / sd) ** 2).sum()) / spare
        covariance = covariance * max(1.0, scatter)
    return found, covariance


def engine(name, profiles):
    """The Engine (time per request over traffic) of profiles of engine times and co-runs of one
    function.
    """
    attribute = attribute_of(name, [row for profile in profiles for row in profile.rows])
    rows, times, sds, queues = [], [], [], []
    for profile in profiles:
        if profile.kind == "engine times":
            for row in profile.rows:
                rows.append(row)
                times.append(row[f"{name}_time_per_pkt_ms"] * 1e3)
                sds.append(RATE_SD * times[-1])
            continue
        groups = {}
        for row in profile.rows:
            groups.setdefault((row[attribute], row.get(SIZE)), []).append(row)
        for (at, _), group in groups.items():
            found = co_run(
                [(row[f"{name}_bench_time_ms"] * 1e3, row[THROUGHPUT] / 1e3) for row in group],
                f"{profile.file}: {attribute} {at:g}",
            )
            rows.append(group[0])
            times.append(found.time)
            sds.append(found.time_sd)
            queues.append(found.queues)
    if len(set(queues)) > 1:
        raise Error(
            "E-profile",
            f"{profiles[0].file}: the {name} queues differ from traffic to traffic: "
            f"{', '.join(map(str, queues))}; a function has one number of them",
        )
    inputs = [attribute]
    sized = (
        attribute == MATCHES
        and all(SIZE in row for row in rows)
        and len({row[SIZE] for row in rows}) > 1
    )
    if sized:
        # Matches come with the bytes: per packet, not per MB, and the bytes themselves cost time.
        inputs = [MATCHES, SIZE]
    engine = Engine(
        name, inputs, [0.0] * (2 + sized), None, {}, queues[0] if queues else 1, len(rows)
    )
    terms = numpy.array([engine.terms(row) for row in rows])
    scaled = terms / numpy.abs(terms).max(axis=0)
    if numpy.linalg.matrix_rank(scaled, tol=1e-9) < terms.shape[1]:
        raise Error(
            "E-profile",
            f"{profiles[0].file}: the {name} engine's time is a line of {' and '.join(inputs)}; "
            f"it takes {terms.shape[1]} or more different traffics",
        )
    scale = numpy.abs(terms).max(axis=0)
    found, covariance = _line(scaled, numpy.array(times), numpy.array(sds))
    engine.coefficients = [float(x) for x in found / scale]
    engine.covariance = (covariance / numpy.outer(scale, scale)).tolist()
    for column in (attribute, SIZE):
        if all(column in row for row in rows):
            engine.ranges[column] = (
                min(row[column] for row in rows),
                max(row[column] for row in rows),
            )
    return engine
