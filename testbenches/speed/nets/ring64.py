"""A ring of 64 transitions with 16 items, one before every fourth.

Described in ../README.md; with 62 500 laps the last commit is at 5 375 963.
"""

import lpn

import ring


def net() -> lpn.Net:
    """ring.py with 64 transitions and one item less."""
    return ring.net(64, items=16)


def workload(laps, net: lpn.Net) -> lpn.Marking:
    """`laps`: how often t0 fires, an int or its digits; about 64 * laps firings."""
    return ring.workload(laps, net)
