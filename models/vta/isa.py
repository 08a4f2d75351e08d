"""VTA's instructions: 128 bits each, two little-endian words; fields from bit 0 up.

The layout is that of core/ISA.scala and core/Decode.scala. A program is an array of numpy.uint64 of
two columns, the low and the high word of each instruction.
"""

import numpy

LOAD_OP, STORE_OP, GEMM_OP, FINISH_OP, ALU_OP = range(5)
UOP, WGT, INP, ACC, OUT = range(5)  # memories
MEMORIES = ("uop", "wgt", "inp", "acc", "out")
MIN, MAX, ADD, SHIFT = range(4)

_COMMON = (("op", 3), ("pop_prev", 1), ("pop_next", 1), ("push_prev", 1), ("push_next", 1))
_LOOPS = (("reset", 1), ("uop_begin", 13), ("uop_end", 14), ("lp0", 14), ("lp1", 14), ("_", 1))
_LAYOUTS = {
    "memory": (
        *_COMMON,
        ("mem", 3),
        ("sram", 16),
        ("dram", 32),
        ("_", 6),
        ("y", 16),
        ("x", 16),
        ("stride", 16),
        ("y0", 4),
        ("y1", 4),
        ("x0", 4),
        ("x1", 4),
    ),
    "gemm": (
        *_COMMON,
        *_LOOPS,
        ("acc0", 11),
        ("acc1", 11),
        ("inp0", 11),
        ("inp1", 11),
        ("wgt0", 10),
        ("wgt1", 10),
    ),
    "alu": (
        *_COMMON,
        *_LOOPS,
        ("dst0", 11),
        ("dst1", 11),
        ("src0", 11),
        ("src1", 11),
        ("alu_op", 3),
        ("use_imm", 1),
        ("imm", 16),
    ),
}


def _positions(layout):
    """Field -> (word, shift, bits)."""
    found, bit = {}, 0
    for name, bits in layout:
        if name != "_":
            found[name] = (bit // 64, bit % 64, bits)
        bit += bits
    assert bit == 128
    return found


FIELDS = {name: _positions(layout) for name, layout in _LAYOUTS.items()}
_READ = {
    (layout, name): (word, numpy.uint64(shift), numpy.uint64((1 << bits) - 1))
    for layout, fields in FIELDS.items()
    for name, (word, shift, bits) in fields.items()
}
LAYOUT_OF = {
    LOAD_OP: "memory",
    STORE_OP: "memory",
    GEMM_OP: "gemm",
    FINISH_OP: "memory",
    ALU_OP: "alu",
}


def field(words, layout: str, name: str):
    """A field of every instruction, as numpy.int64, taken as if all had this layout: "memory",
    "gemm" or "alu". `words`: the low words and the high words, two rows.
    """
    word, shift, mask = _READ[layout, name]
    return (words[word] >> shift & mask).view(numpy.int64)


def encode(op: int, **values) -> tuple[int, int]:
    """The two words of an instruction; fields not given are 0, `imm` may be negative.

    Raises ValueError for a field that this kind of instruction has not, or a value that does not fit.
    """
    fields = FIELDS[LAYOUT_OF[op]]
    words = [op, 0]
    for name, value in values.items():
        if name not in fields:
            raise ValueError(f"an instruction of opcode {op} has no field {name!r}")
        word, shift, bits = fields[name]
        low = -(1 << bits - 1) if name == "imm" else 0
        if not low <= value < 1 << bits:
            raise ValueError(f"{name}={value} does not fit into its {bits} bits")
        words[word] |= (value & (1 << bits) - 1) << shift
    return words[0], words[1]


def program(instructions) -> numpy.ndarray:
    """The program of pairs of words, as encode() makes them."""
    return numpy.array(list(instructions), numpy.uint64).reshape(-1, 2)


def to_bytes(words) -> bytes:
    """The stream as it lies in memory."""
    return words.astype("<u8").tobytes()


def from_bytes(data: bytes) -> numpy.ndarray:
    """The program of a stream. Raises ValueError for a part of an instruction."""
    if len(data) % 16:
        raise ValueError(
            f"the stream is cut in instruction {len(data) // 16}: {len(data)} bytes are no multiple "
            "of 16"
        )
    return numpy.frombuffer(data, "<u8").astype(numpy.uint64).reshape(-1, 2)
