"""Clocks of Darwin's GACT array, which aligns a reference and a query tile (commit bc972d0).

    tiles -> begin -> stripes -> load -> loaded -> stream -> streamed -> reduce -> traced back
                         ^                          |          -> trace -> write_back -> done
                         +------- array ------------+

A token is a tile, and inside the array a stripe: as many rows of the query as there are elements.
Times are clocks; clock 0 samples `start`, and `latency` is that in which `done` rises. Sources:
files and signals of RTL/GACT; the sum agrees with ../shared/truth/darwin/RTL_FACTS.md.
"""

import lpn
from lpn.runs import decimal

from . import align, pairs


class Tile(lpn.Token):
    """A reference and a query, by what the clocks depend on."""

    ref_len: lpn.Int[1, 2**16]  # bases
    query_len: lpn.Int[1, 2**16]  # bases
    traceback: bool  # align_fields bit 5
    steps: lpn.Int[0, 2**17]  # direction pointers of the traceback; align.py counts them
    limited: bool  # max_tb_steps ended the traceback, not a zero or the edge


class Stripe(lpn.Token):
    """Rows of the query, one per element; the last stripe of a tile has idle elements."""

    ref_len: lpn.Int[1, 2**16]  # bases


def net() -> lpn.Net:
    """The array. `elements`, `tile` and `pe_width` are NUM_PE, MAX_TILE_SIZE and PE_WIDTH of the
    build; the others are registers. -1 leaves `align_fields` and `max_tb_steps` to the input, else
    32 and 400, as in the core's test bench. `load_sequences`: 1 counts writing the bases too.
    """
    net = lpn.Net("darwin")
    elements = net.param("elements", 4, range=(2, 4096))
    tile_size = net.param("tile", 512, range=(16, 2**16))
    align_fields = net.param("align_fields", -1, range=(-1, 63))
    max_tb_steps = net.param("max_tb_steps", -1, range=(-1, 2**17 - 1))
    load_sequences = net.param("load_sequences", 0, range=(0, 1))
    # These decide the steps, which are counted before the run (align.py); the net says what it is
    # for.
    pe_width = net.param("pe_width", 10, range=(4, 32))
    match = net.param("match", 1)
    penalties = [net.param(name, -1) for name in ("mismatch", "gap_open", "gap_extend")]

    tiles = net.place("tiles", Tile, start=True)
    ready = net.place("ready", init=1, sink=True)  # GACTTop.v, state READY
    current = net.place("current", Tile, drain=True)
    array = net.place("array", init=1, sink=True)  # SmithWatermanArray.v: one stripe at a time
    stripes = net.place("stripes", Stripe, drain=True)
    loaded = net.place("loaded", Stripe, drain=True)
    streamed = net.place("streamed", drain=True)
    reduced = net.place("reduced", Tile, drain=True)
    traced = net.place("traced", Tile, drain=True)
    clearing = net.place("clearing", drain=True)
    done = net.place("done", done=True, sink=True)

    def stripes_of(tile):
        return lpn.ceil_div(tile.query_len, elements)

    def begin_clocks(tile):
        assert elements & (elements - 1) == 0, "the number of elements is a power of two"
        assert tile.ref_len > elements, "the reference has more bases than there are elements"
        assert tile.ref_len < tile_size, "the reference fits a tile"
        assert stripes_of(tile) * elements < tile_size, "the stripes of the query fit a tile"
        assert match >= 1 and all(p <= 0 for p in penalties), "only a match scores above 0"
        assert all(p >= -(2 ** (pe_width - 2)) for p in penalties), "penalties fit"
        assert align_fields < 0 or tile.traceback == (align_fields >> 5 & 1), "as align_fields says"
        assert max_tb_steps < 0 or tile.steps < 2 * tile_size, "as max_tb_steps says"
        # GACTTop.v: 8 bases per word, both ports at once; then ARRAY_START, and in the array WAIT
        # and READ_PARAM_FIFO.
        words = lpn.ceil_div(max(tile.ref_len, tile.query_len), 8)
        return load_sequences * words + 3

    net.transition(
        "begin",
        take={"tile": tiles, "ready": ready},
        put=[
            current.forward("tile"),
            stripes.emit(count=stripes_of, ref_len=lambda tile: tile.ref_len),
        ],
        delay=begin_clocks,
        servers=1,
    )
    # SmithWatermanArray.v, SET_PARAM: one element per clock, idle ones too.
    net.transition(
        "load",
        take={"stripe": stripes, "array": array},
        put=[loaded.forward("stripe")],
        delay=elements,
        servers=1,
    )
    # STREAM_REF_START, STREAM_REF with one base per clock, STREAM_REF_STOP. The last elements work
    # on while the next stripe is loaded.
    net.transition(
        "stream",
        take={"stripe": loaded},
        put=[streamed.emit(), array.emit()],
        delay=lambda stripe: stripe.ref_len + 2,
        servers=1,
    )
    # STREAM_REF_DONE and COMPUTE_MAX_START, then one element per clock and a register.
    net.transition(
        "reduce",
        take={"tile": current, "all": streamed.take(stripes_of)},
        put=[reduced.forward("tile")],
        delay=elements + 3,
        servers=1,
    )

    def trace_clocks(tile):
        # BTLogic.v: BLOCK1, BLOCK2 and CALC per pointer, and for the zero that ends it unless the
        # limit does. The array's BT_START is the first BLOCK1.
        return 3 * tile.steps + (0 if tile.limited else 3) if tile.traceback else 0

    net.transition(
        "trace",
        take={"tile": reduced},
        put=[traced.forward("tile")],
        delay=trace_clocks,
        servers=1,
    )
    # BTLogic.v DONE where there was a traceback, SmithWatermanArray.v DONE, GACTTop.v BLOCK.
    net.transition(
        "write_back",
        take={"tile": traced},
        put=[done.emit(), clearing.emit()],
        delay=lambda tile: 3 if tile.traceback else 2,
        servers=1,
    )
    # GACTTop.v: with clear_done high the next start can be sampled one clock after `done`.
    net.transition("clear", take={"x": clearing}, put=[ready.emit()], delay=1, servers=1)
    return net


def workload(input_path, net: lpn.Net) -> lpn.Marking:
    """The tiles of an input, one after the other (pairs.py says how inputs are written).

    Raises OSError when a file cannot be read and ValueError, with the reason, for what is no pair
    of sequences or does not fit the array.
    """
    values = {**net.params, **net.bound}
    array = align.Array(values["elements"], values["tile"], values["pe_width"])
    scores = align.Scores(*(values[n] for n in ("match", "mismatch", "gap_open", "gap_extend")))
    marking = lpn.Marking(net)
    for pair in pairs.read(input_path):
        fields = values["align_fields"] if values["align_fields"] >= 0 else pair.align_fields
        most = values["max_tb_steps"] if values["max_tb_steps"] >= 0 else pair.max_tb_steps
        traceback = fields >> 5 & 1
        try:
            if traceback and pair.steps is None:
                count, limited = align.steps(pair.ref, pair.query, array, scores, fields, most)
            else:
                align.check_any(array, scores, pair.ref_len, pair.query_len)
                count, limited = pair.steps if traceback else (0, False)
        except ValueError as error:
            raise ValueError(f"{pair.name}: {error}") from None
        marking.add(
            "tiles",
            ref_len=pair.ref_len,
            query_len=pair.query_len,
            traceback=traceback,
            steps=count,
            limited=limited,
        )
    return marking


def space(
    net: lpn.Net,
    tiles: int = 1,
    query_len: int = 320,
    query_shortest: int = None,
    ref_len: int = 320,
    ref_shortest: int = None,
    gaps: int = 32,
    traceback: bool = True,
) -> lpn.InputSpace:
    """Every pair of sequences of these lengths, by how its traceback runs.

    The variables are the lengths and, of the tracebacks, the matches (with mismatches) and gap
    bases; whatever pair of sequences has such a traceback is in the space.

    tiles: pairs, one after the other.
    query_len: most bases of a query.
    query_shortest: fewest bases of a query; default: exactly query_len, as `lpn pi` needs.
    ref_len: most bases of a reference.
    ref_shortest: fewest bases of a reference; default: exactly ref_len.
    gaps: most gap bases in a traceback.
    traceback: 0: none is asked for.
    """
    values = {**net.params, **net.bound}
    array = align.Array(values["elements"], values["tile"], values["pe_width"])
    query_shortest = query_len if query_shortest is None else query_shortest
    ref_shortest = ref_len if ref_shortest is None else ref_shortest
    if query_shortest > query_len or ref_shortest > ref_len or tiles < 1 or gaps < 0:
        raise ValueError(
            "the shortest must not be above the longest, tiles 1 or more, gaps 0 or more"
        )
    fields = values["align_fields"]
    if fields >= 0 and bool(fields >> 5 & 1) != bool(traceback):
        asked = int(not traceback)
        raise ValueError(
            f"align_fields={fields} asks for {'a' if asked else 'no'} traceback; write --space "
            f"traceback={asked}, or leave align_fields out"
        )
    for lengths in ((ref_shortest, query_shortest), (ref_len, query_len)):
        align.check_any(array, align.Scores(match=values["match"]), *lengths)
    limit = values["max_tb_steps"] if values["max_tb_steps"] >= 0 else pairs.MAX_TB_STEPS
    limit = limit % array.tile
    if traceback and limit == 0:
        raise ValueError("max_tb_steps must not be 0 or a multiple of tile in a space")
    space = lpn.InputSpace(net)
    shown = space.tokens(
        "tiles",
        tiles,
        ref_len=(ref_shortest, ref_len),
        query_len=(query_shortest, query_len),
        traceback=int(traceback),
        steps=(0, ref_len + query_len) if traceback else 0,
        limited=(0, 1) if traceback else 0,
    )
    if not traceback:
        return space
    matched = space.integers("matched", tiles, 0, min(ref_len, query_len))
    in_ref = space.integers("in_ref", tiles, 0, min(gaps, ref_len))
    in_query = space.integers("in_query", tiles, 0, min(gaps, query_len))
    for tile, both, ref_only, query_only in zip(shown, matched, in_ref, in_query):
        space.require(tile.steps == both + ref_only + query_only)
        space.require(ref_only + query_only <= gaps)
        space.require(both + ref_only <= tile.ref_len)
        space.require(both + query_only <= tile.query_len)
        # The limit ends the traceback with the first base that reaches it.
        most = lpn.max(both + ref_only, both + query_only)
        space.require(most <= limit)
        space.require((tile.limited == 1) == (most == limit))
    return space


def truth(row: dict) -> tuple[str, dict, int]:
    """A row of a cycles.csv measured on the RTL: pair, parameters of the net, cycles."""
    parameters = {
        "elements": decimal(row["num_pe"]),
        "max_tb_steps": decimal(row["max_tb_steps"]),
        "align_fields": decimal(row["align_fields"]),
    }
    return pairs.entry_of(row), parameters, decimal(row["cycles"])
