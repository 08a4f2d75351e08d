"""lpn bluefield profile: measures a function where it matters, under a quota; and measure, the net
as a testbed."""

import csv
import json
import re
import sys

import click
from lpn import Error
from lpn.command import (
    ANSWERED,
    UNKNOWN,
    FiniteRange,
    OutputFile,
    Progress,
    counted,
    json_option,
    note,
    print_json,
)
from lpn.runs import read_csv, written

from ..predictor.measurements import Attribute
from ..predictor.profile_table import COUNTERS, FLOWS, MATCHES, SIZE, THROUGHPUT

# Ranges of the paper's profiles; the shortest steps are those of its sampled flow counts, and as
# fine elsewhere.
ATTRIBUTES = (
    Attribute(FLOWS, 1, 16_000_000, 16_384, step=100),
    Attribute(SIZE, 64, 1500, 1500, step=64),
    Attribute(MATCHES, 0, 1100, 600, step=20),
)
# Working set [MB] and L2 accesses per second (two reads per write) of synthetic competitors, as in
# the published profile of FlowMonitor; the first is none.
LEVELS = [(0.0, 0.0)] + [
    (wss, accesses)
    for wss in (1.0, 3.0, 5.0, 6.0, 8.0, 10.0, 11.8)
    for accesses in (1e7, 5e7, 1e8, 1.5e8, 2e8, 2.5e8, 3e8)
]


class _Attribute(click.ParamType):
    name = "NAME=LO..HI:DEFAULT"

    def convert(self, value, param, ctx):
        number = r"([-+.\deE]+?)"
        found = re.fullmatch(rf"(\w+)={number}\.\.{number}:{number}(?:/{number})?(:log)?", value)
        try:
            step = float(found[5]) if found[5] else 1.0
            return Attribute(
                found[1], float(found[2]), float(found[3]), float(found[4]), step, bool(found[6])
            )
        except (TypeError, ValueError):
            self.fail(
                f"'{value}'; write flow_count=1..16e6:16384, with /100 behind it for the shortest "
                "step, and :log for a logarithmic scale"
            )


@click.command("profile")
@click.option(
    "--measure",
    "line",
    required=True,
    metavar="CMD",
    help="Shell command that measures one configuration: "
    'JSON on its standard input, a number or {"throughput_kpps": ...} on its standard output.',
)
@click.option("-o", "--output", required=True, type=OutputFile(), metavar="PROFILE.csv")
@click.option(
    "--quota", type=click.IntRange(1), default=60, show_default=True, help="Measurements at most."
)
@click.option(
    "--method",
    type=click.Choice(["adaptive", "random", "full"]),
    default="adaptive",
    show_default=True,
)
@click.option(
    "--attribute",
    "attributes",
    multiple=True,
    type=_Attribute(),
    metavar="NAME=LO..HI:DEFAULT[/STEP][:log]",
    help="A traffic attribute. Default: flow_count, pkt_size_B and mtbr_matches_per_MB over the "
    "paper's ranges.",
)
@click.option(
    "--contention",
    type=click.Path(dir_okay=False),
    metavar="LEVELS.csv",
    help="Contention levels: one row each of columns to measure at, the first row none. Default: "
    "50 levels of working set and accesses.",
)
@click.option(
    "--drop",
    type=FiniteRange(0, 1),
    default=0.05,
    show_default=True,
    help="adaptive: an attribute that changes the rate alone by no more is left at its default.",
)
@click.option(
    "--split",
    type=FiniteRange(0, 1),
    default=0.1,
    show_default=True,
    help="adaptive: a range whose ends differ by no more is not split.",
)
@click.option(
    "--samples",
    type=click.IntRange(0),
    default=2,
    show_default=True,
    help="adaptive: measurements under contention at every value visited.",
)
@click.option(
    "--noise",
    type=FiniteRange(0, 30),
    default=0.0,
    show_default=True,
    metavar="PERCENT",
    help="adaptive: standard deviation of a measured rate; --drop and --split are raised above what "
    "it makes of nothing. 1.6 is that of the real NIC.",
)
@click.option(
    "--steps",
    type=click.IntRange(2),
    default=5,
    show_default=True,
    help="full: values per attribute.",
)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option(
    "--timeout",
    type=FiniteRange(0, min_open=True),
    default=600,
    show_default=True,
    help="Seconds that one measurement may take.",
)
@json_option
def profile(
    line,
    output,
    quota,
    method,
    attributes,
    contention,
    drop,
    split,
    samples,
    noise,
    steps,
    seed,
    timeout,
    as_json,
):
    """Measures a function over traffic and memory contention and writes a profile for `train`.

    The adaptive method drops attributes that change nothing and splits ranges where the function
    changes (Algorithm 1 of the ASPLOS 2025 paper); random and full are its baselines.

    \b
    lpn bluefield profile --measure 'lpn bluefield measure SCENARIO.json' -o profile.csv

    Exit status: 0 done; 2 something is wrong; 3 stopped by Ctrl-C, what was measured is written.
    """
    from ..predictor import measurements

    progress = Progress(quota)
    attributes = attributes or ATTRIBUTES
    names = [attribute.name for attribute in attributes]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise Error("E-usage", f"--attribute {twice} is given twice; keep one of them")
    profiler = measurements.Profiler(
        measurements.command(line, timeout),
        list(attributes),
        _levels(contention, names),
        quota,
        seed,
        progress,
    )
    told, stopped = {}, False
    try:
        if method == "adaptive":
            told = measurements.adaptive(profiler, drop, split, samples, noise / 100)
        elif method == "random":
            measurements.uniform(profiler)
        else:
            measurements.full(profiler, [steps] * len(profiler.attributes))
    except KeyboardInterrupt:
        stopped = True
    progress.clear()
    rows = profiler.rows()
    if rows:
        _write(output, rows)
    if as_json:
        print_json(
            {
                "output": output if rows else None,
                "measurements": len(rows),
                "quota": quota,
                "method": method,
                "stopped": stopped,
                **told,
            }
        )
    else:
        if told:
            click.echo(
                f"attributes kept: {', '.join(told['kept']) or 'none'}; dropped: "
                f"{', '.join(told['dropped']) or 'none'}"
            )
        click.echo(
            f"wrote {output}: {counted(len(rows), 'measurement')} of {quota}"
            if rows
            else "nothing was measured"
        )
        if stopped:
            note("stopped by Ctrl-C")
    return UNKNOWN if stopped else ANSWERED


def _levels(file, attributes):
    if file is None:
        return [
            {
                "comp_wss_MB": wss,
                "comp_l2d_rd_per_s": accesses * 2 / 3,
                "comp_l2d_wr_per_s": accesses / 3,
            }
            for wss, accesses in LEVELS
        ]
    columns, rows = read_csv(file, "E-profile")
    for name in columns:
        if name in (*attributes, THROUGHPUT) or not re.fullmatch(r"\w+", name):
            raise Error(
                "E-profile",
                f"{file}:1: '{name}' is no column of contention levels; they are what competitors "
                "do, as comp_wss_MB, and neither traffic that is varied nor the rate",
            )
    levels = [
        {name: _level(value, name, f"{file}:{line}") for name, value in row.items()}
        for line, row in rows
    ]
    if not levels:
        raise Error("E-profile", f"{file}: no contention levels below the header")
    return levels


def _level(text, name, where):
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise Error("E-profile", f"{where}: {name} is '{text}'; it must be a number, 0 or more")
    return value


def _write(file, rows):
    with written(file) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        names = list(rows[0][0])
        writer.writerow([*names, THROUGHPUT])
        for point, rate in rows:
            writer.writerow([*(f"{point[name]:.10g}" for name in names), f"{rate:.10g}"])


@click.command("measure")
@click.argument("scenario", type=click.Path(dir_okay=False))
@click.option("--function", "name", help="The function that is measured. Default: the first.")
def measure(scenario, name):
    """Measures one configuration by simulating SCENARIO: a testbed for `profile --measure`.

    Reads JSON on standard input: flow_count, pkt_size_B, mtbr_matches_per_MB of the function;
    comp_wss_MB, comp_l2d_rd_per_s, comp_l2d_wr_per_s of competitors that are not simulated. Prints
    {"throughput_kpps": ...}.
    """
    from .. import scenario as scenarios
    from ..net import answer, steady
    from ..predictor.scenario_forecast import changed

    read = scenarios.read(scenario)
    names = [f.name for f in read.functions]
    if name is not None and name not in names:
        raise Error("E-usage", f"{scenario} has no function '{name}'; it has: {', '.join(names)}")
    index = names.index(name) if name else 0
    point = _point(sys.stdin)
    accesses = point.pop("comp_l2d_rd_per_s", 0.0) + point.pop("comp_l2d_wr_per_s", 0.0)
    changes = {"wss_MB": point.pop("comp_wss_MB", 0.0), "accesses_per_s": accesses}
    for column, value in {**point, **changes}.items():
        read = changed(read, index, column, value)
    outcome = steady.simulate(read, latencies=False)
    if not outcome.steady:
        raise Error(
            "E-measurement",
            f"{scenario}: not steady within {read.simulate.most_ms:g} ms; raise simulate.most_ms",
        )
    for warning in answer.warnings(read, outcome):
        note(f"warning: {warning}")
    print_json({"throughput_kpps": outcome.results[index].throughput_kpps})
    return ANSWERED


# What `measure` reads, and the least that each may be.
_MEASURED = {
    FLOWS: 1,
    SIZE: 1,
    MATCHES: 0,
    "comp_wss_MB": 0,
    "comp_l2d_rd_per_s": 0,
    "comp_l2d_wr_per_s": 0,
}


def _point(stream):
    """{input: number} of `measure`'s standard input."""

    def once(pairs):
        names = [name for name, _ in pairs]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"'{twice}' is given twice")
        return dict(pairs)

    try:
        point = json.load(stream, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise Error(
            "E-measurement", f"standard input must be a JSON object of numbers: {error}"
        ) from None
    if not isinstance(point, dict):
        raise Error("E-measurement", "standard input must be a JSON object of numbers")
    for key, value in point.items():
        if key not in _MEASURED:
            what = (
                f"the net has no counter {key}" if key in COUNTERS else f"there is no input '{key}'"
            )
            raise Error("E-measurement", f"{what}; there are: {', '.join(_MEASURED)}")
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not _MEASURED[key] <= value < float("inf"):
            raise Error(
                "E-measurement",
                f"{key} is {json.dumps(value)}; it must be a finite number, {_MEASURED[key]} or more",
            )
    return point
