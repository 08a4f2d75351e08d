"""lpn validate: predictions beside what was measured.

The model's module says how to read a row of its truth: `truth(row) -> (input, parameters, cycles)`
for a row of a CSV file as a dict; or, for any other format, `truth_rows(path)`, which yields such
triples. Inputs are file names, looked for in --inputs, else beside the truth file; where --inputs
is a file, it has all of them, and the model's workload gets FILE#INPUT. Anything else goes to the
model as it is. A row of more than a latency has a fourth part, what the module's
`compare(ready, expected) -> (run, about)` needs to compare the rest; or a ValueError that says why the row
is not to be compared.
"""

import math
import os

import click

from ..command import (
    ANSWERED,
    NO,
    UNKNOWN,
    WRONG,
    Progress,
    compile_aloud,
    counted,
    engine_option,
    grouped,
    json_option,
    model_argument,
    params_option,
    print_json,
    seconds,
    table,
)
from ..errors import Error, mistake, refusal, without_place
from ..csv_file import read_csv
from ..runs import load, prepare
from ..runs.endless import refuse_endless


@click.command()
@model_argument
@click.option(
    "--truth",
    required=True,
    type=click.Path(),
    metavar="FILE",
    help="Measured rows, as the model reads them.",
)
@click.option(
    "--inputs",
    type=click.Path(),
    metavar="DIR|FILE",
    help="Where the inputs are, a folder, or one file with all of them; default: beside the truth. "
    "A relative one may also be beside the truth.",
)
@params_option
@engine_option(None, help="Default: what answers first, as in lpn sim.")
@click.option(
    "--all", "show_all", is_flag=True, help="Every row in the order of FILE, not only the worst."
)
@json_option
def validate(model, truth, inputs, params, engine, show_all, as_json):
    """Compares MODEL's latency with measured truth, row by row.

    Inputs that the model refuses are listed as not covered, with the reason, and count in no mean.
    Exit status: 0 answered; 1 a run stalled; 2 something is wrong, or nothing could be compared.
    """
    loaded = load(model)
    wanted = list(_rows(loaded, truth))
    found = _Comparison(loaded, _place_of(truth, inputs), engine)
    progress = Progress(len(wanted))
    for name, parameters, measured, *expected in wanted:
        progress.step(str(name))
        found.compare(name, {**dict(params), **parameters}, measured, *expected)
        if found.interrupted:
            break
    progress.clear()
    rows, not_covered = found.rows, found.not_covered
    summary = found.summary(truth)
    if as_json:
        print_json({**summary, "rows": rows, "not_covered": not_covered})
    else:
        _show(found, summary, show_all)
    if found.interrupted:
        return UNKNOWN
    if not rows:
        click.echo(f"error: no row of {truth} could be compared [E-truth-file]", err=True)
        return WRONG
    if found.failed:
        return WRONG
    return NO if found.stalled else ANSWERED


class _Comparison:
    """Predictions beside truths: `rows` that could be compared, and those `not_covered` with the
    reason.
    """

    def __init__(self, model, place, engine):
        self._model = model
        self._place = place
        self._engine = engine
        self._ready = {}  # parameters -> Ready
        self.rows, self.not_covered = [], []
        self.seconds, self.cycles = 0.0, 0
        self.stalled = self.failed = self.interrupted = False

    def compare(self, name, parameters, measured, expected=None):
        """Adds the row of an input; `expected`: what the model's compare() is to look at."""
        about = {"input": str(name), "parameters": parameters, "truth": measured}
        try:
            run, more = self._run(name, parameters, measured, expected)
        except KeyboardInterrupt:
            self.interrupted = True
            return
        except (Error, ValueError, OSError) as error:  # anything else is the model's own mistake
            code, reason = refusal(error)
            if code == "E-param":
                raise without_place(code, f"{name}: {reason}") from None
            self.failed = self.failed or isinstance(error, Error)
            self.not_covered.append({**about, "code": code, "reason": reason})
            return
        if run.ending == "interrupted":
            self.interrupted = True
            return
        self.seconds += run.seconds
        predicted = more.pop("predicted", run.latency)
        if run.stalled or predicted is None:
            self.stalled = self.stalled or run.stalled
            state = "no done token was produced"
            if run.stalled:
                state = "stalled: " + "; ".join(f"{t} ({why})" for t, why, _ in run.blocked)
            self.not_covered.append({**about, "code": "E-stalled", "reason": state})
            return
        self.cycles += run.latency or 0
        self.rows.append(
            {
                **about,
                "predicted": predicted,
                "error": (predicted - measured) / measured,
                "seconds": round(run.seconds, 9),
                **more,
            }
        )

    def _run(self, name, parameters, measured, expected):
        """(Run, what the model's compare() says beside its latency)."""
        if not isinstance(measured, (int, float)) or not 0 < measured < math.inf:
            raise mistake(
                "E-truth-file", f"the truth is {measured!r}, which is no number of cycles > 0"
            )
        for key, value in parameters.items():
            if isinstance(value, bool) or not isinstance(value, int):
                raise mistake("E-truth-file", f"parameter '{key}' is {value!r}, no whole number")
        if isinstance(expected, ValueError):
            raise expected
        path = self._place(name) if isinstance(name, str) else name
        key = tuple(sorted(parameters.items()))
        if key not in self._ready:
            ready = prepare(self._model, path, parameters, self._engine)
            if self._engine:
                compile_aloud(ready)
            self._ready[key] = ready
        ready = self._ready[key].on(path)
        refuse_endless(ready.net, ready.marking, instead="")
        compare = getattr(self._model.module, "compare", None)
        if compare is None:
            return ready.run(), {}
        run, more = compare(ready, expected)
        return run, dict(more)

    def summary(self, truth):
        """What is said of all rows together."""
        sizes = [abs(row["error"]) for row in self.rows]
        summary = {
            "model": self._model.name,
            "truth": truth,
            "compared": len(self.rows),
            "mean_error": sum(sizes) / len(sizes) if sizes else None,
            "worst_error": max(sizes) if sizes else None,
            "exact": sum(row["predicted"] == row["truth"] for row in self.rows),
            "seconds": round(self.seconds, 9),
        }
        for name in ("times", "times_exact"):
            if any(name in row for row in self.rows):
                summary[name] = sum(row.get(name, 0) for row in self.rows)
        if self.interrupted:
            summary["interrupted"] = True
        return summary


def _place_of(truth, inputs):
    """A function: the name of a row's input -> what the model's workload gets."""
    beside = os.path.dirname(truth) or "."
    if inputs is None:
        return lambda name: os.path.join(beside, name)
    for place in (inputs, os.path.join(beside, inputs)):
        if os.path.isdir(place):
            return lambda name: os.path.join(place, name)
        if os.path.isfile(place):
            return lambda name: f"{place}#{name}"
    raise mistake(
        "E-input", f"there is no folder and no file {inputs}, neither here nor beside {truth}"
    )


def _rows(model, path):
    """(input, parameters, truth[, expected]) of every row."""
    whole = getattr(model.module, "truth_rows", None)
    if whole is not None:
        return _from_other(whole, path)
    row_of = getattr(model.module, "truth", None)
    if row_of is None:
        raise mistake(
            "E-model",
            f"model '{model.name}' does not say how to read its truth; write "
            "a function truth(row) -> (input, parameters, cycles) in its module",
        )
    return _from_csv(row_of, path)


def _from_other(rows_of, path):
    number = 0
    try:
        for number, row in enumerate(rows_of(path), 1):
            yield row
    except OSError as error:
        raise mistake("E-input", f"cannot read {path}: {error.strerror or error}") from None
    except KeyError as error:
        raise mistake("E-truth-file", f"{path}, row {number + 1} has no {error}") from None
    except (ValueError, TypeError, EOFError) as error:
        said = str(error)
        where = "" if said.startswith(path) else f"{path}, row {number + 1}: "
        raise mistake("E-truth-file", where + said) from None


def _from_csv(row_of, path):
    columns, rows = read_csv(path)
    if not rows:
        raise mistake("E-truth-file", f"{path} has no rows below its header")
    for number, row in rows:
        try:
            yield row_of(row)
        except KeyError as error:
            raise mistake(
                "E-truth-file",
                f"{path} has no column {error}; its columns are: {', '.join(columns)}",
            ) from None
        except (ValueError, TypeError) as error:
            reason = _wrong_cell(row, columns, error)
            raise mistake("E-truth-file", f"{path}, row {number}: {reason}") from None


def _wrong_cell(row, columns, error):
    """Which cell of a CSV row a model could not read, as far as its error tells."""
    odd = [name for name in columns if row[name] and repr(row[name]) in str(error)]
    if odd:
        return f"{' or '.join(odd)} is {row[odd[0]]!r}: {error}"
    missing = [name for name in columns if not row[name]]
    return f"there is no value of {', '.join(missing)}" if missing else str(error)


def _written(parameters):
    return ", ".join(f"{name}={value}" for name, value in parameters.items())


def _figure(value):
    """Cycles as they are; a mean with three decimals."""
    return grouped(value) if isinstance(value, int) else f"{value:.3f}"


def _show(found, summary, show_all, most=8):
    rows, not_covered = found.rows, found.not_covered
    shown = rows if show_all else sorted(rows, key=lambda row: -abs(row["error"]))[:most]
    if shown:
        table(
            ["input", "parameters", ">truth", ">predicted", ">error", ">simulated in"],
            [
                [
                    row["input"],
                    _written(row["parameters"]),
                    _figure(row["truth"]),
                    _figure(row["predicted"]),
                    f"{row['error']:+.3%}",
                    seconds(row["seconds"]),
                ]
                for row in shown
            ],
            title=None if len(shown) == len(rows) else f"the {most} worst of {len(rows)} rows",
        )
        speed = f", {found.cycles / found.seconds / 1e6:.0f} M cycles/s" if found.seconds else ""
        click.echo("")
        click.echo(
            f"{counted(summary['compared'], 'row')}: mean error "
            f"{summary['mean_error']:.4%}, worst {summary['worst_error']:.4%}, "
            f"{summary['exact']} exact; simulated in {seconds(summary['seconds'])}" + speed
        )
        if "times" in summary:
            click.echo(
                f"{counted(summary['times'], 'time')} in them, "
                f"{grouped(summary['times_exact'])} exact"
            )
    if not_covered:
        click.echo(f"not covered: {counted(len(not_covered), 'row')}")
        for row in not_covered[:20]:
            parameters = _written(row["parameters"])
            reason = row["reason"].split("\n")[0]
            click.echo(f"  {row['input']}{' (' + parameters + ')' if parameters else ''}: {reason}")
        if len(not_covered) > 20:
            click.echo(f"  ... and {len(not_covered) - 20} more (--json lists all)")
