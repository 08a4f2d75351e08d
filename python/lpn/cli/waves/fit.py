"""lpn fit: the unknowns of a net from recordings."""

import os
import re

import click

from ...command import (
    ANSWERED,
    NO,
    UNKNOWN,
    OutputFile,
    Progress,
    counted,
    grouped,
    json_option,
    note,
    print_json,
    table,
)
from ...errors import Error, without_place
from ...output_file import written
from .wave import read, whole


class PerFile(click.ParamType):
    """NAME=NUMBER[,NUMBER...], as (name, numbers)."""

    name = "name=value"

    def convert(self, value, param, ctx):
        if isinstance(value, tuple):
            return value
        found = re.fullmatch(r"([A-Za-z_][\w.]*)=(-?[0-9]+(?:,-?[0-9]+)*)", value)
        if not found:
            self.fail(f"{value!r} is not NAME=NUMBER, or NAME=NUMBER,NUMBER,... with one per FILE")
        return found[1], [int(v) for v in found[2].split(",")]


@click.command()
@click.argument("skeleton")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--map",
    "maps",
    required=True,
    multiple=True,
    type=click.Path(dir_okay=False),
    metavar="M",
    help="Which transfers are which firings: a TOML file, one for all or one per FILE and --hold-out.",
)
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="INPUT",
    help="What the skeleton's workload reads: one per FILE, then one per --hold-out, in order. "
    "Without it the tokens are those of the map's [places].",
)
@click.option(
    "--hold-out",
    "held",
    multiple=True,
    metavar="FILE",
    help="A recording that is not fitted, on which the result is tried.",
)
@click.option(
    "--forget",
    "forgotten",
    multiple=True,
    metavar="GLOB",
    help="Takes for unknown what the net says of TRANSITION.delay, .interval, .servers or "
    "PLACE.capacity; '*' for all.",
)
@click.option(
    "--least",
    type=click.IntRange(0, 1 << 20),
    default=0,
    show_default=True,
    metavar="N",
    help="What --forget forgets is at least N; delays and intervals that are less stay.",
)
@click.option(
    "-p",
    "--param",
    "params",
    multiple=True,
    type=PerFile(),
    help="Sets a parameter of the net; one number for all, or one per FILE and --hold-out.",
)
@click.option(
    "-o",
    "--output",
    type=OutputFile(),
    metavar="FILE",
    help="Writes the result: a .lpn, or a .py, which is the skeleton with what was found.",
)
@json_option
def fit(skeleton, files, maps, inputs, held, forgotten, least, params, output, as_json):
    """Finds what lpn.unknown() stands for in the net SKELETON from recordings of what it models:
    delays, intervals, capacities, servers, counts.

    A report per unknown says which recorded instants decide it, what fits as well and what would
    tell them apart; then the errors of the result on every recording.

    Exit status: 0 found, exact on all FILEs; 1 there is no exact one: the best, and its residuals; 2
    something is wrong; 3 a recording ends before its end, or Ctrl-C: what is found up to there.
    """
    from ...fitting.recorded import observe
    from ...fitting.report import described
    from ...fitting.result import errors, not_followed
    from ...fitting.solve import Fit
    from ...waves.maps import read_map

    recordings = [*files, *held]
    if inputs and len(inputs) != len(recordings):
        raise click.UsageError(
            f"there are {len(recordings)} recordings and {len(inputs)} --input; give one each, "
            "in the order of FILE... and then of --hold-out"
        )
    if output is not None:
        _check_output(skeleton, output)
    for name, values in params:
        if len(values) not in (1, len(recordings)):
            raise click.UsageError(
                f"-p {name}: {len(values)} numbers for {len(recordings)} recordings"
            )
    if len(maps) not in (1, len(recordings)):
        raise click.UsageError(
            f"there are {len(recordings)} recordings and {len(maps)} --map; give one for all or one "
            "each, in the order of FILE... and then of --hold-out"
        )
    maps = maps * (len(recordings) if len(maps) == 1 else 1)
    _check_once(recordings, maps)
    read_maps = {path: read_map(path) for path in maps}
    maps = [read_maps[path] for path in maps]
    status = ANSWERED
    observed = []
    for k, path in enumerate(recordings):
        own = {name: values[k if len(values) > 1 else 0] for name, values in params}
        found, recording, interrupted = observe(
            skeleton, inputs[k] if inputs else None, path, maps[k], own, read, forgotten, least
        )
        status = max(status, whole(recording, interrupted))
        observed.append(found)
        if interrupted:
            raise KeyboardInterrupt
    progress = Progress(1)
    fitted = Fit(observed[: len(files)], progress.say)
    try:
        fitted.solve()
        rows = []
        for k, each in enumerate(observed):
            net = fitted.filled(each.net)
            try:
                own = errors(each, net, fitted.number_values())
            except Error as error:
                if k < len(files):
                    raise
                # Such as a value that a table found in the others lacks.
                own = not_followed(each)
                note(f"{str(error).splitlines()[0]}; as a FILE it would be fitted, too")
            rows += [{**row, "held_out": k >= len(files)} for row in own]
    finally:
        progress.clear()
    found = described(fitted, [each.net for each in observed])
    own = [r for r in rows if not r["held_out"]]
    compared = sum(r["compared"] for r in own)
    exact = compared > 0 and all(r["exact"] == r["compared"] + r["missing"] for r in own)
    if output is not None:
        _write(fitted, observed[0].net, skeleton, output)
    result = {
        "skeleton": skeleton,
        "exact": exact,
        "unknowns": found,
        "errors": rows,
        "output": output,
    }
    if as_json:
        print_json(result)
    else:
        _show(found, rows, compared, exact, output)
    if not compared:
        note(
            "there was nothing to compare: no transfer that is a firing, or no firing; look at clock, "
            "reset, and where the tokens come from (--input, or [places] of the map)"
        )
        return UNKNOWN
    return status if exact else max(status, NO)


def _file_of(skeleton):
    return skeleton.rsplit(":", 1)[0] if ".py:" in skeleton else skeleton


def _check_once(recordings, maps):
    """A recording counts once: its instants are no more for being read again, and none are held out."""
    seen = set()
    for path, way in zip(recordings, maps):
        key = os.path.realpath(path), os.path.realpath(way)
        if key in seen:
            raise click.UsageError(f"{path} is given twice with one map; leave one of them out")
        seen.add(key)


def _check_output(skeleton, output):
    """Refuses before the search what cannot be written behind it."""
    path = _file_of(skeleton)
    if not output.endswith((".lpn", ".py")):
        raise click.UsageError(f"-o {output}: the result is a .lpn or a .py file")
    if output.endswith(".py") and not path.endswith(".py"):
        raise without_place(
            "E-fit-output", f"-o {output}: {skeleton} is no .py file; write a .lpn file"
        )


def _write(fitted, net, skeleton, output):
    from ...fitting.write import as_lpn, as_python

    if output.endswith(".lpn"):
        text = as_lpn(fitted, net)
    else:
        text = as_python(fitted, net, _file_of(skeleton))
    try:
        with written(output) as file:
            file.write(text)
    except OSError as error:
        raise without_place("E-fit-output", f"cannot write {output}: {error.strerror}") from None


def _show(found, rows, compared, exact, output):
    table(
        ["unknown", "found", ">exact", ">decided by", ">inputs", ""],
        [
            [
                row["unknown"],
                row["formula"],
                "-" if row["met"] is None else f"{grouped(row['met'])} of {grouped(row['events'])}",
                grouped(row["support"]),
                grouped(row["points"]),
                "not decided" if row["undecided"] else "too few" if row["few"] else "",
            ]
            for row in found
        ],
    )
    for row in found:
        for line in _remarks(row):
            click.echo(f"{row['unknown']}: {line}")
    click.echo("")
    table(
        ["recording", "transition", ">instants", ">missing", ">exact", ">mean error", ">worst"],
        [
            [
                row["recording"] + (" (held out)" if row["held_out"] else ""),
                f"{row['transition']} {row['event']}",
                grouped(row["compared"]),
                grouped(row["missing"]),
                grouped(row["exact"]),
                "-" if row["mean_error"] is None else f"{row['mean_error']:.2f}",
                grouped(row["worst_error"]),
            ]
            for row in rows
        ],
    )
    click.echo("")
    if compared:
        click.echo(
            "exact on every recording that was fitted"
            if exact
            else "there is no exact formula of the grammar for what was recorded; these are the best"
        )
    if output is not None:
        click.echo(f"written to {output}")


def _remarks(row):
    if row["undecided"]:
        yield row["undecided"]
    elif row["few"]:
        yield (
            f"only {counted(row['support'], 'instant')}"
            + (f", of {counted(row['points'], 'different input')}," if row["points"] else "")
            + f" decide{'s' * (row['support'] == 1)} it: too few to call it found"
        )
    if row["constant"]:
        values = ", ".join(f"{name} = {value}" for name, value in row["constant"].items())
        yield f"in every firing {values}: whether it follows them is not known"
    for other in row["also"]:
        told = other["told_apart_by"]
        at = ", ".join(f"{n} = {v}" for n, v in told["input"].items())
        one, two = told["values"]
        yield f"{other['formula']} fits as well; an input with {at} tells: {one}, or {two}"
    if row["overtaking"]:
        name = row["unknown"].rsplit(".", 1)[0]
        yield (
            "firings may overtake one another, and the map does not say which commit is whose: each is "
            f"taken for that of the firing in its place; a payload in [transitions.{name}] would tell"
        )
    if row["residuals"]:
        if set(row["residuals"]) == {"passed"}:
            yield f"before it allows them: {counted(row['residuals']['passed'], 'start')}"
        else:
            most = sorted(row["residuals"].items(), key=lambda r: -r[1])[:6]
            yield "residuals, in cycles: " + ", ".join(
                f"{int(late):+d} in {counted(count, 'instant')}" for late, count in most
            )
