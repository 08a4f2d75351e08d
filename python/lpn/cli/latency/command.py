"""lpn latency: requests that come at their own times, seed by seed and load by load."""

import itertools

import click

from ...command import (
    ANSWERED,
    NO,
    UNKNOWN,
    Progress,
    budget_options,
    compile_aloud,
    counted,
    engine_option,
    grouped,
    json_option,
    model_argument,
    need_input,
    print_json,
)
from ...errors import mistake
from ...plots import check_plot, plot_lines
from ...runs import load, prepare
from ...runs.open_loop import CONFIDENCE, FIGURES, Replicated, measure, measured_places
from ...runs.run import budget_of
from ...sweeps.definition import whole_values
from .show import rows_of, show


class Values(click.ParamType):
    """NAME=VALUES, as (name, list of numbers)."""

    name = "name=values"

    def convert(self, value, param, ctx):
        name, equals, text = value.partition("=")
        if not equals:
            self.fail(f"'{value}' is not name=values; write -p {value}=1")
        return name.strip(), _each_once(whole_values(text, name.strip()))


def _each_once(values):
    return list(dict.fromkeys(values))


@click.command()
@model_argument
@click.argument("input", required=False)
@click.option(
    "-p",
    "--param",
    "params",
    multiple=True,
    type=Values(),
    help="A parameter of the net or of traffic(): a number, or several (1,2,8:64:8) for a curve.",
)
@click.option(
    "--seeds",
    default="1",
    metavar="SEEDS",
    show_default=True,
    help="One run for each, as 1:20. From two runs on, figures have intervals.",
)
@click.option("--by", metavar="PROPERTY", help="Figures for each value of it as well.")
@click.option(
    "--warm-up",
    type=click.IntRange(0),
    default=0,
    metavar="T",
    help="Leaves out requests born before cycle T.",
)
@click.option(
    "--limit", type=click.IntRange(0, 2**63 - 1), metavar="T", help="Ends each run after cycle T."
)
@budget_options
@engine_option(None, help="Default: what answers first, as in lpn sim.")
@click.option("--plot", type=click.Path(), metavar="FILE.svg", help="The curve: .svg or .png.")
@json_option
def latency(
    model,
    input,
    params,
    seeds,
    by,
    warm_up,
    limit,
    max_memory,
    max_time,
    max_tokens,
    max_firings,
    max_groups,
    engine,
    plot,
    as_json,
):
    """How long each request of MODEL takes, from its birth to done, under open-loop traffic.

    The traffic is that of the model's traffic(net, seed), or what its workload makes of INPUT, with
    at= for arrivals. A request's tokens say when it was born (born: lpn.Birth).

    Exit status: 0 answered; 1 a run stalled; 2 something is wrong; 3 a limit was reached, or Ctrl-C.
    """
    loaded = load(model)
    numbers = _each_once(whole_values(seeds, "--seeds"))  # a run again is no evidence
    if input is not None and numbers != [1]:
        raise click.UsageError("--seeds is for traffic(); an INPUT is always the same")
    if input is None:
        need_input(loaded, input)
    if any(n < 0 for n in numbers):
        raise click.UsageError("a seed is >= 0")
    loads = _combinations(params)
    if plot:
        check_plot(plot)
        if len(loads) < 2:
            raise click.UsageError("--plot draws a curve; give a parameter several values")
    limits = budget_of(
        None if max_memory is None else max_memory << 20,
        max_time,
        max_tokens,
        max_firings,
        max_groups,
    )
    how = {"by": by, "warm_up": warm_up, "limit": limit, "limits": limits}
    progress = Progress(len(loads) * len(numbers))
    points, about = [], {"model": loaded.name}
    for point in loads:
        found = _point(loaded, input, point, numbers, engine, how, progress, about)
        points.append(found)
        if found["interrupted"]:
            break
    progress.clear()
    interrupted = points[-1]["interrupted"]
    places = list(points[-1]["places"])
    if plot:
        _plot(plot, about["model"], points, places[0])
    if as_json:
        print_json(
            {
                **about,
                "confidence": CONFIDENCE,
                "figures_together": len(FIGURES),
                "seeds": numbers,
                "interrupted": interrupted,
                "points": [_as_data(point) for point in points],
            }
        )
    else:
        show(about, points, numbers)
    runs = [run for point in points for run in point["runs"]]
    if any(run.stalled for run in runs):
        return NO
    if interrupted or any(run.ending in ("limit", "budget") for run in runs):
        return UNKNOWN
    return ANSWERED


def _combinations(params):
    """[{parameter: value}], the last parameter changing fastest."""
    names = [name for name, _ in params]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise click.UsageError(f"parameter '{twice[0]}' is given twice")
    return [dict(zip(names, each)) for each in itertools.product(*(v for _, v in params))]


def _point(model, input, params, seeds, engine, how, progress, about):
    """What was measured with these parameters: the runs, and {place: [Latencies of each run]}."""
    own = [name for name in model.traffic_parameters() if name in params and input is None]
    rest = {name: value for name, value in params.items() if name not in own}
    ready = prepare(model, input, rest, engine)
    measured_places(ready.net)  # before anything is compiled
    library = compile_aloud(ready) if engine else ready.background
    runs, places = [], {}
    label = ", ".join(f"{k}={v}" for k, v in params.items()) or ready.net.name
    for seed in seeds:

        def on_slice(time, commits, seed=seed):
            progress.say(f"{label}, seed {seed}: cycle {grouped(time)}")

        def traffic(seed=seed):
            if input is not None:
                return ready.read()
            return model.traffic(ready.net, seed, **{name: params[name] for name in own})

        run, sums = measure(
            ready.net,
            ready.values,
            traffic,
            library,
            on_slice=on_slice if progress.on else None,
            **how,
        )
        runs.append(run)
        if run.engine == "compiled" or "engine" not in about:
            about["engine"] = run.engine
        for name, latencies in sums.items():
            places.setdefault(name, []).append(latencies)
        progress.step(label)
        if run.ending == "interrupted":
            break
    if ready.fallback is not None:
        about["fallback"] = {"code": ready.fallback.code, "message": str(ready.fallback)}
    return {
        "parameters": params,
        "frequency": ready.net.frequency,
        "runs": runs,
        "places": places,
        "interrupted": runs[-1].ending == "interrupted",
    }


def _as_data(point):
    found = []
    for place, key, row in rows_of(point):
        entry = {"place": place, "class": key, "requests": row.requests}
        for name, (value, half) in row.estimates().items():
            entry[name] = round(value, 6)
            entry[name + "_within"] = None if half is None else round(half, 6)
        entry.update(least=row.least, greatest=row.greatest)
        if key is None:
            entry["histogram"] = row.cells()
            width, windows = point["places"][place][0].over_time
            entry["over_time"] = {
                "cycles": width,
                "requests": [count for count, _ in windows],
                "mean": [round(sum_ / count, 6) if count else None for count, sum_ in windows],
            }
        found.append(entry)
    runs = [
        {
            "ending": run.ending,
            "until": run.until,
            "last_commit": run.last_commit,
            "firings": run.commits,
            "done_tokens": run.done_tokens,
            "stalled": run.stalled,
            "seconds": round(run.seconds, 9),
        }
        for run in point["runs"]
    ]
    frequency = {} if point["frequency"] is None else {"frequency": point["frequency"]}
    return {"parameters": point["parameters"], **frequency, "runs": runs, "latencies": found}


def _plot(path, model, points, place):
    """Mean, p50, p99 and p99.9 over the first parameter that has several values."""
    names = [
        name
        for name in points[0]["parameters"]
        if len({point["parameters"][name] for point in points}) > 1
    ]
    across = names[0]
    if len(names) > 1:
        raise mistake("E-plot", f"a curve is over one parameter, not over {', '.join(names)}")
    xs = [point["parameters"][across] for point in points]
    rows = [Replicated(run.all for run in point["places"][place]) for point in points]
    lines = []
    for name in ("mean", "p50", "p99", "p99.9"):
        known = [(x, row.estimates()[name][0]) for x, row in zip(xs, rows) if row.requests]
        lines.append((name, known, False))
    runs = counted(len(points[0]["runs"]), "run")
    plot_lines([("latency (cycles)", lines)], across, path, f"{model}: {place}, {runs} a point")
