"""lpn classes: the inputs of a model's space, sorted by what happens."""

import time

import click

from ..command import (
    ANSWERED,
    NO,
    UNKNOWN,
    FiniteRange,
    Progress,
    counted,
    grouped,
    json_option,
    model_argument,
    params_option,
    print_json,
    seconds,
    table,
)
from ..runs import simulate
from ..spaces.partition import OUTCOMES, partition
from .space import input_text, load_space, space_options

_MOST_SHOWN = 20  # classes in words


@click.command()
@model_argument
@space_options
@params_option
@click.option(
    "--limit", type=FiniteRange(0, min_open=True), metavar="S", help="Stop after S seconds."
)
@click.option(
    "--max-paths",
    type=click.IntRange(1),
    default=10_000,
    show_default=True,
    metavar="N",
    help="Stop after N paths.",
)
@click.option(
    "--max-firings",
    type=click.IntRange(1),
    default=200_000,
    show_default=True,
    metavar="N",
    help="Give up a path after N firings.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 4096),
    default=1,
    show_default=True,
    metavar="N",
    help="Processes that share the work.",
)
@click.option("--scheduler", metavar="ADDRESS", help="Works on a Dask cluster: tcp://host:8786.")
@json_option
def classes(model, bounds, more, params, limit, max_paths, max_firings, jobs, scheduler, as_json):
    """Sorts the inputs of MODEL's space into classes: for all inputs of a class, every transition
    commits equally often, and every firing takes and puts as many tokens.

    Exit status: 0 every input is in a class; 1 some input stalls or fails; 2 something is wrong; 3
    a limit or Ctrl-C left inputs out.
    """
    loaded, net, space = load_space(model, params, [*bounds, *more])
    progress = Progress(1)
    begin = time.monotonic()
    found = partition(
        net,
        space,
        seconds=limit,
        max_paths=max_paths,
        max_firings=max_firings,
        jobs=jobs,
        scheduler=scheduler,
        progress=lambda paths, open: progress.say(f"{grouped(paths)} paths, {grouped(open)} begun"),
    )
    spent = time.monotonic() - begin
    progress.clear()
    rows = [_row(net, space, each) for each in found.classes]
    if as_json:
        print_json(
            {
                "model": loaded.name,
                "space": {"variables": len(space.variables), "text": space.describe()},
                "classes": rows,
                "complete": found.complete,
                "why": found.why,
                "unresolved": found.unresolved,
                "interrupted": found.interrupted,
                "seconds": round(spent, 6),
            }
        )
    else:
        _show(space, found, rows, spent)
    if any(row["outcome"] in ("stalled", "error") and row["sample"] is not None for row in rows):
        return NO
    return ANSWERED if found.complete else UNKNOWN


def _row(net, space, each):
    sample = each.sample
    latency = None
    if sample is not None and each.outcome == "latency":
        run = simulate(net, space.marking(sample), params=space.parameters(sample), engine="interp")
        latency = run.latency
    return {
        "outcome": each.outcome,
        "constraints": each.constraints,
        "commits": each.commits,
        "paths": len(each.paths),
        "sample": sample,
        "sample_latency": latency,
        "trouble": each.trouble,
    }


def _show(space, found, rows, spent):
    click.echo(space.describe())
    click.echo("")
    paths = sum(row["paths"] for row in rows)
    extent = "complete" if found.complete else f"not complete: {found.why}"
    click.echo(
        f"{counted(len(rows), 'class') if len(rows) == 1 else f'{len(rows)} classes'}, "
        f"{counted(paths, 'path')}, {extent} ({seconds(spent)})"
    )
    if found.unresolved:
        click.echo(
            f"of {counted(found.unresolved, 'path')} it is not known whether any input takes it"
        )
    table(
        ["class", "outcome", ">firings", ">paths", ">latency of its sample"],
        [
            [
                k,
                OUTCOMES[row["outcome"]],
                grouped(sum(row["commits"].values())),
                grouped(row["paths"]),
                grouped(row["sample_latency"]),
            ]
            for k, row in enumerate(rows, 1)
        ],
    )
    differing = [
        name
        for name in (rows[0]["commits"] if rows else ())
        if len({row["commits"][name] for row in rows}) > 1
    ]
    for k, (row, each) in enumerate(zip(rows[:_MOST_SHOWN], found.classes), 1):
        click.echo("")
        _show_constraints(f"class {k}: ", each.paths)
        if row["trouble"]:
            click.echo(f"  {OUTCOMES[row['outcome']]}: {row['trouble']}")
        if differing:
            click.echo(
                "  commits: " + ", ".join(f"{name} {row['commits'][name]}" for name in differing)
            )
        if row["sample"] is not None:
            click.echo(f"  for example {input_text(row['sample'])}")
        else:
            click.echo("  no input of it was found; it may be empty")
    if len(rows) > _MOST_SHOWN:
        click.echo(f"\nand {len(rows) - _MOST_SHOWN} more; --json has them all")


def _show_constraints(title, paths):
    for path in paths[:_MOST_SHOWN]:
        constraints = path.constraints
        line = " and ".join(constraints) or "all of the space"
        if len(line) > 100:
            click.echo(title + constraints[0])
            for constraint in constraints[1:]:
                click.echo(f"    and {constraint}")
        else:
            click.echo(title + line)
        title = "  or "
    if len(paths) > _MOST_SHOWN:
        click.echo(f"  or one of {len(paths) - _MOST_SHOWN} more paths")
