"""A controller behind a memory port answers in the cycles of the same trace."""

import random

import lpn
import pytest
from lone_port import lone_port
from lpn.runs import prepare

dram = lpn.load("dram").module

from models.dram.trace import Trace, controllers  # noqa: E402

SMALL = """base = "controllers/ddr4"
[organisations]
full = { rank = 1, bank_group = 2, bank = 1 }
[controller]
channels = 2
address = [["column", 3], ["channel", 1], ["bank_group", 1], ["bank", 0], ["rank", 0], ["row", 16]]
"""


def by_port(part, rows, engine, quarter=1, outstanding=64):
    """The cycle in which each of rows, (cycle, writes, block), is answered."""
    net = lone_port(part, quarter=quarter, outstanding=outstanding)
    marking = lpn.Marking(net)
    size = Trace("size", part, [], [], []).standard.controller["request_bytes"]
    accesses = [(size * block, size, int(writes), k) for k, (_, writes, block) in enumerate(rows)]
    marking.add_rows("asks", accesses, at=[4 * quarter * cycle for cycle, _, _ in rows])
    marking.done_count = len(rows)
    values, times = prepare(net, marking, engine=engine).run(collect=["done"]).collected["done"]
    return {values[4 * k + 3]: t // (4 * quarter) for k, t in enumerate(times)}


def by_trace(part, rows):
    trace = Trace("trace", part, [r[0] for r in rows], [r[2] for r in rows], [r[1] for r in rows])
    net = dram.net_of(trace)
    _, _, done = trace.times(prepare(net, trace.marking(net), engine="interp"))
    return dict(enumerate(done))


def requests(draw, blocks, n):
    cycle, rows = 0, []
    for block in draw.sample(range(blocks), n):
        cycle += draw.choice([0, 2, 8, 40])
        rows.append((cycle, draw.random() < 0.3, block))
    return rows


@pytest.mark.parametrize("part", [p for p in controllers() if p != "hbm2"])
def test_in_the_cycles_of_the_trace(part):
    blocks = Trace("size", part, [], [], []).standard.blocks
    for seed in range(4):
        rows = requests(random.Random(seed), min(blocks, draw_span(seed)), 100)
        assert by_port(part, rows, "interp", quarter=1 + seed % 2) == by_trace(part, rows)


@pytest.mark.parametrize("part", ["ddr4", "ddr4close", "lpddr4"])
def test_accesses_of_one_block_are_joined(part):
    """Few blocks, more accesses under way than the controller's queues have entries."""
    for seed in range(4):
        draw, cycle, rows = random.Random(seed), 0, []
        for _ in range(200):
            cycle += draw.choice([0, 1, 2, 8])
            rows.append((cycle, draw.random() < (0.1, 0.5)[seed % 2], draw.randrange(4 << seed)))
        assert by_port(part, rows, "interp", outstanding=256) == by_trace(part, rows)


def test_accesses_of_one_block_each_by_itself(tmp_path):
    part = tmp_path / "apart.toml"
    part.write_text('base = "controllers/ddr4"\n[controller]\njoin = false\n')
    draw = random.Random(3)
    rows = [(4 * k, draw.random() < 0.3, draw.randrange(8)) for k in range(150)]
    apart = by_port(str(part), rows, "interp", outstanding=150)
    assert apart == by_trace(str(part), rows) != by_trace("ddr4", rows)


def test_the_oldest_of_those_aside_goes_on():
    """Where several banks have room again; the numbers of what is under way are used again."""
    draw, cycle, rows = random.Random(0), 0, []
    for _ in range(400):
        cycle += draw.choice([0, 1, 2, 60 if draw.random() < 0.1 else 4])
        rows.append((cycle, draw.random() < 0.2, draw.randrange(1 << 14)))
    assert by_port("lpddr4", rows, "interp", outstanding=160) == by_trace("lpddr4", rows)


def test_so_many_accesses_under_way_and_no_more():
    rows = [(0, False, 64 * k) for k in range(6)]
    one = by_port("ddr4", rows, "interp", outstanding=1)
    data = Trace("size", "ddr4", [], [], []).standard.cycles("CL + burst")
    assert all(one[k + 1] - one[k] > data for k in range(5))
    assert by_port("ddr4", rows, "interp", outstanding=6) == by_trace("ddr4", rows)
    with pytest.raises(lpn.Error, match="'dram': outstanding must be an int 1..4096, got 0"):
        by_port("ddr4", rows, "interp", outstanding=0)


def test_hashed_banks(tmp_path):
    part = tmp_path / "hashed.toml"
    part.write_text(
        'base = "controllers/ddr4"\n[controller]\nhash = [["bank", "row", 2], ["rank", "column", 6]]\n'
    )
    rows = requests(random.Random(5), 1 << 20, 100)
    assert by_port(str(part), rows, "interp") == by_trace(str(part), rows)
    assert by_trace(str(part), rows) != by_trace("ddr4", rows)


def draw_span(seed):
    """Few rows, or all of the memory."""
    return 1 << (10, 14, 20, 26)[seed]


def test_channels_of_a_file_and_both_engines(tmp_path):
    part = tmp_path / "small.toml"
    part.write_text(SMALL)
    rows = requests(random.Random(7), 1 << 12, 120)
    expected = by_trace(str(part), rows)
    assert by_port(str(part), rows, "interp") == expected
    assert by_port(str(part), rows, "compiled") == expected


def test_an_access_of_several_blocks():
    """Two reads of four blocks, one of them not aligned: the answer comes with the last piece."""
    net = lone_port("ddr4")
    rows = [(0, 256, 0), (4096 + 32, 200, 0)]
    marking = lpn.Marking(net)
    marking.add_rows("asks", [(a, n, w, k) for k, (a, n, w) in enumerate(rows)])
    marking.done_count = 2
    run = prepare(net, marking, engine="interp").run(collect=["done"])
    pieces = by_port("ddr4", [(0, False, b) for b in (0, 1, 2, 3, 64, 65, 66, 67)], "interp")
    values, times = run.collected["done"]
    assert {values[4 * k + 3]: t // 4 for k, t in enumerate(times)} == {
        0: max(pieces[k] for k in range(4)),
        1: max(pieces[k] for k in range(4, 8)),
    }


def test_an_address_that_the_memory_has_not():
    with pytest.raises(lpn.Error, match="the memory has 17179869184 bytes"):
        by_port("ddr4", [(0, False, 2**28)], "interp")
