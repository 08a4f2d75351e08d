"""Merging against the hand-checked results: the trees of the expected classes text for text, those
that are extracted by their costs, and the figure of the paper.
"""

import json

import bpf_truth
import pytest

from models.bpf import interface
from models.bpf.merge import Leaf, Merging, leaves_of

PROGRAMS = (
    sorted(p.stem for p in (bpf_truth.ACCEPT / "merge").glob("*.json"))
    if bpf_truth.available()
    else []
)
METRICS = {"instructions": ("insns", "insns"), "memory_accesses": ("mem_accesses", "mem")}


class Decision:
    def __init__(self, condition, yes, no):
        self.condition, self.yes, self.no = condition, yes, no


def tree_of(rows):
    """A tree of [([(condition, holds)], leaf)] by longest common prefixes."""
    if len(rows) == 1 and not rows[0][0]:
        return rows[0][1]
    condition = rows[0][0][0][0]
    sides = {}
    for facts, leaf in rows:
        assert facts[0][0] == condition
        sides.setdefault(facts[0][1], []).append((facts[1:], leaf))
    return Decision(condition, tree_of(sides[True]), tree_of(sides[False]))


def fact(text):
    if text.startswith("not ("):
        return text[5:-1], False
    if " < " in text:
        return text.replace("<", ">="), False
    return text, True


def either(c, holds, d, also):
    return f"({c if holds else 'not ' + c} or {d if also else 'not ' + d})"


def as_json(node):
    if not isinstance(node, Leaf):
        return {"if": node.condition, "then": as_json(node.yes), "else": as_json(node.no)}
    text = " + ".join([str(node.value), *(f"{n}*{name}" for name, n in sorted(node.terms.items()))])
    return {"return": text, "lo": node.low, "hi": node.high}


@pytest.mark.parametrize("rule", ["half", "full"])
def test_figure_2(rule):
    data = json.loads((bpf_truth.ACCEPT / "fig2_merge.json").read_text())
    rows = []
    for path in data["paths"]:
        cost = dict(path["cost"])
        base = cost.pop("")
        rows.append(([tuple(x) for x in path["when"]], Leaf(base, base, cost)))
    found = Merging(rule, either).all(tree_of(rows))
    assert [{"resolution": r, "interface": as_json(tree)} for r, tree in found] == data["expected"][
        rule
    ]


@pytest.mark.parametrize("rule", ["half", "full"])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_resolution(name, metric, rule):
    golden = json.loads((bpf_truth.ACCEPT / "merge" / f"{name}.json").read_text())
    golden = golden["metrics"][metric][rule]
    truth, (key, ours) = bpf_truth.expected(name), METRICS[metric]
    rows = [
        ([fact(text) for text in one["when"]], Leaf(one[key], one[key])) for one in truth["classes"]
    ]
    found = Merging(rule, either).all(tree_of(rows))
    assert [(r, as_json(tree)) for r, tree in found] == [
        (each["resolution"], each["interface"]) for each in golden
    ]
    extracted = interface.extract(str(bpf_truth.objects_of(name)[0][1]))
    trees = interface.merged(extracted, ours, rule)
    assert [(r, costs(tree)) for r, tree in trees] == [(r, costs(tree)) for r, tree in found]


def costs(tree):
    return sorted((leaf.low, leaf.high) for leaf in leaves_of(tree))
