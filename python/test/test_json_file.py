"""json_file and the readers of inputs: whatever a file holds, an Error that says where, or its data."""

import json
import random

import lpn
import pytest
from lpn.errors import describe
from lpn.json_file import parse_json
from lpn.pages.witness import read_witness
from lpn.runs.models import read_marking


class Block(lpn.Token):
    size: lpn.Int[0, 100]
    last: lpn.Bool


@pytest.fixture
def net():
    net = lpn.Net("n")
    blocks = net.place("blocks", Block, start=True)
    free = net.place("free", init=1)
    out = net.place("out", done=True)
    net.transition("t", take={"b": blocks, "f": free}, put=[out, free], delay=lambda b: b.size)
    return net


DEEP = 100_000
TEXTS = {
    '{"free": NaN}': "NaN is no number of JSON; write a finite one",
    '{"free": -Infinity}': "-Infinity is no number of JSON; write a finite one",
    '{"free": 1e999}': "the number 1e999 is too large",
    '{"free": ' + "9" * 5000 + "}": f"the number {'9' * 40}... has 5000 digits",
    '{"free": 1, "free": 2}': "the key 'free' stands twice in one object; keep one of them",
    '{"blocks": [{"size": 1, "last": 0, "size": 2}]}': (
        "the key 'size' stands twice in one object; keep one of them"
    ),
    "[" * DEEP: "lists and objects are nested too deeply",
    '{"a":' * DEEP: "lists and objects are nested too deeply",
    '{"free": [' + "[" * DEEP + "]" * DEEP + "]}": "lists and objects are nested too deeply",
    '{"free": 1,\n "blocks": }': "Expecting value: line 2 column 12 (char 23)",
    "": "Expecting value: line 1 column 1 (char 0)",
}


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_what_is_no_json_says_why(text):
    with pytest.raises(lpn.Error) as refused:
        parse_json(text, "x.json is not JSON", "E-some")
    assert refused.value.code == "E-some"
    assert str(refused.value).splitlines()[0] == f"x.json is not JSON: {TEXTS[text]}"


def test_bytes_are_utf8_with_or_without_a_mark():
    assert parse_json('\ufeff{"é": [1, 2.5, null, true]}'.encode(), "x") == {
        "é": [1, 2.5, None, True]
    }
    with pytest.raises(lpn.Error, match="^x: byte 6 is not UTF-8"):
        parse_json(b'{"a": \xff}', "x")


TOKENS = {
    '{"free": true}': "'free' must be a count or a list of tokens",
    '{"free": 1.5}': "'free' must be a count or a list of tokens",
    '{"free": null}': "'free' must be a count or a list of tokens",
    '{"free": -1}': "count must be 0..2147483648, got -1",
    '{"free": 99999999999999999999}': "property 'count' does not fit in 64 bits",
    '{"other": 1}': "net 'n' has no place 'other'; it has: blocks, free, out",
    '{"blocks": [[1, 0], 3]}': (
        "token 1 of 'blocks' must be {property: value} or the values in a list, got a number"
    ),
    '{"blocks": [null]}': (
        "token 0 of 'blocks' must be {property: value} or the values in a list, got null"
    ),
    '{"blocks": ["ab"]}': (
        "token 0 of 'blocks' must be {property: value} or the values in a list, got text"
    ),
    '{"blocks": [[1]]}': "row 0 of 'blocks' has 1 values; its type has: size, last",
    '{"blocks": [[1, 0], [[2], 0]]}': "property 'size' of row 1 must be int, got a list",
    '{"blocks": [[1, 0], [2.0, 0]]}': "property 'size' of row 1 must be int, got 2.0",
    '{"blocks": [{"size": "7", "last": 0}]}': "property 'size' of row 0 must be int, got '7'",
    '{"blocks": [{"size": 7}]}': "row 0 of 'blocks' needs exactly: size, last; got: size",
    '{"blocks": [[9223372036854775808, 0]]}': "property 'size' of row 0 does not fit in 64 bits",
    '{"blocks": [[1, 0], [101, 0]]}': (
        "place 'blocks', token 1: size = 101 is outside its range 0..100"
    ),
}


@pytest.mark.parametrize("text", TOKENS, ids=range(len(TOKENS)))
def test_tokens_of_the_wrong_shape_say_which(net, tmp_path, text):
    path = tmp_path / "in.json"
    path.write_text(text)
    with pytest.raises(lpn.Error) as refused:
        read_marking(path, net)
    assert str(refused.value).splitlines()[0] == f"{path}: {TOKENS[text]}"


def test_tokens_of_the_right_shape_are_read(net, tmp_path):
    path = tmp_path / "in.json"
    path.write_text('{"free": 2, "blocks": [[1, 0], {"last": true, "size": 3}], "out": []}')
    marking = read_marking(path, net)
    assert marking.rows("blocks") == [(1, 0), (3, 1)] and marking.count("free") == 2


def _changed(value, chance):
    """The same JSON data with something replaced, dropped or repeated."""
    strange = [
        None,
        True,
        -1,
        0,
        1.5,
        2**31,
        2**63,
        -(2**80),
        "",
        "size",
        [],
        [[]],
        {},
        {"a": 1},
    ]
    if chance.random() < 0.15:
        return chance.choice(strange)
    if isinstance(value, list):
        made = [_changed(v, chance) for v in value]
        return made + made[:1] if chance.random() < 0.1 else made
    if isinstance(value, dict):
        return {
            (k if chance.random() < 0.95 else chance.choice(["", "out", k + "x"])): _changed(
                v, chance
            )
            for k, v in value.items()
            if chance.random() < 0.95
        }
    return value


def test_changed_markings_and_spaces_are_read_or_refused(net, tmp_path):
    """Readers in Python on 3,000 changed documents: an Error of ours, never another exception."""
    chance = random.Random(20261123)
    tokens = {"free": 2, "blocks": [[1, 0], {"last": 1, "size": 3}]}
    space = lpn.InputSpace(net)
    first, _ = space.tokens("blocks", 2, count=(0, 2))
    space.require(first.size <= 50)
    shape = space.to_json()
    path = tmp_path / "in.json"
    for _ in range(1500):
        path.write_text(json.dumps(_changed(tokens, chance)))
        for read in (
            lambda: read_marking(path, net),
            lambda: lpn.InputSpace.from_json(net, _changed(shape, chance)),
        ):
            try:
                read()
            except lpn.Error as error:
                code, message = describe(error)
                assert code.startswith("E-") and message


@pytest.mark.parametrize(
    "text",
    [
        '{"verdict": "proved", "stalled": 1}',
        '{"verdict": "proved", "witness": [1]}',
        '{"verdict": "proved", "witness": {"parameters": 1, "tokens": {}}}',
        '{"verdict": "proved", "witness": {"parameters": {"n": 1.5}, "tokens": {}}}',
        '{"verdict": "proved", "witness": {"parameters": {}, "tokens": {"q": [1]}}}',
        "[" * DEEP,
    ],
)
def test_a_witness_of_another_shape_is_refused(tmp_path, text):
    path = tmp_path / "w.json"
    path.write_text(text)
    with pytest.raises(lpn.Error) as refused:
        read_witness(path)
    assert refused.value.code == "E-viz-witness" and str(path) in str(refused.value)
