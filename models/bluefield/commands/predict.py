"""lpn bluefield predict: throughputs in milliseconds, from laws and trained predictors."""

import click
from lpn.command import ANSWERED, NO, json_option, note, print_json, table

from .options import level_option, load_models, models_option, one_model
from .shown import show_outside, show_outside_rows


@click.command("predict")
@click.argument("file", metavar="SCENARIO.json", type=click.Path(dir_okay=False))
@models_option
@level_option
@json_option
def predict(file, models, level, as_json):
    """Predicts what each function of SCENARIO.json delivers, with an interval, its bottleneck, and
    the inputs that lie outside what the laws and predictors were measured on.

    Functions with a --model are predicted from their profiles, the others from the scenario's own
    times. Instead of a scenario, a .csv of traffic and contention (the columns of a profile) is
    predicted row by row with one
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
    return NO if any(f.broken for f in functions) else ANSWERED


def forecasts(file, models, level):
    """The Forecasts of a scenario file with the predictors of --model."""
    from .. import scenario
    from ..predictor.scenario_forecast import forecast

    return forecast(scenario.read(file), load_models(models), level)


def _rows(file, models, level, as_json):
    from ..predictor.profile_table import read

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
        return ANSWERED
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
    show_outside_rows(counts, len(answers))
    for engine in unused:
        note(
            f"competitors at the {engine} engine are ignored: the model of '{predictor.function}' does not "
            "use it"
        )
    return ANSWERED
