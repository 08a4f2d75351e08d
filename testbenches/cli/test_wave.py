"""lpn wave: recorded waveforms."""

import re

import pytest
from conftest import REPO

PAGE = (REPO / "docs" / "cli.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"```text file=(fifo\S*)\n(.*?)```", PAGE, re.DOTALL))


@pytest.fixture
def fifo(tmp_path):
    """The files of the page."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_recording_from_stdin_says_the_same(lpn, fifo, run):
    import subprocess

    from conftest import BUILD

    from_file = lpn("wave", "stalls", fifo / "fifo.vcd", "--map", fifo / "fifo.toml", "--json")
    piped = subprocess.run(
        [BUILD / "bin" / "lpn", "wave", "stalls", "-", "--map", fifo / "fifo.toml", "--json"],
        input=(fifo / "fifo.vcd").read_bytes(),
        capture_output=True,
        check=True,
    )
    assert from_file.status == 0
    assert piped.stdout.decode().replace('"-"', f'"{fifo / "fifo.vcd"}"', 1) == from_file.out


def test_a_map_without_its_signal(lpn, fifo):
    text = (fifo / "fifo.toml").read_text().replace("tb.out_valid", "tb.out_vald")
    (fifo / "bad.toml").write_text(text)
    said = lpn("wave", "stalls", fifo / "fifo.vcd", "--map", fifo / "bad.toml").refused(
        "E-wave-map"
    )
    assert "channels.out" in said and "did you mean 'tb.out_valid'?" in said


def test_what_is_no_recording(lpn, fifo):
    said = lpn("wave", "channels", fifo / "fifo.toml").refused("E-wave")
    assert "fifo.toml, line 1, byte 0: 'clock" in said
    lpn("wave", "channels", fifo / "none.vcd").refused("E-wave")
    lpn("wave", "stalls", fifo / "none.vcd", "--map", fifo / "none.toml").refused("E-wave-map")
    lpn("wave", "stalls", fifo / "fifo.vcd").refused("E-usage")


def test_cut_off_before_its_first_instant(lpn, fifo):
    text = (fifo / "fifo.vcd").read_text()
    (fifo / "cut.vcd").write_text(text[: text.index("#5") + 1])
    whole = lpn("wave", "stalls", fifo / "cut.vcd", "--map", fifo / "fifo.toml")
    whole.refused("E-wave")


def test_x_and_z_are_told(lpn, fifo):
    text = (fifo / "fifo.vcd").read_text().replace("1& 0' b1 (", "x& 0' b1 (")
    (fifo / "x.vcd").write_text(text)
    answer = lpn("wave", "stalls", fifo / "x.vcd", "--map", fifo / "fifo.toml")
    assert answer.status == 0
    assert "note: out: x or z decides in 24 cycles, which count as none" in answer.err


def test_operations(lpn, fifo):
    (fifo / "busy.toml").write_text(
        'clock = "tb.clk"\nreset = "tb.rst"\n[channels.full]\nbusy = "!tb.in_ready"\n'
        '[channels.word]\nstart = "tb.in_valid"\ndone = ["tb.out_valid", "tb.out_ready"]\n'
    )
    answer = lpn("wave", "stalls", fifo / "fifo.vcd", "--map", fifo / "busy.toml", "--json")
    full, word = answer.json["channels"]
    assert full["transfers"] == 7 and full["duration"] == {"least": 2, "mean": 2.0, "most": 2}
    assert word["transfers"] == 7 and word["duration"]["most"] == 3
    table = lpn("wave", "stalls", fifo / "fifo.vcd", "--map", fifo / "busy.toml").out
    assert re.search(r"^full +7 .* 2 +2\.0 +2$", table, re.MULTILINE)


# lpn wave compare


def changed(fifo, name, *changes):
    """fifo.vcd with lines replaced, as a file."""
    text = (fifo / "fifo.vcd").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    (fifo / name).write_text(text)
    return fifo / name


def between(lpn, fifo, other, status):
    answer = lpn(
        *("wave", "compare", "--between", fifo / "fifo.vcd", other),
        *("--map", fifo / "fifo.toml", "--json"),
    )
    assert answer.status == status, answer.err
    return answer.json, {row["channel"]: row for row in answer.json["channels"]}


def test_a_payload_that_differs(lpn, fifo):
    other = changed(fifo, "other.vcd", ("0' b11 (", "0' b111 ("))
    found, rows = between(lpn, fifo, other, 1)
    assert found["first_divergence"] == {"cycle": 9, "channel": "out", "transfer": 2}
    assert rows["in"]["first_divergence"] is None and rows["out"]["different"] == 1
    assert rows["out"]["payload"] == [{"low": 3, "high": 0}, {"low": 7, "high": 0}]
    assert rows["out"]["cause"].startswith("the payload differs")


def test_nothing_to_compare_is_no_success(lpn, fifo):
    text = (fifo / "fifo.toml").read_text().replace('"tb.rst"', '"!tb.rst"')
    (fifo / "fifo.toml").write_text(text)
    answer = lpn(
        *("wave", "compare", "--between", fifo / "fifo.vcd", fifo / "fifo.vcd"),
        *("--map", fifo / "fifo.toml"),
    )
    assert answer.status == 3
    assert "note: there was nothing to compare: no transfer on any channel" in answer.err


def test_another_order(lpn, fifo):
    other = changed(fifo, "other.vcd", ("0' b11 (", "0' b0 ("), ("0' b100 (", "0' b11 ("))
    other.write_text(other.read_text().replace("0' b0 (", "0' b100 ("))
    _, rows = between(lpn, fifo, other, 1)
    assert rows["out"]["cause"].startswith("the order differs")


def test_a_recording_that_is_cut_off_is_equal_as_far_as_it_goes(lpn, fifo):
    text = (fifo / "fifo.vcd").read_text()
    (fifo / "cut.vcd").write_text(text[: text.index("#165") + 3])
    found, _ = between(lpn, fifo, fifo / "cut.vcd", 3)
    assert found["equal"] and not found["whole"] and found["first_divergence"] is None
    assert found["damage"][0] is None and "in the midst of a line" in found["damage"][1]


def test_a_recording_that_ends_sooner(lpn, fifo):
    text = (fifo / "fifo.vcd").read_text()
    (fifo / "short.vcd").write_text(text[: text.index("#165")])
    found, rows = between(lpn, fifo, fifo / "short.vcd", 1)
    assert found["first_divergence"] == {"cycle": 15, "channel": "out", "transfer": 4}
    assert rows["out"]["cycles"] == [15, None]
    assert rows["out"]["cause"] == "the first recording alone has it; the second ends at cycle 14"


def model(
    lpn, fifo, *more, words="[[1], [2], [3], [4], [5], [6], [7], [8]]", map="", vcd="fifo.vcd"
):
    (fifo / "words.json").write_text('{"words": %s}' % words)
    text = (fifo / "fifo_model.toml").read_text()
    (fifo / "m.toml").write_text(text + map)
    return lpn(
        *("wave", "compare", fifo / "fifo.py", fifo / "words.json", fifo / vcd),
        *("--map", fifo / "m.toml", *more),
    )


def test_a_payload_that_the_model_has_not(lpn, fifo):
    answer = model(lpn, fifo, words="[[1], [2], [9], [4], [5], [6], [7], [8]]")
    assert answer.status == 1
    assert "first difference: cycle 4, channel in, transfer 2" in answer.out
    assert "push: the payload differs: 9 in the model, 3 recorded" in answer.out
    answer = model(lpn, fifo, words="[[1], [2], [4], [3], [5], [6], [7], [8]]")
    assert (
        "push: the order differs: 3 recorded, 4 in the model; the firing with 3 comes 1 place sooner "
        "than in the model; -3 to 3 cycles late from here on, each against its own firing\n"
    ) in answer.out


def test_more_firings_than_transfers(lpn, fifo):
    answer = model(lpn, fifo, "--json", words=str([[k] for k in range(1, 11)]))
    push, pop = answer.json["transitions"]
    assert answer.status == 1
    assert push["cause"] == "the model fires at cycle 22, the recording has no transfer any more"
    assert "and ends at cycle 26" in pop["cause"]
    fewer = model(lpn, fifo, "--json", words="[[1], [2]]")
    assert "the model fires no more" in fewer.json["transitions"][0]["cause"]


def test_late_by_a_constant(lpn, fifo):
    answer = model(lpn, fifo, map="offset = -2\n")  # of pop, the last table
    assert answer.status == 1
    assert "pop: 2 cycles late by a constant from here on (8 firings)" in answer.out
    said = model(lpn, fifo, map='offset = "1 + slow"\n').refused("E-wave-map")
    assert "transitions.pop.offset: the net has no parameter 'slow'" in said
    assert "a sum with parameters" in model(lpn, fifo, map='offset = "a*b"\n').refused("E-wave-map")


def test_what_does_not_fit(lpn, fifo):
    files = ("--between", fifo / "fifo.vcd", fifo / "fifo.vcd", "--map", fifo / "fifo.toml")
    lpn("wave", "compare", "jpeg", *files).refused("E-usage")
    lpn("wave", "compare", *files, "-p", "a=1").refused("E-usage")
    lpn("wave", "compare", "--map", fifo / "fifo.toml").refused("E-usage")
    words = (fifo / "fifo.py", fifo / "words.json", fifo / "fifo.vcd")
    said = lpn("wave", "compare", *words, "--map", fifo / "fifo.toml").refused("E-wave-map")
    assert "does not say which transfers are firings" in said
    said = model(lpn, fifo, map='\n[transitions.pup]\nchannel = "out"\n').refused("E-wave-map")
    assert "the net has no transition 'pup'; did you mean 'pop'?" in said
    text = '\n[transitions.pop2]\nof = "pop"\nchannel = "in"\npayload = { data = "word.data" }\n'
    answer = model(lpn, fifo, "--json", map=text)
    assert (
        answer.json["transitions"][2]["worst_error"] == 5
    )  # the words that pop takes were forwarded
    assert "payload" not in answer.json["transitions"][2]["cause"]
    said = model(lpn, fifo, map=text.replace("word.data", "words.data")).refused("E-wave-map")
    assert "payload is \"arc.property\" of 'pop', not 'words.data'" in said
    said = model(lpn, fifo, map=text.replace("word.data", "word.size")).refused("E-wave-map")
    assert "not 'word.size'; the tokens of 'word' have data" in said


def test_two_signals_of_one_name_are_told_apart_or_refused(lpn, fifo):
    """Of two signals with one name the first was taken; of two fields with one name the last."""
    text = (fifo / "fifo.vcd").read_text()
    twice = text.replace("$upscope", "$var wire 1 + out_valid $end\n$upscope", 1)
    (fifo / "twice.vcd").write_text(twice)
    said = lpn("wave", "stalls", fifo / "twice.vcd", "--map", fifo / "fifo.toml")
    assert "channels.out: " in said.refused("E-wave-map")
    assert "declares 'tb.out_valid' twice, as different signals" in said.err
    same = text.replace("$upscope", "$var wire 1 & out_valid $end\n$upscope", 1)
    (fifo / "same.vcd").write_text(same)
    assert lpn("wave", "stalls", fifo / "same.vcd", "--map", fifo / "fifo.toml").status == 0
    (fifo / "fields.toml").write_text(
        'clock = "tb.clk"\n[channels.in]\nvalid = "tb.in_valid"\npayload = ["a.data", "b.data"]\n'
    )
    said = lpn("wave", "stalls", fifo / "fifo.vcd", "--map", fifo / "fields.toml")
    assert "channels.in.payload has two signals 'data'" in said.refused("E-wave-map")


def test_an_edge_without_its_clock(lpn, fifo):
    """It did nothing, and the rising edge counted."""
    (fifo / "edge.toml").write_text(
        'edge = "falling"\n[clocks]\nmain = "tb.clk"\n[channels.in]\nvalid = "tb.in_valid"\n'
    )
    said = lpn("wave", "stalls", fifo / "fifo.vcd", "--map", fifo / "edge.toml")
    assert "edge is that of clock" in said.refused("E-wave-map")


def test_an_engine_is_of_a_model(lpn, fifo):
    file = fifo / "fifo.vcd"
    words = ["--between", file, file, "--map", fifo / "fifo.toml"]
    assert lpn("wave", "compare", *words).status == 0
    said = lpn("wave", "compare", *words, "--engine", "interp").refused("E-usage")
    assert "--engine does nothing with --between" in said
