"""The critical path of a run, and what it gains when one of its transitions is twice as fast."""

from collections import Counter

from ..words import grouped

_PUSHED = 6  # the cause of a token from outside, a step that is no firing
_KINDS = ("delay", "interval", "clock", "pushed")

# Why a firing of the path started when it did (lpn_cause in lpnrt/abi.h), of another firing.
_FOR = {
    1: "for tokens or room from '{}'",
    2: "for its own server",
    3: "for '{}' to change what it looks at",
    4: "for its interval to pass",
    5: "for '{}', which took from the same place before",
}


def critical_path(net, engine, target, again, top):
    """What decided `target`, the latency of the run that `engine` made; a dict for Run.path.

    `again(transition)` is the latency, None for none, of a run in which the delays and intervals of
    that transition (its number) are halved, rounded up. `top`: for how many transitions to ask.
    """
    rows, steps = engine.path()
    names = [t.name for t in net.core.transitions], [p.name for p in net.core.places]
    entries = []
    for kind, index, count, cycles in rows:
        what = _KINDS[kind]
        entries.append(
            {
                "transition": None if what == "pushed" else names[0][index],
                "place": names[1][index] if what == "pushed" and index < len(names[1]) else None,
                "what": what,
                "count": count,
                "cycles": cycles,
                "share": round(cycles / target, 6) if target else 0.0,
                "_number": index,
            }
        )
    entries.sort(key=lambda e: (-e["cycles"], e["_number"]))
    asked: dict[int, dict] = {}  # of each transition the row with most cycles
    for entry in entries:
        worked = entry["what"] in ("delay", "interval") and entry["cycles"] > 0
        # Half the interval of a refresh is twice the refreshes.
        if worked and not _is_timer(net.core, net.core.transitions[entry["_number"]]):
            asked.setdefault(entry["_number"], entry)
    for entry in list(asked.values())[: max(top, 0)]:
        faster = again(entry["_number"])
        entry["twice_as_fast"] = faster
        entry["gain"] = None if faster is None else target - faster
    bottleneck = _bottleneck(entries, steps, net.core, target)
    parts = _parts(entries, net.core, target)
    for entry in entries:
        del entry["_number"]
    return {"latency": target, "rows": entries, "parts": parts, "bottleneck": bottleneck}


def _parts(entries, core, target):
    """The path by the parts of the net: of 'dram.data' that is 'dram'. Most cycles first.

    "timers": those of its cycles that pass in transitions that start with work or without.
    """
    cycles: Counter = Counter()
    timers: Counter = Counter()
    for e in entries:
        part = (e["transition"] or e["place"] or "").partition(".")[0]
        cycles[part] += e["cycles"]
        if e["transition"] is not None and _is_timer(core, core.transitions[e["_number"]]):
            timers[part] += e["cycles"]
    return [
        {
            "part": part,
            "cycles": cycles[part],
            "share": round(cycles[part] / target, 6) if target else 0.0,
            "timers": timers[part],
        }
        for part in sorted(cycles, key=lambda p: (-cycles[p], p))
    ]


def _bottleneck(entries, steps, core, target):
    """The transition in which most of the path's cycles pass, what its firings wait for, and what
    it gains when it is twice as fast: in numbers, and as a sentence. None where no cycles pass.

    "timer": it gives back all that it takes, so it starts with work or without; then the transition
    that gains most is named too.
    """
    cycles: Counter = Counter()
    for e in entries:
        if e["transition"] is not None:
            cycles[e["_number"]] += e["cycles"]
    if not cycles or not max(cycles.values()):
        return None
    number = min(cycles, key=lambda k: (-cycles[k], k))
    of_it = [e for e in entries if e["transition"] is not None and e["_number"] == number]
    firings = sum(e["count"] for e in of_it if e["what"] == "delay")
    faster: dict = next((e for e in of_it if "gain" in e), {})
    share = cycles[number] / target if target else 0.0
    name = core.transitions[number].name
    causes = _causes(steps, core, number)
    timer = _is_timer(core, core.transitions[number])
    text = f"'{name}' decides {share:.0%} of the latency"
    waits = None
    if timer:
        text += "; it is a timer, which goes on with work or without"
    elif causes:
        (cause, other), times = causes.most_common(1)[0]
        often = times / causes.total()
        waits = {"for": other, "cause": cause, "share": round(often, 6)}
        said = "" if often == 1 else f" in {often:.0%} of its firings there"
        told = [step for step in steps if step[0] == number and step[1] != _PUSHED]
        if sum(to_commit for _, _, to_commit, *_ in told) < firings:  # the last ones
            part = "" if often == 1 else f"{often:.0%} of "
            said = f" in {part}its last {grouped(len(told))} firings there"
        text += f"; it waits {_FOR[cause].format(other)}{said}"
    gained = [e for e in entries if e.get("gain") is not None]
    if timer:
        gained = [e for e in gained if e["_number"] != number and e["gain"] > 0]
        best = max(gained, key=lambda e: e["gain"], default=None)
        if best is not None:
            text += f"; of the others '{best['transition']}' gains most: " + _faster(best, target)
    elif faster.get("gain") is not None:
        text += "; " + _faster(faster, target)
    return {
        "transition": name,
        "share": round(share, 6),
        "timer": timer,
        "waits": waits,
        "twice_as_fast": faster.get("twice_as_fast"),
        "text": text,
    }


def _causes(steps, core, number):
    """How often firings of this transition on the path waited for what: {(cause, of whom): times}."""
    causes: Counter = Counter()
    for step, before in zip(steps, [*steps[1:], None]):
        index, cause = step[0], step[1]
        if cause not in _FOR or index != number:
            continue
        other = None
        if "{}" in _FOR[cause] and before is not None:
            other = (core.places if before[1] == _PUSHED else core.transitions)[before[0]].name
        causes[cause, other] += 1
    return causes


def _is_timer(core, t):
    """Whether the transition gives back all that it takes, whatever the tokens are."""
    back = {}
    for arc in t.outputs:
        if len(arc.emissions) == 1:
            back[arc.place] = core.text(t, arc.emissions[0].count[0])
    return bool(t.inputs) and all(
        arc.guard is None
        and not arc.inhibit
        and core.text(t, arc.weight[0]).isdigit()
        and back.get(arc.place) == core.text(t, arc.weight[0])
        for arc in t.inputs
    )


def _faster(entry, target):
    if entry["gain"] == 0:
        return "twice as fast, the latency stays"
    less = entry["gain"] / target if target else 0
    return f"twice as fast, the latency is {grouped(entry['twice_as_fast'])} ({-less:+.1%})"
