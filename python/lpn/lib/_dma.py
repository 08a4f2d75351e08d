"""A DMA engine over memory ports."""

from ..authoring.token import Int
from ..errors import mistake
from ._bursts import Burst, Transfer, bursts
from ._ports import ADDRESSES, MOST_BYTES, a_port, amount, record, whole
from ._reorder import in_order

__all__ = ["Move", "dma"]


Move = record(
    "Move",
    "What a DMA engine is asked for.",
    source=Int(0, ADDRESSES - 1),
    destination=Int(0, ADDRESSES - 1),
    bytes=Int(1, MOST_BYTES - 1),
)


def dma(
    net,
    name,
    moves,
    read,
    write,
    *,
    burst=256,
    boundary=4096,
    reads=4,
    writes=4,
    buffer=1024,
    out=None,
):
    """Copies by descriptors: tokens of `moves` (Move) in order; returns the place of those done.

    `read`, `write`: the MemoryPorts of source and destination. Each side cuts a move into
    bursts as `bursts` does (`burst`, `boundary` in bytes), one per cycle, and goes on to the next
    move by itself. A read needs one of `reads` outstanding ones and as many bytes of the `buffer`,
    which it keeps until they are written; a write needs one of `writes` and its own bytes in the buffer.
    Answers count in the order of their requests, as `in_order` has it; a move is done when the last of
    its writes has been answered, and all before it.

    reads, writes: ints or parameters. buffer: bytes, at least two bursts: with less, a read may wait for
    room and a write for bytes, for ever.
    Raises Error "E-operand".
    """
    for what, port in (("read", read), ("write", write)):
        a_port(f"dma '{name}'", what, port)
    if read.requests is write.requests:
        raise mistake(
            "E-operand",
            f"dma '{name}': read and write must be two ports; join them by lib.interconnect",
        )
    burst = whole(name, "burst", burst, 1, MOST_BYTES - 1)
    buffer = amount(name, "buffer", buffer, 2 * burst)
    out = net.place(f"{name}.done", Move) if out is None else out
    room, filled = net.place(f"{name}.room", init=buffer), net.place(f"{name}.filled")
    from_, to = (net.place(f"{name}.{x}", Transfer, drain=True) for x in ("from", "to"))
    ending = net.place(f"{name}.ending", Move, drain=True)
    net.transition(
        f"{name}.take",
        take={"m": moves},
        put=[
            from_.emit(address=lambda m: m.source, bytes=lambda m: m.bytes),
            to.emit(address=lambda m: m.destination, bytes=lambda m: m.bytes),
            ending.forward("m"),
        ],
    )
    sides = (
        ("read", read, from_, reads, {"room": room}, False),
        ("write", write, to, writes, {"room": filled}, True),
    )
    written = net.place(f"{name}.written")
    for side, port, transfers, limit, needs, writing in sides:
        credits = net.place(f"{name}.{side}s", init=amount(name, f"{side}s", limit))
        cut = net.place(f"{name}.{side}.burst", Burst, drain=True)
        how = {"most": burst, "boundary": boundary, "out": cut, "credit": credits}
        bursts(net, f"{name}.{side}", transfers, **how, **needs)
        port = in_order(net, f"{name}.{side}.port", port)
        net.transition(
            f"{name}.{side}.ask",
            take={"b": cut},
            put=[
                port.requests.emit(
                    address=lambda b: b.address, bytes=lambda b: b.bytes, write=writing, id=0
                ),
                *([room.emit(count=lambda b: b.bytes)] if writing else []),
            ],
        )
        net.transition(
            f"{name}.{side}.answer",
            take={"t": port.responses},
            put=[credits, (written if writing else filled).emit(count=lambda t: t.bytes)],
        )
    net.transition(
        f"{name}.finish",
        take={"m": ending, "bytes": written.take(lambda m: m.bytes)},
        put=[out.forward("m")],
        servers=1,
    )
    return out
