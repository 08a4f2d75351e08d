"""The tokens of a program: what each instruction asks of its unit, and its requests to memory."""

import numpy

from models.vta import isa
from models.vta.config import BEAT_BYTES, Config

CHUNK = 128  # instructions: entries_q of FetchVME64.scala
BURST = 256  # beats: lenBits of the memory port (shell/Configs.scala)
PAGE = BURST * BEAT_BYTES  # no burst crosses such a boundary (firstMaxTransfer, xmax_bytes)
LOAD, COMPUTE = 2, 3  # who waits for a load's last burst

# From start to done beyond what the loops take (TensorGemm.scala, TensorAlu.scala: start register,
# index generator, five stages), and one clock until the unit is idle again.
PIPELINE = 6 + 1
# From the clock behind the last beat to the unit being idle: VME's register, one more in front of
# memories wider than a beat (vmeDataBitsPipe of TensorLoadNarrowVME.scala), done.
WIDE_TAIL, NARROW_TAIL = 2, 3
SYNC = 2


def columns(words, hardware: Config) -> dict:
    """Place -> {property: column} for a program's words.

    Raises ValueError, with the number of the instruction and the reason, for what the hardware
    does not run or what would leave its memories.
    """
    op = isa.field(words, "memory", "op")
    _check_opcodes(words, op)
    memory = isa.field(words, "memory", "mem")
    load = op == isa.LOAD_OP
    to_load = load & ((memory == isa.INP) | (memory == isa.WGT))
    to_store = op == isa.STORE_OP
    unit = numpy.where(to_load, 0, numpy.where(to_store, 2, 1))
    tokens = _order(unit)
    numbers = numpy.flatnonzero(to_load)
    shape = _Shape(words, numbers, hardware)
    tokens["load_program"] = {
        "pop": isa.field(words[numbers], "memory", "pop_next"),
        "push": isa.field(words[numbers], "memory", "push_next"),
        **shape.instruction(),
    }
    tokens["load_bursts"], tokens["load_zeros"] = shape.bursts(LOAD), shape.zeros()
    _add_compute(tokens, words, numpy.flatnonzero(unit == 1), op, hardware)
    numbers = numpy.flatnonzero(to_store)
    shape = _Shape(words, numbers, hardware, store=True)
    tokens["store_program"] = {
        "pop": isa.field(words[numbers], "memory", "pop_prev"),
        "push": isa.field(words[numbers], "memory", "push_prev"),
        **shape.stored(),
    }
    return {place: values for place, values in tokens.items() if len(next(iter(values.values())))}


def _check_opcodes(words, op):
    """Refuses what FetchDecode of core/Decode.scala does not know, and programs without end."""
    if not len(words):
        raise ValueError("the program has no instruction")
    refuse(op > isa.ALU_OP, lambda i: f"unknown opcode {op[i]}")
    memory = isa.field(words, "memory", "mem")
    refuse(
        (op == isa.LOAD_OP) & (memory > isa.ACC),
        lambda i: f"a load of memory {memory[i]}: only uop 0, wgt 1, inp 2 and acc 3 can be loaded",
    )
    alu_op = isa.field(words, "alu", "alu_op")
    refuse(
        (op == isa.ALU_OP) & (alu_op > isa.SHIFT),
        lambda i: f"unknown ALU operation {alu_op[i]}: min 0, max 1, add 2, shift 3",
    )
    finish = numpy.flatnonzero(op == isa.FINISH_OP)
    if not len(finish):
        raise ValueError("the program has no finish instruction: the accelerator would never end")
    if finish[0] != len(words) - 1:
        raise ValueError(
            f"instruction {finish[0]} is a finish, but {len(words) - 1 - finish[0]} instructions "
            "follow it; finish ends a program"
        )


def refuse(wrong, text):
    """Raises ValueError with the first instruction for which `wrong` holds."""
    if wrong.any():
        number = int(numpy.argmax(wrong))
        raise ValueError(f"instruction {number}: {text(number)}")


def _order(unit):
    """The order of dispatch and the chunks of the fetch unit."""
    number = len(unit)
    last = numpy.zeros(number, numpy.int64)
    last[CHUNK - 1 :: CHUNK] = 1
    last[-1] = 1
    sizes = numpy.full((number + CHUNK - 1) // CHUNK, CHUNK, numpy.int64)
    sizes[-1] = number - CHUNK * (len(sizes) - 1)
    return {"chunks": {"instructions": sizes}, "order": {"unit": unit, "last": last}}


def _add_compute(tokens, words, numbers, op, hardware):
    """The compute unit's instructions."""
    mine, op = words[numbers], op[numbers]
    load = op == isa.LOAD_OP
    shape = _Shape(words, numbers[load], hardware)
    cycles = numpy.full(len(mine), SYNC, numpy.int64)
    loops = (op == isa.GEMM_OP) | (op == isa.ALU_OP)
    worked = mine[loops]
    begin, end = isa.field(worked, "gemm", "uop_begin"), isa.field(worked, "gemm", "uop_end")
    lp0, lp1 = isa.field(worked, "gemm", "lp0"), isa.field(worked, "gemm", "lp1")
    at = numbers[loops]
    refuse_at(
        at,
        (begin >= end) | (lp0 == 0) | (lp1 == 0),
        lambda i: f"an empty loop (micro-ops {begin[i]}..{end[i]}, {lp0[i]} x {lp1[i]}): the "
        "hardware's counters would wrap",
    )
    refuse_at(
        at,
        end > hardware.depth["uop"],
        lambda i: f"micro-ops up to {end[i]}: there are {hardware.depth['uop']}",
    )
    # TensorAluIndexGenerator: the second operand takes a clock of its own.
    twice = (op[loops] == isa.ALU_OP) & (isa.field(worked, "alu", "use_imm") == 0)
    cycles[loops] = PIPELINE + (end - begin) * lp0 * lp1 * (1 + twice)
    program = {
        "pop_load": isa.field(mine, "memory", "pop_prev"),
        "pop_store": isa.field(mine, "memory", "pop_next"),
        "push_load": isa.field(mine, "memory", "push_prev"),
        "push_store": isa.field(mine, "memory", "push_next"),
        "finish": (op == isa.FINISH_OP).astype(numpy.int64),
        "cycles": cycles,
    }
    for name, values in shape.instruction().items():
        program[name] = numpy.zeros(len(mine), numpy.int64)
        program[name][load] = values
    tokens["compute_program"] = program
    tokens["compute_bursts"], tokens["compute_zeros"] = shape.bursts(COMPUTE), shape.zeros()


def refuse_at(numbers, wrong, text):
    """refuse() for a part of the program, whose instructions have these numbers."""
    if wrong.any():
        first = int(numpy.argmax(wrong))
        raise ValueError(f"instruction {numbers[first]}: {text(first)}")


class _Shape:
    """The tensors that some instructions load or store: sizes, bursts, zeros around."""

    def __init__(self, words, numbers, hardware, store=False):
        mine = words[numbers]
        get = lambda name: isa.field(mine, "memory", name)
        self.memory = numpy.full(len(mine), isa.OUT) if store else get("mem")
        self.x, self.y, self.stride, self.dram = get("x"), get("y"), get("stride"), get("dram")
        self.bytes = numpy.array([hardware.bytes[name] for name in isa.MEMORIES])[self.memory]
        sync = self.x == 0
        refuse_at(
            numbers,
            ~sync & (self.y == 0),
            lambda i: "y_size 0 with x_size > 0: the hardware would count 65536 rows",
        )
        self.y = numpy.where(sync, 0, self.y)
        pads = numpy.zeros((4, len(mine)), numpy.int64)
        if not store:  # TensorStore*.scala ignores them
            pads = numpy.where(sync, 0, [get(name) for name in ("y0", "y1", "x0", "x1")])
        self.y0, self.y1, self.x0, self.x1 = pads
        self.width = self.x + self.x0 + self.x1
        end = get("sram") + self.width * (self.y + self.y0 + self.y1)
        depth = numpy.array([hardware.depth[name] for name in isa.MEMORIES])[self.memory]
        refuse_at(
            numbers,
            ~sync & (end > depth),
            lambda i: f"it fills {isa.MEMORIES[self.memory[i]]} up to element {end[i]}, of which there"
            f" are {depth[i]}",
        )
        self._split()

    def _split(self):
        """Rows into bursts: the first ends at a page, the others are whole (GenVMECmd*.scala)."""
        self.row = numpy.repeat(numpy.arange(len(self.y)), self.y)
        first_row = numpy.cumsum(self.y) - self.y
        inside = numpy.arange(len(self.row)) - first_row[self.row]
        size = self.bytes[self.row]
        address = (self.dram[self.row] + inside * self.stride[self.row]) * size
        start = address % BEAT_BYTES
        self.row_beats = -(-(self.x[self.row] * size + start) // BEAT_BYTES)
        room = (PAGE - address % PAGE + start) // BEAT_BYTES
        more = numpy.maximum(self.row_beats - room, 0)
        self.row_bursts = 1 + -(-more // BURST)
        self.first = numpy.minimum(self.row_beats, room)
        number = len(self.y)
        self.number = numpy.bincount(self.row, self.row_bursts, number).astype(numpy.int64)
        self.beats = numpy.bincount(self.row, self.row_beats, number).astype(numpy.int64)

    @property
    def writes(self):
        """Elements of zeros."""
        return self.width * (self.y0 + self.y1) + (self.x0 + self.x1) * self.y

    def instruction(self):
        """Columns of a load's own token."""
        return {
            "bursts": self.number,
            "rows_above": self.y0,
            "padded": (self.writes > 0).astype(numpy.int64),
            "tail": numpy.where(self.bytes > BEAT_BYTES, NARROW_TAIL, WIDE_TAIL),
        }

    def bursts(self, to):
        """Columns of the requests, in order."""
        burst_row = numpy.repeat(numpy.arange(len(self.row)), self.row_bursts)
        begin = numpy.cumsum(self.row_bursts) - self.row_bursts
        inside = numpy.arange(len(burst_row)) - begin[burst_row]
        left = self.row_beats[burst_row] - self.first[burst_row] - (inside - 1) * BURST
        beats = numpy.where(inside == 0, self.first[burst_row], numpy.minimum(left, BURST))
        whose = self.row[burst_row]
        last = numpy.ones(len(whose), bool)
        last[:-1] = whose[1:] != whose[:-1]
        return {
            "beats": beats,
            "to": numpy.where(last, to, 0),
            "low": (self.memory[whose] == isa.ACC).astype(numpy.int64),
        }

    def zeros(self):
        """Columns of the zeros around each padded tensor, from its first address on."""
        padded = self.writes > 0
        skipped = numpy.where((self.x0 + self.x1 == 0) & (self.y1 > 0), self.y, 0)
        above = self.width * self.y0
        cycles = self.writes + skipped + self.beats - 2 - self.y0
        return {
            "cycles": numpy.maximum(cycles, 0)[padded],
            "skipped": numpy.where(skipped > 0, 2 + above + skipped, 0)[padded],
            "rows": numpy.minimum(skipped, self.beats)[padded],
        }

    def stored(self):
        """Columns of a store's token."""
        # TensorStoreNarrowVME.scala: an element's beats, and sReadMem before each but a burst's
        # first; TensorStoreWideVME.scala: a beat a clock.
        wide = self.bytes <= BEAT_BYTES
        elements = self.x * self.y
        narrow = self.beats + elements - self.number
        return {"beats": numpy.where(wide, self.beats, narrow), "bursts": self.number}
