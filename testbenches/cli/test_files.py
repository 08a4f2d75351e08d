"""lpn compile, marking, print and lpn-run: nets and inputs for programs without Python."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from conftest import BUILD, DEMO, REPO

JOBS = {"in": [[5], [7], [3]]}


@pytest.fixture
def tokens(lpn, nets, marking):
    path = nets / "m.lpnm"
    assert lpn("marking", nets / "line.lpn", marking("m.json", JOBS), "-o", path).status == 0
    return path


def started(*command):
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=60, check=False
    )


def test_print_is_a_model_again(lpn, nets):
    text = lpn("print", nets / "line.lpn").out
    (nets / "again.lpn").write_text(text)
    assert lpn("print", nets / "again.lpn").out == text
    assert "param slow = 7" in lpn("print", nets / "line.lpn", "-p", "slow=7").out
    assert lpn("print", nets / "line.lpn", "-o", nets / "o.lpn").out == ""
    assert (nets / "o.lpn").read_text() == text
    lpn("print", nets / "line.lpn", "-o", nets / "no" / "o.lpn").refused("E-input")


def test_program(lpn, nets, tokens):
    program = nets / "program"
    about = lpn("compile", nets / "line.lpn", "-o", program, "-p", "slow=2", "--json").json
    assert about["file"] == str(program) and about["bytes"] == program.stat().st_size
    done = started(program, tokens)
    assert done.returncode == 0 and done.stderr == ""
    data = json.loads(done.stdout)
    assert (data["net"], data["latency"], data["firings"], data["stalled"]) == (
        "line",
        31,
        6,
        False,
    )
    assert json.loads(started(program, tokens, "--param", "slow=1").stdout)["latency"] == 16
    done = started(program, tokens, "--limit", "3")
    assert done.returncode == 3 and json.loads(done.stdout)["ending"] == "limit"
    assert "slow=2" in started(program, "--help").stdout
    for wrong in (
        ["-p", "fast=1"],
        ["-p", "slow"],
        ["--limit", "x"],
        ["--limit"],
        ["nowhere"],
        ["--what"],
    ):
        done = started(program, *wrong)
        assert done.returncode == 2 and done.stderr.startswith("error: ") and done.stdout == ""
    # Any cut or changed byte is an error, or another marking; never a crash.
    whole = tokens.read_bytes()
    for end in range(len(whole)):
        (nets / "cut").write_bytes(whole[:end])
        assert started(program, nets / "cut").returncode == 2
    for at in range(len(whole)):
        (nets / "bad").write_bytes(whole[:at] + bytes([whole[at] ^ 0x85]) + whole[at + 1 :])
        assert started(program, nets / "bad").returncode in (0, 2)


def test_program_of_a_stalling_net(lpn, nets, marking):
    lpn("compile", nets / "join.lpn", "-o", nets / "join")
    lpn("marking", nets / "join.lpn", marking("j.json", {"left": 2, "right": 3}), "-o", nets / "j")
    done = started(nets / "join", nets / "j")
    assert done.returncode == 1
    assert json.loads(done.stdout)["left"] == {"left": 1, "right": 1, "out": 1}


def test_a_net_is_read_as_lpn_run_reads_it_and_named(lpn, run, nets):
    text = (nets / "line.lpn").read_bytes()
    for name, data, right in (
        ("dos", text.replace(b"\n", b"\r\n"), True),
        ("mac", text.replace(b"\n", b"\r"), False),
        ("cut", text[:-4], False),
    ):
        file = nets / f"{name}.lpn"
        file.write_bytes(data)
        answers = [lpn("sim", file, "--engine", "interp"), run("lpn-run", file, "--never-compile")]
        assert [a.status for a in answers] == [0 if right else 2] * 2
        if not right:
            assert answers[0].err == answers[1].err
            assert answers[0].err.startswith(f"error: {file}: ")


def test_a_variant_of_the_source_keeps_statistics(lpn, nets, marking, tmp_path):
    """As docs/cli.md says, by the C interface against lpn sim --stats."""
    sys.path.insert(0, str(REPO / "testbenches" / "calls"))
    import ctypes

    import c_interface

    class Transition(ctypes.Structure):
        _fields_ = [
            ("commits", ctypes.c_uint64),
            ("busy", ctypes.c_int64),
            ("waited", ctypes.c_int64 * 8),
        ]

    lpn("compile", nets / "line.lpn", "-o", nets / "line.cc")
    subprocess.run(
        ["g++", "-std=c++20", "-O0", "-shared", "-fPIC", "-DLPNRT_STATS=1"]
        + [f"-I{REPO / 'lpn2sim' / 'runtime'}", nets / "line.cc", "-o", nets / "stats.so"],
        check=True,
    )
    api = c_interface.open_library(str(nets / "stats.so"))
    sim = api.create(None, ctypes.byref(ctypes.c_int32()))
    assert api.load(sim, 0, 3, (ctypes.c_int64 * 3)(5, 7, 3)) == 0
    assert api.run(sim, (1 << 63) - 1, (ctypes.c_char * 256)()) == 0
    rows = (Transition * api.transitions)()
    places = (ctypes.c_char * (16 * api.places))()
    assert api.stats(sim, rows, places, ctypes.byref(ctypes.c_int64())) == 0
    api.destroy(sim)
    stats = lpn("sim", nets / "line.lpn", marking("m.json", JOBS), "--stats", "--json").json
    told = stats["runs"][0]["stats"]["transitions"].values()
    assert [(r.commits, r.busy, list(r.waited)) for r in rows] == [
        (t["commits"], t["busy"], [w["cycles"] for w in t["waited"].values()]) for t in told
    ]


def test_library_and_source(lpn, nets):
    assert lpn("compile", nets / "line.lpn", "-o", nets / "line.so").status == 0
    import ctypes

    assert ctypes.CDLL(str(nets / "line.so")).lpn_sim_entry
    assert lpn("compile", nets / "line.lpn", "-o", nets / "line.cc").status == 0
    text = (nets / "line.cc").read_text()
    assert (
        "lpn_sim_entry" in text and "second" not in text
    )  # names reach the source as numbers only
    if shutil.which("g++"):
        subprocess.run(
            [
                "g++",
                "-std=c++20",
                "-fsyntax-only",
                "-DLPN_SIM_MAIN",
                f"-I{REPO / 'lpn2sim' / 'runtime'}",
                nets / "line.cc",
            ],
            check=True,
        )


def test_compile_without_a_compiler(lpn, nets):
    lpn("compile", nets / "line.lpn", "-o", nets / "x", LPN_CXX="/nonexistent/c++").refused(
        "E-no-compiler"
    )
    assert not (nets / "x").exists()
    assert (
        lpn("compile", nets / "line.lpn", "-o", nets / "x.cc", LPN_CXX="/nonexistent/c++").status
        == 0
    )
    lpn("compile", nets / "line.lpn", "-o", nets / "x", LPN_CXX="/bin/false").refused("E-compile")
    assert sorted(p.name for p in nets.iterdir() if p.name.startswith("x")) == ["x.cc"]


def test_lpn_run(run, nets, tokens):
    cold = run("lpn-run", nets / "line.lpn", tokens).json
    warm = run("lpn-run", nets / "line.lpn", tokens).json
    assert warm["cached"] is True and warm["latency"] == cold["latency"] == 16
    assert warm["load_seconds"] <= 0.1
    assert (
        run("lpn-run", nets / "line.lpn", tokens, "--engine", "interp", "-p", "slow=2").json[
            "latency"
        ]
        == 31
    )
    answer = run("lpn-run", nets / "clock.lpn", "--limit", 50)
    assert answer.status == 3 and answer.json["firings"] == 50
    for wrong, code in (
        (["no.lpn"], "E-input"),
        ([], "E-usage"),
        ([nets / "line.lpn", nets / "line.lpn"], "E-marking-file"),
        ([nets / "line.lpn", "-p", "x=1"], "E-param"),
        ([nets / "line.lpn", "--limit", "-1"], "E-usage"),
    ):
        run("lpn-run", *wrong).refused(code)


def test_lpn_run_names_the_file_that_is_wrong(run, nets, tokens):
    (nets / "cut").write_bytes(tokens.read_bytes()[:-1])
    line = nets / "line.lpn"
    for wrong, said in (
        ([nets], f"cannot read {nets}: Is a directory [E-input]"),
        (
            [line, nets / "none"],
            f"cannot read {nets / 'none'}: No such file or directory [E-input]",
        ),
        (
            [line, nets / "cut"],
            f"{nets / 'cut'}: byte {tokens.stat().st_size - 1}: the file is cut off in the values",
        ),
        ([tokens], f"{tokens}: 1:1: found"),
        (
            [line, "-p", "slow=1", "--param", "slow=1"],
            "--param slow is given twice; give one value",
        ),
    ):
        answer = run("lpn-run", *wrong)
        assert answer.status == 2 and answer.err.startswith(f"error: {said}"), answer.err


@pytest.mark.parametrize("more", [["--help"], [], ["--isolate"]])
@pytest.mark.parametrize(
    "into, why", [(">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")]
)
def test_an_answer_that_nobody_can_read_is_an_error(nets, tokens, more, into, why):
    words = [BUILD / "bin" / "lpn-run", nets / "line.lpn", tokens, "--engine", "interp", *more]
    done = subprocess.run(
        ["sh", "-c", f'"$@" {into}', "sh", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (2, f"error: stdout: {why} [E-input]\n")


def test_a_marking_from_a_pipe(lpn, nets, tokens):
    end, begin = os.pipe()
    os.write(begin, tokens.read_bytes())
    os.close(begin)
    done = subprocess.run(
        [BUILD / "bin" / "lpn", "sim", nets / "line.lpn", f"/dev/fd/{end}", "--json"],
        pass_fds=[end],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    os.close(end)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["runs"][0]["latency"] == 16


def test_lpn_run_stalled(run, lpn, nets, marking):
    lpn("marking", nets / "join.lpn", marking("j.json", {"left": 2, "right": 3}), "-o", nets / "j")
    answer = run("lpn-run", nets / "join.lpn", nets / "j", "--engine", "interp")
    assert answer.status == 1
    assert answer.json["blocked"] == [
        {"transition": "join", "reason": "no token", "place": "right"}
    ]


def test_jpeg_without_python(lpn, run, tmp_path):
    image = DEMO / "plasma12_512x384_q50_420.jpg"
    lpn("print", "jpeg", "-o", tmp_path / "jpeg.lpn")
    assert lpn("marking", "jpeg", image, "-o", tmp_path / "image").status == 0
    expected = lpn("sim", "jpeg", image, "--json").json["runs"][0]["latency"]
    run("lpn-run", tmp_path / "jpeg.lpn", tmp_path / "image")
    data = run("lpn-run", tmp_path / "jpeg.lpn", tmp_path / "image").json
    assert data["latency"] == expected and data["cached"] is True
    assert data["load_seconds"] <= 0.1
    lpn("marking", "jpeg", os.devnull, "-o", tmp_path / "none").refused("E-input")
    copy = REPO / "models" / "dma" / "examples" / "copy.json"
    refused = lpn("marking", "dma", copy, "-o", tmp_path / "none").refused("E-usage")
    assert "the net of model 'dma' follows its input" in refused


def test_a_new_model_runs(lpn, tmp_path):
    done = lpn("new", "disk", cwd=tmp_path)
    assert (done.status, done.out.splitlines()[0]) == (
        0,
        "disk/disk.py, test_disk.py, example.txt; to go on:",
    )
    checked = lpn("check", "disk/disk.py", cwd=tmp_path)
    assert "disk: no errors, 0 warnings; 3 places" in checked.out
    run = lpn(
        "sim", "disk/disk.py", "disk/example.txt", "--engine", "interp", "--json", cwd=tmp_path
    )
    assert run.json["runs"][0]["latency"] == 100 + 4 + 6 + 1
    shown = lpn("latency", "disk/disk.py", "--engine", "interp", "--json", cwd=tmp_path)
    assert shown.json["points"][0]["latencies"][0]["requests"] == 10_000
    bound = lpn("smt", "disk/disk.py", "--maximize", "latency", "--json", cwd=tmp_path)
    assert bound.status == 0 and " 80" in bound.out.replace(",", "")
    passed = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "disk"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(BUILD / "python")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert passed.returncode == 0 and "2 passed" in passed.stdout


@pytest.mark.parametrize("name", ["line.cpp", "other.py", "other.lpn"])
def test_a_program_is_not_written_where_something_else_is_meant(lpn, nets, name):
    """It replaced other.py by a program, and wrote line.cpp as one."""
    (nets / "other.py").write_text("net = 1")
    said = lpn("compile", "line.lpn", "-o", name, cwd=nets).refused("E-usage")
    assert "the source is FILE.cc, a library FILE.so" in said
    assert (nets / "other.py").read_text() == "net = 1"


def test_a_new_model_has_a_name_and_a_place(lpn, tmp_path):
    (tmp_path / "disk").mkdir()
    assert "disk is there already" in lpn("new", "disk", cwd=tmp_path).refused("E-usage")
    said = lpn("new", "a-b", cwd=tmp_path).refused("E-usage")
    assert "'a-b' cannot name a model: use letters, digits and _" in said
    assert "'' cannot name a model" in lpn("new", "", cwd=tmp_path).refused("E-usage")
    for module in ("lpn", "random"):  # whose test would import this file in its place
        said = lpn("new", module, cwd=tmp_path).refused("E-usage")
        assert f"Python would take {module}.py for its module of that name" in said
