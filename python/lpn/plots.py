"""Lines over a number, drawn: for commands of devices."""

import os

from .errors import mistake

__all__ = ["check_plot", "plot_lines"]


def check_plot(path):
    """Refuses what cannot be drawn, before work is done for it. Raises Error "E-plot"."""
    if os.path.splitext(path)[1].lower() not in (".svg", ".png"):
        raise mistake("E-plot", f"a plot is an .svg or a .png file, got {path}")
    try:
        import matplotlib
    except ImportError:
        raise mistake(
            "E-plot", "plots need matplotlib (Debian: apt-get install python3-matplotlib)"
        ) from None
    matplotlib.use("Agg")


def plot_lines(panels, across, path, title):
    """Writes `path`. `panels`: [(label of the y axis, [(label or None, [(x, y)], dashed)])], one above the other over
    a common x axis called `across`. Raises Error "E-plot".
    """
    check_plot(path)
    import matplotlib
    from matplotlib import pyplot

    with matplotlib.rc_context({"svg.hashsalt": "lpn"}):
        figure, rows = pyplot.subplots(
            len(panels),
            sharex=True,
            squeeze=False,
            figsize=(7, 1 + 3 * len(panels)),
            layout="constrained",
        )
        try:
            for row, (label, lines) in zip(rows[:, 0], panels):
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
            rows[-1, 0].set_xlabel(across)
            figure.suptitle(title)
            try:
                figure.savefig(
                    path, metadata={"Date": None} if path.lower().endswith(".svg") else None
                )
            except OSError as problem:
                raise mistake(
                    "E-plot", f"cannot write {path}: {problem.strerror or problem}"
                ) from None
        finally:
            pyplot.close(figure)
