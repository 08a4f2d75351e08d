"""Scenario files: what is refused, and that the message says where and what is allowed; service
laws.
"""

import copy
import json
import math
from pathlib import Path

import lpn
import pytest
from models.bluefield import engines, model, scenario as scenarios
from models.bluefield.net import steady

FOLDER = Path(scenarios.__file__).parent
GOOD = {
    "nic": {"cores": 4, "engines": {"regex": {"latency_us": 4.0, "laws": {"mine": {"us": 0.5}}}}},
    "functions": [
        {
            "name": "a",
            "stages": [
                {"resource": "memory", "service_us": 1.0},
                {"resource": "regex", "service_us": "mine", "queues": 2},
            ],
            "traffic": {"rate_kpps": 10, "packet_bytes": 64},
            "memory": {"wss_MB": 1},
        },
        {
            "name": "b",
            "pattern": "run-to-completion",
            "stages": [{"resource": "cpu", "service_us": 1.0}],
        },
    ],
    "memory_pressure": {"wss_MB": 1},
}


def changed(path, value):
    """GOOD with the value at `path` replaced, or removed when it is Ellipsis."""
    data = copy.deepcopy(GOOD)
    at = data
    for key in path[:-1]:
        at = at[key]
    if value is ...:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return data


F0, F1 = ("functions", 0), ("functions", 1)
S1 = (*F0, "stages", 1)


@pytest.mark.parametrize(
    "path, value, words",
    [
        (
            ("function",),
            [],
            "the file: there is no 'function'; allowed: nic, functions, memory_pressure, simulate",
        ),
        (("functions",), ..., "the file: 'functions' is missing"),
        (("functions",), [], "functions: must be a list of 1 to 16 functions; got 0 of them"),
        (("nic", "cores"), 0, "nic.cores: must be a whole number from 1 to 64; got 0"),
        (("nic", "cores"), 3, "functions: the functions have 4 cores, the NIC 3"),
        (
            ("nic", "engines", "gpu"),
            {},
            "nic.engines.gpu: 'latency_us' is missing; allowed: latency_us, laws",
        ),
        (
            ("nic", "engines", "regex", "laws"),
            3,
            "nic.engines.regex.laws: must be an object of laws by name; got 3",
        ),
        ((*F1, "name"), "a", "functions[1]: the name 'a' is taken"),
        ((*F1, "name"), " ", "functions[1].name: must be a name"),
        (
            (*F1, "pattern"),
            "rtc",
            'functions[1].pattern: must be pipeline or run-to-completion; got "rtc"',
        ),
        ((*F0, "cores"), 2.5, "functions[0].cores: must be a whole number from 1 to 64; got 2.5"),
        ((*F0, "cores"), True, "functions[0].cores: must be a whole number"),
        (
            (*S1, "resource"),
            "gpu",
            "functions[0].stages[1].resource: must be cpu or memory or regex or compression",
        ),
        (
            (*S1, "service_us"),
            "his",
            "there is no law 'his' here; there are: l7-filter, emerging-threats, mine",
        ),
        (
            (*S1, "service_us"),
            0,
            "functions[0].stages[1].service_us: must be a number from 0.001 to 1e+07 us; got 0",
        ),
        (
            (*S1, "service_us"),
            {},
            "functions[0].stages[1].service_us: is empty; allowed: at_least_us",
        ),
        ((*S1, "service_us"), {"us": -1}, "gives 0 us for packets of 64 bytes"),
        ((*S1, "service_us"), {"knee": 0.5}, "service_us.knee: must be a number from 1 to 100"),
        (
            (*S1, "service_us"),
            {"us_by_flows": [[2, 1], [1, 1]]},
            "us_by_flows: flows must rise from point to point",
        ),
        (
            (*S1, "service_us"),
            {"us_by_flows": [[2]]},
            "us_by_flows[0]: must be a list of 2 to 2 numbers",
        ),
        ((*S1, "queues"), 40, "functions[0].stages[1].queues: must be a whole number from 1 to 32"),
        (
            (*F0, "stages", 0, "queues"),
            2,
            "functions[0].stages[0].queues: request queues belong to engines",
        ),
        (
            (*F0, "stages", 0, "service_us"),
            {"us": 1, "overload": 2},
            "'overload' is about the queue of an engine",
        ),
        ((*F0, "stages", 0, "service_us"), "mine", "laws with names belong to engines"),
        (
            (*F0, "stages"),
            [{"resource": "regex", "service_us": 1}],
            "the first stage must be cpu or memory",
        ),
        (
            (*F1, "stages"),
            [
                {"resource": "cpu", "service_us": 1},
                {"resource": "regex", "service_us": 1, "slots": 8},
            ],
            "functions[1].stages[1]: 1 queues of 8 slots do not hold a batch of 32",
        ),
        ((*F0, "traffic", "rate_kpps"), ..., None),
        (
            (*F0, "traffic", "arrivals"),
            "bursty",
            "functions[0].traffic.arrivals: must be paced or poisson",
        ),
        ((*F1, "traffic"), {"seed": 1}, "functions[1].traffic.seed: belongs to a rate"),
        (
            (*F1, "traffic"),
            {"mix": [{"share": 0.4}]},
            "functions[1].traffic.mix: the shares add up to 0.4, not 1",
        ),
        (
            (*F1, "traffic"),
            {"mix": [{"share": 1}], "packet_bytes": 64},
            "belongs into the entries of mix",
        ),
        (
            (*F1, "promised_drop"),
            10,
            "functions[1].promised_drop: must be a number from 0 to 1; got 10",
        ),
        (
            (*F1, "memory"),
            {"counters": {"ipc": 1}},
            "functions[1].memory.counters: 'inst_retired_per_s' is missing",
        ),
        (
            (*F1, "memory"),
            {"wss_MB": 2, "counters": dict.fromkeys(scenarios.COUNTERS, 3)},
            "functions[1].memory.counters.wss_MB: is 3, but wss_MB and bytes_per_flow give 2 MB",
        ),
        (
            (*F1, "memory"),
            {"bytes_per_flow": 64, "counters": dict.fromkeys(scenarios.COUNTERS, 0)},
            "functions[1].memory.counters.wss_MB: is 0, but wss_MB and bytes_per_flow give 1.04858",
        ),
        (
            (*F1, "memory"),
            {"wss_MB": 3, "counters": dict.fromkeys(scenarios.COUNTERS, 3.01)},
            None,
        ),
        (
            ("memory_pressure",),
            {"wss_MB": math.inf},
            "memory_pressure.wss_MB: must be a number from 0",
        ),
        (
            ("memory_pressure",),
            [],
            "memory_pressure: must be an object of wss_MB, accesses_per_s, counters; got []",
        ),
        (("simulate",), {"tolerance": 1}, "simulate.tolerance: must be a number from 1e-05 to 0.1"),
    ],
)
def test_refusals(path, value, words):
    data = changed(path, value)
    if words is None:
        scenarios.parse(data)
        return
    with pytest.raises(lpn.Error) as refused:
        scenarios.parse(data, "mine.json")
    assert refused.value.code == "E-scenario"
    assert str(refused.value).startswith("mine.json: ") and words in str(refused.value), str(
        refused.value
    )


def test_many_queues_are_refused():
    data = copy.deepcopy(GOOD)
    data["nic"]["cores"] = 40
    for k in range(9):
        data["functions"].append(
            {
                "name": f"q{k}",
                "cores": 1,
                "stages": [
                    {"resource": "cpu", "service_us": 1},
                    {"resource": "regex", "queues": 4, "service_us": 1},
                ],
            }
        )
    with pytest.raises(lpn.Error, match="38 request queues at engine regex; at most 32"):
        scenarios.parse(data)


def test_files(tmp_path):
    path = tmp_path / "s.json"
    twice = '{"functions": [], "functions": []}'
    for text, words in (
        ("{", "is not JSON"),
        ("[" * 100_000, "nested too deeply"),
        (twice, "'functions' is given twice"),
    ):
        path.write_text(text)
        with pytest.raises(lpn.Error, match=words) as refused:
            scenarios.read(path)
        assert refused.value.code == "E-scenario" and str(path) in str(refused.value)
    with pytest.raises(lpn.Error, match="No such file"):
        scenarios.read(tmp_path / "none.json")
    path.write_text(json.dumps(GOOD))
    read = scenarios.read(path)
    assert [f.name for f in read.functions] == ["a", "b"]
    # Solo: without the others and without pressure.
    alone = read.alone("b")
    assert [f.name for f in alone.functions] == ["b"] and alone.pressure == scenarios.Pressure()


@pytest.mark.parametrize(
    "path", sorted((FOLDER / "scenarios").glob("*.json")), ids=lambda p: p.stem
)
def test_bundled_scenarios(path):
    net = model.net_of(str(path))
    assert net.params["f0.cores"] == scenarios.read(path).functions[0].cores
    model.workload(str(path), net)


def test_a_net_of_another_scenario_is_refused():
    net = model.net_of(FOLDER / "scenarios" / "rxp_host.json")
    with pytest.raises(lpn.Error, match="the net is that of another scenario") as refused:
        model.workload(FOLDER / "scenarios" / "four_functions.json", net)
    assert refused.value.code == "E-scenario"


def test_both_engines_agree():
    """The compiled net has the interpreter's throughputs, to the packet, and bottlenecks."""
    scenario = scenarios.read(FOLDER / "scenarios" / "four_functions.json")
    compiled, interpreted = (
        steady.simulate(scenario, engine=engine, latencies=False)
        for engine in ("compiled", "interp")
    )
    assert compiled == interpreted


def test_catalogue():
    functions, nic = scenarios.read_catalogue(FOLDER / "catalogue.json")
    assert len(functions) == 11 and nic.cores == 8 and all(f.cores == 2 for f in functions)


def test_laws():
    law = engines.ENGINE_LAWS["regex"]["l7-filter"]
    # The two measured points of the l7-filter rules, 1518-byte packets.
    for matches, time in ((330.2259075, 0.8501891685), (628.0341902, 1.483913737)):
        assert law.time(scenarios.Packets(1518, matches), 1) == pytest.approx(time, rel=1e-4)
    law = engines.Law(
        at_least_us=1.0,
        at_least_ns_per_byte=1.0,
        us=0.1,
        ns_per_byte=0.5,
        us_per_match=0.2,
        us_per_match2=0.1,
        us_by_flows=((100, 0.0), (200, 1.0)),
    )
    assert law.time(scenarios.Packets(100, 0), 100) == 1.0
    assert law.time(scenarios.Packets(2000, 0), 100) == 2.0
    assert law.time(scenarios.Packets(1000, 3000), 150) == pytest.approx(
        0.1 + 0.5 + 0.6 + 0.9 + 0.5
    )
    assert [law.time(scenarios.Packets(1000, 3000), flows) for flows in (1, 1e9)] == pytest.approx(
        [2.1, 3.1]
    )
    knee = engines.Law(at_least_us=1.0, at_least_ns_per_byte=1.0, knee=2.0)
    assert knee.time(scenarios.Packets(1000, 0), 1) == pytest.approx(math.sqrt(2))
