"""Fits a predictor to profiles: memory models, engine times, the choice between them, and their
errors.

The only module that needs NumPy and scikit-learn; what it makes is read without them
(`function_predictor`).
"""

import math
import random
import statistics
from dataclasses import dataclass

import numpy
from lpn import Error

from ..engines import engines_of
from . import calibration
from .memory import Boosted, Stochastic, WhiteBox
from .function_predictor import PATTERNS, ImpossiblePattern, Memory, Predictor
from .profile_table import COUNTERS, FLOWS, MATCHES, NEAR_FACTOR, SIZE, THROUGHPUT

__all__ = [
    "DEFAULT_FLOWS",
    "Candidate",
    "candidates",
    "detect_pattern",
    "fit",
    "fit_boosting",
    "linear_rates",
    "train",
]

# Flow count of the default traffic profile (16 K flows), ASPLOS 2025, section 7.1.
DEFAULT_FLOWS = 16384
FOLDS = 5
# Chosen from; "boosting" can be asked for.
KINDS = ("stochastic", "white-box")
# Rows of about the flow count asked for tell how good a candidate is there: as many at least.
LEAST_NEAR = 8
# Beyond the range of an input: fitted without this share of rows at its end, the error is measured
# there.
HELD_OUT_END = 0.2


def fit_boosting(rows, features):
    """(scikit-learn's estimator, Boosted) fitted to the rows' rates; its defaults, as SLOMO and
    Yala use them: 100 trees of depth 3, learning rate 0.1, squared error."""
    from sklearn.ensemble import GradientBoostingRegressor

    estimator = GradientBoostingRegressor(random_state=0)
    estimator.fit(_matrix(rows, features), [row[THROUGHPUT] / 1e3 for row in rows])
    return estimator, Boosted(
        tuple(features), _base(estimator), estimator.learning_rate, _trees(estimator)
    )


def fit_stochastic(rows, features):
    """Stochastic fitted to the logarithms of the rows' rates, over those of flow counts: 150 trees of
    depth 2, each from half of the rows."""
    from sklearn.ensemble import GradientBoostingRegressor

    inputs = _matrix(rows, features)
    for k, name in enumerate(features):
        if name == FLOWS:
            inputs[:, k] = numpy.log(numpy.maximum(inputs[:, k], 1.0))
    estimator = GradientBoostingRegressor(
        n_estimators=150, max_depth=2, subsample=0.5, random_state=0
    )
    estimator.fit(inputs, [math.log(row[THROUGHPUT] / 1e3) for row in rows])
    trees = _trees(estimator)
    for tree in trees:
        for node in tree:
            if len(node) == 4 and features[node[0]] == FLOWS:
                node[1] = math.exp(node[1])
    return Stochastic(tuple(features), _base(estimator), estimator.learning_rate, trees)


def _base(estimator):
    return float(estimator.init_.constant_[0, 0])


def _trees(estimator):
    """The trees of a fitted estimator, as Boosted holds them."""
    found = []
    for (tree,) in estimator.estimators_:
        tree = tree.tree_
        columns = (tree.feature, tree.threshold, tree.children_left, tree.children_right)
        feature, threshold, left, right = (column.tolist() for column in columns)
        found.append(
            [
                [value] if left[k] < 0 else [feature[k], threshold[k], left[k], right[k]]
                for k, value in enumerate(tree.value[:, 0, 0].tolist())
            ]
        )
    return found


def fit_white_box(rows):
    """WhiteBox by least squares of relative errors; knees are searched among observed values, then
    between."""
    time = numpy.array([1e3 / row[THROUGHPUT] for row in rows])
    wss = numpy.array([row["comp_wss_MB"] for row in rows])
    accesses = numpy.array(
        [(row["comp_l2d_rd_per_s"] + row["comp_l2d_wr_per_s"]) / 1e8 for row in rows]
    )
    flows = numpy.array([row.get(FLOWS, 0.0) for row in rows])
    best = None
    flow_knees, wss_knees = _knees(flows), _knees(wss)
    for _ in range(2):
        for flow_knee in flow_knees:
            for wss_knee in wss_knees:
                w, f = numpy.minimum(wss, wss_knee), numpy.minimum(flows, flow_knee)
                terms = numpy.stack([numpy.ones(len(rows)), f, w, w * accesses, w * f], axis=1)
                constants, error = _not_negative(terms / time[:, None])
                if constants[0] > 0 and (best is None or error < best[0]):
                    best = error, WhiteBox(
                        *map(float, constants), float(wss_knee), float(flow_knee)
                    )
        if best is None:
            break
        flow_knees, wss_knees = _around(flow_knees, best[1].flow_knee), _around(
            wss_knees, best[1].wss_knee
        )
    if best is None:
        raise Error(
            "E-profile",
            "no white-box memory law fits these rows: times per packet are not positive at rest",
        )
    return best[1]


def linear_rates(rows, asked, features):
    """Rates for the rows `asked` by linear regression on `rows`: a baseline."""
    from sklearn.linear_model import LinearRegression

    fitted = LinearRegression().fit(
        _matrix(rows, features), [row[THROUGHPUT] / 1e3 for row in rows]
    )
    return [float(rate) for rate in fitted.predict(_matrix(asked, features))]


def _knees(values):
    """Twelve observed values to break a line at; the largest means no break."""
    ordered = numpy.unique(values)
    if len(ordered) < 4:
        return ordered[-1:]
    return numpy.unique(numpy.quantile(ordered, numpy.linspace(0.15, 1, 12), method="nearest"))


def _around(knees, best):
    """Six values between the neighbours of the best one so far."""
    at = int(numpy.searchsorted(knees, best))
    if len(knees) == 1:
        return knees
    return numpy.linspace(knees[max(at - 1, 0)], knees[min(at + 1, len(knees) - 1)], 6)


def _not_negative(terms):
    """Least squares of terms @ x = 1 with x >= 0, by leaving out what came out negative; and the
    error.
    """
    constants = numpy.zeros(terms.shape[1])
    # A column that never varies beside the first would share its constant with it.
    kept = [k for k in range(terms.shape[1]) if k == 0 or numpy.ptp(terms[:, k] / terms[:, 0]) > 0]
    scale = numpy.abs(terms).max(axis=0)
    while kept:
        solved = numpy.linalg.lstsq(
            terms[:, kept] / scale[kept], numpy.ones(len(terms)), rcond=None
        )[0]
        if solved.min() >= 0:
            constants[kept] = solved / scale[kept]
            break
        kept.pop(int(solved.argmin()))
    return constants, float(((terms @ constants - 1) ** 2).sum())


def fit(kind, rows):
    """A memory model of a kind, one of KINDS, on the rows of memory profiles."""
    if kind == "white-box":
        return fit_white_box(rows)
    if kind == "stochastic":
        return fit_stochastic(rows, _features(rows))
    return fit_boosting(rows, _features(rows))[1]


def _features(rows):
    """The counters that all rows have, and those traffic attributes that vary: a constant tells
    nothing.
    """
    traffic = [
        name
        for name in (FLOWS, SIZE)
        if all(name in row for row in rows) and len({row[name] for row in rows}) > 1
    ]
    return (*traffic, *(name for name in COUNTERS if all(name in row for row in rows)))


def _matrix(rows, features):
    return numpy.array([[row[name] for name in features] for row in rows])


# ---- Choosing by cross-validation --------------------------------------------------------------------


@dataclass
class Candidate:
    """A memory model that could be used: `error` is its mean absolute error [%] on held-out rows of
    its own profiles near the traffic asked for; `residuals` are log(measured / predicted) of all
    held-out rows; `unknown`: values asked of a traffic attribute that its profiles never varied, at
    another value than theirs; `beyond`: how many values asked lie beyond the range of its profiles.
    """

    profiles: list
    kind: str
    rows: list
    error: float
    near: int
    residuals: list
    unknown: list
    beyond: int

    @property
    def covers(self):
        """Whether its profiles cover the traffic asked for."""
        return not self.unknown and not self.beyond

    def data(self):
        """For JSON."""
        return {
            "model": self.kind,
            "profiles": [p.name for p in self.profiles],
            "near_rows": self.near,
            "cross_validation_error": self.error,
            "covers_traffic": self.covers,
        }

    @property
    def name(self):
        return f"{self.kind} on {' + '.join(profile.name for profile in self.profiles)}"


def candidates(profiles, flows, kinds=KINDS, progress=None, sizes=()):
    """Every kind on every memory profile, and on all of them pooled: those that cover the traffic
    first, and of these the best first.

    flows, sizes: flow counts and packet sizes [byte] of the traffic to predict, repeated as often as
    they come. Cross-validation in 5 parts; rows of the same configuration are in one part, so that
    none is predicted from its own copy.
    """
    sets = [[profile] for profile in profiles] + ([profiles] if len(profiles) > 1 else [])
    found = []
    for chosen in sets:
        rows = [row for profile in chosen for row in profile.rows]
        if len({_configuration(row) for row in rows}) < 5:
            if len(sets) == 1:
                raise Error(
                    "E-profile",
                    f"{chosen[0].file}: {len(rows)} rows; a memory model takes at least 5 "
                    "different ones",
                )
            continue
        weights = _near(rows, flows)
        unknown, beyond = _uncovered(rows, {FLOWS: flows, SIZE: sizes})
        for kind in kinds:
            residuals = _cross_validate(kind, rows)
            error = (
                100
                * sum(w * abs(math.exp(-r) - 1) for w, r in zip(weights, residuals))
                / sum(weights)
            )
            near = sum(w > 0 for w in weights)
            found.append(Candidate(chosen, kind, rows, error, near, residuals, unknown, beyond))
            if progress:
                progress(found[-1].name)
    return sorted(found, key=lambda c: (len(c.unknown), c.beyond, c.error))


def _uncovered(rows, asked):
    """(values asked of which the rows cannot tell anything, how many are beyond their range).

    asked: traffic attribute -> values. A profile of one flow count knows nothing about others; one
    that varies it says more, the less the farther away.
    """
    unknown, beyond = [], 0
    for name, values in asked.items():
        own = [row[name] for row in rows if row.get(name, 0) > 0]
        if len(own) < len(rows):
            beyond += len(values)  # it does not say what its traffic was
            continue
        out = [v for v in values if not min(own) / NEAR_FACTOR <= v <= max(own) * NEAR_FACTOR]
        if min(own) < max(own):
            beyond += len(out)
        else:
            unknown += out
    return unknown, beyond


def _configuration(row):
    return tuple(value for name, value in row.items() if name != THROUGHPUT)


def _cross_validate(kind, rows):
    groups = sorted({_configuration(row) for row in rows})
    random.Random(0).shuffle(groups)
    part = {group: k % FOLDS for k, group in enumerate(groups)}
    parts = [part[_configuration(row)] for row in rows]
    residuals = [0.0] * len(rows)
    for held_out in range(min(FOLDS, len(groups))):
        model = fit(kind, [row for row, p in zip(rows, parts) if p != held_out])
        for k, row in enumerate(rows):
            if parts[k] == held_out:
                residuals[k] = _residual(model, row)
    return residuals


def _residual(model, row):
    return math.log(row[THROUGHPUT] / 1e3 / model.rate(row))


def _near(rows, flows):
    """Weight of each row: how much of the traffic asked for has about its flow count."""
    weights = [0.0] * len(rows)
    if not all(row.get(FLOWS, 0) > 0 for row in rows):
        return [1.0] * len(rows)
    for flow in set(flows):
        distance = [abs(math.log(row[FLOWS] / max(flow, 1))) for row in rows]
        reach = max(math.log(NEAR_FACTOR), sorted(distance)[min(LEAST_NEAR, len(rows)) - 1])
        near = [k for k, d in enumerate(distance) if d <= reach]
        for k in near:
            weights[k] += flows.count(flow) / len(near)
    return weights


def _beyond(kind, rows, features):
    """(input, side) -> absolute log errors beyond that end of its range, fitted without the rows
    there.
    """
    errors = {}
    for name in features:
        values = sorted(row[name] for row in rows)
        for side, cut in (
            ("low", values[int(len(rows) * HELD_OUT_END)]),
            ("high", values[len(rows) - 1 - int(len(rows) * HELD_OUT_END)]),
        ):
            outer = [row for row in rows if (row[name] < cut if side == "low" else row[name] > cut)]
            inner = [
                row for row in rows if not (row[name] < cut if side == "low" else row[name] > cut)
            ]
            if outer and len({_configuration(row) for row in inner}) >= 5:
                model = fit(kind, inner)
                errors[name, side] = sorted(abs(_residual(model, row)) for row in outer)
    return errors


# ---- A predictor -------------------------------------------------------------------------------------


def train(
    profiles,
    pattern="pipeline",
    flows=None,
    kinds=KINDS,
    function=None,
    progress=None,
    sizes=(),
):
    """(Predictor, list of Candidates, best first) of profiles of one function.

    pattern: "pipeline", "run-to-completion" or "detect" (needs contention rows).
    flows, sizes: flow counts and packet sizes [byte] of the traffic to be predicted: only profiles
    that cover them are chosen from; without them the traffic is about DEFAULT_FLOWS where a profile
    has that. Raises lpn.Error E-profile when the profiles do not hold what this takes.
    """
    memories = [profile for profile in profiles if profile.kind == "memory"]
    engines = {}
    for engine in engines_of(profile.engine for profile in profiles if profile.engine):
        mine = [profile for profile in profiles if profile.engine == engine]
        engines[engine] = calibration.engine(engine, mine)
    found, memory = [], None
    if memories:
        asked = list(flows or (DEFAULT_FLOWS,))
        found = candidates(memories, asked, kinds, progress, list(sizes))
        if found[0].unknown and flows:
            raise _not_covered(memories, found[0].unknown)
        memory = _memory(found[0], memories, asked)
    if not engines and memory is None:
        raise Error(
            "E-profile",
            f"{', '.join(profile.file for profile in profiles)}: nothing to train from; give a "
            "profile of memory contention, of engine times or of co-runs",
        )
    predictor = Predictor(
        function or "function",
        "pipeline" if pattern == "detect" else pattern,
        memory,
        engines,
        [(profile.name, profile.kind, len(profile.rows)) for profile in profiles],
    )
    if pattern == "detect":
        predictor.pattern, predictor.pattern_errors = detect_pattern(predictor, profiles)
    return predictor, found


def _not_covered(memories, unknown):
    ranges = ", ".join(
        f"{profile.name} was measured at {name} {profile.rows[0][name]:g} only"
        for profile in memories
        for name in (FLOWS, SIZE)
        if len({row.get(name) for row in profile.rows}) == 1 and name in profile.rows[0]
    )
    values = ", ".join(f"{v:g}" for v in sorted(set(unknown))[:5])
    return Error(
        "E-profile",
        f"no memory profile covers the traffic asked for ({values}): {ranges}; give one in which "
        "it varies",
    )


def _memory(candidate, memories, flows):
    model = fit(candidate.kind, candidate.rows)
    columns = sorted(
        {name for row in candidate.rows for name in row if name in (*COUNTERS, FLOWS, SIZE)}
    )
    ranges = {
        name: (min(row[name] for row in candidate.rows), max(row[name] for row in candidate.rows))
        for name in columns
        if all(name in row for row in candidate.rows)
    }
    varying = [
        name for name in model.features if name in ranges and ranges[name][0] < ranges[name][1]
    ]
    others = []
    for profile in memories:
        if profile not in candidate.profiles:
            weights = _near(profile.rows, flows)
            apart = [
                _residual(model, row)
                for row, w in zip(profile.rows, weights)
                if w > 0 and all(name in row for name in model.features)
            ]
            if apart:
                others.append((profile.name, sorted(apart)))
    matches = {row.get(MATCHES) for row in candidate.rows}
    solo = max([row[THROUGHPUT] / 1e3 for row in candidate.rows])
    return Memory(
        model,
        ranges,
        sorted(abs(r) for r in candidate.residuals),
        _beyond(candidate.kind, candidate.rows, varying),
        others,
        candidate.name,
        solo,
        matches.pop() if len(matches) == 1 else None,
    )


def detect_pattern(predictor, profiles):
    """(pattern, {pattern: mean error %}) by which composition predicts the contention rows better.

    Needs rows where two resources contend at once; no source code. The error of a pattern that the
    profiles rule out is None.
    """
    rows = [row for profile in profiles if profile.kind == "contention" for row in profile.rows]
    if not rows:
        raise Error(
            "E-profile",
            "the execution pattern shows where two resources are contended at once: give a "
            "profile with comp_regex_sum_nt_ms, or write --pattern pipeline",
        )
    errors = {}
    for pattern in PATTERNS:
        try:
            errors[pattern] = 100 * statistics.fmean(
                abs(predictor.answer(row, pattern=pattern).rate / (row[THROUGHPUT] / 1e3) - 1)
                for row in rows
            )
        except ImpossiblePattern:
            errors[pattern] = None
    return min((p for p in errors if errors[p] is not None), key=errors.get), errors
