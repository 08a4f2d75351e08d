"""The pages of lpn wave in a real browser: what they show, against what was put into the recording."""

import re

import pytest

from conftest import BUILD, REPO, require_page

SCREENS = BUILD / "testbenches" / "viz" / "screens"
CLI = (REPO / "docs" / "cli.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"```text file=((?:fifo|words)\S*)\n(.*?)```", CLI, re.DOTALL))
# Cycles of the FIFO's recording, by hand: in is asked for a word from cycle 0 on and full every third
# one, out is taken in every third cycle from 3 on.
OUT = [3, 6, 9, 12, 15, 18, 21, 24]
IN = [0, 1, 4, 7, 10, 13, 16, 19]


@pytest.fixture(scope="module")
def fifo(tmp_path_factory):
    """The files of docs/cli.md, and a recording in which the fourth word is offered a cycle late."""
    require_page()
    folder = tmp_path_factory.mktemp("fifo")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    late = re.sub(r"^#85 1!", "#85 1! 0#", FILES["fifo.vcd"], flags=re.MULTILINE)
    late = re.sub(r"^#95 .*#100", "#95 1! 1# #100", late, flags=re.MULTILINE)
    late = re.sub(r"^#105 1!", "#105 1! 0$ b101 %", late, flags=re.MULTILINE)
    (folder / "bubble.vcd").write_text(late)
    return folder


TRANSFERS = """
const lane = lpnviz.channels.find((c) => c.name === arguments[0]).lanes[arguments[1]];
const found = [];
for (let t = lane.from; t < lane.to; ++t) if (lane.at(t).phase === 3) found.push(t);
return found;
"""


def test_a_recording(browser, fifo, lpn_command):
    """Every cycle, the tables, who holds whom, the keys."""
    made = lpn_command(
        *("wave", "stalls", fifo / "fifo.vcd", "--map", fifo / "fifo.toml"),
        *("-o", fifo / "fifo.html", "--json"),
    )
    assert made.status == 0 and made.json["page"]["bytes"] < 400_000
    browser.open(fifo / "fifo.html", "light")
    assert browser.js(TRANSFERS, "in", 0) == IN and browser.js(TRANSFERS, "out", 0) == OUT
    verdict = browser.find(".verdict").text
    assert verdict.startswith("out waits most: valid without ready in 61.5% of its cycles")
    rows = browser.js(
        "return [...document.querySelectorAll('.of-channels tbody tr')].map((r) => "
        "[r.dataset.channel, ...[...r.cells].slice(1, 4).map((c) => c.textContent)])"
    )
    assert rows == [["in", "8", "46.2%", "15.4%"], ["out", "8", "61.5%", "3.8%"]]
    # Of cycles 0 to 9 alone: in stalls in 2, 3, 5, 6, 8 and 9.
    browser.js(
        "lpnviz.timeline.setWindow(0, 9); document.querySelector('.part-only input').click()"
    )
    part = browser.js("return [...document.querySelectorAll('.of-channels tbody tr')][0].innerText")
    assert part.split()[:3] == ["in", "4", "55.6%"]  # 5 of 9
    browser.js("lpnviz.selectTab('held')")
    assert "in ← out" in browser.find("#page-held").text
    assert "6 of 6 releases 1 cycle after one of out" in browser.find("#page-held").text
    browser.js("document.querySelector('#page-held .link').click()")
    assert browser.js("return lpnviz.timeline.chosen") == "c0"
    browser.js("lpnviz.timeline.setWindow(-2, 26)")
    browser.settle_wave()
    assert browser.js("return lpnviz.timeline.arrows") == 6
    browser.js("lpnviz.seek(5)")
    browser.js("lpnviz.selectTab('details')")
    assert "back-pressure from 5 to 7 (2 cycles)" in browser.find("#page-details").text
    browser.keys(".")
    assert browser.js("return lpnviz.time") == 7
    browser.keys(",")
    assert browser.js("return lpnviz.time") == 5
    browser.screenshot(SCREENS / "wave_stalls.png")
    assert browser.console() == []


def test_two_recordings_and_a_model(browser, fifo, lpn_command):
    """Lanes one above the other, the first difference marked, the differences one by one."""
    two = fifo / "two.html"
    answer = lpn_command(
        *("wave", "compare", "--between", fifo / "fifo.vcd", fifo / "bubble.vcd"),
        *("--map", fifo / "fifo.toml", "-o", two),
    )
    assert answer.status == 1 and "two.html: 0.1 MB; open it in a browser" in answer.out
    model = fifo / "model.html"
    answer = lpn_command(
        *("wave", "compare", fifo / "fifo.py", fifo / "words.json", fifo / "bubble.vcd"),
        *("--map", fifo / "fifo_model.toml", "-o", model),
    )
    assert answer.status == 1
    late = [8 if t == 7 else t for t in IN]
    for page, rows in ((two, ["in", "out"]), (model, ["push start", "pop commit"])):
        browser.open(page, "dark")
        first, second = rows
        assert browser.js(TRANSFERS, first, 0) == IN and browser.js(TRANSFERS, first, 1) == late
        assert browser.js(TRANSFERS, second, 0) == browser.js(TRANSFERS, second, 1) == OUT
        assert browser.js("return [lpnviz.timeline.mark, lpnviz.time]") == [7, 7]
        assert browser.find(".verdict").text.startswith("First difference: cycle 7, channel in")
        listed = browser.all("#page-differences [data-first]")
        assert [e.get_attribute("data-first") for e in listed] == ["7"]
        browser.settle_wave()
        differing = browser.js("return lpnviz.timeline.differing")
        assert differing["c0"] > 0 and differing["c1"] == 0
        browser.js("lpnviz.seek(0)")
        browser.keys("n")
        assert browser.js("return lpnviz.time") == 7
        browser.keys("n")
        assert browser.js("return lpnviz.time") == 8
        browser.keys("p")
        assert browser.js("return lpnviz.time") == 7
        browser.screenshot(SCREENS / f"wave_{page.stem}.png")
        assert browser.console() == []


def test_clocks_of_their_own(browser, tmp_path, lpn_command):
    """Channels of two clocks lie over the recording's times; counts are cycles of each one's own."""
    require_page()
    lines = ["$timescale 1ps $end", "$scope module tb $end"]
    for k, name in enumerate(("a_clk", "a_valid", "b_clk", "b_valid")):
        lines.append(f"$var wire 1 {chr(33 + k)} {name} $end")
    lines += ["$upscope $end", "$enddefinitions $end", "#0", "0!", '1"', "0#", "1$"]
    for t in range(5, 300, 5):
        lines.append(f"#{t}")
        if t % 10 == 5:
            lines += ["1!"]
        else:
            lines += ["0!"]
        if t % 15 == 0:
            lines += ["1#" if t % 30 == 15 else "0#"]
    (tmp_path / "two.vcd").write_text("\n".join(lines) + "\n")
    (tmp_path / "two.toml").write_text(
        '[clocks.a]\nsignal = "tb.a_clk"\n[clocks.b]\nsignal = "tb.b_clk"\n'
        '[channels.a]\nvalid = "tb.a_valid"\nclock = "a"\n'
        '[channels.b]\nvalid = "tb.b_valid"\nclock = "b"\n'
    )
    answer = lpn_command(
        *("wave", "stalls", tmp_path / "two.vcd", "--map", tmp_path / "two.toml"),
        *("-o", tmp_path / "two.html", "--json"),
    )
    counts = [row["transfers"] for row in answer.json["channels"]]
    assert counts == [30, 10]
    browser.open(tmp_path / "two.html", "light")
    assert browser.js("return lpnviz.timeline.unit") == "ps"
    assert browser.js(
        "return [...document.querySelectorAll('.of-channels tbody tr')].map((r) => Number(r.cells[1].dataset.transfers))"
    ) == [30, 10]
    # Cycle 0 is the first edge of all, at 5 ps; the clock b has its first at 15.
    assert browser.js("return lpnviz.channels.map((c) => c.lanes[0].at(11)?.phase)") == [3, 3]
    assert browser.js("return lpnviz.channels.map((c) => c.lanes[0].at(2)?.phase)") == [3, 6]


def test_transfers_that_are_no_firings_are_no_differences(browser, fifo, lpn_command):
    """Of the words that come out every second one is a firing of the model: it has three words, and more may come."""
    (fifo / "half.json").write_text('{"words": [[1], [2], [3]]}')
    (fifo / "half.py").write_text(
        (fifo / "fifo.py").read_text().replace("clock=(3, 0)", "clock=(6, 0)")
    )
    map = (fifo / "fifo_model.toml").read_text()
    map = map[: map.index("[transitions.push]")] + '[transitions.pop]\nchannel = "out"\n'
    (fifo / "half.toml").write_text(map + "every = 2\ntransfer = 1\ntrailing = true\n")
    answer = lpn_command(
        *("wave", "compare", fifo / "half.py", fifo / "half.json", fifo / "fifo.vcd"),
        *("--map", fifo / "half.toml", "-o", fifo / "half.html", "--json"),
    )
    assert answer.status == 0, answer.out
    browser.open(fifo / "half.html", "light")
    browser.settle_wave()
    assert browser.js("return lpnviz.timeline.differing") == {"c0": 0}
    browser.keys("n")
    assert browser.js("return lpnviz.time") == 0
    assert browser.js(TRANSFERS, "pop commit", 0) == OUT[1:6:2]
    assert browser.js(TRANSFERS, "pop commit", 1) == OUT
