"""What a page says of the requests of a run: how long each took, from birth to done."""

from ..errors import Error
from ..runs.open_loop import FIGURES, Replicated, measure, measured_places

__all__ = ["requests_of"]


def requests_of(net, values, marking, *, by=None, limit=None, on_slice=None):
    """[{"place", "class", "requests", figures, "greatest", "cells", "over_time"}] of the run, measured
    by the interpreter in a run of its own; [] for a net whose tokens do not say when they were born.

    Figures are cycles, `cells` [first value, last value, count]; `over_time`, of all classes
    together, {"cycles": of a window, "requests", "mean"}. `by`: a property whose values are the
    classes. Raises Error "E-born" where tokens have none such.
    """
    try:
        measured_places(net)
    except Error:
        if by is not None:
            raise
        return []
    run, sums = measure(net, values, marking, None, by=by, limit=limit, on_slice=on_slice)
    rows = []
    for place, latencies in sums.items():
        for key in [None, *sorted(latencies.classes)]:
            histogram = latencies.all if key is None else latencies.of(key)
            if not histogram.count:
                continue
            one = Replicated([histogram])
            row = {"place": place, "class": key, "requests": one.requests}
            figures = one.estimates()
            row.update({name: round(figures[name][0], 6) for name in FIGURES})
            row.update(greatest=one.greatest, cells=one.cells())
            if key is None:
                width, windows = latencies.over_time
                row["over_time"] = {
                    "cycles": width,
                    "requests": [count for count, _ in windows],
                    "mean": [total / count if count else None for count, total in windows],
                }
            rows.append(row)
    return rows
