"""What several commands print: what was trained, and inputs outside the range trained or measured
on.
"""

import click
from lpn.command import counted, note, table


def show_trained(predictor, candidates):
    """What was trained, to read. Also of an evaluation."""
    for file, kind, rows in predictor.trained_on:
        click.echo(f"{file}: {kind}, {rows} rows")
    if candidates:
        covered = all(candidate.covers for candidate in candidates)
        table(
            [
                "memory model",
                "trained on",
                ">rows near",
                ">error of held-out rows",
                *([] if covered else ["traffic"]),
            ],
            [
                [
                    c.kind,
                    " + ".join(p.name for p in c.profiles),
                    c.near,
                    f"{c.error:.2f} %",
                    *([] if covered else [_coverage(c)]),
                ]
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


def _coverage(candidate):
    if candidate.covers:
        return "covered"
    return "other than asked" if candidate.unknown else "asked beyond it"


def _certainty(engine):
    """Standard deviations of the time at both ends of what was calibrated."""
    column = engine.inputs[0]
    if len(engine.inputs) != 1:
        return ""
    ends = [(end, *engine.time({column: end})) for end in engine.ranges[column]]
    return "; +- " + ", ".join(f"{100 * sd / time:.1f} % at {end:.4g}" for end, time, sd in ends)


def show_outside(outside, prefix=""):
    for one in outside:
        note(
            f"{prefix}{one['input']} {one['value']:g} lies outside {one['low']:g}..{one['high']:g}, the "
            "range trained or measured on"
        )


def show_outside_rows(rows_of, rows):
    """A note that names inputs outside the range trained on. rows_of: input -> in how many of
    `rows`.
    """
    if rows_of:
        note(
            "outside the range trained on: "
            + ", ".join(
                f"{name} ({count} of {rows} rows)" for name, count in sorted(rows_of.items())
            )
        )
