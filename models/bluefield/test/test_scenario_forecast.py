"""What a forecast of a whole scenario says beside the rate."""

import pytest
from lpn import Error
from models.bluefield import scenario as scenarios
from models.bluefield.net import steady
from models.bluefield.predictor import scenario_forecast, training
from models.bluefield.predictor.scenario_forecast import forecast
from rows import memory_rows, profile, regex_times

MONITOR = {
    "name": "monitor",
    "cores": 1,
    "promised_drop": 0.2,
    "stages": [
        {"resource": "memory", "service_us": 1.378},
        {"resource": "regex", "service_us": "l7-filter"},
    ],
    "traffic": {"packet_bytes": 1518, "matches_per_MB": 400},
    "memory": {"us_per_MB": 0.01363, "us_per_MB_1e8": 0.00957},
}


BENCH = {
    "name": "bench",
    "stages": [{"resource": "cpu", "service_us": 0.7}, {"resource": "regex", "service_us": 1.0}],
}


def test_what_it_says():
    monitor, bench = forecast(scenarios.parse({"functions": [MONITOR, BENCH]}))
    own = 0.147481 + 0.00212796 * 400
    assert monitor.rate == bench.rate == pytest.approx(1 / (own + 1.0))
    assert monitor.alone == pytest.approx(1 / 1.378)
    assert monitor.bottleneck == "regex" and monitor.could_be == ["regex"]
    assert monitor.broken and monitor.data()["promise_kept"] is False
    assert monitor.low < monitor.rate < monitor.high and monitor.outside == []
    # A rival's time is known less well than one's own.
    assert 0.02 < monitor.high / monitor.rate - 1 < 0.08


def test_outside_is_named():
    asked = {**MONITOR, "traffic": {"packet_bytes": 300, "matches_per_MB": 50}}
    data = {"functions": [asked], "memory_pressure": {"wss_MB": 30, "accesses_per_s": 1e9}}
    (answer,) = forecast(scenarios.parse(data))
    assert {one["input"] for one in answer.outside} == {
        "mtbr_matches_per_MB",
        "pkt_size_B",
        "competitors' wss_MB",
        "competitors' accesses [1e8/s]",
    }


def test_a_light_rival_takes_what_it_asks_for():
    light = {**BENCH, "traffic": {"rate_kpps": 100}}
    monitor, bench = forecast(scenarios.parse({"functions": [{**MONITOR, "cores": 2}, light]}))
    assert bench.rate == pytest.approx(0.1) and bench.bottleneck == "offered load"
    own = 0.147481 + 0.00212796 * 400
    assert monitor.rate == pytest.approx((1 - 0.1) / own)


def test_functions_press_on_each_others_memory():
    heavy = {
        "name": "heavy",
        "cores": 2,
        "stages": [{"resource": "memory", "service_us": 0.5}],
        "memory": {"wss_MB": 8, "accesses_per_packet": 40},
    }
    monitor, _ = forecast(
        scenarios.parse({"functions": [{**MONITOR, "stages": MONITOR["stages"][:1]}, heavy]})
    )
    # The heavy one runs at 4 packets per us: 1.6e8 accesses/s on 8 MB.
    assert 1 / monitor.rate == pytest.approx(1.378 + 8 * (0.01363 + 0.00957 * 1.6))


def test_models_need_counters():
    predictor, _ = training.train([profile(memory_rows(60)), regex_times()], function="monitor")
    scenario = scenarios.parse({"functions": [MONITOR, BENCH]})
    with pytest.raises(Error, match="needs the counters of 'bench'"):
        forecast(scenario, {"monitor": predictor})
    with pytest.raises(Error, match="no function 'ghost'"):
        forecast(scenario, {"ghost": predictor})
    counters = {
        "ipc": 1.0,
        "inst_retired_per_s": 5e8,
        "l2d_rd_per_s": 1e8,
        "l2d_wr_per_s": 5e7,
        "mem_rd_per_s": 5e8,
        "mem_wr_per_s": 5e8,
        "wss_MB": 6.0,
    }
    rival = {**BENCH, "memory": {"counters": counters}}
    monitor, bench = forecast(
        scenarios.parse({"functions": [MONITOR, rival]}), {"monitor": predictor}
    )
    row = {
        "flow_count": 16384.0,
        "pkt_size_B": 1518.0,
        "mtbr_matches_per_MB": 400.0,
        **{f"comp_{name}": value for name, value in counters.items()},
        "comp_regex_sum_nt_ms": 0.001,
    }
    assert monitor.rate == pytest.approx(predictor.answer(row).rate, rel=1e-6)


def test_rates_that_do_not_settle_are_refused(monkeypatch):
    monkeypatch.setattr(scenario_forecast, "_MOST_ROUNDS", 1)
    with pytest.raises(Error, match="does not settle") as error:
        forecast(scenarios.parse({"functions": [MONITOR, BENCH]}))
    assert error.value.code == "E-forecast"


def test_a_function_alone_loses_nothing():
    """Of a trained function the highest rate of its profile is that of few flows, not its rate alone."""
    predictor, _ = training.train([profile(memory_rows(80)), regex_times()], function="monitor")
    traffic = {"flows": 60_000, "matches_per_MB": 300}
    lonely = scenarios.parse({"functions": [{**MONITOR, "traffic": traffic}]})
    (monitor,) = forecast(lonely, {"monitor": predictor})
    assert monitor.rate == monitor.alone and monitor.drop == 0 and not monitor.broken


def test_an_overloaded_engine_is_slower():
    """As the net has it: more than half of the queue waits, and each request takes 1.5 times as long."""
    law = {"us": 1.73, "overload": 1.5}
    first = {"resource": "regex", "queues": 3, "slots": 16, "service_us": law}
    second = {**first, "resource": "compression", "queues": 1, "service_us": {**law, "us": 1.857}}
    cpu = {"resource": "cpu", "service_us": 1.484}
    function = {"name": "f", "stages": [cpu, first, second]}
    for rate, expected in ((None, 1 / 1.5 / 1.73), (400, 0.4), (560, 1 / 1.5 / 1.857)):
        asked = {**function, "traffic": {} if rate is None else {"rate_kpps": rate}}
        scenario = scenarios.parse({"functions": [asked]})
        (forecasted,) = forecast(scenario)
        (result,) = steady.simulate(scenario, engine="interp", latencies=False).results
        assert forecasted.rate == pytest.approx(expected)
        assert result.throughput_kpps == pytest.approx(1e3 * expected, rel=2e-3)
        assert forecasted.bottleneck == result.bottleneck


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (
            {"stages": [{"resource": "regex", "service_us": 0.5, "slots": 4}]},
            "'f', stage 1: up to 12 descriptors would be in use at regex, and there are 4; ",
        ),
        (
            {
                "pattern": "run-to-completion",
                "stages": [{"resource": "regex", "service_us": 0.5, "slots": 32}],
            },
            "'f', stage 1: up to 64 descriptors would be in use at regex, and there are 32; ",
        ),
    ],
)
def test_what_descriptors_may_hold_back_is_refused(function, told):
    """The laws said 2000 kpps of the first, which the net says delivers 800."""
    cpu = {"resource": "cpu", "service_us": 0.2}
    function = {"name": "f", **function, "stages": [cpu, *function["stages"]]}
    with pytest.raises(Error) as error:
        forecast(scenarios.parse({"functions": [function]}))
    assert error.value.code == "E-forecast" and told in str(error.value)
    function["stages"][1]["slots"] = 64
    forecast(scenarios.parse({"functions": [function]}))


def test_a_function_that_is_twice_at_an_engine():
    """Its two visits depend on each other; rounds of half a step went to and fro for ever."""
    stages = [
        {"resource": "cpu", "service_us": 0.666},
        {"resource": "regex", "service_us": 0.418},
        {"resource": "regex", "service_us": 1.283, "queues": 4},
    ]
    scenario = scenarios.parse({"functions": [{"name": "f", "cores": 1, "stages": stages}]})
    (forecasted,) = forecast(scenario)
    (result,) = steady.simulate(scenario, engine="interp", latencies=False).results
    assert 1e3 * forecasted.rate == pytest.approx(result.throughput_kpps, rel=5e-3)
