"""Runs that a condition ends: lpn sim --until, lpn.simulate(until=), the breaks of lpn debug."""

import sys

import pytest
from conftest import BUILD

sys.path.insert(0, str(BUILD / "python"))
lpn_package = pytest.importorskip("lpn")

# LINE of conftest: `mid` holds two; the tokens of `in` are 3, 2, 1, 5 cycles of `second`.
TOKENS = {"in": [[3], [2], [1], [5]]}
FULL = "mid.count == 2 and mid.free == 1"


@pytest.fixture
def line(nets, marking):
    return nets / "line.lpn", marking("in.json", TOKENS)


def marked(line):
    model = lpn_package.load(str(line[0]))
    net = model.net()
    return net, model.workload(str(line[1]), net)


def test_it_stops_at_the_first_instant_at_which_it_holds(lpn, line):
    answer = lpn("sim", *line, "--until", FULL)
    assert answer.status == 0 and answer.err == ""
    assert answer.out.splitlines()[2].endswith("stopped at 2")
    assert answer.out.splitlines()[-1] == (
        f"{line[1]}: stopped at time 2, because {FULL} (mid.count=2, mid.free=1)"
    )
    data = lpn("sim", *line, "--until", FULL, "--json").json
    assert data["engine"] == "interp"
    [row] = data["runs"]
    assert (row["ending"], row["until"], row["latency"], row["firings"]) == (
        "condition",
        2,
        None,
        2,
    )
    assert row["stopped"] == {
        "at": 2,
        "reason": "condition",
        "text": f"stopped at time 2, because {FULL} (mid.count=2, mid.free=1)",
    }


def test_it_is_the_state_of_a_run_with_that_limit(line):
    """Whatever the number of tokens waited for: as a run that is cut off there."""
    net, work = marked(line)
    for most in range(1, 5):
        run = lpn_package.simulate(
            net, work, until=f"out.count >= {most}", stats=True, read=["out"]
        )
        cut = lpn_package.simulate(net, work, limit=run.until, stats=True, read=["out"])
        assert run.ending == "condition" and run.tokens == {"out": most} == cut.tokens
        assert (run.commits, run.latency, run.stats) == (cut.commits, cut.latency, cut.stats)
        before = lpn_package.simulate(net, work, limit=run.until - 1, read=["out"])
        assert before.tokens["out"] < most


def test_instant_0_counts(lpn, line):
    row = lpn("sim", *line, "--until", 'count("in") == 4', "--json").json["runs"][0]
    assert (row["ending"], row["until"], row["firings"]) == ("condition", 0, 0)


def test_one_that_never_holds_is_said(lpn, line):
    answer = lpn("sim", *line, "--until", "mid.count > 2")
    assert answer.status == 0
    assert answer.err == f"note: {line[1]}: mid.count > 2 did not come to hold\n"
    assert lpn("sim", *line, "--until", "mid.count > 2", "--json").json["runs"][0]["latency"] == 12


def test_limits_still_hold(lpn, line):
    answer = lpn("sim", *line, "--until", "out.count == 4", "--limit", "5")
    assert answer.status == 3 and "did not come to hold" in answer.err


def test_long_runs_go_in_slices(lpn, nets):
    row = lpn(
        "sim", nets / "clock.lpn", "--until", "out.count >= 70000", "--json", "--limit", 10**5
    )
    assert row.json["runs"][0]["ending"] == "limit"
    text = (nets / "clock.lpn").read_text().replace("put tick\n", "put tick\n  put out\n")
    (nets / "clock.lpn").write_text(text)
    row = lpn("sim", nets / "clock.lpn", "--until", "out.count >= 70000", "--json").json["runs"][0]
    assert (row["ending"], row["until"], row["latency"]) == ("condition", 70000, 70000)


def test_parameters_and_arithmetic(lpn, line):
    for text, when in [
        ("2 * out.count - slow >= 3", 6),
        ("not (out.count < 2)", 6),
        ("0 < out.count <= 2 or mid.count == 7", 4),
        ("max(out.count, mid.count) == 3", 7),
        ('abs(count("in") - 3) == 3', 7),
        ("out.count % 2 == 0 and out.count // 2 == 1", 6),
        ('count("out") == 4', 12),
        ('min(count("in"), 3) == 2', 2),
    ]:
        row = lpn("sim", *line, "--until", text, "--json").json["runs"][0]
        assert (row["ending"], row["until"]) == ("condition", when), text


MADE_OF = (
    "; a condition over the places of net 'line' is made of PLACE.count, PLACE.free, parameters, "
    "whole numbers, + - * // %, min, max, abs, comparisons, and, or, not"
)


@pytest.mark.parametrize(
    "text, why",
    [
        ("mdi.count > 1", "there is no place 'mdi'; did you mean 'mid'?"),
        ("mid > 1", "'mid' is a place; write mid.count or mid.free"),
        ("mid.count", "it is a number; compare it with something, as in buffer.count >= 4"),
        ("slow > 2", "it does not depend on any place"),
        ("mid.count > 2.5", "'2.5' is not understood"),
        ("mid.count > fast", "there is no parameter 'fast'; there are: slow"),
        (
            "mid.count and out.count",
            "a number stands where a condition should; compare it with something",
        ),
        ("(mid.count > 1) + 1 > 2", "a condition stands where a number should"),
        ("__import__('os').system('true')", "'__import__('os').system('true')' is not understood"),
        (
            "mid.count > 1 if True else False",
            "'mid.count > 1 if True else False' is not understood",
        ),
        ("mid.count >", "it cannot be read (invalid syntax)"),
        ("", "it cannot be read (invalid syntax)"),
        ("mid.count ** 2 > 1", "'mid.count ** 2' is not understood"),
        ("mid.count in (1, 2)", "'(1, 2)' is not understood"),
        ("mid.count // 0 > 1", "occupancy(mid) is divided by zero; a divisor must be positive"),
    ],
)
def test_refusals(lpn, line, text, why):
    answer = lpn("sim", *line, "--until", text)
    assert answer.status == 2
    assert answer.err == f"error: '{text}': {why}{MADE_OF} [E-condition]\n"


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000 + "mid.count > 1" + ")" * 5000,
        "-" * 9000 + "1 > mid.count",
        "mid.count > " + "9" * 9000,
        "mid.count > 1 and " * 3000 + "1 > 2",
    ],
)
def test_absurd_ones_are_refused_in_words(lpn, line, text):
    answer = lpn("sim", *line, "--until", text)
    assert answer.status == 2 and answer.err.count("[E-condition]") == 1
    assert len(answer.err) < 1000


def test_what_does_not_go_with_it(lpn, line):
    answer = lpn("sim", *line, "--until", "mid.count > 1", "--engine", "compiled")
    assert answer.status == 2
    assert answer.err == (
        "error: only the interpreter looks at a condition after every instant; leave the compiled "
        "engine out, or the condition [E-engine]\n"
    )
    answer = lpn("sim", *line, "--until", "mid.count > 1", "--critical-path")
    assert answer.status == 2 and "--until ends a run early" in answer.err
    net, work = marked(line)
    with pytest.raises(lpn_package.Error, match="has no critical path"):
        lpn_package.simulate(net, work, until="mid.count > 1", path=True)
    with pytest.raises(lpn_package.Error, match="only the interpreter"):
        lpn_package.simulate(net, work, until="mid.count > 1", engine="compiled")
    with pytest.raises(lpn_package.Error, match='a condition is text, as "buffer.count >= 4"'):
        lpn_package.simulate(net, work, until=4)


def test_a_fault_of_the_condition_is_said(lpn, line):
    row = lpn("sim", *line, "--until", '6 // count("in") > 6', "--json").json["runs"][0]
    assert row["error"]["code"] == "E-condition"
    assert row["error"]["message"] == (
        "net 'line': the condition cannot be computed: divides by 0; a divisor must be positive: "
        "guard it with select or max(x, 1)"
    )


def test_breaks_on_conditions(lpn, line):
    commands = "break mid.count == 2; break out.count > 1; run; run; run; delete mid.count == 2; run; back 3; run; run"
    answer = lpn("debug", *line, "-c", commands, "--json")
    assert answer.status == 0, answer.err
    runs = [a for a in answer.json["answers"] if a["command"] == "run"]
    # mid is full from 2 to 4, and again from 5 to 6, when the second is out.
    assert [(r["stopped"], r["cycle"]) for r in runs] == [
        ("break", 2),
        ("break", 5),
        ("break", 6),
        ("quiet", 12),
        ("break", 6),
        ("quiet", 12),
    ]


def test_a_break_says_what_holds(lpn, line):
    answer = lpn("debug", *line, "-c", "break out.count >= 1; run; where")
    assert "break in cycle 4: out.count >= 1 (out.count=1)" in answer.out
    assert "breaks: out.count >= 1" in answer.out
    answer = lpn("debug", *line, "-c", "break outt.count >= 1")
    assert answer.status == 2 and "there is no place 'outt'; did you mean 'out'?" in answer.err
