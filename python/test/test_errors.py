"""errors: mistakes with their place, and what users are told of other people's exceptions."""

import lpn
import pytest
from lpn.errors import describe, listed, mistake, near, refusal, within, without_place


def test_a_mistake_names_what_is_built_and_the_line():
    with within("net 'a'"), within("transition 't'"):
        error = mistake("E-name", "wrong")
    code, text = describe(error)
    assert code == "E-name"
    first, context, place = text.split("\n")
    assert (first, context) == ("wrong", "  in net 'a', transition 't'")
    assert "test_errors.py" in place and 'mistake("E-name", "wrong")' in place


def test_without_place():
    assert describe(without_place("E-cache", "full")) == ("E-cache", "full")


def test_near():
    assert near("dept", ["depth", "width"]) == "; did you mean 'depth'?"
    assert near("x", ["depth"]) == ""
    assert listed([]) == "none" and listed(["a", "b"]) == "a, b"


@pytest.mark.parametrize(
    "error, code, words",
    [
        (OSError(2, "No such file", "x.jpg"), "E-input", "x.jpg: No such file"),
        (MemoryError(), "E-memory", "out of memory"),
        (SyntaxError("bad", ("m.py", 3, 1, "")), "E-model", "bad (m.py:3)"),
        (lpn.Error("E-space", "empty"), "E-space", "empty"),
    ],
)
def test_describe(error, code, words):
    assert describe(error) == (code, words)


def test_describe_points_at_the_line_of_the_author():
    try:
        {}["x"]
    except KeyError as error:
        code, text = describe(error)
    assert (
        code == "E-model" and text.startswith("KeyError: 'x'\n  at ") and "test_errors.py:" in text
    )


def test_refusal(monkeypatch):
    assert refusal(ValueError("no jpeg")) == ("E-input", "no jpeg")
    monkeypatch.setenv("LPN_DEBUG", "1")
    assert refusal(OSError(2, "gone", "f")) == ("E-input", "f: gone")
    with pytest.raises(KeyError):
        refusal(KeyError("x"))
