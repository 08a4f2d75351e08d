"""The net's engines against the round-robin law: equilibrium, linear decline, water-filling (Eq 1,
2, 8).
"""

import math
import random

import lpn
import pytest
from models.bluefield import scenario as scenarios
from models.bluefield.net import steady
from models.bluefield.predictor import laws


def simulated(scenario):
    """The Outcome of a scenario, interpreted: each has a structure of its own, and compiling takes
    longer.
    """
    return steady.simulate(scenario, engine="interp", latencies=False)


def on_engine(functions, **nic):
    """A scenario of functions whose cores are never what limits them.

    functions: (service time [us], queues, offered [kpps] or None) each.
    """
    listed = []
    for k, (time, queues, offered) in enumerate(functions):
        listed.append(
            {
                "name": f"f{k}",
                "cores": 1,
                "stages": [
                    {"resource": "cpu", "service_us": 0.01},
                    {"resource": "regex", "queues": queues, "slots": 64, "service_us": time},
                ],
                **({"traffic": {"rate_kpps": offered}} if offered is not None else {}),
            }
        )
    return scenarios.parse({"nic": {"cores": 64, **nic}, "functions": listed})


def law_of(functions):
    loads = [
        laws.Load(time, queues, math.inf if offered is None else offered / 1e3)
        for time, queues, offered in functions
    ]
    return [1e3 * rate for rate in laws.shares(loads)]


def drawn(draw):
    """Two to five functions, some saturating, the others from idle to beyond their share."""
    count = draw.randint(2, 5)
    queues = [draw.randint(1, 4) for _ in range(count)]
    times = [draw.uniform(0.2, 3) for _ in range(count)]
    round_us = sum(n * t for n, t in zip(queues, times))
    # At least one saturates; a rate of 1 is that of equilibrium.
    sure = draw.randrange(count)
    offered = [
        None
        if k == sure or draw.random() < 0.3
        else round(draw.uniform(0.05, 2) * n / round_us * 1e3, 3)
        for k, n in enumerate(queues)
    ]
    return list(zip(times, queues, offered))


@pytest.mark.parametrize("seed", range(60))
def test_round_robin_law(seed):
    functions = drawn(random.Random(seed))
    outcome = simulated(on_engine(functions))
    assert outcome.steady
    found = [result.throughput_kpps for result in outcome.results]
    errors = [abs(a / b - 1) for a, b in zip(found, law_of(functions))]
    assert max(errors) < 0.005, (functions, found, law_of(functions))


def test_equal_queues_get_equal_rates_whatever_their_times():
    outcome = simulated(on_engine([(0.3, 1, None), (2.5, 1, None), (1.1, 1, None)]))
    rates = [result.throughput_kpps for result in outcome.results]
    assert rates == pytest.approx([1e3 / 3.9] * 3, rel=5e-3)
    assert outcome.utilisation["regex"] == pytest.approx(1, abs=1e-3)


def test_rate_falls_linearly_and_then_stays():
    target, rival = 0.4, 1.6
    rates = []
    for offered in (100, 200, 300, 400, 490, 520, 600, 2000):
        outcome = simulated(on_engine([(target, 1, None), (rival, 1, offered)]))
        rates.append(outcome.results[0].throughput_kpps)
        assert rates[-1] == pytest.approx(
            1e3 * laws.linear_decline(target, rival, offered / 1e3), rel=5e-3
        )
    # The slope is -t2 / t1, and beyond the kink at 500 nothing changes.
    assert (rates[3] - rates[0]) / 300 == pytest.approx(-rival / target, rel=5e-3)
    assert rates[-1] == pytest.approx(rates[-3], rel=2e-3)
    assert [r.bottleneck for r in outcome.results] == ["regex", "regex"]


def test_what_an_engine_cannot_take_is_lost():
    outcome = simulated(on_engine([(1.0, 1, 1500)]))
    assert outcome.results[0].throughput_kpps == pytest.approx(1000, rel=5e-3)
    assert outcome.results[0].lost == pytest.approx(1 / 3, rel=0.02)


def test_both_engines_at_once():
    """A chain regex -> compression has the rate of the slower round, each shared by the law."""
    functions = [
        {
            "name": "chain",
            "cores": 1,
            "stages": [
                {"resource": "cpu", "service_us": 0.01},
                {"resource": "regex", "service_us": 0.5, "slots": 64},
                {"resource": "compression", "queues": 2, "service_us": 0.9, "slots": 64},
            ],
        },
        {
            "name": "regex",
            "cores": 1,
            "stages": [
                {"resource": "cpu", "service_us": 0.01},
                {"resource": "regex", "service_us": 0.7, "slots": 64},
            ],
        },
        {
            "name": "compression",
            "cores": 1,
            "stages": [
                {"resource": "cpu", "service_us": 0.01},
                {"resource": "compression", "service_us": 3.0, "slots": 64},
            ],
        },
    ]
    outcome = simulated(scenarios.parse({"functions": functions}))
    # Compression: 2 / (2 * 0.9 + 3) is less than the chain's share of regex, 1 / 1.2.
    chain, regex, compression = (result.throughput_kpps / 1e3 for result in outcome.results)
    assert chain == pytest.approx(2 / 4.8, rel=5e-3) and compression == pytest.approx(
        1 / 4.8, rel=5e-3
    )
    assert regex == pytest.approx((1 - chain * 0.5) / 0.7, rel=5e-3)
    assert [r.bottleneck for r in outcome.results] == ["compression", "regex", "compression"]


def test_a_mix_takes_the_mean_time():
    packets = [
        {"share": 0.75, "packet_bytes": 64, "matches_per_MB": 0},
        {"share": 0.25, "packet_bytes": 1500, "matches_per_MB": 500},
    ]
    law = {"us": 0.2, "us_per_match_per_MB": 0.002}
    for traffic, rates in (
        ({"mix": packets}, [1 / 1.45] * 2),
        ({"mix": packets, "rate_kpps": 300}, [0.3, 0.865]),
    ):
        functions = [
            {
                "name": "mixed",
                "cores": 1,
                "traffic": traffic,
                "stages": [
                    {"resource": "cpu", "service_us": 0.01},
                    {"resource": "regex", "service_us": law},
                ],
            },
            {
                "name": "other",
                "cores": 1,
                "stages": [
                    {"resource": "cpu", "service_us": 0.01},
                    {"resource": "regex", "service_us": 1.0},
                ],
            },
        ]
        outcome = simulated(scenarios.parse({"functions": functions}))
        assert [r.throughput_kpps / 1e3 for r in outcome.results] == pytest.approx(rates, rel=5e-3)


def test_poisson_arrivals_wait_as_a_queue_of_constant_service_does():
    """M/D/1: mean wait rho / (2 (1 - rho)) services; a paced source does not wait at all."""
    for rho in (0.5, 0.8):
        means = {}
        for arrivals in ("paced", "poisson"):
            scenario = scenarios.parse(
                {
                    "nic": {"engines": {"regex": {"latency_us": 0}}},
                    "simulate": {"tolerance": 0.0005},
                    "functions": [
                        {
                            "name": "f",
                            "cores": 1,
                            "traffic": {"rate_kpps": 1000 * rho, "arrivals": arrivals, "seed": 3},
                            "stages": [
                                {"resource": "cpu", "service_us": 0.001},
                                {"resource": "regex", "service_us": 1.0},
                            ],
                        }
                    ],
                }
            )
            means[arrivals] = (
                steady.simulate(scenario, engine="interp").results[0].latency_us["mean"]
            )
        assert means["paced"] == pytest.approx(1.001, abs=1e-3)
        assert means["poisson"] - 1.001 == pytest.approx(rho / (2 * (1 - rho)), rel=0.12)


def test_one_net_serves_many_structures():
    """A scenario simulated in the seats of a larger net has the rates that it has in its own."""
    scenario = on_engine([(0.5, 1, None), (1.5, 2, None)])
    larger = on_engine([(1, 2, None), (1, 1, None), (1, 1, None), (1, 2, None)])
    from models.bluefield.net import build

    own = simulated(scenario)
    seated = steady._Run(scenario, build.shape(larger))
    while not seated.take(
        lpn.simulate(
            seated.net, seated.marking, seated.parameters(), engine="interp", read=seated.kept
        )
    ):
        pass
    for a, b in zip(own.results, seated.outcome.results):
        assert a.throughput_kpps == pytest.approx(b.throughput_kpps, rel=2e-3)
    with pytest.raises(lpn.Error, match="no place left for f1") as refused:
        build.seats(scenario, build.shape(on_engine([(1, 1, None), (1, 1, None)])))
    assert refused.value.code == "E-shape"
