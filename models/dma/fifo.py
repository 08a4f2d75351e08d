"""verilog-axi's axi_fifo.v: axi_fifo_rd.v and axi_fifo_wr.v."""

import lpn

from .channels import Channel, Port, fill, has, misuse, room

__all__ = ["axi_fifo"]


class Permit(lpn.Token):
    """A W that is let in."""

    last: bool  # of its burst
    release: bool  # with it AW is offered


def axi_fifo(net, name, port, *, write_depth=32, read_depth=32, write_delay=0, read_delay=0):
    """A FIFO at the slave side of `port`; returns the Port on its other side.

    Depths in words, of R and W; an int, a power of two. Without delay AR, AW and B pass in the same
    clock: the ports share these channels. `write_delay`: an AW is held until its burst is in the
    FIFO, or the FIFO's depth of it; `read_delay`: an AR until its burst has room. Raises Error "E-operand".
    """
    has(name, port, reads=False, writes=False)
    for what, depth in (("write_depth", write_depth), ("read_depth", read_depth)):
        if (
            isinstance(depth, bool)
            or not isinstance(depth, int)
            or depth < 2
            or depth & (depth - 1)
        ):
            raise misuse(f"{name}: {what} must be a power of two from 2 on, got {depth!r}")
    far = Port(net, f"{name}.m", read=False, write=False)
    if port.ar:
        far.ar = Channel(net, f"{name}.m.ar", port.ar.token) if read_delay else port.ar
        far.r = Channel(net, f"{name}.m.r", port.r.token)
        left = []
        if read_delay:
            left = [_held_reads(net, f"{name}.ar", port.ar, far.ar, read_depth)]
        _words(net, f"{name}.r", far.r, port.r, read_depth, left=left)
    if port.aw:
        far.aw = Channel(net, f"{name}.m.aw", port.aw.token) if write_delay else port.aw
        far.w = Channel(net, f"{name}.m.w", port.w.token)
        far.b = port.b
        permit = None
        if write_delay:
            permit = _held_writes(net, f"{name}.aw", port.aw, far.aw, write_depth)
        _words(net, f"{name}.w", port.w, far.w, write_depth, permit)
    return far


def _words(net, name, source, sink, depth, permit=None, left=()):
    """The memory and the two registers behind it: a word taken at t is offered at t + 3.

    `permit`: (place, emissions) of the words that are let in, each over the arc `permit`.
    `left`: places for a token at each handshake of `sink`.
    """
    space = net.place(f"{name}.space", init=depth)
    stored = net.place(f"{name}.stored", source.token)
    memory = net.place(f"{name}.memory", source.token)
    read = net.place(f"{name}.read", source.token)  # mem_read_data_reg
    read_free = net.place(f"{name}.read_free", init=1)
    moving = net.place(f"{name}.moving", source.token)
    place, put = permit or (None, [])
    net.transition(
        f"{name}.in",
        take={"t": source.offer, "space": space, **({"permit": place} if permit else {})},
        put=[stored.forward("t"), *put, *source.accept("t")],
    )
    net.transition(
        f"{name}.store", take={"t": stored}, put=[memory.forward("t")], delay=1, interval=1
    )
    net.transition(
        f"{name}.load",
        take={"t": memory, "free": read_free},
        put=[read.forward("t"), space],
        delay=1,
        interval=1,
    )
    net.transition(
        f"{name}.move",
        take={"t": read, "room": room(net, name, sink, left)},
        put=[moving.forward("t"), read_free],
    )
    fill(net, f"{name}.out", moving, sink)


def _held_reads(net, name, ar, far, depth):
    """FIFO_DELAY of axi_fifo_rd.v: count_reg counts the words asked for and not taken yet; returns
    the place for those that are taken.
    """
    ready = net.place(f"{name}.ready", init=1)
    waiting = net.place(f"{name}.waiting", ar.token)
    count = net.place(f"{name}.count")
    left = net.place(f"{name}.left")
    net.transition(
        f"{name}.in",
        take={"t": ar.offer, "ready": ready},
        put=[waiting.forward("t"), *ar.accept("t")],
    )

    def fits(t, count):
        return (count.count == 0) | (count.count + t.beats <= depth)

    net.transition(
        f"{name}.out",
        take={"t": waiting, "count": count.watch(guard=fits)},
        put=[far.offer.forward("t"), count.emit(count=lambda t: t.beats)],
        delay=1,
        interval=1,
    )
    net.transition(f"{name}.again", take={"h": far.taken}, put=[ready], delay=1, interval=1)
    net.transition(f"{name}.uncount", take={"h": left, "c": count}, delay=1, interval=1)
    return left


def _held_writes(net, name, aw, far, depth):
    """FIFO_DELAY of axi_fifo_wr.v; returns the permits of _words."""
    ready = net.place(f"{name}.ready", init=1)
    taken = net.place(f"{name}.taken_burst", aw.token)
    held = net.place(f"{name}.held", aw.token)
    permits = net.place(f"{name}.permits", Permit)
    release = net.place(f"{name}.release")
    ended = net.place(f"{name}.ended")
    idle = net.place(f"{name}.idle")
    net.transition(
        f"{name}.in",
        take={"t": aw.offer, "ready": ready},
        put=[taken.forward("t"), *aw.accept("t")],
    )
    # STATE_TRANSFER_IN: hold_reg is low from the next clock on.
    net.transition(
        f"{name}.begin",
        take={"t": taken},
        put=[
            held.forward("t"),
            permits.emit(
                count=lambda t: t.beats,
                last=lambda t, i: i == t.beats - 1,
                release=lambda t, i: (i == depth - 1) | ((i == t.beats - 1) & (i < depth)),
            ),
        ],
        delay=1,
        interval=1,
    )
    net.transition(
        f"{name}.out",
        take={"t": held, "release": release},
        put=[far.offer.forward("t")],
        delay=1,
        interval=1,
    )
    net.transition(f"{name}.end", take={"e": ended}, put=[idle], delay=1, interval=1)
    # STATE_IDLE, and awvalid is low or falls.
    net.transition(
        f"{name}.again", take={"idle": idle, "h": far.taken}, put=[ready], delay=1, interval=1
    )
    put = [
        release.emit(count=lambda permit: 1 if permit.release else 0),
        ended.emit(count=lambda permit: 1 if permit.last else 0),
    ]
    return permits, put
