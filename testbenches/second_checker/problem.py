"""What a path's steps are about: docs/certificates.md, "Problems"."""

import itertools
import math
from typing import NamedTuple

from document import Unknown, demand, whole

MOST_TUPLES = 1 << 16
MOST_ALTERNATIVES = 16
MOST_ADDED = 1_000_000  # summands looked at
SUMS = {"add": (1, 1), "sub": (1, -1), "neg": (-1,), "assume": (0, 1)}  # factors of operands


class Linear(NamedTuple):
    """A constant and, by unit, a number per tuple; `slack` more at most."""

    constant: int
    units: dict
    slack: int = 0

    def of(self, choice):
        return self.constant + sum(v[choice[u]] for u, v in self.units.items())

    def bounds(self):
        lo = self.constant + sum(min(v) for v in self.units.values())
        return lo, self.constant + self.slack + sum(max(v) for v in self.units.values())

    def least(self, rows):
        """Over a box, `rows` of each unit."""
        return self.constant + sum(min(v[r] for r in rows[u]) for u, v in self.units.items())


class Instant(NamedTuple):
    kind: str
    arcs: list  # (from, delay's node)
    period: int = 0
    phase: int = 0

    def time(self, arrive):
        if self.kind == "gate":
            start, closes, opens = arrive
            return start if start < closes else max(start, opens)
        if self.kind == "edge":
            return arrive[0] + (self.phase - arrive[0]) % self.period
        return max(arrive, default=0)


class Problem:
    """`instants`: None where nobody asks; `arcs`: per needed instant [(from, Linear)], alternatives apart; `limits`:
    uses, as Linear; `tuples`, `sizes`: of each unit; `empty`: no input can belong to it.
    """

    def __init__(self, data, terms, space):
        self.terms, self.space, self.empty, self.added = terms, space, False, 0
        self.conditions = [terms.number(k, True, "a condition") for k in data["conditions"]]
        self.fault, self.constant, self.target = data.get("fault"), data["constant"], {}
        demand(self.fault is None or self.fault < len(terms.nodes), "a fault that is not there")
        self.read_instants(data["instants"])
        for weight, v in data["target"]:
            self.target[self.instant(v)] = self.target.get(v, 0) + weight
        self.orders = data["orders"]
        for before, after, _ in self.orders:
            self.instant(before), self.instant(after)
        self.delays = {delay for node in self.instants if node for _, delay in node.arcs}
        faults = [] if self.fault is None else [self.fault]
        self.program = terms.program([*self.conditions, *self.delays, *faults])
        self.several = {k for k, (_, lo, hi) in enumerate(space.variables) if lo < hi}
        self.least = [lo for _, lo, _ in space.variables]
        self.units, self.unit_of = data["units"], {}
        for u, variables in enumerate(self.units):
            self.read_unit(u, variables)
        self.complete = all(v in self.unit_of for v in self.several)
        sums = self.needed_sums()
        self.list_tuples(sums)
        self.columns, self.arcs, self.limits = {}, {}, []
        if not self.empty:
            for v, ways in sums.items():
                self.arcs[v] = [(before, self.linear(c, parts)) for before, c, parts in ways]
            self.limits = [self.limit(*each) for each in data["limits"]]

    # ---- reading ----

    def read_instants(self, data):
        self.instants = [None]
        demand(data and data[0] is None, "instant 0 is not time 0")
        for node in data[1:]:
            kind, *arcs = node or (None,)
            more = arcs[1:] if kind == "edge" else []
            arcs = arcs[: len(arcs) - len(more)]
            for before, delay in arcs:
                self.instant(before), self.terms.number(delay, False, "a delay")
            self.instants.append(Instant(kind, arcs, *more) if kind else None)

    def instant(self, v):
        whole(v, "an instant", 0, len(self.instants) - 1)
        demand(v == 0 or self.instants[v] is not None, "an instant that is not there")
        return v

    def read_unit(self, u, variables):
        demand(variables and variables == sorted(set(variables)), "a unit is not in order")
        demand(variables[-1] < len(self.space.variables), "a variable that is not there")
        demand(not set(variables) & set(self.unit_of), "a variable in two units")
        self.unit_of.update(dict.fromkeys(variables, u))

    def needed_sums(self):
        """{needed instant: [(from, constant, {node: factor})]}"""
        earlier = {}
        for before, after, _ in self.orders:
            if before < after:
                earlier.setdefault(after, set()).add(before)
        needed = {v for v, weight in self.target.items() if weight}
        for v in range(len(self.instants) - 1, 0, -1):
            if v in needed:
                needed.update(before for before, _ in self.instants[v].arcs)
                needed.update(earlier.get(v, ()))
        return {
            v: [
                (before, *each)
                for before, delay in self.instants[v].arcs
                for each in self.alternatives(self.instants[v].kind, delay)
            ]
            for v in sorted(needed - {0})
        }

    def made_from(self, v):
        """An instant and those that it is computed from, time 0 with them."""
        found = {0, v}
        for each in sorted(self.arcs, reverse=True):
            if each in found:
                found.update(before for before, _ in self.arcs[each])
        return sorted(found)

    # ---- sums ----

    def add_up(self, k, factor, parts):
        """Adds factor * node to the parts; the constant of that."""
        self.added += 1
        if self.added > MOST_ADDED:
            raise Unknown("sums of too many summands")
        op, *given = self.terms.nodes[k]
        if op == "constant":
            return factor * given[0]
        if op in SUMS:
            ways = [(part, by) for part, by in zip(given, SUMS[op]) if by]
            return sum(self.add_up(part, by * factor, parts) for part, by in ways)
        if op == "mul":
            for one, other in (given, given[::-1]):
                by = self.terms.nodes[one]
                if by[0] == "constant":
                    return self.add_up(other, factor * by[1], parts) if by[1] else 0
        parts[k] = parts.get(k, 0) + factor
        return 0

    def alternatives(self, kind, delay):
        """[(constant, {node: factor})] of a delay."""
        parts = {}
        found = [(self.add_up(delay, 1, parts), parts)]
        k = 0
        while kind == "max" and k < len(found):
            constant, parts = found[k]
            largest = next((n for n, f in parts.items() if self.is_largest(n, f)), None)
            if largest is None or len(found) >= MOST_ALTERNATIVES:
                k += 1
                continue
            factor = parts.pop(largest)
            other, (_, a, b) = dict(parts), self.terms.nodes[largest]
            found[k] = constant + self.add_up(a, factor, parts), parts
            found.append((constant + self.add_up(b, factor, other), other))
        return found

    def is_largest(self, k, factor):
        op = self.terms.nodes[k][0]
        wanted = op == "max" and factor > 0 or op == "min" and factor < 0
        return wanted and len(self.terms.reads[k] & self.several) > 1

    def unit(self, k, terms=None):
        """The unit that all variables of a node with several values are in, else None."""
        reads = (terms or self.terms).reads[k]
        units = {self.unit_of.get(v) for v in reads & self.several}
        return units.pop() if len(units) == 1 else None

    def linear(self, constant, parts):
        units, slack = {}, 0
        for k, factor in parts.items():
            u = self.unit(k)
            if factor and u is not None:
                before = units.get(u, itertools.repeat(0))
                units[u] = tuple(a + factor * b for a, b in zip(before, self.column(u, k)))
            elif factor:
                ends = [factor * x for x in self.ends(k)]
                constant, slack = constant + min(ends), slack + max(ends) - min(ends)
        return Linear(constant, units, slack)

    def ends(self, k):
        """The least and the greatest of what reads no unit, or several."""
        if not self.terms.reads[k] & self.several:
            known = self.terms.values(self.least, self.terms.program([k]))[k]
            demand(known is not None, "a summand that can never be computed")
            return [known]
        known = self.terms.range(k)
        if known is None:
            raise Unknown("a summand of too many variables")
        return known

    def limit(self, k, second):
        """The use of a comparison, at most 0 in all inputs."""
        self.terms.number(k, True, "a limit")
        demand(self.terms.same[k] in self.conditions_same, "a limit that is no condition")
        negated, node = False, self.terms.nodes[k]
        while node[0] == "logical_not":
            negated, node = not negated, self.terms.nodes[node[1]]
        equal = node[0] == ("ne" if negated else "eq")
        demand(equal or node[0] in ("lt", "le"), "a limit that is no comparison")
        demand(equal or not second, "a second limit of one comparison")
        sign = -1 if (second if equal else negated) else 1
        parts = {}
        constant = self.add_up(node[1], sign, parts) + self.add_up(node[2], -sign, parts)
        constant += not equal and (node[0] == "lt") != negated
        parts = {n: f for n, f in parts.items() if f}
        if len(parts) == 1:
            ((inner, factor),) = parts.items()
            op, *given = self.terms.nodes[inner]
            by = self.terms.nodes[given[1]] if op == "floor_div" else (None, 0)
            if abs(factor) == 1 and by[0] == "constant" and by[1] >= 1:
                parts = {}
                constant = constant * by[1] - (by[1] - 1 if factor > 0 else 0)
                constant += self.add_up(given[0], factor, parts)
        return self.linear(constant, parts)

    def conditions_apart(self):
        """(terms, node) of all that holds for every input."""
        everywhere = (self.space.terms, self.space.constraints), (self.terms, self.conditions)
        for terms, conditions in everywhere:
            for each in conditions:
                yield from ((terms, part) for part in terms.conjuncts(each))

    # ---- tuples ----

    def rows(self, u):
        values = list(self.least)
        for row in self.tuples[u]:
            for v, x in zip(self.units[u], row):
                values[v] = x
            yield values

    def column(self, u, k):
        """Of a node that reads one unit: its value for each tuple."""
        if (u, k) not in self.columns:
            program = self.terms.program([k])
            column = [self.terms.values(values, program)[k] for values in self.rows(u)]
            if None in column:
                raise Unknown("a limit that cannot be computed everywhere")
            self.columns[u, k] = column
        return self.columns[u, k]

    def list_tuples(self, sums):
        local = [[] for _ in self.units]  # per unit (terms, node, which values it may have)
        self.conditions_same = set()
        for terms, k in self.conditions_apart():
            self.conditions_same.add(terms.same[k])
            u = self.unit(k, terms)
            if u is not None:
                local[u].append((terms, k, (True,)))
            elif not terms.reads[k] & self.several:
                self.empty |= terms.values(self.least, terms.program([k]))[k] is not True
        summands = {k for ways in sums.values() for _, _, parts in ways for k in parts}
        for k, wanted in [*((k, None) for k in summands), (self.fault, (None,))]:
            u = None if k is None else self.unit(k)
            if u is not None:
                local[u].append((self.terms, k, wanted))
        self.tuples = []
        for u, variables in enumerate(self.units):
            ends = [self.space.variables[v][1:] for v in variables]
            number = math.prod(hi - lo + 1 for lo, hi in ends)
            demand(number <= MOST_TUPLES, "a unit of too many tuples")
            self.tuples.append(list(itertools.product(*(range(lo, hi + 1) for lo, hi in ends))))
            for terms, k, wanted in local[u]:
                program = terms.program([k])
                found = [terms.values(values, program)[k] for values in self.rows(u)]
                kept = [x in wanted if wanted else x is not None for x in found]
                self.tuples[u] = list(itertools.compress(self.tuples[u], kept))
            self.empty |= not self.tuples[u]
        self.sizes = [len(rows) for rows in self.tuples]

    # ---- inputs ----

    def times(self, delays, wanted=None):
        """Of all instants; `delays(v)`: (from, delay) of its arcs."""
        t = [0] * len(self.instants)
        for v, node in enumerate(self.instants):
            if node is not None and (wanted is None or v in wanted):
                t[v] = node.time([t[a] + d for a, d in delays(v)])
        return t

    def value(self, assignment):
        """The target of an input of the space if it belongs to the problem, else None."""
        known = self.terms.values(assignment, self.program)
        belongs = all(known[k] is True for k in self.conditions)
        belongs = belongs and (self.fault is None or known[self.fault] is None)
        if not belongs or any(known[k] is None or known[k] < 0 for k in self.delays):
            return None
        t = self.times(lambda v: [(a, known[k]) for a, k in self.instants[v].arcs])
        if not all(t[a] + strict <= t[b] for a, b, strict in self.orders):
            return None
        return self.constant + sum(weight * t[v] for v, weight in self.target.items())

    def assignment(self, choice):
        values = list(self.least)
        for variables, rows, row in zip(self.units, self.tuples, choice):
            for v, x in zip(variables, rows[row]):
                values[v] = x
        return values
