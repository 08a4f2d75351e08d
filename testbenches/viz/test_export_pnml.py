"""lpn viz -o net.pnml: a place/transition net that plays what the LPN plays, and a report of the
rest.
"""

import os
import shutil
import subprocess
import xml.dom.minidom
from collections import Counter
from pathlib import Path

import pytest
from conftest import BUILD, DEMO, golden_nets, load

PNML = "http://www.pnml.org/version-2009/grammar/pnml"
PTNET = "http://www.pnml.org/version-2009/grammar/ptnet"
JPEG = DEMO / "grad_16x16_q90_420.jpg"

# Everything that PNML has no word for.
RICH = """lpn 1
net rich
param n = 2 in 1..8
type unit ()
type job (size: 0..9, kind: 0..1)
place in : job start initial (3, 1), (4, 0)
place spare : unit initial n
place gate : unit
place mid : job capacity n + 1
place out : unit done
transition work {
  take j from in when j.kind == 1
  take s from spare weight n need n + 1
  empty g in gate
  delay j.size + n
  servers n
  interval 2
  ordered
  put mid (j.size, 0)
  put out j.size
}
transition leave {
  take m from mid weight 2
  take t from spare weight m.size need m.size + 1
  delay 1
  clock 4 phase 1
  put out 3
}
done 7
end
"""


class Net:
    """A place/transition net as the file's standard part says it; toolspecific parts are not looked
    at.
    """

    def __init__(self, path):
        self.document = xml.dom.minidom.parse(str(path))
        root = self.document.documentElement
        assert (root.namespaceURI, root.localName) == (PNML, "pnml")
        (net,) = children(root, "net")
        assert net.getAttribute("type") == PTNET
        (page,) = children(net, "page")
        self.name = label(net, "name")
        self.tokens, self.takes, self.gives, self.names = {}, {}, {}, {}
        ids = [net.getAttribute("id"), page.getAttribute("id")]
        for kind in ("place", "transition", "arc"):
            ids += [node.getAttribute("id") for node in children(page, kind)]
        assert all(ids) and len(ids) == len(set(ids)), "ids are unique"
        for place in children(page, "place"):
            self.tokens[place.getAttribute("id")] = int(label(place, "initialMarking") or 0)
            self.names[place.getAttribute("id")] = label(place, "name")
        for transition in children(page, "transition"):
            self.takes[transition.getAttribute("id")] = Counter()
            self.gives[transition.getAttribute("id")] = Counter()
        for arc in children(page, "arc"):
            source, target = arc.getAttribute("source"), arc.getAttribute("target")
            weight = int(label(arc, "inscription") or 1)
            assert weight >= 1
            side, transition, place = (
                (self.takes, target, source)
                if source in self.tokens
                else (self.gives, source, target)
            )
            assert (
                place in self.tokens and place not in side[transition]
            ), "one arc between two nodes"
            side[transition][place] = weight
        assert all(count >= 0 for count in self.tokens.values())

    def fire(self, transition):
        """False when the transition has not what it takes."""
        if any(self.tokens[place] < count for place, count in self.takes[transition].items()):
            return False
        for place, count in self.takes[transition].items():
            self.tokens[place] -= count
        for place, count in self.gives[transition].items():
            self.tokens[place] += count
        return True

    def ours(self, word):
        """The toolspecific elements of that name: [(id of the node, attributes, text)]."""
        found = []
        for element in self.document.getElementsByTagNameNS("urn:lpn", word):
            specific = element.parentNode
            assert (specific.localName, specific.getAttribute("tool")) == ("toolspecific", "lpn")
            text = "".join(
                node.data for node in element.childNodes if node.nodeType == node.TEXT_NODE
            )
            found.append(
                (specific.parentNode.getAttribute("id"), dict(element.attributes.items()), text)
            )
        return found


def children(node, name):
    return [
        child
        for child in node.childNodes
        if child.nodeType == child.ELEMENT_NODE
        and (child.namespaceURI, child.localName) == (PNML, name)
    ]


def label(node, name):
    found = children(node, name)
    if not found:
        return None
    (text,) = children(found[0], "text")
    return text.firstChild.data


def sayable(net):
    """No number of tokens depends on tokens."""
    core = net._core
    for t in core.transitions:
        formulas = [
            f
            for arc in t.inputs
            for f in (arc.weight, arc.threshold)
            if f is not None and not arc.inhibit
        ]
        formulas += [e.count for arc in t.outputs for e in arc.emissions]
        if any(core.value(f[0]) is None for f in formulas):
            return False
    return True


def test_every_run_is_a_firing_sequence(tmp_path, lpn_command):
    """Starts in their order are steps of the place/transition net, and end with the tokens of the
    run.
    """
    import lpn

    played = 0
    for path in golden_nets():
        net = load(path)
        if not sayable(net):
            continue
        assert lpn_command("viz", path, "-o", tmp_path / "net.pnml").status == 0
        step = Net(tmp_path / "net.pnml")
        run = lpn.simulate(net, engine="interp", trace=True, limit=300)
        if run.ending == "limit":
            continue  # what is in flight would be missing
        core = net._core
        left = Counter()
        for c in sorted(run.trace, key=lambda c: (c.start, c.time, c.group)):
            t = core.transitions[c.transition]
            assert step.fire(f"t.{t.name}"), (path.stem, t.name, c.time)
            for arc, taken in zip(t.inputs, c.taken):
                left[core.places[arc.place].name] -= len(taken)
            for arc, count in zip(t.outputs, c.produced):
                left[core.places[arc.place].name] += count
        fresh = Net(tmp_path / "net.pnml")
        for place in core.places:
            end = fresh.tokens[f"p.{place.name}"] + left[place.name]
            assert step.tokens[f"p.{place.name}"] == end, (path.stem, place.name)
            if place.capacity is not None:
                room = core.value(place.capacity[0]) - end
                assert step.tokens[f"c.{place.name}"] == room, (path.stem, place.name)
        played += 1
    assert played >= 20


def test_what_pnml_cannot_say_is_reported(tmp_path, lpn_command):
    (tmp_path / "rich.lpn").write_text(RICH)
    answer = lpn_command(
        "viz", tmp_path / "rich.lpn", "-o", tmp_path / "rich.pnml", "--json", "-p", "n=3"
    )
    assert answer.status == 0, answer.err
    lost = {(row["what"], row["name"]): row["formula"] for row in answer.json["lost"]}
    assert lost == {
        ("time", "rich"): None,
        ("order", "rich"): None,
        ("priority", "rich"): None,
        ("end", "rich"): None,
        ("properties", "in"): "size, kind",
        ("values", "in"): "of 2 tokens at the start",
        ("properties", "mid"): "size, kind",
        ("delay", "work"): "j.size + n",
        ("servers", "work"): "n",
        ("interval", "work"): "2",
        ("ordered", "work"): None,
        ("guard", "work.j"): "j.kind == 1",
        ("inhibitor", "work.g"): "gate is empty",
        ("count", "work to out"): "j.size",
        ("weight", "leave.t"): "m.size",
        ("threshold", "leave.t"): "m.size + 1",
        ("delay", "leave"): "1",
        ("clock", "leave"): "4, phase 1",
    }
    assert answer.json["rewritten"] == [
        {"what": "capacity", "name": "mid", "as": "complementary place c.mid"},
        {"what": "threshold", "name": "work.s", "as": "takes 4, gives back 1"},
    ]
    net = Net(tmp_path / "rich.pnml")
    assert net.name == "rich" and net.names["c.mid"] == "room in mid"
    assert net.tokens == {"p.in": 2, "p.spare": 3, "p.gate": 0, "p.mid": 0, "c.mid": 4, "p.out": 0}
    assert net.takes == {
        "t.work": {"p.in": 1, "p.spare": 4, "c.mid": 1},
        "t.leave": {"p.mid": 2, "p.spare": 1},
    }
    assert net.gives == {
        "t.work": {"p.spare": 1, "p.mid": 1, "p.out": 1},
        "t.leave": {"c.mid": 2, "p.out": 3},
    }
    # The file says all of it too, beside the node and in the report of the net.
    assert {(a["what"], a["name"]): text or None for _, a, text in net.ours("lost")} == lost
    assert net.ours("delay") == [("t.work", {}, "j.size + n"), ("t.leave", {}, "1")]
    assert net.ours("guard") == [("t.work", {"arc": "j", "place": "in"}, "j.kind == 1")]
    assert net.ours("capacity") == [("p.mid", {}, "n + 1")]
    assert net.ours("parameter") == [("net", {"name": "n", "value": "3"}, "")]
    # And a person is told on stderr.
    told = lpn_command("viz", tmp_path / "rich.lpn", "-o", tmp_path / "rich.pnml").err
    for word in ("delay", "guard", "servers", "order", "properties", "complementary place"):
        assert word in told


def test_the_tokens_of_an_input(tmp_path, lpn_command):
    assert lpn_command("viz", "jpeg", "-o", tmp_path / "a.pnml").status == 0
    assert lpn_command("viz", "jpeg", JPEG, "-o", tmp_path / "b.pnml").status == 0
    empty, full = Net(tmp_path / "a.pnml"), Net(tmp_path / "b.pnml")
    assert sum(empty.tokens.values()) == empty.tokens["c.coefficients"] == 4
    assert (full.tokens["p.header"], full.tokens["p.coded"]) == (1, 6)


def test_what_cannot_be_a_net(tmp_path, lpn_command):
    (tmp_path / "n.lpn").write_text(
        "lpn 1\nnet n\nparam k = 1\ntype unit ()\nplace a : unit capacity k initial 2\n"
        "place b : unit\ntransition t {\n  take x from a weight k\n  delay 0\n  put b\n"
        "}\nend\n"
    )
    lpn_command("viz", tmp_path / "n.lpn", "-o", tmp_path / "n.pnml").refused("E-capacity")
    (tmp_path / "m.lpn").write_text(
        "lpn 1\nnet n\nparam k = 1\ntype unit ()\nplace a : unit initial 2\n"
        "place b : unit\ntransition t {\n  take x from a weight k\n  delay 0\n  put b\n"
        "}\nend\n"
    )
    text = lpn_command("viz", tmp_path / "m.lpn", "-o", tmp_path / "n.pnml", "-p", "k=-1").refused(
        "E-param-value"
    )
    assert "transition 't'" in text and "-1" in text
    lpn_command("viz", tmp_path / "m.lpn", "-o", tmp_path / "n.pnml", "--window", "1:2").refused(
        "E-usage"
    )
    assert not (tmp_path / "n.pnml").exists()


def test_the_published_grammar(tmp_path, lpn_command):
    """LPN_PNML_GRAMMAR: a folder with ptnet.pntd and the .rng files it includes, of pnml.org."""
    folder = os.environ.get("LPN_PNML_GRAMMAR")
    if not folder:
        pytest.skip(
            "LPN_PNML_GRAMMAR does not name a folder with the grammar of pnml.org/version-2009"
        )
    if not shutil.which("xmllint"):
        pytest.skip("no xmllint: apt-get install libxml2-utils")
    for file in Path(folder).iterdir():
        text = file.read_text(encoding="utf-8").replace(
            "http://www.pnml.org/version-2009/grammar/conv", "conv"
        )
        for name in ("pnmlcoremodel", "anyElement"):
            text = text.replace(
                f"http://www.pnml.org/version-2009/grammar/{name}.rng", f"{name}.rng"
            )
        (tmp_path / file.name).write_text(text, encoding="utf-8")

    def valid(path):
        return (
            subprocess.run(
                ["xmllint", "--noout", "--nonet", "--relaxng", tmp_path / "ptnet.pntd", path],
                capture_output=True,
                check=False,
            ).returncode
            == 0
        )

    (tmp_path / "rich.lpn").write_text(RICH)
    checked = 0
    for model in ("jpeg", tmp_path / "rich.lpn", *golden_nets()[::4]):
        assert lpn_command("viz", model, "-o", tmp_path / "net.pnml").status == 0
        assert valid(tmp_path / "net.pnml"), model
        checked += 1
    assert checked >= 8
    wrong = (
        (tmp_path / "net.pnml").read_text(encoding="utf-8").replace('<page id="page">', "<page>", 1)
    )
    (tmp_path / "wrong.pnml").write_text(wrong, encoding="utf-8")
    assert not valid(tmp_path / "wrong.pnml")


def test_a_net_whose_numbers_are_not_known(tmp_path, lpn_command):
    """No number is invented for lpn.unknown(); with one that is given there is a file."""
    (tmp_path / "pool.py").write_text(
        "import lpn\n\n\ndef net():\n    net = lpn.Net('pool')\n"
        "    jobs = net.place('jobs', init=4)\n"
        "    queue = net.place('queue', capacity=lpn.unknown(), done=True)\n"
        "    net.transition('work', take={'job': jobs}, put=[queue], delay=3)\n    return net\n"
    )
    file = tmp_path / "pool.pnml"
    said = lpn_command("viz", tmp_path / "pool.py", "-o", file).refused("E-unknown")
    assert "the capacity of place 'queue' is unknown" in said and not file.exists()
    given = lpn_command("viz", tmp_path / "pool.py", "-p", "queue.capacity=2", "-o", file)
    assert given.status == 0 and file.exists()


def positions(node):
    """The positions that a node's own graphics element says."""
    found = [
        child
        for graphics in node.childNodes
        if graphics.nodeName == "graphics"
        for child in graphics.childNodes
        if child.nodeName == "position"
    ]
    return [(int(each.getAttribute("x")), int(each.getAttribute("y"))) for each in found]


def nodes_of(path):
    document = xml.dom.minidom.parse(str(path))
    return {
        node.getAttribute("id"): positions(node)
        for kind in ("place", "transition")
        for node in document.getElementsByTagName(kind)
    }


@pytest.mark.skipif(
    not (BUILD / "python" / "lpn_page" / "export.mjs").exists(),
    reason="the page was not built: apt-get install nodejs npm, and build again",
)
def test_parts_stand_where_the_picture_has_them(lpn_command, tmp_path):
    (tmp_path / "rich.lpn").write_text(RICH)
    answer = lpn_command("viz", tmp_path / "rich.lpn", "-o", tmp_path / "rich.pnml", "--json")
    assert answer.status == 0 and answer.json["positions"] is True
    where = nodes_of(tmp_path / "rich.pnml")
    assert len(where) == 8 and all(len(each) == 1 for each in where.values())
    spots = [spot for each in where.values() for spot in each]
    assert len(set(spots)) == len(spots) and min(min(spot) for spot in spots) >= 0
    at = {name: spot for name, (spot,) in where.items()}
    # Data flows from left to right; what stands for the room of a place is below it.
    assert at["p.in"][0] < at["t.work"][0] < at["p.mid"][0] < at["t.leave"][0]
    assert at["c.mid"] == (at["p.mid"][0], at["p.mid"][1] + 48)


def test_without_what_lays_out_there_are_none(lpn_command, tmp_path):
    (tmp_path / "rich.lpn").write_text(RICH)
    asked = ("viz", tmp_path / "rich.lpn", "-o", tmp_path / "rich.pnml")
    answer = lpn_command(*asked, "--json", PATH="/nowhere")
    assert answer.status == 0 and answer.json["positions"] is False
    assert not any(nodes_of(tmp_path / "rich.pnml").values())
    assert "note: without positions, which other tools then choose: " in answer.err
