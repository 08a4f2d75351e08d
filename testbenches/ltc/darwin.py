"""The reference toolchain's Darwin: a genome aligner's GACT array, as one transition.

The array fills a matrix of reference by query with four processing elements, then traces back. The
reference divides by 4 in real numbers; a delay is a whole number of cycles here, so this net rounds
down, which makes no difference for the query lengths that the array takes (multiples of 4).
"""

import lpn


class Pair(lpn.Token):
    ref_len: lpn.Int[1, 2**20]  # bases
    query_len: lpn.Int[1, 2**20]
    steps: lpn.Int[0, 2**21]  # of the trace back


def net() -> lpn.Net:
    """The aligner."""
    net = lpn.Net("ltc_darwin")
    pairs = net.place("pairs", Pair, start=True)
    aligned = net.place("aligned", done=True)
    net.transition(
        "align",
        take={"pair": pairs},
        put=[aligned.emit()],
        delay=lambda pair: (pair.ref_len + 4 + 2) * pair.query_len // 4 + 4 + 2 + 3 * pair.steps,
        servers=1,
    )
    return net


def space(net: lpn.Net, bases: int = 320, steps: int = 640) -> lpn.InputSpace:
    """Every pair of at most so many bases each, with at most so many steps back."""
    space = lpn.InputSpace(net)
    space.tokens("pairs", 1, ref_len=(1, bases), query_len=(1, bases), steps=(0, steps))
    return space


def workload(steps, net: lpn.Net) -> lpn.Marking:
    """A pair of 320 bases with `steps` steps back, as the reference runs it, whatever the files
    hold.
    """
    marking = lpn.Marking(net)
    marking.add("pairs", ref_len=320, query_len=320, steps=int(steps))
    return marking
