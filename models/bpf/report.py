"""An interface as JSON, and the formulas of its loops."""

from . import terms as t
from . import worlds
from .coarse import terms
from .interface import texts, verdict_cases, when
from .layout import Context
from .merge import leaves_of

MOST_TO_READ = 120  # terms of a class's conditions


def report(interface):
    """What --json prints of an interface, less the merged forms."""
    program = interface.program
    return {
        "object": program.path.rsplit("/", 1)[-1],
        "sha256": program.sha256,
        "program": interface.function.name,
        "section": interface.function.section,
        "counting": "executed instructions; lddw, call, exit 1 each; helper bodies not included",
        "assumptions": interface.assumptions,
        "maps": [
            {
                "name": m.name,
                "type": m.kind,
                "key": m.key_type,
                "value": m.value_type,
                "key_size": m.key_size,
                "value_size": m.value_size,
                "max_entries": m.max_entries,
            }
            for m in program.maps.values()
        ],
        "partition": interface.partition,
        "joined": interface.explored.joined,
        "complete": interface.explored.complete,
        "notes": interface.explored.notes,
        **_priced(interface),
        "max_insns": max(c.bounds["insns"][1] for c in interface.classes),
        "min_insns": min(c.bounds["insns"][0] for c in interface.classes),
        "classes": [of_class(interface, c) for c in interface.classes],
        "loops": loops(interface),
        "formulas": formulas(interface),
    }


def _priced(interface):
    """The cost table, and what the dearest and cheapest packet cost by it."""
    if interface.prices is None:
        return {}
    return {
        "cost_table": {"name": interface.prices.name, "about": list(interface.prices.about)},
        "max_cycles": max(c.bounds["cycles"][1] for c in interface.classes),
        "min_cycles": min(c.bounds["cycles"][0] for c in interface.classes),
    }


def of_class(interface, one):
    """One class as JSON."""
    low, high = one.bounds["insns"]
    exact = not one.cost.choices and one.rest is None
    out = {"class": one.name, "when": condition_texts(interface, one)}
    out["insns"] = low if low == high else None
    out.update({"insns_least": low, "insns_most": high, "verdict": one.verdict})
    if interface.prices is not None:
        low, high = one.bounds["cycles"]
        out["cycles"] = low if low == high else None
        out.update({"cycles_least": low, "cycles_most": high})
        if one.cost.variables:
            out["variables"] = dict(sorted(one.cost.variables.items()))
    if len(one.verdicts) > 1:
        out["verdicts"] = [{"when": w, "verdict": v} for w, v in verdict_cases(interface, one)]
    if exact:
        out["mem"] = dict(sorted(one.cost.mem.items()))
        out["mem_accesses"] = one.bounds["mem"][0]
        out["helpers"] = dict(sorted(one.cost.helpers.items()))
    else:
        run = one.run
        out["mem_accesses_least"], out["mem_accesses_most"] = one.bounds["mem"]
        if run is not None:  # of the witness, which is the dearest of the class
            out["witness_insns"], out["mem"] = run.insns, dict(sorted(run.mem.items()))
            out["mem_accesses"] = run.mem_accesses
            out["helpers"] = dict(sorted(run.helpers.items()))
        else:
            out["mem"], out["mem_accesses"], out["helpers"] = None, None, None
    out["witness"] = None if one.witness is None else worlds.to_json(one.witness)
    return out


def condition_texts(interface, one):
    """The conditions of a class; where joined paths make them long, a pointer to the text, which
    has names for their parts.
    """
    if interface.tree is None and sum(_size(c) for c in one.conditions) > MOST_TO_READ:
        return [f"class_of(packet, ctx, maps) == {one.name!r}"]
    return when(interface, one)


def _size(term, known=None):
    """How long a term is when it is written out."""
    known = {} if known is None else known
    if term.number not in known:
        inner = [a for a in term.args if isinstance(a, t.Term)]
        known[term.number] = 1 + sum(_size(a, known) for a in inner)
    return known[term.number]


def as_tree(interface, node, facts=()):
    """A merged tree as JSON: if, then, else; return, lo, hi, verdict, classes."""
    if not hasattr(node, "yes"):
        return {
            "return": node.value,
            "lo": node.low,
            "hi": node.high,
            "verdict": node.verdict,
            "classes": node.name.split("+"),
        }
    c = node.condition
    return {
        "if": interface.names.condition(c, Context(list(facts))),
        "then": as_tree(interface, node.yes, (*facts, (c, True))),
        "else": as_tree(interface, node.no, (*facts, (c, False))),
    }


def as_sums(interface, metric):
    """A coarse interface of joined paths as JSON: how many conditions each class's cost still has."""
    return {
        "classes": [
            {
                "class": one.name,
                "verdict": one.verdict,
                "least": one.bounds[metric][0],
                "most": one.bounds[metric][1],
                "off": one.off,
                "conditions": terms(one.cost),
            }
            for one in interface.classes
        ]
    }


def at_resolutions(interface, trees):
    """[(resolution, tree)] as JSON."""
    return [
        {
            "resolution": r,
            "classes": sum(1 for _ in leaves_of(tree)),
            "interface": as_tree(interface, tree),
        }
        for r, tree in trees
    ]


def above(interface, rows):
    """over_budget's rows as JSON."""
    return [
        {
            "when": texts(interface, facts) if interface.tree is not None else [names[0]],
            "least": low,
            "most": high,
            "classes": names,
            "witness": None if witness is None else worlds.to_json(witness),
        }
        for facts, low, high, names, witness in rows
    ]


def _rounds(trace):
    """{(head, latch): [instructions of every round]} of loops that a trace runs through."""
    found, last = {}, {}
    for k, head in enumerate(trace):
        if head in last and head <= trace[k - 1]:
            found.setdefault((head, trace[k - 1]), []).append(k - last[head])
        last[head] = k
    return found


def loops(interface):
    """The loops that witnesses run through, and how often."""
    found = {}
    for one in interface.classes:
        if one.run is None:
            continue
        for edge, rounds in _rounds(one.run.trace).items():
            found.setdefault(edge, []).append(rounds)
    out = []
    program = interface.program
    for (head, latch), all_rounds in sorted(found.items()):
        each = {n for rounds in all_rounds for n in rounds}
        source = program.source(latch)
        out.append(
            {
                "head": program.where(head),
                "latch": program.where(latch),
                "max_back": max(map(len, all_rounds)),
                "insns_per_round": each.pop() if len(each) == 1 else None,
                "source": source[2] if source else None,
            }
        )
    return out


def formulas(interface):
    """[{formula, n, from, to, classes}]: classes that differ by rounds of one loop only."""
    groups = {}
    edges = _edges(interface)
    for one in interface.classes:
        if one.run is None or one.cost.choices:
            continue
        trace = one.run.trace
        for head, latch in edges:
            at = [k for k, pc in enumerate(trace) if pc == head]
            if not at:
                continue
            key = (head, latch, one.verdict, tuple(trace[: at[0]]), tuple(trace[at[-1] :]))
            bodies = {tuple(trace[a:b]) for a, b in zip(at, at[1:])}
            groups.setdefault(key, []).append((len(at), one, bodies))
    out = []
    for (head, latch, verdict, *_), rows in groups.items():
        rows.sort(key=lambda r: r[0])
        counts = [n for n, *_ in rows]
        bodies = set().union(*(b for *_, b in rows))
        if len(rows) < 2 or len(set(counts)) < len(rows) or len({len(b) for b in bodies}) != 1:
            continue
        step = len(next(iter(bodies)))
        base = rows[0][1].bounds["insns"][0] - step * counts[0]
        if all(r[1].bounds["insns"][0] == base + step * r[0] for r in rows):
            out.append(
                {
                    "formula": f"{base} + {step}*n",
                    "n": f"how often the loop at {interface.program.where(head)} is begun",
                    "from": counts[0],
                    "to": counts[-1],
                    "verdict": verdict,
                    "classes": [r[1].name for r in rows],
                }
            )
    return out


def _edges(interface):
    found = set()
    for one in interface.classes:
        if one.run is not None:
            found |= set(_rounds(one.run.trace))
    return sorted(found)
