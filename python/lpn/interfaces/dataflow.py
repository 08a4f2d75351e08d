"""Dataflow graphs, SDF and CSDF, and how fast they can go: lpn/pi/dataflow.h with names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple

import _lpn

__all__ = ["Actor", "BufferPoint", "Channel", "Front", "Graph", "Pace", "Phases"]


class Phases(NamedTuple):
    """Per phase of an actor: those that come once, then those that recur."""

    once: tuple[Any, ...]
    recurring: tuple[Any, ...]


@dataclass(frozen=True)
class Actor:
    """`times`: what a firing of each phase takes, integers or Fractions of the graph's unit."""

    name: str
    times: Phases


@dataclass(frozen=True)
class Channel:
    """`put` and `taken`: tokens per phase of `source` and `target`; `tokens`: those at the start."""

    name: str
    source: str
    target: str
    put: Phases
    taken: Phases
    tokens: int = 0


@dataclass(frozen=True)
class Pace:
    """`kind`: "periodic", "deadlocked" or "unbounded" (no loop takes time: nothing bounds the pace).

    `period`: time per iteration in the long run, where it is periodic. `loop`: what sets it, or
    waits for ever: (actor, the channel to the next or None where its own firings follow each other).
    """

    kind: str
    period: Fraction | None
    loop: tuple[tuple[str, str | None], ...]


@dataclass(frozen=True)
class BufferPoint:
    """The least `total` of `capacities`, in tokens, with this period. They are those of
    Front.channels; others of the same total may do as well.
    """

    period: Fraction
    total: int
    capacities: tuple[int, ...]


@dataclass(frozen=True)
class Front:
    """What buffers cost in throughput. A channel of capacity c has a channel back with c less its
    own tokens: space is claimed where a firing starts that puts, and given back where one ends that
    takes. Channels from an actor to itself are not bounded.

    `fastest`: without bounds; if it is deadlocked, no capacities help. `complete`: the last point is
    as fast as that; False where the search was stopped. `tried`: distributions looked at.
    """

    fastest: Pace
    channels: tuple[str, ...]
    points: tuple[BufferPoint, ...]
    complete: bool
    tried: int


@dataclass
class Graph:
    """A dataflow graph. Names of actors differ, and so do those of channels."""

    name: str
    actors: list[Actor] = field(default_factory=list)
    channels: list[Channel] = field(default_factory=list)

    @property
    def resolution(self) -> int:
        """Into how many parts its unit of time is cut so that every time is whole."""
        whole = 1
        for actor in self.actors:
            for time in (*actor.times.once, *actor.times.recurring):
                if not isinstance(time, int):
                    whole = lcm(whole, time.denominator)
        return whole

    def core(self) -> Any:
        """It as _lpn.pi.Dataflow, times in units of 1 / resolution.

        Raises Error "E-dataflow" for numbers of more than 63 bits.
        """
        whole = self.resolution
        number = {actor.name: k for k, actor in enumerate(self.actors)}

        def ticks(times):
            return times if whole == 1 else tuple(int(time * whole) for time in times)

        try:
            return _lpn.pi.Dataflow(
                [(a.name, (ticks(a.times.once), ticks(a.times.recurring))) for a in self.actors],
                [
                    (c.name, number[c.source], number[c.target], c.put, c.taken, c.tokens)
                    for c in self.channels
                ],
            )
        except RuntimeError:
            raise _lpn.Error(
                "E-dataflow",
                f"graph '{self.name}': a time, a rate or a number of tokens leaves 63 bits",
            ) from None

    def repetitions(self) -> dict[str, int]:
        """Per actor, the cycles of its phases in an iteration: the fewest firings of all that return
        every channel to its tokens. Raises Error "E-dataflow" for inconsistent rates.
        """
        return dict(zip((actor.name for actor in self.actors), self.core().repetitions()))

    def pace(self, stop: Callable[[], bool] | None = None) -> Pace | None:
        """How an iteration recurs in the long run; of several parts, the slowest decides.

        None when stop(), asked many times a second, said so. Raises KeyboardInterrupt, and Error
        "E-dataflow" for inconsistent rates, with the channel, and for graphs whose exact period
        needs too many firings or too large numbers.
        """
        found, interrupted = self.core().pace(stop)
        if interrupted:
            raise KeyboardInterrupt
        return None if found is None else self._named(found)

    def buffer_front(self, stop: Callable[[int, int], bool] | None = None) -> Front:
        """What buffers cost in throughput, by total. `stop(tried, points)` ends the search, and so
        does Ctrl-C. Raises Error "E-dataflow" as pace() does.
        """
        found, _ = self.core().buffer_front(stop)
        bounded = [k for k, c in enumerate(self.channels) if c.source != c.target]
        points = (
            BufferPoint(
                Fraction(*period) / self.resolution, total, tuple(capacities[k] for k in bounded)
            )
            for period, total, capacities in found["points"]
        )
        return Front(
            self._named(found["unbounded"]),
            tuple(self.channels[k].name for k in bounded),
            tuple(points),
            found["complete"],
            found["tried"],
        )

    def _named(self, found):
        period = None
        if found["kind"] == "periodic":
            period = Fraction(*found["period"]) / self.resolution
        loop = tuple(
            (self.actors[actor].name, None if channel is None else self.channels[channel].name)
            for actor, channel in found["loop"]
        )
        return Pace(found["kind"], period, loop)
