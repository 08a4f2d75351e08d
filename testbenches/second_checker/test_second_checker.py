"""The second checker: certificates of every kind of claim, and changed ones."""

import copy
import json
import pathlib
import shutil
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "fuzz")]

import certificate_fuzz  # noqa: E402
import lpn  # noqa: E402
from _truth import SHARED  # noqa: E402

FORGED = SHARED / "reviews/proofs/certificates"


def check(path, *options, program="check.py"):
    """(exit status, what it says)."""
    command = [sys.executable, str(HERE / program), *options, str(path)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=path.parent)
    assert not ran.stderr, ran.stderr
    return ran.returncode, ran.stdout.removeprefix(f"{path}: ").strip()


@pytest.fixture(scope="module")
def certificates():
    return certificate_fuzz.originals()


@pytest.fixture
def looked_at(tmp_path):
    def look(data, *options, **program):
        path = tmp_path / "proof.json"
        path.write_text(data if isinstance(data, str) else json.dumps(data))
        return check(path, *options, **program)

    return look


def test_it_needs_nothing_of_ours():
    for file in HERE.glob("*.py"):
        if file.name != "compare.py" and not file.name.startswith("test_"):
            assert "lpn" not in {
                word for line in file.read_text().splitlines()
                if line.startswith(("import ", "from ")) for word in line.replace(".", " ").split()
            }  # fmt: skip


def test_every_kind_of_claim_is_proved(certificates, looked_at):
    for data in certificates:
        status, said = looked_at(data)
        assert (status, said.split(";")[0]) == (0, "proved"), (data["claim"], said)


@pytest.mark.skipif(shutil.which("cvc5") is None, reason="no cvc5 (Debian package cvc5)")
def test_cvc5_proves_the_bounds_of_paths_and_no_better_ones(certificates, looked_at, tmp_path):
    data = copy.deepcopy(certificates[7])
    options = "--cvc5", "60", "--smtlib", str(tmp_path / "questions")
    status, said = looked_at(data, *options, program="export.py")
    assert status == 0 and said.endswith("cvc5 proves 4 of 4 bounds of paths"), said
    question = (tmp_path / "questions/0/0.smt2").read_text()
    bound = first(data)["bound"]
    assert question.count(f" {bound}))\n(check-sat)") == 1
    better = question.replace(f" {bound}))\n(check-sat)", f" {bound - 1}))\n(check-sat)")
    ran = subprocess.run(["cvc5", "-"], input=better, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "sat"


def test_a_claim_of_one_more_is_refused(certificates, looked_at):
    for data in certificates[:4]:
        better = copy.deepcopy(data)
        less = -1 if "largest" in data["claim"] else 1
        better["claim"]["proved"] += less
        better["bounds"][0]["most"] -= 1
        status, said = looked_at(better)
        assert status == 1, said
        for each in better["bounds"][0].get("certificates", []):
            each["bound"] += less
        status, said = looked_at(better)
        assert status == 1 and said.startswith("refused"), said


def test_an_input_fails_whose_request_is_done_before_it_is_born(looked_at):
    class Request(lpn.Token):
        born: lpn.Birth

    net = lpn.Net("early")
    queue = net.place("queue", Request, start=True)
    answers = net.place("answers", Request, done=True)
    net.transition("serve", take={"rq": queue}, put=[answers.forward("rq")], delay=5)
    space = lpn.InputSpace(net)
    space.tokens("queue", 1, born=(0, 5))
    data = lpn.maximize(space, "response(answers)").certificate
    assert looked_at(data)[0] == 0 and lpn.check_certificate(data).holds
    data["space"]["variables"][0][2] = 6
    data["tried"]["inputs"] = 7
    assert looked_at(data) == (1, "refused: an input stalls or fails")
    assert not lpn.check_certificate(data).holds


def test_a_parameter_that_leaves_its_range_is_refused(looked_at):
    """Found by compare.py: ours took such a space, as no run looks at the range."""
    net = lpn.Net("slow")
    wait = net.param("wait", default=2, range=(1, 5))
    jobs, done = net.place("jobs", start=True), net.place("done", done=True)
    net.transition("work", take={"job": jobs}, put=[done], delay=wait, servers=1)
    space = lpn.InputSpace(net)
    x = space.integer("x", 0, 9)
    space.param("wait", x)  # with conditions that keep it there
    space.tokens("jobs", 1)
    data = json.loads(json.dumps(lpn.maximize(space, tries=0).certificate))
    assert looked_at(data)[0] == 0 and lpn.check_certificate(data).holds
    for kept in ([], data["space"]["constraints"][:1]):
        data["space"]["constraints"] = kept
        assert looked_at(data)[0] == 1
        with pytest.raises(lpn.Error, match="and no condition keeps it in its range 1..5"):
            lpn.check_certificate(data)


def changed(data, change):
    data = copy.deepcopy(data)
    change(data)
    return data


def first(data):
    return data["bounds"][0]["certificates"][0]


@pytest.mark.parametrize(
    "change, why",
    [
        (lambda d: d.update(stalls=True), "no input stalls or fails"),
        (lambda d: d.update(net="lpn 1\nnet x\nend\n"), "no claim"),
        (lambda d: first(d)["steps"].pop(), "a box without a step"),
        (lambda d: first(d)["steps"].append({"kind": "point"}), "steps are left over"),
        (lambda d: first(d)["problem"]["target"].clear(), "another value than its run has"),
        (lambda d: first(d)["problem"]["conditions"].append(0), "of another kind"),
        (lambda d: d["bounds"][0].update(offset=1), "less well than all are"),
        (lambda d: d["space"]["tokens"].append(d["space"]["tokens"][0]), "one place twice"),
        (lambda d: d["witness"].update({"jobs[0].size": 9}), "outside of the ranges"),
        (lambda d: d["space"]["variables"][0].__setitem__(0, ""), "other characters, or too many"),
        (lambda d: d["bounds"][0].update(form=[[["latency"], 2]]), "a bound of another form"),
    ],
)
def test_a_changed_certificate_is_refused(certificates, looked_at, change, why):
    status, said = looked_at(changed(certificates[7], change))
    assert status == 1 and said.startswith("refused: ")
    assert why == "no claim" or why in said, said


def test_a_part_that_is_behind_has_one_multiplier_per_limit(certificates, looked_at):
    """They were not looked at."""
    parts = [
        (number, part)
        for number, data in enumerate(certificates)
        for bound in data.get("bounds", ())
        for each in bound.get("certificates", ())
        for step in each["steps"]
        for part in step.get("parts", ())
        if "behind" in part
    ]
    assert parts
    number, part = parts[0]
    part["multipliers"] = [0] * 1000
    status, said = looked_at(certificates[number])
    part["multipliers"] = []
    assert status == 1 and "multipliers of other limits" in said, said


def test_the_time_is_over_within_a_run_too(certificates, looked_at):
    """A net that goes on for ever took 200,000 firings of each input, whatever `--seconds` said."""
    data = copy.deepcopy(next(d for d in certificates if "net until_done" in d["net"]))
    assert data["space"]["tokens"]
    data["space"]["tokens"] = []
    status, said = looked_at(data, "--seconds", "0.2")
    assert (status, said) == (3, "unknown: no time is left"), said


def test_what_is_no_certificate(looked_at):
    for text, why in [
        ("", "no JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('{"lpn certificate": 1, "lpn certificate": 1}', "stands in one object twice"),
        ('{"lpn certificate": ' + "9" * 5000 + "}", "too many digits"),
        ('{"lpn certificate": 1e400}', "no whole number"),
        ('{"lpn certificate": Infinity}', "no whole number"),
        ("{}", "has no"),
    ]:
        status, said = looked_at(text)
        assert status == 1 and why in said, (text[:40], said)


def test_a_space_of_a_single_input(looked_at):
    net = lpn.Net("plain")
    jobs, done = net.place("jobs", start=True), net.place("done", done=True)
    net.transition("work", take={"job": jobs}, put=[done], delay=3, servers=1)
    space = lpn.InputSpace(net)
    space.tokens("jobs", 2)
    data = json.loads(json.dumps(lpn.minimize(space).certificate))
    assert data["space"]["nodes"] == [] and data["bounds"][0]["maximum"] is False
    assert looked_at(data)[0] == 0
    for step in ({"kind": "point"}, {"kind": "relaxation", "denominator": 1, "multipliers": []}):
        wrong = changed(data, lambda d: first(d).update(bound=2**62, steps=[step]))
        assert looked_at(wrong)[0] == 1, step


def test_a_term_that_doubles_itself_is_no_way_to_keep_it_busy(certificates, looked_at):
    data = copy.deepcopy(certificates[7])
    nodes = data["space"]["nodes"]
    nodes += [["add", n, n] for n in [0, *range(len(nodes), len(nodes) + 60)]]
    status, said = looked_at(data)
    assert status == 1 and "too large" in said, said


def test_a_space_of_too_many_inputs_is_not_said_to_be_proved(certificates, looked_at):
    status, said = looked_at(certificates[7], "--inputs", "10")
    assert status == 3 and "inputs were run, of" in said, said


def test_the_forged_ones_of_the_review_prove_nothing():
    if not FORGED.is_dir():
        pytest.skip(f"{FORGED} is not there")
    for path in sorted(FORGED.glob("*.json")):
        status, said = check(path)
        assert status in (1, 3), (path.name, said)


def test_an_arc_of_weight_0_waits_for_no_turn(looked_at):
    """The rival takes from `more` at 3, the second token comes at 5: stall(work, jobs) is 5, not 2."""
    net = lpn.Net("turns")
    start = net.place("start", start=True)
    jobs, more = net.place("jobs"), net.place("more", start=True, sink=True)
    soon, done = net.place("soon"), net.place("done", done=True)
    net.transition("feed", take={"t": start}, put=[jobs.emit(), soon.emit()], delay=3, servers=1)
    net.transition("late", take={"t": soon}, put=[jobs.emit()], delay=2, servers=1)
    net.transition("rival", take={"t": more}, put=[done.emit()], delay=1, clock=(8, 3), servers=1)
    net.transition(
        "work", take={"t": jobs.take(2), "m": more.take(0)}, put=[done.emit()], delay=1, servers=1
    )
    space = lpn.InputSpace(net)
    space.tokens("start", 1)
    space.tokens("more", 1)
    answer = lpn.maximize(space, "stall('work', 'jobs')")
    assert answer.upper == 5 and looked_at(json.loads(json.dumps(answer.certificate)))[0] == 0
