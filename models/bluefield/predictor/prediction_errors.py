"""Judges a predictor on measured rows it was not trained on, beside the methods it must beat.

Model and training profiles are chosen by cross-validation on the training files alone; of the test
file only the inputs' flow counts and packet sizes are looked at before the one evaluation.
"""

import statistics

from lpn import Error

from . import laws, training
from .function_predictor import ImpossiblePattern
from .profile_table import COUNTERS, FLOWS, SIZE, THROUGHPUT

__all__ = ["evaluate", "scores"]


def scores(predicted, measured):
    """{rows, mape, within_5, within_10, worst}: mean absolute error and shares of rows within 5 and
    10 % [%]."""
    errors = [100 * abs(p / m - 1) for p, m in zip(predicted, measured)]
    return {
        "rows": len(errors),
        "mape": statistics.fmean(errors),
        "within_5": 100 * sum(e <= 5 for e in errors) / len(errors),
        "within_10": 100 * sum(e <= 10 for e in errors) / len(errors),
        "worst": max(errors),
    }


def evaluate(
    profiles, test, pattern="pipeline", level=0.9, kinds=training.KINDS, progress=None, trained=None
):
    """A dict of figures: the predictor's on the rows of `test`, its choice, its intervals, the
    baselines.

    trained(predictor, candidates) is called before any row of `test` is predicted.
    Raises lpn.Error E-profile when the rows cannot be predicted from the profiles.
    """
    if test.kind not in ("memory", "contention"):
        raise Error(
            "E-profile",
            f"{test.file} holds {test.kind}; an evaluation takes rows of {THROUGHPUT} under "
            "contention",
        )
    flows, sizes = ([row[name] for row in test.rows if name in row] for name in (FLOWS, SIZE))
    predictor, candidates = training.train(
        profiles, pattern, flows, kinds, progress=progress, sizes=sizes
    )
    if trained is not None:
        trained(predictor, candidates)
    unused = sorted({engine for row in test.rows for engine in predictor.unused(row)})
    if unused:
        raise Error(
            "E-profile",
            f"{test.file}: competitors at the {', '.join(unused)} engine, but no training file "
            f"has the function's time there; add one with {unused[0]}_time_per_pkt_ms",
        )
    measured = test.rates()
    answers = [predictor.answer(row, level) for row in test.rows]
    held = sum(a.low <= m <= a.high for a, m in zip(answers, measured))
    return {
        **scores([a.rate for a in answers], measured),
        "chosen": {
            "memory": predictor.memory and predictor.memory.chosen,
            "engines": sorted(predictor.engines),
            "pattern": predictor.pattern,
            "pattern_errors": predictor.pattern_errors,
        },
        "candidates": [candidate.data() for candidate in candidates],
        "disagreeing_profiles": []
        if not predictor.memory
        else [
            {"profile": name, "rows": len(apart), "median_percent": 100 * statistics.median(apart)}
            for name, apart in predictor.memory.others
        ],
        "interval": {
            "level": level,
            "held": 100 * held / len(answers),
            "mean_width_percent": 100
            * statistics.fmean((a.high - a.low) / a.rate for a in answers),
        },
        "outside": _outside(answers),
        "rows_trained_on": _seen(profiles, test),
        "baselines": [
            {"name": name, **scores(rates, measured)}
            for name, rates in _baselines(predictor, profiles, test.rows)
        ],
        "predictions": [
            {"row": test.where(k), "measured_kpps": m * 1e3, **a.data()}
            for k, (a, m) in enumerate(zip(answers, measured))
        ],
    }


def _outside(answers):
    """{input: rows} of inputs outside the range trained on."""
    found = {}
    for answer in answers:
        for one in answer.outside:
            found[one["input"]] = found.get(one["input"], 0) + 1
    return found


def _seen(profiles, test):
    """How many rows of the test stand, rate and all, in a training file: their errors say nothing."""
    trained = {frozenset(row.items()) for profile in profiles for row in profile.rows}
    return sum(frozenset(row.items()) in trained for row in test.rows)


def _baselines(predictor, profiles, rows):
    """(name, rates) of other methods, each trained as its authors do. Where the function uses
    engines, all but SLOMO, which its authors made for memory alone, know of them.
    """
    memories = [profile for profile in profiles if profile.kind == "memory"]
    engines = [[engine.bound(row, 1).rate for engine in predictor.engines.values()] for row in rows]
    found = []
    if memories:
        # Linear regression and SLOMO know one traffic: they take the profile in which it varies
        # least.
        fixed = min(memories, key=lambda profile: len({row.get(FLOWS) for row in profile.rows}))
        varied = max(memories, key=lambda profile: len({row.get(FLOWS) for row in profile.rows}))
        counters = _columns(COUNTERS, fixed.rows, rows)
        known = f"{len(counters)} counters, {fixed.name}"
        linear = training.linear_rates(fixed.rows, rows, counters)
        found.append(
            (
                f"linear regression, {known}" + (", and engines" if predictor.engines else ""),
                [max(min([rate, *rates]), _LEAST_RATE) for rate, rates in zip(linear, engines)],
            )
        )
        slomo = training.fit_boosting(fixed.rows, counters)[1]
        found.append((f"SLOMO: boosting, {known}", [slomo.rate(row) for row in rows]))
    if predictor.engines:
        found.append(("engines alone", [min(rates) for rates in engines]))
    if memories and predictor.engines:
        columns = _columns((FLOWS, SIZE, *COUNTERS), varied.rows, rows)
        yala = training.fit_boosting(varied.rows, columns)[1]
        found.append(
            (
                f"Yala: pipeline of boosting on {varied.name}, and engines",
                [laws.pipeline([yala.rate(row), *rates]) for row, rates in zip(rows, engines)],
            )
        )
        found.append(
            ("sum of losses", [_losses(laws.sum_of_losses, predictor, row) for row in rows])
        )
        other = next(p for p in (laws.RUN_TO_COMPLETION, laws.PIPELINE) if p != predictor.pattern)
        try:
            found.append(
                (
                    f"the other pattern, {other}",
                    [_as_other(predictor, row, other) for row in rows],
                )
            )
        except ImpossiblePattern:
            pass  # the profiles rule it out, so that it has no figures
    return found


_LEAST_RATE = 1e-6  # packets per us: what a straight line that falls below 0 is taken for


def _columns(names, *tables):
    """Those of `names` that every row of the tables has."""
    return tuple(name for name in names if all(name in row for rows in tables for row in rows))


def _as_other(predictor, row, pattern):
    """The rate if the function were of the other pattern. For run to completion, where the memory
    profile does not say its matches, the paper's law with the rate that nobody contends for: to take
    the profile for the core's time alone would count the engines twice.
    """
    if pattern == laws.RUN_TO_COMPLETION and predictor.memory.matches is None:
        return _losses(laws.run_to_completion, predictor, row)
    return predictor.answer(row, pattern=pattern).rate


def _losses(law, predictor, row):
    bounds = predictor.bounds(row)
    return law([bound.rate for bound in bounds], min(bound.solo for bound in bounds))
