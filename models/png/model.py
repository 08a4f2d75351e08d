"""Clocks of WangXuan95's FPGA-PNG-decoder, hard_png in Verilog (commit 0efeca9).

    chunks -> parse -> offered -> tables, build_length_tree, build_trees, symbols
                 ^                                                          |
                 +------------------------- taken --------------------------+-> unfilter -> rows

A token is a step of the inflate state machine: a piece of the stream in which it does not wait, at
most one row (inflate.py). Times are clocks; clock 0 takes the file's first byte. The input is
always valid; the pixel port has no ready. `latency` counts clocks up to and including the last
pixel. Sources: states and signals of RTL/*.v; they agree with ../shared/truth/png/RTL_FACTS.md.
"""

import lpn
from lpn.runs import decimal

from . import chunks, inflate


class Chunk(lpn.Token):
    """Bytes of the deflate stream that lie together in the file."""

    skipped: lpn.Int[0, 2**26]  # bytes that the parser reads before: chunk headers, CRCs, others


class Step(lpn.Token):
    """What the state machine does without waiting for the parser."""

    phase: inflate.Phase
    bits: lpn.Int[0, 2**29]  # taken from the serialiser, 1 per clock
    codes: lpn.Int[0, 2**29]  # Huffman codes completed: a clock each in which the symbol is seen
    moves: lpn.Int[0, 2**34]  # clocks that fill a table, walk a tree to build it, or copy
    waits: bool  # begins with the first bit of a chunk
    releases: bool  # ends with the bit at which the parser gives away a chunk's last byte
    row: inflate.Row
    ends_block: bool


class RowEnd(lpn.Token):
    """The last byte of a row."""

    copied: bool  # out of the history


def net() -> lpn.Net:
    """The decoder. It has no parameters."""
    net = lpn.Net("png")
    parsed = net.place("chunks", Chunk, start=True)
    steps = net.place("steps", Step, start=True)
    taken = net.place(
        "taken", init=1
    )  # a chunk's last byte is taken; the first chunk waits for none
    offered = net.place("offered")  # a chunk's first byte is offered
    machine = net.place("machine", init=1, sink=True)  # one state machine does everything in turn
    row_ends = net.place("row_ends", RowEnd, drain=True)
    blocks = net.place("blocks", sink=True)  # a token when a block's end is seen
    rows = net.place("rows", done=True, sink=True)  # a token when a row's last pixel is out

    # 1 byte per clock outside of IDAT (hard_png.v, iready). Bits 1 to 7 of the last byte are in a
    # register of the serialiser (rbyte) meanwhile.
    net.transition(
        "parse",
        take={"taken": taken, "chunk": parsed},
        put=[offered.emit()],
        delay=lambda chunk: chunk.skipped,
        servers=1,
    )

    def step(name, phase, delay):
        net.transition(
            name,
            take={
                "step": steps,
                "machine": machine,
                "byte": offered.take(lambda step: step.waits),
            },
            guard=lambda step: step.phase == phase,
            put=[
                machine.emit(),
                taken.emit(count=lambda step: step.releases),
                row_ends.emit(
                    count=lambda step: 1 if step.row != inflate.Row.NONE else 0,
                    copied=lambda step: step.row == inflate.Row.COPIED,
                ),
                blocks.emit(count=lambda step: step.ends_block),
            ],
            delay=delay,
            servers=1,
        )

    # hard_png.v: precode_wpt, lentree_wpt, tree_wpt; lentree_codeen is the clock of the symbol.
    step("tables", inflate.Phase.TABLES, lambda step: step.bits + step.codes + step.moves)
    # huffman_builder.v: clears two entries per code (clearidx), counts the lengths (idx), 3 to
    # change states and report; then the codes (nn, ii).
    build = lambda codes, longest: lambda step: 2 * codes + longest + 3 + step.moves
    step("build_length_tree", inflate.Phase.LENGTH_TREE, build(19, 7))
    step("build_trees", inflate.Phase.TREES, build(288, 15))
    # hard_png.v: codetree_codeen and distree_codeen see the symbols; huffman_status R and S copy.
    step("symbols", inflate.Phase.SYMBOLS, lambda step: step.bits + step.codes + step.moves)
    # hard_png.v, registers of a byte: symbol_valid, mvalid, bvalid, ovalid; out of the history
    # irepeat and repeat_valid in place of symbol_valid.
    net.transition(
        "unfilter",
        take={"end": row_ends},
        put=[rows.emit()],
        delay=lambda end: 5 if end.copied else 4,
        interval=1,
        ordered=True,
    )
    return net


def workload(input_path, net: lpn.Net) -> lpn.Marking:
    """The steps of a .png file.

    Raises OSError when it cannot be read and ValueError, with the reason, when it is no PNG file
    or the core cannot decode it.
    """
    image = chunks.read(input_path)
    columns = inflate.steps(image)
    marking = lpn.Marking(net)
    # Chunks that are read when the stream has ended change nothing.
    needed = 1 + sum(columns["releases"])
    marking.add_rows("chunks", [(skipped,) for _, skipped in image.chunks[:needed]])
    marking.add_rows("steps", list(zip(*(columns[name] for name in inflate.COLUMNS))))
    return marking


def truth(row: dict) -> tuple[str, dict, int]:
    """A row of a cycles.csv measured on the RTL: input file, parameters of the net, cycles."""
    return row["file"], {}, decimal(row["cycles_total"])
