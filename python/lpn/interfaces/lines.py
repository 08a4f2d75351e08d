"""The largest of a few lines over features, by least squares: max-affine regression.

A line's rows are those inputs that it decides; it is fitted to them, and decides anew, until nothing
moves (Magnani and Boyd, "Convex piecewise-linear fitting", Optimization and Engineering 10, 2009).
"""

import math

import numpy

__all__ = ["best_lines"]

_LINES = (1, 2, 3, 4, 6)
_STARTS, _ROUNDS = 6, 30
_MOST_FEATURES = 40
_WORTH = 1.1, 0.0005  # times the best error, plus so much: as good, if shorter
_GOOD = 1e-4  # mean error at which no longer form is tried


def best_lines(steps, latency, learnt, rng, say):
    """(features, lines, mean error): weights by lines, the constant last; the shortest form that is as
    good as any.
    """
    tried = []
    for number, features in enumerate(steps, 1):
        features = _strongest(features, latency, learnt)
        table = numpy.array([f.values for f in features]).T
        for count in _LINES:
            say(f"sums {number} of {len(steps)}, {count} lines")
            lines = _fit(table[:learnt], latency[:learnt], count, rng)
            error = _error(table[learnt:], latency[learnt:], lines)
            tried.append((error, count * len(features), features, lines))
            if error < _GOOD:
                break
        if min(error for error, *_ in tried) < _GOOD:
            break
    best = min(error for error, *_ in tried)
    limit = _WORTH[0] * best + _WORTH[1]
    _, _, features, lines = min((t for t in tried if t[0] <= limit), key=lambda t: t[1])
    say("terms")
    return features, _pruned(features, lines, latency, learnt), best


def _strongest(features, latency, learnt):
    """The features that explain most, one after the other, where there are too many."""
    if len(features) <= _MOST_FEATURES:
        return features
    table = numpy.array([f.values[:learnt] for f in features]).T
    table = (table - table.mean(axis=0)) / table.std(axis=0).clip(1e-9)
    left = latency[:learnt] - latency[:learnt].mean()
    basis, chosen = [], []
    while len(chosen) < _MOST_FEATURES:
        score = numpy.abs(table.T @ left)
        score[chosen] = -1
        chosen.append(int(score.argmax()))
        new = table[:, chosen[-1]].copy()
        for old in basis:
            new -= old * (old @ new)
        norm = numpy.linalg.norm(new)
        if norm > 1e-6:
            basis.append(new / norm)
            left = left - basis[-1] * (basis[-1] @ left)
    return [features[k] for k in sorted(chosen)]


def _fit(table, latency, count, rng):
    """Weights (lines by terms, the constant last) of the largest of `count` lines; relative errors
    count.
    """
    middle, spread = table.mean(axis=0), table.std(axis=0).clip(1e-9)
    scaled = numpy.c_[(table - middle) / spread, numpy.ones(len(table))]
    best, error = None, math.inf
    for start in range(_STARTS if count > 1 else 1):
        if start % 2:
            part = (scaled @ rng.standard_normal((scaled.shape[1], count))).argmax(axis=1)
        else:
            near = scaled[rng.choice(len(scaled), count, replace=False)]
            part = numpy.argmin(((scaled[:, None, :] - near[None]) ** 2).sum(axis=2), axis=1)
        for _ in range(_ROUNDS):
            lines = numpy.stack([_least_squares(scaled, latency, part == k) for k in range(count)])
            values = scaled @ lines.T
            now = float(numpy.mean(numpy.abs(values.max(axis=1) - latency) / latency))
            if now < error:
                best, error = lines, now
            new = values.argmax(axis=1)
            if (new == part).all():
                break
            part = new
    best = best[best[:, -1] > -math.inf]
    weights = best[:, :-1] / spread
    return numpy.c_[weights, best[:, -1] - weights @ middle]


def _least_squares(table, latency, mine):
    """Weights by the rows of one line; with too few of them the line is out of the way."""
    terms = table.shape[1]
    if mine.sum() < terms + 2:
        return numpy.r_[numpy.zeros(terms - 1), -math.inf]
    rows, wanted = table[mine] / latency[mine, None], numpy.ones(int(mine.sum()))
    # A trace of ridge regression: columns may depend on each other.
    ridge = numpy.sqrt(1e-9 * (rows**2).sum(axis=0).max()) * numpy.eye(terms)
    return numpy.linalg.lstsq(
        numpy.r_[rows, ridge], numpy.r_[wanted, numpy.zeros(terms)], rcond=None
    )[0]


def _error(table, latency, lines):
    values = (numpy.c_[table, numpy.ones(len(table))] @ lines.T).max(axis=1)
    return float(numpy.mean(numpy.abs(values - latency) / latency))


def _pruned(features, lines, latency, learnt):
    """The lines with the terms that they need: what is left out is fitted anew, and must not show in
    inputs that were not fitted to.
    """
    table = numpy.array([f.values for f in features]).T
    apart = table[learnt:], latency[learnt:]
    kept = numpy.ones((len(lines), len(features)), bool)
    limit = _WORTH[0] * _error(*apart, lines) + _WORTH[1]
    weight = numpy.abs(lines[:, :-1]) * table.std(axis=0)
    for line, term in sorted(numpy.ndindex(*weight.shape), key=lambda at: weight[at]):
        trial = kept.copy()
        trial[line, term] = False
        fitted = _refitted(table[:learnt], latency[:learnt], lines, trial)
        if fitted is not None and _error(*apart, fitted) <= limit:
            kept, lines = trial, fitted
    return lines


def _refitted(table, latency, lines, kept):
    """The lines with the kept terms alone, by the inputs that each of them decides."""
    whole = numpy.c_[table, numpy.ones(len(table))]
    for _ in range(3):
        part = (whole @ lines.T).argmax(axis=1)
        new = numpy.zeros_like(lines)
        for k, terms in enumerate(kept):
            terms = numpy.r_[terms, True]
            mine = part == k
            if mine.sum() < terms.sum() + 2:
                return None
            rows = whole[mine][:, terms] / latency[mine, None]
            new[k, terms] = numpy.linalg.lstsq(rows, numpy.ones(int(mine.sum())), rcond=None)[0]
        lines = new
    return lines
