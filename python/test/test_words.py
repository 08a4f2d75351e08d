"""Numbers in files and options are those that every tool reads alike."""

import pytest

lpn = pytest.importorskip("lpn")
from lpn.command import Parameter  # noqa: E402
from lpn.pages.export import Window  # noqa: E402
from lpn.sweeps.definition import whole_values  # noqa: E402
from lpn.words import decimal, integer  # noqa: E402

NO_NUMBERS = [
    "1_500",
    "+5",
    "٣",
    "५",
    "1e3",
    "2.0",
    "",
    " ",
    "0x",
    "1\n",
    "\u00a07",
    "--1",
    "1" * 101,
]


@pytest.mark.parametrize("text", NO_NUMBERS + ["-1", "0x1f", "1" * 19])
def test_no_decimal_number(text):
    with pytest.raises(ValueError) as refused:
        decimal(text)
    assert str(refused.value) == f"{text!r} is no whole number of decimal digits, at most 18"


@pytest.mark.parametrize("text", NO_NUMBERS + ["010", "0xfg"])
def test_no_whole_number(text):
    with pytest.raises(ValueError):
        integer(text)


def test_numbers():
    assert [decimal(text) for text in ("0", " 7 ", "007", "9" * 18)] == [0, 7, 7, 10**18 - 1]
    assert [integer(t) for t in ("0", " 7\t", "-12", "0x1F", "-0b11", "0o17")] == [
        0,
        7,
        -12,
        31,
        -3,
        15,
    ]


@pytest.mark.parametrize("text", ["1_0", "+5", "٣"])
def test_options_take_no_other_digits(text):
    with pytest.raises(Exception, match="is not name=value with a whole number"):
        Parameter().convert(f"n={text}", None, None)
    with pytest.raises(lpn.Error, match="is no value of parameter 'n'"):
        whole_values(f"1,{text}", "n")
    with pytest.raises(lpn.Error, match="A:B"):
        Window.parse(f"{text}:99")


@pytest.mark.parametrize("text", ["1_0", "+5", "٣"])
def test_arrivals_take_no_other_digits(tmp_path, text):
    from lpn.traffic.traffic import Traffic

    net = lpn.Net("line")
    place = net.place("q", start=True)
    net.transition("t", take={"x": place}, put=[net.place("out", done=True)], delay=1, servers=1)
    file = tmp_path / "arrivals.csv"
    file.write_text(f"at\n{text}\n", encoding="utf-8")
    with pytest.raises(
        lpn.Error, match=r"arrivals.csv:2: column 'at' has '.*', which is no whole number"
    ):
        Traffic(net).trace("q", file)
