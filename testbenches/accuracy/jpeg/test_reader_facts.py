"""What the reader tells about a file, against the facts measured with the RTL."""

import pytest
from conftest import TRUTH, read_cycles, read_json_lines

COMPONENT = {"Y": 0, "Cb": 1, "Cr": 2}


def column(values):
    return memoryview(values).tolist()


def images(folder, cycles):
    names = sorted({row["file"] for row in read_cycles(cycles)}) if cycles.exists() else []
    return [name for name in names if (folder / name).exists()]


@pytest.mark.parametrize("name", images(TRUTH / "own", TRUTH / "cycles.csv"))
def test_block_facts_equal_the_measured_ones(jpeg, truth, name):
    image = jpeg.read((truth / "own" / name).read_bytes(), False)
    blocks = read_json_lines(truth / "blocks" / (name[:-4] + ".jsonl.gz"))
    assert column(image.component) == [COMPONENT[block["c"]] for block in blocks]
    assert column(image.symbols) == [block["sym"] for block in blocks]
    assert column(image.nonzero) == [block["nnz"] for block in blocks]
    assert column(image.bits) == [block["bits"] for block in blocks]


def test_block_facts_need_the_measured_ones(truth):
    """Shows as skipped, with the reason, where the figures are absent."""


@pytest.mark.parametrize("build", [0, 1])
def test_scan_start_of_every_image(jpeg, truth, build):
    for row in read_cycles(truth / "cycles.csv"):
        if int(row["dht"]) == build:
            image = jpeg.read((truth / "own" / row["file"]).read_bytes(), bool(build))
            assert image.header_bytes == int(row["hdr_bytes"])
            start = image.header_bytes + build * image.table_stalls
            assert start == int(row["cycle_scan_start"]), row["file"]
