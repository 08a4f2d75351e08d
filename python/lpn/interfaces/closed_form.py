"""An input class as an interface sees it: what its tokens share, and chains of delays for its
members.

A class whose workload repeats a unit of tokens (the blocks of an MCU) is a stream: its interface
holds for any number of units. Any other class is a list: its interface holds for that list of
tokens, whatever their varying properties are.
"""

import hashlib
import math
import os

import _lpn

from ..authoring.expr import Expr
from ..errors import Error, mistake
from ..spaces.partition import partition
from ..spaces.space import InputSpace
from .form import Form, Reader

__all__ = [
    "Chains",
    "Shape",
    "constants",
    "digest",
    "look_first",
    "mean_form",
    "named",
    "shape_of",
    "stretches_of",
    "transition_text",
    "unit_of",
]

_FEWEST_UNITS = 2  # of a stream


class Shape:
    """What all inputs of a class have in common.

    `tokens`: {place: [{property: int, or (lo, hi) where it varies}]}. `units`: how many times the
    tokens of every place but the single ones repeat; None for a list. `given`: the tokens as the
    space has them; `promoted`: {(place, property)} that it keeps constant although any value would
    do. `seconds`: for sorting its members into classes; `say(text)`: tells how far that is.
    """

    def __init__(self, net, tokens, parameters):
        self.net = net
        self.seconds, self.say = 60, lambda text: None
        self.tokens = tokens
        self.parameters = parameters
        self.promoted = set()
        self._units = {}  # of unit()
        self.given = {place: list(rows) for place, rows in tokens.items()}
        self.singles = [place for place, rows in tokens.items() if len(rows) == 1]
        self.many = [place for place, rows in tokens.items() if len(rows) > 1]
        self.units = _repeats([[constants(row) for row in tokens[place]] for place in self.many])

    def unit(self, place):
        """The tokens of one unit: what varies has the range that it has in any of them."""
        rows = self.tokens[place]
        if not self.units:
            return rows
        known = self._units.get(place)
        if known is None or known[0] is not rows or known[1] != self.units:
            size = len(rows) // self.units
            unit = [_joined(rows[k::size]) for k in range(size)]
            known = self._units[place] = rows, self.units, unit
        return known[2]

    def space(self, units=None):
        """An input space of so many units, each property within its own range."""
        space = InputSpace(self.net)
        for name, value in self.parameters.items():
            if self.net.params.get(name) != value:
                space.param(name, value)
        for place in self.tokens:
            rows = (
                self.tokens[place]
                if place in self.singles or not units
                else self.unit(place) * units
            )
            space.tokens(
                place, len(rows), **{name: [row[name] for row in rows] for name in rows[0]}
            )
        return space

    def promote(self):
        """Lets constants vary over their declared range where no firing depends on them."""
        ranges = {}
        for place, rows in self.tokens.items():
            kind = self.net[place]._type
            for name, declared in zip(kind.fields, kind.ranges):
                values = {row[name] for row in rows}
                if (
                    declared is not None
                    and len(values) == 1
                    and isinstance(next(iter(values)), int)
                ):
                    ranges[place, name] = declared
        for (place, name), declared in ranges.items():
            rows = self.tokens[place]
            self.tokens[place] = [{**row, name: tuple(declared)} for row in rows]
            try:
                found = sorted_out(
                    self, self.space(2 if self.units else None), max_paths=2, seconds=1
                )
                harmless = (
                    found.complete and len(found.classes) == 1 and len(found.classes[0].paths) == 1
                )
            except _lpn.Error:
                harmless = False
            if harmless and found.classes[0].outcome == "latency":
                self.promoted.add((place, name))
            else:
                self.tokens[place] = rows

    def widen(self):
        """What varies in some tokens of a place varies in all, so that their sums go together."""
        for place, rows in self.tokens.items():
            for name in rows[0]:
                values = [row[name] for row in rows]
                if any(isinstance(v, tuple) for v in values) and not all(
                    isinstance(v, tuple) for v in values
                ):
                    lo = min(v[0] if isinstance(v, tuple) else v for v in values)
                    hi = max(v[1] if isinstance(v, tuple) else v for v in values)
                    rows = [{**row, name: (lo, hi)} for row in rows]
            self.tokens[place] = rows

    def covered(self):
        """{place: {property: [(tokens, least, most), ...]}}: what each token of an input (of a unit)
        may have, in stretches of the like. Not of what no firing depends on.
        """
        found = {}
        for place, rows in self.given.items():
            size = len(rows) if place in self.singles else len(self.unit(place))
            found[place] = {
                name: stretches_of([self.unit_width(place, name, k) for k in range(size)])
                for name in rows[0]
                if (place, name) not in self.promoted
            }
        return found

    def unit_width(self, place, name, index):
        """(least, most) of a property of a unit's token, in any of the units."""
        rows = self.given[place]
        size = len(rows) if place in self.singles else len(self.unit(place))
        return _hull([self.width(place, name, k) for k in range(index, len(rows), size)])

    def width(self, place, name, index=0):
        """(least, most) of a property, as the space has it."""
        value = self.given[place][index % len(self.given[place])][name]
        return value if isinstance(value, tuple) else (value, value)


def sorted_out(shape, space, **limits):
    """partition() of a space of a shape's members, which says how far it is; Ctrl-C is an
    exception, as there is no interface without it.
    """
    limits = {"seconds": shape.seconds, **limits}
    found = partition(
        shape.net, space, progress=lambda paths, _: shape.say(f"{paths} paths"), **limits
    )
    if found.interrupted:
        raise KeyboardInterrupt
    return found


def _joined(rows):
    """One token for several with the same constant properties."""
    return {
        name: _hull([row[name] for row in rows]) if isinstance(value, tuple) else value
        for name, value in rows[0].items()
    }


def _hull(ranges):
    return min(lo for lo, _ in ranges), max(hi for _, hi in ranges)


def stretches_of(ranges):
    found = []
    for lo, hi in ranges:
        if found and found[-1][1:] == (lo, hi):
            found[-1] = (found[-1][0] + 1, lo, hi)
        else:
            found.append((1, lo, hi))
    return found


def constants(row):
    return tuple((name, value) for name, value in row.items() if not isinstance(value, tuple))


def digest(rows):
    """Stands for the constant properties of a list of tokens."""
    return hashlib.sha256(repr([constants(row) for row in rows]).encode()).hexdigest()[:12]


def _repeats(columns):
    """The largest number of units into which all columns fall; None when there is none."""
    if not columns:
        return None
    common = math.gcd(*map(len, columns))
    for units in range(common, _FEWEST_UNITS - 1, -1):
        if common % units == 0 and all(
            column[k] == column[k % (len(column) // units)]
            for column in columns
            for k in range(len(column))
        ):
            return units
    return None


def shape_of(found, each):
    """The Shape of a class of a partition. Raises Error "E-pi" when it has no known member."""
    space = found.space
    samples = [values for path in each.paths for values in path.samples][:8]
    if not samples:
        raise mistake(
            "E-pi", "no input of a class is known, so what its tokens share is not known either"
        )
    markings = [space.marking(values) for values in samples]
    tokens = {}
    for place, declared in space.tokens_of.items():
        counts = {marking.count(place) for marking in markings}
        if len(counts) > 1:
            raise mistake(
                "E-pi",
                f"place '{place}' gets more or fewer tokens within one class; give its tokens a "
                "fixed number",
            )
        (count,) = counts
        if not count:
            continue
        columns = [marking.rows(place) for marking in markings]
        names = list(space.net[place]._type.fields)
        rows = []
        for k in range(count):
            row = {}
            for position, name in enumerate(names):
                value = declared[k]._values[name]
                seen = {column[k][position] for column in columns}
                if not isinstance(value, Expr):
                    row[name] = int(value)
                elif len(seen) == 1 and space.text(value) != f"{place}[{k}].{name}":
                    row[name] = int(next(iter(seen)))  # what tells classes apart, such as a choice
                else:
                    lo, hi = value._bounds()
                    row[name] = (int(lo), int(hi)) if lo != hi else int(lo)
            rows.append(row)
        tokens[place] = rows
    parameters = [space.parameters(values) for values in samples]
    if any(each != parameters[0] for each in parameters):
        raise mistake(
            "E-pi", "a parameter of the net varies within a class; give it a value with -p"
        )
    return Shape(space.net, tokens, parameters[0])


def unit_of(shape):
    """What tells the streams of a class from those of others: {place: {property: its values per
    unit}}, or how many `tokens` a unit has when they have no property in common.
    """
    unit = {}
    for place in shape.many:
        rows = shape.unit(place)
        names = [name for name in rows[0] if not any(isinstance(row[name], tuple) for row in rows)]
        unit[place] = {name: tuple(row[name] for row in rows) for name in names} or {
            "tokens": len(rows)
        }
    return unit


class Chains:
    """Critical chains of the members of a shape."""

    def __init__(self, shape, units=None, max_paths=64):
        self.shape = shape
        self.units = units
        self.space = shape.space(units)
        self.found = sorted_out(shape, self.space, max_paths=max_paths)
        self.names = [v.name for v in self.space.variables]
        self.reader = Reader(self.found.core.variables, self.names)
        self._firings = {}

    def input(self, value_of):
        """{variable: value_of(place, index, property)}."""
        values = {}
        for name in self.names:
            place, rest = name.rsplit("[", 1)
            index, prop = rest.split("].")
            values[name] = value_of(place, int(index), prop)
        return values

    def chain(self, values):
        """(links, {instant: (transition, number)}) of an input; None when no path has it."""
        path = self.found.path_of(values)
        return None if path is None or path.outcome != "latency" else self.chain_on(path, values)

    def chain_on(self, path, values):
        """The same of an input of a path that is known."""
        links = _lpn.pi.chain(self.found.core, path._core, self.space._ordered(values))
        key = id(path)
        if key not in self._firings:
            commits = {}
            for firing in path._core.firings:
                commits.setdefault(firing.commit, (firing.transition, firing.number))
            self._firings[key] = path, commits
        self._commits = self._firings[key][1]
        return links, self._commits

    def total(self, links):
        """The form that links of the last chain add up to. Raises Error "E-pi" that names the
        transition whose delay is no sum of what tokens bring.
        """
        try:
            return self.reader.total(links)
        except Error as error:
            for _, to, delay, _ in links:
                try:
                    self.reader.read(delay)
                except Error:
                    if to in self._commits:
                        where = transition_text(self.shape.net, self._commits[to][0])
                        raise mistake("E-pi", f"{where}: {error}") from None
            raise

    def missing(self):
        """Why inputs may have no chain although they have a latency; None: all classes are
        known.
        """
        if self.found.complete:
            return None
        return (
            f"its inputs take too many ways through the net to be sorted: {self.found.why}; take a "
            "smaller space, or a larger --limit"
        )


def transition_text(net, number):
    """'transition send (dma.py:18)' of a transition's number, with the line of its delay."""
    transition, name = net._core.transitions[number], net.transitions[number]
    for file, line in (transition.delay[1:] if transition.delay else (0, 0), transition.source):
        if line > 0 and file < len(net._core.files):
            return f"transition {name} ({os.path.basename(net._core.files[file])}:{line})"
    return f"transition {name}"


def look_first(shape):
    """Looks at one input of a shape before all are sorted. Raises Error "E-pi" when its latency is
    no sum of what tokens bring: then there is no interface, however long one works.
    """
    chains = Chains(shape, max_paths=1)
    for each in chains.found.classes:
        for path in each.paths:
            if path.outcome == "latency" and path.samples:
                links, _ = chains.chain_on(path, path.samples[0])
                chains.total(links)


def named(chains, links, commits):
    """The transitions whose delays a part of a chain consists of, as 'a + b'."""
    transitions = chains.shape.net.transitions
    names = []
    for _, to, delay, _ in links:
        form = chains.reader.read(delay)
        if (form.constant or form.atoms) and to in commits:
            name = transitions[commits[to][0]]
            if name not in names:
                names.append(name)
    return " + ".join(sorted(names, key=transitions.index)) or "arrival"


def mean_form(shape, form):
    """A form per unit over (place, kind, text): coefficients spread evenly over the tokens of a
    kind.
    """
    totals = {}
    for (place, index, text), coefficient in form.atoms.items():
        if place in shape.singles:
            key = (place, None, text)
        else:
            rows = shape.unit(place)
            key = (place, constants(rows[index % len(rows)]), text)
        totals[key] = totals.get(key, 0) + coefficient
    return Form(form.constant, {key: value for key, value in totals.items() if value})
