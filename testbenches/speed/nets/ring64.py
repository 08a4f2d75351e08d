"""A ring of 64 transitions with 16 items, one before every fourth.

Described in ../README.md; with 62 500 laps the last commit is at 5 375 963.
"""

import lpn

import _common
import ring


def net() -> lpn.Net:
    """The ring of ring.py; the workload makes the difference."""
    return ring.net(64)


def workload(laps, net: lpn.Net) -> lpn.Marking:
    """`laps`: how often t0 fires, an int or its digits; about 64 * laps firings."""
    marking = lpn.Marking(net)
    for k in range(0, 64, 4):
        _common.items(marking, f"p{k}", [k])
    marking.add("budget", count=int(laps))
    return marking
