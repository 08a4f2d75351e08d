"""Pictures of numbers: lines over a parameter, sweeps, an interface beside simulations.

All are written by matplotlib, which is imported only for them. Each check_... refuses what cannot
be drawn before work is done for it; all raise Error "E-plot".
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from typing import Any

from .errors import listed, mistake, without_place
from .output_file import written

__all__ = ["METRICS", "check_plot", "check_sweep", "plot_lines", "plot_samples", "plot_sweep"]

# Metric -> how its axis is called.
METRICS = {
    "latency": "latency (cycles)",
    "latency_seconds": "latency (s)",  # of nets with a frequency
    "throughput": "throughput (done tokens per cycle)",
    "last_commit": "last commit (cycles)",
    "firings": "firings",
    "done_tokens": "done tokens",
    "seconds": "simulated in (s)",
    # Of nets whose tokens say when they were born.
    "requests": "requests done",
    "latency_mean": "mean latency of a request (cycles)",
    "latency_p50": "p50 latency of a request (cycles)",
    "latency_p90": "p90 latency of a request (cycles)",
    "latency_p99": "p99 latency of a request (cycles)",
    "latency_p99.9": "p99.9 latency of a request (cycles)",
}
_SWEEP_ENDINGS = (".svg", ".png", ".pdf")
_MOST_LINES = 16


def check_plot(path: str) -> None:
    """Refuses what is no .svg or .png file in a folder, or matplotlib that is missing."""
    if os.path.splitext(path)[1].lower() not in (".svg", ".png"):
        raise without_place("E-plot", f"a plot is an .svg or a .png file, got {path}")
    _check_folder(path)
    _matplotlib()


def _check_folder(path):
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise without_place("E-plot", f"cannot write {path}: there is no folder {folder}")


def _matplotlib():
    try:
        import matplotlib
    except ImportError:
        raise mistake(
            "E-plot", "plots need matplotlib (Debian: apt-get install python3-matplotlib)"
        ) from None
    matplotlib.use("Agg")
    return matplotlib


@contextlib.contextmanager
def _figure(path, title, panels, **options):
    """The axes of so many panels one above the other; written to `path` at the end.

    The same data give the same .svg, byte for byte.
    """
    matplotlib = _matplotlib()
    from matplotlib import pyplot

    with matplotlib.rc_context({"svg.hashsalt": "lpn"}):
        figure, rows = pyplot.subplots(
            panels, sharex=True, squeeze=False, layout="constrained", **options
        )
        try:
            yield list(rows[:, 0])
            figure.suptitle(title)
            kind = os.path.splitext(path)[1][1:].lower()
            with written(path, binary=True) as file:
                figure.savefig(
                    file, format=kind, metadata={"Date": None} if kind == "svg" else None
                )
        except OSError as error:
            raise without_place(
                "E-plot", f"cannot write {path}: {error.strerror or error}"
            ) from None
        finally:
            pyplot.close(figure)


def plot_lines(panels: Sequence[Any], across: str, path: str, title: str) -> None:
    """Writes `path`. `panels`: [(label of the y axis, [(label or None, [(x, y)], dashed)])], one
    above the other over a common x axis called `across`.
    """
    check_plot(path)
    with _figure(path, title, len(panels), figsize=(7, 1 + 3 * len(panels))) as rows:
        for row, (label, lines) in zip(rows, panels):
            for name, points, dashed in lines:
                points = sorted(points)
                row.plot(
                    [x for x, _ in points],
                    [y for _, y in points],
                    label=name,
                    marker="o",
                    markersize=4,
                    linestyle="--" if dashed else "-",
                )
            row.set_ylabel(label)
            row.grid(alpha=0.3)
            if any(name for name, _, _ in lines):
                row.legend(fontsize="small")
        rows[-1].set_xlabel(across)


def plot_samples(samples: Sequence[tuple[float, float]], path: str, title: str) -> None:
    """Predicted over simulated cycles of [(predicted, simulated)], and the errors."""
    check_plot(path)
    simulated = [s for _, s in samples]
    ends = [min(simulated), max(simulated)]
    dots = {"s": 12, "color": "#1f5fa8"}
    with _figure(path, title, 2, figsize=(6.4, 7), height_ratios=(2, 1)) as (above, below):
        above.plot(ends, ends, color="0.6", linewidth=1)
        above.scatter(simulated, [float(p) for p, _ in samples], **dots)
        above.set(xscale="log", yscale="log", ylabel="interface, cycles")
        below.axhline(0, color="0.6", linewidth=1)
        below.scatter(simulated, [100 * (float(p) - s) / s for p, s in samples], **dots)
        below.set(xlabel="simulation, cycles", ylabel="error, %")


# Sweeps: a metric over the first swept parameter, a line per value of the others and per input.


def check_sweep(definition, path):
    """Refuses what cannot be drawn, before anything is simulated. Raises Error "E-plot"."""
    if os.path.splitext(path)[1].lower() not in _SWEEP_ENDINGS:
        raise mistake(
            "E-plot",
            f"cannot tell from {path} what to draw; end its name with {listed(_SWEEP_ENDINGS)}",
        )
    _check_folder(path)
    _matplotlib()
    across, names = _axes(definition)
    if across is None and len(definition.inputs) < 2:
        raise mistake(
            "E-plot",
            "there is nothing to draw: no parameter has two values and there is one input; give a "
            "parameter several, as in -p slots=1,2,4",
        )
    lines = {_key(definition, names, across, row) for row in range(len(definition))}
    if len(lines) > _MOST_LINES:
        more = [
            *names,
            *(["the input"] if across is not None and len(definition.inputs) > 1 else []),
        ]
        raise mistake(
            "E-plot",
            f"the plot would need {len(lines)} lines, one per {' and '.join(more)}; at most "
            f"{_MOST_LINES} can be read: sweep fewer values, or draw the table with a tool of "
            "your own",
        )


def _axes(definition):
    """(the parameter along x, or None for the inputs; the other swept parameters)."""
    swept = definition.swept()
    return (swept[0], swept[1:]) if swept else (None, [])


def _key(definition, names, across, row):
    """Which line a row is on."""
    where, number = definition.where(row)
    point = definition.points[where]
    values = tuple(point[name] for name in names)
    return (*values, number) if across is not None else values


def plot_sweep(definition, rows, path, metrics):
    """Writes the plot of a sweep's rows; a panel per metric. Stalled points and errors are crosses
    below the lines.
    """
    across, names = _axes(definition)
    lines = {}
    for row in rows:
        where, number = definition.where(row["row"])
        x = definition.points[where][across] if across is not None else number
        lines.setdefault(_key(definition, names, across, row["row"]), []).append((x, row))
    if not any(_known(row, metric) for row in rows for metric in metrics):
        raise mistake("E-plot", f"no row has a {listed(metrics)}, so that there is nothing to draw")
    size = (7, 1 + 3.4 * len(metrics))
    with _figure(path, definition.model.name, len(metrics), figsize=size) as panels:
        for panel, metric in zip(panels, metrics):
            _panel(panel, definition, across, names, lines, metric)
        panels[-1].set_xlabel(across if across is not None else "input")
        _scale(panels[-1], definition, across)
        if len(lines) > 1:
            panels[0].legend(fontsize="small")


def _known(row, metric):
    return row[metric] is not None and not row["stalled"]


def _panel(panel, definition, across, names, lines, metric):
    crosses = []
    for key, points in sorted(lines.items()):
        points.sort(key=lambda point: point[0])
        label = ", ".join(f"{name}={value}" for name, value in zip(names, key))
        if across is not None and len(definition.inputs) > 1:
            name = os.path.basename(definition.inputs[key[-1]].name)
            label = f"{label}, {name}" if label else name
        drawn = [(x, row[metric] if _known(row, metric) else float("nan")) for x, row in points]
        panel.plot(
            [x for x, _ in drawn],
            [y for _, y in drawn],
            label=label,
            marker="o",
            markersize=4,
            linestyle="-" if across is not None else "none",
        )
        crosses += [x for x, row in points if not _known(row, metric)]
    if crosses:
        # Along the lower edge, in the panel's own coordinate: these points have no value.
        panel.plot(
            crosses,
            [0.02] * len(crosses),
            "x",
            color="black",
            clip_on=False,
            transform=panel.get_xaxis_transform(),
            label="stalled or without a result",
        )
    panel.set_ylabel(METRICS[metric])
    panel.grid(alpha=0.3)


def _scale(panel, definition, across):
    if across is None:
        panel.set_xticks(
            range(len(definition.inputs)),
            [os.path.basename(i.name) for i in definition.inputs],
            rotation=30,
            ha="right",
        )
        return
    values = sorted({point[across] for point in definition.points})
    doubling = (
        values[0] > 0 and all(v & (v - 1) == 0 for v in values) and values[-1] >= 8 * values[0]
    )
    if doubling:
        panel.set_xscale("log", base=2)
    if len(values) <= 16:
        panel.set_xticks(values, [str(v) for v in values])
        panel.minorticks_off()
