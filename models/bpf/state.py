"""What a path through a program knows: registers, stack, packet, maps, and what it has decided."""

from dataclasses import dataclass

from . import terms as t
from .errors import refused

MOST_STORES = 64  # with offsets that are not constant, in one memory


@dataclass(frozen=True, slots=True)
class Pointer:
    """`kind`: ctx, pkt, stack, value, table, data. `of`: the frame of a stack, the generation of a
    packet, the section of data, (map, keys) of a table, (map, keys, updates so far) of a value.
    `null`: when it is 0 instead.
    """

    kind: str
    of: object
    off: t.Term
    null: t.Term = t.FALSE


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a map, where `when` holds. `kind`: put, del, or store of `content` (bytes as
    terms) at `off` into the value. `adds`: when a put makes an entry more.
    """

    kind: str
    keys: tuple
    when: t.Term
    content: tuple = ()
    off: t.Term | None = None
    adds: t.Term = t.FALSE


class Bytes:
    """Memory that was written on: layers of what was written, newest last, over `base`."""

    __slots__ = ("layers",)

    def __init__(self, layers=()):
        self.layers = layers

    def store(self, off, content, when=t.TRUE):
        """The memory after bytes were written at an offset (a term)."""
        at = t.value_of(off)
        if at is None or when is not t.TRUE:
            if sum(layer[0] == "any" for layer in self.layers) >= MOST_STORES:
                raise refused(
                    "E-bpf-limit", f"more than {MOST_STORES} writes at variable offsets of a path"
                )
            return Bytes((*self.layers, ("any", off, tuple(content), when)))
        new = {at + k: byte for k, byte in enumerate(content)}
        if self.layers and self.layers[-1][0] == "at":
            return Bytes((*self.layers[:-1], ("at", {**self.layers[-1][1], **new})))
        return Bytes((*self.layers, ("at", new)))

    def load(self, off, base):
        """The byte at an offset; base(off) is what nobody wrote."""
        at = t.value_of(off)
        pending = []
        for layer in reversed(self.layers):
            if layer[0] == "at":
                if at is not None:
                    if at in layer[1]:
                        return _choose(pending, layer[1][at])
                    continue
                for k, byte in layer[1].items():
                    pending.append((t.eq(off, t.const(k)), byte))
            else:
                _, where, content, when = layer
                for k, byte in enumerate(content):
                    same = t.all_(t.eq(t.add(where, t.const(k)), off), when)
                    if same is t.TRUE:
                        return _choose(pending, byte)
                    if same is not t.FALSE:
                        pending.append((same, byte))
        return _choose(pending, base(off))


def _choose(pending, value):
    for when, byte in reversed(pending):
        value = t.ite(when, byte, value)
    return value


@dataclass
class Fork:
    """A decision: what happens to a state where the condition holds, and where not."""

    condition: t.Term
    yes: object
    no: object


class Cost:
    """Instructions, memory accesses by region, helpers, and the price of all by a cost table (0
    without one) with what it adds for each unit of a performance-critical variable. `choices`:
    [(condition, Cost, Cost)] that are added, of paths that were joined.
    """

    __slots__ = ("insns", "mem", "helpers", "choices", "cycles", "variables")

    def __init__(self, insns=0, mem=None, helpers=None, choices=(), cycles=0, variables=None):
        self.insns, self.mem, self.helpers = insns, mem or {}, helpers or {}
        self.variables = variables or {}
        self.choices, self.cycles = choices, cycles

    def copy(self):
        parts = (dict(self.mem), dict(self.helpers), self.choices, self.cycles)
        return Cost(self.insns, *parts, dict(self.variables))

    def key(self):
        dicts = (self.mem, self.helpers, self.variables)
        parts = (tuple(sorted(each.items())) for each in dicts)
        return (self.insns, *parts, self.cycles)

    def of(self, metric):
        """The constant part in a metric."""
        if metric == "insns":
            return self.insns
        if metric == "mem":
            return sum(self.mem.values())
        return self.cycles

    def bounds(self, metric):
        """(least, most): right whatever the conditions are, exact where they are independent."""
        low = high = self.of(metric)
        for _, a, b in self.choices:
            x, y = a.bounds(metric), b.bounds(metric)
            low, high = low + min(x[0], y[0]), high + max(x[1], y[1])
        return low, high


def joined_cost(when, a, b):
    """The cost a where `when` holds, else b; what both have is taken out."""
    shared = [c for c in a.choices if any(c is d for d in b.choices)]
    rest_a = Cost(0, {}, {}, tuple(c for c in a.choices if c not in shared))
    rest_b = Cost(0, {}, {}, tuple(c for c in b.choices if c not in shared))
    out = Cost(min(a.insns, b.insns), {}, {}, ())
    rest_a.insns, rest_b.insns = a.insns - out.insns, b.insns - out.insns
    out.cycles = min(a.cycles, b.cycles)
    rest_a.cycles, rest_b.cycles = a.cycles - out.cycles, b.cycles - out.cycles
    for name in ("mem", "helpers", "variables"):
        x, y = getattr(a, name), getattr(b, name)
        for k in {**x, **y}:
            least = min(x.get(k, 0), y.get(k, 0))
            for have, rest in ((x, rest_a), (y, rest_b)):
                if have.get(k, 0) > least:
                    getattr(rest, name)[k] = have[k] - least
            if least:
                getattr(out, name)[k] = least
    out.choices = tuple(shared)
    if rest_a.key() != rest_b.key() or rest_a.choices or rest_b.choices:
        out.choices = (*out.choices, (when, rest_a, rest_b))
    return out


class State:
    """One path, or several that were joined, at one place of the program."""

    __slots__ = (
        "pc", "regs", "frames", "frame", "made", "stack", "packet", "head", "tail", "generation",
        "changes", "calls", "conditions", "known", "bounds", "cost", "visits",
    )  # fmt: skip

    def copy(self):
        new = State.__new__(State)
        new.pc, new.regs, new.frames = self.pc, list(self.regs), self.frames
        new.frame, new.made, new.stack = self.frame, self.made, dict(self.stack)
        new.packet, new.head, new.tail = self.packet, self.head, self.tail
        new.generation, new.changes = self.generation, dict(self.changes)
        new.calls, new.conditions = dict(self.calls), self.conditions
        new.known, new.bounds = dict(self.known), dict(self.bounds)
        new.cost, new.visits = self.cost.copy(), self.visits
        return new

    def assume(self, condition):
        """Adds what holds from here on."""
        if condition is t.TRUE:
            return
        self.conditions = (*self.conditions, condition)
        self._learn(condition, True)

    def _learn(self, c, holds):
        if c.op == "not":
            self._learn(c.args[0], not holds)
            return
        self.known[c.number] = holds
        if (c.op == "all" and holds) or (c.op == "any" and not holds):
            for each in c.args:
                self._learn(each, holds)
        elif c.op == "eq" and holds and c.args[1].op == "const":
            self._bound(c.args[0], c.args[1].args[0], c.args[1].args[0])
        elif c.op == "ult":
            a, b = c.args
            if b.op == "const":
                n = b.args[0]
                self._bound(a, *((0, n - 1) if holds else (n, t.ones(a.width))))
            elif a.op == "const":
                n = a.args[0]
                self._bound(b, *((n + 1, t.ones(b.width)) if holds else (0, n)))

    def _bound(self, term, low, high):
        a, b = self.bounds.get(term.number, (0, t.ones(term.width)))
        self.bounds[term.number] = (max(a, low), min(b, high))

    def least(self, term):
        """A number that a term surely reaches."""
        if term.op == "const":
            return term.args[0]
        if term.op == "cat" and term.args[0].op == "const" and not term.args[0].args[0]:
            if len(term.args) == 2:
                return self.bounds.get(term.args[1].number, (0, 0))[0]
        return self.bounds.get(term.number, (0, 0))[0]

    def decided(self, c):
        """Whether a condition is known to hold without asking the solver: True, False, None."""
        if c.op == "const":
            return c.args[0]
        if c.op == "not":
            inner = self.decided(c.args[0])
            return None if inner is None else not inner
        if c.number in self.known:
            return self.known[c.number]
        if c.op == "eq" and c.args[1].op == "const":
            low, high = self.bounds.get(c.args[0].number, (0, t.ones(c.args[0].width)))
            n = c.args[1].args[0]
            if not low <= n <= high:
                return False
            return True if low == high else None
        if c.op == "ult":
            a, b = c.args
            if b.op == "const" and a.number in self.bounds:
                low, high = self.bounds[a.number]
                return True if high < b.args[0] else False if low >= b.args[0] else None
            if a.op == "const" and b.number in self.bounds:
                low, high = self.bounds[b.number]
                return True if low > a.args[0] else False if high <= a.args[0] else None
        if c.op in ("all", "any"):
            stop = c.op == "any"
            each = [self.decided(x) for x in c.args]
            if stop in each:
                return stop
            if None not in each:
                return not stop
        return None
