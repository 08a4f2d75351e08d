"""A controller: cycles by hand, controllers of one's own, what is refused."""

import gzip
import json
import lzma
import random

import pytest

lpn = pytest.importorskip("lpn")
from lpn.runs import prepare  # noqa: E402

MODEL = lpn.load("dram")
from models.dram.trace import Trace  # noqa: E402


def written(tmp_path, requests, controller="ddr4"):
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"controller": controller, "requests": requests}))
    return str(path)


def times(path):
    from models.dram.sequence import Sequence

    trace = Sequence.of(path)
    _, accept, done = trace.times(prepare(MODEL, trace))
    return accept, done


# DDR4-3200: block = address / 64; from the lowest: 7 bits column, 2 group, 2 bank, 1 rank, row.
ROW = 64 << 12
GROUP = 64 << 7


def test_one_read(tmp_path):
    # Accepted in 5, in its bank's queue in 6, ACT in 7, RD tRCD 22 later, done CL + burst 26 later.
    assert times(written(tmp_path, [[5, "R", 0]])) == ([5], [7 + 22 + 26])


def test_row_hits_and_a_conflict(tmp_path):
    requests = [[0, "R", 0], [0, "R", ROW], [0, "R", 64]]
    # One is accepted a cycle. The third hits the open row and goes first, tCCD_L 8 after the first;
    # then PRE: tRAS 52 after ACT; tRP 22, tRCD 22.
    accept, done = times(written(tmp_path, requests))
    assert accept == [0, 1, 2]
    assert done == [2 + 22 + 26, 2 + 52 + 22 + 22 + 26, 2 + 22 + 8 + 26]


def test_a_closed_page(tmp_path):
    requests = [[0, "R", 0], [0, "R", 64]]
    # The row is closed by the read; ACT burst + tRTP + tRP = 38 after it, and tRC 74 after ACT.
    _, done = times(written(tmp_path, requests, "ddr4close"))
    assert done == [2 + 22 + 26, 2 + 74 + 22 + 26]


def test_other_bank_groups_overlap(tmp_path):
    # ACT waits tRRD_S 4, and so does RD.
    _, done = times(written(tmp_path, [[0, "R", 0], [0, "R", GROUP]]))
    assert done == [50, 54]


def test_a_refresh_blocks_its_rank(tmp_path):
    # Rank 0 falls due at tREFI / 2 = 6240, when the row of the first is closed: PRE, tRP, REF, tRFC.
    requests = [[6000, "R", 0], [6239, "R", ROW]]
    accept, done = times(written(tmp_path, requests))
    assert accept == [6000, 6239]
    assert done[1] == 6240 + 22 + 560 + 22 + 26


def test_writes_wait_until_there_are_enough(tmp_path):
    # A write is done two cycles after its acceptance; eight stay in the buffer.
    eight = [[0, "W", ROW * k] for k in range(8)]
    _, done = times(written(tmp_path, [*eight, [100, "R", 64]]))
    assert done == [2, 3, 4, 5, 6, 7, 8, 9, 102 + 22 + 26]
    # A ninth, and they drain, each to a row of its own of bank 0: ACT in 10, WR in 32, PRE CWL + burst +
    # tWR = 44 later, ACT 22, WR 22 later in 120 is the last before a read of another bank of the
    # group, which waits CWL + burst + tWTR_L = 32 for it.
    _, done = times(written(tmp_path, [*eight, [8, "W", GROUP], [100, "R", 64 * 1024]]))
    assert done[8] == 10 and done[9] == 120 + 32 + 26


def test_one_block_twice_with_time_between(tmp_path):
    assert times(written(tmp_path, [[0, "R", 0], [90, "R", 0]]))[1] == [50, 92 + 26]


def test_reads_of_one_block_share_a_command(tmp_path):
    # The second joins the first; the third comes when it has issued, and follows tCCD_L 8 later.
    requests = [[0, "R", 0], [9, "R", 63], [24, "R", 0]]
    accept, done = times(written(tmp_path, requests))
    assert (accept, done) == ([0, 9, 24], [50, 50, 24 + 8 + 26])


def test_two_streams_that_read_and_write(tmp_path):
    """Sums as DRAMsim3 (commit 2981759) gives them. Which of a read and a write of a bank is older
    was once remembered from the row before.
    """
    draw, at, requests = random.Random(3), [117305269, 31342523], []
    for k in range(400):
        way = draw.randrange(2)
        at[way] += 1
        requests.append([k // 4, "W" if draw.random() < 0.5 else "R", 64 * at[way]])
    accept, done = times(written(tmp_path, requests))
    assert (sum(accept), sum(done)) == (688373, 848431)


@pytest.mark.parametrize(
    "part, sums",
    [
        ("ddr3", (941022, 971169)),
        ("gddr5", (961916, 1015212)),
        ("gddr6", (857147, 887824)),
        ("lpddr3", (1040467, 1176633)),
    ],
)
def test_sums_of_the_simulator(part, sums):
    """As DRAMsim3 (commit 2981759) gives them for the part's own configuration."""
    draw, at = random.Random(part), 0
    trace = Trace("trace", part, [], [], [])
    rows = [draw.randrange(2**14) for _ in range(12)]
    for _ in range(600):
        at += draw.choice([0, 1, 1, 2, 20])
        trace.arrive.append(at)
        trace.block.append(draw.choice(rows) << 7 | draw.randrange(128))
        trace.writes.append(draw.random() < 0.4)
    _, accept, done = trace.times(prepare(MODEL, trace))
    assert (sum(accept), sum(done)) == sums


def test_a_write_answers_reads_and_takes_writes_of_its_block(tmp_path):
    # It stays in its buffer. Each is done two cycles after its acceptance.
    requests = [[0, "W", 0], [900, "R", 0], [901, "W", 32], [902, "R", 1]]
    assert times(written(tmp_path, requests)) == ([0, 900, 901, 902], [2, 902, 903, 904])
    # Nine writes of a block are one: nothing drains, and the read of another waits for nobody.
    nine = [[0, "W", 0]] * 9
    assert times(written(tmp_path, [*nine, [100, "R", ROW]]))[1][-1] == 102 + 22 + 26


def test_draining_stops_at_a_write_whose_block_is_being_read(tmp_path):
    # Eight reads of rows of bank 0, tRC 74 apart. The first of 32 writes is to the block of the
    # last of them, in the queue of the bank until 7 * 74 + 24 = 542: each time that the writes are
    # to drain it is the first that its bank has room for, and nothing moves. (DRAMsim3 answers the
    # same; the read of another bank that comes in 60 is scheduled before the buffer is full.)
    reads = [[0, "R", ROW * k] for k in range(8)]
    writes = [[10, "W", ROW * 7], *([10, "W", GROUP * k] for k in range(1, 32))]
    accept, done = times(written(tmp_path, [*reads, *writes, [60, "R", GROUP * 8 + ROW]]))
    assert done[:8] == [50 + 74 * k for k in range(8)]
    assert done[8:40] == [n + 2 for n in range(10, 42)]
    assert accept[40] == 60


def test_the_known_hang_is_said(tmp_path):
    # Reads of bank 0 wait outside of its queue. The write of the last one's block comes first of
    # all that the bank has room for, stops the draining, and reads go on only when it is over.
    reads = [[0, "R", ROW * k] for k in range(40)]
    writes = [[0, "W", ROW * 39], *([0, "W", GROUP * k + ROW * k + 64] for k in range(20, 80))]
    with pytest.raises(lpn.Error, match="the controller hangs: its write buffer is full") as error:
        times(written(tmp_path, [*reads, *writes]))
    assert error.value.code == "E-assume" and "'join = false' in the [controller]" in str(
        error.value
    )
    (tmp_path / "apart.toml").write_text(APART)
    _, done = times(written(tmp_path, [*reads, *writes], str(tmp_path / "apart.toml")))
    assert None not in done


APART = 'base = "controllers/ddr4"\n[controller]\njoin = false\n'


def test_requests_of_one_block_each_by_itself(tmp_path):
    (tmp_path / "apart.toml").write_text(APART)
    rows = [[0, "R", 0], [0, "R", 0], [0, "W", ROW], [0, "R", ROW]]
    _, joined = times(written(tmp_path, rows))
    _, apart = times(written(tmp_path, rows, str(tmp_path / "apart.toml")))
    first = 50  # the activation, and its data
    assert joined[:2] == [first, first] and joined[3] == joined[2] + 1  # answered by the write
    assert apart[:2] == [first, first + 8] and apart[3] > first + 8  # tCCD_L


# HBM2: from the lowest 5 bits column, channel, 2 bank, 2 group, row.
CHANNEL, BANK, HBM_ROW = 64 << 5, 64 << 6, 64 << 10


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress], ids=["gzip", "xz"])
def test_a_packed_trace(tmp_path, pack):
    """It was "no JSON: byte 1 is not UTF-8"; one that is cut off is refused by its name."""
    data = json.dumps({"controller": "ddr4", "requests": [[5, "R", 0]]}).encode()
    (tmp_path / "trace.json.xz").write_bytes(pack(data))
    assert times(str(tmp_path / "trace.json.xz")) == ([5], [7 + 22 + 26])
    (tmp_path / "trace.json.xz").write_bytes(pack(data)[:-9])
    with pytest.raises(lpn.Error, match="trace.json.xz is no whole"):
        times(str(tmp_path / "trace.json.xz"))


def lines(tmp_path, text, **more):
    (tmp_path / "mem.trace").write_text(text)
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"controller": "ddr4", "trace": "mem.trace", **more}))
    return str(path)


def test_a_file_of_lines(tmp_path):
    text = "# from a simulator\n0x0 READ 5\n\n0x40 w 9\n"
    assert times(lines(tmp_path, text)) == ([5, 9], [7 + 22 + 26, 11])
    # Without cycles one is accepted a cycle.
    assert times(lines(tmp_path, "0x0 R\n0x1FC0 R\r\n"))[0] == [0, 1]
    (tmp_path / "mem.trace").write_bytes(gzip.compress(text.encode()))
    assert times(str(tmp_path / "trace.json"))[0] == [5, 9]


def test_addresses_modulo_the_memory(tmp_path):
    text = f"{2**34 + 64:#x} R 0\n0x40 R 9\n"
    with pytest.raises(lpn.Error, match='request 0: .* write "wrap": true'):
        times(lines(tmp_path, text))
    # Both are of one block, so the second joins the first.
    assert times(lines(tmp_path, text, wrap=True))[1] == [50, 50]


@pytest.mark.parametrize(
    "text, said",
    [
        ("0x0 R 0\n0x40 X 0\n", "mem.trace:2: must be ADDRESS R|W|READ|WRITE [CYCLE], the address"),
        ("1000 R 0\n", "mem.trace:1: must be"),  # 0x1000 for one simulator, 1000 for another
        ("0x0 R 0\n0x40 R\n", "mem.trace:2: either all requests have a cycle or none"),
        ("0x0 R -1\n", "mem.trace:1: must be"),
        ("0x0 R 1 2\n", "mem.trace:1: must be"),
        ("0x0 R 9\n0x0 R 8\n", "request 1: arrives at 8"),
        ("# nothing\n", "there are no requests"),
    ],
)
def test_wrong_lines(tmp_path, text, said):
    with pytest.raises(lpn.Error) as error:
        times(lines(tmp_path, text))
    assert error.value.code == "E-dram-trace" and said in str(error.value)


def test_a_wrong_file_of_lines(tmp_path):
    for more, said in [
        ({"trace": "no.trace"}, "cannot read"),
        ({"trace": 3}, "must be the name of a file"),
        ({"requests": []}, "in place of requests"),
        ({"wrap": 1}, "wrap must be true or false"),
    ]:
        with pytest.raises(lpn.Error, match=said):
            times(lines(tmp_path, "0x0 R 0\n", **more))


def test_blocks_that_are_never_under_way_together(tmp_path):
    """More of them than 16,383 were refused. Nothing is joined, so that their requests go as others do."""
    from models.dram.controller.tokens import ID_BITS, WRITE_BIT
    from models.dram.sequence import Sequence

    requests = [[k * 8, "W" if k % 3 == 0 else "R", k % 17_000 * 64] for k in range(34_000)]
    trace = Sequence.of(written(tmp_path, requests))
    net = MODEL.module.net_of(trace)
    marking, alone = trace.marking(net), lpn.Marking(net)
    unshared = ~((1 << WRITE_BIT) - (1 << ID_BITS))
    rows = [(*row[:-1], row[-1] & unshared) for row in marking.rows("requests")]
    assert rows != marking.rows("requests")
    alone.add_rows("requests", rows, at=marking.times("requests"))
    alone.done_count = marking.done_count
    found = [trace.times(prepare(net, m))[1:] for m in (marking, alone)]
    assert found[0] == found[1]


def test_more_requests_than_numbers(tmp_path, monkeypatch):
    """Long traces were refused. A number is taken again long after its request is done."""
    from models.dram import trace

    draw = random.Random(5)
    requests = [[k * 5, draw.choice("RRW"), draw.randrange(2**20) * 64] for k in range(3000)]
    path = written(tmp_path, requests)
    all_their_own = times(path)
    monkeypatch.setattr(trace, "NUMBERS", 1024)
    assert times(path) == all_their_own


def test_two_channels(tmp_path):
    # Each has its own commands; one request is accepted a cycle.
    requests = [[0, "R", 0], [0, "R", CHANNEL], [0, "R", BANK]]
    accept, done = times(written(tmp_path, requests, "hbm2"))
    assert accept == [0, 1, 2]
    # The third activates tRRD_L 6 after the first.
    assert done == [2 + 14 + 16, 3 + 14 + 16, 2 + 6 + 14 + 16]


def test_two_commands_in_a_cycle(tmp_path):
    # RD of bank 0 and ACT of bank 1 of another group in cycle 16; DDR4 would give one in 17.
    requests = [[0, "R", 0], [14, "R", 4 * BANK]]
    _, done = times(written(tmp_path, requests, "hbm2"))
    assert done == [16 + 16, 16 + 14 + 16]


def test_what_is_said_of_a_trace(tmp_path):
    answer = MODEL.module.answer(written(tmp_path, [[0, "R", 0], [0, "R", 64]]))
    assert answer == {
        "requests": 2,
        "mean_latency": (50 + 58 - 1) / 2,
        "median_latency": 50,
        "p99_latency": 57,
        "max_latency": 57,
        "last_done": 58,
        "bytes_per_cycle": 128 / 58,
    }


def test_a_controller_of_ones_own(tmp_path):
    (tmp_path / "mine.toml").write_text(
        'base = "controllers/ddr4"\n[parameters]\nCL = 30\n'
        "[organisations]\nfull = { rank = 1, bank_group = 4, bank = 4 }\n"
        '[controller]\naddress = [["bank_group", 2], ["column", 7], ["bank", 2], ["rank", 0], '
        '["row", 16]]\n'
    )
    requests = [[0, "R", 0], [0, "R", 64]]  # now another bank group
    assert times(written(tmp_path, requests, "mine.toml"))[1] == [58, 62]


HASHED = """base = "controllers/ddr4"
[controller]
hash = [["bank", "row", 0], ["bank_group", "row", 3], ["bank", "column", 5], ["rank", "row", 15]]
"""


def hashed(block):
    """The block that lies without a hash where `block` does with that of HASHED; by its bits."""
    column, group, bank, rank = block & 127, block >> 7 & 3, block >> 9 & 3, block >> 11 & 1
    row = block >> 12
    group ^= row >> 3 & 3
    bank ^= row & 3 ^ column >> 5 & 3
    rank ^= row >> 15
    return column | group << 7 | bank << 9 | rank << 11 | row << 12


def test_hashed_banks(tmp_path):
    """As a file without a hash serves the requests where they lie."""
    (tmp_path / "hashed.toml").write_text(HASHED)
    draw = random.Random(3)
    blocks = [draw.randrange(2**28) for _ in range(60)] + [k << 12 for k in range(60)]
    assert len({hashed(block) for block in range(2**18)}) == 2**18  # none lies twice
    requests = [[9 * k, "RRW"[k % 3], 64 * block] for k, block in enumerate(blocks)]
    plain = [[at, way, 64 * hashed(address // 64)] for at, way, address in requests]
    own = times(written(tmp_path, requests, "hashed.toml"))
    assert own == times(written(tmp_path, plain))
    assert own != times(written(tmp_path, requests))


def policy(tmp_path, text):
    (tmp_path / "own.toml").write_text(f'base = "controllers/ddr4"\n[controller]\n{text}\n')
    return "own.toml"


@pytest.mark.parametrize(
    "text, sums",
    [
        ("read_queue = 12\nwrite_buffer = 12\ndrain_idle = 3\nrow_accesses = 2", (471937, 545101)),
        ("", (354140, 457341)),
    ],
)
def test_queues_and_limits_of_the_file(tmp_path, text, sums):
    """Sums as DRAMsim3 gives them that has these numbers in its configuration and its code."""
    draw, at, requests = random.Random(0), 0, []
    for _ in range(300):
        at += draw.choice([0, 0, 4, 20])
        way = "RW"[draw.random() < 0.4]
        block = draw.randrange(4) << 12 | draw.randrange(128) | draw.randrange(2) << 7
        requests.append([at, way, 64 * block])
    accept, done = times(written(tmp_path, requests, policy(tmp_path, text)))
    assert (sum(accept), sum(done)) == sums


def test_few_writes_drain_when_no_bank_has_work(tmp_path):
    """Otherwise they stay in their buffer, and a read that follows finds its row open."""
    requests = [[0, "R", 0], [100, "W", ROW], [100, "W", ROW + 64], [2000, "R", 128]]
    stay = times(written(tmp_path, requests))[1][-1]
    drain = times(written(tmp_path, requests, policy(tmp_path, "drain_idle = 1")))[1][-1]
    assert stay == 2001 + 1 + 26 and drain == stay + 22 + 22  # PRE, ACT


def test_hashed_channels(tmp_path):
    (tmp_path / "two.toml").write_text(
        'base = "controllers/ddr4"\n[controller]\nchannels = 2\nhash = [["channel", "row", 1]]\n'
        'address = [["column", 7], ["channel", 1], ["bank_group", 2], ["bank", 2], ["rank", 1], '
        '["row", 15]]\n'
    )
    # Rows 0 and 2 of one bank: of two channels, so the second needs no precharge.
    requests = [[0, "R", 0], [0, "R", 2 * 64 << 13]]
    assert times(written(tmp_path, requests, "two.toml"))[1] == [50, 51]


@pytest.mark.parametrize(
    "requests, controller, said",
    [
        ([[0, "R", 0]], "hbm3", "trace.json: controller 'hbm3' is not modelled; there are ddr3"),
        (
            [[5, "R", 0], [4, "R", 64]],
            "ddr4",
            "request 1: arrives at 4; cycles are 0 to 2^40 and in or",
        ),
        ([[-1, "R", 0]], "ddr4", "request 0: arrives at -1"),
        ([[0, "R", -64]], "ddr4", "17179869184 bytes, not the address -64"),
        ([[0, "R", 2**34]], "ddr4", "17179869184 bytes, not the address 17179869184; write"),
        ([[0, "R", 2**31]], "hbm2", "the memory of 'hbm2' has 2147483648 bytes, not"),
        ([[0, "X", 0]], "ddr4", "request 0: must be [cycle, R or W, address]"),
        ([[0, "R", "a"]], "ddr4", "request 0: must be [cycle, R or W, address]"),
        ([], "ddr4", "there are no requests"),
        ("R", "ddr4", "requests must be a list"),
        ([[0, "R", 0]], 3, "must be"),
    ],
)
def test_a_wrong_trace(tmp_path, requests, controller, said):
    path = written(tmp_path, requests, controller)
    with pytest.raises((lpn.Error, ValueError)) as error:
        MODEL.module.workload(path, MODEL.module.net_of(path))
    assert said in str(error.value)


def _policy(text):
    return f'base = "controllers/ddr4"\n[controller]\n{text}'


def _hash(entries):
    return _policy(f"hash = [{entries if entries.startswith('[') else repr(entries)}]")


@pytest.mark.parametrize(
    "text, said",
    [
        ('base = "ddr4"', "describes no [controller]"),
        ('base = "controllers/ddr4"\n[controller]\npage = "ajar"', "page of controller"),
        ('base = "controllers/ddr4"\n[controller]\nrequest_bytes = 0', "request_bytes"),
        ('base = "controllers/ddr4"\n[controller]\npages = "open"', "unknown 'pages' in [contr"),
        ('base = "controllers/ddr4"\n[controler]\npage = "open"', "unknown 'controler'; known"),
        ('base = "controllers/ddr4"\n[parameters]\ntRPC = 20', "parameter tRPC is used nowhere"),
        (
            'base = "controllers/ddr4"\n[parameters]\nCL = -3',
            "CL must be a number, 0 to 1073741824",
        ),
        (
            'base = "controllers/ddr4"\n[parameters]\ntRCD = 1',
            "RD must wait at least 2 cycles after",
        ),
        (
            'base = "controllers/ddr4"\n[parameters]\ntRP = 0',
            "ACT must wait at least 2 cycles after",
        ),
        # A row that a refresh closed before it could be read was read all the same.
        ('base = "controllers/ddr4"\n[parameters]\ntRAS = 21', "PRE may follow ACT sooner than RD"),
        ('base = "controllers/ddr4close"\n[parameters]\ntRAS = 21', "sooner than RDA"),
        (
            'base = "controllers/ddr4"\n[parameters]\ntREFI = 560',
            "every 560 cycles (tREFI) and take",
        ),
        ('base = "controllers/ddr4"\n[controller]\nchannels = "2"', "channels of controller must"),
        ('base = "controllers/ddr4"\n[controller]\nchannels = 2', "bits of column"),
        ('base = "controllers/ddr4"\n[controller]\naddress = "row"', "bits of column"),
        ('base = "controllers/ddr4"\n[controller]\ndual_command = 1', "must be true or false"),
        ('base = "controllers/ddr4"\n[controller]\njoin = "no"', "join of controller must be true"),
        ('base = "controllers/ddr4"\n[controller]\ndual_command = true', "has one rank, got 2"),
        (
            'base = "controllers/ddr4"\n[organisations]\nfull = { rank = 4, bank_group = 4, bank = 4 }'
            '\n[controller]\naddress = [["column", 7], ["bank_group", 2], ["bank", 2], ["rank", 2], '
            '["row", 16]]',
            "at most 62 banks in a channel, got 64",
        ),
        ('base = "controllers/ddr4"\n[controller]\naddress = [["row", 3]]', "must have the bits"),
        (_policy("read_queue = 0"), "read_queue of controller must be a number, 1 to 1024, got 0"),
        (_policy("write_buffer = 1025"), "write_buffer of controller must be a number, 1 to 1024"),
        (_policy("write_buffer = 4"), "drain_idle of controller must be a number, 0 to 4, got 8"),
        (_policy("row_accesses = true"), "row_accesses of controller must be a number, 1 to"),
        (_hash("bank"), "hash of controller must have entries of a field (rank, bank_group, bank)"),
        (_hash('["row", "column", 0]'), "hash of controller must have entries of a field"),
        (_hash('["channel", "row", 0]'), "hash of controller must have entries of a field"),
        (_hash('["bank", "rows", 0]'), "hash of controller must have entries of a field"),
        (_hash('["bank", ["row"], 0]'), "hash of controller must have entries of a field"),
        (_hash('["bank", "row", true]'), "hash of controller must have entries of a field"),
        (_hash('["bank", "row", 15]'), "bank has 2 bits, and row has 16, not as many from bit 15"),
        (_hash('["bank", "row", -1]'), "bank has 2 bits, and row has 16, not as many from bit -1"),
        (_hash('["bank", "bank", 0]'), "the source bank is hashed itself; take row or column"),
        (
            _hash('["bank", "bank_group", 0], ["bank_group", "row", 0]'),
            "the source bank_group is hashed itself",
        ),
        (
            'base = "controllers/ddr4"\n[organisations]\nfull = { rank = 4, bank_group = 4, bank = 4 }',
            "1 bits of address are not 4 of rank",
        ),
    ],
)
def test_a_wrong_controller(tmp_path, text, said):
    refused(tmp_path, text, said)


SAME = """[rules]
same = [
  ["WR", "PRE", "CWL + burst + tWR"],
  ["RD", "PRE", "tRTP"],
  ["ACT", "ACT", "tRAS + tRP"],
  ["ACT", "RD RDA WR WRA", "tRCD"],
  ["ACT", "PRE", "tRAS"],
  ["PRE", "ACT", "tRP"],
  MORE
]
"""
KEEPS = "a controller does not keep"


@pytest.mark.parametrize(
    "text, said",
    [
        (SAME.replace("MORE", '["WR", "ACT", "500"]'), f"{KEEPS} 500 cycles from WR to ACT by a rule of"),
        (SAME.replace("MORE", '["PRE", "RD", "500"]'), f"{KEEPS} 500 cycles from PRE to RD by a rule of"),
        (SAME.replace("MORE", '["REF", "REF", "9999"]'), f"{KEEPS} 9999 cycles from REF to REF by a rul"),
        ('[rules]\nother_rank = [["REF", "REF", "600"]]', f"{KEEPS} 600 cycles from REF to REF by a rule"),
        ('[rules]\nany = [["PRE", "REF", "600"]]', f"{KEEPS} 600 cycles from PRE to REF by a rule of 'any'"),
        ('[buses]\nrows = ["ACT", "PRE"]', "a controller does not read [buses]: commands share one bus"),
        ('[round]\norder = "any"', "a controller does not read [round]: it refreshes all banks of a"),
        ('refresh = "device"', "refresh is 'device', and there are 2 of rank; a controller refresh"),
    ],
)  # fmt: skip
def test_a_rule_that_the_net_would_pass_over_is_refused(tmp_path, text, said):
    """Such rules had no effect."""
    top = text.startswith("refresh")
    refused(
        tmp_path, f'{text if top else ""}\nbase = "controllers/ddr4"\n{"" if top else text}', said
    )


def test_a_rule_that_follows_from_others_is_none_to_refuse(tmp_path):
    text = 'base = "controllers/ddr4"\n' + SAME.replace(
        "MORE", '["WR", "ACT", "CWL + burst + tWR + tRP"]'
    )
    (tmp_path / "mine.toml").write_text(text)
    assert times(written(tmp_path, [[5, "R", 0]], "mine.toml")) == ([5], [7 + 22 + 26])


def test_a_standard_becomes_a_controller(tmp_path):
    """tREFI, CL and burst, which no rule of it names, were "used nowhere"."""
    (tmp_path / "mine.toml").write_text(
        'base = "ddr3"\n[organisations]\nfull = { rank = 1, bank = 8 }\n'
        '[controller]\npage = "open"\nrequest_bytes = 64\n'
        'address = [["column", 7], ["rank", 0], ["bank", 3], ["row", 12]]\n'
        "[parameters]\nCL = 10\nburst = 4\ntREFI = 6240\n"
    )
    assert times(written(tmp_path, [[5, "R", 0]], "mine.toml")) == ([5], [7 + 10 + 14])


def refused(tmp_path, text, said):
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(lpn.Error) as error:
        MODEL.module.net_of(written(tmp_path, [[0, "R", 0]], "mine.toml"))
    assert said in str(error.value)
