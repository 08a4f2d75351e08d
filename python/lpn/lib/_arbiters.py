"""Arbiters: several queues into one, one grant at a time."""

from ..authoring.around import check_apart
from ..authoring.token import Int
from ..authoring.trace import Over
from ..errors import mistake
from ._ports import record
from ._queues import distinct, output_like

__all__ = ["each", "priority", "round_robin"]

_turns = {}


def _turn_type(n):
    """The pointer of an arbiter over n inputs, one type per n."""
    if n not in _turns:
        _turns[n] = record(f"Turn{n}", "Whose turn it is.", next=Int[0, n - 1])
    return _turns[n]


def each(name, what, given, n):
    """`given` per input: a list of n, or the same for all. Raises Error "E-operand"."""
    if not isinstance(given, (list, tuple)):
        return [given] * n
    if len(given) != n:
        raise mistake(
            "E-operand", f"arbiter '{name}' has {n} inputs, but {len(given)} entries in {what}"
        )
    check_apart(given, f"arbiter '{name}': the entries of {what}")
    return list(given)


def _several(credit):
    """An input's credits as a list: none, a place, or places."""
    if credit is None:
        return []
    return list(credit) if isinstance(credit, (list, tuple)) else [credit]


class _Arbiter:
    """What both arbiters have in common: inputs, what a grant takes and puts, bursts."""

    def __init__(self, net, name, inputs, out, delay, also, guard, credit, last):
        self.net, self.name = net, name
        inputs = distinct(name, "inputs", inputs)
        if not inputs:
            raise mistake("E-operand", f"arbiter '{name}' needs at least one input")
        self.n = n = len(inputs)
        self.several = isinstance(out, (list, tuple))
        outs = each(name, "out", out, n)
        if not self.several:
            outs = [output_like(net, name, inputs[0], out)] * n
        self.targets = [output_like(net, name, source, o) for source, o in zip(inputs, outs)]
        self.out = out if self.several else self.targets[0]
        self.delays = each(name, "delay", delay, n)
        self.also = each(name, "also", also if also is not None else [[]] * n, n)
        self.last = last
        self.credits = [_several(c) for c in each(name, "credit", credit, n)]
        self.guards = each(name, "guard", guard, n)
        self.inputs = inputs
        self.held = (
            [net.place(f"{name}.held{k}") for k in range(n)] if last is not None else [None] * n
        )

    def grant(self, name, k, take, turn):
        """A transition that grants input k. `take`: what it takes besides; `turn`: what it puts when
        the grant ends, a function of the count.
        """
        arcs = {**take, "t": self.inputs[k]}
        for j, credit in enumerate(self.credits[k]):
            arcs[f"credit{j or ''}"] = credit
        put = [self.targets[k].forward("t")]
        if self.last is None:
            put += turn(1)
        else:
            ends = Over(["t"], lambda t: 1 if self.last(t) else 0)
            goes_on = Over(["t"], lambda t: 0 if self.last(t) else 1)
            put += [*turn(ends), self.held[k].emit(count=goes_on)]
        self.net.transition(
            name, take=arcs, put=[*put, *self.also[k]], delay=self.delays[k], guard=self.guards[k]
        )

    def bursts(self, turn):
        """Grants of the inputs that hold the arbiter until their burst has ended."""
        if self.last is not None:
            for k in range(self.n):
                self.grant(f"{self.name}.burst{k}", k, {"held": self.held[k]}, turn(k))


def priority(
    net, name, inputs, out=None, *, delay=1, also=None, guard=None, credit=None, last=None
):
    """The first of `inputs` that has a token wins; one token passes per `delay` cycles.

    `delay`, `also`, `guard`, `credit`, `last`: as of round_robin. Returns `out`.

    Raises Error "E-operand" for no input, or a list of another length.
    """
    a = _Arbiter(net, name, inputs, out, delay, also, guard, credit, last)
    idle = net.place(f"{name}.idle", init=1)

    def turn(ends):
        return [idle.emit(count=ends)]

    for k in range(a.n):
        a.grant(f"{name}.grant{k}", k, {"idle": idle}, turn)
    a.bursts(lambda k: turn)
    return a.out


def round_robin(
    net,
    name,
    inputs,
    out=None,
    *,
    delay=1,
    skip_empty=True,
    also=None,
    guard=None,
    credit=None,
    last=None,
):
    """Each of `inputs` in turn; one token passes per `delay` cycles.

    The turn goes to the input after the one that was granted last. `skip_empty`: an input without
    a token is passed over; False: the arbiter waits for it. `delay`: cycles, or a function of the
    arc `t`; the arbiter is busy for so long. `also`: what a grant puts besides. `guard`: a condition
    of the arc `t`; a head that does not meet it takes no part, and is there for others to take.
    `credit`: a place; each grant takes one of its tokens. `last`: a condition of the arc `t`; the
    grant stays with its input until a token meets it (a burst).

    `out`, `delay`, `also`, `guard` and `credit` may be lists with an entry per input (of `credit` a
    place, a list of places, or None); an input is passed over while its own credits are used up.
    Returns `out`.

    Two transitions per input: it comes at or after the turn, or before it. Without `skip_empty`, one.

    Raises Error "E-operand" for no input, or a list of another length.
    """
    a = _Arbiter(net, name, inputs, out, delay, also, guard, credit, last)
    n = a.n
    place = net.place(f"{name}.turn", _turn_type(n), init=[{"next": 0}])

    def turn(k):
        return lambda ends: [place.emit(count=ends, next=(k + 1) % n)]

    def grants(title, which, comes):
        """`comes`: the guard on the turn of input k's grant."""
        for k in which:
            take = place.take(guard=comes(k)) if n > 1 else place
            a.grant(f"{name}.{title}{k}", k, {"turn": take}, turn(k))

    if skip_empty:
        # The earlier transition goes first: inputs from the turn on, then those before it.
        grants("grant", range(n), lambda k: lambda turn: turn.next <= k)
        grants("wrap", range(n - 1), lambda k: lambda turn: turn.next > k)
    else:
        grants("grant", range(n), lambda k: lambda turn: turn.next == k)
    a.bursts(turn)
    return a.out
