"""A property compared with `is`, as PEP 8 has it for enums."""

import enum

import lpn


class Op(enum.IntEnum):
    LOAD = 0
    STORE = 1


class Instruction(lpn.Token):
    op: Op
    size: lpn.Int[0, 9]


net = lpn.Net("n")
program = net.place("program", Instruction, start=True)


def cycles(ins):
    return 100 if ins.op is Op.STORE else 3


net.transition("issue", take={"ins": program}, delay=cycles, servers=1)
