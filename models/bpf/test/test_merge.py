"""Merging at resolutions: Figure 2 of the NSDI'22 paper, and small trees."""

import pytest

from models.bpf.merge import Leaf, Merging, leaves_of, threshold


class Decision:
    def __init__(self, condition, yes, no):
        self.condition, self.yes, self.no = condition, yes, no


def either(c, holds, d, also):
    return f"({c if holds else 'not ' + c} or {d if also else 'not ' + d})"


def exact(cost, **terms):
    return Leaf(cost, cost, terms)


def figure():
    """Figure 1 and Table 1 of the paper: a bridge's paths with what they cost at 0 evictions, 0
    stale entries.
    """
    evicted = {"n_evictions": 80, "occ*rehashing": 120}

    def destination(fast, slow, flood, terms):
        inner = Decision("slow(dst)", exact(slow, **terms), exact(flood, **terms))
        return Decision("fast(dst)", exact(fast, **terms), inner)

    known = destination(235, 285, 425, {})
    new = destination(275, 325, 465, evicted)
    return Decision("invalid", exact(46, n_stale=60), Decision("slow(src)", known, new))


def test_the_papers_figure():
    found = Merging("half", either).all(figure())
    assert [r for r, _ in found] == [1, 20, 45, 115, 210]
    assert [len(list(leaves_of(tree))) for _, tree in found] == [7, 4, 3, 2, 1]
    at_45 = found[2][1]
    assert at_45.no.condition == "(fast(dst) or slow(dst))"
    values = [[leaf.value for leaf in leaves_of(tree)] for _, tree in found]
    assert values[1:] == [[46, 255, 305, 445], [46, 280, 445], [46, 350], [255]]
    merged = next(iter(leaves_of(found[3][1].no)))
    assert merged.terms == {"n_evictions": 80, "occ*rehashing": 120}


def test_the_released_scripts_rule():
    assert [r for r, _ in Merging("full", either).all(figure())] == [1, 41, 91, 231, 420]


@pytest.mark.parametrize(
    "low, high, half, full", [(5, 5, 1, 1), (5, 6, 1, 2), (5, 8, 2, 4), (5, 9, 2, 5)]
)
def test_thresholds(low, high, half, full):
    assert (threshold(low, high, "half"), threshold(low, high, "full")) == (half, full)


def test_resolution_1_is_exact_and_2_merges_neighbours():
    found = Merging("half", either).all(Decision("a", exact(5), Decision("b", exact(6), exact(5))))
    assert [[(x.low, x.high) for x in leaves_of(tree)] for _, tree in found] == [
        [(5, 5), (6, 6)],
        [(5, 6)],
    ]
    assert found[0][1].condition == "(a or not b)"
    assert found[1][0] == 2


def test_no_packet_is_off_by_more_than_the_resolution():
    costs = [3, 50, 7, 7, 120, 9, 64, 65]
    tree = exact(1)
    for k, cost in enumerate(costs):
        tree = Decision(f"c{k}", exact(cost), tree)
    for r, merged in Merging("half", either).all(tree):
        for leaf in leaves_of(merged):
            assert max(leaf.high - leaf.value, leaf.value - leaf.low) <= max(r, 0)
