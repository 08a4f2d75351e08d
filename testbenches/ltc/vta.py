"""The reference toolchain's VTA: fetch, decode, and three units that work on tensors.

                              /-> load_queue    -> load
    program -> fetch -> decode -> compute_queue -> compute
                              \\-> store_queue   -> store

A token is one instruction; times are cycles. Units wait for each other through counters of
dependencies, which instructions pop when they start and push when they end.

The reference's Python counts fractions of a cycle, in stores; its C++ drops the fraction of every
delay, and so does this net.
"""

import enum

import lpn

import _tok

CHUNK = 8  # instructions per fetch


class Code(enum.IntEnum):
    """Operation codes and tensor types share one enumeration."""

    INP = 0
    LOADUOP = 1
    GEMM = 2
    SYNC = 3
    WGT = 4
    LOADACC = 5
    ALU = 6
    COMPUTE = 7
    FINISH = 8
    EMPTY = 9
    STORE = 10
    LOAD = 11


class Instruction(lpn.Token):
    opcode: Code
    subopcode: Code
    tstype: Code
    xsize: lpn.Int[0, 2**16]
    ysize: lpn.Int[0, 2**16]
    uop_begin: lpn.Int[0, 2**13]
    uop_end: lpn.Int[0, 2**14]
    lp_1: lpn.Int[0, 2**14]
    lp_0: lpn.Int[0, 2**14]
    use_alu_imm: bool
    # `prev` and `next`: load is before compute, compute before store.
    pop_prev: bool
    pop_next: bool
    push_prev: bool
    push_next: bool


class Launch(lpn.Token):
    total_insn: lpn.Int[0, 2**20]


class Fetch(lpn.Token):
    insn_count: lpn.Int[1, CHUNK]


# Place of a .tok file -> place of the net.
NAMES = {
    "plaunch": "launch",
    "pnumInsn": "program",
    "pcontrol": _tok.BuiltIn(1),
    "pload_cap": _tok.BuiltIn(512),
    "pcompute_cap": _tok.BuiltIn(512),
    "pstore_cap": _tok.BuiltIn(512),
}


def load_cycles(insn):
    if insn.subopcode == Code.SYNC:
        return 2
    if insn.tstype == Code.INP:
        return 22 + insn.xsize * insn.ysize * 2
    return 22 + insn.xsize * insn.ysize * 32


def store_cycles(insn):
    return 27 * insn.xsize * insn.ysize // 8


def compute_cycles(insn):
    if insn.subopcode == Code.SYNC:
        return 2
    if insn.subopcode == Code.LOADACC:
        return 22 + 8 * insn.xsize * insn.ysize
    if insn.subopcode == Code.LOADUOP:
        return 22 + insn.xsize * (insn.ysize + 2 - insn.ysize % 2) // 2
    steps = (insn.uop_end - insn.uop_begin) * insn.lp_1 * insn.lp_0
    if insn.subopcode == Code.ALU:
        steps *= 2 - insn.use_alu_imm
    return 6 + steps


def net() -> lpn.Net:
    """The accelerator."""
    net = lpn.Net("ltc_vta")
    launch = net.place("launch", Launch, start=True)
    program = net.place("program", Instruction, start=True)
    fetches = net.place("fetches", Fetch, drain=True)
    fetch_ready = net.place("fetch_ready", init=1)
    fetched = net.place("fetched")
    to_decode = net.place("to_decode", Instruction, drain=True)
    decoder = net.place("decoder", init=1)
    # Dependencies that were pushed and not yet popped.
    load_to_compute = net.place("load_to_compute")
    compute_to_load = net.place("compute_to_load")
    compute_to_store = net.place("compute_to_store")
    store_to_compute = net.place("store_to_compute")

    units = ("load", "compute", "store")
    slots = {unit: net.place(f"{unit}_slots", init=512) for unit in units}
    queue = {unit: net.place(f"{unit}_queue", Instruction, drain=True) for unit in units}
    work = {unit: net.place(f"{unit}_work", Instruction, drain=True) for unit in units}
    finished = {unit: net.place(f"{unit}_finished", sink=True) for unit in units}

    net.transition("fetch_again", take=fetched, put=[fetch_ready], delay=1, servers=1)
    net.transition(
        "fetch",
        take={
            "cmd": fetches,
            "ready": fetch_ready,
            "insns": program.take(lambda cmd: cmd.insn_count),
        },
        put=[to_decode.forward("insns"), fetched],
        delay=lambda cmd: 21 + 2 * cmd.insn_count,
        servers=1,
    )
    net.transition(
        "split",
        take={"all": launch},
        put=[
            fetches.emit(
                count=lambda all: -(-all.total_insn // CHUNK),
                insn_count=lambda all, i: min(CHUNK, all.total_insn - i * CHUNK),
            )
        ],
        servers=1,
    )

    # One instruction is decoded at a time; one whose queue is full holds up those behind it.
    for unit, opcode in (("load", Code.LOAD), ("compute", Code.COMPUTE), ("store", Code.STORE)):
        net.transition(
            f"decode_{unit}",
            take={
                "insn": to_decode.take(guard=lambda insn, opcode=opcode: insn.opcode == opcode),
                "slot": slots[unit],
                "decoder": decoder,
            },
            put=[queue[unit].forward("insn"), decoder],
            delay=1,
            servers=1,
        )

    def launches(unit, **pops):
        net.transition(
            f"{unit}_launch",
            take={"insn": queue[unit], **pops},
            put=[work[unit].forward("insn")],
            servers=1,
        )

    def works(unit, delay, *pushes):
        net.transition(
            f"{unit}_done",
            take={"insn": work[unit]},
            put=[finished[unit], *pushes, slots[unit]],
            delay=delay,
            servers=1,
        )

    def if_pop_prev(insn):
        return 1 if insn.pop_prev else 0

    def if_pop_next(insn):
        return 1 if insn.pop_next else 0

    def if_push_prev(insn):
        return 1 if insn.push_prev else 0

    def if_push_next(insn):
        return 1 if insn.push_next else 0

    launches(
        "compute",
        store=store_to_compute.take(if_pop_next),
        load=load_to_compute.take(if_pop_prev),
    )
    launches("store", compute=compute_to_store.take(if_pop_prev))
    launches("load", compute=compute_to_load.take(if_pop_next))
    works(
        "compute",
        compute_cycles,
        compute_to_load.emit(if_push_prev),
        compute_to_store.emit(if_push_next),
    )
    works("store", store_cycles, store_to_compute.emit(if_push_prev))
    works("load", load_cycles, load_to_compute.emit(if_push_next))
    return net


def workload(path, net: lpn.Net) -> lpn.Marking:
    """The marking in a .tok file. Raises OSError, or ValueError when it is not one for this net."""
    return _tok.marking(path, net, NAMES)
