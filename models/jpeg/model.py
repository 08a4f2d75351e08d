"""Latency of ultraembedded's core_jpeg, a baseline JPEG decoder in Verilog (commit bb03cce).

    file -> parse -> huffman -> [4 coefficient blocks] -> idct -> [output RAM] -> output -> pixels

A token is one 8x8 block, in the order of the file. Times are clocks; clock 0 takes the file's
first byte. The input is always valid and the output always accepted. `latency` is the number of
clocks up to and including the last pixel of the image (padded to whole MCUs).

Sources: RTL file and register, and in README.md the figures measured on the RTL.
"""

import math
from fractions import Fraction

import lpn
from lpn.runs import decimal


class Header(lpn.Token):
    """What stands in the file before its entropy-coded bytes."""

    size: lpn.Int[1, 2**26]  # bytes
    table_stalls: lpn.Int[0, 2**24]  # empty Huffman code lengths, see parse_cycles
    first_word: lpn.Int[3, 8]  # clocks until the bit buffer holds 32 bits; usually 5


class Block(lpn.Token):
    """8x8 coefficients."""

    symbols: lpn.Int[2, 64]  # Huffman symbols: DC, nonzero AC, ZRL, EOB
    waits: lpn.Int[0, 1023]  # clocks in which the bit buffer runs dry; nearly always 0
    completes: lpn.Int[0, 4]  # 8x8 pixel blocks ready for output with this block: 0, 1 or 4


class Mcu(lpn.Token):
    """An MCU whose last block has left the row transform."""

    pixel_blocks: lpn.Int[1, 4]


class PixelBlock(lpn.Token):
    """8x8 pixels in the output RAM."""

    opens_gate: bool  # with its last pixel the Cr RAM has room again


def net() -> lpn.Net:
    """The decoder. Its parameter `writable_tables` is 0 for the build with the Huffman tables of
    Annex K in logic, 1 for SUPPORT_WRITABLE_DHT=1, which loads them from the file.
    """
    net = lpn.Net("jpeg")
    writable = net.param("writable_tables", 0, range=(0, 1))

    header = net.place("header", Header, start=True)
    bits = net.place("bits", sink=True)  # a token: the bit buffer offers data
    coded = net.place("coded", Block, start=True)
    # jpeg_idct_ram.v: four blocks; the decoder starts a block only when one is free.
    coefficients = net.place("coefficients", Block, capacity=4)
    rows_done = net.place("rows_done", Mcu, drain=True)
    cr_arriving = net.place("cr_arriving", drain=True)
    gate_closed = net.place("gate_closed", drain=True)
    complete = net.place("complete", PixelBlock, drain=True)
    pixels = net.place("pixels", done=True)  # 64 of them per token

    def parse_cycles(hdr):
        # One byte per clock (jpeg_input.v). Loading a writable table holds the input for one clock
        # per code length without codes (jpeg_dht.v, cfg_accept_o). The decoder leaves its idle
        # state one clock after it sees bits (jpeg_mcu_proc.v).
        return hdr.size + writable * hdr.table_stalls + hdr.first_word + 1

    def decode_cycles(blk):
        # Per symbol fetch, look-up (two clocks with writable tables) and output; per block 5:
        # the last fetch, end of block, two dequantiser registers, idle (jpeg_mcu_proc.v,
        # jpeg_dqt.v: inport_blk_space_o).
        return (3 + writable) * blk.symbols + 5 + blk.waits

    net.transition(
        "parse",
        take={"hdr": header},
        put=[bits.emit()],
        delay=parse_cycles,
        servers=1,
    )
    net.transition(
        "huffman",
        take={"bits": bits.peek(1), "blk": coded},
        put=[coefficients.forward("blk")],
        delay=decode_cycles,
        servers=1,
    )
    # Set-up, 64 reads whatever the block holds, idle (jpeg_idct_ram.v). Between here and the
    # output RAM nothing can stall, so the gate is the only back-pressure (jpeg_output.v,
    # inport_accept_o). Only the last block of an MCU matters further on.
    net.transition(
        "idct_rows",
        take={"blk": coefficients, "gate": gate_closed.empty()},
        put=[
            rows_done.emit(
                count=lambda blk: 1 if blk.completes > 0 else 0,
                pixel_blocks=lambda blk: blk.completes,
            ),
            cr_arriving.emit(count=lambda blk: 1 if blk.completes == 4 else 0),
        ],
        delay=66,
        servers=1,
    )
    # The gate closes when the Cr RAM holds more than 128 samples. In 4:2:0 a Cr sample counts
    # four times (jpeg_output_cx_ram.v), so the 33rd of a block closes it. The first is written 89
    # clocks after the set-up; 32 later comes the 33rd, and 2 later no set-up is possible. 66 of
    # these 123 have passed.
    net.transition(
        "fill_cr",
        take={"cr": cr_arriving},
        put=[gate_closed.emit()],
        delay=57,
        servers=1,
    )
    # Row pipeline, transpose RAM (two blocks) and column pipeline: the last sample is written 152
    # clocks after the set-up, and 2 later the output stage is active. 66 of these 154 have passed.
    net.transition(
        "idct_columns",
        take={"mcu": rows_done},
        put=[
            complete.emit(
                count=lambda mcu: mcu.pixel_blocks,
                opens_gate=lambda mcu, i: mcu.pixel_blocks == 4 and i == 1,
            )
        ],
        delay=88,
        servers=2,
    )
    # 64 pixels and a gap (jpeg_output.v, active_q). Two of the four blocks of a 4:2:0 MCU bring
    # the Cr level back to 128.
    net.transition(
        "output",
        take={"blk": complete, "gate": gate_closed.take(lambda blk: blk.opens_gate)},
        put=[pixels.emit()],
        delay=65,
        servers=1,
    )
    return net


def workload(input_path, net: lpn.Net) -> lpn.Marking:
    """The tokens of a .jpg file for `net`, whose `writable_tables` says which build reads it.

    Raises OSError when the file cannot be read and ValueError, with the reason, when that build
    of the core cannot decode it.
    """
    from lpn_models_native import _jpeg  # here, so that the net alone needs no libjpeg

    writable_tables = {**net.params, **net.bound}["writable_tables"]
    with open(input_path, "rb") as file:
        data = file.read(_jpeg.MAX_FILE_BYTES + 1)
    image = _jpeg.read(data, writable_tables != 0)
    marking = lpn.Marking(net)
    marking.add(
        "header",
        size=image.header_bytes,
        table_stalls=image.table_stalls,
        first_word=image.first_word_clocks,
    )
    marking.add_columns(
        "coded", symbols=image.symbols, waits=image.waits, completes=image.completes
    )
    return marking


# The least and the most nonzero AC coefficients that a block with s Huffman symbols can have, from
# s = 2 on. A block has one symbol for DC, one per nonzero AC coefficient, one ZRL per sixteen zeros
# in a row in front of one, and EOB unless the last coefficient is not zero. With n nonzero ones:
#   fewest symbols  n + 2 for n <= 3 (the last coefficient can then be reached over ZRLs only),
#                   n + 1 for n >= 4 (without ZRL up to the last coefficient, no EOB);
#   most symbols    2 for n = 0, else n + 2 + (62 - n) // 16: all zeros but one in front of one.
# Every number between is possible, and both grow with n.
def _nonzero_limits(zrl):
    def fewest(n):
        return n + 2 if n <= 3 else n + 1

    def most(n):
        if n == 0 or not zrl:
            return 64 if n == 63 else n + 2
        return n + 2 + (62 - n) // 16

    per_symbols = [
        [n for n in range(64) if fewest(n) <= symbols <= most(n)] for symbols in range(2, 65)
    ]
    return [n[0] for n in per_symbols], [n[-1] for n in per_symbols]


# The blocks of an MCU: how many 8x8 pixel blocks are ready for output with each.
_COMPLETES = {"420": (0, 0, 0, 0, 0, 4), "444": (0, 0, 1), "grey": (1,)}

# Bounds that `lpn pi` adds to those it is given: an interface is to hold for every picture.
INTERFACE_SPACE = {"sampling": "any"}


def space(
    net: lpn.Net,
    blocks: int = 18,
    compression: float = None,
    nonzero_sum: int = None,
    zrl: bool = True,
    waits: int = 0,
    header: int = 623,
    table_stalls: int = 7,
    first_word: int = 5,
    sampling: str = "420",
) -> lpn.InputSpace:
    """Every picture of so many blocks; in 4:2:0 six per MCU: Y Y Y Y Cb Cr.

    The variables are each block's Huffman symbols. How many of its 63 AC coefficients can be
    nonzero follows from them, exactly (_nonzero_limits).

    blocks: 8x8 blocks, a multiple of those of an MCU: 6, 3 or 1; of 6 for "any".
    compression: percent; at most (1 - compression / 100) * 64 * blocks coefficients are nonzero.
    nonzero_sum: exactly so many AC coefficients are nonzero.
    zrl: 0 leaves out pictures with sixteen zeros in a row in front of a nonzero coefficient, which
        real ones have: a bound proved without them says nothing about those.
    waits: most clocks in which the bit buffer runs dry within a block. 0 is what all but extreme
        qualities need (README.md, "The input"); a bound for them too needs more.
    header: bytes in front of the entropy-coded ones; 623 is libjpeg's with the tables of Annex K.
    table_stalls: clocks of table loading with writable_tables=1; 7 for those tables.
    first_word: clocks until the bit buffer holds 32 bits, 3 to 8.
    sampling: 420, 444 or grey; "any": each of the three.
    """
    sampling = str(sampling)
    if sampling not in (*_COMPLETES, "any"):
        raise ValueError(f"sampling must be {', '.join(_COMPLETES)} or any, got {sampling}")
    mcu = 6 if sampling == "any" else len(_COMPLETES[sampling])
    if not isinstance(blocks, int) or blocks < mcu or blocks % mcu:
        of = "4:2:0" if mcu == 6 else "4:4:4"
        raise ValueError(
            f"blocks must be a multiple of {mcu} ({of} has {mcu} blocks per MCU), got {blocks}"
        )
    if compression is not None and not 0 <= compression <= 100:
        raise ValueError(f"compression is a percentage, 0 to 100, got {compression}")
    if nonzero_sum is not None and not 0 <= nonzero_sum <= 63 * blocks:
        raise ValueError(
            f"nonzero_sum must be 0..{63 * blocks} for {blocks} blocks, got {nonzero_sum}"
        )
    space = lpn.InputSpace(net)
    space.tokens("header", 1, size=header, table_stalls=table_stalls, first_word=first_word)
    if sampling == "any":
        chosen = space.integer("sampling", 0, len(_COMPLETES) - 1)
        patterns = list(_COMPLETES.values())
        completes = lambda i: lpn.lookup([p[i % len(p)] for p in patterns], chosen)
    else:
        completes = lambda i: _COMPLETES[sampling][i % mcu]
    coded = space.tokens(
        "coded",
        blocks,
        symbols=(2, 64),
        waits=(0, waits) if waits else 0,
        completes=completes,
    )
    least, most = _nonzero_limits(zrl)
    fewest = lpn.total(lpn.lookup(least, blk.symbols - 2) for blk in coded)
    if compression is not None:
        # In exact arithmetic: 90.5 percent is 181/200.
        share = 1 - Fraction(str(compression)) / 100
        space.require(fewest <= math.floor(share * 64 * blocks))
    if nonzero_sum is not None:
        space.require(fewest <= nonzero_sum)
        space.require(lpn.total(lpn.lookup(most, blk.symbols - 2) for blk in coded) >= nonzero_sum)
    return space


def truth(row: dict) -> tuple[str, dict, int]:
    """A row of a cycles.csv measured on the RTL: input file, parameters of the net, cycles."""
    return row["file"], {"writable_tables": decimal(row["dht"])}, decimal(row["cycles_total"])
