"""lpn nfp guarantee and graph on the demo programs; the costs below were added up by hand from the
listings.
"""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import BUILD, DEMO

CLOCK, CORES = 800e6, 50
ADD, READ = 3.219818925010342, 4.052463035413383  # memory engine cycles


def test_the_slowest_packet_of_a_program(nfp):
    found = nfp("guarantee", DEMO / "portcount.asm", "--json").data
    # 55 instructions' cycles: see native/test/costs_test.cc, where they are added up.
    slow = found["slowest"]
    assert found["verdict"] == "exact"
    assert slow["path"] == "->0--13--17--20--24--27->30->45->15000"
    assert slow["cycles"] == slow["max_cycles"] == 224 + 13 + 3 + 3 + 3 + 4 + 3 + 5 + 5 + 6 + 4 + 5
    assert slow["dram_cycles"] == pytest.approx(ADD)
    assert slow["packet_size"] == 60
    assert slow["packet_rate"] == pytest.approx(CLOCK * CORES / slow["cycles"])
    assert slow["bit_rate"] == pytest.approx(slow["packet_rate"] * 60 * 8)
    assert slow["bottleneck"] == "cores"
    packet = slow["packet"].split()
    assert len(packet) == 60
    assert packet[12:14] == ["08", "00"] and packet[23] == "11" and packet[36:38] == ["00", "7b"]
    assert packet[0] == "--"
    # 69 Gbit/s the program, but the MAC passes 54.4 M packets/s, and 51.6 M were measured.
    assert found["guarantee"]["limits"]["program"] == pytest.approx(slow["bit_rate"])
    assert found["guarantee"]["decides"] == "MAC"
    assert found["guarantee"]["rate"] == pytest.approx(54.4e6 * 60 * 8 * (1 - 0.052))
    assert set(found["naive"]) >= {
        "cycles",
        "dram_cycles",
        "packet_size",
        "bit_rate",
        "packet_rate",
    }
    assert found["unsat_before"] == 0 and found["seconds"] > 0


def test_packets_per_second_is_another_question(nfp):
    slow = nfp("guarantee", DEMO / "portcount.asm", "--metric", "packet-rate", "--json").data[
        "slowest"
    ]
    # Long packets also read the counter: one add and one read, 25 cycles between the read and the
    # add.
    assert slow["packet_size"] == 0x60
    assert slow["dram_cycles"] == pytest.approx(ADD + READ)
    assert slow["bottleneck"] == "memory engine"
    assert slow["packet_rate"] == pytest.approx(CLOCK / (ADD + READ))
    assert (
        slow["memory"] in ({"0x00000010": "00 00 00 00"}, {"0x00000010": "01 00 00 00"})
        or slow["memory"]
    )


def test_all_paths_slowest_first(nfp):
    found = nfp("guarantee", DEMO / "portcount.asm", "--paths", "100", "--json").data
    rates = [one["bit_rate"] for one in found["paths"]]
    assert len(rates) == len({one["path"] for one in found["paths"]}) == 9
    assert rates == sorted(rates)


def test_contradictions_are_not_paths(nfp):
    found = nfp("guarantee", DEMO / "bits.asm", "--json").data
    # The 30 adds at the end need the word 0, with which none of the 24 bits is set.
    assert found["slowest"]["dram_cycles"] == pytest.approx(30 * ADD)
    assert found["naive"]["dram_cycles"] == pytest.approx(54 * ADD)
    assert found["slowest"]["packet"].split()[:4] == ["00"] * 4
    assert found["unsat_before"] == 2**24 - 1
    assert found["search"]["refuted"] < 200


def test_loops(nfp):
    free = nfp("guarantee", DEMO / "dashes.asm", "--json").data
    assert free["loops"] == {"limit": 80, "found": True, "proved": True}
    same = nfp("guarantee", DEMO / "dashes.asm", "--unroll", "80", "--json").data
    assert same["slowest"] == free["slowest"] and same["loops"]["proved"]
    less = nfp("guarantee", DEMO / "dashes.asm", "--unroll", "70", "--json").data
    assert less["loops"] == {"limit": "70", "found": False, "proved": False}
    assert "was not proved" in nfp("guarantee", DEMO / "dashes.asm", "--unroll", "70").stderr
    # A packet has 60 bytes at least, and each is looked at.
    none = nfp("guarantee", DEMO / "dashes.asm", "--unroll", "3", status=2)
    assert "[E-nfp-none]" in none.stderr and "larger --unroll" in none.stderr
    # 8 before the loop; a round: 7 to the size check, the read 3, 3 to the comparison, 2 for the
    # dash, its write 11, which is 16 after the read, 2, and 4 back; in the end 6, the check that
    # leaves 4, 1 and 4.
    assert free["slowest"]["cycles"] == 224 + 8 + 60 * (7 + 3 + 3 + 2 + 11 + 2 + 4) + 6 + 4 + 1 + 4
    assert free["slowest"]["packet_size"] == 60


def test_a_limit_leaves_a_guarantee(nfp):
    every = ("guarantee", DEMO / "dashes.asm", "--paths", "1000000")
    found = nfp(*every, "--limit", "0.7", "--json", status=3).data
    assert found["verdict"] == "bounded"
    exact = nfp("guarantee", DEMO / "dashes.asm", "--json").data
    assert found["guarantee"]["rate"] <= exact["slowest"]["bit_rate"] * (1 + 1e-9)
    assert found["seconds"] < 20


def cpu_seconds(pid):
    """The processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_ctrl_c_shows_what_there_is():
    command = [
        str(BUILD / "bin" / "lpn"),
        "nfp",
        "guarantee",
        str(DEMO / "dashes.asm"),
        "--paths",
        "1000000",
        "--json",
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        while (
            running.poll() is None and cpu_seconds(running.pid) < 1
        ):  # starting takes a fifth of that
            time.sleep(0.02)
        os.kill(running.pid, signal.SIGINT)
        out, errors = running.communicate(timeout=60)
    assert running.returncode == 3, errors
    found = json.loads(out)
    assert found["verdict"] == "bounded" and found["guarantee"]["rate"] > 0


def test_a_report_to_read(nfp):
    told = nfp("guarantee", DEMO / "bits.asm", "--listing").stdout
    for part in (
        "guaranteed with 50 cores",
        "hot instructions",
        "memory engine",
        "0x0000  00 00 00 00 --",
        "1.67772e+07 paths",
        "the whole path",
    ):
        assert part in told


def test_no_guarantee_is_told_larger_than_it_is(nfp):
    """51.57 M packets/s were "52 Mpackets/s guaranteed"."""
    from lpn.command import precise_rate

    asked = ("guarantee", DEMO / "portcount.asm", "--metric", "packet-rate")
    held = nfp(*asked, "--json").data["guarantee"]["rate"]
    told = nfp(*asked).stdout.split()[1]
    assert told == "51.57" and float(told) * 1e6 <= held < (float(told) + 0.01) * 1e6
    for value, shown in (
        (25.45e6, "25.45 M"),
        (9_999_999, "9.999 M"),
        (999_999, "999.9 k"),
        (1e9, "1.000 G"),
        (1234567e6, "1234.5 G"),
        (999.9, "999"),
    ):
        assert precise_rate(value) == shown
    compared = nfp("compare", DEMO / "portcount.asm", DEMO / "portcount.asm", "--paths", "3")
    data = nfp("compare", DEMO / "portcount.asm", DEMO / "portcount.asm", "--paths", "3", "--json")
    rows = [line.split() for line in compared.stdout.splitlines() if line.startswith("slowest ")]
    ranks = data.data["ranks"]
    assert len(rows) == len(ranks) == 3
    for row, rank in zip(rows, ranks):
        assert float(row[2]) * 1e6 <= rank["a"] < (float(row[2]) + 0.001) * 1e6


def test_own_costs(nfp, tmp_path):
    table = tmp_path / "costs.json"
    table.write_text(
        '{"overhead": {"value": 1000, "source": "another firmware"}, "dram_add": 30.0}',
        encoding="utf-8",
    )
    before = nfp("guarantee", DEMO / "portcount.asm", "--json").data["slowest"]
    after = nfp(
        "guarantee", DEMO / "portcount.asm", "--costs", table, "--paths", "9", "--json"
    ).data
    again = next(one for one in after["paths"] if one["path"] == before["path"])
    assert again["cycles"] == before["cycles"] + 776
    assert again["dram_cycles"] == 30


@pytest.mark.parametrize(
    "text, message",
    [
        ('{"overhed": 1}', "'overhed' is no cost"),
        ('{"overhead": 1.5}', "needs a whole number"),
        ('{"overhead": -1}', "not negative"),
        (
            '{"dram_read": {"value": 5, "unit": "ns"}}',
            "is counted in memory engine cycles, not in 'ns'",
        ),
        ('{"overhead": {"value": 1, "sauce": ""}}', "'overhead' has an unknown 'sauce'; an entry"),
        ('{"threads": 8}', "'threads' is 4, by which distance_sram and distance_dram are"),
        ('{"max_packet": 20}', "min_packet <= max_packet"),
        ("[1]", "no JSON object"),
        ("{", "is not JSON: Expecting property name"),
        ('{"overhead": 1, "overhead": 2}', "the key 'overhead' stands twice in one object"),
    ],
)
def test_wrong_costs(nfp, tmp_path, text, message):
    table = tmp_path / "costs.json"
    table.write_text(text, encoding="utf-8")
    done = nfp("guarantee", DEMO / "portcount.asm", "--costs", table, status=2)
    assert message in done.stderr and "[E-nfp-costs]" in done.stderr


@pytest.mark.parametrize(
    "lines, code, message",
    [
        (".0 nop\n.1 rand[gprA_1]\n", "E-nfp-listing", "own.asm:2: 'rand' is no instruction"),
        (".0 alu[--, gprA_1, -, 1]\n.1 beq[.0]\n.2 br[.15000]", "E-nfp-loop", "no counter"),
        (
            ".0 mem[write8_swap, $xfer_0, gprB_23, <<8, 0, 4], ctx_swap[sig1]\n" ".1 br[.15000]\n",
            "E-nfp-cost",
            "own.asm: line 1: what a write",
        ),
        (".0 alu[--, --, B, gprA_1]\n.1 beq[.0]\n.2 br[.15000]\n", "E-nfp-loop", "--unroll N"),
        (
            ".0 alu[--, --, B, gprA_1]\n.1 beq[.15000]\n.2 br[.15000]\n",
            "E-nfp-undefined",
            "own.asm: line 2: the branch",
        ),
        (
            ".0 immed[gprA_1, 0]\n.1 alu[--, --, B, gprA_1]\n.2 beq[.1]\n.3 br[.15000]\n",
            "E-nfp-loop",
            "",
        ),
    ],
)
def test_what_is_refused(nfp, tmp_path, lines, code, message):
    program = tmp_path / "own.asm"
    program.write_text(lines, encoding="utf-8")
    done = nfp("guarantee", program, status=2)
    assert f"[{code}]" in done.stderr and message in done.stderr, done.stderr


def test_unroll_is_checked(nfp):
    done = nfp("guarantee", DEMO / "dashes.asm", "--unroll", "often", status=2)
    assert "[E-nfp-unroll]" in done.stderr
    nobody = nfp("guarantee", DEMO / "dashes.asm", "--unroll", "80:8,80:15,80:19,80:999", status=2)
    assert "no block begins at .999" in nobody.stderr and "[E-nfp-unroll]" in nobody.stderr
    blocks = nfp(
        "guarantee", DEMO / "dashes.asm", "--unroll", "80:8,80:15,80:19,80:22", "--json"
    ).data
    assert blocks["verdict"] == "exact"


def test_graph(nfp):
    drawn = nfp("graph", DEMO / "portcount.asm").stdout
    assert drawn.startswith("digraph") and drawn.rstrip().endswith("}")
    assert drawn.count("->") == 19  # two from each of 7 tests, one from each of 4 others, the start
    data = nfp("graph", DEMO / "portcount.asm", "--json").data
    assert [block["id"] for block in data["blocks"]][:3] == [0, 13, 17]
    assert data["edges"][0] == {
        "from": None,
        "to": 0,
        "taken": True,
        "cycles": 12,
        "last_cycles": 1,
        "last_cycles_taken": 4,
        "dram_cycles": 0.0,
    }
    assert len(data["instructions"]) == 50
    assert "mem[read32_swap" in nfp("graph", DEMO / "portcount.asm", "--code").stdout


def test_paths_by_hand():
    from models.nfp.program import load

    program = load(DEMO / "portcount.asm")
    path = "->0--13--17--20->29--30--35--42->47->15000"
    with pytest.raises(Exception, match="no edge of the program"):
        program.path_cost(path)
    path = "->0--13--17--20->29--30--42->47->15000"
    assert program.path_cost(path)["dram_cycles"] == pytest.approx(ADD + READ)
    kinds = [access for _, access, _, _ in program.segments(path)]
    assert kinds == ["sram", "dram_add", "dram_read", "none"]


@pytest.mark.parametrize("metric, most", [("bit-rate", 54.4e6 * 60 * 8), ("packet-rate", 54.4e6)])
@pytest.mark.parametrize("margin", [(), ("--margin", "0"), ("--margin", "3")])
@pytest.mark.parametrize("program", ["portcount", "bits"])
def test_no_guarantee_is_above_the_nic(nfp, program, metric, most, margin):
    found = nfp("guarantee", DEMO / f"{program}.asm", "--metric", metric, *margin, "--json").data
    told = found["guarantee"]
    less = {name: 1 - percent / 100 for name, percent in told["margin_percent"].items()}
    assert told["limits"]["MAC"] == pytest.approx(most)
    wire = 80e9 / (8 * 84)
    assert told["limits"]["ports"] == pytest.approx(wire * (480 if metric == "bit-rate" else 1))
    least = {
        found["slowest"]["bottleneck"]: told["limits"]["program"] * less["program"],
        "MAC": told["limits"]["MAC"] * less["mac"],
        "ports": told["limits"]["ports"],
    }
    assert told["rate"] == min(least.values()) <= most
    assert told["decides"] == min(least, key=least.get)
    if margin:
        assert set(told["margin_percent"].values()) == {float(margin[1])}
    else:
        assert told["margin_percent"] == {"program": 1.7, "mac": 5.2}


def test_ports_decide_where_the_mac_does_not(nfp, tmp_path):
    table = tmp_path / "costs.json"
    table.write_text('{"mac_rate": 1e9, "ports": 1, "port_rate": 10e9}', encoding="utf-8")
    told = nfp("guarantee", DEMO / "portcount.asm", "--costs", table, "--json").data["guarantee"]
    assert told["decides"] == "ports" and told["rate"] == pytest.approx(10e9 * 60 / 84)


def test_cores_that_the_nic_does_not_have(nfp, tmp_path):
    for command in ("guarantee", "compare"):
        files = [DEMO / "portcount.asm"] * (2 if command == "compare" else 1)
        assert "[E-nfp-cores]" in nfp(command, *files, "--cores", "51", status=2).stderr
    table = tmp_path / "costs.json"
    table.write_text('{"islands": 7}', encoding="utf-8")
    assert nfp("guarantee", DEMO / "portcount.asm", "--cores", "70", "--costs", table)


def test_the_fault_of_the_mac_is_named(nfp):
    """20 cores do 57 M of the slowest packets: where the MAC may fall to 30 M under overload."""
    warned = nfp("guarantee", DEMO / "portcount.asm", "--cores", "20", "--json").data
    assert (warned["mac_fault"]["from"], warned["mac_fault"]["to"]) == (35e6, 68e6)
    done = nfp("guarantee", DEMO / "portcount.asm", "--cores", "20")
    assert "warning" in done.stderr and "M packets/s, less than guaranteed here" in done.stderr
    # What it falls to is more than these guarantee; what these do is above the band.
    assert (
        nfp("guarantee", DEMO / "portcount.asm", "--cores", "5", "--json").data["mac_fault"] is None
    )
    assert nfp("guarantee", DEMO / "bits.asm", "--json").data["mac_fault"] is None
    fast = nfp("guarantee", DEMO / "portcount.asm", "--json").data
    assert fast["naive"]["packet_rate"] > 68e6 and fast["mac_fault"] is None


@pytest.mark.parametrize("option", ["--limit", "--margin"])
def test_a_number_that_is_none(nfp, option):
    done = nfp("guarantee", DEMO / "portcount.asm", option, "nan", status=2)
    assert "nan is no finite number" in done.stderr


def test_the_solver_keeps_to_the_limit():
    """A question to the solver may take what is left of the limit, not 20 seconds of its own."""
    from models.nfp import guarantee

    asked, now = [], [7.0]

    class Program:
        rounds = None

        def slowest(self, per_byte, cores, paths, go_on, z3_seconds):
            asked.extend([z3_seconds(), go_on(0, 0, 0, 0)])
            now[0] += 0.3
            asked.extend([z3_seconds(), go_on(0, 0, 0, 0)])
            raise StopIteration

    for limit, first in ((0.2, 0.2), (10, 10), (1000, 500), (None, 20)):
        asked.clear()
        with pytest.MonkeyPatch.context() as patch, pytest.raises(StopIteration):
            patch.setattr(guarantee, "load", lambda *_: Program())
            patch.setattr(guarantee, "time", SimpleNamespace(monotonic=lambda: now[0]))
            guarantee.guarantee("own.asm", limit=limit)
        assert asked[0] == pytest.approx(first)
        assert asked[3] == (limit != 0.2)


def test_even_needs_a_rate(nfp):
    done = nfp("simulate", DEMO / "portcount.asm", "--even", status=2)
    assert "give --rate" in done.stderr
