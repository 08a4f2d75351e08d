"""What is known of each unknown: the formula of a site, a number, and what decided it."""

from __future__ import annotations

from dataclasses import dataclass, field

from .formula import Formula
from .terms import Site

__all__ = ["FREE", "Found", "Number"]

# Room or servers of which no start shows a limit: at least that, and 4 times what is used.
FREE = 64


@dataclass
class Found:
    """What is known about the formula of a site. `met` of `events` instants are exact with it;
    `support`: those that nothing else explains, at `points` different values of the features;
    `also`: other formulas that meet as many. `hidden`: no instant tells it alone.
    """

    site: Site
    formula: Formula
    events: int = 0
    met: int = 0
    passed: int = 0
    support: int = 0
    points: int = 0
    also: list[Formula] = field(default_factory=list)
    constant: dict[str, int] = field(default_factory=dict)  # features that had one value only
    hidden: str = ""
    residuals: dict[int, int] = field(default_factory=dict)
    fits: tuple[int, int | None] | None = None  # constants that do as well, where support is 0
    overtaking: bool = False  # whose a recorded commit is is not known


@dataclass
class Number:
    """A number: capacity, servers, tokens of a pool, or one that was tried out. Every value in
    `fits` meets as many instants; None: no end.
    """

    name: str
    value: int
    support: int = 0
    fits: tuple[int, int | None] = (0, 0)
    passed: int = 0
