"""How large and how quick the pages of lpn viz are, in headless Chromium.

    testbenches/speed/pages.py [--repeat 5] [--only WORD] [--json]

Every page is opened afresh; times are the page's own clock, from the start of its loading.
Asserted: no message on the console, and the numbers shown are those of the simulator.
"""

import array
import random
import sys
import tempfile
from pathlib import Path

import numpy
from _measure import BUILD, ROOT, SEED, Missing, Report, lpn, options, wall

sys.path.insert(0, str(ROOT / "testbenches" / "viz"))

import browser as browsers  # noqa: E402

LPN = BUILD / "bin" / "lpn"
MILLION = 333_336  # blocks: three firings each


def image(path):
    """A JPEG of 400x300: smooth clouds with noise, 4:2:0, quality 80, standard tables."""
    from PIL import Image

    rng = numpy.random.default_rng(SEED)
    y, x = numpy.mgrid[0:300, 0:400]
    planes = [
        128
        + 60 * numpy.sin(x / (17 + 9 * k)) * numpy.cos(y / (23 + 5 * k))
        + rng.normal(0, 9, x.shape)
        for k in range(3)
    ]
    pixels = numpy.clip(numpy.stack(planes, axis=2), 0, 255).astype("uint8")
    Image.fromarray(pixels).save(path, quality=80, subsampling="4:2:0", optimize=False)


def million(folder):
    """The JPEG decoder's net as text and a marking with which it makes a million firings."""
    net = lpn.load("jpeg").net()
    marking = lpn.Marking(net)
    rng = random.Random(SEED)
    marking.add("header", size=623, table_stalls=7, first_word=5)
    marking.add_columns(
        "coded",
        symbols=array.array("q", [rng.randrange(2, 65) for _ in range(MILLION)]),
        waits=0,
        completes=array.array("q", [4 * (k % 6 == 5) for k in range(MILLION)]),
    )
    (folder / "jpeg.lpn").write_text(net.text())
    marking.save(folder / "million.lpnm")
    return folder / "jpeg.lpn", folder / "million.lpnm"


def lanes(folder):
    """A net of 106 transitions whose run has a million firings: the marking of protoacc many times
    over.
    """
    spec = ROOT / "testbenches" / "ltc" / "protoacc.py"
    model = lpn.load(spec)
    net = model.net()
    one = model.workload(
        str(ROOT / "testbenches" / "ltc" / "tokens" / "protoacc" / "one_scalar.tok"), net
    )
    firings = lpn.simulate(net, one).commits
    marking = lpn.Marking(net)
    times = -(-1_100_000 // firings)  # a message alone has more control than one of many
    for place in net.places:
        marking.add_rows(place, one.rows(place) * times)
    (folder / "protoacc.lpn").write_text(net.text())
    marking.save(folder / "protoacc.lpnm")
    return folder / "protoacc.lpn", folder / "protoacc.lpnm"


# Scrubbing: 120 positions over the whole run, each shown (places, tokens on the arcs, firings,
# timeline) before the next is asked for, at most one per frame of the browser.
SCRUB = """
const run = lpnviz.run, n = 120;
run.timeline.setWindow(run.end * a[0], run.end * a[1]);
await run.timeline.paint();
const begin = performance.now();
for (let k = 0; k < n; ++k) {
  const t = Math.round(run.end * (a[0] + (a[1] - a[0]) * (k + 0.5) / n));
  await run.seek(t, true);
  if (run.state.time !== t) throw new Error(`shows ${run.state.time} in place of ${t}`);
  await new Promise(requestAnimationFrame);
}
return n * 1000 / (performance.now() - begin);
"""

# Dragging the window over the run: the timeline painted at each of 60 positions.
PAN = """
const timeline = lpnviz.run.timeline, n = 60, span = timeline.end * a[0];
const begin = performance.now();
for (let k = 0; k < n; ++k) {
  timeline.setWindow((timeline.end - span) * k / n, (timeline.end - span) * k / n + span);
  await timeline.paint();
  await new Promise(requestAnimationFrame);
}
return n * 1000 / (performance.now() - begin);
"""


def opened(page):
    """{ what: value } of one opening of a page, and whether all of it is right."""
    with browsers.chromium() as browser:
        browser.driver.execute_cdp_cmd("Performance.enable", {})
        browser.open(page)
        seen = browser.js(
            "return { drawn: lpnviz.drawnAt / 1000, layout: lpnviz.graph.layoutMilliseconds / 1000,"
            " run: Boolean(lpnviz.run), nodes: lpnviz.graph.layout.nodes.length }"
        )
        assert not browser.console(), browser.console()
        if seen["run"]:
            seen["scrub"] = browser.wait(SCRUB, 0, 1)
            seen["near"] = browser.wait(SCRUB, 0.4, 0.41)
            seen["pan"] = browser.wait(PAN, 0.05)
            metrics = {
                m["name"]: m["value"]
                for m in browser.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
            }
            # Typed arrays are outside of the heap that the browser counts: the record says how much
            # they are.
            held = browser.js("return lpnviz.run.runs.reduce((sum, r) => sum + r.record.held, 0)")
            seen["heap"] = (metrics["JSHeapTotalSize"] + held) / 1e6
            seen["facts"] = browser.find(".facts").text.replace("\u2009", "")
        else:
            browser.wait("await lpnviz.graph.collapseAll(false)")
            seen["layout_open"] = browser.js("return lpnviz.graph.layoutMilliseconds") / 1000
        assert not browser.console(), browser.console()
    return seen


def made(folder, name, *arguments):
    page = folder / f"{name}.html"
    seconds = wall(LPN, "viz", *arguments, "-o", page)
    return page, seconds


def rows(report, folder, title, make, asked):
    """A row per figure of one page, each from `repeat` openings."""
    if not report.wants(title):
        return
    try:
        reason = browsers.missing()
        if reason:
            raise Missing(reason)
        page, seconds, expected = make()
    except Missing as reason:
        report.missing(title, str(reason))
        return
    runs = [opened(page) for _ in range(report.repeat)]
    for seen in runs:
        assert all(text in seen.get("facts", text) for text in expected), (expected, seen)
    report.add(f"{title}: file", "MB", [page.stat().st_size / 1e6], asked=asked.get("file", ""))
    report.add(f"{title}: lpn viz", "s", [seconds])
    for key, words, unit in (
        ("drawn", "first drawing", "s"),
        ("layout", "layout", "s"),
        ("layout_open", "layout, all groups open", "s"),
        ("scrub", "scrubbing the whole run", "frames/s"),
        ("near", "scrubbing 1 % of it", "frames/s"),
        ("pan", "moving the timeline", "frames/s"),
        ("heap", "JS heap", "MB"),
    ):
        if key in runs[0]:
            report.add(
                f"{title}: {words}", unit, [seen[key] for seen in runs], asked=asked.get(key, "")
            )


def main():
    report = Report(options(__doc__).parse_args())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def picture():
            image(folder / "picture.jpg")
            model = lpn.load("jpeg")
            net = model.net()
            run = lpn.simulate(net, model.workload(str(folder / "picture.jpg"), net))
            return *made(folder, "picture", "jpeg", folder / "picture.jpg", "--critical-path"), [
                str(run.latency),
                str(run.commits),
            ]

        def long(of):
            def make():
                net, marking = of(folder)
                parsed = lpn.load(str(net)).net()
                run = lpn.simulate(parsed, lpn.Marking.load(parsed, marking), engine="compiled")
                assert run.commits >= 1_000_000, run
                return *made(folder, of.__name__, net, marking), [
                    str(run.latency),
                    str(run.commits),
                ]

            return make

        def large():
            return *made(folder, "large", ROOT / "testbenches" / "ltc" / "protoacc.py"), []

        rows(
            report,
            folder,
            "JPEG, 400x300",
            picture,
            {"file": "< 5", "drawn": "< 1.5", "scrub": ">= 20"},
        )
        rows(report, folder, "106 transitions", large, {"layout": "< 3", "layout_open": "< 3"})
        million_asked = {
            "file": "< 60",
            "drawn": "< 5",
            "scrub": ">= 20",
            "near": ">= 20",
            "heap": "< 200",
        }
        rows(report, folder, "10^6 firings, JPEG", long(million), million_asked)
        rows(report, folder, "10^6 firings, 106 transitions", long(lanes), million_asked)
    report.finish()


if __name__ == "__main__":
    main()
