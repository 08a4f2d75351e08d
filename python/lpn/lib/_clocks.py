"""From one clock to another."""

from ..errors import mistake
from ._ports import amount, whole
from ._queues import output_like

__all__ = ["clock_crossing"]


def clock_crossing(net, name, source, depth, *, write, read, stages=2, out=None):
    """An asynchronous FIFO of `depth` words between two clocks, with pointers in Gray code behind
    synchronisers of `stages` registers; returns the place that it fills.

    write, read: the clocks, as a period in ticks or (period, phase). A word is written at an edge of
    the write clock, one per edge, into a free entry. The reader sees it at the `stages`-th edge of
    its clock that comes after that edge, and takes one word per edge, in order. The writer sees the
    entry free at the `stages`-th edge of its own clock after the edge at which it was taken. (Cummings,
    "Simulation and Synthesis Techniques for Asynchronous FIFO Design", SNUG 2002.)

    depth: int or parameter. An edge in the same tick is not after it. Metastability is not modelled:
    a register always settles in time. Raises Error "E-operand".
    """
    stages = whole(name, "stages", stages, 1, 16)
    for what, clock in (("write", write), ("read", read)):
        if clock is None:
            raise mistake(
                "E-operand",
                f"'{name}': {what} must be a clock: a period in ticks, or (period, phase)",
            )
    target = output_like(net, name, source, out)
    slots = net.place(f"{name}.slots", init=amount(name, "depth", depth))
    written, pointed = (
        net._place_like(f"{name}.{x}", source, drain=True) for x in ("written", "pointed")
    )
    visible = net._place_like(f"{name}.visible", source, drain=True)
    net.transition(
        f"{name}.write",
        take={"t": source, "slot": slots},
        put=[written.forward("t")],
        clock=write,
        interval=1,
    )
    # What an edge sees was there before it.
    net.transition(f"{name}.settle", take={"t": written}, put=[pointed.forward("t")], delay=1)
    net.transition(
        f"{name}.synchronise",
        take={"t": pointed},
        put=[visible.forward("t")],
        clock=read,
        delay=stages - 1,
        ordered=True,
    )
    freed, returned = net.place(f"{name}.freed"), net.place(f"{name}.returned")
    net.transition(
        f"{name}.read",
        take={"t": visible},
        put=[target.forward("t"), freed],
        clock=read,
        interval=1,
    )
    net.transition(f"{name}.settle_back", take={"t": freed}, put=[returned], delay=1)
    net.transition(
        f"{name}.synchronise_back",
        take={"t": returned},
        put=[slots],
        clock=write,
        delay=stages - 1,
        ordered=True,
    )
    return target
