"""lpn bluefield diagnose: what holds a function back, and how that shifts with traffic and
contention.
"""

import re

import click
from lpn import Error
from lpn.command import ANSWERED, OutputFile, json_option, print_json, table

from ..predictor.profile_table import COUNTERS, FLOWS, MATCHES, SIZE, THROUGHPUT
from ..engines import engines_of
from .options import level_option, load_models, models_option, one_model
from .shown import show_outside

LEAST_STEPS = 2


@click.command("diagnose")
@click.argument("file", metavar="SCENARIO.json", type=click.Path(dir_okay=False))
@models_option
@click.option("--function", "name", help="The function to sweep. Default: the first.")
@click.option(
    "--sweep",
    metavar="INPUT=LO..HI",
    help="Changes one input: mtbr_matches_per_MB, flow_count, pkt_size_B, "
    "wss_MB or accesses_per_s of a scenario, a column of a .csv.",
)
@click.option(
    "--steps",
    type=click.IntRange(LEAST_STEPS, 10_000),
    default=12,
    show_default=True,
    help="Values of the sweep.",
)
@click.option(
    "--line",
    type=click.IntRange(2),
    help="The line of the .csv whose row is swept. Default: its first row.",
)
@click.option(
    "--plot",
    type=OutputFile(),
    metavar="FILE",
    help="With --sweep: a picture (.svg, .png, .pdf) of throughput against it.",
)
@level_option
@json_option
def diagnose(file, models, name, sweep, steps, line, plot, level, as_json):
    """Names the bottleneck of each function of SCENARIO.json, or of each row of a .csv with one
    --model.

    Rows that have a measured throughput_kpps are diagnosed from it as well: a resource whose bound
    it exceeds is none, and what a whole group of rows does under rising memory pressure counts
    most.

    \b
    lpn bluefield diagnose SCENARIO.json --sweep mtbr_matches_per_MB=0..1100 --plot shift.svg
    """
    if plot and not sweep:
        raise click.UsageError(
            "--plot shows a sweep: write --sweep mtbr_matches_per_MB=0..1100 too"
        )
    if file.endswith(".json"):
        source = _Scenario(file, models, name, level)
    else:
        source = _Rows(file, models, line, level)
    if not sweep:
        return source.answer(as_json)
    found = re.fullmatch(r"(\w+)=([-+.\deE]+)\.\.([-+.\deE]+)", sweep)
    try:
        column, low, high = found[1], float(found[2]), float(found[3])
    except (TypeError, ValueError):
        raise click.UsageError(
            f"--sweep {sweep}: write --sweep mtbr_matches_per_MB=0..1100"
        ) from None
    if not 0 <= low < high:
        raise click.UsageError(f"--sweep {sweep}: the range must rise from 0 or more")
    return _sweep(source, column, low, high, steps, plot, as_json)


def _sweep(source, column, low, high, steps, plot, as_json):
    from ..predictor import diagnosis

    values = [low + (high - low) * k / (steps - 1) for k in range(steps)]
    answers = [source.at(column, value) for value in values]
    shifts = diagnosis.crossings(lambda value: source.at(column, value).bottleneck, low, high)
    if plot:
        diagnosis.plot(plot, source.name, column, values, answers, source.measured(column))
    if as_json:
        print_json(
            {
                "function": source.name,
                "input": column,
                "plot": plot,
                "sweep": [
                    {"value": value, **answer.data()} for value, answer in zip(values, answers)
                ],
                "shifts": [{"at": at, "from": before, "to": after} for at, before, after in shifts],
            }
        )
        return ANSWERED
    bounds = [answer.data()["bounds_kpps"] for answer in answers]
    resources = list(bounds[0])
    table(
        [
            f">{column}",
            *(f">{resource}" for resource in resources),
            ">predicted [kpps]",
            ">interval",
            "bottleneck",
            "outside the range trained on",
        ],
        [
            [
                f"{value:g}",
                *(f"{each[r]:.1f}" for r in resources),
                f"{a.rate * 1e3:.1f}",
                f"{a.low * 1e3:.0f}..{a.high * 1e3:.0f}",
                a.bottleneck,
                ", ".join(one["input"] for one in a.outside),
            ]
            for value, each, a in zip(values, bounds, answers)
        ],
        title=source.name,
    )
    for at, before, after in shifts:
        click.echo(f"the bottleneck shifts from {before} to {after} at {column} {at:.4g}")
    if not shifts:
        click.echo(f"the bottleneck is {answers[0].bottleneck} throughout")
    if plot:
        click.echo(f"wrote {plot}")
    return ANSWERED


class _Rows:
    """Rows of a CSV file and a trained predictor."""

    def __init__(self, file, models, line, level):
        from ..predictor.profile_table import read

        self.predictor, self.level = one_model(models, file), level
        self.profile = read(file, measured=False)
        if line is not None and line not in self.profile.lines:
            raise Error(
                "E-usage",
                f"{file} has no row in line {line}; its rows are in {self.profile.lines[0]} to "
                f"{self.profile.lines[-1]}",
            )
        self.row = self.profile.rows[self.profile.lines.index(line) if line else 0]
        self.name = self.predictor.function

    def at(self, column, value):
        from ..predictor.diagnosis import at

        known = (
            *COUNTERS,
            FLOWS,
            SIZE,
            MATCHES,
            *(f"comp_{engine}_sum_nt_ms" for engine in self.engines()),
        )
        if column not in known:
            raise Error(
                "E-usage", f"there is no input '{column}' of a row; there are: {', '.join(known)}"
            )
        return self.predictor.answer(at(self.row, column, value), self.level)

    def engines(self):
        """Those at which competitors may be: the function's own, and any in the rows."""
        there = {"regex", "compression", *self.predictor.engines}
        return engines_of(there.union(self.profile.competition()))

    def measured(self, column):
        """(value, rate) of the measured rows that differ from the swept one in this column only."""
        return [
            (row[column], row[THROUGHPUT] / 1e3)
            for row in self.profile.rows
            if THROUGHPUT in row
            and column in row
            and all(
                row.get(key) == value
                for key, value in self.row.items()
                if key not in (column, THROUGHPUT)
            )
        ]

    def answer(self, as_json):
        from ..predictor.diagnosis import diagnose

        found = diagnose(self.predictor, self.profile.rows, self.level)
        if as_json:
            print_json(
                {
                    "function": self.name,
                    "rows": [
                        {"row": self.profile.where(k), **d.data()} for k, d in enumerate(found)
                    ],
                }
            )
            return ANSWERED
        table(
            [
                ">line",
                ">measured",
                ">predicted [kpps]",
                "bottleneck",
                "evidence",
                "outside the range trained on",
            ],
            [
                [
                    self.profile.lines[k],
                    "" if d.measured is None else f"{d.measured * 1e3:.1f}",
                    f"{d.answer.rate * 1e3:.1f}",
                    d.bottleneck if d.certain else " or ".join(d.could_be),
                    d.evidence,
                    ", ".join(one["input"] for one in d.answer.outside),
                ]
                for k, d in enumerate(found)
            ],
        )
        return ANSWERED


class _Scenario:
    """A scenario file, its functions forecast by the laws and by trained predictors."""

    def __init__(self, file, models, name, level):
        from .. import scenario

        self.scenario, self.models, self.level = scenario.read(file), load_models(models), level
        names = [f.name for f in self.scenario.functions]
        if name is not None and name not in names:
            raise Error("E-usage", f"{file} has no function '{name}'; it has: {', '.join(names)}")
        self.index = names.index(name) if name else 0
        self.name = names[self.index]

    def at(self, column, value):
        from ..predictor.scenario_forecast import changed, forecast

        return forecast(changed(self.scenario, self.index, column, value), self.models, self.level)[
            self.index
        ]

    def measured(self, column):
        return ()

    def answer(self, as_json):
        from ..predictor.scenario_forecast import forecast

        found = forecast(self.scenario, self.models, self.level)
        if as_json:
            print_json({"functions": [f.data() for f in found]})
            return ANSWERED
        resources = list(dict.fromkeys(r for f in found for r in f.bounds))
        table(
            ["function", *(f">{r} [kpps]" for r in resources), ">predicted", "bottleneck"],
            [
                [
                    f.name,
                    *(f"{f.bounds[r] * 1e3:.1f}" if r in f.bounds else "" for r in resources),
                    f"{f.rate * 1e3:.1f}",
                    " or ".join(f.could_be),
                ]
                for f in found
            ],
        )
        for f in found:
            show_outside(f.outside, f"{f.name}: ")
        return ANSWERED
