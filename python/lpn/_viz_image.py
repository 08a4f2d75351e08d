"""Pictures of a net without a desktop: the page's own layout and drawing, run by Node.js.

Nothing is laid out or drawn here. export.mjs, which is built beside the page, makes SVG, and pixels of
it by resvg.
"""

import json
import shutil
import subprocess

import _lpn

from ._errors import mistake
from ._viz import page_folder

__all__ = ["Look", "write"]


class Look:
    """How a picture is drawn. `theme`: "light" or "dark"; `width`: pixels, None for two per px of the
    drawing; `collapsed`: groups drawn closed; `credits`: draw places that only carry credits."""

    def __init__(self, theme="light", width=None, collapsed=(), credits=False):
        self.theme = theme
        self.width = width
        self.collapsed = list(collapsed)
        self.credits = credits

    def job(self, **more):
        return {"theme": self.theme, "width": self.width, "collapsed": self.collapsed,
                "credits": self.credits, **more}


def tool(names, package):
    """The path of a program. Raises Error "E-viz-tool" with the Debian package that has it."""
    for name in names:
        found = shutil.which(name)
        if found:
            return found
    raise mistake("E-viz-tool", f"'{names[0]}' is not on PATH, and this file needs it; "
                  f"on Debian: apt-get install {package}")


def write(kind, net, values, marking, path, look):
    """Writes the net as an SVG or PNG file (`kind`), the tokens of `marking` in it.

    Raises Error "E-viz" (the page was not built), "E-viz-tool" (no Node.js), "E-picture" (a group that
    the net has not, a picture too large), OSError.
    """
    job = look.job(net=_lpn.viz.describe(net._core, values, marking._core), format=kind)
    data = run_node(job)
    with open(path, "wb") as file:
        file.write(data)


def run_node(job):
    """What export.mjs makes of a job, as bytes."""
    with started(job) as process:
        data, said = process.communicate()
    if process.returncode != 0:
        raise refusal(said)
    return data


def started(job, **options):
    """export.mjs at work on a job, as a process."""
    folder = page_folder()
    node = tool(("node", "nodejs"), "nodejs")
    job = json.dumps({"folder": folder, **job}).encode()
    process = subprocess.Popen([node, f"{folder}/export.mjs"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, **options)
    try:
        process.stdin.write(job)
        process.stdin.close()
    except BrokenPipeError:
        pass  # it says why on stderr
    process.stdin = None
    return process


def refusal(said):
    """The error that export.mjs ended with."""
    lines = said.decode(errors="replace").strip().splitlines()
    return mistake("E-picture", lines[-1] if lines else "the program that draws ended without a word")
