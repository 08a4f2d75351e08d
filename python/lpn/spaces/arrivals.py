"""When the tokens of an input space may arrive: sets of times, where lpn.Traffic draws some."""

from ..authoring.check import plain
from ..errors import mistake

__all__ = ["LATEST", "Bucket", "Periodic"]


LATEST = 2**40  # cycles


class Periodic:
    """A token every `period` cycles, the first at `offset`, each up to `jitter` cycles late.

    `offset`: a cycle, or a range (lo, hi) of a phase that is not known. Token k arrives within
    offset + k * period .. offset + k * period + jitter, and not before the one in front of it: with
    a jitter beyond the period they are in the order of their arrival. Raises Error "E-space".
    """

    def __init__(self, period, *, jitter=0, offset=0):
        self.period = _cycles(period, "space.periodic(period)", 1)
        self.jitter = _cycles(jitter, "space.periodic(jitter)")
        given = offset if isinstance(offset, tuple) and len(offset) == 2 else (offset, offset)
        self.offset = tuple(_cycles(cycle, "space.periodic(offset)") for cycle in given)
        if self.offset[0] > self.offset[1]:
            raise mistake(
                "E-space", f"space.periodic(offset): {offset} is empty; the least comes first"
            )

    def times(self, number, variable, require):
        """The time of each of `number` tokens. `variable(k, lo, hi)`: of token k's time."""
        (least, most), shift = self.offset, self.period
        if least == most and self.jitter == 0:
            return [least + k * shift for k in range(number)]
        if self.jitter == 0:  # one phase
            first = variable(0, least, most) if number else 0
            return [first + k * shift for k in range(number)]
        found = [
            variable(k, least + k * shift, most + k * shift + self.jitter) for k in range(number)
        ]
        if least != most:
            # Some phase has each of them within the jitter.
            for k, late in enumerate(found):
                for j, early in enumerate(found):
                    if j != k:
                        require(late - early <= (k - j) * shift + self.jitter)
        return found


class Bucket:
    """At most `burst` tokens at once, and one more in each `period` cycles: a leaky bucket.

    In t cycles at most burst + t // period tokens arrive, whenever these cycles begin: sigma and
    rho of network calculus, rho being 1 / period. The last arrives at `until` at the latest.
    Raises Error "E-space".
    """

    def __init__(self, burst, period, *, until):
        self.burst = _cycles(burst, "space.bucket(burst)", 1)
        self.period = _cycles(period, "space.bucket(period)", 1)
        self.until = _cycles(until, "space.bucket(until)")

    def times(self, number, variable, require):
        """As Periodic.times."""

        def apart(tokens):
            """How far the last of so many in a row is behind the first of them at least."""
            return max(tokens - self.burst, 0) * self.period

        if apart(number) > self.until:
            raise mistake(
                "E-space",
                f"space.bucket: {number} tokens take at least {apart(number)} cycles; let them come "
                f"until={apart(number)} or later",
            )
        found = [variable(k, apart(k + 1), self.until - apart(number - k)) for k in range(number)]
        for k, late in enumerate(found):
            for j, early in enumerate(found[:k]):
                if apart(k - j + 1):
                    require(late - early >= apart(k - j + 1))
        return found


def _cycles(value, what, least=0):
    value = plain(value, what)
    if not least <= value <= LATEST:
        raise mistake("E-space", f"{what} = {value}; cycles lie within {least}..2**40")
    return value
