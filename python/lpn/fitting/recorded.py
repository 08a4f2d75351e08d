"""What a recording says about a net's firings, by a map."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..authoring.marking import Marking
from ..authoring.net import parameter_values
from ..authoring.token import BORN, birth_of
from ..authoring.unknown import forget, settle
from ..errors import listed, near, without_place
from ..runs import load, prepare
from ..waves.identify import Probes
from ..waves.maps import Map
from ..waves.model import Matched
from ..waves.recording import Recording
from .history import Named, Observed

__all__ = ["observe"]


def observe(
    skeleton: Any,
    input: str | None,
    path: str,
    map: Map,
    parameters: Mapping[str, int],
    read: Callable[[list[Recording], Callable[[], bool]], bool],
    forgotten: Sequence[str] = (),
    least: int = 0,
) -> tuple[Observed, Recording, bool]:
    """(what the recording `path` says, the Recording, whether Ctrl-C ended it). `read` reads by a step
    until it is False. `forgotten`: what of the net is unknown besides, with what `least`
    (unknown.forget). Raises Error "E-wave-map" where the map does not fit the skeleton.
    """
    ready = prepare(load(skeleton), input, {**map.parameters, **parameters})
    net = ready.net
    if forgotten:
        forget(net, forgotten, least)
    settled = settle(net)
    _check(map, net)
    probes = Probes(net, map)
    marking = ready.read() if input is not None else Marking(net)
    values = dict(zip(net.params, parameter_values(net, None)))
    with Recording(path, map, keep=True) as recording:
        channels = [c.name for c in recording.channels]
        shown: list[Any] = [*map.firings, *map.arrivals]
        for each in shown:
            if each.channel not in channels:
                raise without_place(
                    "E-wave-map", f"{map.file}: '{each.channel}': write the channel's number"
                )
        firings = [Matched(f, recording) for f in map.firings]
        arrivals = [Matched(a, recording) for a in map.arrivals]

        def step():
            more = recording.step()
            for k in range(len(channels)):
                rows = recording.take(k)
                for m in (*firings, *arrivals):
                    if m.k == k:
                        m.take(rows)
            return more

        interrupted = read([recording], step)
        known = {n: v for n, v in values.items() if n not in net.unknowns}
        observed = Observed(path, net, marking, known, settled=settled)
        for m in firings:
            edges, origin, _, _ = recording.clock_totals(m.k)
            until = recording.channels[m.k].until
            if until is not None:
                last = recording.totals(channels.index(until))["last"]
                edges = min(edges, last + 1)
            if m.firing.trailing:
                observed.trailing.add(m.firing.transition)
            if m.firing.given:
                observed.given.add(m.firing.transition)
            offset = (origin or 0) + m.firing.offset + sum(values[p] for p in m.firing.parameters)
            times = observed.starts if m.firing.event == "start" else observed.commits
            if m.firing.transition in times:
                raise without_place(
                    "E-wave-map",
                    f"{map.file}: transitions.{m.firing.name}: the {m.firing.event}s of "
                    f"'{m.firing.transition}' are given already",
                )
            times[m.firing.transition] = m.times(offset - (origin or 0))
            observed.ends[m.firing.event, m.firing.transition] = edges - offset
            if m.firing.payload and m.firing.event == "commit":
                own = probes.of(m.firing)
                observed.named[m.firing.transition] = Named(
                    times[m.firing.transition], m.carried(), [(expr, {}) for expr in own]
                )
        for m, arrival in zip(arrivals, map.arrivals):
            if m.edges and marking.count(arrival.place):
                raise without_place(
                    "E-wave-map",
                    f"{map.file}: places.{arrival.place}: the input brings tokens into "
                    f"'{arrival.place}' as well, and each would come twice; leave out --input, or the "
                    "place",
                )
            _, origin, _, _ = recording.clock_totals(m.k)
            offset = (origin or 0) + arrival.offset + sum(values[p] for p in arrival.parameters)
            observed.pushes += _tokens(m, arrival, net, offset, map)
    for kind, times in (("start", observed.starts), ("commit", observed.commits)):
        for name, at in times.items():
            if at and at[0] < 0:
                raise without_place(
                    "E-wave-map",
                    f"{map.file}: transitions: the first {kind} of '{name}' would be at cycle {at[0]}; "
                    "its offset is too large, or the origin too late",
                )
    return observed, recording, interrupted


def _check(map, net):
    if not map.firings:
        raise without_place(
            "E-wave-map",
            f"{map.file} does not say which transfers are firings; write [transitions.NAME] "
            'with channel = "..." (docs/cli.md)',
        )
    for f in map.firings:
        if f.transition not in net.transitions:
            raise without_place(
                "E-wave-map",
                f"{map.file}: transitions.{f.name}: the net has no transition "
                f"'{f.transition}'{near(f.transition, net.transitions)}",
            )
    for each in (*map.firings, *map.arrivals):
        where = f"transitions.{each.name}" if each in map.firings else f"places.{each.place}"
        for name in each.parameters:
            if name not in net.params:
                raise without_place(
                    "E-wave-map",
                    f"{map.file}: {where}.offset: the net has no parameter "
                    f"'{name}'{near(name, net.params)}",
                )
    for a in map.arrivals:
        if a.place not in net.places:
            raise without_place(
                "E-wave-map",
                f"{map.file}: places.{a.place}: the net has no place "
                f"'{a.place}'{near(a.place, net.places)}",
            )
        fields = net[a.place].fields
        type_ = net[a.place]._type
        left_out = {BORN} if birth_of(type_) else set()
        if set(fields) - left_out != set(a.properties) - left_out:
            raise without_place(
                "E-wave-map",
                f"{map.file}: places.{a.place}.properties are {listed(a.properties)}; the place's "
                f"tokens have {listed(fields)}",
            )
        for name in a.properties:
            declared = type_.ranges[type_.fields[name]]
            if isinstance(a.properties[name], str) and declared and declared[0] < 0:
                raise without_place(
                    "E-wave-map",
                    f"{map.file}: places.{a.place}.properties.{name}: fields of a recording are read "
                    f"without sign, and the property is declared as Int[{declared[0]}, "
                    f"{declared[1]}]; declare it from 0 on, and take its sign in the formulas",
                )


def _tokens(matched, arrival, net, offset, map):
    found = []
    fields = net[arrival.place].fields
    for k, edge in enumerate(matched.edges):
        values = []
        for name in fields:
            value = arrival.properties.get(name, edge - offset)  # only a birth may be left out
            if isinstance(value, str):
                value = matched.payload[k][value]
                if isinstance(value, str):
                    raise without_place(
                        "E-wave-map",
                        f"{map.file}: places.{arrival.place}.properties.{name} has x or z in transfer "
                        f"{matched.numbers[k]} of '{arrival.channel}': {value}",
                    )
            values.append(value)
        if edge < offset:
            raise without_place(
                "E-wave-map",
                f"{map.file}: places.{arrival.place}: transfer {matched.numbers[k]} of "
                f"'{arrival.channel}' would be at cycle {edge - offset}; its offset is too large, or the "
                "origin too late",
            )
        found.append((arrival.place, tuple(values), edge - offset))
    return found
