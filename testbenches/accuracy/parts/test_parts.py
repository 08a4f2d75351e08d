"""Parts of lpn.lib with random parameters and inputs, against independent.py, and joined at random
(boards.py), on every engine.

    LPN_SLOW=1 pytest testbenches/accuracy/parts      thousands, and more of them compiled
"""

import os
import random

import boards
import cases
import pytest
from lpn.runs import prepare

SLOW = bool(os.environ.get("LPN_SLOW"))
SEED = 20261123
INTERPRETED = 2000 if SLOW else 60
COMPILED = 12 if SLOW else 1


def run(case, net, marking, engine):
    done = [place.name for place in net.core.places if place.done]
    ready = prepare(net, marking, engine=engine)
    return cases.came_out(case, net, ready.run(collect=done).collected)


@pytest.mark.parametrize("case", cases.CASES, ids=lambda case: case.__name__)
def test_as_its_page_says(case):
    for number in range(INTERPRETED):
        draw = random.Random(f"{SEED} {case.__name__} {number}")
        net, marking, expected = case(draw)
        got = run(case, net, marking, "interp")
        assert got == sorted(expected), f"case {number}"
        if number < COMPILED:
            assert run(case, net, marking, "compiled") == got, f"case {number}, compiled"


def test_boards_answer_everything_once():
    """What comes out of parts joined at random, on every engine."""
    for number in range(INTERPRETED):
        net, marking, expected = boards.board(f"{SEED} board {number}")
        for engine in ("interp", *(["compiled"] if number < COMPILED else [])):
            run = prepare(net, marking, engine=engine).run(collect=list(expected))
            assert not run.stalled, f"board {number}: {run.blocked}"
            for place, rows in expected.items():
                values, _ = run.collected[place]
                width = len(net[place].fields)
                came = zip(*[iter(values)] * width)
                assert sorted(came) == rows, f"board {number}, {engine}: {place}"
