"""A picture of a sweep: a metric over the first swept parameter, a line per second one and input."""

import os

from ..errors import listed, mistake

__all__ = ["METRICS", "check", "draw"]

# Metric -> how its axis is called.
METRICS = {
    "latency": "latency (cycles)",
    "throughput": "throughput (done tokens per cycle)",
    "last_commit": "last commit (cycles)",
    "firings": "firings",
    "done_tokens": "done tokens",
    "seconds": "simulated in (s)",
}
_ENDINGS = (".svg", ".png", ".pdf")
_MOST_LINES = 16


def check(definition, path):
    """Refuses what cannot be drawn, before anything is simulated. Raises Error "E-plot"."""
    if os.path.splitext(path)[1].lower() not in _ENDINGS:
        raise mistake(
            "E-plot", f"cannot tell from {path} what to draw; end its name with {listed(_ENDINGS)}"
        )
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise mistake("E-plot", f"cannot write {path}: there is no folder {folder}")
    _pyplot()
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
            f"{_MOST_LINES} can be read: sweep fewer values, or draw the table with a tool of your own",
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


def _pyplot():
    try:
        import matplotlib
    except ImportError:
        raise mistake(
            "E-plot", "a plot needs the Python package matplotlib; install python3-matplotlib"
        ) from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return matplotlib, pyplot


def draw(definition, rows, path, metrics):
    """Writes the plot; a panel per metric. Stalled points and errors are crosses below the lines."""
    matplotlib, pyplot = _pyplot()
    across, names = _axes(definition)
    lines = {}
    for row in rows:
        where, number = definition.where(row["row"])
        x = definition.points[where][across] if across is not None else number
        lines.setdefault(_key(definition, names, across, row["row"]), []).append((x, row))
    if not any(_known(row, metric) for row in rows for metric in metrics):
        raise mistake("E-plot", f"no row has a {listed(metrics)}, so that there is nothing to draw")
    with matplotlib.rc_context({"svg.hashsalt": "lpn"}):
        figure, panels = pyplot.subplots(
            len(metrics),
            sharex=True,
            squeeze=False,
            figsize=(7, 1 + 3.4 * len(metrics)),
            layout="constrained",
        )
        try:
            for panel, metric in zip(panels[:, 0], metrics):
                _panel(panel, definition, across, names, lines, metric)
            panels[-1, 0].set_xlabel(across if across is not None else "input")
            _scale(panels[-1, 0], definition, across)
            if len(lines) > 1:
                panels[0, 0].legend(fontsize="small")
            figure.suptitle(definition.model.name)
            made = {"Date": None} if path.lower().endswith(".svg") else None
            try:
                figure.savefig(path, metadata=made)
            except OSError as error:
                raise mistake("E-plot", f"cannot write {path}: {error.strerror or error}") from None
        finally:
            pyplot.close(figure)


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
