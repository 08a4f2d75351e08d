"""lpn vta tune, also lpn tune vta: searches the fastest schedule."""


import click
from lpn.command import (
    ANSWERED,
    NO,
    UNKNOWN,
    OutputFile,
    Progress,
    grouped,
    json_option,
    print_json,
    table,
)

import lpn
from lpn.runs import written
from models.vta import isa, schedule
from models.vta.config import DEFAULT
from models.vta.tuner import Tuner

_DEFAULT_LATENCY = 20
_AXES = ("rows", "columns", "out_channels", "in_channels", "threads", "order", "kernel")


class Shape(click.ParamType):
    """Numbers with x between them."""

    def __init__(self, *names):
        self.name = "x".join(names)
        self._names = names

    def convert(self, value, param, ctx):
        parts = value.lower().split("x")
        if len(parts) != len(self._names) or not all(p.isascii() and p.isdigit() for p in parts):
            self.fail(f"'{value}' is not {self.name}, numbers with x between them")
        if any(len(p) > 9 for p in parts):
            self.fail(f"'{value}' has a number of more than 9 digits")
        return tuple(map(int, parts))


def _options(command):
    for option in reversed(
        (
            click.option(
                "--trials",
                type=click.IntRange(1),
                default=500,
                show_default=True,
                help="Schedules that are simulated, at most.",
            ),
            click.option(
                "--strategy",
                type=click.Choice(["guided", "random", "exhaustive"]),
                default="guided",
                show_default=True,
                help="How they are chosen; exhaustive: all, whatever --trials says.",
            ),
            click.option(
                "--uneven",
                is_flag=True,
                help="Also tiles that do not divide the shape: the last one overlaps.",
            ),
            click.option(
                "--read-latency",
                type=click.IntRange(1, 100_000),
                default=_DEFAULT_LATENCY,
                show_default=True,
            ),
            click.option(
                "--write-ack-latency",
                type=click.IntRange(1, 100_000),
                default=_DEFAULT_LATENCY,
                show_default=True,
            ),
            click.option("--seed", type=click.IntRange(0, 2**31), default=1, show_default=True),
            click.option(
                "--batch",
                type=click.IntRange(1, 100_000),
                default=4,
                show_default=True,
                help="Schedules that are simulated at once, at first; with many workers, more.",
            ),
            click.option(
                "--jobs",
                type=click.IntRange(1, 4096),
                metavar="N",
                help="Local processes. [default: one per core]",
            ),
            click.option(
                "--scheduler", metavar="ADDRESS", help="Runs on a Dask cluster: tcp://host:8786."
            ),
            click.option(
                "-o",
                "--output",
                type=OutputFile(),
                metavar="FILE",
                help="Keeps the trials; the same search goes on from it.",
            ),
            click.option(
                "--program",
                "stream",
                type=OutputFile(),
                metavar="FILE",
                help="Writes the best schedule's instructions, as `lpn sim vta` reads them.",
            ),
            click.option(
                "--poor",
                type=OutputFile(),
                metavar="FILE",
                help="Writes the slowest trial's instructions, for `lpn viz` to show beside the best.",
            ),
            click.option(
                "--plot",
                type=click.Path(dir_okay=False),
                metavar="FILE",
                help="Draws the least clocks over the trials, .svg or .png.",
            ),
            click.option("--all", "show_all", is_flag=True, help="Every trial, not only the best."),
            json_option,
        )
    ):
        command = option(command)
    return command


@click.group()
def tune():
    """The fastest schedule of a convolution or a matrix product.

    Schedules are tilings, buffers, orders of loops and of micro-ops; each that is tried is a program
    whose clocks are simulated. The best one is run on numbers, whichever unit goes first, before it
    is reported.
    """


@tune.command()
@click.option(
    "--shape",
    type=Shape("H", "W", "CI", "CO", "K"),
    required=True,
    help="Height, width, input and output channels, size of the filter.",
)
@click.option("--stride", type=click.IntRange(1, 64), default=1, show_default=True)
@click.option(
    "--pad", type=click.IntRange(0, 15), default=0, show_default=True, help="Zeros around."
)
@_options
def conv2d(shape, stride, pad, **options):
    """The fastest schedule of a convolution of 8-bit numbers.

    Exit status: 0 answered; 1 no schedule fits; 2 something is wrong; 3 Ctrl-C, with the best so far.
    """
    return _tune(lambda: schedule.Conv(*shape, stride, pad), **options)


@tune.command()
@click.option("--shape", type=Shape("M", "K", "N"), required=True, help="M x K by K x N.")
@_options
def matmul(shape, **options):
    """The fastest schedule of a product of matrices of 8-bit numbers.

    Exit status: 0 answered; 1 no schedule fits; 2 something is wrong; 3 Ctrl-C, with the best so far.
    """
    return _tune(lambda: schedule.matmul(*shape), **options)


def _tune(
    shape,
    trials,
    strategy,
    uneven,
    read_latency,
    write_ack_latency,
    seed,
    batch,
    jobs,
    scheduler,
    output,
    stream,
    poor,
    plot,
    show_all,
    as_json,
):
    if jobs is not None and scheduler is not None:
        raise click.UsageError("--jobs is for local processes; a cluster has its own workers")
    try:
        conv = shape()
    except ValueError as error:
        raise lpn.Error("E-usage", str(error)) from None
    if plot:
        from lpn.plots import check_plot

        check_plot(plot)
    latencies = {"read_latency": read_latency, "write_ack_latency": write_ack_latency}
    tuner = Tuner(conv, latencies, uneven, jobs, scheduler)
    if not tuner.space:
        more = "" if uneven else "; --uneven tries tiles that do not divide the shape too"
        click.echo(
            "no schedule fits into the accelerator's memories and "
            f"{grouped(schedule.MOST_INSTRUCTIONS)} instructions{more}",
            err=True,
        )
        return NO
    most = len(tuner.space) if strategy == "exhaustive" else min(trials, len(tuner.space))
    progress = Progress(most)

    def shown(tuning):
        progress.finished = len(tuning.trials)
        best = tuning.best
        progress.say("" if best is None else f"best {grouped(best.cost)}")

    found = tuner.search(
        trials=most, strategy=strategy, seed=seed, batch=batch, journal=output, on_batch=shown
    )
    best = found.best
    clocks = None
    if best is not None:
        progress.say("checking the best on numbers")
        clocks = _confirm(tuner, best, output)
        _write(stream, tuner, best.candidate)
        _write(poor, tuner, max(found.trials, key=lambda trial: trial.cost).candidate)
    progress.clear()
    if plot and best is not None:
        _draw(plot, found, conv)
    if as_json:
        print_json(_as_json(tuner, found, clocks, show_all))
    else:
        _show(tuner, found, clocks, show_all)
        if stream and poor and best is not None:
            given = "".join(f" -p {n}={v}" for n, v in latencies.items() if v != _DEFAULT_LATENCY)
            click.echo(f"side by side: lpn viz vta {stream} --versus {poor}{given} -o page.html")
    return UNKNOWN if found.ending == "interrupted" else ANSWERED


def _confirm(tuner, best, journal):
    """Runs the program on numbers and to the clock; returns its clocks."""
    chosen = best.candidate
    again = tuner.cost(chosen)
    if again != best.cost:  # of another version of the model: so may be the others' order
        raise lpn.Error(
            "E-tune-file",
            f"{journal}: its trial {best.number} says {best.cost:g} clocks, and the model today "
            f"{again}; write to another file",
        )
    try:
        tuner.check(chosen)
    except ValueError as error:
        raise lpn.Error("E-vta-program", f"the schedule {chosen} is wrong: {error}") from None
    return tuner.exact(chosen)


def _write(path, tuner, chosen):
    """The schedule's stream of instructions, where a path is given."""
    if path is None:
        return
    words, _ = schedule.program(tuner.conv, chosen)
    try:
        with written(path, binary=True) as file:
            file.write(isa.to_bytes(words))
    except OSError as error:
        raise lpn.Error("E-input", f"cannot write {path}: {error.strerror}") from None


def _rows(found, show_all):
    able = [trial for trial in found.trials if trial.cost is not None]
    return found.trials if show_all else sorted(able, key=lambda trial: trial.cost)[:5]


def _as_json(tuner, found, clocks, show_all):
    return {
        "subject": tuner.subject(),
        "schedules": found.candidates,
        "trials": len(found.trials),
        "ending": found.ending,
        "best": None if found.best is None else {**vars(found.best), "latency": clocks},
        "convergence": found.so_far(),
        "table": [vars(trial) for trial in _rows(found, show_all)],
    }


def _show(tuner, found, clocks, show_all):
    click.echo(
        f"{len(found.trials)} of {found.candidates} schedules simulated"
        + (", stopped by Ctrl-C" if found.ending == "interrupted" else "")
    )
    table(
        [">trial", ">clocks", *_AXES],
        [
            (trial.number, grouped(trial.cost), *(trial.candidate[axis] for axis in _AXES))
            for trial in _rows(found, show_all)
        ],
    )
    if found.best is not None:
        conv = tuner.conv
        filled = [
            f"{name} from {given} to {DEFAULT.block * blocks}"
            for name, given, blocks in (
                ("input channels", conv.ci, conv.ci_blocks),
                ("output channels", conv.co, conv.co_blocks),
            )
            if given % DEFAULT.block
        ]
        if filled:
            click.echo(f"\nfilled up with zeros: {', '.join(filled)}")
        share = conv.products / clocks
        click.echo(
            f"\nbest: {grouped(clocks)} clocks, {share:.0%} of them products; its outputs are right "
            "in all 6 orders of the units"
        )


def _draw(path, found, conv):
    from lpn.plots import plot_lines

    points = found.so_far()
    points.append((len(found.trials), points[-1][1]))
    title = " ".join(f"{name}={value}" for name, value in vars(conv).items())
    plot_lines([("least clocks", [(None, points, False)])], "trials", path, title)
