"""Interfaces fitted to runs: a few sums over the tokens of an input, the largest of a few lines.

For nets whose classes are too many, or not told apart by what an interface may read: how many firings
there are depends on the data, arbiters, memories. Latencies of max-plus systems are convex in the work
of the input as long as the order of service does not change, which is why the largest of some lines is
the form. Nothing is derived from the net; the error is that on inputs which chose nothing.
"""

import math
import random
import re
from fractions import Fraction

import numpy

from ..authoring.expr import Expr
from ..errors import mistake
from ..runs.batch import run_batch
from ..spaces.token import any_later
from .closed_form import Shape, digest
from .counted_list import Chain
from .extract import Extracted
from .features import levels
from .form import Form
from .input import aggregate, execute_interface
from .lines import best_lines
from .write import Formulas, wrapped_lines, write_list

__all__ = ["CHECKS", "drawn_inputs", "extract_fitted", "run_inputs"]

CHECKS = 5000  # inputs that the error is stated on
_LEARNT = 3000  # inputs that the lines are fitted to
_CHOSEN = 1000  # inputs that the form is chosen by
_TRIES = 200  # drawn at most for each input that the space's conditions leave
_FIRST = 4  # inputs that are run before the others, as a net may run on for all of them
_MOST_SECONDS = 2  # that one run takes
_LEAST_RUN = 0.5  # share of the inputs that must have a latency
_REASONS = 3  # told, why inputs have no latency
_MOST_ERROR = 0.1  # mean error from which on it is no interface
# Rounding a weight moves a latency by no more than this share of the mean latency: of the error, or so
# little that a sum of whole weights stays exact.
_MOVE, _LEAST_MOVE = 0.1, 1e-4
_DENOMINATORS = (*range(1, 7), 8, 10, 16, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10**4, 10**6)


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
    """What write_list reads: the shape, and the ranges of sums."""

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
    inputs = drawn_inputs(space, rng, wanted)
    samples, without = [], {}
    for part in (inputs[:_FIRST], inputs[_FIRST:]):
        say(f"{len(part)} runs")
        run_inputs(net, space, part, samples, without, shape.tokens)
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
    result = Extracted(net, space, parameters)
    result.parameters.update(space.parameters(inputs[0]))
    result.complete, result.without = True, without

    def text(header):
        return write_list(
            header,
            model_name,
            result.parameters,
            clock,
            [(analysis, digests, chosen)],
            result.conditions,
            _Terms(),
            space.done_count,
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
        if any_later(declared):
            raise mistake(
                "E-pi",
                f"tokens of place '{place}' come later than 0; a fitted interface has no arrivals, so "
                "leave at= out of the space",
            )
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


def drawn_inputs(space, rng, number):
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


def run_inputs(net, space, inputs, samples, without, places):
    """Adds (tokens of these places, latency) of inputs to `samples`, and to `without` why how many
    have no latency.
    Raises Error "E-pi" when that is most of all so far.
    """
    given = [space.parameters(values) for values in inputs]
    if any(each != given[0] for each in given):
        raise mistake("E-pi", "a parameter of the net varies in the space; give it a value with -p")
    markings = [space.marking(values) for values in inputs]
    runs = run_batch(net, markings, given[0], errors="return", max_time=_MOST_SECONDS)
    fields = {place: list(net[place]._type.fields) for place in places}
    for marking, run in zip(markings, runs):
        why = _trouble(run)
        if why:
            without[why] = without.get(why, 0) + 1
            continue
        tokens = {p: [dict(zip(names, r)) for r in marking.rows(p)] for p, names in fields.items()}
        samples.append((tokens, run.latency))
    failed = sum(without.values())
    if len(samples) < _LEAST_RUN * (len(samples) + failed):
        why, most = max(without.items(), key=lambda item: item[1])
        raise mistake(
            "E-pi",
            f"{failed} of {len(samples) + failed} random inputs have no latency; {most} of "
            f"them: {why}; take a space whose inputs run",
        )


def _trouble(run):
    """Why a run of a batch has no latency, without the time at which; None: it has one."""
    if isinstance(run, Exception):
        return re.sub(r" at time \d+", "", str(run).splitlines()[0])
    if run.stalled:
        return "it stalls"
    if run.ending == "budget":
        return (
            f"more than {_MOST_SECONDS} s to run; where the net runs for ever, give it or the space "
            "a done_count"
        )
    return None if run.latency else "it has no latency above 0"


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
        found.append(Chain(most[1] + same, form))
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
    return wrapped_lines(lines)
