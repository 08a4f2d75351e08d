"""First and last beat out of every packet against the RTL's."""

import json
import os
import subprocess
import sys

import pytest
from conftest import BUILD, TRUTH

lpn = pytest.importorskip("lpn")

# What the project asks for; the model is exact on all of these.
MEAN_ERROR, WORST_ERROR, WITHIN_2 = 0.003, 0.02, 0.95


def predicted(stream):
    from lpn.runs import prepare

    model = lpn.load("menshen")
    net = model.net()
    run = prepare(net, model.workload(stream, net)).run(collect=["begun", "sent"])
    assert not run.stalled, str(stream)
    clocks = []
    for place in ("begun", "sent"):
        values, times = run.collected[place]
        clocks.append([time for _, time in sorted(zip(values, times))])
    assert run.latency == max(clocks[1])
    return clocks


def test_every_packet_leaves_when_the_rtl_sends_it(measured):
    errors, near, packets, wrong = [], 0, 0, []
    for stream, first, last in measured:
        found = predicted(stream)
        errors.append(abs(found[1][-1] - last[-1]) / last[-1])
        near += sum(abs(a - b) <= 2 for a, b in zip(found[1], last))
        packets += len(last)
        if found != [first, last]:
            wrong.append(str(stream))
    assert len(errors) >= 40
    assert sum(errors) / len(errors) <= MEAN_ERROR and max(errors) <= WORST_ERROR
    assert near >= WITHIN_2 * packets
    # Exact so far; whoever changes that should do so knowingly.
    assert wrong == []


def reference(beats):
    """The last commit of the reference's net for data packets at full rate (truth/ltc/MODELS.md): a
    packet every W + 2 clocks through filter and arbiter, wherever it is sent; no FIFO has an end.
    """
    return sum(count + 2 for count in beats)


def test_the_reference_s_rate_is_answered(measured):
    """The reference's net takes W + 2 clocks for a packet of W beats, the RTL W from 3 on."""
    full = [row for row in measured if str(row[0]).startswith("B_") and len(row[0].lengths) >= 32]
    assert full
    for stream, _, last in full:
        beats = [-(-length // 64) for length in stream.lengths]
        if min(beats) >= 3:
            assert reference(beats) > 1.08 * (last[-1] - 105)
            assert predicted(stream)[1][-1] == last[-1]


def test_the_reference_s_input_list(measured):
    """Its 5 and 25 beats are the stream T0, which the RTL sends by clock 142."""
    stream, first, last = next(row for row in measured if str(row[0]) == "T0")
    assert [-(-length // 64) for length in stream.lengths] == [5, 25]
    assert predicted(stream) == [first, last] == [[105, 118], [109, 142]]


def lpn_pi(*words):
    """What lpn pi prints."""
    command = [sys.executable, "-m", "lpn", "pi", *map(str, words)]
    env = {**os.environ, "PYTHONPATH": str(BUILD / "python")}
    return subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout


def test_an_interface_of_a_burst_against_the_rtl(measured, tmp_path):
    stream, _, last = next(row for row in measured if str(row[0]) == "B_8x192")
    path = tmp_path / "burst.py"
    bounds = ["packets=8", "least=3", "most=3", f"arb_phase={stream.arb_phase}"]
    lpn_pi("menshen", "--space", *bounds, "-o", path)
    name = f"{TRUTH / 'streams.jsonl.gz'}#{stream}"
    answer = json.loads(lpn_pi("--evaluate", path, "--model", "menshen", "--json", name))
    assert [row["predicted"] for row in answer["rows"]] == [last[-1]]
