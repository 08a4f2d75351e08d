"""What a person reads off a page of lpn viz: what decided the run, which run is meant, at any size."""

import math
import re

import pytest
from conftest import DEMO, REPO, require_page

IMAGE = DEMO / "htop30_256x256_q80_420.jpg"

# A producer with many units that do nothing, and arcs whose labels begin alike.
TURNS = """import lpn


class Item(lpn.Token):
    lane: lpn.Int[0, 3]


def net():
    net = lpn.Net("turns")
    items = net.place("items", Item, start=True)
    out = [net.place(f"out{k}", sink=True, done=True) for k in range(4)]
    net.transition("deal", take={"item": items}, servers=1, delay=2,
                   put=[out[k].emit(count=lambda item, k=k: 1 if item.lane == k else 0) for k in range(4)])
    net.transition("check", take={"x": net.place("alarm", sink=True)}, put=[out[0].emit()], delay=1, servers=1)
    net.transition("repair", take={"x": net.place("broken", sink=True)}, put=[out[0].emit()], delay=1, servers=1)
    return net


def workload(n, net):
    marking = lpn.Marking(net)
    for k in range(int(n)):
        marking.add("items", lane=k % 4)
    return marking
"""


@pytest.fixture(scope="module")
def camera_file(tmp_path_factory):
    """The model of tutorial 11."""
    text = (REPO / "docs" / "tutorial" / "11_pictures.md").read_text()
    path = tmp_path_factory.mktemp("camera") / "camera.py"
    path.write_text(re.search(r"```text file=camera.py\n(.*?)```", text, re.S).group(1))
    return path


@pytest.fixture
def camera(browser, page, camera_file):
    browser.open(
        page("camera", camera_file, "40", "--versus-param", "line_buffers=2", "--critical-path"),
        "light",
    )
    return browser


@pytest.fixture
def turns(browser, page, tmp_path_factory):
    path = tmp_path_factory.mktemp("turns") / "turns.py"
    path.write_text(TURNS)
    browser.open(page("turns", path, "8"), "light")
    return browser


@pytest.fixture
def jpeg(browser, page):
    browser.open(page("jpeg", "jpeg", IMAGE, "--critical-path"), "light")
    return browser


@pytest.fixture
def window(browser):
    """window(width, height) of the page; the browser's own again afterwards."""

    def set_to(width, height):
        browser.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )
        browser.wait(
            "for (let k = 0; k < 3; ++k) await new Promise((r) => requestAnimationFrame(r))"
        )

    yield set_to
    browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def text(browser, selector):
    return browser.find(selector).get_attribute("textContent").replace("\u202f", " ")


def transition(browser, name):
    return browser.js(
        "return 't' + lpnviz.net.transitions.findIndex((t) => t.name === arguments[0])", name
    )


# ---- what decided the run -------------------------------------------------------------------


def test_the_sentence_on_top_is_that_of_lpn_sim(jpeg, lpn_command):
    path = lpn_command("sim", "jpeg", IMAGE, "--critical-path", "--json").json["runs"][0][
        "critical_path"
    ]
    assert (
        text(jpeg, ".verdict").replace("'", "") == path["bottleneck"]["text"].replace("'", "") + "."
    )
    jpeg.find(".verdict .link").click()
    assert text(jpeg, "#page-node h2") == path["bottleneck"]["transition"]
    # Tables and timeline begin with it, and the graph shows its share.
    shares = {}
    for row in path["rows"]:
        if row["transition"]:
            shares[row["transition"]] = shares.get(row["transition"], 0) + row["share"]
    ranked = sorted(shares, key=shares.get, reverse=True)
    shown = jpeg.js(
        "return [...document.querySelectorAll('.of-transitions tbody tr')].map((r) => r.dataset.transition)"
    )
    assert shown[: len(ranked)] == ranked
    assert jpeg.js("return lpnviz.run.timeline.rows.map((r) => r.name)")[: len(ranked)] == ranked
    width = jpeg.js(
        "const e = lpnviz.graph.elements.get(arguments[0]); "
        "return e.querySelector('.heat').width.baseVal.value / (e.querySelector('.box').width.baseVal.value - 14)",
        transition(jpeg, ranked[0]),
    )
    assert width == pytest.approx(shares[ranked[0]], abs=0.01)


def test_a_run_that_was_cut_off_has_the_latency_so_far(browser, page, tmp_path_factory):
    """The same in the line above the net and in the table beside it."""
    path = tmp_path_factory.mktemp("turns") / "turns.py"
    path.write_text(TURNS)
    browser.open(page("turns_cut", path, "8", "--limit", "7"), "light")
    assert "7 cycles, latency 6 so far" in text(browser, ".facts").replace("7cycles", "7 cycles")
    browser.open(page("turns_early", path, "8", "--limit", "1"), "light")
    assert "cycles, no latency" in text(browser, ".facts")


def test_without_a_path_the_busiest_of_limited_servers_is_named(turns):
    assert text(turns, ".verdict") == (
        "deal is the busiest: it works 100.0% of the run, and 87.5% of the run more work waits for it. "
        "What decided the latency is said with --critical-path."
    )


def test_what_never_happens_is_folded(turns):
    hidden = turns.js(
        "return [...document.querySelectorAll('.of-transitions tr')].filter((r) => r.offsetParent === null).map((r) => r.dataset.transition)"
    )
    assert hidden == ["check", "repair"]
    names = turns.js("return lpnviz.run.timeline.rows.map((r) => r.name)")
    assert names == ["deal", "items", "out0", "out1", "out2", "out3", "4 idle rows"]
    turns.find(".fold").click()
    assert not turns.js("return document.querySelector('.of-transitions .idle').hidden")
    turns.js("lpnviz.run.timeline.toggleIdle()")
    assert len(turns.js("return lpnviz.run.timeline.rows")) == 11
    turns.js("lpnviz.run.timeline.setOrdered(false)")
    assert turns.js("return lpnviz.run.timeline.rows[0].name") == "deal"


# ---- which run is meant ---------------------------------------------------------------------


def test_the_comparison_has_what_changed_most(camera, camera_file, lpn_command):
    rows = camera.js(
        "return [...document.querySelectorAll('.of-runs tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))"
    )
    shown = {r[0].removesuffix(", busy"): r[1:] for r in rows if r[0].endswith(", busy")}
    stats = [
        lpn_command("sim", camera_file, "40", "-p", f"line_buffers={n}", "--stats", "--json").json[
            "runs"
        ][0]["stats"]["transitions"]
        for n in (1, 2)
    ]
    change = {
        name: stats[1][name]["utilisation"] - t["utilisation"] for name, t in stats[0].items()
    }
    assert list(shown) == sorted(change, key=lambda name: -abs(change[name]))
    for name, (a, b, by) in shown.items():
        assert (a, b) == tuple(f"{s[name]['utilisation'] * 100:.1f}%" for s in stats)
        assert by == f"{'+' if change[name] > 0 else '−'}{abs(change[name]) * 100:.1f} pp"


def test_all_that_is_shown_is_of_the_chosen_run(camera):
    camera.find("button[title^='Critical path']").click()
    for k, name in ((1, "B"), (0, "A")):
        camera.js("lpnviz.run.runButtons[arguments[0]].click()", k)
        about = camera.js("return lpnviz.run.runs[arguments[0]].about", k)
        assert camera.js(
            "return lpnviz.run.timeline.path === lpnviz.run.runs[arguments[0]].path && lpnviz.run.timeline.pathOf === arguments[0]",
            k,
        )
        marked = camera.js(
            "return [...document.querySelectorAll('.node.on-path')].map((e) => e.dataset.node).filter((n) => n[0] === 't').sort()"
        )
        on_path = {r["transition"] for r in about["critical_path"]["rows"]} - {None}
        assert marked == sorted(transition(camera, t) for t in on_path)
        assert f"{about['latency']:,}".replace(",", " ") in text(camera, ".facts")
        assert text(camera, ".whose").startswith(f"Run {name}: ")
        cycles = f"{about['latency']:,} cycles".replace(",", " ")
        assert f"Critical path, {cycles}" in text(camera, "#page-summary")
    colours = camera.js(
        "const t = lpnviz.run.timeline; t.colours(); return [0, 1].map((i) => t.fill(t.runs[i], i)).concat(t.colour.why.slice(1))"
    )
    assert len(set(colours)) == 9
    # Counts say whose they are.
    camera.seek(3000)
    differing = camera.js(
        "return [...document.querySelectorAll('.place.differs .count')].map((e) => e.textContent)"
    )
    assert differing and all(re.fullmatch(r"A \d+ ≠ B \d+", words) for words in differing)


def test_who_holds_a_token(camera):
    """As tutorial 11 says, at cycle 2000."""
    camera.seek(2000)
    camera.find(f"[data-node='{transition(camera, 'write')}'] .title").click()
    assert text(camera, ".now .why").endswith(
        "waits for tokens over arc 'bus': place 'bus' has 0 free, it needs 1; 'refresh' holds one until 2 400"
    )
    camera.find(f"[data-node='{transition(camera, 'read')}'] .title").click()
    assert "waits for room in place 'raw', which is full" in text(camera, ".now .why")


# ---- what is pointed at ---------------------------------------------------------------------


def test_a_tip_says_what_is_so_now(camera):
    from selenium.webdriver.common.action_chains import ActionChains

    block = f"[data-node='{transition(camera, 'write')}'] .title"
    camera.seek(2000)
    camera.find(block).click()
    ActionChains(camera.driver).move_to_element(camera.find(block)).perform()
    before = text(camera, ".tip-box")
    camera.seek(3000)
    after = text(camera, ".tip-box")
    assert before != after and text(camera, ".now .why") in after
    camera.js("lpnviz.graph.panBy(0, 300)")
    assert camera.js("return lpnviz.tip.hidden")  # the block is not there any more
    camera.js("lpnviz.graph.fit()")


def test_arcs_and_their_labels_are_chosen(turns):
    labels = turns.js(
        "return [...document.querySelectorAll('.arc-label')].map((e) => [e.querySelector('text').textContent, e.querySelector('title').textContent])"
    )
    assert len({label for label, _ in labels}) == 4  # what differs is not what is cut off
    assert all("puts" in title for _, title in labels)
    turns.js(
        "document.querySelectorAll('.arc-label')[2].dispatchEvent(new PointerEvent('pointerdown', { bubbles: true, button: 0 }))"
    )
    turns.js(
        "document.querySelectorAll('.arc-label')[2].dispatchEvent(new PointerEvent('pointerup', { bubbles: true, button: 0 }))"
    )
    assert text(turns, "#page-node h2") == "deal"
    assert text(turns, ".arc-list li.here").endswith("out2")
    assert (
        len(
            turns.js(
                "return [...new Set([...document.querySelectorAll('.near')].map((e) => e.dataset.edge))]"
            )
        )
        == 1
    )


def test_a_span_is_measured(jpeg):
    jpeg.js(
        "const t = lpnviz.run.timeline; t.setWindow(59000, 60500); t.setSpan(60000, 59500); lpnviz.run.summary.partOnly.click()"
    )
    jpeg.wait("await lpnviz.run.summary.fill()")
    assert text(jpeg, ".part-only").endswith("59 500 to 60 000")
    jpeg.js("document.activeElement.blur()")
    jpeg.keys("z")
    assert jpeg.js("const t = lpnviz.run.timeline; return [t.from, t.to, t.span]") == [
        59500,
        60000,
        None,
    ]


def test_the_address_is_of_the_moment(camera, page):
    camera.js("lpnviz.run.showRun(1); lpnviz.run.timeline.setWindow(1000, 5000)")
    camera.wait("await lpnviz.goTo(a[0])", transition(camera, "filter"))
    camera.seek(3000)
    camera.wait("await new Promise((r) => setTimeout(r, 400))")
    address = camera.js("return location.hash")
    assert address == "#t=3000&window=1000-5000&part=filter&run=B"
    camera.driver.get("about:blank")
    camera.driver.get(f"file://{page('camera')}{address}")
    camera.wait("await lpnviz.ready; await new Promise((r) => setTimeout(r, 100))")
    assert camera.js(
        "const r = lpnviz.run; return [r.time, r.shown, r.timeline.from, r.timeline.to]"
    ) == [3000, 1, 1000, 5000]
    assert text(camera, "#page-node h2") == "filter"
    # What is no moment changes nothing.
    camera.js("location.hash = '#t=x&window=9-&part=nobody&run=C'")
    camera.settle()
    assert camera.js("return lpnviz.run.time") == 3000
    assert not camera.console()


# ---- at any size ----------------------------------------------------------------------------


def fits(browser):
    """Whether the whole net is seen, as large as there is room for."""
    return browser.js(
        """const g = lpnviz.graph, [w, h] = g.size();
      return Math.abs(g.zoom - Math.min(w / g.layout.width, h / g.layout.height, 1.25)) < 1e-3;"""
    )


def test_the_window_changes_its_size(jpeg, window):
    for size in ((1440, 900), (800, 620), (1920, 1080)):
        window(*size)
        assert fits(jpeg)
        assert jpeg.js("return lpnviz.stage.clientHeight") >= 150
    window(1440, 900)
    jpeg.js("lpnviz.graph.zoomBy(1.5)")
    zoom = jpeg.js("return lpnviz.graph.zoom")
    jpeg.js("lpnviz.run.chooseHeight(200)")
    window(1440, 880)
    assert jpeg.js("return lpnviz.graph.zoom") == zoom  # what one has zoomed to stays
    assert jpeg.js("return lpnviz.run.height") == pytest.approx(200 * 880 / 900, abs=1.5)
    assert jpeg.js("return getComputedStyle(document.querySelector('.minimap')).display") != "none"
    jpeg.js("lpnviz.graph.fit()")
    assert jpeg.js("return document.querySelector('.minimap').style.display") == "none"


@pytest.mark.parametrize("size", [(390, 844), (720, 450)])
def test_a_phone_and_a_window_at_200_percent(jpeg, window, size):
    """Nothing is wider than the window; graph, panel and timeline are one below the other (WCAG 1.4.10)."""
    window(*size)
    jpeg.js(
        "document.querySelector('header .who .quiet').textContent = 'a_long_name_of_an_input_'.repeat(5)"
    )
    assert jpeg.js("return document.documentElement.scrollWidth") <= size[0]
    stage = jpeg.js("const b = lpnviz.stage.getBoundingClientRect(); return [b.width, b.height]")
    assert stage[0] >= 0.95 * size[0] and stage[1] >= 200
    assert jpeg.js("return lpnviz.panel.getBoundingClientRect().width") >= 0.95 * size[0]


def test_the_first_view_can_be_read(jpeg, window):
    """A long chain is folded into rows; each arc still ends at its two parts."""
    window(1440, 900)
    jpeg.wait("await lpnviz.graph.draw()")
    assert 13 * jpeg.js("return lpnviz.graph.zoom") >= 8.5  # px of a name; it was 7
    lost = jpeg.js(
        """const l = lpnviz.graph.layout, by = new Map(l.nodes.map((n) => [n.id, n]));
      const at = (n, [x, y]) => x >= n.x - 1 && x <= n.x + n.w + 1 && y >= n.y - 1 && y <= n.y + n.h + 1;
      return l.edges.filter((e) => !at(by.get(e.from), e.points[0]) || !at(by.get(e.to), e.points[e.points.length - 1])).length;"""
    )
    assert lost == 0


def test_far_away_a_part_is_its_name(jpeg):
    jpeg.js("lpnviz.graph.zoomBy(0.35 / lpnviz.graph.zoom)")
    sizes = jpeg.js(
        "return [...document.querySelectorAll('.lpn:not(.above) .title')].map((e) => parseFloat(getComputedStyle(e).fontSize) * lpnviz.graph.zoom)"
    )
    assert len(sizes) == 6 and min(sizes) > 13 * 0.35 and sorted(sizes)[2] >= 8
    assert jpeg.js(
        "return [...document.querySelectorAll('.lpn .line')].every((e) => getComputedStyle(e).display === 'none')"
    )


def test_names_without_dots_make_groups(browser, page, tmp_path):
    """In a net of many parts, by what they begin with."""
    lines = ["lpn 1", "net many", "type unit ()"]
    for stem in ("load", "store"):
        lines += [f"place {stem}_q{k} : unit sink" for k in range(40)]
        for k in range(1, 40):
            lines += [
                f"transition {stem}_t{k} {{",
                f"  take x from {stem}_q{k - 1}",
                "  delay 1",
                f"  put {stem}_q{k}",
                "}",
            ]
    (tmp_path / "many.lpn").write_text("\n".join([*lines, "end", ""]))
    browser.open(page("many", tmp_path / "many.lpn"))
    assert browser.js("return [...lpnviz.graph.groups.keys()]") == ["load_", "store_"]
    browser.wait("await lpnviz.graph.collapseAll(true)")
    assert browser.js("return lpnviz.graph.layout.nodes.map((n) => n.id).sort()") == [
        "g:load_",
        "g:store_",
    ]
    assert not browser.console()


# ---- colours --------------------------------------------------------------------------------

# What those who lack one kind of cone see of linear RGB (Machado, Oliveira and Fernandes 2009, severity 1).
SIGHT = {
    "all": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
XYZ = [
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
]


def lab(colour, sight):
    """CIE L*a*b* (D65) of '#rrggbb' as seen with that sight."""
    rgb = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in rgb]
    seen = [min(1, max(0, sum(a * b for a, b in zip(row, linear)))) for row in SIGHT[sight]]
    xyz = [sum(a * b for a, b in zip(row, seen)) / w for row, w in zip(XYZ, (0.95047, 1, 1.08883))]
    f = [v ** (1 / 3) if v > 216 / 24389 else (24389 / 27 * v + 16) / 116 for v in xyz]
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


def difference(one, two):
    """CIEDE2000 (Sharma, Wu and Dalal 2005)."""
    (l1, a1, b1), (l2, a2, b2) = one, two
    c = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    g = 0.5 * (1 - math.sqrt(c**7 / (c**7 + 25**7)))
    a1, a2 = a1 * (1 + g), a2 * (1 + g)
    c1, c2 = math.hypot(a1, b1), math.hypot(a2, b2)
    h1, h2 = (math.degrees(math.atan2(b, a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    dh = 0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    dl, dc, dh_ = l2 - l1, c2 - c1, 2 * math.sqrt(c1 * c2) * math.sin(math.radians(dh / 2))
    lm, cm = (l1 + l2) / 2, (c1 + c2) / 2
    hm = h1 + h2 if c1 * c2 == 0 else (h1 + dh / 2) % 360
    cos = lambda degrees: math.cos(math.radians(degrees))  # noqa: E731
    t = (
        1
        - 0.17 * cos(hm - 30)
        + 0.24 * cos(2 * hm)
        + 0.32 * cos(3 * hm + 6)
        - 0.2 * cos(4 * hm - 63)
    )
    turn = (
        -math.sin(math.radians(60 * math.exp(-(((hm - 275) / 25) ** 2))))
        * 2
        * math.sqrt(cm**7 / (cm**7 + 25**7))
    )
    sl = 1 + 0.015 * (lm - 50) ** 2 / math.sqrt(20 + (lm - 50) ** 2)
    parts = dl / sl, dc / (1 + 0.045 * cm), dh_ / (1 + 0.015 * cm * t)
    return math.sqrt(sum(p * p for p in parts) + turn * parts[1] * parts[2])


def test_the_formula_of_differences():
    """Pairs 1, 7, 17 and 25 of the table of Sharma, Wu and Dalal."""
    for one, two, expected in (
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 0, 0), (50, -1, 2), 2.3669),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
    ):
        assert difference(one, two) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_reasons_are_told_apart_by_everybody(theme):
    """Busy and the seven reasons: 10 or more apart for four kinds of sight."""
    source = (REPO / "lpnviz" / "page" / "src" / "base" / "theme.js").read_text()
    block = re.search(rf"  {theme}: {{(.*?)\n  }},", source, re.S).group(1)
    colour = dict(re.findall(r"(\w+): '(#\w{6})'", block))
    names = ["accent", *(f"why{k}" for k in range(1, 8))]
    for sight in SIGHT:
        seen = [lab(colour[name], sight) for name in names]
        near = [
            (names[i], names[j], sight)
            for i in range(len(names))
            for j in range(i)
            if difference(seen[i], seen[j]) < 10
        ]
        assert near == []


def test_reasons_have_letters(jpeg):
    signs = jpeg.js(
        "return [...document.querySelectorAll('.legend .why-sign')].map((e) => e.textContent)"
    )
    assert len(signs) >= 3 and len(set(signs)) == len(signs)


# ---- requests -------------------------------------------------------------------------------


def test_latencies_of_requests(browser, page, lpn_command, tmp_path):
    """Figures and histogram, of all and per class, are those of lpn latency."""
    text_of = (REPO / "docs" / "tutorial" / "19_open_loop.md").read_text()
    bank = tmp_path / "bank.py"
    bank.write_text(re.search(r"```\w+ file=bank.py\n(.*?)```", text_of, re.S).group(1))
    lines = [f"{37 * k} {'rrw'[k % 3]} {1 + k % 16}" for k in range(400)]
    (tmp_path / "list.txt").write_text("\n".join(lines))
    said = lpn_command(
        "latency", bank, tmp_path / "list.txt", "--by", "kind", "--engine", "interp", "--json"
    )
    rows = said.json["points"][0]["latencies"]
    browser.open(page("bank", bank, tmp_path / "list.txt", "--by", "kind"))
    heads = browser.js(
        "return [...document.querySelectorAll('.of-requests thead th')].map((e) => e.textContent)"
    )
    assert heads == ["answers", "0", "1"] and len(rows) == 3
    for what in ("requests", "mean", "p50", "p90", "p99", "p99.9", "greatest"):
        shown = browser.js(
            "return [...document.querySelectorAll(`.of-requests [data-figure='${arguments[0]}']`)].map((e) => Number(e.dataset.value))",
            what,
        )
        assert shown == [row[what] for row in rows], what
    bars = browser.js(
        "return [...document.querySelectorAll('.of-latencies tbody tr')].map((r) => [r.cells[0].textContent, Number(r.cells[1].dataset.count)])"
    )
    assert sum(count for _, count in bars) == rows[0]["requests"] == 400
    for span, count in bars:
        low, *high = (int(n) for n in span.replace("\u202f", "").split(" – "))
        assert count == sum(c for a, _, c in rows[0]["histogram"] if low <= a <= (high or [low])[0])
    assert len(browser.all(".curve svg")) == 2
    # A request is there from when it comes on.
    for at, there in ((0, 1), (36, 1), (37, 2), (38, 2)):  # the first takes 40 cycles
        browser.seek(at)
        assert browser.js("return lpnviz.run.state.tokens[0]") == there
    assert not browser.console()
    lpn_command(
        "viz", bank, tmp_path / "list.txt", "--by", "size", "-o", tmp_path / "x.html"
    ).refused("E-born")


def test_a_run_that_ends_in_an_error_is_a_page(browser, lpn_command, tmp_path):
    """All up to the instant before, with the error on top; the command still fails."""
    require_page()
    (tmp_path / "divide.lpn").write_text(
        "lpn 1\nnet divide\ntype job (size: 0..9)\nplace in : job start initial (3), (2), (0), (1)\n"
        "place out : job done\ntransition work {\n  take j from in\n  delay 12 // j.size\n  servers 1\n"
        "  put out (j.size)\n}\nend\n"
    )
    said = lpn_command("viz", tmp_path / "divide.lpn", "-o", tmp_path / "x.html")
    assert said.status == 2 and "[E-divisor]" in said.err and "up to cycle 9" in said.err
    browser.open(tmp_path / "x.html")
    words = text(browser, ".verdict")
    assert words.startswith("The run ended in an error at cycle 10: ") and "[E-divisor]" in words
    assert "ended in an error" in text(browser, ".facts")
    browser.seek(9)
    assert browser.js("return lpnviz.run.state.tokens") == [3, 1]
    assert not browser.console()


def test_tokens_that_nothing_takes_are_shown_up_to_the_last(browser, lpn_command, tmp_path):
    """The page ended with the last commit and spoke of done tokens that nobody had declared."""
    require_page()
    (tmp_path / "late.lpn").write_text(
        "lpn 1\nnet late\ntype job ()\nplace in : job start\nplace late : job start\n"
        "place out : job done\ntransition work {\n  take j from in\n  delay 3\n  put out\n}\nend\n"
    )
    (tmp_path / "in.json").write_text('{"in": 1, "late": [{"at": 2}, {"at": 100}]}')
    said = lpn_command(
        "viz", tmp_path / "late.lpn", tmp_path / "in.json", "-o", tmp_path / "x.html"
    )
    assert said.status == 0, said.err
    browser.open(tmp_path / "x.html")
    assert text(browser, ".verdict") == (
        "Stalled at cycle 3: tokens are left in late (2), from which no transition takes."
    )
    for at, there in ((3, [0, 1, 1]), (99, [0, 1, 1]), (100, [0, 2, 1])):
        browser.seek(at)
        assert browser.js("return lpnviz.run.state.tokens") == there
    assert not browser.console()
