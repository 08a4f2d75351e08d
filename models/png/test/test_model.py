"""Clocks worked out by hand, the demo images, and files that are refused."""

import csv
import random
import re
import zlib

import pytest
from conftest import REPO
from files import SIGNATURE, Bits, chunk, compress, header, png

lpn = pytest.importorskip("lpn")
DEMO = REPO / "models" / "png" / "demo"
FIRST_BIT = 43  # offset of the deflate stream in a file of one IDAT: 8 + 25 + 8 + 2
GREY = compress(bytes(4 * 3), strategy=zlib.Z_FIXED)


@pytest.fixture
def run(tmp_path):
    """run(file) -> the Run of a file's bytes."""
    from lpn.runs import prepare

    model = lpn.load("png")
    net = model.net()

    def of(data):
        path = tmp_path / "image.png"
        path.write_bytes(data)
        ready = prepare(net, model.workload(path, net), engine="interp")
        done = ready.run(collect=["rows", "blocks"])
        assert not done.stalled
        return done

    return of


def fixed(last=1):
    """A fixed block's header."""
    return Bits().put(last, 1).put(1, 2)


def zero_literal(bits):
    return bits.huffman(0x30, 8)


def end(bits):
    return bits.huffman(0, 7)


def test_literals(run):
    stream = end(zero_literal(zero_literal(fixed()))).zlib()
    done = run(png(1, 1, stream))
    # Header 3; two literals of 8 + 1; 4 registers. Then the end: 7 + 1.
    assert done.latency == FIRST_BIT + 3 + 9 + 9 + 4
    assert list(done.collected["blocks"][1]) == [FIRST_BIT + 3 + 9 + 9 + 8]


def test_rows_end_within_a_copy(run):
    bits = zero_literal(fixed())
    bits.huffman(9, 7).put(0, 1).huffman(0, 5)  # length 11, distance 1
    done = run(png(3, 3, end(bits).zlib()))
    copy = FIRST_BIT + 3 + 9 + 7 + 1 + 1 + 5 + 1 + 1
    # The bytes 4, 8 and 12 are the copy's 3rd, 7th and 11th.
    assert list(done.collected["rows"][1]) == [copy + k + 5 for k in (3, 7, 11)]
    assert done.latency == copy + 11 + 5
    assert list(done.collected["blocks"][1]) == [copy + 11 + 1 + 8]


def test_bits_of_a_new_chunk_come_after_12_bytes(run):
    whole, cut = png(3, 3, GREY), png(3, 3, GREY, sizes=[3])
    # 5 bits of the first literal lie in byte 0, whose bit 0 is taken in clock 43; the next byte is
    # taken 13 clocks later instead of 8.
    assert run(cut).latency == run(whole).latency + 5
    # An empty chunk is 12 bytes more.
    assert run(png(3, 3, GREY, sizes=[3, 0])).latency == run(whole).latency + 17
    # Before the first byte, all bytes count.
    assert run(png(3, 3, GREY, sizes=[1])).latency == run(whole).latency + 12
    assert run(png(3, 3, GREY, before=chunk(b"tEXt", b"a"))).latency == run(whole).latency + 13
    # A chunk with the checksum alone, or with half of it, changes nothing.
    for rest in range(1, 5):
        assert run(png(3, 3, GREY, sizes=[len(GREY) - rest])).latency == run(whole).latency


def test_a_dynamic_block(run):
    bits = Bits().put(1, 1).put(2, 2).put(0, 5).put(0, 5).put(14, 4)
    # Code lengths: 18 has 2 bits, 1 has 1 bit and 0 has 2 bits, in the order 16 17 18 0 ... 1.
    for length in [0, 0, 2, 2] + [0] * 13 + [1]:
        bits.put(length, 3)
    bits.huffman(0, 1)  # literal 0: 1 bit
    bits.huffman(3, 2).put(138 - 11, 7).huffman(3, 2).put(117 - 11, 7)  # none from 1 to 255
    bits.huffman(0, 1)  # end of block: 1 bit
    bits.huffman(2, 2)  # no distance
    for _ in range(4):
        bits.huffman(0, 1)
    done = run(png(1, 2, bits.huffman(1, 1).zlib()))
    tables = 17 + 3 * 18 + 1
    length_tree = 48 + 2 + 2 + 1 + 16
    lengths = 2 + 2 * (3 + 7 + 1) + 138 + 117 + 2 + 3
    fill = 289 - 258 + 2
    trees = 594 + 288
    assert done.latency == FIRST_BIT + tables + length_tree + lengths + fill + trees + 4 * 2 + 4


def test_checksums_and_bytes_behind_the_end_change_nothing(run):
    data = png(3, 3, GREY)
    clocks = run(data).latency
    assert run(data + b"more").latency == clocks
    spoilt = bytearray(data)
    spoilt[29:33] = b"oops"  # CRC of IHDR
    spoilt[-17:-12] = b"oops!"  # Adler-32 in part and CRC of IDAT
    assert run(bytes(spoilt)).latency == clocks


def test_demo(run):
    with open(DEMO / "cycles.csv", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 6
    for row in rows:
        assert run((DEMO / row["file"]).read_bytes()).latency == int(row["cycles_total"])


EIGHT = "save the image with 8 bits"
DAMAGED = "the compressed data is damaged: "
HEAD = SIGNATURE + header(3, 3)
TWELVE = compress(bytes(12))


def only(bits):
    """A file of 3 x 3 grey pixels with these bits as its stream."""
    return png(3, 3, bits.zlib())


REFUSED = [
    (b"", "this is no PNG file: it does not begin with the signature of PNG"),
    (b"GIF89a", "this is no PNG file: it does not begin with the signature of PNG"),
    (png(3, 3, GREY)[:-13], "the file is truncated: it ends before the chunk IEND"),
    (
        SIGNATURE + chunk(b"IEND"),
        "the file is damaged: the first chunk is not IHDR with 13 bytes",
    ),
    (
        HEAD + header(3, 3) + chunk(b"IDAT", GREY) + chunk(b"IEND"),
        "the file is damaged: it has a second IHDR",
    ),
    (HEAD + chunk(b"IEND"), "the file has no image data (IDAT)"),
    (png(0, 3, GREY), "the file is damaged: an image of 0 x 3 pixels"),
    (png(3, 3, GREY, colour=5), "the file is damaged: there is no colour type 5"),
    (
        png(3, 3, GREY, depth=16),
        "bit depth 16: the core decodes 8 bits per sample only and swallows the file without a "
        "pixel; " + EIGHT,
    ),
    (
        png(3, 3, GREY, interlaced=1),
        "interlaced: the core swallows the file without a pixel; save it without interlacing",
    ),
    (
        png(4096, 1, GREY, colour=6),
        "rows of 4096 pixels, 16384 bytes: the core takes at most 16383 bytes and swallows the "
        "file without a pixel; use a narrower image",
    ),
    (png(3, 2**24 + 1, GREY), "16777217 rows; more than 16777216 are not read"),
    (
        SIGNATURE + header(3, 3, 3) + chunk(b"IDAT", GREY) + chunk(b"IEND"),
        "a palette image without a palette (PLTE) before its data",
    ),
    (png(3, 3, b"\x78"), "the compressed data ends too early"),
    (
        png(3, 3, b"\x79\x9c" + GREY[2:]),
        "the image data is no zlib stream as PNG has it (method 8, no dictionary)",
    ),
    (
        png(3, 3, compress(bytes(12), level=0)),
        "a stored deflate block, which the core decodes as garbage: compress the image data with "
        "fixed or dynamic codes only",
    ),
    (only(Bits().put(1, 1).put(3, 2)), DAMAGED + "a deflate block of type 3"),
    (only(Bits().put(5, 3).put(30, 5).put(0, 9)), DAMAGED + "too many codes in a block"),
    (
        only(Bits().put(5, 3).put(0, 14).put(1, 3).put(0, 9)),
        DAMAGED + "no complete code of code lengths",
    ),
    (only(fixed().huffman(0xC6, 8)), DAMAGED + "no such length"),
    (only(zero_literal(fixed()).huffman(1, 7).huffman(30, 5)), DAMAGED + "no such distance"),
    (
        only(zero_literal(fixed()).huffman(1, 7).huffman(1, 5)),
        DAMAGED + "a distance before its beginning",
    ),
    (png(3, 3, TWELVE[:4]), "the compressed data ends too early"),
    (
        png(3, 4, GREY),
        "the compressed data has 12 bytes and the image 16; the core never ends",
    ),
    (
        png(3, 2, GREY),
        "the compressed data has more than the 2 rows of the image; the core does not stop at the "
        "last row",
    ),
    (
        png(3, 3, compress(bytes(13), strategy=zlib.Z_FIXED)),
        "the compressed data has 13 bytes and the image 12; the core does not stop at the last row",
    ),
]


@pytest.mark.parametrize("data, text", REFUSED, ids=range(len(REFUSED)))
def test_refused(run, data, text):
    with pytest.raises(ValueError, match="^" + re.escape(text) + "$"):
        run(data)


def test_a_damaged_file_is_refused_or_read(run):
    """Never any other exception."""
    rng = random.Random(5)
    data = (DEMO / "tiles_64x48_palette.png").read_bytes()
    for size in range(0, len(data), 7):
        with pytest.raises(ValueError):
            run(data[:size])
    refused = 0
    for _ in range(200):
        spoilt = bytearray(data)
        spoilt[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        try:
            run(bytes(spoilt))
        except ValueError:
            refused += 1
    assert 0 < refused < 200
