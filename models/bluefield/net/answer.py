"""What is known of a scenario after simulating it: throughputs, latencies, bottlenecks, promises.

answer() is the object that --json prints, show() the same for people.
"""

import math

import click
from lpn.command import grouped, note, table

from .. import scenario as scenarios
from . import steady

__all__ = ["answer", "keeps", "show", "warnings"]


def answer(scenario, alone=True, engine=None):
    """What is known of a Scenario after simulating it, for --json."""
    outcome = steady.simulate(scenario, engine=engine)
    functions = []
    for f, result in zip(scenario.functions, outcome.results):
        entry = {
            "name": f.name,
            "pattern": f.pattern,
            "throughput_kpps": round(result.throughput_kpps, 3),
            "throughput_gbps": round(result.throughput_kpps * f.traffic.packet_bytes * 8e-6, 4),
            "offered_kpps": result.offered_kpps,
            "lost": round(result.lost, 6),
            "bottleneck": {"resource": result.bottleneck, "why": result.why},
            "stages": [
                {"resource": s.resource, "busy": round(w, 6), "always_queued": q}
                for s, w, q in zip(f.stages, result.work, result.queued)
            ],
            "latency_us": result.latency_us,
        }
        if alone:
            solo = result.throughput_kpps
            if len(scenario.functions) > 1 or scenario.pressure != scenarios.Pressure():
                own = steady.simulate(scenario.alone(f.name), engine=engine, latencies=False)
                solo = own.results[0].throughput_kpps
            entry["alone_kpps"] = round(solo, 3)
            entry["drop"] = round(1 - result.throughput_kpps / solo, 6) if solo else None
            if f.promised_drop is not None and solo:
                entry["promised_drop"] = f.promised_drop
                entry["promise_kept"] = keeps(
                    entry["drop"], f.promised_drop, scenario.simulate.tolerance
                )
        functions.append(entry)
    return {
        "scenario": scenario.path,
        "steady": outcome.steady,
        "warnings": warnings(scenario, outcome),
        "simulated_ms": round(outcome.simulated_ms, 6),
        "firings": outcome.firings,
        "functions": functions,
        "engines": {
            name: {"utilisation": round(share, 6)} for name, share in outcome.utilisation.items()
        },
    }


def warnings(scenario, outcome):
    """A sentence for each function of an Outcome whose rate is less sure than its steadiness says."""
    told = [
        f"{r.name}: only {r.few_batches} batches of a core were counted; its rhythm, and with it the "
        f"rates, may still change by more than a percent: raise simulate.most_ms above "
        f"{scenario.simulate.most_ms:g}"
        for r in outcome.results
        if r.few_batches is not None
    ]
    counted = outcome.simulated_ms / 2
    for function in scenario.functions:
        period = steady.schedule_ms(function)
        if period is not None and period > counted * (1 + 1e-9):
            told.append(
                f"{function.name}: its random arrivals repeat after {period:.3g} ms, and only "
                f"{counted:.3g} ms were counted; by chance rates may be off by more than a percent: "
                f"raise simulate.most_ms above {math.ceil(2 * period)}"
            )
    return told


def keeps(drop, promised, tolerance):
    """Whether a measured drop keeps a promise, up to the tolerance of the measurement."""
    return drop <= promised + tolerance


def show(data):
    """The answer for people."""
    rows = []
    for f in data["functions"]:
        latency = f["latency_us"] or {}
        kept = {True: "kept", False: "BROKEN", None: "-"}[f.get("promise_kept")]
        rows.append(
            [
                f["name"],
                f"{f['throughput_kpps']:.1f}",
                f"{f['throughput_gbps']:.2f}",
                f"{f['alone_kpps']:.1f}" if "alone_kpps" in f else "-",
                f"{max(f['drop'], 0):.1%}" if f.get("drop") is not None else "-",
                f"{f['promised_drop']:.1%} {kept}" if "promise_kept" in f else "-",
                *(f"{latency[p]:.2f}" if p in latency else "-" for p in ("p50", "p99")),
                f"{f['lost']:.2%}" if f["offered_kpps"] is not None else "-",
                f["bottleneck"]["resource"],
            ]
        )
    table(
        [
            "function",
            ">kpps",
            ">Gb/s",
            ">alone",
            ">drop",
            ">promised",
            ">p50 us",
            ">p99 us",
            ">lost",
            "bottleneck",
        ],
        rows,
    )
    click.echo("")
    for f in data["functions"]:
        click.echo(f"{f['name']}: {f['bottleneck']['resource']}; {f['bottleneck']['why']}")
    for name, engine in data["engines"].items():
        click.echo(f"engine {name} is at work {engine['utilisation']:.1%} of the time")
    if all(f["latency_us"] is None for f in data["functions"]):
        click.echo(
            "no latencies: no packet was delivered in the second half, or following all of them takes "
            "too long"
        )
    for warning in data["warnings"]:
        note(f"warning: {warning}")
    steady = "" if data["steady"] else "; NOT steady: raise simulate.most_ms"
    click.echo(
        f"{data['simulated_ms']:.1f} ms simulated, {grouped(data['firings'])} firings{steady}"
    )
