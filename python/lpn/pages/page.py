"""Pages, one HTML file each that needs nothing else: of a net and its run, and the frame of others."""

import gzip
import html
import json
import os

import _lpn

from ..errors import mistake
from ..output_file import written
from ..runs.result import fields_of
from ..runs.run import execute
from ..source import file_of

__all__ = ["Recorded", "document", "page", "page_folder", "record", "write_document"]

_PARTS = ("page.js", "wave.js", "page.css", "fonts.css", "elk.b64", "notice.txt")
_OTHERS = ("export.mjs", "resvg.wasm")  # for pictures


def page_folder():
    """The folder of the page's parts. Raises Error "E-viz" when they were not built."""
    folder = os.path.join(os.path.dirname(os.path.abspath(_lpn.__file__)), "lpn_page")
    if all(os.path.isfile(os.path.join(folder, name)) for name in _PARTS + _OTHERS):
        return folder
    why = ""
    try:
        with open(os.path.join(folder, "skipped.txt"), encoding="utf-8") as file:
            why = f": {file.read().strip()}"
    except OSError:
        pass  # `make demo` and `make tools` leave it out
    raise mistake(
        "E-viz",
        f"the page of lpn viz is not built{why}\n"
        "  run `make page`; it needs Node.js with npm (Debian: apt-get install nodejs npm)",
    )


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
            with open(file_of(name) or name, encoding="utf-8") as file:
                text = file.read(1 << 20)
        except (OSError, UnicodeDecodeError):
            continue
        found[name] = text.splitlines()
    return found


class Recorded:
    """A run as the page plays it. `run`: the lpn.Run with its statistics; `path`: the Run whose
    critical path is shown, or None. `title`: what the page calls it. `requests`: what requests_of
    says. `error`: the RunError that ended it, after the last instant that is shown, or None.
    """

    def __init__(self, net, values, marking, record, run, title, path=None):
        self.net = net
        self.values = values
        self.marking = marking
        self.record = record
        self.run = run
        self.title = title
        self.path = path
        self.requests = []
        self.error = None

    def scripts(self, prefix):
        """(id, type, text) of what the page carries of it."""
        about = {
            **fields_of(self.run),
            "title": self.title,
            "parameters": {p.name: str(v) for p, v in zip(self.net._core.params, self.values)},
            "record": json.loads(self.record.index()),
        }
        if self.net.frequency is not None:
            about["frequency"] = self.net.frequency
        if self.error is not None:
            first = str(self.error).splitlines()[0]
            about["error"] = {"code": self.error.code, "message": first, "time": self.error.time}
        if self.requests:
            about["requests"] = self.requests
        if self.path is not None and self.path.path is not None:
            about["critical_path"] = self.path.path
            about["steps"] = {"count": len(self.path.steps)}
        yield prefix, "application/json", _json(about)
        yield f"{prefix}-overview", "text/plain", packed(self.record.overview)
        values = self.record.values
        if values:
            yield f"{prefix}-values", "text/plain", packed(values)
        for k, segment in enumerate(self.record.segments):
            yield f"{prefix}-s{k}", "text/plain", packed(segment)
        if self.path is not None and self.path.path is not None:
            yield f"{prefix}-steps", "text/plain", packed(_steps(self.path.steps))


def record(net, values, marking, title, *, limit=None, on_slice=None, segment=None):
    """A Recorded of the run, by the interpreter, which alone knows why who waits.

    `segment`: entries after which a segment of the record ends; default as record.h says.
    Raises RunError, and Error "E-viz-size" for a run that a page cannot count.
    """
    size = {} if segment is None else {"segment": segment}
    seen = _lpn.viz.Record(net._core, values, marking._core, **size)
    run = execute(
        net, values, marking, None, limit=limit, stats=True, on_slice=on_slice, watch=seen
    )
    seen.finish(run.end)
    return Recorded(net, values, marking, seen, run, title)


def _steps(steps):
    """The critical path from its beginning: int32 transition and whether it goes on to the commit,
    float64 start and commit of each step, one column after the other.
    """
    from array import array

    steps = steps[::-1]
    columns = (
        array("d", [s[3] for s in steps]),
        array("d", [s[4] for s in steps]),
        array("i", [s[0] for s in steps]),
        array("i", [int(s[2]) for s in steps]),
    )
    return b"".join(column.tobytes() for column in columns)


def page(net, values, marking, about, runs=()):
    """The HTML text. `about`: what its head says (title, subtitle). `runs`: up to two Recorded."""
    data = [
        ("net", "application/json", _lpn.viz.describe(net._core, values, marking._core)),
        ("sources", "text/plain", packed(json.dumps(_sources(net)))),
        ("elk", "text/plain", _part("elk.b64")),
    ]
    for prefix, run in zip(("run", "other"), runs):
        data.extend(run.scripts(prefix))
    return document("page.js", about, data)


def _part(name):
    with open(os.path.join(page_folder(), name), encoding="utf-8") as file:
        return file.read()


def document(program, about, data):
    """The HTML text of a page that the script `program` fills. `about`: what it says of itself (title,
    subtitle and more), as JSON; `data`: (id, type, text) of what it carries besides. Raises Error
    "E-viz" where pages were not built.
    """
    notice = _part("notice.txt")
    data = [("about", "application/json", _json({**about, "notice": notice})), *data]
    scripts = "\n".join(
        f'<script type="{kind}" id="{name}">{text}</script>' for name, kind, text in data
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{html.escape(about["title"])}</title>\n'
        f"<!-- Made by lpn. Contains {html.escape(notice)}. -->\n"
        f'<style>{_part("fonts.css")}{_part("page.css")}</style>\n</head>\n<body>\n{scripts}\n'
        f"<script>{_part(program)}</script>\n</body>\n</html>\n"
    )


def write_document(path, text):
    """Writes a page; names of files that are no text (bytes of another encoding) stand in it as
    escapes.
    """
    with written(path, binary=True) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


def _json(value):
    """JSON that can stand in a script element."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
