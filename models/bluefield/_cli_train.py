"""lpn bluefield train: a predictor of one function from its profiles."""

import click
from lpn.command import Progress, counted, json_option, note, print_json, table


class _Pattern(click.ParamType):
    name = "pattern"

    def convert(self, value, param, ctx):
        if value != "detect" and set(value.split(",")) - {"pipeline", "run-to-completion"}:
            self.fail(
                f"'{value}'; write pipeline, run-to-completion, detect, or the first two for each "
                "stage (memory, then engines) with commas between"
            )
        return value


pattern_option = click.option(
    "--pattern",
    type=_Pattern(),
    default="pipeline",
    show_default=True,
    help="How its packets use several resources: pipeline, run-to-completion, "
    "these per stage (memory, then engines) with commas between, or detect, by "
    "rows with all contended.",
)
memory_option = click.option(
    "--memory",
    type=click.Choice(["choose", "boosting", "white-box"]),
    default="choose",
    show_default=True,
    help="Kind of memory model; choose: by cross-validation.",
)


def kinds(memory):
    """The kinds of memory model that --memory allows."""
    from . import training

    return training.KINDS if memory == "choose" else (memory,)


@click.command("train")
@click.argument(
    "profiles", metavar="PROFILE.csv...", nargs=-1, required=True, type=click.Path(dir_okay=False)
)
@click.option(
    "-o", "--output", required=True, type=click.Path(dir_okay=False), metavar="MODEL.json"
)
@click.option("--function", help="Its name in scenarios. Default: that of the output file.")
@click.option(
    "--flows",
    type=click.IntRange(1),
    multiple=True,
    help="Flow counts to be predicted: the memory profile that fits best there is used. "
    "Default: 16384.",
)
@pattern_option
@memory_option
@json_option
def command(profiles, output, function, flows, pattern, memory, as_json):
    """Trains a predictor from PROFILE.csv files: memory contention, engine times, co-runs with a benchmark.

    What a file holds is told by its columns (models/bluefield/README.md). The memory model is chosen by
    cross-validation.
    """
    import os

    from . import training
    from .profiles import read

    progress = Progress(1)
    read_profiles = [read(file) for file in profiles]
    name = function or os.path.splitext(os.path.basename(output))[0]
    predictor, candidates = training.train(
        read_profiles,
        pattern,
        flows or (training.DEFAULT_FLOWS,),
        kinds(memory),
        name,
        progress.say,
    )
    progress.clear()
    predictor.save(output)
    if as_json:
        print_json(data(predictor, candidates, output))
        return 0
    show(predictor, candidates)
    click.echo(f"wrote {output}")
    return 0


def data(predictor, candidates, output):
    return {
        "output": output,
        "function": predictor.function,
        "pattern": predictor.pattern,
        "pattern_errors": predictor.pattern_errors,
        "memory": predictor.memory and predictor.memory.chosen,
        "engines": {name: engine.data() for name, engine in predictor.engines.items()},
        "candidates": [candidate.data() for candidate in candidates],
        "trained_on": [dict(zip(("file", "kind", "rows"), item)) for item in predictor.trained_on],
    }


def show(predictor, candidates):
    """What was trained, to read. Also of an evaluation."""
    for file, kind, rows in predictor.trained_on:
        click.echo(f"{file}: {kind}, {rows} rows")
    if candidates:
        table(
            ["memory model", "trained on", ">rows near", ">error of held-out rows"],
            [
                [c.kind, " + ".join(p.name for p in c.profiles), c.near, f"{c.error:.2f} %"]
                for c in candidates
            ],
        )
        click.echo(f"chosen: {candidates[0].name}")
    for name, engine in predictor.engines.items():
        inputs = [
            "",
            *(["x " + engine.inputs[0]] if len(engine.inputs) == 1 else ["per match", "per byte"]),
        ]
        line = " + ".join(f"{c:.6g} {term}".strip() for c, term in zip(engine.coefficients, inputs))
        click.echo(
            f"{name}: {line} us per request, {counted(engine.queues, 'queue')}{_certainty(engine)}"
        )
    errors = predictor.pattern_errors
    judged = ", ".join(
        f"{pattern} " + ("ruled out" if error is None else f"{error:.1f} %")
        for pattern, error in (errors or {}).items()
    )
    click.echo(f"pattern: {predictor.pattern}" + (f" (mean error {judged})" if judged else ""))
    if predictor.memory:
        import statistics

        for name, apart in predictor.memory.others:
            off = 100 * statistics.median(apart)
            note(
                f"{name} disagrees: at this traffic its rates are {off:+.0f} % off (median of {len(apart)} "
                "rows); intervals reach them"
            )


def _certainty(engine):
    """Standard deviations of the time at both ends of what was calibrated."""
    column = engine.inputs[0]
    if len(engine.inputs) != 1:
        return ""
    ends = [(end, *engine.time({column: end})) for end in engine.ranges[column]]
    return "; +- " + ", ".join(f"{100 * sd / time:.1f} % at {end:.4g}" for end, time, sd in ends)
