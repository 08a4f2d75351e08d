"""toml_file: files that may come from anyone."""

import os

import lpn
import pytest
from lpn.toml_file import WrongValue, one_of, picoseconds, read_toml, whole


def refused(path, unreadable=None):
    with pytest.raises(lpn.Error) as found:
        read_toml(path, "E-made-up", unreadable)
    return found.value.code, str(found.value)


def test_tables(tmp_path):
    path = tmp_path / "a.toml"
    path.write_bytes(
        b"\xef\xbb\xbfa = 1\r\n[b]\r\nc = 'd'\r\n"
    )  # as an editor of another system has it
    assert read_toml(path, "E-made-up") == {"a": 1, "b": {"c": "d"}}
    path.write_bytes(b"")
    assert read_toml(path, "E-made-up") == {}


@pytest.mark.parametrize(
    "data, why",
    [
        (b"a = 1\na = 2\n", "Cannot overwrite a value (at line 2, column 6)"),
        (b"a = [", "Invalid value (at end of document)"),
        (b"a = " + b"[" * 100_000, "lists and tables are nested too deeply"),
        (b"a = " + b"9" * 5000, "a number has more digits than one of 64 bits"),
        (b"a = '\xff'", "byte 5 is not UTF-8"),
        (bytes(range(8)), "Invalid statement (at line 1, column 1)"),
    ],
)
def test_what_is_none(tmp_path, data, why):
    path = tmp_path / "a.toml"
    path.write_bytes(data)
    assert refused(path) == ("E-made-up", f"{path} is not TOML: {why}")


def test_what_cannot_be_read(tmp_path):
    assert refused(tmp_path) == ("E-made-up", f"cannot read {tmp_path}: Is a directory")
    gone = os.path.join(tmp_path, "gone")
    assert refused(gone, "E-input") == (
        "E-input",
        f"cannot read {gone}: No such file or directory",
    )


@pytest.mark.parametrize(
    "check, value, why",
    [
        (whole(1, 9), 10, "x must be a whole number 1..9, got 10"),
        (whole(1, 9), 1.0, "x must be a whole number 1..9, got 1.0"),
        (whole(0, 9), True, "x must be a whole number 0..9, got True"),
        (one_of(1, 2, 4), 4.0, "x must be one of 1, 2, 4, got 4.0"),
        (one_of(0, 1), True, "x must be one of 0, 1, got True"),
        (one_of("a", "b"), ["a"], "x must be one of a, b, got ['a']"),
        (picoseconds, float("nan"), "x must be 0 to 1e9 nanoseconds, got nan"),
        (picoseconds, -1, "x must be 0 to 1e9 nanoseconds, got -1"),
        (picoseconds, "1", "x must be a number of nanoseconds, got '1'"),
        (picoseconds, 0.0001, "x has more than three decimals: 0.0001"),
    ],
)
def test_values_that_a_key_may_not_have(check, value, why):
    with pytest.raises(WrongValue) as found:
        check(value, "x")
    assert str(found.value) == why


def test_values_that_it_may_have():
    assert (whole(1, 9)(9, "x"), one_of("a", 4)(4, "x"), picoseconds(1.5, "x")) == (9, 4, 1500)
