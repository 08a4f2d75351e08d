"""Interfaces fitted to runs: a few sums over the tokens of an input, the largest of a few lines.

For nets whose classes are too many, or not told apart by what an interface may read: how many firings
there are depends on the data, arbiters, memories. Latencies of max-plus systems are convex in the work
of the input as long as the order of service does not change, which is why the largest of some lines is
the form. Nothing is derived from the net; the error is that on inputs which chose nothing.
"""

import hashlib
import math
import random
import re
import textwrap
from dataclasses import dataclass
from fractions import Fraction

import numpy

from ..authoring.expr import Expr
from ..errors import mistake
from ..runs.batch import run_batch
from .closed_form import Shape, digest
from .conditions import conditions_of
from .extract import Extracted
from .features import levels
from .form import Form
from .input import aggregate, execute_interface
from .lines import best_lines
from .write import Formulas, write_list

__all__ = ["CHECKS", "extract_fitted"]

CHECKS = 5000  # inputs that the error is stated on
_LEARNT = 3000  # inputs that the lines are fitted to
_CHOSEN = 1000  # inputs that the form is chosen by
_TRIES = 200  # drawn at most for each input that the space's conditions leave
_LEAST_RUN = 0.5  # share of the inputs that must have a latency
_REASONS = 3  # told, why inputs have no latency
_MOST_ERROR = 0.1  # mean error from which on it is no interface
# Rounding a weight moves a latency by no more than this share of the mean latency: of the error, or so
# little that a sum of whole weights stays exact.
_MOVE, _LEAST_MOVE = 0.1, 1e-4
_DENOMINATORS = (*range(1, 7), 8, 10, 16, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10**4, 10**6)


@dataclass
class _Line:
    name: str
    form: Form


class _Terms(Formulas):
    """Writes each term with its own divisor, as measured weights have no common one that says much."""

    def text(self, terms, constant=Fraction(0)):
        parts = []
        for weight, code in sorted(terms, key=lambda term: -abs(term[0])):
            sign = "-" if weight < 0 else "+"
            times = f"{abs(weight.numerator)} * " if abs(weight.numerator) != 1 else ""
            by = f" / {weight.denominator}" if weight.denominator != 1 else ""
            parts += [sign, f"{times}{code}{by}"]
        parts += ["-" if constant < 0 else "+", str(abs(constant))] if constant or not parts else []
        return " ".join(parts if parts[0] == "-" else parts[1:])


class _Analysis:
    """What write_list reads: the shape, and which tokens go into which sum."""

    def __init__(self, shape, features):
        self.shape = shape
        self._limits = {  # (places, index, text) -> (least, most)
            (places, index, feature.text): tuple(
                (places.count("+") + 1) * end for end in (feature.low, feature.high)
            )
            for feature in features
            for places, indices in feature.parts
            for index in indices
        }

    def phases(self, chosen):
        treated = {}
        for number, line in enumerate(chosen):
            for (place, index, text), c in line.form.atoms.items():
                treated.setdefault((place, text), {}).setdefault(index, []).append((number, c))
        found = {}
        for key, tokens in treated.items():
            alike = {}
            for index, how in sorted(tokens.items()):
                alike.setdefault(tuple(how), []).append(index)
            found[key] = list(alike.values())
        return found

    def limits(self, place, text, indices):
        known = [self._limits[place, index, text] for index in indices]
        return sum(low for low, _ in known), sum(high for _, high in known)

    def single_limits(self, place, text, names):
        if names == [text] and not text.isidentifier():
            return {text: self._limits[place, 0, text]}
        return {name: self.shape.width(place, name) for name in names}


def extract_fitted(
    net, space, model_name="model", parameters=None, clock=1.0, seed=1, progress=None
):
    """The Extracted interface of a net over a space, fitted to simulated inputs.

    Raises Error "E-pi" where the tokens have no fixed numbers, where most inputs have no latency, and
    where no form comes within 10 % on average.
    """
    say = progress or (lambda text: None)
    shape = _shape_of(space)
    rng = random.Random(seed)
    wanted = _LEARNT + _CHOSEN + CHECKS
    say("inputs")
    samples, without = _simulated(net, space, shape, _drawn(space, rng, wanted), say)
    spare = len(samples) * CHECKS // wanted
    checks, known = samples[:spare], samples[spare:]
    learnt = len(known) * _LEARNT // (_LEARNT + _CHOSEN)
    latency = numpy.array([cycles for _, cycles in known], float)
    steps = levels([tokens for tokens, _ in known], net.text(), shape.width)
    if not steps:
        raise mistake("E-pi", "no property of the space's tokens varies; one run tells the latency")
    features, lines, error = best_lines(steps, latency, learnt, numpy.random.default_rng(seed), say)
    chosen = _rounded(features, lines, latency, max(_LEAST_MOVE, _MOVE * error))
    analysis = _Analysis(shape, features)
    digests = {place: digest(shape.tokens[place]) for place in shape.many}
    result = Extracted()
    result.parameters = dict(parameters or {})
    result.conditions, result.untold = conditions_of(space)
    result.net_digest = hashlib.sha256(net.text().encode()).hexdigest()[:12]
    result.refused, result.complete, result.thresholds = [], True, []
    result.without = without

    def text(header):
        return write_list(
            header,
            model_name,
            result.parameters,
            clock,
            [(analysis, digests, chosen)],
            result.conditions,
            _Terms(),
        )

    say("errors")
    about = _measured(execute_interface(text(""), "<interface>"), checks, result)
    about["shape"] = {place: len(rows) for place, rows in shape.tokens.items()}
    about["bottlenecks"] = [line.name for line in chosen]
    about["fitted_to"] = len(known)
    result.classes = [about]
    result.text = text(_header(result, model_name, about))
    return result


def _shape_of(space):
    """The Shape of all inputs of a space: as many tokens everywhere, ranges of their properties."""
    tokens = {}
    for place, declared in space.tokens_of.items():
        if place in space._counts:
            raise mistake(
                "E-pi",
                f"place '{place}' gets more or fewer tokens within the space; give its tokens a "
                "fixed number",
            )
        rows = [{name: _range(value) for name, value in t._values.items()} for t in declared]
        if rows:
            tokens[place] = rows
    shape = Shape(space.net, tokens, {})
    shape.units = None
    shape.widen()
    return shape


def _range(value):
    if not isinstance(value, Expr):
        return int(value)
    low, high = value._bounds()
    return int(low) if low == high else (int(low), int(high))


def _drawn(space, rng, number):
    """So many random inputs, as {variable: int}: evenly, or within a stretch of the range that is an
    input's own, so that inputs of little and of much work are met as well.
    """
    variables = space.variables
    alike = [re.sub(r"\[\d+\]", "", v.name) for v in variables]
    found, drawn = [], 0
    while drawn < 2 * number or len(found) * _TRIES > drawn:
        drawn += 1
        even, stretch, values = rng.random() < 0.5, {}, {}
        for v, group in zip(variables, alike):
            low, high = v.lo, v.hi
            if not even:
                a, b = stretch.setdefault(group, sorted((rng.random(), rng.random())))
                low, high = low + math.floor(a * (high - low)), low + math.ceil(b * (high - low))
            values[v.name] = rng.randint(low, high)
        if space.contains(values):
            found.append(values)
            if len(found) == number:
                return found
    raise mistake(
        "E-pi",
        f"only {len(found)} of {drawn} random inputs meet the conditions of the space; "
        "write it with fewer conditions, such as ranges that imply them",
    )


def _simulated(net, space, shape, inputs, say):
    """([(tokens, latency)], {why: how many inputs have none})."""
    given = [space.parameters(values) for values in inputs]
    if any(each != given[0] for each in given):
        raise mistake("E-pi", "a parameter of the net varies in the space; give it a value with -p")
    say(f"{len(inputs)} runs")
    markings = [space.marking(values) for values in inputs]
    runs = run_batch(net, markings, given[0], errors="return")
    fields = {place: list(net[place]._type.fields) for place in shape.tokens}
    samples, without = [], {}
    for marking, run in zip(markings, runs):
        if isinstance(run, Exception) or run.stalled or not run.latency:
            why = str(run).splitlines()[0] if isinstance(run, Exception) else "it stalls"
            why = re.sub(r" at time \d+", "", why)
            without[why] = without.get(why, 0) + 1
            continue
        tokens = {p: [dict(zip(names, r)) for r in marking.rows(p)] for p, names in fields.items()}
        samples.append((tokens, run.latency))
    if len(samples) < _LEAST_RUN * len(inputs):
        why, most = max(without.items(), key=lambda item: item[1])
        raise mistake(
            "E-pi",
            f"{len(inputs) - len(samples)} of {len(inputs)} random inputs have no latency; {most} of "
            f"them: {why}; take a space whose inputs run",
        )
    return samples, without


def _rounded(features, lines, latency, move):
    """The lines as Forms of fractions that a person can read, named by what counts most in each."""
    found, names = [], {}
    move *= numpy.mean(latency)
    for line in lines:
        form, most, constant = Form(), (0.0, "a constant"), line[-1]
        for feature, weight in zip(features, line):
            mean = float(feature.values.mean())
            near = _fraction(weight, float(numpy.abs(feature.values - mean).max()), move)
            constant += (weight - float(near)) * mean
            if not near:
                continue
            moved = abs(float(near)) * float(feature.values.std())
            most = max(most, (moved, feature.name))
            for places, indices in feature.parts:
                atoms = {(places, index, feature.text): near for index in indices}
                form = form.add(Form(0, atoms))
        form.constant = Fraction(round(constant))
        names[most[1]] = names.get(most[1], 0) + 1
        same = f" ({names[most[1]]})" if names[most[1]] > 1 else ""
        found.append(_Line(most[1] + same, form))
    return found


def _fraction(weight, reach, move):
    """The fraction of least denominator that moves no latency by more than `move`; `reach`: the most
    that the weighted sum is away from its mean, which the constant makes up for.
    """
    for denominator in _DENOMINATORS:
        near = Fraction(round(weight * denominator), denominator)
        if abs(float(near) - weight) * reach <= move:
            return near
    return Fraction(weight).limit_denominator(10**9)


def _measured(interface, checks, result):
    """What is known of a class: the interface's errors on inputs that chose nothing."""
    result.samples = [
        (interface.latency(aggregate(interface, tokens, conditions=False)), cycles)
        for tokens, cycles in checks
    ]
    errors = sorted(abs(p - t) / t for p, t in result.samples)
    mean = sum(errors) / len(errors)
    if mean > _MOST_ERROR:
        raise mistake(
            "E-pi",
            "no largest of a few lines over sums of the tokens comes near: its mean error is "
            f"{mean:.1%}, its worst {errors[-1]:.1%}; take a narrower space, or one whose tokens "
            "have a property that tells what the latency depends on",
        )
    return {
        "dropped": [],
        "lower_bound": False,
        "samples": len(errors),
        "mean_error": mean,
        "p99_error": errors[math.ceil(0.99 * len(errors)) - 1],
        "worst_error": errors[-1],
    }


def _header(result, model, about):
    lines = [
        f"Latency of {model}, in cycles: a performance interface that lpn pi --fitted fitted to runs.",
        "",
        f"Model {model}, net {result.net_digest}. x: sums of token properties, see SUMS and SINGLES; "
        "x['shape'] stands for the constant properties of the tokens.",
        f"Fitted to {about['fitted_to']} simulated inputs of the space {about['shape']}, not derived "
        "from the net: nothing is proved.",
        f"Error on {about['samples']} other random inputs: mean {about['mean_error']:.2%}, 99 of 100 "
        f"below {about['p99_error']:.2%}, max {about['worst_error']:.2%}",
    ]
    reasons = sorted(result.without.items(), key=lambda item: -item[1])
    if reasons:
        lines.append(
            f"Beside them {sum(result.without.values())} had no latency; they are not told apart:"
        )
    lines += [f"- {number}: {why}" for why, number in reasons[:_REASONS]]
    if len(reasons) > _REASONS:
        lines.append(
            f"- {sum(n for _, n in reasons[_REASONS:])}: {len(reasons) - _REASONS} more reasons"
        )
    for condition in result.untold:
        lines.append(f"Not looked at, since tokens do not tell: {condition}")
    return "\n".join(
        part
        for line in lines
        for part in (textwrap.wrap(line, 98, subsequent_indent="    ") or [""])
    )
