"""Performance interfaces against what was measured and against the nets they were taken from.

`pytest -s` prints the table of asked and measured figures. The RTL's and the reference's runs are
in ../../../../shared/truth (or $LPN_SHARED/truth); without them the demo images and runs of our own
remain.
"""

import ast
import csv
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[3]
LTC = REPO / "testbenches" / "ltc"
DEMO = REPO / "models" / "jpeg" / "demo"
TRUTH = Path(os.environ.get("LPN_SHARED", REPO.parent / "shared")) / "truth"
BUILD = Path(os.environ.get("LPN_BUILD", REPO / "build"))
for folder in (str(BUILD / "python"), str(LTC)):
    if folder not in sys.path:
        sys.path.insert(0, folder)

import lpn  # noqa: E402
from lpn.interfaces import input as _pi_input  # noqa: E402
from lpn.interfaces.extract import extract as extracted  # noqa: E402


def run(*words, status=0):
    done = subprocess.run(
        [sys.executable, "-m", "lpn", "pi", *map(str, words)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(BUILD / "python")},
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def extract(folder, name, *words):
    """(path of the interface, what --json says of it, processor seconds)."""
    path = folder / f"{name}.py"
    begin = os.times()
    found = json.loads(run(*words, "-o", path, "--json"))
    end = os.times()
    spent = end.children_user + end.children_system - begin.children_user - begin.children_system
    return path, found, spent


def evaluate(path, model, inputs):
    found = json.loads(run("--evaluate", path, "--model", model, *inputs, "--json"))
    assert not found["not_covered"]
    return [row["predicted"] for row in found["rows"]]


def show(what, asked, measured):
    print(f"\n| {what} | {asked} | {measured} |", end="")


def is_short(path):
    """Fewer than 60 lines of at most 100 columns without the docstring."""
    text = path.read_text()
    lines = text.splitlines()
    after = lines[ast.parse(text).body[0].end_lineno :]
    assert len(after) < 60 and max(map(len, after)) <= 100
    return len(after)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("interfaces")


@pytest.fixture(scope="module")
def jpeg(folder):
    """Per build of the decoder, (its interface, what was said of it)."""
    return {
        tables: extract(
            folder,
            f"jpeg_{tables}",
            "jpeg",
            "--space",
            "blocks=18",
            "-p",
            f"writable_tables={tables}",
        )
        for tables in (0, 1)
    }


def jpeg_rows():
    """[(path, tables, cycles)] measured on the RTL."""
    full = (TRUTH / "jpeg" / "cycles.csv").exists()
    rows = list(csv.DictReader(open((TRUTH / "jpeg" if full else DEMO) / "cycles.csv", newline="")))
    images = TRUTH / "jpeg" / "own" if full else DEMO
    return [(images / row["file"], int(row["dht"]), int(row["cycles_total"])) for row in rows]


def test_jpeg_against_the_rtl(jpeg):
    errors = {}
    for tables, (path, _, _) in jpeg.items():
        rows = [(image, cycles) for image, dht, cycles in jpeg_rows() if dht == tables]
        for (image, cycles), predicted in zip(
            rows, evaluate(path, "jpeg", [image for image, _ in rows])
        ):
            errors[image.name, tables] = abs(predicted - cycles) / cycles
    mean, worst = sum(errors.values()) / len(errors), max(errors.values())
    show(
        f"JPEG interface against RTL, {len(errors)} runs",
        "mean 4 %, worst 10 %",
        f"{mean:.2%}, {worst:.2%}",
    )
    assert mean <= 0.04 and worst <= 0.10
    halves = ("htop", "hbot", "hleft", "htiles")
    moving = {key: e for key, e in errors.items() if any(part in key[0] for part in halves)}
    show(f"half flat, half noise, {len(moving)} runs", "worst 8 %", f"{max(moving.values()):.2%}")
    assert moving and max(moving.values()) <= 0.08


def test_jpeg_of_one_class(folder, jpeg):
    _, found, spent = extract(folder, "jpeg_420", "jpeg", "--space", "blocks=18,sampling=420")
    assert len(found["classes"]) == 1
    show("JPEG extraction, one class", "5 s", f"{spent:.1f} s of a processor with Python's start")
    show("lines of the JPEG interface, three classes", "60", is_short(jpeg[0][0]))


def test_interfaces_need_nothing_but_python(jpeg):
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import jpeg_0 as i\n"
        "x = {'header': {'size': 623, 'first_word': 5}, 'unit': i.UNITS[0], 'first': 'huffman', 'borders': {},\n"
        "     'phases': {'huffman': {'count': 100, 'symbols': 30000, 'waits': 0}}}\n"
        "assert i.latency(x) == 623 + 5 + 415 + 3000 + 3 * 30000, i.latency(x)\n"
        "assert i.bottleneck(x) == 'huffman' and abs(i.throughput(x) * 93000 - 100) < 1e-9\n"
        "x['phases']['huffman']['symbols'] = 10**6\n"
        "try: i.latency(x)\n"
        "except NotImplementedError as error: assert 'symbols' in str(error)\n"
        "else: sys.exit(1)\n"
        "x['unit'] = {'coded': {'completes': (0, 0)}}\n"
        "try: i.latency(x)\n"
        "except NotImplementedError as error: assert 'covered' in str(error)\n"
        "else: sys.exit(1)\n"
        "assert not any(name.startswith(('lpn', '_lpn', 'sympy')) for name in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", program, str(jpeg[0][0].parent)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_darwin_is_exact(folder):
    path, _, _ = extract(folder, "darwin", LTC / "darwin.py")
    interface = _pi_input.load_interface(path)
    rng = random.Random(7)
    for _ in range(200):
        ref, query, steps = rng.randint(1, 320), rng.randint(1, 320), rng.randint(0, 640)
        x = {"shape": {}, "pairs": {"ref_len": ref, "query_len": query, "steps": steps}}
        assert interface.latency(x) == (ref + 6) * query // 4 + 6 + 3 * steps
    assert evaluate(path, LTC / "darwin.py", [322, 206]) == [27052, 26704]
    show("Darwin, the formula", "exact", "exact")
    is_short(path)


def against_the_net(path, name, space, samples, seed):
    """The worst error of an interface over random members of a space, against simulation."""
    model = lpn.load(LTC / f"{name}.py")
    net = model.net()
    members = model.space(net, **space)
    interface = _pi_input.load_interface(path)
    rng = random.Random(seed)
    worst = 0
    for k in range(samples):
        # Alike, or each of a size of its own; by magnitude, since most strings are short.
        level = rng.random()
        values = {}
        for v in members.variables:
            most = (
                (v.hi - v.lo) ** (level if k % 2 else rng.random())
                if v.hi - v.lo > 1000
                else (v.hi - v.lo) * level
            )
            values[v.name] = v.lo + int(most * rng.random())
        marking = members.marking(values)
        truth = lpn.simulate(net, marking, engine="interp").latency
        predicted = interface.latency(
            _pi_input.aggregate(interface, _pi_input.rows_of(net, marking))
        )
        worst = max(worst, abs(predicted - truth) / truth)
    return worst


def test_menshen(folder):
    lists = TRUTH / "ltc" / "tokens" / "menshen" / "tb_long.tok"
    if not lists.exists():
        pytest.skip(f"no {lists}: the 100-packet list was not looked at")
    path, _, _ = extract(folder, "menshen", LTC / "menshen.py", "--space", f"like={lists}")
    worst = against_the_net(path, "menshen", {"like": str(lists)}, 100, 11)
    (shipped,) = evaluate(path, LTC / "menshen.py", [lists])
    show(
        "Menshen, 100-packet list, 100 random lengths",
        "5 %",
        f"{worst:.2%}; shipped {shipped / 2144 - 1:+.2%}",
    )
    assert worst <= 0.05 and abs(shipped - 2144) / 2144 <= 0.05
    is_short(path)


PROTOACC = {
    "bench1_all": 3886,
    "bench1_msg2": 936,
    "bench1_msg4": 1153,
    "bench1_msg6": 387,
    "bench1_msg7": 277,
    "bench1_msg9": 195,
    "bench3_all": 59447,
    "bench3_msg1": 203,
    "bench3_msg3": 219,
    "bench3_msg5": 1272,
    "bench3_msg8": 2996,
}


def test_protoacc(folder):
    messages = TRUTH / "ltc" / "tokens" / "protoacc"
    if not messages.exists():
        pytest.skip(f"no {messages}: the benchmarks' messages were not looked at")
    slowest = worst = worst_shipped = 0
    for name, cycles in PROTOACC.items():
        shape = messages / f"{name}.tok"
        most = 2**19  # bytes; bench3 has strings of a quarter of a million
        path, _, spent = extract(
            folder, name, LTC / "protoacc.py", "--space", f"like={shape}", f"most={most}"
        )
        slowest = max(slowest, spent)
        samples = 10 if name.endswith("all") else 60
        error = against_the_net(path, "protoacc", {"like": str(shape), "most": most}, samples, 5)
        assert error <= 0.05, name
        worst = max(worst, error)
        (shipped,) = evaluate(path, LTC / "protoacc.py", [shape])
        worst_shipped = max(worst_shipped, abs(shipped - cycles) / cycles)
    show(
        "Protoacc, shapes of bench1 and bench3",
        "60 s, 5 %",
        f"{slowest:.1f} s, {worst:.2%}; as shipped {worst_shipped:.2%}",
    )
    assert slowest < 60 and worst_shipped <= 0.05


def test_example_message(folder):
    path, found, _ = extract(folder, "message", LTC / "protoacc.py", "--space", "below=4000")
    assert against_the_net(path, "protoacc", {"below": 2000}, 1, 3) <= 0.05
    assert found["classes"][0]["lower_bound"] and "never above" in path.read_text()


def test_other_inputs_are_refused(folder, jpeg):
    found = json.loads(
        run("--evaluate", jpeg[0][0], "--model", "jpeg", DEMO / "cycles.csv", "--json", status=2)
    )
    assert found["rows"] == [] and found["not_covered"][0]["code"] == "E-input"
    path, _, _ = extract(folder, "six", LTC / "menshen.py", "--space", "packets=6,words=9")
    own = folder / "own.tok"
    own.write_text(
        "P p_before_pkt_filter 2 4 n_words is_control is_data is_drop\n70 0 1 0\n70 0 1 0\n"
    )
    found = json.loads(
        run("--evaluate", path, "--model", LTC / "menshen.py", own, "--json", status=1)
    )
    assert (
        found["not_covered"][0]["code"] == "E-pi-input"
        and "n_words" in found["not_covered"][0]["reason"]
    )


def test_a_larger_resolution_merges(folder):
    fine, first, _ = extract(folder, "fine", "jpeg", "--space", "blocks=18,sampling=420")
    assert len(first["classes"][0]["bottlenecks"]) == 2 and len(first["thresholds"]) == 1
    at = first["thresholds"][0]
    _, below, _ = extract(
        folder, "below", "jpeg", "--space", "blocks=18,sampling=420", "--resolution", at - 1
    )
    _, merged, _ = extract(
        folder, "merged", "jpeg", "--space", "blocks=18,sampling=420", "--resolution", at
    )
    assert (
        len(below["classes"][0]["bottlenecks"]) == 2
        and len(merged["classes"][0]["bottlenecks"]) == 1
    )
    assert f"resolutions of {at} cycles" in fine.read_text()


def test_comparison_finds_the_crossover(folder):
    """Two aligners: one has a slower clock and needs no cycles for the trace back."""
    text = (LTC / "darwin.py").read_text()
    other = folder / "other.py"
    other.write_text(text.replace("3 * pair.steps", "0 * pair.steps"))
    first, _, _ = extract(folder, "quick", LTC / "darwin.py", "--clock", 1)
    second, _, _ = extract(folder, "slow", other, "--clock", 2)
    regions = json.loads(run("--compare", first, second, "--json"))["regions"]
    steps = [r for r in regions if r["along"] == "pairs.steps"]
    # 7 // 4 + 6 + 3 * steps cycles of 1 ns against 7 // 4 + 6 of 2 ns.
    assert [(r["from"], r["to"], r["faster"]) for r in steps] == [
        (0, 2, "first"),
        (3, 640, "second"),
    ]


def test_an_interface_compared_with_itself(folder):
    """Sums go from their least to their greatest, not over those of both."""
    path = folder / "by_hand.py"
    path.write_text(
        "STREAM, CLOCK_PERIOD, MODEL, PARAMETERS = False, 1.0, 'm', {}\n"
        "SINGLES, CONSTANTS, SHAPES, COVERED = {}, {}, [{'jobs': 'a'}], []\n"
        "SUMS = {'jobs.size of 0': (0, 9), 'jobs.size of 1': (2, 9)}\n"
        "classify = lambda x: {'work': sum(x[key] for key in SUMS)}\n"
        "latency = lambda x: max(classify(x).values())\n"
    )
    [region] = json.loads(run("--compare", path, path, "--json"))["regions"]
    assert (region["along"], region["faster"]) == ("jobs.size in total", "equal")
    assert (region["from"], region["to"]) == (2, 18)


def test_plot(folder):
    for ending in ("svg", "png"):
        run(
            "jpeg",
            "--space",
            "blocks=6,sampling=grey",
            "--plot",
            folder / f"plot.{ending}",
            "-o",
            folder / "plot.py",
        )
        assert (folder / f"plot.{ending}").stat().st_size > 5000
    assert "E-plot" in run(
        "jpeg", "--space", "blocks=12", "--plot", folder / "plot.gif", "--json", status=2
    )


def test_files_that_are_no_interface(folder):
    bad = folder / "bad.py"
    for text, word in (("x = 1\n", "it has no MODEL"), ("def (:\n", "SyntaxError")):
        bad.write_text(text)
        found = json.loads(run("--evaluate", bad, "--model", "jpeg", "a.jpg", "--json", status=2))
        assert found["error"]["code"] == "E-pi-file" and word in found["error"]["message"]


ALIKE = """
import lpn


class Job(lpn.Token):
    work: lpn.Int[1, 20]


def net():
    net = lpn.Net("alike")
    jobs = net.place("jobs", Job, start=True)
    done = net.place("done", done=True)
    extra = net.place("extra", drain=True)
    net.transition("run", take={"job": jobs}, put=[done.emit(), extra.emit(lambda job: 1 if job.work > 10 else 0)],
                   delay=lambda job: job.work, servers=1)
    net.transition("again", take=extra, put=[done.emit()], delay=100)
    return net


def space(net):
    space = lpn.InputSpace(net)
    space.tokens("jobs", 1, work=(1, 20))
    return space
"""


def test_classes_that_x_cannot_tell_apart_are_written_by_steps(folder):
    model = folder / "alike.py"
    model.write_text(ALIKE)
    found = json.loads(run(model, "--json"))
    assert "wrote by steps" in found["interface"] and found["classes"][0]["worst_error"] == 0
    names = {}
    exec(compile(ALIKE, "alike.py", "exec"), names)
    net = names["net"]()
    with pytest.raises(lpn.Error, match="does not tell them apart") as refused:
        extracted(net, names["space"](net))
    assert refused.value.code == "E-pi"


def test_loops(folder):
    ring = folder / "ring.lpn"
    ring.write_text(
        "lpn 1\nnet ring\ntype Token ()\nplace free : Token initial 2\nplace full : Token\n"
        "transition fill {\n take slot from free\n delay 3\n put full\n}\n"
        "transition send {\n take slot from full\n delay 6\n put free\n}\nend\n"
    )
    found = json.loads(run(ring, "--loops", "--json"))
    assert [row["gap"] for row in found["transitions"]] == [[9, 2], [9, 2]]
    assert "E-pi" in run("jpeg", "--loops", "--json", status=2)
