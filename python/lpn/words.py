"""Numbers as people write them; counts, times and rates as they read them."""

from __future__ import annotations

import math
import re
from decimal import ROUND_DOWN, Decimal

__all__ = [
    "counted",
    "decimal",
    "duration",
    "grouped",
    "integer",
    "modelled",
    "precise_rate",
    "rate",
    "seconds",
    "shortened",
]


def decimal(text: str) -> int:
    """The number of a text of 1 to 18 decimal digits, with blanks around it or without. Raises ValueError
    for another: int() takes 1_500, +5 and the digits of other scripts as well.
    """
    digits = text.strip(" \t")
    if not re.fullmatch("[0-9]{1,18}", digits):
        raise ValueError(f"{text!r} is no whole number of decimal digits, at most 18")
    return int(digits)


def integer(text: str) -> int:
    """The number that a text says in the decimal digits 0 to 9, or in others behind 0x, 0o or 0b, behind a
    minus or not; blanks around it count for nothing. Raises ValueError for another.
    """
    digits = text.strip(" \t")
    if not re.fullmatch("-?[0-9A-Za-z]{1,100}", digits):
        raise ValueError(f"{text!r} is no whole number")
    return int(digits, 0)


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
