"""What the page of a recording shows: its channels over time, alone or beside another recording or a
model's run. lpnviz/README.md ("The page of a recording") says what the page reads.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import _lpn

from .maps import Map
from .model import Firings, Matched
from .recording import Picture, Recording

__all__ = ["about_between", "about_model", "about_stalls", "recorded_lanes"]

IDLE, TRANSFER, ACTIVE = 0, 3, 4  # phases, as lpn/wave/channel.h numbers them
_TICKS = {10**15: "s", 10**12: "ms", 10**9: "us", 10**6: "ns", 10**3: "ps", 1: "fs"}


def recorded_lanes(recording: Recording) -> bytes:
    """What all channels of a recording did, as the page reads it."""
    return _lanes(recording.history[1])


def _lanes(rows):
    return b"".join(struct.pack("<I", len(part)) + part for row in rows for part in row)


def _origins(recording):
    if recording.in_times:
        return [recording.origin_time or 0] * len(recording.channels)
    return [recording.clock_totals(k)[1] or 0 for k in range(len(recording.channels))]


def _run(recording, title):
    """Of one recording: its title, cycle 0 and the period of each lane, and its end; in positions."""
    origins = _origins(recording)
    periods = [1.0] * len(origins)
    if recording.in_times:
        end = recording.time - origins[0]
        clocks = [recording.clock_totals(k) for k in range(len(origins))]
        periods = [
            (last - first) / (edges - 1) if edges > 1 else 1.0 for edges, _, first, last in clocks
        ]
    else:
        end = max(recording.clock_totals(k)[0] - o for k, o in enumerate(origins))
    return {
        "title": title,
        "recorded": True,
        "origins": origins,
        "periods": periods,
        "end": max(1, end),
    }


def _unit(recording):
    if not recording.in_times:
        return "cycle"
    unit = next((u for size, u in _TICKS.items() if recording.tick % size == 0), "")
    count = recording.tick // next((s for s in _TICKS if recording.tick % s == 0), 1)
    return (f"{count} " if count > 1 else "") + unit if recording.tick else "times"


def _kept(recordings):
    """Which single cycles the page has, as a sentence."""
    unit = _unit(recordings[0])
    parts, whole = [], True
    for recording in recordings:
        (begin, end), _ = recording.history
        run = _run(recording, "")
        origin = run["origins"][0]
        whole = whole and begin == 0 and end - origin >= run["end"]
        parts.append((begin - origin, end - origin))
    if whole:
        return "Every cycle is in the page."
    shown = " and ".join(f"{a} to {b}" for a, b in dict.fromkeys(parts))
    word = "cycles" if unit == "cycle" else unit
    return (
        f"Of {shown} ({word}) every cycle is in the page; elsewhere it has sums over stretches. A page "
        "with every cycle from A to B: --part A:B."
    )


def about_stalls(recording: Recording, found: dict[str, Any], title: str) -> dict[str, Any]:
    """Of `lpn wave stalls`; `found` is what stalls() says."""
    rows = [
        {"name": c.name, "of": [k], "operation": c.kind in (1, 2), "counter": c.kind == 3}
        for k, c in enumerate(recording.channels)
    ]
    transfers = sum(row["transfers"] for row in found["channels"])
    run = _run(recording, title)
    return {
        "title": title,
        "subtitle": "a recording, without a net",
        "unit": _unit(recording),
        "runs": [run],
        "rows": rows,
        "stalls": found,
        "compared": False,
        "facts": [
            ["channels", str(len(rows))],
            ["transfers", f"{transfers:,}".replace(",", "\u202f")],
            [_unit(recording) if recording.in_times else "cycles", f"{run['end']:,}".replace(",", "\u202f")],
        ],
        "verdict": _verdict_of(found) + _damage([recording]),
        "kept": _kept([recording]),
    }  # fmt: skip


def _verdict_of(found):
    """Who waits most, and for whom."""
    waiting = [row for row in found["channels"] if row.get("back_pressure", {}).get("cycles")]
    if not waiting:
        return ["No channel has back-pressure: whoever is valid finds ready."]
    worst = max(waiting, key=lambda row: row["back_pressure"]["share"])
    chain = next((c for c in found["chains"] if worst["channel"] in c), None)
    words = (
        f"{worst['channel']} waits most: valid without ready in {worst['back_pressure']['share']:.1%} "
        "of its cycles"
    )
    behind = None if chain is None else chain[chain.index(worst["channel"]) + 1 :]
    if behind:
        return [f"{words}; it is held by {', which is held by '.join(behind)}."]
    return [f"{words}; it follows no other channel's back-pressure, so what holds it is behind it."]


def _damage(recordings):
    return [
        f"{r.path}, {r.damage}; what is shown is complete up to time {r.time}."
        for r in recordings
        if r.damage is not None
    ]


def about_between(
    recordings: Sequence[Recording], found: dict[str, Any], titles: Sequence[str]
) -> dict[str, Any]:
    """Of `lpn wave compare --between`; `found` is Comparison.result()."""
    numbers = [{c.name: k for k, c in enumerate(r.channels)} for r in recordings]
    rows = []
    for row in found["channels"]:
        name = row["channel"]
        k = numbers[0][name]
        rows.append(
            {
                "name": name,
                "of": [k, numbers[1][name]],
                "operation": recordings[0].channels[k].kind in (1, 2),
                "counter": recordings[0].channels[k].kind == 3,
                "difference": _difference(row),
                "cells": [*map(str, row["transfers"]), str(row["different"])],
            }
        )
    first = found["first_divergence"]
    return {
        "title": f"{titles[0]} and {titles[1]}",
        "subtitle": "two recordings",
        "unit": "cycle",
        "runs": [_run(r, t) for r, t in zip(recordings, titles)],
        "rows": rows,
        "compared": True,
        "first": None if first is None else first["cycle"],
        "columns": {
            "title": "Transfers",
            "names": ["channel", "A", "B", "different"],
        },
        "facts": [["of channels differ", f"{sum(r['difference'] is not None for r in rows)} of {len(rows)}"]],
        "verdict": _first_words(first, found["channels"], "channel") + _damage(recordings),
        "kept": _kept(recordings),
    }  # fmt: skip


def _difference(row):
    first = row["first_divergence"]
    return None if first is None else {"cycle": first["cycle"], "cause": row["cause"]}


def _first_words(first, rows, key):
    if first is None:
        return ["No difference."]
    row = min(
        (r for r in rows if r["first_divergence"] is not None),
        key=lambda r: r["first_divergence"]["cycle"],
    )
    return [
        f"First difference: cycle {first['cycle']}, channel {first['channel']}, transfer "
        f"{first['transfer']}. {row[key]}: {row['cause']}."
    ]


def about_model(
    map: Map,
    recording: Recording,
    matched: Sequence[Matched],
    firings: Firings,
    found: dict[str, Any],
    titles: Sequence[str],
) -> tuple[dict[str, Any], list[bytes]]:
    """Of `lpn wave compare MODEL INPUT FILE`, with the lanes of the model and of the recording: each
    entry of the map is a row. Of the model a firing in flight is active, and the instant that is
    compared a transfer.
    """
    run = _run(recording, titles[1])
    rows = found["transitions"]
    instants = [firings.instants(m.firing) for m in matched]
    shift = -min((a for each in instants for a, _, at in each for a in (a, at)), default=0)
    shift = max(0, shift)
    end = max(
        [
            run["end"] + 1 + shift,
            *(max(b, at) + 1 + shift for each in instants for _, b, at in each),
        ]
    )
    # The model's lanes, and behind them the recorded transfers that are firings.
    built = _lpn.wave.History(2 * len(matched), Picture().options(2 * len(matched)))
    for k, (m, each) in enumerate(zip(matched, instants)):
        _model_lane(built, k, each, shift, end)
        times = m.times(0)[: len(each)] if m.firing.trailing else m.times(0)
        recorded = [(at, at, at) for at in times if at + shift >= 0]
        _model_lane(built, len(matched) + k, recorded, shift, end)
    _, lanes = built.rows()
    model = {
        "title": titles[0],
        "recorded": False,
        "origins": [shift] * len(lanes),
        "end": end - shift,
    }
    first = found["first_divergence"]
    about = {
        "title": f"{titles[0]} and {titles[1]}",
        "subtitle": "a model's run and a recording",
        "unit": "cycle",
        "runs": [model, run],
        "rows": [
            {
                "name": f"{m.firing.name} {m.firing.event}",
                "of": [k, m.k],
                "firings": len(matched) + k,
                "difference": _difference(row),
                "cells": [
                    str(row["compared"]),
                    str(row["exact"]),
                    "-" if row["mean_error"] is None else f"{row['mean_error']:.1f}",
                    "-" if row["worst_error"] is None else str(row["worst_error"]),
                ],
            }
            for k, (m, row) in enumerate(zip(matched, rows))
        ],
        "compared": True,
        "first": None if first is None else first["cycle"],
        "columns": {
            "title": "Errors, in cycles",
            "names": ["entry", "compared", "exact", "mean", "worst"],
        },
        "facts": [["firings exact", f"{sum(r['exact'] for r in rows)} of {sum(r['compared'] for r in rows)}"]],
        "verdict": _first_words(first, rows, "entry") + _damage([recording]),
        "kept": _kept([recording]),
    }  # fmt: skip
    return about, [_lanes(lanes), recorded_lanes(recording)]


def _model_lane(built, k, instants, shift, end):
    """Firings (from, to, compared instant) as phases from position 0 on."""
    events = {at + shift for _, _, at in instants}
    marks = events | {at + 1 for at in events}
    change: dict[int, int] = {}  # firings in flight, by differences
    for a, b, _ in instants:
        change[a + shift] = change.get(a + shift, 0) + 1
        change[b + shift] = change.get(b + shift, 0) - 1
    marks |= set(change) | {0}
    flying = 0
    for at in sorted(marks):
        flying += change.get(at, 0)
        built.set(k, at, TRANSFER if at in events else ACTIVE if flying else IDLE)
    built.finish(k, end)
