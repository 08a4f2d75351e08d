"""verilog-axi's data movers: axi_cdma.v, axi_dma_rd.v, axi_dma_wr.v.

Each is a function that joins channels. `width` is the bus in bytes, `max_burst` the longest burst in
beats, `unaligned` ENABLE_UNALIGNED: 0 ignores the low bits of addresses. They may be numbers or
parameters of the net.
"""

import lpn

from .channels import ADDRESS, SIMPLE, Word, carries, has, low, register
from .stages import (
    Copy,
    Move,
    OutputFifo,
    engine,
    half_full,
    piece,
    responses,
    words,
)

__all__ = ["axi_cdma", "axi_dma_rd", "axi_dma_wr"]


class Fetch(lpn.Token):
    """A write piece of axi_cdma whose reads are being asked for."""

    read_addr: ADDRESS
    write_addr: ADDRESS  # of what follows the piece
    piece: lpn.Int[0, 2**20 - 1]  # bytes of it not asked for
    left: lpn.Int[0, 2**20 - 1]  # bytes behind it


class Ask(lpn.Token):
    """What axi_dma_rd has not asked for yet."""

    addr: ADDRESS
    left: lpn.Int[0, 2**20 - 1]  # bytes


class Job(lpn.Token):
    """What axi_dma_wr has not begun to write yet."""

    addr: ADDRESS
    left: lpn.Int[1, 2**20 - 1]  # bytes
    inputs: lpn.Int[0, 2**20]  # words that the stream still has to give
    first: bool


class Command(lpn.Token):
    """What the address engine tells the data engine."""

    addr: ADDRESS
    inputs: lpn.Int[1, 2**20]  # words
    outputs: lpn.Int[1, 2**20]
    bubble: bool  # the first input word gives no output
    ends: bool


def _accepting(net, name, desc, ready_arcs, token):
    """Descriptors: returns (`idle`, `accepted`).

    A token in `idle` is the clock in which the state machine is, or becomes, idle: ready is high one
    clock after that, when `ready_arcs` hold. `accepted` has a descriptor in the clock of its
    handshake.
    """
    idle = net.place(f"{name}.idle")
    ready = net.place(f"{name}.ready", init=1)
    accepted = net.place(f"{name}.accepted", token)
    net.transition(
        f"{name}.raise", take={"idle": idle, **ready_arcs}, put=[ready], delay=1, interval=1
    )
    net.transition(
        f"{name}.accept",
        take={"t": desc.offer, "ready": ready},
        put=[accepted.forward("t"), *desc.accept("t")],
    )
    return idle, accepted


def _aligned(addr, width, unaligned):
    return addr - (1 - unaligned) * (addr % width)


def axi_cdma(net, name, desc, port, status, *, width, max_burst, unaligned=1):
    """Copies memory: Copy descriptors from the Channel `desc`, through `port`, which it masters;
    a token into the place `status` for each that is done.

    Raises Error "E-operand" for another kind of channel or port.
    """
    carries(name, "desc", desc, Copy)
    has(name, port, reads=True, writes=True)
    max_bytes = width * max_burst
    command_free = net.place(f"{name}.command_free", init=1)
    command = net.place(f"{name}.command", Command)
    entries, active = responses(net, f"{name}.status", port.b, status)
    op = net.place(f"{name}.op", Copy)
    idle, accepted = _accepting(
        net,
        name,
        desc,
        {"command": command_free.peek(), "active": active.peek()},
        Copy,
    )
    net.transition(
        f"{name}.latch",
        take={"t": accepted},
        put=[
            op.emit(
                read_addr=lambda t: _aligned(t.read_addr, width, unaligned),
                write_addr=lambda t: _aligned(t.write_addr, width, unaligned),
                len=lambda t: t.len,
            )
        ],
        delay=1,
        interval=1,
    )
    _cdma_addresses(net, name, port, (op, idle, command_free, active, command), width, max_bytes)
    _cdma_data(net, name, port, (command, command_free, entries), width)


def _cdma_addresses(net, name, port, places, width, max_bytes):
    """READ_STATE_START and READ_STATE_REQ: first on the write address, each piece of that on its
    read address.
    """
    op, idle, command_free, active, command = places
    fetch = net.place(f"{name}.fetch", Fetch)
    fetched = net.place(f"{name}.fetched", Fetch)
    ar_low, ar_next = register(net, f"{name}.ar", SIMPLE, port.ar)

    def write_piece(t):
        return piece(t.write_addr, t.len, max_bytes, width)

    net.transition(
        f"{name}.start",
        take={"t": op, "command": command_free, "active": active},
        put=[
            command.emit(
                addr=lambda t: t.write_addr,
                inputs=lambda t: words(write_piece(t), t.read_addr % width, width),
                outputs=lambda t: words(write_piece(t), t.write_addr % width, width),
                bubble=lambda t: t.read_addr % width > t.write_addr % width,
                ends=lambda t: t.len == write_piece(t),
            ),
            fetch.emit(
                read_addr=lambda t: t.read_addr,
                write_addr=lambda t: t.write_addr + write_piece(t),
                piece=write_piece,
                left=lambda t: t.len - write_piece(t),
            ),
        ],
        delay=1,
        interval=1,
    )

    def read_piece(t):
        return piece(t.read_addr, t.piece, max_bytes, width)

    net.transition(
        f"{name}.request",
        take={"t": fetch, "low": ar_low},
        put=[
            ar_next.emit(
                addr=lambda t: t.read_addr,
                beats=lambda t: words(read_piece(t), t.read_addr % width, width),
                id=0,
            ),
            fetched.emit(
                read_addr=lambda t: t.read_addr + read_piece(t),
                write_addr=lambda t: t.write_addr,
                piece=lambda t: t.piece - read_piece(t),
                left=lambda t: t.left,
            ),
            idle.emit(count=lambda t: 1 if t.piece == read_piece(t) and t.left == 0 else 0),
        ],
    )
    net.transition(
        f"{name}.requested",
        take={"t": fetched},
        put=[
            fetch.emit(
                count=lambda t: 1 if t.piece > 0 else 0,
                read_addr=lambda t: t.read_addr,
                write_addr=lambda t: t.write_addr,
                piece=lambda t: t.piece,
                left=lambda t: t.left,
            ),
            op.emit(
                count=lambda t: 1 if t.piece == 0 and t.left > 0 else 0,
                read_addr=lambda t: t.read_addr,
                write_addr=lambda t: t.write_addr,
                len=lambda t: t.left,
            ),
        ],
        delay=1,
        interval=1,
    )


def _cdma_data(net, name, port, places, width):
    """AXI_STATE_IDLE and AXI_STATE_WRITE: a command after the other."""
    command, command_free, entries = places
    engine_idle = net.place(f"{name}.engine_idle", init=1)
    leaking = net.place(f"{name}.leaking")
    fifo = OutputFifo(net, f"{name}.fifo", port.w, {"last": lambda t: t.wlast, "id": 0})
    steps, go = engine(
        net,
        f"{name}.engine",
        port.r,
        fifo,
        [
            engine_idle.emit(count=lambda t: 1 if t.last else 0),
            entries.emit(count=lambda t: 1 if t.last else 0, ends=lambda t: t.ends),
        ],
        leaking,
    )

    def count(t):
        return t.outputs + t.bubble

    def burst(t):
        assert t.outputs <= 256, "AXI bursts have at most 256 beats"
        return t.outputs

    net.transition(
        f"{name}.issue",
        take={"t": command, "idle": engine_idle, "low": low(net, f"{name}.aw", port.aw)},
        put=[
            command_free,
            port.aw.offer.emit(addr=lambda t: t.addr, beats=burst, id=0),
            go,
            steps.emit(
                count=count,
                read=lambda t, i: i < t.inputs,
                write=lambda t, i: i >= t.bubble,
                last=lambda t, i: i == count(t) - 1,
                wlast=lambda t, i: i == count(t) - 1,
                ends=lambda t: t.ends,
                # The ready for the clock after the last input word is made of input_active_reg,
                # not of its next value; only a bubble's word looks at the latter.
                leak=lambda t, i: i == t.inputs and i > t.bubble,
                inlast=False,
            ),
        ],
        delay=1,
        interval=1,
    )
    # That ready takes a word of the next burst if one is offered just then, and loses it: the RTL
    # waits for ever for the last word, and so does the net.
    lost = net.place(f"{name}.lost_word", sink=True)
    net.transition(
        f"{name}.lose",
        take={
            "in_": port.r.offer,
            "leak": leaking.watch(guard=lambda leak: leak.count > 0),
            "fifo": half_full(fifo),
        },
        put=[lost, *port.r.accept("in_")],
    )
    net.transition(f"{name}.leaked", take={"leak": leaking}, delay=1, interval=1)


def axi_dma_rd(net, name, desc, port, stream, status, *, width, max_burst, unaligned=1):
    """Memory to stream: Move descriptors from the Channel `desc`, reads through `port`, which it
    masters, Words into the Channel `stream`; a token into the place `status` for each that is done.

    Raises Error "E-operand" for another kind of channel or port.
    """
    carries(name, "desc", desc, Move)
    carries(name, "stream", stream, Word)
    has(name, port, reads=True, writes=False)
    max_bytes = width * max_burst
    command_free = net.place(f"{name}.command_free", init=1)
    command = net.place(f"{name}.command", Command)
    op = net.place(f"{name}.op", Move)
    idle, accepted = _accepting(net, name, desc, {"command": command_free.peek()}, Move)

    def offset(t):
        return t.addr % width * unaligned

    net.transition(
        f"{name}.latch",
        take={"t": accepted, "command": command_free},
        put=[
            op.emit(addr=lambda t: _aligned(t.addr, width, unaligned), len=lambda t: t.len),
            command.emit(
                addr=lambda t: t.addr,
                inputs=lambda t: words(t.len, offset(t), width),
                outputs=lambda t: words(t.len, 0, width),
                bubble=lambda t: offset(t) > 0,
                ends=True,
            ),
        ],
        delay=1,
        interval=1,
    )
    _rd_addresses(net, name, port.ar, op, idle, width, max_bytes)
    _rd_data(net, name, port.r, stream, status, (command, command_free))


def _rd_addresses(net, name, ar, op, idle, width, max_bytes):
    """AXI_STATE_START: a burst whenever arvalid is low."""
    asked = net.place(f"{name}.asked", Ask)
    ar_low, ar_next = register(net, f"{name}.ar", SIMPLE, ar)

    def burst(t):
        return piece(t.addr, t.len, max_bytes, width)

    net.transition(
        f"{name}.request",
        take={"t": op, "low": ar_low},
        put=[
            ar_next.emit(
                addr=lambda t: t.addr,
                beats=lambda t: words(burst(t), t.addr % width, width),
                id=0,
            ),
            asked.emit(addr=lambda t: t.addr + burst(t), left=lambda t: t.len - burst(t)),
            idle.emit(count=lambda t: 1 if t.len == burst(t) else 0),
        ],
    )
    net.transition(
        f"{name}.requested",
        take={"t": asked},
        put=[
            op.emit(
                count=lambda t: 1 if t.left > 0 else 0,
                addr=lambda t: t.addr,
                len=lambda t: t.left,
            )
        ],
        delay=1,
        interval=1,
    )


def _rd_data(net, name, r, stream, status, places):
    """AXIS_STATE_IDLE and AXIS_STATE_READ: a descriptor after the other."""
    command, command_free = places
    engine_idle = net.place(f"{name}.engine_idle", init=1)
    fifo = OutputFifo(net, f"{name}.fifo", stream, {"last": lambda t: t.wlast})
    steps, go = engine(
        net,
        f"{name}.engine",
        r,
        fifo,
        [
            engine_idle.emit(count=lambda t: 1 if t.last else 0),
            status.emit(count=lambda t: 1 if t.last else 0),
        ],
    )

    def count(t):
        return t.outputs + t.bubble

    net.transition(
        f"{name}.issue",
        take={"t": command, "idle": engine_idle},
        put=[
            command_free,
            go,
            steps.emit(
                count=count,
                read=lambda t, i: i < t.inputs,
                write=lambda t, i: i >= t.bubble,
                last=lambda t, i: i == count(t) - 1,
                wlast=lambda t, i: i == count(t) - 1,
                ends=True,
                leak=False,
                inlast=False,
            ),
        ],
        delay=1,
        interval=1,
    )


def axi_dma_wr(net, name, desc, stream, port, status, *, width, max_burst, unaligned=1):
    """Stream to memory: Move descriptors from the Channel `desc`, Words from the Channel `stream`,
    writes through `port`, which it masters; a token into the place `status` for each that is done.

    A packet of the stream has to be as long as its descriptor says: a run with another one ends
    with an error (E-assume). What the RTL then does, fill up a burst or drop words, is not here.
    Raises Error "E-operand" for another kind of channel or port.
    """
    carries(name, "desc", desc, Move)
    carries(name, "stream", stream, Word)
    has(name, port, reads=False, writes=True)
    max_bytes = width * max_burst
    entries, active = responses(net, f"{name}.status", port.b, status)
    idle, accepted = _accepting(net, name, desc, {"active": active.peek()}, Move)
    at_start = net.place(f"{name}.at_start")
    job = net.place(f"{name}.job", Job)
    net.transition(
        f"{name}.latch",
        take={"t": accepted},
        put=[
            at_start,
            job.emit(
                addr=lambda t: _aligned(t.addr, width, unaligned),
                left=lambda t: t.len,
                inputs=lambda t: words(t.len, 0, width),
                first=True,
            ),
        ],
        delay=1,
        interval=1,
    )
    fifo = OutputFifo(net, f"{name}.fifo", port.w, {"last": lambda t: t.wlast, "id": 0})
    steps, go = engine(
        net,
        f"{name}.engine",
        stream,
        fifo,
        [
            at_start.emit(count=lambda t: 1 if t.last and not t.ends else 0),
            entries.emit(count=lambda t: 1 if t.last else 0, ends=lambda t: t.ends),
        ],
        idle=idle,
        check=_whole_packet,
    )
    _wr_start(net, name, (job, at_start, active, stream, port.aw, steps, go), width, max_bytes)


def _whole_packet(t, in_):
    assert t.inlast == in_.last, "a packet of the stream is as long as its descriptor says"
    return 0


def _wr_start(net, name, places, width, max_bytes):
    """STATE_START: a burst whenever awvalid is low; the first of a descriptor waits for data."""
    job, at_start, active, stream, aw, steps, go = places
    aw_low = low(net, f"{name}.aw", aw)

    def bytes_(t):
        return piece(t.addr, t.left, max_bytes, width)

    def beats(t):
        return words(bytes_(t), t.addr % width, width)

    # Behind an offset the words of a burst lie across those of the stream; the last word of all may
    # hold only what the realigner kept.
    put = [
        aw.offer.emit(addr=lambda t: t.addr, beats=beats, id=0),
        go,
        steps.emit(
            count=beats,
            read=lambda t, i: i < t.inputs,
            write=True,
            last=lambda t, i: i == beats(t) - 1,
            wlast=lambda t, i: i == beats(t) - 1,
            ends=lambda t: t.left == bytes_(t),
            leak=False,
            inlast=lambda t, i: i == t.inputs - 1,
        ),
        job.emit(
            count=lambda t: 1 if t.left > bytes_(t) else 0,
            addr=lambda t: t.addr + bytes_(t),
            left=lambda t: t.left - bytes_(t),
            inputs=lambda t: lpn.max(0, t.inputs - beats(t)),
            first=False,
        ),
    ]
    for kind, guard, more in (
        ("first", lambda t: t.first, {"data": stream.offer.peek()}),
        ("next", lambda t: not t.first, {}),
    ):
        net.transition(
            f"{name}.{kind}",
            take={
                "t": job.take(guard=guard),
                "at_start": at_start,
                "active": active,
                "low": aw_low,
                **more,
            },
            put=put,
            delay=1,
            interval=1,
        )
