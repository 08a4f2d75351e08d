"""The latencies of requests as tables, bars and a line over time."""

import click

from ...command import counted, duration, grouped, note, table
from ...runs.open_loop import FIGURES, Replicated

_BARS = " ▏▎▍▌▋▊▉█"
_LEVELS = " ▁▂▃▄▅▆▇█"
_WIDTH = 40  # characters of the longest bar, and windows of a line over time


def rows_of(point):
    """[(place, class or None, Replicated)] of a point, places without requests left out."""
    rows = []
    for name, runs in point["places"].items():
        everything = Replicated(run.all for run in runs)
        if everything.requests:
            rows.append((name, None, everything))
        keys = sorted({key for run in runs for key in run.classes})
        rows += [
            (name, key, Replicated(run.of(key) for run in runs if key in run.classes))
            for key in keys
        ]
    return rows


def show(about, points, seeds):
    """All of it, for people."""
    runs = counted(len(seeds), "run")
    click.echo(f"{about['model']} ({'interpreted' if about['engine'] == 'interp' else 'compiled'})")
    several = len(points) > 1
    names = list(points[0]["parameters"]) if several else []
    classes = any(key is not None for point in points for _, key, _ in rows_of(point))
    columns = [f">{name}" for name in names] + ["place"] + [">class"] * classes
    columns += [">requests", *(f">{name}" for name in FIGURES), ">greatest"]
    cells = []
    for point in points:
        for place, key, row in rows_of(point):
            cells.append(
                [point["parameters"][name] for name in names]
                + [place]
                + (["" if key is None else key] if classes else [])
                + [grouped(row.requests)]
                + [_figure(*row.estimates()[name]) for name in FIGURES]
                + [grouped(row.greatest)]
            )
    if cells:
        title = f"latency from birth to done, {_cycles(points)}; {runs}"
        if len(points[0]["runs"]) > 1:
            title += " (the intervals of a row hold together with 95 % confidence)"
        table(columns, cells, title=title)
    else:
        click.echo("no request was done")
    if not several:
        _details(points[0])
    for point in points:
        _endings(point)


def _cycles(points):
    """The unit of the figures: 'cycles', 'cycles of 4 ns'."""
    frequencies = {point["frequency"] for point in points}
    if frequencies == {None}:
        return "cycles"
    if len(frequencies) > 1:
        return "cycles of each point's own frequency"
    return f"cycles of {duration(1, frequencies.pop())}"


def _figure(value, half):
    text = _number(value)
    return text if half is None else f"{text} ± {_number(half)}"


def _number(value):
    if value == int(value) or abs(value) >= 1000:
        return grouped(round(value))
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3g}"


def _details(point):
    for place, key, row in rows_of(point):
        if key is not None:
            continue
        click.echo("")
        _histogram(place, row)
        _over_time(place, point["places"][place][0])


def _histogram(place, row):
    """Counts by ranges that grow by powers of two, at most some twenty of them."""
    edges = [0, 1]
    while edges[-1] <= row.greatest:
        edges.append(edges[-1] * 2)
    counts = [0] * len(edges)
    for first, _, count in row.cells():
        counts[first.bit_length()] += count
    used = [k for k, count in enumerate(counts) if count]
    most = max(counts)
    click.echo(f"{place}: how many requests took how long, cycles")
    for k in range(used[0], used[-1] + 1):
        lo, hi = (0, 0) if k == 0 else (1 << (k - 1), (1 << k) - 1)
        eighths = round(counts[k] / most * _WIDTH * 8)
        bar = "█" * (eighths // 8) + _BARS[eighths % 8].strip()
        if counts[k] and not bar:
            bar = "▏"
        span = f"{grouped(lo)} .. {grouped(hi)}"
        click.echo(f"  {span:>23}  {grouped(counts[k]):>11}  {bar}".rstrip())


def _over_time(place, latencies):
    width, windows = latencies.over_time
    if len(windows) < 2:
        return
    while len(windows) > _WIDTH:
        pairs = [windows[k : k + 2] for k in range(0, len(windows), 2)]
        windows = [(sum(c for c, _ in pair), sum(s for _, s in pair)) for pair in pairs]
        width *= 2
    counts = [count for count, _ in windows]
    means = [total / count if count else 0.0 for count, total in windows]
    click.echo("")
    click.echo(f"{place}: over time, {grouped(width)} cycles a column (first run)")
    click.echo(f"  requests done   {_line(counts)}  at most {grouped(max(counts))}")
    click.echo(f"  mean latency    {_line(means)}  at most {_number(max(means))}")


def _line(values):
    most = max(values) or 1
    return "".join(_LEVELS[round(value / most * 8)] for value in values)


def _endings(point):
    """What keeps the figures from being those of all requests."""
    for run in point["runs"]:
        if run.ending in ("limit", "interrupted", "budget"):
            until = "" if run.until is None else f" at cycle {grouped(run.until)}"
            how = "was interrupted" if run.ending == "interrupted" else f"ended by {run.ending}"
            note(f"a run {how}{until}: requests that were under way are not in these figures")
            return
        if run.stalled:
            waiting = ", ".join(name for name, _, _ in run.blocked)
            note(
                f"a run stalled (waiting: {waiting}): requests that were not done are not in these figures"
            )
            return
