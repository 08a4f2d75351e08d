"""Which recorded transfer is which firing's, where firings may overtake one another: told by what
their tokens carry.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Sequence

from ..authoring.net import Net
from ..errors import listed, without_place
from .maps import Firing, Map

__all__ = ["Probes", "by_firing", "partners"]


class Probes:
    """The properties of tokens that the payloads of a map name, to be read at each start of their
    transitions in an interpreter's guided run. Raises Error "E-wave-map" for one that is not there.
    """

    def __init__(self, net: Net, map: Map) -> None:
        self._numbers = {name: k for k, name in enumerate(net.transitions)}
        self.asked: list[list[tuple[int, int]]] = [[] for _ in net.transitions]  # (expression, 0)
        self._columns: dict[tuple[str, str], int] = {}
        for firing in map.firings:
            for text in firing.payload.values():
                self._ask(net, map, firing, text)

    def _ask(self, net, map, firing, text):
        name = firing.transition
        number = self._numbers[name]
        core = net.core
        transition = core.transitions[number]
        arc_name, _, field = text.partition(".")
        at = next((k for k, arc in enumerate(transition.inputs) if arc.name == arc_name), None)
        fields = {} if at is None else list(net.places.values())[transition.inputs[at].place].fields
        weight = None if at is None else core.value(transition.inputs[at].weight[0])
        if at is None or field not in fields or transition.inputs[at].inhibit or weight == 0:
            raise without_place(
                "E-wave-map",
                f'{map.file}: transitions.{firing.name}: payload is "arc.property" of '
                f"'{name}', not '{text}'"
                + (f"; the tokens of '{arc_name}' have {listed(fields)}" if fields else ""),
            )
        if (name, text) not in self._columns:
            position = list(fields).index(field)
            token = core.token(at, position, core.constant(0))
            self._columns[name, text] = len(self.asked[number])
            self.asked[number].append((token, 0))

    def of(self, firing: Firing) -> list[int]:
        """The expressions of its payload."""
        number = self._numbers[firing.transition]
        columns = [self._columns[firing.transition, text] for text in firing.payload.values()]
        return [self.asked[number][column][0] for column in columns]

    @property
    def any(self) -> bool:
        return bool(self._columns)

    def rows(self, firing: Firing, probed: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
        """What the firings' tokens carry, by number of firing."""
        number = self._numbers[firing.transition]
        width, values = len(self.asked[number]), probed[number]
        columns = [self._columns[firing.transition, text] for text in firing.payload.values()]
        return [
            tuple(values[row + column] for column in columns)
            for row in range(0, len(values), width)
        ]


def partners(own: Sequence[Hashable], seen: Sequence[Hashable]) -> list[int | None]:
    """Of each in `seen` the number of its equal in `own`: the first one with the first, the second with
    the second; None where there is none left.
    """
    left: dict[Hashable, deque[int]] = defaultdict(deque)
    for k, each in enumerate(own):
        left[each].append(k)
    return [left[each].popleft() if left[each] else None for each in seen]


def by_firing(
    own: Sequence[Hashable], seen: Sequence[Hashable], times: Sequence[int]
) -> list[int] | None:
    """The times of `seen` by number of firing, up to the first firing without one; None where more
    than a few have no partner.
    """
    found: dict[int, int] = {}
    strangers = 0
    for number, time in zip(partners(own, seen), times):
        if number is None:
            strangers += 1
        else:
            found[number] = time
    if strangers * 20 > len(seen):
        return None
    prefix: list[int] = []
    while len(prefix) in found:
        prefix.append(found[len(prefix)])
    return prefix
