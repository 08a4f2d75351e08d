"""The latencies of requests in the rows of a sweep: of nets whose tokens say when they were born."""

import _lpn

from ..authoring.token import BORN
from ..runs.open_loop import FIGURES, Replicated

__all__ = ["LATENCIES", "Requests"]

# How many requests were done, and what their latencies were, in cycles from birth to done.
LATENCIES = ("requests", *(f"latency_{name}" for name in FIGURES))


class Requests:
    """The requests of one run, those of all `places` in which they end together
    (runs.open_loop.ends_of_requests).
    """

    def __init__(self, places, machine):
        self._machine = machine
        self._sums = {}
        for place in places:
            fields = place._type.fields
            machine.collect(place._number)
            self._sums[place._number] = _lpn.sim.Latencies(len(fields), fields[BORN], None, 0)

    def drain(self):
        """Takes what was done until now, so that memory does not grow with the run."""
        for number, latencies in self._sums.items():
            latencies.drain(self._machine, number)

    def row(self):
        """{field: value} of LATENCIES; {} of a net that does not say."""
        if not self._sums:
            return {}
        self.drain()
        one = [h for h in (sums.all for sums in self._sums.values()) if h.count]
        done = sum(h.count for h in one)
        if not done:
            return {"requests": 0}
        figures = {name: value for name, (value, _) in Replicated(one).estimates().items()}
        figures["mean"] = sum(h.mean * h.count for h in one) / done
        return {
            "requests": done,
            **{f"latency_{name}": round(value, 6) for name, value in figures.items()},
        }
