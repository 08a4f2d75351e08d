"""How many ticks a second of nets that are instances of one another."""

from __future__ import annotations

from typing import NamedTuple

from ..errors import mistake

__all__ = ["Ticks"]


class Ticks(NamedTuple):
    """What `who` says of a net's ticks: the net's frequency, or an instance in it.

    second: ticks a second
    part, period: those of the instance itself, each of which is `period` ticks of the net
    rounding: how far off `second` may be, since frequencies are whole numbers
    """

    who: str
    second: int
    part: int
    period: int = 1
    rounding: int = 0

    @classmethod
    def stated(cls, net: str, frequency: int) -> Ticks:
        return cls(f"the frequency of net '{net}'", frequency, frequency)

    def inside(self, prefix: str, period: int) -> Ticks:
        """What an instance whose ticks these are, and last so many each, says of those around it."""
        return Ticks(
            f"instance '{prefix}'",
            self.second * period,
            self.second,
            period,
            self.rounding * period + period - 1,
        )

    def require(self, net: str, other: Ticks) -> None:
        """Raises Error "E-frequency" where the ticks of `net` are not what the other says, too."""
        if abs(self.second - other.second) <= self.rounding + other.rounding:
            return
        clock, rest = divmod(other.second, self.part)
        raise mistake(
            "E-frequency",
            f"a second has {other.second} ticks of net '{net}' by {other.who}, but {self.second} by "
            f"{self.who}: {self.part} of its own, each {self.period} of net '{net}'; "
            + (
                f"write clock={clock} for the instance"
                if rest == 0
                else f"let net '{net}' have ticks of which both are multiples, and write clock=..."
            ),
        )
