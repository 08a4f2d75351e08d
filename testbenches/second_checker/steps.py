"""Whether steps prove a bound of a problem: docs/certificates.md, "Steps".

Boxes of few choices are gone through; in larger ones a longest path is found that charges each unit once.
"""

import itertools
import math

from document import Unknown, demand
from problem import Linear

FEW = 300  # choices of a box that are gone through at once
MANY = 50_000  # and when nothing else tells
MOST_STATES = 3_000  # of one instant
MOST_WORK = 5_000_000
MOST_QUANTA = 100_000


class Proof:
    """`maximum`: no input has its target above the bound; else none below."""

    def __init__(self, problem, maximum, bound, steps):
        self.p, self.maximum, self.bound, self.steps = problem, maximum, bound, list(steps)
        self.known = {}  # times of choices
        self.at = self.work = 0

    def check(self):
        if self.p.empty:
            return
        self.prove([(0, size) for size in self.p.sizes])
        demand(self.at == len(self.steps), "steps are left over")

    def prove(self, whole):
        boxes = [whole]
        while boxes:
            box = boxes.pop()
            demand(self.at < len(self.steps), "a box without a step")
            step = self.steps[self.at]
            self.at += 1
            if step["kind"] == "split":
                u, cut = step["unit"], step["tuple"]
                demand(u < len(box) and box[u][0] < cut < box[u][1], "a split outside of its box")
                first, second = list(box), list(box)
                first[u], second[u] = (box[u][0], cut), (cut, box[u][1])
                boxes += [second, first]
                continue
            self.rows = [range(lo, hi) for lo, hi in box]
            getattr(self, step["kind"].replace(" ", "_"))(box, step)

    # ---- the kinds ----

    def no_input(self, box, step):
        demand(step.get("denominator", 1) >= 1, "a denominator below 1")
        least = self.mixed(self.multiplied(step)).least(self.rows)
        demand(least > 0, "what its limits say can be kept")

    def point(self, box, step):
        demand(all(hi - lo == 1 for lo, hi in box), "a point of several choices")
        demand(self.p.complete, "a point of variables that have no unit")
        self.tried_within(self.bound, "the input of a point is beyond the bound")

    def solver(self, box, step):
        threshold = step["threshold"]
        demand(self.reaches(threshold, self.bound), "a threshold beyond the bound")
        if not self.p.complete or self.choices(range(len(box))) > MANY:
            raise Unknown("a solver's answer about too many inputs")
        self.tried_within(threshold, "an input is beyond a threshold")

    def reaches(self, value, bound):
        return value <= bound if self.maximum else value >= bound

    def tried_within(self, bound, why):
        for choice in itertools.product(*self.rows):
            assignment = self.p.assignment(choice)
            if self.p.space.contains(assignment) is not None:
                value = self.p.value(assignment)
                demand(value is None or self.reaches(value, bound), why)

    def relaxation(self, box, step):
        d, sign = step["denominator"], 1 if self.maximum else -1
        demand(d >= 1, "a denominator below 1")
        weights = {v: sign * w for v, w in self.p.target.items() if v and w}
        parts = step.get("parts", [])
        if list(weights.values()) == [sign] and not self.p.constant:
            demand(not parts, "parts of a target that is one instant")
            parts = [self.single(step, *weights)]
        charged = dict.fromkeys(weights, 0)  # times d
        rest = sign * (self.bound - self.p.constant) * d + d - 1
        jobs = []
        for part in parts:
            weight, behind = part["weight"] * d, part.get("behind")
            v = part["instant"] if weight else 0
            demand(weight >= 0, "a negative weight")
            demand(v == 0 or weights.get(v, 0) > 0, "a part of another instant")
            charge = self.multiplied(part)
            if v:
                charged[v] += weight
            if behind is not None:
                demand(weights.get(behind, 0) < 0, "behind an instant without a negative weight")
                charged[behind] += weight
                rest -= weight * self.furthest(v, behind)
                continue
            tolls = []
            for instant, toll, arcs in part.get("tolls", []):
                demand(weights.get(instant, 0) < 0 and toll >= 0, "a toll of another instant")
                charged[instant] += toll
                tolls += [(toll, each) for each in self.chain(instant, arcs)]
            jobs.append((weight, v, self.mixed([*tolls, *charge]), part))
        for v, weight in weights.items():
            if weight > 0:
                demand(charged[v] >= weight * d, "an instant that no part bounds")
            else:
                demand(charged[v] <= -weight * d, "an instant is subtracted too often")
        for job in jobs:
            most = self.most(*job, rest)
            if most is None:  # no input of the box keeps a limit
                return
            rest -= most
        demand(rest >= 0, "its parts add up to more than the bound")

    def single(self, step, v):
        """A relaxation of one instant as the only part of a sum: a longest path, or chains that it is not before."""
        if self.maximum:
            demand(not step.get("chains"), "chains of a maximum")
            return {**step, "instant": v, "weight": 1}
        demand("budget" not in step, "a budget of a minimum")
        tolls = [(v, weight, arcs) for weight, arcs in step.get("chains", [])]
        return {**step, "instant": 0, "weight": 0, "tolls": tolls}

    def multiplied(self, given):
        """[(multiplier, use)]"""
        values = given["multipliers"]
        demand(len(values) in (0, len(self.p.limits)), "multipliers of other limits")
        demand(all(m >= 0 for m in values), "a negative multiplier")
        return [(m, use) for m, use in zip(values, self.p.limits) if m]

    def mixed(self, parts):
        """A sum of weight * Linear, without slack."""
        constant, units = 0, {}
        for weight, linear in parts:
            constant += weight * linear.constant
            for u, column in linear.units.items():
                before = units.get(u, itertools.repeat(0))
                units[u] = [a + weight * b for a, b in zip(before, column)]
        return Linear(constant, units)

    def chain(self, v, arcs):
        """The delays of a walk from an instant back towards time 0."""
        found = []
        for number in arcs:
            demand(v in self.p.arcs, "a chain that goes on behind time 0")
            ways = self.p.arcs[v]
            if number >= len(ways):
                demand(number - len(ways) < len(self.p.orders), "a chain over no arc")
                before, after, strict = self.p.orders[number - len(ways)]
                demand(after == v and before < v, "a chain over an order of other instants")
                v, delay = before, Linear(int(strict), {})
            else:
                gate = self.p.instants[v].kind == "gate"
                demand(not gate or number != 1, "a chain over the arc that closes a gate")
                if gate and number == 2:
                    self.surely_blocked(v)
                v, delay = ways[number]
            found.append(delay)
        return found

    def surely_blocked(self, v):
        (start, s), (closes, c), _ = self.p.arcs[v]
        if start == closes and self.mixed([(1, s), (-1, c)]).least(self.rows) >= c.slack:
            return
        for choice in self.all_choices("a gate that may be open"):
            t = self.times(choice)
            demand(t[start] + s.of(choice) >= t[closes] + c.of(choice), "a gate that may be open")

    # ---- differences ----

    def furthest(self, a, b):
        """The most that instant a is behind b in the box."""
        if self.choices(self.read()) <= MANY and self.p.arcs:
            return max(t[a] - t[b] for t in map(self.times, self.all_choices("")))
        behind = {b: 0}  # of each instant up to a
        for v in self.p.made_from(a):
            if v == b:
                continue
            least = self.least_apart(v, b)
            ways = [0] if v and not self.p.arcs[v] else []
            node = self.p.instants[v]
            for x, delay in self.p.arcs.get(v, ()):
                more = delay.bounds()[1] + max(0, node.period - 1)
                ways.append(None if behind[x] is None else behind[x] + more)
            found = [] if None in ways or not ways else [max(ways)]
            found += [] if least is None else [-least]
            behind[v] = min(found, default=None)
        if behind[a] is None:
            raise Unknown("how far two instants are apart")
        return behind[a]

    def least_apart(self, a, b):
        """The least that instant b is behind a, by the arcs from a to b; None without any."""
        longest = {a: 0}
        for v in sorted(x for x in self.p.arcs if a < x <= b):
            ways = self.p.arcs[v][:1] if self.p.instants[v].kind == "gate" else self.p.arcs[v]
            reached = [longest[x] + delay.bounds()[0] for x, delay in ways if x in longest]
            if reached:
                longest[v] = max(reached)
        return longest.get(b)

    # ---- the largest over a box ----

    def most(self, weight, instant, charges, step, limit):
        """The most that weight * instant - charges is, exact or at most `limit`; None where no choice counts."""
        budget = self.budget(step)
        if budget and budget[1] < 0:
            return None
        if not weight and not budget:
            return -charges.least(self.rows)
        units = self.read() | set(charges.units) | set(budget[0] if budget else ())
        choices = self.choices(units)
        if choices > FEW:
            found, exact = Longest(self, weight, instant, charges.units, budget).result()
            if exact or found - charges.constant <= limit:
                return found - charges.constant
            if choices > MANY:
                raise Unknown("a longest path that this checker bounds less well")
        costs, left = budget or ({}, 0)
        kept = (
            choice
            for choice in self.all_choices("", units)
            if sum(column[choice[u]] for u, column in costs.items()) <= left
        )
        values = [weight * self.times(choice)[instant] - charges.of(choice) for choice in kept]
        demand(values, "a budget that nothing keeps")
        return max(values)

    def budget(self, step):
        """(units' costs in quanta, how many there are), None without a budget."""
        if step.get("budget") is None:
            return None
        demand(step["budget"] < len(self.p.limits), "a budget of no limit")
        quantum = step.get("quantum", 1)
        demand(quantum >= 1, "a quantum below 1")
        use = self.p.limits[step["budget"]]
        costs, left = {}, -use.constant
        for u, column in use.units.items():
            least = min(column[r] for r in self.rows[u])
            left -= least
            costs[u] = [(x - least) // quantum for x in column]
        return costs, left // quantum

    def read(self):
        """The units that delays read."""
        return {u for ways in self.p.arcs.values() for _, delay in ways for u in delay.units}

    def choices(self, units):
        return math.prod(len(self.rows[u]) for u in units)

    def all_choices(self, why, units=None):
        """Choices of the box; of units that do not matter the first tuple."""
        units = self.read() if units is None else units
        if self.choices(units) > MANY:
            raise Unknown(why)
        rows = (rows if u in units else rows[:1] for u, rows in enumerate(self.rows))
        return itertools.product(*rows)

    def times(self, choice):
        if choice not in self.known:

            def delays(v):
                return [(a, delay.of(choice) + delay.slack) for a, delay in self.p.arcs[v]]

            if len(self.known) > MANY:
                self.known.clear()
            self.known[choice] = self.p.times(delays, self.p.arcs)
        return self.known[choice]


class Longest:
    """A longest path to an instant, times weight, less charges by unit, with a budget: per instant, and
    per sums of columns of units that are read again, the most by budget used.
    """

    def __init__(self, proof, weight, target, charges, budget):
        self.proof, self.p, self.weight, self.target = proof, proof.p, weight, target
        self.charges = charges
        self.costs, self.most = budget or ({}, 0)
        self.exact = not charges or not budget
        self.free = {}  # of units that a path does not read, at no cost
        for u in {*charges, *self.costs}:
            self.free[u] = max(-self.charge(u, r) for r in proof.rows[u])
        self.numbers, self.columns = {}, []

    def charge(self, u, r):
        return self.charges[u][r] if u in self.charges else 0

    def column(self, values):
        number = self.numbers.setdefault(values, len(self.columns))
        if number == len(self.columns):
            self.columns.append(values)
        return number

    def result(self):
        """(the most, whether it is exact)."""
        if self.most >= MOST_QUANTA:
            raise Unknown("a budget of too many quanta")
        order = [v for v in self.p.made_from(self.target) if v]
        later = {v: set() for v in (0, *order)}  # units read behind it, on a way to the target
        for v in reversed(order):
            for a, delay in self.p.arcs[v]:
                later[a] |= later[v] | set(delay.units)
        states = {0: {(): [sum(self.free.values())] * (self.most + 1)}}
        for v in order:
            states[v] = self.settle(v, states, later[v])
        return max(values[-1] for values in states[self.target].values()), self.exact

    def settle(self, v, states, later):
        node, ways = self.p.instants[v], self.p.arcs[v]
        if not ways:
            return states[0]
        self.exact = self.exact and node.kind == "max"
        found = {}
        for a, delay in ways if node.kind != "gate" else (ways[0], ways[2]):
            self.exact = self.exact and not delay.slack
            add = self.weight * (delay.constant + delay.slack + max(0, node.period - 1))
            for key, values in states[a].items():
                opened = dict(key)
                for u, column in delay.units.items():
                    before = self.columns[opened[u]] if u in opened else itertools.repeat(0)
                    opened[u] = self.column(tuple(x + y for x, y in zip(before, column)))
                values = [x + add for x in values]
                for u in sorted(set(opened) - later):
                    values = self.closed(u, self.columns[opened.pop(u)], values)
                key = tuple(sorted(opened.items()))
                found[key] = list(map(max, values, found.get(key, values)))
                self.proof.work += len(values)
                if len(found) > MOST_STATES or self.proof.work > MOST_WORK:
                    raise Unknown("a longest path of too many states")
        return found

    def closed(self, u, column, values):
        """The unit's tuple is chosen, once and for all."""
        free, costs = self.free.get(u, 0), self.costs.get(u)
        gains = {}  # cost: the most; the least cost of a box is 0
        for r in self.proof.rows[u]:
            cost = costs[r] if costs else 0
            gain = self.weight * column[r] - self.charge(u, r) - free
            gains[cost] = max(gain, gains.get(cost, gain))
        kept = []
        for cost, gain in sorted(gains.items()):
            if not kept or gain > kept[-1][1]:
                kept.append((cost, gain))
        self.proof.work += len(kept) * len(values)
        return [
            max(values[left - cost] + gain for cost, gain in kept if cost <= left)
            for left in range(len(values))
        ]
