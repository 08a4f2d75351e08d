"""The page of lpn viz: a net, and runs of it, as one HTML file."""

import os

import click

from ..command import (
    ANSWERED,
    UNKNOWN,
    Progress,
    counted,
    grouped,
    need_input,
    note,
    print_json,
    say_endless,
)
from ..errors import Error, RunError, mistake
from ..pages.export import Window
from ..pages.page import page, page_folder, record, write_document
from ..pages.requests import requests_of
from ..pages.witness import read_witness
from ..runs import execute, prepare
from ..runs.result import outline_of
from ..source import shown


class Asked:
    """What a page is to show besides the model's run: see the options of lpn viz."""

    def __init__(
        self,
        limit=None,
        window=None,
        path=False,
        witness=None,
        versus=None,
        versus_params=(),
        by=None,
    ):
        self.limit = limit
        self.window = None if window is None else Window.parse(window)
        self.path = path
        self.witness = witness
        self.versus = versus
        self.versus_params = versus_params
        self.by = by


def write_page(model, name, params, output, asked, as_json):
    """Writes the page of a model, of its run on an input when one is given, and of another run
    beside it.
    """
    page_folder()  # first: without it the runs would be for nothing
    if asked.witness and name is not None:
        raise click.UsageError("--witness is an input: leave out INPUT")
    witness = asked.witness and read_witness(asked.witness)
    if witness:
        params = [*witness.parameters.items(), *params]
    ready = prepare(model, name, params)
    asks_run = asked.versus or asked.versus_params or asked.path or asked.window or asked.by
    if not witness and (asks_run or asked.limit is not None):
        need_input(ready.model, name, " for a run to show")
    has_run = witness or name is not None or not ready.model.has_workload
    title = witness.title if witness else shown_input(name) or ready.net.name
    start = ready.on(witness.fill(ready.net)) if witness else ready
    runs = [_recorded(start, title, asked)] if has_run else []
    if asked.versus or asked.versus_params:
        runs.append(_other(start, params, witness, title, asked))
    about = {"title": ready.model.name, "subtitle": title if has_run else ""}
    if asked.window:
        end = max(r.run.stats["end"] for r in runs)
        if asked.window.begin > end:
            raise mistake(
                "E-window",
                f"the window begins at cycle {asked.window.begin}, after the run has ended at "
                f"{end}",
            )
        about["window"] = [asked.window.begin, min(asked.window.end, end)]
    text = page(start.net, start.values, start.read(), about, runs)
    write_document(output, text)
    failed = next((r for r in runs if r.error is not None), None)
    if failed is not None:
        note(f"{output} has the run of {failed.title} up to cycle {grouped(failed.run.until)}")
        raise failed.error
    answer = {
        "model": ready.model.name,
        "input": name,
        "file": output,
        "format": "page",
        "bytes": os.path.getsize(output),
        "runs": [
            {"title": r.title, **outline_of(r.run), "critical_path": r.path is not None}
            | ({"requests": r.requests} if r.requests else {})
            for r in runs
        ],
    }
    stopped = any(r.run.ending == "interrupted" for r in runs)
    status = UNKNOWN if stopped else ANSWERED
    if as_json:
        print_json(answer)
        return status
    click.echo(
        f"{output}: {ready.model.name}, {answer['bytes'] / 1e6:.1f} MB"
        + "".join(f", {counted(r.run.commits, 'firing')}" for r in runs)
        + "; open it in a browser"
    )
    for run in runs:
        if run.run.ending == "interrupted":
            note(
                f"interrupted: the run of {run.title} is complete only up to cycle "
                f"{grouped(run.run.until)}"
            )
    return status


def _other(first, params, witness, title, asked):
    """The run beside: the same net with other parameters, another input, or both."""
    name = asked.versus or (None if witness else first.input)
    other = prepare(first.model, name, [*params, *asked.versus_params])
    if _shape(first.net) != _shape(other.net):
        raise mistake(
            "E-viz-versus",
            "the other parameters make another net: its places, transitions or arcs differ, "
            "and a page shows two runs of one\n  write a page of each",
        )
    if witness and not asked.versus:
        other = other.on(witness.fill(other.net))
    words = [shown_input(asked.versus) or title, *(f"{k}={v}" for k, v in asked.versus_params)]
    return _recorded(other, ", ".join(words), asked)


def shown_input(name):
    """An input's name on a page, which may be passed on: without the folders of this machine."""
    return shown(name) if name and os.path.exists(name) else name


def _shape(net):
    """What two nets must have in common to be drawn as one."""
    core = net._core
    return (
        [p.name for p in core.places],
        [t.fields and [f.name for f in t.fields] for t in core.types],
        [
            (t.name, [(a.name, a.place, a.inhibit) for a in t.inputs], [a.place for a in t.outputs])
            for t in core.transitions
        ],
    )


def _recorded(ready, title, asked):
    """The run as the page plays it, with its critical path when that is asked for."""
    progress = Progress(1)

    def on_slice(time, commits):
        progress.say(f"{title}: cycle {grouped(time)}, {grouped(commits)} firings")

    def until(limit):
        return record(
            ready.net,
            ready.values,
            ready.read(),
            title,
            limit=limit,
            on_slice=on_slice if progress.on else None,
        )

    ready.read()
    if asked.limit is None:
        say_endless(ready)
    try:
        try:
            made = until(asked.limit)
        except RunError as error:
            if error.time == 0:
                raise  # there is no run to show
            made = until(error.time - 1)
            made.error = error
            return made
        if made.run.ending != "interrupted":
            made.requests = requests_of(
                ready.net,
                ready.values,
                ready.read(),
                by=asked.by,
                limit=asked.limit,
                on_slice=on_slice if progress.on else None,
            )
        if asked.path and made.run.ending != "interrupted":
            made.path = _path(ready, asked.limit)
    finally:
        progress.clear()
    return made


def _path(ready, limit):
    """The Run that has the critical path; None, with a note, when that takes too much memory."""
    run = ready.net, ready.values, ready.marking
    try:
        return execute(*run, None, limit=limit, path=3)
    except Error as problem:
        if problem.code != "E-path-memory":
            raise
        note(f"no critical path: {str(problem).splitlines()[0]} [{problem.code}]")
    return None
