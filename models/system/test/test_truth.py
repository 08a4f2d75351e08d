"""Rows of measured durations that are damaged, and settings out of range."""

import lpn
import pytest

HEAD = "image,rtl_ns,rtl_quantised\n"


@pytest.mark.parametrize(
    "text, said",
    [
        (HEAD + "0,17\n", "truth.csv, row 1 is cut off"),
        (
            HEAD + "0,17,0\n1,nan,0\n",
            "truth.csv, row 2: rtl_ns must be a whole number of ns, got 'nan'",
        ),
        (HEAD + "0,-5,0\n", "truth.csv, row 1: rtl_ns must be a whole number of ns, got '-5'"),
        (HEAD + "0," + "9" * 5000 + ",0\n", "got '" + "9" * 40 + "...'"),
        (HEAD + "0,17,7\n", "truth.csv, row 1: rtl_quantised must be 0 or 1, got '7'"),
        (
            "image,ns\n0,1\n",
            "truth.csv has no columns image, rtl_ns, rtl_quantised: durations of the",
        ),
    ],
)
def test_damaged_rows_are_refused(tmp_path, text, said):
    path = tmp_path / "truth.csv"
    path.write_text(text)
    with pytest.raises(lpn.Error) as refused:
        list(lpn.load("system").module.truth_rows(str(path)))
    assert refused.value.code == "E-truth-file" and said in str(refused.value)


def test_rows_say_whether_they_were_measured_in_ticks(tmp_path):
    path = tmp_path / "truth.csv"
    path.write_text(HEAD + "0,1732362,0\n3,21996656,1\n")
    rows = list(lpn.load("system").module.truth_rows(str(path)))
    assert rows == [
        ("0.jpg", {"earlier": 1}, 1732362, None),
        ("3.jpg", {"earlier": 1}, 21996656, 21996656),
    ]


@pytest.mark.parametrize("name", ["open_page", "earlier"])
def test_what_is_yes_or_no_is_0_or_1(name):
    with pytest.raises(lpn.Error) as refused:
        lpn.load("system").net(**{name: 7})
    assert refused.value.code == "E-param" and f"{name} must be 0 or 1, got 7" in str(refused.value)
