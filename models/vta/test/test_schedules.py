"""Programs of schedules compute what numpy computes, and wrong ones are found."""

import random

import numpy
import pytest
from models.vta import interpret, isa, schedule
from models.vta.schedule import Conv, matmul

CONVS = (
    Conv(4, 4, 32, 32, 3, 1, 1),
    Conv(8, 6, 32, 48),
    Conv(9, 9, 16, 32, 3, 2, 1),
    Conv(7, 5, 16, 16, 5, 1, 2),
    matmul(16, 64, 32),
)


@pytest.mark.parametrize("conv", CONVS, ids=str)
def test_any_schedule_whichever_unit_goes_first(conv):
    every = schedule.space(conv)
    for chosen in random.Random(3).sample(every, min(8, len(every))):
        interpret.agrees(conv, *schedule.program(conv, chosen), seed=4)


def test_the_largest_tile_has_no_factor_that_overflows():
    conv = Conv(32, 64, 16, 16)
    chosen = {"rows": 32, "columns": 64, "out_channels": 1, "in_channels": 1, "threads": 1}
    program = schedule.program(conv, {**chosen, "order": "space", "kernel": "channels"})
    interpret.agrees(conv, *program, orders=[interpret.UNITS])


@pytest.mark.parametrize("flag", ["pop_prev", "pop_next"])
def test_a_semaphore_that_nobody_takes_is_found(flag):
    """Without the waits of one direction some order of the units gives another result."""
    conv = Conv(8, 6, 32, 48)
    chosen = {"rows": 2, "columns": 6, "out_channels": 1, "in_channels": 1, "threads": 2}
    words, uops = schedule.program(conv, {**chosen, "order": "channels", "kernel": "channels"})
    interpret.agrees(conv, words, uops)
    _, shift, _ = isa.FIELDS["memory"][flag]
    words[:, 0] &= ~numpy.uint64(1 << shift)
    with pytest.raises(ValueError, match=r"^\d+ of 144 outputs are wrong when the units go in the"):
        interpret.agrees(conv, words, uops)


def test_waiting_for_ever():
    conv = Conv(4, 4, 16, 16)
    words, uops = schedule.program(conv, schedule.space(conv)[0])
    words[:, 0] &= ~numpy.uint64(1 << 6)  # push_next
    with pytest.raises(ValueError, match=r"^instruction \d+ of the \w+ unit waits for ever$"):
        interpret.agrees(conv, words, uops)


def test_operations_of_the_alu_by_hand():
    """Two operands, shifts both ways, a chain through one element: in the order of the loops."""
    values = numpy.arange(-32, 32, dtype=numpy.int32).reshape(4, 16)
    uops = numpy.array([0 | 1 << 11], numpy.uint32)  # dst 0, src 1
    loop = {"uop_begin": 0, "uop_end": 1, "lp0": 1, "lp1": 3, "dst1": 1, "src1": 1}
    own = {**loop, "src0": 0}
    program = isa.program(
        [
            isa.encode(isa.LOAD_OP, mem=isa.ACC, y=1, x=4, stride=4),
            isa.encode(isa.LOAD_OP, mem=isa.UOP, y=1, x=1, stride=1),
            isa.encode(isa.ALU_OP, alu_op=isa.ADD, **own),  # acc[i] += acc[i + 1]
            isa.encode(isa.ALU_OP, alu_op=isa.SHIFT, use_imm=1, imm=-1, **own),  # from i + 1
            isa.encode(isa.ALU_OP, alu_op=isa.MAX, use_imm=1, imm=5, push_next=1, **own),
            isa.encode(isa.STORE_OP, mem=isa.OUT, y=1, x=4, stride=4, pop_prev=1),
            isa.encode(isa.FINISH_OP),
        ]
    )
    dram = {"acc": values, "uop": uops, "out": numpy.zeros((4, 16), numpy.int8)}
    expected = values.copy()
    for operation in (
        lambda dst, src: dst + src,
        lambda dst, src: src << 1,
        lambda dst, src: numpy.maximum(src, 5),
    ):
        for i in range(3):
            expected[i] = operation(expected[i], expected[i + 1])
    out = interpret.run(program, dram)
    assert numpy.array_equal(out[:3], expected[:3].astype(numpy.int8))


def test_shapes_and_schedules_that_cannot_be():
    for arguments, text in (
        ((4, 4, 20, 16), "channels must be multiples of 16, got 20 and 16"),
        ((4, 4, 16, 16, 3, 1, 3), "pad must be 0..2 for a filter of 3, got 3"),
        ((2, 2, 16, 16, 3), "a filter of 3 does not fit into 2 x 2"),
        ((0, 2, 16, 16), "h must be at least 1, got 0"),
    ):
        with pytest.raises(ValueError, match="^" + text + "$"):
            Conv(*arguments)
    whole = {"rows": 64, "columns": 64, "out_channels": 1, "in_channels": 1, "threads": 1}
    with pytest.raises(ValueError, match="^1 tiles of 4096 do not fit into inp$"):
        schedule.program(Conv(64, 64, 16, 16), {**whole, "order": "space", "kernel": "rows"})
    with pytest.raises(ValueError, match="^rows=64 does not divide 4$"):
        schedule.program(Conv(4, 4, 16, 16), {**whole, "order": "space", "kernel": "rows"})
