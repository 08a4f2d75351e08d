"""Spaces and terms: docs/certificates.md, "Spaces and terms"."""

import itertools
import math
import random

from document import demand, fits, whole, within, word
from formula import OPERATIONS, Fault

LATEST = 1 << 40  # that a token may come
MOST_NODES, MOST_LEVELS = 65_536, 500  # of a term, as a tree
ONE = {"neg": "neg", "abs": "abs", "bit_not": "~"}
TWO = {
    "add": "+", "sub": "-", "mul": "*", "floor_div": "//", "ceil_div": "ceil_div", "mod": "%",
    "min": "min", "max": "max", "bit_and": "&", "bit_or": "|", "bit_xor": "^",
    "shift_left": "<<", "shift_right": ">>",
}  # fmt: skip
COMPARED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<="}
SIGNS = {**ONE, **TWO, **COMPARED, "logical_not": "not"}
# What nodes are made of, operands being conditions (True), numbers (False) or either (None), and what they are.
FORMS = {
    "constant": ((word,), False), "boolean": ((bool,), True), "param": ((within(0),), False),
    "lookup": (([word], False), False), "assume": ((True, None, str), None),
    "select": ((True, None, None), None), "logical_not": ((True,), True),
    "logical_and": ((True, True), True), "logical_or": ((True, True), True),
    **{op: ((False,), False) for op in ONE}, **{op: ((False, False), False) for op in TWO},
    **{op: ((False, False), True) for op in COMPARED},
}  # fmt: skip
# Operators whose least and greatest value are at ends of their operands' ranges.
ENDS = {
    "add": int.__add__, "sub": int.__sub__, "mul": int.__mul__, "neg": int.__neg__, "min": min, "max": max,
    "floor_div": int.__floordiv__,
}  # fmt: skip


class Terms:
    """Nodes; each has operands of lesser numbers. `kinds`: whether a node is a condition; `reads`: its variables;
    `same`: a number that equal terms share, also with the Terms that it is like.
    """

    def __init__(self, nodes, variables, like=None):
        self.nodes, self.operands, self.kinds, self.reads = [], [], [], []
        self.sizes, self.depths, self.same = [], [], []
        self.variables, self.seen = variables, like.seen if like else {}
        for op, *given in nodes:
            self.add(op, given)

    def add(self, op, given):
        demand(op in FORMS, f"no operator {op[:40]!r}")
        forms, kind = FORMS[op]
        demand(len(given) == len(forms), f"{op} has other operands")
        operands, either = [], set()
        for part, form in zip(given, forms):
            if form not in (True, False, None):
                fits(part, form, f"what {op} is of")
                continue
            k = whole(part, "an operand", 0, len(self.nodes) - 1)
            demand(form is None or self.kinds[k] == form, f"{op} of a value of another kind")
            operands.append(k)
            either |= {self.kinds[k]} if form is None else set()
        demand(len(either) < 2, f"{op} of values of two kinds")
        demand(op != "param" or given[0] < len(self.variables), "a variable that is not there")
        demand(op != "lookup" or given[0], "no lookup")
        self.sizes.append(1 + sum(self.sizes[k] for k in operands))
        self.depths.append(1 + max((self.depths[k] for k in operands), default=0))
        small = self.sizes[-1] <= MOST_NODES and self.depths[-1] <= MOST_LEVELS
        demand(small, "a term that is too large")
        self.nodes.append((op, *given))
        self.operands.append(operands)
        self.kinds.append(either.pop() if kind is None else kind)
        own = {given[0]} if op == "param" else frozenset()
        self.reads.append(frozenset(own).union(*(self.reads[k] for k in operands)))
        plain = given if not operands else given[:1] if op == "lookup" else []
        key = op, repr(plain), *(self.same[k] for k in operands)
        self.same.append(self.seen.setdefault(key, len(self.seen)))

    def number(self, k, condition, what):
        whole(k, what, 0, len(self.nodes) - 1)
        demand(self.kinds[k] is condition, f"{what} is of another kind")
        return k

    def program(self, wanted):
        """The numbers of these nodes and of all that they are made of."""
        needed, pending = set(), list(wanted)
        while pending:
            k = pending.pop()
            if k not in needed:
                needed.add(k)
                pending += self.operands[k]
        return sorted(needed)

    def values(self, assignment, program=None):
        """{node: value}; None where it cannot be computed."""
        found = {}
        for k in range(len(self.nodes)) if program is None else program:
            try:
                operands = [found[part] for part in self.operands[k]]
                found[k] = value(self.nodes[k], operands, assignment)
            except Fault:
                found[k] = None
        return found

    def conjuncts(self, k):
        """What a condition is taken apart into at `and`."""
        if self.nodes[k][0] != "logical_and":
            return [k]
        return [part for kid in self.operands[k] for part in self.conjuncts(kid)]

    def range(self, k):
        """Least and greatest value of an int node, by the variables' ranges; None: not known."""
        node = self.nodes[k]
        if node[0] in ("constant", "lookup"):
            found = node[1] if node[0] == "lookup" else node[1:]
            return min(found), max(found)
        if node[0] == "param":
            return self.variables[node[1]][1:]
        parts = [self.range(each) for each in self.operands[k] if not self.kinds[each]]
        if None in parts:
            return None
        if node[0] in ("select", "assume"):
            found = [*itertools.chain(*parts)]
        elif node[0] in ENDS and (node[0] != "floor_div" or parts[1][0] > 0):
            found = [ENDS[node[0]](*ends) for ends in itertools.product(*parts)]
        else:
            return None
        return min(found), max(found)


def value(node, operands, assignment):
    """Of a node, from the values of its operands."""
    op = node[0]
    if op in ("constant", "boolean"):
        return node[1]
    if op == "param":
        return assignment[node[1]]
    first, *more = operands
    if op == "logical_and":
        return more[0] if first else first
    if op == "logical_or":
        return more[0] if first is False else first
    if first is None:
        return None
    if op == "lookup":
        return node[1][first] if 0 <= first < len(node[1]) else None
    if op == "select":
        return more[0] if first else more[1]
    if op == "assume":
        return more[0] if first else None
    return None if None in more else OPERATIONS[SIGNS[op]](first, *more)


class Space:
    """The inputs: values of variables, each with the run's parameters and tokens."""

    def __init__(self, data, net):
        self.net, self.done, self.variables = net, data.get("done_count"), data["variables"]
        demand(data["net"] == net.name, "a space of a net with another name")
        self.names = {name: k for k, (name, _, _) in enumerate(self.variables)}
        demand(len(self.names) == len(self.variables), "two variables of one name")
        demand(all(lo <= hi for _, lo, hi in self.variables), "a range without a value")
        self.terms = terms = Terms(data["nodes"], self.variables)
        self.fixed, self.tokens = data["fixed"], {}
        demand(all(n in net.params for n in (*data["params"], *self.fixed)), "no such parameter")
        self.params = {n: terms.number(k, False, "a parameter") for n, k in data["params"].items()}
        places = {place.name: place for place in net.places}
        for entry in data["tokens"]:
            place, count, rows = places.get(entry["place"]), entry["count"], entry["rows"]
            demand(place is not None, "tokens of no place")
            demand(place.name not in self.tokens, "tokens of one place twice")
            demand(entry["properties"] == place.type.fields, "tokens of another type")
            demand(all(len(row) == len(place.type.fields) for row in rows), "another width")
            times = entry.get("at")
            numbers = [*([] if count is None else [count]), *itertools.chain(*rows), *(times or [])]
            for k in numbers:
                terms.number(k, False, "a property, count or time")
            if "at" in entry:
                demand(len(times) == len(rows) > 0, "not a time for each token")
                demand(not place.capacity, "tokens that come later into a place with a capacity")
            self.tokens[place.name] = place, rows, count, times
        self.constraints = [terms.number(k, True, "a constraint") for k in data["constraints"]]
        named = data.get("terms", {})
        self.interface = terms.number(named["E"], False, "E") if "E" in named else None

    def size(self):
        """Assignments, inputs or not."""
        return math.prod(hi - lo + 1 for _, lo, hi in self.variables)

    def assignments(self):
        return itertools.product(*(range(lo, hi + 1) for _, lo, hi in self.variables))

    def drawn(self, number):
        """So many assignments at random."""
        chance = random.Random(1)
        for _ in range(number):
            yield tuple(chance.randint(lo, hi) for _, lo, hi in self.variables)

    def contains(self, assignment):
        """The values of the space's nodes if it is an input, else None."""
        known = self.terms.values(assignment)
        return known if all(known[k] is True for k in self.constraints) else None

    def input(self, known):
        """(parameters, tokens by place, (time, place, token) that come later) of an input."""
        computed = {name: known[k] for name, k in self.params.items()}
        params, tokens, later = {**self.fixed, **computed}, {}, []
        for name, each in params.items():
            inside(each, self.net.params[name][1], "a parameter")
        for name, (place, rows, count, times) in self.tokens.items():
            n = inside(len(rows) if count is None else known[count], (0, len(rows)), "a count")
            tokens[name] = [tuple(known[k] for k in row) for row in rows[:n]]
            for row in tokens[name]:
                for each, allowed in zip(row, place.type.ranges):
                    inside(each, allowed, "a property")
            if times is not None:
                at = [inside(known[k], (0, LATEST), "a time") for k in times[:n]]
                demand(at == sorted(at), "times of tokens that are not in their order")
                later += [(time, name, row) for time, row in zip(at, tokens[name]) if time > 0]
                tokens[name] = [row for time, row in zip(at, tokens[name]) if time == 0]
        return params, tokens, later

    def assignment_of(self, witness):
        demand(witness.keys() == self.names.keys(), "the witness has other variables")
        values = [witness[name] for name, _, _ in self.variables]
        for each, (_, lo, hi) in zip(values, self.variables):
            demand(lo <= each <= hi, "the witness is outside of the ranges")
        return tuple(values)


def inside(value, allowed, what):
    """A value, or one that is not decided, whose `column` has those that it may be."""
    column = getattr(value, "column", (value,))
    demand(None not in column, f"{what} of an input cannot be computed")
    fine = not allowed or allowed[0] <= min(column) and max(column) <= allowed[1]
    demand(fine, f"{what} out of its range")
    return value
