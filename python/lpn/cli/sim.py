"""lpn sim: many inputs through one compiled net."""

import contextlib

import click

import _lpn

from ..command import (
    Progress,
    counted,
    grouped,
    json_option,
    model_argument,
    note,
    params_option,
    print_json,
    rate,
    seconds,
    table,
)
from .explain import explanation, show as show_ways
from ..errors import Error, mistake
from ..runs.models import load
from ..runs.marking import Marking
from ..runs.run import _NOT_COMPILED, execute, parameter_values
from .main import describe

ANSWERED, NO, WRONG, UNKNOWN = 0, 1, 2, 3


@click.command()
@model_argument
@click.argument("inputs", nargs=-1, metavar="[INPUT]...")
@params_option
@click.option(
    "--engine",
    type=click.Choice(["compiled", "interp"]),
    default="compiled",
    show_default=True,
    help="interp defines the meaning, compiled is fast; they agree " "commit for commit.",
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
    type=click.Path(dir_okay=False, writable=True),
    metavar="FILE",
    help="Every firing as a timeline for ui.perfetto.dev (compressed when FILE ends in " ".gz).",
)
@click.option(
    "--limit", type=click.IntRange(0, 2**63 - 1), metavar="T", help="Stop after cycle T."
)
@click.option(
    "--explain",
    is_flag=True,
    help="Which way the compiled net runs each transition, and why not faster; needs no " "INPUT.",
)
@json_option
def sim(
    model, inputs, params, engine, stats, path, top, path_memory, trace, limit, explain, as_json
):
    """Simulates MODEL on each INPUT: an input of the model's workload, or for a .lpn file a marking
    file or JSON {"place": 5, "other": [[1, 2], ...]}. A net that starts from its own tokens needs
    none.

    Exit status: 0 answered; 1 a run stalled; 2 something is wrong; 3 a limit was reached.
    """
    if trace and len(inputs) > 1:
        raise click.UsageError(
            "--trace writes one run into one file, but there are " f"{len(inputs)} inputs"
        )
    if path and (engine == "interp" or stats or trace):
        raise click.UsageError(
            "--critical-path is a run of its own of the compiled engine; leave out "
            "--engine interp, --stats and --trace"
        )
    loaded = load(model)
    own_nets = bool(inputs) and getattr(loaded.module, "net_of", None) is not None
    net, values = net_for(loaded, inputs[0] if own_nets else None, params)
    if explain and not inputs:
        about = {"model": loaded.name, **explanation(net)}
        print_json(about) if as_json else show_ways(about)
        return 0
    if not inputs and getattr(loaded.module, "workload", None) is not None:
        raise click.UsageError(f"model '{loaded.name}' needs an INPUT")
    library, fallback = library_of(net, engine, trace, stats, path)
    if path and fallback is not None:
        raise fallback
    about = {
        "model": loaded.name,
        "engine": "interp" if library is None else "compiled",
        "cached": None if library is None else library.cached,
        "compile_seconds": None if library is None or library.cached else round(library.seconds, 6),
        "parameters": {p.name: value for p, value in zip(net._core.params, values)},
    }
    if fallback is not None:
        about["fallback"] = {"code": fallback.code, "message": str(fallback)}
    progress = Progress(max(1, len(inputs)))
    rows = []
    for k, name in enumerate(inputs or [None]):
        try:
            if k and own_nets:
                net, values = net_for(loaded, name, params)
                library, _ = library_of(net, engine, trace, stats, path)
            row = _one(
                loaded,
                net,
                values,
                library,
                name,
                limit,
                stats,
                trace,
                progress,
                (top, path_memory << 20) if path else (None, None),
                changed=limit is not None or bool(params),
            )
        except KeyboardInterrupt:  # while the input was read: it has no partial result
            about["interrupted"] = True
            break
        rows.append(row)
        progress.step(name or net.name)
        if row.get("ending") == "interrupted":
            about["interrupted"] = True
            break
    progress.clear()
    status = _status(rows, "interrupted" in about)
    if explain:
        about["ways"] = explanation(net)
    if as_json:
        print_json({**about, "runs": rows})
    else:
        if explain:
            show_ways(about["ways"])
            click.echo("")
        _show(loaded, net, about, rows, max(1, len(inputs)))
        if trace:
            _say_trace(trace)
    return status


def net_for(loaded, name, params):
    """(the checked net, its parameter values) of a model, or of its input `name` when it has one per input."""
    net = loaded.net(**dict(params)) if name is None else loaded.net_of(name, **dict(params))
    net.done()
    return net, parameter_values(net, None)


def library_of(net, engine, trace=None, stats=False, path=False):
    """(the compiled net or None, why it is None although it was asked for)."""
    if engine == "interp":
        return None, None
    progress = Progress(1)
    progress.say(f"compiling '{net.name}', once for all inputs and parameters", now=True)
    try:
        return _lpn.sim.Library.build(net._core, trace=bool(trace), stats=stats, path=path), None
    except Error as error:
        if error.code not in _NOT_COMPILED:
            raise
        note(f"{str(error).splitlines()[0]} [{error.code}]; this run uses the interpreter")
        return None, error
    finally:
        progress.clear()


def _one(
    model,
    net,
    values,
    library,
    name,
    limit,
    stats,
    trace,
    progress,
    path=(None, None),
    changed=False,
):
    """The row of one input; what is wrong with it is in the row, so that the others still run. `changed`: the
    run is not the whole input with its own parameters, so that the model's own answer would not be of it.
    """
    row = {"input": name}
    try:
        marking = Marking(net) if name is None else model.workload(name, net)
        if not isinstance(marking, Marking):
            raise mistake(
                "E-model",
                f"model '{model.name}': workload() must return an " f"lpn.Marking, got {marking!r}",
            )
        with _timeline(net, values, marking, trace) as observer:

            def on_slice(time, commits):
                progress.say(
                    f"{name or net.name}: cycle {grouped(time)}, " f"{grouped(commits)} firings"
                )

            run = execute(
                net,
                values,
                marking,
                library,
                limit=limit,
                observer=observer,
                stats=stats,
                on_slice=on_slice if progress.on else None,
                path=path[0],
                path_memory=path[1],
            )
            if observer is not None:
                observer.finish(run.ending, run.end)
    except (ValueError, OSError) as error:  # how a workload refuses an input
        code = error.code if isinstance(error, Error) else "E-input"
        message = refusal(error)
        return {**row, "error": {"code": code, "message": message}}
    except Exception as error:
        import os

        if os.environ.get("LPN_DEBUG", "") not in ("", "0"):
            raise
        code, message = describe(error)
        return {**row, "error": {"code": code, "message": message}}
    row.update(fields_of(net, run))
    answer = getattr(model.module, "answer", None)
    if answer is not None and name is not None and not changed and run.ending != "interrupted":
        row["answer"] = answer(name)
    return row


def fields_of(net, run):
    """What --json says of a run that has ended."""
    row = dict(
        latency=run.latency,
        ending=run.ending,
        firings=run.commits,
        done_tokens=run.done_tokens,
        last_commit=run.last_commit,
        stalled=run.stalled,
    )
    if run.until is not None or run.ending == "interrupted":
        row["until"] = run.until
    row["blocked"] = [explain(net, run, *blocked) for blocked in run.blocked]
    row["undrained"] = [{"place": p, "tokens": run.left.get(p, 0)} for p in run.undrained]
    row["seconds"] = round(run.seconds, 9)
    if run.stats is not None:
        row["stats"] = shares(run.stats)
    if run.path is not None:
        row["critical_path"] = run.path
    return row


def refusal(error):
    """Why a workload refuses its input, in words."""
    if isinstance(error, OSError):
        name = f"{error.filename}: " if error.filename else ""
        return f"{name}{error.strerror or error}"
    return str(error) or type(error).__name__


@contextlib.contextmanager
def _timeline(net, values, marking, path):
    """The observer that writes the trace file, or None."""
    if not path:
        yield None
        return
    if path.endswith(".gz"):
        import gzip

        file = gzip.open(path, "wb", compresslevel=3)
    else:
        file = open(path, "wb")
    with file:
        yield _lpn.sim.Timeline(net._core, values, marking._core, file.write)


def _status(rows, interrupted):
    """The exit status of all runs together: what is wrong before what stalled before limits."""
    if any("error" in row for row in rows):
        return WRONG
    if any(row["stalled"] for row in rows):
        return NO
    if interrupted or any(row["ending"] == "limit" for row in rows):
        return UNKNOWN
    return ANSWERED


def explain(net, run, name, reason, what):
    """One blocked transition, for programs and in words."""
    core = net._core
    t = core.transitions[net._transitions[name]]
    entry = {"transition": name, "reason": reason, "arc": None, "place": None}
    where = core.where(*t.source)
    if reason == "no credit":
        entry["place"] = what
        text = f"waits for room in place '{what}', which is full ({run.left.get(what, 0)} tokens)"
    elif what is not None:
        arc = next(a for a in t.inputs if a.name == what)
        place = core.places[arc.place].name
        there = run.left.get(place, 0)
        entry.update(arc=what, place=place)
        if reason == "no token":
            needs = core.text(t, (arc.threshold or arc.weight)[0])
            if arc.threshold and core.value(arc.threshold[0]) == 0:
                needs = core.text(t, arc.weight[0])
            text = (
                f"waits for tokens over arc '{what}': place '{place}' has {there}, "
                f"it needs {needs}"
            )
        elif reason == "guard":
            text = (
                f"is kept by the guard of arc '{what}' (place '{place}', {there} tokens): "
                f"{core.text(t, arc.guard[0])} does not hold"
            )
            where = core.where(*arc.guard[1:]) or where
        else:
            text = (
                f"may start only when place '{place}' is empty (arc '{what}'), but it has "
                f"{there} tokens"
            )
    else:
        text = {
            "no server": "waits for a free server",
            "interval": "waits for its interval to pass",
            "clock": "waits for its clock's edge",
        }.get(reason, reason)
    entry["line"] = where or None
    entry["text"] = f"{name} {text}" + (f" ({where})" if where else "")
    return entry


def shares(stats):
    """Statistics with what a reader wants beside the cycles: utilisation, shares of the time."""
    end = stats["end"]

    def share(cycles):
        return round(cycles / end, 6) if end else 0.0

    transitions = {}
    for name, t in stats["transitions"].items():
        transitions[name] = {
            "commits": t["commits"],
            "busy": t["busy"],
            "utilisation": share(t["busy"]),
            "waited": {why: {"cycles": c, "share": share(c)} for why, c in t["waited"].items()},
        }
    return {"end": end, "transitions": transitions, "places": stats["places"]}


def _show(loaded, net, about, rows, given):
    """The answer for people."""
    how = "interpreted"
    if about["engine"] == "compiled":
        how = "compiled before"
        if not about["cached"]:
            how = f"compiled in {about['compile_seconds']:.1f} s"
    parameters = ", ".join(f"{k}={v}" for k, v in about["parameters"].items())
    click.echo(f"{about['model']}{' with ' + parameters if parameters else ''} ({how})")
    cells = []
    for row in rows:
        if "error" in row:
            continue
        speed = rate(row["last_commit"] / row["seconds"]) if row["seconds"] > 0 else "-"
        state = {
            "limit": f"stopped at {grouped(row.get('until'))}",
            "interrupted": "interrupted",
        }.get(row["ending"], "")
        if row["stalled"]:
            state = "stalled"
        cells.append(
            [
                row["input"] or "-",
                grouped(row["latency"]),
                grouped(row["firings"]),
                seconds(row["seconds"]),
                speed,
                state,
            ]
        )
    if cells:
        columns = ["input", ">latency", ">firings", ">simulated in", ">cycles/s"]
        if any(row[-1] for row in cells):
            columns.append("")
        table(columns, [row[: len(columns)] for row in cells])
    for row in rows:
        if "error" in row:
            continue
        if row["stalled"]:
            left = ", ".join(f"{u['place']} ({u['tokens']})" for u in row["undrained"])
            how = f"with tokens left in {left}" if left else "before all done tokens were produced"
            click.echo(f"\n{row['input'] or net.name} stalled {how}:")
            for blocked in row["blocked"]:
                click.echo(f"  {blocked['text']}")
        if "answer" in row:
            click.echo("")
            loaded.module.show(row["answer"])
        if "stats" in row:
            click.echo("")
            _show_stats(row)
        if "critical_path" in row:
            click.echo("")
            _show_path(row)
    failed = [row for row in rows if "error" in row]
    for row in failed:
        error = row["error"]
        click.echo(
            f"error: {row['input'] or net.name}: {error['message']} [{error['code']}]", err=True
        )
    if "interrupted" in about:
        text = "interrupted"
        if rows and rows[-1].get("ending") == "interrupted":
            text += f": the last run is complete only up to cycle {grouped(rows[-1]['until'])}"
        if given > len(rows):
            text += f"; {counted(given - len(rows), 'input')} without a result"
        click.echo(text, err=True)


def _show_stats(row):
    stats = row["stats"]
    reasons = [
        why
        for why in next(iter(stats["transitions"].values()), {"waited": {}})["waited"]
        if any(t["waited"][why]["cycles"] for t in stats["transitions"].values())
    ]
    rows = []
    for name, t in stats["transitions"].items():
        waited = [t["waited"][why] for why in reasons]
        rows.append(
            [
                name,
                grouped(t["commits"]),
                grouped(t["busy"]),
                f"{t['utilisation']:.1%}",
                *(f"{w['share']:.1%}" if w["cycles"] else "" for w in waited),
            ]
        )
    table(
        ["transition", ">commits", ">busy", ">utilised", *(f">{why}" for why in reasons)],
        rows,
        title=f"{row['input'] or 'run'}: {grouped(stats['end'])} cycles; why each transition did "
        "not start",
    )
    click.echo("")
    table(
        ["place", ">mean tokens", ">peak"],
        [[name, f"{p['mean']:.2f}", grouped(p["peak"])] for name, p in stats["places"].items()],
    )


def _show_path(row):
    path = row["critical_path"]
    cells = []
    for entry in path["rows"]:
        name = entry["transition"] or f"tokens from outside into {entry['place']}"
        if entry["what"] in ("interval", "clock"):
            name += f" ({entry['what']})"
        gain = grouped(entry["gain"]) if "gain" in entry else ""
        cells.append(
            [name, grouped(entry["count"]), grouped(entry["cycles"]), f"{entry['share']:.1%}", gain]
        )
    table(
        ["transition", ">firings", ">cycles", ">share", ">twice as fast gains"],
        cells,
        title=f"{row['input'] or 'run'}: the critical path, {grouped(path['latency'])} cycles",
    )


def _say_trace(path):
    import os

    click.echo(
        f"trace: {path} ({os.path.getsize(path) / 1e3:.1f} kB); open it in "
        "https://ui.perfetto.dev",
        err=True,
    )
