"""The NIC as a net: steps in tokens, rates by hand, lpn nfp simulate, compare and sweep."""

import csv
import json
import random
import re
import shutil
import sys

import pytest
from conftest import BUILD, REPO

sys.path.insert(0, str(BUILD / "python"))

NFP = REPO / "models" / "nfp" / "demo"
CLOCK = 800e6


@pytest.fixture(scope="module")
def nfp(environment):
    """rate(segments, ...) -> simulate.Result of one path without firmware."""
    import os

    os.environ.setdefault("LPN_CACHE", environment["LPN_CACHE"])
    from models.nfp.mix import Mix, Path
    from models.nfp.simulate import simulate

    def run(segments, packets=4000, parameters=None, cores=50, threads=4, **mix):
        return simulate(
            Mix([Path(segments)], packets, overhead=0, **mix),
            cores=cores,
            threads=threads,
            parameters=parameters,
        )

    return run


def test_steps_come_back():
    from models.nfp import steps

    draw = random.Random(5)
    for _ in range(300):
        segments = [
            (draw.randrange(25), draw.choice(["sram", "dram_read", "dram_add"]), draw.randrange(4))
            for _ in range(draw.randrange(30))
        ]
        segments = segments * draw.choice([1, 1, 5]) + [(draw.randrange(90), "none", 0)]
        found = steps.decode(steps.encode(segments, 224))
        assert sum(run for run, *_ in found) == 224 + sum(s[0] for s in segments)
        for access, kind in (("sram", steps.SRAM), ("dram_read", steps.READ)):
            expected = [
                (bank if kind == steps.READ else 0) for _, a, bank in segments if a == access
            ]
            assert [bank for _, k, bank, _ in found if k == kind] == expected
        for bank in range(4):
            posted = sum(
                adds
                for _, k, b, adds in found
                if k in (steps.POST, steps.WAIT, steps.FENCE) and b == bank
            )
            assert posted == sum(a == "dram_add" and b == bank for _, a, b in segments)
        ends = [k for _, k, *_ in found if k in (steps.END, steps.FENCE)]
        assert len(ends) == 1 and found[-1][1] == ends[0]
        assert (ends[0] == steps.FENCE) == any(a == "dram_add" for _, a, _ in segments)


def test_loops_are_short():
    """160 rounds of a read and a write, three steps to a word and words repeated up to eight times."""
    from models.nfp import steps

    rounds = [(18, "sram", 0), (65, "sram", 0)] * 160
    assert len(steps.encode([(20, "sram", 0), *rounds, (5, "none", 0)], 224)) <= 24


@pytest.mark.parametrize(
    "segments",
    [
        [(10, "sram", 0)],
        [(10, "none", 0), (3, "none", 0)],
        [(10, "dram_write", 0), (1, "none", 0)],
        [(5000, "none", 0)],
    ],
)
def test_steps_refuse(segments):
    from models.nfp import steps

    import _lpn

    with pytest.raises(_lpn.Error) as refusal:
        steps.encode(segments, 0)
    assert refusal.value.code == "E-nfp-steps"


@pytest.mark.parametrize(
    "threads, cycles", [(1, 16 + 48 + 10), (2, (16 + 48 + 10) / 2), (4, 26), (8, 26)]
)
def test_one_access_by_hand(nfp, threads, cycles):
    """A core is busy for 26 cycles per packet; a thread takes 74 with the memory's 48."""
    found = nfp([(16, "sram", 0), (10, "none", 0)], cores=1, threads=threads)
    assert found.packet_rate == pytest.approx(CLOCK / cycles, rel=1e-4)
    assert found.utilisation["cores"] == pytest.approx(26 / cycles, rel=1e-4)


@pytest.mark.parametrize("run, each", [(4, (4 + 48) / 4), (16, 16), (30, 30)])
def test_four_threads_in_step(nfp, run, each):
    """Accesses in a row cost max(run, (run + latency) / threads): hidden from a third of the
    latency on.
    """
    found = nfp([(run, "sram", 0)] * 40 + [(run, "none", 0)], cores=1, packets=2000)
    assert CLOCK / found.packet_rate == pytest.approx(40 * each + run, rel=0.01)


def test_banks_and_posted_adds(nfp):
    adds = [(20, "dram_add", 0)] * 5
    one = nfp([*adds, (20, "none", 0)])
    assert one.packet_rate == pytest.approx(CLOCK / (5 * 3.2), rel=1e-3)
    assert one.bottleneck == "dram"
    # Spread over two banks and three: the fullest decides.
    for banks, most in (([0, 1], 8), ([0, 1, 2, 0], 8), ([3, 3, 3, 1], 12)):
        spread = nfp([(20, "dram_add", b) for b in banks * (16 // len(banks))] + [(20, "none", 0)])
        assert spread.packet_rate == pytest.approx(CLOCK / (most * 3.2), rel=1e-3)
    # A single core does not wait for what it posts.
    alone = nfp([*adds, (20, "none", 0)], cores=1)
    assert alone.packet_rate == pytest.approx(CLOCK / 120, rel=1e-3)


def test_the_mac(nfp):
    found = nfp([(100, "none", 0)])
    assert found.bottleneck == "mac" and found.packet_rate == pytest.approx(54.4e6, rel=1e-3)
    assert nfp([(100, "none", 0)], overload=True).packet_rate == pytest.approx(53.19e6, rel=1e-3)


def test_cores_that_do_not_fill_the_islands(nfp):
    for cores in (1, 3, 7, 23):
        found = nfp([(400, "none", 0)], cores=cores)
        assert found.packet_rate == pytest.approx(cores * CLOCK / 400, rel=1e-3), cores


def test_load_and_latency(nfp):
    work = [(376, "none", 0)]
    low = nfp(work, cores=5, rate=1e6, arrivals="even")
    assert low.packet_rate == pytest.approx(1e6, rel=1e-3) and low.bottleneck == "load"
    # Alone on its core: the MAC's 14.7 cycles and the program.
    assert low.latency[50] == pytest.approx((14.7 + 376) / CLOCK, rel=1e-3)
    near = nfp(work, cores=5, rate=10e6, packets=20_000)
    assert (
        near.packet_rate == pytest.approx(10e6, rel=0.02)
        and near.latency[99] > near.latency[50] > low.latency[50]
    )


def test_a_full_buffer_drops(nfp):
    from models.nfp.mix import Mix, Path
    from models.nfp.simulate import simulate

    mix = Mix([Path([(800, "none", 0)])], 20_000, overhead=0, rate=10e6)
    found = simulate(mix, cores=5, buffer=50)  # 5 M/s at most
    assert found.packets + found.dropped == 20_000
    assert found.packet_rate == pytest.approx(5e6, rel=0.01)
    assert found.dropped == pytest.approx(10_000, rel=0.1)


def test_a_seed_decides(nfp):
    runs = [nfp([(376, "none", 0)], cores=5, rate=9e6, seed=seed).latency for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


# -- lpn sim and lpn nfp simulate


def write_mix(folder, **mix):
    path = folder / "mix.json"
    path.write_text(json.dumps(mix))
    return path


def test_lpn_sim_takes_a_mix(lpn, tmp_path):
    mix = write_mix(tmp_path, packets=500, overhead=0, paths=[{"segments": [[400, "none"]]}])
    row = lpn("sim", "nfp", mix, "-p", "cores=5", "-p", "words=8", "--json").json["runs"][0]
    assert row["done_tokens"] == 500 and not row["stalled"]
    assert row["latency"] == pytest.approx(100 * 400 * 20, rel=0.02)  # ticks of 1/20 cycle


def test_simulate(lpn, tmp_path):
    shutil.copy(NFP / "portcount.asm", tmp_path)
    slow = lpn(
        "nfp", "guarantee", tmp_path / "portcount.asm", "--metric", "packet-rate", "--json"
    ).json["slowest"]
    mix = write_mix(
        tmp_path,
        packets=3000,
        seed=3,
        paths=[{"path": slow["path"], "weight": 3}, {"segments": [[50, "none"]]}],
    )
    data = lpn(
        "nfp", "simulate", tmp_path / "portcount.asm", "--mix", mix, "--cores", 5, "--json"
    ).json
    assert data["packets"] == 3000 and data["cores"] == 5
    assert data["paths"][0]["share"] == pytest.approx(0.75, abs=0.05)
    mean = 0.75 * slow["cycles"] + 0.25 * (224 + 50)
    assert data["packet_rate"] == pytest.approx(5 * CLOCK / mean, rel=0.06)
    assert data["packet_rate"] >= 0.999 * 5 * CLOCK / slow["cycles"]
    alone = lpn(
        "nfp", "simulate", tmp_path / "portcount.asm", "--cores", 5, "--packets", 3000, "--json"
    ).json
    # The guarantee never says more, and here, with two accesses close together, a little less.
    assert 0 <= alone["packet_rate"] * slow["cycles"] / (5 * CLOCK) - 1 < 0.04
    text = lpn(
        "nfp", "simulate", tmp_path / "portcount.asm", "--packets", 3000, "--rate", "1e6", "--even"
    ).out
    assert "packet rate  1.000 M/s" in text and "limited by what arrives" in text


@pytest.mark.parametrize(
    "mix, says",
    [
        ([], "a mix is a JSON object"),
        ({"speed": 3}, "'speed' is no key of a mix"),
        ({"paths": []}, "at least one path"),
        ({"paths": [{"path": "slowest", "segments": []}]}, "path 1 must be"),
        ({"paths": [{"segments": [[5, "sram"]]}]}, "must end with the one whose access"),
        ({"paths": [{"segments": [[5, "disk"], [1, "none"]]}]}, "must be [cycles"),
        ({"paths": [{"path": "slowest", "weight": 0}]}, "weight of path 1"),
        ({"paths": [{"segments": [[5, "none"]]}], "rate": "fast"}, "'rate' must be"),
        ({"paths": [{"segments": [[5, "none"]]}], "rate": 1e6, "overload": True}, "'overload'"),
        ({"paths": [{"path": "slowest"}]}, "names no"),
    ],
)
def test_mixes_are_refused(lpn, tmp_path, mix, says):
    path = tmp_path / "mix.json"
    path.write_text(json.dumps(mix))
    answer = lpn("sim", "nfp", path, "--json")
    row = answer.json["runs"][0]["error"]
    assert answer.status == 2 and row["code"] == "E-nfp-mix"
    assert says in row["message"] or says == "names no" and "names none" in row["message"], row[
        "message"
    ]


def test_a_path_that_is_none(lpn, tmp_path):
    answer = lpn("nfp", "simulate", NFP / "portcount.asm", "--path", "->0->99")
    answer.refused("E-nfp-path")


# -- lpn nfp compare


@pytest.fixture(scope="module")
def slower(tmp_path_factory):
    """portcount with eleven cycles more before it ends: eleven `nop` in front of the last
    instruction.
    """
    lines = (NFP / "portcount.asm").read_text().splitlines()
    number = re.compile(r"\.(\d+)(?=[\s\],]|$)")
    ids = [int(number.search(line)[1]) for line in lines if number.search(line)]
    at = ids[2]  # behind the first instructions, which all packets run
    shifted = []
    for line in lines:
        found = number.search(line)
        if found is None:
            shifted.append(line)
            continue
        if int(found[1]) == at:
            shifted += [f"   {8 * (at + k):x}:\t .{at + k}  nop" for k in range(11)]
        if at <= int(found[1]) < 15000:
            line = re.sub(r"^(\s*)[0-9a-f]+:", rf"\g<1>{8 * (int(found[1]) + 11):x}:", line)
        shifted.append(
            number.sub(lambda m: f".{int(m[1]) + 11}" if at <= int(m[1]) < 15000 else m[0], line)
        )
    path = tmp_path_factory.mktemp("slower") / "portcount.asm"
    path.write_text("\n".join(shifted) + "\n")
    return path


def test_compare(lpn, slower):
    same = lpn("nfp", "compare", NFP / "portcount.asm", NFP / "portcount.asm", "--json")
    assert same.status == 0 and not same.json["slower"] and same.json["guarantee"]["change"] == 0
    answer = lpn("nfp", "compare", NFP / "portcount.asm", slower, "--json")
    data = answer.json
    assert answer.status == 1 and data["slower"]
    assert data["packets"] and all(
        p["b"]["cycles"] == p["a"]["cycles"] + 11 for p in data["packets"]
    )
    assert all(p["slower"] == (p["change"] < -0.01) for p in data["packets"])
    back = lpn("nfp", "compare", slower, NFP / "portcount.asm")
    assert back.status == 0 and "not slower" in back.out
    patient = lpn("nfp", "compare", NFP / "portcount.asm", slower, "--threshold", 50)
    assert patient.status == 0


# -- lpn nfp sweep


def test_sweep(lpn, slower, tmp_path):
    shutil.copy(NFP / "portcount.asm", tmp_path / "count-1.asm")
    shutil.copy(slower, tmp_path / "count-2.asm")
    (tmp_path / "other-7.asm").write_text("no program")
    answer = lpn(
        "nfp",
        "sweep",
        tmp_path,
        "--name",
        "count-{n}.asm",
        "--derive",
        "error=exp(-n)",
        "--cores",
        5,
        "--simulate",
        2000,
        "--csv",
        tmp_path / "t.csv",
        "--plot",
        tmp_path / "t.svg",
        "--json",
    )
    assert answer.status == 0, answer.err
    rows = answer.json["rows"]
    assert [r["n"] for r in rows] == [1, 2]
    assert rows[0]["guarantee"] > rows[1]["guarantee"]
    assert rows[1]["error"] == pytest.approx(0.1353, abs=1e-4)
    for row in rows:
        assert row["guarantee"] <= row["simulated"] < 1.06 * 5 * CLOCK / row["cycles"]
    with open(tmp_path / "t.csv", newline="") as lines:
        assert [float(r["guarantee"]) for r in csv.DictReader(lines)] == [
            r["guarantee"] for r in rows
        ]
    assert (tmp_path / "t.svg").read_text().startswith("<?xml")
    assert (
        "count-1" not in lpn("nfp", "sweep", tmp_path, "--name", "count-{n}.asm", "--cores", 5).err
    )


@pytest.mark.parametrize(
    "arguments, says",
    [
        (("--name", "count.asm"), "once"),
        (("--derive", "e=__import__('os')"), "cannot stand in a formula"),
        (("--derive", "e=exp(m)"), "cannot stand in a formula"),
        (("--name", "sum-{n}.asm"), "no listing"),
    ],
)
def test_sweep_refuses(lpn, tmp_path, arguments, says):
    shutil.copy(NFP / "portcount.asm", tmp_path / "count-1.asm")
    assert says in lpn("nfp", "sweep", tmp_path, *arguments).refused("E-nfp-sweep")


def test_sweep_wants_numbers(lpn, tmp_path):
    shutil.copy(NFP / "portcount.asm", tmp_path / "plain.asm")
    assert "no number" in lpn("nfp", "sweep", tmp_path / "plain.asm").refused("E-nfp-sweep")
    (tmp_path / "deep").mkdir()
    shutil.copy(NFP / "portcount.asm", tmp_path / "a1.asm")
    shutil.copy(NFP / "portcount.asm", tmp_path / "b1.asm")
    assert "both have n=1" in lpn("nfp", "sweep", tmp_path / "a1.asm", tmp_path / "b1.asm").refused(
        "E-nfp-sweep"
    )
