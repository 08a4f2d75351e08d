"""The page of lpn wave: -o FILE.html of stalls and compare."""

import os
import re

import click

from ...command import OutputFile
from ...errors import mistake
from ...pages.page import document, packed, page_folder, write_document
from ...source import shown


class Part(click.ParamType):
    """A:B, as (A, B + 1); either may be left out."""

    name = "a:b"

    def convert(self, value, param, ctx):
        if isinstance(value, tuple):
            return value
        found = re.fullmatch(r"([0-9]{0,18}):([0-9]{0,18})", value)
        begin = int(found[1] or 0) if found else 0
        end = int(found[2]) if found and found[2] else 1 << 62
        if not found or value == ":" or begin > end:
            self.fail(f"{value!r} is no part: write A:B with whole cycles 0 <= A <= B")
        return begin, end + 1


class Page(OutputFile):
    """An .html file to write; Error E-viz before the work where pages were not built."""

    def convert(self, value, param, ctx):
        path = super().convert(value, param, ctx)
        if not path.lower().endswith((".html", ".htm")):
            self.fail(f"'{path}' is no .html file, and a page is one", param, ctx)
        page_folder()
        return path


_OUTPUT = click.option(
    "-o",
    "--output",
    type=Page(),
    metavar="FILE.html",
    help="Writes a page that shows the channels over time; it opens in any browser.",
)
_PART = click.option(
    "--part",
    type=Part(),
    metavar="A:B",
    help="Of a long recording's page: the cycles that it has one by one.",
)


def page_options(command):
    """-o and --part."""
    return _OUTPUT(_PART(command))


def check(output, part):
    """Refuses --part without a page."""
    if part is not None and output is None:
        raise click.UsageError("--part is of the page; write it with -o FILE.html")


def name_of(path):
    """As a page, which may be passed on, calls a file: without the folders of this machine."""
    return shown(path) if path != "-" else "stdin"


def write(output, about, lanes, part):
    """Writes the page of `about` and the bytes of each run's lanes; its size in bytes."""
    if part is not None:
        end = max(run["end"] for run in about["runs"])
        if part[0] >= end:
            raise mistake(
                "E-window",
                f"--part begins at {part[0]}, after the recording has ended at {end}",
            )
        about["window"] = [part[0], min(part[1] - 1, end)]
    data = [(f"lanes-{k}", "text/plain", packed(each)) for k, each in enumerate(lanes)]
    text = document("wave.js", about, data)
    write_document(output, text)
    return os.path.getsize(output)
