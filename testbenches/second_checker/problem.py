"""What a path's steps are about: docs/certificates.md, "Problems"."""

import itertools
import math
from typing import NamedTuple

from document import Unknown, demand, whole
from space import operands_of

PLAIN = ("constant", "boolean", "param")
MOST_TUPLES = 1 << 16
MOST_ALTERNATIVES = 16
MOST_ADDED = 1_000_000  # summands looked at


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


class Problem:
    """`arcs`: per needed instant [(from, Linear)], alternatives apart; `limits`: uses, as Linear;
    `sizes`: tuples of each unit; `empty`: no input can belong to it.
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
        ends = [k for k in (self.fault,) if k is not None]
        delays = [arc[1] for node in self.instants if node for arc in node[1]]
        self.program = terms.program(self.conditions + delays + ends)
        self.several = {k for k, (_, lo, hi) in enumerate(space.variables) if lo < hi}
        self.read_units(data["units"])
        self.mark_needed()
        self.sums = {}  # needed instant: [(from, constant, {node: factor})]
        for v in sorted(self.needed - {0}):
            self.sums[v] = [
                (before, *each)
                for before, delay in self.instants[v][1]
                for each in self.alternatives(self.instants[v][0], delay)
            ]
        self.list_tuples()
        self.arcs, self.limits = {}, []
        if self.empty:
            return
        for v, sums in self.sums.items():
            self.arcs[v] = [(before, self.linear(c, parts)) for before, c, parts in sums]
        for comparison, second in data["limits"]:
            self.limits.append(self.limit(terms.number(comparison, True, "a limit"), second))

    # ---- reading ----

    def read_instants(self, data):
        self.instants = [None]
        demand(data and data[0] is None, "instant 0 is not time 0")
        for kind, *arcs in (node or (None,) for node in data[1:]):
            more = arcs[1:] if kind == "edge" else []
            arcs = arcs[: len(arcs) - len(more)]
            for before, delay in arcs:
                self.instant(before), self.terms.number(delay, False, "a delay")
            self.instants.append(kind and (kind, arcs, *more))

    def instant(self, v):
        whole(v, "an instant", 0, len(self.instants) - 1)
        demand(v == 0 or self.instants[v] is not None, "an instant that is not there")
        return v

    def read_units(self, data):
        self.units, self.unit_of = data, {}
        for u, variables in enumerate(self.units):
            demand(variables and variables == sorted(variables), "a unit is not in order")
            demand(variables[-1] < len(self.space.variables), "a variable that is not there")
            demand(not set(variables) & set(self.unit_of), "a variable in two units")
            demand(len(set(variables)) == len(variables), "a variable in two units")
            self.unit_of.update(dict.fromkeys(variables, u))

    def mark_needed(self):
        earlier = {}
        for before, after, _ in self.orders:
            if before < after:
                earlier.setdefault(after, []).append(before)
        self.needed = {v for v, weight in self.target.items() if weight and v} | {0}
        for v in range(len(self.instants) - 1, 0, -1):
            if v in self.needed:
                self.needed |= {before for before, _ in self.instants[v][1]}
                self.needed |= set(earlier.get(v, ()))

    # ---- sums ----

    def add_up(self, k, factor, parts):
        """Adds factor * node to the parts; the constant of that."""
        self.added += 1
        if self.added > MOST_ADDED:
            raise Unknown("sums of too many summands")
        node = self.terms.nodes[k]
        if node[0] == "constant":
            return factor * node[1]
        if node[0] in ("add", "sub"):
            sign = 1 if node[0] == "add" else -1
            left = self.add_up(node[1], factor, parts)
            return left + self.add_up(node[2], sign * factor, parts)
        if node[0] == "neg":
            return self.add_up(node[1], -factor, parts)
        if node[0] == "assume":
            return self.add_up(node[2], factor, parts)
        if node[0] == "mul":
            for one, other in ((1, 2), (2, 1)):
                by = self.terms.nodes[node[one]]
                if by[0] == "constant":
                    return self.add_up(node[other], factor * by[1], parts) if by[1] else 0
        parts[k] = parts.get(k, 0) + factor
        return 0

    def variables_of(self, k):
        return self.terms.reads[k] & self.several

    def alternatives(self, kind, delay):
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
            other, node = dict(parts), self.terms.nodes[largest]
            found[k] = constant + self.add_up(node[1], factor, parts), parts
            found.append((constant + self.add_up(node[2], factor, other), other))
        return found

    def is_largest(self, node, factor):
        op = self.terms.nodes[node][0]
        wanted = op == "max" and factor > 0 or op == "min" and factor < 0
        return wanted and len(self.variables_of(node)) > 1

    def unit(self, k):
        """The unit that all variables of a node are in, else None."""
        units = {self.unit_of.get(v) for v in self.variables_of(k)}
        return units.pop() if len(units) == 1 else None

    def linear(self, constant, parts):
        units, slack = {}, 0
        for k, factor in parts.items():
            if factor == 0:
                continue
            u = self.unit(k)
            if not self.variables_of(k):
                known = self.terms.values(self.least(), self.terms.program([k]))[k]
                demand(known is not None, "a summand that can never be computed")
                constant += factor * known
            elif u is None:
                known = self.terms.range(k)
                if known is None:
                    raise Unknown("a summand of too many variables")
                ends = [factor * x for x in known]
                constant, slack = constant + min(ends), slack + max(ends) - min(ends)
            else:
                column = self.columns[u, k]
                if None in column:
                    raise Unknown("a limit that cannot be computed everywhere")
                before = units.get(u, [0] * len(column))
                units[u] = [a + factor * b for a, b in zip(before, column)]
        return Linear(constant, {u: tuple(v) for u, v in units.items()}, slack)

    def limit(self, k, second):
        """The use of a comparison, at most 0 in all inputs."""
        negated, node = False, self.terms.nodes[k]
        while node[0] == "logical_not":
            negated, node = not negated, self.terms.nodes[node[1]]
        equal = node[0] == ("ne" if negated else "eq")
        demand(equal or node[0] in ("lt", "le"), "a limit that is no comparison")
        demand(equal or not second, "a second limit of one comparison")
        self.held(k)
        sign = -1 if (second if equal else negated) else 1
        parts = {}
        constant = self.add_up(node[1], sign, parts) + self.add_up(node[2], -sign, parts)
        parts = {n: f for n, f in parts.items() if f}
        if not equal and (node[0] == "lt") != negated:
            constant += 1
        if len(parts) == 1:
            ((inner, factor),) = parts.items()
            node = self.terms.nodes[inner]
            if abs(factor) == 1 and node[0] == "floor_div":
                by = self.terms.nodes[node[2]]
                if by[0] == "constant" and by[1] >= 1:
                    constant = constant * by[1] - (by[1] - 1 if factor > 0 else 0)
                    parts = {}
                    constant += self.add_up(node[1], factor, parts)
        for inner in parts:
            u = self.unit(inner)
            if u is not None and (u, inner) not in self.columns:
                self.columns[u, inner] = self.column(u, inner)
        return self.linear(constant, parts)

    def held(self, k):
        """A limit is one of the conditions, or of the constraints, which are other nodes there."""
        texts = {self.written(self.terms, c) for each in self.conditions for c in
                 self.conjuncts(self.terms, each)}  # fmt: skip
        if not hasattr(self.space, "written"):
            terms = self.space.terms
            self.space.written = {
                self.written(terms, c)
                for each in self.space.constraints
                for c in self.conjuncts(terms, each)
            }
        own = self.written(self.terms, k)
        demand(own in texts or own in self.space.written, "a limit that is no condition")

    def written(self, terms, k):
        """A node with all that it is made of, the same for equal trees."""
        numbers, interned, pending = {}, {}, [k]
        while pending:
            top = pending[-1]
            node, kids = terms.nodes[top], operands_of(terms.nodes[top])
            missing = [kid for kid in kids if kid not in numbers]
            if missing:
                pending += reversed(missing)
                continue
            pending.pop()
            rest = [part for part in node[1:] if node[0] in PLAIN or type(part) is list]
            key = repr((node[0], [numbers[kid] for kid in kids], rest))
            numbers[top] = interned.setdefault(key, len(interned))
        return repr(list(interned))

    def conjuncts(self, terms, k):
        pending, found = [k], []
        while pending:
            node = terms.nodes[pending[-1]]
            if node[0] == "logical_and":
                pending.pop()
                pending += [node[2], node[1]]
            else:
                found.append(pending.pop())
        return found

    # ---- tuples ----

    def least(self):
        return [lo for _, lo, _ in self.space.variables]

    def rows(self, u):
        values = self.least()
        for row in self.tuples[u]:
            for v, x in zip(self.units[u], row):
                values[v] = x
            yield values

    def column(self, u, k, terms=None):
        terms = terms or self.terms
        program = terms.program([k])
        return [terms.values(values, program)[k] for values in self.rows(u)]

    def list_tuples(self):
        local = {}  # unit: [(terms, node, what it must be)]
        for terms, conditions in (
            (self.space.terms, self.space.constraints),
            (self.terms, self.conditions),
        ):
            for each in conditions:
                for k in self.conjuncts(terms, each):
                    inside = terms.reads[k] & self.several
                    units = {self.unit_of.get(v) for v in inside}
                    if not inside and terms.values(self.least(), terms.program([k]))[k] is not True:
                        self.empty = True
                    if len(units) == 1 and None not in units:
                        local.setdefault(units.pop(), []).append((terms, k, True))
        if self.fault is not None:
            local.setdefault(self.unit(self.fault), []).append((self.terms, self.fault, None))
        self.tuples, self.columns = [], {}
        for u, variables in enumerate(self.units):
            ranges = [self.space.variables[v][1:] for v in variables]
            total = math.prod(hi - lo + 1 for lo, hi in ranges)
            demand(total <= MOST_TUPLES, "a unit of too many tuples")
            self.tuples.append(list(itertools.product(*(range(lo, hi + 1) for lo, hi in ranges))))
            for terms, k, wanted in local.get(u, ()):
                column = self.column(u, k, terms)
                self.tuples[u] = [r for r, x in zip(self.tuples[u], column) if x is wanted]
            wanted = sorted({
                k for sums in self.sums.values() for _, _, parts in sums for k in parts
                if self.variables_of(k) and self.unit(k) == u
            })  # fmt: skip
            columns = {k: self.column(u, k) for k in wanted}
            fine = [n for n, row in enumerate(zip(*columns.values())) if None not in row]
            if columns:
                self.tuples[u] = [self.tuples[u][n] for n in fine]
            for k, column in columns.items():
                self.columns[u, k] = [column[n] for n in fine]
            self.empty |= not self.tuples[u]
        self.sizes = [len(rows) for rows in self.tuples]
        self.complete = all(v in self.unit_of for v in self.several)

    # ---- inputs ----

    def times(self, delays, before=None):
        """Of all instants; `delays(v)`: those of its arcs. None where one is negative."""
        t = [0] * len(self.instants)
        for v, node in enumerate(self.instants):
            if node is None or before is not None and v not in before:
                continue
            arrive = [t[a] + d for a, d in delays(v)]
            t[v] = self.node_time(node, arrive)
        return t

    @staticmethod
    def node_time(node, arrive):
        if node[0] == "max":
            return max(arrive, default=0)
        if node[0] == "gate":
            start, closes, opens = arrive
            return start if start < closes else max(start, opens)
        period, phase = node[2:]
        return arrive[0] + (phase - arrive[0]) % period

    def target_of(self, t):
        return self.constant + sum(weight * t[v] for v, weight in self.target.items())

    def value(self, assignment):
        """The target of an input of the space if it belongs to the problem, else None."""
        known = self.terms.values(assignment, self.program)
        if any(known[k] is not True for k in self.conditions):
            return None
        if self.fault is not None and known[self.fault] is not None:
            return None
        for node in self.instants:
            for _, delay in node[1] if node else ():
                if known[delay] is None or known[delay] < 0:
                    return None
        t = self.times(lambda v: [(a, known[k]) for a, k in self.instants[v][1]])
        for a, b, strict in self.orders:
            if not (t[a] < t[b] if strict else t[a] <= t[b]):
                return None
        return self.target_of(t)

    def assignment(self, choice):
        values = self.least()
        for variables, rows, row in zip(self.units, self.tuples, choice):
            for v, x in zip(variables, rows[row]):
                values[v] = x
        return values
