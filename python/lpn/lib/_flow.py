"""Flow control: shapers and thresholds with hysteresis."""

from numbers import Integral

from ..authoring.arc import min as least
from ..authoring.place import Place
from ..errors import mistake
from ._ports import amount, whole

__all__ = ["threshold", "token_bucket"]


def token_bucket(net, name, *, rate, period, burst):
    """A shaper: the place whose tokens are what may be sent now, say bytes.

    It begins with `burst` tokens. At each multiple of `period` cycles `rate` more come, or as many as it
    lacks of `burst`; who starts at that instant finds them in the next group. Where it lacks none, what
    starts at that very instant counts as lacking. Who sends takes as many as it needs, by a transition
    that stands behind this call: `bucket.take(lambda t: t.bytes)`.

    rate, burst: ints or parameters, from 1 on. period: an int, cycles. More than `burst` can never be sent.
    Raises Error "E-operand".
    """
    rate, burst = amount(name, "rate", rate, 1), amount(name, "burst", burst, 1)
    period = whole(name, "period", period, 1)
    bucket = net.place(f"{name}.bucket", init=burst)
    net.transition(
        f"{name}.refill",
        take={"b": bucket.watch(guard=lambda b: b.free < burst)},
        put=[bucket.emit(count=lambda b: least(rate, burst - b.free))],
        servers=1,
        interval=1,
        clock=(period, 0),
    )
    return bucket


def threshold(net, name, level, high, low, *, delay=0):
    """Backpressure with hysteresis, as PFC's xoff and xon: the place that has a token from when `level` held
    `high` tokens until it holds `low` or fewer. Whoever is to stop has it as `closed.empty()`.

    Counts all tokens of `level`, those in the hands of a firing included. `delay`: cycles until either
    change is felt; what the level does meanwhile is looked at when it has been.

    high, low: ints or parameters, low below high. Raises Error "E-operand".
    """
    if not isinstance(level, Place):
        raise mistake("E-operand", f"'{name}': level must be a place, got {level!r}")
    high, low = amount(name, "high", high, 1), amount(name, "low", low)
    if isinstance(high, Integral) and isinstance(low, Integral) and low >= high:
        raise mistake("E-operand", f"'{name}': low must be below high, got {low} and {high}")
    opened, closed = net.place(f"{name}.open", init=1), net.place(f"{name}.closed")
    for what, source, target, holds in (
        ("close", opened, closed, lambda n: n.count >= high),
        ("open_again", closed, opened, lambda n: n.count <= low),
    ):
        net.transition(
            f"{name}.{what}",
            take={"s": source, "n": level.watch(guard=holds)},
            put=[target],
            delay=delay,
        )
    return closed
