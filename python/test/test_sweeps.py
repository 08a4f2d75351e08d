"""sweeps: what the rows are, and how they are handed out."""

import sys
from pathlib import Path

import lpn
import pytest
from lpn.sweeps.definition import Definition, whole_values
from lpn.sweeps.identity import identity_of
from lpn.sweeps.points import Answer
from lpn.sweeps.queue import Queue


def rows_of(task):
    return [row for part in task.parts for row, _ in part.points]


def test_values():
    assert whole_values("1,2,8:64:28", "x") == [1, 2, 8, 36, 64]


def test_points_times_inputs(pipe):
    definition = Definition(pipe, ["3", "4"], {"slots": [1, 2], "lanes": [1, 2]}, engine="interp")
    assert len(definition) == 8 and definition.swept() == ["slots", "lanes"]
    assert len(definition.variants) == 2  # `lanes` is an argument of net()
    assert definition.where(3) == (1, 1) and definition.bound(3) == {"slots": 1}
    assert definition.vector(3) == [1, 3]
    row = definition.row(3, {"latency": 9})
    assert (row["input"], row["parameters"], row["latency"], row["code"]) == (
        "4",
        {"slots": 1, "lanes": 2},
        9,
        None,
    )


def test_the_net_first_then_an_input_then_its_other_rows(pipe):
    definition = Definition(pipe, ["3"], {"slots": [1, 2], "work": [2, 3]}, engine="interp")
    waiting = Queue(definition, range(4), 0.1, lambda: 1)
    build = waiting.take()
    assert build.parts == [] and waiting.take() is None
    assert list(waiting.answered(build, [])) == []
    first = waiting.take()
    [part] = first.parts
    assert part.source is None and rows_of(first) == [0, 1]
    assert waiting.take() is None  # the others wait until the input is parsed
    # It was parsed for slots=1, which it read, so that it has to be parsed again for slots=2.
    done = [{"row": 0, "latency": 7}]
    answer = Answer(done, [1], {"slots": 1}, ("key", None), None, 0.01, 0.01)
    assert list(waiting.answered(first, [answer])) == [(0, done[0])]
    again, other = waiting.take(), waiting.take()
    sources = {tuple(rows_of(task)): task.parts[0].source for task in (again, other)}
    assert sources == {(2, 3): None, (1,): ("key", None)}


def test_an_input_is_parsed_again_for_what_it_reads(pipe):
    rows = lpn.sweep(pipe, ["slots"], {"slots": [1, 2], "work": [2, 3]}, engine="interp", jobs=1)
    assert [row["done_tokens"] for row in rows] == [1, 1, 2, 2]


def test_identity(pipe):
    def of(**change):
        return identity_of(Definition(pipe, ["3"], {"slots": [1, 2]}, **change))

    assert of() == of(engine="interp")
    assert {k for k, v in of().items() if of(limit=5)[k] != v} == {"limit"}


def test_comments_change_no_identity(pipe, tmp_path):
    moved = tmp_path / "moved" / "pipe.py"
    moved.parent.mkdir()
    text = open(pipe, encoding="utf-8").read()
    moved.write_text("# Some words.\n\n" + text)
    assert identity_of(Definition(pipe, ["3"])) == identity_of(Definition(str(moved), ["3"]))
    moved.write_text(text.replace("servers=lanes", "servers=lanes + 1"))
    changed = identity_of(Definition(str(moved), ["3"]))
    assert changed["net"] != identity_of(Definition(pipe, ["3"]))["net"]


@pytest.fixture
def helped(tmp_path, monkeypatch):
    """A folder with model.py, whose workload imports a helper of a package, which imports another."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "model.py").write_text(
        "import json\nimport lpn\n\n\ndef net():\n    net = lpn.Net('n')\n"
        "    net.transition('t', take={'x': net.place('a', start=True)}, delay=1, servers=1)\n"
        "    return net\n\n\ndef workload(input, net):\n    from swept_tools.counting import many\n"
        "    marking = lpn.Marking(net)\n    marking.add('a', count=many())\n    return marking\n"
    )
    package = tmp_path / "swept_tools"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "counting.py").write_text(
        "def many():\n    from . import constants as c\n    return c.N\n"
    )
    (package / "constants.py").write_text("N = 3\n")
    (tmp_path / "in.txt").write_text("x")
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("swept_tools")]:
        del sys.modules[name]


def identity_in(folder, input="in.txt"):
    return identity_of(Definition(str(folder / "model.py"), [str(folder / input)]))


@pytest.mark.parametrize("file", ["counting.py", "constants.py", "__init__.py"])
def test_another_helper_of_the_model_is_another_sweep(helped, file):
    before = identity_in(helped)
    path = helped / "swept_tools" / file
    path.write_text("# a remark\n" + path.read_text())
    assert identity_in(helped) == before
    path.write_text(path.read_text() + "more = 1\n")
    assert {k for k, v in identity_in(helped).items() if before[k] != v} == {"workload"}


READS = {
    "beside": "HERE / 'costs.json'",
    "a pattern": "next(HERE.glob('*.json'))",
    "in a folder": "HERE / 'tables' / 'costs.json'",
    "by a parameter": "HERE / 'tables' / f'{kind}.json'",
    "below a folder": "HERE / 'tables' / kind / 'now.json'",
    "declared": "HERE / (kind + '.json')\nmade_of = [FILE]",
}


@pytest.mark.parametrize("way", READS)
def test_data_files_that_a_model_names_belong_to_it(helped, way):
    """Its workload may read them, of which nothing is in the net's text."""
    model = helped / "model.py"
    model.write_text(
        f"from pathlib import Path\n\nHERE, kind = Path(__file__).parent, 'costs'\nFILE = {READS[way]}\n"
        + model.read_text().replace("count=many()", "count=json.loads(FILE.read_text())['n']")
    )
    (helped / "tables" / "costs").mkdir(parents=True)
    for path in ("costs.json", "tables/costs.json", "tables/costs/now.json"):
        (helped / path).write_text('{"n": 3}')
    scope = {"__file__": str(model)}
    exec(model.read_text(), scope)

    def rows():
        return lpn.sweep(str(model), str(helped / "in.txt"), csv=helped / "rows.csv", jobs=1)

    assert rows()[0]["firings"] == 3
    before = identity_in(helped)
    assert rows() == rows()
    # What is none of the model's, and what it writes.
    (helped / "page.html").write_text("page")
    (helped / "trace.jsonl").write_text("trace")
    (helped / "tables" / "notes.txt").write_text("notes")
    (helped / "__pycache__").mkdir(exist_ok=True)
    (helped / "__pycache__" / "model.json").write_text("{}")
    assert identity_in(helped) == before
    scope["FILE"].write_text('{"n": 4}')
    assert {k for k, v in identity_in(helped).items() if before[k] != v} == {"workload"}
    with pytest.raises(lpn.Error, match="has rows of another sweep"):
        rows()


def test_a_sweep_goes_on_though_the_model_names_its_table(helped):
    model = helped / "model.py"
    model.write_text(
        model.read_text().replace("many()", "2")
        + "\n\nTABLE = 'rows.csv'\n\n\ndef log(here):\n    open(here + 'log.txt', mode='a')\n"
        + "    (here / 'told.txt').write_text('')\n\n\nif __name__ == '__main__':\n    print('plot.svg')\n"
    )

    def sweep(inputs):
        return lpn.sweep(str(model), inputs, {"x": [1]}, csv=helped / "rows.csv", jobs=1)

    model.write_text(model.read_text().replace("def net():", "def net(x=1):"))
    first = sweep(str(helped / "in.txt"))
    for written in ("plot.svg", "log.txt", "told.txt"):
        (helped / written).write_text("written since")
    assert sweep(str(helped / "in.txt")) == first


def test_data_files_that_change_places_are_others(helped):
    (helped / "a.json").write_text("1")
    (helped / "b.json").write_text("2")
    (helped / "model.py").write_text(
        (helped / "model.py").read_text() + "\n\nDATA = 'a.json', 'b.json'\n"
    )
    before = identity_in(helped)
    (helped / "a.json").write_text("2")
    (helped / "b.json").write_text("1")
    assert identity_in(helped) != before


def test_a_system_is_its_file_and_the_python_of_its_accelerator(helped):
    """What a system's file says of traffic is in no net's text."""
    demo = Path(__file__).parents[2] / "models" / "system" / "demo" / "vta.toml"
    (helped / "own.toml").write_text(demo.read_text())

    def of():
        return identity_of(Definition(str(helped / "own.toml"), [str(helped / "in.txt")]))

    before = of()
    (helped / "own.toml").write_text(demo.read_text() + "\n# more\n")
    assert {k for k, v in of().items() if before[k] != v} == {"workload"}
    assert any(path.endswith("vta/model.py") for path, _ in lpn.load(str(demo)).files)


@pytest.mark.parametrize("text", ['{"data": "d/b.bin"}', "# file: d/b.bin\n", 'import "d/b.bin";'])
def test_what_an_input_names_is_part_of_it(helped, text):
    (helped / "d").mkdir()
    (helped / "d" / "b.bin").write_bytes(b"\0\1")
    (helped / "job.json").write_text(text)
    before = identity_in(helped, "job.json")
    assert identity_in(helped, "job.json") == before
    (helped / "d" / "b.bin").write_bytes(b"\0\2")
    changed = identity_in(helped, "job.json")
    assert {k for k, v in changed.items() if before[k] != v} == {"input_data"}


def test_part_of_a_file_is_another_one_when_the_file_is(helped):
    before = identity_in(helped, "in.txt#3")
    assert before != identity_in(helped, "in.txt#4")
    (helped / "in.txt").write_text("y")
    after = identity_in(helped, "in.txt#3")
    assert {k for k, v in after.items() if before[k] != v} == {"input_data"}
