"""Where the author wrote something: the innermost frame outside this package."""

import os
import sys

__all__ = ["caller", "excerpt", "is_ours", "of_function", "shown"]

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def is_ours(filename):
    """Whether the file belongs to this package, whose lines say nothing to an author."""
    return filename.startswith(_HERE)


def caller():
    """(file name, line) of the author's innermost frame."""
    frame = sys._getframe(1)
    while frame is not None and is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return ("", 0)
    return (frame.f_code.co_filename, frame.f_lineno)


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
    path = os.path.abspath(filename)
    try:
        here = os.getcwd() + os.sep
    except OSError:
        here = None
    if here and path.startswith(here):
        return path[len(here):]
    return os.path.basename(path)


def line_text(at):
    """The source line without its indent, or ''."""
    import linecache

    return linecache.getline(at[0], at[1]).strip()


def excerpt(at):
    """The last line of a message: '\\n  at model.py:37:  the source line'."""
    if not at or not at[1]:
        return ""
    text = line_text(at)
    return f"\n  at {shown(at[0])}:{at[1]}" + (f":  {text}" if text else "")
