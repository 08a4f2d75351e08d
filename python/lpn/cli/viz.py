"""lpn viz: a net, or a run of it, as a file to look at."""

import os

import click

from ..command import (
    ANSWERED,
    UNKNOWN,
    OutputFile,
    Parameter,
    Progress,
    compile_aloud,
    counted,
    engine_option,
    grouped,
    json_option,
    model_argument,
    need_input,
    note,
    params_option,
    print_json,
    say_endless,
)
from ..pages.export import FORMATS, Window, format_of, write_run
from ..errors import Error
from ..pages.image import Look, positions, write_movie
from ..pages.image import write as write_picture
from ..runs import prepare
from ..runs.result import outline_of

MOVIES = ("gif", "webm")
PICTURES = ("svg", "png")
RUNS = ("perfetto", "vcd", *MOVIES)

# Which kinds of file an option means something for; those not named here, for all.
MEANT_FOR = {
    "window": (*RUNS, "page"),
    "limit": (*RUNS, "page"),
    "engine": ("perfetto", "vcd"),
    "theme": PICTURES + MOVIES,
    "width": ("png", *MOVIES),
    "collapse": PICTURES + MOVIES,
    "credits": PICTURES + MOVIES,
    "frames": MOVIES,
    "fps": MOVIES,
    "path": ("page",),
    "versus": ("page",),
    "versus_params": ("page",),
    "witness": ("page",),
    "by": ("page",),
}


def refuse_idle(kind):
    """Refuses options that would do nothing for this kind of file."""
    context = click.get_current_context()
    for option in context.command.params:
        given = context.get_parameter_source(option.name) is click.core.ParameterSource.COMMANDLINE
        kinds = MEANT_FOR.get(option.name)
        if given and kinds is not None and kind not in kinds:
            endings = ", ".join(ending for ending, of in FORMATS.items() if of in kinds)
            raise click.UsageError(
                f"{option.opts[0]} is of {endings} files; leave it out for a {kind} file"
            )


@click.command()
@model_argument
@click.argument("input", required=False)
@params_option
@click.option(
    "-o",
    "--output",
    required=True,
    type=OutputFile(),
    metavar="FILE",
    help="Its ending names the format: " + ", ".join(FORMATS) + "; .json and .vcd also with .gz.",
)
@click.option(
    "--window",
    metavar="A:B",
    help="Only cycles A to B of the run; of a page, the part that it opens with.",
)
@click.option(
    "--limit", type=click.IntRange(0, 2**63 - 1), metavar="T", help="Stop after cycle T."
)
@engine_option(
    "interp",
    "Of .vcd and .json: compiled is faster for long runs, interp knows why transitions wait.",
)
@click.option(
    "--theme",
    type=click.Choice(["light", "dark"]),
    default="light",
    show_default=True,
    help="Of pictures.",
)
@click.option(
    "--width", type=click.IntRange(16, 32768), metavar="PIXELS", help="Of pictures in pixels."
)
@click.option(
    "--collapse",
    multiple=True,
    metavar="GROUP",
    help="Draw a group closed; may be given several times.",
)
@click.option(
    "--frames", type=click.IntRange(2, 2000), metavar="N", help="Of an animation.  [default: 60]"
)
@click.option(
    "--fps", type=click.IntRange(1, 50), metavar="N", help="Frames a second.  [default: 12]"
)
@click.option("--credits", is_flag=True, help="Draw the places that only carry credits too.")
@click.option(
    "--critical-path",
    "path",
    is_flag=True,
    help="Of a page: which chain of firings decided the latency.",
)
@click.option(
    "--versus", metavar="INPUT", help="Of a page: the run on another input, beside the first."
)
@click.option(
    "--versus-param",
    "versus_params",
    multiple=True,
    type=Parameter(),
    help="Of a page: a run with another value of a parameter, beside the first.",
)
@click.option(
    "--witness",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Of a page: the input that lpn smt found (its --witness file, or its --json answer).",
)
@click.option(
    "--by",
    metavar="PROPERTY",
    help="Of a page whose requests say when they were born: latencies for each value of it as well.",
)
@json_option
def viz(
    model,
    input,
    params,
    output,
    window,
    limit,
    engine,
    theme,
    width,
    collapse,
    frames,
    fps,
    credits,
    path,
    versus,
    versus_params,
    witness,
    by,
    as_json,
):
    """Writes MODEL, or its run on INPUT, into a FILE to look at: FILE.html is a page that shows the
    net and plays the run in any browser; the other endings are files of other tools.

    Exit status: 0 written; 2 something is wrong; 3 Ctrl-C ended the run, the file has what there
    is.
    """
    kind = format_of(output)
    if kind is None:
        raise click.UsageError(
            f"'{output}': what format? The file must end in one of {', '.join(FORMATS)}"
        )
    refuse_idle(kind)
    if kind == "page":
        from .viz_page import Asked, write_page

        asked = Asked(limit, window, path, witness, versus, versus_params, by)
        return write_page(model, input, params, output, asked, as_json)
    look = Look(theme, width, collapse, credits, frames, fps)
    return export(kind, model, input, params, output, window, limit, engine, look, as_json)


def export(kind, model, name, params, output, window, limit, engine, look, as_json):
    """Writes one of the formats of other tools."""
    part = Window() if window is None else Window.parse(window)
    ready = prepare(model, name, params, engine, trace=True)
    if kind in RUNS:
        need_input(ready.model, name, f" for a {kind} file")
    ready.read()
    about = {
        "model": ready.model.name,
        "input": name,
        "file": output,
        "format": kind,
        "parameters": ready.parameters,
    }
    status = ANSWERED
    if kind in RUNS:
        if limit is None:
            say_endless(ready)
        run = _run(kind, ready, output, part, limit, look)
        about.update(outline_of(run), last_commit=run.last_commit)
        if window is not None:
            about["window"] = [part.begin, None if window.endswith(":") else part.end]
        status = UNKNOWN if run.ending == "interrupted" else ANSWERED
    elif kind in PICTURES:
        write_picture(kind, ready.net, ready.values, ready.marking, output, look)
    else:
        from ..pages.pnml import write

        where = _positions(ready)
        lost, rewritten = write(ready.net, ready.values, ready.marking, output, where)
        about.update(lost=lost, rewritten=rewritten, positions=where is not None)
    about["bytes"] = os.path.getsize(output)
    if as_json:
        print_json(about)
        return status
    click.echo(
        f"{output}: {about['model']}, {about['bytes'] / 1e3:.1f} kB"
        + (f", {counted(run.commits, 'firing')}" if kind in RUNS else "")
    )
    if kind == "pnml":
        _show_lost(lost, rewritten)
    if status == UNKNOWN:
        note(f"interrupted: the run is complete only up to cycle {grouped(run.until)}")
    return status


def _positions(ready):
    """Where the parts are in the picture; None, and a note why, where there is none."""
    try:
        return positions(ready.net, ready.values, ready.marking)
    except Error as error:
        if error.code not in ("E-viz", "E-viz-tool", "E-picture"):
            raise
        note(f"without positions, which other tools then choose: {str(error).splitlines()[0]}")
        return None


def _run(kind, ready, output, window, limit, look):
    net, values, marking = ready.net, ready.values, ready.marking
    name = ready.input or net.name
    progress = Progress(1)

    def on_slice(time, commits):
        progress.say(f"{name}: cycle {grouped(time)}, {grouped(commits)} firings")

    try:
        if kind in MOVIES:
            drawing = Progress(look.frames)
            try:
                return write_movie(
                    kind,
                    net,
                    values,
                    marking,
                    output,
                    look,
                    window,
                    limit=limit,
                    on_slice=on_slice if progress.on else None,
                    on_frame=lambda: drawing.step("frames drawn"),
                )
            finally:
                drawing.clear()
        return write_run(
            kind,
            net,
            values,
            marking,
            compile_aloud(ready),
            output,
            window,
            limit,
            on_slice if progress.on else None,
        )
    finally:
        progress.clear()


def _show_lost(lost, rewritten):
    """What PNML cannot say, by kind, on stderr."""
    from ..pages.pnml import LOST

    by_kind = {}
    for row in lost:
        by_kind.setdefault(row["what"], []).append(row)
    for row in rewritten:
        click.echo(f"  {row['what']} of {row['name']}: {row['as']}", err=True)
    click.echo("PNML does not say (it is in the file as toolspecific elements):", err=True)
    for what, rows in by_kind.items():
        names = [row["name"] for row in rows if row["kind"] != "net"]
        shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        click.echo(f"  {what}: {LOST[what]}" + (f" ({shown})" if shown else ""), err=True)
