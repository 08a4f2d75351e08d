"""Every ALU and jump instruction: the machine against numbers by hand, terms against the machine."""

import random

import pytest
from assemble import EXIT, mov, program

from models.bpf import machine, symbolic
from models.bpf import terms as t
from models.bpf.errors import Error
from models.bpf.instructions import ALU_NAMES, JUMP_NAMES, decode

M64 = (1 << 64) - 1
WORLD = machine.World(bytes(64))


def result(*instructions, world=None):
    """r0 at the end."""
    made = program(*instructions, EXIT)
    running = machine._Running(
        machine.Machine(made, made.functions[0]), world or WORLD.copy(), False
    )
    kept = []
    running.m.code[len(instructions)].kind = "exit"
    original = machine.h.verdict_of
    machine.h.verdict_of = kept.append
    try:
        running.run()
    finally:
        machine.h.verdict_of = original
    return kept[0]


@pytest.mark.parametrize(
    "instructions, expected",
    [
        ([mov(0, -1)], M64),
        ([(0xB4, 0, 0, 0, -1)], 0xFFFFFFFF),  # w0 = -1
        ([mov(0, -7), (0x37, 0, 0, 1, 2)], M64 - 2),  # sdiv: -3
        ([mov(0, -7), (0x97, 0, 0, 1, 2)], M64),  # smod: -1
        ([mov(0, 7), mov(1, 0), (0x3F, 0, 1, 0, 0)], 0),  # by 0: 0
        ([mov(0, 7), mov(1, 0), (0x9F, 0, 1, 0, 0)], 7),  # rest by 0: all
        ([mov(0, 0x80), (0xBF, 0, 0, 8, 0)], M64 - 0x7F),  # movsx
        ([mov(0, 0x80), (0xBC, 0, 0, 8, 0)], 0xFFFFFF80),
        ([mov(0, 0x1234), (0xDC, 0, 0, 0, 16)], 0x3412),  # be16
        ([mov(0, 0x1234), (0xD4, 0, 0, 0, 16)], 0x1234),  # le16
        ([mov(0, 0x11223344), (0xD7, 0, 0, 0, 32)], 0x44332211),  # bswap32
        ([mov(0, -8), (0xC7, 0, 0, 0, 1)], M64 - 3),  # s>>=
        ([mov(0, -8), (0x77, 0, 0, 0, 1)], (M64 - 7) >> 1),
        ([mov(0, 5), (0x87, 0, 0, 0, 0)], M64 - 4),  # neg
        ([mov(0, 1), mov(1, 65), (0x6F, 0, 1, 0, 0)], 2),  # shifts count modulo 64
        ([mov(0, 1), (0x06, 0, 0, 0, 1), mov(0, 2)], 1),  # gotol 1 jumps over
    ],
)
def test_by_hand(instructions, expected):
    assert result(*instructions) == expected


@pytest.mark.parametrize("width", [64, 32])
def test_terms_compute_as_the_machine_does(width):
    generator = random.Random(width)
    solver = symbolic.Solver()
    x, y = t.symbol("x", 64), t.symbol("y", 64)
    for code, op in ALU_NAMES.items():
        for off in (0, 1) if op in ("div", "mod") else (8, 16) if op == "mov" else (0,):
            cls = 7 if width == 64 else 4
            register = 8 if op not in ("neg", "end") else 0
            one = decode(machine_word(code | cls | register, off, 16 if op == "end" else 0), "xdp")[
                0
            ]
            term = symbolic.alu(one, x, y)
            for _ in range(3):
                a, b = (generator.getrandbits(generator.choice([8, 32, 64])) for _ in range(2))
                model = solver.model((t.eq(x, t.const(a)), t.eq(y, t.const(b))))
                expected = machine._alu(one, a, b if one.src is not None else one.imm)
                if one.op == "neg":
                    expected = machine._alu(one, a, a)
                assert model.value(term) == expected, (one, a, b)
                constant = symbolic.alu(one, t.const(a), t.const(b))
                assert t.value_of(constant) == expected, (one, a, b)


@pytest.mark.parametrize("width", [64, 32])
def test_conditions_hold_as_in_the_machine(width):
    generator = random.Random(width)
    solver = symbolic.Solver()
    x, y = t.symbol("x", 64), t.symbol("y", 64)
    for code in JUMP_NAMES:
        one = decode(machine_word(code | (5 if width == 64 else 6) | 8, 0, 0), "xdp")[0]
        for _ in range(4):
            a = generator.getrandbits(generator.choice([1, 32, 64]))
            b = generator.choice([a, generator.getrandbits(64), a ^ 1 << 31])
            model = solver.model((t.eq(x, t.const(a)), t.eq(y, t.const(b))))
            expected = machine._holds(one, a, b)
            assert model.value(symbolic.test(one, x, y)) == expected, (one, a, b)
            known = symbolic.test(one, t.const(a), t.const(b))
            assert t.value_of(known) == expected
            half = symbolic.test(one, x, t.const(b))
            assert model.value(half) == expected, (one, a, b)


def machine_word(code, off, imm):
    from struct import pack

    return pack("<BBhi", code, 1 << 4 if code & 8 else 0, off, imm)


@pytest.mark.parametrize(
    "word",
    [
        (0xFF, 0, 0, 0, 0),  # no ALU operation
        (0x8D, 0, 0, 0, 0),  # call by register
        (0x20, 0, 0, 0, 0),  # legacy packet access
        (0xDB, 0, 0, 0, 0x22),  # no atomic operation
        (0xB7, 12, 0, 0, 0),  # no register
        (0x67, 0, 0, 0, 64),  # shift by 64
        (0x18, 0, 0, 0, 0),  # half a lddw
        (0xD7, 0, 0, 0, 24),  # bswap24
    ],
)
def test_what_is_no_instruction_is_refused(word):
    with pytest.raises(Error) as error:
        program(word)
    assert error.value.code == "E-bpf-instruction"


def test_atomics():
    for imm, expected, old in [
        (0x00, 12, None), (0x01, 12, 5), (0x40, 7, None), (0x51, 5, 5), (0xA1, 2, 5),
        (0xE1, 7, 5),
    ]:  # fmt: skip
        body = [
            (0x7A, 10, 0, -8, 5),  # *(u64 *)(r10 - 8) = 5
            mov(1, 7),
            (0xDB, 10, 1, -8, imm),
            (0x79, 0, 10, -8, 0),
        ]
        assert result(*body) == expected
        if old is not None:
            assert result(*body[:3], (0xBF, 0, 1, 0, 0)) == old
    compare = [(0x7A, 10, 0, -8, 5), mov(1, 7), mov(0, 5), (0xDB, 10, 1, -8, 0xF1)]
    assert result(*compare) == 5
    assert result(*compare, (0x79, 0, 10, -8, 0)) == 7
