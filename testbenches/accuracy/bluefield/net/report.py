#!/usr/bin/env python3
"""Prints the accuracy of the BlueField-2 net: the table of models/bluefield/README.md.

    PYTHONPATH=build/python python3 testbenches/accuracy/bluefield/net/report.py

Measurements are read from $LPN_SHARED/truth/bluefield (default: ../shared); else those are left
out.
"""

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import test_composition as composition
import test_engines as engines
import test_flowmonitor as flowmonitor
import test_rxp as rxp
from models.bluefield import scenario as scenarios
from models.bluefield.net import placement, steady
from models.bluefield.predictor import laws


def line(what, asked, found):
    print(f"{what:62}  {asked:22}  {found}")


def worst(pairs):
    return max(abs(a / b - 1) for a, b in pairs)


def round_robin():
    pairs = []
    for seed in range(60):
        functions = engines.drawn(random.Random(seed))
        found = [r.throughput_kpps for r in engines.simulated(engines.on_engine(functions)).results]
        pairs += zip(found, engines.law_of(functions))
    line("round-robin law, 60 random scenarios, worst rate", "0.5 %", f"{worst(pairs):.3%}")


def composed(pattern):
    pairs = []
    for seed in range(20):
        for name in composition.RESOURCES:
            scenario = composition.drawn(random.Random(seed), name, pattern)
            function = scenario.functions[0]
            own = [function.service_us(s) for s in function.stages]
            contended = [
                composition.on_core(scenario, function),
                *(composition.on_engine(scenario, s) for s in function.stages[1:]),
            ]
            if pattern == "pipeline":
                law = laws.pipeline([1 / t for t in contended], 1 / max(own))
            else:
                latencies = sum(
                    scenario.nic.engines[s.resource].latency_us for s in function.stages[1:]
                )
                solo = sum(own) + latencies / function.batch
                law = laws.run_to_completion(
                    [1 / (solo + c - t) for c, t in zip(contended, own)], 1 / solo
                )
            pairs.append((composition.simulated(scenario).throughput_kpps, 1e3 * law))
    line(
        f"{pattern} law, 40 random scenarios, worst rate",
        "0.5 %" if pattern == "pipeline" else "2 %",
        f"{worst(pairs):.3%}",
    )


def scanner():
    rows = rxp.rows()
    errors = {}
    for row in rows:
        size = int(row["pkt_size_B"])
        offered = float(row["rx_pkts"]) / float(row["duration_s_est"]) / 1e3
        scenario = rxp.scanner(size, rxp.matches_per_MB(row, rows), round(offered, 3))
        rate = (
            steady.simulate(scenario, engine="interp", latencies=False).results[0].throughput_kpps
        )
        errors.setdefault(size == 1024, []).append(abs(rate / 1e3 / float(row["scanned_Mpps"]) - 1))
    if rows:
        line("RXP rates but those of 1024 bytes, worst row", "5 %", f"{max(errors[False]):.2%}")
        line("RXP rates of 1024 bytes, worst row", "12 %", f"{max(errors[True]):.2%}")
    idle = [
        steady.simulate(rxp.scanner(1500, 507, rate, core), engine="interp")
        .results[0]
        .latency_us["p50"]
        for rate, core in ((1, 0.01), (83.3, 0.735))
    ]
    line(
        "RXP idle latency: x86 host, ARM core",
        "4.1 to 5.6 us",
        " and ".join(f"{us:.2f} us" for us in idle),
    )


def monitor():
    if not flowmonitor.ROWS.exists():
        return
    errors = [
        abs(simulated / measured - 1) for _, simulated, measured, _ in flowmonitor.predictions()
    ]
    line(
        f"FlowMonitor, {len(errors)} measured rows: mean error; within 10 %",
        "(predictor: 3.6 %; 94 %)",
        f"{sum(errors) / len(errors):.2%}; {sum(e <= 0.1 for e in errors) / len(errors):.1%}",
    )


def placed():
    folder = Path(scenarios.__file__).parent
    catalogue = placement.Catalogue(*scenarios.read_catalogue(folder / "catalogue.json"))
    catalogue.prepare(catalogue.sets())
    nics, broken = dict.fromkeys(placement.POLICIES, 0), dict.fromkeys(placement.POLICIES, 0)
    for seed in range(20):
        arrivals = placement.draw(catalogue, 500, seed)
        for policy in placement.POLICIES:
            result = placement.place(catalogue, arrivals, policy)
            nics[policy] += len(result.nics)
            broken[policy] += len(result.broken)
    for policy in placement.POLICIES:
        line(
            f"placement, 20 x 500 arrivals, {policy}: NICs, broken",
            "",
            f"{nics[policy] / 20:.1f} ({nics[policy] / nics['oracle'] - 1:+.2%} of oracle's), "
            f"{broken[policy] / 10000:.2%}",
        )


def main():
    line("what", "asked", "found")
    round_robin()
    composed("pipeline")
    composed("run-to-completion")
    scanner()
    monitor()
    placed()


if __name__ == "__main__":
    main()
