"""Counts, times and rates as people read them."""

from __future__ import annotations

import math
from decimal import ROUND_DOWN, Decimal

__all__ = [
    "counted",
    "duration",
    "grouped",
    "modelled",
    "precise_rate",
    "rate",
    "seconds",
    "shortened",
]


def grouped(number: int | None) -> str:
    """1234567 as '1 234 567'; None as '-'."""
    return "-" if number is None else f"{number:,}".replace(",", " ")


def seconds(value: float) -> str:
    """A duration to read: '3.2 ms', '1.4 s'."""
    if value < 1e-3:
        return f"{value * 1e6:.0f} us"
    if value < 1:
        return f"{value * 1e3:.1f} ms"
    return f"{value:.2f} s"


def duration(cycles: int | None, frequency: int | None) -> str:
    """So many ticks of a net of that frequency (Hz), to read: '1.69 ms'; '' where one is None."""
    return "" if cycles is None or frequency is None else modelled(cycles / frequency)


def modelled(value: float) -> str:
    """Seconds of the modelled hardware, to read, of which nanoseconds count: '48 ns', '1.69 ms'."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)):
        if value >= scale:
            return f"{value / scale:.4g} {unit}"
    return f"{value / 1e-12:.4g} ps"


def rate(value: float) -> str:
    """Something per second to read: '1.6 G', '420 M', '17 k'."""
    for unit, scale in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= scale:
            return f"{value / scale:.{1 if value < 10 * scale else 0}f} {unit}"
    return f"{value:.0f}"


def precise_rate(value: float) -> str:
    """A rate as an answer, '51.57 M': four digits, cut off, as a guarantee is not to be told larger."""
    for unit, scale in (("G", 10**9), ("M", 10**6), ("k", 10**3)):
        if value >= scale:
            scaled = Decimal(value) / scale
            digits = 3 if scaled < 10 else 2 if scaled < 100 else 1
            return f"{scaled.quantize(Decimal(1).scaleb(-digits), ROUND_DOWN)} {unit}"
    return f"{math.floor(value)}"


def shortened(text: str, most: int = 60) -> str:
    """What a message shows of a text that may be long: its beginning."""
    return text if len(text) <= most else f"{text[:most]}..."


def counted(number: int, noun: str) -> str:
    """'1 place', '3 places'."""
    return f"{number} {noun}" + ("" if number == 1 else "s")
