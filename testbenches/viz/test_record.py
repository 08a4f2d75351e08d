"""The record of a run, read by a decoder of its own, against the interpreter's commits and
statistics.
"""

import json
import shutil
import subprocess

import pytest
from _numbers import Numbers
from conftest import DEMO, REPO, golden_nets

import lpn
from lpn.runs import execute, parameter_values
from lpn.pages.page import record

WAITS = ["none", "no token", "no credit", "guard", "inhibited", "no server", "interval", "clock"]
LTC = REPO / "testbenches" / "ltc"


def test_the_page_reads_what_is_written_to_the_last_digit(tmp_path):
    """Signed numbers are written with their sign as a 54th bit, which a double has not."""
    values = [
        0,
        -1,
        1,
        2**52 + 1,
        -(2**52) - 1,
        2**53,
        2**53 - 1,
        -(2**53),
        -(2**53) + 1,
        63,
        -64,
        64,
    ]
    data = bytearray()
    for value in values:
        left = value << 1 if value >= 0 else (-value << 1) - 1
        while left >= 128:
            data.append(left & 127 | 128)
            left >>= 7
        data.append(left)
    assert [Numbers.signed(reader) for reader in [Numbers(data)] for _ in values] == values
    script = tmp_path / "read.mjs"
    script.write_text(
        f"import {{ Reader }} from '{REPO / 'lpnviz/page/src/base/numbers.js'}';\n"
        f"const reader = new Reader(new Uint8Array({list(data)}));\n"
        f"for (let k = 0; k < {len(values)}; ++k) console.log(BigInt(reader.signed()).toString());\n"
    )
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node")
    done = subprocess.run([node, script], capture_output=True, text=True, check=True)
    assert [int(line) for line in done.stdout.split()] == values


class Reader(Numbers):
    def changes(self, begin, differences):
        """(before, [(time, value)])."""
        before = value = self.next()
        times, values = [], []
        t = begin
        count = self.next()
        for _ in range(count):
            t += self.next()
            times.append(t)
        for _ in range(count):
            value = value + self.signed() if differences else self.next()
            values.append(value)
        return before, list(zip(times, values))


def decode(seen, places):
    """Per transition (firings, reasons), per place (levels), of all segments; checks that they fit
    together.
    """
    index = json.loads(seen.index())
    begins = [b for b, _ in index["segments"]]
    varying = index["varying"]
    firings = [{} for _ in varying]
    waits = [[] for _ in varying]
    levels = [[] for _ in range(places)]
    for number, (data, begin) in enumerate(zip(seen.segments, begins)):
        reader = Reader(data)
        started = 0
        for k, (inputs, outputs) in enumerate(varying):
            columns = len(inputs) + len(outputs)
            carried = []
            for _ in range(reader.next()):
                start, due, which = begin - reader.next(), begin + reader.next(), reader.next()
                carried.append((which, (start, due, *(reader.next() for _ in range(columns)))))
            # What reaches in is what had not committed before.
            assert carried == sorted((w, f) for w, f in firings[k].items() if f[1] >= begin)
            first, count = reader.next(), reader.next()
            t, starts = begin, []
            for _ in range(count):
                t += reader.next()
                starts.append(t)
            duration, dues = 0, []
            for s in starts:
                duration += reader.signed()
                dues.append(s + duration)
            counts = [[reader.next() for _ in range(count)] for _ in range(columns)]
            for i in range(count):
                assert first + i not in firings[k]
                firings[k][first + i] = (starts[i], dues[i], *(column[i] for column in counts))
            started += count
            before, changes = reader.changes(begin, False)
            assert before == (waits[k][-1][1] if waits[k] else 0)
            waits[k] += changes
        for p in range(places):
            before, changes = reader.changes(begin, True)
            if number == 0:
                levels[p].append((-1, before))
            assert before == levels[p][-1][1]
            levels[p] += changes
        assert reader.at == len(data)
        assert started == index["segments"][number][1]
        later = begins[number + 1] if number + 1 < len(begins) else index["end"] + 1
        for series in (*waits, *levels):
            assert all(t < later for t, _ in series[-3:])
    return index, firings, waits, levels


def span(series, end):
    """[(from, until, value)] of a step function."""
    ends = [t for t, _ in series[1:]] + [end]
    return [(max(0, t), min(u, end), v) for (t, v), u in zip(series, ends)]


def check(net, marking, segment, limit=None):
    values = parameter_values(net, None)
    made = record(net, values, marking, "", segment=segment, limit=limit)
    seen, run = made.record, made.run
    core = net.core
    commits = []
    plain = execute(net, values, marking, None, limit=limit, observer=commits.append)
    assert (plain.latency, plain.commits, plain.ending) == (run.latency, run.commits, run.ending)
    index, firings, waits, levels = decode(seen, len(core.places))
    end = run.stats["end"]
    assert index["end"] == end
    places = [[(-1, levels[p][0][1])] for p in range(len(core.places))]
    count = [levels[p][0][1] for p in range(len(core.places))]
    for c in commits:
        t = core.transitions[c.transition]
        start, due, *varying = firings[c.transition][c.firing]
        assert (start, due) == (c.start, c.time)
        inputs, outputs = index["varying"][c.transition]
        assert varying == [len(c.taken[a]) for a in inputs] + [c.produced[a] for a in outputs]
        for arc, taken in zip(t.inputs, c.taken):
            count[arc.place] -= len(taken)
            places[arc.place].append((c.time, count[arc.place]))
        for arc, produced in zip(t.outputs, c.produced):
            count[arc.place] += produced
            places[arc.place].append((c.time, count[arc.place]))
    for p, expected in enumerate(places):
        after = dict(expected)  # the last of each instant
        changed, last = [], None
        for t, n in after.items():
            if n != last:
                changed.append((t, n))
            last = n
        assert levels[p] == changed, core.places[p].name
    for k, t in enumerate(core.transitions):
        stats = run.stats["transitions"][t.name]
        assert sum(due <= end for _, due, *_ in firings[k].values()) == stats["commits"]
        waited = dict.fromkeys(WAITS, 0)
        for a, b, code in span([(-1, 0), *waits[k]], end):
            waited[WAITS[code & 7]] += max(0, b - a)
        assert {w: waited[w] for w in WAITS[1:]} == {
            w: stats["waited"][w] for w in WAITS[1:]
        }, t.name
        busy = reached = 0
        for start, due, *_ in sorted(firings[k].values()):
            start, due = max(start, reached), min(due, end)
            if due > start:
                busy += due - start
                reached = due
        assert busy == stats["busy"], t.name
    for p, place in enumerate(core.places):
        mean = run.stats["places"][place.name]["mean"]
        total = sum((b - a) * n for a, b, n in span(levels[p], end))
        assert total == pytest.approx(mean * end if end else 0, rel=1e-12)
    check_overview(seen, run, core, firings, levels, end)
    return len(seen.segments)


def check_overview(seen, run, core, firings, levels, end):
    reader = Reader(seen.overview)
    width, bins = reader.next(), reader.next()
    assert bins == end // width + 1 and width & (width - 1) == 0

    def series():
        return [reader.next() for _ in range(bins)] if reader.next() else [0] * bins

    for k, t in enumerate(core.transitions):
        stats = run.stats["transitions"][t.name]
        busy, starts = series(), series()
        assert sum(busy) == stats["busy"]
        expected = [0] * bins
        for start, *_ in firings[k].values():
            expected[start // width] += 1
        assert starts == expected
        for reason in WAITS[1:]:
            assert sum(series()) == stats["waited"][reason]
    for p in range(len(core.places)):
        integral, most = series(), series()
        wanted, highest = [0] * bins, [0] * bins
        for a, b, n in span(levels[p], end):
            for at in range(a // width, max(a, b - 1) // width + 1 if b > a else a // width):
                wanted[at] += n * (min(b, (at + 1) * width) - max(a, at * width))
                highest[at] = max(highest[at], n)
        assert integral == wanted and most == highest, core.places[p].name
    assert reader.at == len(seen.overview)


GOLDEN = golden_nets()


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
@pytest.mark.parametrize("segment", [1, 7])
def test_golden_nets(path, segment):
    net = lpn.load(path).net()
    check(net, lpn.Marking(net), segment, limit=10_000)


@pytest.mark.parametrize("limit", [1, 17, 36])
def test_a_run_that_is_cut_off(limit):
    model = lpn.load(LTC / "protoacc.py")
    net = model.net()
    check(net, model.workload(str(LTC / "tokens" / "protoacc" / "one_scalar.tok"), net), 20, limit)


def test_jpeg_in_many_segments():
    model = lpn.load("jpeg")
    net = model.net()
    assert check(net, model.workload(str(DEMO / "noise8_128x96_q75_420.jpg"), net), 100) > 20


@pytest.mark.parametrize("accel", ["menshen", "pcie", "vta", "protoacc"])
def test_nets_of_the_reference(accel):
    model = lpn.load(LTC / f"{accel}.py")
    net = model.net()
    for path in sorted((LTC / "tokens" / accel).glob("*"))[:2]:
        check(net, model.workload(str(path), net), 50, 20_000)


@pytest.mark.parametrize("segment", [None, 1])
def test_what_arrives_after_the_last_commit_is_in_the_record(segment):
    """The record ended with the last commit, and its last segments began behind its end."""
    net = lpn.Net("late")
    jobs = net.place("jobs", start=True)
    net.place("late", start=True)
    net.transition("work", take={"job": jobs}, put=[net.place("out", done=True)], delay=3)
    marking = lpn.Marking(net)
    marking.add("jobs")
    for at in (2, 50, 100):
        marking.add("late", at=at)
    made = record(net.done(), [], marking, "", segment=segment)
    index, _, _, levels = decode(made.record, 3)
    assert (index["end"], made.run.end, made.run.stats["end"]) == (100, 100, 3)
    assert levels[1] == [(-1, 0), (2, 1), (50, 2), (100, 3)]
    assert all(begin <= index["end"] for begin, _ in index["segments"])
    # A run that ends before they come does not show them.
    assert record(net, [], marking, "", limit=60, segment=segment).run.end == 60
    marking.done_count = 1
    made = record(net, [], marking, "", segment=segment)
    assert (made.run.ending, made.run.end, decode(made.record, 3)[0]["end"]) == ("done", 3, 3)
