"""Files that the core cannot decode, or gets wrong, are refused with the reason.

Each text says what is wrong, why the core cannot take it, and what to do instead; it is matched
in full. Every case was checked against the RTL where the RTL can be asked.
"""

import random
import re

import pytest
from files import edit, flat, insert, join, set_size, split

BASELINE = (
    "; the core decodes baseline (SOF0) only: re-encode it as baseline (jpegtran without "
    "-progressive and -arithmetic, cjpeg -baseline)"
)
STRIP = ": strip the metadata (jpegtran -copy none)"
LOW_BYTE = (
    "the core follows segment lengths by their low byte only, and for this file that makes it "
)
LOW_BYTE_ADVICE = STRIP + " or write one table per segment"


@pytest.fixture
def mono(demo):
    return demo("grad_128x128_q60_mono")


@pytest.fixture
def full(demo):
    return demo("plasma14_48x64_q97_444")


@pytest.fixture
def half(demo):
    return demo("grad_16x16_q90_420")


@pytest.fixture
def refuses(jpeg):
    def check(data, text, builds=(False, True)):
        for writable in builds:
            with pytest.raises(ValueError, match="^" + re.escape(text) + "$") as caught:
                jpeg.read(data, writable)
            assert type(caught.value).__name__ == "Refused"

    return check


def change(marker, offset, value, occurrence=0):
    def apply(payload):
        payload[offset] = value

    return lambda data: edit(data, marker, apply, occurrence)


def remark(data, marker, other):
    """The file with a segment under another marker."""
    segments, scan, tail = split(data)
    for part in segments:
        if part[0] == marker:
            part[0] = other
    return join(segments, scan, tail)


# --- not an image, or not a whole one -------------------------------------------------------------


def test_empty_file(refuses):
    refuses(b"", "the file is empty; give a baseline JPEG")


@pytest.mark.parametrize("data", [b"hello, text\n", b"\x89PNG\r\n\x1a\n", b"\xff", bytes(9)])
def test_not_a_jpeg(refuses, data):
    refuses(
        data,
        "not a JPEG: it does not begin with the start-of-image marker FF D8; give a baseline JPEG",
    )


def test_every_cut_is_refused(jpeg, half):
    for size in range(len(half)):
        with pytest.raises(jpeg.Refused):
            jpeg.read(half[:size], False)


@pytest.mark.parametrize("kept", [2, 3, 30, 200, 622, 640, 676])
def test_truncated(refuses, half, kept):
    refuses(
        half[:kept],
        f"truncated: the file ends after {kept} bytes without an end-of-image marker; the core "
        "would wait for input for ever. Fetch or write the file again",
    )


def test_cut_in_the_scan_but_with_an_end_marker(refuses, half):
    segments, scan, tail = split(half)
    refuses(
        join(segments, scan[: len(scan) // 2], tail),
        'truncated or corrupt: libjpeg says "Corrupt JPEG data: premature end of data segment"; '
        "the core has no error recovery: fetch or write the file again",
    )


def test_scan_too_short_for_the_blocks(refuses, half):
    refuses(
        set_size(half, 640, 480),
        "truncated: 52 bytes of image data cannot hold 7200 blocks; the core would wait for "
        "input for ever. Fetch or write the file again",
    )


def test_scan_without_data(refuses, half):
    segments, _, tail = split(half)
    refuses(
        join(segments, b"", tail),
        "truncated: the scan holds no image data; fetch or write the file again",
    )


def test_no_scan(refuses):
    refuses(
        b"\xff\xd8\xff\xd9",
        "the file has no image data: it ends before a scan begins; give a complete baseline JPEG",
    )


def test_more_image_data_than_blocks(jpeg, half):
    segments, scan, tail = split(half)
    with pytest.raises(jpeg.Refused):
        jpeg.read(join(segments, scan + b"\x12\x34", tail), False)


def test_file_too_large(jpeg, refuses):
    refuses(
        bytes(jpeg.MAX_FILE_BYTES + 1),
        "the file has more than 67108864 bytes, the most that this reader takes: scale the image "
        "down",
    )


def test_too_many_blocks(refuses, half):
    refuses(
        set_size(half, 65488, 65488),
        "the image has 100515894 blocks of 8x8; this reader takes up to 2097152: scale it down",
    )


# --- other kinds of JPEG --------------------------------------------------------------------------


def test_progressive(jpeg, refuses, half):
    refuses(jpeg.transcode(half, progressive=True), "progressive JPEG (SOF2)" + BASELINE)


def test_arithmetic(jpeg, refuses, half):
    try:
        data = jpeg.transcode(half, arithmetic=True)
    except jpeg.Refused:
        data = remark(half, 0xC0, 0xC9)
    refuses(data, "arithmetic-coded JPEG" + BASELINE)


def test_extended_sequential(refuses, half):
    refuses(
        remark(half, 0xC0, 0xC1),
        "extended sequential JPEG (SOF1, 12-bit samples or more than two Huffman tables per kind)"
        + BASELINE,
    )


@pytest.mark.parametrize("marker", [0xC3, 0xC5, 0xC6, 0xC7])
def test_lossless_or_hierarchical(refuses, half, marker):
    refuses(remark(half, 0xC0, marker), "lossless or hierarchical JPEG" + BASELINE)


def test_twelve_bits(refuses, half):
    refuses(
        change(0xC0, 0, 12)(half),
        "12-bit samples; the core decodes 8 bits only: convert the image to 8 bits per sample",
    )


def test_restart_markers(jpeg, refuses, full):
    refuses(
        jpeg.transcode(full, restart_mcus=4),
        "restart markers in the scan; the core would decode them as image data: rewrite the file "
        "with jpegtran -restart 0",
    )


def test_restart_interval_without_markers_is_harmless(jpeg, half):
    """The core skips DRI; with one MCU no restart marker follows."""
    assert jpeg.read(insert(half, 0xDD, b"\x00\x04"), False).header_bytes == 629


def test_several_scans(refuses, full):
    segments, scan, tail = split(full)
    segments[-1] = [0xDA, b"\x01\x01\x00\x00\x3f\x00"]
    refuses(
        join(segments, scan, tail),
        "the components come in several scans (not interleaved); the core takes one scan with "
        "all components: rewrite the file with jpegtran",
    )


def test_a_second_scan(refuses, full):
    segments, scan, tail = split(full)
    again = join([segments[-1]], scan, tail)[2:]
    refuses(
        join(segments, scan, again),
        "more than one scan; the core takes one scan with all components: rewrite the file with "
        "jpegtran",
    )


def test_height_defined_later(refuses, half):
    refuses(
        set_size(half, 16, 0),
        "the image height is 0 (to be defined later by a DNL marker); the core does not know DNL: "
        "re-encode the image",
    )


def test_dnl_marker(refuses, half):
    segments, scan, tail = split(half)
    refuses(
        join(segments, scan, b"\xff\xdc\x00\x04\x00\x10" + tail),
        "a DNL marker after the scan; the core does not know it: re-encode the image",
    )


# --- images that the core does not know -----------------------------------------------------------


@pytest.mark.parametrize(
    "factors, text", [(0x21, "2x1,1x1,1x1"), (0x12, "1x2,1x1,1x1"), (0x41, "4x1,1x1,1x1")]
)
def test_other_sampling(refuses, full, factors, text):
    refuses(
        change(0xC0, 7, factors)(full),
        f"sampling factors {text}; the core knows grey, 4:4:4 (1x1,1x1,1x1) and 4:2:0 "
        "(2x2,1x1,1x1): re-encode with cjpeg -sample 2x2 or -sample 1x1",
    )


def test_four_components(refuses, full):
    def frame(payload):
        payload[5] = 4
        payload += bytes([4, 0x11, 0])

    def scan(payload):
        payload[0] = 4
        payload[7:7] = bytes([4, 0x00])

    refuses(
        edit(edit(full, 0xC0, frame), 0xDA, scan),
        "4 colour components (CMYK, YCCK or other); the core decodes one (grey) or three (YCbCr): "
        "convert the image to RGB and save it again",
    )


def test_odd_block_count_in_420(refuses, half):
    refuses(
        set_size(half, 40, 16),
        "4:2:0 and 40 pixels wide: 5 blocks of 8, an odd number, with which the core loses its "
        "place in every row: pad or crop the width to a multiple of 16, or use 4:4:4",
    )


@pytest.mark.parametrize("width", [9, 15, 16])
def test_even_block_count_in_420(jpeg, half, width):
    assert jpeg.read(set_size(half, width, 16), False).width == width


LOST_ROWS = (
    "the last rows take at most 64 bits, so the core has seen the end of the file before it "
    "decodes them and loses them: use a larger or less uniform image"
)


def test_small_flat_image_loses_rows(refuses, mono, full, half):
    refuses(flat(full, 16, 16), LOST_ROWS)
    refuses(flat(mono, 80, 16), LOST_ROWS)
    # 4:2:0 looks at the start of the last Cr block: 4 bits of its own and two more MCUs of 32.
    refuses(flat(half, 16, 32), LOST_ROWS)


def test_larger_flat_image_keeps_its_rows(jpeg, mono, full, half):
    assert jpeg.read(flat(mono, 88, 16), False).height == 16
    assert jpeg.read(flat(full, 40, 16), False).height == 16
    assert jpeg.read(flat(half, 32, 32), False).height == 32


# --- segments that the core misreads --------------------------------------------------------------


@pytest.mark.parametrize("length", [256, 257])
def test_comment_length_with_low_byte_0_or_1(refuses, half, length):
    """The core then skips 65 534 or 65 535 bytes."""
    refuses(
        insert(half, 0xFE, bytes(length - 2)),
        LOW_BYTE
        + f"miss the quantisation table segment (DQT) at byte {length + 26}"
        + LOW_BYTE_ADVICE,
    )


@pytest.mark.parametrize("length", [2, 3, 255, 258, 1000, 65535])
def test_comment_whose_misread_length_is_harmless(jpeg, half, length):
    """The rest of the payload holds no marker, so the core finds the next segment."""
    assert jpeg.read(insert(half, 0xFE, bytes(length - 2)), False).header_bytes == 625 + length


def test_thumbnail_in_a_long_application_segment(refuses, half):
    data = insert(half, 0xE1, bytes(300) + half[:-2])
    for writable, found in [
        (False, "919 for a scan header (SOS)"),
        (True, "487 for a Huffman table segment (DHT)"),
    ]:
        refuses(
            data,
            LOW_BYTE
            + f"take bytes at {found} (a thumbnail in an application segment?)"
            + LOW_BYTE_ADVICE,
            builds=[writable],
        )


@pytest.mark.parametrize(
    "lookalike", [b"\xff\xdb\x00\x05\x00\x01\x02", b"\xff\xc0\x00\x07\x08\x00\x10\x00\x10"]
)
def test_what_the_file_replaces_later_is_harmless(jpeg, refuses, half, lookalike):
    """A table or frame "found" in a long comment before the file's own."""
    payload = bytes(300) + lookalike + bytes(100)
    assert jpeg.read(insert(half, 0xFE, payload), False).width == 16
    with pytest.raises(jpeg.Refused):
        jpeg.read(insert(half, 0xFE, payload, before=0xDA), False)


def test_end_marker_inside_a_segment(refuses, half):
    refuses(
        insert(half, 0xFE, b"ab\xff\xd9cd"),
        "the bytes FF D9 inside a segment (byte 8, a thumbnail's end?), which the core takes for "
        "the end of the image" + STRIP,
    )


def test_frame_marker_inside_a_later_segment(refuses, half):
    refuses(
        insert(half, 0xFE, b"ab\xff\xc0cd", before=0xDA),
        "the bytes FF C0 behind the frame header (byte 615), which make the core forget the "
        "image's size and sampling" + STRIP,
    )


def test_frame_marker_inside_an_earlier_segment_is_harmless(jpeg, half):
    assert jpeg.read(insert(half, 0xFE, b"ab\xff\xc0cd"), False).header_bytes == 633


def test_two_images_in_one_file(refuses, half):
    refuses(
        half + half,
        "another image follows in the same file (byte 677); its start marker makes the core drop "
        "the first while it is still being decoded: keep one image per file",
    )


def test_zeros_behind_the_image_are_harmless(jpeg, half):
    assert jpeg.read(half + bytes(1000), False).header_bytes == 623


# --- tables ---------------------------------------------------------------------------------------

CUSTOM = (
    "Huffman tables of its own (an optimised file); the build with fixed tables has only those of "
    "the standard's Annex K: use the build with writable tables (writable_tables=1), or re-encode "
    "without optimisation"
)


def test_optimised_tables_need_the_writable_build(jpeg, refuses, demo):
    data = demo("text_256x192_q75_444_opt")
    refuses(data, CUSTOM, builds=[False])
    assert not jpeg.read(data, True).standard_tables


def rename_tables(data, slots):
    """The file with its Huffman tables in other slots, and a scan header that says so."""
    segments, scan, tail = split(data)
    for part in segments:
        if part[0] == 0xC4:
            payload = bytearray(part[1])
            payload[0] = slots[payload[0]]
            part[1] = bytes(payload)
        if part[0] == 0xDA:
            payload = bytearray(part[1])
            for c in range(payload[0]):
                dc, ac = payload[2 + 2 * c] >> 4, payload[2 + 2 * c] & 15
                payload[2 + 2 * c] = slots[dc] << 4 | slots[0x10 | ac] & 15
            part[1] = bytes(payload)
    return join(segments, scan, tail)


def test_the_core_picks_tables_by_component_not_by_the_scan_header(jpeg, refuses, mono):
    data = rename_tables(mono, {0x00: 0x01, 0x10: 0x11})
    refuses(
        data,
        "component 0 is coded with DC table 1, but the core with writable tables takes table 0, "
        "which the file does not define: rewrite the file with jpegtran -optimize",
        builds=[True],
    )
    assert jpeg.read(data, False).standard_tables


def test_table_slot_that_the_core_lacks(jpeg, refuses, mono):
    data = rename_tables(mono, {0x00: 0x02, 0x10: 0x12})
    refuses(
        data,
        "Huffman table slot 2; the core with writable tables has slots 0 and 1, and loads any "
        "other over the chroma AC table: re-encode the image",
        builds=[True],
    )
    assert jpeg.read(data, False).standard_tables


def test_table_defined_twice(jpeg, refuses, mono):
    segments, _, _ = split(mono)
    first = next(payload for marker, payload in segments if marker == 0xC4)
    data = insert(mono, 0xC4, first)
    refuses(
        data,
        "a Huffman table is defined twice; the core with writable tables mixes the two: rewrite "
        "the file with jpegtran",
        builds=[True],
    )
    assert jpeg.read(data, False).standard_tables


def merge(data, marker):
    """The file with all segments of one kind in one."""
    segments, scan, tail = split(data)
    payload = b"".join(p for m, p in segments if m == marker)
    first = next(k for k, s in enumerate(segments) if s[0] == marker)
    kept = [s for s in segments if s[0] != marker]
    kept.insert(first, [marker, payload])
    return join(kept, scan, tail)


def test_all_huffman_tables_in_one_long_segment(jpeg, refuses, half):
    """420 bytes: the fixed build ignores the contents and finds the next marker."""
    data = merge(half, 0xC4)
    refuses(
        data,
        LOW_BYTE
        + "read 160 of the 416 bytes of the Huffman table segment (DHT) at byte 181"
        + LOW_BYTE_ADVICE,
        builds=[True],
    )
    assert jpeg.read(data, False).header_bytes == 611


def test_two_quantisation_tables_in_one_segment_are_noted(jpeg, half):
    image = jpeg.read(merge(half, 0xDB), False)
    assert image.notes == [
        "two quantisation tables share a segment; the core loads both into the first, so its "
        "pixels are wrong, its timing is not"
    ]


def test_sixteen_bit_quantisation(refuses, half):
    refuses(
        change(0xDB, 0, 0x10)(half),
        "16-bit quantisation table; the core loads 8-bit tables only: re-encode with cjpeg "
        "-baseline",
    )


def test_empty_huffman_table(refuses, half):
    refuses(
        insert(half, 0xC4, bytes(17)),
        "corrupt: a Huffman table (DHT) with 0 symbols where 0 bytes are left of its segment (1 "
        "to 256 are legal); re-encode the image",
    )


def test_symbol_outside_baseline(refuses, half):
    refuses(
        edit(half, 0xC4, lambda payload: payload[:-1] + b"\x50", occurrence=1),
        "a Huffman table with symbol 80, which baseline JPEG does not have: re-encode the image",
    )


# --- hostile files --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["grad_16x16_q90_420", "plasma14_48x64_q97_444"])
def test_damaged_files_are_read_or_refused(jpeg, demo, name):
    """Never a crash, whatever the bytes; a run of 10^6 is easily had with another range."""
    original = demo(name)
    rng = random.Random(2026)
    refused = 0
    for _ in range(2000):
        data = bytearray(original)
        for _ in range(rng.randrange(1, 6)):
            at = rng.randrange(len(data) if rng.random() < 0.3 else 700) % len(data)
            kind = rng.randrange(3)
            if kind == 0:
                data[at] = rng.randrange(256)
            elif kind == 1:
                del data[at : at + rng.randrange(1, 9)]
            else:
                data[at:at] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 9)))
        for writable in (False, True):
            try:
                image = jpeg.read(bytes(data), writable)
                assert len(image.symbols) == len(image.completes)
            except jpeg.Refused:
                refused += 1
    assert refused > 1000
