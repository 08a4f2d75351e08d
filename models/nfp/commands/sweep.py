"""lpn nfp sweep: rates of a family of programs against its parameter."""

import csv

import click

from lpn.command import ANSWERED, UNKNOWN, Progress, json_option, print_json, table

from .. import costs as cost_table
from .compare import rate
from .options import (
    cores_option,
    costs_option,
    file_option,
    limit_option,
    metric_option,
    unroll_option,
)
from .shown import unit_of


@click.command()
@click.argument(
    "programs",
    nargs=-1,
    required=True,
    type=click.Path(exists=True),
    metavar="PROGRAM.asm|FOLDER...",
)
@click.option(
    "--parameter",
    default="n",
    show_default=True,
    metavar="NAME",
    help="What the number in the names is called.",
)
@click.option(
    "--name",
    "pattern",
    metavar="PATTERN",
    help="Which files, and where the number stands: 'count-min.{n}.asm'. Without it the last number of each name "
    "counts.",
)
@metric_option("packet-rate")
@cores_option
@click.option(
    "--simulate",
    "packets",
    type=click.IntRange(1, 10**8),
    metavar="PACKETS",
    help="Also simulate so many packets of each program's slowest path.",
)
@click.option(
    "--derive",
    multiple=True,
    metavar="NAME=FORMULA",
    help="A column computed from the parameter: 'error=exp(-n)'.",
)
@unroll_option
@limit_option
@file_option("--csv", "csv_file", "Also as CSV.")
@file_option("--plot", "plot", "Also as .svg or .png.")
@costs_option
@json_option
def sweep(
    programs,
    parameter,
    pattern,
    metric,
    cores,
    packets,
    derive,
    unroll,
    limit,
    csv_file,
    plot,
    costs,
    as_json,
):
    """The guaranteed rate of each of a family of programs that differ in a parameter.

    \b
    lpn nfp sweep sketches/ --name 'count-min.{rows}.asm' --parameter rows \\
        --derive 'error=exp(-rows)' --plot trade.svg
    lpn nfp sweep fw-*.asm --metric bit-rate --csv fw.csv

    Exit status: 0 answered; 2 something is wrong; 3 a limit or Ctrl-C came first.
    """
    from lpn.plots import check_plot, plot_lines

    from ..guarantee import guarantee
    from ..sweep import evaluate, members

    if packets and costs:
        raise click.UsageError(
            "--simulate is of the measured NIC, which --costs does not change; leave one of them out"
        )
    if parameter in _FIELDS:
        raise click.UsageError(
            f"--parameter {parameter}: the table has a column of this name; write another one"
        )
    derived = _derived(derive, parameter)
    if plot:
        check_plot(plot)
    family = members(programs, parameter, pattern)
    table_of_costs = cost_table.load(costs)
    bits = metric == "bit-rate"
    unit = unit_of(metric)
    progress = Progress(len(family))
    rows, complete = [], True
    for value, file in family:
        progress.say(f"{parameter}={value}")
        try:
            found = guarantee(file, metric, cores, unroll, 1, limit, table_of_costs)
            slow = found.slowest[0] if found.slowest else None
            simulated = (
                _simulated(file, slow, cores, packets, unroll, bits) if packets and slow else None
            )
        except KeyboardInterrupt:
            complete = False
            break
        complete = complete and found.verdict == "exact"
        formulas = {label: evaluate(tree, value) for label, tree in derived}
        rows.append({parameter: value, **_row(file, found, simulated), **formulas})
        progress.step(f"{parameter}={value}")
        if found.interrupted:
            complete = False
            break
    progress.clear()
    if csv_file:
        _write(csv_file, rows)
    labels = [label for label, _ in derived]
    if plot and rows:
        about = f"slowest packets of {len(rows)} programs, {cores} cores"
        plot_lines(_panels(rows, parameter, labels, bits), parameter, plot, about)
    if as_json:
        print_json(
            {
                "parameter": parameter,
                "metric": metric,
                "unit": unit,
                "cores": cores,
                "complete": complete,
                "rows": rows,
            }
        )
    else:
        _show(rows, parameter, labels, unit, packets)
        if not complete:
            click.echo("not all searches came to their end: those guarantees hold, better ones may")
    return ANSWERED if complete else UNKNOWN


# What a row has beside the parameter and what is derived of it.
_FIELDS = (
    "program",
    "guarantee",
    "verdict",
    "cycles",
    "dram_cycles",
    "packet_size",
    "bottleneck",
    "simulated",
)


def _derived(derive, parameter):
    """[(label, formula)] of the options NAME=FORMULA."""
    from ..sweep import parse_expression

    derived = []
    for text in derive:
        label, equals, formula = text.partition("=")
        if not equals or not label.strip():
            raise click.UsageError(
                f"--derive {text}: write NAME=FORMULA, as in error=exp(-{parameter})"
            )
        label = label.strip()
        if label in (parameter, *_FIELDS, *(name for name, _ in derived)):
            raise click.UsageError(
                f"--derive {text}: the table has a column '{label}' already; write another name"
            )
        derived.append((label, parse_expression(formula.strip(), parameter)))
    return derived


def _row(file, found, simulated):
    """The fields of one program: its guarantee, and the slowest packet."""
    slow = found.slowest[0] if found.slowest else None
    values = (
        file,
        found.rate,
        found.verdict,
        slow and slow.cycles,
        slow and slow.dram_cycles,
        slow and slow.packet_size,
        found.decides,
        simulated,
    )
    return dict(zip(_FIELDS, values, strict=True))


def _panels(rows, parameter, labels, bits):
    """What plot_lines() draws: the rates, and a panel for each derived quantity."""
    scale = 1e9 if bits else 1e6
    lines = [("guaranteed", [(r[parameter], r["guarantee"] / scale) for r in rows], False)]
    simulated = [(r[parameter], r["simulated"] / scale) for r in rows if r["simulated"]]
    if simulated:
        lines.append(("simulated", simulated, True))
    panels = [("Gbit/s" if bits else "M packets/s", lines)]
    for label in labels:
        points = [(r[parameter], r[label]) for r in rows if r[label] is not None]
        panels.append((label, [(None, points, False)]))
    return panels


def _show(rows, parameter, labels, unit, packets):
    columns = [
        ">" + parameter,
        ">guaranteed " + unit,
        *([">simulated " + unit] if packets else []),
        ">cycles",
        ">DRAM cycles",
        ">bytes",
        "bottleneck",
        *(">" + label for label in labels),
    ]
    table(
        columns,
        [
            (
                r[parameter],
                rate(r["guarantee"]),
                *(
                    [_or(r["simulated"], lambda value: rate(value, guaranteed=False))]
                    if packets
                    else []
                ),
                _or(r["cycles"], str),
                _or(r["dram_cycles"], "{:.2f}".format),
                _or(r["packet_size"], str),
                r["bottleneck"],
                *(_or(r[label], "{:.4g}".format) for label in labels),
            )
            for r in rows
        ],
    )


def _simulated(file, slow, cores, packets, unroll, bits):
    from .. import mix as mixes
    from ..program import load
    from ..simulate import simulate

    found = simulate(
        mixes.Mix([mixes.path_of(load(file, unroll=unroll), slow.path)], packets), cores=cores
    )
    return found.packet_rate * 8 * slow.packet_size if bits else found.packet_rate


def _or(value, show):
    return "-" if value is None else show(value)


def _write(path, rows):
    from lpn.runs import written

    try:
        with written(path) as file:
            writer = csv.DictWriter(file, list(rows[0]) if rows else [], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    except OSError as problem:
        from lpn import Error

        raise Error("E-nfp-sweep", f"cannot write {path}: {problem.strerror or problem}") from None
