"""The reference toolchain's JPEG decoder (4:2:0), rebuilt transition by transition.

    tasks -> issue -> entropy_decode -> decoded -> start_{y,cb,cr} -> idct_{y,cb,cr} -> colour

A token of `coded` is one 8x8 block, in the order Y Y Y Y Cb Cr; times are cycles. Compared with
../../models/jpeg it shows how much of a decoder nine transitions catch; here it tests that the
engines give the reference's cycles.
"""

import lpn

import _tok


class Block(lpn.Token):
    nonzero: lpn.Int[0, 63]  # AC Huffman symbols, ZRL and EOB included


# Place of a .tok file -> place of the net.
NAMES = {
    "ptasks": "tasks",
    "pvarlatency": "coded",
    "p5": "displayed",
    "p8": _tok.BuiltIn(1),
    "p4": _tok.BuiltIn(4),
    "p6": _tok.BuiltIn(4),
    "p20": _tok.BuiltIn(4),
    "pt2p_hold": _tok.BuiltIn(1),
    "pt3p_hold": _tok.BuiltIn(1),
    "pt4p_hold": _tok.BuiltIn(1),
}


def net() -> lpn.Net:
    """The decoder; 28 firings per 16x16 MCU.

    `servers=1` everywhere: a transition of the reference has one firing in flight.
    """
    net = lpn.Net("ltc_jpeg")
    tasks = net.place("tasks", start=True)
    coded = net.place("coded", Block, start=True)
    decoder_idle = net.place("decoder_idle", init=1)
    issued = net.place("issued", drain=True)
    started = net.place("started", sink=True)
    block_slots = net.place("block_slots", init=4)  # buffers between entropy decoder and IDCT
    decoded = net.place("decoded", drain=True)
    # The RGB output buffers; the reference has 4 (its place p6).
    pixel_slots = net.place("pixel_slots", init=net.param("buffers", 4, range=(0, 1024)))

    # The order Y Y Y Y Cb Cr is a ring of turns: four for Y, one each for Cb and Cr.
    turn_y = net.place("turn_y", init=4)
    turn_cb = net.place("turn_cb")
    turn_cr = net.place("turn_cr")
    idle_y = net.place("idle_y", init=1)
    idle_cb = net.place("idle_cb", init=1)
    idle_cr = net.place("idle_cr", init=1)
    work_y = net.place("work_y", drain=True)
    work_cb = net.place("work_cb", drain=True)
    work_cr = net.place("work_cr", drain=True)
    ready_y = net.place("ready_y", drain=True)
    ready_cb = net.place("ready_cb", drain=True)
    ready_cr = net.place("ready_cr", drain=True)

    pixels = net.place("pixels", done=True)  # 8x8 RGB pixels per token
    displayed = net.place("displayed", sink=True)

    net.transition(
        "entropy_decode",
        take={"task": issued, "slot": block_slots, "blk": coded},
        put=[decoded, decoder_idle],
        delay=lambda blk: 3 * blk.nonzero + 6,
        servers=1,
    )
    net.transition(
        "issue",
        take={"task": tasks, "idle": decoder_idle},
        put=[issued, started],
        servers=1,
    )
    net.transition(
        "idct_y",
        take={"blk": work_y},
        put=[ready_y, turn_cb, block_slots, idle_y],
        delay=66,
        servers=1,
    )
    # A chroma block covers 16x16 pixels, as much as four luma blocks.
    net.transition(
        "idct_cb",
        take={"blk": work_cb},
        put=[ready_cb.emit(4), turn_cr, block_slots, idle_cb],
        delay=66,
        servers=1,
    )
    # With Cr the MCU is complete: it fills all output buffers, and the next MCU has its turns.
    net.transition(
        "idct_cr",
        take={"blk": work_cr, "slots": pixel_slots.take(4)},
        put=[ready_cr.emit(4), turn_y.emit(4), block_slots, idle_cr],
        delay=66,
        servers=1,
    )
    net.transition(
        "colour",
        take={"y": ready_y, "cb": ready_cb, "cr": ready_cr},
        put=[pixels, displayed, pixel_slots],
        delay=65,
        servers=1,
    )
    # An IDCT starts while at least two output buffers are free. The reference takes and returns
    # them at once; so does this net, firing for firing (peek(2) would do).
    for plane, turn, turns, idle, work in (
        ("y", turn_y, 1, idle_y, work_y),
        ("cb", turn_cb, 4, idle_cb, work_cb),
        ("cr", turn_cr, 1, idle_cr, work_cr),
    ):
        net.transition(
            f"start_{plane}",
            take={
                "blk": decoded,
                "turn": turn.take(turns),
                "room": pixel_slots.take(2),
                "idle": idle,
            },
            put=[work, pixel_slots.emit(2)],
            servers=1,
        )
    return net


def space(
    net: lpn.Net, blocks: int = 12, sum_from: int = None, sum_below: int = None, buffers=None
) -> lpn.InputSpace:
    """Every picture of so many blocks, six per MCU, with 0..63 in each block's `nonzero`.

    blocks: 8x8 blocks; those behind the last whole MCU stall the decoder.
    sum_from, sum_below: the sum of all `nonzero` is at least the one and less than the other.
    buffers: RGB output buffers, a number or a range (4..8); default: as the net has.
    """
    space = lpn.InputSpace(net)
    space.tokens("tasks", blocks)
    coded = space.tokens("coded", blocks)
    nonzero = lpn.total(blk.nonzero for blk in coded)
    if sum_from is not None:
        space.require(nonzero >= sum_from)
    if sum_below is not None:
        space.require(nonzero < sum_below)
    if buffers is not None:
        space.param("buffers", buffers)
    return space


def workload(path, net: lpn.Net) -> lpn.Marking:
    """The marking in a .tok file. Raises OSError, or ValueError when it is not one for this net."""
    return _tok.marking(path, net, NAMES)
