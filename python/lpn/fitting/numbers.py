"""Unknown numbers: room, servers and tokens of pools, and weights that are tried out."""

from __future__ import annotations

import bisect

from .found import FREE, Number
from .graph import COMMIT, TIME
from .known import NONE_MET, Known

__all__ = ["find_pools", "try_numbers"]

MOST_TRIED = 64  # of a weight or another number of tokens


def find_pools(known: Known) -> None:
    """Room, servers and tokens of pools: the least with which nothing comes too late."""
    names = [n for n in known.pool_names if any(n in c.graph.pools for c in known.cases)]
    for name in known.pool_names:
        if name not in names:
            known.numbers[name] = Number(name, FREE, 0, (1, None))
    if not names:
        return
    known.lift_pools()
    instants = [_instants(known, case, events) for case, events in zip(known.cases, known.events())]
    for name in names:
        known.numbers[name] = _least(known, name, instants)


def _instants(known, case, events):
    """(start, the latest thing but for pools that the start waited for, commit) of a case, each a
    list by firing.
    """
    _, starts, commits = events
    done = [max((c or {}).values(), default=0) for c in commits]
    values = {key: known.values_of(case, key) for key in case.sites}
    observed = case.observed
    begun = []
    for n, f in enumerate(case.history.firings):
        name = case.net.transitions[f.transition]
        late = observed.commits.get(name, ())
        if f.number < len(observed.starts.get(name, ())):
            begun.append(observed.starts[name][f.number])
        elif f.number < len(late):
            begun.append(late[f.number] - values[name, "delay"][n])
        else:
            begun.append(max((starts[n] or {}).values(), default=0))
    ready = []
    for edges in case.graph.edges:
        at = 0
        for kind, ref, add, use in edges:
            rest = ref if kind == TIME else done[ref] if kind == COMMIT else begun[ref]
            if use is not None:
                rest += values[use[0]][ref]
            at = max(at, rest + add)
        ready.append(at)
    return begun, ready, done


def _least(known, name, instants):
    """The Number of a pool, of the instants of each case."""
    needs = []  # per start: from which number on it is not too late
    waits = []  # per start: how many have been taken, the returns, when, whether it was held up
    for case, (begun, ready, done) in zip(known.cases, instants):
        for pool in case.graph.pools.get(name, ()):
            returned = [done[n] for n in pool.returns]
            for n, m in pool.entries:
                # The returns that have come by the start: c is enough from m - their number on.
                needs.append(m - bisect.bisect_right(returned, begun[n]))
                waits.append((m, returned, begun[n], ready[n] < begun[n]))
    if not needs:
        return Number(name, FREE, 0, (1, None))
    some = known.unknowns[name].uses[0].part != "init"
    best = None
    for value in sorted({max(int(some), v) for v in needs}, reverse=True):
        passed = sum(v > value for v in needs)
        met = sum(
            held and 0 <= m - value - 1 < len(returned) and returned[m - value - 1] == at
            for m, returned, at, held in waits
        )
        merit = met - passed
        if best is None or merit > best[0] or (merit == best[0] and not passed):
            best = (merit, value, met, passed)
    _, value, met, passed = best
    if met or not some:
        return Number(name, value, met, (value, value if met else None), passed)
    return Number(name, max(FREE, 4 * value), 0, (value, None), passed)


def try_numbers(known: Known) -> None:
    """Numbers of tokens: the one with which the transitions fire as often as was recorded."""
    instants = sum(
        len(at)
        for case in known.cases
        for times in (case.observed.starts, case.observed.commits)
        for at in times.values()
    )
    for name in known.tried:
        part = known.unknowns[name].uses[0].part
        first = 1 if part.endswith((".take", ".need", ".peek")) else 0
        least, low, high = NONE_MET, first, first
        for value in range(first, MOST_TRIED + 1):
            known.numbers[name] = Number(name, value)
            wrong = known.miscounted()
            if wrong < least:
                least, low, high = wrong, value, value
            elif wrong == least:
                high = value
            if wrong == 0 and value > low:
                break
        known.numbers[name] = Number(name, low, instants if low == high else 0, (low, high), least)
    if known.tried:
        known.play()
