"""Options that several commands have, and what they name: predictors, kinds of memory models."""

import click

from lpn.command import FiniteRange
from lpn import Error

level_option = click.option(
    "--level",
    type=FiniteRange(0.5, 0.99),
    default=0.9,
    show_default=True,
    help="Share of truths that the intervals should hold.",
)
models_option = click.option(
    "--model",
    "models",
    multiple=True,
    metavar="[NAME=]MODEL.json",
    help="A trained predictor, for the function of its name.",
)


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
    type=click.Choice(["choose", "boosting", "stochastic", "white-box"]),
    default="choose",
    show_default=True,
    help="Kind of memory model; choose: by cross-validation.",
)


def kinds(memory):
    """The kinds of memory model that --memory allows."""
    from ..predictor import training

    return training.KINDS if memory == "choose" else (memory,)


def load_models(models):
    """{function: Predictor} of the --model options."""
    from ..predictor.function_predictor import load

    found = {}
    for spec in models:
        name, equals, path = spec.partition("=")
        predictor = load(path if equals else spec)
        found[name if equals else predictor.function] = predictor
    return found


def one_model(models, file):
    """The Predictor for the rows of a CSV file."""
    loaded = list(load_models(models).values())
    if len(loaded) != 1:
        raise Error(
            "E-usage",
            f"{file} is a table of one function's rows: write one --model MODEL.json "
            "(lpn bluefield train makes it)",
        )
    return loaded[0]
