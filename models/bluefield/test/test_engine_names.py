"""Engines by free names: other cards have other engines than a BlueField-2."""

import re

import pytest
from lpn import Error

from models.bluefield import scenario as scenarios
from models.bluefield.net import placement, steady
from models.bluefield.predictor import function_predictor, profile_table, training
from models.bluefield.predictor.scenario_forecast import forecast
from models.bluefield.test.rows import write

NIC = {
    "engines": {
        "regex": None,
        "crypto": {"latency_us": 2, "laws": {"aes": {"us": 0.5, "ns_per_byte": 1.0}}},
    }
}


def crypto_function(name, service, **more):
    stages = [
        {"resource": "cpu", "service_us": 0.1},
        {"resource": "crypto", "service_us": service},
    ]
    function = {"name": name, "stages": stages, "traffic": {"packet_bytes": 1500}}
    return {**function, **more}


def scenario(nic=None, functions=None):
    functions = functions or [crypto_function("ipsec", "aes"), crypto_function("other", 1)]
    return scenarios.parse({"nic": nic or NIC, "functions": functions})


def test_an_engine_with_a_free_name_is_shared_round_robin():
    """0.5 us and 1.5 us by the bytes beside 1 us: one request each per round, T = 1 / (2 + 1)."""
    asked = scenario()
    for result in steady.simulate(asked, latencies=False).results:
        assert result.throughput_kpps == pytest.approx(1e3 / 3, rel=0.01)
    for told in forecast(asked):
        assert told.rate == pytest.approx(1 / 3, rel=1e-6) and told.bottleneck == "crypto"


@pytest.mark.parametrize(
    "nic, functions, message",
    [
        (
            {"engines": {"crypto": {}}},
            None,
            "scenario: nic.engines.crypto: 'latency_us' is missing; allowed: latency_us, laws",
        ),
        (
            {"engines": {"f1": {"latency_us": 1}}},
            None,
            "scenario: nic.engines.f1: an engine's name must be letters, digits and _, the first "
            "a letter, 32 at most, and neither cpu, memory, window, nor f and a number",
        ),
        (
            {"engines": []},
            None,
            "scenario: nic.engines: must be an object of engines by name; got []",
        ),
        (
            {"engines": {f"e{k}": {"latency_us": 1} for k in range(17)}},
            None,
            "scenario: nic.engines: 17 engines; at most 16",
        ),
        (
            {"engines": {"regexx": {"latency_us": 1}}},
            [crypto_function("ids", 1, stages=[{"resource": "cpu", "service_us": 1}])],
            "scenario: functions: no stage is at 'regexx', which nic.engines names; leave it out "
            "there",
        ),
        (
            NIC,
            [
                {
                    "name": "ids",
                    "stages": [
                        {"resource": "cpu", "service_us": 1},
                        {"resource": "regex", "service_us": 1},
                    ],
                }
            ],
            "scenario: functions[0].stages[1].resource: must be cpu or memory or compression or "
            'crypto; got "regex"',
        ),
    ],
)
def test_what_is_no_engine_is_refused(nic, functions, message):
    with pytest.raises(Error, match=re.escape(message)):
        scenario(nic, functions)


def profiles(tmp_path, rows, name="times.csv"):
    return [profile_table.read(write(tmp_path / name, rows))]


def test_a_function_is_trained_and_predicted_at_such_an_engine(tmp_path):
    rows = [
        {"pkt_size_B": size, "sha_time_per_pkt_ms": (0.4 + 0.001 * size) / 1e3}
        for size in (200, 800, 1400)
    ]
    trained, _ = training.train(profiles(tmp_path, rows))
    trained.save(tmp_path / "predictor.json")
    loaded = function_predictor.load(tmp_path / "predictor.json")
    asked = {"pkt_size_B": 600.0, "comp_sha_sum_nt_ms": 3.0 / 1e3}
    # A request of 1 us against 3 us of the others in a round.
    assert loaded.answer(asked).rate == pytest.approx(1 / 4, rel=1e-6)
    assert loaded.answer(asked).bottleneck == "sha"
    assert loaded.unused({**asked, "comp_dpa_sum_nt_ms": 1.0}) == ["dpa"]
    assert loaded.unused({**asked, "comp_dpa_sum_nt_ms": 0.0}) == []


def test_the_attribute_is_the_one_that_varies(tmp_path):
    rows = [
        {
            "pkt_size_B": 1500,
            "mtbr_matches_per_MB": matches,
            "dpi_time_per_pkt_ms": (0.4 + 0.001 * matches) / 1e3,
        }
        for matches in (200, 800)
    ]
    trained, _ = training.train(profiles(tmp_path, rows))
    assert trained.engines["dpi"].inputs == ["mtbr_matches_per_MB"]
    assert trained.engines["dpi"].coefficients == pytest.approx([0.4, 0.001])


@pytest.mark.parametrize(
    "columns, message",
    [
        (
            ("pkt_size_B", "sha_time_per_pkt_ms", "crypto_time_per_pkt_ms"),
            ":1: times of the engines crypto and sha; write a file for each",
        ),
        (
            ("pkt_size_B", "memory_time_per_pkt_ms"),
            ":1: column 'memory_time_per_pkt_ms': an engine's name must be letters",
        ),
        (
            ("flow_count", "sha_time_per_pkt_ms"),
            ":1: engine times of the sha engine need the columns pkt_size_B; missing: pkt_size_B",
        ),
    ],
)
def test_columns_that_make_no_profile_are_refused(tmp_path, columns, message):
    with pytest.raises(Error, match=re.escape(message)):
        profiles(tmp_path, [dict.fromkeys(columns, 1)])


def test_placement_profiles_functions_at_such_an_engine():
    """What the net measures of the engine gives its law back: 0.5 us and 1 ns per byte, one queue."""
    both = scenario()
    catalogue = placement.Catalogue(both.functions, both.nic, scenarios.Simulate(tolerance=0.005))
    engine = catalogue.predictor(0).engines["crypto"]
    assert engine.inputs == ["pkt_size_B"] and engine.queues == 1
    assert engine.time({"pkt_size_B": 1000.0})[0] == pytest.approx(1.5, rel=0.02)
