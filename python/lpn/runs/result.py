"""What programs are told of a run: the fields of --json, and why it stalled in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..authoring.net import Net
from .run import Run

__all__ = ["fields_of", "outline_of", "waiting"]


def fields_of(run: Run) -> dict[str, Any]:
    """What --json says of a run that has ended."""
    row = dict(
        latency=run.latency,
        ending=run.ending,
        firings=run.commits,
        done_tokens=run.done_tokens,
        last_commit=run.last_commit,
        stalled=run.stalled,
    )
    if run.until is not None or run.ending in ("interrupted", "budget"):
        row["until"] = run.until
    if run.stopped is not None:
        row["stopped"] = run.stopped
    row["blocked"] = [waiting(run.net, run.left, *blocked) for blocked in run.blocked]
    row["undrained"] = [{"place": p, "tokens": run.left.get(p, 0)} for p in run.undrained]
    row["seconds"] = round(run.seconds, 9)
    if run.stats is not None:
        row["stats"] = _shares(run.stats)
    if run.path is not None:
        row["critical_path"] = run.path
    return row


def outline_of(run: Run) -> dict[str, Any]:
    """The first of these fields, for a run that is only a means to something else."""
    return dict(latency=run.latency, ending=run.ending, firings=run.commits, stalled=run.stalled)


def waiting(
    net: Net,
    left: Mapping[str, int],
    name: str,
    reason: str,
    what: str | None,
    reserved: bool = False,
) -> dict[str, Any]:
    """One transition that does not start, for programs and in words. `left`: tokens per place;
    `reserved`: firings in flight will put some into the place that has no room.
    """
    core = net.core
    t = core.transitions[net._transitions[name]]
    entry: dict[str, Any] = {"transition": name, "reason": reason, "arc": None, "place": None}
    where = core.where(*t.source)
    if reason == "no credit":
        entry["place"] = what
        tokens = f"{left.get(what or '', 0)} tokens"
        tokens += ", and the rest is kept for firings in flight" if reserved else ""
        text = f"waits for room in place '{what}', which is full ({tokens})"
    elif what is not None:
        arc = next(a for a in t.inputs if a.name == what)
        place = core.places[arc.place].name
        there = left.get(place, 0)
        entry.update(arc=what, place=place)
        if reason == "no token":
            needs = core.text(t, (arc.threshold or arc.weight)[0])
            if arc.threshold and core.value(arc.threshold[0]) == 0:
                needs = core.text(t, arc.weight[0])
            text = (
                f"waits for tokens over arc '{what}': place '{place}' has {there}, "
                f"it needs {needs}"
            )
        elif reason == "guard":
            text = (
                f"is kept by the guard of arc '{what}' (place '{place}', {there} tokens): "
                f"{core.text(t, arc.guard[0])} does not hold"
            )
            where = core.where(*arc.guard[1:]) or where
        else:
            text = (
                f"may start only when place '{place}' is empty (arc '{what}'), but it has "
                f"{there} tokens"
            )
    else:
        text = {
            "no server": "waits for a free server",
            "interval": "waits for its interval to pass",
            "clock": "waits for its clock's edge",
        }.get(reason, reason)
    entry["line"] = where or None
    entry["text"] = f"{name} {text}" + (f" ({where})" if where else "")
    return entry


def _shares(stats):
    """Statistics with what a reader wants beside the cycles: utilisation, shares of the time."""
    end = stats["end"]

    def share(cycles):
        return round(cycles / end, 6) if end else 0.0

    transitions = {}
    for name, t in stats["transitions"].items():
        transitions[name] = {
            "commits": t["commits"],
            "busy": t["busy"],
            "utilisation": share(t["busy"]),
            "waited": {why: {"cycles": c, "share": share(c)} for why, c in t["waited"].items()},
        }
    return {"end": end, "transitions": transitions, "places": stats["places"]}
