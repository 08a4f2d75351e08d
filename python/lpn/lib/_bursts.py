"""Transfers cut into bursts."""

from ..authoring.arc import min as least
from ..authoring.place import Place
from ..authoring.token import Int
from ..errors import mistake
from ._ports import ADDRESSES, HIGHEST, MOST_BYTES, record, whole
from ._queues import output_like

__all__ = ["Burst", "Transfer", "bursts"]


Transfer = record(
    "Transfer",
    "Bytes from an address on.",
    address=Int(0, ADDRESSES - 1),
    bytes=Int(1, MOST_BYTES - 1),
)


Burst = record(
    "Burst",
    "A piece of a transfer.",
    address=Int(0, HIGHEST),
    bytes=Int(1, MOST_BYTES - 1),
    last=bool,  # of its transfer
)


_Rest = record(
    "_Rest",
    "What is left of a transfer.",
    address=Int(0, HIGHEST),
    bytes=Int(0, MOST_BYTES - 1),
)


def bursts(net, name, transfers, *, most, boundary=4096, out=None, credit=None, room=None):
    """Cuts tokens of `transfers` (Transfer) into bursts of up to `most` bytes that do not cross
    multiples of `boundary` bytes (AXI: 4096); returns the place of Bursts that it fills.

    One burst per cycle; the next transfer begins in the cycle after the last one's last burst.
    `credit`: a place of whose tokens each burst takes one (a limit on bursts under way). `room`: a
    place of whose tokens each takes as many as it has bytes. `out`: default the place `name.out`.

    most, boundary: ints >= 1. Raises Error "E-operand".
    """
    most = whole(name, "most", most, 1, MOST_BYTES - 1)
    boundary = whole(name, "boundary", boundary, 1, ADDRESSES)
    if room is not None and not isinstance(room, Place):
        raise mistake("E-operand", f"'{name}': room must be a place, got {room!r}")
    out = net.place(f"{name}.out", Burst) if out is None else output_like(net, name, transfers, out)
    idle = net.place(f"{name}.idle", init=1)
    rest = net.place(f"{name}.rest", _Rest, drain=True)

    def size(rest):
        return least(rest.bytes, least(most, boundary - rest.address % boundary))

    net.transition(
        f"{name}.begin",
        take={"t": transfers, "idle": idle},
        put=[rest.emit(address=lambda t: t.address, bytes=lambda t: t.bytes)],
    )
    take = {"rest": rest}
    if credit is not None:
        take["credit"] = credit
    if room is not None:
        take["room"] = room.take(size)
    net.transition(
        f"{name}.cut",
        take=take,
        put=[
            out.emit(
                address=lambda rest: rest.address,
                bytes=size,
                last=lambda rest: size(rest) == rest.bytes,
            ),
            rest.emit(
                count=lambda rest: 0 if size(rest) == rest.bytes else 1,
                address=lambda rest: rest.address + size(rest),
                bytes=lambda rest: rest.bytes - size(rest),
            ),
            idle.emit(count=lambda rest: 1 if size(rest) == rest.bytes else 0),
        ],
        delay=1,
        servers=1,
    )
    return out
