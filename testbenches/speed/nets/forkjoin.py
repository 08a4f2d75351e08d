"""A fork, eight branches of two stages, a join, four credits.

Described in ../README.md; with 222 222 items the last commit is at 2 768 018.
"""

import lpn

import fork_join


def net() -> lpn.Net:
    """fork_join.py with 18 transitions."""
    return fork_join.net(18)


def workload(count, net: lpn.Net) -> lpn.Marking:
    """`count`: items, an int or its digits; 18 * count firings."""
    return fork_join.workload(count, net)
