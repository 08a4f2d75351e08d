"""Interfaces that lpn pi wrote, as what lpn smt compares with the latency."""

import math

from ._errors import mistake
from ._expr import Ratio
from ._arc import max as largest
from ._pi_input import repeats, added, aggregate, execute_interface, split, sum_of

__all__ = ["is_interface", "predicted"]


def is_interface(names):
    """Whether a module's names are those of a file that lpn pi wrote."""
    return "SUMS" in names and "SINGLES" in names and callable(names.get("classify"))


def predicted(text, path):
    """The interface's cycles as a function of a space's tokens, for prove(interface=...).

    Of a stream: with the sums of the whole input, one phase; its result is `denominator` times the
    cycles, which may be fractions. Raises Error "E-property" for a space that the interface does not
    cover.
    """
    interface = execute_interface(text, path)

    def latency(x):
        tokens = _rows(x._space)
        try:
            if getattr(interface, "STREAM", False):
                cycles, latency.denominator = _of_stream(interface, tokens)
                return cycles
            return largest(*interface.classify(aggregate(interface, tokens)).values())
        except NotImplementedError as error:
            raise mistake("E-property", f"{path} does not cover this space: {error}") from None

    return latency


def _rows(space):
    """{place: [{property: value}]} of the places that a transition looks at."""
    core = space.net._core
    used = {core.places[arc.place].name for t in core.transitions for arc in t.inputs}
    return {place: [{name: token[name] for name in space.net[place]._type.fields} for token in tokens]
            for place, tokens in space._tokens.items() if place in used and space.net[place]._type.fields}


def _of_stream(interface, tokens):
    """(the cycles times a denominator, the denominator)."""
    x = {}
    for place in interface.SINGLES:
        (row,) = tokens[place]
        x[place] = row
    streams = {place: tokens.get(place, []) for place in interface.CONSTANTS}
    for unit in interface.UNITS:
        sizes = {place: names.get("tokens") or len(next(iter(names.values()))) for place, names in unit.items()}
        counts = {len(streams[place]) // size for place, size in sizes.items()}
        if len(counts) == 1 and max(counts) >= 1 and all(repeats(streams[p], unit[p], n) for p, n in sizes.items()):
            break
    else:
        raise NotImplementedError("its tokens repeat no unit that the interface knows")
    x["unit"] = unit
    (number,) = counts
    parts = []
    for u in range(number):
        part = {"count": 1}
        for key in interface.SUMS:
            place = split(key, streams)[0]
            rows = streams[place][u * sizes[place]:(u + 1) * sizes[place]]
            part[key] = sum(sum_of(key, rows, interface.CONSTANTS))
        parts.append(part)
    whole = added(parts)
    pace, ends, _ = interface.classify(x)
    work, around = pace(whole), ends(whole)
    totals = [work[name] + around[name] for name in work]
    denominator = math.lcm(*(total._den for total in totals if isinstance(total, Ratio)))
    whole = [total._num * (denominator // total._den) if isinstance(total, Ratio) else total * denominator
             for total in totals]
    return largest(*whole), denominator
