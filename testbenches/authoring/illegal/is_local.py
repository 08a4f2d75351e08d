"""A value that comes from a property, compared with `is not`."""

import enum

import lpn


class Op(enum.IntEnum):
    LOAD = 0
    STORE = 1


class Instruction(lpn.Token):
    op: Op
    size: lpn.Int[0, 9]


LIMIT = 5
net = lpn.Net("n")
program = net.place("program", Instruction, start=True)


def cycles(ins):
    size = ins.size + 1
    return 3 if size is not LIMIT else 4


net.transition("issue", take={"ins": program}, delay=cycles, servers=1)
