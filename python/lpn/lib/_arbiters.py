"""Arbiters: several queues into one, one grant at a time."""

from ..authoring.expr import select
from ..authoring.token import Int, Token
from ..authoring.trace import Over
from ..errors import mistake
from ._queues import output_like

__all__ = ["priority", "round_robin"]

_turns = {}


def _turn_type(n):
    """The pointer of an arbiter over n inputs, one type per n."""
    if n not in _turns:
        _turns[n] = type(
            f"Turn{n}",
            (Token,),
            {"__annotations__": {"next": Int[0, n - 1]}, "__module__": __name__},
        )
    return _turns[n]


def _check(name, inputs):
    inputs = list(inputs)
    if not inputs:
        raise mistake("E-operand", f"arbiter '{name}' needs at least one input")
    return inputs


def priority(net, name, inputs, out=None, *, delay=1):
    """The first of `inputs` that has a token wins; one token passes per `delay` cycles.

    `delay`: cycles, or a function of the arc `t`; the arbiter is busy for so long. Returns `out`.
    """
    inputs = _check(name, inputs)
    target = output_like(net, name, inputs[0], out)
    idle = net.place(f"{name}.idle", init=1)
    for k, source in enumerate(inputs):
        net.transition(
            f"{name}.grant{k}",
            take={"t": source, "idle": idle},
            put=[target.forward("t"), idle],
            delay=delay,
        )
    return target


def round_robin(net, name, inputs, out=None, *, delay=1, skip_empty=True, also=None):
    """Each of `inputs` in turn; one token passes per `delay` cycles.

    The turn goes to the input after the one that was granted last. `skip_empty`: an input without
    a token is passed over; False: the arbiter waits for it. `delay`: cycles, or a function of the
    arc `t`; the arbiter is busy for so long. `out`, `delay` and `also`, what a grant puts besides,
    may be lists with an entry per input. Returns `out`.

    Raises Error "E-operand" for no input, or a list of another length.
    """
    inputs = _check(name, inputs)
    n = len(inputs)
    if isinstance(out, (list, tuple)):
        targets = [
            output_like(net, name, source, o)
            for source, o in zip(inputs, _each(name, "out", out, n))
        ]
    else:
        out = output_like(net, name, inputs[0], out)
        targets = [out] * n
    delays = _each(name, "delay", delay, n)
    others_put = _each(name, "also", also if also is not None else [[]] * n, n)
    turn = net.place(f"{name}.turn", _turn_type(n), init=[{"next": 0}])
    for k, source in enumerate(inputs):
        take = {"turn": turn, "t": source}
        if skip_empty:
            others = [j for j in range(n) if j != k]
            take.update({f"other{j}": inputs[j].watch() for j in others})
            guard = _nobody_before(k, others, n)
        else:
            guard = (lambda turn, k=k: turn.next == k) if n > 1 else None
        net.transition(
            f"{name}.grant{k}",
            take=take,
            guard=guard,
            put=[targets[k].forward("t"), turn.emit(next=(k + 1) % n), *others_put[k]],
            delay=delays[k],
        )
    return out


def _each(name, what, given, n):
    """`given` per input: a list of n, or the same for all."""
    if not isinstance(given, (list, tuple)):
        return [given] * n
    if len(given) != n:
        raise mistake(
            "E-operand", f"arbiter '{name}' has {n} inputs, but {len(given)} entries in {what}"
        )
    return given


def _nobody_before(k, others, n):
    """The guard of input k: every other input that comes before it in this turn is empty."""
    if not others:
        return None

    def condition(turn, *watched):
        holds = True
        for j, arc in zip(others, watched):
            # j is before k when the distance from the turn is less.
            mine = select(turn.next <= k, k - turn.next, k - turn.next + n)
            its = select(turn.next <= j, j - turn.next, j - turn.next + n)
            holds = (
                (arc.free == 0) | (mine < its)
                if holds is True
                else holds & ((arc.free == 0) | (mine < its))
            )
        return holds

    return Over(["turn"] + [f"other{j}" for j in others], condition)
