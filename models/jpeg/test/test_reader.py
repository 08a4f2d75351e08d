"""What the reader tells about a file: the demo images' measured facts, and small ones by hand."""

import csv
import time

import pytest
from conftest import DEMO
from files import flat


def column(values):
    return memoryview(values).tolist()


def measured():
    with open(DEMO / "cycles.csv", newline="") as lines:
        return list(csv.DictReader(lines))


@pytest.mark.parametrize("row", measured(), ids=lambda r: r["file"])
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
    """A few milliseconds for 512x384; the bound is loose because machines are shared and slow."""
    data = demo("plasma12_512x384_q50_420")
    best = min(_timed(jpeg, data) for _ in range(5))
    assert best < 1


def _timed(jpeg, data):
    begin = time.perf_counter()
    jpeg.read(data, False)
    return time.perf_counter() - begin
