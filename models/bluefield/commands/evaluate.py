"""lpn bluefield evaluate: a predictor and its baselines on measured rows."""

import click
from lpn.command import ANSWERED, FiniteRange, Progress, json_option, note, print_json, table

from .options import kinds, memory_option, pattern_option
from .shown import show_outside_rows, show_trained


@click.command("evaluate")
@click.option(
    "--train",
    "train",
    required=True,
    multiple=True,
    type=click.Path(dir_okay=False),
    metavar="FILE...",
    help="Profiles of the function; several may follow.",
)
@click.argument("more", nargs=-1, type=click.Path(dir_okay=False), metavar="")
@click.option(
    "--test",
    "test",
    required=True,
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Measured rows that the predictor has not seen.",
)
@click.option(
    "--level",
    type=FiniteRange(0.5, 0.99),
    default=0.9,
    show_default=True,
    help="Share of truths that the intervals should hold.",
)
@click.option("--rows", "all_rows", is_flag=True, help="Also every row's prediction.")
@pattern_option
@memory_option
@json_option
def evaluate(train, more, test, level, all_rows, pattern, memory, as_json):
    """Trains on profiles, predicts the rows of another file once, and says how far off that is.

    \b
    lpn bluefield evaluate --train memory.csv regex.csv --test rows.csv

    Memory model and training file are chosen by cross-validation on the training files alone, and
    printed before the test rows are predicted.
    """
    from ..predictor.prediction_errors import evaluate
    from ..predictor.profile_table import read, read_each

    progress = Progress(1)

    def trained(predictor, candidates):
        progress.clear()
        if not as_json:
            show_trained(predictor, candidates)
            click.echo()

    profiles = read_each((*train, *more))
    figures = evaluate(profiles, read(test), pattern, level, kinds(memory), progress.say, trained)
    progress.clear()
    if not all_rows:
        figures.pop("predictions")
    if as_json:
        print_json(figures)
        return ANSWERED
    judged = [["this predictor", figures], *([b["name"], b] for b in figures["baselines"])]
    table(
        ["method", ">mean error", ">within 5 %", ">within 10 %", ">worst"],
        [
            [
                name,
                f"{of['mape']:.2f} %",
                f"{of['within_5']:.1f} %",
                f"{of['within_10']:.1f} %",
                f"{of['worst']:.0f} %",
            ]
            for name, of in judged
        ],
        title=f"{figures['rows']} rows of {test}",
    )
    interval = figures["interval"]
    click.echo(
        f"intervals for {100 * interval['level']:.0f} % hold {interval['held']:.0f} % of the measured "
        f"rates; mean width {interval['mean_width_percent']:.0f} %"
    )
    if all_rows:
        click.echo()
        table(
            ["row", ">measured", ">predicted", ">interval [kpps]", "bottleneck"],
            [
                [
                    p["row"].rpartition(":")[2],
                    f"{p['measured_kpps']:.1f}",
                    f"{p['throughput_kpps']:.1f}",
                    f"{p['low_kpps']:.0f}..{p['high_kpps']:.0f}",
                    " or ".join(p["could_be"]),
                ]
                for p in figures["predictions"]
            ],
        )
    if figures["rows_trained_on"]:
        note(
            f"{figures['rows_trained_on']} of {figures['rows']} rows stand in the training files too: their "
            "errors are no judgement"
        )
    show_outside_rows(figures["outside"], figures["rows"])
    return ANSWERED
