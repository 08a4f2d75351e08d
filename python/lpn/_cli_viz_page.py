"""The page of lpn viz: a net, and runs of it, as one HTML file."""

import os

import click

from ._cli_common import Progress, counted, grouped, load_model, note, print_json
from ._viz import page, page_folder, record
from ._viz_export import start_of


def write_page(model, name, params, output, limit, as_json, path=False):
    """Writes the page of a model, and of its run on an input when one is given."""
    page_folder()  # first: without it the run would be for nothing
    loaded, net, values = load_model(model, params)
    marking = start_of(loaded, net, name)
    runs = []
    if name is not None or getattr(loaded.module, "workload", None) is None:
        runs.append(_recorded(net, values, marking, name or net.name, limit, path))
    about = {"title": loaded.name, "subtitle": name or ""}
    text = page(net, values, marking, about, runs)
    with open(output, "w", encoding="utf-8") as file:
        file.write(text)
    answer = {"model": loaded.name, "input": name, "file": output, "format": "page", "bytes": os.path.getsize(output)}
    for run in runs:
        answer.update(latency=run.run.latency, ending=run.run.ending, firings=run.run.commits, stalled=run.run.stalled)
    status = 3 if any(r.run.ending == "interrupted" for r in runs) else 0
    if as_json:
        print_json(answer)
        return status
    click.echo(f"{output}: {loaded.name}, {answer['bytes'] / 1e6:.1f} MB"
               + "".join(f", {counted(r.run.commits, 'firing')}" for r in runs))
    if status == 3:
        note(f"interrupted: the run is complete only up to cycle {grouped(runs[-1].run.until)}")
    return status


def _recorded(net, values, marking, title, limit, path):
    progress = Progress(1)

    def on_slice(time, commits):
        progress.say(f"{title}: cycle {grouped(time)}, {grouped(commits)} firings")

    try:
        made = record(net, values, marking, title, limit=limit, on_slice=on_slice if progress.on else None)
        if path and made.run.ending != "interrupted":
            made.path = _path(net, values, marking, limit, progress)
    finally:
        progress.clear()
    return made


def _path(net, values, marking, limit, progress):
    """The Run that has the critical path, which the compiled engine finds; None, with a note, without a compiler."""
    from ._critical import library
    from ._errors import Error
    from ._run import _NOT_COMPILED, execute

    progress.say(f"compiling '{net.name}' for the critical path", now=True)
    try:
        return execute(net, values, marking, library(net), limit=limit, path=0)
    except Error as error:
        if error.code not in _NOT_COMPILED and error.code != "E-path-memory":
            raise
        note(f"no critical path: {str(error).splitlines()[0]} [{error.code}]")
        return None
