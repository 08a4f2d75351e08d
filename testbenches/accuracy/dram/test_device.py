"""The nets of the ten standards against measured sequences, and against the source's own tables."""

import json
from collections import Counter

import pytest
from conftest import SLOW, lines

lpn = pytest.importorskip("lpn")

from lpn.runs import prepare  # noqa: E402
from models.dram.sequence import Sequence, Times  # noqa: E402
from models.dram.standard import LAST, names, standard  # noqa: E402

MODEL = lpn.load("dram")


def sequence_of(row, more=()):
    commands = [(c, tuple(where), 0, False) for c, where, _ in row["cmds"]]
    return Sequence(row["id"], standard(row["std"], row["org"]), [*commands, *more])


def sampled(rows, number):
    return rows if SLOW else rows[:: max(1, len(rows) // number)][:number]


@pytest.mark.parametrize("name", names())
def test_every_command_is_exact(truth, name):
    rows = sampled(lines(f"{name}.jsonl.xz"), 14)
    assert {row["org"] for row in rows} == {"small", "full"}
    for row in rows:
        sequence = sequence_of(row)
        times = Times(sequence, [cycle for *_, cycle in row["cmds"]], row["gapped"])
        run, about = times.compare(prepare(MODEL, sequence))
        assert about == {"times": 120, "times_exact": 120}, row["id"]
        assert run.latency == row["cmds"][-1][2]


@pytest.mark.parametrize("name", names())
def test_what_could_come_next_and_what_is_refused(truth, name):
    rows = [row for row in lines(f"{name}.jsonl.xz") if "probe_after" in row]
    refused = 0
    for row in sampled(rows, 2):
        probes = row["probe_after"]
        for command, where, cycle in probes if SLOW else probes[:: max(1, len(probes) // 40)]:
            sequence = sequence_of(row, [(command, tuple(where), 0, True)])
            ready = prepare(MODEL, sequence)
            if cycle is not None:
                run = ready.run(collect=["asked"])
                assert list(run.collected["asked"][1]) == [cycle], (row["id"], command, where)
                continue
            refused += 1
            with pytest.raises(lpn.Error, match=f"{command} .* is refused: ") as error:
                ready.marking
            assert error.value.code == "E-dram-sequence"
    assert refused > 0


@pytest.mark.parametrize("name", names())
def test_distances_are_those_of_the_source(truth, name):
    """Every pair of commands at every pair of coordinates, in both organisations."""
    for organisation in ("small", "full"):
        data = json.loads((truth / "nets" / f"{name}-{organisation}.json").read_text())
        made = standard(name, organisation)
        seen, slots = Counter(), []
        for command, where in data["transitions"]:
            last = LAST if seen[command, tuple(where)] else ""
            seen[command, tuple(where)] += 1
            slots.append((command + last, tuple(where)))
        mine = expanded(made)
        assert {slot for pair in mine for slot in pair} <= set(slots)
        theirs = {(slots[a], slots[b]): n for a, b, n in data["timing_arcs"]}
        for pair in {*mine, *theirs}:
            # The command bus is a place of its own there, a distance of 1 here.
            bus = int(made.share_a_bus(pair[0][0], pair[1][0]))
            assert mine.get(pair, 0) == max(bus, theirs.get(pair, 0)), (organisation, pair)


def expanded(made):
    """{((command, where), (command, where)): least cycles between them}."""
    slots = [(v, w) for c in made.kinds for v in made.variants(c) for w in made.places_of(c)]
    waiting = {}
    for variant, where in slots:
        for scope in made.scopes:
            for key in made.waits_at(scope, where):
                waiting.setdefault((scope, key), []).append((variant, where))
    pairs = {}
    for (scope, source), row in made.distances().items():
        for where in made.places_of(made.base(source)):
            for key in made.reach(scope, where):
                for target in waiting.get((scope, key), ()):
                    if target[0] in row:
                        pair = ((source, where), target)
                        pairs[pair] = max(row[target[0]], pairs.get(pair, 0))
    return pairs
