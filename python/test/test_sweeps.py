"""sweeps: what the rows are, and how they are handed out."""

import lpn
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
