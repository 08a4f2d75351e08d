"""The page of lpn viz: a net, and runs of it, as one HTML file."""

import os

import click

from ..command import Progress, counted, grouped, load_model, note, print_json
from ..errors import mistake
from ..authoring.source import shown
from ..pages.page import page, page_folder, record
from ..pages.export import Window, start_of
from ..pages.witness import read_witness


class Asked:
    """What a page is to show besides the model's run: see the options of lpn viz."""

    def __init__(
        self, limit=None, window=None, path=False, witness=None, versus=None, versus_params=()
    ):
        self.limit = limit
        self.window = None if window is None else Window.parse(window)
        self.path = path
        self.witness = witness
        self.versus = versus
        self.versus_params = versus_params


def write_page(model, name, params, output, asked, as_json):
    """Writes the page of a model, of its run on an input when one is given, and of another run beside it."""
    page_folder()  # first: without it the runs would be for nothing
    if asked.witness and name is not None:
        raise click.UsageError("--witness is an input: leave out INPUT")
    witness = asked.witness and read_witness(asked.witness)
    if witness:
        params = [*witness.parameters.items(), *params]
    loaded, net, values = load_model(model, params)
    has_run = witness or name is not None or getattr(loaded.module, "workload", None) is None
    if not has_run and (
        asked.versus or asked.versus_params or asked.path or asked.window or asked.limit is not None
    ):
        raise click.UsageError(f"model '{loaded.name}' needs an INPUT for a run to show")
    title = witness.title if witness else shown_input(name) or net.name
    marking = witness.fill(net) if witness else start_of(loaded, net, name)
    runs = [_recorded(net, values, marking, title, asked.limit, asked.path)] if has_run else []
    if asked.versus or asked.versus_params:
        runs.append(_other(net, loaded, model, name, params, witness, title, asked))
    about = {"title": loaded.name, "subtitle": title if has_run else ""}
    if asked.window:
        end = max(r.run.stats["end"] for r in runs)
        if asked.window.begin > end:
            raise mistake(
                "E-window",
                f"the window begins at cycle {asked.window.begin}, after the run has ended at {end}",
            )
        about["window"] = [asked.window.begin, min(asked.window.end, end)]
    text = page(net, values, marking, about, runs)
    with open(output, "w", encoding="utf-8") as file:
        file.write(text)
    answer = {
        "model": loaded.name,
        "input": name,
        "file": output,
        "format": "page",
        "bytes": os.path.getsize(output),
        "runs": [
            {
                "title": r.title,
                "latency": r.run.latency,
                "ending": r.run.ending,
                "firings": r.run.commits,
                "stalled": r.run.stalled,
                "critical_path": r.path is not None,
            }
            for r in runs
        ],
    }
    status = 3 if any(r.run.ending == "interrupted" for r in runs) else 0
    if as_json:
        print_json(answer)
        return status
    click.echo(
        f"{output}: {loaded.name}, {answer['bytes'] / 1e6:.1f} MB"
        + "".join(f", {counted(r.run.commits, 'firing')}" for r in runs)
        + "; open it in a browser"
    )
    for run in runs:
        if run.run.ending == "interrupted":
            note(
                f"interrupted: the run of {run.title} is complete only up to cycle {grouped(run.run.until)}"
            )
    return status


def _other(net, loaded, model, name, params, witness, title, asked):
    """The run beside: the same net with other parameters, another input, or both."""
    _, other, values = load_model(model, [*params, *asked.versus_params])
    if _shape(net) != _shape(other):
        raise mistake(
            "E-viz-versus",
            "the other parameters make another net: its places, transitions or arcs differ, "
            "and a page shows two runs of one\n  write a page of each",
        )
    if asked.versus:
        marking = start_of(loaded, other, asked.versus)
    else:
        marking = witness.fill(other) if witness else start_of(loaded, other, name)
    words = [shown_input(asked.versus) or title, *(f"{k}={v}" for k, v in asked.versus_params)]
    return _recorded(other, values, marking, ", ".join(words), asked.limit, asked.path)


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


def _recorded(net, values, marking, title, limit, path):
    progress = Progress(1)

    def on_slice(time, commits):
        progress.say(f"{title}: cycle {grouped(time)}, {grouped(commits)} firings")

    try:
        made = record(
            net, values, marking, title, limit=limit, on_slice=on_slice if progress.on else None
        )
        if path and made.run.ending != "interrupted":
            made.path = _path(net, values, marking, limit, progress)
    finally:
        progress.clear()
    return made


def _path(net, values, marking, limit, progress):
    """The Run that has the critical path, which the compiled engine finds; None, with a note, without a compiler."""
    from ..runs.critical import library
    from ..errors import Error
    from ..runs.run import _NOT_COMPILED, execute

    progress.say(f"compiling '{net.name}' for the critical path", now=True)
    try:
        return execute(net, values, marking, library(net), limit=limit, path=0)
    except Error as error:
        if error.code not in _NOT_COMPILED and error.code != "E-path-memory":
            raise
        note(f"no critical path: {str(error).splitlines()[0]} [{error.code}]")
        return None
