"""The MAC's fault: under overload it may let through less than cores and memory engine could do.

Which of two states it is in cannot be told from the program: measured at one capacity, with other
packets, both were seen, and in three measurements it went to and fro. So the answer is a range, from
what it lets through when the fault has struck to what it does else. mac_fault.csv has the rows.
"""

import csv
import os

from . import costs as cost_table

__all__ = ["fallen", "outcome", "rows"]

_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mac_fault.csv")
_OF_NIC = ("mac_rate", "mac_fault_rate", "mac_fault_from", "mac_fault_to")


def rows():
    """[(program, capacity, measured, fell)] of mac_fault.csv; rates in packets/s."""
    with open(_FILE, encoding="utf-8", newline="") as file:
        lines = [line for line in file if not line.startswith("#")]
    return [
        (row["program"], float(row["capacity"]) * 1e6, float(row["measured"]) * 1e6, row["fell"])
        for row in csv.DictReader(lines)
    ]


def fallen(costs, capacity, data=None):
    """Packets/s that the MAC at least lets through when its fault has struck, of packets of which
    the NIC could do `capacity`.

    A straight line between the measured means, in proportion below the first and flat behind the
    last, less the furthest that a row is below it. A cost table with another fault than the bundled
    one's has no such rows: then its `mac_fault_rate`. `data`: rows in place of those of the file.
    """
    bundled = cost_table.load()
    if any(costs[name] != bundled[name] for name in _OF_NIC):
        return min(costs["mac_fault_rate"], capacity)
    struck = [(c, rate) for _, c, rate, fell in data or rows() if fell == "yes"]
    means = {}
    for c, rate in struck:
        means.setdefault(c, []).append(rate)
    line = sorted((c, sum(rates) / len(rates)) for c, rates in means.items())
    spread = max(1 - rate / _between(line, c) for c, rate in struck)
    return _between(line, capacity) * (1 - spread)


def _between(line, x):
    if x <= line[0][0]:
        return line[0][1] * x / line[0][0]
    for (x0, y0), (x1, y1) in zip(line, line[1:]):
        if x <= x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    return line[-1][1]


def outcome(costs, capacity, healthy):
    """What arrives beyond the NIC's capacity meets: None outside the band of the fault, else {"low":
    packets/s when it has struck, "high": `healthy`, what is let through else, "measured": rows of
    the band, "struck": how often it had in them, at times or all the time}.
    """
    least, most = costs["mac_fault_from"], costs["mac_fault_to"]
    if costs["mac_fault_rate"] >= costs["mac_rate"] or not least <= capacity <= most:
        return None
    band = [fell for _, c, _, fell in rows() if least <= c <= most]
    return {
        "low": min(fallen(costs, capacity), healthy),
        "high": healthy,
        "measured": len(band),
        "struck": sum(fell != "no" for fell in band),
    }
