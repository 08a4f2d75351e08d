"""Symbolic execution of an XDP program: one instruction after the other on terms.

`Executor.advance` runs a state up to its next decision, to its end, or to the head of a block where
states may be joined. Who decides, in which order, is explore.py's.
"""

import itertools
import math
import time
from functools import reduce

from . import calls
from . import helpers as h
from . import tables
from . import terms as t
from .errors import refused
from .machine import CONTEXT, MOST_INSTRUCTIONS
from .smt import Solver
from .state import Bytes, Cost, Fork, Pointer, State


LOOKED_AFTER = 256  # instructions, between two looks at the clock


class Executor:
    """`tails`: {map: {index: Function}} for tail calls. `seconds`: of one question to the solver.
    `beside`: terms of other programs stay good, to be compared with. `prices`: a cost table.
    """

    def __init__(self, program, function, tails=None, seconds=10.0, beside=False, prices=None):
        if not beside:
            t.forget()
        self.program, self.function, self.tails = program, function, tails or {}
        self.code, self.prices = program.code, prices
        self.solver = Solver(seconds)
        self.assumptions = []
        self.unknowns = 0
        self.stops = frozenset()  # where advance() halts, for joins
        self.until = math.inf  # when it halts wherever it is

    def start(self):
        """The state in front of the first instruction."""
        s = State.__new__(State)
        s.pc, s.regs = self.function.entry, [None] * 11
        s.frames, s.frame, s.made, s.stack = (), 0, 1, {}
        s.regs[1], s.regs[10] = Pointer("ctx", 0, t.const(0)), Pointer("stack", 0, t.const(512))
        s.packet, s.head, s.generation = Bytes(), t.const(0), 0
        s.tail = t.zext(t.symbol("len", 16), 64)
        s.changes, s.calls, s.conditions, s.known, s.bounds = {}, {}, (), {}, {}
        s.cost, s.visits = Cost(cycles=self.prices.packet if self.prices else 0), 0
        return s

    def assuming(self, text):
        if text not in self.assumptions:
            self.assumptions.append(text)

    def wrong(self, s, what, code="E-bpf-access"):
        return refused(code, f"instruction {self.program.where(s.pc)} {what}")

    # Questions

    def certain(self, s, condition):
        """Whether a condition holds on this path for sure."""
        known = s.decided(condition)
        if known is not None:
            return known
        if self.solver.can(s.conditions, t.not_(condition)) is False:
            s.known[condition.number] = True
            return True
        return False

    # Running

    def advance(self, s):
        """Runs a state on, in place: a Fork, "exit", "stop" in front of a place of `stops`, or "late"."""
        first = True
        for step in itertools.count(1):
            if step % LOOKED_AFTER == 0 and time.monotonic() > self.until:
                return "late"
            if not first and s.pc in self.stops:
                return "stop"
            first = False
            one = self.code.get(s.pc)
            if one is None:
                raise self.wrong(s, "does not exist; the program runs out of its end")
            if s.cost.bounds("insns")[0] >= MOST_INSTRUCTIONS:
                raise self.wrong(
                    s, f"is past {MOST_INSTRUCTIONS} instructions of a packet", "E-bpf-limit"
                )
            if one.kind == "jump":
                fork = self.jump(s, one)
                if fork is not None:
                    return fork
                continue
            if one.kind == "exit":
                self.counted(s, one)
                if not s.frames:
                    if not isinstance(s.regs[0], t.Term):
                        raise self.wrong(s, "ends the program with no number in r0")
                    return "exit"
                self.leave(s)
                continue
            if one.kind == "call":
                fork = self.call(s, one)
                if fork is not None:
                    return fork
                continue
            self.counted(s, one)
            getattr(self, one.kind)(s, one)
            if one.kind != "goto":
                s.pc += 2 if one.kind == "lddw" else 1

    def counted(self, s, one, times=1):
        """Counts an instruction; with -1 takes it back."""
        s.cost.insns += times
        if self.prices:
            s.cost.cycles += times * self.prices.instruction(one, self.here(s))

    def here(self, s):
        return lambda: self.program.where(s.pc)

    def read(self, s, number):
        got = s.regs[number]
        if got is None:
            raise self.wrong(s, f"reads r{number}, which nothing was written to")
        return got

    def operand(self, s, one):
        return t.const(one.imm) if one.src is None else self.read(s, one.src)

    def goto(self, s, one):
        s.pc = one.target

    def lddw(self, s, one):
        if one.target is None:
            s.regs[one.dst] = t.const(one.imm)
        elif one.target[0] == "map":
            s.regs[one.dst] = Pointer("table", (one.target[1], ()), t.const(0))
        elif one.target[0] == "data":
            s.regs[one.dst] = Pointer("data", one.target[1], t.const(one.target[2]))
        else:
            raise self.wrong(s, f"loads '{one.target[1]}', which is not modelled", "E-bpf-helper")

    def alu(self, s, one):
        a = None if one.op in ("mov", "movsx") else self.read(s, one.dst)
        b = self.operand(s, one)
        if isinstance(a, Pointer) or isinstance(b, Pointer):
            s.regs[one.dst] = self.pointer_alu(s, one, a, b)
        else:
            s.regs[one.dst] = alu(one, a, b)

    def pointer_alu(self, s, one, a, b):
        if one.bits == 64:
            if one.op == "mov":
                return b
            if one.op == "add" and isinstance(a, t.Term):
                a, b = b, a
            if isinstance(a, Pointer) and a.null is t.FALSE or self._is_there(s, a):
                if one.op in ("add", "sub") and isinstance(b, t.Term):
                    off = t.add(a.off, b) if one.op == "add" else t.sub(a.off, b)
                    return Pointer(a.kind, a.of, off)
                if one.op == "sub" and isinstance(b, Pointer) and (a.kind, a.of) == (b.kind, b.of):
                    return t.sub(a.off, b.off)
        raise self.wrong(s, f"computes with a pointer ({one.op}), which is not modelled")

    def _is_there(self, s, p):
        return isinstance(p, Pointer) and self.certain(s, t.not_(p.null))

    # Jumps

    def jump(self, s, one):
        a, b = self.read(s, one.dst), self.operand(s, one)
        if isinstance(a, Pointer) or isinstance(b, Pointer):
            condition = self.pointer_test(s, one, a, b)
        else:
            condition = test(one, a, b)
        s.cost.insns += 1
        at = s.pc

        def go(taken):
            def there(state):
                if self.prices:
                    where = lambda: self.program.where(at)
                    state.cost.cycles += self.prices.jump(taken, where)
                state.pc = one.target if taken else at + 1

            return there

        known = s.decided(condition)
        if known is not None:
            go(known)(s)
            return None
        return Fork(condition, go(True), go(False))

    def pointer_test(self, s, one, a, b):
        if isinstance(a, t.Term):
            a, b, flip = b, a, {"gt": "lt", "lt": "gt", "ge": "le", "le": "ge"}
            op = flip.get(one.op, one.op)
        else:
            op = one.op
        if isinstance(b, t.Term):
            if t.value_of(b) == 0 and op in ("eq", "ne", "gt", "le"):
                return a.null if op in ("eq", "le") else t.not_(a.null)
            raise self.wrong(s, "compares a pointer with a number")
        if (a.kind, a.of) != (b.kind, b.of) or one.bits != 64:
            raise self.wrong(s, "compares pointers to different memory")
        x, y = a.off, b.off
        # Offsets are small against addresses, so their signed order is that of the addresses.
        table = {
            "eq": lambda: t.eq(x, y), "ne": lambda: t.not_(t.eq(x, y)),
            "lt": lambda: t.slt(x, y), "ge": lambda: t.not_(t.slt(x, y)),
            "gt": lambda: t.slt(y, x), "le": lambda: t.not_(t.slt(y, x)),
        }  # fmt: skip
        if op not in table:
            raise self.wrong(s, f"compares pointers by {op}")
        return table[op]()

    # Calls

    def call(self, s, one):
        if one.src == 1 and not isinstance(one.target, tuple):
            self.counted(s, one)
            if len(s.frames) >= 8:
                raise self.wrong(s, "calls functions deeper than 8", "E-bpf-limit")
            s.frames = (*s.frames, (s.pc + 1, tuple(s.regs[6:11]), s.frame))
            s.frame, s.made = s.made, s.made + 1
            s.regs[10] = Pointer("stack", s.frame, t.const(512))
            for number in range(6, 10):
                s.regs[number] = None
            s.pc = one.target
            return None
        return calls.helper(self, s, one)

    def leave(self, s):
        back, saved, frame = s.frames[-1]
        s.stack = {k: v for k, v in s.stack.items() if k[0] != s.frame}
        s.frames, s.frame = s.frames[:-1], frame
        s.pc, s.regs[6:11] = back, list(saved)
        for number in range(1, 6):
            s.regs[number] = None

    # Memory

    def load(self, s, one):
        p = self.read(s, one.src)
        if not isinstance(p, Pointer):
            raise self.wrong(s, "reads memory by what is no pointer")
        off = t.add(p.off, t.const(one.off))
        self.count(s, "ld_", p.kind)
        if p.kind == "ctx":
            s.regs[one.dst] = self.context(s, off, one.size)
            return
        content = self.fetch(s, p, off, one.size, whole=one.size == 8)
        if isinstance(content, Pointer):
            s.regs[one.dst] = content
            return
        value = t.cat(*reversed(content))
        s.regs[one.dst] = t.sext(value, 64) if one.signed else t.zext(value, 64)

    def count(self, s, how, kind):
        region = {"value": "map", "data": "map"}.get(kind, kind)
        name = how + region
        s.cost.mem[name] = s.cost.mem.get(name, 0) + 1
        if self.prices:
            s.cost.cycles += self.prices.access(how, region, self.here(s))

    def context(self, s, off, size):
        at = t.value_of(off)
        if size == 4 and at in (0, 8):
            return Pointer("pkt", s.generation, s.head)
        if size == 4 and at == 4:
            return Pointer("pkt", s.generation, s.tail)
        if size == 4 and at in CONTEXT:
            return t.zext(t.symbol(CONTEXT[at], 32), 64)
        raise self.wrong(s, f"reads {size} bytes at {at} of the context, which is no field")

    def fetch(self, s, p, off, size, whole=False):
        """`size` bytes of memory as terms, in the order of memory; a Pointer that was kept there
        where `whole`.
        """
        self.allowed(s, p, off, size)
        if p.kind == "stack":
            return self.fetch_stack(s, p, off, size, whole)
        if p.kind == "pkt":
            return [s.packet.load(t.add(off, t.const(k)), t.pkt) for k in range(size)]
        if p.kind == "value":
            name, keys, _ = p.of
            return tables.value(s, name, keys, off, size)
        if p.kind == "data":
            return self.fetch_data(s, p, off, size)
        raise self.wrong(s, "reads a map itself")

    def fetch_stack(self, s, p, off, size, whole):
        at = t.value_of(off)
        got = [s.stack.get((p.of, at + k)) for k in range(size)]
        if whole and all(isinstance(g, tuple) for g in got):
            if all(g[0] is got[0][0] and g[1] == k for k, g in enumerate(got)):
                return got[0][0]
        if any(g is None for g in got):
            raise self.wrong(s, "reads stack that nothing was written to")
        if any(isinstance(g, tuple) for g in got):
            raise self.wrong(s, "reads a part of a pointer")
        return got

    def fetch_data(self, s, p, off, size):
        known, at = self.program.data[p.of], t.value_of(off)
        configured = any(v for *_, v in known.variables)
        if known.is_constant and at is not None:
            inside = [
                v for n, a, z, v in known.variables if a <= at and at + size <= a + z
            ]  # of a volatile constant the loader may have set another value
            if not (any(inside) or (configured and not inside)):
                return [t.const(b, 8) for b in known.content[at : at + size]]
        if known.is_constant and not configured:
            if len(known.content) > 4096:
                raise self.wrong(s, "reads a large table of constants at a variable place")
            out = []
            for k in range(size):
                place = t.cut(t.add(off, t.const(k)), 31, 0)
                byte = t.const(0, 8)
                for n, b in enumerate(known.content):
                    byte = t.ite(t.eq(place, t.const(n, 32)), t.const(b, 8), byte)
                out.append(byte)
            return out
        return tables.value(s, p.of, (t.const(0, 32),), off, size)

    def store(self, s, one):
        p = self.read(s, one.dst)
        value = self.operand(s, one)
        if not isinstance(p, Pointer):
            raise self.wrong(s, "writes memory by what is no pointer")
        off = t.add(p.off, t.const(one.off))
        self.count(s, "st_", p.kind)
        if isinstance(value, Pointer):
            at = t.value_of(off)
            if p.kind != "stack" or one.size != 8 or at is None:
                raise self.wrong(s, "stores a pointer elsewhere than on the stack")
            self.allowed(s, p, off, 8)
            for k in range(8):
                s.stack[p.of, at + k] = (value, k)
            return
        self.put(s, p, off, [t.cut(value, 8 * k + 7, 8 * k) for k in range(one.size)])

    def put(self, s, p, off, content):
        """Writes bytes."""
        self.allowed(s, p, off, len(content))
        if p.kind == "stack":
            for k, byte in enumerate(content):
                s.stack[p.of, t.value_of(off) + k] = byte
        elif p.kind == "pkt":
            s.packet = s.packet.store(off, content)
        elif p.kind == "value":
            tables.stored(s, p.of[0], p.of[1], off, content)
        elif p.kind == "data" and not self.program.data[p.of].is_constant:
            tables.stored(s, p.of, (t.const(0, 32),), off, content)
        else:
            raise self.wrong(s, "writes where nothing may be written")

    def allowed(self, s, p, off, size):
        """Refuses accesses out of bounds, which the kernel's verifier refuses too."""
        if p.null is not t.FALSE and not self.certain(s, t.not_(p.null)):
            raise self.wrong(s, "uses a pointer that was not tested for NULL")
        at = t.value_of(off)
        if p.kind == "pkt":
            if p.of != s.generation:
                raise self.wrong(s, "uses a pointer to the packet before it was moved")
            if at is not None and t.value_of(s.head) is not None:
                low = t.value_of(s.head)
                low = t.signed(low, 64)
                at = t.signed(at, 64)
                if low <= at and at + size <= s.least(s.tail):
                    return
            inside = t.all_(
                t.not_(t.slt(off, s.head)), t.not_(t.slt(s.tail, t.add(off, t.const(size))))
            )
            if not self.certain(s, inside):
                raise self.wrong(s, "accesses the packet beyond the length that was tested")
            return
        limit = {"stack": 512}.get(p.kind)
        if p.kind == "value":
            limit = calls.shape_of(self, p.of[0]).value_size
            self._current(s, p)
        elif p.kind == "data":
            limit = len(self.program.data[p.of].content)
        if limit is None:
            raise self.wrong(s, f"accesses what a {p.kind} pointer names")
        if at is None:
            if p.kind == "stack":
                raise self.wrong(s, "accesses the stack at a variable place, which is not modelled")
            if size <= limit and self.certain(s, t.ult(off, t.const(limit - size + 1))):
                return
        elif at + size <= limit:
            return
        raise self.wrong(s, f"accesses {p.kind} memory out of its bounds")

    def _current(self, s, p):
        """Refuses a pointer to an element that an update has put away meanwhile."""
        name, keys, born = p.of
        for change in tables.updates(s, name)[born:]:
            gone = t.all_(change.when, tables.same(change.keys, keys))
            if not self.certain(s, t.not_(gone)):
                raise self.wrong(
                    s, f"uses a value of '{name}' after its key was updated, which is not modelled"
                )

    def atomic(self, s, one):
        p = self.read(s, one.dst)
        operand = self.read(s, one.src)
        if not isinstance(p, Pointer) or p.kind == "ctx" or isinstance(operand, Pointer):
            raise self.wrong(s, "is an atomic operation on no memory")
        off = t.add(p.off, t.const(one.off))
        self.count(s, "atomic_", p.kind)
        old = t.cat(*reversed(self.fetch(s, p, off, one.size)))
        value = t.cut(operand, 8 * one.size - 1, 0)
        if one.op == "cmpxchg":
            expected = t.cut(self.read(s, 0), 8 * one.size - 1, 0)
            new = t.ite(t.eq(old, expected), value, old)
        elif one.op == "xchg":
            new = value
        else:
            new = {"add": t.add, "or": t.or_, "and": t.and_, "xor": t.xor}[one.op](old, value)
        self.put(s, p, off, [t.cut(new, 8 * k + 7, 8 * k) for k in range(one.size)])
        if one.op == "cmpxchg":
            s.regs[0] = t.zext(old, 64)
        elif one.fetch:
            s.regs[one.src] = t.zext(old, 64)


def alu(one, a, b):
    """What an ALU instruction makes of terms of 64 bits."""
    op, bits = one.op, one.bits
    if op in ("le", "be", "bswap"):
        low = t.cut(a, one.imm - 1, 0)
        return t.zext(low if op == "le" else t.swapped(low), 64)
    b = t.cut(b, bits - 1, 0)
    if op == "mov":
        return t.zext(b, 64)
    if op == "movsx":
        return t.zext(t.sext(t.cut(b, 8 * one.size - 1, 0), bits), 64)
    a = t.cut(a, bits - 1, 0)
    if op in _DIVISION:
        return t.zext(t.divided(_DIVISION[op], a, b), 64)
    if op == "neg":
        return t.zext(t.neg(a), 64)
    return t.zext(_OPERATIONS[op](a, b), 64)


_DIVISION = {"div": "udiv", "mod": "urem", "sdiv": "sdiv", "smod": "srem"}
_OPERATIONS = {
    "add": t.add, "sub": t.sub, "mul": t.mul, "and": t.and_, "or": t.or_, "xor": t.xor,
    "lsh": t.shl, "rsh": t.lshr, "arsh": t.ashr,
}  # fmt: skip


def test(one, a, b):
    """The condition of a jump on numbers."""
    a, b, op = t.cut(a, one.bits - 1, 0), t.cut(b, one.bits - 1, 0), one.op
    if op == "set":
        return t.not_(t.eq(t.and_(a, b), t.const(0, one.bits)))
    if op in ("eq", "ne"):
        return t.eq(a, b) if op == "eq" else t.not_(t.eq(a, b))
    less = t.slt if op[0] == "s" else t.ult
    return {
        "lt": lambda: less(a, b),
        "ge": lambda: t.not_(less(a, b)),
        "gt": lambda: less(b, a),
        "le": lambda: t.not_(less(b, a)),
    }[op[-2:]]()


def cases(value):
    """[(condition, number)] of a term that is one of several constants; None where it is not."""
    if value.op == "const":
        return [(t.TRUE, value.args[0])]
    if value.op == "cat":  # constants beside one choice
        free = [p for p in value.args if p.op != "const"]
        if len(free) != 1:
            return None
        inner = cases(free[0])
        if inner is None:
            return None
        out = []
        for when, n in inner:
            whole = [t.const(n, p.width) if p is free[0] else p for p in value.args]
            out.append((when, reduce(t.cat, whole).args[0]))
        return out
    if value.op != "ite":
        return None
    yes, no = cases(value.args[1]), cases(value.args[2])
    if yes is None or no is None:
        return None
    c = value.args[0]
    found = {}
    for when, n in [(t.all_(c, w), n) for w, n in yes] + [(t.all_(t.not_(c), w), n) for w, n in no]:
        found[n] = t.any_(found.get(n, t.FALSE), when)
    return [(when, n) for n, when in found.items() if when is not t.FALSE]


def verdicts_of(value):
    """[(condition, name)] of what a program returns, or None."""
    found = cases(t.cut(value, 31, 0))
    if found is None:
        return None
    out = {}
    for when, n in found:
        name = h.verdict_of(n)
        out[name] = t.any_(out.get(name, t.FALSE), when)
    return [(when, name) for name, when in out.items()]
