"""lpn.unknown() and lpn fit: what is refused, what is found, and what is said about it."""

import json
import subprocess
import sys

import lpn
import pytest
from lpn.authoring.unknown import forget
from lpn.fitting.history import Observed, run
from lpn.fitting.report import described
from lpn.fitting.result import errors, total
from lpn.fitting.solve import Fit
from lpn.fitting.write import as_lpn, as_python

SKELETON = """
import lpn


class Packet(lpn.Token):
    words: lpn.Int[1, 64]


def net(*, known=False):
    net = lpn.Net("dma")
    queue = net.place("queue", Packet, start=True)
    buffer = net.place("buffer", Packet, capacity=lpn.unknown())
    sent = net.place("sent", done=True)
    net.transition("fetch", take={"pkt": queue}, put=[buffer.forward("pkt")], servers=1,
                   delay=lambda pkt: lpn.unknown() * pkt.words + lpn.unknown("setup"))
    net.transition("send", take={"pkt": buffer}, put=[sent.emit()], servers=1, delay=lpn.unknown())
    return net
"""
TRUE = {"fetch.delay": 2, "setup": 5, "buffer.capacity": 3}
MAP = """clock = "tb.clk"
[places.queue]
channel = "in"
properties = { words = "words" }
[channels.in]
strobe = "tb.in"
payload = { words = "tb.words" }
[channels.fetched]
strobe = "tb.fetched"
[channels.sent]
strobe = "tb.sent"
[transitions.fetch]
channel = "fetched"
[transitions.send]
channel = "sent"
"""


def send_delay(words):
    return max(words, 30)


class Packet(lpn.Token):
    words: lpn.Int[1, 64]


def true_net():
    net = lpn.Net("dma")
    queue = net.place("queue", Packet, start=True)
    buffer = net.place("buffer", Packet, capacity=3)
    sent = net.place("sent", done=True)
    net.transition("fetch", take={"pkt": queue}, put=[buffer.forward("pkt")], servers=1,
                   delay=lambda pkt: 2 * pkt.words + 5)  # fmt: skip
    net.transition("send", take={"pkt": buffer}, put=[sent.emit()], servers=1,
                   delay=lambda pkt: lpn.max(pkt.words, 30))  # fmt: skip
    return net.done()


WORDS = [(7 * k * k + 13 * k) % 64 + 1 for k in range(60)]
ARRIVALS = [4 * k for k in range(60)]


def made(words=WORDS, arrivals=ARRIVALS):
    """The commits of fetch and send of the true net."""
    net = true_net()
    pushes = [("queue", (w,), t) for w, t in zip(words, arrivals)]
    history = run(Observed("true", net, lpn.Marking(net), {}, pushes=pushes), {}, guided=False)
    return {
        name: sorted(history.firings[n].commit for n in history.of[k].values())
        for k, name in enumerate(net.transitions)
    }


def observed(skeleton, commits, words=WORDS, arrivals=ARRIVALS):
    pushes = [("queue", (w,), t) for w, t in zip(words, arrivals)]
    return Observed("r", skeleton, lpn.Marking(skeleton), {}, {}, commits, pushes)


def dump(path, words, arrivals, commits):
    """A VCD whose strobes are high in those cycles."""
    at = {}
    for signal, times in (("i", arrivals), ("f", commits["fetch"]), ("s", commits["send"])):
        for time in times:
            at.setdefault(time, []).append(signal)
    value = dict(zip(arrivals, words))
    with open(path, "w") as file:
        file.write("$timescale 1 ns $end\n$scope module tb $end\n$var wire 1 c clk $end\n")
        for signal, name in (("i", "in"), ("f", "fetched"), ("s", "sent")):
            file.write(f"$var wire 1 {signal} {name} $end\n")
        file.write("$var wire 7 w words $end\n$upscope $end\n$enddefinitions $end\n")
        for cycle in range(max(at) + 5):
            wires = "".join(f"{int(s in at.get(cycle, ()))}{s} " for s in "ifs")
            file.write(
                f"#{10 * cycle} 0c {wires}b{value.get(cycle, 0):b} w\n#{10 * cycle + 5} 1c\n"
            )


@pytest.fixture
def files(tmp_path):
    (tmp_path / "skeleton.py").write_text(SKELETON)
    (tmp_path / "map.toml").write_text(MAP)
    dump(tmp_path / "one.vcd", WORDS, ARRIVALS, made())
    words = WORDS[::-1]
    dump(tmp_path / "two.vcd", words, ARRIVALS, made(words))
    return tmp_path


@pytest.fixture
def skeleton(files):
    return lpn.load(str(files / "skeleton.py")).net()


def lpn_fit(files, *words):
    done = subprocess.run(
        [sys.executable, "-m", "lpn", "fit", *map(str, words)],
        cwd=files,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def refused(code, call):
    with pytest.raises(lpn.Error) as caught:
        call()
    assert caught.value.code == code
    return str(caught.value).split("\n")[0]


def test_an_output_that_cannot_be_is_refused_before_the_search(files):
    before = (files / "skeleton.py").read_text()
    words = ["skeleton.py", "one.vcd", "--map", "map.toml", "-o"]
    assert lpn_fit(files, *words, "./skeleton.py") == (
        2,
        "",
        "error: Invalid value for '-o' / '--output': ./skeleton.py is a file that the command reads; "
        "name another one [E-usage]\n  try: lpn fit --help\n",
    )
    assert (files / "skeleton.py").read_text() == before
    (files / "net.lpn").write_text(true_net().text())
    assert lpn_fit(files, "net.lpn", "--forget", "*", *words[1:], "found.py") == (
        2,
        "",
        "error: -o found.py: net.lpn is no .py file; write a .lpn file [E-fit-output]\n",
    )
    assert "there is no folder no [E-input]" in lpn_fit(files, *words, "no/found.py")[2]


def test_a_recording_without_a_transfer_is_no_answer(files):
    text = (files / "one.vcd").read_text()
    (files / "short.vcd").write_text(text[: text.index("$enddefinitions $end\n") + 60])
    status, out, err = lpn_fit(files, "skeleton.py", "short.vcd", "--map", "map.toml")
    assert status == 3 and "there was nothing to compare" in err
    assert "no exact formula" not in out


# A net with unknowns.


def test_every_engine_refuses_it_and_names_the_unknown(skeleton):
    marking = lpn.Marking(skeleton)
    expected = (
        "net 'dma': the capacity of place 'buffer' is unknown (and 3 more: fetch.delay, setup, "
        "send.delay); find it with 'lpn fit MODEL RECORDING --map MAP', or give it with "
        "-p buffer.capacity=NUMBER"
    )
    for engine in ("interp", "compiled"):
        assert (
            refused("E-unknown", lambda e=engine: lpn.simulate(skeleton, marking, engine=e))
            == expected
        )
    assert refused("E-unknown", skeleton.text) == expected
    assert refused("E-unknown", lambda: lpn.InputSpace(skeleton)) == expected


def test_it_can_be_checked_and_its_unknowns_given(skeleton):
    skeleton.done()
    assert list(skeleton.unknowns) == ["buffer.capacity", "fetch.delay", "setup", "send.delay"]
    assert [u.open for u in skeleton.unknowns.values()] == [False, False, False, True]
    skeleton.bound = {**TRUE, "send.delay": 7}
    marking = lpn.Marking(skeleton)
    marking.add("queue", words=10)
    assert lpn.simulate(skeleton, marking, engine="interp").latency == 2 * 10 + 5 + 7


def test_an_unknown_computes_inside_of_formulas_only():
    assert refused("E-unknown", lambda: lpn.unknown() + 1) == (
        "an unknown has no value to compute with; compute in the function: "
        "delay=lambda pkt: lpn.unknown() + pkt.words"
    )
    assert refused("E-name", lambda: lpn.unknown("two words")) == (
        "'two words' cannot name an unknown: use letters, digits, _ and dots"
    )


def test_one_call_is_one_unknown_on_all_paths_of_a_formula():
    net = lpn.Net("n")
    place = net.place("p", Packet, start=True)
    out = net.place("out", done=True)
    net.transition("t", take={"pkt": place}, put=[out.emit()], servers=1,
                   delay=lambda pkt: lpn.unknown() + (2 if pkt.words > 8 else 1))  # fmt: skip
    assert list(net.unknowns) == ["t.delay"]


def test_a_part_keeps_its_unknowns():
    part = lpn.Net("part")
    place = part.place("p", start=True)
    out = part.place("out", done=True)
    part.transition("t", take=[place], put=[out], delay=lpn.unknown(), servers=1)
    whole = lpn.Net("whole")
    whole.instance(part, "a")
    assert {n: str(u.uses[0]) for n, u in whole.unknowns.items()} == {
        "a.t.delay": "delay of transition 'a.t'"
    }


def test_what_a_net_says_can_be_forgotten():
    net = true_net()
    forget(net, ["*.delay", "buffer.*"])
    assert list(net.unknowns) == ["fetch.delay", "send.delay", "buffer.capacity"]
    assert refused("E-unknown", lambda: forget(true_net(), ["fetch.capacity"])) == (
        "--forget fetch.capacity: the net has nothing of that name; names are TRANSITION.delay, "
        ".interval or .servers, and PLACE.capacity, with * for any part"
    )


# What is found.


def test_formulas_of_a_shape_and_open_ones_and_a_capacity(skeleton):
    fit = Fit([observed(skeleton, made())])
    fit.solve()
    assert fit.number_values() == TRUE
    assert fit.found["send", "delay"].formula.text() == "lpn.max(pkt.words, 30)"
    held = observed(skeleton, made(WORDS[::-1]), WORDS[::-1])
    for each in (fit.cases[0].observed, held):
        assert total(errors(each, fit.filled(skeleton), fit.number_values())) == (120, 120)


def test_the_result_runs_as_lpn_and_as_python(skeleton, files):
    fit = Fit([observed(skeleton, made())])
    fit.solve()
    text = as_lpn(fit, skeleton)
    assert "send.delay" not in text and "param buffer.capacity = 3" in text
    (files / "fitted.py").write_text(as_python(fit, skeleton, str(files / "skeleton.py")))
    (files / "fitted.lpn").write_text(text)
    latencies = []
    for name in ("fitted.py", "fitted.lpn"):
        net = lpn.load(str(files / name)).net()
        marking = lpn.Marking(net)
        marking.add_rows("queue", [(w,) for w in WORDS])
        latencies.append(lpn.simulate(net, marking, engine="interp").latency)
    net = true_net()
    marking = lpn.Marking(net)
    marking.add_rows("queue", [(w,) for w in WORDS])
    assert latencies == [lpn.simulate(net, marking, engine="interp").latency] * 2
    assert "capacity=3" in (files / "fitted.py").read_text()


def test_few_firings_are_called_few(skeleton):
    words, arrivals = [5, 9], [0, 100]
    fit = Fit([observed(skeleton, made(words, arrivals), words, arrivals)])
    fit.solve()
    rows = {r["unknown"]: r for r in described(fit, [skeleton])}
    assert rows["fetch.delay"]["few"] and rows["send.delay"]["few"]
    assert rows["buffer.capacity"]["undecided"] == (
        "no start waits for it in the recordings; any number from 1 on does as well"
    )


def test_noise_has_no_exact_formula_but_the_best_one(skeleton):
    commits = made()
    commits["send"] = [t + (k % 20 == 7) for k, t in enumerate(commits["send"])]
    fit = Fit([observed(skeleton, commits)])
    fit.solve()
    rows = {r["unknown"]: r for r in described(fit, [skeleton])}
    assert rows["send.delay"]["formula"] == "lpn.max(pkt.words, 30)"
    assert rows["send.delay"]["met"] < rows["send.delay"]["events"]
    assert set(rows["send.delay"]["residuals"]) <= {"1", "-1"} and rows["send.delay"]["residuals"]
    compared, exact = total(
        errors(fit.cases[0].observed, fit.filled(skeleton), fit.number_values())
    )
    assert exact < compared


def test_two_delays_of_which_only_the_sum_shows(tmp_path):
    net = lpn.Net("two")
    a, b = net.place("a", Packet, start=True), net.place("b", Packet)
    out = net.place("out", done=True)
    net.transition("first", take={"pkt": a}, put=[b.forward("pkt")], delay=lpn.unknown())
    net.transition("second", take={"pkt": b}, put=[out.emit()], delay=lpn.unknown())
    pushes = [("a", (w,), t) for w, t in zip(WORDS, ARRIVALS)]
    at = [t + w + 9 for w, t in zip(WORDS, ARRIVALS)]
    order = sorted(range(60), key=lambda k: at[k])
    if order != list(range(60)):  # in order of arrival, for a recording that is
        pushes = [("a", (8,), t) for t in ARRIVALS]
        at = [t + 17 for t in ARRIVALS]
    fit = Fit([Observed("r", net, lpn.Marking(net), {}, {}, {"second": at}, pushes)])
    fit.solve()
    hidden = [f.hidden for f in fit.found.values()]
    assert "only the sum with second.delay shows" in hidden
    assert sum(f.formula.constant for f in fit.found.values()) == 17


def counted_net(ask):
    net = lpn.Net("n")
    a, b = net.place("a", Packet, start=True), net.place("b")
    credits = net.place("credits", init=ask(5))
    out, back = net.place("out", done=True), net.place("back")
    net.transition("split", take={"pkt": a, "c": credits}, put=[b.emit(count=ask(3))],
                   delay=ask(4), servers=1)  # fmt: skip
    net.transition(
        "send", take={"b": b.take(ask(1))}, put=[out, back], delay=ask(7), servers=ask(2)
    )
    net.transition("give_back", take={"x": back.take(3)}, put=[credits], delay=2)
    return net


def test_counts_weights_credits_and_servers():
    true, skeleton = counted_net(lambda x: x).done(), counted_net(lambda x: lpn.unknown())

    def marked(net):
        marking = lpn.Marking(net)
        marking.add_rows("a", [(w,) for w in WORDS])
        return marking

    history = run(Observed("true", true, marked(true), {}), {}, guided=False)
    commits = {
        name: sorted(history.firings[n].commit for n in history.of[k].values())
        for k, name in enumerate(true.transitions[:2])
    }
    fit = Fit([Observed("r", skeleton, marked(skeleton), {}, {}, commits)])
    fit.solve()
    assert fit.number_values() == {
        "credits.init": 5,
        "split.count": 3,
        "send.b.take": 1,
        "send.servers": 2,
    }
    assert {key: f.formula.text() for key, f in fit.found.items()} == {
        ("split", "delay"): "4",
        ("send", "delay"): "7",
    }
    found = errors(fit.cases[0].observed, fit.filled(skeleton), fit.number_values())
    assert total(found) == (240, 240)


def test_a_loop_without_delay_is_refused():
    net = lpn.Net("n")
    turn = net.place("turn", init=1)
    net.transition(
        "tick", take={"t": turn}, put=[turn, net.place("out", done=True)], delay=lpn.unknown()
    )
    watched = Observed("r", net, lpn.Marking(net), {}, {}, {"tick": [5, 9]})
    with pytest.raises(lpn.Error) as caught:
        Fit([watched]).solve()
    assert caught.value.code in ("E-fit-run", "E-zero-delay")


def test_a_shape_that_is_not_linear_is_refused():
    net = lpn.Net("n")
    place = net.place("p", Packet, start=True)
    out = net.place("out", done=True)
    net.transition("t", take={"pkt": place}, put=[out.emit()], servers=1,
                   delay=lambda pkt: lpn.unknown("a") * lpn.unknown("b") + pkt.words)  # fmt: skip
    watched = Observed("r", net, lpn.Marking(net), {}, {}, {"t": [9]}, [("p", (3,), 0)])
    assert refused("E-fit-shape", Fit([watched]).solve) == (
        "the delay of transition 't' is not a sum of multiples of its unknowns (a, b); an unknown may "
        "be added and multiplied, not divide, be compared or multiply another one"
    )


def test_nothing_unknown_is_refused():
    net = true_net()
    assert refused("E-unknown", lambda: Fit([observed(net, made())])) == (
        "the skeleton has no unknown; write lpn.unknown() for what is to be found"
    )


# The command.


def test_the_command_fits_and_tries_held_out_recordings(files):
    words = ["skeleton.py", "one.vcd", "--map", "map.toml", "--hold-out", "two.vcd"]
    status, out, err = lpn_fit(files, *words, "-o", "fitted.py", "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    assert found["exact"] and found["output"] == "fitted.py"
    formulas = {u["unknown"]: u["formula"] for u in found["unknowns"]}
    assert formulas["send.delay"] == "lpn.max(pkt.words, 30)"
    assert [
        (e["recording"], e["held_out"], e["compared"], e["exact"]) for e in found["errors"]
    ] == [
        ("one.vcd", False, 60, 60),
        ("one.vcd", False, 60, 60),
        ("two.vcd", True, 60, 60),
        ("two.vcd", True, 60, 60),
    ]
    assert "lpn.max(pkt.words, 30)" in (files / "fitted.py").read_text()


def test_the_command_says_what_has_no_partner(files):
    """Without tokens nothing fires; a map that says nothing comes in is not an exact fit."""
    (files / "none.toml").write_text(
        MAP.replace(MAP[MAP.index("[places") : MAP.index("[channels")], "")
    )
    status, out, err = lpn_fit(files, "skeleton.py", "one.vcd", "--map", "none.toml", "--json")
    assert status == 3 and not json.loads(out)["exact"]
    assert [e["missing"] for e in json.loads(out)["errors"]] == [60, 60]
    assert err.startswith("note: there was nothing to compare")


def test_commands_that_write_the_net_refuse_it(files):
    for command in (["print"], ["compile", "-o", "x.so"], ["pi", "--loops"]):
        done = subprocess.run(
            [sys.executable, "-m", "lpn", command[0], "skeleton.py", *command[1:]],
            cwd=files, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 2 and "E-unknown" in done.stderr, command
    done = subprocess.run(
        [sys.executable, "-m", "lpn", "check", "skeleton.py"],
        cwd=files, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert (
        "unknown: buffer.capacity, fetch.delay, setup, send.delay; what is said below"
        in done.stdout
    )


def test_the_command_refuses_what_does_not_fit(files):
    status, _, err = lpn_fit(
        files, "skeleton.py", "one.vcd", "--map", "map.toml", "--input", "a", "--input", "b"
    )
    assert status == 2 and "there are 1 recordings and 2 --input" in err
    (files / "bad.toml").write_text(MAP.replace("[transitions.send]", "[transitions.sent]"))
    status, _, err = lpn_fit(files, "skeleton.py", "one.vcd", "--map", "bad.toml")
    assert (status, err) == (
        2,
        "error: bad.toml: transitions.sent: the net has no transition 'sent'; did you mean 'send'? "
        "[E-wave-map]\n",
    )
    (files / "bad.toml").write_text(MAP.replace('words = "words" }', 'size = "words" }'))
    status, _, err = lpn_fit(files, "skeleton.py", "one.vcd", "--map", "bad.toml")
    assert (status, err) == (
        2,
        "error: bad.toml: places.queue.properties are size; the place's tokens have words "
        "[E-wave-map]\n",
    )
    (files / "signed.py").write_text(SKELETON.replace("Int[1, 64]", "Int[-8, 64]"))
    status, _, err = lpn_fit(files, "signed.py", "one.vcd", "--map", "map.toml")
    assert status == 2 and "are read without sign" in err and "Int[-8, 64]" in err
    late = MAP.replace('channel = "in"', 'channel = "in"\noffset = 1000000')
    (files / "bad.toml").write_text(late)
    status, _, err = lpn_fit(files, "skeleton.py", "one.vcd", "--map", "bad.toml")
    assert status == 2 and "bad.toml: places.queue: transfer " in err
    assert "of 'in' would be at cycle -" in err and "its offset is too large" in err
    status, _, err = lpn_fit(files, "skeleton.py", "one.vcd", "--map", "map.toml", "-o", "x.txt")
    assert status == 2 and "-o x.txt: the result is a .lpn or a .py file" in err


def test_a_recording_counts_once(files):
    """Twice the same instants decide no more, and a recording that was fitted is not kept out."""
    for again in (["./one.vcd"], ["--hold-out", str(files / "one.vcd")]):
        status, _, err = lpn_fit(files, "skeleton.py", "one.vcd", *again, "--map", "map.toml")
        assert status == 2 and f"{again[-1]} is given twice with one map" in err
    (files / "other.toml").write_text(MAP)  # of another instance in the same recording
    status, _, _ = lpn_fit(
        files, "skeleton.py", "one.vcd", "one.vcd", "--map", "map.toml", "--map", "other.toml"
    )
    assert status == 0


def test_what_the_net_does_while_the_recording_is_silent_is_missing(files):
    """The last packets come and are not sent: it was called exact, for nothing is recorded behind that."""
    commits = {name: times[:40] for name, times in made().items()}
    dump(files / "stuck.vcd", WORDS, ARRIVALS, commits)
    last = max(*ARRIVALS, *map(max, commits.values()))
    with open(files / "stuck.vcd", "a") as file:
        for cycle in range(last + 5, last + 2000):
            file.write(f"#{10 * cycle} 0c 0i 0f 0s\n#{10 * cycle + 5} 1c\n")
    status, out, _ = lpn_fit(files, "skeleton.py", "stuck.vcd", "--map", "map.toml", "--json")
    found = json.loads(out)
    assert status == 1 and not found["exact"]
    assert {row["transition"]: row["missing"] for row in found["errors"]} == {
        "fetch": 20,
        "send": 20,
    }


KINDS = """import lpn


class Job(lpn.Token):
    kind: lpn.Int[0, 15]


def net():
    net = lpn.Net("kinds")
    queue = net.place("queue", Job, start=True)
    done = net.place("done", done=True)
    net.transition("work", take={"job": queue}, put=[done], delay=lpn.unknown(), servers=1)
    return net
"""
KINDS_MAP = """clock = "tb.clk"
[places.queue]
channel = "in"
properties = { kind = "kind" }
[channels.in]
strobe = "tb.in"
payload = { kind = "tb.words" }
[channels.sent]
strobe = "tb.sent"
[transitions.work]
channel = "sent"
"""


def test_a_held_out_recording_that_the_result_fails_on_leaves_the_result(tmp_path):
    """A kind that the fitted recordings lack has no entry in the table: that error was all there was."""
    (tmp_path / "kinds.py").write_text(KINDS)
    (tmp_path / "kinds.toml").write_text(KINDS_MAP)
    for name, kinds in (("seen", [0, 1, 2, 3] * 20), ("other", [0, 1, 2, 3, 4, 0])):
        free, commits = 0, []
        for k, kind in enumerate(kinds):
            free = max(free, 4 * k) + [9, 4, 30, 5, 77][kind]
            commits.append(free)
        arrivals = [4 * k for k in range(len(kinds))]
        dump(tmp_path / f"{name}.vcd", kinds, arrivals, {"fetch": [], "send": commits})
    words = ["kinds.py", "seen.vcd", "--map", "kinds.toml", "--hold-out", "other.vcd"]
    status, out, err = lpn_fit(tmp_path, *words, "-o", "found.lpn", "--json")
    found = json.loads(out)
    assert status == 0 and found["exact"] and (tmp_path / "found.lpn").exists()
    assert "lookup" in found["unknowns"][0]["formula"]
    [held] = [row for row in found["errors"] if row["held_out"]]
    assert (held["compared"], held["missing"], held["exact"]) == (0, 6, 0)
    assert "other.vcd: the net cannot follow the recording" in err and "as a FILE" in err
