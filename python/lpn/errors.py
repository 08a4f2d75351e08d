"""Errors of the author's or user's making: a code, what is wrong, what to write, and where."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from typing import Any

from _lpn import Error, RunError

from . import source

__all__ = [
    "Error",
    "RunError",
    "describe",
    "formulas",
    "listed",
    "mistake",
    "naming",
    "near",
    "placed",
    "refusal",
    "within",
    "without_place",
]

_context: list[str] = []

# The formulas being run, innermost last: mistakes in them show where in the line.
formulas: list[Any] = []


@contextlib.contextmanager
def within(what):
    """Names what is being built; the messages of mistakes made meanwhile end with it."""
    _context.append(what)
    try:
        yield
    finally:
        _context.pop()


def mistake(code: str, message: str, at: tuple[Any, ...] | None = None) -> Error:
    """An Error to raise. `at`: (file name, line) of the author's Python; default: the caller's."""
    text = message
    if _context:
        text += "\n  in " + ", ".join(_context)
    text += source.excerpt(at if at is not None else source.caller(columns=bool(formulas)))
    error = Error(code, text)
    error.placed = True
    return error


def without_place(code: str, message: str) -> Error:
    """An Error of which no line of the author's Python is the reason."""
    error = Error(code, message)
    error.placed = True
    return error


def placed(error: Error, at: tuple[Any, ...] | None = None) -> Error:
    """The same error with its place, for errors of the C++ side that know none."""
    if getattr(error, "placed", False) or isinstance(error, RunError):
        return error
    return mistake(error.code, str(error), at)


def listed(names: Iterable[str], none: str = "none") -> str:
    """'a, b, c' for messages."""
    return ", ".join(names) or none


def near(name: object, known: Iterable[str]) -> str:
    """'; did you mean 'depth'?' for messages; '' when no known name is like it."""
    import difflib

    found = difflib.get_close_matches(str(name), list(known), 1)
    return f"; did you mean '{found[0]}'?" if found else ""


@contextlib.contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Errors of writing a file, as of a full disk, name it; those of opening one do by themselves."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = os.fspath(path)
        raise


def debugging() -> bool:
    """Whether LPN_DEBUG asks for tracebacks."""
    return os.environ.get("LPN_DEBUG", "") not in ("", "0")


def describe(error: BaseException) -> tuple[str, str]:
    """(code, message) of what went wrong, for the user: never a traceback."""
    code = getattr(error, "code", None)
    if isinstance(code, str) and code.startswith("E-"):
        return code, str(error)
    if isinstance(error, OSError):
        name = f"{error.filename}: " if error.filename else ""
        return "E-input", f"{name}{error.strerror or error}"
    if isinstance(error, MemoryError):
        return "E-memory", "out of memory"
    if isinstance(error, SyntaxError):
        return "E-model", f"{error.msg} ({error.filename}:{error.lineno})"
    return "E-model", (
        f"{type(error).__name__}: {error}{_innermost(error.__traceback__)}\n"
        "  LPN_DEBUG=1 shows where it comes from"
    )


def refusal(error: Exception) -> tuple[str, str]:
    """(code, message) of what a model, its workload or a run raised.

    A workload refuses an input with ValueError or OSError. What is nobody's refusal is raised again
    when LPN_DEBUG is set.
    """
    if isinstance(error, ValueError):
        return "E-input", str(error) or type(error).__name__
    if debugging() and not isinstance(error, (Error, OSError)):
        raise error
    return describe(error)


def _innermost(traceback):
    """'\\n  at model.py:12' for the innermost line outside this package."""
    here = os.path.dirname(os.path.realpath(__file__)) + os.sep
    found = ""
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        ours = os.path.realpath(file).startswith(here) or "/click/" in file
        if os.path.isfile(file) and not ours:
            found = f"\n  at {file}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return found
