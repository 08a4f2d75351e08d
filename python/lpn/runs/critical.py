"""The critical path of a run, and what it gains when one of its transitions is twice as fast."""

_KINDS = ("delay", "interval", "clock", "pushed")


def critical_path(net, engine, target, again, top):
    """What decided `target`, the latency of the run that `engine` made; a dict for Run.path.

    `again(transition)` is the latency, None for none, of a run in which all delays of that
    transition (its number) are halved, rounded up. `top`: for how many transitions to ask.
    """
    rows, _ = engine.path()
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
    for entry in entries:
        del entry["_number"]
    return {"latency": target, "rows": entries}
