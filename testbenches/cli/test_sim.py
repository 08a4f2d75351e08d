"""lpn sim: results, fields, many inputs, exit status, refusals."""

import json
import os
import pty
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import BUILD, DEMO, LINE, interrupted

JOBS = {"in": [[5], [7], [3]]}  # second starts at 1, 6, 13: done at 16


def test_json_fields(lpn, nets, marking):
    asked = ("sim", nets / "line.lpn", marking("m.json", JOBS), "--engine", "compiled", "--json")
    answer = lpn(*asked)
    assert answer.status == 0 and answer.err == ""
    data = answer.json
    assert data["model"] == "line" and data["engine"] == "compiled"
    assert data["cached"] in (True, False) and data["parameters"] == {"slow": 1}
    [row] = data["runs"]
    assert row["input"].endswith("m.json")
    assert (row["latency"], row["ending"], row["firings"], row["done_tokens"]) == (
        16,
        "quiet",
        6,
        3,
    )
    assert row["stalled"] is False and row["blocked"] == [] and row["undrained"] == []
    assert 0 < row["seconds"] < 1
    again = lpn(*asked).json
    assert again["cached"] is True and again["compile_seconds"] is None


def test_interpreter_agrees(lpn, nets, marking):
    path = marking("m.json", JOBS)
    rows = []
    for engine in ("compiled", "interp"):
        data = lpn("sim", nets / "line.lpn", path, "--engine", engine, "--stats", "--json").json
        assert data["engine"] == engine
        row = data["runs"][0]
        assert row.pop("engine") == engine
        del row["seconds"]
        rows.append(row)
    assert rows[0] == rows[1]


def test_parameters_need_no_second_compile(lpn, nets, marking):
    path = marking("m.json", JOBS)
    asked = ("sim", nets / "line.lpn", path, "--engine", "compiled")
    lpn(*asked)
    data = lpn(*asked, "-p", "slow=0x2", "--json").json
    assert data["cached"] is True
    assert data["runs"][0]["latency"] == 31 and data["parameters"] == {"slow": 2}


def test_rows_as_objects_and_counts(lpn, nets, marking):
    path = marking("m.json", {"in": [{"size": 5}, {"size": 7}, {"size": 3}]})
    assert lpn("sim", nets / "line.lpn", path, "--json").json["runs"][0]["latency"] == 16
    path = marking("j.json", {"left": 2, "right": 4})
    assert lpn("sim", nets / "join.lpn", path, "--json").json["runs"][0]["latency"] == 3


def test_marking_file(lpn, nets, marking):
    path = marking("m.json", JOBS)
    written = nets / "m.lpnm"
    about = lpn("marking", nets / "line.lpn", path, "-o", written, "--json").json
    assert about["tokens"] == {"in": 3} and about["bytes"] == written.stat().st_size
    assert lpn("sim", nets / "line.lpn", written, "--json").json["runs"][0]["latency"] == 16


def test_stall_says_why(lpn, nets, marking):
    path = marking("j.json", {"left": 2, "right": 3})
    answer = lpn("sim", nets / "join.lpn", path, "--json")
    assert answer.status == 1
    row = answer.json["runs"][0]
    assert row["stalled"] is True and row["latency"] == 3
    assert row["undrained"] == [{"place": "left", "tokens": 1}, {"place": "right", "tokens": 1}]
    [blocked] = row["blocked"]
    assert (blocked["transition"], blocked["reason"], blocked["arc"], blocked["place"]) == (
        "join",
        "no token",
        "b",
        "right",
    )
    answer = lpn("sim", nets / "join.lpn", path)
    assert answer.status == 1
    assert "stalled with tokens left in left (1), right (1):" in answer.out
    assert "join waits for tokens over arc 'b': place 'right' has 1, it needs 2" in answer.out


def test_a_stall_for_which_no_transition_waits(lpn, tmp_path):
    """It announced reasons, with a colon, of which there are none."""
    (tmp_path / "line.lpn").write_text(LINE.replace("place", "place lost : unit start\nplace", 1))
    (tmp_path / "in.json").write_text('{"lost": 2}')
    answer = lpn("sim", "line.lpn", "in.json", cwd=tmp_path)
    assert answer.status == 1
    assert answer.out.endswith(
        "stalled with tokens left in lost (2), from which no transition takes\n"
    )


REFRESHED = """lpn 1
net memory
type unit ()
place queue : unit start
place bank : unit initial 1
place timer : unit initial 1
place due : unit capacity 1
place out : unit done
transition access {
  take q from queue
  take b from bank
  delay 8
  put out
  put bank
}
transition tick {
  take t from timer
  delay 100
  put timer
  put due
}
transition refresh {
  take d from due
  take b from bank
  delay 30
  put bank
}
end
"""


def test_a_run_that_only_a_limit_ends_says_so_before(lpn, nets, marking):
    (nets / "memory.lpn").write_text(REFRESHED)
    path = marking("m.json", {"queue": 3})
    said = (
        f"note: {path}: 'tick' goes on for ever by itself, so nothing but a limit ends this run: write "
        "--limit T, or marking.done_count = ... in the workload\n"
    )
    ended = lpn(
        "sim", nets / "memory.lpn", path, "--max-firings", 0, "--isolate", "--isolate-seconds", 2
    )
    assert ended.err.startswith(said)
    lpn("sim", nets / "memory.lpn", path, "--limit", 1, "--engine", "compiled")
    for engine in ([], ["--engine", "interp"], ["--engine", "compiled"]):
        bounded = lpn("sim", nets / "memory.lpn", path, "--max-time", 0.5, *engine)
        assert bounded.err == "" and bounded.out.endswith(": time limit of 0.5 s reached\n")
    assert lpn("sim", nets / "memory.lpn", path, "--limit", 1000).err == ""
    assert lpn("sim", nets / "memory.lpn", path, "--until", "out.count == 3").err == ""
    (nets / "memory.lpn").write_text(REFRESHED.replace("end\n", "done 3\nend\n"))
    assert lpn("sim", nets / "memory.lpn", path).err == ""


def test_full_place_and_guard_in_words(lpn, nets, marking):
    (nets / "full.lpn").write_text(
        "lpn 1\nnet full\ntype job (kind: 0..3)\nplace in : job start\nplace q : job capacity 1\n"
        "transition fill {\n  take j from in\n  delay 1\n  put q (j.kind)\n}\n"
        "transition pick {\n  take j from q when j.kind == 3\n  delay 1\n}\nend\n"
    )
    answer = lpn(
        "sim", nets / "full.lpn", marking("m.json", {"in": [[1], [3]]}), "--engine", "interp"
    )
    assert answer.status == 1
    assert "fill waits for room in place 'q', which is full (1 tokens)" in answer.out
    assert (
        "pick is kept by the guard of arc 'j' (place 'q', 1 tokens): j.kind == 3 does not hold"
        in answer.out
    )


def test_limit(lpn, nets, marking):
    answer = lpn("sim", nets / "line.lpn", marking("m.json", JOBS), "--limit", 6, "--json")
    assert answer.status == 3
    row = answer.json["runs"][0]
    assert (row["ending"], row["until"], row["latency"], row["stalled"]) == ("limit", 6, 6, False)
    assert (
        "stopped at 6" in lpn("sim", nets / "line.lpn", marking("m.json", JOBS), "--limit", 6).out
    )


def test_no_input_runs_from_initial_tokens(lpn, nets):
    row = lpn("sim", nets / "clock.lpn", "--limit", 100, "--json").json["runs"][0]
    assert row["input"] is None and row["firings"] == 100


def test_many_inputs_one_wrong(lpn, nets, marking):
    good = [marking(f"m{k}.json", {"in": [[k]] * 10}) for k in range(5)]
    bad = [
        marking("wide.json", {"in": [[1001]]}),
        nets / "missing.json",
        marking("place.json", {"no": 1}),
    ]
    answer = lpn(
        "sim", nets / "line.lpn", good[0], bad[0], good[1], bad[1], bad[2], *good[2:], "--json"
    )
    assert answer.status == 2
    rows = answer.json["runs"]
    assert [("error" in row) for row in rows] == [
        False,
        True,
        False,
        True,
        True,
        False,
        False,
        False,
    ]
    assert [row["latency"] for row in rows if "error" not in row] == [10, 11, 21, 31, 41]
    codes = [row["error"]["code"] for row in rows if "error" in row]
    assert codes == ["E-range", "E-input", "E-place"]
    text = lpn("sim", nets / "line.lpn", good[0], bad[0])
    assert text.status == 2 and "1001" in text.refused("E-range") and " 10  " in text.out
    assert "core.py" not in text.err and "runpy" not in text.err


def test_error_of_a_run_is_in_its_row(lpn, nets, marking):
    (nets / "neg.lpn").write_text(
        "lpn 1\nnet neg\ntype job (n)\nplace in : job start\ntransition t {\n"
        "  take j from in\n  delay 5 - j.n\n  servers 1\n}\nend\n"
    )
    answer = lpn(
        "sim",
        nets / "neg.lpn",
        marking("a.json", {"in": [[9]]}),
        marking("b.json", {"in": [[2]]}),
        "--json",
    )
    assert answer.status == 2
    rows = answer.json["runs"]
    assert rows[0]["error"]["code"] == "E-negative-delay" and rows[1]["latency"] == 3


def test_stats(lpn, nets, marking):
    path = marking("m.json", JOBS)
    stats = lpn("sim", nets / "line.lpn", path, "--stats", "--json").json["runs"][0]["stats"]
    assert stats["end"] == 16
    second = stats["transitions"]["second"]
    assert (
        second["commits"] == 3
        and second["busy"] == 15
        and second["utilisation"] == pytest.approx(15 / 16)
    )
    assert set(second["waited"]) == {
        "ready",
        "no token",
        "no credit",
        "guard",
        "inhibited",
        "no server",
        "interval",
        "clock",
    }
    for t in stats["transitions"].values():
        assert sum(w["cycles"] for w in t["waited"].values()) == 16
        assert sum(w["share"] for w in t["waited"].values()) == pytest.approx(1, abs=1e-5)
    assert stats["places"]["mid"]["peak"] == 2 and stats["places"]["in"]["peak"] == 3
    text = lpn("sim", nets / "line.lpn", path, "--stats").out
    assert (
        "why each transition did not start" in text
        and "no server" in text
        and "mean tokens" in text
    )


def test_without_a_compiler_the_interpreter_answers(lpn, nets, marking, tmp_path):
    lonely = {"LPN_CXX": "/nonexistent/c++", "LPN_CACHE": str(tmp_path / "empty")}
    asked = ("sim", nets / "line.lpn", marking("m.json", JOBS), "--engine", "compiled", "--json")
    answer = lpn(*asked, **lonely)
    assert answer.status == 0
    assert answer.err.startswith("note: ") and "E-no-compiler" in answer.err
    data = answer.json
    assert data["engine"] == "interp" and data["cached"] is None
    assert data["fallback"]["code"] == "E-no-compiler"
    assert data["runs"][0]["latency"] == 16


def test_cache_that_cannot_be_written(lpn, nets, marking, tmp_path):
    (tmp_path / "file").write_text("")
    answer = lpn(
        "sim",
        nets / "line.lpn",
        marking("m.json", JOBS),
        "--engine",
        "compiled",
        "--json",
        LPN_CACHE=str(tmp_path / "file"),
    )
    assert answer.status == 0 and answer.json["runs"][0]["latency"] == 16


@pytest.mark.parametrize("engine", ["compiled", "interp"])
def test_interrupt_gives_the_partial_result(environment, lpn, nets, engine):
    # Compiled before, so that the signal meets the run.
    lpn("sim", nets / "clock.lpn", "--limit", 1, "--engine", "compiled")
    command = [BUILD / "bin" / "lpn", "sim", nets / "clock.lpn", "--engine", engine, "--json"]
    answer = interrupted(command, environment)
    assert answer.status == 3 and "Traceback" not in answer.err, answer.err
    [row] = answer.json["runs"]
    assert row["ending"] == "interrupted" and row["firings"] > 1000
    assert row["until"] == row["last_commit"] == row["firings"]


def test_interrupt_while_an_input_is_read(environment, nets):
    (nets / "slow.py").write_text(
        "import time, lpn\n\ndef net():\n    net = lpn.Net('slow')\n"
        "    p = net.place('p', start=True)\n"
        "    net.transition('t', take={'x': p}, delay=1, servers=1)\n    return net\n\n"
        "def workload(path, net):\n    if path == 'b':\n        time.sleep(60)\n"
        "    marking = lpn.Marking(net)\n    marking.add('p', count=3)\n    return marking\n"
    )
    command = [BUILD / "bin" / "lpn", "sim", nets / "slow.py", "a", "b", "c", "--engine", "interp"]
    for extra in ([], ["--json"]):
        answer = interrupted([*command, *extra], environment)
        out, err = answer.out, answer.err
        assert answer.status == 3 and "Traceback" not in err, err
        if extra:
            data = answer.json
            assert data["interrupted"] is True and [row["latency"] for row in data["runs"]] == [3]
        else:
            assert " 3 " in out and "interrupted; 2 inputs without a result" in err


@pytest.mark.parametrize(
    "arguments, code, words",
    [
        (["nothing"], "E-model", "there is no model 'nothing'; bundled: "),
        (["missing.py"], "E-model", "there is no file missing.py"),
        (["missing.lpn"], "E-model", "cannot read missing.lpn"),
        (["line.lpn", "m.json", "-p", "slow"], "E-usage", "write -p slow=1"),
        (
            ["line.lpn", "m.json", "-p", "slow=a"],
            "E-usage",
            "is not name=value with a whole number",
        ),
        (
            ["line.lpn", "m.json", "-p", "fast=1"],
            "E-param",
            "has no parameter 'fast'; it has: slow",
        ),
        (["line.lpn", "m.json", "-p", "slow=200"], "E-param", "1..100"),
        (["line.lpn", "m.json", "-p", f"slow={2**70}"], "E-param", "does not fit in 64 bits"),
        (["line.lpn", "m.json", "--engine", "fast"], "E-usage", "'compiled', 'interp'"),
        (
            ["line.lpn", "m.json", "-p", "slow=2", "-p", "slow=3"],
            "E-usage",
            "-p slow is given twice",
        ),
        (["line.lpn", "m.json", "--top", "1"], "E-usage", "nothing without --critical-path"),
        (
            ["line.lpn", "m.json", "--path-memory", "9"],
            "E-usage",
            "nothing without --critical-path",
        ),
        (["line.lpn", "--explain", "--stats"], "E-usage", "--stats does nothing with --explain"),
        (["line.lpn", "m.json", "--limit", "-1"], "E-usage", "-1"),
        (["line.lpn", "m.json", "--nonsense"], "E-usage", "--nonsense"),
        (["line.lpn", "m.json", "m.json", "--trace", "t.json"], "E-usage", "2 inputs"),
        (["line.lpn", "m.json", "--trace", "no/folder/t.json"], "E-input", "no/folder/t.json"),
        (["jpeg"], "E-usage", "needs an INPUT"),
        ([], "E-usage", "MODEL"),
    ],
)
def test_refusals(lpn, nets, marking, arguments, code, words):
    marking("m.json", JOBS)
    answer = lpn("sim", *arguments, cwd=nets)
    assert answer.status == 2 and "Traceback" not in answer.err
    assert "error: " in answer.err and f"[{code}" in answer.err and words in answer.err, answer.err
    if code == "E-usage" or "m.json" not in arguments:
        answer = lpn("sim", *arguments, "--json", cwd=nets)
        assert answer.status == 2 and answer.json["error"]["code"] == code


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "{",
        '"in"',
        '{"in": -1}',
        '{"in": 1.5}',
        '{"in": true}',
        '{"in": [[1, 2]]}',
        '{"in": [1]}',
        '{"in": [null]}',
        '{"in": [["a"]]}',
        '{"in": [[99999999999999999999]]}',
        '{"in": 99999999999999999999}',
        '{"mid": [[1], [1], [1]]}',
        '{"in": [{"sise": 1}]}',
        '{"in": {"size": 1}}',
        "[" * 100_000,
        "LPNM",
        "LPNM\x01",
        "LPNM\x01\x00\x7f",
        "\x00" * 64,
    ],
)
def test_hostile_markings(lpn, nets, text):
    (nets / "m.json").write_bytes(text.encode("latin-1"))
    answer = lpn("sim", nets / "line.lpn", nets / "m.json", "--engine", "interp", "--json")
    assert answer.status == 2 and "Traceback" not in answer.err
    assert answer.json["runs"][0]["error"]["code"].startswith("E-")
    assert len(answer.out) < 2000


def test_hostile_models(lpn, nets):
    (nets / "a.py").write_text("def net(:\n")
    assert "a.py" in lpn("sim", "a.py", cwd=nets).refused("E-model")
    (nets / "b.py").write_text("def net():\n    return 1 / 0\n")
    text = lpn("sim", "b.py", cwd=nets).refused("E-model")
    assert "ZeroDivisionError" in text and "b.py:2" in text
    (nets / "c.py").write_text("def other():\n    pass\n")
    assert "write c.py:FUNCTION" in lpn("sim", "c.py", cwd=nets).refused("E-model")
    (nets / "d.py").write_text("import no_such_module\n")
    assert "no_such_module" in lpn("sim", "d.py", cwd=nets).refused("E-model")
    (nets / "e.py").write_text("raise SystemExit(0)\n")
    assert lpn("sim", "e.py", cwd=nets).status == 2
    (nets / "f.py").write_text(
        "import lpn\ndef net():\n    n = lpn.Net('f')\n    n.place('p', start=True)\n"
        "    return n\ndef workload(path, net):\n    return 7\n"
    )
    assert lpn("sim", "f.py", "x", "--json", cwd=nets).json["runs"][0]["error"]["code"] == "E-model"
    (nets / "g.lpn").write_bytes(b"\xff\xfe" * 10)
    lpn("sim", "g.lpn", cwd=nets).refused("E-text")
    lpn("sim", nets, cwd=nets).refused("E-model")


def test_traceback_only_for_debugging(lpn, nets):
    (nets / "b.py").write_text("def net():\n    return 1 / 0\n")
    assert "Traceback" in lpn("sim", "b.py", cwd=nets, LPN_DEBUG="1").err


def test_progress_only_on_a_terminal(environment, lpn, nets, marking):
    paths = [str(marking(f"m{k}.json", JOBS)) for k in range(3)]
    assert lpn("sim", nets / "line.lpn", *paths).err == ""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [BUILD / "bin" / "lpn", "sim", nets / "clock.lpn", "--limit", "200000000", "--json"],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=environment,
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while chunk := os.read(ours, 4096):
                shown += chunk
        except OSError:  # the other end was closed
            pass
        out = process.stdout.read()
    os.close(ours)
    assert b"firings" in shown and shown.endswith(b"\r\x1b[K")
    assert out.startswith(b"{") and out.count(b"\n") == 1


def test_jpeg_images(lpn):
    images = sorted(DEMO.glob("*.jpg"))
    if not images:
        pytest.skip("no demo images")
    answer = lpn("sim", "jpeg", *images, "-p", "writable_tables=1", "--json")
    rows = answer.json["runs"]
    assert len(rows) == len(images)
    assert all(row["latency"] > 1000 for row in rows if "error" not in row)
    answer = lpn("sim", "jpeg", DEMO / "plasma12_512x384_q50_420_opt.jpg", "--json")
    assert answer.status == 2 and "writable" in answer.json["runs"][0]["error"]["message"]


def test_help(lpn):
    answer = lpn("--help")
    assert answer.status == 0 and "sim" in answer.out and "validate" in answer.out
    assert "--trace" in lpn("sim", "--help").out
    lpn("nonsense").refused("E-usage")


@pytest.mark.parametrize("width", [40, 200])
def test_tables_on_a_terminal(environment, nets, marking, width):
    pytest.importorskip("rich")
    if shutil.which("script") is None:
        pytest.skip("no script(1) to make a terminal")
    path = marking("m.json", JOBS)
    command = f"stty cols {width}; exec {BUILD / 'bin' / 'lpn'} sim {nets / 'line.lpn'} {path} --stats --engine interp"
    done = subprocess.run(
        ["script", "-qec", command, "/dev/null"],
        capture_output=True,
        text=True,
        env={**environment, "TERM": "xterm"},
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    for word in ("latency", "cycles/s", "no server", "16", "peak"):
        assert word in done.stdout
    # rich draws where there is room.
    assert ("\x1b[1m" in done.stdout.split("latency")[0]) == (width == 200)


# Nets that stay in one instant, or before the first, for as long as anybody waits.
DOUBLING = """lpn 1
net doubling
type u ()
place q : u initial 1
transition t {
  take x from q
  delay 0
  put q 2
}
end
"""
CROWD = """lpn 1
net crowd
type t (a, b, c, d)
place q : t initial (1, 2, 3, index) times 2147483648
place o : t done
transition t {
  take x from q
  delay 1
  servers 1
  put o (x.a, x.b, x.c, x.d)
}
end
"""


@pytest.mark.parametrize("engine", ["interp", "compiled"])
def test_what_a_run_may_use(lpn, tmp_path, engine):
    cases = [
        (DOUBLING, "--max-memory", 1, "memory"),
        (DOUBLING, "--max-time", 0.1, "time"),
        (DOUBLING, "--max-groups", 10, "groups"),
        (DOUBLING, "--max-firings", 1000, "firings"),
        (CROWD, "--max-memory", 1, "memory"),
        (CROWD, "--max-time", 0.1, "time"),
        (CROWD, "--max-tokens", 1000, "tokens"),
    ]
    for text, option, value, reason in cases:
        if (text, reason, engine) == (DOUBLING, "memory", "compiled"):
            continue  # its tokens are a number, and so are its firings
        net = tmp_path / "net.lpn"
        net.write_text(text)
        given = [option, value]
        if reason == "time":
            given += ["--max-memory", 0]
        answer = lpn("sim", net, "--engine", engine, *given, "--json")
        assert answer.status == 3, answer.err
        [row] = answer.json["runs"]
        assert (row["ending"], row["until"]) == ("budget", None)
        assert (row["stopped"]["at"], row["stopped"]["reason"]) == (0, reason)
        assert row["stopped"]["text"].startswith("stopped at time 0: ")
        assert "stopped at time 0: " in lpn("sim", net, "--engine", engine, *given).out


@pytest.mark.parametrize("engine", ["interp", "compiled"])
@pytest.mark.parametrize("text", [DOUBLING, CROWD], ids=["doubling", "crowd"])
def test_interrupt_within_an_instant(environment, lpn, tmp_path, engine, text):
    net = tmp_path / "net.lpn"
    net.write_text(text)
    # Compiled before, so that the signal meets the run.
    lpn("sim", net, "--engine", engine, "--max-time", 0.001)
    command = [BUILD / "bin" / "lpn", "sim", net, "--engine", engine, "--max-memory", "0", "--json"]
    answer = interrupted(command, environment, after=(1.5, 3, 4))  # it takes more and more memory
    assert answer.status == 3 and "Traceback" not in answer.err, answer.err
    assert answer.json["runs"][0]["ending"] == "interrupted"


def test_an_empty_workload_is_said(lpn, tmp_path):
    (tmp_path / "line.lpn").write_text(LINE)
    (tmp_path / "none.json").write_text("{}")
    done = lpn("sim", "line.lpn", "none.json", "--engine", "interp", cwd=tmp_path)
    assert done.status == 0
    assert done.err == "note: none.json: nothing happened, no transition had its tokens\n"


PRINTS = """
import lpn
print("loaded")
def net():
    print("a net")
    net = lpn.Net("prints")
    queue = net.place("queue", start=True)
    net.transition("work", take={"t": queue}, put=[net.place("out", done=True)], servers=1, delay=2)
    return net
def workload(input, net):
    print("a workload")
    work = lpn.Marking(net)
    work.add("queue", count=3)
    return work
"""


@pytest.mark.parametrize("command", ["sim", "sweep"])
def test_what_a_model_prints_is_not_the_answer(lpn, tmp_path, command):
    (tmp_path / "prints.py").write_text(PRINTS)
    done = lpn(command, "prints.py", "x", "--json", cwd=tmp_path)
    assert done.status == 0 and done.json["model"] == "prints"  # .json: one object and nothing else
    assert done.err.count("loaded\n") >= 1 and "a net\n" in done.err and "a workload\n" in done.err
    assert "a net\n" in lpn("sim", "prints.py", "x", cwd=tmp_path).out
    printed = lpn("print", "prints.py", cwd=tmp_path)
    assert printed.out.startswith("lpn 1\n") and "a net\n" in printed.err


def test_an_input_that_is_missing_is_named_once(lpn, tmp_path):
    (tmp_path / "line.lpn").write_text(LINE)
    done = lpn("sim", "line.lpn", "none.json", "--engine", "interp", cwd=tmp_path)
    assert (done.status, done.err) == (2, "error: none.json: No such file or directory [E-input]\n")


def test_an_input_that_its_model_names_is_named_once(lpn, tmp_path):
    rows = '{"part": "ddr4", "organisation": "full", "commands": [["ACTX", [0, 3, 1]]]}'
    (tmp_path / "rows.json").write_text(rows)
    done = lpn("sim", "dram", "rows.json", cwd=tmp_path)
    assert done.status == 2
    assert done.err.startswith("error: rows.json, command 0: ddr4 has no command ACTX"), done.err


def test_an_input_that_is_no_json_is_named_once(lpn, nets):
    (nets / "in.json").write_text('{"in": [[5]')
    done = lpn("sim", "line.lpn", "in.json", cwd=nets)
    assert done.status == 2
    assert done.err.startswith(
        "error: in.json is neither a marking file (LPNM) nor JSON: "
    ), done.err


def test_an_input_that_does_not_fit_shows_no_line_of_ours(lpn, nets):
    """The file of the net is no Python; nor is what lies between."""
    (nets / "in.json").write_text('{"in": [{"sze": 5}]}')
    done = lpn("sim", "line.lpn", "in.json", cwd=nets)
    assert (done.status, done.err) == (
        2,
        "error: in.json: row 0 of 'in' needs exactly: size; got: sze [E-marking]\n",
    )


def test_a_misspelt_command_is_recognised(lpn):
    done = lpn("smi")
    assert (done.status, done.err) == (
        2,
        "error: No such command 'smi'; did you mean 'smt'? [E-usage]\n  try: lpn --help\n",
    )


def test_times_where_the_net_states_its_clock(lpn, nets, marking):
    path = marking("m.json", JOBS)
    text = (nets / "line.lpn").read_text()
    (nets / "line.lpn").write_text(text.replace("param slow", "frequency 1200000000\nparam slow"))
    answer = lpn("sim", nets / "line.lpn", path)
    lines = answer.out.splitlines()
    assert lines[1].split()[:4] == ["input", "latency", "time", "firings"]
    assert lines[2].split()[1:4] == ["16", "13.33", "ns"]
    data = lpn("sim", nets / "line.lpn", path, "--json").json
    assert data["frequency"] == 1_200_000_000
    assert data["runs"][0]["latency_seconds"] == 16 / 1.2e9
    assert "frequency 1200000000\n" in lpn("print", nets / "line.lpn").out


@pytest.mark.parametrize("value", ["0", "-5", "1000000000000001", "1.5", "fast"])
def test_frequencies_that_are_none(lpn, nets, value):
    text = (nets / "line.lpn").read_text()
    (nets / "line.lpn").write_text(text.replace("param slow", f"frequency {value}\nparam slow"))
    answer = lpn("sim", nets / "line.lpn")
    assert answer.status == 2 and ("E-frequency" in answer.err or "E-text" in answer.err)


def test_statistics_say_which_assertions_held(lpn, nets):
    (nets / "al.py").write_text(
        "import lpn\n\n\ndef net():\n    net = lpn.Net('al')\n"
        "    p, out = net.place('p', start=True, init=3), net.place('out', done=True)\n"
        "    net.transition('t', take=[p], put=[out], delay=1, servers=1)\n"
        "    net.always('few', [p], lambda p: p.count < 4)\n    return net\n"
    )
    shown = lpn("sim", nets / "al.py", "--stats", "--engine", "interp")
    assert shown.status == 0 and "1 assertion held at every instant: few" in shown.out
    assert "assertion" not in lpn("sim", nets / "join.lpn", "--stats", "--engine", "interp").out


def test_one_run_is_the_table_and_the_answer(tmp_path, monkeypatch, capsys):
    """`lpn sim dram` runs a trace once, whose answer is that of answer(input)."""
    lpn = pytest.importorskip("lpn")
    from lpn.cli.main import main
    from lpn.runs import Ready

    file, runs, whole = str(tmp_path / "t.json"), [], Ready.run
    Path(file).write_text('{"controller": "ddr4", "requests": [[0, "R", 0], [0, "W", 64]]}')
    answer = lpn.load("dram").module.answer(file)

    def counted(self, *args, **options):
        runs.append(whole(self, *args, **options))
        return runs[-1]

    def said(*options):
        runs.clear()
        monkeypatch.setattr("sys.argv", ["lpn", "sim", "dram", file, "--json", *options])
        with pytest.raises(SystemExit):
            main()
        (row,) = json.loads(capsys.readouterr().out)["runs"]
        return row.get("answer"), len(runs)

    monkeypatch.setattr(Ready, "run", counted)
    for engine in ("interp", "compiled"):
        assert said("--engine", engine) == (answer, 1)
    assert said("--limit", "999999", "--stats") == (answer, 1)
    assert said("--limit", "9") == (None, 1)
    assert said("--until", "done.count >= 1") == (None, 1)
    assert said("--trace", str(tmp_path / "trace.json")) == (answer, 1)
