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
    assert "note: out: x or z decides in 21 cycles, which count as none" in answer.err


def test_operations(lpn, fifo):
    (fifo / "busy.toml").write_text(
        'clock = "tb.clk"\nreset = "tb.rst"\n[channels.full]\nbusy = "!tb.in_ready"\n'
        '[channels.word]\nstart = "tb.in_valid"\ndone = ["tb.out_valid", "tb.out_ready"]\n'
    )
    answer = lpn("wave", "stalls", fifo / "fifo.vcd", "--map", fifo / "busy.toml", "--json")
    full, word = answer.json["channels"]
    assert full["transfers"] == 6 and full["duration"] == {"least": 2, "mean": 2.0, "most": 2}
    assert word["transfers"] == 7 and word["duration"]["most"] == 3
    table = lpn("wave", "stalls", fifo / "fifo.vcd", "--map", fifo / "busy.toml").out
    assert re.search(r"^full +7 .* 2 +2\.0 +2$", table, re.MULTILINE)
