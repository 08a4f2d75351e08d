"""lpn pi: performance interfaces of a model, written, evaluated on inputs, compared."""

import time

import click

from ...command import (
    ANSWERED,
    NO,
    UNKNOWN,
    WRONG,
    FiniteRange,
    OutputFile,
    Progress,
    counted,
    grouped,
    json_option,
    note,
    params_option,
    print_json,
    refuse_beside,
    seconds,
    table,
)
from ...errors import Error, mistake, without_place
from ...output_file import written
from ...runs import prepare
from ..space import Bound, bounds_option, load_space


@click.command()
@click.argument("words", nargs=-1, metavar="MODEL [name=value]... | INPUT...")
@bounds_option
@params_option
@click.option(
    "-o",
    "output",
    type=OutputFile(),
    metavar="FILE",
    help="Writes the interface, a .py file.",
)
@click.option(
    "--fitted",
    is_flag=True,
    help="Fits the interface to simulated inputs instead of deriving it from the net's classes: for "
    "nets that have too many of them. Its error on other inputs is measured; nothing is proved.",
)
@click.option(
    "--steps",
    is_flag=True,
    help="Writes the interface by steps at once: a rule for each kind of transition, and the loop that goes "
    "through them. Exact; for latencies that are no largest of sums, as with arbiters and row buffers. "
    "Without it lpn pi does so where no class has an interface.",
)
@click.option(
    "--resolution",
    type=click.IntRange(0),
    default=0,
    metavar="R",
    help="Merges what differs by so little that half of it, rounded up, is at most R cycles.",
)
@click.option(
    "--clock",
    type=FiniteRange(0, min_open=True),
    default=1.0,
    show_default=True,
    metavar="NS",
    help="The clock period that the interface states, in nanoseconds.",
)
@click.option(
    "--limit",
    type=FiniteRange(0, min_open=True),
    metavar="S",
    help="Seconds for sorting the inputs into classes, and those of a class into paths; 60 unless "
    "given.",
)
@click.option(
    "--plot",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Draws interface against simulation: .svg or .png.",
)
@click.option(
    "--evaluate",
    type=click.Path(),
    metavar="FILE",
    help="Predicts the latency of INPUT... by the interface in FILE.",
)
@click.option(
    "--model",
    "model_option",
    metavar="MODEL",
    help="With --evaluate: whose workload reads the inputs.",
)
@click.option(
    "--compare", is_flag=True, help="Compares two interface files: MODEL [...] is then A.py B.py."
)
@click.option(
    "--loops",
    is_flag=True,
    help="Only the loops of MODEL's net and the pace they set; for nets with constant delays, and "
    "dataflow graphs in SDF3's .xml files, of which several may be given.",
)
@click.option(
    "--pareto",
    is_flag=True,
    help="What throughput costs in buffers: of MODEL.xml, the least capacities for each period.",
)
@json_option
def pi(
    words,
    bounds,
    params,
    output,
    fitted,
    steps,
    resolution,
    clock,
    limit,
    plot,
    evaluate,
    model_option,
    compare,
    loops,
    pareto,
    as_json,
):
    """Extracts the performance interface of MODEL over the classes of its space: a Python module
    that needs nothing but Python, and says how wrong it can be.

    Exit status: 0 answered; 1 an input is not covered by the interface, a class has none, or a net
    deadlocks; 2 something is wrong; 3 a limit left something out.
    """
    if compare:
        refuse_beside("--compare", {"words", "as_json"})
        return _compare(words, as_json)
    if evaluate is not None:
        refuse_beside("--evaluate", {"words", "model_option", "as_json"})
        return _evaluate(evaluate, model_option, words, as_json)
    if model_option is not None:
        words = (model_option, *words)
    if not words:
        raise mistake(
            "E-usage", "lpn pi needs a MODEL: lpn pi jpeg --space blocks=18 -o jpeg_interface.py"
        )
    if loops or pareto:
        from .loops import paces

        kept = {"words", "model_option", "params", "limit", "as_json"}
        refuse_beside("--pareto" if pareto else "--loops", kept)
        return paces(words, params, pareto, _seconds(limit), as_json)
    bounds = [*bounds, *(Bound().convert(word, None, None) for word in words[1:])]
    if fitted and steps:
        raise mistake("E-usage", "--fitted and --steps are two ways; take one")
    if fitted or steps:
        for option, value, why in (
            ("--resolution", resolution, "merges the lines of classes"),
            ("--limit", limit, "is for classes; the number of runs is fixed"),
        ):
            if value:
                raise mistake("E-usage", f"{option} {why}; leave it out of --fitted and --steps")
    limit = _seconds(limit)
    return _extract(
        words[0], bounds, params, output, fitted, steps, resolution, clock, limit, plot, as_json
    )


def _seconds(limit):
    """What --limit is unless it is given."""
    return 60 if limit is None else limit


def _extract(model, bounds, params, output, fitted, steps, resolution, clock, limit, plot, as_json):
    from ...runs.models import load
    from ...interfaces.extract import extract, refusals

    given = {name for pairs in bounds for name, _ in pairs}
    usual = getattr(load(model).module, "INTERFACE_SPACE", {})
    bounds = [*bounds, [(name, value) for name, value in usual.items() if name not in given]]
    begin = time.monotonic()
    loaded, net, space = load_space(model, params, bounds)
    values = {**net.params, **dict(params)}
    progress = Progress(1)
    try:
        if fitted:
            from ...interfaces.fitted import extract_fitted

            found = extract_fitted(net, space, loaded.name, values, clock, progress=progress.say)
        elif steps:
            found = _by_steps(net, space, loaded.name, values, clock, progress)
        else:
            try:
                found = extract(
                    net,
                    space,
                    loaded.name,
                    values,
                    clock,
                    resolution,
                    seconds=limit,
                    progress=progress.say,
                )
            except Error as error:
                if error.code not in ("E-pi", "E-partition"):
                    raise
                found = _instead(error, net, space, loaded.name, values, clock, progress)
    finally:
        progress.clear()
    spent = time.monotonic() - begin
    if output is not None:
        with written(output) as file:
            file.write(found.text)
    if plot is not None:
        from ...plots import plot_samples

        plot_samples(found.samples, plot, f"{loaded.name}: interface against simulation")
    if as_json:
        print_json(
            {
                "model": loaded.name,
                "parameters": found.parameters,
                "interface": found.text,
                "file": output,
                "classes": found.classes,
                "refused": [{"class": n, "reason": why} for n, why in found.refused],
                "complete": found.complete,
                "thresholds": found.thresholds,
                "seconds": round(spent, 6),
            }
        )
    else:
        if output is None:
            click.echo(found.text)
        table(
            ["class", "of", ">mean error", ">max error", "bottlenecks"],
            [
                [
                    k,
                    str(about.get("unit") or about["shape"])[:40],
                    f"{about['mean_error']:.2%}",
                    f"{about['worst_error']:.2%}",
                    "; ".join(about["bottlenecks"]),
                ]
                for k, about in enumerate(found.classes, 1)
            ],
        )
        click.echo(
            f"{counted(len(found.samples), 'sample')} simulated for the errors ({seconds(spent)})"
        )
        if output is not None:
            click.echo(f"written to {output}")
    without = sum(found.without.values())
    if without:
        note(f"{counted(without, 'random input')} had no latency; the interface says why")
    for why, numbers in refusals(found.refused):
        which = ", ".join(map(str, numbers))
        have = "classes {} have" if len(numbers) > 1 else "class {} has"
        note(f"{have.format(which)} no interface: {why}")
    if not found.complete:
        return UNKNOWN
    return NO if found.refused else ANSWERED


def _by_steps(net, space, name, values, clock, progress):
    from ...interfaces.steps import extract_steps

    return extract_steps(net, space, name, values, clock, progress=progress.say)


def _instead(error, *given):
    """The interface by steps of a net whose classes have none, of which it is said why."""
    try:
        found = _by_steps(*given)
    except Error as other:
        if other.code != "E-pi":
            raise
        raise without_place(error.code, f"{error}\n  nor by steps: {other}") from None
    why = str(error).splitlines()[0]
    note(f"{why[:300]}{' ...' if len(why) > 300 else ''}; written by steps instead")
    return found


def _evaluate(path, model, inputs, as_json):
    from ...interfaces.input import aggregate, load_interface, need_ending, rows_of

    interface = load_interface(path)
    model = model or interface.MODEL
    if not inputs:
        raise mistake(
            "E-usage", f"--evaluate needs inputs: lpn pi --evaluate {path} --model {model} INPUT..."
        )
    ready = prepare(model, params=interface.PARAMETERS)
    rows, refused, wrong = [], [], False
    for name in inputs:
        try:
            marking = ready.on(name).marking
            need_ending(interface, ready.net, marking)
            x = aggregate(interface, rows_of(ready.net, marking))
            cycles = interface.latency(x)
            rows.append(
                {
                    "input": name,
                    "predicted": cycles,
                    "bottleneck": interface.bottleneck(x),
                    "seconds": cycles * interface.CLOCK_PERIOD * 1e-9,
                }
            )
        except NotImplementedError as error:
            refused.append({"input": name, "code": "E-pi-input", "reason": str(error)})
        except (Error, ValueError, OSError) as error:
            wrong = True
            code = error.code if isinstance(error, Error) else "E-input"
            refused.append({"input": name, "code": code, "reason": str(error)})
    if as_json:
        print_json({"interface": path, "model": model, "rows": rows, "not_covered": refused})
    else:
        table(
            ["input", ">cycles", "bottleneck"],
            [[row["input"], grouped(round(row["predicted"])), row["bottleneck"]] for row in rows],
        )
        for row in refused:
            click.echo(f"not covered: {row['input']}: {row['reason']} [{row['code']}]")
    return WRONG if wrong else NO if refused else ANSWERED


def _compare(files, as_json):
    from ...interfaces.compare import compare
    from ...interfaces.input import load_interface

    if len(files) != 2:
        raise mistake(
            "E-usage",
            f"--compare takes two interface files, got {len(files)}: lpn pi --compare A.py B.py",
        )
    first, second = map(load_interface, files)
    regions = compare(first, second)
    if as_json:
        print_json({"first": files[0], "second": files[1], "regions": regions})
        return ANSWERED
    table(
        ["inputs", "along", "from", "to", "faster", ">first ns", ">second ns"],
        [
            [
                r["class"],
                r["along"],
                grouped(r["from"]),
                grouped(r["to"]),
                r["faster"],
                grouped(round(r["first_ns"])),
                grouped(round(r["second_ns"])),
            ]
            for r in regions
        ],
    )
    return ANSWERED
