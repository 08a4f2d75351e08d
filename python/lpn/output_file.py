"""Files that are written whole, or not at all."""

from __future__ import annotations

import contextlib
import gzip
import os
import shutil
from collections.abc import Iterator
from typing import Any

from .errors import naming

__all__ = ["written"]


@contextlib.contextmanager
def written(path: str | os.PathLike[str], binary: bool = False) -> Iterator[Any]:
    """The file to write, as UTF-8 text or for bytes, compressed when it ends in
    .gz. It gets its name when the block has ended well: until then, and when something goes wrong, an
    older file of that name stays as it is, or there is none. Raises OSError, which names `path`.
    """
    name, at = _places(os.fspath(path))
    with contextlib.ExitStack() as undo:
        if at != name:
            undo.callback(_remove, at)
        with naming(path), contextlib.ExitStack() as closed:
            file: Any
            try:
                file = open(at, "wb") if binary else open(at, "w", encoding="utf-8")
            except OSError as error:
                error.filename = os.fspath(path)
                raise
            closed.enter_context(file)
            if binary and name.lower().endswith(".gz"):
                packed = gzip.GzipFile(os.path.basename(name), "wb", 3, file)
                file = closed.enter_context(packed)
            yield file
        if at != name:
            with contextlib.suppress(FileNotFoundError):
                shutil.copymode(name, at)
            os.replace(at, name)


def _places(path):
    """The file that `path` names, and where it is written first: beside it, else in place, as a pipe,
    or where that is all we may write.
    """
    name = os.path.realpath(path)
    folder = os.path.dirname(name)
    fresh = not os.path.exists(path)
    ours = fresh or os.path.isfile(path) and os.access(path, os.W_OK)
    if name.startswith(("/dev/", "/proc/")) or not ours or not os.access(folder, os.W_OK):
        return path, path
    # No longer than any name may be.
    return name, os.path.join(folder, f".lpn-{os.getpid()}-{hash(name) & 0xFFFFFFFF:x}")


def _remove(path):
    with contextlib.suppress(OSError):
        os.unlink(path)
