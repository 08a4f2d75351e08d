"""Four stages with two-entry buffers between them.

Described in ../README.md; with 1 000 000 items the last commit is at 14 437 999 and there are
4 000 000 firings.
"""

import lpn

import _common


def net() -> lpn.Net:
    """The pipeline. A buffer's credits are places of their own, as in the other tools compared."""
    net = lpn.Net("pipe4")
    source = net.place("source", _common.Item, start=True)
    buffers = [net.place(f"b{k}", _common.Item) for k in (1, 2, 3)]
    sink = net.place("sink", _common.Item, sink=True)
    credits = [net.place(f"c{k}", init=2) for k in (1, 2, 3)]
    items = [source, *buffers, sink]
    for k, (base, shift) in enumerate([(3, 0), (2, 8), (4, 16), (1, 4)]):
        _common.stage(
            net,
            f"t{k}",
            base,
            shift,
            15,
            take=[items[k]] + credits[k : k + 1],
            put=[items[k + 1]] + (credits[k - 1 : k] if k else []),
        )
    return net


def workload(count, net: lpn.Net) -> lpn.Marking:
    """`count`: items, an int or its digits; 4 * count firings."""
    marking = lpn.Marking(net)
    _common.items(marking, "source", range(int(count)))
    return marking
