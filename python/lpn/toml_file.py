"""TOML that may come from anyone, and the values that its keys may have."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

from .errors import without_place

__all__ = ["WrongValue", "one_of", "picoseconds", "read_toml", "toml_data", "whole"]

Check = Callable[[Any, str], Any]


def toml_data(data: bytes) -> dict[str, Any]:
    """The tables of a TOML text. Raises ValueError, with the reason, for what is none."""
    import tomllib  # not before it is needed: `import lpn` is light

    try:
        return tomllib.loads(data.decode("utf-8-sig").replace("\r\n", "\n"))
    except RecursionError:
        why = "lists and tables are nested too deeply"
    except UnicodeDecodeError as error:
        why = f"byte {error.start} is not UTF-8"
    except tomllib.TOMLDecodeError as error:
        why = str(error)
    except ValueError:  # of Python's int: TOML has no such limit, its numbers have 64 bits
        why = "a number has more digits than one of 64 bits"
    raise ValueError(why)


def read_toml(
    path: str | os.PathLike[str], code: str, unreadable: str | None = None
) -> dict[str, Any]:
    """The tables of a TOML file. Raises Error `unreadable`, or `code`, for one that cannot be read, and
    `code` for one that is no TOML.
    """
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise without_place(
            unreadable or code, f"cannot read {os.fspath(path)}: {error.strerror}"
        ) from None
    except ValueError:  # a character that no path has
        raise without_place(
            unreadable or code, f"cannot read {os.fspath(path)!r}: not a path"
        ) from None
    try:
        return toml_data(data)
    except ValueError as error:
        raise without_place(code, f"{os.fspath(path)} is not TOML: {error}") from None


class WrongValue(Exception):
    """What a key has is none of the values it may have; the text names the key."""


def whole(least: int, most: int) -> Check:
    """A check(value, name) for whole numbers in a range: the value, else WrongValue."""

    def check(value, name):
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise WrongValue(f"{name} must be a whole number {least}..{most}, got {value!r}")
        return value

    return check


def one_of(*values: object) -> Check:
    """A check(value, name) for one of these; 4.0 and true are not 4 and 1."""

    def check(value, name):
        if not any(value == each and type(value) is type(each) for each in values):
            raise WrongValue(f"{name} must be one of {', '.join(map(str, values))}, got {value!r}")
        return value

    return check


def picoseconds(value: object, name: str) -> int:
    """A number of nanoseconds, 0 to 1e9 with at most three decimals, as ps; else WrongValue."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise WrongValue(f"{name} must be a number of nanoseconds, got {value!r}")
    if not math.isfinite(value) or not 0 <= value <= 1e9:
        raise WrongValue(f"{name} must be 0 to 1e9 nanoseconds, got {value!r}")
    ps = round(value * 1000)
    if abs(ps - value * 1000) > 1e-6:
        raise WrongValue(f"{name} has more than three decimals: {value!r}")
    return ps
