"""Errors of this folder: codes of docs/errors.md."""

from lpn import Error

__all__ = ["Error", "refused"]


def refused(code, text):
    """An lpn.Error that is no fault of a line of Python."""
    error = Error(code, text)
    error.placed = True
    return error
