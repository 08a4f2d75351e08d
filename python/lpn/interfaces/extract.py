"""Performance interfaces: what drives the latency of a model, in a few lines of Python."""

import hashlib
import math
import random

import _lpn

from ..authoring.marking import Marking
from ..errors import Error, mistake
from ..runs import simulate
from ..spaces.partition import partition
from .closed_form import digest, look_first, shape_of, unit_of
from .conditions import conditions_of
from .counted_list import TokenList
from .input import aggregate, execute_interface
from .stream import Stream
from .write import wrapped_lines, write_list, write_stream

__all__ = ["Extracted", "extract", "refusals"]

_LENGTHS = (1, 2, 3, 5, 8, 16, 32, 64)  # units of the streams that samples are
_POOR = 0.04  # mean error from which on a stream is looked at as a list
_SAMPLES = 64  # that the error is stated on
_LEARNT = (32, 256)  # that bottlenecks are chosen by: of a stream, of a list


class Extracted:
    """An interface and what is known about it.

    `text`: the module. `classes`: per class a dict of `unit` or `shape`, `bottlenecks` {name:
    formula}, `dropped` [(name, why)], `mean_error`, `worst_error`. `refused`: [(class, reason)].
    `samples`: [(predicted, simulated)]. `thresholds`: resolutions, in cycles, at which bottlenecks
    merge. `without`: {why: how many random inputs had no latency} of an interface fitted to runs.
    """

    def __init__(self, net, space, parameters):
        self.refused, self.thresholds, self.without = [], [], {}
        self.parameters = dict(parameters or {})
        self.conditions, self.untold = conditions_of(space)
        self.net_digest = hashlib.sha256(net.text().encode()).hexdigest()[:12]


def extract(
    net,
    space,
    model_name="model",
    parameters=None,
    clock=1.0,
    resolution=0,
    seed=1,
    seconds=60,
    progress=None,
):
    """The interface of a net over the classes of a space. Raises Error "E-pi" when no class has
    one, and KeyboardInterrupt at Ctrl-C.

    `seconds`: for sorting the inputs of the space into classes, and of a class into paths.
    `progress(text)` is called a few times per second.
    """
    say = progress or (lambda text: None)
    found = partition(
        net, space, seconds=seconds, progress=lambda paths, _: say(f"classes: {paths} paths")
    )
    if found.interrupted:
        raise KeyboardInterrupt
    result, analysed = Extracted(net, space, parameters), []
    for number, each in enumerate(found.classes, 1):
        if each.outcome != "latency":
            result.refused.append(
                (number, f"its inputs have no latency: {each.trouble or each.outcome}")
            )
            continue
        try:
            shape = shape_of(found, each)
            shape.seconds = seconds
            shape.say = lambda text, number=number: say(
                f"class {number} of {len(found.classes)}: {text}"
            )
            look_first(shape)
            one = _analyse(shape, seed, resolution)
            if one.shape.units and one.mean_error > _POOR:
                # Work that wanders among the units is in no phase. A list of this length is exact.
                told, shape = shape.say, shape_of(found, each)
                shape.seconds, shape.say = seconds, told
                shape.units = None
                one = min(one, _analyse(shape, seed, resolution), key=lambda each: each.mean_error)
            one.number = number
            analysed.append(one)
        except Error as error:
            result.refused.append((number, str(error)))
    analysed = _told_apart(analysed, found, result)
    if any(one.shape.units for one in analysed):
        lists = [one for one in analysed if not one.shape.units]
        result.refused += [
            (
                one.number,
                "it has one unit of tokens where others repeat theirs; take a larger space",
            )
            for one in lists
        ]
        analysed = [one for one in analysed if one.shape.units]
    analysed = _alike(analysed, result)
    if not analysed:
        reasons = "; ".join(
            f"class{'es' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}: {why}"
            for why, numbers in refusals(result.refused)
        )
        raise mistake(
            "E-pi",
            f"no class has an interface: {reasons or 'the space is empty'}; --fitted fits one to runs",
        )
    result.complete = found.complete
    result.analysed = analysed
    result.text = _write(result, model_name, clock, "")
    interface = execute_interface(result.text, "<interface>")
    result.samples, result.classes = [], []
    for one in analysed:
        pairs = [
            (interface.latency(aggregate(interface, tokens, conditions=False)), latency)
            for tokens, latency in one.checks
        ]
        errors = [abs(p - t) / t for p, t in pairs]
        result.samples += pairs
        result.classes.append(
            {
                **one.about,
                "bottlenecks": one.names,
                "dropped": one.dropped,
                "lower_bound": one.lower_bound,
                "samples": len(pairs),
                "mean_error": sum(errors) / len(errors),
                "worst_error": max(errors),
            }
        )
    result.thresholds = sorted({t for one in analysed for t in one.thresholds})
    result.text = _write(result, model_name, clock, _header(result, model_name, resolution))
    return result


def refusals(refused):
    """[(why, [classes])] of [(class, why)], each reason once."""
    reasons = {}
    for number, why in refused:
        reasons.setdefault(why, []).append(number)
    return list(reasons.items())


def _told_apart(analysed, found, result):
    """Those that x tells apart from every other class; the others are refused."""
    keys = _keys(found)
    for one in analysed:
        # What tells two classes apart must be something that x has.
        same = [
            number
            for number, key in keys.items()
            if key == keys[one.number] and number != one.number
        ]
        if same:
            result.refused.append(
                (
                    one.number,
                    f"the constant properties of its tokens are those of class {same[0]}, and x, "
                    "what the interface is given of an input, does not tell them apart; take a "
                    "narrower space",
                )
            )
    return [one for one in analysed if one.number not in {number for number, _ in result.refused}]


def _alike(analysed, result):
    """Those that read the same of x, since a module has one SINGLES, CONSTANTS and PARAMETERS; most
    classes do. The others are refused.
    """
    alike = {}
    for one in analysed:
        alike.setdefault(repr(_read(one.shape)), []).append(one)
    kept = max(alike.values(), key=len, default=[])
    for one in analysed:
        if one not in kept:
            result.refused.append(
                (
                    one.number,
                    f"{_other(_read(one.shape), _read(kept[0].shape))} in class "
                    f"{kept[0].number}, and an interface has one kind of x; make one for a space of "
                    "inputs like these alone",
                )
            )
    if kept:
        result.parameters = {**result.parameters, **kept[0].shape.parameters}
    return kept


def _read(shape):
    """What an interface of the shape reads of x: parameters, and per place whether it has one token, or
    what its tokens have in common.
    """
    places = {place: "one token" for place in shape.singles}
    for place in shape.many:
        rows = shape.unit(place)
        names = [n for n in rows[0] if not any(isinstance(row[n], tuple) for row in rows)]
        places[place] = f"several tokens, each with a constant {', '.join(names) or 'number'}"
    return shape.parameters, places


def _other(mine, theirs):
    """What of two _read() is different."""
    for name, value in mine[0].items():
        if theirs[0][name] != value:
            return f"parameter '{name}' is {value}, but {theirs[0][name]}"
    place = next(p for p in {**mine[1], **theirs[1]} if mine[1].get(p) != theirs[1].get(p))
    here, there = (each[1].get(place, "no token") for each in (mine, theirs))
    return f"place '{place}' has {here}, but {there}"


def _key(shape):
    """What an interface tells classes apart by."""
    if shape.units:
        return repr(unit_of(shape))
    return repr({place: digest(shape.given[place]) for place in shape.many})


def _keys(found):
    """{number: key} of all classes of which an input is known, those without a latency too."""
    keys = {}
    for number, each in enumerate(found.classes, 1):
        try:
            keys[number] = _key(shape_of(found, each))
        except Error:
            pass  # no input of it is known, or it has no shape; it is listed as refused
    return keys


class _Analysed:
    pass


def _analyse(shape, seed, resolution):
    rng = random.Random(seed)
    one = _Analysed()
    one.shape = shape
    if shape.units:
        shape.promote()
        one.analysis = _stream(shape, seed)

        def draw():
            return _stream_sample(shape, rng)

    else:
        one.analysis = TokenList(shape, seed)

        def draw():
            return one.analysis.sample(rng)

    shape.say("samples")
    learnt = [_simulated(shape, draw()) for _ in range(_LEARNT[shape.units is None])]
    one.checks = [
        _simulated(shape, draw()) for _ in range(_SAMPLES)
    ]  # not those that chose the bottlenecks
    one.chosen = one.analysis.choose(learnt, resolution)
    one.mean_error = one.analysis.mean_error(one.chosen, learnt)
    one.names = [b.name for b in one.chosen]
    one.dropped = one.analysis.dropped
    # A bottleneck of a stream is a chain too, but its ends stand for those of the average unit.
    paths = (
        [] if shape.units else [p for each in one.analysis.chains.found.classes for p in each.paths]
    )
    one.lower_bound = len(paths) == 1 and not resolution and _lpn.pi.only_waits(paths[0]._core)
    one.thresholds = one.analysis.thresholds(one.chosen, learnt)
    one.about = (
        {"unit": unit_of(shape)}
        if shape.units
        else {"shape": {place: len(rows) for place, rows in shape.tokens.items()}}
    )
    return one


def _stream(shape, seed):
    """The analysis of a stream; of several units at a time where the net itself takes turns."""
    whole = shape.units
    for together in (n for n in range(1, whole + 1) if whole % n == 0):
        shape.units = whole // together
        try:
            found = Stream(shape, seed)
            for units in (1, 2):
                _simulated(shape, _stream_sample(shape, random.Random(seed), units))
            return found
        except Error as error:
            if together == whole:
                raise error


def _simulated(shape, tokens):
    marking = Marking(shape.net)
    for place, rows in tokens.items():
        if rows[0]:
            marking.add_rows(place, [tuple(row.values()) for row in rows])
        else:
            marking.add(place, count=len(rows))
    run = simulate(shape.net, marking, params=shape.parameters, engine="interp")
    if run.ending == "interrupted":
        raise KeyboardInterrupt
    if run.stalled or not run.latency:
        raise mistake("E-pi", "an input of the class has no latency > 0 when it is simulated")
    return tokens, run.latency


def _stream_sample(shape, rng, units=None):
    """A stream like those a device meets: all alike, in stretches of more and less work, or at
    random.
    """
    units = units or rng.choice(_LENGTHS)
    stretch = rng.choice((1, max(1, units // 4), max(1, units // 2), units))
    tokens = {}
    for place, rows in shape.tokens.items():
        unit = rows if place in shape.singles else shape.unit(place) * units
        size = 1 if place in shape.singles else len(shape.unit(place))
        level, made = rng.random(), []
        for k, row in enumerate(unit):
            if k % (stretch * size) == 0:
                level = rng.choice((0, 0.05, 0.1, 0.2, 0.4, 0.7, 1))
            made.append({name: _drawn(shape.width(place, name, k), level, rng) for name in row})
        tokens[place] = made
    return tokens


def _drawn(width, level, rng):
    lo, hi = width
    return lo + math.floor((hi - lo) * level * rng.random() + 0.5)


def _write(result, model_name, clock, header):
    kind = type(result.analysed[0].analysis)
    if kind is Stream:
        return write_stream(
            header,
            model_name,
            result.parameters,
            clock,
            [(one.analysis, one.chosen) for one in result.analysed],
        )
    return write_list(
        header,
        model_name,
        result.parameters,
        clock,
        [
            (
                one.analysis,
                {place: digest(one.shape.tokens[place]) for place in one.shape.many},
                one.chosen,
            )
            for one in result.analysed
        ],
        result.conditions,
    )


def _header(result, model_name, resolution):
    lines = [
        f"Latency of {model_name}, in cycles: a performance interface extracted by lpn pi.",
        "",
    ]
    lines.append(
        f"Model {model_name}, net {result.net_digest}. x: sums of token properties, see SUMS and "
        "SINGLES."
    )
    if type(result.analysed[0].analysis) is Stream:
        lines += [
            "x['unit'] is the unit of tokens that repeats, x['phases'] {bottleneck: aggregates "
            "of its units},",
            "x['first'] the first phase's bottleneck, x['borders'] {(from, to): aggregates of "
            "the units that",
            "begin a phase}; count: units. The stream is cut so that the sum is largest; with "
            "sums of the",
            "whole input alone: one phase, of the bottleneck that gives the largest latency.",
        ]
    else:
        lines += [
            "x['shape'] stands for the constant properties of the tokens; sums go over the "
            "tokens of a phase of",
            "the list, whose numbers stand behind `of`.",
        ]
    for number, about in enumerate(result.classes, 1):
        what = about.get("unit") or about["shape"]
        lines += [
            "",
            f"Class {number}: {what}",
            f"  error on {about['samples']} validation samples: mean "
            f"{about['mean_error']:.2%}, max {about['worst_error']:.2%}",
            "  proved: "
            + (
                "never above the simulation (each line is a chain of delays of the net)"
                if about["lower_bound"]
                else "no bound"
            ),
        ]
        for name, why in about["dropped"][:4]:
            lines.append(f"  dropped: {name} ({why})")
        if len(about["dropped"]) > 4:
            lines.append(f"  dropped: {len(about['dropped']) - 4} more like these")
    if not result.complete:
        lines += [
            "",
            "The partition into classes was not completed: inputs outside of these classes may "
            "exist.",
        ]
    if type(result.analysed[0].analysis) is not Stream:
        for condition in result.untold:
            lines.append(f"Not looked at, since tokens do not tell: {condition}")
    for number, why in result.refused:
        lines.append(f"Class {number} has no interface: {why}")
    if resolution:
        lines.append(f"Resolution {resolution} cycles.")
    if result.thresholds:
        lines.append(
            "The interface changes at resolutions of "
            f"{', '.join(map(str, result.thresholds[:8]))} cycles."
        )
    return wrapped_lines(lines)
