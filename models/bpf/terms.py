"""Bit-vector terms that are simplified as they are made, and one object per term.

Widths are in bits; 0 is a truth value. What is cut out of words and put together again by shifts
and masks becomes `cat` (parts, most significant first) of `cut` (bits of a term): a field of a
packet is the same term however a compiler loads it.

Leaves: ("const", value), ("symbol", name), ("pkt", offset): a byte of the packet as it came, ("has",
map, keys): whether a map has a key before the packet, ("val", map, keys, offset): a byte of its
value. `keys` are terms, of maps of maps the outer key too.
"""

WORD = 64


class Term:
    __slots__ = ("op", "args", "width", "number", "zeros")

    def __repr__(self):
        return f"{self.op}/{self.width}{self.args}"


_known = {}


def _make(op, width, *args):
    key = (op, width, *[a.number if isinstance(a, Term) else ("=", a) for a in args])
    one = _known.get(key)
    if one is None:
        one = Term()
        one.op, one.width, one.args, one.zeros = op, width, args, None
        one.number = len(_known)
        _known[key] = one
    return one


def forget():
    """Lets all terms go but TRUE and FALSE; others that are held must not be mixed with new ones."""
    _known.clear()
    for one in (TRUE, FALSE):
        _known["const", 0, ("=", one.args[0])] = one


TRUE, FALSE = _make("const", 0, True), _make("const", 0, False)


def const(value, width=WORD):
    return _make("const", width, value & (1 << width) - 1)


def truth(value):
    return TRUE if value else FALSE


def symbol(name, width):
    return _make("symbol", width, name)


def pkt(offset):
    """The packet's byte at an offset (64 bits) from its first."""
    return _make("pkt", 8, cut(offset, 31, 0))


def has(table, keys):
    return _make("has", 0, table, *keys)


def val(table, keys, offset):
    return _make("val", 8, table, *keys, cut(offset, 31, 0))


def value_of(t):
    """The number of a constant; None of anything else."""
    return t.args[0] if t.op == "const" else None


def ones(bits):
    return (1 << bits) - 1


def signed(value, bits):
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


# Cutting and putting together


def parts(t):
    return t.args if t.op == "cat" else (t,)


def cat(*given):
    """Most significant first."""
    out = []
    for part in given:
        for p in parts(part):
            if out:
                joined = _joined(out[-1], p)
                if joined is not None:
                    out[-1] = joined
                    continue
            out.append(p)
    if len(out) == 1:
        return out[0]
    return _make("cat", sum(p.width for p in out), *out)


def _joined(high, low):
    if high.op == "const" and low.op == "const":
        return const(high.args[0] << low.width | low.args[0], high.width + low.width)
    if high.op == "cut" and low.op == "cut" and high.args[0] is low.args[0]:
        if high.args[2] == low.args[1] + 1:
            return cut(high.args[0], high.args[1], low.args[2])
    if high.op == "ite" and low.op == "ite" and high.args[0] is low.args[0]:
        return ite(high.args[0], cat(high.args[1], low.args[1]), cat(high.args[2], low.args[2]))
    return None


def cut(t, high, low):
    """Bits high..low, both with."""
    width = high - low + 1
    if width == t.width:
        return t
    if t.op == "const":
        return const(t.args[0] >> low, width)
    if t.op == "cat":
        out, at = [], t.width
        for p in t.args:
            at -= p.width
            top, bottom = min(high, at + p.width - 1), max(low, at)
            if top >= bottom:
                out.append(cut(p, top - at, bottom - at))
        return cat(*out)
    if t.op == "cut":
        return cut(t.args[0], high + t.args[2], low + t.args[2])
    if t.op == "ite" and (t.args[1].op == "const" or t.args[2].op == "const"):
        return ite(t.args[0], cut(t.args[1], high, low), cut(t.args[2], high, low))
    if t.op == "sext" and high < t.args[0].width:
        return cut(t.args[0], high, low)
    if low == 0 and t.op in ("add", "mul"):
        return (add if t.op == "add" else mul)(*[cut(a, high, 0) for a in t.args])
    if t.op in ("and", "or", "xor"):
        f = {"and": and_, "or": or_, "xor": xor}[t.op]
        return f(cut(t.args[0], high, low), cut(t.args[1], high, low))
    return _make("cut", width, t, high, low)


def zext(t, width):
    return t if t.width == width else cat(const(0, width - t.width), t)


def sext(t, width):
    if t.width == width:
        return t
    if t.op == "const":
        return const(signed(t.args[0], t.width), width)
    top = parts(t)[0]
    if top.op == "const" and not top.args[0] >> (top.width - 1):
        return zext(t, width)
    return _make("sext", width, t)


def leading_zeros(t):
    """How many of the top bits are surely 0."""
    if t.zeros is None:
        t.zeros = _leading_zeros(t)
    return t.zeros


def _leading_zeros(t):
    top = parts(t)[0]
    if top.op == "const":
        return top.width - top.args[0].bit_length() if top.args[0] or t is top else top.width
    if t.op == "ite":
        return min(leading_zeros(t.args[1]), leading_zeros(t.args[2]))
    if t.op == "and":
        return max(map(leading_zeros, t.args))
    if t.op in ("or", "xor"):
        return min(map(leading_zeros, t.args))
    if t.op == "lshr":
        return leading_zeros(t.args[0])
    if t.op == "add":
        return max(0, min(map(leading_zeros, t.args)) - 1)
    return 0


def _zipped(a, b):
    """Parts of two terms, cut at the same bits; most significant first."""
    at, edges = a.width, {a.width, 0}
    for t in (a, b):
        at = t.width
        for p in parts(t):
            at -= p.width
            edges.add(at)
    edges = sorted(edges, reverse=True)
    return [(cut(a, h - 1, lo), cut(b, h - 1, lo)) for h, lo in zip(edges, edges[1:])]


def _bitwise(a, b, one):
    """Part by part, where `one(x, y)` knows every part; else None."""
    if a.op != "cat" and b.op != "cat" and a.op != "const" and b.op != "const":
        return None
    out = []
    for x, y in _zipped(a, b):
        got = one(x, y)
        if got is None:
            return None
        out.append(got)
    return cat(*out)


def _pattern(mask, width):
    """Runs of equal bits of a mask: [(bit, high, low)], most significant first."""
    out, high = [], width - 1
    while high >= 0:
        bit, low = mask >> high & 1, high
        while low > 0 and mask >> (low - 1) & 1 == bit:
            low -= 1
        out.append((bit, high, low))
        high = low - 1
    return out


def _ordered(a, b):
    """A constant comes last, else the older term first."""
    if a.op == "const" or (b.op != "const" and b.number < a.number):
        return b, a
    return a, b


def and_(a, b):
    a, b = _ordered(a, b)
    if a is b:
        return a
    if b.op == "const":
        if a.op == "const":
            return const(a.args[0] & b.args[0], a.width)
        return cat(
            *[
                cut(a, h, lo) if bit else const(0, h - lo + 1)
                for bit, h, lo in _pattern(b.args[0], a.width)
            ]
        )

    def one(x, y):
        x, y = _ordered(x, y)
        if x is y:
            return x
        return and_(x, y) if y.op == "const" else None

    got = _bitwise(a, b, one)
    return got if got is not None else _make("and", a.width, a, b)


def or_(a, b):
    a, b = _ordered(a, b)
    if a is b:
        return a
    if a.op == "const":
        return const(a.args[0] | b.args[0], a.width)

    def one(x, y):
        x, y = _ordered(x, y)
        if x is y:
            return x
        if y.op == "const":
            if y.args[0] == 0:
                return x
            if y.args[0] == ones(y.width):
                return y
            return cat(
                *[
                    const(ones(h - lo + 1), h - lo + 1) if bit else cut(x, h, lo)
                    for bit, h, lo in _pattern(y.args[0], x.width)
                ]
            )
        return None

    got = _bitwise(a, b, one)
    return got if got is not None else _make("or", a.width, a, b)


def xor(a, b):
    a, b = _ordered(a, b)
    if a is b:
        return const(0, a.width)
    if a.op == "const":
        return const(a.args[0] ^ b.args[0], a.width)

    def one(x, y):
        x, y = _ordered(x, y)
        if x is y:
            return const(0, x.width)
        if y.op == "const" and y.args[0] == 0:
            return x
        if x.op == "const":
            return const(x.args[0] ^ y.args[0], x.width)
        return None

    got = _bitwise(a, b, one)
    return got if got is not None else _make("xor", a.width, a, b)


def _disjoint(a, b):
    """a + b where no bit is set in both, or None."""

    def one(x, y):
        x, y = _ordered(x, y)
        return x if y.op == "const" and y.args[0] == 0 else None

    return _bitwise(a, b, one)


# Arithmetic


def add(a, b):
    a, b = _ordered(a, b)
    if b.op == "const":
        if b.args[0] == 0:
            return a
        if a.op == "const":
            return const(a.args[0] + b.args[0], a.width)
        if a.op == "add" and a.args[1].op == "const":
            return add(a.args[0], const(a.args[1].args[0] + b.args[0], a.width))
        if a.op == "ite" and a.args[1].op == "const" and a.args[2].op == "const":
            return ite(a.args[0], add(a.args[1], b), add(a.args[2], b))
    else:
        got = _disjoint(a, b)
        if got is not None:
            return got
        for x, y in ((a, b), (b, a)):
            if x.op == "add" and x.args[1].op == "const":
                return add(add(x.args[0], y), x.args[1])
            if x.op == "neg" and x.args[0] is y:
                return const(0, a.width)
    return _make("add", a.width, a, b)


def neg(a):
    if a.op == "const":
        return const(-a.args[0], a.width)
    if a.op == "neg":
        return a.args[0]
    if a.op == "add" and a.args[1].op == "const":
        return add(neg(a.args[0]), const(-a.args[1].args[0], a.width))
    return _make("neg", a.width, a)


def sub(a, b):
    if a is b:
        return const(0, a.width)
    return add(a, neg(b))


def mul(a, b):
    a, b = _ordered(a, b)
    if b.op == "const":
        if a.op == "const":
            return const(a.args[0] * b.args[0], a.width)
        n = b.args[0]
        if n == 0:
            return b
        if n & (n - 1) == 0:
            return shl(a, const(n.bit_length() - 1, a.width))
    return _make("mul", a.width, a, b)


def shl(a, b):
    n = value_of(b)
    if n is None:
        return _make("shl", a.width, a, b)
    n %= a.width
    return a if n == 0 else cat(cut(a, a.width - 1 - n, 0), const(0, n))


def lshr(a, b):
    n = value_of(b)
    if n is None:
        return _make("lshr", a.width, a, b)
    n %= a.width
    return a if n == 0 else cat(const(0, n), cut(a, a.width - 1, n))


def ashr(a, b):
    n = value_of(b)
    if n is None:
        return _make("ashr", a.width, a, b)
    n %= a.width
    return a if n == 0 else sext(cut(a, a.width - 1, n), a.width)


def divided(op, a, b):
    """udiv, urem, sdiv, srem as eBPF has them: by 0 the quotient is 0, the rest is all."""
    if a.op == "const" and b.op == "const":
        x, y = a.args[0], b.args[0]
        if y == 0:
            return const(0, a.width) if op in ("udiv", "sdiv") else a
        if op[0] == "u":
            return const(x // y if op == "udiv" else x % y, a.width)
        x, y = signed(x, a.width), signed(y, a.width)
        q = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        return const(q if op == "sdiv" else x - q * y, a.width)
    n = value_of(b)
    if n and op[0] == "u":
        if n & (n - 1) == 0:
            bits = n.bit_length() - 1
            if op == "udiv":
                return lshr(a, const(bits, a.width))
            return and_(a, const(n - 1, a.width))
        zeros = min(leading_zeros(a), a.width - n.bit_length())
        if zeros:  # narrow divisions are far easier for the solver
            w = a.width - zeros
            return zext(_make(op, w, cut(a, w - 1, 0), const(n, w)), a.width)
    return _make(op, a.width, a, b)


# Truth


def not_(a):
    if a.op == "const":
        return truth(not a.args[0])
    if a.op == "not":
        return a.args[0]
    return _make("not", 0, a)


def all_(*given):
    return _series("all", TRUE, FALSE, given)


def any_(*given):
    return _series("any", FALSE, TRUE, given)


def _series(op, nothing, decided, given):
    """`all` or `any` of conditions. `nothing` adds nothing, `decided` decides it all."""
    out = []
    for a in given:
        for x in a.args if a.op == op else (a,):
            if x is decided:
                return decided
            if x is not nothing and x not in out:
                out.append(x)
    if any(not_(x) in out for x in out):
        return decided
    other = "any" if op == "all" else "all"
    if len(out) <= 16 and any(_inner(x, other) for x in out):
        shorter = [_without(x, out, op, other) for x in out]
        if any(x is not y for x, y in zip(shorter, out)):
            return _series(op, nothing, decided, [x for x in shorter if x is not None])
    if not out:
        return nothing
    return out[0] if len(out) == 1 else _make(op, 0, *out)


def _inner(x, other):
    """The parts of a condition of the other kind: of `not any` those of `all`, and back."""
    if x.op == other:
        return x.args
    if x.op == "not" and x.args[0].op == ("all" if other == "any" else "any"):
        return tuple(not_(a) for a in x.args[0].args)
    return ()


def _without(x, out, op, other):
    """x beside the others: a or (not a and x) is a or x; a or (a and x) is a (None here)."""
    inner = _inner(x, other)
    if not inner:
        return x
    beside = [y for y in out if y is not x]
    if any(a in beside for a in inner):
        return None
    left = [a for a in inner if not_(a) not in beside]
    if len(left) == len(inner):
        return x
    return _series(other, *((TRUE, FALSE) if other == "all" else (FALSE, TRUE)), left)


def ite(c, a, b):
    if c is TRUE or a is b:
        return a
    if c is FALSE:
        return b
    if c.op == "not":
        return ite(c.args[0], b, a)
    if a.width == 0:
        if a is TRUE:
            return any_(c, b)
        if a is FALSE:
            return all_(not_(c), b)
        if b is TRUE:
            return any_(not_(c), a)
        if b is FALSE:
            return all_(c, a)
    if a.op == "ite" and a.args[0] is c:
        a = a.args[1]
    if b.op == "ite" and b.args[0] is c:
        b = b.args[2]
    if a is b:
        return a
    if a.width > 8:  # what is equal at the top, above all zeros, stays outside
        zeros = min(leading_zeros(a), leading_zeros(b))
        if 0 < zeros < a.width:
            w = a.width - zeros
            return zext(ite(c, cut(a, w - 1, 0), cut(b, w - 1, 0)), a.width)
    return _make("ite", a.width, c, a, b)


def eq(a, b):
    a, b = _ordered(a, b)
    if a is b:
        return TRUE
    if a.width == 0:
        return ite(a, b, not_(b))
    if b.op == "const":
        if a.op == "const":
            return truth(a.args[0] == b.args[0])
        if a.width == 1 and b.args[0] == 0:
            return not_(eq(a, const(1, 1)))
        if a.op == "ite":
            x, y = a.args[1], a.args[2]
            if x.op == "const" or y.op == "const":
                return ite(a.args[0], eq(x, b), eq(y, b))
        if a.op == "add" and a.args[1].op == "const":
            return eq(a.args[0], const(b.args[0] - a.args[1].args[0], a.width))
        if a.op == "neg":
            return eq(a.args[0], const(-b.args[0], a.width))
        if a.op == "add" and a.args[1].op == "neg" and b.args[0] == 0:
            return eq(a.args[0], a.args[1].args[0])
        if a.op == "add" and a.args[0].op == "neg" and b.args[0] == 0:
            return eq(a.args[1], a.args[0].args[0])
        if a.op == "xor" and b.args[0] == 0:
            return eq(*a.args)
        if a.op == "sext":
            inner = a.args[0]
            low = const(b.args[0], inner.width)
            return eq(inner, low) if sext(low, a.width) is b else FALSE
    if a.op == "cat" or b.op == "cat":
        kept = []
        for x, y in _zipped(a, b):
            if x.op == "const" and y.op == "const":
                if x.args[0] != y.args[0]:
                    return FALSE
            elif x is not y:
                kept.append((x, y))
        if not kept:
            return TRUE
        x, y = cat(*[x for x, _ in kept]), cat(*[y for _, y in kept])
        if x.width < a.width:
            return eq(x, y)
    return _make("eq", 0, a, b)


def ult(a, b):
    if a is b:
        return FALSE
    x, y = value_of(a), value_of(b)
    if x is not None and y is not None:
        return truth(x < y)
    zeros = min(leading_zeros(a), leading_zeros(b))
    if y is None and x is None:
        pass
    elif y is not None:
        if y == 0:
            return FALSE
        if y > ones(a.width - leading_zeros(a)):
            return TRUE
        if y == 1:
            return eq(a, const(0, a.width))
    else:
        if x >= ones(b.width - leading_zeros(b)):
            return FALSE
        if x == 0:
            return not_(eq(b, const(0, b.width)))
        return not_(ult(b, const(x + 1, b.width)))
    if zeros and zeros < a.width:
        w = a.width - zeros
        return ult(cut(a, w - 1, 0), cut(b, w - 1, 0))
    return _make("ult", 0, a, b)


def _small(t, bits):
    """The number of a constant that is no larger than some bits either way, or None."""
    if t.op != "const":
        return None
    n = signed(t.args[0], t.width)
    return n if -(1 << bits) < n < 1 << bits else None


def _moved(a, b):
    """An order of x + c, or -x, and a constant as one of x, where nothing can overflow."""
    bits = a.width - 3
    for x, other, flip in ((a, b, False), (b, a, True)):
        n = _small(other, bits)
        if n is None:
            continue
        if x.op == "add" and leading_zeros(x.args[0]) > 2:
            c = _small(x.args[1], bits - 1)
            if c is not None:
                pair = x.args[0], const(n - c, a.width)
                return pair[::-1] if flip else pair
        if x.op == "neg" and leading_zeros(x.args[0]) > 2:
            pair = const(-n, a.width), x.args[0]
            return pair[::-1] if flip else pair
    return None


def slt(a, b):
    if a is b:
        return FALSE
    if a.op == "const" and b.op == "const":
        return truth(signed(a.args[0], a.width) < signed(b.args[0], b.width))
    if leading_zeros(a) and leading_zeros(b):
        return ult(a, b)
    moved = _moved(a, b)
    if moved is not None:
        return slt(*moved)
    if leading_zeros(a) and b.op == "const":  # b is below 0
        return FALSE
    if leading_zeros(b) and a.op == "const":
        return TRUE
    if b.op == "const" and b.args[0] == 0:  # the sign
        return eq(cut(a, a.width - 1, a.width - 1), const(1, 1))
    if a.op == "sext" and b.op == "const" and sext(cut(b, a.args[0].width - 1, 0), a.width) is b:
        return slt(a.args[0], cut(b, a.args[0].width - 1, 0))
    return _make("slt", 0, a, b)


def swapped(t):
    """Bytes in the other order."""
    return cat(*[cut(t, low + 7, low) for low in range(0, t.width, 8)])


def leaves(t, seen=None, found=None):
    """The leaves of a term, each once."""
    seen = set() if seen is None else seen
    found = [] if found is None else found
    stack = [t]
    while stack:
        one = stack.pop()
        if one.number in seen:
            continue
        seen.add(one.number)
        if one.op in ("symbol", "pkt", "has", "val"):
            found.append(one)
        stack.extend(a for a in one.args if isinstance(a, Term))
    return found
