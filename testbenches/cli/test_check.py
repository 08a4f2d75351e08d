"""lpn check: errors, warnings, structure."""

import json
import signal
import subprocess

from conftest import BUILD

MODEL = """import lpn


class Job(lpn.Token):
    kind: lpn.Int[0, 1]


def net(*, depth: int = 2):
    net = lpn.Net("routed")
    depth = net.param("depth", depth, range=(0, 8))
    jobs = net.place("jobs", Job, start=True)
    queue = net.place("queue", Job, capacity=depth)
    out = net.place("out", done=True)
    net.transition("enter", take={"job": jobs}, put=[queue.forward("job")], delay=2)
    for kind in (0, 1):
        net.transition(f"work_{kind}", take={"job": queue}, guard=lambda job, kind=kind: job.kind == kind,
                       put=[out.emit()], delay=5)
    net.transition("after", take={"done": out}, delay=3)
    return net
"""


def test_fields(lpn, tmp_path):
    (tmp_path / "model.py").write_text(MODEL)
    answer = lpn("check", tmp_path / "model.py", "--json")
    assert answer.status == 0
    data = answer.json
    assert data["model"] == "model" and data["net"] == "routed" and data["errors"] == []
    structure = data["structure"]
    assert structure["places"] == 3 and structure["transitions"] == 4
    assert structure["conflicts"] == [
        {"place": "queue", "consumers": ["work_0", "work_1"], "router": True, "proof": "guards"}
    ]
    assert structure["credit_loops"] == [
        {
            "places": ["queue"],
            "transitions": ["enter", "work_0", "work_1"],
            "tokens": 2,
            "capacity": True,
        }
    ]
    assert structure["unbounded_concurrency"] == ["after"] and structure["dead"] == []
    [warning] = [w for w in data["warnings"] if w["code"] == "W-unbounded"]
    assert warning["transition"] == "after" and warning["place"] is None
    assert warning["line"].endswith("model.py:18")
    assert "servers" in warning["message"]


def test_text(lpn, tmp_path):
    (tmp_path / "model.py").write_text(MODEL)
    answer = lpn("check", tmp_path / "model.py", "-p", "depth=4")
    assert answer.status == 0
    assert "model: no errors, 1 warning; 3 places, 4 transitions, 1 parameter" in answer.out
    assert "shared: queue -> work_0, work_1 (their guards take turns)" in answer.out
    assert "bounded: enter, work_0, work_1 by the capacity 4 of queue" in answer.out
    assert "unbounded: nothing limits how many firings run at once of after" in answer.out


def test_router_that_needs_the_solver(lpn, tmp_path):
    model = MODEL.replace("job.kind == kind", "(job.kind + 1) // 2 == kind")
    (tmp_path / "model.py").write_text(model)
    answer = lpn("check", tmp_path / "model.py")
    assert "shared: queue -> work_0, work_1 (their guards take turns)" in answer.out
    # Different formulas of the same property: comparing conditions is not enough.
    model = MODEL.replace("job.kind == kind", "job.kind * (2 - kind) == kind")
    (tmp_path / "model.py").write_text(model)
    answer = lpn("check", tmp_path / "model.py")
    assert (
        "shared: queue -> work_0, work_1 (their guards take turns, which Z3 proves)" in answer.out
    )
    [conflict] = lpn("check", tmp_path / "model.py", "--json").json["structure"]["conflicts"]
    assert conflict["router"] and conflict["proof"] == "solver"
    # The same, and both may hold.
    model = MODEL.replace("job.kind == kind", "job.kind * (2 - kind) <= kind")
    (tmp_path / "model.py").write_text(model)
    [conflict] = lpn("check", tmp_path / "model.py", "--json").json["structure"]["conflicts"]
    assert not conflict["router"] and conflict["proof"] is None


def test_consumers_that_take_turns_by_their_tokens(lpn, tmp_path):
    (tmp_path / "model.py").write_text(
        MODEL.split("class Job")[0]
        + """
def net():
    net = lpn.Net("turns")
    jobs = net.place("jobs", start=True)
    out = net.place("out", done=True)
    turns = [net.place(f"turn_{k}", init=1 if k == 0 else 0) for k in range(3)]
    for k in range(3):
        net.transition(f"work_{k}", take={"job": jobs, "turn": turns[k]},
                       put=[out.emit(), turns[(k + 1) % 3].emit()], delay=5)
    return net
"""
    )
    answer = lpn("check", tmp_path / "model.py")
    assert (
        "shared: jobs -> work_0, work_1, work_2 (they never have their tokens at once)"
        in answer.out
    )
    [conflict] = lpn("check", tmp_path / "model.py", "--json").json["structure"]["conflicts"]
    assert not conflict["router"] and conflict["proof"] == "tokens"


def test_errors_with_line(lpn, tmp_path):
    (tmp_path / "model.py").write_text(MODEL.replace("delay=3", "delay=lambda done: done.kind"))
    answer = lpn("check", tmp_path / "model.py", "--json")
    assert answer.status == 2
    [error] = answer.json["errors"]
    assert error["code"].startswith("E-") and error["line"].endswith("model.py:18")
    assert answer.json["structure"] is None
    text = lpn("check", tmp_path / "model.py")
    assert text.status == 2 and "error: " in text.out and "model: 1 error" in text.out


def test_all_violations(lpn, tmp_path):
    (tmp_path / "bad.py").write_text(
        "import lpn\n\ndef net():\n    net = lpn.Net('bad')\n    p = net.place('p', init=1, done=True)\n"
        "    net.transition('a', put=[p.emit()], delay=0)\n"
        "    net.transition('b', put=[p.emit()], delay=1)\n    return net\n"
    )
    data = lpn("check", tmp_path / "bad.py", "--json").json
    assert [e["transition"] for e in data["errors"]] == ["a", "b"]
    assert [e["line"].rsplit(":")[-1] for e in data["errors"]] == ["6", "7"]


def test_broken_files(lpn, tmp_path):
    (tmp_path / "cut.lpn").write_text("lpn 1\nnet cut\n")
    data = lpn("check", tmp_path / "cut.lpn", "--json")
    assert data.status == 2 and data.json["errors"][0]["code"] == "E-text"
    data = lpn("check", "nothing", "--json")
    assert data.status == 2 and data.json["errors"][0]["code"] == "E-model"
    (tmp_path / "b.py").write_text("def net():\n    return 1 / 0\n")
    data = lpn("check", tmp_path / "b.py", "--json")
    assert data.status == 2 and "ZeroDivisionError" in data.json["errors"][0]["message"]


def test_bundled_model_has_no_errors(lpn):
    data = lpn("check", "jpeg", "--json").json
    assert data["errors"] == [] and data["structure"]["dead"] == []
    assert data["structure"]["unbounded_concurrency"] == []
    json.dumps(data)


def test_watch_checks_again_after_a_change(tmp_path):
    model = tmp_path / "line.py"
    text = "import lpn\n\n\ndef net():\n    net = lpn.Net('line')\n{}    return net\n"
    model.write_text(text.format(""))
    watching = subprocess.Popen(
        [BUILD / "bin" / "lpn", "check", str(model), "--watch"], stdout=subprocess.PIPE, text=True
    )
    try:
        seen = []

        def read_until(words):
            while not seen or words not in seen[-1]:
                line = watching.stdout.readline()
                assert line, seen
                seen.append(line)

        read_until("line: no errors, 0 warnings; 0 places")
        model.write_text(text.format("    net.place('lonely')\n"))
        read_until("line: no errors, 1 warning; 1 place")
        assert "[W-unused]" in "".join(seen)
        watching.send_signal(signal.SIGINT)
        assert watching.wait(20) == 0
    finally:
        watching.kill()
        watching.wait()


def test_watch_needs_a_file_and_a_reader(lpn):
    assert "--watch needs a file, and jpeg is none" in lpn("check", "jpeg", "--watch").refused(
        "E-usage"
    )
    assert "--watch is for people" in lpn("check", "jpeg", "--watch", "--json").refused("E-usage")
