"""The alignment that a GACT array makes of a tile, cell by cell as its RTL does.

Only the number of traceback steps matters for the clocks, but it follows from ties: where several
cells have the greatest score, which direction a cell keeps, how a traceback leaves a gap. All of
these depend on how rows are dealt to the elements, so `steps` repeats the RTL's choices. Names of
files and signals: yatisht/darwin, RTL/GACT, commit bc972d0.
"""

import dataclasses

import numpy

# The pointers of a cell, SmithWatermanPE.v.
ZERO, VERTICAL, HORIZONTAL, MATCH = 0, 1, 2, 3

# align_fields, GACTTop.v; bit 5 asks for the traceback.
REVERSE_REF, COMPLEMENT_REF, REVERSE_QUERY, COMPLEMENT_QUERY, START_LAST = 16, 8, 4, 2, 1

# Ascii2Nt.v: any other character is N.
_BASES = {"A": 1, "C": 2, "G": 3, "T": 4}
_COMPLEMENT = {0: 0, 1: 4, 2: 3, 3: 2, 4: 1}


@dataclasses.dataclass(frozen=True)
class Scores:
    """What the host writes to in_params, here one value for all matches and one for all others."""

    match: int = 1
    mismatch: int = -1
    gap_open: int = -1  # of the first base of a gap, instead of gap_extend
    gap_extend: int = -1


@dataclasses.dataclass(frozen=True)
class Array:
    """What the RTL was built with."""

    elements: int = 4  # NUM_PE
    tile: int = 512  # MAX_TILE_SIZE
    pe_width: int = 10  # PE_WIDTH, bits of a score


def check(array: Array, scores: Scores, ref_len: int, query_len: int) -> None:
    """Raises ValueError, with the reason, for what the array cannot align."""
    n = array.elements
    if n < 2 or n & (n - 1):
        raise ValueError(f"elements must be a power of two from 2 on, got {n}")
    if array.tile < 16 or array.tile & (array.tile - 1):
        raise ValueError(f"tile must be a power of two from 16 on, got {array.tile}")
    for name, length in (("reference", ref_len), ("query", query_len)):
        if not 1 <= length < array.tile:
            raise ValueError(
                f"the {name} has {length} bases; a tile of {array.tile} takes 1 to {array.tile - 1}"
            )
    # SmithWatermanArray.v: "ref_length should be greater than NUM_PE".
    if ref_len <= n:
        raise ValueError(f"the reference must have more bases than elements ({n}), got {ref_len}")
    # curr_query_len counts whole stripes in $clog2(MAX_TILE_SIZE) bits: it would never reach
    # query_length.
    if -(-query_len // n) * n >= array.tile:
        raise ValueError(
            f"{query_len} bases of query are {-(-query_len // n) * n} rows of whole stripes of "
            f"{n} elements; the array never ends from {array.tile} on"
        )
    lowest = -(2 ** (array.pe_width - 2))  # init_E; one penalty below it still fits
    for name in ("mismatch", "gap_open", "gap_extend"):
        if not lowest <= getattr(scores, name) <= 0:
            raise ValueError(f"{name} must be {lowest} to 0, got {getattr(scores, name)}")
    if scores.match < 1:
        raise ValueError(f"match must be 1 or more, got {scores.match}")


def check_score(array: Array, score: int, of: str) -> None:
    """Raises ValueError for a score that wraps round in an element."""
    highest = 2 ** (array.pe_width - 1) - 1
    if score > highest:
        raise ValueError(
            f"{of} a score of {score}; pe_width={array.pe_width} holds {highest}, the RTL wraps "
            "round beyond"
        )


def check_any(array: Array, scores: Scores, ref_len: int, query_len: int) -> None:
    """As check(), where the bases are not known: the best that there are have to fit, too."""
    check(array, scores, ref_len, query_len)
    bases = min(ref_len, query_len)
    check_score(array, scores.match * bases, f"{bases} bases and match={scores.match} may reach")


def steps(
    ref: str,
    query: str,
    array: Array,
    scores: Scores,
    fields: int,
    max_steps: int,
) -> tuple[int, bool]:
    """The direction pointers that the traceback emits, and whether its limit ended it.

    `fields` is align_fields, `max_steps` max_tb_steps. Raises ValueError as `check` does, and for
    scores that do not fit.
    """
    check(array, scores, len(ref), len(query))
    rows, ref_bases = _sequences(ref, query, array, fields)
    states, directions, best, greatest = _fill(rows, ref_bases, len(query), array, scores)
    check_score(array, greatest, "the sequences reach")
    if fields & START_LAST:
        element = (len(query) - 1) % array.elements
        address = (len(query) - 1) // array.elements * len(ref) + len(ref) - 1
        state = int(states[len(query) - 1, -1])
    else:
        element, address, state = best
    # max_H_offset and max_V_offset have one bit less than max_tb_steps (GACTTop.v).
    limit = max_steps % array.tile
    return _trace(states, directions, array.elements, element, address, state, limit)


def _codes(sequence, complement):
    codes = [_BASES.get(base, 0) for base in sequence.upper()]
    return [_COMPLEMENT[code] for code in codes] if complement else codes


def _sequences(ref, query, array, fields):
    """The bases of each row of elements, and of the reference, as they reach the array."""
    ref_bases = _codes(ref, fields & COMPLEMENT_REF)
    rows = _codes(query, fields & COMPLEMENT_QUERY)
    if fields & REVERSE_REF:
        ref_bases.reverse()
    if fields & REVERSE_QUERY:
        rows.reverse()
        # The last base is masked: its address less one wraps round, which is no address up to
        # query_length (GACTTop.v, query_array_in), unless the query fills the tile.
        if len(query) != array.tile - 1:
            rows[-1] = 0
    return rows, numpy.array(ref_bases)


def _fill(rows, ref_bases, used, array, scores):
    """Pointers of all cells, their gap bits, where the greatest score is (element, address and
    pointer), and that score. Row r is computed by element r % N in stripe r // N; the last stripe
    is whole.
    """
    n, width = array.elements, len(ref_bases)
    stripes = -(-used // n)
    total = stripes * n
    states = numpy.zeros((total, width), numpy.int8)
    directions = numpy.zeros((total, width), numpy.int8)  # 2: opens a horizontal gap; 1: a vertical
    columns = numpy.arange(width)
    above = numpy.zeros(width, numpy.int64)
    # F_in_0 of the first stripe is the gap_open on the wires when it starts: 0 once all bases are
    # loaded and more elements are left.
    gap_above = numpy.full(width, 0 if n > used else scores.gap_open, numpy.int64)
    most = [(0, 0, ZERO)] * n  # per element: max_V, max_ref_pos_out, max_pe_state_out
    for row in range(total):
        element = row % n
        live = row < used  # the other elements got parameters of 0
        gap_open, gap_extend = (scores.gap_open, scores.gap_extend) if live else (0, 0)
        base = rows[row] if live else 0
        # V_diag of the first column: 0, except that element 0 has seen the first score of the row
        # above, which waits at the output of the FIFO (V_intern_fifo).
        diagonal = numpy.concatenate(([above[0] if element == 0 else 0], above[:-1]))
        if base:
            reward = numpy.where(ref_bases == base, scores.match, scores.mismatch)
            diagonal = diagonal + numpy.where(ref_bases == 0, 0, reward)
        opened, extended = above + gap_open, gap_above + gap_extend
        vertical = numpy.maximum(opened, extended)
        without = numpy.maximum(numpy.maximum(vertical, diagonal), 0)
        # horizontal[j + 1] = max(V[j] + gap_open, horizontal[j] + gap_extend), where V[j] is
        # `without` or horizontal[j] itself.
        slope = max(gap_open, gap_extend)
        first = -(2 ** (array.pe_width - 2))  # init_E
        start = numpy.concatenate(([max(gap_open, first + gap_extend)], without[:-1] + gap_open))
        horizontal = numpy.maximum.accumulate(start - slope * columns) + slope * columns
        score = numpy.maximum(without, horizontal)
        left_opens = numpy.concatenate(([0], score[:-1])) + gap_open
        left_extends = numpy.concatenate(([first], horizontal[:-1])) + gap_extend
        directions[row] = 2 * (left_opens > left_extends) + (opened > extended)
        # SmithWatermanPE.v: zero first, then vertical, then horizontal, then the match.
        states[row] = numpy.select(
            [score <= 0, (vertical >= horizontal) & (vertical >= diagonal), horizontal >= diagonal],
            [ZERO, VERTICAL, HORIZONTAL],
            MATCH,
        )
        column = int(score.argmax())  # the first of equal ones
        if score[column] > most[element][0]:
            address = row // n * width + column
            most[element] = (int(score[column]), address, int(states[row, column]))
        above, gap_above = score, vertical
    # The reduction along the chain: an element wins only with more than those before it.
    greatest, best = 0, (0, 0, ZERO)
    for element, (value, address, state) in enumerate(most):
        if value > greatest:
            greatest, best = value, (element, address, state)
    return states, directions, best, greatest


def _trace(states, directions, n, element, address, state, limit):
    """BTLogic.v: the pointers it emits, and whether the limit of bases ended it."""
    width = states.shape[1]
    count = ref_bases = query_bases = 0
    while state != ZERO:
        count += 1
        ref_bases += state in (MATCH, HORIZONTAL)
        query_bases += state in (MATCH, VERTICAL)
        if ref_bases == limit or query_bases == limit:
            return count, True
        bits = directions[address // width * n + element, address % width]
        # next_addr <= reg_ref_length takes the first column of the second stripe for the first.
        top = element == 0 and address <= width
        if state == MATCH:
            if top or address % width == 0:
                return count, False
            address -= width + 1 if element == 0 else 1
            element = (element - 1) % n
            state = int(states[address // width * n + element, address % width])
        elif state == VERTICAL:
            if top:
                return count, False
            address -= width if element == 0 else 0
            element = (element - 1) % n
            state = MATCH if bits & 1 else VERTICAL  # never what the cell above says itself
        else:
            if address % width == 0:
                return count, False
            address -= 1
            state = MATCH if bits & 2 else HORIZONTAL
    return count, False
