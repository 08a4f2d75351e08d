"""Steps of a traceback: against a loop over cells, and the array's ways one by one."""

import random

import pytest

from models.darwin.align import (
    COMPLEMENT_QUERY,
    COMPLEMENT_REF,
    REVERSE_QUERY,
    REVERSE_REF,
    START_LAST,
    Array,
    Scores,
    steps,
)

TRACEBACK = 32
COMPLEMENT = str.maketrans("ACGT", "TGCA")


def count(ref, query, elements=4, fields=TRACEBACK, scores=Scores(), most=400):
    return steps(ref, query, Array(elements), scores, fields, most)


def cell_by_cell(ref, query, n, scores):
    """(steps, limited): the same array as one loop over its cells, for N of bases A, C, G, T."""
    width, stripes = len(ref), -(-len(query) // n)
    state, opens, most = {}, {}, [(0, None)] * n
    above, gap_above = [0] * width, [0 if n > len(query) else scores.gap_open] * width
    for row in range(stripes * n):
        live = row < len(query)
        gap_open, gap_extend = (scores.gap_open, scores.gap_extend) if live else (0, 0)
        left, gap_left = 0, -256
        diagonal = above[0] if row % n == 0 else 0
        scored, gaps = [], []
        for column, base in enumerate(ref):
            known = live and base in "ACGT" and query[row] in "ACGT"
            reward = (scores.match if base == query[row] else scores.mismatch) if known else 0
            across = max(left + gap_open, gap_left + gap_extend)
            down = max(above[column] + gap_open, gap_above[column] + gap_extend)
            opens[row, column] = (
                left + gap_open > gap_left + gap_extend,
                above[column] + gap_open > gap_above[column] + gap_extend,
            )
            score = max(0, across, down, diagonal + reward)
            if score == 0:
                state[row, column] = 0
            elif down == score:
                state[row, column] = 1
            else:
                state[row, column] = 2 if across == score else 3
            if score > most[row % n][0]:
                most[row % n] = score, (row, column)
            diagonal, left, gap_left = above[column], score, across
            scored.append(score)
            gaps.append(down)
        above, gap_above = scored, gaps
    best = max(value for value, _ in most)
    row, column = next((at for value, at in most if value == best), None) or (0, 0)
    found = 0
    now = state[row, column] if best else 0
    while now:
        found += 1
        edge = row == 0 or row == n and column == 0  # the array takes row N, column 0 for the edge
        if now in (2, 3) and column == 0 or now in (1, 3) and edge:
            break
        opened = opens[row, column]
        row, column = row - (now in (1, 3)), column - (now in (2, 3))
        if now == 3:
            now = state[row, column]
        elif opened[1 if now == 1 else 0]:
            now = 3
    return found, False


@pytest.mark.parametrize("seed", range(40))
def test_as_cell_by_cell(seed):
    draw = random.Random(seed)
    n = draw.choice([2, 4, 8])
    scores = draw.choice([Scores(), Scores(2, -3, -5, -1), Scores(1, -1, -1, -2), Scores(3, -1, 0)])
    letters = draw.choice(["AC", "ACGT", "ACGTN"])
    query = "".join(draw.choice(letters) for _ in range(draw.randint(1, 40)))
    kept = "".join(b if draw.random() < 0.8 else draw.choice(letters) for b in query)
    ref = (kept + "".join(draw.choice(letters) for _ in range(draw.randint(n, 20))))[n // 2 :]
    if len(ref) <= n:
        ref += "A" * n
    assert count(ref, query, n, scores=scores) == cell_by_cell(ref, query, n, scores)


def test_equal_sequences_take_a_step_per_base():
    assert count("ACGTTGCA" * 4, "ACGTTGCA" * 4) == (32, False)


def test_nothing_in_common_takes_none():
    assert count("A" * 20, "C" * 20) == (0, False)


def test_complement_and_reverse_are_those_of_the_sequences():
    draw = random.Random(7)
    ref = "".join(draw.choice("ACGT") for _ in range(60))
    query = ref[5:48] + "GATTACA"
    plain = count(ref, query)
    other = ref.translate(COMPLEMENT)
    assert count(other, query, fields=TRACEBACK | COMPLEMENT_REF) == plain
    assert count(ref, query.translate(COMPLEMENT), fields=TRACEBACK | COMPLEMENT_QUERY) == plain
    assert count(ref[::-1], query, fields=TRACEBACK | REVERSE_REF) == plain


def test_a_reversed_query_loses_the_base_that_comes_last():
    ref = "CCGATTACAGATTACAGG"
    query = ref[::-1]  # reversed by the array it is the reference again, but for its last base
    assert count(ref, query, fields=TRACEBACK | REVERSE_QUERY) == count(ref, ref[:-1] + "N")
    assert count(ref, ref) == (18, False)


def test_start_last_begins_in_the_last_cell():
    assert count("ACGTACGT", "ACGTACG", fields=TRACEBACK | START_LAST)[0] == 8
    assert count("ACGTACGT", "ACGTACG")[0] == 7


def test_the_limit_counts_bases_of_either_sequence():
    same = "ACGTTGCA" * 4
    assert count(same, same, most=31) == (31, True)
    assert count(same, same, most=32) == (32, True)  # both end with the 32nd base
    assert count(same, same, most=33) == (32, False)
    assert count(same, same, most=512 + 31) == (31, True)  # one bit less than max_tb_steps


def test_ties_go_to_the_earlier_element():
    """Score 4 twice: four matches that end in row 3, and five with a mismatch that end in row 9. Of
    4 elements these are 3 and 1, so that the array starts in row 9; of 16 it starts in row 3.
    """
    ref, query = "GGAGGGCCACGTCCCCC", "ACGT" + "GGTGGG"
    assert count(ref, query, 4) == (6, False)
    assert count(ref, query, 16) == (4, False)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"elements": 3}, "elements must be a power of two"),
        ({"elements": 32}, "the reference must have more bases than elements"),
        ({"query": "A" * 512}, "a tile of 512 takes 1 to 511"),
        ({"query": ""}, "the query has 0 bases"),
        ({"query": "A" * 510, "ref": "A" * 500}, "the array never ends"),
        ({"scores": Scores(gap_open=1)}, "gap_open must be -256 to 0"),
        ({"scores": Scores(match=0)}, "match must be 1 or more"),
        ({"scores": Scores(match=30)}, "the sequences reach a score of 600; pe_width=10 holds 511"),
    ],
)
def test_what_the_array_cannot_align_is_refused(change, words):
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        count(**{"ref": "ACGTACGTACGTACGTACGT", "query": "ACGTACGTACGTACGTACGT", **change})


def test_scores_count_where_they_are_reached():
    """Twenty matches would be 600, but there are two in a row at most."""
    assert count("AC" * 10, "GGAC" * 5, scores=Scores(match=30, mismatch=-30, gap_open=-60)) == (
        2,
        False,
    )
