"""What makes a class: bytes that decide, map entries, source lines of its witness."""

from . import terms as t
from . import worlds
from .report import condition_texts


def explained(interface, one):
    """A class by its witness, as JSON: `bytes` are those of the packet, -- where no condition of
    the class reads them.
    """
    packet = one.witness.packet
    asked = set()
    seen, leaves = set(), []
    for condition in one.conditions:
        t.leaves(condition, seen, leaves)
    everywhere = False
    for leaf in leaves:
        if leaf.op == "pkt":
            at = t.value_of(leaf.args[0])
            everywhere |= at is None
            asked.add(at)
    return {
        "class": one.name,
        "when": condition_texts(interface, one),
        "insns_least": one.bounds["insns"][0],
        "insns_most": one.bounds["insns"][1],
        "witness_insns": one.run.insns,
        "witness_verdict": one.run.verdict,
        "length": len(packet),
        "bytes": [
            f"{byte:02x}" if everywhere or at in asked else "--" for at, byte in enumerate(packet)
        ],
        "witness": worlds.to_json(one.witness),
        "source": _source(interface.program, one.run.trace),
    }


def _source(program, trace):
    """[{file, line, text, insns}]: executed instructions by source line, in the order in which the
    lines are reached first; by instruction where the object has no lines.
    """
    rows = {}
    for pc in trace:
        found = program.source(pc)
        key = (
            (found[0].rsplit("/", 1)[-1], found[1], found[2])
            if found
            else ("", 0, program.where(pc))
        )
        rows[key] = rows.get(key, 0) + 1
    return [
        {"file": file, "line": line, "text": text, "insns": number}
        for (file, line, text), number in rows.items()
    ]
