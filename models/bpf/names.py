"""Terms as Python text with readable names; the text runs on runtime.py's packets and maps."""

from . import terms as t
from .layout import Context

_SIGNS = {"add": "+", "mul": "*", "and": "&", "or": "|", "xor": "^"}


class Names:
    """Writes terms of an object. `let`: {term number: name} of terms that have a name already."""

    def __init__(self, maps, data=None, let=None):
        self.maps, self.data, self.let = maps, data or {}, let or {}
        self.context = Context()

    # Conditions

    def condition(self, c, context=None):
        """A condition as text; `context` says what was decided before."""
        if context is not None:
            self.context = context
        return self._truth(c)

    def _truth(self, c):
        if c.number in self.let:
            return self.let[c.number]
        op = c.op
        if op == "const":
            return "True" if c.args[0] else "False"
        if op == "not":
            return self._negated(c.args[0])
        if op in ("all", "any"):
            return self._series(c)
        if op == "ite":
            a, b, d = map(self._truth, c.args)
            return f"({b} if {a} else {d})"
        if op == "has":
            return f"{self._map(c)}.contains({self._key(c.args[0], c.args[-1])})"
        if op == "eq":
            return self._equal(c, "==")
        if op == "ult":
            return f"{self.number(c.args[0])} < {self.number(c.args[1])}"
        if op == "slt":
            a, b = (self._signed(x) for x in c.args)
            return f"{a} < {b}"
        return self._leaf(c)

    def _series(self, c):
        """`and`, `or`: each part is read where those before it held, or did not."""
        outside, texts, facts = self.context, [], list(self.context.facts)
        for each in c.args:
            texts.append(self._truth(each))
            facts.append((each, c.op == "all"))
            self.context = Context(facts)
        self.context = outside
        return "(" + f" {'and' if c.op == 'all' else 'or'} ".join(texts) + ")"

    def _negated(self, c):
        if c.number in self.let:
            return f"not {self.let[c.number]}"
        if c.op == "eq":
            return self._equal(c, "!=")
        if c.op == "ult":
            if c.args[0].op == "const":  # c < x, not: x <= c
                return f"{self.number(c.args[1])} <= {self.number(c.args[0])}"
            return f"{self.number(c.args[0])} >= {self.number(c.args[1])}"
        if c.op == "slt":
            a, b = (self._signed(x) for x in c.args)
            return f"{a} >= {b}"
        return f"not {self._truth(c)}"

    def _signed(self, x):
        if x.op == "const":
            return str(t.signed(x.args[0], x.width))
        return f"signed({self.number(x)}, {x.width})"

    def _equal(self, c, sign):
        a, b = c.args
        if b.op == "const":
            return self._equal_constant(a, b.args[0], sign)
        if a.width % 8 == 0:
            x, y = self._field(t.swapped(a)), self._field(t.swapped(b))
            if x and y:
                return f"{x} {sign} {y}"
        return f"{self.number(a)} {sign} {self.number(b)}"

    def _equal_constant(self, a, n, sign):
        if a.width % 8 == 0 and a.width > 8:
            name = self._field(t.swapped(a))
            if name:
                other = int.from_bytes(n.to_bytes(a.width // 8, "little"), "big")
                return f"{name} {sign} {_constant(other, a.width)}"
        masked = self._masked(a, n)
        if masked:
            text, mask, n = masked
            if n == 0 or n == mask and mask & (mask - 1) == 0:
                return (
                    f"{text} & {mask:#x}"
                    if (n == 0) == (sign == "!=")
                    else f"not {text} & {mask:#x}"
                )
            return f"{text} & {mask:#x} {sign} {n:#x}"
        return f"{self.number(a)} {sign} {_constant(n, a.width)}"

    def _masked(self, a, n):
        """(text, mask, value) of bits that were cut out of one term, else None."""
        pieces = t.parts(a)
        if any(p.op != "cut" or p.args[0] is not pieces[0].args[0] for p in pieces):
            return None
        if len(pieces) == 1 and self._bits(pieces[0]):
            return None
        base, mask, value, at = pieces[0].args[0], 0, 0, a.width
        if len(pieces) == 1 and pieces[0].args[2] == 0 and base.op not in ("pkt", "symbol"):
            return None
        for p in pieces:
            at -= p.width
            mask |= t.ones(p.width) << p.args[2]
            value |= (n >> at & t.ones(p.width)) << p.args[2]
        return self._wrapped(base), mask, value

    def _bits(self, term):
        if term.op == "cut" and term.args[0].op == "pkt":
            return self.context.bits(term.args[0].args[0], term.args[1], term.args[2])
        return None

    # Numbers

    def number(self, term):
        """A number as text."""
        if term.number in self.let:
            return self.let[term.number]
        if term.op == "const":
            return _constant(term.args[0], term.width)
        if term.op in ("symbol", "pkt", "val"):
            return self._leaf(term)
        if term.op == "cat":
            return self._cat(term)
        if term.op == "cut":
            name = self._bits(term)
            if name:
                return name
            base, high, low = term.args
            text = self._wrapped(base) + (f" >> {low}" if low else "")
            if high < base.width - 1:
                text = f"({text})" if low else text
                text += f" & {t.ones(term.width):#x}"
            return f"({text})"
        return self._operation(term)

    def _wrapped(self, term):
        text = self.number(term)
        simple = text.replace(".", "").replace("_", "").isalnum() or text.endswith((")", "]"))
        return text if simple else f"({text})"

    def _operation(self, term):
        op, w = term.op, term.width
        if op == "ite":
            c, a, b = term.args
            return f"({self.number(a)} if {self._truth(c)} else {self.number(b)})"
        if op == "sext":
            return f"(signed({self.number(term.args[0])}, {term.args[0].width}) & {t.ones(w):#x})"
        if op == "neg":
            return f"(-{self._wrapped(term.args[0])} & {t.ones(w):#x})"
        a, b = term.args
        x, y = self._wrapped(a), self._wrapped(b)
        if op in ("add", "mul"):
            sign = _SIGNS[op]
            if op == "add" and b.op == "const" and b.args[0] >> (w - 1):
                sign, y = "-", str(-t.signed(b.args[0], w))
            elif op == "add" and b.op == "neg":
                sign, y = "-", self._wrapped(b.args[0])
            elif op == "add" and t.leading_zeros(term):
                return f"({x} + {y})"
            return f"({x} {sign} {y} & {t.ones(w):#x})"
        if op in _SIGNS:
            return f"({x} {_SIGNS[op]} {y})"
        if op in ("shl", "lshr", "ashr"):
            by = f"({y} & {w - 1:#x})"
            if op == "shl":
                return f"({x} << {by} & {t.ones(w):#x})"
            return (
                f"({x} >> {by})" if op == "lshr" else f"(signed({x}, {w}) >> {by} & {t.ones(w):#x})"
            )
        return f"{op}({x}, {y}, {w})"

    def _cat(self, term):
        pieces = t.parts(term)
        if pieces[0].op == "const" and pieces[0].args[0] == 0 and len(pieces) > 1:
            return self.number(t.cat(*pieces[1:]))
        if term.width % 8 == 0:
            name = self._field(term)
            if name:
                return name
            little = self._little(term)
            if little:
                return little
        masked = self._scattered(term)
        if masked:
            return masked
        texts, at = [], term.width
        groups = self._groups(pieces)
        for p in groups:
            at -= p.width
            if p.op == "const" and p.args[0] == 0:
                continue
            texts.append(self._wrapped(p) + (f" << {at}" if at else ""))
        if len(texts) == 1:
            return f"({texts[0]})"
        return "(" + " | ".join(f"({x})" if "<<" in x else x for x in texts) + ")"

    def _groups(self, pieces):
        """Pieces with bytes that lie side by side put together again."""
        out = []
        for p in pieces:
            if out and p.op in ("pkt", "val"):
                both = t.cat(out[-1], p)
                if self._run(both) or self._run(t.swapped(both)):
                    out[-1] = both
                    continue
            if out and p.op == "const" and p.width < 8:
                pass
            out.append(p)
        return out

    def _scattered(self, term):
        """Bits of one term that stayed in their place: x & mask."""
        base, mask, at = None, 0, term.width
        for p in t.parts(term):
            at -= p.width
            if p.op == "const" and p.args[0] == 0:
                continue
            if p.op != "cut" or (base is not None and p.args[0] is not base) or p.args[2] != at:
                return None
            base = p.args[0]
            mask |= t.ones(p.width) << at
        return f"({self._wrapped(base)} & {mask:#x})" if base is not None else None

    def _run(self, term):
        """(leaf, bytes) where a term is bytes of the packet or a value, one after the other."""
        pieces = t.parts(term)
        first = pieces[0]
        if first.op not in ("pkt", "val"):
            return None
        for k, p in enumerate(pieces):
            if p.op != first.op or p.args[:-1] != first.args[:-1]:
                return None
            if p.args[-1] is not t.add(first.args[-1], t.const(k, 32)):
                return None
        return first, len(pieces)

    def _field(self, term):
        """Text of bytes in network order, or None."""
        run = self._run(term)
        if run is None:
            return None
        first, size = run
        if first.op == "val":
            return f"{self._value(first)}.be({self._offset(first)}, {size})" if size > 1 else None
        name = self.context.field(first.args[0], size)
        if name:
            return name
        at = t.value_of(first.args[0])
        if at is None or at >> 31:
            place = self.number(first.args[0]) if at is None else str(t.signed(at, 32))
            return f"pkt.be({place}, {size})"
        return f"pkt[{at}]" if size == 1 else f"pkt[{at}:{at + size}]"

    def _little(self, term):
        """Text of bytes in the machine's order, or None."""
        run = self._run(t.swapped(term))
        if run is None:
            return None
        first, size = run
        if first.op == "val":
            return self._member(first, size)
        text = self._field(t.swapped(term))
        return f"little({text}, {size})"

    def _leaf(self, term):
        if term.op == "pkt":
            return self._field(term)
        if term.op == "val":
            return self._member(term, 1)
        name = term.args[0]
        if name == "len":
            return "pkt.len"
        if name.startswith("free "):
            return f"{_identifier(name[5:])}.free"
        if name.startswith("env "):
            _, what, *number = name.split()
            return f"env.{what}" + (f"[{number[0]}]" if number else "")
        return f"ctx.{name}"

    # Maps

    def _map(self, term):
        """The map of a leaf, as text."""
        name = term.args[0]
        if name.startswith("."):
            return f"data[{name!r}]"
        if name.endswith("[]"):
            return f"{_identifier(name[:-2])}.inner({self._key(name[:-2], term.args[1])})"
        return _identifier(name)

    def _shape(self, name):
        return self.maps[name[:-2]].inner if name.endswith("[]") else self.maps.get(name)

    def _key(self, name, key):
        """What a key is made of, as arguments."""
        shape = self._shape(name)
        if key.op == "const":
            raw = key.args[0].to_bytes(key.width // 8, "big")
            if len(raw) <= 8:
                return str(int.from_bytes(raw, "little"))
            return f"bytes.fromhex({raw.hex()!r})"
        pieces = []
        fields = _apart(shape.key_fields, key.width // 8) if shape else None
        for first, size in fields or [(0, key.width // 8)]:
            top = key.width - 8 * first
            pieces += self._pieces(t.cut(key, top - 1, top - 8 * size))
        return ", ".join(pieces)

    def _pieces(self, part):
        """Arguments for some bytes of a key, in the order of memory."""
        name = self._field(part)
        if name:
            return [name]
        size = part.width // 8
        whole = t.swapped(part)
        if part.op == "const":
            return [self._raw(whole)]
        if size == 1 or whole.op != "cat" or self._little(whole) or self._is_zero_extended(whole):
            return [self._raw(whole)]
        out, at, first = [], part.width, None
        for p in self._groups(t.parts(part)):
            if p.width % 8 or (p.op not in ("pkt", "val", "cat", "const")):
                return [self._raw(whole)]
            at -= p.width
            out.append(p)
        if len(out) == 1:
            return [self._raw(whole)]
        first = [x for p in out for x in self._pieces(p)]
        return first

    def _raw(self, whole):
        """A number as bytes of a key."""
        if whole.width in (8, 16, 32, 64):
            return f"u{whole.width}({self.number(whole)})"
        return f"raw({self.number(whole)}, {whole.width // 8})"

    def _is_zero_extended(self, whole):
        top = t.parts(whole)[0]
        return top.op == "const" and top.args[0] == 0 and len(t.parts(whole)) == 2

    def _value(self, leaf):
        if leaf.args[0].startswith("."):
            return self._map(leaf)
        return f"{self._map(leaf)}[{self._key(leaf.args[0], leaf.args[-2])}]"

    def _offset(self, leaf):
        return self.number(leaf.args[-1])

    def _member(self, first, size):
        """A little-endian member of a value."""
        at, name = t.value_of(first.args[-1]), first.args[0]
        if at is not None and name.startswith("."):
            for variable, place, width, _ in self.data[name].variables:
                if (place, width) == (at, size):
                    return f"{self._map(first)}.u{8 * size}({at})  # {variable}"[
                        : -len(variable) - 4
                    ]
        shape = self._shape(name)
        if at is not None and shape is not None:
            for member, place, width in shape.value_fields:
                if (place, width) == (at, size) and _attribute(member):
                    return f"{self._value(first)}.{member}"
        return f"{self._value(first)}.u{8 * size}({self._offset(first)})"


def _attribute(member):
    """Whether a member can be read as value.a.b: names that the runtime has are not."""
    from .runtime import TAKEN

    return all(p.isidentifier() and p not in TAKEN for p in member.split("."))


def _identifier(name):
    """A map's name as a Python name."""
    import keyword

    return name + "_" if keyword.iskeyword(name) or name in ("pkt", "ctx", "env", "data") else name


def _apart(fields, size):
    """[(offset, size)] of leaf fields that lie side by side over a whole key, or None."""
    out, at = [], 0
    for _, first, width in sorted(fields, key=lambda f: (f[1], f[2])):
        if first < at:
            continue
        if first != at:
            return None
        out.append((first, width))
        at = first + width
    return out if at == size and out else None


def _constant(n, width):
    if n < 10:
        return str(n)
    if width == 8 or width > 16:
        return str(n) if n < 65536 else hex(n)
    return f"{n:#06x}" if width == 16 and n >= 0x600 else str(n)
