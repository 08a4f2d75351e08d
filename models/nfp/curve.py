"""Latencies over the offered load, up to the rate that a mix reaches."""

from .simulate import simulate

__all__ = ["SHARES", "curve", "plot"]

SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)  # of the rate that is reached
_SHOWN = (50, 90, 99, 99.9)
_US = 1e6


def curve(mix_at, most, simulated=simulate, progress=None, **options):
    """[{"offered_rate", "packet_rate", "latency_seconds"}] at SHARES of `most` packets/s.

    mix_at(rate): the Mix at so many packets/s. `options`: of simulate. progress(share) is called
    before each. Ctrl-C ends it with the loads so far.
    """
    points = []
    for share in SHARES:
        if progress is not None:
            progress(share)
        try:
            found = simulated(mix_at(share * most), **options)
        except KeyboardInterrupt:
            break
        points.append(
            {
                "offered_rate": share * most,
                "packet_rate": found.packet_rate,
                "latency_seconds": {str(k): v for k, v in found.latency.items()},
            }
        )
        if not found.complete:
            break
    return points


def plot(points, path, title):
    """Writes the curve as .svg or .png. Raises Error E-plot."""
    from lpn.plots import plot_lines

    lines = [
        (
            f"{p:g} %",
            [(x["offered_rate"] / 1e6, x["latency_seconds"][str(p)] * _US) for x in points],
            False,
        )
        for p in _SHOWN
    ]
    plot_lines([("latency (us)", lines)], "offered load (M packets/s)", path, title)
