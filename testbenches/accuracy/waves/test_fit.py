"""lpn fit on recorded designs: the JPEG decoder with its numbers forgotten, then images that were not
recorded.
"""

import csv

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


def observed(model, run, input, map, forgotten):
    return observe(
        model, input, str(TRUTH / f"{run}.vcd.xz"), read_map(str(map)), {}, read, forgotten
    )[0]


def fitted(model, given, forgotten):
    fit = Fit([observed(model, run, input, map, forgotten) for run, input, map in given])
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
