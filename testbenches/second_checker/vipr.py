"""The bound of a path as a VIPR certificate (version 1.0): a mixed integer program and each step of its proof.

Variables: for each unit a 0/1 per tuple, of which one is 1, and the instants. Constraints: each instant is not
before its arcs and orders, uses are at most 0. So the program has all inputs of the path, and perhaps more. To be
proved: the target is not below the bound. Boxes are cases, chains and multipliers are sums of constraints. Only what
is such a sum is written: least values of one instant. A longest path is none.
"""

import math
from fractions import Fraction

from document import Unknown

MOST_ROWS = 20_000


class Vipr:
    """Collects the constraints, then the derivations, of one path."""

    def __init__(self, problem, maximum, bound):
        left = [(v, w) for v, w in problem.target.items() if v and w]
        if maximum or len(left) != 1 or left[0][1] != 1 or problem.constant or problem.empty:
            raise Unknown("only least values of one instant are sums of constraints")
        self.p, self.bound, self.instant = problem, bound, left[0][0]
        self.names, self.rows, self.derived = [], [], []
        self.y = [[self.name(f"y{u}_{r}") for r in range(n)] for u, n in enumerate(problem.sizes)]
        self.t = {v: self.name(f"t{v}") for v in sorted(problem.arcs)}
        self.goal = {self.t[self.instant]: 1}
        self.positive = {k: self.row("G", 0, {k: 1}) for k in range(len(self.names))}
        self.bounds = len(self.rows)
        self.turns = {  # of an edge: which one it is, and that the instant is that one
            v: (k := self.name(f"k{v}"), self.row("E", node[3], {self.t[v]: 1, k: -node[2]}))
            for v, node in enumerate(problem.instants)
            if v in problem.arcs and node[0] == "edge"
        }
        self.one = [self.row("E", 1, dict.fromkeys(columns, 1)) for columns in self.y]
        self.arcs = {}
        for v, ways in problem.arcs.items():
            for number, (before, delay) in enumerate(ways):
                if problem.instants[v][0] != "gate" or number == 0:
                    parts = self.columns(delay, -1)
                    self.arcs[v, number] = self.row(
                        "G", delay.constant, self.apart(v, before, parts)
                    )
        self.orders = {
            k: self.row("G", int(strict), self.apart(after, before, {}))
            for k, (before, after, strict) in enumerate(problem.orders)
            if before < after and {before, after} <= {0, *problem.arcs}
        }
        self.limits = [self.row("L", -use.constant, self.columns(use, 1)) for use in problem.limits]
        self.given = len(self.rows)

    def name(self, text):
        self.names.append(text)
        return len(self.names) - 1

    def row(self, sense, value, parts, reason=None):
        """The index of a constraint, given or derived for a reason."""
        if len(self.rows) > MOST_ROWS:
            raise Unknown("a program of too many constraints")
        self.rows.append((sense, value, {k: c for k, c in parts.items() if c}, reason))
        return len(self.rows) - 1

    def columns(self, linear, sign):
        return {
            self.y[u][r]: sign * c
            for u, column in linear.units.items()
            for r, c in enumerate(column)
        }

    def apart(self, after, before, parts):
        """after - before + parts; instant 0 is 0."""
        for v, sign in ((after, 1), (before, -1)):
            if v:
                parts[self.t[v]] = parts.get(self.t[v], 0) + sign
        return parts

    # ---- derivations ----

    def summed(self, used, box, outside, d, goal):
        """Derives what these multiples of constraints, {index: multiple}, over d, say of the box: that `goal`, {variable:
        factor}, is at least a number; rounded up, as all of it is whole. Without a goal that there is no input.
        """
        total, value = {}, 0
        for index, by in used.items():
            value += by * self.rows[index][1]
            for k, c in self.rows[index][2].items():
                total[k] = total.get(k, 0) + by * c
        used = dict(used)

        def add(index, by):
            if by:
                used[index] = used.get(index, 0) + by

        for u, columns in enumerate(self.y):
            lo, hi = box[u]
            costs = [-total.get(k, 0) for k in columns]
            least = min(costs[lo:hi])
            add(self.one[u], least)
            value += least
            for side, rows in (("below", range(lo)), ("above", range(hi, len(columns)))):
                short = max((least - costs[r] for r in rows), default=0)
                if short > 0:
                    add(outside[u, side], -short)
                for r in rows:
                    add(self.positive[columns[r]], costs[r] - least + max(short, 0))
            for r in range(lo, hi):
                add(self.positive[columns[r]], costs[r] - least)
        used = {k: Fraction(by, d) for k, by in used.items() if by}
        value = Fraction(value, d)
        return self.row(
            "G", math.ceil(value) if goal else value, goal, ("rnd" if goal else "lin", used)
        )

    def leaf(self, step, box, outside):
        kind = step["kind"]
        if kind == "no input":
            return self.summed(self.multiplied(step), box, outside, 1, {})
        if kind == "relaxation":
            d, used, total = step["denominator"], self.multiplied(step), 0
            for weight, arcs in step.get("chains", []):
                total += weight
                v = self.instant
                for number in arcs:
                    index, v = self.followed(v, number)
                    used[index] = used.get(index, 0) + weight
                if v and weight:
                    used[self.positive[self.t[v]]] = used.get(self.positive[self.t[v]], 0) + weight
            start = self.positive[self.t[self.instant]]
            used[start] = used.get(start, 0) + d - total
            return self.summed(used, box, outside, d, self.goal)
        if kind == "point":
            return self.point(tuple(lo for lo, _ in box), box, outside)
        raise Unknown("a solver's answer is no sum of constraints")

    def multiplied(self, step):
        return {row: -m for row, m in zip(self.limits, step["multipliers"]) if m}

    def followed(self, v, number):
        ways = self.p.arcs[v]
        if number >= len(ways):
            k = number - len(ways)
            return self.orders[k], self.p.orders[k][0]
        if (v, number) not in self.arcs:
            raise Unknown("a gate that is surely blocked is no linear constraint")
        return self.arcs[v, number], ways[number][0]

    def point(self, choice, box, outside):
        """Of one choice: a limit that it breaks, or instant by instant the least it can be."""
        for row, use in zip(self.limits, self.p.limits):
            if use.of(choice) > 0:
                return self.summed({row: -1}, box, outside, 1, {})
        ends, least = {0: 0}, {}
        for v in sorted(self.p.arcs):
            ends[v], row, before = max(self.ways(v, ends, choice))
            used = {row: 1, least[before]: 1} if before else {row: 1}
            least[v] = self.summed(used, box, outside, 1, {self.t[v]: 1})
            if v in self.turns:
                k, same = self.turns[v]
                period, phase = self.p.instants[v][2:]
                number = -((phase - ends[v]) // period)
                used = {least[v]: Fraction(1, period), same: Fraction(-1, period)}
                turn = self.row("G", number, {k: 1}, ("rnd", used))
                ends[v] = phase + period * number
                least[v] = self.row("G", ends[v], {self.t[v]: 1}, ("lin", {same: 1, turn: period}))
        if ends[self.instant] < self.bound:
            raise Unknown("an input that only its run tells of")
        return least[self.instant]

    def ways(self, v, ends, choice):
        """(the least an instant can be, the constraint that says so, the instant before it)."""
        yield 0, self.positive[self.t[v]], 0
        for number, (before, delay) in enumerate(self.p.arcs[v]):
            if (v, number) in self.arcs:
                yield ends[before] + delay.of(choice), self.arcs[v, number], before
        for k, row in self.orders.items():
            before, after, strict = self.p.orders[k]
            if after == v:
                yield ends[before] + strict, row, before

    def prove(self, steps):
        steps = iter(steps)

        def box_of(box, outside):
            step = next(steps)
            if step["kind"] != "split":
                return self.leaf(step, box, outside)
            u, cut = step["unit"], step["tuple"]
            lo, hi = box[u]
            before = dict.fromkeys(self.y[u][:cut], 1)
            first = self.row("G", 1, before, ("asm", None))
            above = self.row(
                "L", 0, dict.fromkeys(self.y[u][cut:], 1), ("lin", {self.one[u]: 1, first: -1})
            )
            one = box_of([*box[:u], (lo, cut), *box[u + 1 :]], {**outside, (u, "above"): above})
            second = self.row("L", 0, before, ("asm", None))
            other = box_of([*box[:u], (cut, hi), *box[u + 1 :]], {**outside, (u, "below"): second})
            if all(not self.rows[k][2] for k in (one, other)):
                return self.row("G", 1, {}, ("uns", (one, first, other, second)))
            least = min(self.rows[k][1] for k in (one, other) if self.rows[k][2])
            return self.row("G", least, self.goal, ("uns", (one, first, other, second)))

        last = box_of([(0, n) for n in self.p.sizes], {})
        if self.rows[last][2] and self.rows[last][1] < self.bound:
            raise Unknown("its steps do not reach the bound")

    # ---- text ----

    def text(self):
        def parts(values):
            return " ".join([str(len(values)), *(f"{k} {c}" for k, c in sorted(values.items()))])

        infeasible = not self.rows[-1][2]
        lines = [
            "VER 1.0",
            f"VAR {len(self.names)}",
            " ".join(self.names),
            f"INT {len(self.names)}",
        ]
        lines.append(" ".join(map(str, range(len(self.names)))))
        lines += ["OBJ min", parts(self.goal), f"CON {self.given} {self.bounds}"]
        made = [
            f"C{k} {sense} {value} {parts(values)}"
            for k, (sense, value, values, _) in enumerate(self.rows)
        ]
        lines += made[: self.given]
        lines += ["RTP infeas" if infeasible else f"RTP range {self.bound} inf", "SOL 0"]
        lines.append(f"DER {len(made) - self.given}")
        for line, (_, _, _, (kind, used)) in zip(made[self.given :], self.rows[self.given :]):
            how = {"asm": "", "uns": " ".join(map(str, used or ()))}.get(kind)
            how = parts(used) if how is None else how
            lines.append(f"{line} {{ {kind} {how} }} -1")
        return "\n".join(lines) + "\n"


def certificate(problem, maximum, bound, steps):
    """The text. Raises Unknown for what is no sum of constraints."""
    made = Vipr(problem, maximum, bound)
    made.prove(steps)
    return made.text()
