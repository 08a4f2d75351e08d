"""The page of a net, and of its run: one HTML file that needs nothing else."""

import gzip
import html
import json
import os

import _lpn

from ._errors import mistake

__all__ = ["page", "page_folder"]

_PARTS = ("page.js", "page.css", "fonts.css", "elk.b64", "notice.txt")
_OTHERS = ("export.mjs", "resvg.wasm")  # for pictures


def page_folder():
    """The folder of the page's parts. Raises Error "E-viz" when they were not built."""
    folder = os.path.join(os.path.dirname(os.path.abspath(_lpn.__file__)), "lpn_page")
    if all(os.path.isfile(os.path.join(folder, name)) for name in _PARTS + _OTHERS):
        return folder
    why = "there was no npm"
    try:
        with open(os.path.join(folder, "skipped.txt"), encoding="utf-8") as file:
            why = file.read().strip()
    except OSError:
        pass
    raise mistake("E-viz", f"the page of lpn viz was skipped when this was built: {why}\n"
                  "  install Node.js with npm (Debian: apt-get install nodejs npm) and build again")


def packed(data):
    """Bytes or text as the page carries it: gzip, base64."""
    import base64

    if isinstance(data, str):
        data = data.encode()
    return base64.b64encode(gzip.compress(data, 6, mtime=0)).decode("ascii")


def _sources(net):
    """The lines of the net's files that are found from here, for the page's source view."""
    found = {}
    for name in net._core.files:
        try:
            with open(name, encoding="utf-8") as file:
                text = file.read(1 << 20)
        except (OSError, UnicodeDecodeError):
            continue
        found[name] = text.splitlines()
    return found


def page(net, values, marking, about):
    """The HTML text. `about`: what its head says (title, subtitle)."""
    folder = page_folder()
    part = {}
    for name in _PARTS:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            part[name] = file.read()
    data = [("net", "application/json", _lpn.viz.describe(net._core, values, marking._core)),
            ("about", "application/json", _json({**about, "notice": part["notice.txt"]})),
            ("sources", "text/plain", packed(json.dumps(_sources(net)))),
            ("elk", "text/plain", part["elk.b64"])]
    scripts = "\n".join(f'<script type="{kind}" id="{name}">{text}</script>' for name, kind, text in data)
    return (f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'<title>{html.escape(about["title"])}</title>\n'
            f'<!-- Made by lpn viz. Contains {html.escape(part["notice.txt"])}. -->\n'
            f'<style>{part["fonts.css"]}{part["page.css"]}</style>\n</head>\n<body>\n{scripts}\n'
            f'<script>{part["page.js"]}</script>\n</body>\n</html>\n')


def _json(value):
    """JSON that can stand in a script element."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
