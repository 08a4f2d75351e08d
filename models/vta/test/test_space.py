"""Spaces of programs: steps, and programs like one in a file."""

import json

import pytest
from conftest import DEMO

lpn = pytest.importorskip("lpn")

# Two tiles of the same sizes, one after the other, and a third of another size.
STEP = [
    {"k": "inp", "x": 16},
    {"k": "wgt", "x": 1, "push_next": 1},
    {"k": "gemm", "ub": 0, "ue": 1, "lp0": 4, "lp1": 4, "pop_prev": 1, "push_prev": 1},
]
LAST = {"k": "gemm", "ub": 0, "ue": 1, "lp0": 2, "lp1": 4, "pop_prev": 1, "push_next": 1}
TILES = [
    *STEP,
    {"k": "inp", "x": 16, "pop_next": 1},
    *STEP[1:],
    {"k": "inp", "x": 8, "pop_next": 1},
    STEP[1],
    LAST,
    {"k": "out", "x": 8, "y": 2, "pop_prev": 1, "push_prev": 1},
    {"k": "csync", "pop_next": 1},
    {"k": "fin"},
]


@pytest.fixture
def tiles(tmp_path):
    path = tmp_path / "tiles.json"
    path.write_text(json.dumps(TILES))
    return str(path)


def test_the_worst_of_two_steps(vta):
    found = lpn.maximize(vta.space(vta.net(), steps=2))
    assert found.lower == found.upper == 1083


def test_sizes_that_are_alike_in_the_file_stay_alike(vta, tiles):
    net = vta.net()
    space = vta.space(net, like=tiles, beats=64, cycles=16, elements=4)
    # At least the file's: 8 elements of a row are stored.
    assert [(v.name, v.lo, v.hi) for v in space.variables] == [
        ("inputs0", 2, 64),
        ("weights0", 2, 64),
        ("inputs1", 2, 64),
        ("multiply0", 1, 16),
        ("multiply1", 1, 16),
        ("stored0", 1, 8),
    ]
    own = {"inputs0": 32, "weights0": 32, "inputs1": 16, "multiply0": 16, "multiply1": 8}
    marking, file = space.marking({**own, "stored0": 8}), vta.workload(tiles, net)
    assert all(marking.rows(place) == file.rows(place) for place in net.places)
    found = lpn.maximize(space)
    assert found.lower == found.upper >= lpn.simulate(net, file).latency


def test_a_program_of_the_space_is_the_one_of_these_sizes(vta, tiles, tmp_path):
    """Twice the inputs and products: as many clocks as the file with these numbers takes."""
    net = vta.net()
    values = {"inputs0": 64, "weights0": 32, "inputs1": 16, "multiply0": 32, "multiply1": 8}
    marking = vta.space(net, like=tiles).marking({**values, "stored0": 8})
    larger = json.loads(json.dumps(TILES))
    for item in larger:
        if item["k"] == "inp" and item["x"] == 16:
            item["x"] = 32
        if item["k"] == "gemm" and item["lp0"] == 4:
            item["lp0"] = 8
    path = tmp_path / "larger.json"
    path.write_text(json.dumps(larger))
    file = vta.workload(str(path), net)
    assert all(marking.rows(place) == file.rows(place) for place in net.places)


def test_what_cannot_be_a_space(vta, tmp_path):
    net = vta.net()
    for bounds, words in (
        ({"steps": 41}, "steps must be 1..40, got 41"),
        ({"like": str(DEMO / "two_steps.json"), "beats": 257}, "beats must be 2..256, got 257"),
        ({"like": str(DEMO / "vta_config.json")}, "no list of instructions, and no object with"),
    ):
        with pytest.raises(ValueError, match=words):
            vta.space(net, **bounds)
    with pytest.raises(OSError):
        vta.space(net, like=str(tmp_path / "nothing.json"))
