"""Inputs: examples run, what is wrong is said, proofs hold."""

import json
from pathlib import Path

import pytest

lpn = pytest.importorskip("lpn")
runs = pytest.importorskip("lpn.runs")

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
MODEL = lpn.load("dma")


def warnings(net):
    net.done()
    return [str(warning.message) for warning in net.core.lint()]


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.json")), ids=lambda path: path.stem)
def test_examples_run_to_their_end_without_a_warning(path):
    ready = runs.prepare(MODEL, str(path), {}, "interp")
    assert warnings(ready.net) == []
    run = ready.run()
    assert not run.stalled and run.latency > 0


@pytest.mark.parametrize("mover", [0, 1, 2])
@pytest.mark.parametrize("memory_latency", [0, 7])
def test_the_plain_nets_have_no_warning(mover, memory_latency):
    assert warnings(MODEL.net(mover=mover, memory_latency=memory_latency)) == []


def descriptor(**values):
    return {"design": "axi_cdma", "descriptors": [{"addr": 0, "len": 4, **values}]}


def config(design="axi_cdma", **values):
    body = {"descriptors": [{"addr": 0, "len": 4}]}
    if design in ("axi_fifo", "axi_crossbar"):
        body = {"masters": [{"reads": [{"addr": 0, "beats": 1}]}] * (2 if "bar" in design else 1)}
    return {"design": design, "config": values, **body}


WRONG = [
    ({}, "there is no design None; there are: axi_cdma, axi_dma_rd, axi_dma_wr, axi_fifo"),
    ({"design": ["axi_cdma"]}, "there is no design ['axi_cdma']"),
    ({"design": "axi_cdma"}, "'descriptors' must be a list with at least one"),
    ({"design": "axi_cdma", "descriptors": [1]}, "descriptor 0: it must be an object"),
    (descriptor(len=0), "'len' must be a whole number 1..1048575, got 0"),
    (descriptor(len=True), "'len' must be a whole number"),
    (descriptor(addr=-1), "'addr' must be a whole number 0..4294967295, got -1"),
    (descriptor(addr=2**32 - 3), "descriptor 0: 'addr' + 'len' reaches beyond 4294967295"),
    (descriptor(write_addr=2**32 - 1), "'write_addr' + 'len' reaches beyond 4294967295"),
    (descriptor(gap="1"), "'gap' must be a whole number"),
    (config(data_widht=32), "config has no 'data_widht'; it has: data_width, max_burst_len"),
    (
        config(data_width=48),
        "'data_width' must be one of 8, 16, 32, 64, 128, 256, 512, 1024, got 48",
    ),
    (config(max_burst_len=0), "'max_burst_len' must be a whole number 1..256, got 0"),
    (config(memory="dram"), "'memory' must be one of axi_ram, delay, got 'dram'"),
    (config(memory="delay"), "the memory 'delay' needs a memory_latency of at least 1"),
    (config(stream_active=[2, 1]), "'stream_active' must be a whole number 1..1, got 2"),
    (config(stream_active=3), "'stream_active' must be [n, d], got 3"),
    (config("axi_fifo", read_depth=33), "'read_depth' must be one of 2, 4, 8,"),
    (config("axi_crossbar", masters=3), "'masters' must be a list of 3, as the config says"),
    (config("axi_crossbar", registers="none on S_R"), "S_R without a register is not modelled"),
    (config("axi_crossbar", registers="fast"), "'registers' must be 'default', or as 'skid on"),
    (config("axi_crossbar", s_threads=40), "'s_threads' must be a whole number 1..16, got 40"),
    ({"design": "axi_crossbar", "config": 1}, "'config' must be an object, {...}"),
    ({"design": "axi_fifo", "masters": [{}]}, "no master has a burst in 'reads' or 'writes'"),
    (
        {"design": "axi_fifo", "masters": [{"reads": [{"addr": 0}]}]},
        "reads 0: 'beats' must be a whole",
    ),
    (
        {"design": "axi_crossbar", "masters": [{"reads": [{"addr": 2**17, "beats": 1}]}, {}]},
        "'addr' must be a whole number 0..131071, got 131072",
    ),
    # What nothing read had no effect.
    ({**descriptor(), "descriptor": []}, "there is no 'descriptor'; known are: run, design, con"),
    ({**descriptor(), "masters": []}, "there is no 'masters'; known are: run, design, config"),
    (descriptor(wait=1), "descriptor 0: there is no 'wait'; known are: gap, addr, write_addr, len"),
    (
        {"design": "axi_dma_rd", "descriptors": [{"addr": 0, "len": 4, "write_addr": 8}]},
        "descriptor 0: 'write_addr' is of axi_cdma; leave it out",
    ),
    (config(stream_active=[1, 2]), "'stream_active' is of axi_dma_rd and axi_dma_wr; leave it out"),
    (config(memory_latency=9), "'memory_latency' is not of the memory 'axi_ram'; leave it out"),
    (
        config(memory="delay", memory_latency=9, ram_pipeline_output=1),
        "'ram_pipeline_output' is not of the memory 'delay'; leave it out",
    ),
    ({"design": "axi_fifo", "masters": [{"read": []}]}, "master 0: there is no 'read'; known are"),
    (
        {"design": "axi_fifo", "masters": [{"reads": [{"addr": 0, "beats": 1, "at": 3}]}]},
        "reads 0: there is no 'at'; known are: t, addr, beats, id",
    ),
]


def test_two_runs_of_one_name_are_refused(tmp_path):
    """The first of them was run."""
    path = tmp_path / "runs.jsonl"
    path.write_text(2 * (json.dumps({"run": "a", **descriptor()}) + "\n"))
    with pytest.raises(lpn.Error, match="has 2 runs 'a'; give each a name of its own"):
        runs.prepare(MODEL, f"{path}#a", {}, "interp")


@pytest.mark.parametrize("given, text", WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_with_an_input_is_said(tmp_path, given, text):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(given))
    with pytest.raises(lpn.Error) as error:
        runs.prepare(MODEL, str(path), {}, "interp")
    assert error.value.code == "E-input" and text in str(error.value)
    assert str(error.value).startswith(f"{path}: ")


def test_a_descriptor_may_end_at_the_last_address():
    given = descriptor(addr=2**32 - 4, write_addr=2**32 - 4)
    assert runs.prepare(MODEL, given, {}, "interp").run().latency == 9 + 1


def test_a_width_of_the_command_line_is_that_of_the_file():
    """Of axi_dma_wr too, whose stream has as many words as its bus makes of a packet."""
    given = str(EXAMPLES / "stream_in.json")
    narrow = json.loads(Path(given).read_text())
    narrow["config"]["data_width"] = 64
    expected = runs.prepare(MODEL, narrow, {}, "interp").run()
    assert runs.prepare(MODEL, given, {"width": 8}, "interp").run().latency == expected.latency
    with pytest.raises(lpn.Error, match="width must be a power of two, got 3") as error:
        runs.prepare(MODEL, given, {"width": 3}, "interp").run()
    assert error.value.code == "E-param"
    with pytest.raises(lpn.Error, match="width must be a power of two, got 12"):
        MODEL.space(MODEL.net(width=12))


def test_a_sweep_runs_the_net_of_its_input(tmp_path):
    """Not the net without an input, which has another mover or memory."""
    copies = json.loads((EXAMPLES / "copy.json").read_text())
    copies["config"].update(memory="delay", memory_latency=50)
    path = tmp_path / "copy.json"
    path.write_text(json.dumps(copies))
    for given, values in ((path, [4, 8]), (EXAMPLES / "stream_in.json", [8, 16])):
        rows = lpn.sweep("dma", [str(given)], {"width": values}, engine="interp")
        for row, width in zip(rows, values):
            run = runs.prepare(MODEL, str(given), {"width": width}, "interp").run()
            assert row["latency"] == run.latency
    with pytest.raises(lpn.Error, match="follows its input; sweep one input at a time"):
        lpn.sweep("dma", [str(path), str(EXAMPLES / "copy.json")], {"width": [4]}, engine="interp")
    with pytest.raises(lpn.Error, match="no parameter 'foo' for this input"):
        lpn.sweep("dma", [str(path)], {"foo": [4]}, engine="interp")


def test_files_that_are_no_runs(tmp_path):
    for content, text in (("{", "is not JSON"), ("[]", "must be a run"), ("\xff", "is not JSON")):
        path = tmp_path / "run.json"
        path.write_text(content, encoding="utf-8")
        with pytest.raises(lpn.Error, match=text):
            runs.prepare(MODEL, str(path), {}, "interp")
    with pytest.raises(lpn.Error, match="cannot read"):
        runs.prepare(MODEL, str(tmp_path / "none.json"), {}, "interp")


def test_one_run_of_a_file_of_many(tmp_path):
    path = tmp_path / "runs.jsonl"
    lines = [{"run": name, **descriptor(len=n)} for name, n in (("a", 4), ("b", 8))]
    path.write_text("\n".join(map(json.dumps, lines)))
    assert runs.prepare(MODEL, f"{path}#b", {}, "interp").run().latency == 11
    with pytest.raises(lpn.Error, match=r"has no run 'c'; it has a, b, \.\.\. \(2\)"):
        runs.prepare(MODEL, f"{path}#c", {}, "interp")


def test_a_truth_without_cycles_is_refused(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text(json.dumps({"run": "a", **descriptor()}))
    with pytest.raises(lpn.Error, match="a has no 'cycles_total'"):
        list(MODEL.module.truth_rows(str(path)))
    broken = {"run": "a", "cycles_total": 9, "read_bursts": [{"ar": 1}], **descriptor()}
    path.write_text(json.dumps(broken))
    with pytest.raises(lpn.Error, match="what was measured of a cannot be read"):
        list(MODEL.module.truth_rows(str(path)))


def test_the_slowest_descriptor_is_proved_and_is_one_that_takes_so_long():
    """Up to 16 bytes at any alignment: what is proved is the largest of all runs."""
    net = MODEL.net()
    space = MODEL.space(net, len=(1, 16))
    found = lpn.maximize(space)
    assert found.upper == found.lower == 15
    slowest = max(
        runs.prepare(net, space.marking(values)).run().latency for values in space.inputs()
    )
    assert slowest == 15


def test_a_witness_runs_in_the_net_that_it_is_of(tmp_path):
    """The file of `lpn smt --witness` is a marking, of no input of the model's own."""
    net = MODEL.net(mover=1)
    space = MODEL.space(net, len=(1, 16))
    found = lpn.maximize(space)
    path = tmp_path / "worst.lpnm"
    space.marking(found.witness).save(str(path))
    run = runs.prepare(MODEL, str(path), {"mover": 1}, "interp").run()
    assert run.latency == found.upper == 10
