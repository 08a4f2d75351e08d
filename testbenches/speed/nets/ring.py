"""A ring of n transitions with n // 4 + 1 items and a budget of laps.

Every fourth transition has work at any time, so the firings per simulated cycle grow with n, and
an engine that looks at every transition per event gets slower and slower.
"""

import lpn

import _common


def net(n: int = 10, items: int = 0) -> lpn.Net:
    """`n`: transitions, >= 2. `items`: before every fourth transition one, 0 for n // 4 + 1."""
    net = lpn.Net(f"ring_{n}")
    start = [[] for _ in range(n)]
    for k in range(items or n // 4 + 1):
        start[4 * k % n].append(_common.Item(value=_common.scatter(4 * k % n)))
    places = [net.place(f"p{k}", _common.Item, init=start[k]) for k in range(n)]
    budget = net.place("budget", start=True)  # limits the firings of t0
    for k in range(n):
        _common.stage(
            net,
            f"t{k}",
            base=1 + k * 7 % 13,
            shift=8 * (k & 1),
            mask=15,
            take=[places[k], budget] if k == 0 else [places[k]],
            put=[places[(k + 1) % n]],
        )
    return net


def workload(laps, net: lpn.Net) -> lpn.Marking:
    """`laps`: how often t0 fires, an int or its digits; about laps * n firings in all."""
    marking = lpn.Marking(net)
    marking.add("budget", count=int(laps))
    return marking
