"""The net's clocks against the sum of the phases, inputs, and what is refused."""

import math
import random

import pytest

import lpn

MODEL = lpn.load("darwin")


def simulate(text, tmp_path, name="pairs.txt", entry="", **parameters):
    (tmp_path / name).write_text(text)
    net = MODEL.net(**parameters)
    return lpn.simulate(net, MODEL.workload(f"{tmp_path / name}{entry}", net), engine="interp")


def pair(ref_len, query_len, seed=1):
    draw = random.Random(seed)
    return ["".join(draw.choice("ACGT") for _ in range(length)) for length in (ref_len, query_len)]


@pytest.mark.parametrize("seed", range(12))
def test_the_sum_of_the_phases(seed, tmp_path):
    draw = random.Random(seed)
    n = 2 ** draw.randint(1, 7)
    ref_len, query_len = draw.randint(n + 1, 511), draw.randint(1, 511 // n * n)
    steps, limited = draw.randint(0, min(600, ref_len + query_len)), draw.random() < 0.5
    stripes = math.ceil(query_len / n)
    entry = f"#a:{ref_len}x{query_len}+{steps}{'!' if limited else ''}"
    run = simulate("b A A\n", tmp_path, entry=entry, elements=n)
    ends = 3 * steps - (3 if limited else 0)
    assert run.latency == stripes * (ref_len + n + 2) + n + 12 + ends
    run = simulate("b A A\n", tmp_path, entry=entry, elements=n, align_fields=0)
    assert run.latency == stripes * (ref_len + n + 2) + n + 8
    assert not run.stalled


def test_tiles_one_after_the_other(tmp_path):
    """A clock between done and the next start; writing the bases only when it is asked for."""
    text = "a ACGTACGTA ACGTACGT\nb ACGTACGTA ACGTACGT\n"
    one = simulate(text, tmp_path, entry="#a").latency
    assert one == 2 * (9 + 6) + 16 + 3 * 8
    assert simulate(text, tmp_path).latency == 2 * one + 1
    assert simulate(text, tmp_path, load_sequences=1).latency == 2 * one + 1 + 2 * 2


def test_formats(tmp_path):
    ref, query = pair(70, 50)
    expected = simulate(f"# pairs\na {ref} {query}\n", tmp_path).latency
    assert simulate(f">a x\n{ref[:30]}\n{ref[30:]}\n>q\n{query}\n", tmp_path).latency == expected
    assert simulate(f">a\n{ref}\n>q\n{query}\n", tmp_path, entry="#a").latency == expected
    (tmp_path / "q.fa").write_text(f">q\n{query.lower()}\n")
    comma = f",{tmp_path / 'q.fa'}"
    assert simulate(f">r\n{ref}\n", tmp_path, "r.fa", comma).latency == expected
    assert simulate(f">r\n{ref}\n", tmp_path, "r.fa", comma + "#r").latency == expected
    # The columns of the file hold unless the parameters say otherwise.
    text = f"a {ref} {query} 400 0\n"
    assert simulate(text, tmp_path).latency == 13 * 76 + 12
    assert simulate(text, tmp_path, align_fields=32).latency == expected


@pytest.mark.parametrize(
    "text, entry, words",
    [
        ("", "", "has no pair of sequences"),
        ("a ACGT\n", "", "line 1: expected NAME REFERENCE QUERY"),
        ("a ACGTACGT ACGT x 32\n", "", "must be numbers"),
        (
            "a ACGTACGT ACGT 4_00 32\n",
            "",
            "line 1: words 4 and 5 must be numbers of decimal digits",
        ),
        ("a ACGTACGT ACGT 400 -1\n", "", "must be numbers"),
        ("a ACGTACGT ACGT 400 256\n", "", "out of range"),
        ("a ACGT1CGT ACGT\n", "", "something else than letters"),
        ("a ACGTACGT ACGT\n", "#b", "has no pair b"),
        ("a ACGTACGT ACGT\na ACGTACGT ACGT\n", "#a", "2 pairs of the name a"),
        ("a ACGTACGT ACGT\n", "#b:8x4+13", "b: 13 steps are more than 8 and 4 bases have"),
        ("a ACGTACGT ACGT\n", "#b:8x4+x", "has no pair b:8x4"),
        (">a\nACGTACGT\n", "", "by turns are an even number"),
        (">a\n>b\nACGT\n", "", "the reference is empty"),
        ("a ACG ACGT\n", "", "a: the reference must have more bases than elements"),
        ("\u00e9", "", "not ASCII"),
    ],
)
def test_refused_inputs(text, entry, words, tmp_path):
    with pytest.raises(ValueError, match=words):
        simulate(text, tmp_path, entry=entry)


def test_two_files_of_different_length(tmp_path):
    (tmp_path / "q.fa").write_text(">q\nACGT\n>s\nACGT\n")
    with pytest.raises(ValueError, match="there must be as many"):
        simulate(">r\nACGTACGT\n", tmp_path, "r.fa", f",{tmp_path / 'q.fa'}")
    (tmp_path / "q.fa").write_text("ACGT\n")
    with pytest.raises(ValueError, match="begins with a line"):
        simulate(">r\nACGTACGT\n", tmp_path, "r.fa", f",{tmp_path / 'q.fa'}")
    with pytest.raises(OSError):
        MODEL.workload(str(tmp_path / "none.txt"), MODEL.net())


def test_a_marking_for_another_array_is_refused():
    """Tokens made by hand meet the same limits as inputs."""
    net = MODEL.net(elements=64)
    marking = lpn.Marking(net)
    marking.add("tiles", ref_len=64, query_len=64, traceback=1, steps=3, limited=0)
    with pytest.raises(lpn.Error, match="more bases than there are elements"):
        lpn.simulate(net, marking, engine="interp")


def test_the_slowest_pair_is_proved():
    net = MODEL.net(elements=64)
    bounds = {"ref_len": 448, "ref_shortest": 65, "query_len": 384, "query_shortest": 1}
    answer = lpn.maximize(MODEL.space(net, gaps=32, **bounds))
    # 400 bases of reference end it: 376 matches, 24 and 8 gap bases.
    assert answer.upper == 6 * (448 + 66) + 76 + 3 * 408 - 3
    assert answer.lower == answer.upper


def test_bounds_of_the_space():
    net = MODEL.net()
    for bounds, words in (
        ({"ref_len": 512}, "takes 1 to 511"),
        ({"query_shortest": 400}, "shortest"),
        ({"tiles": 0}, "tiles 1 or more"),
    ):
        with pytest.raises(ValueError, match=words):
            MODEL.space(net, **bounds)
    with pytest.raises(ValueError, match="multiple of tile"):
        MODEL.space(MODEL.net(max_tb_steps=512))


@pytest.mark.parametrize(
    ("fields", "traceback", "told"),
    [
        (0, 1, "align_fields=0 asks for no traceback; write --space traceback=0"),
        (34, 0, "align_fields=34 asks for a traceback; write --space traceback=1"),
    ],
)
def test_a_space_has_the_traceback_that_is_asked_for(fields, traceback, told):
    """lpn smt looked for half a minute, and said that no input ends."""
    net = MODEL.net(align_fields=fields)
    with pytest.raises(ValueError, match=told):
        MODEL.space(net, traceback=traceback)
    assert lpn.maximize(MODEL.space(net, traceback=1 - traceback)).upper
