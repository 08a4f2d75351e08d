"""lpn sim: many inputs through one compiled net."""

import contextlib
import os

import click

import _lpn

from ..command import (
    ANSWERED,
    NO,
    UNKNOWN,
    WRONG,
    OutputFile,
    Progress,
    budget_options,
    compile_aloud,
    engine_option,
    grouped,
    json_option,
    model_argument,
    need_input,
    params_option,
    print_json,
    refuse_beside,
    refuse_without,
    say_compiled,
    say_endless,
)
from ..errors import Error, mistake, refusal
from ..output_file import written
from ..runs import fields_of, load, prepare
from ..runs.condition import Condition
from ..runs.engines import UNTIL_INTERPRETED, name_of
from ..runs.isolated import isolated
from ..runs.run import budget_of
from .explain import explanation
from .explain import show as show_ways
from .run_tables import show_runs


@click.command()
@model_argument
@click.argument("inputs", nargs=-1, metavar="[INPUT]...")
@params_option
@engine_option(
    None,
    help="interp defines the meaning, compiled is fast; they agree commit for commit. Default: what "
    "answers first, the interpreter at once or, of a long run, the net that is compiled beside it.",
)
@click.option(
    "--stats", is_flag=True, help="Per transition why it waited, per place how full it was."
)
@click.option(
    "--critical-path",
    "path",
    is_flag=True,
    help="Which chain of firings decided the latency, and what is gained when one of its "
    "transitions is twice as fast.",
)
@click.option(
    "--top",
    type=click.IntRange(0),
    default=3,
    show_default=True,
    metavar="N",
    help="With --critical-path: for how many transitions to find what is gained.",
)
@click.option(
    "--path-memory",
    type=click.IntRange(1),
    default=256,
    show_default=True,
    metavar="MIB",
    help="What the critical path may use.",
)
@click.option(
    "--trace",
    type=OutputFile(),
    metavar="FILE",
    help="Every firing as a timeline for ui.perfetto.dev (compressed when FILE ends in " ".gz).",
)
@click.option(
    "--limit", type=click.IntRange(0, 2**63 - 1), metavar="T", help="Stop after cycle T."
)
@click.option(
    "--until",
    metavar="CONDITION",
    help='Stop after the first cycle at which this holds: "PLACE.count >= 4 and OTHER.free == 0". The '
    "run is the interpreter's.",
)
@budget_options
@click.option(
    "--explain",
    is_flag=True,
    help="Which way the compiled net runs each transition, and why not faster; needs no " "INPUT.",
)
@click.option(
    "--isolate",
    is_flag=True,
    help="Compiles and runs each INPUT in a child process; if it dies that is the INPUT's answer.",
)
@click.option(
    "--isolate-seconds",
    type=click.FloatRange(0, min_open=True),
    metavar="S",
    help="With --isolate: wall time for each INPUT, compiling included.",
)
@click.option(
    "--isolate-memory",
    type=click.IntRange(1),
    metavar="MIB",
    help="With --isolate: address space of the child, and of each compiler it starts.",
)
@json_option
def sim(
    model,
    inputs,
    params,
    engine,
    stats,
    path,
    top,
    path_memory,
    trace,
    limit,
    until,
    max_memory,
    max_time,
    max_tokens,
    max_firings,
    max_groups,
    explain,
    isolate,
    isolate_seconds,
    isolate_memory,
    as_json,
):
    """Simulates MODEL on each INPUT: an input of the model's workload, or for a .lpn file a marking
    file or JSON {"place": 5, "other": [[1, 2], ...]}. A net that starts from its own tokens needs
    none.

    Exit status: 0 answered; 1 a run stalled; 2 something is wrong; 3 a limit was reached, of time
    (--limit) or of what a run may use (--max-...).
    """
    if trace and len(inputs) > 1:
        raise click.UsageError(
            f"--trace writes one run into one file, but there are {len(inputs)} inputs"
        )
    if not isolate and (isolate_seconds or isolate_memory):
        raise click.UsageError("--isolate-seconds and --isolate-memory need --isolate")
    if not path:
        refuse_without("--critical-path", ("top", "path_memory"))
    if explain and not inputs:
        refuse_beside("--explain", ("params", "engine", "as_json"))
    loaded = load(model)
    first = inputs[0] if inputs else None
    engine = engine or os.environ.get("LPN_ENGINE") or None
    if trace and not engine and os.path.exists(trace) and not os.path.isfile(trace):
        engine = "interp"  # a pipe cannot be written anew
    if until is not None:
        if path:
            raise click.UsageError("--until ends a run early: it has no --critical-path")
        if engine == "compiled":
            raise mistake("E-engine", UNTIL_INTERPRETED)
        engine = "interp"
    kept = {"trace": bool(trace), "stats": stats, "path": path}
    ready = prepare(loaded, first, params, engine, **kept)
    if explain and not inputs:
        about = {"model": loaded.name, **explanation(ready.net)}
        print_json(about) if as_json else show_ways(about)
        return ANSWERED
    need_input(loaded, inputs)
    most_memory = [m for m in (max_memory, isolate_memory) if m]  # 0: any
    if most_memory:
        max_memory = min(most_memory)
    memory = None if max_memory is None else max_memory << 20
    limits = budget_of(memory, max_time, max_tokens, max_firings, max_groups)
    how = {"limit": limit, "stats": stats, "limits": limits}
    if until is not None:
        Condition(ready.net, until)  # what is wrong with it is not of an input
        how["until"] = until
    if path:
        how.update(path=top, path_memory=path_memory << 20)
    own_answer = limit is None and until is None and not params
    if isolate:
        most = {"seconds": isolate_seconds, "memory": isolate_memory and isolate_memory << 20}

        def again(name):
            return prepare(loaded, name, params, engine, **kept)

        about, rows = _isolated(again, ready, inputs, (how, trace, own_answer), most)
    else:
        if engine:
            compile_aloud(ready)
        about = _about(ready)
        try:
            rows = _rows(ready, inputs, how, trace, own_answer, about)
        finally:
            ready.stop_compiling()
        if engine is None:
            about.update(_engine_of(ready, rows))
            say_compiled(ready)
    status = _status(rows, "interrupted" in about)
    if explain:
        about["ways"] = explanation(ready.net)
    if as_json:
        print_json({**about, "runs": rows})
    else:
        if explain:
            show_ways(about["ways"])
            click.echo("")
        show_runs(ready, about, rows, max(1, len(inputs)), until)
        if trace:
            _say_trace(trace)
    return status


def _about(ready):
    """What is the same for all inputs."""
    about = {"model": ready.model.name, **_engine_of(ready), "parameters": ready.parameters}
    if ready.net.frequency is not None:
        about["frequency"] = ready.net.frequency
    return about


def _engine_of(ready, rows=None):
    """The engine, and how it was come by; of whatever answers first by its runs."""
    library = ready.library
    if rows is not None and all(row.get("engine") != "compiled" for row in rows):
        library = None  # it came too late
    compiled = name_of(library) == "compiled"
    about = {
        "engine": name_of(library),
        "cached": library.cached if compiled else None,
        "compile_seconds": round(library.seconds, 6) if compiled and not library.cached else None,
    }
    if ready.fallback is not None:
        about["fallback"] = {"code": ready.fallback.code, "message": str(ready.fallback)}
    return about


def _rows(first, inputs, how, trace, own_answer, about):
    """A row per input; `about` says when Ctrl-C ended them."""
    progress = Progress(max(1, len(inputs)))

    def answer(name):
        ready = first.on(name)
        if ready.net is first.net:
            return _one(ready, how, trace, progress, own_answer)
        compile_aloud(ready)
        try:
            return _one(ready, how, trace, progress, own_answer)
        finally:
            ready.stop_compiling()

    return _one_by_one(inputs, answer, first.net.name, progress, about)


def _isolated(prepared, first, inputs, request, most):
    """(about, rows) as _about and _rows make them, each input in a child process."""
    how, trace, own_answer = request
    progress = Progress(max(1, len(inputs)))
    about = {
        "model": first.model.name,
        "engine": first.engine or "interp",
        "cached": None,
        "compile_seconds": None,
        "parameters": first.parameters,
    }
    said = {}

    def answer(name):
        ready = prepared(name)

        def work():
            if not said:  # notes are said once
                compile_aloud(ready)
            row = _one(ready, how, trace, progress, own_answer)
            ready.stop_compiling()
            return said or {**_about(ready), **_engine_of(ready, [row])}, row

        try:
            now, row = isolated(work, **most)
        except Error as error:
            if error.code != "E-killed":
                raise
            return {"input": name, "error": {"code": error.code, "message": str(error)}}
        said.update(now)
        return row

    rows = _one_by_one(inputs, answer, first.net.name, progress, about)
    return {**about, **said}, rows


def _one_by_one(inputs, answer, without_name, progress, about):
    """[answer(input)], until Ctrl-C, which `about` tells."""
    rows = []
    for name in inputs or [None]:
        try:
            row = answer(name)
        except KeyboardInterrupt:  # while the input was read: it has no partial result
            about["interrupted"] = True
            break
        rows.append(row)
        progress.step(name or without_name)
        if row.get("ending") == "interrupted":
            about["interrupted"] = True
            break
    progress.clear()
    return rows


def _one(ready, how, trace, progress, own_answer):
    """The row of one input; what is wrong with it is in the row, so that the others still run.

    `own_answer`: the run is the whole input with its own parameters, so that the model's own answer
    is of it.
    """
    name, net, module = ready.input, ready.net, ready.model.module
    row = {"input": name}
    of_run = getattr(module, "answer_of_run", None)
    kept = [place for place in getattr(module, "collected", ()) if place in net.places]

    def on_slice(time, commits):
        progress.say(f"{name or net.name}: cycle {grouped(time)}, {grouped(commits)} firings")

    try:
        ready.marking  # what is wrong with it comes before a file is written
        if how["limit"] is None and "until" not in how and not how["limits"].seconds:
            say_endless(ready)
        with _Timeline(ready, trace) as timeline:
            if trace:
                how = {**how, "observe": timeline.anew}
            run = ready.run(on_slice=on_slice if progress.on else None, collect=kept, **how)
            timeline.finish(run)
    except Exception as error:
        if isinstance(error, OSError) and trace and error.filename == trace:
            raise  # the input is not what is wrong
        code, message = refusal(error)
        for prefix in (f"{name}: ", f"cannot read {name}: "):  # it is named wherever this is shown
            message = message.removeprefix(prefix)
        return {**row, "error": {"code": code, "message": message}}
    row.update(fields_of(run), engine=run.engine)
    if net.frequency is not None and run.latency is not None:
        row["latency_seconds"] = run.latency / net.frequency
    if of_run is not None and run.ending not in ("interrupted", "budget", "condition"):
        row["answer"] = of_run(run)
    answer = getattr(module, "answer", None)
    if (
        row.get("answer") is None
        and answer is not None
        and name is not None
        and own_answer
        and run.ending not in ("interrupted", "budget")
    ):
        row["answer"] = answer(name)
    return row


class _StartedOver(Exception):
    """Ends the file of a run that is begun again by another engine."""


class _Timeline:
    """A context that writes the trace file; from its beginning for each run that is started over."""

    def __init__(self, ready, path):
        self._ready = ready
        self._path = path
        self._file = contextlib.ExitStack()
        self._observer = None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return self._file.__exit__(kind, error, trace)

    def anew(self):
        """The observer of a run."""
        self.__exit__(_StartedOver, _StartedOver(), None)
        file = self._file.enter_context(written(self._path, binary=True))
        ready = self._ready
        self._observer = _lpn.sim.Timeline(
            ready.net._core, ready.values, ready.marking._core, file.write
        )
        return self._observer

    def finish(self, run):
        if self._observer is not None:
            self._observer.finish(run.ending, run.end)


def _status(rows, interrupted):
    """The exit status of all runs together: what is wrong before what stalled before limits."""
    if any("error" in row for row in rows):
        return WRONG
    if any(row["stalled"] for row in rows):
        return NO
    if interrupted or any(row["ending"] in ("limit", "budget") for row in rows):
        return UNKNOWN
    return ANSWERED


def _say_trace(path):
    click.echo(
        f"trace: {path} ({os.path.getsize(path) / 1e3:.1f} kB); open it in "
        "https://ui.perfetto.dev",
        err=True,
    )
