"""lpn smt: bounds, properties, witnesses, certificates, stalls and refusals."""

import json
import shutil
import subprocess

import pytest
from conftest import BUILD, REPO, interrupted

PIPELINE = REPO / "testbenches" / "bounds" / "pipeline.py"
LTC_JPEG = REPO / "testbenches" / "ltc" / "jpeg.py"

# A job of kind 1 needs a key; there is one, and it does not come back.
LOCKED = """import lpn


class Job(lpn.Token):
    kind: lpn.Int[0, 1]
    size: lpn.Int[0, 9]


def net():
    net = lpn.Net("locked")
    jobs = net.place("jobs", Job, start=True)
    keys = net.place("keys", init=net.param("keys", 1, range=(0, 9)))
    done = net.place("done", done=True)
    net.transition("open_", take={"job": jobs.take(guard=lambda job: job.kind == 0)}, put=[done],
                   delay=lambda job: job.size, servers=1)
    net.transition("locked", take={"job": jobs.take(guard=lambda job: job.kind == 1), "key": keys}, put=[done],
                   delay=20, servers=1)
    return net


def space(net, jobs=3, kinds=(0, 1)):
    space = lpn.InputSpace(net)
    space.tokens("jobs", jobs, kind=kinds)
    return space
"""


def test_maximize(lpn, tmp_path):
    proof = tmp_path / "proof.json"
    answer = lpn(
        "smt",
        PIPELINE,
        "--space",
        "blocks=18",
        "--maximize",
        "latency",
        "--certificate",
        proof,
        "--json",
    )
    assert answer.status == 0, answer.err
    data = answer.json
    assert (data["verdict"], data["lower"], data["upper"]) == ("optimal", 2215, 2215)
    assert data["replayed"] is True and data["complete"] is True and data["stalled"] is None
    assert data["classes"] == data["paths"] == 1 and data["seconds"] < 20
    assert sum(data["witness"]["assignment"].values()) <= 18 * 18
    assert [token["x"] for token in data["witness"]["tokens"]["blocks"]] == list(
        data["witness"]["assignment"].values()
    )
    assert data["witness"]["parameters"]["slope0"] == 3
    checked = lpn("smt", "--check", proof, "--json")
    assert checked.status == 0
    assert checked.json["verdict"] == "proved"
    assert checked.json["claim"] == "latency <= 2215, for all inputs of the space"
    assert checked.json["witness"] == data["witness"]["assignment"]


def test_minimize_and_parameters(lpn, tmp_path):
    answer = lpn(
        "smt",
        LTC_JPEG,
        "--space",
        "blocks=12",
        "sum_from=204",
        "sum_below=216",
        "--minimize",
        "latency",
        "--json",
    )
    assert answer.status == 0
    assert (answer.json["verdict"], answer.json["lower"], answer.json["upper"]) == (
        "optimal",
        1188,
        1188,
    )
    wide = lpn(
        "smt",
        PIPELINE,
        "--space",
        "blocks=18",
        "-p",
        "capacity0=9",
        "--maximize",
        "latency",
        "--json",
    ).json
    assert wide["upper"] < 2215 and wide["verdict"] == "optimal"


def test_the_witness_is_an_input_for_sim(lpn, tmp_path):
    lpn("print", PIPELINE).out
    net = tmp_path / "net.lpn"
    net.write_text(lpn("print", PIPELINE).out)
    answer = lpn("smt", PIPELINE, "--maximize", "latency", "--witness", tmp_path / "worst.lpnm")
    assert answer.status == 0 and "maximize latency: 2 215" in answer.out
    assert f"it is in {tmp_path / 'worst.lpnm'}" in answer.out
    run = lpn("sim", net, tmp_path / "worst.lpnm", "--engine", "interp", "--json").json
    assert run["runs"][0]["latency"] == 2215


@pytest.mark.parametrize(
    "property_, verdict, status",
    [
        ("latency <= 2215", "proved", 0),
        ("latency < 2215", "refuted", 1),
        ("latency >= 100", "proved", 0),
        ("1000 <= latency <= 2300", "proved", 0),
        ("latency > 1000 and latency < 2000", "refuted", 1),
        ("2 * latency - 30 <= 4400", "proved", 0),
        ("latency / 5 < 443", "refuted", 1),
        ("abs(latency - 1700) <= 520", "proved", 0),
        ("abs(latency - 1700) <= 500", "refuted", 1),
        ("latency <= min(2215, 3000)", "proved", 0),
        ("completion(18) <= 2215", "proved", 0),
        ("completion(1) <= 300", "refuted", 1),
        ("busy(stage_1) == 18 * 66", "proved", 0),
        ("busy(stage_0) <= 3 * 18 * 18 + 6 * 18", "proved", 0),
        ("commits(stage_2) == 18", "proved", 0),
        ("latency - completion(3) <= 1809", "proved", 0),
        ("latency - completion(3) <= 1700", "refuted", 1),
        ("stall(stage_0, buffer_0) <= 20", "refuted", 1),
    ],
)
def test_prove(lpn, tmp_path, property_, verdict, status):
    proof = tmp_path / "proof.json"
    answer = lpn("smt", PIPELINE, "--prove", property_, "--certificate", proof, "--json")
    assert answer.json["verdict"] == verdict, answer.out
    assert answer.status == status
    assert proof.exists() == (verdict == "proved")
    if verdict == "proved":
        checked = lpn("smt", "--check", proof, "--json")
        assert (checked.status, checked.json["verdict"]) == (0, "proved"), checked.json["why"]
    else:
        assert answer.json["witness"] is not None and answer.json["replayed"] is True


@pytest.mark.parametrize(
    "property_, words",
    [
        ("latency", "is no property; write a comparison"),
        ("latency <= ", "cannot be read"),
        ("busy(credits.return) <= 5", 'write for example busy("credits.return"), since'),
        ('busy("credits.return") <= ', "write for example latency <= 2300"),
        ("latency <= x", "'x' in 'latency <= x': is not understood"),
        ("latency != 5", "use <=, <, >=, > or =="),
        ("latency * latency <= 5", "multiplies two quantities"),
        ("latency <= 3 or latency >= 5", "several joined with `and`"),
        ("latency <= max(3, completion(2))", "on the small side"),
        ("busy(stage_9) <= 5", "there are: stage_0, stage_1, stage_2, stage_3"),
        ("completion(99) <= 5", "there is no done token 99"),
        ("E <= latency", "--interface FILE.py gives"),
        ("__import__('os').getcwd() <= 5", "is not understood"),
        ("stall(stage_0) <= 5", "stall(T, P) needs a transition and a place"),
        ("stall(stage_0, left) <= 5", "stage_0 never waits for left"),
    ],
)
def test_refused_properties(lpn, property_, words):
    assert words in lpn("smt", PIPELINE, "--prove", property_).refused("E-property")


def test_refused_requests(lpn, tmp_path):
    for arguments in (
        (),
        (PIPELINE,),
        (PIPELINE, "--maximize", "latency", "--prove", "latency <= 3"),
        (PIPELINE, "--check", PIPELINE),
        (PIPELINE, "--maximize", "latency", "--free", "capacity0"),
        (PIPELINE, "--prove", "latency <= 3", "--pareto"),
        (PIPELINE, "--prove", "latency <= 3", "--free", "capacity0", "--pareto"),
    ):
        lpn("smt", *arguments).refused("E-usage")
    lpn("smt", PIPELINE, "--prove", "latency <= 3", "--free", "capacity").refused("E-param")
    lpn("smt", PIPELINE, "--space", "blok=3", "--maximize", "latency").refused("E-space")
    (tmp_path / "empty.py").write_text("import lpn\n")
    answer = lpn("smt", PIPELINE, "--prove", "E <= latency", "--interface", tmp_path / "empty.py")
    assert "has no function latency(x)" in answer.refused("E-property")
    # No input at all: the sum cannot be both.
    answer = lpn("smt", LTC_JPEG, "--space", "sum_from=5", "sum_below=5", "--maximize", "latency")
    assert "has no input" in answer.refused("E-space")


def test_a_deadlock_is_found_and_shown_first(lpn, tmp_path):
    model = tmp_path / "locked.py"
    model.write_text(LOCKED)
    answer = lpn("smt", model, "--maximize", "latency", "--json")
    assert answer.status == 1
    data = answer.json
    assert data["verdict"] == "refuted"
    stalled = data["stalled"]
    assert stalled["outcome"] == "stalled" and "locked" in stalled["why"]
    kinds = [token["kind"] for token in stalled["input"]["tokens"]["jobs"]]
    assert sum(kinds) >= 2
    shown = lpn("smt", model, "--maximize", "latency")
    assert shown.status == 1
    assert shown.out.index("stalls for this input: ") < shown.out.index("maximize latency: ")
    enough = lpn("smt", model, "-p", "keys=3", "--prove", "latency <= 60", "--json")
    assert (enough.status, enough.json["verdict"]) == (0, "proved")


def test_an_interface_is_compared_with_the_net(lpn, tmp_path):
    interface = tmp_path / "interface.py"
    interface.write_text(
        "def latency(x):\n    return 240 + sum(3 * blk.x for blk in x.blocks) + 66 * len(x.blocks)\n"
    )
    proof = tmp_path / "proof.json"
    answer = lpn(
        "smt",
        PIPELINE,
        "--space",
        "blocks=6",
        "--prove",
        "abs(E - latency) <= 0.9 * latency",
        "--interface",
        interface,
        "--certificate",
        proof,
        "--json",
    )
    assert (answer.status, answer.json["verdict"]) == (0, "proved"), answer.out
    assert lpn("smt", "--check", proof, "--json").json["verdict"] == "proved"
    worse = lpn(
        "smt",
        PIPELINE,
        "--space",
        "blocks=6",
        "--prove",
        "abs(E - latency) <= 0.01 * latency",
        "--interface",
        interface,
        "--json",
    )
    assert (worse.status, worse.json["verdict"], worse.json["replayed"]) == (1, "refuted", True)


def test_a_parameter_is_found_for_all_inputs(lpn, tmp_path):
    proof = tmp_path / "proof.json"
    answer = lpn(
        "smt",
        PIPELINE,
        "--prove",
        "latency <= 2200",
        "--free",
        "capacity1",
        "--certificate",
        proof,
        "--json",
    )
    assert answer.status == 0
    assert answer.json["free"] == {
        "parameter": "capacity1",
        "value": 3,
        "least": True,
        "all_tried": False,
    }
    assert [row["verdict"] for row in answer.json["tried"]] == ["refuted", "refuted", "proved"]
    assert lpn("smt", "--check", proof).status == 0
    # With fewer than four buffers the decoder stalls; with four its share of waiting is small
    # enough.
    ratio = (
        " + ".join(f"stall(start_{plane}, pixel_slots)" for plane in ("y", "cb", "cr"))
        + " <= 0.4 * latency"
    )
    answer = lpn(
        "smt",
        LTC_JPEG,
        "--space",
        "blocks=18",
        "--prove",
        ratio,
        "--free",
        "buffers=1..9",
        "--json",
    )
    assert answer.status == 0
    assert answer.json["free"]["value"] == 4 and answer.json["free"]["least"] is True
    assert [row["stalls"] for row in answer.json["tried"]] == [True, True, True, False]
    never = lpn("smt", PIPELINE, "--prove", "latency <= 100", "--free", "capacity1=1..3", "--json")
    assert never.status == 1 and never.json["free"]["value"] is None


def test_the_curve_of_a_parameter(lpn):
    answer = lpn(
        "smt", PIPELINE, "--maximize", "latency", "--free", "capacity0=1..4", "--pareto", "--json"
    )
    assert answer.status == 0
    assert [row["upper"] for row in answer.json["tried"]] == [2536, 2215, 2054, 2054]
    shown = lpn("smt", PIPELINE, "--maximize", "latency", "--free", "capacity0=1..4", "--pareto")
    assert "2  optimal  2 215  2 215" in shown.out


def test_a_witness_is_an_input_of_its_model(lpn, tmp_path):
    """The model's own workload reads text; the file of --witness is no text."""
    model, witness = tmp_path / "jobs.py", tmp_path / "worst.lpnm"
    model.write_text(
        """
import lpn


class Job(lpn.Token):
    size: lpn.Int[1, 9]


def net():
    net = lpn.Net("jobs")
    jobs, done = net.place("jobs", Job, start=True), net.place("done", done=True)
    net.transition("work", take={"j": jobs}, put=[done], delay=lambda j: j.size, servers=1)
    return net


def workload(input, net):
    marking = lpn.Marking(net)
    for size in open(input, encoding="utf-8").read().split():
        marking.add("jobs", size=int(size))
    return marking


def space(net):
    space = lpn.InputSpace(net)
    space.tokens("jobs", 3)
    return space
"""
    )
    answer = lpn("smt", model, "--maximize", "latency", "--witness", witness, "--json")
    assert answer.json["upper"] == 27
    run = lpn("sim", model, witness, "--engine", "interp", "--json")
    assert run.status == 0 and run.json["runs"][0]["latency"] == 27, (run.out, run.err)


def corrupted(data):
    """Certificates that must not pass: each with one thing changed."""

    def changed(change):
        copy = json.loads(json.dumps(data))
        change(copy)
        return copy

    bound = data["bounds"][0]["certificates"][0]["bound"]

    def lower(copy):
        copy["bounds"][0]["certificates"][0]["bound"] = bound - 1
        copy["bounds"][0]["most"] = bound - 1
        copy["claim"]["proved"] = bound - 1

    yield changed(lower)
    yield changed(lambda c: c["claim"].update(proved=bound - 1))
    yield changed(lambda c: c["bounds"][0].update(certificates=[]))
    yield changed(lambda c: c["bounds"][0]["certificates"][0].update(steps=[]))
    yield changed(lambda c: c.update(bounds=[]))
    yield changed(
        lambda c: c.update(net=c["net"].replace("constant1 = 66", "constant1 = 67"))
        or c["space"]["fixed"].update(constant1=67)
    )
    yield changed(lambda c: c["space"]["variables"].__setitem__(0, ["blocks[0].x", 0, 99]))
    yield changed(lambda c: c["witness"].update({"blocks[0].x": 64}))


def test_a_corrupted_certificate_is_rejected(lpn, tmp_path):
    proof = tmp_path / "proof.json"
    lpn("smt", PIPELINE, "--space", "blocks=6", "--maximize", "latency", "--certificate", proof)
    data = json.loads(proof.read_text())
    assert lpn("smt", "--check", proof).status == 0
    wrong = tmp_path / "wrong.json"
    for copy in corrupted(data):
        wrong.write_text(json.dumps(copy))
        answer = lpn("smt", "--check", wrong, "--json")
        assert (answer.status, answer.json["verdict"]) == (1, "refused"), answer.out
    for text in (
        "",
        "[]",
        "{}",
        '{"lpn certificate": 2}',
        json.dumps({**data, "net": "lpn 1"}),
        json.dumps({**data, "bounds": [{"most": "x"}]}),
    ):
        wrong.write_text(text)
        answer = lpn("smt", "--check", wrong, "--json")
        assert (answer.status, answer.json["verdict"]) == (1, "refused"), answer.out


def test_smtlib_is_accepted_by_another_solver(lpn, tmp_path):
    solver = shutil.which("cvc5") or shutil.which("z3")
    if solver is None:
        pytest.skip("neither cvc5 nor z3 is installed")
    answer = lpn(
        "smt",
        LTC_JPEG,
        "--space",
        "blocks=6",
        "sum_from=102",
        "sum_below=108",
        "--minimize",
        "latency",
        "--smtlib",
        tmp_path / "smt",
        "--json",
    )
    [name] = answer.json["smtlib"]
    text = open(name, encoding="utf-8").read()

    def ask(condition):
        path = tmp_path / "question.smt2"
        path.write_text(text.replace("(check-sat)", f"(assert {condition})\n(check-sat)"))
        return subprocess.run(
            [solver, str(path)], capture_output=True, text=True, timeout=100, check=True
        ).stdout.strip()

    assert ask("(= latency 668)") == "sat"
    assert ask("(< latency 668)") == "unsat"


def test_limits_and_ctrl_c_keep_bound_and_witness(lpn, environment):
    question = [
        "smt",
        "jpeg",
        "--space",
        "blocks=300",
        "nonzero_sum=3000",
        "--maximize",
        "latency",
        "--json",
    ]
    answer = lpn(*question, "--limit", "6")
    assert answer.status in (0, 3)
    data = answer.json
    assert data["verdict"] in ("optimal", "bounded") and data["replayed"] is True
    assert data["lower"] <= data["upper"] <= data["lower"] * 1.05
    if data["verdict"] == "optimal":
        return
    stopped = interrupted(
        [BUILD / "bin" / "lpn", *question],
        environment,
        begun=lambda out, err: '"verdict": "bounded"' in out,
    )
    assert stopped.status in (0, 3), stopped.err  # 0: a machine so fast that it was done
    data = stopped.json
    if data["verdict"] == "optimal":
        return
    assert data["verdict"] == "bounded" and data["interrupted"] is True
    assert data["lower"] <= data["upper"]


def test_a_space_without_a_latency_says_so(lpn, tmp_path):
    model = tmp_path / "locked.py"
    model.write_text(LOCKED)
    for question in (("--maximize", "latency"), ("--prove", "latency <= 5")):
        answer = lpn("smt", model, "--space", "jobs=0", *question)
        assert answer.status == 3
        assert "no input has a latency" in answer.out and "limit" not in answer.out


def test_options_that_a_fitted_interface_has_no_use_for(lpn):
    for option, why in (
        ("--resolution", "merges the lines of classes"),
        ("--limit", "is for classes; the number of runs is fixed"),
    ):
        said = lpn("pi", "menshen", "--fitted", option, "5").refused("E-usage")
        assert f"{option} {why}; leave it out of --fitted" in said


@pytest.mark.parametrize(
    "option",
    [
        ("-p", "slots=3"),
        ("--free", "slots"),
        ("--pareto",),
        ("--certificate", "other.json"),
        ("--witness", "worst.lpnm"),
        ("--smtlib", "folder"),
        ("--tries", "3"),
    ],
)
def test_an_option_that_does_nothing_beside_check_is_refused(lpn, tmp_path, option):
    proof = tmp_path / "proof.json"
    proof.write_text("{}")
    answer = lpn("smt", "--check", proof, *option)
    assert answer.status == 2
    name = "--param" if option[0] == "-p" else option[0]
    assert f"{name} does nothing with --check" in answer.err


def test_a_parameter_that_the_space_gives_is_not_given_beside_it(lpn, tmp_path):
    """-p and --free did nothing then, and each value of --free had the space's answer."""
    model = tmp_path / "locked.py"
    model.write_text(
        LOCKED.replace("return space", "space.param('keys', 2)\n    return space").replace(
            "jobs=3, kinds", "jobs=2, kinds"
        )
    )
    assert lpn("smt", model, "--prove", "latency <= 40").status == 0
    assert lpn("smt", model, "--prove", "latency <= 40", "-p", "keys=2").status == 0
    for command in ("classes", "smt", "pi"):
        question = ["--prove", "latency <= 40"] if command == "smt" else []
        said = lpn(command, model, *question, "-p", "keys=0").refused("E-space")
        assert "parameter 'keys' is to be 0, but the model's space() says 2" in said
    said = lpn("smt", model, "--prove", "latency <= 40", "--free", "keys=0..3").refused("E-space")
    assert "parameter 'keys' is to be 0" in said


def test_an_interface_that_the_question_does_not_name(lpn, tmp_path):
    (tmp_path / "guess.py").write_text("def latency(x):\n    return 5\n")
    words = ["smt", PIPELINE, "--maximize", "latency", "--interface", tmp_path / "guess.py"]
    assert "is E in the question" in lpn(*words).refused("E-usage")


def test_a_witness_file_is_run_with_the_parameters_of_the_input(lpn, tmp_path):
    """A marking has none, and the file's run had another latency than what was proved."""
    model, file = tmp_path / "locked.py", tmp_path / "worst.lpnm"
    model.write_text(
        LOCKED.replace("return space", "space.param('keys', 2, 3)\n    return space").replace(
            "jobs=3, kinds", "jobs=2, kinds"
        )
    )
    question = ["smt", model, "--maximize", "latency", "--witness", file]
    answer = lpn(*question)
    keys = lpn(*question, "--json").json["witness"]["parameters"]["keys"]
    assert f"it is in {file}; run it with -p keys={keys}" in answer.out
    assert lpn("sim", model, file, "-p", f"keys={keys}", "--json").json["runs"][0]["latency"] == 40


def test_smtlib_of_a_net_without_classes_leaves_the_answer(lpn, tmp_path):
    """The answer was there, and an error took its place."""
    model = tmp_path / "locked.py"
    model.write_text(
        LOCKED.replace("jobs, kind=kinds)", "jobs, kind=0, size=(0, 3), at=[0, 2])").replace(
            "jobs=3, kinds", "jobs=2, kinds"
        )
    )
    words = ["smt", model, "--maximize", "latency", "--smtlib", tmp_path / "smt", "--json"]
    answer = lpn(*words)
    assert answer.status == 0 and answer.json["upper"] == 6 and answer.json["smtlib"] is None
    assert "note: no SMT-LIB was written: locked: tokens of place 'jobs' arrive later" in answer.err
    assert not any("\n" in text for text in answer.json["notes"])


def test_values_of_free_beyond_the_range_are_refused_before_the_others_are_answered(lpn, tmp_path):
    model = tmp_path / "locked.py"
    model.write_text(LOCKED)
    words = ["smt", model, "--prove", "latency <= 60", "--pareto", "--free"]
    for values in ("keys=8..10", "keys=-1..1"):
        said = lpn(*words, values).refused("E-param")
        assert f"--free {values}: parameter 'keys' of net 'locked' lies in 0..9" in said


def test_a_value_that_is_free_is_not_set_as_well(lpn, tmp_path):
    model = tmp_path / "locked.py"
    model.write_text(LOCKED)
    words = ["smt", model, "--prove", "latency <= 60", "--free", "keys=1..2", "-p", "keys=3"]
    said = lpn(*words).refused("E-usage")
    assert "-p keys and --free keys: both say what it is; keep one of them" in said


def test_a_value_with_which_inputs_fail_says_so(lpn, tmp_path):
    (tmp_path / "rate.py").write_text(
        "import lpn\n\n\n"
        "def net():\n"
        "    net = lpn.Net('rate')\n"
        "    rate, jobs = net.param('rate', 1), net.place('jobs', start=True)\n"
        "    done = net.place('done', done=True)\n"
        "    net.transition('work', take={'t': jobs}, put=[done], delay=9 // rate, servers=1)\n"
        "    return net\n\n\n"
        "def space(net):\n"
        "    space = lpn.InputSpace(net)\n"
        "    space.tokens('jobs', 2)\n"
        "    return space\n"
    )
    words = ["smt", tmp_path / "rate.py", "--prove", "latency <= 9", "--free", "rate=0..9"]
    table = lpn(*words).out
    assert (
        "0  refuted      ?      ?  an input fails\n" in table and "rate = 2 is the least" in table
    )
    assert [r["outcome"] for r in lpn(*words, "--json").json["tried"]] == ["error", None, None]


def test_mistakes_of_an_interface_name_its_function(lpn, tmp_path):
    """They were those of 'the lambda', which nobody had written."""
    (tmp_path / "guess.py").write_text("def latency(x):\n    return None\n")
    words = ["smt", PIPELINE, "--prove", "E <= latency", "--interface", tmp_path / "guess.py"]
    assert "'latency' returns nothing" in lpn(*words).refused("E-result")


@pytest.mark.parametrize("words", [("words",), ("--space", "words")])
def test_a_bound_without_a_value(lpn, words):
    """As an argument it had no name: "Invalid value for ''"."""
    said = lpn("smt", PIPELINE, "--maximize", "latency", *words).refused("E-usage")
    assert "for '--space': 'words' is not name=value; write --space words=18" in said
