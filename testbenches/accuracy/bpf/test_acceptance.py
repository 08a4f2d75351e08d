"""Every acceptance object, of every compiler: the expected classes, counts and verdicts, and the
written interface against the concrete machine on random packets and map states.

With LPN_SLOW=1 20,000 of them for every object, else a sample.
"""

import csv
import random
import time

import bpf_truth
import pytest

from models.bpf import check, interface

SAMPLE = 20_000 if bpf_truth.SLOW else 150
NAMES = bpf_truth.names() if bpf_truth.available() else []


def variants():
    """{(program, variant): {class: instructions}} of the compilers' objects."""
    found = {}
    with open(bpf_truth.TRUTH / "tables" / "accept_variants.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            insns = row["insns_seen"]
            if insns.isdigit():
                found.setdefault((row["program"], row["variant"]), {})[row["class"]] = int(insns)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_expected_classes(name):
    truth = bpf_truth.expected(name)
    began = time.process_time()
    found = interface.extract(str(bpf_truth.objects_of(name)[0][1]))
    assert time.process_time() - began < 20  # 0.1 to 1 s where this was written
    assert found.program.sha256 == truth["sha256"]
    assert found.partition == "checked by the solver"
    assert len(found.classes) == len(truth["classes"])
    matched = {}
    for one in found.classes:
        wanted = bpf_truth.expected_class(truth, one.witness)
        assert matched.setdefault(wanted["name"], one.name) == one.name
        assert one.bounds["insns"] == (wanted["insns"], wanted["insns"])
        assert one.verdict == wanted["verdict"]
        assert one.cost.mem == wanted["mem"] and one.cost.helpers == wanted["helpers"]
    assert len(matched) == len(truth["classes"])
    agree(found, truth, matched)


def agree(found, truth, matched):
    """Random inputs are in the classes that belong together."""
    module = check.module_of(check.write(found))
    generator = random.Random(5)
    seeds = [one.witness for one in found.classes]
    for _ in range(SAMPLE):
        world = check.mutated(generator, generator.choice(seeds), found.program)
        wanted = bpf_truth.expected_class(truth, world)
        arguments = world.packet, world.context, check.tables_of(world)
        assert module["class_of"](*arguments) == matched[wanted["name"]], world.packet.hex()
        assert module["perf"](*arguments) == wanted["insns"]


@pytest.mark.parametrize("name", NAMES)
def test_random_packets_agree_with_the_machine(name):
    for variant, path in bpf_truth.objects_of(name):
        found = interface.extract(str(path))
        sample = SAMPLE if bpf_truth.SLOW or "reference" in variant else 40
        assert check.differences(found, sample) == [], variant


@pytest.mark.parametrize("name", NAMES)
def test_other_compilers(name):
    truth, rows = bpf_truth.expected(name), variants()
    for variant, path in bpf_truth.objects_of(name):
        expected = rows[name, variant]
        found = interface.extract(str(path))
        seen = set()
        for one in found.classes:
            wanted = bpf_truth.expected_class(truth, one.witness)["name"]
            seen.add(wanted)
            if wanted in expected:
                assert one.bounds["insns"] == (expected[wanted],) * 2, (variant, wanted)
        assert set(expected) <= seen, variant
