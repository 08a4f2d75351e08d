"""lpn classes: every input in one class, constraints in words, stalls, limits."""


from conftest import BUILD, interrupted

MODEL = '''import lpn


class Job(lpn.Token):
    kind: lpn.Int[0, 2]
    size: lpn.Int[0, 3]


def net(*, slow: int = 5) -> lpn.Net:
    net = lpn.Net("sorter")
    jobs = net.place("jobs", Job, start=True)
    done = net.place("done", done=True)
    net.transition("small", take={"j": jobs.take(guard=lambda j: j.kind == 0)}, put=[done], delay=lambda j: j.size,
                   servers=1)
    net.transition("big", take={"j": jobs.take(guard=lambda j: j.kind == 1)},
                   put=[done.emit(count=lambda j: j.size + 1)], delay=net.param("slow", slow), servers=1)
    return net


def space(net, jobs: int = 2, size: int = 1, kinds=(0, 1)) -> lpn.InputSpace:
    """Jobs to be sorted.

    jobs: how many, or a range.
    size: the largest.
    """
    if size > 3:
        raise ValueError(f"size must be at most 3, got {size}")
    space = lpn.InputSpace(net)
    most = jobs[1] if isinstance(jobs, tuple) else jobs
    space.tokens("jobs", most, kind=kinds, size=(0, size), count=jobs if isinstance(jobs, tuple) else None)
    return space


def other(net):
    return lpn.InputSpace(net)
'''


def model(tmp_path):
    path = tmp_path / "sorter.py"
    path.write_text(MODEL)
    return path


def test_fields(lpn, tmp_path):
    answer = lpn("classes", model(tmp_path), "--space", "jobs=1", "--json")
    assert answer.status == 0, answer.err
    data = answer.json
    assert data["model"] == "sorter" and data["complete"] is True and data["why"] is None
    assert data["space"]["variables"] == 2 and data["seconds"] >= 0 and data["interrupted"] is False
    found = [
        (c["outcome"], c["constraints"], c["commits"], c["sample_latency"]) for c in data["classes"]
    ]
    assert sorted(found, key=str) == sorted(
        [
            ("latency", ["jobs[0].kind == 0"], {"small": 1, "big": 0}, found[0][3]),
            ("latency", ["jobs[0].kind == 1", "jobs[0].size == 0"], {"small": 0, "big": 1}, 5),
            ("latency", ["jobs[0].kind == 1", "jobs[0].size == 1"], {"small": 0, "big": 1}, 5),
        ],
        key=str,
    )
    assert all(set(c["sample"]) == {"jobs[0].kind", "jobs[0].size"} for c in data["classes"])


def test_several_bounds_ranges_and_parameters(lpn, tmp_path):
    path = model(tmp_path)
    for bounds in (
        ("--space", "jobs=1..2", "size=0"),
        ("--space", "jobs=1..2", "--space", "size=0"),
        ("--space", "jobs=1..2,size=0"),
    ):
        answer = lpn("classes", path, *bounds, "-p", "slow=9", "--json")
        assert answer.status == 0, answer.err
        data = answer.json
        assert sorted(sum(c["commits"].values()) for c in data["classes"]) == [1, 1, 2, 2, 2]
        assert max(c["sample_latency"] for c in data["classes"]) == 18


def test_a_stall_is_shown_with_an_input(lpn, tmp_path):
    answer = lpn("classes", model(tmp_path), "--space", "jobs=1", "kinds=1..2", "size=0", "--json")
    assert answer.status == 1
    [stalled] = [c for c in answer.json["classes"] if c["outcome"] == "stalled"]
    assert stalled["sample"]["jobs[0].kind"] == 2
    assert stalled["constraints"] == ["jobs[0].kind == 2"]
    assert "guard" in stalled["trouble"]
    shown = lpn("classes", model(tmp_path), "--space", "jobs=1", "kinds=1..2", "size=0")
    assert shown.status == 1
    assert "stalls: " in shown.out and "for example jobs[0].kind = 2" in shown.out


def test_for_people(lpn, tmp_path):
    answer = lpn("classes", model(tmp_path), "--space", "size=0")
    assert answer.status == 0
    assert "jobs: 2 tokens, kind 0..1 each, size 0..0 each" in answer.out
    assert "3 classes, 4 paths, complete" in answer.out
    assert (
        "class 2: jobs[0].kind == 0 and jobs[1].kind == 1\n  or jobs[0].kind == 1 and jobs[1].kind == 0"
        in answer.out
    )
    assert "commits: small 1, big 1" in answer.out


def test_limits_leave_inputs_out(lpn, tmp_path):
    answer = lpn("classes", model(tmp_path), "--space", "jobs=6", "--max-paths", "5", "--json")
    assert answer.status == 3
    assert answer.json["complete"] is False
    assert "paths" in answer.json["why"]
    answer = lpn(
        "classes",
        model(tmp_path),
        "--space",
        "jobs=40",
        "--max-paths",
        "100000000",
        "--limit",
        "0.3",
    )
    assert answer.status == 3
    assert "not complete: " in answer.out


def test_ctrl_c_keeps_what_was_found(environment, tmp_path):
    command = [
        str(BUILD / "bin" / "lpn"),
        "classes",
        str(model(tmp_path)),
        "--space",
        "jobs=40",
        "--json",
        "--max-paths",
        "100000000",
    ]
    answer = interrupted(command, environment)
    assert answer.status == 3, answer.err
    assert '"interrupted": true' in answer.out and '"complete": false' in answer.out


def test_a_timer_that_never_stops_is_named(lpn, tmp_path):
    (tmp_path / "model.py").write_text(
        """import lpn


def net():
    net = lpn.Net("memory")
    queue, done = net.place("queue", start=True), net.place("done", done=True)
    bank, timer = net.place("bank", init=1), net.place("timer", init=1)
    due = net.place("due", capacity=1)
    net.transition("access", take={"q": queue, "b": bank}, put=[done, bank], delay=8, servers=1)
    net.transition("tick", take={"t": timer}, put=[timer, due], delay=100, servers=1)
    net.transition("refresh", take={"d": due, "b": bank}, put=[bank], delay=30, servers=1)
    return net


def space(net):
    space = lpn.InputSpace(net)
    space.tokens("queue", 3)
    return space
"""
    )
    answer = lpn("classes", tmp_path / "model.py", "--max-firings", 1000)
    assert answer.status == 2
    assert answer.err == (
        "error: memory: more than 1000 firings for one input; 'tick' goes on for ever by itself: leave it out of "
        "the net, or ask lpn smt, which ends runs by a number of done tokens [E-partition]\n"
    )


def test_refused(lpn, tmp_path):
    path = model(tmp_path)
    text = lpn("classes", path, "--space", "job=3").refused("E-space")
    assert "no bound 'job'; did you mean 'jobs'?" in text
    assert "its bounds: jobs=2, size=1, kinds=(0, 1)" in text
    assert "size: the largest." in text
    assert "at most 3, got 4" in lpn("classes", path, "--space", "size=4").refused("E-space")
    assert "is not name=value" in lpn("classes", path, "--space", "jobs").refused("E-usage")
    assert "given twice" in lpn("classes", path, "--space", "jobs=1", "jobs=2").refused("E-space")
    (tmp_path / "bare.py").write_text(MODEL.split("def space")[0])
    assert "has no space() function" in lpn("classes", tmp_path / "bare.py").refused("E-model")


def test_the_bundled_model(lpn):
    answer = lpn("classes", "jpeg", "--space", "compression=75", "--json")
    assert answer.status == 0
    [only] = answer.json["classes"]
    assert only["constraints"] == [] and only["commits"]["huffman"] == 18
