"""BTF, the types that an object file brings with it: names, sizes, members, source lines."""

from struct import calcsize, error, unpack_from

from .errors import refused

INT, PTR, ARRAY, STRUCT, UNION, ENUM, FWD, TYPEDEF, VOLATILE, CONST, RESTRICT = range(1, 12)
FUNC, FUNC_PROTO, VAR, DATASEC, FLOAT, DECL_TAG, TYPE_TAG, ENUM64 = range(12, 20)
_THROUGH = (TYPEDEF, VOLATILE, CONST, RESTRICT, TYPE_TAG)
MOST_MEMBERS = 400  # of a flattened structure


class Type:
    """A type: kind, name, `size` (of integers, structures) or the `type` it refers to."""

    __slots__ = ("kind", "name", "size", "members", "count")

    def __init__(self, kind, name, size):
        self.kind, self.name, self.size = kind, name, size
        self.members, self.count = [], 0


class Btf:
    """All types of a .BTF section; an empty one has none."""

    def __init__(self, data=b""):
        self.types = [Type(0, "void", 0)]
        self.strings = b"\0"
        if data:
            try:
                self._read(data)
            except (error, IndexError, UnicodeDecodeError) as wrong:
                raise refused("E-bpf-object", f"the section .BTF is damaged: {wrong}") from None

    def string(self, at):
        return self.strings[at : self.strings.index(b"\0", at)].decode()

    def _read(self, data):
        magic, version, _, header = unpack_from("<HBBI", data)
        if magic != 0xEB9F or version != 1:
            raise refused("E-bpf-object", "the section .BTF is no BTF of version 1, little endian")
        at, length, str_at, str_length = unpack_from("<IIII", data, 8)
        self.strings = data[header + str_at : header + str_at + str_length] + b"\0"
        at += header
        end = at + length
        while at < end:
            name, info, size = unpack_from("<III", data, at)
            at += 12
            kind, count = info >> 24 & 31, info & 0xFFFF
            one = Type(kind, self.string(name), size)
            one.count = count
            at = self._rest(one, data, at, bool(info >> 31))
            self.types.append(one)

    def _rest(self, one, data, at, bitfields):
        """Reads what follows the head of a type; where the next one begins."""
        kind = one.kind
        each = {
            INT: ("<I", 1), ARRAY: ("<III", 1), STRUCT: ("<III", one.count),
            UNION: ("<III", one.count), ENUM: ("<Ii", one.count), FUNC_PROTO: ("<II", one.count),
            VAR: ("<I", 1), DATASEC: ("<III", one.count), DECL_TAG: ("<i", 1),
            ENUM64: ("<III", one.count),
        }.get(kind)  # fmt: skip
        if each is None:
            if kind > ENUM64:
                raise refused("E-bpf-object", f"the section .BTF has a type of unknown kind {kind}")
            return at
        form, count = each
        rows = [unpack_from(form, data, at + k * calcsize(form)) for k in range(count)]
        if kind in (STRUCT, UNION):
            # (name, type, bit offset, bits of a bit field or 0)
            one.members = [
                (
                    self.string(n),
                    t,
                    off & 0xFFFFFF if bitfields else off,
                    off >> 24 if bitfields else 0,
                )
                for n, t, off in rows
            ]
        else:
            one.members = rows
        return at + count * calcsize(form)

    def through(self, number):
        """The type behind typedefs and qualifiers."""
        for _ in range(64):
            one = self.types[number]
            if one.kind not in _THROUGH:
                return one
            number = one.size
        raise refused("E-bpf-object", "the section .BTF has a typedef of itself")

    def is_volatile(self, number):
        for _ in range(64):
            one = self.types[number]
            if one.kind == ARRAY:
                number = one.members[0][0]
                continue
            if one.kind not in _THROUGH:
                return False
            if one.kind == VOLATILE:
                return True
            number = one.size
        return False

    def size(self, number):
        """In bytes; None where a type has none."""
        one = self.through(number)
        if one.kind in (INT, STRUCT, UNION, ENUM, FLOAT, DATASEC, ENUM64):
            return one.size
        if one.kind == PTR:
            return 8
        if one.kind == ARRAY:
            element, _, count = one.members[0]
            inner = self.size(element)
            return None if inner is None else inner * count
        return None

    def name(self, number):
        """As C has it: `struct mac`, `__u32`, `__u8[6]`."""
        one = self.types[number]
        if one.kind == STRUCT:
            return f"struct {one.name}".strip()
        if one.kind == UNION:
            return f"union {one.name}".strip()
        if one.kind == ARRAY:
            return f"{self.name(one.members[0][0])}[{one.members[0][2]}]"
        if one.kind == PTR:
            return self.name(one.size) + " *"
        if not one.name and one.kind in _THROUGH:
            return self.name(one.size)
        return one.name

    def members(self, number, prefix="", base=0, found=None):
        """[(dotted name, offset, size)] of a structure, flattened; of something else []."""
        found = [] if found is None else found
        one = self.through(number)
        if one.kind not in (STRUCT, UNION):
            return found
        for name, of, bits, width in one.members:
            if width or bits % 8 or len(found) >= MOST_MEMBERS:
                continue
            full = ".".join(x for x in (prefix, name) if x)
            inner = self.through(of)
            offset = base + bits // 8
            if inner.kind in (STRUCT, UNION):
                if name:
                    found.append((full, offset, inner.size))
                self.members(of, full, offset, found)
            else:
                size = self.size(of)
                if size:
                    found.append((full, offset, size))
        return found


def line_info(data, btf):
    """{section name: [(byte offset of the instruction, file, line text, line number)]} of .BTF.ext."""
    try:
        magic, _, _, header = unpack_from("<HBBI", data)
        if magic != 0xEB9F:
            return {}
        _, _, at, length = unpack_from("<IIII", data, 8)
        at += header
        end = at + length
        size = unpack_from("<I", data, at)[0] if length else 0
        at += 4
        found = {}
        while at < end and size >= 16:
            name, count = unpack_from("<II", data, at)
            at += 8
            rows = found.setdefault(btf.string(name), [])
            for _ in range(count):
                off, file, line, where = unpack_from("<IIII", data, at)
                rows.append((off, btf.string(file), btf.string(line).strip(), where >> 10))
                at += size
        return found
    except (error, IndexError, UnicodeDecodeError, ValueError):
        raise refused("E-bpf-object", "the section .BTF.ext is damaged") from None
