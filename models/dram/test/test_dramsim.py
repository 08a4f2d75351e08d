"""Configuration files of DRAMsim3 as controllers."""

import json
import os
import random

import pytest

lpn = pytest.importorskip("lpn")
from lpn.runs import prepare  # noqa: E402

MODEL = lpn.load("dram")
from models.dram.address import located  # noqa: E402
from models.dram.standard import standard  # noqa: E402
from models.dram.trace import Trace  # noqa: E402

# controllers/ddr4.toml, as the simulator would be told of it.
DDR4 = """; a comment
[dram_structure]
protocol = DDR4
bankgroups = 4
banks_per_group = 4
rows = 65536
columns = 1024
device_width = 8
BL = 8
[timing]
tCK = 0.63 ; ns
AL = 0;
CL = 22
CWL = 16
tWR = 24
tWTR_S = 4
tWTR_L = 12
tRCD = 22
tRP = 22
tRAS = 52
tRFC = 560
tREFI = 12480
tRRD_S = 4
tRRD_L = 8
tFAW = 34
tRTP = 12
tCCD_S = 4
tCCD_L = 8
tRTRS = 1
tPPD = 5
[system]
channel_size = 16384
channels = 1
bus_width = 64
address_mapping = rorababgchco
queue_structure = PER_BANK
row_buf_policy = OPEN_PAGE
cmd_queue_size = 8
trans_queue_size = 32
"""
GRAPHICS = """[dram_structure]
protocol = GDDR5
bankgroups = 4
banks_per_group = 4
bankgroup_enable = false
rows = 16384
columns = 128
device_width = 32
[timing]
CL = 24
CWL = 7
tRCDRD = 24
tRCDWR = 20
tRAS = 56
tRP = 24
[system]
channel_size = 4096
bus_width = 128
cmd_queue_size = 8
"""


def changed(text, *lines):
    """A configuration in which keys that it has have other values."""
    rows = {row.split(" = ")[0]: row for row in text.splitlines()}
    for line in lines:
        key = line.split(" = ")[0]
        assert key in rows
        rows[key] = line
    return "\n".join(rows.values())


@pytest.fixture
def made(tmp_path):
    """The Standard of a text."""

    def of(text):
        path = tmp_path / "memory.ini"
        path.write_text(text)
        os.utime(path, ns=(0, random.getrandbits(40)))
        return standard(str(path))

    return of


def times(part, arrive, block, writes):
    trace = Trace("trace", part, arrive, block, writes)
    return trace.times(prepare(MODEL, trace))[1:]


def test_it_is_the_same_controller(made):
    ini, own = made(DDR4), Trace("own", "ddr4", [], [], []).standard
    assert ini.distances() == own.distances() and ini.windows == own.windows
    assert (ini.banks, ini.blocks) == (own.banks, own.blocks)
    draw = random.Random(1)
    arrive = sorted(draw.randrange(2000) for _ in range(300))
    block = [draw.randrange(2**12) << draw.choice([0, 12]) for _ in arrive]
    writes = [draw.random() < 0.3 for _ in arrive]
    assert times(ini.part, arrive, block, writes) == times("ddr4", arrive, block, writes)


def test_a_read_and_a_write_of_a_row_that_opens(made):
    """Of GDDR a row can be written before it can be read. The write was given twice: what hits the row
    was told anew when reads could go.
    """
    part = made(GRAPHICS).part
    # Accepted in 5, ACT in 7, RD tRCDRD 24 later, done CL + 8 / 4 after it.
    assert times(part, [5], [0], [False])[1] == [7 + 24 + 24 + 2]
    draw = random.Random(54)
    for _ in range(4):
        arrive = sorted(draw.randrange(4000) for _ in range(200))
        block = [draw.randrange(4) << 11 | draw.randrange(64) for _ in arrive]
        writes = [draw.random() < 0.6 for _ in arrive]
        accept, done = times(part, arrive, block, writes)
        assert None not in accept and None not in done


def test_windows_of_32_activations(made):
    """Rows of 16 banks in turn: the 33rd waits, whatever four may."""
    rows = [k % 16 << 7 | k // 16 << 11 for k in range(33)]
    for window, ended in (("t32AW = 100", None), ("t32AW = 5000", 2 + 5000 + 24 + 24 + 2)):
        part = made(GRAPHICS.replace("tRP = 24", f"tRP = 24\n{window}")).part
        done = times(part, [0] * 33, rows, [False] * 33)[1]
        assert max(done) == ended if ended else max(done) < 5000


def test_what_follows_from_its_keys(made):
    assert made(DDR4).controller["address"] == [
        ["column", 7], ["bank_group", 2], ["bank", 2], ["rank", 1], ["row", 16]
    ]  # fmt: skip
    assert made(changed(DDR4, "channel_size = 8191")).sizes["rank"] == 1
    one = made(changed(DDR4, "bankgroups = 1", "banks_per_group = 16"))  # has the times of _S
    between = one.between()
    assert between("RD", "group", "RD") == 4 and between("ACT", "group", "ACT") == 4
    additive = made(changed(DDR4, "AL = 3")).between()
    assert additive("ACT", "same", "RD") == 19 and additive("RD", "same", "PRE") == 15
    assert made(DDR4).cycles("tPPD") == 0  # only LPDDR4 and GDDR have it
    assert made(changed(DDR4, "protocol = LPDDR4")).cycles("tPPD") == 5
    short = made(changed(DDR4, "trans_queue_size = 4"))
    assert [short.policy(k) for k in ("read_queue", "write_buffer", "drain_idle")] == [4, 4, 4]
    # The row may lie anywhere.
    other = made(changed(DDR4, "address_mapping = rarobabgchco"))
    assert located(other, (1 << 27) + (5 << 11) + 3) == (0, 16, 5, 3)
    own = made(changed(DDR4, "tREFI = ", "cmd_queue_size = "))
    assert own.cycles("tREFI") == 7800 and own.policy("bank_queue") == 16  # the simulator's own
    high = made(DDR4.replace("DDR4", "HBM2").replace("BL = 8", "BL = 4"))
    assert high.controller["dual_command"] and high.between()("ACT", "same", "WR") == 20


@pytest.mark.parametrize(
    "line, said",
    [
        ("protocol = HMC", "protocol must be one of DDR3, "),
        ("queue_structure = PER_RANK", "queue_structure PER_RANK is not modelled"),
        ("row_buf_policy = ADAPTIVE", "row_buf_policy ADAPTIVE is not modelled"),
        ("cmd_queue_size = 65", "bank_queue of controller must be a number, 1 to 64, got 65"),
        ("CL = fast", "CL must be a whole number, 0 or more, got 'fast'"),
        ("CL = 1.5", "CL must be a whole number"),
        ("CL = -3", "CL must be a whole number"),
        ("tRAS = 20", "PRE may follow ACT sooner than RD"),
        ("device_width = 48", "a bus_width of 64 is no number of devices of a device_width of 48"),
        ("bus_width = 72", "a request of a bus_width of 72 and a BL of 8 is no power of two"),
        ("BL = 12", "a request of a bus_width of 64 and a BL of 12 is no power of two"),
        ("rows = 1000", "rows must be a whole number, 1024 or more"),
        ("banks_per_group = 3", "bits of address are not 3 of bank"),
        ("channel_size = 49152", "bits of address are not 6 of rank"),
        ("address_mapping = rorababgco", "address_mapping must have each of ro, ch, ra"),
        ("columns = 4", "a burst of 8 is longer than a row of 4 columns"),
    ],
)
def test_what_is_refused(made, line, said):
    with pytest.raises(lpn.Error) as error:
        made(changed(DDR4, line)).check_scheduled()
    assert error.value.code == "E-dram-part"
    assert "memory.ini" in str(error.value) and said in str(error.value)


def test_text_of_another_encoding(tmp_path):
    path = tmp_path / "memory.ini"
    path.write_bytes(b"\xef\xbb\xbf# 5 \xb5s\r\n" + DDR4.replace("\n", "\r\n").encode())
    assert standard(str(path)).blocks == Trace("own", "ddr4", [], [], []).standard.blocks


def test_no_configuration(made, tmp_path):
    for text, said in (
        ("CL = 3", "no section"),
        ("[system]\n", "no .dram_structure"),
        (DDR4 + "[timing]\n", "section 'timing' already exists"),
        (DDR4 + "channels = 2\n", "option 'channels' in section 'system' already exists"),
    ):
        with pytest.raises(lpn.Error, match=f"memory.ini is no configuration .*{said}"):
            made(text)
    (tmp_path / "x.json").write_text(json.dumps({"controller": "no.ini", "trace": "mem.trace"}))
    with pytest.raises(lpn.Error, match="cannot read .*no.ini"):
        MODEL.module.net_of(str(tmp_path / "x.json"))


def test_a_trace_names_it(tmp_path):
    (tmp_path / "gddr.ini").write_text(GRAPHICS)
    (tmp_path / "mem.trace").write_text("0x0 READ 5\n")
    (tmp_path / "x.json").write_text(json.dumps({"controller": "gddr.ini", "trace": "mem.trace"}))
    assert MODEL.module.answer(str(tmp_path / "x.json"))["last_done"] == 7 + 24 + 24 + 2
