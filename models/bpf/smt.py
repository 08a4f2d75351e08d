"""Terms as Z3 has them, and questions about conditions."""

import contextlib

from . import terms as t
from .errors import refused

try:
    import z3
except ImportError:
    z3 = None

DIVISIONS = {"udiv": "UDiv", "urem": "URem", "sdiv": None, "srem": None}


class Solver:
    """Decides whether conditions can hold together. A question that takes longer than `seconds` is
    answered None.
    """

    def __init__(self, seconds=10.0):
        if z3 is None:
            raise refused("E-bpf-limit", "the solver is missing: install Debian's python3-z3")
        self.context = z3.Context()
        self.solver = z3.Solver(ctx=self.context)
        self.solver.set("timeout", int(seconds * 1000))
        self.seconds = seconds
        self.held = []
        self.functions = {}
        self.terms = {}
        self.asked = 0

    @contextlib.contextmanager
    def at_most(self, seconds):
        """Questions meanwhile may take this long."""
        self.solver.set("timeout", int(seconds * 1000))
        try:
            yield
        finally:
            self.solver.set("timeout", int(self.seconds * 1000))

    # Translation

    def function(self, name, *widths):
        key = (name, *widths)
        if key not in self.functions:
            sorts = [
                z3.BitVecSort(w, self.context) if w else z3.BoolSort(self.context) for w in widths
            ]
            self.functions[key] = z3.Function("_".join(map(str, key)), *sorts)
        return self.functions[key]

    def of(self, term):
        """A term as a Z3 expression."""
        known = self.terms
        if term.number in known:
            return known[term.number]
        stack = [term]
        while stack:
            one = stack[-1]
            if one.number in known:
                stack.pop()
                continue
            missing = [a for a in one.args if isinstance(a, t.Term) and a.number not in known]
            if missing:
                stack.extend(missing)
            else:
                known[one.number] = self._one(one)
                stack.pop()
        return known[term.number]

    def _one(self, term):
        op, width = term.op, term.width
        a = [self.terms[x.number] if isinstance(x, t.Term) else x for x in term.args]
        if op == "const":
            if width == 0:
                return z3.BoolVal(term.args[0], self.context)
            return z3.BitVecVal(a[0], width, self.context)
        if op == "symbol":
            if width == 0:
                return z3.Bool(a[0], self.context)
            return z3.BitVec(a[0], width, self.context)
        if op == "pkt":
            return self.function("pkt", 32, 8)(a[0])
        if op in ("has", "val"):
            widths = [x.width for x in term.args[1:]]
            return self.function(f"{op} {a[0]}", *widths, width)(*a[1:])
        if op == "cat":
            return z3.Concat(*a)
        if op == "cut":
            return z3.Extract(a[1], a[2], a[0])
        if op == "sext":
            return z3.SignExt(width - term.args[0].width, a[0])
        if op in ("udiv", "urem", "sdiv", "srem"):
            zero = z3.BitVecVal(0, width, self.context)
            if op[0] == "u":
                value = z3.UDiv(*a) if op == "udiv" else z3.URem(*a)
            else:
                value = a[0] / a[1] if op == "sdiv" else z3.SRem(*a)
            return z3.If(a[1] == zero, a[0] if op[1:] == "rem" else zero, value)
        if op in ("shl", "lshr", "ashr"):
            by = a[1] & z3.BitVecVal(width - 1, width, self.context)
            if op == "shl":
                return a[0] << by
            return z3.LShR(a[0], by) if op == "lshr" else a[0] >> by
        if op == "all":
            return z3.And(*a)
        if op == "any":
            return z3.Or(*a)
        return _PLAIN[op](*a)

    # Questions

    def hold(self, conditions):
        """Makes these what is asked about; those that were held before stay where they agree."""
        same = 0
        for x, y in zip(self.held, conditions):
            if x is not y:
                break
            same += 1
        if same < len(self.held):
            self.solver.pop(len(self.held) - same)
            del self.held[same:]
        for one in conditions[same:]:
            self.solver.push()
            self.solver.add(self.of(one))
            self.held.append(one)

    def can(self, conditions, *more):
        """Whether they can hold together: True, False, or None where the solver gave up."""
        self.hold(conditions)
        self.asked += 1
        answer = self.solver.check(*[self.of(m) for m in more])
        if answer == z3.unknown:
            return None
        return answer == z3.sat

    def model(self, conditions, *more):
        """A model of them, as `Model`; None where there is none or the solver gave up."""
        return Model(self, self.solver.model()) if self.can(conditions, *more) else None


class Model:
    """What a model says of terms."""

    def __init__(self, solver, model):
        self.solver, self.model = solver, model

    def value(self, term):
        """A term's number, or truth."""
        found = self.model.eval(self.solver.of(term), model_completion=True)
        return z3.is_true(found) if term.width == 0 else found.as_long()


_PLAIN = {
    "not": lambda a: z3.Not(a),
    "ite": lambda c, a, b: z3.If(c, a, b),
    "eq": lambda a, b: a == b,
    "ult": lambda a, b: z3.ULT(a, b),
    "slt": lambda a, b: a < b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "neg": lambda a: -a,
}
