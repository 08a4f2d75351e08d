"""Runs for people: a row each, why one stalled, its statistics and its critical path."""

import click

from ..command import counted, duration, grouped, note, rate, seconds, table

__all__ = ["show_runs"]


def show_runs(ready, about, rows, given, until=None):
    """The answer for people. `given`: how many inputs there are; `until`: what was to come to hold."""
    click.echo(_headline(about, rows))
    answered = [row for row in rows if "error" not in row]
    if answered:
        _show_table(answered, ready.net.frequency)
    for row in answered:
        _show_run(row, ready, until)
    for row in rows:
        if "error" in row:
            _say_error(row["error"], row["input"] or ready.net.name)
    if "interrupted" in about:
        text = "interrupted"
        if rows and rows[-1].get("ending") == "interrupted":
            text += f": the last run is complete only up to cycle {grouped(rows[-1]['until'])}"
        if given > len(rows):
            text += f"; {counted(given - len(rows), 'input')} without a result"
        click.echo(text, err=True)


def _headline(about, rows):
    """The model, its parameters, and what ran it."""
    how = "interpreted"
    if about["engine"] == "compiled":
        how = "compiled before" if about["cached"] else "compiled"
        if about["compile_seconds"] is not None:
            how = f"compiled in {about['compile_seconds']:.1f} s"
        if any(row.get("engine") == "interp" for row in rows):
            how = f"first interpreted, then {how}"
    parameters = ", ".join(f"{k}={v}" for k, v in about["parameters"].items())
    return f"{about['model']}{' with ' + parameters if parameters else ''} ({how})"


def _show_table(rows, frequency):
    """A row per run; how it ended only where one of them did not simply end."""
    cells = []
    for row in rows:
        speed = rate(row["last_commit"] / row["seconds"]) if row["seconds"] > 0 else "-"
        cells.append(
            [
                row["input"] or "-",
                grouped(row["latency"]),
                *([duration(row["latency"], frequency)] if frequency else []),
                grouped(row["firings"]),
                seconds(row["seconds"]),
                speed,
                _state(row),
            ]
        )
    columns = ["input", ">latency", *([">time"] if frequency else []), ">firings"]
    columns += [">simulated in", ">cycles/s"]
    if any(row[-1] for row in cells):
        columns.append("")
    table(columns, [row[: len(columns)] for row in cells])


def _state(row):
    """How a run ended, in a word; "" where all its tokens drained."""
    if row["stalled"]:
        return "stalled"
    return {
        "limit": f"stopped at {grouped(row.get('until'))}",
        "interrupted": "interrupted",
        "budget": row.get("stopped", {}).get("text", ""),
        "condition": f"stopped at {grouped(row.get('until'))}",
    }.get(row["ending"], "")


def _show_run(row, ready, until):
    """What there is to say of a run beside its row in the table."""
    name = row["input"] or ready.net.name
    if row["ending"] == "condition":
        click.echo(f"\n{name}: {row['stopped']['text']}")
    elif until is not None and row["ending"] not in ("interrupted", "budget"):
        note(f"{name}: {until} did not come to hold")
    if row["stalled"]:
        left = ", ".join(f"{u['place']} ({u['tokens']})" for u in row["undrained"])
        how = f"with tokens left in {left}" if left else "before all done tokens were produced"
        end = ":" if row["blocked"] else ", from which no transition takes" if left else ""
        click.echo(f"\n{name} stalled {how}{end}")
        for blocked in row["blocked"]:
            click.echo(f"  {blocked['text']}")
    if row.get("answer") is not None:
        click.echo("")
        ready.model.module.show(row["answer"])
    if "stats" in row:
        click.echo("")
        _show_stats(row, ready.net.assertions)
    if "critical_path" in row:
        click.echo("")
        _show_path(row)
    if row["firings"] == 0 and not row["stalled"] and row["ending"] == "quiet":
        note(f"{name}: nothing happened, no transition had its tokens")


def _say_error(error, name):
    subject = (f"{name}:", f"{name},", *([f"{name} "] if "." in name else []))
    where = "" if error["message"].startswith(subject) else f"{name}: "
    click.echo(f"error: {where}{error['message']} [{error['code']}]", err=True)


def _show_stats(row, assertions):
    stats = row["stats"]
    shown = {name: t for name, t in stats["transitions"].items() if name not in assertions}
    reasons = [
        why
        for why in next(iter(shown.values()), {"waited": {}})["waited"]
        if any(t["waited"][why]["cycles"] for t in shown.values())
    ]
    rows = []
    for name, t in shown.items():
        waited = [t["waited"][why] for why in reasons]
        rows.append(
            [
                name,
                grouped(t["commits"]),
                grouped(t["busy"]),
                f"{t['utilisation']:.1%}",
                *(f"{w['share']:.1%}" if w["cycles"] else "" for w in waited),
            ]
        )
    table(
        ["transition", ">commits", ">busy", ">utilised", *(f">{why}" for why in reasons)],
        rows,
        title=f"{row['input'] or 'run'}: {grouped(stats['end'])} cycles; why each transition did "
        "not start",
    )
    click.echo("")
    table(
        ["place", ">mean tokens", ">peak"],
        [[name, f"{p['mean']:.2f}", grouped(p["peak"])] for name, p in stats["places"].items()],
    )
    if assertions:
        names = ", ".join(assertions)
        click.echo("")
        click.echo(f"{counted(len(assertions), 'assertion')} held at every instant: {names}")


_ROWS = 20  # of a critical path that people are shown


def _show_path(row):
    path = row["critical_path"]
    cells = []
    many = len(path["rows"]) > _ROWS + 4
    for entry in path["rows"][: _ROWS if many else None]:
        name = entry["transition"] or f"tokens from outside into {entry['place']}"
        if entry["what"] in ("interval", "clock"):
            name += f" ({entry['what']})"
        gain = grouped(entry["gain"]) if "gain" in entry else ""
        cells.append(
            [name, grouped(entry["count"]), grouped(entry["cycles"]), f"{entry['share']:.1%}", gain]
        )
    if path["bottleneck"] is not None:
        click.echo(f"{path['bottleneck']['text']}.")
    table(
        ["transition", ">firings", ">cycles", ">share", ">twice as fast gains"],
        cells,
        title=f"{row['input'] or 'run'}: the critical path, {grouped(path['latency'])} cycles",
    )
    if many:
        rest = path["rows"][_ROWS:]
        share = sum(entry["cycles"] for entry in rest) / path["latency"] if path["latency"] else 0
        click.echo(f"and {len(rest)} rows more, {share:.1%} together; --json has all")
    if 1 < len(path["parts"]) < len({entry["transition"] for entry in path["rows"]}):
        click.echo("")
        table(
            ["part", ">cycles", ">share", ">of which timers"],
            [
                [
                    part["part"],
                    grouped(part["cycles"]),
                    f"{part['share']:.1%}",
                    grouped(part["timers"]) if part["timers"] else "",
                ]
                for part in path["parts"]
                if part["cycles"]
            ],
        )
