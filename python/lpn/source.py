"""Where the author wrote something: the innermost frame outside this package."""

import contextlib
import functools
import os
import sys

__all__ = ["caller", "count_as_ours", "excerpt", "file_of", "is_ours", "of_function", "shown"]

_shown = {}  # (file name, current folder) -> name in messages
# What stands between two lines of this package is no author's either.
_ours = (
    os.path.dirname(os.path.abspath(__file__)) + os.sep,
    functools.__file__,
    contextlib.__file__,
)


def is_ours(filename):
    """Whether the file belongs to this package, whose lines say nothing to an author."""
    return filename.startswith(_ours)


def count_as_ours(*prefixes):
    """Files that begin with these are no author's either: what the command line is called
    through.
    """
    global _ours
    _ours += prefixes


def caller(columns=False):
    """(file name, line) of the author's innermost frame; with `columns` also where in the line."""
    frame = sys._getframe(1)
    while frame is not None and is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return ("", 0)
    at = (frame.f_code.co_filename, frame.f_lineno)
    if columns:
        at += _columns(frame.f_code, frame.f_lasti)
    return at


def _columns(code, instruction):
    """(first column, end) of the expression at an instruction, or () when over several lines."""
    for number, (line, end_line, column, end_column) in enumerate(code.co_positions()):
        if number == instruction // 2:
            known = None not in (line, end_line, column, end_column)
            return (column, end_column) if known and line == end_line else ()
    return ()


def of_function(function):
    """(file name, line) of a function's definition, or None when it has no Python code."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if code is None:
        inner = getattr(function, "func", None) or getattr(type(function), "__call__", None)
        code = getattr(inner, "__code__", None)
    if code is None or is_ours(code.co_filename):
        return None
    return (code.co_filename, code.co_firstlineno)


def shown(filename):
    """The name in messages and nets: relative below the current folder, else without folders."""
    if filename.startswith("<"):
        return filename
    try:
        here = os.getcwd() + os.sep
    except OSError:
        here = os.sep
    if (filename, here) not in _shown:
        path = os.path.realpath(filename)
        below = here != os.sep and path.startswith(here)
        _shown[filename, here] = path[len(here) :] if below else os.path.basename(path)
    return _shown[filename, here]


def file_of(name):
    """The path of the file that shown() called `name` in this process; None for none, or for
    several.
    """
    paths = {os.path.realpath(filename) for (filename, _), short in _shown.items() if short == name}
    return paths.pop() if len(paths) == 1 else None


def line_text(at):
    """The source line without its indent, or ''."""
    import linecache

    return linecache.getline(at[0], at[1]).strip()


def excerpt(at):
    """The last lines of a message: '\\n  at model.py:37:  the source line', and what it is about
    below.
    """
    if not at or not at[1]:
        return ""
    text = line_text(at)
    place = f"  at {shown(at[0])}:{at[1]}"
    if not text:
        return "\n" + place
    lines = f"\n{place}:  {text}"
    if len(at) == 4:
        import linecache

        raw = linecache.getline(at[0], at[1])
        # Positions count bytes of UTF-8.
        first, end = (len(raw.encode()[:column].decode(errors="ignore")) for column in at[2:])
        indent = len(raw) - len(raw.lstrip())
        if first >= indent and end - first < len(text):
            lines += "\n" + " " * (len(place) + 3 + first - indent) + "^" * (end - first)
    return lines
