"""lpn bluefield predict: throughputs in milliseconds, from laws and trained predictors."""

import click
from lpn.command import json_option, note, print_json, table
from lpn import Error

level_option = click.option(
    "--level",
    type=click.FloatRange(0.5, 0.99),
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


@click.command("predict")
@click.argument("file", metavar="SCENARIO.json", type=click.Path(dir_okay=False))
@models_option
@level_option
@json_option
def command(file, models, level, as_json):
    """Predicts what each function of SCENARIO.json delivers, with an interval, its bottleneck, and the inputs
    that lie outside what the laws and predictors were measured on.

    Functions with a --model are predicted from their profiles, the others from the scenario's own times.
    Instead of a scenario, a .csv of traffic and contention (the columns of a profile) is predicted row by row
    with one
    --model.

    Exit status: 0 answered; 1 a promised drop will be broken; 2 something is wrong.
    """
    if not file.endswith(".json"):
        return _rows(file, models, level, as_json)
    functions = forecasts(file, models, level)
    if as_json:
        print_json({"functions": [f.data() for f in functions]})
    else:
        table(
            ["function", ">kpps", ">interval", ">alone", ">drop", "promised", "bottleneck"],
            [
                [
                    f.name,
                    f"{f.rate * 1e3:.1f}",
                    f"{f.low * 1e3:.0f}..{f.high * 1e3:.0f}",
                    f"{f.alone * 1e3:.1f}",
                    f"{100 * f.drop:.1f} %",
                    ""
                    if f.promised_drop is None
                    else f"{100 * f.promised_drop:.0f} %: " + ("broken" if f.broken else "kept"),
                    " or ".join(f.could_be),
                ]
                for f in functions
            ],
        )
        for f in functions:
            show_outside(f.outside, f"{f.name}: ")
    return 1 if any(f.broken for f in functions) else 0


def forecasts(file, models, level):
    """The Forecasts of a scenario file with the predictors of --model."""
    from . import scenario
    from .forecast import forecast

    return forecast(scenario.read(file), load_models(models), level)


def load_models(models):
    """{function: Predictor} of the --model options."""
    from .predictor import load

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


def show_outside(outside, prefix=""):
    for one in outside:
        note(
            f"{prefix}{one['input']} {one['value']:g} lies outside {one['low']:g}..{one['high']:g}, the "
            "range trained or measured on"
        )


def _rows(file, models, level, as_json):
    from ._cli_evaluate import show_outside as outside_of
    from .profiles import read

    predictor = one_model(models, file)
    profile = read(file, measured=False)
    answers = [predictor.answer(row, level) for row in profile.rows]
    unused = sorted({engine for row in profile.rows for engine in predictor.unused(row)})
    if as_json:
        print_json(
            {
                "function": predictor.function,
                "ignored_engines": unused,
                "rows": [
                    {"row": profile.where(k), **answer.data()} for k, answer in enumerate(answers)
                ],
            }
        )
        return 0
    table(
        [">line", ">kpps", ">interval", "bottleneck", "outside the range trained on"],
        [
            [
                profile.lines[k],
                f"{a.rate * 1e3:.1f}",
                f"{a.low * 1e3:.0f}..{a.high * 1e3:.0f}",
                " or ".join(a.could_be),
                ", ".join(one["input"] for one in a.outside),
            ]
            for k, a in enumerate(answers)
        ],
    )
    counts = {}
    for answer in answers:
        for one in answer.outside:
            counts[one["input"]] = counts.get(one["input"], 0) + 1
    outside_of(counts, len(answers))
    for engine in unused:
        note(
            f"competitors at the {engine} engine are ignored: the model of '{predictor.function}' does not "
            "use it"
        )
    return 0
