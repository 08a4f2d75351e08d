"""Rows of measured durations that are damaged, and settings out of range."""

import gzip
import lzma
import os

import lpn
import pytest

HEAD = "image,rtl_ns,rtl_quantised\n"


@pytest.mark.parametrize(
    "text, said",
    [
        (HEAD + "0,17\n", "truth.csv, row 2: there is no value of rtl_quantised"),
        (
            HEAD + "0,17,0\n1,nan,0\n",
            "truth.csv, row 3: rtl_ns must be a whole number of ns, got 'nan'",
        ),
        (HEAD + "0,-5,0\n", "truth.csv, row 2: rtl_ns must be a whole number of ns, got '-5'"),
        (HEAD + "0," + "9" * 5000 + ",0\n", "got '" + "9" * 40 + "...'"),
        (HEAD + "0,17,7\n", "truth.csv, row 2: rtl_quantised must be 0 or 1, got '7'"),
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


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress], ids=["plain", "gzip", "xz"])
def test_a_packed_table_and_one_with_a_byte_order_mark(tmp_path, pack):
    """They had "no columns image, rtl_ns"."""
    path = tmp_path / "truth.csv"
    path.write_bytes(pack(b"\xef\xbb\xbf" + HEAD.encode() + b"0,17,0\r\n"))
    assert list(lpn.load("system").module.truth_rows(path)) == [("0.jpg", {"earlier": 1}, 17, None)]
    if pack is not bytes:
        path.write_bytes(path.read_bytes()[:-7])
        with pytest.raises(lpn.Error, match="truth.csv is no whole"):
            list(lpn.load("system").module.truth_rows(path))


PROTOACC = "bench,accelerator,run,ns_per_iteration,quantised\n"
DEMO = os.path.join(os.path.dirname(__file__), "..", "demo", "protoacc.toml")


@pytest.mark.parametrize(
    "row, said",
    [
        ("bench1,rtl,1,1415018,0", None),
        (
            "bench1,rtl,0,2579836,0",
            "the first run of a boot: caches are cold, and pages are touched",
        ),
        ("bench1,lpn,1,1415070,0", "another net of the accelerator ('lpn'), not its RTL"),
        ("bench1,rtl,1,1415018,1", "measured in ticks of a timer"),
    ],
)
def test_rows_of_protoacc_say_why_they_are_not_compared(tmp_path, row, said):
    path = tmp_path / "truth.csv"
    path.write_text(PROTOACC + row + "\n")
    ((name, parameters, ns, why),) = lpn.load(DEMO).module.truth_rows(str(path))
    assert (name, parameters, ns) == ("bench1-ser.json.gz", {"earlier": 1}, int(row.split(",")[3]))
    assert (why is None) if said is None else said in str(why)


def test_a_memory_without_a_cache_has_had_no_earlier_run(tmp_path):
    path, board = tmp_path / "truth.csv", tmp_path / "board.toml"
    path.write_text(PROTOACC + "bench3,rtl,1,5,0\nbench5,rtl,1,7,0\n")
    board.write_text('model = "system"\n[accelerator]\nmodel = "protoacc"\n')
    rows = lpn.load(str(board)).module.truth_rows(str(path))
    assert [parameters for _, parameters, *_ in rows] == [{}, {}]


@pytest.mark.parametrize(
    "model, text, said",
    [
        ("system", PROTOACC, "write lpn validate models/system/demo/protoacc.toml --truth FILE"),
        (DEMO, HEAD, "it has those of the JPEG decoder; write lpn validate system --truth FILE"),
        (
            DEMO,
            PROTOACC + "bench1,rtl,x,17,0\n",
            "row 2: run must be a whole number of runs, got 'x'",
        ),
        (DEMO, PROTOACC + "bench1,rtl,1,-17,0\n", "ns_per_iteration must be a whole number of ns"),
    ],
)
def test_rows_of_another_system_are_refused_with_the_way_to_theirs(tmp_path, model, text, said):
    path = tmp_path / "truth.csv"
    path.write_text(text)
    with pytest.raises(lpn.Error) as refused:
        list(lpn.load(model).module.truth_rows(str(path)))
    assert refused.value.code == "E-truth-file" and said in str(refused.value)


def test_rows_say_whether_they_were_measured_in_ticks(tmp_path):
    path = tmp_path / "truth.csv"
    path.write_text(HEAD + "0,1732362,0\n3,21996656,1\n")
    rows = list(lpn.load("system").module.truth_rows(str(path)))
    assert rows == [
        ("0.jpg", {"earlier": 1}, 1732362, None),
        ("3.jpg", {"earlier": 1}, 21996656, 21996656),
    ]


def test_a_system_says_whose_durations_are_its_own(tmp_path):
    path = tmp_path / "truth.csv"
    path.write_text("image,rtl_ns,rtl_quantised,lpn_ns,lpn_quantised\n0,5,0,7,0\n3,5,0,9,1\n")
    own = lpn.load(os.path.join(os.path.dirname(DEMO), "jpeg_lpn.toml")).module
    assert [row[2:] for row in own.truth_rows(str(path))] == [(7, None), (9, 9)]
    path.write_text(HEAD + "0,17,0\n")
    with pytest.raises(lpn.Error) as refused:
        list(own.truth_rows(str(path)))
    assert "has no columns image, lpn_ns, lpn_quantised" in str(refused.value)


@pytest.mark.parametrize("name", ["open_page", "earlier"])
def test_what_is_yes_or_no_is_0_or_1(name):
    with pytest.raises(lpn.Error) as refused:
        lpn.load("system").net(**{name: 7})
    assert refused.value.code == "E-param" and f"{name} must be 0 or 1, got 7" in str(refused.value)
