"""JSON that may come from anyone: every way in which it is none, or says two things, is an Error."""

from __future__ import annotations

import os
from typing import Any

from .errors import without_place

__all__ = ["parse_json", "read_json"]

_SHOWN = 40  # characters of a name or a number in a message


def _short(text):
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


class _Wrong(ValueError):
    """What the JSON module itself would have accepted."""


def _constant(name):
    raise _Wrong(f"{name} is no number of JSON; write a finite one")


def _whole(digits):
    if len(digits) > 1000:  # Python's own limit speaks of sys.set_int_max_str_digits
        raise _Wrong(f"the number {_short(digits)} has {len(digits)} digits")
    return int(digits)


def _fraction(digits):
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise _Wrong(f"the number {_short(digits)} is too large")
    return value


def _object(pairs):
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise _Wrong(f"the key '{_short(twice)}' stands twice in one object; keep one of them")
    return found


def parse_json(text: str | bytes, what: str, code: str = "E-input") -> Any:
    """The data of a JSON text. Raises Error `code`, which begins with `what`, for text that is not
    JSON (with its line and column), is not UTF-8 or nested too deeply, for NaN and infinite or
    endless numbers, and for a key twice in one object, of which one value would be lost.
    """
    import json  # not before it is needed: `import lpn` is light

    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8-sig")
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_float=_fraction,
            parse_int=_whole,
        )
    except RecursionError:
        why = "lists and objects are nested too deeply"
    except UnicodeDecodeError as error:
        why = f"byte {error.start} is not UTF-8"
    except ValueError as error:
        why = str(error)
    raise without_place(code, f"{what}: {why}")


def read_json(path: str | os.PathLike[str], code: str = "E-input", what: str = "not JSON") -> Any:
    """The data of a JSON file. `what`: how messages call a file that is none. Raises Error `code`
    with the file's name for one that cannot be read, and as parse_json.
    """
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise without_place(code, f"cannot read {os.fspath(path)}: {error.strerror}") from None
    return parse_json(data, f"{os.fspath(path)} is {what}", code)
