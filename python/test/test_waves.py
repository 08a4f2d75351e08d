"""Recorded waveforms: maps that fit and do not, damaged files, what channels are found in names."""

import gzip
import lzma
import random
import re
import shutil
import subprocess

import lpn
import pytest
from lpn.waves.files import Stream
from lpn.waves.maps import read_map
from lpn.waves.propose import propose, written
from lpn.waves.recording import Recording, read_signals
from lpn.waves.stalls import chains, stalls

HEADER = """$timescale 1ns $end
$scope module tb $end
$var wire 1 ! clk $end
$var wire 1 " rst_n $end
$var wire 1 a valid $end
$var wire 1 b ready $end
$var wire 100 c data [99:0] $end
$var wire 1 d bit [0] $end
$var wire 1 e bit [1] $end
$var real 64 f level $end
$scope module dut $end
$var wire 1 g valid $end
$upscope $end
$upscope $end
$enddefinitions $end
"""
MAP = """clock = "tb.clk"
reset = "!tb.rst_n"
[channels.x]
valid = "tb.valid"
ready = "tb.ready"
payload = ["tb.data", "tb.bit"]
"""


def body(cycles):
    """A cycle per (valid, ready, data): values change at the falling edge."""
    lines = ['#0 0! 0" 0a 0b b0 c 0d 0e 0g r0.5 f', "#5 1!", '#10 0! 1"']
    for k, (valid, ready, data) in enumerate(cycles):
        lines.append(f"#{10 * k + 11} {valid}a {ready}b b{data:b} c {data & 1}d {data >> 1 & 1}e")
        lines.append(f"#{10 * k + 15} 1! #{10 * k + 20} 0!")
    return "\n".join(lines) + "\n"


CYCLES = [(0, 1, 0), (1, 0, 7), (1, 1, 7), (1, 1, 1 << 99), (0, 0, 0), (1, 0, 2)]


@pytest.fixture
def files(tmp_path):
    (tmp_path / "map.toml").write_text(MAP)
    (tmp_path / "a.vcd").write_text(HEADER + body(CYCLES))
    return tmp_path


def recording(files, name="a.vcd", **options):
    return Recording(str(files / name), read_map(str(files / "map.toml")), **options)


def read(files, name="a.vcd"):
    """(cycle, cycles of back-pressure, payload) of each transfer."""
    with recording(files, name, keep=True) as r:
        r.read()
        assert r.damage is None
        rows, origin = r.take(0), r.clock_totals(0)[1]
        return [
            (edge - origin, stalled, r.payload(0, rows, k))
            for k, (edge, stalled) in enumerate(zip(rows.edges, rows.stalled))
        ]


@pytest.mark.parametrize("high", [3, 63, 64, 99])
def test_signed_fields_are_in_twos_complement(files, high):
    """Beside the same bits read without a sign, and one whose bits are not all known."""
    top, most = 1 << high, (1 << high + 1) - 1
    values = [0, 5, top - 1, top, top + 3, most]
    text = HEADER + body([(1, 1, value) for value in values])
    (files / "a.vcd").write_text(text.replace(f"b{most:b} c", f"bx{most >> 1:b} c", 1))
    part = f"tb.data[{high}:0]"
    fields = (
        f'{{ plain = "{part}", own = {{ signal = "{part}", signed = true }}, '
        f"twice = {{ signal = 'tb.bit' }} }}"
    )
    (files / "map.toml").write_text(MAP.replace('["tb.data", "tb.bit"]', fields))
    found = [payload for _, _, payload in read(files)]
    assert [p["plain"] for p in found[:-1]] == values[:-1]
    assert [p["own"] for p in found[:-1]] == [v - 2 * top if v >= top else v for v in values[:-1]]
    assert found[-1]["own"] == found[-1]["plain"] == "x" + "1" * high
    assert {p["twice"] for p in found} <= {0, 1, 2, 3}


def test_where_of_a_signed_field(files):
    from lpn.waves.model import Matched

    values = [(1 << 100) - 3, 3, (1 << 100) - 2, (1 << 64) - 3, (1 << 100) - 3]
    (files / "a.vcd").write_text(HEADER + body([(1, 1, value) for value in values]))
    entry = '[transitions.t]\nchannel = "x"\nwhere = { d = -3 }\npayload = { d = "a.d" }\n'
    text = MAP.replace('["tb.data", "tb.bit"]', '{ d = { signal = "tb.data", signed = true } }')
    (files / "map.toml").write_text(text + entry)
    with recording(files, keep=True) as r:
        r.read()
        matched = Matched(r.map.firings[0], r)
        matched.take(r.take(0))
    assert matched.numbers == [0, 4] and matched.carried() == [(-3,), (-3,)]
    (files / "map.toml").write_text(text.replace("true", "false") + entry)
    with pytest.raises(lpn.Error, match="where.d is a whole number from 0 on, not -3"):
        read_map(str(files / "map.toml"))


@pytest.mark.parametrize(
    "field, said",
    [
        ('{ signal = "tb.data", sign = true }', "payload.d has no 'sign'; there is signal, signed"),
        ('{ signal = "tb.data", signed = 1 }', "payload.d.signed is true or false, not 1"),
        ("{ signed = true }", "payload.d is the name of a signal in quotes, not None"),
    ],
)
def test_a_wrong_field(files, field, said):
    (files / "map.toml").write_text(MAP.replace('["tb.data", "tb.bit"]', f"{{ d = {field} }}"))
    with pytest.raises(lpn.Error, match=re.escape(said)):
        read_map(str(files / "map.toml"))


EXPECTED = [(2, 1, {"data": 7, "bit": 3}), (3, 0, {"data": 1 << 99, "bit": 0})]


def test_transfers_with_wide_and_split_payload(files):
    assert read(files) == EXPECTED


def test_packed_and_fst_are_the_same(files):
    data = (files / "a.vcd").read_bytes()
    (files / "b").write_bytes(gzip.compress(data))
    (files / "c").write_bytes(lzma.compress(data))
    assert read(files, "b") == read(files, "c") == EXPECTED
    if shutil.which("vcd2fst") is None:
        pytest.skip("no vcd2fst (Debian's package gtkwave)")
    # Its reader wants a line per change.
    text = re.sub(r" (?=[#01b])", "\n", body(CYCLES))
    (files / "lines.vcd").write_text(HEADER + text)
    subprocess.run(["vcd2fst", files / "lines.vcd", files / "d"], check=True, capture_output=True)
    assert read(files, "d") == EXPECTED


def test_sums(files):
    with recording(files) as r:
        r.read()
        found = stalls(r)
    channel = found["channels"][0]
    assert channel["transfers"] == 2 and channel["cycles"] == 6 and channel["idle"] == 1
    assert channel["back_pressure"] == {
        **{"cycles": 2, "share": 2 / 6, "times": 2, "longest": 1},
        **{"released": 1, "not_released": 1},
    }
    assert channel["starvation"]["cycles"] == 1
    assert channel["bursts"] == {"count": 1, "mean": 2.0, "longest": 2}
    assert found["clocks"][0]["period_s"] == pytest.approx(1e-8)


def test_chains_end_where_they_meet_themselves():
    links = [{"victim": v, "culprit": c} for v, c in ("ab", "bc", "cb")]
    assert chains(links) == [["a", "b", "c"]]
    assert chains(links[1:]) == [["b", "c"]]


# Damage


def damage(files, data):
    (files / "bad").write_bytes(data)
    with recording(files, "bad", keep=True) as r:
        r.read()
        return r.damage, r.time, list(r.take(0).edges)


def test_a_recording_that_is_cut_off(files):
    data = (files / "a.vcd").read_bytes()
    cut = data.rindex(b"#35") + 2
    why, time, edges = damage(files, data[:cut])
    assert why.endswith("the recording ends in the midst of a line") and why.startswith("line 2")
    assert time == 30 and edges == []
    packed = gzip.compress(data * 1)
    why, time, edges = damage(files, packed[:-20])
    assert "the packed file ends before its end" in why
    why, _, _ = damage(files, lzma.compress(data)[:-40])
    assert "the packed file" in why


def test_a_damaged_recording_is_counted_up_to_the_damage(files):
    data = (files / "a.vcd").read_bytes().replace(b"#45", b"#4x5")
    why, time, edges = damage(files, data)
    assert "'#4x5' is no time" in why and time == 40 and edges == [3]


def test_any_damage_is_told_or_harmless(files):
    """Random bytes changed, dropped, doubled: an Error or a result, never anything else."""
    data, rng = (files / "a.vcd").read_bytes(), random.Random(20261121)
    for _ in range(300):
        broken = bytearray(data)
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(broken))
            change = rng.randrange(3)
            if change == 0:
                broken[at] = rng.randrange(256)
            elif change == 1:
                del broken[at : at + rng.randrange(1, 30)]
            else:
                broken[at:at] = broken[at : at + rng.randrange(1, 30)]
        try:
            damage(files, bytes(broken))
        except lpn.Error as error:
            assert error.code in ("E-wave", "E-wave-map")


@pytest.mark.parametrize(
    "data, text",
    [
        (b"", "declarations end before $enddefinitions"),
        (b"hello\n", "line 1, byte 0: 'hello?': a VCD begins with $ keywords"),
        (b"\x28\xb5\x2f\xfd rest", "packed by zstd; unpack it"),
        (b"\0" * 7 + b"\x01\x49 not really", "fst2vcd"),
        (gzip.compress(b"abc"), "line 1, byte 0: 'abc'"),
        (b"\x1f\x8bnot", "the packed file"),
    ],
)
def test_what_is_no_recording(files, data, text):
    if b"\x49" in data and shutil.which("fst2vcd") is None:
        pytest.skip("no fst2vcd (Debian's package gtkwave)")
    (files / "bad").write_bytes(data)
    with pytest.raises(lpn.Error) as caught:
        read_signals(str(files / "bad"))
    assert caught.value.code == "E-wave" and "bad" in str(caught.value), caught.value
    assert text in str(caught.value) or "not" in text


def test_a_file_that_is_not_there(files):
    with pytest.raises(lpn.Error, match="cannot read .*: No such file"):
        Stream(str(files / "none.vcd"))


def test_fst_without_fst2vcd(files, monkeypatch):
    (files / "x.fst").write_bytes(b"\0" * 7 + b"\x01\x49" + b"\0" * 100)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(lpn.Error, match="needs fst2vcd of Debian's package gtkwave"):
        Stream(str(files / "x.fst"))


# Maps


@pytest.mark.parametrize(
    "text, message",
    [
        ("clock = 1", 'clock is the name of a signal in quotes, not 1'),
        ("x = [", "is not TOML"),
        ("[channels.a]\nvalid = 'v'", 'which signal is the clock? Write clock = "tb.clk"'),
        ("clock = 'c'", "there is no channel; write [channels.NAME] with valid and ready"),
        ("clock = 'c'\n[channels.a]\nvald = 'v'", "channels.a has no 'vald'; there is valid, ready"),
        ("clock = 'c'\n[channels.a]\nready = 'v'", "channels.a has ready; a channel has valid"),
        ("clock = 'c'\n[channels.a]\nvalid = 'v'\nstrobe = 'v'", "says valid twice"),
        ("clock = 'c'\nedge = 'up'\n[channels.a]\nvalid = 'v'", 'edge is "rising" or "falling"'),
        ("clock = 'c'\norigin = 3\n[channels.a]\nvalid = 'v'", "origin is the name of a channel"),
        ("clocks = {a = 'c', b = 'd'}\n[channels.a]\nvalid = 'v'", "clock is one of [clocks]"),
        ("clock = 'c'\n[channels.a]\nvalid = 'v'\nclock = ['c']", "clock is one of [clocks]"),
        (
            "clock = 'c'\n[channels.a]\nvalid = 'v'\n[transitions.t]\nchannel = 'b'",
            "transitions.t: there is no channel 'b'",
        ),
        (
            "clock = 'c'\n[channels.a]\nvalid = 'v'\n[transitions.t]\nchannel = 'a'\nevery = 0",
            "transitions.t.every is a whole number from 1 on, not 0",
        ),
    ],
)  # fmt: skip
def test_maps_that_are_none(tmp_path, text, message):
    path = tmp_path / "map.toml"
    path.write_text(text)
    with pytest.raises(lpn.Error) as caught:
        read_map(str(path))
    assert caught.value.code == "E-wave-map"
    assert str(path) in str(caught.value) and message in str(caught.value)


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("tb.valid", "tb.valit", "has no one signal 'tb.valit'; did you mean 'tb.valid'?"),
        ('"tb.valid"', '"valid"', "it may be tb.valid, tb.dut.valid"),
        ('"tb.valid"', '"tb.data"', "'tb.data' has 100 bits; name one, as 'tb.data[0]'"),
        ('"tb.valid"', '"tb.data[100]"', "reaches outside of bits 99 to 0 of 'tb.data'"),
        ('"tb.valid"', '"tb.level"', "'tb.level' is a real; a channel is made of bits"),
        ("reset", 'origin = "y"\nreset', "origin is the name of a channel"),
        ("payload", 'until = "y"\npayload', "until is the name of another channel, not 'y'"),
        ("channels.x", 'channels."x*"', "* stands in the name but not in the signals"),
        (
            'channels.x]\nvalid = "tb',
            'channels."x*"]\nvalid = "u[*]',
            "for any number in place of *",
        ),
    ],
)
def test_maps_that_do_not_fit(files, old, new, message):
    (files / "map.toml").write_text(MAP.replace(old, new))
    with pytest.raises(lpn.Error) as caught:
        recording(files)
    assert caught.value.code == "E-wave-map" and message in str(caught.value), caught.value


def test_slices_bits_and_lists(files):
    (files / "map.toml").write_text(
        'clock = "clk"\nreset = "!rst_n"\n[channels.x]\nvalid = ["tb.valid", "!tb.data[99]"]\n'
        'ready = "ready"\npayload = { low = "data[1:0]", top = "data[99:98]" }\n'
    )
    assert read(files) == [(2, 1, {"low": 3, "top": 0})]


def test_a_bus_with_its_bits_the_other_way_round(tmp_path):
    (tmp_path / "a.vcd").write_text(
        "$var wire 1 ! clk $end\n$var wire 8 b bus [0:7] $end\n$enddefinitions $end\n"
        "#0 0! b10000010 b\n#5 1!\n#6 0!\n"
    )
    (tmp_path / "map.toml").write_text(
        'clock = "clk"\n[channels.x]\nvalid = "bus[0]"\n'
        'payload = { low = "bus[4:7]", all = "bus", same = "bus[7:4]" }\n'
    )
    assert read(tmp_path) == [(0, 0, {"low": 2, "all": 130, "same": 2})]


def test_two_clocks_and_one_origin(tmp_path):
    """A fast clock with a period of 4, and a slow one of 10 whose falling edge counts."""
    lines = ["#0 0! 1s 1a 1b"]
    for t in range(1, 41):
        change = ("1!" if t % 4 == 2 else "0!" if t % 4 == 0 else "") + (
            " 0s" if t % 10 == 5 else " 1s" if t % 10 == 0 else ""
        )
        if change.strip():
            lines.append(f"#{t} {change}")
    (tmp_path / "a.vcd").write_text(
        "$timescale 10 ns $end\n$var wire 1 ! fast $end\n$var wire 1 s slow $end\n"
        "$var wire 1 a a $end\n$var wire 1 b b $end\n$enddefinitions $end\n"
        + "\n".join(lines)
        + "\n"
    )
    (tmp_path / "map.toml").write_text(
        'origin = "120 ns"\n[clocks]\nfast = "fast"\nslow = { signal = "slow", edge = "falling" }\n'
        '[channels.a]\nvalid = "a"\nclock = "fast"\n[channels.b]\nvalid = "b"\nclock = "slow"\n'
    )
    with recording(tmp_path) as r:
        r.read()
        assert [r.totals(k)["transfers"] for k in (0, 1)] == [10, 4]
        # Edges at 2, 6, 10, 14, ... and 5, 15, ...; cycle 0 from time 12 on.
        assert [r.clock_totals(k)[1] for k in (0, 1)] == [3, 1]
        assert [c["period_s"] for c in stalls(r)["clocks"]] == [
            pytest.approx(4e-8),
            pytest.approx(1e-7),
        ]


def test_a_star_stands_for_every_number(tmp_path):
    scopes = "".join(
        f"$scope module m[{k}] $end\n$var wire 1 {c} v $end\n$upscope $end\n"
        for k, c in ((0, "a"), (2, "b"), (10, "c"))
    )
    (tmp_path / "a.vcd").write_text(
        "$var wire 1 ! clk $end\n" + scopes + "$enddefinitions $end\n#0 0! 0a 1b 1c\n#5 1!\n#6 0!\n"
    )
    (tmp_path / "map.toml").write_text('clock="clk"\n[channels."m*"]\nvalid = "m[*].v"\n')
    with recording(tmp_path) as r:
        r.read()
        assert [c.name for c in r.channels] == ["m0", "m2", "m10"]
        assert [r.totals(k)["transfers"] for k in range(3)] == [0, 1, 1]


# Proposals


def test_what_names_say(tmp_path):
    names = [
        *(
            "clk",
            "aresetn",
            "awvalid",
            "awready",
            "awaddr",
            "in_vld",
            "in_rdy",
            "o_valid",
            "o_data",
        ),
        *("cmd_valid_reg", "cmd_ready_next", "kernel_start", "kernel_done", "busy", "dv", "dr"),
    ]
    text = "".join(
        f"$var wire {8 if 'a' in n[2:] and 'v' not in n and 'r' not in n else 1} {chr(40 + k)} {n} $end\n"
        for k, n in enumerate(names)
    )
    (tmp_path / "a.vcd").write_text(
        "$scope module t $end\n" + text + "$upscope $end\n$enddefinitions $end\n"
    )
    proposal = propose(read_signals(str(tmp_path / "a.vcd")))
    assert proposal.clocks == ["t.clk"] and proposal.resets == ["!t.aresetn"]
    found = {
        name: {k: v for k, v in keys.items() if k != "payload"}
        for name, keys in proposal.channels.items()
    }
    assert found == {
        "aw": {"valid": "t.awvalid", "ready": "t.awready"},
        "in": {"valid": "t.in_vld", "ready": "t.in_rdy"},
        "o": {"strobe": "t.o_valid"},
        "cmd": {"valid": "t.cmd_valid_reg", "ready": "t.cmd_ready_next"},
        "d": {"valid": "t.dv", "ready": "t.dr"},
        "kernel": {"start": "t.kernel_start", "done": "t.kernel_done"},
        "busy": {"busy": "t.busy"},
    }
    assert proposal.channels["aw"]["payload"] == ["t.awaddr"] and list(proposal.guesses) == ["d"]
    (tmp_path / "map.toml").write_text(written(proposal, "a.vcd"))
    assert [c.name for c in read_map(str(tmp_path / "map.toml")).channels] == list(found)


def test_what_names_only_hint_at(tmp_path):
    """Requests with grants, strobes, a bus and its enable, a start alone: guesses, and said to be."""
    names = {"clk": 1, "mem_req": 1, "mem_gnt": 1, "mem_addr": 16, "wb_stb": 1, "wb_ack": 1}
    names |= {"tick_strobe": 1, "code_en": 1, "code": 9, "ostart": 1, "screen": 1, "token": 1}
    names |= {"i_start": 1, "i_done": 1}
    text = "".join(
        f"$var wire {width} {chr(40 + k)} {name} $end\n"
        for k, (name, width) in enumerate(names.items())
    )
    (tmp_path / "a.vcd").write_text(
        "$scope module t $end\n" + text + "$upscope $end\n$enddefinitions $end\n"
    )
    proposal = propose(read_signals(str(tmp_path / "a.vcd")))
    assert proposal.channels == {
        "i": {"start": "t.i_start", "done": "t.i_done"},
        "mem": {"valid": "t.mem_req", "ready": "t.mem_gnt", "payload": ["t.mem_addr"]},
        "wb": {"valid": "t.wb_stb", "ready": "t.wb_ack"},
        "tick": {"strobe": "t.tick_strobe"},
        "code": {"strobe": "t.code_en", "payload": ["t.code"]},
        "ostart": {"strobe": "t.ostart"},
    }
    assert set(proposal.guesses) == set(proposal.channels) - {"i"}
    map = written(proposal, "a.vcd")
    assert "[channels.code] # a guess: a bus and its enable\n" in map
    assert (
        "[channels.wb] # a guess: a request and its grant; is it a transfer when both are 1?" in map
    )
    (tmp_path / "map.toml").write_text(map)
    assert [c.name for c in read_map(str(tmp_path / "map.toml")).channels] == list(
        proposal.channels
    )


@pytest.mark.parametrize("channels", [64, 2000])
def test_a_page_is_small_whatever_the_recording(channels):
    """Random phases, more of them than there is room for, of few channels and of very many."""
    import _lpn
    from lpn.pages.page import packed
    from lpn.waves.recording import Picture

    rng = random.Random(20261123)
    built = _lpn.wave.History(channels, Picture().options(channels))
    cycles = 3_600_000 // channels
    for at in range(cycles):
        for k, phase in enumerate(rng.choices(range(6), k=channels)):
            built.set(k, at, phase)
    for k in range(channels):
        built.finish(k, cycles)
    (_, end), lanes = built.rows()
    assert 0 < end < cycles
    assert len(packed(b"".join(part for lane in lanes for part in lane))) < 4_500_000
