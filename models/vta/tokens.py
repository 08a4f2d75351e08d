"""The tokens of a program: what each instruction asks of its unit, and its requests to memory."""

import numpy

from models.vta import isa, semaphores
from models.vta.config import Config
from models.vta.shape import Shape, refuse, refuse_at

CHUNK = 128  # instructions: entries_q of FetchVME64.scala
LOAD, COMPUTE = 2, 3  # who waits for a load's last burst

# From start to done beyond what the loops take (TensorGemm.scala, TensorAlu.scala: start register,
# index generator, five stages), and one clock until the unit is idle again.
PIPELINE = 6 + 1
# A sync or finish is done one clock after its start (sSync, isFinish of Load, Compute, Store).
SYNC = 2
FINISH = 6  # a bit of an instruction's flags


def columns(words, hardware: Config, every_burst: bool = False, fetch: bool = True) -> dict:
    """Place -> {property: column} for a program's words.

    The bursts of a load are one token where no other reader can come between, so that their time is
    arithmetic; with `every_burst` nowhere, with `fetch=False` also where a chunk of instructions
    may.

    Raises ValueError, with the number of the instruction and the reason, for what the hardware
    does not run or what would leave its memories.
    """
    words = numpy.ascontiguousarray(words.T)
    op = isa.field(words, "memory", "op")
    memory = isa.field(words, "memory", "mem")
    _check(words, op, memory)
    to_load = (op == isa.LOAD_OP) & ((memory == isa.INP) | (memory == isa.WGT))
    to_store = op == isa.STORE_OP
    unit = 1 - to_load + to_store
    tokens = _order(unit)
    load, compute, store = (numpy.flatnonzero(unit == number) for number in range(3))
    flags = isa.flags(words)
    between = _between(flags[load], flags[compute], flags[store])
    semaphores.check(between)
    reads = _add_compute(tokens, words, compute, hardware)
    shape = Shape(words, load, hardware)
    alone = numpy.zeros(len(load), bool)
    if not every_burst and (len(op) <= CHUNK or not fetch):
        pair = semaphores.Pair(between["load"]["compute"], between["compute"]["load"])
        before = numpy.append(0, numpy.cumsum(reads))
        alone = shape.even(exact=fetch) & (before[pair.until()] <= before[pair.before()])
    own, tokens["load_bursts"] = shape.loads(alone, LOAD)
    tokens["load_program"] = {**own, **shape.together(alone)}
    tokens["load_zeros"] = shape.zeros(alone)
    tokens["store_program"] = Shape(words, store, hardware, store=True).stored()
    return {
        place: {name: numpy.ascontiguousarray(column, numpy.int64) for name, column in of.items()}
        for place, of in tokens.items()
        if of and len(next(iter(of.values())))
    }


def _between(load, compute, store):
    """Unit -> other -> whether each instruction takes from it (pop) and posts to it (push)."""
    get = lambda flags, pop, push: {"pop": flags >> pop & 1, "push": flags >> push & 1}
    return {
        "load": {"compute": get(load, 1, 3)},
        "compute": {"load": get(compute, 0, 2), "store": get(compute, 1, 3)},
        "store": {"compute": get(store, 0, 2)},
    }


def _check(words, op, memory):
    """Refuses what FetchDecode of core/Decode.scala does not know, and programs without end."""
    if not len(op):
        raise ValueError("the program has no instruction")
    refuse(op > isa.ALU_OP, lambda i: f"unknown opcode {op[i]}")
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
    if finish[0] != len(op) - 1:
        raise ValueError(
            f"instruction {finish[0]} is a finish, but {len(op) - 1 - finish[0]} instructions "
            "follow it; finish ends a program"
        )


def _order(unit):
    """The chunks of the fetch unit, and in each the runs of instructions for one unit."""
    number = len(unit)
    sizes = numpy.full(-(-number // CHUNK), CHUNK)
    sizes[-1] = number - CHUNK * (len(sizes) - 1)
    begins = numpy.ones(number + 1, bool)
    begins[1:-1] = unit[1:] != unit[:-1]
    begins[::CHUNK] = True
    begins[-1] = True
    begin = numpy.flatnonzero(begins)
    return {
        "chunks": {"instructions": sizes},
        "order": {
            "unit": unit[begin[:-1]],
            "instructions": begin[1:] - begin[:-1],
            "last": (begin[1:] % CHUNK == 0) | (begin[1:] == number),
        },
    }


def _add_compute(tokens, words, numbers, hardware):
    """The compute unit's instructions; returns which of them read memory."""
    mine = words[:, numbers]
    op = isa.field(mine, "memory", "op")
    load = op == isa.LOAD_OP
    shape = Shape(words, numbers[load], hardware)
    cycles = numpy.full(len(numbers), SYNC)
    loops = (op == isa.GEMM_OP) | (op == isa.ALU_OP)
    worked, at = mine[:, loops], numbers[loops]
    begin, end, lp0, lp1 = (
        isa.field(worked, "gemm", name) for name in ("uop_begin", "uop_end", "lp0", "lp1")
    )
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
    reads = load.copy()
    reads[load] = shape.x > 0
    cycles[reads] = 0
    flags = isa.flags(mine) | (op == isa.FINISH_OP).astype(numpy.int64) << FINISH
    tokens["compute_program"] = {"flags": flags, "cycles": cycles}
    if len(shape.x):
        one_by_one = numpy.zeros(len(shape.x), bool)
        tensors, tokens["compute_bursts"] = shape.loads(one_by_one, COMPUTE)
        tokens["compute_tensors"] = {name: values[shape.x > 0] for name, values in tensors.items()}
        tokens["compute_zeros"] = shape.zeros(one_by_one)
    return reads
