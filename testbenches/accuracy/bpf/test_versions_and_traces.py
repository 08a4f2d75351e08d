"""lpn bpf diff and --deployment against the hand-checked results."""

import json

import bpf_truth
import pytest

from models.bpf import compare, deployment, interface, worlds

TRACES = (
    sorted(p.stem for p in (bpf_truth.ACCEPT / "deploy").glob("*.json"))
    if bpf_truth.available()
    else []
)


def test_two_versions():
    golden = json.loads((bpf_truth.ACCEPT / "diff" / "a1_vs_a1v2.json").read_text())
    old = interface.extract(str(bpf_truth.objects_of(golden["before"])[0][1]))
    new = interface.extract(str(bpf_truth.objects_of(golden["after"])[0][1]), beside=True)
    found = compare.compare(old, new)
    rows = sorted((d.before, d.after, round(d.percent, 2), d.verdict_changed) for d in found)
    assert rows == sorted(
        (c["before"], c["after"], c["delta_pct"], c["verdict_changed"]) for c in golden["classes"]
    )
    numbers = compare.summary(found, old, new, "insns")
    for key in (
        "max_before", "max_after", "max_delta_pct", "regressed", "improved", "unchanged",
        "maps_added",
    ):  # fmt: skip
        assert numbers[key] == golden[key], key
    first, second = (bpf_truth.expected(golden[k]) for k in ("before", "after"))
    for each in found:
        one = bpf_truth.expected_class(first, each.witness)
        other = bpf_truth.expected_class(second, each.witness)
        assert (one["insns"], other["insns"]) == (each.before, each.after)


@pytest.mark.parametrize("name", TRACES)
def test_traces(name):
    golden = json.loads((bpf_truth.ACCEPT / "deploy" / f"{name}.json").read_text())
    found = interface.extract(str(bpf_truth.objects_of(golden["program"])[0][1]))
    truth = bpf_truth.expected(golden["program"])
    packets, cut = deployment.read_trace(bpf_truth.ACCEPT / "deploy" / golden["pcap"])
    maps = worlds.read_maps(bpf_truth.ACCEPT / "deploy" / f"{name}.json", found.program)
    carry = golden["map_state_carries_over"]
    rows = deployment.deploy(found, packets, maps, carry=carry)
    got = deployment.per_class(rows, [50, 90, 95, 99])
    assert cut == 0
    assert rounded(got["overall"]) == rounded(golden["overall"])
    names = {
        one.name: bpf_truth.expected_class(truth, one.witness)["name"] for one in found.classes
    }
    classes = {names[name]: rounded(row) for name, row in got["per_class"].items()}
    assert classes == {name: rounded(row) for name, row in golden["per_class"].items()}


def rounded(row):
    return {key: round(value, 4) for key, value in row.items()}
