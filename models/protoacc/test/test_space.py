"""Spaces of messages: of so many fields, and of the shape of a file's."""

import pytest
from conftest import DEMO

lpn = pytest.importorskip("lpn")

# A string of two bytes of length, a submessage of 127 bytes (two more and its length takes two), a
# scalar of fixed size and one that is not.
SHAPE = [
    ["string", 4, 0, [200], 0],
    ["message", 3, [["string", 2, 1, [60, 60], 0], ["bool", 1, 0, 1, [1]]]],
    ["double", 2, 0, 1, [8]],
    ["int64", 1, 0, 1, [3]],
]


def test_a_bound_over_all_messages_of_a_space(model):
    net = model.net()
    found = lpn.maximize(model.space(net, scalars=1, strings=0))
    assert found.upper == found.lower == 90  # 29 + 3 * 20, and 1: six bytes are two pieces
    with pytest.raises(ValueError, match="1 to 15 together"):
        model.space(net, scalars=0, strings=0)
    with pytest.raises(ValueError, match="1 to 127, in order"):
        model.space(net, most=128)


def test_messages_of_the_shape_of_a_file(model, written):
    net = model.net()
    path = written([SHAPE])
    space = model.space(net, like=path)
    # From the highest number down, as in the file: the string keeps two bytes of length; what the
    # submessage's 127 bytes leave goes to nobody, what it may lose to all three.
    assert [(v.lo, v.hi) for v in space.variables] == [(128, 200), (18, 60), (18, 60), (1, 10)]
    own = space.marking(dict(zip((v.name for v in space.variables), (200, 60, 60, 3))))
    file = model.workload(path, net)
    assert all(own.rows(place) == file.rows(place) for place in net.places)
    other = space.marking(dict(zip((v.name for v in space.variables), (150, 20, 59, 9))))
    shape = [["string", 4, 0, [150], 0], *SHAPE[1:3], ["int64", 1, 0, 1, [9]]]
    shape[1] = ["message", 3, [["string", 2, 1, [20, 59], 0], SHAPE[1][2][1]]]
    file = model.workload(written([shape]), net)
    assert all(other.rows(place) == file.rows(place) for place in net.places)


def test_several_messages_and_files_of_all_forms(model, written):
    net = model.net()
    for path in (DEMO / "item.txtpb", DEMO / "two_items.json"):
        space, file = model.space(net, like=str(path)), model.workload(str(path), net)
        marking = space.marking({v.name: v.lo for v in space.variables})
        assert all(len(marking.rows(p)) == len(file.rows(p)) for p in net.places)
    with pytest.raises(ValueError, match="expected {type, is_repeated, data}"):
        model.space(net, like=written({"a": 1}))
    with pytest.raises(OSError):
        model.space(net, like="nothing.json")
