"""What formulas are worth: docs/semantics.md, "Formulas". A tree of text.py becomes a function of a `Moment`."""

from text import LEAST, MOST


class Fault(Exception):
    """An error of a run: code and offending value; whoever evaluates adds where it happened."""

    def __init__(self, code, value=0, site=None):
        super().__init__(code)
        self.code, self.value, self.site = code, value, site
        self.time = self.group = self.transition = None


class Moment:
    """What a formula can see: of each arc the place, the tokens needed and how many are taken."""

    __slots__ = ("places", "needed", "taken", "index", "loops")

    def __init__(self, places):
        self.places = places
        self.needed = [()] * len(places)
        self.taken = [0] * len(places)
        self.index = 0
        self.loops = [0] * 8


def fit(value):
    """Exact or an error: every intermediate must fit into 64 bits."""
    if LEAST <= value <= MOST:
        return value
    raise Fault("E-overflow")


def divisor(value):
    if value >= 1:
        return value
    raise Fault("E-divisor", value)


def distance(value):
    if 0 <= value <= 63:
        return value
    raise Fault("E-shift", value)


# Operands are evaluated from left to right, both before the operation.
OPERATIONS = {
    "+": lambda a, b: fit(a + b),
    "-": lambda a, b: fit(a - b),
    "*": lambda a, b: fit(a * b),
    "//": lambda a, b: a // divisor(b),
    "%": lambda a, b: a % divisor(b),
    "ceil_div": lambda a, b: -(-a // divisor(b)),
    "min": min,
    "max": max,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<<": lambda a, b: fit(a << distance(b)),
    ">>": lambda a, b: a >> distance(b),
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    "neg": lambda a: fit(-a),
    "~": lambda a: ~a,
    "abs": lambda a: fit(abs(a)),
    "not": lambda a: not a,
}


def function_of(tree, params):
    """`tree` as a function of a Moment, for one choice of parameters."""
    op = tree[0]
    if op in ("int", "bool"):
        return lambda m, value=tree[1]: value
    if op == "param":
        return lambda m, value=params[tree[1]]: value
    if op == "index":
        return lambda m: m.index
    if op == "loop":
        return lambda m, depth=tree[1]: m.loops[depth]
    if op == "token":
        return token(tree[1], function_of(tree[2], params), tree[3])
    if op == "occupancy":
        return lambda m, arc=tree[1]: m.places[arc].occupancy
    if op == "free":
        return lambda m, arc=tree[1]: len(m.places[arc].free)
    if op == "taken":
        return lambda m, arc=tree[1]: m.taken[arc]
    if op in ("sum", "min_of", "max_of"):
        return aggregate(op, tree[1], tree[2], function_of(tree[3], params))
    if op == "lookup":
        return lookup(tree[1], function_of(tree[2], params))
    if op == "assume":
        return assume(*(function_of(part, params) for part in tree[1:3]), tree[3])
    parts = [function_of(part, params) for part in tree[1:]]
    if op == "select":
        condition, yes, no = parts
        return lambda m: yes(m) if condition(m) else no(m)
    if op == "and":
        return lambda m: parts[0](m) and parts[1](m)
    if op == "or":
        return lambda m: parts[0](m) or parts[1](m)
    operation = OPERATIONS[op]
    if len(parts) == 1:
        return lambda m, a=parts[0]: operation(a(m))
    return lambda m, a=parts[0], b=parts[1]: operation(a(m), b(m))


def token(arc, position, column):
    def value(m):
        k = position(m)
        if not 0 <= k < len(m.needed[arc]):
            raise Fault("E-token-index", k)
        return m.needed[arc][k].values[column]

    return value


def aggregate(op, arc, depth, body):
    def value(m):
        result = 0 if op == "sum" else None
        for j in range(len(m.needed[arc])):
            m.loops[depth] = j
            x = body(m)
            if op == "sum":
                result = fit(result + x)
            elif result is None or (x < result if op == "min_of" else x > result):
                result = x
        if result is None:
            raise Fault("E-empty")
        return result

    return value


def lookup(table, position):
    def value(m):
        x = position(m)
        if not 0 <= x < len(table):
            raise Fault("E-lookup", x)
        return table[x]

    return value


def assume(condition, body, number):
    def value(m):
        if not condition(m):
            raise Fault("E-assume", number)
        return body(m)

    return value
