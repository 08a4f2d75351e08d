"""Programs of schedules compute what numpy computes, and wrong ones are found."""

import random

import numpy
import pytest
from models.vta import interpret, isa, schedule
from models.vta.convolution import Conv, matmul

CONVS = (
    Conv(4, 4, 32, 32, 3, 1, 1),
    Conv(8, 6, 32, 48),
    Conv(9, 9, 16, 32, 3, 2, 1),
    Conv(7, 5, 16, 16, 5, 1, 2),
    matmul(16, 64, 32),
    # Channels that are no multiples of 16, and numbers of rows and columns that are prime.
    Conv(7, 5, 3, 40, 3, 2, 1),
    matmul(13, 50, 70),
)


@pytest.mark.parametrize("conv", CONVS, ids=str)
def test_any_schedule_whichever_unit_goes_first(conv):
    for every in (schedule.space(conv), schedule.space(conv, uneven=True)):
        for chosen in random.Random(3).sample(every, min(6, len(every))):
            interpret.agrees(conv, *schedule.program(conv, chosen), seed=4)


@pytest.mark.parametrize("conv", CONVS, ids=str)
def test_the_work_is_that_of_the_program(conv):
    for chosen in schedule.space(conv, uneven=True)[::7]:
        work = schedule.Work(conv, chosen)
        words, _ = schedule.program(conv, chosen)
        rows = numpy.ascontiguousarray(words.T)
        op, memory, y, x = (isa.field(rows, "memory", name) for name in ("op", "mem", "y", "x"))
        loads = (op == isa.LOAD_OP) & ((memory == isa.INP) | (memory == isa.WGT))
        stores = op == isa.STORE_OP
        # A sync of the load unit is a load of nothing.
        assert work.loads == numpy.count_nonzero(loads & (x > 0))
        assert work.stores == y[stores].sum() and work.elements == (x * y)[stores].sum()


def test_tiles_that_do_not_divide():
    conv = Conv(11, 7, 16, 80)
    even, uneven = schedule.space(conv), schedule.space(conv, uneven=True)
    assert all(one in uneven for one in even)
    # 11 rows in 1, 2, 3, 4, 6 and 11 tiles; in 5 they would be as high as in 4.
    assert {one["rows"] for one in uneven} == {11, 6, 4, 3, 2, 1}
    assert {one["out_channels"] for one in uneven} == {5, 3, 2, 1}


def test_memory_is_filled_up_with_zeros():
    """A convolution of 20 channels is, in memory, one of 32 whose last 12 are zeros."""
    inputs, weights = interpret.data(Conv(4, 4, 20, 17, 3, 1, 1))
    tensors = interpret.blocked(inputs, 0), interpret.blocked(weights, 0, 1)
    assert [t.shape for t in tensors] == [(2, 4, 4, 16), (2, 2, 3, 3, 16, 16)]
    assert not tensors[0][1, ..., 4:].any() and tensors[0][1, ..., :4].any()
    assert tensors[1][1, 0, 2, 1, 0, 5] == weights[16, 5, 2, 1]


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
        ((4, 4, 0, 16), "ci must be at least 1, got 0"),
        ((40, 40, 16, 16, 20, 1, 16), "pad must be at most 15, the instruction's, got 16"),
        ((4, 4, 16, 16, 3, 1, 3), "pad must be 0..2 for a filter of 3, got 3"),
        ((2, 2, 16, 16, 3), "a filter of 3 does not fit into 2 x 2"),
        ((0, 2, 16, 16), "h must be at least 1, got 0"),
    ):
        with pytest.raises(ValueError, match="^" + text + "$"):
            Conv(*arguments)
    whole = {"rows": 64, "columns": 64, "out_channels": 1, "in_channels": 1, "threads": 1}
    with pytest.raises(ValueError, match="^1 tiles of 4096 do not fit into inp$"):
        schedule.program(Conv(64, 64, 16, 16), {**whole, "order": "space", "kernel": "rows"})
    with pytest.raises(ValueError, match="^rows=64 is not 1 to 4$"):
        schedule.program(Conv(4, 4, 16, 16), {**whole, "order": "space", "kernel": "rows"})
