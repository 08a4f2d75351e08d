"""What a net does when the recorded instants are forced upon it, and what its formulas read then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import _lpn
import numpy as np

from ..authoring.net import Net
from ..authoring.unknown import Unknown
from ..errors import Error, without_place
from ..waves.identify import by_firing

__all__ = ["Firing", "History", "Named", "Observed", "identify", "may_overtake", "run"]

MOST_MEMORY, MOST_FIRINGS = 1 << 30, 1 << 20  # of one run
ROUNDS = 8  # until what comes out of one transition is known to the next
LENIENT = 1 << 20  # capacity, servers and tokens of a pool while they are unknown


@dataclass
class Named:
    """Recorded commits of a transition, in their order, with what their tokens carry: as `probes`,
    (expression, {})s at its starts, read it of each firing.
    """

    times: list[int]
    carried: list[tuple[int, ...]]
    probes: list[tuple[int, Mapping[str, int]]]


@dataclass
class Observed:
    """What one recording says: `starts` and `commits` of transitions by name, by number of firing;
    `pushes`: (place, values, time) of tokens that came in. `given`: transitions whose instants come
    from outside and are not to be explained.
    """

    name: str
    net: Net
    marking: Any
    values: dict[str, int]  # parameters, without unknowns
    starts: dict[str, list[int]] = field(default_factory=dict)
    commits: dict[str, list[int]] = field(default_factory=dict)
    pushes: list[tuple[str, tuple[int, ...], int]] = field(default_factory=list)
    given: set[str] = field(default_factory=set)
    named: dict[str, Named] = field(default_factory=dict)  # commits that say whose they are
    trailing: set[str] = field(default_factory=set)  # there may be more instants than firings
    # (event, transition) -> the first instant that the recording does not reach any more.
    ends: dict[tuple[str, str], int] = field(default_factory=dict)
    settled: dict[str, Unknown] = field(default_factory=dict)  # whose number is among the values


@dataclass
class Firing:
    """A firing of a guided run. `number`: among those of its transition."""

    transition: int
    number: int
    start: int
    commit: int
    taken: list
    produced: list[int]


class History:
    """A guided run. `firings` in the order of their starts; `of[t][k]`: index of firing k of
    transition t; `probed[t]`: array of rows, by number of firing.
    """

    def __init__(self, commits, probed):
        order = sorted(range(len(commits)), key=lambda k: (commits[k].start, k))
        self.firings = [
            Firing(c.transition, c.firing, c.start, c.time, c.taken, c.produced)
            for c in (commits[k] for k in order)
        ]
        position = {k: n for n, k in enumerate(order)}
        self.commit_order = [position[k] for k in range(len(commits))]
        self.of: list[dict[int, int]] = [{} for _ in probed]
        for n, f in enumerate(self.firings):
            self.of[f.transition][f.number] = n
        self.probed = probed


def run(
    observed: Observed,
    values: Mapping[str, int],
    probes: Mapping[str, list[tuple[int, Mapping[str, int]]]] | None = None,
    *,
    guided: bool = True,
) -> History:
    """Runs the net of `observed` with `values` for its unknowns. `probes`: transition -> (expression,
    values of unknowns while it is evaluated) at each of its starts. Not `guided`: the net alone, held
    to what is given from outside.
    """
    net, core = observed.net, observed.net.core
    base = {**observed.values, **values}

    def listed(more):
        all = {**net.params, **base, **more}
        return [all[name] for name in net.params]

    kept: list[list[int]] = []
    numbers: dict[tuple, int] = {}
    guide = []
    for name in net.transitions:
        asked = []
        for expr, more in (probes or {}).get(name, ()):
            key = tuple(sorted(more.items()))
            if key not in numbers:
                numbers[key] = len(kept)
                kept.append(listed(more))
            asked.append((expr, numbers[key]))
        held = guided or name in observed.given
        starts = observed.starts.get(name, []) if held else []
        commits = observed.commits.get(name, []) if held else []
        guide.append((starts, commits, asked))
    pushed = None  # what is being pushed
    try:
        machine = _lpn.Interp(
            core,
            listed({}),
            observed.marking._core,
            trace=True,
            guide=guide,
            guide_values=kept,
            budget=_lpn.Budget(memory=MOST_MEMORY, firings=MOST_FIRINGS),
        )
        for pushed in observed.pushes:
            place, token, time = pushed
            machine.push(net[place]._number, list(token), time)
        pushed = None
        result, commits = machine.run_recorded()
    except Error as error:
        raise without_place(
            error.code,
            f"{observed.name}: the net cannot follow the recording: {error}"
            + ("" if pushed is None else f"; it comes at cycle {pushed[2]}"),
        ) from None
    if result.ending == "budget":
        raise without_place(
            "E-fit-run",
            f"{observed.name}: the net does not come to an end when it is held to the recording and its "
            f"unknowns are small: more than {MOST_FIRINGS} firings at one instant, or more memory than "
            f"{MOST_MEMORY >> 20} MiB; write the delay of its loop, or give it an unknown with a least=1",
        )
    probed = []
    for number, name in enumerate(net.transitions):
        width = len((probes or {}).get(name, ()))
        rows = np.array(machine.probed(number), dtype=np.int64)
        probed.append(rows.reshape(-1, width) if width else rows.reshape(0, 0))
    return History(commits, probed)


def identify(observed: Observed, values: Mapping[str, int]) -> None:
    """Puts commits that say whose they are to their firings, by number. `values`: of the unknown
    numbers. Raises Error "E-wave-map" where they are those of no firing.
    """
    if not observed.named:
        return
    probes = {name: named.probes for name, named in observed.named.items()}
    for _ in range(ROUNDS):
        history = run(observed, values, probes)
        found = {}
        for transition, named in observed.named.items():
            rows = history.probed[observed.net.transitions.index(transition)]
            own = [tuple(int(v) for v in row) for row in rows]
            times = by_firing(own, named.carried, named.times)
            if times is None:
                raise without_place(
                    "E-wave-map",
                    f"{observed.name}: what the commits of '{transition}' carry is not what its tokens "
                    f"do: recorded {_some(named.carried)}, in the net {_some(own)}; look at the payload "
                    "of its entry, or at what brings the tokens",
                )
            found[transition] = times
        if all(observed.commits[name] == times for name, times in found.items()):
            return
        observed.commits.update(found)


def _some(rows):
    shown = ["/".join(map(str, row)) for row in rows[:4]]
    return ", ".join(shown) + (", ..." if len(rows) > 4 else "") if shown else "none"


def may_overtake(observed: Observed, history: History) -> list[str]:
    """Transitions whose recorded commits do not say whose they are, and whose firings are under way
    together in a guided run.
    """
    found = []
    for number, name in enumerate(observed.net.transitions):
        recorded = observed.commits.get(name)
        if not recorded or name in observed.named or name in observed.given:
            continue
        if observed.net.core.transitions[number].ordered:
            continue
        own = [history.firings[n] for _, n in sorted(history.of[number].items())]
        if any(b.start < a.commit for a, b in zip(own, own[1:])):
            found.append(name)
    return found
