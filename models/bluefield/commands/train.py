"""lpn bluefield train: a predictor of one function from its profiles."""

import click
from lpn.command import ANSWERED, OutputFile, Progress, json_option, print_json

from .options import kinds, memory_option, pattern_option
from .shown import show_trained


@click.command("train")
@click.argument(
    "profiles", metavar="PROFILE.csv...", nargs=-1, required=True, type=click.Path(dir_okay=False)
)
@click.option("-o", "--output", required=True, type=OutputFile(), metavar="MODEL.json")
@click.option("--function", help="Its name in scenarios. Default: that of the output file.")
@click.option(
    "--flows",
    type=click.IntRange(1),
    multiple=True,
    help="Flow counts to be predicted: of the memory profiles that cover them the one that fits "
    "best is used. Default: 16384.",
)
@pattern_option
@memory_option
@json_option
def train(profiles, output, function, flows, pattern, memory, as_json):
    """Trains a predictor from PROFILE.csv files: memory contention, engine times, co-runs with a
    benchmark.

    What a file holds is told by its columns (models/bluefield/predictor/README.md). The memory
    model is chosen by cross-validation.
    """
    import os

    from ..predictor import training
    from ..predictor.profile_table import read_each

    progress = Progress(1)
    read_profiles = read_each(profiles)
    name = function or os.path.splitext(os.path.basename(output))[0]
    predictor, candidates = training.train(
        read_profiles,
        pattern,
        flows,
        kinds(memory),
        name,
        progress.say,
    )
    progress.clear()
    predictor.save(output)
    if as_json:
        print_json(data(predictor, candidates, output))
        return ANSWERED
    show_trained(predictor, candidates)
    click.echo(f"wrote {output}")
    return ANSWERED


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
