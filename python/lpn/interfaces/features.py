"""What an interface that is fitted to runs may read of an input: sums over its tokens."""

import re
from dataclasses import dataclass

import numpy

__all__ = ["Feature", "levels"]

_KINDS = 8  # values of a property that may tell kinds of tokens apart
_POSITIONS = 8  # tokens of a place that may count one by one
_EXACT = 2**53  # whole numbers up to here are floats without a loss
_DIVISION = re.compile(r"(ceil_div\((?:\w+\.)*(\w+), (\d+)\)|(?:\w+\.)*(\w+) // (\d+))")


@dataclass(frozen=True)
class Feature:
    """The sum of an atom over tokens: `parts` are (places, indices), places joined by +, `text` the
    atom over a token's properties; `name` is for people.
    """

    name: str
    text: str
    parts: tuple
    values: numpy.ndarray  # per input
    low: int  # of the atom, per token
    high: int


class _Column:
    """An atom of a group of tokens, inputs by tokens; `low`, `high`: what the space allows."""

    def __init__(self, table, low, high):
        self.table = table
        self.kinds = numpy.unique(table)
        self.low, self.high = low, high

    @property
    def varies(self):
        return len(self.kinds) > 1


def levels(inputs, net_text, width):
    """Lists of Features, each longer than the one before; columns that repeat others are left out.

    inputs: [{place: [{property: int}]}], as many tokens in each; width(place, property, index): the
    range that the space has. First come sums over all tokens, of
    all places with the same properties together too; then sums by kinds of tokens, which a property
    of few values tells apart; then places alone; then first and last tokens, and each of a few.
    net_text: of the net, whose divisions by constants are atoms too.
    """
    divisions = {}
    for whole, up, up_by, down, down_by in set(_DIVISION.findall(net_text)):
        name, by = (up, up_by) if up else (down, down_by)
        text = f"ceil_div({name}, {by})" if up else f"{name} // {by}"
        if int(by) > 1:
            divisions.setdefault(name, {})[text] = (int(by), bool(up))
    places = {place: rows for place, rows in inputs[0].items() if rows and rows[0]}
    alike = {}
    for place, rows in places.items():
        alike.setdefault(tuple(rows[0]), []).append(place)
    groups = list(alike.values())
    alone = [[place] for group in groups if len(group) > 1 for place in group]
    found, steps = {}, []

    def add(features):
        for feature in features:
            key = feature.values.tobytes()
            if numpy.ptp(feature.values) and key not in found:
                found[key] = feature
        if not steps or len(found) > len(steps[-1]):
            steps.append(list(found.values()))

    def spans(group):
        by_size = {}
        for place in group:
            by_size.setdefault(len(places[place]), []).append(place)
        return tuple(("+".join(of), tuple(range(size))) for size, of in by_size.items())

    tables = {}

    def of(group):
        if tuple(group) not in tables:
            tables[tuple(group)] = _columns(inputs, group, divisions, width)
        return tables[tuple(group)]

    add(f for group in groups for f in _totals(of(group), group, spans(group)))
    add(f for group in groups for f in _by_kind(of(group), group, spans(group)))
    add(f for group in alone for f in _totals(of(group), group, spans(group)))
    add(f for group in alone for f in _by_kind(of(group), group, spans(group)))
    add(f for group in places for f in _positions(of([group]), group, len(places[group])))
    return [step for step in steps if step]


def _columns(inputs, group, divisions, width):
    """{atom: _Column} of the tokens of some places, side by side; none whose sum may be inexact."""
    tokens = [(place, k) for place in group for k in range(len(inputs[0][place]))]
    found = {}
    for name in inputs[0][group[0]][0]:
        ranges = [width(place, name, k) for place, k in tokens]
        low, high = min(lo for lo, _ in ranges), max(hi for _, hi in ranges)
        if len(tokens) * max(-low, high) > _EXACT:
            continue
        table = numpy.array(
            [[row[name] for place in group for row in tokens[place]] for tokens in inputs],
            dtype=numpy.int64,
        )
        found[name] = _Column(table, low, high)
        if found[name].varies:
            for text, (by, up) in divisions.get(name, {}).items():
                ends = [-(-end // by) if up else end // by for end in (low, high)]
                found[text] = _Column(-(-table // by) if up else table // by, *ends)
    return found


def _title(group, what):
    """A name for people: the places, unless all have it."""
    return f"{', '.join(group)}: {what}" if len(group) < 3 else f"{group[0]} to {group[-1]}: {what}"


def _totals(columns, group, parts):
    for text, column in columns.items():
        if column.varies:
            total = column.table.sum(axis=1).astype(float)
            yield Feature(_title(group, text), text, parts, total, column.low, column.high)


def _by_kind(columns, group, parts):
    if sum(len(indices) * (places.count("+") + 1) for places, indices in parts) < 2:
        return
    for kind, told in columns.items():
        if not kind.isidentifier() or not 2 <= len(told.kinds) <= _KINDS:
            continue
        for value in map(int, told.kinds):
            mine = told.table == value
            text = f"select({kind} == {value}, 1, 0)"
            name = _title(group, f"tokens with {kind} {value}")
            yield Feature(name, text, parts, mine.sum(axis=1).astype(float), 0, 1)
            for atom, column in columns.items():
                if atom != kind and column.varies:
                    text = f"select({kind} == {value}, {atom}, 0)"
                    name = _title(group, f"{atom} where {kind} is {value}")
                    values = numpy.where(mine, column.table, 0).sum(axis=1).astype(float)
                    low, high = min(column.low, 0), max(column.high, 0)
                    yield Feature(name, text, parts, values, low, high)


def _positions(columns, place, size):
    if size < 2:
        return
    chosen = range(size) if size <= _POSITIONS else (0, size - 1)
    for text, column in columns.items():
        for index in chosen:
            values = column.table[:, index].astype(float)
            name, part = f"{place}[{index}]: {text}", ((place, (index,)),)
            yield Feature(name, text, part, values, column.low, column.high)
