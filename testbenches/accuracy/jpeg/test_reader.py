"""What the reader tells about a file, against the facts measured with the RTL."""

import time

import pytest
from conftest import DEMO, TRUTH, read_cycles, read_json_lines
from files import flat

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


@pytest.mark.parametrize("row", read_cycles(DEMO / "cycles.csv"), ids=lambda r: r["file"])
def test_image_facts_of_the_demo_images(jpeg, row):
    writable = row["dht"] == "1"
    image = jpeg.read((DEMO / row["file"]).read_bytes(), writable)
    assert (image.width, image.height) == (int(row["width"]), int(row["height"]))
    assert image.sampling == row["subsampling"]
    assert image.header_bytes == int(row["hdr_bytes"])
    assert sum(column(image.symbols)) == int(row["huff_symbols"])
    assert sum(column(image.bits)) == int(row["coded_bits"])
    if row["cycle_scan_start"]:
        start = image.header_bytes + (image.table_stalls if writable else 0)
        assert start == int(row["cycle_scan_start"])


@pytest.mark.parametrize("build", [0, 1])
def test_scan_start_of_every_image(jpeg, truth, build):
    for row in read_cycles(truth / "cycles.csv"):
        if int(row["dht"]) == build:
            image = jpeg.read((truth / "own" / row["file"]).read_bytes(), bool(build))
            assert image.header_bytes == int(row["hdr_bytes"])
            start = image.header_bytes + build * image.table_stalls
            assert start == int(row["cycle_scan_start"]), row["file"]


def test_the_last_block_of_an_mcu_completes_its_pixels(jpeg, demo):
    mono = column(jpeg.read(demo("grad_128x128_q60_mono"), False).completes)
    full = column(jpeg.read(demo("text_256x192_q75_444"), False).completes)
    half = column(jpeg.read(demo("grad_16x16_q90_420"), False).completes)
    assert mono == [1] * 256
    assert full == [0, 0, 1] * (len(full) // 3)
    assert half == [0, 0, 0, 0, 0, 4]


def test_annex_k_tables_stall_seven_clocks_in_colour_and_four_in_grey(jpeg, demo):
    assert jpeg.read(demo("text_256x192_q75_444"), True).table_stalls == 7
    assert jpeg.read(demo("grad_128x128_q60_mono"), True).table_stalls == 4


def test_optimised_tables_keep_the_blocks_and_change_the_header(jpeg, demo):
    plain = jpeg.read(demo("plasma12_512x384_q50_420"), True)
    optimised = jpeg.read(demo("plasma12_512x384_q50_420_opt"), True)
    assert plain.standard_tables and not optimised.standard_tables
    assert column(plain.symbols) == column(optimised.symbols)
    assert sum(column(optimised.bits)) < sum(column(plain.bits))
    assert optimised.header_bytes < plain.header_bytes


def test_stuffed_zeros_in_the_first_word_delay_it(jpeg, demo):
    """The bit buffer offers data with its fourth byte; the zero after FF is not pushed."""
    plain = flat(demo("grad_128x128_q60_mono"), 128, 64)
    assert jpeg.read(plain, False).first_word_clocks == 5
    # DC -1024, category 11: nine bits 111111110, so the scan begins with FF 00.
    black = flat(demo("grad_128x128_q60_mono"), 128, 64, "111111110" + "01111111111")
    assert jpeg.read(black, False).first_word_clocks == 6


def test_scans_of_less_than_a_word_start_with_the_end_marker(jpeg, demo):
    """One block of 6 bits: the bit buffer offers its byte once the end marker was seen."""
    assert jpeg.read(flat(demo("grad_128x128_q60_mono"), 8, 8), False).first_word_clocks == 3


def test_blocks_wait_only_where_symbols_outrun_the_input(jpeg, demo):
    """Quality 100 in black and white: symbols of up to 26 bits, in a row, at 8 bits per clock."""
    data = demo("checker_32x80_q100_444")
    assert sum(column(jpeg.read(data, False).waits)) == 146
    assert sum(column(jpeg.read(data, True).waits)) == 20
    assert sum(column(jpeg.read(demo("text_256x192_q75_444"), False).waits)) == 0


def test_reading_is_fast_enough_for_photographs(jpeg, demo):
    """A few milliseconds for 512x384; the bound is loose because machines are shared."""
    data = demo("plasma12_512x384_q50_420")
    best = min(_timed(jpeg, data) for _ in range(5))
    assert best < 0.05


def _timed(jpeg, data):
    begin = time.perf_counter()
    jpeg.read(data, False)
    return time.perf_counter() - begin
