"""The net against the composition laws: functions of several resources, contended one by one and
together.

The laws get rates that follow from service times alone (Eq 2 per engine, the memory's law on
cores), never from the net.
"""

import random

import pytest
from models.bluefield import scenario as scenarios
from models.bluefield.net import steady
from models.bluefield.predictor import laws

# NF1 and NF2 of the paper's table 4: memory and regex; memory, regex and compression.
RESOURCES = {"NF1": ("regex",), "NF2": ("regex", "compression")}


def drawn(draw, name, pattern):
    """A function, benchmark functions against it, pressure on the memory; times of the same order."""
    base = draw.uniform(0.5, 2)
    engines = [
        {"resource": r, "service_us": round(draw.uniform(0.2, 1.5), 3), "slots": 64}
        for r in RESOURCES[name]
    ]
    function = {
        "name": name,
        "pattern": pattern,
        "cores": 1,
        "stages": [{"resource": "memory", "service_us": round(base, 3)}, *engines],
        "memory": {"us_per_MB": 0.02 * base, "us_per_MB_1e8": 0.02 * base},
    }
    rivals = []
    for resource in ("regex", "compression"):
        if draw.random() < 0.75:
            rivals.append(
                {
                    "name": f"{resource}-bench",
                    "cores": 1,
                    "stages": [
                        {"resource": "cpu", "service_us": 0.01},
                        {
                            "resource": resource,
                            "queues": draw.randint(1, 2),
                            "slots": 64,
                            "service_us": round(draw.uniform(0.2, 1.5), 3),
                        },
                    ],
                }
            )
    pressure = {"wss_MB": draw.uniform(0, 12), "accesses_per_s": draw.uniform(0, 2.5e8)}
    return scenarios.parse({"functions": [function, *rivals], "memory_pressure": pressure})


def on_core(scenario, function):
    """Time of a packet on a core with the scenario's pressure on the memory."""
    pressure, memory = scenario.pressure, function.memory
    megabytes = min(pressure.wss_MB, scenario.nic.reach_MB)
    return function.service_us(function.stages[0]) + megabytes * (
        memory.us_per_MB + memory.us_per_MB_1e8 * pressure.accesses_per_s / 1e8
    )


def on_engine(scenario, stage):
    """Time from one grant to a queue of `stage` to the next: a round over all backlogged queues (Eq
    1).
    """
    queues = [
        laws.Load(f.service_us(s), s.queues)
        for f in scenario.functions[1:]
        for s in f.stages
        if s.resource == stage.resource
    ]
    return laws.round_time([laws.Load(stage.service.us, stage.queues), *queues]) / stage.queues


def simulated(scenario):
    outcome = steady.simulate(scenario, engine="interp", latencies=False)
    assert outcome.steady
    return outcome.results[0]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", RESOURCES)
def test_pipeline_law(name, seed):
    scenario = drawn(random.Random(seed), name, "pipeline")
    function = scenario.functions[0]
    alone = [
        1 / on_core(scenario, function),
        *(1 / on_engine(scenario, s) for s in function.stages[1:]),
    ]
    solo = 1 / max(function.service_us(s) for s in function.stages)
    assert simulated(scenario).throughput_kpps == pytest.approx(
        1e3 * laws.pipeline(alone, solo), rel=0.005
    )


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", RESOURCES)
def test_run_to_completion_law(name, seed):
    scenario = drawn(random.Random(seed), name, "run-to-completion")
    function = scenario.functions[0]
    # The last result of a batch is seen a latency after its service, once per batch and engine.
    latencies = (
        sum(scenario.nic.engines[s.resource].latency_us for s in function.stages[1:])
        / function.batch
    )
    solo_us = sum(function.service_us(s) for s in function.stages) + latencies
    alone = [1 / (solo_us + on_core(scenario, function) - function.service_us(function.stages[0]))]
    alone += [
        1 / (solo_us + on_engine(scenario, s) - function.service_us(s)) for s in function.stages[1:]
    ]
    law = laws.run_to_completion(alone, 1 / solo_us)
    assert simulated(scenario).throughput_kpps == pytest.approx(1e3 * law, rel=0.02)


def test_patterns_react_as_they_should():
    """A pipeline is flat until the other stage is the slowest; run-to-completion always pays."""

    def rate(pattern, pressure):
        return simulated(
            scenarios.parse(
                {
                    "functions": [
                        {
                            "name": "f",
                            "pattern": pattern,
                            "cores": 1,
                            "stages": [
                                {"resource": "memory", "service_us": 1.0},
                                {"resource": "regex", "service_us": 2.0, "slots": 64},
                            ],
                            "memory": {"us_per_MB": 0.25},
                        }
                    ],
                    "memory_pressure": {"wss_MB": pressure},
                }
            )
        ).throughput_kpps

    flat = [rate("pipeline", wss) for wss in (0, 2, 3.9, 5, 6)]
    assert flat[:3] == pytest.approx([500] * 3, rel=2e-3)
    assert flat[3:] == pytest.approx([1e3 / 2.25, 1e3 / 2.5], rel=2e-3)
    falling = [rate("run-to-completion", wss) for wss in (0, 2, 4, 6)]
    assert all(a > 1.05 * b for a, b in zip(falling, falling[1:]))


def test_memory_contention_follows_what_rivals_really_do():
    """A rival's accesses are those of its actual rate: held back by an engine, it presses less."""

    def pair(regex_us):
        return scenarios.parse(
            {
                "functions": [
                    {
                        "name": "victim",
                        "cores": 1,
                        "stages": [{"resource": "memory", "service_us": 1.0}],
                        "memory": {"us_per_MB": 0.01, "us_per_MB_1e8": 0.05},
                    },
                    {
                        "name": "rival",
                        "cores": 1,
                        "stages": [
                            {"resource": "cpu", "service_us": 0.5},
                            {"resource": "regex", "service_us": regex_us, "slots": 64},
                        ],
                        "memory": {"wss_MB": 5, "accesses_per_packet": 100},
                    },
                ]
            }
        )

    for regex_us, rival_rate in ((0.2, 2.0), (2.0, 0.5)):
        victim, rival = steady.simulate(pair(regex_us), engine="interp", latencies=False).results
        assert rival.throughput_kpps == pytest.approx(1e3 * rival_rate, rel=5e-3)
        accesses = rival_rate * 1e6 * 100 / 1e8
        assert victim.throughput_kpps == pytest.approx(
            1e3 / (1 + 5 * (0.01 + 0.05 * accesses)), rel=5e-3
        )
        assert victim.bottleneck == "memory"


def test_several_cores_share_one_engine():
    for pattern, cores in (("pipeline", 3), ("run-to-completion", 2)):
        result = simulated(
            scenarios.parse(
                {
                    "functions": [
                        {
                            "name": "f",
                            "pattern": pattern,
                            "cores": cores,
                            "batch": 32,
                            "stages": [
                                {"resource": "cpu", "service_us": 3.0},
                                {"resource": "regex", "service_us": 0.25},
                            ],
                        }
                    ]
                }
            )
        )
        if pattern == "pipeline":
            assert result.throughput_kpps == pytest.approx(1000, rel=2e-3)
        else:
            # Two cores rarely meet at the engine: each 32 (3 + 0.25) + 4.3 us a batch.
            assert result.throughput_kpps == pytest.approx(2 * 32e3 / (32 * 3.25 + 4.3), rel=0.02)
        assert result.bottleneck == "cpu"


def test_run_to_completion_takes_what_has_arrived():
    """Below saturation a core takes the packets that are there, not a batch it would have to wait
    for.
    """
    scenario = scenarios.parse(
        {
            "functions": [
                {
                    "name": "f",
                    "pattern": "run-to-completion",
                    "cores": 1,
                    "traffic": {"rate_kpps": 100},
                    "stages": [
                        {"resource": "cpu", "service_us": 1.0},
                        {"resource": "regex", "service_us": 0.5},
                    ],
                }
            ]
        }
    )
    result = steady.simulate(scenario, engine="interp").results[0]
    assert (
        result.throughput_kpps == pytest.approx(100, rel=5e-3)
        and result.bottleneck == "offered load"
    )
    assert result.latency_us["max"] == pytest.approx(1.0 + 0.5 + 4.3, abs=0.01)


def test_run_to_completion_of_a_mix():
    mix = [
        {"share": 0.5, "packet_bytes": 100, "matches_per_MB": 0},
        {"share": 0.5, "packet_bytes": 1100},
    ]
    result = simulated(
        scenarios.parse(
            {
                "functions": [
                    {
                        "name": "f",
                        "pattern": "run-to-completion",
                        "cores": 1,
                        "traffic": {"mix": mix},
                        "stages": [
                            {"resource": "cpu", "service_us": {"ns_per_byte": 2}},
                            {"resource": "regex", "service_us": 0.5},
                        ],
                    }
                ]
            }
        )
    )
    assert result.throughput_kpps == pytest.approx(1e3 / (1.2 + 0.5 + 4.3 / 32), rel=0.01)
