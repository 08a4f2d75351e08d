"""lpn validate: rows, errors, what is not covered."""

import gzip
import lzma

import pytest
from conftest import DEMO, SHARED

MODEL = '''"""One cycle per character of the input file, times a parameter."""

import lpn


def net(*, each: int = 1):
    net = lpn.Net("count")
    each = net.param("each", each)
    letters = net.place("letters", start=True)
    out = net.place("out", done=True)
    net.transition("read", take={"x": letters}, put=[out.emit()], delay=each, servers=1)
    return net


def workload(path, net):
    text = open(path).read()
    if "?" in text:
        raise ValueError("a question is no input")
    marking = lpn.Marking(net)
    marking.add("letters", count=len(text))
    return marking
'''
TRUTH = """

def truth(row):
    return row["name"], {"each": int(row["factor"])}, int(row["cycles"])
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "model.py").write_text(MODEL + TRUTH)
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    (inputs / "a").write_text("x" * 10)
    (inputs / "b").write_text("x" * 20)
    (inputs / "q").write_text("what?")
    (tmp_path / "truth.csv").write_text(
        "name,factor,cycles\na,1,10\na,2,16\nb,1,25\nq,1,5\ngone,1,7\nb,1,0\n"
    )
    return tmp_path


def test_rows(lpn, folder):
    answer = lpn(
        "validate",
        folder / "model.py",
        "--truth",
        folder / "truth.csv",
        "--inputs",
        "inputs",
        "--json",
    )
    assert answer.status == 2  # a truth of 0 cycles is wrong
    data = answer.json
    assert data["model"] == "model" and data["compared"] == 3 and data["exact"] == 1
    rows = data["rows"]
    assert all(row.pop("seconds") > 0 for row in rows)
    assert rows == [
        {"input": "a", "parameters": {"each": 1}, "truth": 10, "predicted": 10, "error": 0.0},
        {"input": "a", "parameters": {"each": 2}, "truth": 16, "predicted": 20, "error": 0.25},
        {"input": "b", "parameters": {"each": 1}, "truth": 25, "predicted": 20, "error": -0.2},
    ]
    assert data["mean_error"] == pytest.approx(0.15) and data["worst_error"] == 0.25
    reasons = {(row["input"], row["truth"]): row["reason"] for row in data["not_covered"]}
    assert reasons["q", 5] == "a question is no input"
    assert "No such file" in reasons["gone", 7]
    assert "is no number of cycles" in reasons["b", 0]


ROWS = """

class Letters(list):
    def __str__(self):
        return "letters"


def workload(letters, net):
    marking = lpn.Marking(net)
    marking.add("letters", count=len(letters))
    return marking


def truth_rows(path):
    for line in open(path):
        letters, cycles = line.split(":")
        yield Letters(letters), {}, int(cycles)
"""


def test_rows_that_carry_their_input(lpn, tmp_path):
    (tmp_path / "model.py").write_text(MODEL + ROWS)
    (tmp_path / "truth.txt").write_text("abc:3\nabcd:5\n")
    data = lpn("validate", tmp_path / "model.py", "--truth", tmp_path / "truth.txt", "--json").json
    assert [(row["input"], row["predicted"]) for row in data["rows"]] == [
        ("letters", 3),
        ("letters", 4),
    ]

    def refused(text, code):
        (tmp_path / "bad.txt").write_text(text)
        return lpn("validate", "model.py", "--truth", "bad.txt", cwd=tmp_path).refused(code)

    said = refused("abc:3\nabc:three\n", "E-truth-file")
    assert "bad.txt, row 2: invalid literal" in said
    answer = lpn("validate", "model.py", "--truth", "none.txt", cwd=tmp_path)
    assert "cannot read none.txt" in answer.refused("E-input")


def test_a_damaged_row_is_named(lpn, folder):
    """By its number or by its input, with the column that a half row lacks."""

    def said(row):
        (folder / "bad.csv").write_text("name,factor,cycles\na,1,10\n" + row)
        arguments = ("--truth", "bad.csv", "--inputs", "inputs")
        answer = lpn("validate", "model.py", *arguments, cwd=folder)
        assert answer.status == 2
        return answer.out + answer.err

    assert "bad.csv, row 3: there is no value of factor, cycles" in said("a\n")
    assert "bad.csv, row 3: there is no value of cycles" in said("a,1\n")
    assert "bad.csv, row 3: factor is 'x': invalid literal" in said("a,x,10\n")


def test_an_odd_number_is_not_said_to_be_missing(lpn, folder):
    """In a row in which another column, which nobody reads, is empty."""
    (folder / "bad.csv").write_text("name,note,factor,cycles\n\na,,1,1O\n")
    answer = lpn("validate", "model.py", "--truth", "bad.csv", cwd=folder)
    assert "bad.csv, row 3: cycles is '1O': invalid" in answer.refused("E-truth-file")


def test_a_truth_of_other_tools(lpn, folder):
    """With a byte order mark and ends of lines as Windows has them, and packed."""
    rows = "name,factor,cycles\na,1,10\na,2,16\n".encode()
    packed = gzip.compress(rows)
    files = {
        "mark.csv": b"\xef\xbb\xbf" + rows,
        "lines.csv": rows.replace(b"\n", b"\r\n"),
        "packed.csv.gz": packed,
        "packed.csv.xz": lzma.compress(rows),
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
        answer = lpn(
            "validate", "model.py", "--truth", name, "--inputs", "inputs", "--json", cwd=folder
        )
        assert (answer.status, answer.json["compared"]) == (0, 2), name
    (folder / "cut.csv.gz").write_bytes(packed[:20])
    answer = lpn("validate", "model.py", "--truth", "cut.csv.gz", cwd=folder)
    assert "cut.csv.gz is no whole gzip file" in answer.refused("E-truth-file")


def test_parameters_of_a_row_are_whole_numbers(lpn, tmp_path):
    odd = ROWS.replace("{}, int(cycles)", "{'x': [1]}, int(cycles)")
    (tmp_path / "model.py").write_text(MODEL + odd)
    (tmp_path / "truth.txt").write_text("abc:3\n")
    answer = lpn("validate", "model.py", "--truth", "truth.txt", cwd=tmp_path)
    assert answer.status == 2
    assert "letters (x=[1]): parameter 'x' is [1], no whole number" in answer.out


def test_refused_inputs_alone_are_no_failure(lpn, folder):
    (folder / "truth.csv").write_text("name,factor,cycles\na,1,10\nq,1,5\n")
    answer = lpn(
        "validate",
        folder / "model.py",
        "--truth",
        folder / "truth.csv",
        "--inputs",
        folder / "inputs",
    )
    assert answer.status == 0
    assert "1 row: mean error 0.0000%, worst 0.0000%, 1 exact" in answer.out
    assert "not covered: 1 row" in answer.out and "q (each=1): a question is no input" in answer.out


def test_inputs_beside_the_truth(lpn, folder):
    answer = lpn(
        "validate",
        "../model.py",
        "--truth",
        "../truth.csv",
        "--inputs",
        "../inputs",
        "--json",
        cwd=folder / "inputs",
    )
    assert answer.json["compared"] == 3


MANY = (
    MODEL.replace("open(path).read()", "of(path)")
    + """

def of(path):
    file, _, entry = str(path).partition("#")
    for line in open(file):
        name, _, text = line.strip().partition(" ")
        if name == entry:
            return text
    raise ValueError(f"{file} has no {entry}")
"""
)


@pytest.mark.parametrize("where", ["all.txt", "inputs/all.txt"])
def test_one_file_with_all_inputs(lpn, folder, where):
    (folder / "model.py").write_text(MANY + TRUTH)
    (folder / where).write_text("b xxxxx\na xxxxxxxxxx\nq what?\n")
    arguments = ["validate", folder / "model.py", "--truth", folder / "truth.csv"]
    answer = lpn(*arguments, "--inputs", where, "--json")  # beside the truth
    assert [(row["input"], row["predicted"]) for row in answer.json["rows"]] == [
        ("a", 10),
        ("a", 20),
        ("b", 5),
    ]
    reasons = {row["input"]: row["reason"] for row in answer.json["not_covered"] if row["truth"]}
    assert reasons["q"] == "a question is no input"
    assert reasons["gone"] == f"{folder / where} has no gone"
    here = lpn(*arguments, "--inputs", folder / where, "--json")
    assert [row["predicted"] for row in here.json["rows"]] == [10, 20, 5]


def test_a_model_that_does_not_read_one_file(lpn, folder):
    (folder / "all.txt").write_text("a xxxxxxxxxx\n")
    answer = lpn(
        "validate", folder / "model.py", "--truth", folder / "truth.csv", "--inputs", "all.txt"
    )
    assert "could be compared" in answer.refused("E-truth-file")
    assert "No such file" in answer.out and "all.txt#a" in answer.out


def test_refusals(lpn, folder):
    def text(*arguments):
        return lpn("validate", *arguments, cwd=folder)

    (folder / "no_truth.py").write_text(MODEL)
    assert "truth(row)" in text("no_truth.py", "--truth", "truth.csv").refused("E-model")
    assert "cannot read none.csv" in text("model.py", "--truth", "none.csv").refused("E-input")
    assert "no folder and no file nowhere" in text(
        "model.py", "--truth", "truth.csv", "--inputs", "nowhere"
    ).refused("E-input")
    (folder / "empty.csv").write_text("name,factor,cycles\n")
    assert "no rows" in text("model.py", "--truth", "empty.csv").refused("E-truth-file")
    (folder / "other.csv").write_text("name,cycles\na,1\n")
    assert "no column 'factor'" in text("model.py", "--truth", "other.csv").refused("E-truth-file")
    (folder / "odd.csv").write_text("name,factor,cycles\na,1,many\n")
    assert "row 2" in text("model.py", "--truth", "odd.csv").refused("E-truth-file")
    (folder / "bytes.csv").write_bytes(b"\xff\x00\xfe")
    text("model.py", "--truth", "bytes.csv").refused("E-truth-file")
    assert "--truth" in text("model.py").refused("E-usage")
    # Nothing to compare: the inputs are elsewhere.
    assert "could be compared" in text("model.py", "--truth", "truth.csv").refused("E-truth-file")


def test_a_broken_model_is_not_a_refused_input(lpn, folder):
    (folder / "model.py").write_text((MODEL + TRUTH).replace("len(text)", "length(text)"))
    answer = lpn(
        "validate", folder / "model.py", "--truth", folder / "truth.csv", "--inputs", "inputs"
    )
    assert "NameError" in answer.refused("E-model")


def test_jpeg_demo(lpn):
    data = lpn("validate", "jpeg", "--truth", DEMO / "cycles.csv", "--json").json
    assert data["compared"] >= 20 and data["not_covered"] == []
    assert data["mean_error"] <= 0.002 and data["worst_error"] <= 0.01


def test_jpeg_against_the_rtl(lpn):
    truth = SHARED / "truth" / "jpeg"
    if not (truth / "cycles.csv").exists():
        pytest.skip(f"no RTL figures at {truth}: set LPN_SHARED to the folder that has truth/jpeg")
    data = lpn(
        "validate", "jpeg", "--truth", "cycles.csv", "--inputs", "own", "--json", cwd=truth
    ).json
    assert data["compared"] == 92
    assert data["mean_error"] <= 0.002 and data["worst_error"] <= 0.01


TIMES = """

def truth_rows(path):
    import json

    for row in json.load(open(path)):
        yield Word(row["word"]), {}, row["mean"], row["times"]


class Word:
    def __init__(self, letters):
        self.letters = letters

    def __str__(self):
        return f"the word {self.letters}"


def compare(ready, expected):
    run = ready.run(collect=["out"])
    values, times = run.collected["out"]
    assert len(values) == 0 and list(times) == sorted(times)
    same = sum(a == b for a, b in zip(times, expected))
    mean = sum(times) / len(times) if times else None
    return run, {"predicted": mean, "times": len(expected), "times_exact": same}
"""


def test_nothing_is_made_for_a_row_that_says_why_it_is_not_compared(lpn, tmp_path):
    rows = ROWS.replace("int(cycles)", "int(cycles), ValueError('of another unit')")
    rows = rows.replace("marking.add(", "raise KeyError(")
    (tmp_path / "model.py").write_text(MODEL + rows)
    (tmp_path / "truth.txt").write_text("abc:3\n")
    data = lpn("validate", tmp_path / "model.py", "--truth", tmp_path / "truth.txt", "--json").json
    assert [row["reason"] for row in data["not_covered"]] == ["of another unit"]


@pytest.mark.parametrize("engine", ["interp", "compiled"])
def test_rows_of_more_than_a_latency(lpn, tmp_path, engine):
    model = MODEL.replace("open(path).read()", "path.letters")
    assert model != MODEL
    (tmp_path / "model.py").write_text(model + TIMES)
    (tmp_path / "truth.json").write_text(
        '[{"word": "abc", "mean": 2.0, "times": [1, 2, 3]},'
        ' {"word": "de", "mean": 1.25, "times": [1, 3]}, {"word": "?", "mean": 1, "times": [1]},'
        ' {"word": "f", "mean": 0.0, "times": [1]}]'
    )
    arguments = ["validate", tmp_path / "model.py", "--truth", tmp_path / "truth.json"]
    data = lpn(*arguments, "--json", "--engine", engine).json
    assert [row.pop("seconds") > 0 for row in data["rows"]] == [True, True]
    about = {"parameters": {}, "error": 0.0, "times": 3, "times_exact": 3}
    assert data["rows"][0] == {
        "input": "the word abc",
        "truth": 2.0,
        "predicted": 2.0,
        **about,
    }
    assert data["rows"][1] == {
        "input": "the word de",
        "truth": 1.25,
        "predicted": 1.5,
        "parameters": {},
        "error": 0.2,
        "times": 2,
        "times_exact": 1,
    }
    assert (data["times"], data["times_exact"], data["exact"]) == (5, 4, 1)
    reasons = {row["input"]: row["reason"] for row in data["not_covered"]}
    assert reasons["the word ?"] == "a question is no input"
    assert "is no number of cycles" in reasons["the word f"]
    shown = lpn(*arguments, "--engine", engine).out
    assert "5 times in them, 4 exact" in shown and "2.000" in shown and "1.500" in shown


def test_only_a_sink_can_be_collected(lpn, tmp_path):
    model = (MODEL + TIMES).replace("open(path).read()", "path.letters")
    (tmp_path / "model.py").write_text(model.replace('["out"]', '["letters"]'))
    (tmp_path / "truth.json").write_text('[{"word": "abc", "mean": 2.0, "times": []}]')
    for engine in ("interp", "compiled"):
        answer = lpn(
            "validate",
            tmp_path / "model.py",
            "--truth",
            tmp_path / "truth.json",
            "--engine",
            engine,
            "--json",
        )
        reason = answer.json["not_covered"][0]
        assert reason["code"] == "E-collect" and "collect a sink" in reason["reason"]
