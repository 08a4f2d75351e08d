"""A fork, parallel branches of equal length, and a join; about n transitions and four credits."""

import lpn

import _common


def net(n: int = 10, branches: int = 8) -> lpn.Net:
    """`n`: transitions, at least `branches` + 2. `branches`: 0 for n/2 branches of two stages."""
    branches = branches or (n - 2) // 2
    stages = (n - 2) // branches
    net = lpn.Net(f"fork_join_{n}_{branches}")
    source = net.place("source", _common.Item, start=True)
    sink = net.place("sink", _common.Item, sink=True)
    credits = net.place("credits", init=4)
    rows = [
        [net.place(f"b{b}_{s}", _common.Item) for s in range(stages + 1)] for b in range(branches)
    ]
    _common.stage(net, "fork", 1, 0, 3, [source, credits], [row[0] for row in rows])
    for b, row in enumerate(rows):
        for s in range(stages):
            base, shift = (1 + b % 3, b % 16) if s % 2 == 0 else (2 + b % 2, b % 16 + 8)
            _common.stage(net, f"u{b}_{s}", base, shift, 15, [row[s]], [row[s + 1]])
    _common.stage(net, "join", 1, 4, 3, [row[-1] for row in rows], [sink, credits])
    return net


def workload(count, net: lpn.Net) -> lpn.Marking:
    """`count`: items that are forked, an int or its digits; about count * n firings in all."""
    marking = lpn.Marking(net)
    _common.items(marking, "source", range(int(count)))
    return marking
