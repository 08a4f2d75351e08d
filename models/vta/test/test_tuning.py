"""lpn tune vta, and classes in the shape of MetaSchedule's."""

import json
from types import SimpleNamespace

import numpy
import pytest
from models.vta import isa, schedule

SMALL = "16x32x32"


def test_both_spellings_and_a_program_that_runs(command, tmp_path):
    stream, kept = tmp_path / "best.bin", tmp_path / "trials.jsonl"
    asked = ["matmul", "--shape", SMALL, "--strategy", "exhaustive", "--json"]
    first = command("tune", "vta", *asked, "--program", stream, "-o", kept)
    answer = json.loads(first.stdout)
    assert (
        answer["trials"] == answer["schedules"] == len(schedule.space(schedule.matmul(16, 32, 32)))
    )
    run = json.loads(command("sim", "vta", stream, "--engine", "interp", "--json").stdout)
    assert answer["best"]["latency"] == run["runs"][0]["latency"]
    again = json.loads(command("vta", "tune", *asked, "-o", kept).stdout)
    assert again == answer
    other = command("tune", "vta", "matmul", "--shape", "32x32x32", "-o", kept, status=2)
    assert other.stderr == (
        f"error: {kept} holds trials of something else; write to another file [E-tune-file]\n"
    )


def test_trials_of_another_model_are_refused(command, tmp_path):
    """A cost that the model does not give was believed, and another schedule called the best."""
    kept = tmp_path / "trials.jsonl"
    asked = ("tune", "vta", "matmul", "--shape", "16x16x16", "--trials", "4", "-o", kept)
    command(*asked)
    header, first, *others = kept.read_text(encoding="utf-8").splitlines()
    trial = json.loads(others[-1])
    others[-1] = json.dumps({**trial, "cost": 1})
    kept.write_text("\n".join([header, first, *others]) + "\n", encoding="utf-8")
    done = command(*asked, status=2)
    assert f"{kept}: its trial 4 says 1 clocks, and the model today" in done.stderr
    assert "write to another file [E-tune-file]" in done.stderr


def test_trials_of_another_version_are_refused(command, tmp_path):
    kept = tmp_path / "trials.jsonl"
    asked = ("tune", "vta", "matmul", "--shape", "16x16x16", "--trials", "4", "-o", kept)
    command(*asked)
    subject, *trials = kept.read_text(encoding="utf-8").splitlines()
    before = {**json.loads(subject), "source": "of last week"}
    kept.write_text("\n".join([json.dumps(before), *trials]) + "\n", encoding="utf-8")
    done = command(*asked, status=2)
    assert f"{kept} holds trials of something else" in done.stderr


def test_guided_finds_the_best_with_few(command, tmp_path):
    plot = tmp_path / "convergence.svg"
    asked = ["tune", "vta", "conv2d", "--shape", "8x8x32x64x3", "--stride", 2, "--pad", 1, "--json"]
    best = json.loads(command(*asked, "--trials", 24, "--plot", plot).stdout)["best"]
    assert best["latency"] <= 1.02 * 3295  # the exhaustive optimum
    assert plot.read_text().startswith("<?xml")


def test_channels_are_filled_up_and_tiles_need_not_divide(command):
    """Shapes that no multiple of 16 divides; the command runs the best schedule on numbers."""
    asked = ["tune", "vta", "matmul", "--shape", "13x20x40", "--strategy", "exhaustive"]
    shown = command(*asked, "--uneven").stdout
    assert "filled up with zeros: input channels from 20 to 32, output channels from 40 to 48" in (
        shown
    )
    assert shown.endswith("its outputs are right in all 6 orders of the units\n")
    even, uneven = (
        json.loads(command(*asked, *more, "--json").stdout) for more in ((), ("--uneven",))
    )
    assert even["schedules"] == len(schedule.space(schedule.matmul(13, 20, 40)))
    assert uneven["schedules"] == len(schedule.space(schedule.matmul(13, 20, 40), uneven=True))
    assert uneven["best"]["cost"] <= even["best"]["cost"]


def test_the_best_beside_a_poor_one(command, tmp_path):
    best, poor = tmp_path / "best.bin", tmp_path / "poor.bin"
    asked = ["tune", "vta", "matmul", "--shape", SMALL, "--strategy", "exhaustive"]
    shown = command(*asked, "--program", best, "--poor", poor, "--read-latency", 50).stdout
    assert shown.endswith(
        f"side by side: lpn viz vta {best} --versus {poor} -p read_latency=50 -o page.html\n"
    )
    run = command("sim", "vta", best, poor, "-p", "read_latency=50", "--engine", "interp", "--json")
    fast, slow = (row["latency"] for row in json.loads(run.stdout)["runs"])
    assert f"best: {fast:,} clocks".replace(",", " ") in shown and slow > 2 * fast


def test_no_schedule(command):
    asked = ["tune", "vta", "matmul", "--shape", "4000037x16x16"]
    assert command(*asked, status=1).stderr == (
        "no schedule fits into the accelerator's memories and 200 000 instructions; --uneven tries "
        "tiles that do not divide the shape too\n"
    )


def test_a_matrix_of_nothing_is_called_as_it_was_given(command):
    for shape, words in (("0x32x32", "m of"), ("32x0x32", "k of"), ("32x32x0", "n of")):
        said = command("tune", "vta", "matmul", "--shape", shape, status=2).stderr
        assert f"{words} M x K by K x N must be at least 1, got 0" in said


def test_refusals(command):
    for shape, words in (
        ("16x16x16x16x0", "k must be at least 1, got 0"),
        (
            "1x70000x16x16x1",
            "a row of inputs has 70000 elements in memory, more than a stride of "
            "16 bits can step over",
        ),
        ("9000x9000x999x16x1", "the inputs are 5103000000 elements, more than 32 bits can address"),
        ("40x40x16x16x40 --pad 16", None),
    ):
        wrong = command("tune", "vta", "conv2d", "--shape", *shape.split(), status=2)
        assert words is None or wrong.stderr == f"error: {words} [E-usage]\n"
    assert (
        "is not HxWxCIxCOxK" in command("tune", "vta", "conv2d", "--shape", "1x2", status=2).stderr
    )
    long = command("tune", "vta", "matmul", "--shape", "1600000000x16x16", status=2)
    assert "has a number of more than 9 digits" in long.stderr
    for option, code in (("--program", "E-input"), ("--plot", "E-plot")):
        early = command(
            *("tune", "vta", "matmul", "--shape", "16x16x16", option, "no/best.svg"), status=2
        )
        assert early.stderr == (
            f"error: cannot write no/best.svg: there is no folder no [{code}]\n"
        )
    assert "No such command 'jpeg'" in command("tune", "jpeg", status=2).stderr


@pytest.fixture
def artifacts(tmp_path):
    """Runner inputs of two schedules, the first the better one, and of two that are none."""
    conv = schedule.matmul(16, 32, 32)
    base = {"rows": 16, "columns": 1, "in_channels": 2, "order": "space", "kernel": "channels"}
    programs = [
        schedule.program(conv, {**base, "out_channels": 1, "threads": 2})[0],
        schedule.program(conv, {**base, "rows": 1, "out_channels": 1, "threads": 1})[0],
        isa.program([isa.encode(isa.LOAD_OP, mem=isa.UOP)]),
        isa.program([isa.encode(isa.LOAD_OP, pop_next=1), isa.encode(isa.FINISH_OP, pop_prev=1)]),
    ]
    paths = [tmp_path / f"{number}.bin" for number in range(len(programs))]
    for path, words in zip(paths, programs):
        path.write_bytes(isa.to_bytes(words))
    return [SimpleNamespace(artifact_path=str(path)) for path in paths], programs


def test_runner_and_cost_model(artifacts, tmp_path, vta):
    from models.vta.metaschedule import CostModel, Runner

    inputs, programs = artifacts
    futures = Runner(hertz=1e6, params={"read_latency": 30}).run(inputs)
    assert all(future.done() for future in futures)
    results = [future.result() for future in futures]
    fast, slow = (result.run_secs[0] * 1e6 for result in results[:2])
    assert round(fast) < round(slow) and results[0].error_msg is None
    assert results[2].run_secs is None and "no finish instruction" in results[2].error_msg
    assert results[3].error_msg.startswith("the program waits for ever: ")
    model = CostModel(lambda context, number: programs[number], params={"read_latency": 30})
    scores = model.predict(None, [1, 0, 2])
    assert scores.dtype == numpy.float64 and scores[1] == 1 and scores[2] == 0
    assert scores[0] == pytest.approx(fast / slow)
    model.update(None, [0], results)
    model.save(tmp_path / "model.json")
    other = CostModel(lambda context, number: programs[number])
    other.load(tmp_path / "model.json")
    assert numpy.array_equal(other.predict(None, [1, 0, 2]), scores)
