"""A model's firings against the recorded transfers that they stand for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import _lpn

from ..authoring.marking import Marking
from ..authoring.net import Net, parameter_values
from ..errors import near, without_place
from .maps import Arrival, Firing, Map
from .recording import Recording

__all__ = ["Firings", "Matched", "compare"]

LOOK = 16  # transfers behind a different payload in which the same ones are looked for


class Firings:
    """An observer of a run: start and commit of the firings of the map's transitions, in the order
    of their commits; of those whose payload is compared, the initial tokens they take.
    """

    def __init__(self, map: Map, net: Net) -> None:
        if not map.firings:
            raise without_place(
                "E-wave-map",
                f"{map.file} does not say which transfers are firings; write [transitions.NAME] "
                'with channel = "..." (docs/cli.md)',
            )
        self._arcs: dict[str, dict[str, int]] = {}
        core = net.core
        numbers = {t.name: k for k, t in enumerate(core.transitions)}
        for firing in map.firings:
            if firing.transition not in numbers:
                raise without_place(
                    "E-wave-map",
                    f"{map.file}: transitions.{firing.name}: the net has no transition "
                    f"'{firing.transition}'{near(firing.transition, numbers)}",
                )
            for name in firing.parameters:
                if name not in net.params:
                    raise without_place(
                        "E-wave-map",
                        f"{map.file}: transitions.{firing.name}.offset: the net has no parameter "
                        f"'{name}'{near(name, net.params)}",
                    )
            for text in firing.payload.values():
                self._property(
                    core, core.transitions[numbers[firing.transition]], text, map, firing
                )
        self._names = {numbers[f.transition]: f.transition for f in map.firings}
        self._arc_numbers = {
            name: {arc.name: k for k, arc in enumerate(core.transitions[numbers[name]].inputs)}
            for name in self._names.values()
        }
        self._given = dict(zip(net.params, parameter_values(net, None)))
        self._with_payload = {f.transition for f in map.firings if f.payload}
        self.found: dict[str, list[tuple]] = {name: [] for name in self._names.values()}

    def _property(self, core, transition, text, map, firing):
        arc_name, _, name = text.partition(".")
        arc = next((a for a in transition.inputs if a.name == arc_name), None)
        if arc is None or not name:
            raise without_place(
                "E-wave-map",
                f'{map.file}: transitions.{firing.name}: payload is "arc.property" of '
                f"'{transition.name}', not '{text}'",
            )

    def __call__(self, commit: Any) -> None:
        name = self._names.get(commit.transition)
        if name is None:
            return
        tokens = commit.taken if name in self._with_payload else None
        self.found[name].append((commit.start, commit.time, tokens))

    def instants(self, firing: Firing) -> list[tuple[int, int, int]]:
        """(start, commit, instant that is compared) of its firings, in the recording's cycles."""
        offset = self.offset(firing)
        fired = self.found[firing.transition]
        return [
            (s + offset, c + offset, (s if firing.event == "start" else c) + offset)
            for s, c, _ in fired
        ]

    def offset(self, firing: Firing) -> int:
        """Cycles from the model's instant to the transfer."""
        return firing.offset + sum(self._given[name] for name in firing.parameters)

    def arc(self, transition: str, arc: str) -> int:
        return self._arc_numbers[transition][arc]


class Matched:
    """Of one entry of [transitions]: the recorded transfers that are firings, kept as they come."""

    def __init__(self, firing: Firing | Arrival, recording: Recording) -> None:
        self.firing: Any = firing
        names = [c.name for c in recording.channels]
        self.k = names.index(firing.channel)
        self._recording = recording
        self._where = [
            (recording.column(self.k, name), value) for name, value in firing.where.items()
        ]
        self._number = 0  # of transfers that `where` is true of
        self._stalled = 0  # cycles of back-pressure since the one before
        self._all = 0  # transfers of the channel
        self.edges: list[int] = []
        self.numbers: list[int] = []  # of those transfers among all of the channel
        self.stalled: list[int] = []
        self.payload: list[dict[str, Any]] = []

    @property
    def transfers(self) -> int:
        """Of the channel so far."""
        return self._all

    def take(self, rows: Any) -> None:
        """The channel's next transfers."""
        every, transfer = self.firing.every, self.firing.transfer
        for k, edge in enumerate(rows.edges):
            self._stalled += rows.stalled[k]
            self._all += 1
            at = k * rows.columns
            if any(
                rows.values[at + column] != value or rows.unknowns[at + column]
                for column, value in self._where
            ):
                continue
            if self._number >= transfer and (self._number - transfer) % every == 0:
                self.edges.append(edge)
                self.numbers.append(self._all - 1)
                self.stalled.append(self._stalled)
                self._stalled = 0
                if self.firing.payload:
                    self.payload.append(self._recording.payload(self.k, rows, k))
            self._number += 1


def compare(
    matched: Iterable[Matched],
    firings: Firings,
    recording: Recording,
    marking: Marking,
    whole: bool,
) -> dict[str, Any]:
    """Fields as in docs/cli.md. `whole`: the recording was read to its end."""
    rows = [_row(m, firings, recording, marking, whole) for m in matched]
    first = min(
        (row["first_divergence"] for row in rows if row["first_divergence"]),
        key=lambda d: d["cycle"],
        default=None,
    )
    return {
        "file": recording.path,
        "equal": first is None,
        "whole": whole,
        "first_divergence": first,
        "transitions": rows,
        "damage": recording.damage,
    }


def _row(matched, firings, recording, marking, whole):
    firing = matched.firing
    edges, origin, _, _ = recording.clock_totals(matched.k)
    origin = origin or 0
    end = edges - origin  # cycles of the recording
    fired = firings.found[firing.transition]
    if firing.event == "start":
        fired = sorted(fired, key=lambda f: f[0])
    offset = firings.offset(firing)
    expected = [f[0 if firing.event == "start" else 1] + offset for f in fired]
    recorded = [edge - origin for edge in matched.edges]
    count = min(len(expected), len(recorded))
    late = [recorded[k] - expected[k] for k in range(count)]
    payload = _payloads(matched, firings, fired[:count], marking)
    row = {
        "transition": firing.transition,
        "entry": firing.name,
        "channel": firing.channel,
        "event": firing.event,
        "firings": len(expected),
        "transfers": len(recorded),
        "compared": count,
        "exact": sum(not x for x in late),
        "mean_error": sum(map(abs, late)) / count if count else None,
        "worst_error": max(map(abs, late), default=None),
        "first_divergence": None,
    }
    at = next((k for k in range(count) if late[k] or k in payload), None)
    if at is None:
        return row | _missing(matched, expected, recorded, count, whole, end)
    return row | {
        "first_divergence": {
            "cycle": min(expected[at], recorded[at]),
            "channel": firing.channel,
            "transfer": matched.numbers[at],
            "transition": firing.transition,
            "firing": at,
        },
        "expected": expected[at],
        "recorded": recorded[at],
        "stalled": matched.stalled[at],
        "cause": _cause(firing, late, at, matched, payload, expected),
    }


def _missing(matched, expected, recorded, count, whole, end):
    """More of the one than of the other, where all that both have is equal."""
    firing = matched.firing
    if len(expected) > count:
        if not whole and expected[count] >= end:
            return {}  # the recording does not reach so far
        cycle = expected[count]
        cause = f"the model fires at cycle {cycle}, the recording has no transfer any more"
        if cycle >= end:
            cause += f" and ends at cycle {end}"
    elif len(recorded) > count and not firing.trailing:
        cycle = recorded[count]
        cause = f"the recording has a transfer at cycle {cycle}, the model fires no more"
    else:
        return {}
    return {
        "first_divergence": {
            "cycle": cycle,
            "channel": firing.channel,
            "transfer": matched.numbers[count] if len(recorded) > count else matched.transfers,
            "transition": firing.transition,
            "firing": count,
        },
        "expected": expected[count] if len(expected) > count else None,
        "recorded": recorded[count] if len(recorded) > count else None,
        "stalled": None,
        "cause": cause,
    }


def _payloads(matched, firings, fired, marking):
    """{number of a firing: (the model's values, the recorded ones)} where they differ."""
    firing = matched.firing
    if not firing.payload:
        return {}
    wanted = []
    for name, text in firing.payload.items():
        arc, _, property = text.partition(".")
        wanted.append((name, firings.arc(firing.transition, arc), property))
    places = list(marking.net.places.values())
    rows: dict[int, list] = {}
    initial = _lpn.sim.initial_tokens(
        marking.net.core, parameter_values(marking.net, None), marking._core
    )
    different = {}
    for k, (_, _, taken) in enumerate(fired):
        own, seen = [], []
        for name, arc, property in wanted:
            token = taken[arc][0] if taken[arc] else None
            value = _value(token, property, places, marking, rows, initial)
            if value is None:
                raise without_place(
                    "E-wave-map",
                    f"{matched._recording.map.file}: transitions.{firing.name}: payload "
                    f"'{firing.payload[name]}': what a token carries is known of those that INPUT "
                    "brings, and of their properties alone",
                )
            own.append(value)
            seen.append(matched.payload[k][name])
        if own != seen:
            different[k] = (tuple(own), tuple(seen))
    return different


def _value(token, property, places, marking, rows, initial):
    """A property of a token of the marking, which commits name as ("initial", place, index), the
    net's own initial tokens first; None of others.
    """
    if token is None or token[0] != "initial":
        return None
    _, number, index = token
    place = places[number]
    if number not in rows:
        rows[number] = list(marking.rows(place))
    fields = list(place._type.fields)
    own = index - (initial[number] - len(rows[number]))
    if property not in fields or own < 0:
        return None
    return rows[number][own][fields.index(property)]


def _cause(firing, late, at, matched, payload, expected):
    """The first difference in words."""
    if at in payload and not late[at]:
        own, seen = zip(*[payload[k] for k in sorted(payload)][:LOOK])
        if len(own) > 1 and sorted(map(str, own)) == sorted(map(str, seen)):
            return f"the order differs: the {len(own)} payloads from here on are the same ones"
        return f"the payload differs: {_shown(own[0])} in the model, {_shown(seen[0])} recorded"
    d, rest = late[at], late[at:]
    words = f"{abs(d)} {'cycle' if abs(d) == 1 else 'cycles'} {'late' if d > 0 else 'early'}"
    if all(x == d for x in rest):
        words += f" by a constant from here on ({len(rest)} firings)" if len(rest) > 1 else ""
    else:
        words += f", {min(rest)} to {max(rest)} from here on"
    stalled = matched.stalled[at]
    if d > 0 and stalled:
        words += (
            f"; {stalled} {'cycle' if stalled == 1 else 'cycles'} of back-pressure on "
            f"'{firing.channel}' since the {'firing before' if at else 'beginning'}"
        )
        # Between two firings the recording has the transfers of one and its stalls; where the model
        # takes less time than that, or exactly the stalls less, it does not have them.
        short = at > 0 and expected[at] - expected[at - 1] < firing.every + stalled
        if short or d == stalled:
            words += ", a stall that the model has not"
    return words


def _shown(values):
    return ", ".join(map(str, values))
