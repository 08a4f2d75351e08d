"""All programs of one form: steps of load, multiply, store, whose sizes are open; or those like one."""

import numpy

import lpn
from models.vta import files, isa
from models.vta.tokens import columns

_PIPELINE = 7  # clocks of a multiplication beside its loops (kPipeline of native/tokens.cc)
# pop_prev, pop_next, push_prev, push_next of an instruction; finish of a compute instruction.
_POP_PREV, _POP_NEXT, _PUSH_PREV, _PUSH_NEXT, _FINISH = 1, 2, 4, 8, 64


def space(
    net: lpn.Net,
    steps: int = 2,
    beats: int = 256,
    cycles: int = 256,
    elements: int = 64,
    like: str = None,
) -> lpn.InputSpace:
    """Every program of so many steps, or every one like that in a file.

    Steps: load a tensor, multiply, store the result, one after the
    other in each unit; load and multiply of different steps overlap with a buffer of two.

    Like a file: the same instructions in the same order with the same flags; those that are of one
    size in the file, as tiles of a loop are, are of one size in all. Loads of several bursts and
    those of the compute unit are as in the file.

    steps: 1 to 40; without meaning where `like` is given.
    beats, cycles, elements: the variables are, for each step or size: beats of the load, 2 to
    `beats` (at most 256: one burst); cycles of the multiplication, 1 to `cycles`; elements of a row
    that is stored, 1 to `elements` (at most 128: one burst); of a file at least what it has.
    Latencies of memory are those of the net.
    like: a program, as `lpn sim vta` reads them.
    """
    for name, value, low, high in (
        ("steps", steps, 1, 40),
        ("beats", beats, 2, 256),
        ("cycles", cycles, 1, 2**20),
        ("elements", elements, 1, 128),
    ):
        if not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"{name} must be {low}..{high}, got {value}")
    if like is not None:
        return _like(net, files.read(like), beats, cycles, elements)
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
        cycles=[_PIPELINE + x for x in run] + [2, 2],
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


def _like(net, program, beats, cycles, elements):
    """Every program of the form of one; see space()."""
    tokens = {
        place: {name: [int(value) for value in values] for name, values in of.items()}
        for place, of in columns(*program).items()
    }
    result = lpn.InputSpace(net)
    sizes = {}

    def variable(what, size, low, most):
        """The one for all that are of this size in the file, which is in its range."""
        if (what, size) not in sizes:
            number = sum(kind == what for kind, _ in sizes)
            sizes[what, size] = result.integer(f"{what}{number}", low, max(low, most, size))
        return sizes[what, size]

    loads = tokens.get("load_program", {"bursts": []})
    bursts = iter(range(len(tokens.get("load_bursts", {"beats": []})["beats"])))
    for k, (memory, number) in enumerate(zip(_memories(program[0]), loads["bursts"])):
        # A load of which each burst is a token has no beats of its own.
        column, where = loads, k
        if number and not loads["beats"][k]:
            column = tokens["load_bursts"]
            where = [next(bursts) for _ in range(number)][0]
        if number == 1:
            column["beats"][where] = variable(memory, column["beats"][where], 2, beats)
    runs = tokens["compute_program"]["cycles"]
    for k, size in enumerate(runs):
        if size > _PIPELINE:
            runs[k] = _PIPELINE + variable("multiply", size - _PIPELINE, 1, cycles)
    stores = tokens.get("store_program", {"beats": [], "bursts": []})
    for k, (size, rows) in enumerate(zip(stores["beats"], stores["bursts"])):
        # A row is a burst of three clocks an element but for the last, which takes two.
        if rows and not (size + rows) % (3 * rows):
            own = (size // rows + 1) // 3
            stores["beats"][k] = rows * (3 * variable("stored", own, 1, elements) - 1)
    for place, of in tokens.items():
        result.tokens(place, len(next(iter(of.values()))), **of)
    return result


def _memories(words):
    """What each instruction of the load unit loads, as a name of a variable."""
    op, memory = (isa.field(numpy.ascontiguousarray(words.T), "memory", n) for n in ("op", "mem"))
    names = {isa.INP: "inputs", isa.WGT: "weights"}
    return [
        names[m] for o, m in zip(op.tolist(), memory.tolist()) if o == isa.LOAD_OP and m in names
    ]
