"""lpn bpf diff: did a new version get dearer, for which packets, and does one end otherwise."""

import math

import click

from lpn.command import ANSWERED, NO, UNKNOWN, json_option, print_json, table

from .options import metric_of, metric_option, program_options, taken


class Percent(click.ParamType):
    """5 or 5%."""

    name = "percent"

    def convert(self, value, param, ctx):
        try:
            number = float(str(value).removesuffix("%"))
        except ValueError:
            number = math.nan
        if not math.isfinite(number) or number < 0:
            self.fail(f"'{value}' is no percentage; write 5%", param, ctx)
        return number


@click.command()
@click.argument("old", type=click.Path(exists=True, dir_okay=False), metavar="OLD")
@click.argument("new", type=click.Path(exists=True, dir_okay=False), metavar="NEW")
@program_options
@metric_option
@click.option(
    "--fail-above",
    type=Percent(),
    metavar="P%",
    help="Exit status 1 where a class costs more by more than P percent.",
)
@json_option
def diff(old, new, metric, fail_above, as_json, **options):
    """Compares two versions of a program for every packet and map state: classes of the old and of
    the new version that have packets in common, with what these cost before and after, and a
    witness that was run through both.

    \b
    lpn bpf diff main/filter.bpf.o branch/filter.bpf.o --fail-above 5%

    Maps are matched by name. Exit status: 0 answered; 1 a class is dearer than allowed; 2 something
    is wrong or not modelled; 3 answered with intervals, because time was over.
    """
    from ..compare import compare, summary
    from ..interface import extract

    options = taken(**options)
    metric = metric_of(metric, options["prices"])
    one = extract(old, **options)
    other = extract(new, **options, beside=True)
    found = compare(one, other, metric)
    numbers = summary(found, one, other, metric)
    failing = [d for d in found if fail_above is not None and d.percent > fail_above]
    complete = one.explored.complete and other.explored.complete
    status = NO if failing else ANSWERED if complete else UNKNOWN
    if as_json:
        print_json(_data(found, one, other, metric, numbers, fail_above, failing))
    else:
        _show(found, one, other, numbers, fail_above, failing)
    return status


def _data(found, one, other, metric, numbers, fail_above, failing):
    from ..compare import conditions_of
    from ..worlds import to_json

    return {
        "before": {"object": one.program.path, "sha256": one.program.sha256},
        "after": {"object": other.program.path, "sha256": other.program.sha256},
        "metric": metric,
        "classes": [
            {
                "when": conditions_of(d, one, other),
                "class_before": d.old.name,
                "class_after": d.new.name,
                "before": d.before,
                "after": d.after,
                "delta": d.after - d.before,
                "delta_pct": round(d.percent, 2),
                "verdict_before": d.old.verdict,
                "verdict_after": d.new.verdict,
                "verdict_changed": d.verdict_changed,
                "witness": None if d.witness is None else to_json(d.witness),
            }
            for d in found
        ],
        **numbers,
        "fail_above_pct": fail_above,
        "failing": len(failing),
    }


def _show(found, one, other, numbers, fail_above, failing):
    from ..compare import conditions_of

    rows = sorted(found, key=lambda d: -d.percent)
    table(
        [">before", ">after", ">change", "verdict", "when"],
        [
            (
                d.before,
                d.after,
                f"{d.percent:+.1f} %",
                f"{d.old.verdict} -> {d.new.verdict}" if d.verdict_changed else d.new.verdict,
                " and ".join(conditions_of(d, one, other)),
            )
            for d in rows
        ],
    )
    click.echo("")
    click.echo(
        f"most: {numbers['max_before']} -> {numbers['max_after']} ({numbers['max_delta_pct']:+} %);"
        f" {numbers['regressed']} classes dearer, {numbers['improved']} cheaper,"
        f" {numbers['unchanged']} the same, {numbers['verdicts_changed']} with another verdict"
    )
    if fail_above is not None:
        click.echo(f"dearer by more than {fail_above:g} %: {len(failing)}")
