"""Input spaces: what they contain, what they refuse, and that they survive being written."""

import json
import pickle

import lpn
import pytest


class Block(lpn.Token):
    symbols: lpn.Int[2, 64]
    plane: lpn.Int


def sample():
    """(net, space, its blocks): up to three blocks, x <= y, a free number of slots."""
    net = sample_net()
    space = lpn.InputSpace(net)
    n = space.integer("blocks", 1, 3)
    blocks = space.tokens("coded", 3, symbols=(2, 5), plane=lambda i: 7 + i, count=n)
    space.require(blocks[0].symbols <= blocks[1].symbols)
    space.param("slots", 1, 2)
    return net, space, blocks


def sample_net():
    net = lpn.Net("sample")
    slots = net.param("slots", 4, range=(0, 8))
    coded = net.place("coded", Block, start=True)
    tasks = net.place("tasks", start=True)
    pool = net.place("pool", init=slots)
    net.transition(
        "work",
        take={"blk": coded, "slot": pool},
        put=[pool],
        delay=lambda blk: blk.symbols,
        servers=slots,
    )
    net.transition("begin", take={"task": tasks}, delay=1, servers=1)
    return net


def values(x, y, z, n, slots):
    return {
        "coded[0].symbols": x,
        "coded[1].symbols": y,
        "coded[2].symbols": z,
        "blocks": n,
        "slots": slots,
    }


def test_an_input_is_a_marking_and_parameters():
    _, space, blocks = sample()
    assert [v.name for v in space.variables] == [
        "blocks",
        "coded[0].symbols",
        "coded[1].symbols",
        "coded[2].symbols",
        "slots",
    ]
    assert space.contains(values(2, 3, 2, 2, 1))
    assert not space.contains(values(3, 2, 2, 2, 1))
    assert not space.contains(values(2, 3, 2, 4, 1))
    assert space.contains([2, 2, 3, 2, 1])
    assert space.marking(values(2, 3, 2, 2, 1)).rows("coded") == [(2, 7), (3, 8)]
    assert space.parameters(values(2, 3, 2, 2, 1)) == {"slots": 1}
    assert blocks[0].present is True
    assert repr(blocks[1].present) == "blocks > 1"
    assert blocks[1].plane == 8
    run = lpn.simulate(
        space.net, space.marking(values(2, 3, 2, 2, 1)), params={"slots": 1}, engine="interp"
    )
    assert run.latency == 5


def test_small_spaces_can_be_listed():
    _, space, _ = sample()
    inputs = space.inputs()
    assert len(inputs) == 10 * 4 * 3 * 2  # x <= y, z, the count and the slots
    assert all(space.contains(i) for i in inputs)
    with pytest.raises(lpn.Error, match="allow more than 100 assignments"):
        space.inputs(limit=100)


def test_what_is_not_said_is_the_declared_range_and_the_nets_parameters():
    net = sample_net()
    net.bound = {"slots": 3}
    space = lpn.InputSpace(net)
    space.tokens("coded", 2, plane=0)
    assert [(v.lo, v.hi) for v in space.variables] == [(2, 64), (2, 64)]
    assert space.parameters([2, 2]) == {"slots": 3}
    assert len(space.inputs()) == 63 * 63


def test_tokens_that_only_count_and_lists_of_values():
    net = sample_net()
    space = lpn.InputSpace(net)
    space.tokens("tasks", 4, count=(0, 4))
    first = space.tokens("coded", 2, symbols=[5, (2, 3)], plane=[0, 1])
    second = space.tokens("coded", 1, symbols=lambda i: first[1].symbols + 1, plane=2)
    assert space.marking([3, 2]).rows("coded") == [(5, 0), (2, 1), (3, 2)]
    assert space.marking([3, 2]).count("tasks") == 3
    assert second[0].symbols is not None
    assert len(space.inputs()) == 5 * 2


def test_an_expression_that_may_leave_the_declared_range_is_kept_inside():
    space = lpn.InputSpace(sample_net())
    x = space.integer("x", 0, 100)
    n = space.integer("n", -1, 5)
    space.tokens("coded", 2, symbols=lambda i: [x, 2 * x][i], plane=0, count=n)
    for chosen in space.inputs():
        space.marking(chosen)
        assert (
            0 <= chosen["n"] <= 2
            and (chosen["n"] < 1 or 2 <= chosen["x"] <= 64)
            and (chosen["n"] < 2 or chosen["x"] <= 32)
        )
    assert space.contains({"x": 100, "n": 0})
    assert space.contains({"x": 50, "n": 1})
    assert space.contains({"x": 32, "n": 2})


@pytest.mark.parametrize("add", [sum, lpn.sum, lpn.total], ids=["sum", "lpn.sum", "lpn.total"])
def test_sums_of_a_thousand(add):
    space = lpn.InputSpace(sample_net())
    blocks = space.tokens("coded", 1000, plane=0)
    space.require(add(2 * b.symbols for b in blocks) == 4002)
    low = [2] * 1000
    assert not space.contains(low)
    assert space.contains([3] + low[1:])


def test_conditions():
    space = lpn.InputSpace(sample_net())
    x, y = space.integers("x", 2, 0, 9)
    space.require((x + y) % 3 == 0, abs(x - y) <= lpn.max(x, y) // 2, (x != 4) | (y > 5), True)
    space.require(lambda: 1 <= x < 9 and not (y == 7))
    expected = [
        {"x[0]": a, "x[1]": b}
        for a in range(1, 9)
        for b in range(10)
        if (a + b) % 3 == 0 and abs(a - b) <= max(a, b) // 2 and (a != 4 or b > 5) and b != 7
    ]
    assert space.inputs() == expected


def test_written_and_pickled():
    _, space, _ = sample()
    space.require(lambda: space.tokens_of["coded"][1].symbols != 3)
    copies = [
        pickle.loads(pickle.dumps(space)),
        lpn.InputSpace.from_json(space.net, json.loads(json.dumps(space.to_json()))),
    ]
    for copy in copies:
        assert copy.to_json() == space.to_json()
        assert copy.inputs() == space.inputs()
        assert copy.describe() == space.describe()


def test_described_for_people():
    _, space, blocks = sample()
    space.require(lpn.total(b.symbols for b in blocks) <= 9)
    wide = lpn.InputSpace(space.net)
    many = wide.tokens("coded", 6, plane=0)
    wide.require(
        sum(3 * b.symbols for b in many) >= 50,
        lambda: not (many[0].symbols < 3 or many[1].symbols == 2),
    )
    assert (
        space.describe()
        == """\
sample: 5 variables
  coded: 1..3 tokens (blocks), symbols 2..5 each, plane 7, 8, 9
  parameters: slots = 1..2
  blocks 1..3
such that
  coded[0].symbols <= coded[1].symbols
  coded[0].symbols + coded[1].symbols + coded[2].symbols <= 9"""
    )
    assert wide.describe().splitlines()[-2:] == [
        "  sum(3 * coded[0..5].symbols) >= 50",
        "  coded[0].symbols >= 3 and coded[1].symbols != 2",
    ]
    assert repr(space) == "<input space of net 'sample': 5 variables, 2 constraints>"


REFUSED = [
    (
        "E-place",
        "no place 'code'; it has: coded, tasks, pool; did you mean 'coded'?",
        lambda s: s.tokens("code", 3),
    ),
    (
        "E-field",
        "no property 'symbol'; they have: symbols, plane; did you mean 'symbols'?",
        lambda s: s.tokens("coded", 3, symbol=4),
    ),
    (
        "E-space",
        "property 'plane' has no declared range, so its variable needs one; write plane=(lo, hi)",
        lambda s: s.tokens("coded", 3),
    ),
    (
        "E-range",
        "property 'symbols' has the range 1..5, but declared is 2..64",
        lambda s: s.tokens("coded", 3, symbols=(1, 5), plane=0),
    ),
    (
        "E-range",
        "coded[0].symbols = 65 is outside its range 2..64",
        lambda s: s.tokens("coded", 3, symbols=65, plane=0),
    ),
    (
        "E-range",
        "coded[0].symbols = x + 64 is 65..74, outside its range 2..64",
        lambda s: s.tokens("coded", 3, symbols=s.integer("x", 1, 10) + 64, plane=0),
    ),
    (
        "E-space",
        "has 2 values for 3 tokens; give one per token",
        lambda s: s.tokens("coded", 3, symbols=[2, 3], plane=0),
    ),
    (
        "E-space",
        "must be a range (lo, hi), got (2, 3, 4)",
        lambda s: s.tokens("coded", 3, symbols=(2, 3, 4), plane=0),
    ),
    (
        "E-space",
        "raised ZeroDivisionError: integer division or modulo by zero for token 0",
        lambda s: s.tokens("coded", 3, symbols=lambda i: 3 // i, plane=0),
    ),
    (
        "E-space",
        "is the ratio (x / 2); use // or math.ceil",
        lambda s: s.tokens("coded", 3, symbols=s.integer("x", 4, 10) / 2, plane=0),
    ),
    (
        "E-space",
        "the number of tokens of place 'tasks' must be an int in 0..1048576, got n; give the most there can be",
        lambda s: s.tokens("tasks", s.integer("n", 0, 3)),
    ),
    (
        "E-range",
        "the number of tokens of place 'tasks' has the range 0..4, but declared is 0..3",
        lambda s: s.tokens("tasks", 3, count=(0, 4)),
    ),
    (
        "E-space",
        "has tokens in this space already",
        lambda s: [s.tokens("tasks", 3, count=(0, 3)), s.tokens("tasks", 3)],
    ),
    (
        "E-param",
        "has no parameter 'slot'; it has: slots; did you mean 'slots'?",
        lambda s: s.param("slot", 4),
    ),
    (
        "E-range",
        "parameter 'slots' has the range 0..9, but declared is 0..8",
        lambda s: s.param("slots", 0, 9),
    ),
    (
        "E-duplicate",
        "parameter 'slots' has a value in this space already",
        lambda s: [s.param("slots", 4)] * s.param("slots", 4),
    ),
    ("E-space", "servers may be 0 in this space", lambda s: [s.param("slots", 0, 3), s.core]),
    (
        "E-space",
        "variable 'x' has the empty range 5..4; write the least value first",
        lambda s: s.integer("x", 5, 4),
    ),
    ("E-space", "a variable lies within -2**62..2**62", lambda s: s.integer("x", 0, 2**63 - 1)),
    ("E-overflow", "does not fit in 64 bits", lambda s: s.integer("x", 0, 2**63)),
    ("E-operand", "must be int, got float 2.5", lambda s: s.integer("x", 0, 2.5)),
    (
        "E-duplicate",
        "has a variable 'x' already",
        lambda s: [s.integer("x", 0, 1), s.integer("x", 0, 1)],
    ),
    ("E-name", "cannot name a variable", lambda s: s.integer("a b", 0, 1)),
    (
        "E-space",
        "a condition must be a comparison, got the number x; compare it with something",
        lambda s: s.require(s.integer("x", 0, 1)),
    ),
    ("E-space", "a condition must compare expressions of the space, got 5", lambda s: s.require(5)),
    (
        "E-space",
        "x > 9 never holds within the ranges, so the space is empty",
        lambda s: s.require(s.integer("x", 0, 9) > 9),
    ),
    ("E-space", "is False whatever the input is", lambda s: s.require(False)),
    (
        "E-truth",
        "it has a value per input only",
        lambda s: s.require(1 <= s.integer("x", 0, 9) <= 2),
    ),
    (
        "E-foreign",
        "reads another input space",
        lambda s: s.require(lpn.InputSpace(s.net).integer("x", 0, 9) > 1),
    ),
    ("E-field", "no property 'symbol'", lambda s: s.tokens("coded", 1, plane=0)[0].symbol),
    (
        "E-space",
        "the space has no variable 'y'; it has: x",
        lambda s: s.contains({"x": s.integer("x", 0, 1), "y": 1}),
    ),
    ("E-space", "variable 'x' has no value", lambda s: [s.integer("x", 0, 1), s.contains({})]),
    ("E-space", "1 values for 0 variables", lambda s: s.contains([1])),
    (
        "E-space",
        "as to_json writes it (KeyError",
        lambda s: lpn.InputSpace.from_json(s.net, {"format": 1}),
    ),
    (
        "E-space",
        "as to_json writes it",
        lambda s: lpn.InputSpace.from_json(s.net, {**s.to_json(), "constraints": [7]}),
    ),
    (
        "E-space",
        "as to_json writes it",
        lambda s: lpn.InputSpace.from_json(s.net, {**s.to_json(), "nodes": [["__class__", 0]]}),
    ),
]


@pytest.mark.parametrize("code, words, act", REFUSED, ids=[words[:40] for _, words, _ in REFUSED])
def test_refused(code, words, act):
    with pytest.raises(lpn.Error) as caught:
        act(lpn.InputSpace(sample_net()))
    assert caught.value.code == code
    assert words in str(caught.value)
    assert "test_space.py:" in str(caught.value)
