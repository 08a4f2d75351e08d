"""Interface against simulation, drawn."""

import os

from ..errors import mistake

__all__ = ["plot_samples"]


def plot_samples(samples, path, title):
    """Draws predicted over simulated cycles of [(predicted, simulated)] and the errors; .svg or .png.

    Raises Error "E-plot" for another ending or when matplotlib is missing.
    """
    ending = os.path.splitext(path)[1].lower()
    if ending not in (".svg", ".png"):
        raise mistake("E-plot", f"a plot is an .svg or a .png file, got {path}")
    try:
        import matplotlib
    except ImportError:
        raise mistake(
            "E-plot", "plots need matplotlib (Debian: apt-get install python3-matplotlib)"
        ) from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    simulated = [s for _, s in samples]
    figure, (above, below) = pyplot.subplots(
        2, 1, figsize=(6.4, 7), sharex=True, height_ratios=(2, 1)
    )
    above.plot(
        [min(simulated), max(simulated)], [min(simulated), max(simulated)], color="0.6", linewidth=1
    )
    above.scatter(simulated, [float(p) for p, _ in samples], s=12, color="#1f5fa8")
    above.set(xscale="log", yscale="log", ylabel="interface, cycles", title=title)
    below.axhline(0, color="0.6", linewidth=1)
    below.scatter(simulated, [100 * (float(p) - s) / s for p, s in samples], s=12, color="#1f5fa8")
    below.set(xlabel="simulation, cycles", ylabel="error, %")
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)
