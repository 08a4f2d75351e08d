"""The pages of lpn viz in a real browser: what they show, against the simulator."""

import bisect
import json
import os
import random

import pytest

from conftest import BUILD, DEMO, REPO, chain, golden_nets, require_page

import lpn

SCREENS = BUILD / "testbenches" / "viz" / "screens"
PROTOACC = REPO / "testbenches" / "ltc" / "protoacc.py"
PROTOACC_INPUT = REPO / "testbenches" / "ltc" / "tokens" / "protoacc" / "one_scalar.tok"
IMAGE = DEMO / "htop30_256x256_q80_420.jpg"

# Both inputs of the join are needed; a start place keeps what is not taken.
STALLS = """lpn 1
net join
type unit ()
type job (size: 0..9)
place left : job start
place right : unit start
place between : job capacity 2
place out : unit done
transition feed {
  take j from left
  delay 2
  servers 1
  put between (j.size)
}
transition join {
  take a from between
  take b from right weight 2
  delay 3
  servers 1
  put out
}
end
"""


NAMED = """import lpn


def net():
    net = lpn.Net("open")
    net.transition("serve", take=[net.place("jobs")], put=[net.place("out", done=True)], delay=3)
    return net


def workload(input, net):
    marking = lpn.Marking(net)
    marking.add("jobs")
    return marking
"""

# One of 16 cycles here, the others there.
TIES = """lpn 1
net ties
type unit ()
place in : unit initial 1
place few : unit
place out : unit done
transition short {
  take a from in
  delay 1
  servers 1
  put few
}
transition long {
  take a from few
  delay 15
  servers 1
  put out
}
end
"""


@pytest.fixture
def jpeg(browser, page):
    browser.open(page("jpeg", "jpeg", IMAGE, "--critical-path"), "light")
    return browser


@pytest.fixture
def protoacc(browser, page):
    browser.open(page("protoacc", PROTOACC, PROTOACC_INPUT), "light")
    browser.wait("await lpnviz.graph.collapseAll(false)")
    return browser


# ---- numbers --------------------------------------------------------------------------------


def replay(model, input):
    """{place: (times, tokens after each)} and {transition: [(start, commit)]} of the interpreter's
    commits.
    """
    loaded = lpn.load(model)
    net = loaded.net()
    marking = loaded.workload(str(input), net)
    run = lpn.simulate(net, marking, engine="interp", trace=True)
    core = net.core
    names = list(net.places)
    tokens = {name: marking.count(name) for name in names}
    for place in core.places:
        tokens[place.name] += sum(core.value(i.count[0]) for i in place.initial)
    levels = {name: ([-1], [tokens[name]]) for name in names}
    firings = {t.name: [] for t in core.transitions}
    for commit in run.trace:
        t = core.transitions[commit.transition]
        firings[t.name].append((commit.start, commit.time))
        changed = {}
        for arc, taken in zip(t.inputs, commit.taken):
            changed[names[arc.place]] = changed.get(names[arc.place], 0) - len(taken)
        for arc, produced in zip(t.outputs, commit.produced):
            changed[names[arc.place]] = changed.get(names[arc.place], 0) + produced
        for name, by in changed.items():
            tokens[name] += by
            levels[name][0].append(commit.time)
            levels[name][1].append(tokens[name])
    return run, levels, firings


SHOWN = """
const of = (list, f) => Object.fromEntries(list.map((x, k) => [x.name, f(k)]));
return {
  time: document.querySelector('.player input[type=text]').value.replace(/\\D/g, ''),
  places: of(lpnviz.net.places, (k) => document.querySelector(`[data-node="p${k}"] .count`).firstChild.textContent.replace(/\\D/g, '')),
  bars: of(lpnviz.net.transitions, (k) => lpnviz.run.state.inFlight[k].map((f) => {
    const actor = lpnviz.run.run.record.segments.get(lpnviz.run.run.record.segmentOf(lpnviz.run.state.time)).transitions[k];
    return [actor.start[f], actor.due[f]];
  })),
};
"""


@pytest.fixture(scope="session")
def short_segments(tmp_path_factory):
    """The page of the JPEG run with its record in some hundred segments."""
    require_page()
    from lpn.runs import parameter_values
    from lpn.pages.page import page as page_of
    from lpn.pages.page import record

    model = lpn.load("jpeg")
    net = model.net()
    marking = model.workload(str(IMAGE), net)
    made = record(net, parameter_values(net, None), marking, "jpeg", segment=200)
    assert len(made.record.segments) > 50
    path = tmp_path_factory.mktemp("segments") / "page.html"
    path.write_text(
        page_of(net, made.values, marking, {"title": "jpeg", "subtitle": ""}, [made]),
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize(
    "model, input, name",
    [("jpeg", IMAGE, "jpeg"), ("jpeg", IMAGE, "segments"), (PROTOACC, PROTOACC_INPUT, "protoacc")],
)
def test_every_place_and_firing_at_random_times(browser, page, short_segments, model, input, name):
    """Tokens and firings in flight, against a replay of the interpreter's commits."""
    extra = ["--critical-path"] if name == "jpeg" else []
    browser.open(
        short_segments if name == "segments" else page(name, model, input, *extra), "light"
    )
    if name == "segments":
        browser.js("lpnviz.run.run.record.budget = 1 << 20")  # so that segments are forgotten too
    browser.wait(
        "await lpnviz.graph.collapseAll(false); lpnviz.graph.view.credits = true; await lpnviz.graph.draw()"
    )
    run, levels, firings = replay(str(model), input)
    # Going from event to event meets every instant at which something shown changes, and no other.
    changes = sorted(
        {t for times, _ in levels.values() for t in times if t >= 0}
        | {t for f in firings.values() for s, e in f for t in (s, e)}
    )
    at = changes[len(changes) // 3]
    browser.seek(at)
    for _ in range(25):
        if at >= changes[-1]:
            break
        browser.wait("await lpnviz.run.step(1)")
        now = browser.js("return lpnviz.run.time")
        following = changes[bisect.bisect_right(changes, at)]
        assert at < now <= following  # reasons to wait change at instants of their own too
        at = now
    rng = random.Random(20261122)
    instants = sorted({t for times, _ in levels.values() for t in times if t >= 0})
    times = [0, run.last_commit, *rng.sample(instants, min(12, len(instants)))]
    times += [rng.randrange(run.last_commit + 1) for _ in range(12)]
    for t in times:
        browser.seek(t)
        shown = browser.js(SHOWN)
        assert int(shown["time"]) == t
        for place, (at, tokens) in levels.items():
            expected = tokens[bisect.bisect_right(at, t) - 1]
            assert int(shown["places"][place]) == expected, (place, t)
        for transition, all_ in firings.items():
            expected = sorted([s, e] for s, e in all_ if s <= t < e)
            assert sorted(shown["bars"][transition]) == expected, (transition, t)


def test_statistics_are_those_of_lpn_sim(jpeg, lpn_command):
    """The tables, cell by cell, and what the record adds up to, against lpn sim --stats --json."""
    stats = lpn_command("sim", "jpeg", IMAGE, "--stats", "--json").json["runs"][0]
    shown = jpeg.js(
        """return {
      transitions: Object.fromEntries([...document.querySelectorAll('.of-transitions tbody tr')].map((r) => [r.dataset.transition, {
        commits: Number(r.cells[1].dataset.commits), text: r.cells[1].textContent, busy: Number(r.cells[2].dataset.busy), share: r.cells[2].textContent,
        waited: Object.fromEntries([...r.querySelectorAll('[data-why]')].map((s) => [s.dataset.why, Number(s.dataset.cycles)])) }])),
      places: Object.fromEntries([...document.querySelectorAll('.of-places tbody tr')].map((r) => [r.dataset.place, {
        mean: Number(r.cells[1].dataset.mean), text: r.cells[1].textContent, peak: Number(r.cells[2].dataset.peak) }])),
      facts: document.querySelector('.facts').textContent.replace(/\\u202f/g, '') }"""
    )
    assert str(stats["latency"]) in shown["facts"] and str(stats["firings"]) in shown["facts"]
    for name, t in stats["stats"]["transitions"].items():
        cell = shown["transitions"][name]
        assert cell["commits"] == t["commits"] == int(cell["text"].replace("\u202f", ""))
        assert cell["busy"] == t["busy"] and cell["share"] == f"{t['utilisation'] * 100:.1f}%"
        assert cell["waited"] == {
            w: x["cycles"] for w, x in t["waited"].items() if x["cycles"] and w != "none"
        }
    for name, p in stats["stats"]["places"].items():
        cell = shown["places"][name]
        assert (
            cell["mean"] == p["mean"]
            and cell["peak"] == p["peak"]
            and cell["text"] == f"{p['mean']:,.2f}".replace(",", "\u202f")
        )

    # What is drawn is the record: the sums of its detail, and of its bins, are the same numbers.
    for how in ("detail", "bins"):
        totals = jpeg.wait(
            """const r = lpnviz.run.run.record, net = lpnviz.net;
          await r.load(0, r.end);
          const sum = (list) => list ? list.reduce((x, y) => x + y, 0) : 0;
          const t = a[0] === 'detail' ? r.totals(0, r.end) : {
            transitions: r.overview.transitions.map((o) => ({ busy: sum(o.busy), starts: sum(o.starts), waits: o.waits.map(sum) })),
            places: r.overview.places.map((o) => ({ integral: sum(o.integral) })) };
          return { transitions: t.transitions.map((x) => ({ ...x, waits: [...x.waits] })), places: t.places };""",
            how,
        )
        reasons = [
            "",
            "no token",
            "no credit",
            "guard",
            "inhibited",
            "no server",
            "interval",
            "clock",
        ]
        end = stats["stats"]["end"]
        for (name, t), got in zip(stats["stats"]["transitions"].items(), totals["transitions"]):
            assert got["busy"] == t["busy"] and got["starts"] == t["commits"], (how, name)
            for k, reason in enumerate(reasons):
                if k:
                    assert got["waits"][k] == t["waited"][reason]["cycles"], (how, name, reason)
        for (name, p), got in zip(stats["stats"]["places"].items(), totals["places"]):
            assert got["integral"] == pytest.approx(p["mean"] * end, rel=1e-12), (how, name)


def test_the_part_that_the_timeline_shows_is_summed_up(jpeg):
    """Busy cycles, starts and tokens of a window, against the interpreter's commits."""
    a, b = 59_000, 60_500
    jpeg.js("lpnviz.run.timeline.setWindow(arguments[0], arguments[1])", a, b)
    jpeg.js("document.querySelector('.part-only input').click()")
    jpeg.wait("await lpnviz.run.summary.fill()")
    _, levels, firings = replay("jpeg", IMAGE)
    rows = {r.get_attribute("data-transition"): r for r in jpeg.all(".of-transitions tbody tr")}
    for name, all_ in firings.items():
        cells = [
            c.get_attribute("textContent").replace("\u202f", "")
            for c in rows[name].find_elements("css selector", "td")
        ]
        assert int(cells[1]) == sum(a <= s <= b for s, _ in all_), name
        covered = set()
        for s, e in all_:
            covered.update(range(max(s, a), min(e, b)))
        assert cells[2] == f"{100 * len(covered) / (b - a):.1f}%", name
    for row in jpeg.all(".of-places tbody tr"):
        at, tokens = levels[row.get_attribute("data-place")]
        held = [tokens[bisect.bisect_right(at, t) - 1] for t in range(a, b)]
        mean = float(row.find_element("css selector", "td:nth-child(2)").get_attribute("data-mean"))
        assert mean == pytest.approx(sum(held) / (b - a))
        assert int(
            row.find_element("css selector", "td:nth-child(3)").get_attribute("data-peak")
        ) == max(held)


def test_the_critical_path_is_that_of_lpn_sim(jpeg, lpn_command):
    path = lpn_command("sim", "jpeg", IMAGE, "--critical-path", "--top", "0", "--json").json[
        "runs"
    ][0]["critical_path"]
    shown = jpeg.js(
        """return [...document.querySelectorAll('.of-path tbody tr')].map((r) => [
      r.cells[0].textContent, Number(r.cells[1].dataset.count), Number(r.cells[2].dataset.cycles)])"""
    )
    assert shown == [[r["transition"], r["count"], r["cycles"]] for r in path["rows"]]
    jpeg.find("button[title^='Critical path']").click()
    jpeg.settle()
    marked = set(
        jpeg.js("return [...document.querySelectorAll('.node.on-path')].map((e) => e.dataset.node)")
    )
    names = jpeg.js("return lpnviz.net.transitions.map((t) => t.name)")
    assert {f"t{names.index(r['transition'])}" for r in path["rows"]} <= marked
    steps = jpeg.js(
        "const p = lpnviz.run.timeline.path; return [p.start[0], p.commit[p.index.length - 1], p.index.length]"
    )
    assert (
        steps[0] == 0
        and steps[1] == path["latency"]
        and steps[2] == sum(r["count"] for r in path["rows"])
    )
    jpeg.screenshot(SCREENS / "critical_path.png")


LONG_PATH = """lpn 1
net long
type unit ()
place jobs : unit start
place half : unit
place out : unit done sink
transition first {
  take j from jobs
  delay 4
  servers 1
  put half
}
transition second {
  take j from half
  delay 3
  servers 1
  put out
}
end
"""


def test_the_whole_critical_path_of_an_image_is_drawn(browser, page, lpn_command):
    """The demo's image: the page had 41 % of its path, and left out two of its transitions."""
    image = DEMO / "plasma12_512x384_q50_420.jpg"
    browser.open(page("long_path", "jpeg", image, "--critical-path"), "light")
    rows = lpn_command("sim", "jpeg", image, "--critical-path", "--top", "0", "--json").json[
        "runs"
    ][0]["critical_path"]["rows"]
    drawn, first = browser.js(
        "const p = lpnviz.run.runs[0].path; return [p.index.length, p.start[0]]"
    )
    assert (drawn, first) == (sum(r["count"] for r in rows), 0)
    assert browser.js("return document.querySelector('.part-of-path')") is None
    browser.find("button[title^='Critical path']").click()
    browser.settle()
    names = browser.js("return lpnviz.net.transitions.map((t) => t.name)")
    marked = browser.js(
        "return [...document.querySelectorAll('.node.on-path')].map((e) => e.dataset.node)"
    )
    assert {f"t{names.index(r['transition'])}" for r in rows} <= set(marked)


def test_of_a_long_critical_path_the_page_says_what_it_draws(browser, page, tmp_path_factory):
    folder = tmp_path_factory.mktemp("long")
    (folder / "long.lpn").write_text(LONG_PATH)
    (folder / "jobs.json").write_text(json.dumps({"jobs": 400_000}))
    made = page("very_long_path", folder / "long.lpn", folder / "jobs.json", "--critical-path")
    browser.open(made, "light")
    drawn, first = browser.js(
        "const p = lpnviz.run.runs[0].path; return [p.index.length, p.start[0]]"
    )
    assert 100_000 < drawn < 400_001 and first > 0
    said = browser.find(".part-of-path").get_attribute("textContent").replace("\u202f", "")
    assert (
        said == f"The timeline has the last {drawn} of these 400001 firings, from cycle {first} on."
    )


@pytest.mark.parametrize(
    "t, transition, reason, words",
    [
        (
            1,
            "join",
            "no token",
            "waits for tokens over arc 'a': place 'between' has 0 free, it needs 1",
        ),
        (1, "feed", "no server", "waits for a free server: 1 of 1 busy, the next is free at 2"),
        (
            8,
            "join",
            "no token",
            "waits for tokens over arc 'b': place 'right' has 1 free, it needs 2",
        ),
        (8, "feed", "no credit", "waits for room in place 'between'"),
    ],
)
def test_why_a_transition_waits(browser, page, tmp_path_factory, t, transition, reason, words):
    """Under the pointer and when chosen, in the words and by the reasons of lpn sim."""
    from selenium.webdriver.common.action_chains import ActionChains

    folder = tmp_path_factory.mktemp("stalls")
    (folder / "join.lpn").write_text(STALLS)
    (folder / "in.json").write_text(json.dumps({"left": [[k] for k in range(5)], "right": 3}))
    browser.open(page("stalls", folder / "join.lpn", folder / "in.json"), "light")
    browser.seek(t)
    k = browser.js(
        "return lpnviz.net.transitions.findIndex((x) => x.name === arguments[0])", transition
    )
    ActionChains(browser.driver).move_to_element(
        browser.find(f"[data-node='t{k}'] .title")
    ).perform()
    assert words in browser.find(".tip-box").text
    mark = browser.find(f"[data-node='t{k}']").get_attribute("data-wait")
    assert (
        browser.js(
            "return ['', 'no token', 'no credit', 'guard', 'inhibited', 'no server'][arguments[0]]",
            int(mark),
        )
        == reason
    )
    browser.find(f"[data-node='t{k}'] .title").click()
    assert words in browser.find(".now .why").text
    assert not browser.console()


def test_a_stalled_run_says_who_waits(browser, page, lpn_command, tmp_path):
    (tmp_path / "join.lpn").write_text(STALLS)
    (tmp_path / "in.json").write_text(json.dumps({"left": [[k] for k in range(5)], "right": 3}))
    browser.open(page("stalls2", tmp_path / "join.lpn", tmp_path / "in.json"))
    said = lpn_command("sim", tmp_path / "join.lpn", tmp_path / "in.json", "--json").json["runs"][0]
    text = browser.find(".stalled").text
    for blocked in said["blocked"]:
        assert blocked["text"] in text


# ---- what one does --------------------------------------------------------------------------


def test_opens_without_a_complaint(jpeg, page):
    path = page("jpeg")
    assert path.stat().st_size < 5e6
    assert not jpeg.console()
    assert len(jpeg.all(".node.block")) == 6 and len(jpeg.all(".node.place")) == 9
    jpeg.seek(60000)
    jpeg.settle()
    jpeg.screenshot(SCREENS / "jpeg_light.png")
    jpeg.js("lpnviz.setTheme('dark')")
    jpeg.js("lpnviz.run.timeline.setWindow(59000, 60500)")
    jpeg.seek(59803)
    jpeg.settle()
    jpeg.screenshot(SCREENS / "jpeg_dark.png")
    assert not jpeg.console()


def test_fetches_nothing(jpeg, page):
    """Nothing on the page names a server, and nothing was loaded."""
    loaded = jpeg.js(
        "return performance.getEntriesByType('resource').map((e) => e.name.slice(0, 60))"
    )
    assert [name for name in loaded if not name.startswith(("data:", "blob:"))] == []
    text = page("jpeg").read_text()
    for what in ('src="http', 'href="http', "url(http", "@import", "fetch("):
        assert what not in text


def test_search(protoacc):
    from selenium.webdriver.common.keys import Keys

    protoacc.keys("/")
    assert protoacc.js("return document.activeElement.type") == "search"
    protoacc.keys("f3.coll")
    names = [e.text.split("\n")[0] for e in protoacc.all("#results li")]
    assert names[0].startswith("f3.collect") and "f3.collect" in names
    assert len(protoacc.all(".node.found")) == len(names)
    protoacc.keys("ect", Keys.ENTER)
    assert protoacc.find("#page-node h2").text == "f3.collect"
    assert protoacc.js("return document.activeElement.type") != "search"  # keys are the page's
    # It is shown, large enough to read.
    box = protoacc.js(
        "const b = document.querySelector('.node.chosen').getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]"
    )
    stage = protoacc.js(
        "const b = document.querySelector('.stage').getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]"
    )
    assert stage[0] <= box[0] < box[2] <= stage[2] and stage[1] <= box[1] < box[3] <= stage[3]
    assert box[3] - box[1] > 30
    protoacc.screenshot(SCREENS / "search.png")


def test_click_shows_formula_and_source(jpeg):
    k = jpeg.js("return lpnviz.net.transitions.findIndex((t) => t.name === 'huffman')")
    jpeg.find(f"[data-node='t{k}'] .title").click()
    text = jpeg.find("#page-node").text
    assert "huffman" in text and "(3 + writable_tables) * blk.symbols + 5 + blk.waits" in text
    assert "looks" not in text and "needs, and leaves" in text
    line = jpeg.find(".source-at").text
    assert line.rsplit(":", 1)[0].endswith("model.py")  # below the current folder with its folders
    number = int(line.rsplit(":", 1)[1])
    here = jpeg.find(".source li.here").text
    assert (
        here.strip()
        == (REPO / "models" / "jpeg" / "model.py").read_text().splitlines()[number - 1].strip()
    )
    assert jpeg.js("return lpnviz.run.timeline.chosen") == f"t{k}"


def test_scrubbing(jpeg):
    """The slider, the ruler of the timeline, the field, steps and playing."""
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    end = jpeg.js("return lpnviz.run.end")
    slider = jpeg.find(".player input[type=range]")
    ActionChains(jpeg.driver).move_to_element_with_offset(slider, 0, 0).click().perform()
    jpeg.settle()
    assert abs(jpeg.js("return lpnviz.run.time") - end / 2) < end / 50
    x, y = jpeg.js(
        "const b = lpnviz.run.timeline.canvas.getBoundingClientRect(), t = lpnviz.run.timeline;"
        "return [b.left + t.gutter + t.plot / 4, b.top + 32]"
    )
    ActionChains(jpeg.driver).move_by_offset(0, 0).perform()
    body = jpeg.find("body")
    size = body.size
    ActionChains(jpeg.driver).move_to_element_with_offset(
        body, int(x - size["width"] / 2), int(y - size["height"] / 2)
    ).click().perform()
    jpeg.settle()
    assert abs(jpeg.js("return lpnviz.run.time") - end / 4) < end / 200
    field = jpeg.find(".player input[type=text]")
    everything = (Keys.CONTROL, "a", Keys.NULL)
    field.send_keys(*everything, "59803", Keys.ENTER)
    jpeg.settle()
    assert jpeg.js("return lpnviz.run.time") == 59803
    for typed in ("12.5", "1e5", "-5", "abc", ""):
        field.send_keys(*everything, typed or Keys.DELETE, Keys.ENTER)
        jpeg.settle()
        assert jpeg.js("return lpnviz.run.time") == 59803, typed
        assert field.get_attribute("value").replace("\u202f", "") == "59803", typed
    jpeg.js("document.activeElement.blur()")
    _, levels, firings = replay("jpeg", IMAGE)
    instants = sorted(
        {t for times, _ in levels.values() for t in times}
        | {t for f in firings.values() for s, e in f for t in (s, e)}
    )
    jpeg.keys(".")
    jpeg.settle()
    assert jpeg.js("return lpnviz.run.time") == instants[bisect.bisect_right(instants, 59803)]
    jpeg.keys(",", ",")
    jpeg.settle()
    assert jpeg.js("return lpnviz.run.time") <= 59803
    before = jpeg.js("return lpnviz.run.time")
    jpeg.keys("p")
    jpeg.wait("await new Promise((r) => setTimeout(r, 600))")
    assert jpeg.js("return lpnviz.run.playing")
    jpeg.keys("p")
    assert jpeg.js("return lpnviz.run.time") > before
    assert not jpeg.console()


def test_timeline_zooms_to_single_cycles(jpeg):
    """Bars stand where the firings were, at every zoom."""
    jpeg.seek(59803)
    jpeg.js("document.activeElement.blur()")
    spans = []
    for _ in range(15):
        jpeg.keys("]")
        jpeg.settle()
        spans.append(jpeg.js("const t = lpnviz.run.timeline; return [t.from, t.to, t.far()]"))
    widths = [b - a for a, b, _ in spans]
    assert widths == sorted(widths, reverse=True) and widths[-1] <= 10
    assert all(a <= 59803 <= b for a, b, _ in spans)
    assert not spans[-1][2]
    jpeg.screenshot(SCREENS / "single_cycles.png")
    _, _, firings = replay("jpeg", IMAGE)
    # Pixels of the row of huffman: busy where a firing is, its ground elsewhere.
    for window in ((0, 142430), (59000, 60500), (59780, 59830)):
        jpeg.js(
            "lpnviz.run.timeline.setScroll(0); lpnviz.run.timeline.setWindow(arguments[0], arguments[1])",
            *window,
        )
        jpeg.settle()
        busy = jpeg.js(
            """const t = lpnviz.run.timeline, k = t.rows.findIndex((x) => x.name === 'idct_rows');
          const c = t.canvas.getContext('2d'), y = 42 + k * 26 + 16, out = [];
          const accent = t.colour.accent.match(/\\w\\w/g).map((h) => parseInt(h, 16));
          const row = c.getImageData(t.gutter, y, t.plot, 1).data;
          for (let x = 0; x < t.plot; ++x) out.push(Math.abs(row[4*x]-accent[0]) + Math.abs(row[4*x+1]-accent[1]) + Math.abs(row[4*x+2]-accent[2]) < 60);
          return { from: t.from, to: t.to, out };"""
        )
        scale = (busy["to"] - busy["from"]) / len(busy["out"])
        wrong = compared = 0
        for x, seen in enumerate(busy["out"]):
            a, b = busy["from"] + x * scale, busy["from"] + (x + 1) * scale
            inside = any(s <= a - 2 * scale and e >= b + 2 * scale for s, e in firings["idct_rows"])
            outside = not any(
                s < b + 2 * scale and e > a - 2 * scale for s, e in firings["idct_rows"]
            )
            if inside or outside:
                compared += 1
                wrong += seen != inside
        if window[1] - window[0] < 10000:
            assert compared > len(busy["out"]) / 2
            assert wrong == 0, (window, wrong, compared)


def test_wheel_zooms_the_graph_where_the_pointer_is(jpeg):
    before = jpeg.js("return lpnviz.graph.zoom")
    jpeg.js(
        """const b = lpnviz.svg.getBoundingClientRect();
      lpnviz.svg.dispatchEvent(new WheelEvent('wheel', { deltaY: -300, clientX: b.left + 300, clientY: b.top + 200, bubbles: true, cancelable: true }))"""
    )
    assert jpeg.js("return lpnviz.graph.zoom") > before
    jpeg.keys("0")
    assert jpeg.js("return lpnviz.graph.zoom") == pytest.approx(before)


def test_groups_close_and_open(protoacc):
    many = len(protoacc.all(".node.block"))
    assert many == 106
    protoacc.js(
        """const g = lpnviz.graph, node = g.byId.get('g:f2'); g.zoomBy(1 / g.zoom);
      g.panBy(60 - node.x - g.at[0], 60 - node.y - g.at[1]);"""
    )
    protoacc.find("[data-node='g:f2'] text").click()
    button = [b for b in protoacc.all("#page-node button") if "Close the group" in b.text][0]
    button.click()
    protoacc.wait("await lpnviz.graph.drawing")
    assert len(protoacc.all(".node.block")) == many - 15
    assert len(protoacc.all(".node.group")) == 1
    protoacc.wait(
        "await lpnviz.goTo('t' + lpnviz.net.transitions.findIndex((t) => t.name === 'f2.sort'))"
    )
    assert len(protoacc.all(".node.block")) == many
    assert not protoacc.console()


def test_credits_are_capacities_until_asked_for(browser, page, tmp_path):
    source = tmp_path / "piped.py"
    source.write_text(
        "import lpn\nfrom lpn import lib\n\n\ndef net():\n    net = lpn.Net('piped')\n"
        "    first = net.place('first', init=4)\n    out = lib.pipeline(net, 'pipe', first, 2)\n"
        "    queue = lib.fifo(net, 'queue', out, 3)\n    done = net.place('done', done=True, sink=True)\n"
        "    net.transition('drain', take={'t': queue}, put=[done], delay=2, servers=1)\n    return net\n"
    )
    browser.open(page("piped", source))
    names = "return lpnviz.graph.layout.nodes.filter((n) => n.kind === 'place').map((n) => lpnviz.net.places[n.index].name)"
    without = browser.js(names)
    assert "pipe.s0.free" not in without and "pipe.s0.register" in without
    k = browser.js("return lpnviz.net.places.findIndex((p) => p.name === 'pipe.s0.register')")
    assert browser.find(f"[data-node='p{k}'] .most").text == "/ 1"
    browser.js("document.activeElement.blur()")
    browser.keys("c")
    browser.wait("await lpnviz.graph.drawing")
    assert "pipe.s0.free" in browser.js(names)
    assert browser.all(".arc.credit")
    browser.screenshot(SCREENS / "credits.png")
    assert not browser.console()


# ---- two runs, witnesses --------------------------------------------------------------------


def test_two_runs_side_by_side(browser, page, lpn_command):
    browser.open(page("versus", "jpeg", IMAGE, "--versus-param", "writable_tables=1"), "light")
    rows = dict(
        (r[0], r[1:])
        for r in browser.js(
            "return [...document.querySelectorAll('.of-runs tbody tr')].map((r) => [...r.cells].map((c) => c.textContent.replace(/\\u202f/g, '')))"
        )
    )
    other = lpn_command("sim", "jpeg", IMAGE, "-p", "writable_tables=1", "--json").json["runs"][0]
    assert rows["latency"] == ["142430", str(other["latency"]), f"+{other['latency'] - 142430}"]
    assert rows["writable_tables"] == ["0", "1", "+1"]
    assert rows["huffman, busy"][2].endswith(" pp")
    browser.seek(59803)
    shown = browser.js("return lpnviz.run.states.map((s) => s.tokens)")
    assert shown[0] != shown[1]
    marked = browser.js(
        "return lpnviz.net.places.map((p, k) => document.querySelector(`[data-node='p${k}']`).classList.contains('differs'))"
    )
    assert marked == [a != b for a, b in zip(*shown)]
    browser.js("lpnviz.run.timeline.setWindow(59000, 60500)")
    browser.settle()
    assert browser.js("return Object.values(lpnviz.run.timeline.differing).some((n) => n > 0)")
    browser.screenshot(SCREENS / "two_runs.png")
    assert not browser.console()


def test_the_same_run_twice_differs_nowhere(browser, page):
    browser.open(page("same", "jpeg", IMAGE, "--versus", IMAGE), "light")
    browser.settle()
    assert browser.js("return Object.values(lpnviz.run.timeline.differing).every((n) => n === 0)")
    assert not browser.all(".node.place.differs")


def test_a_witness_of_lpn_smt_is_played(browser, page, lpn_command, tmp_path):
    found = lpn_command(
        "smt",
        "jpeg",
        "--space",
        "blocks=18",
        "compression=75",
        "--maximize",
        "latency",
        "--witness",
        tmp_path / "worst.lpnm",
        "--json",
    )
    (tmp_path / "answer.json").write_text(found.out)
    upper = found.json["upper"]
    for name, file in (("witness1", "worst.lpnm"), ("witness2", "answer.json")):
        browser.open(page(name, "jpeg", "--witness", tmp_path / file))
        assert str(upper) in browser.find(".facts").text.replace("\u202f", "")
    assert "maximize latency" in browser.find("header .who").text
    browser.seek(upper // 2)
    browser.screenshot(SCREENS / "witness.png")
    assert not browser.console()


def test_what_is_no_witness_is_refused(lpn_command, tmp_path):
    require_page()
    (tmp_path / "other.json").write_text("{}")
    said = lpn_command(
        "viz", "jpeg", "--witness", tmp_path / "other.json", "-o", tmp_path / "x.html"
    ).refused("E-viz-witness")
    assert "lpn smt --witness" in said
    lpn_command(
        "viz", "jpeg", "--witness", tmp_path / "no.lpnm", "-o", tmp_path / "x.html"
    ).refused("E-viz-witness")
    damaged = {"parameters": {}, "tokens": {"tasks": {"0": [1]}}}
    (tmp_path / "other.json").write_text(
        json.dumps({"verdict": "proved", "question": "latency", "witness": damaged})
    )
    said = lpn_command(
        "viz", "jpeg", "--witness", tmp_path / "other.json", "-o", tmp_path / "x.html"
    ).refused("E-viz-witness")
    assert "is not what lpn smt --json printed" in said


def test_two_nets_are_not_two_runs(lpn_command, tmp_path):
    require_page()
    (tmp_path / "wide.py").write_text(
        "import lpn\n\n\ndef net(lanes=2):\n    net = lpn.Net('wide')\n    for k in range(lanes):\n"
        "        net.transition(f't{k}', take={'x': net.place(f'p{k}', init=1)}, put=[net.place(f'q{k}', sink=True)], delay=1)\n"
        "    return net\n"
    )
    said = lpn_command(
        "viz", tmp_path / "wide.py", "--versus-param", "lanes=3", "-o", tmp_path / "x.html"
    ).refused("E-viz-versus")
    assert "another net" in said


# ---- readable -------------------------------------------------------------------------------

LABELS = """
lpnviz.graph.zoomBy(1 / lpnviz.graph.zoom); // fonts are rounded at other sizes
const texts = [...lpnviz.svg.querySelectorAll('.net text')];
return texts.filter((e) => e.textContent).map((e) => {
  const b = e.getBBox(), g = e.closest('[data-node], [data-edge]');
  const box = e.closest('[data-node]')?.querySelector('.box, .fifo')?.getBBox();
  return { of: g?.dataset.node ?? g?.dataset.edge, text: e.textContent, x: b.x, y: b.y, w: b.width, h: b.height,
           inside: e.classList.contains('name') || !box ? null : [box.x, box.y, box.width, box.height] };
});
"""


def overlaps(labels):
    """Pairs of labels whose boxes share more than a hair."""
    found = []
    labels = sorted(labels, key=lambda l: l["x"])
    for i, a in enumerate(labels):
        for b in labels[i + 1 :]:
            if b["x"] >= a["x"] + a["w"] - 0.5:
                break
            # The boxes of text have room above and below the letters.
            if a["y"] + 2 < b["y"] + b["h"] - 2 and b["y"] + 2 < a["y"] + a["h"] - 2:
                found.append((a["of"], a["text"], b["of"], b["text"]))
    return found


def test_the_timeline_of_a_part_and_its_neighbours(jpeg):
    jpeg.wait(
        "await lpnviz.goTo('t' + lpnviz.net.transitions.findIndex((t) => t.name === 'fill_cr'))"
    )
    jpeg.js("document.activeElement.blur()")
    jpeg.keys("n")
    jpeg.settle()
    assert set(jpeg.js("return lpnviz.run.timeline.rows.map((r) => r.name)")) == {
        "fill_cr",
        "idct_rows",
        "output",
        "cr_arriving",
        "gate_closed",
    }
    jpeg.keys("n")
    assert len(jpeg.js("return lpnviz.run.timeline.rows")) == 15


@pytest.mark.parametrize("credits", [False, True])
def test_no_labels_overlap_in_a_net_of_106_transitions(protoacc, credits):
    protoacc.wait("lpnviz.graph.view.credits = a[0]; await lpnviz.graph.draw()", credits)
    labels = protoacc.js(LABELS)
    assert len([l for l in labels if l["of"].startswith("t")]) > 300
    assert overlaps(labels) == []
    for l in labels:
        if l["inside"]:
            x, y, w, h = l["inside"]
            assert (
                x <= l["x"]
                and l["x"] + l["w"] <= x + w + 0.5
                and y - 1 <= l["y"]
                and l["y"] + l["h"] <= y + h + 1
            ), l
    assert (
        protoacc.js(
            "return lpnviz.graph.layout.nodes.filter((n) => n.kind === 'transition').length"
        )
        == 106
    )
    protoacc.js("lpnviz.graph.fit()")
    protoacc.screenshot(SCREENS / f"protoacc{'_credits' if credits else ''}.png")
    protoacc.wait(
        "await lpnviz.goTo('t' + lpnviz.net.transitions.findIndex((t) => t.name === 'f1.dispatch'))"
    )
    protoacc.screenshot(SCREENS / f"protoacc_near{'_credits' if credits else ''}.png")
    assert not protoacc.console()


def test_boxes_do_not_overlap(protoacc):
    nodes = protoacc.js(
        "return lpnviz.graph.layout.nodes.filter((n) => n.kind !== 'frame').map((n) => ({ of: n.id, text: '', x: n.x, y: n.y, w: n.w, h: n.h }))"
    )
    assert overlaps(nodes) == []


def test_text_is_as_wide_as_the_table_says(protoacc):
    """The widths that boxes are sized by are those of the fonts."""
    wrong = protoacc.wait(
        """await document.fonts.ready;
      lpnviz.graph.zoomBy(1 / lpnviz.graph.zoom); // from afar names are larger
      return [...lpnviz.svg.querySelectorAll('.net text.title, .net text.name')].map((e) => {
        const node = lpnviz.graph.byId.get(e.closest('[data-node]').dataset.node);
        return [e.textContent, e.getComputedTextLength(), node.w];
      }).filter(([text, w, room]) => w > room);"""
    )
    assert wrong == []
    widths = protoacc.wait(
        """await document.fonts.load("500 100px 'Inter Variable'");
      const c = document.createElement('canvas').getContext('2d'); const out = [];
      for (const [font, text] of [["600 13px 'Inter Variable'", 'request_descriptor'], ["11px 'JetBrains Mono'", 'element.bytes // 16 + 1']]) {
        c.font = font; out.push(c.measureText(text).width); }
      return out;"""
    )
    assert widths[0] == pytest.approx(
        sum(
            [
                389,
                591,
                624,
                612,
                591,
                549,
                353,
                456 + 13,
                624,
                591,
                549,
                569,
                389,
                262,
                624,
                353,
                609,
                389,
            ]
        )
        * 13
        / 1000,
        rel=0.03,
    )
    assert widths[1] == pytest.approx(23 * 0.6 * 11, rel=0.01)


CONTRAST = """
const parse = (c) => { const m = c.match(/[\\d.]+/g).map(Number); return m.length > 3 && m[3] === 0 ? null : m.slice(0, 3); };
const lum = ([r, g, b]) => { const f = (v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
  return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
const ratio = (a, b) => { const [x, y] = [lum(a), lum(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
const ground = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c) return c; } return [255, 255, 255]; };
const out = [];
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walk.nextNode()) {
  const e = walk.currentNode.parentElement;
  if (!walk.currentNode.textContent.trim() || e.closest('script, svg, .sr, dialog:not([open])') || !e.getClientRects().length) continue;
  out.push([e.tagName + '.' + e.className + ': ' + walk.currentNode.textContent.trim().slice(0, 30), ratio(parse(getComputedStyle(e).color), ground(e)), 4.5]);
}
const stage = ground(lpnviz.svg);
const style = getComputedStyle(document.documentElement);
const hex = (name) => style.getPropertyValue('--' + name).trim().match(/\\w\\w/g).map((h) => parseInt(h, 16));
for (const e of lpnviz.svg.querySelectorAll('text')) {
  const g = e.closest('.node, .arc-label');
  const boxes = e.classList.contains('name') ? [] : [...g.querySelectorAll('.box, .fifo, rect')].filter((r) => !r.matches('.why-mark, .role, .back, .heat'));
  const under = [...boxes.map((r) => parse(getComputedStyle(r).fill)).filter(Boolean)];
  if (e.classList.contains('name')) under.push(stage, hex('frame'));
  for (const back of under) out.push(['svg ' + e.getAttribute('class') + ': ' + e.textContent, ratio(parse(getComputedStyle(e).fill), back), 4.5]);
}
for (const e of lpnviz.svg.querySelectorAll('.arc, .block > .box, .fifo')) out.push(['svg line ' + e.getAttribute('class'), ratio(parse(getComputedStyle(e).stroke), stage), 3]);
for (let k = 1; k <= 7; ++k) out.push(['reason ' + k, ratio(hex('why' + k), hex('panel')), 3]);
for (const [a, b] of [['other', 'panel'], ['accent', 'panel'], ['accent', 'ground'], ['mark', 'panel'], ['path', 'panel'], ['token', 'ground']]) out.push([a + ' on ' + b, ratio(hex(a), hex(b)), 3]);
return out.filter(([, r, least]) => r < least).map(([what, r]) => `${what} ${r.toFixed(2)}`).concat([String(out.length)]);
"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_contrast(jpeg, theme):
    """Text 4.5 : 1 and lines 3 : 1 on what is under them (WCAG 2.1 AA)."""
    jpeg.js("lpnviz.setTheme(arguments[0])", theme)
    jpeg.wait("await lpnviz.goTo('t1')")
    jpeg.seek(59803)
    for tab in ("summary", "node"):
        jpeg.js("lpnviz.selectTab(arguments[0])", tab)
        *low, count = jpeg.js(CONTRAST)
        assert int(count) > 80
        assert low == []


def test_everything_is_reached_by_keyboard(jpeg):
    from selenium.webdriver.common.keys import Keys

    jpeg.js("document.activeElement.blur()")
    seen = []
    for _ in range(60):
        jpeg.keys(Keys.TAB)
        what = jpeg.js(
            """const e = document.activeElement, s = getComputedStyle(e);
          if (e === document.body) return null;
          const box = e.querySelector?.(':scope > .box, :scope > .fifo');
          return [e.dataset?.node ? 'node' : e.getAttribute('aria-label') ?? e.textContent,
                  s.outlineStyle !== 'none' || (box && parseFloat(getComputedStyle(box).strokeWidth) >= 2), e.getClientRects().length > 0];"""
        )
        if what is None:
            break
        seen.append(what)
    names = [w[0] for w in seen]
    assert all(w[1] and w[2] for w in seen), [w for w in seen if not (w[1] and w[2])]
    assert names.count("node") == 1
    wanted = [
        "Find a transition or place",
        "Credits",
        "Critical path",
        "Theme",
        "Keys",
        "node",
        "Zoom in",
        "Zoom out",
        "Fit",
        "Run",
        "Height of the timeline",
        "First cycle (Home)",
        "One event back (,)",
        "Play (p)",
        "One event on (.)",
        "Last cycle (End)",
        "Cycle",
        "Cycle of the run",
        "Speed",
    ]
    positions = [names.index(w) for w in wanted]
    assert positions == sorted(positions)
    assert any(n.startswith("Timeline of the run") for n in names)


def test_the_graph_by_keyboard(jpeg):
    from selenium.webdriver.common.keys import Keys

    jpeg.js("lpnviz.graph.moveFocus('t0', true)")
    jpeg.keys(Keys.ARROW_RIGHT)
    assert (
        jpeg.js("return lpnviz.net.places[document.activeElement.dataset.node.slice(1)].name")
        == "bits"
    )
    jpeg.keys(Keys.ARROW_RIGHT, Keys.ENTER)
    assert jpeg.find("#page-node h2").text == "huffman"
    jpeg.keys(Keys.ESCAPE)
    assert not jpeg.all(".node.chosen")
    jpeg.keys("?")
    assert jpeg.js("return document.querySelector('dialog').open")
    jpeg.keys(Keys.ESCAPE)
    assert not jpeg.console()


def test_a_net_without_a_run(browser, page):
    browser.open(page("bare", "jpeg"))
    assert browser.js("return document.querySelector('footer').hidden")
    assert len(browser.all(".node.block")) == 6
    assert not browser.console()


def test_a_net_of_nothing(browser, page, tmp_path):
    (tmp_path / "none.lpn").write_text("lpn 1\nnet none\nend\n")
    browser.open(page("none", tmp_path / "none.lpn"))
    assert browser.find(".busy-note").text == "This net has no places and no transitions."
    assert not browser.console()


def test_a_net_too_large_to_be_laid_out(browser, page, tmp_path):
    """A browser's stack ends at some thousand parts; all but the graph is there."""
    (tmp_path / "chain.lpn").write_text(chain(5000).replace("p0 : unit", "p0 : unit initial 3"))
    browser.open(page("chain", tmp_path / "chain.lpn"))
    note = browser.find(".busy-note").text
    assert "too large to be laid out here" in note and "lpn viz -o FILE.svg" in note
    assert len(browser.all(".of-transitions tbody tr")) > 4000
    browser.seek(40)
    assert browser.js("return lpnviz.run.state.tokens[40]") == 3
    browser.find("button[title^='The whole net']").click()
    browser.wait("await lpnviz.goTo('t3')")
    assert not browser.console()


def test_input_that_is_no_text(browser, lpn_command, tmp_path):
    """The name of a file in another encoding stands in the page and in the answer."""
    (tmp_path / "open.py").write_text(NAMED)
    name = os.fsdecode(b"\xff\xfe</script>.bin")
    answer = lpn_command("viz", tmp_path / "open.py", name, "-o", tmp_path / "open.html", "--json")
    assert answer.status == 0, answer.err
    assert answer.json["input"] == name
    browser.open(tmp_path / "open.html")
    assert browser.find("h1").text == "open" and not browser.console()


def test_numbers_in_the_middle_are_rounded_as_lpn_sim_prints_them(browser, page, tmp_path):
    """1 of 16 cycles: 6.25 %"""
    (tmp_path / "ties.lpn").write_text(TIES)
    browser.open(page("ties", tmp_path / "ties.lpn"))
    shares = [row.text for row in browser.all(".of-transitions tbody td:nth-child(3)")]
    assert sorted(shares) == ["6.2%", "93.8%"]
    slow = TIES.replace("delay 15", "delay 344249").replace("net ties", "net ties\nfrequency 1000")
    (tmp_path / "slow.lpn").write_text(slow)
    browser.open(page("slow", tmp_path / "slow.lpn"))
    assert "344.2\u202fs" in browser.find(".facts").get_attribute("textContent")


def test_parameters_of_64_bits_are_compared_exactly(browser, page, tmp_path):
    (tmp_path / "ties.lpn").write_text(
        TIES.replace("net ties", "net ties\nparam n = 9007199254740993")
    )
    browser.open(page("wide", tmp_path / "ties.lpn", "--versus-param", "n=9007199254740992"))
    row = browser.js(
        "return [...document.querySelector('.of-runs tbody tr').cells].map((c) => c.textContent.replace(/\\u202f/g, ''))"
    )
    assert row == ["n", "9007199254740993", "9007199254740992", "−1"]


def test_the_golden_nets_open(browser, tmp_path):
    """Every kind of arc, formula and ending that there is; the timeline at its closest."""
    require_page()
    from lpn.cli.viz_page import Asked, write_page

    paths = golden_nets()
    assert len(paths) > 30
    for path in paths:
        made = tmp_path / f"{path.stem}.html"
        write_page(str(path), None, [], str(made), Asked(limit=5000), True)
        browser.open(made)
        browser.wait(
            """lpnviz.graph.view.credits = true; await lpnviz.graph.collapseAll(false);
          const run = lpnviz.run; await run.seek(run.end); await run.step(-1); await run.timeline.paint();
          run.timeline.setWindow(0, 3); await run.timeline.paint();"""
        )
        assert not browser.console(), path.stem
        assert overlaps(browser.js(LABELS)) == [], path.stem


def test_the_values_of_tokens(browser, page, tmp_path_factory):
    """Those free in a place and those that a firing took, where one points, and of a chosen part."""
    from selenium.webdriver.common.action_chains import ActionChains

    folder = tmp_path_factory.mktemp("values")
    (folder / "join.lpn").write_text(STALLS.replace("type job", "frequency 250000000\ntype job"))
    (folder / "in.json").write_text(json.dumps({"left": [[k] for k in range(9)], "right": 3}))
    browser.open(page("values", folder / "join.lpn", folder / "in.json"), "light")
    browser.seek(3)

    def pointed_at(node, part):
        ActionChains(browser.driver).move_to_element(
            browser.find(f"[data-node='{node}'] {part}")
        ).perform()
        return [e.text for e in browser.driver.find_elements("css selector", ".tip-box .token")]

    # feed took the token of size 1 at 2; it and what follows are free in `left` no more.
    assert pointed_at("p0", ".name") == [f"size={k}" for k in range(2, 8)]
    assert "… and 1 more" in browser.find(".tip-box").text
    assert pointed_at("t0", ".title") == ["#1 j size=1"]
    browser.js("return lpnviz.goTo('p0')")
    browser.settle()
    shown = [e.text for e in browser.driver.find_elements("css selector", ".now .token")]
    assert shown == [f"size={k}" for k in range(2, 9)]
    # The net states its clock, of 4 ns.
    assert "cycle 3 = 12\u202fns" in browser.find(".now-at").text
    assert "16\u202fns" not in browser.find(".facts").text
    browser.seek(4)
    assert "= 16\u202fns" in browser.find(".clock").text
