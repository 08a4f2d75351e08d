"""What a written interface runs on: packets, maps and helpers' answers. From the mark below on its
text is put into every written interface.
"""

from .layout import BITS, FIELDS

TAKEN = {"be", "u8", "u16", "u32", "u64", "raw"}


# -- from here on it is copied --
class Field(int):
    """Bytes of a packet as a number in network order; `raw` as they are."""

    def __new__(cls, raw):
        self = super().__new__(cls, int.from_bytes(raw, "big"))
        self.raw = bytes(raw)
        return self

    def __getitem__(self, at):
        return Field(self.raw[at : at + 1])


def little(field, size):
    return int.from_bytes(field.raw, "little")


def signed(x, bits):
    return x - (1 << bits) if x >> (bits - 1) & 1 else x


def udiv(a, b, bits):
    return a // b if b else 0


def urem(a, b, bits):
    return a % b if b else a


def sdiv(a, b, bits):
    a, b = signed(a, bits), signed(b, bits)
    if b == 0:
        return 0
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) & (1 << bits) - 1


def srem(a, b, bits):
    x, y = signed(a, bits), signed(b, bits)
    return (x - signed(sdiv(a, b, bits), bits) * y if y else x) & (1 << bits) - 1


def u8(x):
    return bytes([x])


def u16(x):
    return int(x).to_bytes(2, "little")


def u32(x):
    return int(x).to_bytes(4, "little")


def u64(x):
    return int(x).to_bytes(8, "little")


def raw(x, size):
    return int(x).to_bytes(size, "little")


class Header:
    """A header at a place of a packet: fields by name."""

    def __init__(self, pkt, off, fields, bits):
        self._pkt, self._off, self._fields, self._bits = pkt, off, fields, bits

    def __getattr__(self, name):
        if name in self._fields:
            first, size = self._fields[name]
            return self._pkt.be(self._off + first, size)
        if name in self._bits:
            byte, high, low = self._bits[name]
            return self._pkt[self._off + byte] >> low & (1 << high - low + 1) - 1
        raise AttributeError(name)


class Packet:
    """A packet, from its bytes. Bytes behind its end read as 0."""

    def __init__(self, content):
        self._bytes = bytes(content)
        self.len = len(self._bytes)

    def be(self, at, size):
        at = signed(at, 32)
        if at < 0:
            return Field(bytes(size))
        return Field(self._bytes[at : at + size].ljust(size, b"\0"))

    def __getitem__(self, at):
        if isinstance(at, slice):
            return self.be(at.start, at.stop - at.start)
        return self.be(at, 1)

    def _header(self, name, off):
        return Header(self, off, FIELDS[name], BITS.get(name, {}))

    def _network(self):
        """Where the header behind Ethernet and its tags begins."""
        off, kind = 14, self.be(12, 2)
        while kind in (0x8100, 0x88A8) and off < 14 + 4 * 8:
            kind, off = self.be(off + 2, 2), off + 4
        return off, kind

    @property
    def vlan(self):
        return [self._header("vlan", 14 + 4 * k) for k in range(8)]

    def __getattr__(self, name):
        if name.startswith("_") or name not in FIELDS:
            raise AttributeError(name)
        if name == "eth":
            return self._header(name, 0)
        off, kind = self._network()
        if name in ("l4", "tcp", "udp", "icmp"):
            off += 40 if kind == 0x86DD else 4 * (self[off] & 15)
        return self._header(name, off)


class Value:
    """A value of a map: members by name, `u32(offset)`, `be(offset, bytes)`."""

    def __init__(self, raw, members=(), base=0):
        self.raw, self._members, self._base = bytes(raw), members, base

    def __getattr__(self, name):
        for member, first, size in self._members:
            if member == name:
                inner = [(m[len(name) + 1 :], a, z) for m, a, z in self._members]
                inner = [
                    (m, a, z)
                    for (m, a, z), (full, *_) in zip(inner, self._members)
                    if full.startswith(name + ".")
                ]
                if inner:
                    return Value(self.raw, inner)
                return int.from_bytes(self._at(first, size), "little")
        raise AttributeError(name)

    def _at(self, at, size):
        return self.raw[at : at + size].ljust(size, b"\0")

    def be(self, at, size):
        return Field(self._at(at, size))

    def u8(self, at):
        return int.from_bytes(self._at(at, 1), "little")

    def u16(self, at):
        return int.from_bytes(self._at(at, 2), "little")

    def u32(self, at):
        return int.from_bytes(self._at(at, 4), "little")

    def u64(self, at):
        return int.from_bytes(self._at(at, 8), "little")


class Map:
    """A map before the packet: `entries` {key bytes: value bytes, or Map in maps of maps}."""

    def __init__(self, kind, key_size, value_size, max_entries, members, entries=(), free=None):
        self.kind, self.key_size, self.value_size = kind, key_size, value_size
        self.max_entries, self.members = max_entries, members
        self.entries = dict(entries)
        self.free = max_entries - len(self.entries) if free is None else free

    def key(self, parts):
        """The bytes of a key: fields as in the packet, a number in the machine's order."""
        if len(parts) == 1 and type(parts[0]) is int:
            return parts[0].to_bytes(self.key_size, "little")
        return b"".join(p.raw if isinstance(p, Field) else p for p in parts)

    def find(self, key):
        if self.kind == "LPM_TRIE":
            return self._longest(key)
        return self.entries.get(key)

    def _longest(self, key):
        bits, best = int.from_bytes(key[:4], "little"), (-1, None)
        for entry, value in self.entries.items():
            length = int.from_bytes(entry[:4], "little")
            drop = 8 * (len(entry) - 4) - length
            if best[0] < length <= bits:
                if (
                    int.from_bytes(entry[4:], "big") >> drop
                    == int.from_bytes(key[4:], "big") >> drop
                ):
                    best = (length, value)
        return best[1]

    def contains(self, *parts):
        return self.find(self.key(parts)) is not None

    def __getitem__(self, parts):
        found = self.find(self.key(parts if isinstance(parts, tuple) else (parts,)))
        return Value(found if found is not None else bytes(self.value_size), self.members)

    def inner(self, *parts):
        found = self.entries.get(self.key(parts))
        return found if found is not None else Map("HASH", 0, 0, 0, ())


class Env:
    """Answers of helpers: `ktime`, `random`: lists in the order of the calls; `cpu`, `headroom`."""

    def __init__(self, answers=()):
        self._answers = dict(answers)

    def __getattr__(self, name):
        found = self._answers.get(name, 256 if name == "headroom" else 0)
        return Answers(found) if isinstance(found, (list, tuple)) or name in LISTS else found


class Answers:
    def __init__(self, given):
        self.given = given

    def __getitem__(self, at):
        if isinstance(self.given, (list, tuple)):
            return self.given[at] if at < len(self.given) else 0
        return self.given


LISTS = ("ktime", "random", "printed", "perf_output", "ringbuf_output")


class Fields:
    """Fields of the context; 0 where nothing is said."""

    def __init__(self, values=()):
        self._values = dict(values)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return self._values.get(name, 0)
