"""Memories at the slave side of a Port."""

from .channels import Beat, Burst, Response, fill, has, room

__all__ = ["axi_ram", "delay_memory"]

# The delay memory of ../shared/truth/axi/README.md queues "about 30" addresses. The two runs that
# fill it (axi_dma_rd-179, -186) say: 31 bursts may be open, and one that ends at t counts as open
# until t + 1.
OPEN_BURSTS = 31
CLOSED_AFTER = 2


def axi_ram(net, name, port, *, output_register=0):
    """verilog-axi's axi_ram.v at `port`: one read and one write burst at a time.

    `output_register`: 1 for PIPELINE_OUTPUT.
    """
    has(name, port, reads=False, writes=False)
    if port.ar:
        _ram_reads(net, f"{name}.read", port.ar, port.r, output_register)
    if port.aw:
        _ram_writes(net, f"{name}.write", port.aw, port.w, port.b)


def _beats_of_burst(beats):
    """Every Beat of the arc `burst`, into the place `beats`."""
    return beats.emit(
        count=lambda burst: burst.beats,
        last=lambda burst, i: i == burst.beats - 1,
        id=lambda burst: burst.id,
    )


def _ram_reads(net, name, ar, r, output_register):
    idle = net.place(f"{name}.idle", init=1)  # s_axi_arready_reg
    taken = net.place(f"{name}.burst", Burst)
    beats = net.place(f"{name}.beats", Beat)  # READ_STATE_BURST: read_count_reg
    net.transition(
        f"{name}.ar",
        take={"ar": ar.offer, "idle": idle},
        put=[taken.forward("ar"), *ar.accept("ar")],
    )
    net.transition(
        f"{name}.begin",
        take={"burst": taken},
        put=[_beats_of_burst(beats)],
        delay=1,
        interval=1,
    )
    # With the last beat in the register the next address is accepted.
    again = idle.emit(count=lambda t: 1 if t.last else 0)
    if not output_register:
        fill(net, f"{name}.load", beats, r, also=[again])
        return
    # s_axi_rvalid_reg, which moves on when s_axi_rvalid_pipe_reg is empty or emptied.
    first = net.place(f"{name}.first", Beat)
    first_free = net.place(f"{name}.first_free", init=1)
    moving = net.place(f"{name}.moving", Beat)
    net.transition(
        f"{name}.load",
        take={"t": beats, "free": first_free},
        put=[first.forward("t"), again],
        delay=1,
        interval=1,
    )
    net.transition(
        f"{name}.move",
        take={"t": first, "room": room(net, name, r)},
        put=[moving.forward("t"), first_free],
    )
    fill(net, f"{name}.pipe", moving, r)


def _ram_writes(net, name, aw, w, b):
    idle = net.place(f"{name}.idle", init=1)  # s_axi_awready_reg
    taken = net.place(f"{name}.burst", Burst)
    beats = net.place(f"{name}.beats", Beat)  # s_axi_wready_reg, write_count_reg
    answer = net.place(f"{name}.answer", Response)
    net.transition(
        f"{name}.aw",
        take={"aw": aw.offer, "idle": idle},
        put=[taken.forward("aw"), *aw.accept("aw")],
    )
    net.transition(
        f"{name}.begin",
        take={"burst": taken},
        put=[_beats_of_burst(beats)],
        delay=1,
        interval=1,
    )
    net.transition(
        f"{name}.w",
        take={"w": w.offer, "beat": beats},
        put=[
            answer.emit(count=lambda beat: 1 if beat.last else 0, id=lambda beat: beat.id),
            *w.accept("w"),
        ],
    )
    # WRITE_STATE_RESP waits for a B register that is empty or emptied; then AW is ready again.
    fill(net, f"{name}.respond", answer, b, also=[idle.emit()])


def delay_memory(net, name, port, latency):
    """The memory `delay` of ../shared/truth/axi/README.md at `port`: bursts in order, back to back.

    The first beat of a read is offered `latency` clocks after AR, a response so long after the last
    W. `latency`: clocks, at least 1; a number or a parameter.
    """
    has(name, port, reads=False, writes=False)
    if port.ar:
        _delayed_reads(net, f"{name}.read", port.ar, port.r, latency)
    if port.aw:
        _delayed_writes(net, f"{name}.write", port.aw, port.w, port.b, latency)


def _delayed_reads(net, name, ar, r, latency):
    slots = net.place(f"{name}.slots", init=OPEN_BURSTS)
    waiting = net.place(f"{name}.waiting", Burst)
    beats = net.place(f"{name}.beats", Beat)
    offered = net.place(f"{name}.offered", Beat)
    net.transition(
        f"{name}.ar",
        take={"ar": ar.offer, "slot": slots},
        put=[waiting.forward("ar"), *ar.accept("ar")],
    )
    net.transition(
        f"{name}.wait",
        take={"burst": waiting},
        put=[_beats_of_burst(beats)],
        delay=latency - 1,
        interval=1,
    )
    fill(net, f"{name}.load", beats, r, also=[offered.forward("t")])
    net.transition(
        f"{name}.close",
        take={"h": r.taken, "beat": offered},
        put=[slots.emit(count=lambda beat: 1 if beat.last else 0)],
        delay=CLOSED_AFTER,
        interval=1,
    )


def _delayed_writes(net, name, aw, w, b, latency):
    slots = net.place(f"{name}.slots", init=OPEN_BURSTS)
    waiting = net.place(f"{name}.waiting", Burst)
    complete = net.place(f"{name}.complete")
    answer = net.place(f"{name}.answer", Response)
    net.transition(
        f"{name}.aw",
        take={"aw": aw.offer, "slot": slots},
        put=[waiting.forward("aw"), *aw.accept("aw")],
    )
    net.transition(  # always ready, whether AW has come or not
        f"{name}.w",
        take={"w": w.offer},
        put=[complete.emit(count=lambda w: 1 if w.last else 0), *w.accept("w")],
    )
    net.transition(
        f"{name}.wait",
        take={"burst": waiting, "last": complete},
        put=[answer.emit(id=lambda burst: burst.id)],
        delay=latency - 1,
        interval=1,
    )
    fill(net, f"{name}.respond", answer, b)
    net.transition(
        f"{name}.close", take={"h": b.taken}, put=[slots], delay=CLOSED_AFTER, interval=1
    )
