"""lpn pi --loops and --pareto: SDF3 files, nets with counters, and what is wrong with them."""

import json
import re

import pytest
from conftest import REPO

PAGE = (REPO / "docs" / "cli.md").read_text(encoding="utf-8")
CAMERA = re.search(r"```text file=camera.xml\n(.*?)```", PAGE, re.DOTALL).group(1)


@pytest.fixture
def graph(tmp_path):
    """Writes a graph: the camera of the page, with some text in place of other text."""

    def write(*changes, name="graph.xml"):
        text = CAMERA
        for old, new in changes:
            assert text.count(old) >= 1, old
            text = text.replace(old, new, 1)
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def line_of(text):
    return CAMERA[: CAMERA.index(text)].count("\n") + 1


WRONG = [
    ("<sdf3 ", "<!DOCTYPE x [<!ENTITY a 'aa'>]>\n<sdf3 ", 1, "a DOCTYPE, which could name other"),
    ("</sdf3>", "", CAMERA.count("\n") + 1, "no whole XML file: no element found"),
    ("</csdf>", "</csd>", line_of("</csdf>"), "no whole XML file: mismatched tag"),
    ("<sdf3 ", "<sdf4 ", 1, "not a file of SDF3: its root is <sdf4>, not <sdf3>"),
    (
        'time="5,2"',
        'time="5,-2"',
        line_of('"5,2"'),
        "actor 'sensor': time must be a list of numbers",
    ),
    ('rate="3,1"', 'rate="3,1.5"', line_of('"3,1"'), "port 'rows' of actor 'sensor': rate must be"),
    ('rate="3,1"', 'rate="9000000*1"', line_of('"3,1"'), "rate has more than 1000000 phases"),
    ('srcPort="rows"', 'srcPort="row"', line_of('srcPort="rows"'), "did you mean 'rows'?"),
    ('dstActor="filter"', 'dstActor="f"', line_of('dstActor="filter"'), "there is no actor 'f'"),
    ('initialTokens="1"', 'initialTokens="-1"', line_of('"s1"'), "initialTokens must be a whole"),
    ('name="s2"', 'name="s1"', line_of('"s2"'), "channel 's1' stands twice; the first is in line"),
    (
        '<actor name="send">',
        '<actor name="filter">',
        line_of('<actor name="send">'),
        "stands twice",
    ),
    ('actor="send">', 'actor="sent">', line_of('actor="send">'), "there is no actor 'sent'; did"),
    (
        '<actorProperties actor="send">',
        '<actorProperties actor="filter">',
        line_of('<actorProperties actor="send">'),
        "actorProperties of actor 'filter' stands twice; the first is in line",
    ),
    ('<executionTime time="1"/>', "", line_of('<actor name="send">'), "has no executionTime"),
    (
        'type="out" rate="3,1"',
        'type="in" rate="3,1"',
        line_of('name="rows" srcA'),
        "it must be 'out'",
    ),
    ("<csdf ", "<fsmsadf/><csdf ", line_of("<csdf "), "scenario-aware graphs are not read"),
    ('initialTokens="1"', 'initialtokens="1"', line_of('"s1"'), "did you mean 'initialTokens'?"),
    ('<port name="rows" type=', '<port name="rows" Type=', line_of('"3,1"'), "attribute 'Type'"),
    (
        '<channel name="rows"',
        '<Channel name="rows"',
        line_of('name="rows" srcA'),
        "mean 'channel'?",
    ),
    (
        '<actorProperties actor="send">',
        '<actorproperties actor="send">',
        line_of('<actorProperties actor="send">'),
        "there is no <actorproperties> in <csdfProperties>; did you mean 'actorProperties'?",
    ),
    (' default="true"', ' Default="true"', line_of(' default="true"'), "attribute 'Default'"),
    (
        'rate="3,1"',
        'rate="1;3,1"',
        line_of('"5,2"'),
        "has 1 phases that come once, but a time for 0",
    ),
]


@pytest.mark.parametrize("old, new, line, said", WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_with_a_file_is_said_with_its_line(lpn, graph, old, new, line, said):
    path = graph((old, new))
    message = lpn("pi", "--loops", path).refused("E-dataflow")
    assert f"{path}:{line}: " in message and said in message, message


def test_files_that_are_none(lpn, tmp_path):
    path = tmp_path / "none.xml"
    lpn("pi", "--loops", path).refused("E-input")
    for data in (
        b"",
        b"\0\0",
        b"<" * 100_000,
        b"\xff\xfe<",
        b"<a>&b;</a>",
        b"<?xml version='1.0' encoding='x-none'?><sdf3/>",
    ):
        path.write_bytes(data)
        lpn("pi", "--loops", path).refused("E-dataflow")
    path.write_text("<sdf3>" + "<a>" * 100_000 + "</a>" * 100_000 + "</sdf3>")
    assert "there is no <sdf> or <csdf>" in lpn("pi", "--loops", path).refused("E-dataflow")


def test_inconsistent_rates_name_their_channel(lpn, graph):
    path = graph(('name="tiles" type="out" rate="3"', 'name="tiles" type="out" rate="0"'))
    message = lpn("pi", "--loops", path).refused("E-dataflow")
    assert (
        "channel 'tiles' has inconsistent rates: per cycle of its phases 'filter' puts 0" in message
    )


@pytest.mark.parametrize("number", ["9223372036854775807", "9223372036854775808", "9" * 29])
@pytest.mark.parametrize("what", ['time="4"', 'rate="2"', 'initialTokens="1"'])
def test_huge_numbers_are_exact_or_refused(lpn, graph, what, number):
    path = graph((what, f'{what.partition("=")[0]}="{number}"'))
    answer = lpn("pi", "--loops", path, "--json")
    if answer.status == 2:
        answer.refused("E-dataflow")
    else:
        assert answer.json["result"] == "periodic"


def test_a_deadlock_is_a_result(lpn, graph):
    line = next(line for line in CAMERA.splitlines() if 'name="s2"' in line)
    dead = graph((line, line.replace('initialTokens="1"', "")))
    answer = lpn("pi", "--loops", dead, "--json")
    assert answer.status == 1
    found = answer.json
    assert (found["result"], found["period"]) == ("deadlocked", None)
    assert found["loop"] == [{"actor": "filter", "channel": "s2"}]
    assert "deadlocked" in lpn("pi", "--loops", dead).out
    front = lpn("pi", "--pareto", dead)
    assert front.status == 1 and "deadlocked with any capacities" in front.err


def test_nothing_bounds_a_graph_without_loops(lpn, graph):
    lines = [line for line in CAMERA.splitlines() if 'channel name="s' not in line]
    path = graph()
    path.write_text("\n".join(lines))
    answer = lpn("pi", "--loops", path, "--json")
    assert answer.status == 0 and answer.json["result"] == "unbounded"
    front = lpn("pi", "--pareto", path, "--limit", "0.2", "--json")
    assert front.status == 3 and not front.json["complete"] and len(front.json["points"]) > 3


def test_fractions_repeats_and_processors(lpn, graph):
    path = graph(
        ('time="5,2"', 'time="2*2.25"'),
        ('rate="3,1"', 'rate="2*2"'),
        (
            '<processor type="p" default="true"><executionTime time="4"/>',
            '<processor type="p" default="true"><executionTime time="9"/></processor>'
            '<processor type="q" default="true"><executionTime time="0.125"/></processor>'
            '<processor type="r"><executionTime time="99"/>',
        ),
        ('time="1"', 'time="0.5"'),
    )
    found = lpn("pi", "--loops", path, "--json").json
    assert found["period"] == "9/2" and found["repetitions"]["sensor"] == 1


def test_several_files_and_what_does_not_go_together(lpn, graph, tmp_path):
    a, b = graph(name="a.xml"), graph(('time="4"', 'time="5"'), name="b.xml")
    found = lpn("pi", "--loops", a, b, "--json").json["models"]
    assert [row["period"] for row in found] == ["8/1", "10/1"]
    cut = graph(("</sdf3>", ""), name="cut.xml")
    answer = lpn("pi", "--loops", a, cut, b, tmp_path / "none.xml", "--json")
    assert answer.status == 2 and [row["period"] for row in answer.json["models"]] == [
        "8/1",
        "10/1",
    ]
    assert [row["code"] for row in answer.json["refused"]] == ["E-dataflow", "E-input"]
    assert f"refused: {cut}:" in lpn("pi", "--loops", a, cut).out
    lpn("pi", "--pareto", a, b).refused("E-usage")
    lpn("pi", "--loops", a, "jpeg").refused("E-usage")
    lpn("pi", "--pareto", "jpeg").refused("E-usage")
    lpn("pi", "--loops", a, "-p", "n=1").refused("E-usage")
    for option in (["-o", tmp_path / "x.py"], ["--space", "n=1"], ["--resolution", "2"]):
        said = lpn("pi", "--loops", a, *option).refused("E-usage")
    assert "--resolution does nothing with --loops; leave it out" in said
    said = lpn("pi", "--loops", a, "--clock", "2").refused("E-usage")
    assert "--clock does nothing with --loops" in said


@pytest.mark.parametrize(
    "option",
    [("-p", "slots=3"), ("-o", "x.py"), ("--space", "n=2"), ("--fitted",), ("--plot", "x.svg")],
)
@pytest.mark.parametrize("way", ["--compare", "--evaluate"])
def test_what_does_nothing_with_interfaces_that_are_there_is_refused(lpn, tmp_path, way, option):
    """-p seemed to say which parameters the prediction is for."""
    path = tmp_path / "made.py"
    path.write_text("")
    words = [way, path, path] if way == "--compare" else [way, path, "input"]
    assert f"does nothing with {way}" in lpn("pi", *words, *option).refused("E-usage")


COUNTER = """lpn 1
net memory
type Token ()
type Row (n: 0..3)
place free : Token initial 4
place open : Token
place row : Row initial (0)

transition burst {{
  take at from row
  take slot from free
  delay lookup([20, 4, 4, 4], at.n)
  put open
  put row ((at.n + 1) % 4)
}}
transition send {{
  take word from open{}
  delay 7
  servers 1
  put free
}}
end
"""


def test_a_counter_gives_a_transition_phases(lpn, tmp_path):
    path = tmp_path / "memory.lpn"
    path.write_text(COUNTER.format(""))
    found = lpn("pi", path, "--loops", "--json").json
    assert (found["result"], found["period"]) == ("periodic", "32/1")
    gaps = {row["transition"]: row["gap"] for row in found["transitions"]}
    assert gaps == {"burst": [8, 1], "send": [8, 1]}
    assert {row["commits_per_round"] for row in found["transitions"]} == {4}


def test_a_net_that_deadlocks_or_reads_other_tokens(lpn, tmp_path):
    path = tmp_path / "memory.lpn"
    path.write_text(COUNTER.format(" weight 1 need 5"))
    answer = lpn("pi", path, "--loops")
    assert answer.status == 1 and answer.out.count("never") == 2
    assert lpn("pi", path, "--loops", "--json").json["result"] == "deadlocked"
    path.write_text(
        COUNTER.format("").replace("weight 1", "").replace("delay 7", "delay 7 + free(word)")
    )
    said = lpn("pi", path, "--loops").refused("E-pi")
    assert "transition 'send' has a delay that depends on how full a place is" in said
    path.write_text(COUNTER.format("").replace("(at.n + 1) % 4", "at.n + 1"))
    said = lpn("pi", path, "--loops").refused("E-pi")
    assert "transition 'burst' makes 4 of 'n' of its counter 'row', which is out of range" in said
    path.write_text(COUNTER.format("").replace("open : Token", "open : Token capacity 2 initial 3"))
    lpn("pi", path, "--loops").refused("E-capacity")
    path.write_text(COUNTER.format("").replace("initial (0)", "initial (0) times 2"))
    said = lpn("pi", path, "--loops").refused("E-pi")
    assert "transition 'burst' has a delay that depends on tokens of 'row'" in said


def test_pareto_says_what_capacities_cost(lpn, graph):
    found = lpn("pi", "--pareto", graph(), "--json").json
    assert found["channels"] == ["rows", "tiles"] and found["complete"]
    assert found["points"][0] == {"total": 7, "period": "15/1", "capacities": [3, 4]}
    assert found["points"][-1]["period"] == found["period"] == "8/1"
    assert json.dumps(found)
