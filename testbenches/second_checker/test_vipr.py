"""Bounds of paths as VIPR certificates, and their reader."""

import json
import pathlib
import random
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "second"), str(HERE.parent / "fuzz")]

import certificate_fuzz  # noqa: E402
import check as second  # noqa: E402
import vipr  # noqa: E402
import vipr_check  # noqa: E402
from document import Unknown  # noqa: E402

LEAST = (
    1,
    12,
)  # of certificate_fuzz.originals(): least latencies; the second with edges, splits and points


@pytest.fixture(scope="module")
def certificates():
    return certificate_fuzz.originals()


def problems(data):
    """(problem, maximum, its bound, its steps) of each path."""
    found = second.Check(json.loads(json.dumps(data)))
    terms = second.Terms(found.data["terms"], found.space.variables, found.space.terms)
    for bound in found.bounds:
        for each in bound["certificates"]:
            problem = second.Problem(each["problem"], terms, found.space)
            yield problem, bound["maximum"], each["bound"], each["steps"]


@pytest.mark.parametrize("number", LEAST)
def test_least_values_are_proved_as_sums(certificates, number, tmp_path):
    data = certificates[number]
    (tmp_path / "proof.json").write_text(json.dumps(data))
    command = [
        sys.executable,
        str(HERE / "export.py"),
        "--vipr",
        str(tmp_path),
        str(tmp_path / "proof.json"),
    ]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    paths = data["bounds"][0]["paths"]
    assert f"; {paths} of {paths} bounds of paths written as VIPR" in said
    files = sorted((tmp_path / "0").glob("*.vipr"))
    assert len(files) == paths
    command = [sys.executable, str(HERE / "vipr_check.py"), *map(str, files)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    bounds = [each["bound"] for each in data["bounds"][0]["certificates"]]
    assert [line.split(": ", 1)[1] for line in said] == [
        f"proved: the objective is at least {bound}" for bound in bounds
    ]


@pytest.mark.parametrize("number", LEAST)
def test_the_program_has_every_input_of_its_path(certificates, number):
    inside = 0
    for problem, maximum, bound, steps in problems(certificates[number]):
        made = vipr.Vipr(problem, maximum, bound)
        for assignment in problem.space.assignments():
            if problem.space.contains(assignment) is None or problem.value(assignment) is None:
                continue
            inside += 1
            choice = [
                rows.index(tuple(assignment[v] for v in unit))
                for unit, rows in zip(problem.units, problem.tuples)
            ]
            known = problem.terms.values(assignment, problem.program)
            times = problem.times(lambda v: [(a, known[k]) for a, k in problem.instants[v][1]])
            values = {columns[r]: 1 for columns, r in zip(made.y, choice)}
            values |= {k: times[v] for v, k in made.t.items()}
            for v, (k, _) in made.turns.items():
                period, phase = problem.instants[v][2:]
                assert (times[v] - phase) % period == 0
                values[k] = (times[v] - phase) // period
            for sense, value, parts, _ in made.rows[: made.given]:
                left = sum(c * values.get(k, 0) for k, c in parts.items())
                assert {"G": left >= value, "L": left <= value, "E": left == value}[sense]
    assert inside > 50


def test_what_is_no_sum_is_not_written(certificates):
    for number in (2, 7):  # longest paths
        for given in problems(certificates[number]):
            with pytest.raises(Unknown, match="only least values of one instant are sums"):
                vipr.certificate(*given)


def refused(text):
    with pytest.raises(vipr_check.Refused) as why:
        vipr_check.proved(text)
    return str(why.value)


def test_no_more_than_the_bound_is_proved(certificates):
    for problem, maximum, bound, steps in problems(certificates[12]):
        text = vipr.certificate(problem, maximum, bound, steps)
        assert vipr_check.proved(text.replace(f"range {bound} inf", f"range {bound - 1} inf"))
        assert "does not give the bound" in refused(
            text.replace(f"range {bound} inf", f"range {bound + 1} inf")
        )
        lines = text.splitlines()
        assert "cut off" in refused("\n".join(lines[:-1]))
        derived = next(int(line.split()[1]) for line in lines if line.startswith("DER "))
        less = text.replace(f"DER {derived}", f"DER {derived - 1}").rsplit(lines[-1], 1)[0]
        assert "rests on assumptions" in refused(less)
        with pytest.raises(Unknown):
            vipr.certificate(problem, maximum, bound + 1, steps)


def test_changed_derivations_prove_nothing_false(certificates):
    """A number changed behind the constraints: refused, or still a proof of the same or of less."""
    ((problem, maximum, bound, steps),) = problems(certificates[12])
    text = vipr.certificate(problem, maximum, bound, steps)
    head, tail = text.split("RTP ")
    words, source, accepted = tail.split(" "), random.Random(5), 0
    numbers = [k for k, word in enumerate(words) if word.lstrip("-").isdigit()]
    for _ in range(400):
        changed, k = list(words), source.choice(numbers)
        changed[k] = str(int(changed[k]) + source.choice((-2, -1, 1, 2)))
        try:
            told = vipr_check.proved(head + "RTP " + " ".join(changed))
        except vipr_check.Refused:
            continue
        accepted += 1
        assert int(told.rsplit(" ", 1)[1]) <= bound, told
    assert accepted < 200


GOOD = """VER 1.0
VAR 2
x y
INT 2
0 1
OBJ min
2 0 1 1 1
CON 2 0
C1 G 1 2 0 4 1 1
C2 L 2 2 0 4 1 -1
RTP range 1 inf
SOL 0
DER 4
C3 G -1/2 1 1 1 { lin 2 0 1/2 1 -1/2 } 3
C4 G 0 1 1 1 { rnd 1 2 1 } 4
C5 G 1/4 OBJ { lin 2 0 1/4 3 3/4 } 5
C6 G 1 OBJ { rnd 1 4 1 } -1
"""


def test_the_reader_on_a_program_by_hand():
    assert vipr_check.proved(GOOD) == "the objective is at least 1"
    for old, new, why in (
        ("INT 2\n0 1", "INT 1\n0", "cannot be rounded"),
        ("{ lin 2 0 1/2 1 -1/2 }", "{ lin 2 0 1/2 1 1/2 }", "both senses"),
        ("{ lin 2 0 1/2 1 -1/2 }", "{ lin 2 0 1/2 9 -1/2 }", "no such index"),
        ("{ lin 2 0 1/2 1 -1/2 }", "{ lin 2 0 1/2 0 -1/2 }", "an index twice"),
        ("{ lin 2 0 1/2 1 -1/2 }", "{ lin 2 0 1/0 1 -1/2 }", "no number"),
        ("C3 G -1/2", "C3 G -1/3", "says less"),
        ("RTP range 1 inf", "RTP infeas", "no falsehood"),
        ("{ rnd 1 4 1 }", "{ asm }", "rests on assumptions"),
        ("RTP range 1 inf", "RTP range 1 1", "both bounds"),
        ("} -1\n", "} -1 more", "left over"),
        ("VER 1.0", "VER 2.0", "is expected"),
    ):
        assert old in GOOD and why in refused(GOOD.replace(old, new)), (old, new)
