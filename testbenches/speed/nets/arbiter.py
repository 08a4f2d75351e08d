"""Requesters that compete for shared resources: a true conflict, decided anew at every return.

    waiting_k -> serve_k -> served            `think`: -> idle_k -> request_k -> waiting_k
    grants ------^  |
       ^------------/

All `serve_k` take from the one place of grants, so which of them starts is known only at the moment
at which a grant comes back: the least k that waits. No order of evaluation avoids the question.
"""

import lpn

import _common


def net(n: int = 64, resources: int = 1, think: bool = False) -> lpn.Net:
    """`n`: requesters, >= 1. `resources`: grants, >= 1. All jobs of a requester wait from the
    start; with `think` it has one at a time, and comes back with the next some time after the last
    was served, so that the set of those that wait changes all the time.
    """
    net = lpn.Net(f"arbiter_{n}_{resources}_{'think' if think else 'queue'}")
    grants = net.place("grants", init=resources)
    served = net.place("served", sink=True)
    for k in range(n):
        put = [grants, served]
        if think:
            waiting = net.place(f"waiting_{k}", _common.Item)
            idle = net.place(f"idle_{k}", _common.Item, init=_common.Item(value=_common.scatter(k)))
            left = net.place(f"left_{k}", start=True)
            _common.stage(net, f"request_{k}", 1 + 2 * n, 8, 255, [idle, left], [waiting])
            put.append(idle.emit(value=lambda item: (item.value * 69069 + 1) % 2**31))
        else:
            waiting = net.place(f"waiting_{k}", _common.Item, start=True)
        net.transition(
            f"serve_{k}",
            take={"item": waiting, "grant": grants},
            put=put,
            delay=lambda item: 1 + (item.value >> 16 & 7),
            servers=1,
        )
    return net


def workload(count, net: lpn.Net) -> lpn.Marking:
    """`count`: jobs in all, an int or its digits; as many firings, twice as many with `think`."""
    count = int(count)
    n = sum(name.startswith("serve_") for name in net.transitions)
    marking = lpn.Marking(net)
    for k in range(n):
        share = range(k, count, n)
        if "left_0" in net.places:
            marking.add(f"left_{k}", count=len(share))
        else:
            _common.items(marking, f"waiting_{k}", share)
    return marking
