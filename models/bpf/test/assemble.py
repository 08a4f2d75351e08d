"""Programs as instructions, in objects without a file."""

from struct import pack

from models.bpf.instructions import decode
from models.bpf.objects import Function, Map, Object

EXIT = (0x95, 0, 0, 0, 0)


def mov(dst, imm):
    return (0xB7, dst, 0, 0, imm)


def program(*instructions, maps=(), targets=()):
    """An Object whose only program is these (code, dst, src, off, imm); a lddw is two of them.
    `targets`: {slot: target} of lddw and calls.
    """
    raw = b"".join(
        pack("<BBhi", code, src << 4 | dst, off, imm) for code, dst, src, off, imm in instructions
    )
    code = decode(raw, "xdp")
    for slot, target in dict(targets).items():
        code[slot].target = target
    function = Function("main", "xdp", 0, len(instructions), True)
    tables = {m.name: m for m in maps}
    return Object("made.o", "0" * 64, code, {"xdp": 0}, [function], tables, {}, {})


def hash_map(name, key_size=4, value_size=8, max_entries=16, kind="HASH"):
    return Map(name, kind, key_size, value_size, max_entries)
