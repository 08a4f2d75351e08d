"""Spaces and terms: docs/certificates.md, "Spaces and terms"."""

import itertools
import math
import random

from document import demand, text_of, truth, whole, within, word, words
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
# What nodes are made of, operands being conditions (True), numbers (False) or either (None), and what they are.
FORMS = {
    "constant": ((word,), False), "boolean": ((truth,), True), "param": ((within(0),), False),
    "lookup": ((words, False), False), "assume": ((True, None, text_of), None),
    "select": ((True, None, None), None), "logical_not": ((True,), True),
    "logical_and": ((True, True), True), "logical_or": ((True, True), True),
    **{op: ((False,), False) for op in ONE}, **{op: ((False, False), False) for op in TWO},
    **{op: ((False, False), True) for op in COMPARED},
}  # fmt: skip
PRODUCTS = {
    "add": int.__add__, "sub": int.__sub__, "mul": int.__mul__, "floor_div": int.__floordiv__, "min": min, "max": max,
}  # fmt: skip


class Terms:
    """Nodes; each has operands of lesser numbers. `kinds`: whether a node is a condition."""

    def __init__(self, nodes, variables):
        self.nodes, self.kinds, self.reads = [], [], []
        self.sizes, self.depths = [], []
        for node in nodes:
            self.add(node[0], node[1:], len(variables))
        self.variables = variables

    def add(self, op, given, variables):
        demand(op in FORMS, f"no operator {op[:40]!r}")
        forms, kind = FORMS[op]
        demand(len(given) == len(forms), f"{op} has other operands")
        operands, same = [], set()  # `same`: the kinds of operands of any kind, which are alike
        for part, form in zip(given, forms):
            if callable(form):
                form(part, f"what {op} is of")
                continue
            k = whole(part, "an operand", 0, len(self.nodes) - 1)
            demand(form is None or self.kinds[k] == form, f"{op} of a value of another kind")
            operands.append(k)
            same |= {self.kinds[k]} if form is None else set()
        demand(len(same) < 2, f"{op} of values of two kinds")
        demand(op != "param" or given[0] < variables, "a variable that is not there")
        demand(op != "lookup" or given[0], "no lookup")
        size = 1 + sum(self.sizes[k] for k in operands)
        depth = 1 + max((self.depths[k] for k in operands), default=0)
        demand(size <= MOST_NODES and depth <= MOST_LEVELS, "a term that is too large")
        self.sizes.append(size)
        self.depths.append(depth)
        self.nodes.append((op, *given))
        self.kinds.append(same.pop() if kind is None else kind)
        own = {given[0]} if op == "param" else frozenset()
        self.reads.append(frozenset(own).union(*(self.reads[k] for k in operands)))

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
                pending += operands_of(self.nodes[k])
        return sorted(needed)

    def values(self, assignment, program=None):
        """{node: value}; None where it cannot be computed."""
        found = {}
        for k in range(len(self.nodes)) if program is None else program:
            try:
                found[k] = value(self.nodes[k], found, assignment)
            except Fault:
                found[k] = None
        return found

    def range(self, k):
        """Least and greatest value of an int node, by the variables' ranges; None: not known."""
        node = self.nodes[k]
        if node[0] == "constant":
            return node[1], node[1]
        if node[0] == "param":
            return self.variables[node[1]][1:]
        if node[0] == "lookup":
            return min(node[1]), max(node[1])
        if node[0] == "assume":
            return self.range(node[2])
        parts = [self.range(each) for each in operands_of(node) if not self.kinds[each]]
        if None in parts:
            return None
        if node[0] == "select":
            found = [*parts[0], *parts[1]]
        elif node[0] == "neg":
            found = [-x for x in parts[0]]
        elif node[0] not in PRODUCTS or node[0] == "floor_div" and parts[1][0] < 1:
            return None
        else:
            found = [PRODUCTS[node[0]](a, b) for a in parts[0] for b in parts[1]]
        return min(found), max(found)


def operands_of(node):
    if node[0] in ("constant", "boolean", "param"):
        return ()
    if node[0] == "lookup":
        return node[2:]
    return node[1:3] if node[0] == "assume" else node[1:]


def value(node, known, assignment):
    op = node[0]
    if op in ("constant", "boolean"):
        return node[1]
    if op == "param":
        return assignment[node[1]]
    if op == "lookup":
        x = known[node[2]]
        return node[1][x] if x is not None and 0 <= x < len(node[1]) else None
    if op == "logical_and":
        return known[node[2]] if known[node[1]] else known[node[1]]
    if op == "logical_or":
        return known[node[2]] if known[node[1]] is False else known[node[1]]
    if op == "select":
        chosen = known[node[1]]
        return None if chosen is None else known[node[2]] if chosen else known[node[3]]
    if op == "assume":
        return known[node[2]] if known[node[1]] else None
    parts = [known[k] for k in node[1:]]
    if None in parts:
        return None
    if op == "logical_not":
        return not parts[0]
    return OPERATIONS[ONE.get(op) or TWO.get(op) or COMPARED[op]](*parts)


class Space:
    """The inputs: values of variables, each with the run's parameters and tokens."""

    def __init__(self, data, net):
        self.done = data.get("done_count")
        demand(data["net"] == net.name, "a space of a net with another name")
        self.net, self.variables = net, data["variables"]
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

    def drawn(self, seed):
        """Assignments at random, for ever."""
        chance = random.Random(seed)
        while True:
            yield tuple(chance.randint(lo, hi) for _, lo, hi in self.variables)

    def contains(self, assignment):
        """The values of the space's nodes if it is an input, else None."""
        known = self.terms.values(assignment)
        return known if all(known[k] is True for k in self.constraints) else None

    def input(self, known):
        """(parameters, tokens by place, (time, place, token) that come later) of an input."""
        params = dict(self.fixed)
        for name, k in self.params.items():
            demand(known[k] is not None, "a parameter of an input cannot be computed")
            params[name] = known[k]
        for name, each in params.items():
            allowed = self.net.params[name][1]
            demand(not allowed or allowed[0] <= each <= allowed[1], "a parameter out of its range")
        tokens, later = {}, []
        for name, (place, rows, count, times) in self.tokens.items():
            n = len(rows) if count is None else known[count]
            demand(n is not None and 0 <= n <= len(rows), "a count of tokens out of its range")
            tokens[name] = [tuple(known[k] for k in row) for row in rows[:n]]
            for row in tokens[name]:
                for each, allowed in zip(row, place.type.ranges):
                    demand(each is not None, "a property of an input cannot be computed")
                    inside = not allowed or allowed[0] <= each <= allowed[1]
                    demand(inside, "a property out of its range")
            if times is None:
                continue
            at = [known[k] for k in times[:n]]
            demand(None not in at, "a time of an input cannot be computed")
            demand(all(0 <= each <= LATEST for each in at), "a time out of its range")
            demand(at == sorted(at), "times of tokens that are not in their order")
            later += [(time, name, row) for time, row in zip(at, tokens[name]) if time > 0]
            tokens[name] = [row for time, row in zip(at, tokens[name]) if time == 0]
        return params, tokens, later

    def assignment_of(self, witness):
        demand(set(witness) == set(self.names), "the witness has other variables")
        values = [witness[name] for name, _, _ in self.variables]
        for each, (_, lo, hi) in zip(values, self.variables):
            demand(lo <= each <= hi, "the witness is outside of the ranges")
        return tuple(values)
