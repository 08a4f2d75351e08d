"""What each recorded instant waited for: the sums whose latest one it has to be.

A start is the latest of: the commits that its tokens came with, room and servers that came back, its
interval's end, and, where a guard decides who takes a token, the starts that took those before it. A
commit is its start plus the delay. Followed back to instants that were recorded, each recorded start
or commit is the latest of a few sums of a recorded instant and the delays of firings in between.
Nothing here knows what the delays are.
"""

from __future__ import annotations

import bisect
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import _lpn

from ..authoring.net import Net
from .history import History, Observed

__all__ = ["Event", "Graph", "Pool"]

SUMS = 12  # kept per instant
LONGEST = 3  # delays that are not known yet in one sum

TIME, COMMIT, START, TAKEN = 0, 1, 2, 3


@dataclass
class Pool:
    """What starts take one by one and get back: room of a place, servers, tokens of a place that
    begins with an unknown number. `entries`: (firing, how many have been taken with it); `returns`:
    firings with whose commits one comes back, in order. With c to begin with, a start that is the
    m-th to take waits for return m - c.
    """

    name: str
    entries: list[tuple[int, int]]
    returns: list[int]


@dataclass
class Event:
    """A recorded instant of firing `n`. `sums`: unknown (site, firing) pairs -> the latest known rest
    of that sum. `unsure`: it may have waited for something that is not looked at. `loose`: for the
    edge of a clock, so that it bounds the sums but need not be one.
    """

    n: int
    is_start: bool
    time: int
    sums: dict[tuple, int]
    unsure: bool
    loose: bool


class Graph:
    """`column(transition, what, number)`: what was probed there at a firing of that number (case.py)."""

    def __init__(self, observed: Observed, history: History, sites: dict, column: Any) -> None:
        self.observed, self.history = observed, history
        self.net: Net = observed.net
        self._sites = sites
        self._column = column
        self._names = self.net.transitions
        self.pools: dict[str, list[Pool]] = defaultdict(list)
        self.edges: list[list[tuple]] = []
        self._unsure: list[bool] = []
        self._unlimited: list[int] | None = None  # how many edges each firing has without pools
        self._limited: set[str] = set()
        self._order: list[int] | None = None
        self._ordered = [t.ordered for t in observed.net.core.transitions]
        self._build()

    def _uses(self, kind, part):
        """owner -> unknown, of those that stand as `part` of places or transitions."""
        return {
            use.owner: u.name
            for u in self.net.unknowns.values()
            for use in u.uses
            if use.kind == kind and use.part == part
        }

    def _build(self):
        history, net = self.history, self.net
        core = net.core
        transitions, places = core.transitions, core.places
        unknown_servers = self._uses("transition", "servers")
        unknown_capacity = self._uses("place", "capacity")
        unknown_init = self._uses("place", "init")
        values = [
            {**self.observed.values, **{u: p.value for u, p in self._params()}}[n]
            for n in net.params
        ]
        initial = _lpn.sim.initial_tokens(core, values, self.observed.marking._core)
        pushes = defaultdict(list)
        for place, _, time in self.observed.pushes:
            pushes[net[place]._number].append(time)
        for times in pushes.values():
            times.sort()

        def outside(place, index):
            late = index - initial[place]
            return pushes[place][late] if 0 <= late < len(pushes[place]) else 0

        firings = history.firings
        removals = defaultdict(list)  # place -> (commit, firing) of those that take there
        arrivals = defaultdict(list)  # place -> firing per token produced
        releases = defaultdict(list)
        commits_of = defaultdict(list)
        for n in history.commit_order:
            f = firings[n]
            t = transitions[f.transition]
            commits_of[f.transition].append(n)
            put = defaultdict(int)
            for k, arc in enumerate(t.outputs):
                if f.produced[k]:
                    put[arc.place] += f.produced[k]
                    arrivals[arc.place].extend([n] * f.produced[k])
            for k, arc in enumerate(t.inputs):
                if f.taken[k]:
                    removals[arc.place].append((f.commit, n))
                    releases[arc.place].extend([n] * max(0, len(f.taken[k]) - put[arc.place]))
        limited = {
            p: (unknown_capacity.get(place.name), place.capacity)
            for p, place in enumerate(places)
            if place.capacity is not None
        }
        pools = {}  # (kind, number) -> (unknown or None, Pool)

        def pool(key, name, returns):
            if key not in pools:
                pools[key] = (name, Pool(name or "", [], returns))
            return pools[key][1]

        filled = defaultdict(int)
        consumed = defaultdict(int)
        previous: dict[int, int] = {}
        ahead = self._ahead(outside)
        for n, f in enumerate(firings):
            t, name = transitions[f.transition], self._names[f.transition]
            edges: list[tuple] = []
            guards = [core.reads(arc.guard[0]) for arc in t.inputs if arc.guard is not None]
            unsure = t.clock is not None or any(g["occupancy"] or g["free"] for g in guards)
            for k, arc in enumerate(t.inputs):
                if guards and not arc.inhibit:
                    unsure = unsure or not f.taken[k]  # a head that stays
                    if (n, arc.place) in ahead:
                        edges.append((TAKEN, ahead[n, arc.place], 0, None))
                if arc.inhibit:
                    unsure = True
                    starts = self.observed.starts.get(name, ())
                    at = starts[f.number] if f.number < len(starts) else f.start
                    last = bisect.bisect_right(removals[arc.place], (at, len(firings)))
                    if last:
                        edges.append((COMMIT, removals[arc.place][last - 1][1], 0, None))
                    continue
                taken = len(f.taken[k])
                need = max(taken, self._need(name, k, arc, f.number))
                place = places[arc.place].name
                if place in unknown_init and taken:
                    key = pool(("init", arc.place), unknown_init[place], arrivals[arc.place])
                    key.entries.append((n, consumed[arc.place] + need))
                elif need > taken:
                    at = (
                        consumed[arc.place] + need - 1 - initial[arc.place] - len(pushes[arc.place])
                    )
                    if 0 <= at < len(arrivals[arc.place]):
                        edges.append((COMMIT, arrivals[arc.place][at], 0, None))
                elif taken:
                    token = f.taken[k][-1]
                    if token[0] == "initial":
                        edges.append((TIME, outside(token[1], token[2]), 0, None))
                    else:
                        edges.append((COMMIT, history.of[token[1]][token[2]], 0, None))
                consumed[arc.place] += taken
            put = defaultdict(int)
            for k, arc in enumerate(t.outputs):
                put[arc.place] += f.produced[k]
            for p, count in put.items():
                if p not in limited or not count:
                    continue
                for k, arc in enumerate(t.inputs):
                    if arc.place == p:
                        count -= len(f.taken[k])
                if count > 0:
                    filled[p] += count
                    entry = pool(("capacity", p), limited[p][0], releases[p])
                    entry.entries.append((n, initial[p] + filled[p]))
            if t.servers is not None:
                entry = pool(
                    ("servers", f.transition), unknown_servers.get(name), commits_of[f.transition]
                )
                entry.entries.append((n, f.number + 1))
            before = previous.get(f.transition)
            if before is not None:
                site = self._sites.get((name, "interval"))
                use = None if site is None else ((name, "interval"), before)
                edges.append((START, before, 0, use))
            previous[f.transition] = n
            self.edges.append(edges)
            self._unsure.append(unsure)
        self._previous_commit = {}
        for order in commits_of.values():
            for a, b in zip(order, order[1:]):
                self._previous_commit[b] = a
        for (kind, number), (unknown, each) in pools.items():
            if unknown is not None:
                self.pools[unknown].append(each)
                continue
            if kind == "servers":
                known = self._column(
                    self._names[number], "servers", firings[each.entries[0][0]].number
                )
            else:
                first = firings[each.entries[0][0]]
                known = self._column(
                    self._names[first.transition], ("capacity", number), first.number
                )
            self.limit(each, int(known))

    def _ahead(self, outside):
        """(firing, place) -> who took the tokens before those that it takes there. Tokens tell: starts of one
        instant are in no order.
        """
        history = self.history
        rank = {n: k for k, n in enumerate(history.commit_order)}

        def came(token):
            if token[0] == "initial":
                return outside(token[1], token[2]), 0, token[2]
            n = history.of[token[1]][token[2]]
            return history.firings[n].commit, 1, rank[n]

        takers = defaultdict(list)
        for n, f in enumerate(history.firings):
            for arc, tokens in zip(self.net.core.transitions[f.transition].inputs, f.taken):
                if tokens:
                    takers[arc.place].append((came(tokens[0]), f.start, n))
        ahead = {}
        for place, each in takers.items():
            each.sort()
            ahead.update(((b[-1], place), a[-1]) for a, b in zip(each, each[1:]))
        return ahead

    def _params(self):
        return [(p.name, p) for p in self.net.core.params if p.name in self.net.unknowns]

    def _need(self, name, k, arc, number):
        need = arc.weight if arc.threshold is None else arc.threshold
        const = self.net.core.value(need[0])
        return const if const is not None else int(self._column(name, ("need", k), number))

    def limit(self, pool, count):
        """Adds what follows when `pool` begins with `count`."""
        for n, m in pool.entries:
            back = m - count - 1
            if 0 <= back < len(pool.returns):
                self.edges[n].append((COMMIT, pool.returns[back], 0, None))

    def limit_to(self, numbers: dict[str, int]) -> None:
        """What follows when the unknown pools begin with these numbers, those of the last call
        undone; a pool without a number holds nothing up.
        """
        if self._unlimited is None:
            self._unlimited = [len(e) for e in self.edges]
        for edges, length in zip(self.edges, self._unlimited):
            del edges[length:]
        for name, count in numbers.items():
            for pool in self.pools.get(name, ()):
                self.limit(pool, count)
        self._limited = set(numbers)
        self._order = None

    def _sorted(self):
        """Firings so that each comes behind those whose instants its sums need. What comes back to a
        pool may come from a firing that starts later in the guided run, which knows no such bound.
        """
        if self._order is not None:
            return self._order
        firings = self.history.firings
        seen = [self._is_seen(f) for f in firings]

        def needs(n):
            for kind, ref, _, _ in self.edges[n]:
                if kind != TIME and not seen[ref][kind == COMMIT]:
                    yield ref
            before = self._previous_commit.get(n)
            if before is not None and not seen[before][1] and self._ordered[firings[n].transition]:
                yield before

        order, state = [], [0] * len(firings)
        for first in range(len(firings)):
            if state[first]:
                continue
            state[first] = 1
            stack = [(first, needs(first))]
            while stack:
                n, rest = stack[-1]
                ref = next(rest, None)
                if ref is None:
                    state[n] = 2
                    order.append(n)
                    stack.pop()
                elif not state[ref]:
                    state[ref] = 1
                    stack.append((ref, needs(ref)))
        self._order = order
        return order

    def _is_seen(self, firing):
        name = self._names[firing.transition]
        observed = self.observed
        return (
            firing.number < len(observed.starts.get(name, ())),
            firing.number < len(observed.commits.get(name, ())),
        )

    def events(
        self, known: dict, first: int | None = None
    ) -> tuple[list[Event], list[dict], list[dict]]:
        """(events, sums of all starts, of all commits). `known`: site -> values by firing of the
        graph, for those sites whose values are known. `first`: only so many firings.
        """
        firings = self.history.firings
        most = len(firings) if first is None else first
        observed = self.observed
        held = {
            n
            for name, each in self.pools.items()
            if name not in self._limited
            for p in each
            for n, _ in p.entries
        }
        starts_at = [observed.starts.get(name, ()) for name in self._names]
        commits_at = [observed.commits.get(name, ()) for name in self._names]
        delays = [((name, "delay"), known.get((name, "delay"))) for name in self._names]
        starts: list[Any] = [None] * len(firings)
        commits: list[Any] = [None] * len(firings)
        for n, f in enumerate(firings):
            if f.number < len(starts_at[f.transition]):
                starts[n] = {(): starts_at[f.transition][f.number]}
            if f.number < len(commits_at[f.transition]):
                commits[n] = {(): commits_at[f.transition][f.number]}
        waited = [False] * len(firings)  # at its commit it may have
        begun = [False] * len(firings)  # and at its start
        loose = [False] * len(firings)
        clocked = [t.clock is not None for t in self.net.core.transitions]
        found = []
        for n in self._sorted():
            if n >= most:
                continue
            f = firings[n]
            sums: dict[tuple, int] = {}
            unsure = self._unsure[n] or n in held
            late = clocked[f.transition]
            for kind, ref, add, use in self.edges[n]:
                if kind == TIME:
                    base: dict[tuple, int] = {(): ref}
                elif kind == COMMIT:
                    base = commits[ref]
                    if base is None:  # in a circle, or beyond the first ones
                        continue
                    if not self._seen(commits_at, firings[ref]):
                        unsure = unsure or waited[ref]
                        late = late or loose[ref]
                else:
                    base = starts[ref]
                    if base is None:
                        continue
                    if kind == TAKEN and not self._seen(starts_at, firings[ref]):
                        unsure = unsure or begun[ref]
                extra: tuple = ()
                if use is not None:
                    given = known.get(use[0])
                    if given is None:
                        extra = (use,)
                    else:
                        add += given[use[1]]
                if len(base) == 1 and not extra:
                    ((key, rest),) = base.items()
                    if sums.get(key, -1) < rest + add:
                        sums[key] = rest + add
                    continue
                for key, rest in base.items():
                    if extra:
                        key = tuple(sorted((*key, *extra)))
                        if len(key) > LONGEST:
                            unsure = True
                            continue
                    if sums.get(key, -1) < rest + add:
                        sums[key] = rest + add
            if len(sums) > SUMS:
                unsure = True
                sums = dict(sorted(sums.items(), key=lambda s: -s[1])[:SUMS])
            waited[n] = begun[n] = unsure
            loose[n] = late
            if f.number < len(starts_at[f.transition]):
                time = starts_at[f.transition][f.number]
                if self._names[f.transition] not in observed.given:
                    found.append(Event(n, True, time, sums, unsure, late))
                sums = {(): time}
                waited[n] = loose[n] = False
            elif not sums:
                sums = {(): 0}
            starts[n] = sums
            key, delay = delays[f.transition]
            if delay is not None:
                after = {k: rest + delay[n] for k, rest in sums.items()}
            else:
                after = {
                    tuple(sorted((*k, (key, n)))): rest
                    for k, rest in sums.items()
                    if len(k) < LONGEST
                }
                if len(after) < len(sums):
                    waited[n] = True
            if self._ordered[f.transition] and n in self._previous_commit:
                for k, rest in (commits[self._previous_commit[n]] or {}).items():
                    after[k] = max(rest, after.get(k, rest))
            if f.number < len(commits_at[f.transition]):
                time = commits_at[f.transition][f.number]
                if self._names[f.transition] not in observed.given:
                    found.append(Event(n, False, time, after, waited[n], loose[n]))
                after = {(): time}
            commits[n] = after
        found.sort(key=lambda e: e.n)
        return found, starts, commits

    @staticmethod
    def _seen(commits_at, firing):
        return firing.number < len(commits_at[firing.transition])
