"""Clocks of the net, and steps of the alignments, against the RTL's."""

import json
import os
import subprocess
import sys

import pytest
from conftest import BUILD, TRUTH

lpn = pytest.importorskip("lpn")


def model():
    return lpn.load("darwin")


def predicted(row):
    """The net's clocks for a row."""
    entry, parameters, _ = model().module.truth(row)
    net = model().net(**parameters)
    marking = model().workload(f"{TRUTH / 'pairs.txt'}#{entry}", net)
    run = lpn.simulate(net, marking, engine="interp")
    assert not run.stalled
    return run.latency


def test_clocks_are_exact(rows):
    wrong = {
        (row["name"], row["num_pe"]): (predicted(row), int(row["cycles"]))
        for row in rows
        if predicted(row) != int(row["cycles"])
    }
    assert len(rows) >= 28 and wrong == {}


def test_steps_are_those_of_a_real_alignment(rows):
    """From the sequences alone, for every row whose sequences are at hand."""
    from models.darwin import align, pairs

    at_hand = {pair.name: pair for pair in pairs.read(TRUTH / "pairs.txt")}
    compared = 0
    for row in rows:
        pair = at_hand.get(row["name"])
        if pair is None or not int(row["align_fields"]) & 32:
            continue
        array = align.Array(int(row["num_pe"]))
        found = align.steps(
            pair.ref,
            pair.query,
            array,
            align.Scores(),
            int(row["align_fields"]),
            int(row["max_tb_steps"]),
        )
        assert found == (int(row["steps"]), row["tb_limit_hit"] == "1"), (row["name"], array)
        compared += 1
    assert compared >= 10


def test_the_reference_s_formula_is_answered(rows):
    """The reference's net is one delay for 320 bases, 4 elements and a finished traceback: 26086 + 3
    steps. It misses the RTL in every row, by 10 clocks where lengths and elements are its own.
    """
    own = [
        row
        for row in rows
        if (row["ref_len"], row["query_len"], row["num_pe"]) == ("320", "320", "4")
    ]
    assert own
    for row in rows:
        reference = 26086 + 3 * int(row["steps"])
        assert reference != int(row["cycles"])
        assert predicted(row) == int(row["cycles"])
        if row in own and int(row["align_fields"]) & 32:
            assert int(row["cycles"]) - reference == 10


def lpn_pi(*words):
    """What lpn pi prints."""
    command = [sys.executable, "-m", "lpn", "pi", *map(str, words)]
    env = {**os.environ, "PYTHONPATH": str(BUILD / "python")}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout


def test_an_interface_against_the_rtl(rows, tmp_path):
    """All references from 65 to 511 bases with queries of 320, on 64 elements."""
    path = tmp_path / "interface.py"
    bounds = ["ref_shortest=65", "ref_len=511"]
    lpn_pi("darwin", "-p", "elements=64", "--space", *bounds, "-o", path)
    inputs, measured = [], []
    for row in rows:
        entry, parameters, cycles = model().module.truth(row)
        if parameters == {"elements": 64, "max_tb_steps": 400, "align_fields": 32}:
            if row["query_len"] == "320":
                inputs.append(f"{TRUTH / 'pairs.txt'}#{entry}")
                measured.append(cycles)
    answer = json.loads(lpn_pi("--evaluate", path, "--model", "darwin", "--json", *inputs))
    assert measured
    assert [row["predicted"] for row in answer["rows"]] == measured
