"""FIFOs, pipelines and credits."""

from collections.abc import Iterable
from numbers import Integral

from ..authoring.around import check_apart
from ..authoring.place import Place
from ..errors import mistake
from ._ports import amount, whole

__all__ = ["credit", "fifo", "pipeline"]


def listed(name, what, given):
    """Places, or ports, that an element is given as a list. Raises Error "E-operand" for one alone."""
    if isinstance(given, Place):
        raise mistake(
            "E-operand",
            f"{what} of '{name}' must be a list of places, got one: write [{given.name}]",
        )
    return list(given)


def distinct(name, what, given):
    """As listed. Raises Error "E-operand" where one stands twice, too."""
    given = listed(name, what, given)
    for k, place in enumerate(given):
        if place in given[:k]:
            raise mistake("E-operand", f"{what} of '{name}' have '{place.name}' twice")
    return given


def output_like(net, name, source, out):
    """The place that an element fills: the given one, or a new one of the source's type."""
    if out is not None:
        if not isinstance(out, Place):
            raise mistake("E-arc", f"out of '{name}' must be a place, got {out!r}")
        return out
    return net._place_like(f"{name}.out", source)


def fifo(net, name, source, depth, *, latency=1):
    """A FIFO of `depth` entries, written at most once per cycle; returns the place to read from.

    A token written at t can be read at t + `latency` (cycles, >= 1). An entry is held from the
    write until the reader commits. `depth`: int or parameter, >= 1.
    """
    depth = amount(name, "depth", depth, 1)
    if isinstance(latency, Integral):
        latency = amount(name, "latency", latency, 1)
    entries = net._place_like(name, source, capacity=depth)
    net.transition(
        f"{name}.write",
        take={"t": source},
        put=[entries.forward("t")],
        delay=latency,
        interval=1,
        ordered=True,
    )
    return entries


def pipeline(net, name, source, stages, *, out=None):
    """Registers in a row, each holding one token; returns the place after the last one.

    `stages`: a number of one-cycle stages, or a list of their delays in cycles (int, parameter or
    function of the arc `t`). Each stage is a zero-delay move into its register and a transition
    that works; so a pipeline of one-cycle stages passes one token per cycle, and a stage that
    cannot move on stalls those behind it. `out`: the place to fill, else `name.out` is made.

    Raises Error "E-operand" for no stage.
    """
    if isinstance(stages, Iterable):
        delays = list(stages)
        check_apart(delays, f"pipeline '{name}': the delays of stages")
    else:
        delays = [1] * whole(name, "stages", stages, 1, 10_000)
    if not delays:
        raise mistake("E-operand", f"pipeline '{name}' needs at least one stage")
    target = output_like(net, name, source, out)
    ready, slot_behind = source, None
    for k, delay in enumerate(delays):
        stage = f"{name}.s{k}"
        slot = net.place(f"{stage}.free", init=1)
        register = net._place_like(f"{stage}.register", source, drain=True)
        result = net._place_like(f"{stage}.result", source, drain=True)
        net.transition(
            f"{stage}.move",
            take={"t": ready, "slot": slot},
            put=[register.forward("t")] + ([slot_behind] if slot_behind else []),
        )
        net.transition(
            f"{stage}.work",
            take={"t": register},
            put=[result.forward("t")],
            delay=delay,
            servers=1,
        )
        ready, slot_behind = result, slot
    net.transition(f"{name}.leave", take={"t": ready}, put=[target.forward("t"), slot_behind])
    return target


def credit(net, name, count, *, latency=0):
    """Credits between a sender and a receiver; returns (take, give), two places.

    The sender's transition takes from `take`, the receiver's puts into `give`; a credit given at t
    can be taken at t + `latency` (cycles; 0: both are one place), where several are given at once one per
    cycle. `count`: int or parameter.
    """
    take = net.place(name, init=amount(name, "count", count))
    if isinstance(latency, Integral) and latency == 0:
        return take, take
    give = net.place(f"{name}.returned")
    net.transition(
        f"{name}.return", take={"t": give}, put=[take], delay=latency, interval=1, ordered=True
    )
    return take, give
