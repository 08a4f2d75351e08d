"""The critical path of a run, and what it gains when one of its transitions is twice as fast."""

from collections import Counter

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

    `again(transition)` is the latency, None for none, of a run in which all delays of that
    transition (its number) are halved, rounded up. `top`: for how many transitions to ask.
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
    asked = [e for e in entries if e["what"] == "delay" and e["cycles"] > 0][: max(top, 0)]
    for entry in asked:
        faster = again(entry["_number"])
        entry["twice_as_fast"] = faster
        entry["gain"] = None if faster is None else target - faster
    bottleneck = _bottleneck(entries, steps, names, target)
    for entry in entries:
        del entry["_number"]
    return {"latency": target, "rows": entries, "bottleneck": bottleneck}


def _bottleneck(entries, steps, names, target):
    """The transition in which most of the path's cycles pass, what its firings wait for, and what
    it gains when it is twice as fast: in numbers, and as a sentence. None where no cycles pass.
    """
    first = next((e for e in entries if e["what"] == "delay" and e["cycles"] > 0), None)
    if first is None:
        return None
    causes: Counter = Counter()
    for step, before in zip(steps, [*steps[1:], None]):
        index, cause = step[0], step[1]
        if cause not in _FOR or index != first["_number"]:
            continue
        other = None
        if "{}" in _FOR[cause] and before is not None:
            other = names[1 if before[1] == 6 else 0][before[0]]
        causes[cause, other] += 1
    text = f"'{first['transition']}' decides {first['share']:.0%} of the latency"
    waits = None
    if causes:
        (cause, other), number = causes.most_common(1)[0]
        share = number / causes.total()
        waits = {"for": other, "cause": cause, "share": round(share, 6)}
        often = "" if share == 1 else f" in {share:.0%} of its firings there"
        text += f"; it waits {_FOR[cause].format(other)}{often}"
    if first.get("gain") is not None:
        less = first["gain"] / target if target else 0
        faster = f"{first['twice_as_fast']:,}".replace(",", " ")
        text += f"; twice as fast, the latency is {faster} ({-less:+.1%})"
    return {
        "transition": first["transition"],
        "share": first["share"],
        "waits": waits,
        "twice_as_fast": first.get("twice_as_fast"),
        "text": text,
    }
