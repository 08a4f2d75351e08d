"""Nets and runs as notebooks show them: `_repr_html_` of lpn.Net and lpn.Run, a picture and a table.

The picture is that of `lpn viz -o FILE.svg`, which Node.js draws; where that is not there, or the net
is too large to be read in a cell, there are the tables alone.
"""

from __future__ import annotations

import base64
import html
from typing import Any

from ..authoring.marking import Marking
from ..authoring.net import Net, parameter_values
from ..errors import Error
from ..runs.run import Run
from ..words import counted, duration

__all__ = ["html_of_net", "html_of_run"]

_MOST_DRAWN = 200  # places and transitions of a picture in a cell
_MOST_ROWS = 40  # of a table
_NO_PICTURE = ("E-viz", "E-viz-tool", "E-picture")


def html_of_net(net: Net) -> str:
    """The picture, and a row per transition. Of a net that is wrong, what is wrong."""
    core = net.core
    wrong = core.verify()
    head = f"<b>{_text(net.name)}</b>: {_parts(net)}"
    if wrong:
        items = "".join(f"<li>{_text(each.message)}</li>" for each in wrong[:_MOST_ROWS])
        return f"<div>{head}<ul>{items}</ul></div>"
    rows = []
    for name, t in zip(net.transitions, core.transitions):
        takes = ", ".join(core.places[arc.place].name for arc in t.inputs)
        puts = ", ".join(core.places[arc.place].name for arc in t.outputs)
        servers = "any" if t.servers is None else core.text(None, t.servers[0])
        rows.append([name, takes, core.text(t, t.delay[0]), servers, puts])
    table = _table(["transition", "from", "delay", "servers", "to"], rows)
    return f"<div>{head}{_picture(net)}{table}</div>"


def html_of_run(run: Run) -> str:
    """How it ended; with statistics a bar per transition, of the time it was busy."""
    core = run.net.core
    facts = [("latency", _number(run.latency)), ("ending", run.ending)]
    if run.latency is not None and run.net.frequency is not None:
        facts.insert(1, ("time", duration(run.latency, run.net.frequency)))
    if run.stalled:
        facts[-1] = ("ending", "stalled")
    facts += [("firings", _number(run.commits)), ("done tokens", _number(run.done_tokens))]
    if run.stopped is not None:
        facts.append(("stopped", run.stopped["text"]))
    for name, reason, what in run.blocked[:_MOST_ROWS]:
        facts.append((name, reason + (f": {what}" if what else "")))
    parts = [f"<b>run of {_text(run.net.name)}</b>", _table(["", ""], [list(f) for f in facts])]
    if run.path is not None and run.path["bottleneck"] is not None:
        parts.append(f"<p>{_text(run.path['bottleneck']['text'])}</p>")
    if run.stats is not None:
        end = run.stats["end"]
        known = set(run.net.assertions)
        rows = []
        for transition in core.transitions:
            if transition.name in known:
                continue
            t = run.stats["transitions"][transition.name]
            share = t["busy"] / end if end else 0.0
            why = max((c, r) for r, c in t["waited"].items() if r != "ready")
            most = f"{why[1]} {why[0] / end:.1%}" if end and why[0] else ""
            rows.append([transition.name, _number(t["commits"]), _bar(share), most])
        parts.append(_table(["transition", "firings", "busy", "waits most for"], rows))
    return f"<div>{''.join(parts)}</div>"


def _picture(net: Net) -> str:
    """The net's SVG as an image, whose style and names stay its own; '' where there is none."""
    from .image import svg

    core = net.core
    if not core.places or len(core.places) + len(core.transitions) > _MOST_DRAWN:
        return ""
    try:
        text = svg(net, parameter_values(net, None), Marking(net))
    except (Error, OSError) as error:
        if isinstance(error, Error) and error.code not in _NO_PICTURE:
            return f"<p>{_text(str(error).splitlines()[0])}</p>"
        return ""
    data = base64.b64encode(text.encode()).decode("ascii")
    name = _text(f"the net {net.name}")
    return f'<br><img alt="{name}" style="max-width:100%" src="data:image/svg+xml;base64,{data}">'


class _Html(str):
    """Text that is HTML already."""


def _bar(share: float) -> _Html:
    width = round(100 * min(max(share, 0.0), 1.0))
    return _Html(
        '<span style="display:inline-block;width:100px;border:1px solid #888">'
        f'<span style="display:block;height:0.7em;width:{width}px;background:#0072b2"></span></span>'
        f" {share:.1%}"
    )


def _table(columns: list[str], rows: list[list[Any]]) -> str:
    def cells(row, tag):
        return "".join(f"<{tag}>{_text(cell)}</{tag}>" for cell in row)

    head = f"<tr>{cells(columns, 'th')}</tr>" if any(columns) else ""
    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows[:_MOST_ROWS])
    more = f"<p>... and {len(rows) - _MOST_ROWS} more</p>" if len(rows) > _MOST_ROWS else ""
    return f"<table>{head}{body}</table>{more}"


def _text(value: Any) -> str:
    return value if isinstance(value, _Html) else html.escape(str(value))


def _number(value: int | None) -> str:
    return "none" if value is None else f"{value:,}".replace(",", "\u202f")


def _parts(net: Net) -> str:
    groups = ((net.places, "place"), (net.transitions, "transition"), (net.params, "parameter"))
    return ", ".join(counted(len(group), noun) for group, noun in groups)
