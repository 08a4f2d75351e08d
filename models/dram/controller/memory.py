"""A controller behind a memory port: accesses of any length at any time, in a net of one's own."""

import lpn

from ..address import located
from .formulas import when
from .tokens import At, ID_BITS, Number, TICKS, WRITE_BIT

__all__ = ["open_port"]


class Under(lpn.Token):
    """An access under way."""

    address: lpn.lib.Access.__annotations__["address"]
    bytes: lpn.Int[1, 2**32 - 1]
    write: bool
    id: lpn.Int[0, 2**31 - 1]
    pieces: lpn.Int[1, 2**20]


def open_port(net, standard, requests, done, outstanding):
    """Fills `requests` (Request) from a place `asked` and answers into `answered`, two places of
    lpn.lib.Access that the net is given, when all pieces of an access are in `done` (Number).
    `outstanding`: accesses under way; others wait.

    A request is as many pieces as it touches blocks of the controller.
    """
    size = standard.controller["request_bytes"]
    asked = net.place("asked", lpn.lib.Access)
    answered = net.place("answered", lpn.lib.Access)
    # Tokens cannot read the time: one of them counts the controller's cycles.
    now = net.place("now", At, init=[{"at": 0}])
    net.transition(
        "count_cycles",
        take={"now": now},
        put=[now.emit(at=lambda now: now.at + 1)],
        clock=(TICKS, 0),
        interval=1,
    )
    slots = net.place("slots", Number, init=lpn.tokens(outstanding, id=lambda i: i))

    def pieces(t):
        return (t.address % size + t.bytes + size - 1) // size

    def block(t, i):
        return t.address // size + i

    def entry(t, slot, i):
        assert block(t, i) < standard.blocks, f"the memory has {standard.blocks * size} bytes"
        _, _, row, column = located(standard, block(t, i))
        part = column + 1 if standard.joins else 0
        return row << WRITE_BIT + 1 | when(t.write, 1) << WRITE_BIT | part << ID_BITS | slot.id

    under = [net.place(f"under{k}", Under) for k in range(outstanding)]
    net.transition(
        "split",
        take={"t": asked, "now": now.peek(1), "slot": slots},
        put=[
            requests.emit(
                count=pieces,
                arrives=lambda now: now.at - 1,
                channel=lambda t, i: located(standard, block(t, i))[0],
                bank=lambda t, i: located(standard, block(t, i))[1],
                entry=entry,
            ),
            *[
                place.emit(
                    count=lambda slot, k=k: when(slot.id == k, 1),
                    address=lambda t: t.address,
                    bytes=lambda t: t.bytes,
                    write=lambda t: t.write,
                    id=lambda t: t.id,
                    pieces=pieces,
                )
                for k, place in enumerate(under)
            ],
        ],
        servers=1,
    )
    for k, place in enumerate(under):
        ended = net.place(f"ended{k}")
        net.transition(
            f"end{k}",
            take={"n": done.take(guard=lambda n, k=k: n.id == k)},
            put=[ended],
        )
        net.transition(
            f"answer{k}",
            take={"t": place, "ended": ended.take(lambda t: t.pieces)},
            put=[
                answered.emit(
                    address=lambda t: t.address,
                    bytes=lambda t: t.bytes,
                    write=lambda t: t.write,
                    id=lambda t: t.id,
                ),
                slots.emit(id=k),
            ],
        )
