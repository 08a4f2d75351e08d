"""lpn sweep: every combination of parameter values and inputs, as a table, files and a plot."""

import os

import click

from ..command import (
    ANSWERED,
    NO,
    UNKNOWN,
    WRONG,
    Progress,
    budget_options,
    counted,
    engine_option,
    grouped,
    json_option,
    model_argument,
    modelled,
    need_input,
    note,
    print_json,
    seconds,
    table,
)
from ..authoring.token import BORN
from ..errors import mistake
from ..plots import METRICS, check_sweep, plot_sweep
from ..runs import load
from ..sweeps.definition import Definition
from ..sweeps.files import Files
from ..sweeps.points import SECONDS
from ..sweeps.sweep import run
from ..words import integer

_SHOWN = 40


class _Values(click.ParamType):
    name = "name=values"

    def convert(self, value, param, ctx):
        name, equals, values = value.partition("=")
        if not equals or not values or not name.strip():
            self.fail(f"'{value}' is not name=values; write -p {name.strip() or 'name'}=1,2,8:64:8")
        return name.strip(), values


@click.command()
@model_argument
@click.argument("inputs", nargs=-1, metavar="[INPUT]...")
@click.option(
    "-p",
    "--param",
    "params",
    multiple=True,
    type=_Values(),
    help="Values of a parameter: numbers and ranges lowest:highest:step, with commas "
    "between them. Several -p are combined, each value with each.",
)
@click.option(
    "--list",
    "list_path",
    type=click.Path(),
    metavar="FILE",
    help="A CSV file of points: a column per parameter, a row per point; with a column "
    "'input' each has its own. With -p too, each point with each combination.",
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    type=click.Choice(list(METRICS)),
    help="What the plot and the table on the terminal show; may be given several times. "
    "[default: latency, throughput; of open-loop traffic latency_p50 and latency_p99 too, with a "
    "net.frequency latency_seconds]",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    metavar="FILE.csv",
    help="A CSV table, written as the rows come. If it is there, the sweep goes on.",
)
@click.option("--jsonl", type=click.Path(), metavar="FILE.jsonl", help="The same as JSON lines.")
@click.option("--plot", type=click.Path(), metavar="FILE.svg", help="A plot: .svg, .png or .pdf.")
@click.option(
    "--limit", type=click.IntRange(0, 2**63 - 1), metavar="T", help="End each run after cycle T."
)
@budget_options
@engine_option(None, help="Default: what answers first, as in lpn sim.")
@click.option(
    "--jobs",
    type=click.IntRange(1, 4096),
    metavar="N",
    help="Local processes. [default: one per core]",
)
@click.option("--scheduler", metavar="ADDRESS", help="Runs on a Dask cluster: tcp://host:8786.")
@click.option("--all", "show_all", is_flag=True, help=f"Prints all rows, also more than {_SHOWN}.")
@json_option
def sweep(
    model,
    inputs,
    params,
    list_path,
    metrics,
    output,
    jsonl,
    plot,
    limit,
    max_memory,
    max_time,
    max_tokens,
    max_firings,
    max_groups,
    engine,
    jobs,
    scheduler,
    show_all,
    as_json,
):
    """Simulates MODEL for every combination of parameter values and INPUTs.

    Exit status: 0 answered; 1 a point stalled; 2 something is wrong, or a point had an error; 3 a
    limit was reached, or Ctrl-C: what is finished is in the files, and the same command goes on.
    """
    if jobs is not None and scheduler is not None:
        raise click.UsageError("--jobs is for local processes; a cluster has its own workers")
    if scheduler is not None:
        import logging

        # Dask's client logs a lost connection as a traceback; the error says it in words.
        logging.getLogger().addHandler(logging.NullHandler())
    twice = [name for name, _ in params if sum(name == n for n, _ in params) > 1]
    if twice:
        raise click.UsageError(f"-p {twice[0]} is given twice; write all its values into one")
    loaded = load(model)
    points, point_inputs = _read_list(list_path) if list_path is not None else (None, None)
    need_input(loaded, inputs or point_inputs is not None)
    budget = {
        "max_memory": None if max_memory is None else max_memory << 20,
        "max_time": max_time,
        "max_tokens": max_tokens,
        "max_firings": max_firings,
        "max_groups": max_groups,
    }
    definition = Definition(
        loaded, list(inputs), dict(params), points, point_inputs, limit, engine, budget
    )
    if plot is not None:
        check_sweep(definition, plot)
    usual = ["latency", "throughput"]
    if SECONDS in definition.fields:
        usual.insert(1, SECONDS)
    if "requests" in definition.fields:
        usual += ["latency_p50", "latency_p99"]
    metrics = list(dict.fromkeys(metrics)) or usual
    for metric in metrics:
        if metric == SECONDS and metric not in definition.fields:
            raise mistake(
                "E-frequency",
                f"--metric {metric}: model '{loaded.name}' does not say how many ticks a second "
                "has; write net.frequency = 250e6",
            )
        if metric not in definition.fields:
            raise mistake(
                "E-born",
                f"--metric {metric}: model '{loaded.name}' does not say how long a request takes; "
                f"declare a property {BORN}: lpn.Birth for the tokens of requests",
            )
    outcome = _run(definition, output, jsonl, jobs, scheduler)
    if outcome.fallback is not None:
        code, message = outcome.fallback
        note(f"{message} [{code}]; the sweep uses the interpreter")
    rows = outcome.ordered()
    drawn = plot if not outcome.interrupted else None
    if drawn is not None:
        plot_sweep(definition, rows, drawn, metrics)
    if as_json:
        _print(definition, outcome, rows, drawn)
    else:
        _show(definition, outcome, rows, metrics, show_all)
    return _status(rows, outcome)


def _run(definition, csv_path, jsonl_path, jobs, scheduler):
    """The Outcome; its rows are in the files too."""
    with Files(definition, csv_path, jsonl_path) as files:
        if files.rows:
            note(f"{counted(len(files.rows), 'row')} of {len(definition)} were there already")
        progress = Progress(len(definition) - len(files.rows))

        def got(rows):
            files.add(rows)
            for row in rows:
                progress.step(_named(definition, row))

        def wait(text):
            compiling = definition.engine == "compiled" and not progress.finished
            progress.say(text or ("compiling" if compiling else "simulating"))

        progress.say("starting", now=True)
        try:
            outcome = run(
                definition,
                jobs=jobs,
                scheduler=scheduler,
                known=files.rows,
                on_rows=got,
                on_wait=wait,
            )
        finally:
            progress.clear()
        if not outcome.interrupted:
            files.finish()
    return outcome


def _read_list(path):
    """(points, their inputs or None) of a CSV file."""
    import csv

    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            lines = [line for line in csv.reader(file) if any(cell.strip() for cell in line)]
    except OSError as error:
        raise mistake("E-input", f"cannot read {path}: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise mistake("E-sweep", f"{path} is not a CSV file: {error}") from None
    if not lines:
        raise mistake(
            "E-sweep",
            f"{path} is empty; its first line names the parameters, each further line is a point",
        )
    names = [cell.strip() for cell in lines[0]]
    if len(set(names)) < len(names) or not all(names):
        raise mistake(
            "E-sweep",
            f"the first line of {path} must name each column once, got: {', '.join(names)}",
        )
    if len(lines) == 1:
        raise mistake("E-sweep", f"{path} has no points below its first line")
    points, own = [], [] if "input" in names else None
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(names):
            raise mistake(
                "E-sweep",
                f"{path}, row {number}: {counted(len(line), 'value')} for "
                f"{counted(len(names), 'column')}",
            )
        point = {}
        for name, cell in zip(names, line):
            if name == "input":
                own.append(_beside(cell, path))
                continue
            try:
                point[name] = integer(cell)
            except ValueError:
                raise mistake(
                    "E-sweep",
                    f"{path}, row {number}: '{cell}' is no whole number for parameter " f"'{name}'",
                ) from None
        points.append(point)
    return points, own


def _beside(name, path):
    """An input of a list: where it is named, else beside the list."""
    beside = os.path.join(os.path.dirname(path), name)
    return beside if not os.path.exists(name) and os.path.exists(beside) else name


def _named(definition, row):
    parameters = " ".join(f"{name}={row['parameters'][name]}" for name in definition.swept())
    return f"{parameters}  {row['input'] or ''}".strip()


def _status(rows, outcome):
    """The exit status: what is wrong before what stalled before what is not known."""
    if any(row["code"] for row in rows):
        return WRONG
    if any(row["stalled"] for row in rows):
        return NO
    if outcome.interrupted or any(row["ending"] in ("limit", "budget") for row in rows):
        return UNKNOWN
    return ANSWERED


def _print(definition, outcome, rows, plot):
    print_json(
        {
            "model": definition.model.name,
            "swept": definition.swept(),
            "inputs": [i.name for i in definition.inputs],
            "engine": outcome.engine,
            "fallback": dict(zip(("code", "message"), outcome.fallback))
            if outcome.fallback
            else None,
            "nets": len(definition.variants),
            "compiled": outcome.compiled,
            "compile_seconds": round(outcome.compile_seconds, 6),
            "workers": outcome.workers,
            "resumed": outcome.resumed,
            "interrupted": outcome.interrupted,
            "plot": plot,
            "seconds": round(outcome.seconds, 6),
            "rows": rows,
        }
    )


def _show(definition, outcome, rows, metrics, show_all):
    """The answer for people."""
    fixed = [name for name in definition.names if name not in definition.swept()]
    how = ", ".join(f"{name}={definition.points[0][name]}" for name in fixed)
    compiled = "interpreted"
    if outcome.engine == "compiled":
        compiled = "compiled before"
        if outcome.compiled:
            compiled = f"compiled in {outcome.compile_seconds:.1f} s"
            if outcome.compiled > 1:
                compiled = f"{outcome.compiled} nets {compiled}"
    click.echo(f"{definition.model.name}{' with ' + how if how else ''} ({compiled})")
    shown, title = rows, None
    if len(rows) > _SHOWN and not show_all:
        better = -1 if metrics[0] == "throughput" else 1
        known = [row for row in rows if row[metrics[0]] is not None and not row["stalled"]]
        shown = sorted(known, key=lambda row: (better * row[metrics[0]], row["row"]))[: _SHOWN // 2]
        title = (
            f"the {len(shown)} rows of {len(rows)} with the {'most' if better < 0 else 'least'} "
            f"{metrics[0].replace('_', ' ')} (--all prints all)"
        )
    swept = definition.swept()
    several = len(definition.inputs) > 1 or definition.inputs[0].name is not None
    columns = [
        *(f">{name}" for name in swept),
        *(["input"] if several else []),
        *(">time" if metric == SECONDS else f">{metric.replace('_', ' ')}" for metric in metrics),
    ]
    cells = []
    for row in shown:
        state = "stalled" if row["stalled"] else row["code"] or ""
        if row["ending"] == "limit":
            state = "stopped by --limit"
        if row["ending"] == "budget":
            state = "stopped by its budget"
        cells.append(
            [
                *(row["parameters"][name] for name in swept),
                *([row["input"]] if several else []),
                *(_value(metric, row[metric]) for metric in metrics),
                state,
            ]
        )
    if any(row[-1] for row in cells):
        columns.append("")
    if cells:
        table(columns, [row[: len(columns)] for row in cells], title=title)
        click.echo("")
    click.echo(_summary(definition, outcome, rows))
    _show_problems(definition, rows)
    if outcome.interrupted:
        missing = len(definition) - len(rows)
        click.echo(f"interrupted; {counted(missing, 'row')} without a result", err=True)


def _value(metric, value):
    if value is None:
        return "-"
    if metric == "seconds":
        return seconds(value)
    if metric == SECONDS:
        return modelled(value)
    if metric == "throughput" or value != int(value):
        return f"{value:.4g}" if value < 1000 else grouped(round(value))
    return grouped(int(value))


def _summary(definition, outcome, rows):
    parts = [counted(len(rows), "row")]
    if outcome.resumed:
        parts[0] += f" ({outcome.resumed} of an earlier run)"
    stalled = sum(bool(row["stalled"]) for row in rows)
    failed = sum(bool(row["code"]) for row in rows)
    if stalled:
        parts.append(f"{stalled} stalled")
    stopped = sum(row["ending"] == "budget" for row in rows)
    if stopped:
        parts.append(f"{stopped} stopped")
    if failed:
        parts.append(f"{failed} with an error")
    text = ", ".join(parts)
    if len(rows) > outcome.resumed:
        text += f"; {counted(outcome.workers, 'worker')}, {seconds(outcome.seconds)}"
    known = [row for row in rows if row["latency"] is not None and not row["stalled"]]
    if len(known) > 1 and definition.swept() and len(definition.inputs) == 1:
        # Nets of several frequencies are compared by time, if all have one.
        timed = all(row.get(SECONDS) is not None for row in known)
        best = min(known, key=lambda row: (row[SECONDS if timed else "latency"], row["row"]))
        where = ", ".join(f"{name}={best['parameters'][name]}" for name in definition.swept())
        time = f" ({modelled(best[SECONDS])})" if timed else ""
        text += f"; least latency {grouped(best['latency'])}{time} with {where}"
    return text


def _show_problems(definition, rows, most=8):
    """Each stall and error once, with the first row that has it."""
    seen = {}
    for row in rows:
        if row["message"] is not None:
            seen.setdefault((row["code"], row["message"]), []).append(row)
    for (code, message), where in list(seen.items())[:most]:
        name = _named(definition, where[0]) or definition.model.name
        if len(where) > 1:
            name += f" and {counted(len(where) - 1, 'more row')}"
        if code is None and where[0]["ending"] == "budget":
            click.echo(f"{name} {message}")
        elif code is None:
            click.echo(f"{name} stalled: {message}")
        else:
            click.echo(f"error: {name}: {message} [{code}]", err=True)
    if len(seen) > most:
        click.echo(
            f"... and {len(seen) - most} more kinds of problems (the files and --json have all)",
            err=True,
        )
