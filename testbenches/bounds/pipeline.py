"""A pipeline of stages with bounded buffers between them, shaped like a JPEG decoder.

    blocks -> stage_0 -> [buffer_0] -> stage_1 -> ... -> done

A stage works on one block at a time, slope * x + constant cycles. A buffer holds `capacity` blocks,
counted from the start of the stage before it to the end of the stage behind it. So with capacity 2
block i starts in stage j when it has left stage j - 1, block i - 1 has left stage j, and block
i - 2 has left stage j + 1:

    t[i][j] = max(t[i][j-1], t[i-1][j], t[i-2][j+1]) + slope[j] * x[i] + constant[j]

The default is the pipeline whose bounds other methods were timed on.
"""

import lpn

SLOPES = (3, 0, 1, 0)
CONSTANTS = (6, 66, 40, 65)
CAPACITY = 2


class Block(lpn.Token):
    x: lpn.Int[0, 2**20]


def net(stages: int = None, slopes=SLOPES, constants=CONSTANTS, capacities=None) -> lpn.Net:
    """The pipeline. Its parameters are slope0, constant0, capacity0, slope1, ...

    stages: how many; default: as many as `slopes`. Lists that are shorter repeat their last entry.
    capacities: of the buffers, one less than stages; default 2 each.
    """
    stages = len(slopes) if stages is None else stages
    capacities = (CAPACITY,) if capacities is None else capacities
    net = lpn.Net("pipeline")

    def entry(values, name, j, least):
        value = values[j] if j < len(values) else values[-1]
        return net.param(f"{name}{j}", value, range=(least, 2**20))

    waiting = net.place("blocks", Block, start=True)
    for j in range(stages):
        slope = entry(slopes, "slope", j, 0)
        constant = entry(constants, "constant", j, 0)
        last = j == stages - 1
        leaving = (
            net.place("left", done=True)
            if last
            else net.place(f"buffer_{j}", Block, capacity=entry(capacities, "capacity", j, 1))
        )
        net.transition(
            f"stage_{j}",
            take={"blk": waiting},
            put=[leaving if last else leaving.forward("blk")],
            delay=lambda blk, slope=slope, constant=constant: slope * blk.x + constant,
            servers=1,
        )
        waiting = leaving
    return net


def space(net: lpn.Net, blocks: int = 18, budget: int = None, most: int = 63) -> lpn.InputSpace:
    """So many blocks with x in 0..most each, and all x together at most the budget.

    budget: default 18 per block.
    """
    space = lpn.InputSpace(net)
    waiting = space.tokens("blocks", blocks, x=(0, most))
    space.require(
        lpn.total(blk.x for blk in waiting) <= (18 * blocks if budget is None else budget)
    )
    return space
