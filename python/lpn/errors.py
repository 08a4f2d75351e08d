"""Errors of the author's or user's making: a code, what is wrong, what to write, and where."""

import contextlib

from _lpn import Error, RunError

from .authoring import source as _source

__all__ = ["Error", "RunError", "formulas", "mistake", "within", "listed"]

_context = []

# The formulas being run, innermost last: mistakes in them show where in the line.
formulas = []


@contextlib.contextmanager
def within(what):
    """Names what is being built; the messages of mistakes made meanwhile end with it."""
    _context.append(what)
    try:
        yield
    finally:
        _context.pop()


def mistake(code, message, at=None):
    """An Error to raise. `at`: (file name, line) of the author's Python; default: the caller's."""
    text = message
    if _context:
        text += "\n  in " + ", ".join(_context)
    text += _source.excerpt(at if at is not None else _source.caller(columns=bool(formulas)))
    error = Error(code, text)
    error.placed = True
    return error


def placed(error, at=None):
    """The same error with its place, for errors of the C++ side that know none."""
    if getattr(error, "placed", False) or isinstance(error, RunError):
        return error
    return mistake(error.code, str(error), at)


def listed(names, none="none"):
    """'a, b, c' for messages."""
    return ", ".join(names) or none
