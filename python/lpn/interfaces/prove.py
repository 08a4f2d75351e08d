"""Interfaces that lpn pi wrote, as what lpn smt compares with the latency."""

import math

from ..authoring.arc import max as largest
from ..authoring.expr import Expr, Ratio
from ..errors import mistake
from ..spaces.token import any_later
from .input import (
    added,
    aggregate,
    execute_interface,
    given,
    need_covered,
    need_done_count,
    units_of,
)

__all__ = ["is_interface", "predicted"]


def is_interface(names):
    """Whether a module's names are those of a file that lpn pi wrote."""
    return "STEPS" in names or (
        "SUMS" in names and "SINGLES" in names and callable(names.get("classify"))
    )


def predicted(text, path):
    """The interface's cycles as a function of a space's tokens, for prove(interface=...).

    Its result is `denominator` times the cycles, which may be fractions. Of a stream: with the sums
    of the whole input, one phase. Raises Error "E-property" for a space that the interface does
    not cover, and for an interface by steps.
    """
    interface = execute_interface(text, path)
    if hasattr(interface, "STEPS"):
        raise mistake(
            "E-property",
            f"{path} is an interface by steps, a loop and no formula over an input; its rules are those of the "
            "net: ask for the latency itself",
        )

    def latency(x):
        tokens = _rows(x._space)
        try:
            _need_like(interface, x._space)
            of = _of_stream if getattr(interface, "STREAM", False) else _of_list
            cycles, latency.denominator = _whole(of(interface, tokens))
            return largest(*cycles) if len(cycles) > 1 else cycles[0]
        except NotImplementedError as error:
            raise mistake("E-property", f"{path} does not cover this space: {error}") from None

    return latency


def _need_like(interface, space):
    """Raises NotImplementedError for what tokens' properties do not tell of the inputs of a space."""
    for place, tokens in space._tokens.items():
        if any_later(tokens):
            raise NotImplementedError(
                f"'{place}' has tokens that come later than 0; leave at= out of the space"
            )
        if place in space._counts:
            raise NotImplementedError(
                f"'{place}' has more or fewer tokens, by the input; give the space a fixed number"
            )
    for name, value in {**space._fixed(), **space._params}.items():
        made_for = interface.PARAMETERS.get(name, value)
        if isinstance(value, Expr) or value != made_for:
            seen = space.text(value) if isinstance(value, Expr) else value
            raise NotImplementedError(
                f"parameter '{name}' is {seen}, but the interface is for {made_for}; make one for "
                "this value"
            )
    need_done_count(interface, space.net, space.done_count)


def _rows(space):
    """{place: [{property: value}]} of the places that a transition looks at."""
    core = space.net._core
    used = {core.places[arc.place].name for t in core.transitions for arc in t.inputs}
    return {
        place: [
            {name: _fixed(token[name]) for name in space.net[place]._type.fields}
            for token in tokens
        ]
        for place, tokens in space._tokens.items()
        if place in used and space.net[place]._type.fields
    }


def _fixed(value):
    """A value that only one number is possible for, as that number: it may tell shapes apart."""
    if isinstance(value, Expr):
        least, most = value._bounds()
        return int(least) if least == most else value
    return value


def _whole(cycles):
    """([cycles times a denominator], the denominator) of cycles that may be fractions."""
    denominator = math.lcm(*(each._den for each in cycles if isinstance(each, Ratio)))
    return [
        each._num * (denominator // each._den) if isinstance(each, Ratio) else each * denominator
        for each in cycles
    ], denominator


def _within(name, value, allowed):
    """Raises NotImplementedError, as the interface does, unless all inputs have the value in its
    range.
    """
    least, most = value._bounds() if isinstance(value, Expr) else (value, value)
    if least < allowed[0] or most > allowed[1]:
        raise NotImplementedError(
            f"{name} must be {allowed[0]}..{allowed[1]}, but may be {least}..{most}; give the "
            "space's variables such ranges, or make the interface for this space"
        )


def _of_list(interface, tokens):
    x = aggregate(interface, tokens)
    _check_singles(interface, x)
    names = interface.SUMS
    if hasattr(interface, "USED"):
        names = interface.USED[interface.SHAPES.index(x["shape"])]
    for name in names:
        _within(name, x[name], interface.SUMS[name])
    return list(interface.classify(x).values())


def _check_singles(interface, x):
    for place, names in interface.SINGLES.items():
        for name, allowed in names.items():
            _within(f"{place}.{name}", x[place][name], allowed)


def _of_stream(interface, tokens):
    x, streams = given(interface, tokens)
    _check_singles(interface, x)
    x["unit"], parts = units_of(interface, streams)
    number = interface.UNITS.index(x["unit"])
    need_covered(interface.COVERED[number], tokens)
    for name, allowed in interface.SUMS.items():
        for part in parts:
            _within(name, part[name], allowed[number])
    whole = added(parts)
    pace, ends, _ = interface.classify(x)
    work, around = pace(whole), ends(whole)
    return [work[name] + around[name] for name in work]
