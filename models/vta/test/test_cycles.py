"""Single instructions by hand: the table of measured times, ../shared/truth/vta/RTL_FACTS.md.

A program [instruction, sync on compute, finish] takes the fetch, then from the instruction's start to
its done, and 5 clocks: sync starts one after done and takes one, so does finish, and its pulse
comes one later.
"""

import pytest
from models.vta import config

LATENCIES = (10, 20, 50, 100)


def alone(cycles, latency, **instruction):
    """Cycles from start to done."""
    if instruction["k"] in ("inp", "wgt"):
        program = [{**instruction, "push_next": 1}, {"k": "csync", "pop_prev": 1}, {"k": "fin"}]
        beyond = 5
    elif instruction["k"] == "out":
        program = [{**instruction, "push_prev": 1}, {"k": "csync", "pop_next": 1}, {"k": "fin"}]
        beyond = 5
    else:
        program = [instruction, {"k": "fin"}]
        beyond = 3
    return cycles(program, latency) - (latency + 4 + 2 * len(program)) - beyond


@pytest.mark.parametrize("latency", LATENCIES)
def test_loads_are_latency_and_beats(cycles, latency):
    for kind, beats in (("inp", 2), ("wgt", 32), ("acc", 8)):
        for x, y in ((1, 1), (16, 1), (33, 1), (4, 4)):
            assert alone(cycles, latency, k=kind, x=x, y=y) == latency + 4 + beats * x * y
    for x in (1, 2, 7, 512):
        assert alone(cycles, latency, k="uop", x=x) == latency + 3 + (x + 1) // 2


@pytest.mark.parametrize("latency", LATENCIES)
def test_compute_is_six_and_its_loops(cycles, latency):
    loops = {"ub": 3, "ue": 10, "lp0": 5, "lp1": 3}
    assert alone(cycles, latency, k="gemm", **loops) == 6 + 105
    assert alone(cycles, latency, k="gemm", reset=1, **loops) == 6 + 105
    assert alone(cycles, latency, k="alu", useimm=1, **loops) == 6 + 105
    assert alone(cycles, latency, k="alu", op=2, **loops) == 6 + 210


@pytest.mark.parametrize("latency", LATENCIES)
def test_a_store_is_a_burst_a_row(cycles, latency):
    assert alone(cycles, latency, k="out", x=16, y=8) == 8 * (latency + 1 + 3 * 16)
    assert alone(cycles, latency, k="out", x=128) == latency + 1 + 3 * 128
    # 2048 bytes are the longest burst, and none crosses such a boundary.
    assert alone(cycles, latency, k="out", x=130) == 2 * (latency + 1) + 3 * 130
    assert alone(cycles, latency, k="out", x=2, dram=127) == 2 * (latency + 1) + 6


def test_reads_and_writes_have_latencies_of_their_own(cycles):
    program = [{"k": "out", "x": 1, "push_prev": 1}, {"k": "csync", "pop_next": 1}, {"k": "fin"}]
    assert cycles(program, 10, 70) == cycles(program, 10, 10) + 60
    assert cycles(program, 70, 10) == cycles(program, 10, 10) + 60


def test_short_rows_wait_for_sixteen_outstanding(cycles):
    assert alone(cycles, 20, k="inp", x=1, y=64) == 152
    assert alone(cycles, 50, k="inp", x=1, y=64) == 242


def test_zeros_are_filled_where_no_data_arrives(cycles):
    around = {"k": "inp", "x": 14, "y": 14, "xp0": 1, "xp1": 1, "yp0": 1, "yp1": 1}
    assert alone(cycles, 20, **around) == alone(cycles, 50, **around) == 454
    # With a latency long enough they are done before the data; one clock per row above.
    assert alone(cycles, 100, **around) == 100 + 4 + 2 * 14 * 14 + 1


def test_zeros_below_only_skip_the_rows_beside_data(cycles):
    """ypad_1 alone: 30 rows are skipped from clock 2 on, data arrives in 60 clocks from L + 4 on,
    then 3 zeros. With L = 100 all zeros are done long before.
    """
    below = {"k": "inp", "x": 1, "y": 30, "yp1": 3}
    assert alone(cycles, 10, **below) == 10 + 4 + 60 + 3
    assert alone(cycles, 100, **below) == alone(cycles, 100, k="inp", x=1, y=30)


def test_every_burst_is_the_arithmetic(vta):
    """Both ways to say what a load does agree: one token, or one per burst."""
    import lpn
    from models.vta import isa

    net = vta.net()
    for latency in (1, 10, 33, 77, 200, 1000):
        for memory, x, y, stride, dram in (
            (isa.INP, 1, 200, 1, 0),
            (isa.INP, 3, 90, 5, 7),
            (isa.INP, 7, 40, 128, 120),
            (isa.INP, 200, 5, 300, 1),
            (isa.WGT, 9, 20, 36, 4),
            (isa.WGT, 100, 8, 100, 0),
        ):
            load = {"mem": memory, "x": x, "y": y, "stride": stride, "dram": dram}
            program = isa.program(
                [
                    isa.encode(isa.LOAD_OP, push_next=1, **load),
                    isa.encode(isa.LOAD_OP, mem=isa.UOP, pop_prev=1),
                    isa.encode(isa.FINISH_OP),
                ]
            )
            both = [
                lpn.simulate(
                    net,
                    vta.module.marking_of(net, program, every_burst=every),
                    {"read_latency": latency},
                ).latency
                for every in (False, True)
            ]
            assert both[0] == both[1], (latency, load)


def test_other_hardware_has_other_elements(cycles):
    """A block of 32 doubles inputs and quadruples weights; of 4, several elements share a beat."""
    fields = {
        "LOG_INP_WIDTH": 3,
        "LOG_WGT_WIDTH": 3,
        "LOG_ACC_WIDTH": 5,
        "LOG_BATCH": 0,
        "LOG_BLOCK": 5,
        "LOG_UOP_BUFF_SIZE": 13,
        "LOG_INP_BUFF_SIZE": 15,
        "LOG_WGT_BUFF_SIZE": 18,
        "LOG_ACC_BUFF_SIZE": 17,
    }
    assert config.make(fields).bytes == {"uop": 4, "inp": 32, "wgt": 1024, "acc": 128, "out": 32}

    def load(block, kind, x):
        program = [{"k": kind, "x": x, "push_next": 1}, {"k": "csync", "pop_prev": 1}, {"k": "fin"}]
        return cycles(program, hardware={**fields, "LOG_BLOCK": block}) - (20 + 4 + 6) - 5

    assert load(5, "inp", 10) == 20 + 4 + 40
    assert load(5, "wgt", 3) == 20 + 4 + 3 * 128
    # Memories no wider than a beat lack one register (TensorLoadWideVME.scala), as for micro-ops.
    assert load(2, "inp", 10) == 20 + 3 + 5
    assert load(2, "inp", 11) == 20 + 3 + 6
