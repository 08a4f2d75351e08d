"""Why the channels of a recording waited: sums per channel, and whose back-pressure follows whose."""

from __future__ import annotations

from typing import Any

from .recording import Recording

__all__ = ["chains", "stalls"]

LEAST_SHARE = 0.6  # of releases beyond chance, from which on one channel is said to hold another
SAME = 0.02  # shares that differ by less are not told apart


def stalls(recording: Recording) -> dict[str, Any]:
    """What `recording`, which has been read, says of its channels; fields as in docs/cli.md."""
    totals = [recording.totals(k) for k in range(len(recording.channels))]
    channels = [_channel(recording, k, t) for k, t in enumerate(totals)]
    links = _links(recording, totals)
    return {
        "file": recording.path,
        "damage": recording.damage,
        "clocks": _clocks(recording),
        "channels": channels,
        "links": links,
        "chains": chains(links),
    }


def _clocks(recording):
    rows = []
    for name, clock in recording.map.clocks.items():
        k = next((k for k, c in enumerate(recording.channels) if c.clock == name), None)
        if k is None:
            continue
        edges, origin, first, last = recording.clock_totals(k)
        period = None
        if edges > 1 and recording.tick:
            period = (last - first) * recording.tick / (edges - 1) * 1e-15
        rows.append(
            {
                "name": name or None,
                "signal": clock.signal,
                "edges": edges,
                "period_s": period,
                "cycle_0": origin,
            }
        )
    return rows


def _channel(recording, k, totals):
    channel, cycles = recording.channels[k], totals["cycles"]
    origin = recording.clock_totals(k)[1] or 0
    count = totals["transfers"]
    observed = sum(cycles.values()) - cycles["reset"]
    span = totals["last"] - totals["first"] + 1 if count else 0
    found = {
        "channel": channel.name,
        "kind": ("valid", "start-done", "busy", "count")[channel.kind] if not channel.second or channel.kind
        else "valid-ready",
        "clock": channel.clock or None,
        "cycles": observed,
        "transfers": count,
        "first": totals["first"] - origin if count else None,
        "last": totals["last"] - origin if count else None,
        "throughput": count / span if span else None,
        "idle": cycles["idle"],
        "unknown": cycles["unknown"],
        "in_reset": cycles["reset"],
    }  # fmt: skip
    if channel.kind in (1, 2):
        shortest, together, longest = totals["duration"]
        found["duration"] = {
            "least": shortest if count else None,
            "mean": together / count if count else None,
            "most": longest if count else None,
        }
        found["busy"] = cycles["active"]
        return found
    found["bursts"] = {
        "count": totals["runs"]["transfer"],
        "mean": count / totals["runs"]["transfer"] if count else None,
        "longest": totals["longest"]["transfer"],
    }
    if channel.second:
        for name, phase in (("back_pressure", "stalled"), ("starvation", "starved")):
            found[name] = {
                "cycles": cycles[phase],
                "share": cycles[phase] / observed if observed else None,
                "times": totals["runs"][phase],
                "longest": totals["longest"][phase],
            }
        # A run of back-pressure that ended without a transfer: valid was taken back.
        open_run = totals["runs"]["stalled"] - totals["releases"]
        found["back_pressure"]["released"] = totals["releases"]
        found["back_pressure"]["not_released"] = open_run
    return found


def _links(recording, totals):
    """Victim -> culprit: most of the victim's releases follow one of the culprit by a constant
    number of cycles, more than by chance, and more than the other way round.
    """
    beyond: dict[tuple[int, int], tuple[float, int, int]] = {}
    for victim, own in enumerate(totals):
        for culprit, lag, releases in own["following"]:
            other = totals[culprit]
            by_chance = min(1.0, other["releases"] / (other["last"] - other["first"] + 1))
            # One more that does not follow: one release alone shows nothing.
            share = releases / (own["releases"] + 1)
            value = (share - by_chance) / (1 - by_chance) if by_chance < 1 else 0.0
            beyond[victim, culprit] = (value, lag, releases)
    links = []
    for victim, own in enumerate(totals):
        found = []
        for (v, culprit), (value, lag, releases) in beyond.items():
            if v != victim or value < LEAST_SHARE:
                continue
            back = beyond.get((culprit, victim), (0.0, 0, 0))
            earlier = _earlier(totals, victim, culprit)
            if value < back[0] - SAME or (
                value < back[0] + SAME and (lag, -earlier, victim) > (back[1], earlier, culprit)
            ):
                continue
            found.append((value, lag, releases, culprit))
        if not found:
            continue
        best = max(value for value, *_ in found)
        value, lag, releases, culprit = min(
            (f for f in found if f[0] >= best - 0.1), key=lambda f: (f[1], -f[0])
        )
        before = next((p for p in own["preceding"] if p[0] == culprit), (culprit, 0, 0, 0))
        links.append(
            {
                "victim": recording.channels[victim].name,
                "culprit": recording.channels[culprit].name,
                "lag": lag,
                "releases": own["releases"],
                "following": releases,
                "beyond_chance": value,
                "episodes": own["episodes"],
                "begun_before": before[1],
            }
        )
    return links


def _earlier(totals, victim, culprit):
    """How much of the victim's back-pressure had begun behind that of the culprit, less the
    reverse: cycles.
    """

    def behind(one, other):
        return sum(p[2] for p in totals[one]["preceding"] if p[0] == other)

    return behind(victim, culprit) - behind(culprit, victim)


def chains(links: list[dict[str, Any]]) -> list[list[str]]:
    """From each victim that is nobody's culprit to the last culprit."""
    after = {link["victim"]: link["culprit"] for link in links}
    found = []
    beginnings = [v for v in after if v not in after.values()] or list(after)[:1]
    for victim in beginnings:
        chain = [victim]
        while chain[-1] in after and after[chain[-1]] not in chain:
            chain.append(after[chain[-1]])
        found.append(chain)
    return found
