"""eBPF instructions up to cpu v4: their encoding (RFC 9669) and what is no instruction."""

from dataclasses import dataclass
from struct import unpack_from

from .errors import refused

LD, LDX, ST, STX, ALU, JMP, JMP32, ALU64 = range(8)
SIZES = {0x00: 4, 0x08: 2, 0x10: 1, 0x18: 8}
IMM, ABS, IND, MEM, MEMSX, ATOMIC = 0x00, 0x20, 0x40, 0x60, 0x80, 0xC0
ALU_NAMES = {
    0x00: "add", 0x10: "sub", 0x20: "mul", 0x30: "div", 0x40: "or", 0x50: "and", 0x60: "lsh",
    0x70: "rsh", 0x80: "neg", 0x90: "mod", 0xA0: "xor", 0xB0: "mov", 0xC0: "arsh", 0xD0: "end",
}  # fmt: skip
JUMP_NAMES = {
    0x10: "eq", 0x20: "gt", 0x30: "ge", 0x40: "set", 0x50: "ne", 0x60: "sgt", 0x70: "sge",
    0xA0: "lt", 0xB0: "le", 0xC0: "slt", 0xD0: "sle",
}  # fmt: skip
# The low bit asks for the value before the operation.
ATOMICS = {0x00: "add", 0x40: "or", 0x50: "and", 0xA0: "xor", 0xE1: "xchg", 0xF1: "cmpxchg"}


@dataclass(slots=True)
class Instruction:
    """One instruction. `kind`: alu, jump, goto, call, exit, load, store, atomic, lddw. `pc` counts
    slots of 8 bytes; lddw takes two.

    alu: `op` of ALU_NAMES and `bits` 64 or 32; movsx has `size` (bytes); end has `imm` (bits) and
    `op` "le", "be" or "bswap". jump: `op` of JUMP_NAMES. load, store: `size` in bytes, `signed`.
    `src` is None where the operand is `imm`. `target`: slot for jumps and calls inside of the
    object; for lddw ("map", name), ("data", section, offset), ("function", slot) or None.
    """

    pc: int
    kind: str
    op: str = ""
    dst: int = 0
    src: int | None = None
    off: int = 0
    imm: int = 0
    bits: int = 64
    size: int = 8
    signed: bool = False
    target: object = None
    fetch: bool = False


def decode(data, where, base=0):
    """The instructions of a section: {slot: Instruction}, slots from `base` on. `where`: its name."""
    if len(data) % 8:
        raise refused("E-bpf-object", f"section '{where}' is no whole number of instructions")
    found = {}
    pc = 0
    while pc < len(data) // 8:
        one = _decode_one(data, pc, where)
        one.pc += base
        if one.kind in ("jump", "goto"):
            one.target += base
        found[one.pc] = one
        pc += 2 if one.kind == "lddw" else 1
    return found


def _decode_one(data, pc, where):
    code, registers, off, imm = unpack_from("<BBhi", data, pc * 8)
    dst, src, cls = registers & 15, registers >> 4, code & 7

    def bad(why="is no eBPF instruction up to cpu v4"):
        raw = data[pc * 8 : pc * 8 + 8].hex(" ")
        return refused("E-bpf-instruction", f"'{where}' instruction {pc} ({raw}) {why}")

    if dst > 10 or (src > 10 and not (cls in (JMP,) and code & 0xF0 == 0x80)):
        raise bad("names a register above r10")
    if cls in (ALU, ALU64):
        return _alu(code, dst, src, off, imm, pc, bad)
    if cls in (JMP, JMP32):
        return _jump(code, dst, src, off, imm, pc, bad)
    mode, size = code & 0xE0, SIZES[code & 0x18]
    if cls == LD:
        if code == 0x18:
            if (pc + 2) * 8 > len(data):
                raise bad("has no second half")
            code2, regs2, off2, high = unpack_from("<BBhi", data, pc * 8 + 8)
            if code2 or regs2 or off2 or off:
                raise bad("has a second half that is none")
            value = (imm & 0xFFFFFFFF) | (high & 0xFFFFFFFF) << 32
            return Instruction(pc, "lddw", dst=dst, src=src, imm=value)
        if mode in (ABS, IND):
            raise bad("is a legacy packet access, which XDP programs have not")
        raise bad()
    if cls == LDX:
        if mode == MEM or (mode == MEMSX and size < 8):
            return Instruction(
                pc, "load", dst=dst, src=src, off=off, size=size, signed=mode == MEMSX
            )
        raise bad()
    if mode == MEM:
        return Instruction(
            pc, "store", dst=dst, src=src if cls == STX else None, off=off, imm=imm, size=size
        )
    if mode == ATOMIC and cls == STX and size in (4, 8):
        op = ATOMICS.get(imm) or ATOMICS.get(imm & ~1)
        if op and (imm & ~1 in ATOMICS or imm in ATOMICS):
            return Instruction(
                pc, "atomic", op=op, dst=dst, src=src, off=off, size=size, fetch=bool(imm & 1)
            )
        raise bad("is an atomic operation that cpu v4 has not")
    raise bad()


def _alu(code, dst, src, off, imm, pc, bad):
    op = ALU_NAMES.get(code & 0xF0)
    bits = 64 if code & 7 == ALU64 else 32
    if op is None:
        raise bad()
    if op == "end":
        if imm not in (16, 32, 64) or off:
            raise bad()
        if bits == 64:
            if code & 8:
                raise bad()
            return Instruction(pc, "alu", op="bswap", dst=dst, imm=imm)
        return Instruction(pc, "alu", op="be" if code & 8 else "le", dst=dst, imm=imm)
    one = Instruction(
        pc, "alu", op=op, dst=dst, src=src if code & 8 else None, imm=imm, bits=bits, size=0
    )
    if off:
        if op in ("div", "mod") and off == 1:
            one.op = "s" + op
        elif op == "mov" and code & 8 and off in (8, 16, 32) and off < bits:
            one.op, one.size = "movsx", off // 8
        else:
            raise bad()
    if op == "neg":
        if code & 8:
            raise bad()
        one.src = dst
    elif one.src is None and op in ("lsh", "rsh", "arsh") and not 0 <= imm < bits:
        raise bad("shifts by more bits than there are")
    elif one.src is None and op in ("div", "mod") and imm == 0:
        raise bad("divides by the constant 0")
    return one


def _jump(code, dst, src, off, imm, pc, bad):
    op, cls = code & 0xF0, code & 7
    if op == 0x00:
        if code & 8:
            raise bad()
        return Instruction(pc, "goto", target=pc + 1 + (imm if cls == JMP32 else off))
    if op == 0x80 and cls == JMP:
        if code & 8:
            raise bad("calls a function by register")
        # src: 0 a helper, 1 a function of the object, 2 a function of the kernel.
        if src > 2:
            raise bad()
        return Instruction(pc, "call", src=src, imm=imm)
    if op == 0x90 and cls == JMP:
        return Instruction(pc, "exit")
    name = JUMP_NAMES.get(op)
    if name is None:
        raise bad()
    return Instruction(
        pc,
        "jump",
        op=name,
        dst=dst,
        src=src if code & 8 else None,
        imm=imm,
        bits=64 if cls == JMP else 32,
        target=pc + 1 + off,
    )
