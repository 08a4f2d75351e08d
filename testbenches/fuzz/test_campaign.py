"""A campaign is recorded unit by unit, stops cleanly, and goes on where it was."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import campaign

BUILD = Path(os.environ["LPN_BUILD"])
PROGRAM = [sys.executable, str(Path(campaign.__file__))]


def run(state, *more):
    command = [*PROGRAM, "run", "--build", str(BUILD), "--state", str(state), "--modes", "interp"]
    return [*command, "--nice", "0", "--found", str(state / "found"), *more]


def units(state):
    return [json.loads(line) for line in (state / "units.jsonl").read_text().splitlines()]


def test_goes_on_where_it_was(tmp_path):
    asked = ("--unit-nets", "20", "--nets", "60")
    first = subprocess.run(run(tmp_path, *asked, "--units", "1"), capture_output=True, text=True)
    assert first.returncode == 0, first.stdout + first.stderr
    assert [u["unit"] for u in units(tmp_path)] == [0]
    second = subprocess.run(run(tmp_path, *asked), capture_output=True, text=True)
    assert second.returncode == 0, second.stdout + second.stderr
    done = units(tmp_path)
    modes = len(campaign.MODES)
    assert sorted(u["unit"] for u in done) == [0, modes, 2 * modes]
    assert {u["profile"] for u in done} == {"usual", "ties", "far"}
    assert [u["nets"] for u in done] == [20, 20, 20] and all(u["runs"] > 20 for u in done)
    assert "60 nets of 60 asked (100.00 %): 0 compiled" in second.stdout
    table = subprocess.run(
        [*PROGRAM, "table", "--state", str(tmp_path), "--nets", "240"],
        capture_output=True,
        text=True,
    )
    assert "60 nets of 240 asked (25.00 %)" in table.stdout


def test_interrupted_it_leaves_no_process_and_no_half_record(tmp_path):
    asked = ("--unit-nets", "300000", "--jobs", "1")
    process = subprocess.Popen(run(tmp_path, *asked), stdout=subprocess.PIPE, text=True)
    scratch = tmp_path / "tmp/0"
    for _ in range(200):
        if scratch.exists():
            break
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert "0 nets of 1,000,000 asked" in out
    assert not (tmp_path / "units.jsonl").exists()
    assert not scratch.exists()
    left = subprocess.run(["pgrep", "-f", str(tmp_path)], capture_output=True, text=True)
    assert left.stdout == ""


def test_a_line_cut_short_and_a_program_that_dies(tmp_path):
    (tmp_path / "units.jsonl").write_text('{"unit": 0, "mode": "inte')
    assert campaign.read_state(tmp_path) == []
    unit = {**campaign.unit_of(0), "seed": 1}
    assert campaign.read_output(unit, "Segmentation fault") is None
    said = "runs: 59 on 20 nets (1 discarded)\n0 differences\n"
    assert campaign.read_output(unit, said) == (20, 59, 0)


FUZZ = BUILD / "testbenches/fuzz/lpn_fuzz"


def test_a_net_that_takes_all_memory_is_no_difference():
    asked = ["--mode", "interp", "--profile", "counts", "--nets", "200", "--memory", "20"]
    done = subprocess.run([FUZZ, *asked], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"out of memory: (\d+)", done.stdout)[1]) > 0
    assert "bad_alloc" not in done.stderr and "\n0 differences\n" in done.stdout


def test_terminated_while_it_shrinks_it_stops_and_prints_what_it_has(tmp_path):
    """A compiler that fails, which is a finding, and does not come back when asked about smaller ones."""
    compiler, failed, asked = tmp_path / "cxx", tmp_path / "failed", tmp_path / "asked"
    compiler.write_text(
        f"#!/bin/sh\nif [ ! -e {failed} ]; then touch {failed}; exit 1; fi\n"
        f"echo $$ > {asked}.new; mv {asked}.new {asked}\nexec sleep 1000\n",
        encoding="utf-8",
    )
    compiler.chmod(0o755)
    process = subprocess.Popen(
        [FUZZ, "--mode", "plain", "--nets", "1", "--stop", "1"],
        env={**os.environ, "LPN_CXX": str(compiler), "LPN_CACHE": str(tmp_path / "cache")},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        while not asked.exists():
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=60)
    finally:
        if process.poll() is None:
            process.kill()
    assert process.returncode == 1 and "1 differences" in out and "transition" in out
    compiling = Path("/proc") / asked.read_text().strip() / "cmdline"
    for _ in range(200):
        if not compiling.exists() or compiling.read_bytes() == b"":  # ended, if not yet waited for
            break
        time.sleep(0.05)
    else:
        raise AssertionError("its compiler goes on")
