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

    def multipliers(self, given):
        """[(multiplier, use)]"""
        values = given["multipliers"]
        demand(len(values) in (0, len(self.p.limits)), "multipliers of other limits")
        demand(all(m >= 0 for m in values), "a negative multiplier")
        return [(m, use) for m, use in zip(values, self.p.limits) if m]

    def mixed(self, parts):
        """A sum of weight * Linear, as a constant and numbers by unit and tuple."""
        constant, units = 0, {}
        for weight, linear in parts:
            constant += weight * linear.constant
            for u, column in linear.units.items():
                before = units.get(u, [0] * len(column))
                units[u] = [a + weight * b for a, b in zip(before, column)]
        return constant, units

    def least(self, mixed):
        constant, units = mixed
        return constant + sum(min(column[r] for r in self.rows[u]) for u, column in units.items())

    def no_input(self, box, step):
        demand(step.get("denominator", 1) >= 1, "a denominator below 1")
        demand(
            self.least(self.mixed(self.multipliers(step))) > 0, "what its limits say can be kept"
        )

    def point(self, box, step):
        demand(all(hi - lo == 1 for lo, hi in box), "a point of several choices")
        demand(self.p.complete, "a point of variables that have no unit")
        self.fits(
            tuple(lo for lo, _ in box), self.bound, "the input of a point is beyond the bound"
        )

    def fits(self, choice, bound, why):
        assignment = self.p.assignment(choice)
        inside = self.p.space.contains(assignment) is not None
        value = self.p.value(assignment) if inside else None
        demand(value is None or (value <= bound if self.maximum else value >= bound), why)

    def solver(self, box, step):
        threshold = step["threshold"]
        fits = threshold <= self.bound if self.maximum else threshold >= self.bound
        demand(fits, "a threshold beyond the bound")
        if not self.p.complete or self.choices(range(len(box))) > MANY:
            raise Unknown("a solver's answer about too many inputs")
        for choice in itertools.product(*self.rows):
            self.fits(choice, threshold, "an input is beyond a threshold")

    def relaxation(self, box, step):
        d = step["denominator"]
        demand(d >= 1, "a denominator below 1")
        left = [(v, weight) for v, weight in self.p.target.items() if v and weight]
        if len(left) == 1 and left[0][1] == 1 and self.p.constant == 0:
            demand(not step.get("parts"), "parts of a target that is one instant")
            if self.maximum:
                demand(not step.get("chains"), "chains of a maximum")
                limit = d * self.bound + d - 1
                most = self.most(d, left[0][0], [], step, limit)
                demand(most is None or most <= limit, "a longest path is beyond the bound")
            else:
                self.chains(step, d, left[0][0])
        else:
            self.sums(step, d)

    def chains(self, step, d, instant):
        demand("budget" not in step, "a budget of a minimum")
        found, total = [], 0
        for weight, arcs in step.get("chains", []):
            demand(weight >= 0, "a negative weight")
            total += weight
            found += [(weight, each) for each in self.chain(instant, arcs)]
        demand(total <= d, "weights add up to more than the denominator")
        least = self.least(self.mixed([*found, *self.multipliers(step)]))
        demand(least >= d * self.bound - d + 1, "its chains do not reach the bound")

    def chain(self, v, arcs):
        """The delays of a walk from an instant back towards time 0."""
        found = []
        for number in arcs:
            demand(v in self.p.arcs, "a chain that goes on behind time 0")
            ways = self.p.arcs[v]
            if number >= len(ways):
                order = number - len(ways)
                demand(order < len(self.p.orders), "a chain over no arc")
                before, after, strict = self.p.orders[order]
                demand(after == v and before < v, "a chain over an order of other instants")
                found.append(Linear(int(strict), {}))
                v = before
                continue
            if self.p.instants[v][0] == "gate":
                demand(number in (0, 2), "a chain over the arc that closes a gate")
                if number == 2:
                    self.surely_blocked(v)
            v, delay = ways[number][0], ways[number][1]
            found.append(delay)
        return found

    def surely_blocked(self, v):
        (start, s), (closes, c), _ = self.p.arcs[v]
        if start == closes and self.least(self.mixed([(1, s), (-1, c)])) >= c.slack:
            return
        for choice in self.all_choices("a gate that may be open"):
            t = self.times(choice)
            demand(t[start] + s.of(choice) >= t[closes] + c.of(choice), "a gate that may be open")

    # ---- sums ----

    def sums(self, step, d):
        sign = 1 if self.maximum else -1
        weights = {v: sign * w for v, w in self.p.target.items() if w and v}
        charged = dict.fromkeys(weights, 0)  # times d
        rest = sign * self.bound * d + d - 1 - sign * self.p.constant * d
        jobs = []
        for part in step.get("parts", []):
            v, weight = part["instant"], part["weight"]
            demand(weight >= 0, "a negative weight")
            demand(v == 0 or weights.get(v, 0) > 0 or weight == 0, "a part of another instant")
            if weight and v:
                charged[v] += weight * d
            if part.get("behind") is not None:
                w = part["behind"]
                demand(weights.get(w, 0) < 0, "behind an instant without a negative weight")
                charged[w] += weight * d
                rest -= weight * d * self.furthest(v, w)
                continue
            tolls = []
            for instant, toll, arcs in part.get("tolls", []):
                demand(weights.get(instant, 0) < 0 and toll >= 0, "a toll of another instant")
                charged[instant] += toll
                tolls += [(toll, each) for each in self.chain(instant, arcs)]
            jobs.append((weight * d, v, tolls, part))
        for v, weight in weights.items():
            if weight > 0:
                demand(charged[v] >= weight * d, "an instant that no part bounds")
            else:
                demand(charged[v] <= -weight * d, "an instant is subtracted too often")
        for job in jobs:
            rest -= self.most(*job, rest) or 0
        demand(rest >= 0, "its parts add up to more than the bound")

    def furthest(self, a, b):
        """The most that instant a is behind b in the box."""
        if self.choices(self.read()) <= MANY and self.p.arcs:
            return max(t[a] - t[b] for t in map(self.times, self.all_choices("")))
        found = self.apart(a, b, {})
        if found is None:
            raise Unknown("how far two instants are apart")
        return found

    def apart(self, a, b, known):
        if a == b:
            return 0
        if a in known:
            return known[a]
        longest = {a: 0}  # the least from a to later instants
        for v in sorted(x for x in self.p.arcs if a < x <= b):
            kind = self.p.instants[v][0]
            ways = self.p.arcs[v] if kind != "gate" else self.p.arcs[v][:1]
            reached = [longest[x] + delay.bounds()[0] for x, delay in ways if x in longest]
            if reached:
                longest[v] = max(reached)
        best = -longest[b] if b in longest else None
        if a:
            more = self.p.instants[a][2] - 1 if self.p.instants[a][0] == "edge" else 0
            ways = [0] if not self.p.arcs[a] else []
            for x, delay in self.p.arcs[a]:
                before = self.apart(x, b, known)
                ways.append(None if before is None else before + delay.bounds()[1] + more)
            if None not in ways and (best is None or max(ways) < best):
                best = max(ways)
        known[a] = best
        return best

    # ---- the largest over a box ----

    def most(self, weight, instant, tolls, step, limit):
        """The most that weight * instant - tolls - multipliers * uses is, exact or at most `limit`; None where no
        choice counts.
        """
        constant, charges = self.mixed([*tolls, *self.multipliers(step)])
        budget = self.budget(step)
        if budget is not None and budget[1] < 0:
            return None
        choices = self.choices(self.read(charges, budget))
        if choices > FEW:
            found, exact = Longest(self, weight, instant, charges, budget).result()
            if exact or found - constant <= limit:
                return found - constant
            if choices > MANY:
                raise Unknown("a longest path that this checker bounds less well")
        return self.tried(weight, instant, charges, budget) - constant

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

    def read(self, charges=(), budget=None):
        """The units that matter."""
        found = set(charges) | set(budget[0] if budget else ())
        for ways in self.p.arcs.values():
            for _, delay in ways:
                found |= set(delay.units)
        return found

    def choices(self, units):
        return math.prod(len(self.rows[u]) for u in units)

    def all_choices(self, why, units=None):
        """Choices of the box; of units that do not matter the first tuple."""
        units = self.read() if units is None else units
        if self.choices(units) > MANY:
            raise Unknown(why)
        return itertools.product(
            *(rows if u in units else rows[:1] for u, rows in enumerate(self.rows))
        )

    def times(self, choice):
        if choice not in self.known:

            def delays(v):
                return [(a, delay.of(choice) + delay.slack) for a, delay in self.p.arcs[v]]

            if len(self.known) > MANY:
                self.known.clear()
            self.known[choice] = self.p.times(delays, self.p.arcs)
        return self.known[choice]

    def tried(self, weight, instant, charges, budget):
        best = None
        for choice in self.all_choices("", self.read(charges, budget)):
            if budget and sum(c[choice[u]] for u, c in budget[0].items()) > budget[1]:
                continue
            value = weight * self.times(choice)[instant]
            value -= sum(column[choice[u]] for u, column in charges.items())
            best = value if best is None or value > best else best
        demand(best is not None, "a budget that nothing keeps")
        return best


class Longest:
    """A longest path to an instant, times weight, less charges by unit, with a budget: per instant, and
    per sums of columns of units that are read again, the most by budget used.
    """

    def __init__(self, proof, weight, target, charges, budget):
        self.proof, self.p, self.weight, self.target = proof, proof.p, weight, target
        self.charges = charges
        self.costs, self.most = budget if budget else ({}, 0)
        self.exact = not charges or not budget
        self.free = {}  # of units that a path does not read, at no cost
        for u in set(charges) | set(self.costs):
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
        order = [v for v in sorted(self.p.arcs) if v <= self.target]
        wanted = {self.target}
        for v in reversed(order):
            if v in wanted:
                wanted |= {a for a, _ in self.p.arcs[v]}
        order = [v for v in order if v in wanted]
        later = {v: set() for v in wanted}  # units read behind an instant, on a way to the target
        for v in reversed(order):
            for a, delay in self.p.arcs[v]:
                later[a] |= later[v] | set(delay.units)
        base = sum(self.free.values())
        width = self.most + 1
        if width > 100_000:
            raise Unknown("a budget of too many quanta")
        states = {0: {(): [base] * width}}
        for v in order:
            states[v] = self.settle(v, states, later[v])
        if self.target == 0:
            return base, self.exact
        return max(values[-1] for values in states[self.target].values()), self.exact

    def settle(self, v, states, later):
        kind = self.p.instants[v][0]
        ways = self.p.arcs[v]
        if kind == "gate":
            ways = [ways[0], ways[2]]
        if kind != "max":
            self.exact = False
        more = self.p.instants[v][2] - 1 if kind == "edge" else 0
        found = {}
        if not ways:
            return {(): states[0][()]}
        for a, delay in ways:
            self.exact = self.exact and not delay.slack
            for key, values in states[a].items():
                opened = dict(key)
                for u, column in delay.units.items():
                    before = self.columns[opened[u]] if u in opened else (0,) * len(column)
                    opened[u] = self.column(tuple(x + y for x, y in zip(before, column)))
                add = self.weight * (delay.constant + delay.slack + more)
                values = [x + add for x in values] if add else values
                for u in sorted(set(opened) - later):
                    values = self.closed(u, self.columns[opened.pop(u)], values)
                key = tuple(sorted(opened.items()))
                old = found.get(key)
                found[key] = values if old is None else [max(x, y) for x, y in zip(old, values)]
                self.proof.work += len(values)
                if len(found) > MOST_STATES or self.proof.work > MOST_WORK:
                    raise Unknown("a longest path of too many states")
        return found

    def closed(self, u, column, values):
        """The unit's tuple is chosen, once and for all."""
        free = self.free.get(u, 0)
        gains = {}  # cost: the most
        costs = self.costs.get(u)
        for r in self.proof.rows[u]:
            cost = costs[r] if costs else 0
            gain = self.weight * column[r] - self.charge(u, r) - free
            if cost <= self.most and gain > gains.get(cost, gain - 1):
                gains[cost] = gain
        best, kept = None, []
        for cost in sorted(gains):
            if best is None or gains[cost] > best:
                best = gains[cost]
                kept.append((cost, best))
        self.proof.work += len(kept) * len(values)
        if len(kept) == 1 and kept[0][0] == 0:
            return [x + kept[0][1] for x in values]
        low = -(1 << 200)
        out = [low] * len(values)
        for cost, gain in kept:
            for b in range(cost, len(values)):
                x = values[b - cost] + gain
                if x > out[b]:
                    out[b] = x
        return out
