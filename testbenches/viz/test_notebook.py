"""What notebooks show of nets and runs: HTML that is well formed, with a picture where Node.js is."""

import base64
import re
import xml.dom.minidom

import lpn
import pytest
from conftest import BUILD

PAGE = BUILD / "python" / "lpn_page" / "export.mjs"


class Packet(lpn.Token):
    words: lpn.Int[1, 64]


def line(delay=3):
    net = lpn.Net("line")
    net.frequency = 250e6
    queue = net.place("queue", Packet, start=True)
    sent = net.place("sent", done=True)
    net.transition("send", take={"p": queue}, put=[sent], delay=delay, servers=1)
    return net


def packets(net, count=4):
    marking = lpn.Marking(net)
    marking.add("queue", words=1, count=count)
    return marking


def well_formed(text):
    xml.dom.minidom.parseString(re.sub(r"<(img[^>]*|br)>", r"<\1/>", text))


def test_a_net():
    shown = line()._repr_html_()
    well_formed(shown)
    assert "<b>line</b>: 2 places, 1 transition, 0 parameters" in shown
    assert "<td>send</td><td>queue</td><td>3</td><td>1</td><td>sent</td>" in shown


@pytest.mark.skipif(not PAGE.exists(), reason="the page was not built: there was no npm")
def test_its_picture():
    shown = line()._repr_html_()
    found = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', shown)
    picture = xml.dom.minidom.parseString(base64.b64decode(found[1]))
    assert picture.documentElement.tagName == "svg"
    texts = [t.firstChild.data for t in picture.getElementsByTagName("text") if t.firstChild]
    assert any("send" in text for text in texts)


def test_without_what_draws_there_is_the_table(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    shown = line()._repr_html_()
    assert "<img" not in shown and "<td>send</td>" in shown


def test_a_net_that_is_wrong_says_so():
    net = lpn.Net("wrong")
    a = net.place("a", start=True)
    net.transition("t", take={"x": a.watch()}, put=[], delay=1)
    shown = net._repr_html_()
    well_formed(shown)
    assert "takes no token" in shown and "<li>" in shown


def test_large_nets_are_tables_of_some_rows():
    net = lpn.Net("large")
    for k in range(150):
        net.transition(f"t{k}", take=net.place(f"p{k}", init=1), put=[], delay=1, servers=1)
    shown = net._repr_html_()
    assert "<img" not in shown and "... and 110 more" in shown


def test_a_run():
    net = line()
    shown = lpn.simulate(net, packets(net))._repr_html_()
    well_formed(shown)
    assert "<tr><td>latency</td><td>12</td></tr>" in shown
    assert "<tr><td>time</td><td>48 ns</td></tr>" in shown
    assert "<tr><td>ending</td><td>quiet</td></tr>" in shown


def test_a_run_with_statistics_and_path():
    net = line()
    shown = lpn.simulate(net, packets(net), stats=True, path=True)._repr_html_()
    well_formed(shown)
    assert "'send' decides 100% of the latency" in shown.replace("&#x27;", "'")
    assert "100.0%" in shown and "width:100px;background" in shown


def test_runs_that_stall_or_stop():
    net = lpn.Net("join")
    a, b = net.place("a", start=True), net.place("b", start=True)
    net.transition("t", take={"x": a, "y": b}, put=[], delay=1, servers=1)
    work = lpn.Marking(net)
    work.add("a", count=1)
    shown = lpn.simulate(net, work)._repr_html_()
    assert "<td>stalled</td>" in shown and "<td>t</td><td>no token: y</td>" in shown
    net = line()
    shown = lpn.simulate(net, packets(net), until="sent.count > 1")._repr_html_()
    well_formed(shown)
    assert "stopped at time 6, because sent.count &gt; 1 (sent.count=2)" in shown


def test_an_empty_net_and_an_empty_run():
    net = lpn.Net("nothing")
    well_formed(net._repr_html_())
    well_formed(lpn.simulate(net, stats=True)._repr_html_())
