"""Whether a scenario that is called steady is: batches are coarse, and meet in rhythms."""

import pytest
from models.bluefield import scenario as scenarios
from models.bluefield.net import answer, steady


def rtc(name, cores, batch, cpu, regex, compression, rate=None):
    engines = zip(("regex", "compression"), (regex, compression))
    function = {
        "name": name,
        "pattern": "run-to-completion",
        "cores": cores,
        "batch": batch,
        "stages": [
            {"resource": "cpu", "service_us": cpu},
            *(
                {"resource": engine, "queues": queues, "service_us": us, "slots": slots}
                for engine, (us, queues, slots) in engines
            ),
        ],
    }
    if rate is not None:
        function["traffic"] = {"rate_kpps": rate}
    return function


def simulated(functions, most_ms):
    given = {"nic": {"cores": 16}, "functions": functions, "simulate": {"most_ms": most_ms}}
    scenario = scenarios.parse(given)
    return scenario, steady.simulate(scenario, engine="interp", latencies=False)


def test_a_rate_is_no_coarser_than_a_percent_of_its_batches():
    """Batches of 128 on three cores: 20 ms hold some 25 of each, and counted between two instants
    the rate was 486.4 for 491.8 kpps.
    """
    function = rtc("f", 3, 128, 1.1223, (1.9995, 1, 128), (0.4533, 1, 128))
    scenario, outcome = simulated([function], 40)
    assert outcome.steady
    assert outcome.results[0].throughput_kpps == pytest.approx(491.84, rel=0.005)
    (warning,) = answer.warnings(scenario, outcome)
    assert warning.startswith("f: only 25 batches of a core were counted; ")
    assert warning.endswith("raise simulate.most_ms above 40")


def test_rhythms_that_may_still_change_are_warned_of():
    """In 40 ms both get 279 kpps; after 60 ms it is 332 and 166 for ever."""
    functions = [
        rtc("f0", 3, 32, 1.7021, (1.2427, 2, 1024), (2.4425, 2, 128), 604.16),
        rtc("f1", 4, 32, 1.6028, (2.3398, 2, 128), (1.1442, 1, 1024)),
    ]
    scenario, outcome = simulated(functions, 40)
    told = answer.warnings(scenario, outcome)
    assert [line.split(":")[0] for line in told] == ["f0", "f1"] or not outcome.steady


def test_less_than_a_period_of_random_arrivals_is_warned_of():
    """4096 arrivals at 256.402 kpps are 16 ms; 10 were counted, and the rates were 1.2 % off."""
    function = {
        "name": "f",
        "cores": 2,
        "stages": [{"resource": "cpu", "service_us": 2.7}],
        "traffic": {"rate_kpps": 256.402, "arrivals": "poisson"},
    }
    scenario, outcome = simulated([function], 20)
    (warning,) = answer.warnings(scenario, outcome)
    assert warning.startswith(
        "f: its random arrivals repeat after 16 ms, and only 10 ms were counted"
    )
    assert warning.endswith("raise simulate.most_ms above 32")
    scenario, outcome = simulated([function], 40)
    assert answer.warnings(scenario, outcome) == []
    function["traffic"]["arrivals"] = "paced"
    scenario, outcome = simulated([function], 20)
    assert answer.warnings(scenario, outcome) == []


def test_enough_batches_have_no_warning():
    function = rtc("f", 1, 4, 0.5, (0.4, 1, 1024), (0.3, 1, 1024))
    scenario, outcome = simulated([function], 40)
    assert outcome.steady and answer.warnings(scenario, outcome) == []


def test_means_over_a_window_keep_the_time_between_them():
    count = [10 * k for k in range(65)]
    assert [b - a for a, b in zip(steady._levels(count, 8)[1:], steady._levels(count, 8)[2:])] == (
        [80] * 7
    )
    assert steady._levels(count[:9], 1) == count[:9]


@pytest.mark.parametrize("rate, periods", [(137.904, 3), (409.6, 10), (30, None)])
def test_the_longest_run_counts_whole_periods_of_random_arrivals(rate, periods):
    """A part of a period is off by chance. Of 100 ms that are counted; 30 kpps repeat after 137 ms."""
    given = {
        "functions": [
            {
                "name": "f",
                "stages": [{"resource": "cpu", "service_us": 1.0}],
                "traffic": {"rate_kpps": rate, "arrivals": "poisson", "seed": 1},
            }
        ],
        "simulate": {"most_ms": 200},
    }
    run = steady._Run(scenarios.parse(given))
    counted_ms = run.most_us * steady.WINDOWS / 2 * 1e-3
    if periods is None:
        assert counted_ms == 100
    else:
        assert counted_ms == pytest.approx(periods * 4096 / rate)


def test_descriptors_that_are_all_in_use_are_the_bottleneck():
    """They come back 5 us after they were taken; the cores are busy 8 % of the time."""
    stages = [
        {"resource": "cpu", "service_us": 0.2},
        {"resource": "regex", "service_us": 0.5, "slots": 4},
    ]
    _, outcome = simulated([{"name": "f", "stages": stages}], 40)
    (result,) = outcome.results
    assert result.throughput_kpps == pytest.approx(1e3 * 4 / 5, rel=0.005)
    assert result.bottleneck == "regex"
    assert result.why == "its 4 descriptors there are always in use"
