"""What the net of the reference (testbenches/ltc/vta.py) cannot say, beside RTL and this model."""

import gzip
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from _truth import REPO, TRUTH, need  # noqa: E402

sys.path.insert(0, str(REPO / "testbenches" / "ltc"))

lpn = pytest.importorskip("lpn")
ltc = pytest.importorskip("vta")
Code = ltc.Code

KINDS = {
    "inp": (Code.LOAD, Code.LOAD, Code.INP),
    "wgt": (Code.LOAD, Code.LOAD, Code.WGT),
    "lsync": (Code.LOAD, Code.SYNC, Code.EMPTY),
    "uop": (Code.COMPUTE, Code.LOADUOP, Code.EMPTY),
    "acc": (Code.COMPUTE, Code.LOADACC, Code.EMPTY),
    "gemm": (Code.COMPUTE, Code.GEMM, Code.EMPTY),
    "alu": (Code.COMPUTE, Code.ALU, Code.EMPTY),
    "csync": (Code.COMPUTE, Code.SYNC, Code.EMPTY),
    "fin": (Code.COMPUTE, Code.SYNC, Code.EMPTY),
    "out": (Code.STORE, Code.STORE, Code.EMPTY),
    "ssync": (Code.STORE, Code.SYNC, Code.EMPTY),
}
FIELDS = ("x", "y", "ub", "ue", "lp1", "lp0", "useimm")
FLAGS = ("pop_prev", "pop_next", "push_prev", "push_next")


@pytest.fixture(scope="module")
def runs():
    """{name: [(read latency, decoded instructions, clocks on the RTL)]} where L is A."""
    found = {}
    with gzip.open(need(TRUTH / "vta" / "programs.jsonl.gz"), "rt") as file:
        for row in map(json.loads, file):
            if row["read_latency"] == row["write_ack_latency"]:
                found.setdefault(row["name"], []).append(
                    (row["read_latency"], row["insns"], row["total_cycles"])
                )
    return found


def reference(insns):
    net = ltc.net()
    marking = lpn.Marking(net)
    marking.add("launch", total_insn=len(insns))
    marking.add_rows(
        "program",
        [(*KINDS[one["k"]], *(one.get(name, 0) for name in FIELDS + FLAGS)) for one in insns],
    )
    run = lpn.simulate(net, marking, engine="interp")
    assert not run.stalled
    return run.latency


@pytest.fixture(scope="module")
def clocks(tmp_path_factory):
    """This model's clocks of decoded instructions."""
    model = lpn.load("vta")
    net = model.net()
    path = tmp_path_factory.mktemp("programs") / "program.json"

    def run(insns, latency):
        path.write_text(json.dumps(insns))
        params = {"read_latency": latency, "write_ack_latency": latency}
        return lpn.simulate(net, model.workload(str(path), net), params, engine="interp").latency

    return run


def test_memory_has_one_latency_there(runs, clocks):
    """Its own example takes 137,979 to 157,331 clocks, as far as memory is away."""
    measured = {latency: (insns, took) for latency, insns, took in runs["REF_insns"]}
    assert len(measured) >= 5
    answers = {reference(insns) for insns, _ in measured.values()}
    assert len(answers) == 1
    took = [cycles for _, cycles in measured.values()]
    assert max(took) > 1.13 * answers.pop()
    assert [clocks(insns, latency) for latency, (insns, _) in measured.items()] == took


def test_a_store_is_no_fraction_of_a_cycle(runs, clocks):
    """27 clocks for 8 elements, and so 3 for one; the RTL waits for the acknowledgement of each."""
    for latency, insns, took in runs["A_out_x1_y1"]:
        store = [one for one in insns if one["k"] == "out"]
        assert [ltc.store_cycles(_Sizes(**one)) for one in store] == [3]
        assert clocks(insns, latency) == took > reference(insns)


class _Sizes:
    def __init__(self, x, y=1, **_):
        self.xsize, self.ysize = x, y


def test_reads_share_one_port(runs, clocks):
    """Units that load at once wait for each other in the RTL, and not there."""
    worst = 0
    for name in (name for name in runs if name.startswith("R_rand")):
        for latency, insns, took in runs[name]:
            assert clocks(insns, latency) == took
            if latency == 20:
                worst = max(worst, abs(reference(insns) - took) / took)
    assert worst > 0.1


def test_zeros_around_a_tensor_take_time(runs, clocks):
    """More zeros than the data hides take a clock each; the reference's tokens have none."""
    ((latency, insns, took), *_) = runs["A3_inp_pad_x4_y4"]
    assert clocks(insns, latency) == took
    (load, *others) = insns
    wide = [{**load, "yp0": 15, "yp1": 15, "xp0": 15, "xp1": 15}, *others]
    assert reference(wide) == reference(insns)
    assert clocks(wide, latency) > 3 * took
