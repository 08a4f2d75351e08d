"""A model's firings against the recorded transfers that they stand for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..authoring.net import Net, parameter_values
from ..errors import near, without_place
from ..words import counted
from .identify import Probes, by_firing, partners
from .maps import Arrival, Firing, Map
from .recording import Recording

__all__ = ["Firings", "Matched", "compare", "guide_of"]


class Firings:
    """An observer of a run: start, commit and number of the firings of the map's transitions, in the
    order of their commits, and the properties that the map's payloads name.
    """

    def __init__(self, map: Map, net: Net) -> None:
        if not map.firings:
            raise without_place(
                "E-wave-map",
                f"{map.file} does not say which transfers are firings; write [transitions.NAME] "
                'with channel = "..." (docs/cli.md)',
            )
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
        self._names = {numbers[f.transition]: f.transition for f in map.firings}
        self._given = dict(zip(net.params, parameter_values(net, None)))
        self.probes = Probes(net, map)
        self._rows: list[list[int]] = []
        self.found: dict[str, list[tuple]] = {name: [] for name in self._names.values()}

    def __call__(self, commit: Any) -> None:
        name = self._names.get(commit.transition)
        if name is not None:
            self.found[name].append((commit.start, commit.time, commit.firing))

    def begin(self) -> None:
        """Before another run."""
        for found in self.found.values():
            found.clear()

    def end(self, probed: list[list[int]]) -> None:
        """What the probes of the run were."""
        self._rows = probed

    def instants(self, firing: Firing) -> list[tuple[int, int, int]]:
        """(start, commit, instant that is compared) of its firings, in the recording's cycles, in the
        order of the instants.
        """
        offset = self.offset(firing)
        at = 0 if firing.event == "start" else 1
        fired = sorted(self.found[firing.transition], key=lambda f: f[at])
        return [(f[0] + offset, f[1] + offset, f[at] + offset) for f in fired]

    def payloads(self, firing: Firing) -> list[tuple[int, ...]]:
        """What the firings' tokens carry, in the order of instants()."""
        at = 0 if firing.event == "start" else 1
        fired = sorted(self.found[firing.transition], key=lambda f: f[at])
        by_number = self.probes.rows(firing, self._rows)
        return [by_number[number] for _, _, number in fired]

    def by_number(self, firing: Firing) -> list[tuple[int, ...]]:
        """What the firings' tokens carry, in the order of their starts; none before end()."""
        return self.probes.rows(firing, self._rows) if self._rows else []

    def offset(self, firing: Firing) -> int:
        """Cycles from the model's instant to the transfer."""
        return firing.offset + sum(self._given[name] for name in firing.parameters)


class Matched:
    """Of one entry of [transitions]: the recorded transfers that are firings, kept as they come."""

    def __init__(self, firing: Firing | Arrival, recording: Recording) -> None:
        self.firing: Any = firing
        names = [c.name for c in recording.channels]
        self.k = names.index(firing.channel)
        self._recording = recording
        self._where = [
            (recording.column(self.k, name) + k, value >> 64 * k & (1 << 64) - 1)
            for name, value in firing.where.items()
            for k in range(recording.width(self.k, name))
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

    def times(self, offset: int) -> list[int]:
        """The cycles of the firings' transfers, less `offset`."""
        origin = (self._recording.clock_totals(self.k)[1] or 0) + offset
        return [edge - origin for edge in self.edges]

    def carried(self) -> list[tuple[Any, ...]]:
        """What they carry, in the order of the entry's payload."""
        return [tuple(row[name] for name in self.firing.payload) for row in self.payload]

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
    matched: Iterable[Matched], firings: Firings, recording: Recording, whole: bool
) -> dict[str, Any]:
    """Fields as in docs/cli.md. `whole`: the recording was read to its end."""
    rows = [_row(m, firings, recording, whole) for m in matched]
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


def guide_of(matched: Iterable[Matched], firings: Firings, net: Net) -> list[tuple]:
    """The instants of the entries that are given, and the probes, as engines.start() takes them. Behind
    a run, those of firings that overtake one another are put to the firings that they belong to. Empty
    where there are neither.
    """
    guide: list[tuple[list[int], list[int], list]] = [
        ([], [], list(asked)) for asked in firings.probes.asked
    ]
    for m in matched:
        if not m.firing.given:
            continue
        times = m.times(firings.offset(m.firing))
        own = firings.by_number(m.firing) if m.firing.payload else []
        if own:
            times = by_firing(own, m.carried(), times) or times
        number = net.transitions.index(m.firing.transition)
        guide[number][0 if m.firing.event == "start" else 1].extend(times)
    given = any(m.firing.given for m in matched)
    return guide if given or firings.probes.any else []  # type: ignore[return-value]


def _row(matched, firings, recording, whole):
    firing = matched.firing
    edges, origin, _, _ = recording.clock_totals(matched.k)
    end = edges - (origin or 0)  # cycles of the recording
    expected = [at for _, _, at in firings.instants(firing)]
    recorded = matched.times(0)
    count = min(len(expected), len(recorded))
    late = [recorded[k] - expected[k] for k in range(count)]
    payload, own = {}, None
    if firing.payload:
        carried, seen = firings.payloads(firing), matched.carried()
        payload = {k: (carried[k], seen[k]) for k in range(count) if carried[k] != seen[k]}
        if payload:
            own = partners(carried, seen[:count])
    # Firings that come in another order: each against its own.
    moved = own is not None and None not in own
    each = [recorded[k] - expected[i] for k, i in enumerate(own)] if moved else late
    row = {
        "transition": firing.transition,
        "entry": firing.name,
        "channel": firing.channel,
        "event": firing.event,
        "given": firing.given,
        "firings": len(expected),
        "transfers": len(recorded),
        "compared": count,
        "exact": sum(not x for x in each),
        "mean_error": sum(map(abs, each)) / count if count else None,
        "worst_error": max(map(abs, each), default=None),
        "first_divergence": None,
    }
    at = next((k for k in range(count) if late[k] or k in payload), None)
    if at is None:
        return row | _missing(matched, expected, recorded, count, whole, end)
    if moved and at in payload:
        cause = _order(payload[at], own, at, each)
    else:
        cause = _cause(firing, late, at, matched, payload, expected)
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
        "cause": cause,
    }


def _order(pair, own, at, each):
    """A transfer of another firing than the one whose turn it is."""
    carried, seen = pair
    sooner = own[at] - at
    place = f"{counted(abs(sooner), 'place')} {'sooner' if sooner > 0 else 'later'}"
    words = (
        f"the order differs: {_shown(seen)} recorded, {_shown(carried)} in the model; the firing with "
        f"{_shown(seen)} comes {place} than in the model"
    )
    rest = each[at:]
    if any(rest):
        words += (
            f"; {min(rest)} to {max(rest)} cycles late from here on, each against its own firing"
        )
    return words


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


def _cause(firing, late, at, matched, payload, expected):
    """The first difference in words."""
    if at in payload and not late[at]:
        own, seen = payload[at]
        return f"the payload differs: {_shown(own)} in the model, {_shown(seen)} recorded"
    d, rest = late[at], late[at:]
    if firing.given:
        return (
            f"{abs(d)} {'cycle' if abs(d) == 1 else 'cycles'} before the model can: it is given, and the "
            "model's firing is held to it"
        )
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
