"""Forecasts of whole scenarios by the laws against the net."""

import random

from models.bluefield import scenario as scenarios
from models.bluefield.net import steady
from models.bluefield.predictor.scenario_forecast import forecast


def drawn(seed, pattern):
    """Two to four functions with core stages and engines in any mix; some with a rate."""
    draw = random.Random(seed)
    functions = []
    for k in range(draw.randint(2, 4)):
        stages = [{"resource": "memory", "service_us": round(draw.uniform(0.5, 3), 3)}]
        for engine in ("regex", "compression"):
            if draw.random() < 0.6:
                stages.append(
                    {
                        "resource": engine,
                        "queues": draw.randint(1, 3),
                        "slots": 64,
                        "service_us": round(draw.uniform(0.3, 2), 3),
                    }
                )
        functions.append(
            {
                "name": f"f{k}",
                "stages": stages,
                "pattern": pattern,
                "cores": 1,
                "memory": {
                    "wss_MB": round(draw.uniform(0, 4), 2),
                    "accesses_per_packet": 60,
                    "us_per_MB": 0.0136,
                    "us_per_MB_1e8": 0.00957,
                },
                "traffic": {"rate_kpps": draw.randint(50, 800)} if draw.random() < 0.3 else {},
            }
        )
    return scenarios.parse({"functions": functions})


def against_the_net(seeds, pattern):
    """(Forecast, throughput of the net [packets/us]) of every function of the scenarios drawn."""
    found = []
    for seed in seeds:
        scenario = drawn(seed, pattern)
        outcome = steady.simulate(scenario, engine="interp", latencies=False)
        found += [
            (f, result.throughput_kpps / 1e3)
            for f, result in zip(forecast(scenario), outcome.results)
        ]
    return found


def test_pipelines():
    assert max(abs(f.rate / net - 1) for f, net in against_the_net(range(12), "pipeline")) < 0.005


def test_run_to_completion():
    """Batches of several such functions meet at an engine or miss each other; the intervals say so."""
    found = against_the_net(range(10), "run-to-completion")
    errors = [abs(f.rate / net - 1) for f, net in found]
    assert sum(errors) / len(errors) < 0.06
    assert sum(f.low <= net <= f.high for f, net in found) >= 0.85 * len(found)
