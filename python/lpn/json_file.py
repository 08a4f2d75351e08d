"""JSON that may come from anyone, packed or not: every way in which it is none, or says two things,
is an error.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from typing import Any

from .errors import without_place
from .words import shortened

__all__ = ["json_data", "json_lines", "parse_json", "read_json", "unpacked", "unpacked_of"]

_SHOWN = 40  # characters of a name or a number in a message


class _Wrong(ValueError):
    """What the JSON module itself would have accepted."""


def _constant(name):
    raise _Wrong(f"{name} is no number of JSON; write a finite one")


def _whole(digits):
    if len(digits) > 1000:  # Python's own limit speaks of sys.set_int_max_str_digits
        raise _Wrong(f"the number {shortened(digits, _SHOWN)} has {len(digits)} digits")
    return int(digits)


def _fraction(digits):
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise _Wrong(f"the number {shortened(digits, _SHOWN)} is too large")
    return value


def _object(pairs):
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise _Wrong(
            f"the key '{shortened(twice, _SHOWN)}' stands twice in one object; keep one of them"
        )
    return found


def json_data(text: str | bytes) -> Any:
    """The data of a JSON text. Raises ValueError, with the reason, for text that is not JSON (with
    its line and column), is not UTF-8 or nested too deeply, for NaN and infinite or endless
    numbers, and for a key twice in one object, of which one value would be lost.
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
    raise ValueError(why)


def parse_json(text: str | bytes, what: str, code: str = "E-input") -> Any:
    """json_data(text), with Error `code` in place of ValueError; its text begins with `what`."""
    try:
        return json_data(text)
    except ValueError as error:
        raise without_place(code, f"{what}: {error}") from None


def read_json(path: str | os.PathLike[str], code: str = "E-input", what: str = "not JSON") -> Any:
    """The data of a JSON file, packed or not. `what`: how messages call a file that is none. Raises Error
    `code` with the file's name for one that cannot be read, and as parse_json.
    """
    try:
        data = unpacked(path)
    except ValueError as error:
        raise without_place(code, str(error)) from None
    except OSError as error:
        raise without_place(code, f"cannot read {os.fspath(path)}: {error.strerror}") from None
    return parse_json(data, f"{os.fspath(path)} is {what}", code)


def unpacked(path: str | os.PathLike[str], most: int = 1 << 30) -> bytes:
    """The bytes of a file, unpacked where its first ones say gzip or xz.

    Raises OSError, and ValueError for a packed file that is damaged or cut, and for more than
    `most` bytes.
    """
    with open(path, "rb") as file:
        return unpacked_of(file, path, most)


def unpacked_of(
    file: io.BufferedReader, path: str | os.PathLike[str], most: int = 1 << 30
) -> bytes:
    """unpacked() of a file that is open."""
    import gzip
    import lzma
    import zlib

    head = file.peek(6)[:6]
    kind = {b"\x1f\x8b": "gzip", b"\xfd7": "xz"}.get(head[:2])
    packed: Any = file
    if kind == "gzip":
        packed = gzip.GzipFile(fileobj=file)
    elif kind == "xz":
        packed = lzma.LZMAFile(file)
    try:
        data: bytes = packed.read(most + 1)
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
        raise ValueError(f"{os.fspath(path)} is no whole {kind} file: {error}") from None
    if len(data) > most:
        raise ValueError(f"{os.fspath(path)} has more than {most >> 20} MiB")
    return data


def json_lines(path: str | os.PathLike[str], data: bytes) -> Iterator[tuple[int, Any]]:
    """(number, data) of each line that is not empty, of a file with one JSON text per line.

    `data`: what unpacked(path) gave. Raises ValueError with the path and the line.
    """
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            found = json_data(line)
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}, line {number}: no JSON: {error}") from None
        yield number, found
