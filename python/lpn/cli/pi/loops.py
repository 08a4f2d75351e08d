"""lpn pi --loops and --pareto: how fast a net or a dataflow graph goes on, and what its buffers cost."""

import time
from fractions import Fraction

import click

from ...authoring.unknown import require_known
from ...command import (
    ANSWERED,
    NO,
    UNKNOWN,
    WRONG,
    Progress,
    counted,
    grouped,
    note,
    print_json,
    table,
)
from ...errors import Error, describe, mistake, placed
from ...runs import prepare


def paces(words, params, pareto, limit, as_json):
    if not all(word.lower().endswith(".xml") for word in words):
        if pareto or len(words) > 1:
            raise mistake(
                "E-usage",
                "--pareto takes SDF3 files, as GRAPH.xml"
                if pareto
                else "--loops takes one model, or SDF3 files, as GRAPH.xml",
            )
        return _loops(words[0], params, limit, as_json)
    if params:
        raise mistake("E-usage", "SDF3 files have no parameters")
    answer = _fronts if pareto else _graphs
    return answer(words, limit, as_json)


def _loops(model, params, limit, as_json):
    import _lpn

    ready = prepare(model, params=params)
    require_known(ready.net)
    begin = time.monotonic()
    try:
        found, interrupted = _lpn.pi.steady_state(
            ready.net.core,
            list(ready.values),
            ready.marking._core,
            lambda: time.monotonic() - begin > limit,
        )
    except _lpn.Error as error:
        raise placed(error) from None
    if interrupted:
        raise KeyboardInterrupt
    names = ready.net.transitions
    fields = {"model": ready.model.name, "result": "limit", "period": None}
    loops, rows = [], []
    if found is not None:
        slowest = _slowest([ratio for ratio, _, _ in found["loops"]])
        fields.update(result=slowest[0], period=_rational(slowest[1]))
        loops = [
            {"cycles": list(ratio) if ratio[1] else None, "transitions": [names[t] for t in there]}
            for ratio, there, _ in found["loops"]
        ]
        rows = [
            {
                "transition": name,
                "gap": list(gap) if gap[1] else None,
                "loop": loop,
                "commits_per_round": often,
            }
            for name, (gap, loop, often) in zip(names, found["paces"])
        ]
    if as_json:
        print_json({**fields, "loops": loops, "transitions": rows})
    else:
        table(
            ["transition", ">gap", "set by the loop through"],
            [
                [
                    row["transition"],
                    "never" if row["gap"] is None else _short("/".join(map(str, row["gap"]))),
                    "nothing"
                    if row["loop"] is None
                    else ", ".join(dict.fromkeys(loops[row["loop"]]["transitions"])),
                ]
                for row in rows
            ],
        )
    if found is None:
        note("--limit came first")
    return _status({fields["result"]})


def _slowest(ratios):
    """(result, period) of a net with loops of these (numerator, denominator)."""
    if any(den == 0 for _, den in ratios):
        return "deadlocked", None
    if not ratios:
        return "unbounded", None
    return "periodic", max(Fraction(num, den) for num, den in ratios)


def _rational(number):
    """An exact number as JSON has it: "13/2", "246/1"."""
    return None if number is None else f"{number.numerator}/{number.denominator}"


def _graph_fields(path, graph, pace):
    """What JSON says of a graph and its pace; None: a limit came first."""
    repetitions = graph.repetitions()
    phases = {actor.name: len(actor.times.recurring) for actor in graph.actors}
    return {
        "model": graph.name,
        "file": path,
        "result": "limit" if pace is None else pace.kind,
        "period": None if pace is None else _rational(pace.period),
        "repetitions": repetitions,
        "firings": sum(count * phases[name] for name, count in repetitions.items()),
        "loop": []
        if pace is None
        else [{"actor": actor, "channel": channel} for actor, channel in pace.loop],
    }


def _status(results):
    if "limit" in results:
        return UNKNOWN
    return NO if "deadlocked" in results else ANSWERED


def _graphs(paths, limit, as_json):
    rows, refused, stopped = [], [], False
    progress = Progress(len(paths))
    try:
        for path in paths:
            progress.say(path)
            try:
                rows.append(_graph(path, limit))
            except (Error, OSError) as error:
                if len(paths) == 1:
                    raise
                code, reason = describe(error)
                refused.append({"file": path, "code": code, "reason": reason})
            progress.step(path)
    except KeyboardInterrupt:
        if not rows:
            raise
        stopped = True
    finally:
        progress.clear()
    if as_json:
        print_json(rows[0] if len(paths) == 1 else {"models": rows, "refused": refused})
    else:
        table(
            ["graph", ">period", ">firings", "set by the loop through"],
            [
                [
                    row["model"],
                    _short(row["period"]) or row["result"],
                    grouped(row["firings"]),
                    "?" if row["result"] == "limit" else _through(row["loop"]),
                ]
                for row in rows
            ],
        )
        for row in refused:
            click.echo(f"refused: {row['reason']} [{row['code']}]")
    if stopped:
        note(f"stopped by Ctrl-C after {counted(len(rows), 'graph')} of {len(paths)}")
    results = {row["result"] for row in rows} | ({"limit"} if stopped else set())
    return WRONG if refused else _status(results)


def _graph(path, limit):
    from ...interfaces.sdf3 import read_sdf3

    begin = time.monotonic()
    graph = read_sdf3(path)
    pace = graph.pace(lambda: time.monotonic() - begin > limit)
    return {
        **_graph_fields(path, graph, pace),
        "seconds": round(time.monotonic() - begin, 6),
    }


def _through(loop, most=12):
    names = list(dict.fromkeys(step["actor"] for step in loop))
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return (", ".join(names[:most]) or "nothing") + more


def _short(rational):
    return rational and rational.removesuffix("/1")


def _fronts(paths, limit, as_json):
    from ...interfaces.sdf3 import read_sdf3

    if len(paths) > 1:
        raise mistake("E-usage", f"--pareto takes one graph, got {len(paths)}")
    graph = read_sdf3(paths[0])
    begin = time.monotonic()
    progress = Progress(1)

    def stop(tried, points):
        progress.say(f"{counted(points, 'point')} in {counted(tried, 'distribution')}")
        return time.monotonic() - begin > limit

    try:
        front = graph.buffer_front(stop)
    finally:
        progress.clear()
    fields = _graph_fields(paths[0], graph, front.fastest)
    if as_json:
        points = [
            {
                "total": point.total,
                "period": _rational(point.period),
                "capacities": list(point.capacities),
            }
            for point in front.points
        ]
        print_json(
            {
                **fields,
                "channels": list(front.channels),
                "points": points,
                "complete": front.complete,
                "tried": front.tried,
                "seconds": round(time.monotonic() - begin, 6),
            }
        )
    else:
        table(
            [">tokens", ">period", "capacities of " + ", ".join(front.channels)],
            [
                [point.total, _short(_rational(point.period)), " ".join(map(str, point.capacities))]
                for point in front.points
            ],
        )
        if front.fastest.kind == "deadlocked":
            through = ", ".join(dict.fromkeys(actor for actor, _ in front.fastest.loop))
            note(f"deadlocked with any capacities, by the loop through {through}")
    if not front.complete:
        note("the search was stopped: more tokens give shorter periods (--limit S)")
        return UNKNOWN
    return _status({front.fastest.kind})
