"""All programs of one form: steps of load, multiply, store, whose sizes are open."""

import lpn

# pop_prev, pop_next, push_prev, push_next of an instruction; finish of a compute instruction.
_POP_PREV, _POP_NEXT, _PUSH_PREV, _PUSH_NEXT, _FINISH = 1, 2, 4, 8, 64


def space(
    net: lpn.Net, steps: int = 2, beats: int = 256, cycles: int = 256, elements: int = 64
) -> lpn.InputSpace:
    """Every program of so many steps: load a tensor, multiply, store the result, one after the
    other in each unit; load and multiply of different steps overlap with a buffer of two.

    steps: 1 to 40. The variables are, for each step: beats of the load, 2 to `beats` (at most 256:
    one burst); cycles of the multiplication, 1 to `cycles`; elements stored, 1 to `elements` (at
    most 128: one burst). Latencies of memory are those of the net.
    """
    for name, value, low, high in (
        ("steps", steps, 1, 40),
        ("beats", beats, 2, 256),
        ("cycles", cycles, 1, 2**20),
        ("elements", elements, 1, 128),
    ):
        if not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"{name} must be {low}..{high}, got {value}")
    result = lpn.InputSpace(net)
    # Per step: load, multiply, store; a sync and the finish on the compute unit end the program.
    result.tokens("chunks", 1, instructions=3 * steps + 2)
    units = [0, 1, 2] * steps + [1]
    result.tokens(
        "order",
        len(units),
        unit=units,
        instructions=[1] * 3 * steps + [2],
        last=lambda i: i == len(units) - 1,
    )
    result.tokens(
        "load_program",
        steps,
        flags=lambda i: _PUSH_NEXT + (_POP_NEXT if i >= 2 else 0),
        bursts=1,
        beats=(2, beats),
        waits=0,
        ahead=0,
        rows_above=0,
    )
    # A multiplication takes 6 cycles more, and one until the unit is idle (kPipeline of native/tokens.cc).
    ends = [(0, 2), (_FINISH, 2)]
    run = [result.integer(f"multiply{i}", 1, cycles) for i in range(steps)]
    last_posts = _POP_NEXT  # of the last store
    flags = [
        _POP_PREV + _PUSH_NEXT + (_PUSH_PREV if i + 2 < steps else 0) for i in range(steps)
    ] + [last_posts, _FINISH]
    result.tokens(
        "compute_program",
        steps + len(ends),
        flags=flags,
        cycles=[7 + x for x in run] + [2, 2],
    )
    stored = [result.integer(f"stored{i}", 1, elements) for i in range(steps)]
    result.tokens(
        "store_program",
        steps,
        flags=lambda i: _POP_PREV + (_PUSH_PREV if i == steps - 1 else 0),
        beats=[3 * x - 1 for x in stored],
        bursts=1,
    )
    return result
