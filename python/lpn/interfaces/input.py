"""From an input to what an interface reads: sums, counts and maxima of its tokens, per phase and
kind.
"""

from ..authoring.expr import Expr
from ..errors import mistake
from .closed_form import digest
from .conditions import need_conditions
from .form import evaluate
from .stream import cut

__all__ = [
    "added",
    "aggregate",
    "done_count_of",
    "execute_interface",
    "given",
    "load_interface",
    "looked_at",
    "need_covered",
    "need_done_count",
    "need_ending",
    "rows_of",
    "units_of",
]

_WANTED = ("MODEL", "PARAMETERS", "SINGLES", "SUMS", "CONSTANTS", "COVERED", "latency", "classify")
_BY_STEPS = (
    "MODEL",
    "PARAMETERS",
    "TOKENS",
    "COVERED",
    "CONDITIONS",
    "latency",
    "bottleneck",
    "need",
)


class Interface:
    """An interface file, executed: its constants and functions as attributes."""

    def __init__(self, path, names):
        self.path = path
        self.__dict__.update(names)


def load_interface(path):
    """The interface in a file. Raises Error "E-pi-file" when it is none."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except UnicodeDecodeError:
        raise mistake("E-pi-file", f"{path} is no interface: not a text file") from None
    return execute_interface(text, path)


def execute_interface(text, path):
    names = {"__name__": "interface"}
    try:
        exec(compile(text, path, "exec"), names)
    except Exception as error:
        raise mistake(
            "E-pi-file", f"{path} is no interface: {type(error).__name__}: {error}"
        ) from None
    wanted = _BY_STEPS if "STEPS" in names else _WANTED
    missing = [name for name in wanted if name not in names]
    if missing:
        raise mistake(
            "E-pi-file", f"{path} is no interface that lpn pi wrote: it has no {', '.join(missing)}"
        )
    return Interface(path, names)


def rows_of(net, marking):
    """{place: [{property: int}]} of the places that the workload fills and a transition looks
    at.
    """
    found = {}
    for place in filter(looked_at(net).__contains__, net.places):
        names = list(net[place]._type.fields)
        rows = marking.rows(place)
        if rows:
            found[place] = [dict(zip(names, row)) for row in rows]
    return found


def done_count_of(net, given, parameters):
    """After how many done tokens a run ends: as given, else as the net says; None: never."""
    formula = net._core.done_count
    if given is not None or formula is None:
        return given
    values = [parameters.get(name, default) for name, default in net.params.items()]
    return net._core.over_params(formula[0], values)


def need_ending(interface, net, marking):
    """Raises NotImplementedError for what rows_of does not tell: tokens that come later than 0, and
    runs that end by another number of done tokens than those of the interface.
    """
    for place in net.places:
        if any(marking.times(place)):
            raise NotImplementedError(
                f"{place} has tokens that come later than 0; this interface is for tokens that are "
                "there at first"
            )
    need_done_count(interface, net, marking.done_count)


def need_done_count(interface, net, given):
    """Raises NotImplementedError unless runs that end as `given` end as those of the interface."""
    covered = done_count_of(net, getattr(interface, "DONE_COUNT", None), interface.PARAMETERS)
    number = done_count_of(net, given, interface.PARAMETERS)
    if number != covered:
        told = [
            "when nothing is left to do" if n is None else f"after {n} done tokens"
            for n in (number, covered)
        ]
        raise NotImplementedError(
            f"its run ends {told[0]}, but this interface is for runs that end {told[1]}; give the "
            "marking and the space the same done_count"
        )


def looked_at(net):
    """The places that a transition looks at."""
    core = net._core
    return {core.places[arc.place].name for t in core.transitions for arc in t.inputs}


def aggregate(interface, tokens, conditions=True):
    """The `x` of an interface for tokens {place: [{property: int}]}.

    Raises NotImplementedError, as the interface does, for an input that it does not cover.
    `conditions`: whether what the space required beyond ranges is looked at.
    """
    if hasattr(interface, "STEPS"):
        interface.need(tokens)
        if conditions:
            need_conditions(interface.CONDITIONS, tokens)
        return tokens
    x, streams = given(interface, tokens)
    if getattr(interface, "STREAM", False):
        _stream(interface, streams, x)
        need_covered(interface.COVERED[interface.UNITS.index(x["unit"])], tokens)
    else:
        _list(interface, tokens, streams, x)
        if x["shape"] not in interface.SHAPES:
            raise NotImplementedError(
                f"tokens like {x['shape']} are in no class; covered: {interface.SHAPES}"
            )
        need_covered(interface.COVERED[interface.SHAPES.index(x["shape"])], tokens)
        numbers = (value for rows in tokens.values() for row in rows for value in row.values())
        if conditions and not any(isinstance(value, Expr) for value in numbers):
            need_conditions(interface.CONDITIONS, tokens)
    return x


def need_covered(covered, tokens):
    """Raises NotImplementedError unless every token is as those that a class was extracted from.

    `covered`: of a class, the stretches of tokens with the same range, which repeat; a value may
    be an expression of a space, whose bounds count.
    """
    for place, names in covered.items():
        rows = tokens.get(place, [])
        for name, stretches in names.items():
            ranges = [(lo, hi) for number, lo, hi in stretches for _ in range(number)]
            for k, row in enumerate(rows):
                lo, hi = ranges[k % len(ranges)]
                least, most = _bounds(row[name])
                if lo <= least and most <= hi:
                    continue
                seen = str(least) if least == most else f"{least}..{most}"
                allowed = str(lo) if lo == hi else f"{lo}..{hi}"
                raise NotImplementedError(
                    f"{place}[{k}].{name} is {seen}, but this interface is for {allowed}; make one "
                    "for a space that has it"
                )


def _bounds(value):
    return value._bounds() if isinstance(value, Expr) else (value, value)


def given(interface, tokens):
    """(`x` with what single tokens say, {place: rows} of the others). Raises NotImplementedError as
    aggregate.
    """
    x = {}
    for place, names in interface.SINGLES.items():
        rows = tokens.get(place, [])
        if len(rows) != 1:
            raise NotImplementedError(f"{place} has {len(rows)} tokens, not one")
        x[place] = {name: evaluate(name, rows[0]) for name in names}
    streams = {place: tokens.get(place, []) for place in interface.CONSTANTS}
    extra = [place for place in tokens if place not in interface.SINGLES and place not in streams]
    if extra:
        raise NotImplementedError(f"the interface knows no tokens in {', '.join(extra)}")
    return x, streams


def _sum_of(key, rows, like):
    """The sum of 'place.text' or 'place.text of name=value' over rows; `like`: their constants."""
    place, text, kind = split(key, like)
    if kind is not None:
        rows = [row for row in rows if kind_of(row, like[place]) == kind]
    return [evaluate(text, row) for row in rows]


def split(key, places):
    """'coded.symbols of completes=4' as (place, text, which tokens)."""
    name, _, kind = key.partition(" of ")
    place, _, text = name.rpartition(".")
    return place or next(iter(places)), text, kind or None


def kind_of(row, names):
    return ",".join(f"{name}={row[name]}" for name in names)


def units_of(interface, streams):
    """(the unit that the tokens repeat, [the aggregates of each]). Raises NotImplementedError when
    there is none.
    """
    for unit in interface.UNITS:
        sizes = {
            place: names.get("tokens") or len(next(iter(names.values())))
            for place, names in unit.items()
        }
        counts = {len(streams[place]) // size for place, size in sizes.items()}
        if (
            len(counts) == 1
            and max(counts) >= 1
            and all(_repeats(streams[p], unit[p], n) for p, n in sizes.items())
        ):
            break
    else:
        known = "; ".join(str(unit) for unit in interface.UNITS)
        raise NotImplementedError(
            f"the tokens do not repeat a unit that the interface covers: {known}"
        )
    (number,) = counts
    parts = []
    for u in range(number):
        part = {"count": 1}
        for key in interface.SUMS:
            place = split(key, streams)[0]
            n = sizes[place]
            part[key] = sum(_sum_of(key, streams[place][u * n : (u + 1) * n], interface.CONSTANTS))
        parts.append(part)
    return unit, parts


def _stream(interface, streams, x):
    x["unit"], parts = units_of(interface, streams)
    pace, ends, border = interface.classify(x)
    whole = added(parts)
    names = list(pace(whole))
    borders = [border(part) for part in parts]
    paces = [pace(part) for part in parts]
    _, states = cut(
        [[p[name] for name in names] for p in paces],
        [ends(whole)[name] for name in names],
        [[[here.get((a, b)) for b in names] for a in names] for here in borders],
    )
    x["first"] = names[states[0]]
    x["phases"] = {
        names[k]: added([p for p, s in zip(parts, states) if s == k]) for k in sorted(set(states))
    }
    x["borders"] = {}
    for a, b, part in zip(states, states[1:], parts[1:]):
        if a != b:
            key = names[a], names[b]
            x["borders"][key] = added([x["borders"][key], part]) if key in x["borders"] else part


def _repeats(rows, constants, size):
    return len(rows) % size == 0 and all(
        row[name] == values[k % size]
        for k, row in enumerate(rows)
        for name, values in constants.items()
        if name != "tokens"
    )


def added(parts):
    """The aggregates of several units as one phase."""
    return {key: sum(part[key] for part in parts) for key in parts[0]}


def _list(interface, tokens, streams, x):
    x["shape"] = {
        place: digest([{name: row[name] for name in interface.CONSTANTS[place]} for row in rows])
        for place, rows in streams.items()
    }
    for key in interface.SUMS:
        places, text, span = split(key, streams)
        # A sum over several places may be over places of one token each too.
        x[key] = sum(
            evaluate(text, rows[k])
            for rows in (tokens.get(place, []) for place in places.split("+"))
            for k in _indices(span)
            if k < len(rows)
        )


def _indices(span):
    """The numbers of '0..2,5'."""
    for part in span.split(","):
        first, _, last = part.partition("..")
        yield from range(int(first), int(last or first) + 1)
