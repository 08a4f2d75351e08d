"""lpn fit on recorded designs: the JPEG decoder with its numbers forgotten, then images that were not
recorded; the AXI data mover and its memory with the delays of all registers forgotten, then the runs
of truth/axi.
"""

import csv
import os

import pytest
from conftest import JPEG_TRUTH, MAPS, TRUTH, runs

lpn = pytest.importorskip("lpn")

from lpn.authoring.net import parameter_values  # noqa: E402
from lpn.fitting.recorded import observe  # noqa: E402
from lpn.fitting.report import described  # noqa: E402
from lpn.fitting.result import errors, total  # noqa: E402
from lpn.fitting.solve import Fit  # noqa: E402
from lpn.runs import load, prepare  # noqa: E402
from lpn.runs.ready import Ready  # noqa: E402
from lpn.waves.maps import read_map  # noqa: E402

# Those whose output is always accepted, which is what the model is of.
IMAGES = {
    run: row["input"]
    for run, row in runs().items()
    if row["design"] == "core_jpeg" and row["outport_accept_pattern"][0] == row["outport_accept_pattern"][1]
}  # fmt: skip
SHIPPED = {
    "huffman.delay": "3 * blk.symbols + 5",
    "idct_rows.delay": "66",
    "fill_cr.delay": "57",
    "idct_columns.delay": "88",
    "output.delay": "65",
    "coefficients.capacity": "4",
}


def read(recordings, step):
    while step():
        pass
    return False


def observed(model, run, input, map, forgotten, least=0):
    return observe(
        model, input, str(TRUTH / f"{run}.vcd.xz"), read_map(str(map)), {}, read, forgotten, least
    )[0]


def fitted(model, given, forgotten, least=0):
    fit = Fit([observed(model, run, input, map, forgotten, least) for run, input, map in given])
    fit.solve()
    for each in fit.cases:
        compared, exact = total(errors(each.observed, fit.filled(each.net), fit.number_values()))
        assert compared == exact > 0
    return fit


def images():
    """(file, cycles, bytes of header) of every visible image, of the build with fixed tables."""
    path = JPEG_TRUTH / "cycles.csv"
    if not path.exists():
        pytest.skip(f"no truth at {path}")
    with open(path) as file:
        for row in csv.DictReader(file):
            if row["dht"] == "0" and (JPEG_TRUTH / "own" / row["file"]).exists():
                yield row["file"], int(row["cycles_total"]), int(row["hdr_bytes"])


@pytest.mark.parametrize("parse", ["forgotten", "known"])
def test_the_jpeg_decoder_with_every_number_forgotten(parse):
    """All recorded files have the same header, so a delay of the parser that is wholly forgotten is
    a constant, and the report says of which property: exact on all images with that header. The rest
    is exact on all images, with a parser that is known.
    """
    given = [(r, str(JPEG_TRUTH / "own" / i), MAPS["core_jpeg"]) for r, i in IMAGES.items()]
    forgotten = ["*.capacity", *(f"{name}" for name in SHIPPED if name.endswith("delay"))]
    if parse == "forgotten":
        forgotten.append("parse.delay")
    fit = fitted("jpeg", given, forgotten)
    rows = {row["unknown"]: row for row in described(fit, [c.net for c in fit.cases])}
    assert {name: rows[name]["formula"] for name in SHIPPED} == SHIPPED
    assert not any(rows[name]["few"] or rows[name]["undecided"] for name in SHIPPED)
    model = load("jpeg")
    net = fit.filled(fit.cases[0].net)
    if parse == "forgotten":
        assert rows["parse.delay"]["constant"]["hdr.size"] == 623
    checked = 0
    for name, cycles, header in images():
        ready = prepare(model, str(JPEG_TRUTH / "own" / name))
        marking = model.workload(str(JPEG_TRUTH / "own" / name), net)
        values = parameter_values(net, fit.number_values())
        found = Ready(model, net, values, marking, {}, "interp", {}).run().latency
        if rows.get("parse.delay") is not None and header != 623:
            assert found - cycles == 623 - header
        else:
            # Waits of the bit buffer were in no recording; the shipped model adds them.
            waits = sum(row[1] for row in ready.marking.rows("coded"))
            assert found == cycles or waits > 0
            checked += found == cycles
    assert checked >= 40


def copies():
    """Run -> the input of models/dma, of the recordings with verilog-axi's own memory."""
    found = {}
    for run, row in runs().items():
        words = row.get("config") or "axi_ram" * (row.get("what") == "reference A: axi_ram")
        if row["design"] != "axi_cdma" or "axi_ram" not in words:
            continue
        config = {
            "data_width": 64 if "64-bit" in words else 32,
            "max_burst_len": 8 if "burst 8" in words else 16,
            "ram_pipeline_output": int("output register" in words),
        }
        descriptors = [{**d, "addr": d["read_addr"]} for d in row["descriptors"]]
        for d in descriptors:
            del d["read_addr"]
        found[run] = {"design": "axi_cdma", "config": config, "descriptors": descriptors}
    return found


def test_the_data_mover_with_the_delays_of_its_registers_forgotten():
    """20 delays of axi_cdma and axi_ram, at least a clock each; a transition without delay is the
    clock of a handshake, and stays. Six short recordings (in CI three of them), then all runs of the
    truth (in CI every fourth): other lengths, alignments, widths, longest bursts and memories.
    """
    slow = os.environ.get("LPN_SLOW")
    inputs = copies()
    chosen = inputs if slow else ["cdma_1", "cdma_3", "cdma_6"]
    given = [(run, inputs[run], MAPS["axi_cdma"]) for run in chosen if run in inputs]
    fit = fitted("dma", given, ["cdma.*.delay", "memory.*.delay"], 1)
    assert len(fit.found) == 20
    model = load("dma")
    path = JPEG_TRUTH.parent / "axi" / "axi_cdma.jsonl.gz"
    if not path.exists():
        pytest.skip(f"no truth at {path}")
    checked = 0
    for number, (run, _, _, expected) in enumerate(model.module.truth_rows(str(path))):
        if not run.get("completed", True) or not slow and number % 4:
            continue
        net = fit.filled(prepare(model, run).net)
        values = parameter_values(net, None)
        ready = Ready(model, net, values, run, {}, "interp", {})
        result, about = model.module.compare(ready, expected)
        assert not result.stalled and about["times"] == about["times_exact"], str(run)
        checked += 1
    assert checked == (65 if slow else checked) and checked > 12
