"""Captures through programs: paths against the interpreter packet by packet, memory that is kept,
chains, the slowest packets as a capture, and what is refused.
"""

import json
import random
import struct
from array import array

import pytest
from conftest import DEMO

lpn = pytest.importorskip("lpn")
pytest.importorskip("lpn_models_native._nfp")

from lpn.runs import read_capture, write_capture  # noqa: E402
from models.nfp import program as front  # noqa: E402
from models.nfp import traffic  # noqa: E402
from models.nfp.chain import chain  # noqa: E402
from models.nfp.simulate import simulate  # noqa: E402


def frames_of(seed, packets, interesting=(0x00, 0x08, 0x11, 0x45, 0x20, 0x7B)):
    """Random frames of 60 to 200 bytes, many of whose bytes are those that programs look for."""
    source = random.Random(seed)
    out = []
    for _ in range(packets):
        frame = bytearray(source.randbytes(source.choice([60, 61, 96, 200])))
        for _ in range(source.randrange(40)):
            frame[source.randrange(60)] = source.choice(interesting)
        if source.random() < 0.6:
            frame[12:14] = b"\x08\x00"
            frame[23] = 17
        if source.random() < 0.4:
            frame[36:38] = b"\x00\x7b"
        if source.random() < 0.3:
            frame[:4] = bytes(4)
        out.append(bytes(frame))
    return out


def capture(path, frames):
    write_capture(path, frames)
    return read_capture(path)


def passing(tmp_path, name="portcount", verdict="0x2"):
    """A demo program that answers XDP_PASS."""
    text = (DEMO / f"{name}.asm").read_text(encoding="utf-8")
    path = tmp_path / f"{name}.asm"
    path.write_text(text.replace("immed[gprA_0, 0x1]", f"immed[gprA_0, {verdict}]"), "utf-8")
    return path


@pytest.mark.parametrize("name", ["bits", "dashes"])
def test_paths_are_those_of_the_interpreter(tmp_path, name):
    """Neither program reads what packets leave in DRAM, so that each packet can be run alone."""
    frames = frames_of(1, 400)
    program = front.load(DEMO / f"{name}.asm")
    found = traffic.follow([program], capture(tmp_path / "a.pcap", frames))
    for frame, path in zip(frames, found.of, strict=True):
        alone = program.path_taken(len(frame), dict(enumerate(frame)), {}, 5)
        assert found.paths[path] == (alone,)
    assert sum(found.packets) == len(frames) and found.packets == sorted(found.packets)[::-1]
    assert len(found.paths) > 20 and found.cut == 0 and found.complete


def udp(port=123):
    frame = bytearray(96)
    frame[12:14], frame[23], frame[36:38] = b"\x08\x00", 17, port.to_bytes(2, "big")
    return bytes(frame)


def test_what_packets_leave_in_memory_is_kept(tmp_path):
    """A counter that the program adds 1 to and reads back: at 2^32 - 2 the second packet makes it 0."""
    text = (DEMO / "portcount.asm").read_text(encoding="utf-8")
    listing = tmp_path / "own.asm"
    listing.write_text(text.replace("<<8, 0x10, 1]", "<<8, 0x4, 1]"), encoding="utf-8")
    program = front.load(listing)
    captured = capture(tmp_path / "a.pcap", [udp()] * 3)
    assert len(traffic.follow([program], captured).paths) == 1
    full = {4 + k: byte for k, byte in enumerate((2**32 - 2).to_bytes(4, "little"))}
    found = traffic.follow([program], captured, [full])
    assert list(found.of) == [0, 1, 0] and "->47" in found.paths[1][0]


def test_cut_packets_are_left_out(tmp_path, nfp):
    """Of those that are cut where the program does not look, the path is known."""
    data = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    other = bytes(12) + b"\x86\xdd" + bytes(46)
    for k, (frame, kept) in enumerate([(udp(), 96), (udp(), 20), (udp(), 39), (other, 60)]):
        data += struct.pack("<4I", k, 0, kept, len(frame)) + frame[:kept]
    path = tmp_path / "a.pcap"
    path.write_bytes(data)
    found = traffic.follow([front.load(DEMO / "portcount.asm")], traffic.load_capture(path))
    assert found.cut == 2 and list(found.numbers) == [0, 3]
    done = nfp("trace", DEMO / "portcount.asm", path)
    assert "2 packets are left out" in done.stderr
    path.write_bytes(data[: 24 + 16 + 96][:24] + data[24 + 112 : 24 + 112 + 36])
    with pytest.raises(lpn.Error, match="bytes of every packet that the capture does not have"):
        traffic.follow([front.load(DEMO / "portcount.asm")], traffic.load_capture(path))


def test_short_and_large_packets_are_told(tmp_path, nfp):
    write_capture(tmp_path / "a.pcap", [bytes(14), bytes(60), bytes(1514)])
    done = nfp("trace", DEMO / "portcount.asm", tmp_path / "a.pcap")
    assert "1 packets are shorter than the wire allows" in done.stderr
    assert "1 packets are larger than 1500 bytes, which no guarantee covers" in done.stderr
    write_capture(tmp_path / "a.pcap", [bytes(60), bytes(16384)])
    done = nfp("trace", DEMO / "portcount.asm", tmp_path / "a.pcap", status=2)
    assert "packet 2 has 16384 bytes" in done.stderr and "[E-nfp-capture]" in done.stderr


def test_a_loop_that_runs_too_often_names_the_packet(tmp_path):
    program = front.load(DEMO / "dashes.asm", unroll="3")
    captured = capture(tmp_path / "a.pcap", [bytes(60), bytes(100)])
    with pytest.raises(lpn.Error, match="packet 1 runs the loop at .* allow more") as refused:
        traffic.follow([program], captured)
    assert refused.value.code == "E-nfp-path"


def test_more_paths_than_are_simulated(tmp_path):
    """bits.asm tests 24 bits: as many paths as packets."""
    source = random.Random(2)
    captured = capture(tmp_path / "a.pcap", [source.randbytes(60) for _ in range(20_100)])
    with pytest.raises(lpn.Error, match="packet 20.* another path than the 20000") as refused:
        traffic.follow([front.load(DEMO / "bits.asm")], captured)
    assert refused.value.code == "E-nfp-capture"


def test_a_path_by_what_is_undefined_is_refused(tmp_path):
    listing = tmp_path / "own.asm"
    listing.write_text(
        ".0 alu[--, gprA_5, AND, 0x1]\n.1 beq[.3]\n.2 nop\n.3 br[.15000]\n", encoding="utf-8"
    )
    captured = capture(tmp_path / "a.pcap", [bytes(60)] * 20)
    with pytest.raises(lpn.Error, match="packet .* depends on what is undefined") as refused:
        traffic.follow([front.load(listing)], captured)
    assert refused.value.code == "E-nfp-undefined"


def test_a_trace_keeps_order_and_times(tmp_path):
    """What is simulated is the capture, packet by packet: no packet of another path waits less."""
    frames = [udp(), bytes(60)] * 50
    data = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    for k, frame in enumerate(frames):
        data += struct.pack("<4I", 5, 10 * k, len(frame), len(frame)) + frame
    (tmp_path / "a.pcap").write_bytes(data)
    program = front.load(DEMO / "portcount.asm")
    captured = traffic.load_capture(tmp_path / "a.pcap")
    found = traffic.follow([program], captured)
    mix = traffic.Trace([program], found, captured)
    assert list(mix.draw()) == list(found.of) and mix.rate == pytest.approx(1e5)
    assert list(mix.gaps()[:3]) == [0, 160_000, 160_000]  # 10 us of 16 GHz
    measured = simulate(mix, whole=True)
    # Alone on the NIC: each path's latency is one number.
    assert [p[50] for p in measured.latency_by_path] == [p[99.9] for p in measured.latency_by_path]
    slow, fast = sorted((p.work(224)[0] for p in mix.paths), reverse=True)
    assert slow > fast and len(measured.latency_by_path) == 2


def test_times_that_cannot_be_simulated(tmp_path):
    program = front.load(DEMO / "portcount.asm")
    data = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    path = tmp_path / "a.pcap"
    for times, words in (
        ((5, 4), "packet 2 is earlier"),
        ((5, 5), "packets have the same time"),
        ((5, 75), "packet 2 comes 70 s after the one before it, and 69 s are the most"),
    ):
        made = data + b"".join(struct.pack("<4I", t, 0, 60, 60) + bytes(60) for t in times)
        path.write_bytes(made)
        captured = traffic.load_capture(path)
        found = traffic.follow([program], captured)
        with pytest.raises(lpn.Error, match=words) as refused:
            traffic.Trace([program], found, captured)
        assert refused.value.code == "E-nfp-capture" and "--rate" in str(refused.value)
        assert traffic.Trace([program], found, captured, rate=1e6).rate == 1e6


@pytest.mark.parametrize(
    "text, words",
    [
        ("[]", "bytes from an offset on"),
        ('{"0x10": "0g"}', "must be an offset below 2\\^32"),
        ('{"0x1_0": "00"}', "must be an offset below 2\\^32"),
        ('{"-1": "00"}', "must be an offset below 2\\^32"),
        ('{"0xffffffff": "0000"}', "must be an offset below 2\\^32"),
        ('{"0x10": "00 01", "17": "02"}', "the byte at 0x11 stands there twice"),
        ('{"0x10": 3}', "must be an offset below 2\\^32"),
    ],
)
def test_wrong_memories(tmp_path, text, words):
    path = tmp_path / "memory.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(lpn.Error, match=words) as refused:
        traffic.memory_of(path)
    assert refused.value.code == "E-nfp-memory"


def test_segments_of_a_chain_go_on_where_a_program_ends():
    first = [(10, "sram", 0), (5, "none", 0)]
    second = [(7, "dram_add", 2), (3, "none", 0)]
    assert traffic.chained([first, second]) == [
        (10, "sram", 0),
        (12, "dram_add", 2),
        (3, "none", 0),
    ]
    assert traffic.chained([first]) == first


@pytest.mark.parametrize("verdict, goes_on", [("0x0", 0), ("0x1", 0), ("0x2", 1), ("0x3", 0)])
def test_only_what_passes_goes_on(tmp_path, verdict, goes_on):
    programs = [front.load(passing(tmp_path, verdict=verdict)), front.load(DEMO / "bits.asm")]
    found = traffic.follow(programs, capture(tmp_path / "a.pcap", [bytes(60)]))
    assert len(found.paths[0]) == 1 + goes_on


@pytest.mark.parametrize("metric", ["bit-rate", "packet-rate"])
@pytest.mark.parametrize("names", [("portcount", "bits"), ("bits", "dashes"), ("dashes",)])
def test_no_packet_is_slower_than_a_chain_guarantees(tmp_path, metric, names):
    files = [passing(tmp_path, name) for name in names]
    found = chain(files, metric, margin=0)
    assert found.complete and found.found["rate"] >= found.limits["program"] * (1 - 1e-12)
    programs = [front.load(file) for file in files]
    table = found.limits
    frames = frames_of(3, 500)
    run = traffic.follow(programs, capture(tmp_path / "a.pcap", frames))
    clock, overhead = 800e6, 224
    for frame, of in zip(frames, run.of, strict=True):
        parts = [p.path_cost(path) for p, path in zip(programs, run.paths[of])]
        cycles = sum(p["cycles"] - overhead for p in parts) + overhead
        dram = sum(p["dram_cycles"] for p in parts)
        rate = clock / max(cycles / 50, dram) * (8 * len(frame) if metric == "bit-rate" else 1)
        assert rate >= table["program"]


def test_the_slowest_packets_as_a_capture(tmp_path, nfp):
    """What is written takes, packet by packet, the paths that were found."""
    path = tmp_path / "worst.pcap"
    made = nfp("guarantee", DEMO / "bits.asm", "--paths", "4", "--pcap", path, "--json").data
    found = traffic.follow([front.load(DEMO / "bits.asm")], read_capture(path))
    in_order = [found.paths[k][0] for k in found.of]
    assert in_order == [p["path"] for p in made["paths"]] and len(in_order) == 4
    traced = nfp("trace", DEMO / "bits.asm", path, "--rate", "1e6", "--json").data
    cycles = {p["programs"][0]: p["core_cycles"] for p in traced["paths"]}
    # The net's steps have no waiting for memory in them; the analysis charges it.
    assert all(cycles[p["path"]] <= p["cycles"] for p in made["paths"])
    lost = tmp_path / "no" / "a.pcap"
    done = nfp("guarantee", DEMO / "bits.asm", "--pcap", lost, status=2)
    assert f"cannot write {lost}: there is no folder {lost.parent} [E-input]" in done.stderr


def test_a_mix_of_a_capture_is_simulated(tmp_path, nfp):
    write_capture(tmp_path / "a.pcap", frames_of(5, 3000))
    file = tmp_path / "mix.json"
    told = nfp("trace", DEMO / "bits.asm", tmp_path / "a.pcap", "--mix", file, "--json").data
    mix = json.loads(file.read_text(encoding="utf-8"))
    assert [p["weight"] for p in mix["paths"]] == [p["packets"] for p in told["paths"]]
    done = nfp("simulate", DEMO / "bits.asm", "--mix", file, "--packets", "20000", "--json").data
    assert done["packet_rate"] == pytest.approx(told["sustained_rate"], rel=0.05)


def test_a_listing_with_its_source(tmp_path, nfp):
    """As `bpftool prog dump jited ... linum` prints it: a symbol, and remarks with places."""
    listing = tmp_path / "own.asm"
    listing.write_text(
        "bpf_prog_12ab_own:\n"
        "; int own(struct xdp_md *ctx) [file:/src/own.c line_num:7 line_col:0]\n"
        "   0:\t .0  immed[gprA_2, 0x1]\n"
        "   8:\t .1  immed[gprA_3, 0x1]\n"
        "; return XDP_PASS; [file:/src/own.c line_num:9 line_col:5]\n"
        "  10:\t .2  immed[gprA_0, 0x2], gpr_wrboth\n"
        "; }\n"
        "  18:\t .3  br[.15000]\n",
        encoding="utf-8",
    )
    data = nfp("guarantee", listing, "--json").data
    assert data["slowest"]["source"] == [
        {"place": "", "statement": "}", "cycles": 4, "dram_cycles": 0.0},
        {
            "place": "/src/own.c:7",
            "statement": "int own(struct xdp_md *ctx)",
            "cycles": 2,
            "dram_cycles": 0.0,
        },
        {"place": "/src/own.c:9", "statement": "return XDP_PASS;", "cycles": 1, "dram_cycles": 0.0},
    ]
    shown = nfp("guarantee", listing).stdout
    assert "hot lines of the source" in shown and "/src/own.c:9" in shown
    write_capture(tmp_path / "a.pcap", [bytes(60)])
    work = nfp("trace", listing, tmp_path / "a.pcap", "--rate", "1e6", "--json").data["work"]
    assert [w["place"] for w in work] == ["", "/src/own.c:7", "/src/own.c:9"]
    # What is cut below a remark is still missing.
    listing.write_text(listing.read_text(encoding="utf-8").replace("  18:", "; 18:"), "utf-8")
    assert "is not whole" in nfp("guarantee", listing, status=2).stderr


def test_curves_rise(tmp_path, nfp):
    file = tmp_path / "curve.svg"
    data = nfp(
        "simulate", DEMO / "portcount.asm", "--cores", "5", "--packets", "4000", "--curve", file,
        "--json",
    ).data  # fmt: skip
    means = [p["latency_seconds"]["mean"] for p in data["curve"]]
    assert data["complete"] and len(means) == 11 and means[-1] > 2 * means[0]
    assert file.read_text(encoding="utf-8").startswith("<?xml")
    for option in (("--rate", "1e6"), ("--overload",), ("--buffer", "4")):
        done = nfp("simulate", DEMO / "portcount.asm", "--curve", file, *option, status=2)
        assert "--curve goes through rates of its own" in done.stderr


def test_frames_outside_the_data_are_no_memory_access():
    from lpn_models_native import _nfp

    program = front.load(DEMO / "portcount.asm")
    one = array("Q", [60])
    for start, kept, size in ((1, 60, 60), (2**63, 60, 60), (0, 60, 59), (0, 60, 1 << 14)):
        with pytest.raises(ValueError, match="frame 1 does not lie in the data"):
            _nfp.follow(
                [program],
                [{}],
                bytes(60),
                array("Q", [start]),
                array("Q", [kept]),
                array("Q", [size]),
            )
    with pytest.raises(ValueError, match="a number per frame"):
        _nfp.follow([program], [{}], bytes(60), array("Q", [0]), one, array("Q"))


def test_a_curve_is_not_begun_behind_a_run_that_was_cut(monkeypatch, tmp_path):
    """Ctrl-C in the run that finds the rate which a mix reaches: shares of it would be of another."""
    from types import SimpleNamespace

    from lpn.command import Progress

    from models.nfp.commands import simulate as command
    from models.nfp.mix import Mix, Path

    runs = []

    def cut(mix, **options):
        runs.append(mix.rate)
        return SimpleNamespace(complete=False, packet_rate=1.0)

    monkeypatch.setattr("models.nfp.simulate.simulate", cut)
    mix = Mix([Path([(10, "none", None)], 1, "p")], 100)
    options = {"cores": 1, "threads": 1}
    with pytest.raises(KeyboardInterrupt):
        command._curve("a.asm", mix, options, str(tmp_path / "a.svg"), Progress(1), False)
    assert runs == [None]
