"""An arbiter that classes do not cover, for the suites of proofs."""

import lpn
from lpn.authoring.trace import Over

__all__ = ["by_free_counts"]


class Turn(lpn.Token):
    next: lpn.Int[0, 63]


def by_free_counts(net, name, inputs, out, *, delay):
    """A round robin with a transition per input, whose guard asks which other inputs have no token."""
    n = len(inputs)
    turn = net.place(f"{name}.turn", Turn, init=[{"next": 0}])
    for k in range(n):
        others = [j for j in range(n) if j != k]
        watched = {f"other{j}": inputs[j].watch() for j in others}
        net.transition(
            f"{name}.grant{k}",
            take={
                **watched,
                "turn": turn.take(guard=Over(["turn", *watched], _nobody_before(k, others, n))),
                "t": inputs[k],
            },
            put=[out.forward("t"), turn.emit(next=(k + 1) % n)],
            delay=delay,
        )


def _nobody_before(k, others, n):
    """Each of the others is empty, or further from the turn than k."""

    def distance(turn, j):
        return lpn.select(turn.next <= j, j - turn.next, j - turn.next + n)

    def condition(turn, *watched):
        holds = turn.next >= 0
        for j, arc in zip(others, watched):
            holds &= (arc.free == 0) | (distance(turn, k) < distance(turn, j))
        return holds

    return condition
