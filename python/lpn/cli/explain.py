"""Which way a compiled net runs each transition, and why not faster: `lpn sim --explain`."""

import _lpn

from ..command import counted, table

WAYS = {
    "lock step": "straight-line code, iteration by iteration; many inputs at once in vector "
    "registers",
    "order-free": "as soon as its tokens are known, whatever the time",
    "events": "in the order of time, by a queue of events",
}


def explanation(net):
    """{"runs": how the net runs, "transitions": [{"transition", "way", "why_not", "line"}]}.

    `runs`: "lock step", "order-free", "mixed" (order-free parts around an event-driven one) or
    "events". `why_not`: why the transition does not run faster, "" when nothing is faster.
    """
    runs, ways = _lpn.sim.ways(net._core)
    transitions = []
    for transition, (free, why, static, why_not_static) in zip(net._core.transitions, ways):
        if runs == "events" and free:
            way, why = "events", "order-free by itself; too few others are"
        elif not free:
            way = "events"
        elif static and runs == "order-free":
            way, why = "lock step", ""
        else:
            way, why = "order-free", why_not_static
        transitions.append(
            {
                "transition": transition.name,
                "way": way,
                "why_not": why,
                "line": net._core.where(*transition.source) or None,
            }
        )
    if transitions and all(t["way"] == "lock step" for t in transitions):
        runs = "lock step"
    return {"runs": runs, "transitions": transitions}


def show(about):
    """The same for people."""
    rows = [[t["transition"], t["way"], t["why_not"]] for t in about["transitions"]]
    counts = {way: sum(t["way"] == way for t in about["transitions"]) for way in WAYS}
    used = ", ".join(f"{n} {way}" for way, n in counts.items() if n)
    table(
        ["transition", "runs", "not faster, because it"],
        rows,
        title=f"{counted(len(rows), 'transition')}: {used}. This is how a run to the end goes; a "
        "run that is "
        "observed, pushed to or cut off at a time is event-driven.",
    )
