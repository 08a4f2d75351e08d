"""The text of a property, compared."""

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
    return 3 if str(ins.op) == "STORE" else 4


net.transition("issue", take={"ins": program}, delay=cycles, servers=1)
