"""All paths of a program: a tree of decisions with a leaf for every path, or, where there are too
many, leaves of joined paths whose cost is a sum over conditions.
"""

import heapq
import sys
import time
from dataclasses import dataclass, field

from . import helpers as h
from . import joins
from . import terms as t
from .errors import refused
from .machine import MOST_INSTRUCTIONS
from .objects import REDIRECTS
from .state import Fork
from .symbolic import Executor, verdicts_of

DEEPEST = 20_000  # decisions of one path


@dataclass
class Leaf:
    """The end of a path. `verdicts`: [(condition, name)], the first is what the class is named
    after. `rest`: (least, most) instructions that are added where the end was not reached.
    """

    conditions: tuple
    cost: object
    verdicts: list
    rest: tuple | None = None

    def key(self):
        return (self.cost.key(), tuple((c.number, v) for c, v in self.verdicts), self.rest)


@dataclass
class Node:
    """A decision."""

    condition: t.Term
    yes: object
    no: object


@dataclass
class Explored:
    """`root`: the tree of decisions, or None where paths were joined. `leaves`: in order."""

    executor: Executor
    root: object
    leaves: list
    joined: bool
    complete: bool
    notes: list = field(default_factory=list)


class TooMany(Exception):
    """More paths than were asked for, or more time."""


def explore(
    program,
    function,
    tails=None,
    paths=1000,
    seconds=(10.0, 40.0),
    solver=10.0,
    beside=False,
    prices=None,
):
    """Looks at all paths of a function. `paths`, `seconds[0]`: from where on paths are joined;
    `seconds[1]`: from where on what is left is answered as an interval. `prices`: a cost table.
    """
    executor = Executor(program, function, tails, solver, beside, prices)
    try:
        if paths < 1:
            raise TooMany
        found = _Paths(executor, paths, seconds[0])
        root = found.run()
        return Explored(executor, root, list(leaves_of(root)), False, True)
    except TooMany:
        executor = Executor(program, function, tails, solver, beside, prices)
        return _Joining(executor, seconds[1]).run()


def leaves_of(root):
    """The leaves of a tree, from left to right."""
    stack = [root]
    while stack:
        one = stack.pop()
        if isinstance(one, Leaf):
            yield one
        else:
            stack += [one.no, one.yes]


def _positive(condition, yes, no):
    """A decision with its condition put the way it is read: lengths as `at least`."""
    if condition.op == "not" and condition.args[0].op != "ult":
        return condition.args[0], no, yes
    if condition.op == "ult" and condition.args[1].op == "const":
        return t.not_(condition), no, yes
    return condition, yes, no


class _Ends:
    """What both ways of looking at paths do at an end."""

    def verdict_fork(self, s):
        """A decision that is needed before the verdict is one name; None where it is."""
        found = verdicts_of(s.regs[0])
        if found is None:
            return self.number_fork(s)
        found = [(c, v) for c, v in found if self.possible(s, c)]
        if len(found) == 1 or all(self.by_redirect(c) for c, _ in found):
            return None
        condition = next(c for c, _ in found if not self.by_redirect(c))
        return condition

    def number_fork(self, s):
        """For numbers that are no choice of constants: one verdict after the other."""
        low = t.cut(s.regs[0], 31, 0)
        for n in range(len(h.VERDICTS)):
            c = t.eq(low, t.const(n, 32))
            known = s.decided(c)
            if known:
                return None
            if known is None and self.possible(s, c):
                if self.possible(s, t.not_(c)):
                    return c
                s.assume(c)
                return None
        return None

    def possible(self, s, condition):
        known = s.decided(condition)
        if known is not None:
            return known
        return self.x.solver.can(s.conditions, condition) is not False

    def by_redirect(self, condition):
        """Whether a condition asks for nothing but slots of maps that redirect."""
        maps = self.x.program.maps
        asked = [leaf for leaf in t.leaves(condition) if leaf.op == "has"]
        return bool(asked) and all(
            leaf.args[0] in maps and maps[leaf.args[0]].kind in REDIRECTS for leaf in asked
        )

    def verdicts(self, s):
        found = verdicts_of(s.regs[0])
        if found is None:
            low = t.cut(s.regs[0], 31, 0)
            for n, name in enumerate(h.VERDICTS):
                if s.decided(t.eq(low, t.const(n, 32))):
                    return [(t.TRUE, name)]
            return [(t.TRUE, h.UNKNOWN)]
        found = [(c, v) for c, v in found if self.possible(s, c)]
        if len(found) == 1:
            return [(t.TRUE, found[0][1])]
        return sorted(found, key=lambda each: each[1] != "XDP_REDIRECT")


class _Paths(_Ends):
    def __init__(self, executor, paths, seconds):
        self.x, self.paths = executor, paths
        self.until = executor.until = time.monotonic() + seconds
        self.count = 0
        self.depth = 0

    def run(self):
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(max(before, 4 * DEEPEST))
        try:
            return self.from_here(self.x.start())
        except RecursionError:
            raise refused(
                "E-bpf-limit", f"a path decides more often than {DEEPEST} times"
            ) from None
        finally:
            sys.setrecursionlimit(before)

    def from_here(self, s):
        """The tree below a state."""
        while True:
            end = self.x.advance(s)
            if end == "late":
                raise TooMany
            if end == "exit":
                condition = self.verdict_fork(s)
                if condition is None:
                    return self.leaf(s)
                fork = Fork(condition, lambda state: None, lambda state: None)
                self.x.counted(s, self.x.code[s.pc], -1)  # the exit comes again
            else:
                fork = end
            if time.monotonic() > self.until:
                raise TooMany
            yes = self.possible(s, fork.condition)
            no = self.possible(s, t.not_(fork.condition)) if yes else True
            if yes and no:
                return self.both(s, fork)
            s.known[fork.condition.number] = yes
            (fork.yes if yes else fork.no)(s)

    def both(self, s, fork):
        other = s.copy()
        condition, first, second = fork.condition, fork.yes, fork.no
        self.depth += 1
        if self.depth > DEEPEST // 8:
            raise TooMany
        s.assume(condition)
        first(s)
        yes = self.from_here(s)
        other.assume(t.not_(condition))
        second(other)
        no = self.from_here(other)
        self.depth -= 1
        if isinstance(yes, Leaf) and isinstance(no, Leaf) and yes.key() == no.key():
            self.count -= 1
            yes.conditions = yes.conditions[: len(other.conditions) - 1]
            return yes
        return Node(*_positive(condition, yes, no))

    def leaf(self, s):
        self.count += 1
        if self.count > self.paths:
            raise TooMany
        return Leaf(s.conditions, s.cost, self.verdicts(s))


class _Joining(_Ends):
    def __init__(self, executor, seconds):
        self.x, self.seconds = executor, seconds
        self.code = executor.code
        self.places, self.live, self.stops = {}, {}, set()
        self.queue, self.waiting, self.counter = [], {}, 0

    def known(self, entry):
        """Looks at a function: the order of its places, live registers, where paths meet."""
        if entry in self.places:
            return
        nodes = joins.reachable(self.code, entry)
        place = joins.order(self.code, nodes, entry)
        self.live.update(joins.live_registers(self.code, nodes))
        came = {entry: 1}  # who calls it, or the kernel
        for pc in nodes:
            for n in joins.successors(self.code, pc):
                came[n] = came.get(n, 0) + 1
        self.stops |= {n for n, k in came.items() if k > 1}
        self.places.update(place)
        self.places[entry] = place[entry]
        for pc in nodes:
            one = self.code[pc]
            if one.kind == "call" and one.src == 1:
                self.known(one.target)
                self.stops.add(pc + 1)

    def add(self, s):
        calls = [self.places[f[0]] for f in s.frames]
        key = (s.calls.get("tail calls", 0), *calls, self.places[s.pc])
        where = (key, s.pc, tuple(f[0] for f in s.frames))
        if where not in self.waiting:
            self.waiting[where] = []
            self.counter += 1
            heapq.heappush(self.queue, (key, self.counter, where))
        self.waiting[where].append(s)

    def run(self):
        self.known(self.x.function.entry)
        for slots in self.x.tails.values():
            for one in slots.values():
                self.known(one.entry)
        self.x.stops = frozenset(self.stops)
        self.x.until = until = time.monotonic() + self.seconds
        self.add(self.x.start())
        found = []
        while self.queue:
            if time.monotonic() > until:
                return self.cut_short(found)
            where = heapq.heappop(self.queue)[2]
            for s in self.join(self.waiting.pop(where)):
                found += self.go(s)
        return Explored(self.x, None, found, True, True)

    def join(self, states):
        kept = []
        for s in states:
            for k, other in enumerate(kept):
                try:
                    kept[k] = joins.joined(other, s, self.live[s.pc])
                    break
                except joins.Apart:
                    continue
            else:
                kept.append(s)
        return kept

    def go(self, s):
        """Runs a state to where it halts; leaves that it reached."""
        while True:
            end = self.x.advance(s)
            if end in ("stop", "late"):
                self.add(s)
                return []
            if end == "exit":
                condition = self.verdict_fork(s)
                if condition is None:
                    return [Leaf(s.conditions, s.cost, self.verdicts(s))]
                self.x.counted(s, self.x.code[s.pc], -1)
                other = s.copy()
                s.assume(condition)
                other.assume(t.not_(condition))
                return self.go(s) + self.go(other)
            yes = self.possible(s, end.condition)
            no = self.possible(s, t.not_(end.condition)) if yes else True
            if yes and no:
                other = s.copy()
                s.assume(end.condition)
                end.yes(s)
                other.assume(t.not_(end.condition))
                end.no(other)
                return self.halt(s) + self.halt(other)
            s.known[end.condition.number] = yes
            (end.yes if yes else end.no)(s)

    def halt(self, s):
        if s.pc in self.stops:
            self.add(s)
            return []
        return self.go(s)

    def cut_short(self, found):
        """Time is over: what still waits becomes leaves with an interval."""
        for states in self.waiting.values():
            for s in states:
                low, high = self.suffix(s)
                found.append(Leaf(s.conditions, s.cost, [(t.TRUE, h.ANY)], (low, high)))
        note = "time was over: classes with the verdict any are intervals of what was left"
        return Explored(self.x, None, found, True, False, [note])

    def suffix(self, s):
        """(least, most) instructions from a state to the end, by the control flow alone."""
        most = MOST_INSTRUCTIONS - s.cost.bounds("insns")[0]
        if s.frames:
            return 1, most
        memo = {}
        for pc in sorted(joins.reachable(self.code, s.pc), reverse=True):
            following = joins.successors(self.code, pc)
            one = self.code[pc]
            if any(n <= pc for n in following) or one.kind == "call" and one.src == 1:
                return 1, most
            if one.kind == "call" and h.name_of(one.imm) == "tail_call":
                return 1, most
            each = [memo[n] for n in following]
            memo[pc] = (
                1 + min((e[0] for e in each), default=0),
                1 + max((e[1] for e in each), default=0),
            )
        return memo[s.pc]
