"""Runs and nets as files of other tools: which ending is which format, and the file itself."""

import os

import _lpn

from ..errors import mistake
from ..output_file import written
from ..runs.run import execute
from ..words import decimal

__all__ = ["FORMATS", "Window", "format_of", "write_run"]

# Ending -> format; the first of a format is how messages call it. Those of COMPRESSED may end in
# .gz.
FORMATS = {
    ".html": "page",
    ".json": "perfetto",
    ".perfetto": "perfetto",
    ".vcd": "vcd",
    ".pnml": "pnml",
    ".svg": "svg",
    ".png": "png",
    ".gif": "gif",
    ".webm": "webm",
}
COMPRESSED = ("perfetto", "vcd")


class Window:
    """A part of a run: cycles `begin` to `end`, both included."""

    def __init__(self, begin=0, end=None):
        self.begin = begin
        self.end = _lpn.FOREVER if end is None else end

    @classmethod
    def parse(cls, text):
        """Of "A:B", "A:" or ":B". Raises Error "E-window"."""
        begin, colon, end = text.partition(":")
        try:
            window = cls(decimal(begin or "0"), decimal(end) if end else None)
        except ValueError:
            colon = ""
        if not colon or not 0 <= window.begin <= window.end <= _lpn.FOREVER:
            raise mistake(
                "E-window",
                f"'{text}' is no window: write --window A:B with whole cycles "
                "0 <= A <= B; A: goes on to the end of the run, :B begins with it",
            )
        return window

    def cut(self, end):
        """The window's end in a run that ends at `end`. Raises Error "E-window" when that is before
        it.
        """
        if self.begin > end:
            raise mistake(
                "E-window",
                f"the window begins at cycle {self.begin}, after the run has " f"ended at {end}",
            )
        return min(self.end, end)


def format_of(path):
    """The format that a file's ending names, or None for one that is not ours."""
    name = path.lower()
    packed = name.endswith(".gz")
    found = FORMATS.get(os.path.splitext(name[:-3] if packed else name)[1])
    return None if packed and found not in COMPRESSED else found


def write_run(kind, net, values, marking, library, path, window, limit=None, on_slice=None):
    """Runs the net and writes the part of the run inside `window`; returns the Run.

    `kind`: "perfetto" or "vcd". `library`: compiled with trace=True, or None for the interpreter,
    which alone knows why transitions wait: only then are there tracks of it in a Perfetto file. The
    run goes to its end, or to `limit`, whatever the window is: which firings are in flight is known
    when they commit. Raises Error "E-export-size", RunError, OSError.
    """
    arguments = (net._core, values, marking._core)
    with written(path, binary=True) as file:
        if kind == "perfetto":
            observer = _lpn.sim.Timeline(*arguments, file.write, window.begin, window.end)
        else:
            observer = _lpn.sim.Vcd(*arguments, window.begin, window.end)
        waits = kind == "perfetto" and library is None
        run = execute(
            net,
            values,
            marking,
            library,
            limit=limit,
            observer=observer,
            on_slice=on_slice,
            stats=waits,
            watch=observer if waits else None,
        )
        window.cut(run.end)
        if kind == "perfetto":
            observer.finish(run.ending, run.end)
        else:
            observer.finish(run.end, file.write)
    return run
